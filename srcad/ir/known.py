"""Types of results that are known without running the call: displays, ``len``, items, casts.

A rule answers None where the call has to be looked at in another way.
"""

from __future__ import annotations

import bisect
import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from srcad import runtime
from srcad.ir import core, linear
from srcad.ir.core import Atom, Literal, Value, hashable
from srcad.ir.types import (
    BOOL,
    FLOAT,
    INT,
    KEY,
    NONE,
    OBJECT,
    REAL,
    SMALLEST,
    STRING,
    UNKNOWN,
    Array,
    Cut,
    DictType,
    Dim,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    Piece,
    Size,
    TupleType,
    Type,
    can_join,
    dims_of,
    join,
    join_all,
    type_of,
)


def atom_type(atom: Atom) -> Type:
    """The type of a value or a literal."""
    if isinstance(atom, Value):
        return atom.type
    value = atom.value
    return STRING if isinstance(value, str) else type_of(value)


def _tuple_type(*items: Atom) -> Type:
    return TupleType(tuple(map(_item_type, items)))


def _item_type(atom: Atom) -> Type:
    """The type of an item: an integer stays the size that it may be of an array, a slice a cut."""
    kind = atom_type(atom)
    if isinstance(atom, Literal) and isinstance(atom.value, slice):
        ends = (atom.value.start, atom.value.stop, atom.value.step)
        if all(e is None or type(e) is int for e in ends):
            return Cut("slice", ends)
    if isinstance(atom, Value) and kind == INT:
        return Number("int", Dim(atom))
    return kind


def _split_type(
    array: Atom, sections: Atom, axis: Atom | None = None, *, even: bool = True
) -> Type | None:
    """The parts of an array whose size no example may fit; of ``even`` ones it is the same."""
    kind, along = atom_type(array), 0 if axis is None else getattr(axis, "value", None)
    if not isinstance(kind, Array) or kind.dims is None or not isinstance(sections, Literal):
        return None
    if not isinstance(along, int) or not isinstance(sections.value, (int, list, tuple)):
        return None
    if not -len(kind.dims) <= along < len(kind.dims):
        return None
    dims: list[Size] = list(kind.dims)
    many = sections.value
    whole = linear.of_size(dims[along])
    dims[along] = None
    if even and isinstance(many, int) and many > 0 and whole is not None:
        dims[along] = linear.to_size(linear.share(whole, many))
    count = many if isinstance(many, int) else len(many) + 1
    return TupleType((Array(kind.dtype, tuple(dims)),) * count, list)


def _array_split_type(array: Atom, sections: Atom, axis: Atom | None = None) -> Type | None:
    return _split_type(array, sections, axis, even=False)


def _split_along(axis: int) -> Callable[[Atom, Atom], Type | None]:
    """`np.hsplit` and its kin: arrays with fewer axes are split along the first one."""

    def rule(array: Atom, sections: Atom) -> Type | None:
        along = 0 if axis == 1 and len(dims_of(atom_type(array)) or ()) == 1 else axis
        return _split_type(array, sections, Literal(along))

    return rule


def _unstack_type(x: Atom, axis: Atom | None = None) -> Type | None:
    """The slices of an array along an axis."""
    kind, along = atom_type(x), 0 if axis is None else getattr(axis, "value", None)
    if not isinstance(kind, Array) or not kind.dims or not isinstance(along, int):
        return None
    if not -len(kind.dims) <= along < len(kind.dims):
        return None
    dims = list(kind.dims)
    count = dims.pop(along)
    part = Array(kind.dtype, tuple(dims))
    return TupleType((part,) * count, tuple) if isinstance(count, int) else ListType(part)


def _list_type(*items: Atom) -> Type:
    return TupleType(tuple(map(atom_type, items)), list)


def _dict_type(*items: Atom) -> Type:
    return DictType(join_all(tuple(map(atom_type, items[1::2]))))


def _len_type(obj: Atom) -> Type:
    dims = dims_of(atom_type(obj))
    return Number("int", dims[0]) if dims and isinstance(dims[0], Dim) else INT


def _size_type(obj: Atom, *axis: Atom) -> Type:
    """Of arrays of one axis it is their length."""
    dims = dims_of(atom_type(obj)) or ()
    return _len_type(obj) if len(dims) == 1 and not axis else INT


