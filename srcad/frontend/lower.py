"""From a live function and example arguments to IR.

The result says how arguments and results are built from leaves: a derivative is taken with respect
to the leaves, whatever containers they came in.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.errors import NotDifferentiable, UnsupportedValue
from srcad.frontend import calls
from srcad.frontend.abstract import (
    Abstract,
    DictRef,
    Entries,
    Fields,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    Poison,
    Static,
    TupleRef,
)
from srcad.frontend.attributes import get_attribute
from srcad.frontend.live import Capture, Importer
from srcad.frontend.lowering import Frame, Library, Lowering, NeedsExact, Session
from srcad.frontend.scopes import Scope
from srcad.ir import Atom, Block, Function, FunctionRef, Literal, Loc, Value
from srcad.ir.build import Builder
from srcad.ir.tree import Node, Tree


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One parameter of the lowered function."""

    name: str
    value: Value
    example: Any


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A primal function in IR."""

    function: Function
    """Its parameters are the arguments, then the captured data; it yields the leaves of the result."""
    parameters: tuple[Parameter, ...]
    captures: tuple[Capture, ...]
    inputs: tuple[Tree[Atom], ...]
    """Of each differentiated argument: the values of its leaves."""
    output: Tree[Atom]
    """The result, as a tree of atoms."""
    exact: bool
    acts: bool
    """Whether it has effects, so that it must not be run twice."""
    inlined: tuple[Any, ...]
    """The live functions whose source it is made of."""
    loc: Loc | None
    calls: tuple[FunctionRef, ...]


class _NoSource:
    """The place of code that is not the user's: the call of the differentiated function itself."""

    file = "<srcad>"
    lines: tuple[str, ...] = ()
    tree = None

    def place(self, node: Any) -> None:
        return None


def lower_function(
    function: Any,
    args: tuple[tuple[str, Any], ...],
    keywords: tuple[tuple[str, Any], ...],
    library: Library,
    *,
    wrt: tuple[str, ...] = (),
    exact: bool = False,
    spread: Any = None,
) -> Lowered:
    """Lower ``function`` for example arguments, ``args`` by position and ``keywords`` by name.

    ``wrt`` names the arguments whose leaves are wanted.  Raises ``SourceError`` where the source
    cannot be followed.
    """
    try:
        return _lower(function, args, keywords, library, wrt, exact)
    except NeedsExact:
        return _lower(function, args, keywords, library, wrt, True)


def _lower(
    function: Any,
    args: tuple[tuple[str, Any], ...],
    keywords: tuple[tuple[str, Any], ...],
    library: Library,
    wrt: tuple[str, ...],
    exact: bool,
) -> Lowered:
    importer = Importer(exact)
    prelude = Builder(None, exact=exact)
    session = Session(library, exact, prelude, importer)
    importer.session = session
    frame = Frame(0, "<call>", _NoSource(), Scope(frozenset(), frozenset(), frozenset()), {}, None)  # type: ignore[arg-type]
    low = Lowering(session, Builder(prelude), frame)
    low.builder.depth = 0
    parameters: list[Parameter] = []
    abstract: dict[str, Abstract] = {}
    for name, example in (*args, *keywords):
        value = Value(name, importer.type_of(example))
        parameters.append(Parameter(name, value, example))
        abstract[name] = importer.argument(low, example, value)
    inputs = tuple(
        input_tree(low, name, abstract[name]) for name in wrt
    )
    callee = importer.constant(low, function)
    result = calls.call(
        low, callee, [abstract[n] for n, _ in args], {n: abstract[n] for n, _ in keywords}
    )
    if isinstance(result, Poison):
        result = Static(None)
    output = output_tree(low, result)
    yields = tuple(_leaves(output))
    captured = tuple(importer.captures.values())
    params = (
        *(p.value for p in parameters),
        *(c.value for c in captured if c.value is not None),
    )
    body = Block((), (*prelude.ops, *low.builder.ops), yields)
    from srcad.ir import Effect, Update
    from srcad.ir.core import assert_true, check_bound, raise_error
    from srcad.ir.walk import all_ops

    harmless = (raise_error, assert_true, check_bound)
    acts = any(
        isinstance(op, Effect) and op.callee not in harmless for op in all_ops(body)
    )
    name = getattr(function, "__name__", None) or type(function).__name__
    loc = None
    if session.inlined:
        first = session.inlined[0]
        code = first.__code__
        loc = Loc(code.co_filename, code.co_firstlineno, 0, name)
    made = Function(name, params, body, loc)
    return Lowered(
        made,
        tuple(parameters),
        captured,
        inputs,
        output,
        exact,
        acts,
        tuple(dict.fromkeys(session.inlined)),
        loc,
        tuple(session.calls),
    )


def _leaves(tree: Tree[Atom]) -> list[Atom]:
    from srcad.ir.tree import leaves

    return list(leaves(tree))


def input_tree(low: Lowering, name: str, value: Abstract) -> Tree[Atom]:
    """The leaves of an argument."""
    match value:
        case Value():
            return value
        case Static(value=known):
            return Literal(known)
        case TupleRef(items=items, cls=cls):
            return Node(cls, tuple(range(len(items))), tuple(input_tree(low, name, i) for i in items))
        case ListRef():
            contents = low.contents(value)
            if isinstance(contents, Held):
                return contents.value
            assert isinstance(contents, Items)
            items = contents.items
            return Node(list, tuple(range(len(items))), tuple(input_tree(low, name, i) for i in items))
        case DictRef():
            entries = low.contents(value)
            assert isinstance(entries, Entries)
            return Node(dict, entries.keys, tuple(input_tree(low, name, v) for v in entries.values))
        case ObjectRef(cls=cls) if dataclasses.is_dataclass(cls):
            names = tuple(f.name for f in dataclasses.fields(cls))
            return Node(
                cls, names, tuple(input_tree(low, name, get_attribute(low, value, n)) for n in names)
            )
    raise NotDifferentiable(
        None,
        f"the argument {name} is a {type(value).__name__}: a derivative by it is not defined",
        "differentiate by floats, arrays, or tuples, lists, dicts and dataclasses of them",
    )


def output_tree(low: Lowering, value: Abstract) -> Tree[Atom]:
    """The result as a tree of atoms."""
    match value:
        case Value():
            return value
        case MaybeUnbound():
            return output_tree(low, low.bound(value))
        case Static(value=known):
            return Literal(known)
        case TupleRef(items=items, cls=cls):
            return Node(cls, tuple(range(len(items))), tuple(output_tree(low, i) for i in items))
        case ListRef():
            contents = low.contents(value)
            if isinstance(contents, Held):
                return contents.value
            assert isinstance(contents, Items)
            found = tuple(output_tree(low, i) for i in contents.items)
            return Node(list, tuple(range(len(found))), found)
        case DictRef():
            entries = low.contents(value)
            if isinstance(entries, Held):
                return entries.value
            assert isinstance(entries, Entries)
            return Node(dict, entries.keys, tuple(output_tree(low, v) for v in entries.values))
        case ObjectRef(cls=cls):
            fields = low.contents(value)
            assert isinstance(fields, Fields)
            if fields.origin is None and dataclasses.is_dataclass(cls):
                found = tuple(output_tree(low, v) for v in fields.values)
                return Node(cls, fields.names, found)
            return low.atom(value)
        case Poison(message=message, hint=hint):
            raise UnsupportedValue(None, message, hint)
    raise UnsupportedValue(
        None,
        f"the function returns a {type(value).__name__.lower()}",
        "return numbers, arrays, or containers of them",
    )


_ = np
