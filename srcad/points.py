"""``vjp``, ``jvp`` and ``hvp``: derivatives at a point, one compiler for each function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NoReturn

import numpy as np

from srcad import rules
from srcad.codes import VARIANTS
from srcad.derivative import Derivative
from srcad.errors import SrcadError, UnsupportedValue
from srcad.frontend import containers
from srcad.frontend.abstract import DictRef, Entries, Held, ListRef, Static, TupleRef
from srcad.frontend.abstract import Items as ListItems
from srcad.guards import MISS, Identity, key_of_all, make_entry
from srcad.ir import Value
from srcad.options import DEFAULTS, Options
from srcad.pipeline import CompiledPair, Named, compile_vjp
from srcad.primal import annotate, copied, hides_own_frames, name_of, run_primal
from srcad.recent import Recent
from srcad.stored import Request, fetch, keep
from srcad.transform import inside
from srcad.transform.calls import Spec
from srcad.transform.library import CompilerLibrary, placed
from srcad.transform.signatures import argument_name

__all__ = ["Pullback", "VjpMaker", "at_point", "check_alike", "vjp"]

# ---- the structure of cotangents and tangents


def check_alike(value: Any, given: Any, what: str, where: str = "") -> None:
    """Refuse a cotangent or tangent that has not the structure and shape of what it belongs to."""

    def refuse(wanted: str) -> NoReturn:
        raise UnsupportedValue(
            None,
            f"the {what}{where} is {_described(given)}, but {wanted} is needed",
            f"give it the structure and shape of what it belongs to: {_described(value)}",
        )

    match value:
        case tuple() | list():
            if not isinstance(given, (tuple, list)) or len(given) != len(value):
                refuse(f"a {type(value).__name__} of {len(value)}")
            for k, (part, other) in enumerate(zip(value, given, strict=True)):
                check_alike(part, other, what, f"{where}[{k}]")
        case dict():
            if not isinstance(given, dict) or given.keys() != value.keys():
                refuse(f"a dict with the keys {list(value)}")
            for key, part in value.items():
                check_alike(part, given[key], what, f"{where}[{key!r}]")
        case bool():
            pass
        case np.ndarray() | np.generic() | float() | complex() | int():
            if not isinstance(given, (np.ndarray, np.generic, float, complex, int)):
                refuse("a number or an array")
            if np.shape(given) != np.shape(value):
                refuse(f"shape {np.shape(value)}")
            if np.iscomplexobj(given) and not np.iscomplexobj(value):
                refuse("a real one")
        case _ if is_dataclass(value) and not isinstance(value, type):
            for field in fields(value):
                if not hasattr(given, field.name):
                    refuse(f"an instance of {type(value).__name__}")
                part = getattr(value, field.name)
                check_alike(part, getattr(given, field.name), what, f"{where}.{field.name}")


def in_space_of(value: Any, given: Any) -> Any:
    """A cotangent whose numbers are complex where those of the value are."""
    match value:
        case tuple() | list():
            parts = [in_space_of(v, g) for v, g in zip(value, given, strict=True)]
            if all(new is old for new, old in zip(parts, given, strict=True)):
                return given
            return type(given)(*parts) if hasattr(given, "_fields") else type(given)(parts)
        case dict():
            return {key: in_space_of(part, given[key]) for key, part in value.items()}
        case np.ndarray() | np.generic() | complex() if np.iscomplexobj(value):
            if not np.iscomplexobj(given):
                return given + 0j
    return given


def _described(value: Any) -> str:
    match value:
        case np.ndarray():
            return f"an array of shape {value.shape}"
        case tuple() | list() | dict():
            return f"a {type(value).__name__} of {len(value)}"
        case float() | int() | complex():
            return f"the number {value}"
    return f"of type {type(value).__name__}"


# ---- vjp


class Pullback:
    """What ``vjp`` returns: cotangent to a tuple of gradients, as often as wanted."""

    def __init__(self, pair: CompiledPair, saved: Any, value: Any) -> None:
        self._pair = pair
        self._saved = saved
        self._value = value

    @hides_own_frames
    def __call__(self, ct: Any) -> Any:
        """The gradients for a cotangent of the shape and structure of the value."""
        check_alike(self._value, ct, "cotangent")
        ct = in_space_of(self._value, ct)
        try:
            return self._pair.reverse.run(self._saved, ct)
        except ArithmeticError:
            pass  # the function itself has not raised: here its derivative is not finite
        try:
            return self._pair.reverse.run(_by_numpy(self._saved), _by_numpy(ct))
        except Exception as error:
            annotate(error, self._pair.reverse)
            raise

    @property
    def source(self) -> str:
        """The generated reverse function."""
        return self._pair.reverse.source

    def __repr__(self) -> str:
        return f"<srcad pullback {self._pair.reverse.emitted.name}>"


def _by_numpy(value: Any) -> Any:
    """The same numbers, with NumPy's arithmetic, which has inf and nan."""
    match value:
        case float():
            return np.float64(value)
        case tuple() if type(value) is tuple:
            return tuple(map(_by_numpy, value))
        case list():
            return list(map(_by_numpy, value))
        case dict():
            return {k: _by_numpy(v) for k, v in value.items()}
    return value


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """The two halves of ``vjp``, and what says whether they apply."""

    pair: CompiledPair
    collect: Callable[..., Any]