def reshaped_type(a: Atom, *shape: Atom) -> Type:
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
    if known.count(-1) == 1:
        dims[known.index(-1)] = _left_over(kind.dims, dims)
    return Array(kind.dtype, tuple(dims))


def _left_over(old: tuple[Size, ...] | None, new: list[Size]) -> Size:
    """The size that a -1 stands for in the shape that an array is brought to."""
    total, known = linear.constant(1), 1
    for size in old or (None,):
        count = linear.of_size(size)
        if count is None:
            return None
        total = linear.product(total, count)
    for size in (s for s in new if s is not None):
        if not isinstance(size, int):
            return None
        known *= size
    if known <= 0 or new.count(None) != 1:
        return None
    return linear.to_size(linear.share(total, known))


def _squeezed_type(a: Atom, axis: Atom | None = None) -> Type | None:
    """How many axes are left is not known where a size may be 1, which no sample is."""
    kind = atom_type(a)
    named = axis is not None and atom_type(axis) != NONE
    if named or not isinstance(kind, Array) or kind.dims is None:
        return None
    fixed = all(
        isinstance(d, int) or (isinstance(d, Dim) and isinstance(d.base, str) and not d.drop)
        for d in kind.dims
    )
    return None if fixed else Array(kind.dtype, None)


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


def _matmul_type(a: Atom, b: Atom) -> Type | None:
    """Whether or not the inner sizes, and those of stacks, are known to agree."""

    def sizes(left: Sizes, right: Sizes) -> Sizes:
        stacks = left[:-2], right[:-2]
        rank = max(map(len, stacks))
        padded = [(1,) * (rank - len(stack)) + stack for stack in stacks]
        return (*map(_broadcast_size, *padded), *left[-2:-1], *right[-1:][len(right) < 2 :])

    return _product_type(a, b, sizes)


def _dot_type(a: Atom, b: Atom) -> Type | None:
    """Of more than two axes `np.dot` makes the products of all rows with all columns."""

    def sizes(left: Sizes, right: Sizes) -> Sizes:
        return (*left[:-1], *right[:-2], *right[-1:][len(right) < 2 :])

    return _product_type(a, b, sizes)


Sizes = tuple[Size, ...]


def _product_type(a: Atom, b: Atom, sizes: Callable[[Sizes, Sizes], Sizes]) -> Type | None:
    left, right = atom_type(a), atom_type(b)
    if not isinstance(left, Array) or not isinstance(right, Array):
        return None
    if left.dtype is None or right.dtype is None or not left.dims or not right.dims:
        return None
    if "bool" in (left.dtype, right.dtype):
        return None
    dtype = np.result_type(left.dtype, right.dtype).name
    dims = sizes(left.dims, right.dims)
    return Array(dtype, dims) if dims else NumPyScalar(dtype)


def _broadcast_size(one: Size, other: Size) -> Size:
    if other == 1:
        return one
    return other if one in (1, other) else None


def _concatenated_type(arrays: Atom, axis: Atom | None = None) -> Type | None:
    """Where one size is not a number: one more than `n - 1` is `n`."""
    parts, along = atom_type(arrays), 0 if axis is None else getattr(axis, "value", None)
    if not isinstance(parts, TupleType) or not isinstance(along, int):
        return None
    kinds = [k for k in parts.items if isinstance(k, Array) and k.dims and k.dtype is not None]
    shapes = [list(k.dims or ()) for k in kinds]
    if len(kinds) < len(parts.items) or not -len(shapes[0]) <= along < len(shapes[0]):
        return None
    sizes = [s.pop(along) for s in shapes]
    more = sum(d for d in sizes if isinstance(d, int))
    named = [d for d in sizes if not isinstance(d, int)]
    if any(s != shapes[0] for s in shapes) or len(named) != 1:
        return None
    cut = linear.of_size(named[0])
    if cut is None:
        return None
    dims = shapes[0]
    dims.insert(along % (len(dims) + 1), linear.to_size(cut + linear.constant(more)))
    return Array(np.result_type(*(str(k.dtype) for k in kinds)).name, tuple(dims))


def _interp_type(x: Atom, xp: Atom, fp: Atom, *ends: Atom) -> Type | None:
    """The knots go together, whatever is known of how many there are."""
    kind, values = atom_type(x), atom_type(fp)
    dtype = getattr(values, "dtype", None)
    if not isinstance(kind, Array) or kind.dims is None or not isinstance(dtype, str):
        return None
    return Array("complex128" if np.dtype(dtype).kind == "c" else "float64", kind.dims)


