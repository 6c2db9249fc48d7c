"""Types of values: what is known of a run-time object when its derivative is derived.

A type decides how code is printed (``math.sin`` or ``np.sin``), whether a value can carry a
derivative, and whether two shapes are proven equal.  Knowledge may be missing: ``Array`` with
``dims=None`` has an unknown rank and ``Unknown`` may be any number or array.  Less knowledge gives
slower code, never wrong code, so every question below answers "proven" or "not proven".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Dim:
    """A size that is not known as a number: ``max(base - drop, 0)``.

    ``base`` is the name of an argument's size, or the ``Value`` of a run-time integer: of one in
    the program, or of one that nothing computes, which is how a size of a loop variable is named
    (see ``infer.name_sizes``), or the ``Piece`` that a slice has of another size, or the
    ``Outcome`` of a call, or a sum of such (see ``ir.linear``), or a ``Dim`` that more is added to.
    ``drop`` is negative where something is.  Two sizes are proven equal exactly when their ``Dim``
    are.
    """

    base: object
    drop: int = 0

    def __str__(self) -> str:
        name = self.base if isinstance(self.base, str) else "?"
        return f"{name}{-self.drop:+}" if self.drop else f"{name}"


class LongAxis(str):
    """The name of a size that is large where the code is written: it is for such sizes alone.

    What is right for one size is right for all; an array of so many numbers only takes longer to
    keep than to compute again.
    """

    __slots__ = ()


LONG = 1024
"""A size from which on an axis is long."""


@dataclass(frozen=True, slots=True)
class Piece:
    """How much of an axis a slice has, where no sum says it: ``x[k + 1:]``, ``x[::2]``.

    An end is an ``ir.linear.Linear`` or None.
    """

    whole: object
    """The size of the axis."""
    start: object
    stop: object
    step: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The size of an axis that a function makes of the sizes of its arguments, and of those alone.

    ``given`` are the types and the literals that it is called with.
    """

    callee: object
    given: tuple[object, ...]
    place: int


SMALLEST = 2
"""No size that has a name is smaller: 0 and 1 are numbers."""

Size = int | Dim | None
"""A known size, a symbolic one, or nothing known."""