class VjpMaker(Derivative):
    """Compiles the two halves of ``vjp`` of one function."""

    def __init__(self, function: Any, has_aux: bool = False, options: Options = DEFAULTS) -> None:
        super().__init__(function, Spec("vjp", 0, has_aux), options)
        self._pairs: dict[Any, tuple[_Pair, ...]] = {}

    def pair_for(self, primals: tuple[Any, ...], exact: bool = False) -> CompiledPair:
        """The pair for primals of these types."""
        return self._pair_and_data(primals, exact)[0]

    def _pair_and_data(
        self, primals: tuple[Any, ...], exact: bool
    ) -> tuple[CompiledPair, tuple[Any, ...]]:
        sizes: dict[int, int] = {}
        key = (exact, key_of_all(primals, sizes, self.options))
        for known in self._pairs.get(key, ()):
            data = known.collect(*primals, sizes=sizes)
            if data is not MISS:
                return known.pair, data
        with self._lock:
            names = _primal_names(self.primal, len(primals))
            pair = self._compile_pair(tuple(zip(names, primals, strict=True)), exact)
            forward = pair.forward
            _, collect = make_entry(forward.run, len(primals), forward.guards, dict(sizes))
            self._pairs[key] = (_Pair(pair, collect), *self._pairs.get(key, ()))[:VARIANTS]
            return pair, forward.data(primals)

    def _compile_pair(self, named: Named, exact: bool) -> CompiledPair:
        request = Request(self.primal, self.spec, named, (), exact, self.options)
        found = fetch(request)
        if found is not None:
            return CompiledPair(*found)
        pair = compile_vjp(
            self.primal,
            named,
            name=name_of(self.primal),
            options=self.options,
            exact=exact,
            has_aux=self.spec.has_aux,
        )
        keep(request, (pair.forward, pair.reverse))
        return pair

    def at(self, primals: tuple[Any, ...]) -> tuple[CompiledPair, Any, Any]:
        """The pair, the value at the primals, and what the reverse half needs of the forward."""
        pair, data, (value, saved) = self._run(primals)
        return pair, value, _Detacher((primals, data, value)).detached(saved)

    def _run(self, primals: tuple[Any, ...]) -> tuple[CompiledPair, Any, Any]:
        pair, data = self._pair_and_data(primals, False)
        try:
            return pair, data, pair.forward.run(*primals, *data)
        except Exception as error:
            caught = error
        try:
            if pair.forward.acts or isinstance(caught, SrcadError):
                annotate(caught, pair.forward)
                raise caught
            run_primal(self.primal, [copied(v) for v in primals], {})
        finally:
            del caught
        pair, data = self._pair_and_data(primals, True)
        try:
            return pair, data, pair.forward.run(*primals, *data)
        except Exception as again:
            annotate(again, pair.forward)
            raise


