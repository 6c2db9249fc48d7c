"""Calls: which function is called, how its arguments bind, and whether its body goes in here.

A function whose source can be read is lowered in place of the call.  A recursive one stays a
function: it is lowered once for the types of its arguments and called.  Everything else is a
primitive (``Apply``, or ``Effect`` if the call must stay in order).
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcad.errors import SourceError
from srcad.frontend import attributes, builtin, containers, control, expressions, statements
from srcad.frontend.abstract import (
    Abstract,
    Closure,
    DictRef,
    Entries,
    Fields,
    Held,
    Intrinsic,
    Items,
    ListRef,
    MaybeUnbound,
    Method,
    ObjectRef,
    Partial,
    Poison,
    SetRef,
    Static,
    Transformed,
    TupleRef,
    first_leaf,
)
from srcad.frontend.fence import check_fence
from srcad.frontend.lowering import _PACKAGE, Frame, Lowering, Region, Unreachable, is_leaf
from srcad.frontend.merge import Merger
from srcad.frontend.scopes import scope_of
from srcad.frontend.source import FunctionSource, read_function
from srcad.ir import Atom, Call, Function, FunctionRef, Value
from srcad.ir.build import Builder
from srcad.ir.infer import atom_type
from srcad.ir.types import OBJECT, UNKNOWN, Type, is_differentiable
from srcad.ir.walk import free_values

_DEPTH = 60
_PASSES = 8


class RecursionFound(Exception):
    """A call of a function, with arguments of the same types, is being lowered already."""

    def __init__(self, key: Any) -> None:
        super().__init__("recursion")
        self.key = key


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """A function whose body can be lowered."""

    name: str
    node: Any
    source: FunctionSource
    globals: dict[str, Any]
    parent: Frame | None
    cells: dict[str, Any]
    defaults: tuple[Abstract, ...]
    keyword_defaults: tuple[Abstract | None, ...]
    key: Any


def call(low: Lowering, callee: Abstract, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """The result of a call."""
    match callee:
        case MaybeUnbound():
            return call(low, low.bound(callee), args, keywords)
        case Static(value=function):
            return _call_known(low, function, args, keywords)
        case Closure():
            return call_code(low, _closure_code(callee), args, keywords)
        case Method(function=function, receiver=receiver):
            return _call_method(low, function, receiver, args, keywords)
        case Partial(function=function, args=first, keywords=named):
            return call(low, function, [*first, *args], {**dict(named), **keywords})
        case Transformed():
            found = low.session.library.expand(low, callee, args, keywords, low.node)
            assert found is not NotImplemented
            result: Abstract = found
            return result
        case Intrinsic(call=run):
            made: Abstract = run(low, args, keywords)
            return made
        case ObjectRef():
            return call(low, attributes.get_attribute(low, callee, "__call__"), args, keywords)
        case Value():
            result = Value("", UNKNOWN)
            low.builder.effect(_call_value, callee, *map(low.atom, args), result=result)
            return result
        case Poison(message=message, hint=hint):
            low.refuse(message, hint)
    low.refuse("this object is not callable", "call a function")


def _call_value(function: Any, *args: Any) -> Any:
    return function(*args)


def _call_known(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    library = low.session.library
    found = library.expand(low, function, args, keywords, low.node)
    if found is not NotImplemented:
        return found  # type: ignore[no-any-return]
    handler = builtin.handler_of(function)
    if handler is not None:
        found = handler(low, args, keywords)
        if found is not NotImplemented:
            return found  # type: ignore[no-any-return]
    if library.is_known(function):
        return primitive(low, function, args, keywords)
    if library.is_opaque(function):
        return opaque(low, function, args, keywords)
    if isinstance(function, functools.partial):
        return call(low, low.session.importer.constant(low, function), args, keywords)
    if isinstance(function, types.MethodType):
        receiver = low.session.importer.receiver(low, function.__self__)
        return _call_method(low, Static(function.__func__), receiver, args, keywords)
    if isinstance(function, (staticmethod, classmethod)):
        return _call_known(low, function.__func__, args, keywords)
    if isinstance(function, type):
        return construct(low, function, args, keywords)
    if isinstance(function, types.FunctionType):
        if all(map(_is_inert, (*args, *keywords.values()))):
            found = inline(low, function, args, keywords)
            return opaque(low, function, args, keywords) if found is None else found
        return call_code(low, _function_code(low, function), args, keywords)
    if type(function).__name__ in ("_lru_cache_wrapper", "CPUDispatcher"):
        cached = builtin._static_only(function)(low, args, keywords)
        if cached is not NotImplemented and type(function).__name__ == "_lru_cache_wrapper":
            return cached  # type: ignore[no-any-return]
        inner = getattr(function, "__wrapped__", None) or function.py_func
        return _call_known(low, inner, args, keywords)
    if type(function).__name__ == "_ArrayFunctionDispatcher":
        inner = getattr(function, "__wrapped__", None)
        inlined = None
        if isinstance(inner, types.FunctionType):
            inlined = inline(low, inner, args, keywords)
        if inlined is not None:
            return inlined
    if not isinstance(function, types.BuiltinFunctionType) and isinstance(
        getattr(type(function), "__call__", None), types.FunctionType
    ):
        receiver = low.session.importer.receiver(low, function)
        return call(low, attributes.get_attribute(low, receiver, "__call__"), args, keywords)
    return primitive(low, function, args, keywords)


def inline(
    low: Lowering,
    function: types.FunctionType,
    args: list[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract | None:
    """A function from its own source; None where that cannot be lowered."""
    state, mark, dead = dict(low.state), len(low.builder.ops), low.dead
    frozen = set(low.session.frozen)
    try:
        return call_code(low, _function_code(low, function), args, keywords)
    except SourceError:
        low.session.frozen = frozen
        low.state, low.dead = state, dead
        del low.builder.ops[mark:]
        return None


def _is_inert(value: Abstract) -> bool:
    """Whether a value has no derivative and nothing in it that a call could change."""
    match value:
        case Static():
            return True
        case Value(type=kind):
            return not is_differentiable(kind) and kind != OBJECT
        case TupleRef(items=items):
            return all(map(_is_inert, items))
    return False


def _call_method(
    low: Lowering, function: Abstract, receiver: Abstract, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    if isinstance(receiver, MaybeUnbound):
        receiver = low.bound(receiver)
    if isinstance(receiver, (ListRef, DictRef, SetRef, TupleRef)) and isinstance(function, Static):
        name = getattr(function.value, "__name__", str(function.value))
        if not isinstance(function.value, types.FunctionType):
            return containers.call_method(low, receiver, name, args, keywords)
    return call(low, function, [receiver, *args], keywords)


# ---- primitives


def primitive(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call that is not looked into."""
    library = low.session.library
    if "out" in keywords and not (isinstance(keywords["out"], Static) and keywords["out"].value is None):
        low.refuse("out= writes an array in place", "use the returned array: y = np.add(a, b)")
    keywords = {k: v for k, v in keywords.items() if k != "out"}
    pure = library.is_known(function) or _is_pure(function)
    take = low.peek if pure else low.atom
    atoms = [take(a) for a in args]
    named = {k: take(v) for k, v in keywords.items()}
    if library.is_effect(function) or not pure:
        return opaque(low, function, args, keywords)
    if _writes(function):
        containers.refuse_array_write(low, args[0])
    return containers.wrap(low, low.builder.apply(function, *atoms, **named))


