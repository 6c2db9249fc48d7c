"""The type of a call's result, found by running the call on small examples.

A NumPy function knows best which dtype and shape it returns, so it is asked: the call runs on three
sets of example arguments whose sizes and contents differ.  A size of the result that follows one
symbol through all three sets *is* that symbol (or that symbol less a constant, as for ``x[1:]``);
whatever does not follow one, because it depends on contents or is clipped, stays unknown.  This is
abstract interpretation by samples (Cousot and Cousot, 1977, give the frame): what a type claims has
been seen at sizes 2, 3, … and at large ones, with ties and without.

A few callees are answered by rule: displays, ``len``, ``getitem`` of containers.
"""

from __future__ import annotations

import builtins
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import core
from srcad.ir.core import Atom, Literal, Value
from srcad.ir.types import (
    BOOL,
    FLOAT,
    INT,
    KEY,
    NONE,
    NOTHING,
    OBJECT,
    REAL,
    STRING,
    UNKNOWN,
    Array,
    DictType,
    Dim,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    Optional,
    Size,
    TupleType,
    Type,
    Unknown,
    dims_of,
    is_differentiable,
    join,
    join_all,
    type_of,
)

_SETS = 3
_LARGEST = 1_000_000
_SLICE = Opaque("slice")
_memo: dict[object, Type] = {}


def result_type(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()
) -> Type:
    """The type of ``callee(*args, **keywords)``; ``Unknown`` where the samples do not tell."""
    by_rule = _RULES.get(callee) if _hashable(callee) else None
    if by_rule is not None and (not keywords or by_rule is _cross_type):
        found = by_rule(*args)
        if found is not None:
            return found
    atoms = (*args, *(a for _, a in keywords))
    kinds = [a.type if isinstance(a, Value) else None for a in atoms]
    if any(k == NOTHING for k in kinds):
        return NOTHING
    if any(_hides_structure(k) for k in kinds if k is not None):
        return _unsampled(callee, kinds)
    if getattr(callee, "__module__", None) == "math":
        return _math_type(callee)
    key = _memo_key(callee, atoms, len(args), keywords)
    if key is not None and key in _memo:
        return _memo[key]
    found = _sample(callee, args, keywords)
    if found == UNKNOWN and callee in (np.reshape, np.ndarray.reshape):
        found = _reshaped_type(*args)
    if found == UNKNOWN:
        found = _guess_sizes(callee, args, keywords)
    if key is not None:
        _memo[key] = found
    return found


def atom_type(atom: Atom) -> Type:
    """The type of a value or a literal."""
    if isinstance(atom, Value):
        return atom.type
    value = atom.value
    return STRING if isinstance(value, str) else type_of(value)


def _hashable(obj: object) -> bool:
    try:
        hash(obj)
    except TypeError:
        return False
    return True


def _hides_structure(kind: Type) -> bool:
    match kind:
        case Unknown() | Optional() | Opaque() | DictType():
            return kind != _SLICE
        case Array(dtype=dtype, dims=dims):
            return dtype is None or dims is None
        case TupleType(items=items):
            return any(map(_hides_structure, items))
        case ListType(item=item):
            return _hides_structure(item)
    return False


# NumPy reads the shape of these off its other arguments; nothing of them is an array of numbers.
_BOOLEAN = {
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    np.isnan, np.isinf, np.isfinite, np.logical_and, np.logical_or, np.logical_not,
}  # fmt: skip


def _unsampled(callee: Callable[..., Any], kinds: list[Type | None]) -> Type:
    """What can be said when an argument's rank or dtype is unknown."""
    known = [k for k in kinds if k is not None]
    if callee in (
        operator.is_,
        operator.is_not,
        operator.not_,
        operator.contains,
        builtins.isinstance,
    ):
        return BOOL
    if all(isinstance(k, Opaque) for k in known if k is not None) and known:
        return BOOL if callee in _BOOLEAN else OBJECT
    if any(isinstance(k, Opaque) and k not in (STRING,) and k != NONE for k in known):
        return UNKNOWN if any(map(is_differentiable, known)) else OBJECT
    if callee in _BOOLEAN:
        scalars = all(isinstance(k, (Number, NumPyScalar)) for k in known)
        return BOOL if scalars else UNKNOWN
    dtypes = {k.dtype for k in known if isinstance(k, Array)}
    others = [k for k in known if not isinstance(k, Array)]
    if isinstance(callee, np.ufunc) or callee in _ARITHMETIC:
        plain = all(isinstance(k, Number) and k.kind != "complex" for k in others)
        if (
            len(dtypes) == 1
            and plain
            and (d := next(iter(dtypes))) is not None
            and np.dtype(d).kind == "f"
        ):
            return Array(d, None)
    return UNKNOWN


_ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow,
    operator.neg, operator.pos,
}  # fmt: skip

_ELEMENTWISE = _ARITHMETIC | {
    operator.floordiv, operator.mod,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
}  # fmt: skip

_MATH_INT = {"floor", "ceil", "trunc", "factorial", "gcd", "lcm", "comb", "perm", "isqrt"}
_MATH_BOOL = {"isnan", "isinf", "isfinite", "isclose"}


def _math_type(callee: Callable[..., Any]) -> Type:
    name = callee.__name__
    if name in _MATH_INT:
        return INT
    if name in _MATH_BOOL:
        return BOOL
    if name == "frexp":
        return TupleType((FLOAT, INT))
    if name == "modf":
        return TupleType((FLOAT, FLOAT))
    if name in ("prod", "sumprod"):
        return REAL
    return FLOAT


# ---- results by rule


def _tuple_type(*items: Atom) -> Type:
    return TupleType(tuple(map(_item_type, items)))


def _item_type(atom: Atom) -> Type:
    """The type of an item: an integer stays the size that it may be of an array."""
    kind = atom_type(atom)
    if isinstance(atom, Value) and kind == INT:
        return Number("int", Dim(atom))
    return kind


def _list_type(*items: Atom) -> Type:
    return TupleType(tuple(map(atom_type, items)), list)


def _dict_type(*items: Atom) -> Type:
    return DictType(join_all(tuple(map(atom_type, items[1::2]))))


def _len_type(obj: Atom) -> Type:
    dims = dims_of(atom_type(obj))
    return Number("int", dims[0]) if dims and isinstance(dims[0], Dim) else INT


def _reshaped_type(a: Atom, *shape: Atom) -> Type:
    """To sizes that no sample happens to have."""
    kind = atom_type(a)
    if not isinstance(kind, Array) or not shape:
        return UNKNOWN
    first = atom_type(shape[0])
    kinds = first.items if isinstance(first, TupleType) else tuple(map(atom_type, shape))
    known: tuple[Any, ...] = tuple(s.value if isinstance(s, Literal) else None for s in shape)
    if isinstance(known[0], tuple):
        known = known[0]
    if len(known) != len(kinds):
        known = (None,) * len(kinds)
    dims: list[Size] = []
    for k, value in zip(kinds, known, strict=True):
        if not isinstance(k, Number) or k.kind != "int":
            return UNKNOWN
        dims.append(k.size if value is None else value if value >= 0 else None)
    return Array(kind.dtype, tuple(dims))


def _minors_type(a: Atom) -> Type | None:
    """Sampled, they would be large."""
    kind = atom_type(a)
    if not isinstance(kind, Array) or kind.dims is None:
        return UNKNOWN
    n = kind.dims[-1]
    less: Size = (
        n - 1 if isinstance(n, int) else Dim(n.base, n.drop + 1) if isinstance(n, Dim) else None
    )
    return Array(kind.dtype, (*kind.dims, less, less))


def _cross_type(x: Atom, y: Atom) -> Type | None:
    """Of vectors with three components: no sample has them."""
    kinds = [k for k in (atom_type(x), atom_type(y)) if isinstance(k, Array) and k.dims is not None]
    if len(kinds) < 2 or any(k.dtype is None for k in kinds):
        return UNKNOWN
    one, other = sorted(kinds, key=lambda k: -len(k.dims or ()))
    dims = one.dims if one.dims == other.dims else tuple(None for _ in one.dims or ())
    return Array(np.result_type(one.dtype, other.dtype).name, dims)