def _eigvals_type(a: Atom) -> Type | None:
    """Real or complex, by the values of a real matrix."""
    kind = atom_type(a)
    if not isinstance(kind, Array) or kind.dtype is None or kind.dims is None:
        return UNKNOWN
    return None if np.dtype(kind.dtype).kind == "c" else Array(None, kind.dims[:-1])


def _eig_type(a: Atom) -> Type | None:
    found = _eigvals_type(a)
    kind = atom_type(a)
    if not isinstance(found, Array) or not isinstance(kind, Array):
        return found
    return TupleType((found, Array(None, kind.dims)), type(np.linalg.eig(np.eye(1))))


def _cross_type(x: Atom, y: Atom) -> Type | None:
    """Of vectors with three components: no sample has them."""
    kinds = [k for k in (atom_type(x), atom_type(y)) if isinstance(k, Array) and k.dims is not None]
    if len(kinds) < 2 or any(k.dtype is None for k in kinds):
        return UNKNOWN
    one, other = sorted(kinds, key=lambda k: -len(k.dims or ()))
    dims = one.dims if one.dims == other.dims else tuple(None for _ in one.dims or ())
    return Array(np.result_type(one.dtype, other.dtype).name, dims)


def _shape_type(obj: Atom) -> Type | None:
    dims = dims_of(atom_type(obj))
    if dims is None:
        return OBJECT
    return TupleType(tuple(Number("int", d if isinstance(d, Dim) else None) for d in dims))


def _part_type(kind: Array, index: object) -> Type | None:
    """The type of a part of an array that slices, positions and new axes cut out."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all(p is None or p is Ellipsis or isinstance(p, slice) or _is_int(p) for p in parts):
        return None
    cut = cut_first(kind, index)
    if cut is None:
        return None
    left, parts = cut
    sizes = iter(left.dims or ())
    dims = [1 if part is None else next(sizes) for part in parts]
    kept = tuple(d for part, d in zip(parts, dims, strict=True) if not _is_int(part))
    return Array(kind.dtype, kept)


def cut_first(kind: Array, index: object) -> tuple[Array, tuple[object, ...]] | None:
    """What the slices of an index leave of an array, and the index with whole axes for them.

    A slice is cut off where the array ends: which size that leaves, no sample can tell.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if kind.dims is None or not any(isinstance(p, slice) for p in parts):
        return None
    rest = len(kind.dims) - sum(map(_axes, parts))
    dots = [k for k, p in enumerate(parts) if p is Ellipsis]
    if rest < 0 or len(dots) > 1:
        return None
    place = dots[0] if dots else len(parts)
    parts = (*parts[:place], *(slice(None),) * rest, *parts[place + 1 :])
    sizes = iter(kind.dims)
    dims: list[Size] = []
    for part in parts:
        axes = [next(sizes) for _ in range(_axes(part))]
        dims += [_cut(d, part) for d in axes] if isinstance(part, slice) else axes
    whole = tuple(slice(None) if isinstance(p, slice) else p for p in parts)
    return Array(kind.dtype, tuple(dims)), whole


def _is_int(part: object) -> bool:
    return isinstance(part, int) and not isinstance(part, bool)