_WRITERS = {"fill", "sort", "partition", "put", "itemset", "resize", "setflags", "byteswap", "setfield"}
_WRITING = {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.random.shuffle, np.put_along_axis}


def _writes(function: Any) -> bool:
    if getattr(function, "__objclass__", None) is np.ndarray:
        return function.__name__ in _WRITERS
    return builtin.hashable(function) and function in _WRITING


def _is_pure(function: Any) -> bool:
    """Whether an undeclared function only computes: NumPy's and SciPy's functions do."""
    if isinstance(function, np.ufunc) or getattr(function, "__objclass__", None) in (
        np.ndarray, np.generic, str, float, int, complex,
    ):  # fmt: skip
        return True
    module = getattr(function, "__module__", "") or ""
    if "random" in module:
        return False
    return module.partition(".")[0] in ("numpy", "scipy", "math", "_operator", "cmath")


def opaque(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call that is run as it is, once and in order."""
    atoms = [low.atom(a) for a in args]
    named = {k: low.atom(v) for k, v in keywords.items()}
    result = Value("", OBJECT if function is print else UNKNOWN)
    low.builder.effect(function, *atoms, result=result, **named)
    return Static(None) if function is print else result


# ---- functions with a body


def _function_code(low: Lowering, function: types.FunctionType) -> Code:
    importer = low.session.importer
    source = read_function(function)
    check_fence(source.tree, source)
    low.session.inlined.append(function)
    importer.code(low, function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    positional = function.__defaults__ or ()
    spec = source.tree.args
    names = [a.id for a in (*spec.posonlyargs, *spec.args)][-len(positional) :] if positional else []
    defaults = tuple(importer.default(low, function, k, n) for k, n in enumerate(names))
    named = function.__kwdefaults__ or {}
    keyword = tuple(
        importer.default(low, function, a.id, a.id) if a.id in named else None
        for a in spec.kwonlyargs
    )
    return Code(
        function.__name__,
        source.tree,
        source,
        function.__globals__,
        None,
        cells,
        defaults,
        keyword,
        (function.__code__, tuple(map(id, function.__closure__ or ()))),
    )


def _closure_code(closure: Closure) -> Code:
    frame: Frame = closure.frame
    return Code(
        closure.name,
        closure.node,
        frame.source,
        frame.globals,
        frame,
        {},
        closure.defaults,
        closure.keyword_defaults,
        (closure.node, frame.number),
    )


def call_code(
    low: Lowering, code: Code, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Lower the body of a function in place of a call, or call it if it is recursive."""
    bound = bind(low, code, args, keywords)
    session = low.session
    key = (code.key, tuple(describe(low, v) for v in bound.values()))
    if key in session.recursive:
        return call_outlined(low, code, bound, key)
    if key in [k for k, _ in session.active] and _has_data(low, bound):
        raise RecursionFound(key)
    if len(session.active) > _DEPTH:
        low.refuse(
            f"{code.name} calls itself too deeply while its source is read",
            "recursion has to keep the types of its arguments, or use a loop",
        )
    state, mark, dead = dict(low.state), len(low.builder.ops), low.dead
    try:
        return run_body(low, code, bound, key)
    except RecursionFound as found:
        if found.key != key:
            raise
        low.state, low.dead = state, dead
        del low.builder.ops[mark:]
        session.recursive.add(key)
        return call_outlined(low, code, bound, key)


def _has_data(low: Lowering, bound: dict[str, Abstract]) -> bool:
    return any(first_leaf(v, low.state) is not None for v in bound.values())


def run_body(low: Lowering, code: Code, bound: dict[str, Abstract], key: Any) -> Abstract:
    """Lower a body with its parameters bound; its return value."""
    session = low.session
    frame = Frame(
        session.new_frame(),
        code.name,
        code.source,
        scope_of(code.node),
        code.globals,
        code.parent,
        code.cells,
    )
    outer, nodes = low.frame, low.nodes
    session.active.append((key, frame))
    low.frame, low.nodes = frame, []
    try:
        own = not code.source.file.startswith(_PACKAGE)
        for name, value in bound.items():
            low.state[low.variable(name)] = low.hinted(value, name) if own else value
        if isinstance(code.node, gast.Lambda):
            with low.statement(code.node.body):
                return expressions.evaluate(low, code.node.body)
        statements.run_block(low, code.node.body)
        if low.dead:
            raise Unreachable
        return returned(low)
    finally:
        low.frame, low.nodes = outer, nodes
        session.active.pop()
        if frame.keeps and code.parent is not None:
            code.parent.keeps = True
        if not frame.keeps:
            for stale in [k for k in low.state if k[1] == frame.number and k[0] != "place"]:
                del low.state[stale]


def returned(low: Lowering) -> Abstract:
    """The return value at the end of a body; None on paths that reach the end."""
    left = low.exits(("returned",))
    value = low.state.get(low.variable("<return>"))
    if left is False or value is None:
        return Static(None)
    inner: Abstract = value.value if isinstance(value, MaybeUnbound) else value
    if left is True:
        return inner
    return control.choose(low, left, lambda: inner, lambda: Static(None))


def bind(
    low: Lowering, code: Code, args: list[Abstract], keywords: dict[str, Abstract]
) -> dict[str, Abstract]:
    """The parameters of a call, by name, in order."""
    spec = code.node.args
    positional = [a.id for a in (*spec.posonlyargs, *spec.args)]
    only = {a.id for a in spec.posonlyargs}
    bound: dict[str, Abstract] = dict(zip(positional, args, strict=False))
    extra = args[len(positional) :]
    if extra and spec.vararg is None:
        low.refuse(f"{code.name}() takes {len(positional)} positional arguments, {len(args)} given", "")
    rest: dict[str, Abstract] = {}
    names = {*positional, *(a.id for a in spec.kwonlyargs)} - only
    for name, value in keywords.items():
        if name in names and name not in bound:
            bound[name] = value
        elif spec.kwarg is not None and name not in names:
            rest[name] = value
        else:
            low.refuse(f"{code.name}() got an unexpected or repeated argument {name!r}", "")
    first = len(positional) - len(code.defaults)
    for k, name in enumerate(positional):
        if name not in bound:
            if k < first:
                low.refuse(f"{code.name}() misses the argument {name!r}", "")
            bound[name] = code.defaults[k - first]
    for parameter, default in zip(spec.kwonlyargs, code.keyword_defaults, strict=True):
        if parameter.id not in bound:
            if default is None:
                low.refuse(f"{code.name}() misses the keyword argument {parameter.id!r}", "")
            bound[parameter.id] = default
    if spec.vararg is not None:
        bound[spec.vararg.id] = TupleRef(tuple(extra))
    if spec.kwarg is not None:
        bound[spec.kwarg.id] = low.new_dict(Entries(tuple(rest), tuple(rest.values())))
    return bound


# ---- recursion


@dataclass(eq=False)
class Outlined:
    """A recursive function, lowered for one kind of arguments."""

    ref: FunctionRef
    result: Any = None
    """The abstract result, in values of its own; None until a path returns."""
    leaves: tuple[Value, ...] = ()
    extras: tuple[Value, ...] = ()
    """Values of the surrounding function that it reads."""
    done: bool = False


def call_outlined(low: Lowering, code: Code, bound: dict[str, Abstract], key: Any) -> Abstract:
    """A call of a recursive function."""
    session = low.session
    made: Outlined | None = session.outlined.get(key)
    if made is None:
        made = Outlined(FunctionRef(code.name))
        session.outlined[key] = made
        try:
            lower_outlined(low, code, bound, key, made)
        except BaseException:
            del session.outlined[key]  # it is begun anew when it is called again
            raise
    inits = _arguments(low, bound)[1]
    if made.result is None:
        raise Unreachable  # so far no path is known on which it returns
    results, mapping = [], {}
    for leaf in made.leaves:
        value = Value("", leaf.type)
        results.append(value)
        mapping[leaf] = value
    op = Call(made.ref, (*inits, *made.extras), tuple(results), low.builder.loc)
    low.builder.append(op)
    session.calls[made.ref] = None
    result = _own(low, made.result, mapping)
    if any(isinstance(v, (ListRef, DictRef, ObjectRef, TupleRef)) for v in bound.values()):
        for value in (result, *bound.values()):  # the result may be an argument
            low.freeze(value)
    return result


def _own(low: Lowering, value: Any, mapping: dict[Value, Any]) -> Abstract:
    """The result of a call in fresh places."""
    match value:
        case _ResultList(contents=contents):
            return low.new_list(_own_contents(low, contents, mapping))
        case _ResultDict(contents=contents):
            return low.new_dict(_own_contents(low, contents, mapping))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(_own(low, i, mapping) for i in items), cls)
        case Value():
            found: Abstract = mapping.get(value, value)
            return found
    result: Abstract = value
    return result