def _split_type(array: Atom, sections: Atom, axis: Atom = Literal(0)) -> Type | None:
    """The parts of an array whose size no example may fit."""
    kind = atom_type(array)
    if not isinstance(kind, Array) or kind.dims is None or not isinstance(sections, Literal):
        return None
    if not isinstance(axis, Literal) or not isinstance(sections.value, (int, list, tuple)):
        return None
    dims: list[Size] = list(kind.dims)
    dims[axis.value] = None
    many = isinstance(sections.value, int)
    count = sections.value if many else len(sections.value) + 1
    return TupleType((Array(kind.dtype, tuple(dims)),) * count, list)


def _shape_type(obj: Atom) -> Type | None:
    dims = dims_of(atom_type(obj))
    if dims is None:
        return OBJECT
    return TupleType(tuple(Number("int", d if isinstance(d, Dim) else None) for d in dims))


def _getitem_type(obj: Atom, index: Atom) -> Type | None:
    match atom_type(obj), index:
        case TupleType(items=items), Literal(value=int(k)) if -len(items) <= k < len(items):
            return items[k]
        case TupleType(items=items, cls=cls), Literal(value=slice() as cut):
            return TupleType(items[cut], cls if cls is list else tuple)
        case TupleType(items=items), Value(type=Number() | NumPyScalar()):
            return join_all(items)
        case TupleType(items=items, cls=cls), Value():
            return ListType(join_all(items)) if cls is list else UNKNOWN
        case ListType(item=item) as kind, _:
            at = atom_type(index)
            return item if isinstance(at, (Number, NumPyScalar)) else kind
        case DictType(item=item), _:
            return item
        case Optional(item=item), _:
            inner = Value("", item)
            return result_type(operator.getitem, (inner, index))
        case Opaque(name="str"), _:
            return STRING
    return None


def _add_type(x: Atom, y: Atom) -> Type | None:
    match atom_type(x), atom_type(y):
        case (ListType() | TupleType(cls=builtins.list)) as a, (
            ListType() | TupleType(cls=builtins.list)
        ) as b:
            return join(_as_list(a), _as_list(b))
        case TupleType(items=a), TupleType(items=b):
            return TupleType((*a, *b))
        case Opaque(name="str"), _:
            return STRING
    return None


def _mul_type(x: Atom, y: Atom) -> Type | None:
    match atom_type(x), atom_type(y):
        case (ListType() | TupleType(cls=builtins.list)) as a, Number():
            return _as_list(a)
        case Number(), (ListType() | TupleType(cls=builtins.list)) as b:
            return _as_list(b)
    return None


def _as_list(kind: Type) -> Type:
    return ListType(join_all(kind.items)) if isinstance(kind, TupleType) else kind


def _pow_type(x: Atom, y: Atom) -> Type | None:
    match atom_type(x), atom_type(y):
        case Number(kind="int" | "bool"), Number(kind="int" | "bool"):
            if isinstance(y, Literal) and y.value >= 0:
                return INT
            return REAL
        case Number(kind="float" | "real" | "int" | "bool"), Number(
            kind="float" | "real" | "int" | "bool"
        ):
            return (
                FLOAT
                if isinstance(y, Value) or isinstance(y.value, float)
                else _widen(atom_type(x))
            )
    return None


def _widen(kind: Type) -> Type:
    return kind if isinstance(kind, Number) and kind.kind in ("float", "real") else REAL


def _select_type(test: Atom, then: Atom, orelse: Atom) -> Type:
    return join(atom_type(then), atom_type(orelse))


def _list_of(obj: Atom) -> Type | None:
    match atom_type(obj):
        case ListType() as kind:
            return kind
        case TupleType(items=items):
            return ListType(join_all(items))
        case Array(dtype=dtype, dims=dims) if dtype is not None and dims:
            return ListType(NumPyScalar(dtype) if len(dims) == 1 else Array(dtype, dims[1:]))
        case DictType():
            return ListType(KEY)
    return UNKNOWN


def _always(kind: Type) -> Callable[..., Type]:
    return lambda *args: kind


def _tolist_type(obj: Atom) -> Type | None:
    match atom_type(obj):
        case Array(dtype=dtype, dims=dims) if dtype is not None and dims:
            found: Type = type_of(np.zeros((), dtype).item())
            for _ in dims:
                found = ListType(found)
            return found
    return None


