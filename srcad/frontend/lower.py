"""From a live function and example arguments to IR.

A derivative is lowered as what it is: a call of it, in which the library writes the derivative's
code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad import runtime
from srcad.errors import SourceError, UnsupportedSyntax
from srcad.frontend import arrays, calls
from srcad.frontend.abstract import Abstract
from srcad.frontend.live import Capture, Importer, current
from srcad.frontend.lowering import (
    _PACKAGE,
    Frame,
    Library,
    Lowering,
    NeedsBuffer,
    NeedsExact,
    NeedsRelease,
    NeedsUnroll,
    Session,
    Unreachable,
)
from srcad.frontend.managers import is_quiet
from srcad.frontend.scopes import Scope
from srcad.ir import Block, Effect, Function, Literal, Loc, Try, Value, With
from srcad.ir.build import Builder
from srcad.ir.core import assert_true, check_bound, raise_error
from srcad.ir.linear import relations
from srcad.ir.types import Array
from srcad.ir.walk import all_ops, results

_EMPTY = Scope(frozenset(), frozenset(), frozenset())


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One parameter of the lowered function."""

    name: str
    value: Value
    example: Any


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A function in IR."""

    function: Function
    """Its parameters are the arguments, then the captured data; it yields one atom, the result."""
    parameters: tuple[Parameter, ...]
    captures: tuple[Capture, ...]
    exact: bool
    acts: bool
    """Whether it has effects, so that it must not be run twice."""
    inlined: tuple[Any, ...]
    """The live functions whose source it is made of."""


def _require_distinct(session: Session) -> None:
    """What the function changes must not be reached under another name: checked at each call."""
    outside = dict.fromkeys(v for v in session.identities.values() if isinstance(v, Value))
    for changed in session.written:
        if isinstance(changed, Value):
            others = [v for v in outside if v is not changed]
            if others:
                name = Literal(changed.hint)
                session.prelude.effect(runtime.require_distinct, name, changed, *others)


class NoSource:
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
    exact: bool = False,
) -> Lowered:
    """Lower a call of ``function`` for example arguments, by position and by keyword, with names.

    Raises ``SourceError`` where the source cannot be followed.
    """
    try:
        return _lower_fitting(function, args, keywords, library, exact)
    except NeedsUnroll as error:  # there was no loop to unroll
        raise UnsupportedSyntax(error.place, error.message, error.hint) from None
    except SourceError as error:  # it tells its place itself; how it was reached is of no interest
        raise error.with_traceback(None) from None


def _lower_fitting(
    function: Any,
    args: tuple[tuple[str, Any], ...],
    keywords: tuple[tuple[str, Any], ...],
    library: Library,
    exact: bool,
) -> Lowered:
    """Lower in fast code if that fits the function, else in exact code."""
    try:
        lowered = _lower(function, args, keywords, library, exact)
    except NeedsExact:
        return _lower(function, args, keywords, library, True)
    body = lowered.function.body
    if not exact and (lowered.acts or _watches(body) or _is_single(lowered.function)):
        # what fast code raises would be caught by the function, or could not be tried again
        return _lower(function, args, keywords, library, True)
    return lowered


def _is_single(function: Function) -> bool:
    """Whether there are arrays of single precision: to them a NumPy float64 is no Python float."""
    made = (r for op in all_ops(function.body) for r in results(op))
    return any(
        isinstance(v.type, Array) and v.type.dtype in ("float32", "complex64")
        for v in (*function.params, *made)
    )


def _watches(body: Block) -> bool:
    """Whether it matters to the function itself which exceptions and warnings there are."""
    quiet = {op.result for op in all_ops(body) if isinstance(op, Effect) and is_quiet(op)}
    return any(
        isinstance(op, Try) or (isinstance(op, With) and op.manager not in quiet)
        for op in all_ops(body)
    )


def _lower(
    function: Any,
    args: tuple[tuple[str, Any], ...],
    keywords: tuple[tuple[str, Any], ...],
    library: Library,
    exact: bool,
) -> Lowered:
    """Lower, again for each array that is written, and each place that is to let go of names."""
    none: frozenset[Any] = frozenset()
    buffers = released = kept = none
    while True:
        try:
            return _lower_with(function, args, keywords, library, exact, buffers, (released, kept))
        except NeedsBuffer as found:
            buffers |= found.sites
        except NeedsRelease as asked:
            released |= asked.sites
        except SourceError:
            if not released:
                raise
            released, kept = none, kept | released


def _lower_with(
    function: Any,
    args: tuple[tuple[str, Any], ...],
    keywords: tuple[tuple[str, Any], ...],
    library: Library,
    exact: bool,
    buffers: frozenset[Any],
    sites: tuple[frozenset[Any], frozenset[Any]],
) -> Lowered:
    importer = Importer(exact, {name for name, _ in (*args, *keywords)})
    prelude = Builder(None, exact=exact)
    released, kept = sites
    session = Session(
        library, exact, prelude, importer, buffers=buffers, released=released, kept=kept
    )
    importer.session = session
    frame = Frame(0, "<call>", NoSource(), _EMPTY, {}, None)  # type: ignore[arg-type]  # stands in for a FunctionSource
    low = Lowering(session, Builder(prelude), frame)
    parameters: list[Parameter] = []
    abstract: dict[str, Abstract] = {}
    for number, (name, example) in enumerate((*args, *keywords)):
        value = Value(name, importer.type_of(example))
        parameters.append(Parameter(name, value, example))
        session.given.add(value)
        abstract[name] = importer.argument(low, example, value, number)
    token, known = current.set(importer), relations.set(importer)
    try:
        result = calls.call(
            low,
            importer.constant(low, function),
            [abstract[n] for n, _ in args],
            {n: abstract[n] for n, _ in keywords},
        )
        packed = low.atom(result)
        arrays.require_disjoint(low)
        _require_distinct(session)
    except Unreachable:
        packed = Literal(None)
    finally:
        current.reset(token)
        relations.reset(known)
    captured = tuple(importer.captures.values())
    taken = {p.name for p in parameters}
    for capture in captured:
        while capture.value is not None and capture.value.hint in taken:
            capture.value.hint += "_"
        if capture.value is not None:
            taken.add(capture.value.hint)
    params = (*(p.value for p in parameters), *(c.value for c in captured if c.value is not None))
    body = Block((), (*prelude.ops, *low.builder.ops), (packed,))
    harmless = (
        *(raise_error, assert_true, check_bound, np.errstate),
        *(runtime.require_distinct, runtime.require_real_power),
        *(runtime.require_view, runtime.require_disjoint),
    )
    acts = any(isinstance(op, Effect) and op.callee not in harmless for op in all_ops(body))
    inlined = tuple(dict.fromkeys(session.inlined))
    own = [f for f in inlined if not f.__code__.co_filename.startswith(_PACKAGE)]
    loc = None
    if own:
        code = own[0].__code__
        loc = Loc(code.co_filename, code.co_firstlineno, 0, code.co_name)
    made = Function(getattr(function, "__name__", "function"), params, body, loc)
    return Lowered(made, tuple(parameters), captured, exact, acts, inlined)