class Type:
    """Base of all types."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Number(Type):
    """A Python number; kind is 'bool', 'int', 'real' (int or float), 'float' or 'complex'."""

    kind: str
    size: Dim | None = None
    """For an integer that is the size of an axis: which one."""

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class NumPyScalar(Type):
    """A NumPy scalar such as ``np.float64``."""

    dtype: str

    def __str__(self) -> str:
        return f"np.{self.dtype}"


@dataclass(frozen=True, slots=True)
class Array(Type):
    """A NumPy array; ``dtype`` or ``dims`` is None where unknown."""

    dtype: str | None
    dims: tuple[Size, ...] | None

    def __str__(self) -> str:
        code = np.dtype(self.dtype).str[1:] if self.dtype else "?"
        if self.dims is None:
            return f"{code}[...]"
        return f"{code}[{', '.join('?' if d is None else str(d) for d in self.dims)}]"


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """A sequence of known length, item by item; ``cls`` is tuple, list or a namedtuple class."""

    items: tuple[Type, ...]
    cls: type = tuple

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.items))
        return f"[{inner}]" if self.cls is list else f"({inner})"


@dataclass(frozen=True, slots=True)
class ListType(Type):
    """A list of any length whose items have one type."""

    item: Type

    def __str__(self) -> str:
        return f"list[{self.item}]"


@dataclass(frozen=True, slots=True)
class DictType(Type):
    """A dict with run-time keys whose values have one type."""

    item: Type

    def __str__(self) -> str:
        return f"dict[{self.item}]"


@dataclass(frozen=True, slots=True)
class Optional(Type):
    """``item`` or None."""

    item: Type

    def __str__(self) -> str:
        return f"{self.item} | None"


@dataclass(frozen=True, slots=True)
class Opaque(Type):
    """An object that carries no derivative: a string, a dtype, a generator, an instance."""

    name: str = "object"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Cut(Opaque):
    """A slice whose ends are known, among the items of an index."""

    ends: tuple[int | None, int | None, int | None] = (None, None, None)


@dataclass(frozen=True, slots=True)
class Unknown(Type):
    """Any number or array; may carry a derivative."""

    def __str__(self) -> str:
        return "any"


@dataclass(frozen=True, slots=True)
class Nothing(Type):
    """No value yet: the type of a path that never ends or of a name without a value."""

    def __str__(self) -> str:
        return "nothing"


BOOL, INT, REAL, FLOAT, COMPLEX = (Number(k) for k in ("bool", "int", "real", "float", "complex"))
STRING, NONE, OBJECT = Opaque("str"), Opaque("None"), Opaque("object")
SET = Opaque("set")
EXCEPTION = Opaque("exception")
KEY = Opaque("key")
"""A key of a dict with run-time keys."""
UNKNOWN, NOTHING = Unknown(), Nothing()

_KINDS = ("bool", "int", "real", "float", "complex")


def is_differentiable(kind: Type) -> bool:
    """Whether a value of this type can carry a derivative."""
    match kind:
        case Number(kind=k):
            return k in ("real", "float", "complex")
        case NumPyScalar(dtype=dtype) | Array(dtype=dtype):
            return dtype is None or np.dtype(dtype).kind in "fc"
        case TupleType(items=items):
            return any(map(is_differentiable, items))
        case ListType(item=item) | DictType(item=item) | Optional(item=item):
            return is_differentiable(item)
        case Unknown():
            return True
    return False


_WITHOUT_DATA = frozenset(
    {
        *("None", "NoneType", "dtype", "slice", "range", "type", "function"),
        *("key", "module", "ellipsis", "Generator", "RandomState", "finfo", "iinfo"),
        "builtin_function_or_method",
    }
)
"""Names of opaque types whose values have no numbers in them that a derivative could go through."""


def may_hide(kind: Type) -> bool:
    """Whether values of this type may have differentiable data in them that cannot be followed."""
    match kind:
        case Opaque(name=name):
            return name not in _WITHOUT_DATA
        case ListType(item=item) | DictType(item=item) | Optional(item=item):
            return may_hide(item)
        case TupleType(items=items):
            return any(map(may_hide, items))
    return False


def is_text(kind: Type) -> bool:
    """Whether values of this type are text: a number may be spelled in it, and read again."""
    return isinstance(kind, Opaque) and kind.name in ("str", "bytes")


def is_complex(kind: Type) -> bool:
    """Whether a value of this type is known to be complex."""
    match kind:
        case Number(kind="complex"):
            return True
        case NumPyScalar(dtype=dtype) | Array(dtype=dtype):
            return dtype is not None and np.dtype(dtype).kind == "c"
    return False


def rank(kind: Type) -> int | None:
    """Number of axes; None where unknown."""
    match kind:
        case Number() | NumPyScalar():
            return 0
        case Array(dims=dims):
            return None if dims is None else len(dims)
    return None


def dims_of(kind: Type) -> tuple[Size, ...] | None:
    """Sizes of all axes; None where the rank is unknown."""
    match kind:
        case Number() | NumPyScalar():
            return ()
        case Array(dims=dims):
            return dims
    return None


def dtype_of(kind: Type) -> str | None:
    """NumPy dtype of a NumPy value; None for Python numbers and where unknown."""
    match kind:
        case NumPyScalar(dtype=dtype) | Array(dtype=dtype):
            return dtype
    return None


def same_shape(a: Type, b: Type) -> bool:
    """Whether both types are proven to have the same shape."""
    left, right = dims_of(a), dims_of(b)
    return left is not None and right is not None and left == right and None not in left


def map_sizes(kind: Type, change: Callable[[Size], Size]) -> Type:
    """The type with its sizes replaced."""
    match kind:
        case Number(kind=name, size=size) if size is not None:
            made = change(size)
            return Number(name, made if isinstance(made, Dim) else None)
        case Array(dtype=dtype, dims=dims) if dims is not None:
            return Array(dtype, tuple(map(change, dims)))
        case TupleType(items=items, cls=cls):
            return TupleType(tuple(map_sizes(k, change) for k in items), cls)
        case ListType(item=item):
            return ListType(map_sizes(item, change))
        case DictType(item=item):
            return DictType(map_sizes(item, change))
        case Optional(item=item):
            return Optional(map_sizes(item, change))
    return kind


def without_sizes(kind: Type) -> Type:
    """The type with nothing said of its sizes."""
    return map_sizes(kind, lambda _: None)


def join(a: Type, b: Type) -> Type:
    """The most precise type that holds the values of both."""
    if a == b:
        return a
    match a, b:
        case (Nothing(), other) | (other, Nothing()):
            return other
        case (Optional(item=x), Optional(item=y)):
            return _optional(join(x, y))
        case (Opaque("None"), other) | (other, Opaque("None")):
            return _optional(other)
        case (Optional(item=x), other) | (other, Optional(item=x)):
            return _optional(join(x, other))
        case (Number(kind=x), Number(kind=y)):
            return Number(_join_kinds(x, y))
        case (Number(kind="complex"), NumPyScalar() as s) | (
            NumPyScalar() as s,
            Number(kind="complex"),
        ):
            return s if is_complex(s) else UNKNOWN
        case (Number(kind=kind), NumPyScalar(dtype=dtype)) | (
            NumPyScalar(dtype=dtype),
            Number(kind=kind),
        ):
            # a Python number or a NumPy scalar: a NumPy float64 is a Python float
            if (dtype == "float64" and kind != "bool") or (dtype == "int64" and kind == "int"):
                return NumPyScalar(dtype)
            return UNKNOWN
        case (NumPyScalar(dtype=x), NumPyScalar(dtype=y)):
            return UNKNOWN
        case (Array(dtype=x, dims=d), Array(dtype=y, dims=e)):
            common = x if x == y else None
            if d is None or e is None or len(d) != len(e):
                return Array(common, None)
            return Array(common, tuple(p if p == q else None for p, q in zip(d, e, strict=True)))
        case (TupleType(items=x, cls=c), TupleType(items=y, cls=k)) if c is k and len(x) == len(y):
            return TupleType(tuple(join(p, q) for p, q in zip(x, y, strict=True)), c)
        case (TupleType(items=x, cls=c), TupleType(items=y, cls=k)) if c is list and k is list:
            return ListType(join_all((*x, *y)))
        case (TupleType(items=x, cls=c), ListType(item=y)) | (
            ListType(item=y),
            TupleType(items=x, cls=c),
        ) if c is list:
            return ListType(join_all((*x, y)))
        case (ListType(item=x), ListType(item=y)):
            return ListType(join(x, y))
        case (DictType(item=x), DictType(item=y)):
            return DictType(join(x, y))
        case (Opaque(name="slice"), Opaque(name="slice")):
            return Opaque("slice")
        case (Opaque(), Opaque()):
            return OBJECT
    if _is_numeric(a) and _is_numeric(b):
        return UNKNOWN
    return OBJECT


def join_all(types: tuple[Type, ...]) -> Type:
    """The join of all types; Nothing for none."""
    result: Type = NOTHING
    for kind in types:
        result = join(result, kind)
    return result


def can_join(a: Type, b: Type) -> bool:
    """Whether a value of either type can be worked with: no derivative is lost in the join."""
    return join(a, b) != OBJECT or not (is_differentiable(a) or is_differentiable(b))


def _optional(kind: Type) -> Type:
    if isinstance(kind, Opaque):
        return kind if kind == NONE else OBJECT
    return kind if isinstance(kind, Optional) else Optional(kind)


def _is_numeric(kind: Type) -> bool:
    return isinstance(kind, (Number, NumPyScalar, Array, Unknown))


def _join_kinds(x: str, y: str) -> str:
    low, high = sorted((x, y), key=_KINDS.index)
    if high == "float" and low in ("int", "bool", "real"):
        return "real"
    return high


def type_of(obj: object) -> Type:
    """The type of one run-time object, with its sizes as numbers."""
    match obj:
        case None:
            return NONE
        case bool():
            return BOOL
        case np.generic():
            return NumPyScalar(obj.dtype.name) if obj.dtype.kind in "biufc" else OBJECT
        case int():
            return INT
        case float():
            return FLOAT
        case complex():
            return COMPLEX
        case str():
            return STRING
        case np.ndarray():
            return Array(obj.dtype.name, obj.shape) if obj.dtype.kind in "biufc" else OBJECT
        case list():
            items = tuple(map(type_of, obj))
            joined = join_all(items)
            if items and joined not in (OBJECT, UNKNOWN) and not isinstance(joined, TupleType):
                return ListType(joined)
            return TupleType(items, list)
        case tuple():
            return TupleType(tuple(map(type_of, obj)), type(obj))
        case np.random.Generator() | np.random.RandomState():
            return generator_type(type(obj))
    return Opaque("dtype" if isinstance(obj, np.dtype) else type(obj).__name__)


def generator_type(cls: type) -> Opaque:
    """The type of a source of random numbers."""
    return Opaque(f"numpy.random.{cls.__name__}")