def _axes(part: object) -> int:
    """How many axes one part of an index picks from."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, slice) or _is_int(part):
        return 1
    mask = np.asarray(part)
    return mask.ndim if mask.dtype == bool else 1


def _cut(size: Size, part: slice) -> Size:
    """The size of a slice of an axis, if one number or one symbol says it for all sizes.

    Between the sizes at which an end of the slice meets an end of the axis it goes up, or down, or
    stays: what holds there, and far beyond, holds everywhere.
    """
    if part.start in (None, 0) and part.stop is None and part.step in (None, 1):
        return size
    if isinstance(size, int):
        return len(range(*part.indices(size)))
    if size is None:
        size = Dim(None)
    smallest = SMALLEST if isinstance(size.base, str) else min(size.drop, 0)
    ends = [abs(end) for end in (part.start, part.stop) if end is not None]
    far = 2 * (sum(ends) + abs(part.step or 1) + abs(size.drop)) + 10
    turns = [n + size.drop for n in (0, *ends, sum(ends))]
    tried = {n + step for n in (smallest, *turns, far) for step in (-1, 0, 1)}
    found = {n: len(range(*part.indices(max(n - size.drop, 0)))) for n in tried if n >= smallest}
    if len({*found.values(), len(range(*part.indices(2 * far)))}) == 1:
        return found[far]
    drop = far - found[far]
    if size.base is None:
        return None
    if all(max(n - drop, 0) == cut for n, cut in found.items()):
        return Dim(size.base, drop)
    start, stop = (None if e is None else linear.constant(e) for e in (part.start, part.stop))
    return Dim(Piece(size, start, stop, part.step or 1))


def _arange_type(*args: Atom) -> Type | None:
    """With a start or a step the size depends on how large the numbers are."""
    plain = len(args) == 1 or (
        len(args) == 2 and isinstance(args[0], Literal) and not args[0].value
    )
    kinds = [atom_type(a) for a in args]
    if plain or not any(isinstance(a, Value) for a in args):
        return None
    names = [
        k.kind if isinstance(k, Number) else _PYTHON_NAMES.get(k.dtype, "")
        for k in kinds
        if isinstance(k, (Number, NumPyScalar))
    ]
    if len(names) < len(kinds) or "" in names:
        return Array(None, (None,))
    whole = all(name in ("int", "bool") for name in names)
    return Array("int64" if whole else "float64" if "float" in names else None, (None,))


_PYTHON_NAMES = {"int64": "int", "float64": "float"}
"""The NumPy scalars that are as Python's numbers, and what those are called."""


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
            return kind if atom_type(index) == Opaque("slice") else item
        case DictType(item=item), _:
            return item
        case Opaque(name="str"), _:
            return STRING
        case Opaque(name="range") as kind, _:
            return kind if atom_type(index) == Opaque("slice") else INT
        case Array() as kind, Literal(value=known):
            return _part_type(kind, known)
        case Array() as kind, Value():
            return picked_type(kind, index)
    return None


def picked_type(kind: Type, index: Atom) -> Type | None:
    """What a basic index picks of an array: no example has to be large enough for it."""
    if not isinstance(kind, Array) or kind.dims is None or kind.dtype is None:
        return None
    if isinstance(index, Literal):
        parts = index.value if isinstance(index.value, tuple) else (index.value,)
        types = tuple(atom_type(Literal(p)) for p in parts)
    elif isinstance(index.type, TupleType):
        types = index.type.items if index.type.cls is tuple else (index.type,)
    else:
        types = (index.type,)
    if any(_is_listed(part) for part in types):
        return _picked_by_list(kind, types)
    left = list(kind.dims)
    dims: list[Size] = []
    for part in without_ellipsis(types, WHOLE_AXIS, len(left), lambda part: part):
        match part:
            case Opaque(name="None"):
                dims.append(1)
                continue
            case Number(kind="int"):
                pass
            case NumPyScalar(dtype=dtype) if np.dtype(dtype).kind in "iu":
                pass
            case Cut(ends=ends):
                dims.append(_cut(left[0], slice(*ends)) if left else None)
            case Opaque(name="slice"):
                dims.append(None)
            case _:
                return None
        if not left:
            return None
        left.pop(0)
    shape = (*dims, *left)
    return Array(kind.dtype, shape) if shape else NumPyScalar(kind.dtype)


WHOLE_AXIS = Cut(ends=(None, None, None))

_Part = TypeVar("_Part")


def without_ellipsis(
    parts: Sequence[_Part], whole: _Part, rank: int, type_of_part: Callable[[_Part], Type]
) -> tuple[_Part, ...]:
    """The parts of an index with the axes that an ellipsis stands for: ``whole`` for each."""
    kinds = [type_of_part(part) for part in parts]
    places = [k for k, kind in enumerate(kinds) if kind == Opaque("ellipsis")]
    if len(places) != 1:
        return tuple(parts)
    (k,) = places
    taken = sum(kind != Opaque("None") for kind in kinds) - 1
    return (*parts[:k], *[whole] * (rank - taken), *parts[k + 1 :])


def _is_listed(part: Type) -> bool:
    """Whether a part of an index is a list of integers, of known length."""
    if not isinstance(part, TupleType) or part.cls is not list:
        return False
    return all(isinstance(k, Number) and k.kind == "int" for k in part.items)


