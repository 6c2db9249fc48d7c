"""Calls: which function is called, how its arguments bind, and whether its body goes in here.

A function whose source can be read is lowered in place of the call.  A recursive one stays a
function: it is lowered once for the types of its arguments and called.  Everything else is a
primitive (``Apply``, or ``Effect`` if the call must stay in order).
"""

from __future__ import annotations

import bisect
import functools
import heapq
import inspect
import operator
import random
import types
from dataclasses import dataclass
from typing import Any, cast

import gast
import numpy as np

from srcad import runtime
from srcad.errors import SourceError, SourceUnavailable
from srcad.frontend import (
    arrays,
    attributes,
    builtin,
    classes,
    containers,
    control,
    expressions,
    recursion,
    statements,
    typequeries,
)
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    Closure,
    DictRef,
    Entries,
    Intrinsic,
    IteratorRef,
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
from srcad.frontend.fence import check_fence, refusal
from srcad.frontend.lowering import _PACKAGE, RETURN, Frame, Lowering, Unreachable
from srcad.frontend.radii import even_power
from srcad.frontend.scopes import parameters, scope_of
from srcad.frontend.source import FunctionSource, read_function
from srcad.ir import Atom, Literal, Value
from srcad.ir.core import hashable
from srcad.ir.places import place_of
from srcad.ir.samples import GENERATORS, draws, sampled_type
from srcad.ir.types import (
    OBJECT,
    UNKNOWN,
    Array,
    Number,
    NumPyScalar,
    Opaque,
    Type,
    generator_type,
    is_differentiable,
)

_DEPTH = 60
_SAME = 30
"""How deep one function may call itself with arguments of other types each time."""
_CALLS = 1000
"""How often functions may do so in all: two such calls at each depth are a billion at thirty."""
RAISES = "the plain function raises TypeError here too: correct the call"


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