def _own_contents(low: Lowering, contents: Any, mapping: dict[Value, Any]) -> Any:
    match contents:
        case Items(items=items):
            return Items(tuple(_own(low, i, mapping) for i in items))
        case Entries(keys=keys, values=values):
            return Entries(keys, tuple(_own(low, v, mapping) for v in values))
        case Held(value=value):
            return Held(mapping.get(value, value), "element")
    return contents


@dataclass(frozen=True, slots=True, eq=False)
class _ResultList:
    contents: Any


@dataclass(frozen=True, slots=True, eq=False)
class _ResultDict:
    contents: Any


def _detached(low: Lowering, value: Any) -> Any:
    """A result with the contents of its containers in it, for use outside this state."""
    match value:
        case ListRef():
            return _ResultList(_detached_contents(low, low.contents(value)))
        case DictRef():
            return _ResultDict(_detached_contents(low, low.contents(value)))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(_detached(low, i) for i in items), cls)
    return value


def _detached_contents(low: Lowering, contents: Any) -> Any:
    match contents:
        case Items(items=items):
            return Items(tuple(_detached(low, i) for i in items))
        case Entries(keys=keys, values=values):
            return Entries(keys, tuple(_detached(low, v) for v in values))
    return contents


def _arguments(low: Lowering, bound: dict[str, Abstract]) -> tuple[dict[str, Any], list[Atom], list[Value]]:
    """Parameters for all numbers and arrays in the arguments, and what they are in this call."""
    params: list[Value] = []
    inits: list[Atom] = []

    def leaf(hint: str, atoms: list[Atom | None], kind: Type) -> Value:
        param = Value(hint, kind)
        params.append(param)
        assert atoms[0] is not None
        inits.append(atoms[0])
        return param

    here = Region(low.builder, low.state, low.dead)
    merger = Merger(low, [here], leaf, force=True, force_constants=True)
    inside: dict[str, Any] = {}
    for name, value in bound.items():
        if isinstance(value, (ListRef, DictRef)):
            contents = low.contents(value)
            merged = merger.merge_contents([contents], name)
            inside[name] = (type(value), merged)
        elif is_leaf(value) and isinstance(value, Static) and not isinstance(value.value, (int, float)):
            inside[name] = value
        else:
            inside[name] = merger.merge([value], name)
    return inside, inits, params