class _Detacher:
    """Copies what of the saved values a caller can get at and change before the pullback runs."""

    def __init__(self, outside: Any) -> None:
        self._outside: set[int] = set()
        self._gather(outside)

    def _gather(self, obj: Any) -> None:
        match obj:
            case np.ndarray():
                self._outside.add(id(_root(obj)))
            case list() | tuple() | dict():
                self._outside.add(id(obj))
                for item in obj.values() if isinstance(obj, dict) else obj:
                    self._gather(item)

    def detached(self, obj: Any) -> Any:
        """The object, or a copy of it if it is reached from outside."""
        match obj:
            case np.ndarray():
                return obj.copy() if id(_root(obj)) in self._outside else obj
            case list() if id(obj) in self._outside or not (obj and isinstance(obj[0], float)):
                return list(map(self.detached, obj))
            case tuple() if type(obj) is tuple:
                return tuple(map(self.detached, obj))
            case dict():
                return {key: self.detached(item) for key, item in obj.items()}
        return obj


def _root(array: Any) -> Any:
    """The array that owns the memory of another."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _primal_names(function: Any, count: int) -> list[str]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    names = [p.name for p in parameters if p.kind in plain][:count]
    return [*names, *(f"x{k}" for k in range(len(names), count))]


@hides_own_frames
def vjp(function: Any, primals: tuple[Any, ...], has_aux: bool, options: Options = DEFAULTS) -> Any:
    """``srcad.vjp``"""
    if options.backend != "python":
        return _vjp_in_one(function, primals, has_aux, options)
    key = "vjp", has_aux, options
    maker = _memo(key, function, lambda: VjpMaker(function, has_aux, options))
    pair, value, saved = maker.at(primals)
    if has_aux:
        value, aux = value
        return value, Pullback(pair, saved, value), aux
    return value, Pullback(pair, saved, value)


class _Recomputed:
    """A pullback that computes the value again: what is called is compiled as one function."""

    def __init__(self, maker: PointMaker, primals: tuple[Any, ...], value: Any) -> None:
        self._maker = maker
        self._primals = primals
        self._value = value

    @hides_own_frames
    def __call__(self, ct: Any) -> Any:
        """The gradients for a cotangent of the shape and structure of the value."""
        check_alike(self._value, ct, "cotangent")
        return self._maker.at(self._primals, in_space_of(self._value, ct))

    @property
    def source(self) -> str:
        """The generated function."""
        return self._maker.source

    def __repr__(self) -> str:
        return f"<srcad pullback of {self._maker.primal.__name__}>"


def _vjp_in_one(function: Any, primals: tuple[Any, ...], has_aux: bool, options: Options) -> Any:
    """``vjp`` by a back end that does not hand on what the reverse sweep reads."""
    out = _point_maker("value", function, options, has_aux).at(primals, ())
    value = out[0] if has_aux else out
    maker = _point_maker("pullback", function, options, has_aux)
    pullback = _Recomputed(maker, tuple(map(copied, primals)), value)
    return (value, pullback, out[1]) if has_aux else (value, pullback)


# ---- jvp and hvp


class _AtPoint:
    """A transform of one function, as a function of primals and tangents.

    ``kind`` is 'jvp' or 'hvp'; 'value' has no tangents, 'pullback' a cotangent in their place.
    """

    __srcad_transform__ = True

    def __init__(self, kind: str, function: Any, has_aux: bool = False) -> None:
        self.primal = function
        self.spec = Spec(kind, 0, has_aux)
        self.__name__ = name_of(function)

    def __call__(self, primals: Any, tangents: Any) -> Any:
        raise TypeError("compiled, not called")


class PointMaker(Derivative):
    """Compiles a transform of one function at a point: a call of an ``_AtPoint``."""

    def __init__(
        self, kind: str, function: Any, options: Options = DEFAULTS, has_aux: bool = False
    ) -> None:
        super().__init__(_AtPoint(kind, function, has_aux), Spec(kind, 0, has_aux), options)

    @property
    def _called(self) -> Any:
        return self.primal

    def _run_primal(self, positional: Named, named: Named) -> None:
        primals = positional[0][1]
        assert isinstance(self.primal, _AtPoint)
        run_primal(self.primal.primal, [copied(v) for v in primals], {})

    def at(self, primals: Any, tangents: Any) -> Any:
        """The result at a point."""
        return self._slow((primals, tangents))


@hides_own_frames
def at_point(
    kind: str,
    function: Any,
    primals: Any,
    tangents: Any,
    has_aux: bool = False,
    options: Options = DEFAULTS,
) -> Any:
    """``srcad.jvp`` and ``srcad.hvp``"""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(
            f"{kind} takes a tuple of primals and one of tangents: {kind}(f, (x,), (dx,))"
        )
    primals, tangents = tuple(primals), tuple(tangents)
    if len(primals) != len(tangents):
        raise TypeError(
            f"{len(primals)} primals and {len(tangents)} tangents: one for each is needed"
        )
    check_alike(primals, tangents, "tangent")
    return _point_maker(kind, function, options, has_aux).at(primals, tangents)


def _point_maker(kind: str, function: Any, options: Options, has_aux: bool = False) -> PointMaker:
    key = kind, options, has_aux
    made: PointMaker = _memo(key, function, lambda: PointMaker(kind, function, options, has_aux))
    return made


def _expand_point(
    library: Any, low: Any, point: Any, args: list[Any], keywords: dict[str, Any]
) -> Any:
    named = dict(zip(("primals", "tangents"), args, strict=False)) | keywords
    named["fun"] = low.session.importer.constant(low, point.primal)
    if point.spec.kind not in ("jvp", "hvp"):
        renamed: tuple[tuple[str, str], ...] = (("primals", ""),)
    else:
        renamed = (("primals", ""), ("tangents", "_dot"))
    for what, suffix in renamed:
        for k, item in enumerate(containers.unpack(low, named[what])):
            name = argument_name(named["fun"], k).replace(" ", "")
            for value in _values(low, item):
                tail = value.hint.removeprefix(f"{what}_{k}")
                value.hint = f"{value.hint if tail == value.hint else name + tail}{suffix}"
                if what == "tangents":
                    low.session.importer.hide(value)
    kind = point.spec.kind
    with placed(named["fun"]):
        if kind in ("value", "pullback"):
            primals = containers.unpack(low, named["primals"])
            aux = {"has_aux": Static(point.spec.has_aux)}
            value, pullback, *extra = inside.vjp(library, low, [named["fun"], *primals], aux).items
            if kind == "pullback":
                return pullback.call(low, [named["tangents"]], {})
            return TupleRef((value, *extra)) if extra else value
        named["has_aux"] = Static(point.spec.has_aux)
        handler = inside.jvp if kind == "jvp" else inside.hvp
        return handler(library, low, [], named)


def _values(low: Any, item: Any) -> Iterator[Value]:
    """An item of a point, or the values in it."""
    parts: tuple[Any, ...] = ()
    match item:
        case Value():
            yield item
        case TupleRef(items=items):
            parts = items
        case ListRef() | DictRef():
            match low.contents(item):
                case Held(value=held):
                    parts = (held,)
                case ListItems(items=parts) | Entries(values=parts):
                    pass
    for part in parts:
        yield from _values(low, part)


CompilerLibrary.points[_AtPoint] = _expand_point


# ---- one compiler for each function


_makers: Recent[Any, Any] = Recent(256)


rules.watch(_makers.clear)


def _memo(kind: Any, function: Any, make: Callable[[], Any]) -> Any:
    """The compiler of a function; the oldest go when there are many."""
    key = kind, Identity(function)
    found = _makers.get(key)
    if found is None:
        found = _makers[key] = make()
    return found
