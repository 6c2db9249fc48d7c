"""The type of a call's result, found by running the call on small examples.

A NumPy function knows best which dtype and shape it returns, so it is asked: the call runs on three
sets of example arguments whose sizes and contents differ.  A size of the result that follows one
symbol through all three sets *is* that symbol (or that symbol less a constant, as for ``x[1:]``);
whatever does not follow one, because it depends on contents or is clipped, stays unknown.  This is
abstract interpretation by samples (Cousot and Cousot, 1977, give the frame): what a type claims has
been seen at sizes 2, 3, … and at large ones, with ties and without.

A few callees are answered by rule (``known``); ``samples`` runs the others.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import linear
from srcad.ir.core import Atom, Literal, Value, hashable, literal_key
from srcad.ir.known import (
    atom_type,
    cut_first,
    known_type,
    math_type,
    picked_type,
    reshaped_type,
)
from srcad.ir.samples import sampled_type
from srcad.ir.types import (
    BOOL,
    INT,
    NONE,
    NOTHING,
    OBJECT,
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
    Outcome,
    Piece,
    Size,
    TupleType,
    Type,
    Unknown,
    dims_of,
    is_complex,
    is_differentiable,
    join_all,
    map_sizes,
    without_sizes,
)
from srcad.recent import Recent

__all__ = ["atom_type", "result_type"]

_memo: Recent[object, Type] = Recent(4096)
"""Types by callee, literals and types of arguments: what has been found once is found again."""


def result_type(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()
) -> Type:
    """The type of ``callee(*args, **keywords)``; ``Unknown`` where the samples do not tell."""
    if callee is operator.getitem and isinstance(kind := atom_type(args[0]), Optional):
        args = (Value("", kind.item), *args[1:])
    by_rule = known_type(callee, args, keywords)
    if by_rule is not None:
        return by_rule
    if callee in _ARITHMETIC or isinstance(callee, np.ufunc):
        args = tuple(map(_present, args))  # None has no arithmetic: what gets here is there
    atoms = (*args, *(a for _, a in keywords))
    kind = _remembered_type(callee, args, keywords, atoms)
    if callee in (np.reshape, np.ndarray.reshape):
        return _with_sizes_of(kind, reshaped_type(*args))
    return _with_outcomes(kind, callee, atoms)


_BY_SIZES: dict[Callable[..., Any], int] = {
    **dict.fromkeys((np.linalg.svd, np.linalg.qr, np.concatenate, np.stack, np.tile, np.pad), 1),
    **dict.fromkeys((np.fft.rfft, np.fft.hfft, np.fft.irfft, np.fft.ihfft), 1),
    **dict.fromkeys((np.fft.rfft2, np.fft.rfftn, np.fft.irfft2, np.fft.irfftn), 1),
    **dict.fromkeys((np.append, np.convolve, np.kron), 2),
}
"""Functions whose results have sizes that follow from those of their first arguments, so many.