def lower_outlined(
    low: Lowering, code: Code, bound: dict[str, Abstract], key: Any, made: Outlined
) -> None:
    """Lower a recursive function; again until the type of its result is settled."""
    session = low.session
    for _ in range(_PASSES):
        inside, _, params = _arguments(low, bound)
        builder = Builder(None, exact=low.builder.exact, simplify=low.builder.simplify)
        builder.loc = low.builder.loc
        # closures in the body read variables of the functions around it: their state is there
        before = (low.builder, low.state, low.dead, low.loops)
        low.builder, low.state, low.dead, low.loops = builder, dict(before[1]), False, []
        outer = dict(before[1])
        try:
            arguments: dict[str, Abstract] = {}
            for name, value in inside.items():
                if isinstance(value, tuple):
                    kind, contents = value
                    ref = kind(session.new_place())
                    low.restate(ref, contents)
                    low.freeze(ref)  # the caller would not see a change of it
                    arguments[name] = ref
                else:
                    low.freeze(value)
                    arguments[name] = value
            try:
                result = run_body(low, code, arguments, key)
            except Unreachable:
                low.refuse(f"{code.name} never returns: every path calls it again", "add a base case")
            for changed in outer:
                if low.state.get(changed) is not outer[changed]:
                    low.refuse(
                        f"the recursive function {code.name} changes something outside it",
                        "return the new value instead",
                    )
            leaves: list[Value] = []
            atoms: list[Atom] = []

            def leaf(hint: str, found: list[Atom | None], kind: Type) -> Value:
                value = Value(hint, kind)
                leaves.append(value)
                assert found[0] is not None
                atoms.append(found[0])
                return value

            here = Region(low.builder, low.state, False)
            template = _detached(low, _forced(Merger(low, [here], leaf, force=True, force_constants=True), low, result))
        finally:
            low.builder, low.state, low.dead, low.loops = before
        kinds = [v.type for v in leaves]
        block = builder.block(tuple(params), tuple(atoms))
        extras = tuple(v for v in free_values(block) if v not in params)
        settled = (
            made.result is not None
            and [v.type for v in made.leaves] == kinds
            and made.extras == extras
        )
        if settled:
            body = dataclasses.replace(block, params=())
            made.ref.function = Function(code.name, (*params, *extras), body, low.loc(code.node))
            made.done = True
            return
        made.result, made.leaves, made.extras = template, tuple(leaves), extras
    low.refuse(f"the type of what {code.name} returns does not settle", "return one type on all paths")