def call(
    low: Lowering, callee: Abstract, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """The result of a call."""
    handed = (*args, *keywords.values())
    if low.watches and any(isinstance(a, IteratorRef) for a in handed):
        with low.bit_by_bit():  # Python asks for the items while it uses them
            return _call(low, callee, args, keywords)
    return _call(low, callee, args, keywords)


def _call(
    low: Lowering, callee: Abstract, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
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
            found = low.session.library.expand(low, callee, args, keywords)
            assert found is not NotImplemented
            result: Abstract = found
            return result
        case Intrinsic(call=run):
            made: Abstract = run(low, args, keywords)
            return made
        case ObjectRef():
            return call(low, attributes.get_attribute(low, callee, "__call__"), args, keywords)
        case Value(type=Number() | NumPyScalar() | Array() as kind):
            low.refuse(f"a {kind} is called", RAISES)
        case Value():
            return opaque(low, operator.call, [callee, *args], keywords)
        case Poison(message=message, hint=hint):
            low.refuse(message, hint)
    low.refuse(*refusal("object", type="that is not a function"))


def _call_known(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    library = low.session.library
    if _may_take_out(function):
        args, keywords, out = _without_out(function, args, keywords)
        if out is not None and _draws(function):  # its shape says how many numbers are drawn
            low.refuse(*refusal("out argument", name=function.__name__))
        if out is not None:
            return arrays.write_out(low, function, args, keywords, out, _call_known)
    found: Any = library.expand(low, function, args, keywords)
    if found is not NotImplemented:
        result: Abstract = found
        return result
    if hashable(function) and function in arrays.WRITERS:
        return arrays.write(low, function, args, keywords)
    if _writes(function):
        low.refuse(*refusal("array method", name=getattr(function, "__name__", "this call")))
    handler = builtin.handler_of(function)
    if handler is not None:
        if function in builtin.READERS:
            args = [low.read(a) for a in args]
        found = handler(low, args, keywords)
        if found is not NotImplemented:
            result = found
            return result
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
        return classes.construct(low, function, args, keywords)
    if isinstance(function, types.FunctionType) and function.__code__ is _DISPATCHER and args:
        return _dispatched(low, function, args, keywords)
    if isinstance(function, types.FunctionType):
        if all(map(is_inert, (*args, *keywords.values()))):
            found = inline(low, function, args, keywords)
            return opaque(low, function, args, keywords) if found is None else found
        return call_code(low, _function_code(low, function), args, keywords)
    if type(function).__name__ in ("_lru_cache_wrapper", "CPUDispatcher"):
        cached = builtin.static_only(function)(low, args, keywords)
        if cached is not NotImplemented and type(function).__name__ == "_lru_cache_wrapper":
            result = cached
            return result
        inner = getattr(function, "__wrapped__", None) or function.py_func
        return _call_known(low, inner, args, keywords)
    if type(function).__name__ == "_ArrayFunctionDispatcher":
        inner = getattr(function, "__wrapped__", None)
        inlined = None
        if isinstance(inner, types.FunctionType):
            inlined = inline(low, inner, args, keywords)
        if inlined is not None:
            return inlined
    # the method of the class itself: that there is one is not the question
    method = getattr(type(function), "__call__", None)  # noqa: B004
    if not isinstance(function, types.BuiltinFunctionType) and isinstance(
        method, types.FunctionType
    ):
        receiver = low.session.importer.receiver(low, function)
        return call(low, attributes.get_attribute(low, receiver, "__call__"), args, keywords)
    return primitive(low, function, args, keywords)


_DISPATCHER = cast(Any, functools.singledispatch(len)).__code__
"""The code of all functions that ``functools.singledispatch`` makes."""


def _dispatched(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call of what is registered for the class of the first argument."""
    cls = typequeries.class_of(low, args[0])
    if cls is None:
        low.refuse(*refusal("dispatch", name=function.__name__))
    scalar = typequeries.NUMPY_SCALARS.get(cls)
    if scalar is not None and function.dispatch(cls) is not function.dispatch(scalar):
        low.require_python(args[0])
    chosen = low.session.importer.dispatched(function, cls)
    return call(low, low.session.importer.constant(low, chosen), args, keywords)


def inline(
    low: Lowering,
    function: types.FunctionType,
    args: list[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract | None:
    """A function from its own source; None where that cannot be lowered."""
    state, mark, dead = dict(low.state), low.builder.mark(), low.dead
    frozen = set(low.session.frozen)
    try:
        return call_code(low, _function_code(low, function), args, keywords)
    except SourceError:
        low.session.frozen = frozen
        low.state, low.dead = state, dead
        low.builder.rewind(mark)
        return None


def is_inert(value: Abstract) -> bool:
    """Whether a value has no derivative and nothing in it that a call could change."""
    match value:
        case Static():
            return True
        case Value(type=kind):
            return not is_differentiable(kind) and kind != OBJECT
        case TupleRef(items=items):
            return all(map(is_inert, items))
    return False


def _call_method(
    low: Lowering,
    function: Abstract,
    receiver: Abstract,
    args: list[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    if isinstance(receiver, MaybeUnbound):
        receiver = low.bound(receiver)
    if isinstance(receiver, (ListRef, DictRef, SetRef, TupleRef)) and isinstance(function, Static):
        name = getattr(function.value, "__name__", str(function.value))
        if not isinstance(function.value, types.FunctionType):
            return containers.call_method(low, receiver, name, args, keywords)
    return call(low, function, [receiver, *args], keywords)


# ---- primitives


def _without_out(
    function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> tuple[list[Abstract], dict[str, Abstract], Abstract | None]:
    """The arguments but for ``out``, and that, if it is not None."""
    place = _place_of_out(function) if len(args) > 1 else None
    out = keywords.get("out")
    rest = {k: v for k, v in keywords.items() if k != "out"}
    if place is not None and place < len(args) <= _most(function):
        args, (out, *later) = args[:place], args[place:]
        if isinstance(function, np.ufunc):  # one for each result
            out = TupleRef((out, *later)) if later else out
        else:
            rest |= dict(zip(_parameters(function)[place + 1 :], later, strict=False))
    if isinstance(out, Static):
        out = None if out.value is None else TupleRef(tuple(map(Static, out.value)))
    return args, rest, out


def _may_take_out(function: Any) -> bool:
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    owner = getattr(function, "__objclass__", function)
    module = getattr(owner, "__module__", None) or ""
    return module.partition(".")[0] in ("numpy", "scipy")


@functools.cache
def _place_of_out(function: Any) -> int | None:
    """Where a function takes ``out`` by position."""
    if isinstance(function, np.ufunc):
        return function.nin
    names = _parameters(function)
    return names.index("out") if "out" in names else None


def _most(function: Any) -> int:
    """How many arguments a function takes by position."""
    return function.nargs if isinstance(function, np.ufunc) else len(_parameters(function))


def _parameters(function: Any) -> list[str]:
    """The names of what a function takes by position; none where it does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in kinds]


def primitive(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call that is not looked into."""
    library = low.session.library
    if hashable(function) and function in _AXES:
        args = [a if k < _AXES[function] else _axes(low, a) for k, a in enumerate(args)]
        keywords = {k: _axes(low, v) if k in _NAMES_OF_AXES else v for k, v in keywords.items()}
    if "shape" in keywords and not args and function in _OF_A_SHAPE:
        first = [name for name in ("shape", "fill_value") if name in keywords]
        args = [keywords[name] for name in first]
        keywords = {k: v for k, v in keywords.items() if k not in first}
    pure = library.is_known(function) or _is_pure(function)
    take = low.peek if pure else low.atom
    atoms = [take(a) for a in args]
    named: dict[str, Any] = {k: take(v) for k, v in keywords.items()}
    if library.is_effect(function) or not pure:
        return opaque(low, function, args, keywords)
    if any(isinstance(a, ArrayRef) for a in (*args, *keywords.values())):
        return arrays.called(low, function, args, keywords)
    made = None if named or low.internal else even_power(low.builder, function, tuple(atoms))
    if made is None:
        made = low.builder.apply(function, *atoms, **named)
    return containers.wrap(low, made)


_WRITERS = {
    *("itemset", "resize", "setflags", "byteswap", "setfield", "__delitem__"),
    *(f"__i{n}__" for n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")),
    *(f"__i{n}__" for n in ("and", "or", "xor", "lshift", "rshift")),
}
_WRITING = {
    np.random.shuffle,
    bisect.insort_left,
    random.shuffle,
    heapq.heapify,
    heapq.heappush,
    heapq.heappop,
    heapq.heapreplace,
    heapq.heappushpop,
}
"""What writes into an array or a list and is not among ``arrays.WRITERS``."""


_AXES = {
    np.tensordot: 2, np.linalg.tensordot: 2, np.transpose: 1, np.ndarray.transpose: 1,
    np.moveaxis: 1,
}  # fmt: skip
"""Functions that may be given axes in lists, and the position from which on they are."""
_NAMES_OF_AXES = ("axes", "source", "destination")


_OF_A_SHAPE = {np.empty, np.zeros, np.ones, np.full}
"""Functions whose first argument is a shape: it is that by whatever name it is given."""


def _axes(low: Lowering, value: Abstract) -> Abstract:
    """Axes in a list, as a tuple if they are known: then the rank of the result is known."""
    if isinstance(value, Static):
        return value
    items = containers.items_of(low, value)
    known = None if items is None else [_axes(low, item) for item in items]
    if known is None or not all(isinstance(k, Static) for k in known):
        return value
    return Static(tuple(k.value for k in known if isinstance(k, Static)))


def _writes(function: Any) -> bool:
    if getattr(function, "__objclass__", None) is np.ndarray:
        return function.__name__ in _WRITERS
    if draws(function) is not None:
        return bool(function.__name__ == "shuffle")
    return hashable(function) and function in _WRITING


def _draws(function: Any) -> bool:
    """Whether a function draws random numbers."""
    source = getattr(function, "__self__", None)
    return draws(function) is not None or isinstance(source, tuple(GENERATORS.values()))


def _is_pure(function: Any) -> bool:
    """Whether an undeclared function only computes: NumPy's and SciPy's functions do.

    Those that are compiled code inside a package do not: they write where they are told to, and
    trust that their arguments fit, so that they are not to be run on examples either.
    """
    if isinstance(function, np.ufunc) or getattr(function, "__objclass__", None) in (
        np.ndarray, np.generic, str, float, int, complex,
    ):  # fmt: skip
        return True
    module = getattr(function, "__module__", "") or ""
    package, *inner = module.split(".")
    if "random" in module or (
        isinstance(function, types.BuiltinFunctionType)
        and package != "numpy"
        and any(name.startswith("_") for name in inner)
    ):
        return False
    return package in ("numpy", "scipy", "math", "_operator", "cmath")


def opaque(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call that is run as it is, once and in order; what it is given it must leave as it is."""
    atoms = [low.atom(a) for a in args]
    named = {k: low.atom(v) for k, v in keywords.items()}
    result = Value("", _result_of(function, atoms, named))
    pairs = zip((*args, *keywords.values()), (*atoms, *named.values()), strict=True)
    open_ = [atom for value, atom in pairs if _changeable(value)]
    before = Value("before", OBJECT)
    if low.session.library.is_effect(function) or not open_:
        low.builder.effect(function, *atoms, result=result, **named)
        return Static(None) if function is print else containers.wrap(low, result)
    name = Literal(getattr(function, "__name__", "a function"))
    low.builder.effect(runtime.snapshot, *open_, result=before)
    low.builder.effect(function, *atoms, result=result, **named)
    low.builder.effect(runtime.require_unchanged, name, before, *open_)
    return result


_OPAQUE_RESULTS: dict[Any, Type] = {
    print: OBJECT,
    np.random.default_rng: generator_type(np.random.Generator),
    np.random.RandomState: generator_type(np.random.RandomState),
}


_DATA = (np.ndarray, np.generic, int, float, complex, list, tuple, dict)
"""What instances of are numbers and arrays, or are known to hold some."""


def _result_of(function: Any, atoms: list[Atom], named: dict[str, Atom]) -> Type:
    """The type of what a call that is run as it is returns, where it is known."""
    if not hashable(function):
        return UNKNOWN
    if function in _OPAQUE_RESULTS:
        return _OPAQUE_RESULTS[function]
    if isinstance(function, type) and not issubclass(function, _DATA):
        return Opaque(function.__name__)
    source = getattr(function, "__self__", None)
    if isinstance(source, np.random.RandomState):  # np.random.normal: of one that NumPy keeps
        function = getattr(np.random.RandomState, function.__name__, None)
        atoms = [Value("", generator_type(type(source))), *atoms]
    if draws(function) is None:
        return UNKNOWN
    return sampled_type(function, tuple(atoms), tuple(named.items())) or UNKNOWN


def _changeable(value: Abstract) -> bool:
    """Whether a function that gets a value can change what is in it."""
    match value:
        case ListRef() | DictRef() | ObjectRef():
            return True
        case Value(type=kind):
            return not isinstance(kind, (Number, NumPyScalar, Opaque))
        case TupleRef(items=items):
            return any(map(_changeable, items))
    return False


# ---- functions with a body


_own_sources: dict[types.CodeType, FunctionSource] = {}
"""Of functions of this package, which do not change while it runs."""


def _source_of(function: types.FunctionType) -> FunctionSource:
    """The source of a function that may be lowered."""
    code = function.__code__
    source = _own_sources.get(code)
    if source is None:
        source = read_function(function)
        check_fence(source.tree, source)
        if code.co_filename.startswith(_PACKAGE):
            _own_sources[code] = source
    return source


def _function_code(low: Lowering, function: types.FunctionType) -> Code:
    importer = low.session.importer
    try:
        source = _source_of(function)
    except SourceUnavailable as error:
        call = low.place(None)
        if call is None or error.place is None or str(call) == str(error.place):
            raise  # it is the function that is differentiated
        # what has no text has no place in it: the call has
        raise SourceUnavailable(call, error.message, error.hint) from None
    except SourceError as error:
        raise error.called_at(place_of(low.builder.loc)) from None
    low.session.inlined.append(function)
    importer.code(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    positional = function.__defaults__ or ()
    spec = source.tree.args
    names = (
        [a.id for a in (*spec.posonlyargs, *spec.args)][-len(positional) :] if positional else []
    )
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
    own = code.source.file.startswith(_PACKAGE)  # a rule may call its function with other literals
    key = (code.key, tuple(recursion.describe(low, v, exactly=own) for v in bound.values()))
    if key in session.recursive:
        return recursion.call_outlined(low, code, bound, key)
    active = [k for k, _ in session.active]
    same = sum(k[0] == code.key for k in active)
    deep = len(active) > _DEPTH or same > _SAME
    if key in active and (deep or _has_data(low, bound)):
        raise RecursionFound(key)  # of constants too, if there is no end to it
    session.nested_calls += same > 0
    if deep or session.nested_calls > _CALLS:
        low.refuse(*refusal("recursion"))
    state, mark, dead = dict(low.state), low.builder.mark(), low.dead
    try:
        return run_body(low, code, bound, key)
    except RecursionFound as found:
        if found.key != key or key in active:  # all of them are calls of one function
            raise
        low.state, low.dead = state, dead
        low.builder.rewind(mark)
        session.recursive.add(key)
        return recursion.call_outlined(low, code, bound, key)


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
        low.builder.loc,
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
    value = low.state.get(low.variable(RETURN))
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
        low.refuse(
            f"{code.name}() takes {len(positional)} positional arguments, {len(args)} given",
            RAISES,
        )
    rest: dict[str, Abstract] = {}
    names = {*positional, *(a.id for a in spec.kwonlyargs)} - only
    for name, value in keywords.items():
        if name in names and name not in bound:
            bound[name] = value
        elif spec.kwarg is not None and name not in names:
            rest[name] = value
        else:
            low.refuse(f"{code.name}() got an unexpected or repeated argument {name!r}", RAISES)
    first = len(positional) - len(code.defaults)
    for k, name in enumerate(positional):
        if name not in bound:
            if k < first:
                low.refuse(f"{code.name}() misses the argument {name!r}", RAISES)
            bound[name] = code.defaults[k - first]
    for parameter, default in zip(spec.kwonlyargs, code.keyword_defaults, strict=True):
        if parameter.id not in bound:
            if default is None:
                low.refuse(f"{code.name}() misses the keyword argument {parameter.id!r}", RAISES)
            bound[parameter.id] = default
    if spec.vararg is not None:
        bound[spec.vararg.id] = TupleRef(tuple(extra))
    if spec.kwarg is not None:
        bound[spec.kwarg.id] = low.new_dict(Entries(tuple(rest), tuple(rest.values())))
    # in the order of the parameters: calls of one recursive function must agree on it
    return {name: bound[name] for name in parameters(spec)}