_RULES: dict[Callable[..., Any], Callable[..., Type | None]] = {
    core.make_tuple: _tuple_type,
    core.make_list: _list_type,
    core.make_dict: _dict_type,
    core.make_fstring: _always(STRING),
    core.format_value: _always(STRING),
    core.select: _select_type,
    operator.getitem: _getitem_type,
    operator.add: _add_type,
    operator.mul: _mul_type,
    operator.pow: _pow_type,
    builtins.pow: lambda x, y: _pow_type(x, y),
    builtins.len: _len_type,
    builtins.float: _always(FLOAT),
    builtins.int: _always(INT),
    builtins.bool: _always(BOOL),
    builtins.complex: _always(Number("complex")),
    builtins.str: _always(STRING),
    builtins.repr: _always(STRING),
    builtins.list: _list_of,
    builtins.slice: _always(Opaque("slice")),
    operator.is_: _always(BOOL),
    operator.is_not: _always(BOOL),
    operator.not_: _always(BOOL),
    operator.contains: _always(BOOL),
    np.split: _split_type,
    np.array_split: _split_type,
    np.cross: _cross_type,
    runtime.minors: _minors_type,
    runtime.cofactors: lambda a: atom_type(a),
    runtime.is_regular: _always(BOOL),
    np.linalg.cross: _cross_type,
    np.shape: _shape_type,
    np.ndarray.shape: _shape_type,
    np.ndarray.tolist: _tolist_type,
}


# ---- results by sample