def _forced(merger: Merger, low: Lowering, value: Abstract) -> Any:
    if isinstance(value, (ListRef, DictRef)):
        merged = merger.merge_contents([low.contents(value)], "out")
        return low.new_list(merged) if isinstance(value, ListRef) else low.new_dict(merged)
    if isinstance(value, Static) and not isinstance(value.value, (int, float)):
        return value
    return merger.merge([value], "out")


# ---- descriptions of arguments


def describe(low: Lowering, value: Abstract) -> Any:
    """What a function is lowered for: types of data, identity of code."""
    match value:
        case Value(type=kind):
            return kind
        case Static(value=known):
            if isinstance(known, (int, float)) and not isinstance(known, bool):
                return atom_type(low.atom(value))
            return ("known", id(known) if not isinstance(known, (str, bool, type(None))) else known)
        case TupleRef(items=items, cls=cls):
            return (cls, tuple(describe(low, i) for i in items))
        case SetRef():
            return ("set", low.state.get(("place", value.place, "")))
        case ListRef() | DictRef() | ObjectRef():
            contents = low.state.get(("place", value.place, ""))
            match contents:
                case Held(value=held):
                    return held.type
                case Items(items=items):
                    return ("list", tuple(describe(low, i) for i in items))
                case Entries(keys=keys, values=values):
                    return ("dict", keys, tuple(describe(low, v) for v in values))
                case Fields(names=names, values=values, origin=origin):
                    return ("object", id(origin), names, tuple(describe(low, v) for v in values))
        case Closure(node=node, frame=frame):
            return ("closure", id(node), frame.number)
        case Method(function=function, receiver=receiver):
            return ("method", describe(low, function), describe(low, receiver))
    return ("other", id(value))