def _picked_by_list(kind: Array, types: tuple[Type, ...]) -> Type | None:
    """What a list of integers picks, beside integers and slices."""
    left = list(kind.dims or ())
    dims: list[Size] = []
    places: list[int] = []
    counts = [len(part.items) for part in types if isinstance(part, TupleType)]
    for k, part in enumerate(types):
        if not left:
            return None
        size = left.pop(0)
        match part:
            case Cut(ends=ends):
                dims.append(_cut(size, slice(*ends)))
            case Opaque(name="slice"):
                dims.append(None)
            case TupleType() if _is_listed(part):
                places.append(k)
            case Number(kind="int"):
                places.append(k)
            case _:
                return None
    if len(set(counts) - {1}) > 1:
        return None
    apart = places[-1] - places[0] >= len(places)
    at = 0 if apart else places[0]  # apart from each other they come first
    dims.insert(at, max(counts))
    return Array(kind.dtype, (*dims, *left))


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
        case (ListType() | TupleType()) as a, Number():
            return _as_list(a)
        case Number(), (ListType() | TupleType()) as b:
            return _as_list(b)
    return None


def _as_list(kind: Type) -> Type:
    """Of a display; those in it have the type of other lists in lists of any length."""
    if not isinstance(kind, TupleType):
        return kind
    lists = (isinstance(k, TupleType) and k.cls is list for k in kind.items)
    items = (_as_list(k) if of_list else k for k, of_list in zip(kind.items, lists, strict=True))
    return ListType(join_all(tuple(items)))


def _pow_type(x: Atom, y: Atom) -> Type | None:
    match atom_type(x), atom_type(y):
        case Number(kind="int" | "bool"), Number(kind="int" | "bool"):
            if isinstance(y, Literal) and y.value >= 0:
                return INT
            return REAL
        case Number(kind="float" | "real" | "int" | "bool"), Number(
            kind="float" | "real" | "int" | "bool"
        ):
            return FLOAT if "float" in (number_kind(x), number_kind(y)) else REAL
    return None


def number_kind(atom: Atom) -> str:
    """What kind of a Python number an atom is; empty if it is none."""
    kind = atom_type(atom)
    return kind.kind if isinstance(kind, Number) else ""


_ARITHMETIC: frozenset[Callable[..., Any]] = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod),
        *(operator.neg, operator.pos, operator.abs, builtins.abs, builtins.max, builtins.min),
    }
)
"""Of whole numbers whole, and of floats floats."""


def _real_type(args: tuple[Atom, ...]) -> Type | None:
    """Of numbers that are whole or not, as only the run tells."""
    kinds = {number_kind(a) for a in args}
    return REAL if "real" in kinds and kinds <= {"bool", "int", "real"} else None


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
        case Opaque(name="range"):
            return ListType(INT)
    return UNKNOWN


def _tuple_of(obj: Atom) -> Type | None:
    """Tuples of any length have the type of lists."""
    kind = atom_type(obj)
    return kind if isinstance(kind, ListType) else None


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


def _choice_type(*options: Atom) -> Type | None:
    """Of ``max`` and ``min``: which argument it is depends on data, and so does the type."""
    kinds: tuple[Type, ...] = tuple(map(atom_type, options))
    if len(kinds) == 1:
        match kinds[0]:
            case ListType(item=item):
                kinds = (item,)
            case TupleType(items=items):
                kinds = items
    if len(kinds) == 0 or not all(isinstance(k, (Number, NumPyScalar)) for k in kinds):
        return None
    joined = join_all(kinds)
    return joined if all(can_join(joined, k) for k in kinds) else UNKNOWN


def _sorted_type(listed: Atom) -> Type | None:
    """Of ``sorted``: any item may come to any place."""
    match atom_type(listed):
        case TupleType(items=items) if items:
            joined = join_all(items)
            fits = all(can_join(joined, k) for k in items)
            return TupleType((joined if fits else UNKNOWN,) * len(items), list)
    return None


def _view_type(obj: Atom, *dtype: Atom) -> Type | None:
    return UNKNOWN if dtype else None  # bits read as integers are not known to be constants