What the other arguments are has to be known.
"""
_ONE_SIZE = {np.linalg.svd, np.linalg.qr}
"""Those whose sizes that no sample follows are all the same: the smaller one of a matrix."""


def _with_outcomes(kind: Type, callee: Callable[..., Any], atoms: tuple[Atom, ...]) -> Type:
    """The type with names for sizes that no sample follows, where all that goes in is known."""
    data = _BY_SIZES.get(callee) if hashable(callee) else None
    if data is None or not all(isinstance(a, Literal) for a in atoms[data:]):
        return kind
    given = tuple(literal_key(a.value) if isinstance(a, Literal) else a.type for a in atoms)
    settled = all(isinstance(a, Literal) or _is_settled(a.type) for a in atoms[:data])
    if not settled or not hashable(given):
        return kind
    count = 0

    def named(size: Size) -> Size:
        nonlocal count
        if size is not None:
            return size
        count += 1
        return Dim(Outcome(callee, given, 0 if callee in _ONE_SIZE else count))

    return map_sizes(kind, named)


def _is_settled(kind: Type) -> bool:
    """Whether all sizes of arrays are numbers, or those of arguments."""
    match kind:
        case Array(dims=dims):
            return dims is not None and all(
                isinstance(d, int) or (isinstance(d, Dim) and isinstance(d.base, (str, Outcome)))
                for d in dims
            )
        case TupleType(items=items):
            return all(map(_is_settled, items))
        case Number(kind=name):
            return name != "int"
    return False


def _remembered_type(
    callee: Callable[..., Any],
    args: tuple[Atom, ...],
    keywords: tuple[tuple[str, Atom], ...],
    atoms: tuple[Atom, ...],
) -> Type:
    settled = memo_key(callee, atoms, len(args), keywords)
    if settled is None:
        return _type_of_call(callee, args, keywords, atoms)
    key, bases = settled
    known = _memo.get(key)
    if known is None:
        found = _type_of_call(callee, args, keywords, atoms)
        if not all(base in bases for base in bases_of(found)):
            return found  # with sizes that are made of others
        known = _memo[key] = with_bases(found, lambda base: bases.index(base))
    return with_bases(known, lambda number: bases[number])  # type: ignore[call-overload]  # an int


def _type_of_call(
    callee: Callable[..., Any],
    args: tuple[Atom, ...],
    keywords: tuple[tuple[str, Atom], ...],
    atoms: tuple[Atom, ...],
) -> Type:
    kinds = [a.type if isinstance(a, Value) else None for a in atoms]
    if any(k == NOTHING for k in kinds):
        return NOTHING
    if any(_hides_structure(k) for k in kinds if k is not None):
        found = _of_any_dtype(callee, args, keywords)
        return _unsampled(callee, kinds) if found == UNKNOWN else found
    if getattr(callee, "__module__", None) == "math":
        return math_type(callee)
    if callee is operator.getitem and isinstance(args[1], Literal):
        kind = atom_type(args[0])
        cut = cut_first(kind, args[1].value) if isinstance(kind, Array) else None
        if cut is not None:
            args = (Value("", cut[0]), Literal(cut[1]))
    found = _sampled(callee, args, keywords)
    if callee in _SPLITS and len(args) > 1:
        found = _cut_where_known(found, args[1])
    if callee in _VARYING:
        found = without_sizes(found)
    if _complex_by_values(callee, atoms) and isinstance(found, Array) and not is_complex(found):
        found = Array(None, found.dims)
    if found == UNKNOWN and callee in _OF_SHAPES:
        found = reshaped_type(*args)
        if callee is runtime.unbroadcast and isinstance(found, Array) and found.dims == ():
            found = NumPyScalar(found.dtype) if found.dtype else UNKNOWN
    if found == UNKNOWN:
        found = _guess_sizes(callee, args, keywords)
    return found


def _with_sizes_of(kind: Type, other: Type) -> Type:
    """The type with those sizes of another that it does not have itself."""
    mine, more = dims_of(kind), dims_of(other)
    if not isinstance(kind, Array) or mine is None or more is None or len(mine) != len(more):
        return kind
    return Array(kind.dtype, tuple(m if s is None else s for s, m in zip(mine, more, strict=True)))


def _present(atom: Atom) -> Atom:
    if isinstance(atom, Value) and isinstance(atom.type, Optional):
        return Value(atom.hint, atom.type.item)
    return atom


def _hides_structure(kind: Type) -> bool:
    match kind:
        case Unknown() | Optional() | Opaque() | DictType():
            return not isinstance(kind, Opaque) or kind.name != "slice"
        case Array(dtype=dtype, dims=dims):
            return dtype is None or dims is None
        case TupleType(items=items):
            return any(map(_hides_structure, items))
        case ListType(item=item):
            return _hides_structure(item)
    return False


_DTYPES = ("float32", "float64", "complex128")
"""No one dtype of the result follows from these but that of comparisons and positions."""


def _of_any_dtype(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Type:
    """What holds for every dtype, where that of arrays is all that is not known of them."""
    atoms = (*args, *(a for _, a in keywords))
    given = [a.type if isinstance(a, Value) else None for a in atoms]
    if not any(isinstance(k, Array) and k.dtype is None and k.dims is not None for k in given):
        return UNKNOWN
    outcomes = []
    for dtype in _DTYPES:
        made = [Value("", _with_dtype(a.type, dtype)) if isinstance(a, Value) else a for a in atoms]
        if any(_hides_structure(a.type) for a in made if isinstance(a, Value)):
            return UNKNOWN
        names = [name for name, _ in keywords]
        named = tuple(zip(names, made[len(args) :], strict=True))
        outcomes.append(result_type(callee, tuple(made[: len(args)]), named))
    return join_all(tuple(outcomes))


def _with_dtype(kind: Type, dtype: str) -> Type:
    match kind:
        case Array(dtype=None, dims=dims):
            return Array(dtype, dims)
        case TupleType(items=items, cls=cls):
            return TupleType(tuple(_with_dtype(k, dtype) for k in items), cls)
        case ListType(item=item):
            return ListType(_with_dtype(item, dtype))
    return kind


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
    if callee in _NEW_ARRAYS:
        return UNKNOWN
    if callee in (operator.eq, operator.ne) and any(isinstance(k, DictType) for k in known):
        return BOOL
    if all(isinstance(k, Opaque) for k in known if k is not None) and known:
        return BOOL if callee in _BOOLEAN else OBJECT
    if any(isinstance(k, Opaque) and k not in (STRING,) and k != NONE for k in known):
        return UNKNOWN if any(map(is_differentiable, known)) else OBJECT
    if callee in _BOOLEAN:
        scalars = all(isinstance(k, (Number, NumPyScalar)) for k in known)
        return BOOL if scalars else Array("bool", None)
    if callee in _SPLITS:
        return ListType(UNKNOWN)
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


_SPLITS = {np.split, np.array_split, np.vsplit, np.hsplit, np.dsplit}
_OF_SHAPES = (np.reshape, np.ndarray.reshape, np.broadcast_to, runtime.unbroadcast)
"""What makes an array of a shape that it is given."""
_NEW_ARRAYS = {np.arange, np.eye, np.tri, np.zeros, np.ones, np.empty, np.indices, np.ix_}
"""What makes arrays of sizes: those of unknown arrays are opaque, the arrays are not."""

_VARYING = {
    np.nonzero, np.flatnonzero, np.argwhere, np.ndarray.nonzero, np.trim_zeros, np.roots,
}  # fmt: skip
"""What makes arrays of sizes that samples do not show: few zeros are in them."""


def _complex_by_values(callee: Callable[..., Any], atoms: tuple[Atom, ...]) -> bool:
    """Whether the values of arguments decide if the result is complex: samples do not tell."""
    if callee in (np.roots, runtime.frechet):
        return True
    if callee is np.poly:  # real for pairs of conjugate roots
        return any(is_complex(atom_type(a)) for a in atoms)
    module = getattr(callee, "__module__", None) or ""
    return module.startswith("scipy.linalg") and callee.__name__ in _MATRIX_FUNCTIONS


_MATRIX_FUNCTIONS = ("sqrtm", "logm", "fractional_matrix_power")

_ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow,
    operator.neg, operator.pos,
}  # fmt: skip

_ELEMENTWISE = _ARITHMETIC | {
    operator.floordiv, operator.mod,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
}  # fmt: skip


def _is_elementwise(callee: object) -> bool:
    if isinstance(callee, np.ufunc):
        return callee.signature is None
    return hashable(callee) and callee in _ELEMENTWISE


def _sampled(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Type:
    atoms = (*args, *(a for _, a in keywords))
    if _is_elementwise(callee) and any(None in (dims_of(atom_type(a)) or ()) for a in atoms):
        # samples of an unknown size rarely fit: the other axes are known all the same
        known = _broadcast_type(callee, tuple(map(atom_type, atoms)))
        if known is not None and getattr(known, "dtype", None) is not None:
            return known
    found = sampled_type(callee, args, keywords)
    if found is not None:
        return found
    if callee is operator.getitem:
        return picked_type(atom_type(args[0]), args[1]) or UNKNOWN
    return _broadcast_type(callee, tuple(map(atom_type, atoms))) or UNKNOWN


def _broadcast_type(callee: Callable[..., Any], kinds: tuple[Type, ...]) -> Type | None:
    """The type of an elementwise result whose sizes no example fits: a symbol meets a number."""
    if not _is_elementwise(callee):
        return None
    shapes = [dims_of(k) for k in kinds]
    if any(s is None for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    if not any(known):
        return None
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
    names = [name for name, _ in keywords]
    for unify in _agreements([a.type for a in atoms if isinstance(a, Value)]):
        guessed = [
            Value("", map_sizes(a.type, unify)) if isinstance(a, Value) else a for a in atoms
        ]
        if all(atom_type(a) == atom_type(g) for a, g in zip(atoms, guessed, strict=True)):
            continue
        found = _sampled(
            callee,
            tuple(guessed[: len(args)]),
            tuple(zip(names, guessed[len(args) :], strict=True)),
        )
        if found != UNKNOWN:
            return without_sizes(found)
    return UNKNOWN


def _agreements(kinds: list[Type]) -> Iterator[Callable[[Size], Size]]:
    """Ways in which sizes may agree: unknown ones with a known one, and symbols with a number."""
    sizes = dict.fromkeys(d for k in kinds for d in _named_sizes(k))
    for size in sizes:
        yield lambda d, size=size: size if d is None or _is_own(d) else d  # type: ignore[misc]  # bound now
    numbers = [d for d in sizes if isinstance(d, int)]
    for symbol in sizes:
        if isinstance(symbol, Dim):
            for number in numbers:
                whole = number + symbol.drop
                yield lambda d, base=symbol.base, whole=whole: (  # type: ignore[misc]  # bound now
                    max(whole - d.drop, 0) if isinstance(d, Dim) and d.base == base else d
                )


def _is_own(size: Size) -> bool:
    """Whether a size is named after nothing but itself."""
    return isinstance(size, Dim) and not isinstance(size.base, (str, Outcome)) and not size.drop


def _named_sizes(kind: Type) -> list[Size]:
    match kind:
        case Array(dims=dims) if dims is not None:
            return [d for d in dims if d is not None]
        case TupleType(items=items):
            return [d for k in items for d in _named_sizes(k)]
        case ListType(item=item):
            return _named_sizes(item)
    return []


def _cut_where_known(pieces: Type, places: Atom) -> Type:
    """Pieces of a split beside a place that only run time knows have no known size.

    A place is cut off at the end, so that in every sample the last piece may happen to be empty.
    """
    cuts = atom_type(places)
    if isinstance(places, Literal) or not isinstance(pieces, TupleType):
        return pieces
    if not isinstance(cuts, TupleType) or len(cuts.items) != len(pieces.items) - 1:
        return without_sizes(pieces)
    known = [
        isinstance(c, Number) and c.size is not None and isinstance(c.size.base, str)
        for c in cuts.items
    ]
    sides = zip((True, *known), (*known, True), pieces.items, strict=True)
    made = tuple(p if left and right else without_sizes(p) for left, right, p in sides)
    return TupleType(made, pieces.cls)


def name_sizes(kind: Type) -> Type:
    """The type of an array with a name for each size that nothing is known of.

    What is computed of one array can so be proven of one shape.  A name stands for one size only
    where the value that it is of is one: see ``without_later_names`` for what leaves a loop.
    """
    if not isinstance(kind, Array):
        return kind
    return map_sizes(kind, lambda size: Dim(Value("size", INT)) if size is None else size)


def without_later_names(kind: Type, since: int) -> Type:
    """The type without sizes named by values made after the value of serial number ``since``.

    Each iteration of a loop has sizes of its own, so what comes out of it does not have them.
    """

    def is_later(part: object) -> bool:
        match part:
            case Value(serial=serial):
                return serial > since
            case Dim(base=base):
                return is_later(base)
            case Piece(whole=whole, start=start, stop=stop):
                return any(map(is_later, (whole, start, stop)))
        return any(map(is_later, linear.parts(part)))

    return map_sizes(kind, lambda size: None if is_later(size) else size)


# ---- what has been found before


def memo_key(
    callee: object, atoms: tuple[Atom, ...], count: int, keywords: tuple[tuple[str, Atom], ...]
) -> tuple[object, list[object]] | None:
    """What the outcome of a call depends on besides its data; None if that is not settled.

    Sizes are numbered as they are met: which ones they are is told beside the key.  An integer in a
    tuple that has no name names no size.  Nothing is kept of a function that another one made: it
    goes with what it holds.
    """
    if isinstance(callee, FunctionType) and "<" in callee.__qualname__:
        return None
    parts: list[object] = [callee, count, *(k for k, _ in keywords)]
    bases: list[object] = []
    elementwise = _is_elementwise(callee)

    def numbered(base: object) -> object:
        if base not in bases:
            bases.append(base)
        return bases.index(base), isinstance(base, str)

    for atom in atoms:
        if isinstance(atom, Literal):
            parts.append(literal_key(atom.value))
        elif isinstance(atom.type, Number):
            if atom.type.kind != "int" or elementwise:
                parts.append(Number(atom.type.kind))
            else:
                size = atom.type.size if atom.type.size is not None else Dim(atom)
                parts.append(Number("int", Dim(numbered(size.base), size.drop)))
        else:
            parts.append(with_bases(atom.type, numbered))
    key = tuple(parts)
    return (key, bases) if hashable(key) else None


def bases_of(kind: Type) -> list[object]:
    """What the sizes of a type are named after."""
    found: list[object] = []
    with_bases(kind, lambda base: found.append(base) or base)  # type: ignore[func-returns-value]
    return found


def with_bases(kind: Type, renamed: Callable[[object], object]) -> Type:
    """The type with other names for its sizes."""
    return map_sizes(
        kind, lambda size: Dim(renamed(size.base), size.drop) if isinstance(size, Dim) else size
    )