# ---- classes


def construct(
    low: Lowering, cls: type, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """An instance of a class."""
    if issubclass(cls, BaseException):
        atoms = tuple(map(low.atom, args))
        return low.builder.apply_typed(cls, atoms, OBJECT)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _namedtuple(low, cls, args, keywords)
    if dataclasses.is_dataclass(cls):
        return _dataclass(low, cls, args, keywords)
    if cls.__module__.partition(".")[0] in ("numpy", "builtins"):
        return primitive(low, cls, args, keywords)
    init = inspect.getattr_static(cls, "__init__", None)
    new = inspect.getattr_static(cls, "__new__", None)
    plain_new = new is inspect.getattr_static(object, "__new__") or new is None
    if type(cls) is type and plain_new and (isinstance(init, types.FunctionType) or init is object.__init__):
        ref = low.new_object(cls, Fields((), (), None))
        low.session.importer.member(cls, None, "__init__", init)
        if isinstance(init, types.FunctionType):
            call(low, Static(init), [ref, *args], keywords)
        return ref
    return opaque(low, cls, args, keywords)


def _namedtuple(low: Lowering, cls: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    values = dict(zip(cls._fields, args, strict=False)) | keywords
    for name, default in cls._field_defaults.items():
        values.setdefault(name, low.session.importer.constant(low, default))
    missing = [n for n in cls._fields if n not in values]
    if missing:
        low.refuse(f"{cls.__name__}() misses the field {missing[0]!r}", "")
    return TupleRef(tuple(values[n] for n in cls._fields), cls)


def _dataclass(low: Lowering, cls: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    init = inspect.getattr_static(cls, "__init__", None)
    low.session.importer.member(cls, None, "__init__", init)
    if isinstance(init, types.FunctionType) and init.__code__.co_filename != "<string>":
        ref = low.new_object(cls, Fields((), (), None))
        call(low, Static(init), [ref, *args], keywords)
        return ref
    fields = [f for f in dataclasses.fields(cls) if f.init]
    values: dict[str, Abstract] = dict(zip((f.name for f in fields if not f.kw_only), args, strict=False))
    for name, value in keywords.items():
        if name in values or name not in [f.name for f in fields]:
            low.refuse(f"{cls.__name__}() got an unexpected or repeated argument {name!r}", "")
        values[name] = value
    named: list[tuple[str, Abstract]] = []
    for f in dataclasses.fields(cls):
        if f.name in values:
            named.append((f.name, values[f.name]))
        elif f.default is not dataclasses.MISSING:
            named.append((f.name, low.session.importer.constant(low, f.default)))
        elif f.default_factory is not dataclasses.MISSING:
            named.append((f.name, call(low, Static(f.default_factory), [], {})))
        elif f.init:
            low.refuse(f"{cls.__name__}() misses the argument {f.name!r}", "")
    ref = low.new_object(cls, Fields(tuple(n for n, _ in named), tuple(v for _, v in named), None))
    post = inspect.getattr_static(cls, "__post_init__", None)
    if isinstance(post, types.FunctionType):
        call(low, Static(post), [ref], {})
    return ref