_RULES: dict[Callable[..., Any], Callable[..., Type | None]] = {
    float.as_integer_ratio: _always(TupleType((UNKNOWN, UNKNOWN))),  # not known to be constants
    np.lexsort: _always(Array("int64", None)),
    bisect.bisect_left: _always(INT),
    bisect.bisect_right: _always(INT),
    builtins.max: _choice_type,
    builtins.min: _choice_type,
    builtins.sorted: _sorted_type,
    list.index: _always(INT),
    list.count: _always(INT),
    tuple.index: _always(INT),
    tuple.count: _always(INT),
    np.arange: _arange_type,
    np.ndarray.view: _view_type,
    np.generic.view: _view_type,
    np.split: _split_type,
    np.array_split: _array_split_type,
    np.vsplit: _split_along(0),
    np.hsplit: _split_along(1),
    np.dsplit: _split_along(2),
    getattr(np, "unstack", _unstack_type): _unstack_type,  # NumPy 2.1
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
    builtins.pow: lambda x, y, mod=None: _pow_type(x, y) if mod is None else INT,
    builtins.len: _len_type,
    np.size: _size_type,
    np.ndarray.size: _size_type,
    builtins.float: _always(FLOAT),
    builtins.int: _always(INT),
    builtins.bool: _always(BOOL),
    builtins.complex: _always(Number("complex")),
    builtins.str: _always(STRING),
    builtins.repr: _always(STRING),
    builtins.list: _list_of,
    builtins.tuple: _tuple_of,
    builtins.slice: _always(Opaque("slice")),
    np.result_type: _always(Opaque("dtype")),
    np.promote_types: _always(Opaque("dtype")),
    np.dtype: _always(Opaque("dtype")),
    np.ndarray.dtype: _always(Opaque("dtype")),
    operator.is_: _always(BOOL),
    operator.is_not: _always(BOOL),
    operator.not_: _always(BOOL),
    operator.contains: _always(BOOL),
    np.concatenate: _concatenated_type,
    runtime.evened: lambda x, keys, axis: atom_type(x),
    np.interp: _interp_type,
    np.linalg.eigvals: _eigvals_type,
    np.linalg.eig: _eig_type,
    runtime.minors: _minors_type,
    np.squeeze: _squeezed_type,
    np.ndarray.squeeze: _squeezed_type,
    runtime.cofactors: lambda a: atom_type(a),
    runtime.inverse_of_lower: lambda a: atom_type(a),
    runtime.cholesky_change: lambda factor, da: atom_type(da),
    runtime.cholesky_adjoint: lambda factor, factor_bar: atom_type(factor_bar),
    runtime.lower_times: lambda x, y, k: _matmul_type(x, y),
    runtime.upper_times: lambda x, y, k: _matmul_type(x, y),
    runtime.lower_of_product: lambda x, y, k: _matmul_type(x, y),
    runtime.upper_of_product: lambda x, y, k: _matmul_type(x, y),
    runtime.solve_lower: lambda a, b: atom_type(b),
    runtime.solve_upper: lambda a, b: atom_type(b),
    runtime.over_gap_needed: lambda n, gaps: atom_type(n),  # the examples may have no gaps
    runtime.settled: lambda dv, merged: atom_type(dv),
    runtime.require_settled: lambda ct, merged: atom_type(ct),
    runtime.require_settled_where_used: lambda ct, merged: atom_type(ct),
    runtime.require_basis: lambda v: atom_type(v),
    runtime.is_regular: _always(BOOL),
    runtime.table_of_products: _always(Array("float64", (None, None, None))),
    runtime.change_of_basis: _always(Array("float64", (None, None))),
    np.linalg.cross: _cross_type,
    operator.matmul: _matmul_type,
    np.matmul: _matmul_type,
    np.dot: _dot_type,
    np.shape: _shape_type,
    np.ndarray.shape: _shape_type,
    np.ndarray.tolist: _tolist_type,
}


_BY_AXIS = (_split_type, _array_split_type, _concatenated_type, _unstack_type)


def known_type(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Type | None:
    """The type of a call's result by rule, if there is one for it."""
    known = hashable(callee)
    if known and callee in _ARITHMETIC and (real := _real_type(args)) is not None:
        return real
    rule = _RULES.get(callee) if known else None
    if rule in _BY_AXIS and [name for name, _ in keywords] == ["axis"]:
        return rule(*args, axis=keywords[0][1])
    if rule is None or (keywords and rule not in (_cross_type, _sorted_type)):
        return None
    return rule(*args)


_MATH_INT = {"floor", "ceil", "trunc", "factorial", "gcd", "lcm", "comb", "perm", "isqrt"}
_MATH_BOOL = {"isnan", "isinf", "isfinite", "isclose"}


def math_type(callee: Callable[..., Any]) -> Type:
    """The type of the result of a function of ``math``."""
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