class _Examples:
    """One set of example arguments; ``sizes`` remembers which size stands for what."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sizes: dict[object, int] = {}
        self.integers = 0
        self.reals = 0

    def size(self, size: Size) -> int:
        match size:
            case int():
                return size
            case Dim(base=base, drop=drop):
                return max(self.base(base) - drop, 0)
            case None:
                # 1 goes with any size: unknown sizes that have to agree do so in one set at least
                return 1 if self.number == 2 else self.base(object())

    def base(self, base: object) -> int:
        if base not in self.sizes:
            count = len(self.sizes)
            self.sizes[base] = ((7, 11, 19, 29, 41), (13, 23, 31, 43, 59), (2, 3, 4, 5, 6))[
                self.number
            ][count % 5] + 60 * (count // 5)
        return self.sizes[base]

    def integer(self, value: Value) -> int:
        base = value.type.size if isinstance(value.type, Number) and value.type.size else Dim(value)
        if base.base not in self.sizes:
            self.integers += 1
            start = (1, 3, 70)[self.number]
            self.sizes[base.base] = start + self.integers + base.drop
        return max(self.sizes[base.base] - base.drop, 0)

    def real(self) -> float:
        """A number whose ratio to the others differs between sets: a count of them does too."""
        self.reals += 1
        return (0.7 * self.reals, 5.3 + 11.0 * self.reals, 40.0 / self.reals)[self.number]

    def of(self, kind: Type, value: Value | None = None) -> Any:
        match kind:
            case Number(kind="bool"):
                return self.number == 0
            case Number(kind="int"):
                return self.integer(value if value is not None else Value("", kind))
            case Number(kind="float" | "real"):
                return self.real()
            case Number(kind="complex"):
                return 0.7 + 0.1j
            case NumPyScalar(dtype=dtype):
                return self.filled(dtype, ())[()]
            case Array(dtype=dtype, dims=dims):
                assert dtype is not None
                assert dims is not None
                return self.filled(dtype, tuple(map(self.size, dims)))
            case TupleType(items=items, cls=cls):
                parts = [self.of(k) for k in items]
                return cls(*parts) if hasattr(cls, "_fields") else cls(parts)
            case ListType(item=item):
                return [self.of(item) for _ in range((3, 4, 2)[self.number])]
            case Opaque(name="slice"):
                return slice(0, (1, 3, 1)[self.number])
        raise TypeError(kind)

    def filled(self, dtype: str, shape: tuple[int, ...]) -> Any:
        kind, count = np.dtype(dtype).kind, math.prod(shape)
        if count > _LARGEST:
            raise ValueError("an example would be too large")
        if kind == "b":
            pattern = (
                np.ones(count) if self.number == 0 else np.arange(count) % (2 + self.number) == 0
            )
        elif kind in "iu":
            pattern = (np.arange(count) + self.number - 1) % 2 if self.number else np.zeros(count)
        else:
            pattern = 0.3 + 0.2 * np.sin(np.arange(count) ** 2)
            if self.number == 1:
                pattern = np.round(pattern, 1)
        array = pattern.reshape(shape).astype(dtype)
        if kind in "fc" and len(shape) >= 2 and shape[-1] == shape[-2]:
            array = array + (shape[-1] * np.eye(shape[-1])).astype(dtype)
        return array


def _sample(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Type:
    outcomes: list[tuple[_Examples, Any]] = []
    for number in range(_SETS):
        examples = _Examples(number)

        def example(atom: Atom, examples: _Examples = examples) -> Any:
            return examples.of(atom.type, atom) if isinstance(atom, Value) else atom.value

        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = _run(
                    callee, tuple(map(example, args)), {k: example(a) for k, a in keywords}
                )
        except Exception:
            continue
        outcomes.append((examples, found))
    if not outcomes:
        atoms = (*args, *(a for _, a in keywords))
        if callee is operator.getitem:
            return _picked_type(atom_type(args[0]), args[1]) or UNKNOWN
        return _broadcast_type(callee, tuple(map(atom_type, atoms))) or UNKNOWN
    return _common_type(outcomes)


def _picked_type(kind: Type, index: Atom) -> Type | None:
    """What a basic index picks of an array that no example of the index fits into."""
    if not isinstance(kind, Array) or kind.dims is None or kind.dtype is None:
        return None
    if isinstance(index, Literal):
        parts = index.value if isinstance(index.value, tuple) else (index.value,)
        types = tuple(atom_type(Literal(p)) for p in parts)
    else:
        types = index.type.items if isinstance(index.type, TupleType) else (index.type,)
    rank_left = len(kind.dims) - sum(k != Opaque("None") for k in types)
    if rank_left < 0:
        return None
    dims: list[Size] = []
    for part in types:
        match part:
            case Opaque(name="None"):
                dims.append(1)
            case Number(kind="int"):
                pass
            case NumPyScalar(dtype=dtype) if np.dtype(dtype).kind in "iu":
                pass
            case Opaque(name="slice"):
                dims.append(None)
            case _:
                return None
    rest = (*dims, *kind.dims[len(kind.dims) - rank_left :])
    if rest:
        return Array(kind.dtype, rest)
    return type_of(np.zeros((), kind.dtype)[()])


def _broadcast_type(callee: Callable[..., Any], kinds: tuple[Type, ...]) -> Type | None:
    """The type of an elementwise result whose sizes no example fits: a symbol meets a number."""
    if not (isinstance(callee, np.ufunc) or callee in _ELEMENTWISE):
        return None
    shapes = [dims_of(k) for k in kinds]
    if any(s is None for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    scalars = tuple(
        Value("", NumPyScalar(k.dtype) if isinstance(k, Array) and k.dtype is not None else k)
        for k in kinds
    )
    dtype = getattr(result_type(callee, scalars), "dtype", None)
    length = max(map(len, known))
    dims: list[Size] = []
    for axis in range(-length, 0):
        sizes = {s[axis] for s in known if len(s) >= -axis} - {1}
        numbers = [s for s in sizes if isinstance(s, int)]
        fixed = all(
            isinstance(s, int) or (isinstance(s, Dim) and isinstance(s.base, str) and not s.drop)
            for s in sizes
        )
        # an argument's size that is not 1 has to be the number it meets
        dims.append(
            1
            if not sizes
            else next(iter(sizes))
            if len(sizes) == 1
            else numbers[0]
            if numbers and fixed
            else None
        )
    return Array(dtype, tuple(dims))


def _guess_sizes(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Type:
    """Where no samples go together: unknown sizes may have to be those that are known."""
    atoms = (*args, *(a for _, a in keywords))
    sizes = dict.fromkeys(d for a in atoms if isinstance(a, Value) for d in _named_sizes(a.type))
    for size in sizes:
        guessed = [Value("", _unify(a.type, size)) if isinstance(a, Value) else a for a in atoms]
        if all(atom_type(a) == atom_type(g) for a, g in zip(atoms, guessed, strict=True)):
            return UNKNOWN
        names = [name for name, _ in keywords]
        found = _sample(
            callee,
            tuple(guessed[: len(args)]),
            tuple(zip(names, guessed[len(args) :], strict=True)),
        )
        if found != UNKNOWN:
            return _without_sizes(found)
    return UNKNOWN


def _unify(kind: Type, size: Size) -> Type:
    """The type with its unknown sizes replaced."""
    match kind:
        case Array(dtype=dtype, dims=dims) if dims is not None:
            return Array(dtype, tuple(size if d is None else d for d in dims))
        case TupleType(items=items, cls=cls):
            return TupleType(tuple(_unify(k, size) for k in items), cls)
        case ListType(item=item):
            return ListType(_unify(item, size))
    return kind


def _named_sizes(kind: Type) -> list[Size]:
    match kind:
        case Array(dims=dims) if dims is not None:
            return [d for d in dims if d is not None]
        case TupleType(items=items):
            return [d for k in items for d in _named_sizes(k)]
        case ListType(item=item):
            return _named_sizes(item)
    return []


def _without_sizes(kind: Type) -> Type:
    """What a guess at sizes cannot vouch for is left out."""
    match kind:
        case Array(dtype=dtype, dims=dims) if dims is not None:
            return Array(dtype, (None,) * len(dims))
        case TupleType(items=items, cls=cls):
            return TupleType(tuple(map(_without_sizes, items)), cls)
        case ListType(item=item):
            return ListType(_without_sizes(item))
    return kind


def _run(callee: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if getattr(callee, "__objclass__", None) is np.ndarray:  # a method or attribute of arrays
        args = (np.asarray(args[0]), *args[1:])
        if not callable(callee):
            return callee.__get__(args[0])
    return callee(*args, **keywords)


def _common_type(outcomes: list[tuple[_Examples, Any]]) -> Type:
    objects = [found for _, found in outcomes]
    first = objects[0]
    if isinstance(first, (tuple, list)):
        if any(type(o) is not type(first) for o in objects):
            return UNKNOWN
        if any(len(o) != len(first) for o in objects):
            if isinstance(first, list):
                return ListType(join_all(tuple(type_of(p) for o in objects for p in o)))
            return UNKNOWN
        parts = tuple(_common_type([(e, o[k]) for e, o in outcomes]) for k in range(len(first)))
        return TupleType(parts, type(first))
    if not isinstance(first, np.ndarray) or any(not isinstance(o, np.ndarray) for o in objects):
        joined = join_all(tuple(map(type_of, objects)))
        return joined
    dtypes = {o.dtype.name for o in objects}
    if first.dtype.kind not in "biufc":
        return OBJECT
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if len({o.ndim for o in objects}) != 1:
        return Array(dtype, None)
    dims = tuple(
        _common_size([(e, o.shape[axis]) for e, o in outcomes]) for axis in range(first.ndim)
    )
    return Array(dtype, dims)


def _common_size(sizes: list[tuple[_Examples, int]]) -> Size:
    if len(sizes) < _SETS:
        return None
    if len({size for _, size in sizes}) == 1:
        return sizes[0][1]
    for base in sizes[0][0].sizes:
        drop = sizes[0][0].sizes[base] - sizes[0][1]
        if drop >= 0 and all(
            base in e.sizes and max(e.sizes[base] - drop, 0) == size for e, size in sizes
        ):
            return Dim(base, drop) if isinstance(base, (str, Value)) else None
    return None


def _memo_key(
    callee: object, atoms: tuple[Atom, ...], count: int, keywords: tuple[tuple[str, Atom], ...]
) -> object | None:
    parts: list[object] = [callee, count, tuple(k for k, _ in keywords)]
    for atom in atoms:
        if isinstance(atom, Literal):
            if not _hashable(atom.value) or isinstance(atom.value, slice):
                parts.append(repr(atom.value) if isinstance(atom.value, slice) else None)
                if parts[-1] is None:
                    return None
            else:
                parts.append((type(atom.value), atom.value))
        elif _has_integer(atom.type):
            return None  # which integer it is decides which sizes it names
        else:
            parts.append(atom.type)
    key = tuple(parts)
    return key if _hashable(key) else None


def _has_integer(kind: Type) -> bool:
    match kind:
        case Number(kind="int", size=None):
            return True
        case Number(kind="int", size=Dim(base=Value())):
            return True
        case TupleType(items=items):
            return any(map(_has_integer, items))
        case Array(dims=dims) if dims is not None:
            return any(isinstance(d, Dim) and isinstance(d.base, Value) for d in dims)
    return False
