"""`Handle`: what a function under test holds in place of a number or an array.

A handle is a name, not a value. Behind it is a `Storage`, whose content is replaced when the
memory is written, and the positions in that storage that the handle sees. The positions are
themselves a NumPy array with the layout of the real one, so NumPy decides what is a view and what
is a copy, here as in plain code.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcad.testing.tracing.core import (
    Primitive,
    Traced,
    Unsupported,
    UnsupportedAttribute,
    bind,
    is_complex,
    raw,
)
from srcad.testing.tracing.gather import GATHER, SCATTER

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""How a NumPy function is carried out on handles."""

METHODS: dict[str, Callable[..., Any]] = {}
"""How a method of arrays and numbers is carried out on handles."""


class Storage:
    """A piece of memory: its content, and the positions of its entries in their layout."""

    __slots__ = ("content", "shadow", "version")

    content: Any
    shadow: Any
    version: int

    def __init__(self, content: Any) -> None:
        self.content = content
        self.shadow = None
        self.version = 0

    def indices(self) -> Any:
        if self.shadow is None:
            data = raw(self.content)
            if not isinstance(data, np.ndarray):
                return np.intp(0)
            self.shadow = np.empty_like(data, dtype=np.intp)
            self.shadow[...] = np.arange(data.size).reshape(data.shape)
        return self.shadow


class Handle:
    """A number or an array that is followed by an oracle, or memory that may come to hold one."""

    __slots__ = ("__weakref__", "_positions", "_seen", "_storage", "_value")
    __array_priority__ = 1000.0

    def __init__(self, content: Any) -> None:
        self._storage = Storage(content)
        self._positions: Any = None
        self._seen = 0
        self._value: Any = None

    # ---- memory

    @property
    def content(self) -> Any:
        """The value: plain data or traced."""
        if self._positions is None:
            return self._storage.content
        if self._value is None or self._seen != self._storage.version:
            root = self._storage.content
            self._value = bind(GATHER, root, positions=self._positions, dtype=dtype_of(root))
            self._seen = self._storage.version
        return self._value

    @property
    def indices(self) -> Any:
        """Positions in the storage of the entries of this handle."""
        return self._storage.indices() if self._positions is None else self._positions

    def moved(self, rebuild: Callable[[Any], Any]) -> Any:
        """What a function that moves data gives: views where NumPy gives views."""
        return _each(rebuild(self.indices), self._select)

    def _select(self, positions: Any) -> Any:
        if isinstance(positions, np.ndarray) and np.may_share_memory(positions, self.indices):
            view = object.__new__(type(self))
            view._storage = self._storage
            view._positions = positions
            view._seen = 0
            view._value = None
            return view
        root = self._storage.content
        out = bind(GATHER, root, positions=positions, dtype=dtype_of(root))
        return _handle(out) if isinstance(out, (Traced, np.ndarray)) else out

    def frozen(self) -> Handle:
        """This handle, whose memory may not be written."""
        self._storage.indices().setflags(write=False)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        where = self.indices
        if not isinstance(where, np.ndarray):
            raise TypeError("a number does not support item assignment")
        if not where.flags.writeable:
            raise ValueError("assignment destination is read-only")
        root = self._storage.content
        new = unwrap(array(value))
        if is_complex(raw(new)) and not is_complex(raw(root)):
            raise TypeError("a complex value can not be written to real memory")
        if dtype_of(root).kind not in "fc":
            raise Unsupported(f"writing a traced value to memory of type {dtype_of(root)}")
        # NumPy itself says which entries are written, and by which entry of the value.
        size, shape = int(np.size(raw(root))), np.shape(raw(root))
        source = np.full(where.shape, -1)
        source[plain(index)] = size + np.arange(np.size(raw(new))).reshape(np.shape(raw(new)))
        written = source >= 0
        flat = np.arange(size)
        flat[where[written]] = source[written]
        positions = np.empty_like(self._storage.indices())
        positions[...] = flat.reshape(shape)
        self._storage.content = bind(GATHER, root, new, positions=positions, dtype=dtype_of(root))
        self._storage.version += 1

    def add_at(self, index: Any, value: Any) -> None:
        """Add to entries; an entry that is named twice is added to twice."""
        if not self.indices.flags.writeable:
            raise ValueError("assignment destination is read-only")
        places = self.indices[plain(index)]
        term = apply(
            SCATTER,
            np.broadcast_to(array(value), np.shape(places)),
            positions=places,
            shape=np.shape(raw(self._storage.content)),
        )
        root = wrap(self._storage.content)
        self._storage.content = unwrap(np.add(root, term))
        self._storage.version += 1

    # ---- NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from srcad.testing.tracing.ufuncs import call_ufunc

        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call(func, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self.content, Traced):
            raise Unsupported("a traced array was used where plain data is needed (is f lifted?)")
        return np.array(self.content, dtype=dtype)

    # ---- attributes

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.indices)

    @property
    def ndim(self) -> int:
        return np.ndim(self.indices)

    @property
    def size(self) -> int:
        return int(np.size(self.indices))

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self._storage.content)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * self.size

    @property
    def flags(self) -> Any:
        return self.indices.flags

    @property
    def T(self) -> Any:
        return np.transpose(self)

    @property
    def mT(self) -> Any:
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return np.real(self)

    @property
    def imag(self) -> Any:
        return np.imag(self)

    @property
    def flat(self) -> Any:
        return _Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        _Flat(self)[:] = value

    def __getattr__(self, name: str) -> Any:
        try:
            method = METHODS[name]
        except KeyError:
            raise UnsupportedAttribute(f"a traced value has no attribute {name!r}") from None
        return lambda *args, **kwargs: method(self, *args, **kwargs)

    # ---- Python's protocols

    def __getitem__(self, index: Any) -> Any:
        index = plain(index)
        if not isinstance(self.indices, np.ndarray):
            if index in ((), ...) and isinstance(raw(self.content), np.generic):
                return self
            raise TypeError("a number is not subscriptable")
        return self.moved(lambda a: a[index])

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a number has no len()")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(plain(self) == plain(x)))

    def __hash__(self) -> int:
        if isinstance(self.content, Traced):
            raise Unsupported("a traced value as a key would be found by its value alone")
        return hash(self.content)

    def __bool__(self) -> bool:
        return bool(plain(self))

    def __int__(self) -> int:
        return int(plain(self))

    def __float__(self) -> float:
        if isinstance(self.content, Traced):
            raise Unsupported("float() of a traced value would cut it off; lift the function")
        return float(self.content)

    def __complex__(self) -> complex:
        if isinstance(self.content, Traced):
            raise Unsupported("complex() of a traced value would cut it off; lift the function")
        return complex(self.content)

    def __round__(self, digits: int | None = None) -> Any:
        # A step function: its derivative is zero wherever it has one.
        return round(plain(self)) if digits is None else round(plain(self), digits)

    def __floor__(self) -> int:
        return int(plain(self).__floor__())

    def __ceil__(self) -> int:
        return int(plain(self).__ceil__())

    def __trunc__(self) -> int:
        return int(plain(self))

    def __copy__(self) -> Handle:
        return _handle(self.content)

    def __deepcopy__(self, memo: Any) -> Handle:
        return _handle(self.content)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({plain(self)!r})"

    def __format__(self, spec: str) -> str:
        return format(plain(self), spec)

    def __abs__(self) -> Any:
        return operate(operator.abs, self)

    def __neg__(self) -> Any:
        return operate(operator.neg, self)

    def __pos__(self) -> Any:
        return operate(operator.pos, self)

    def __add__(self, y: Any) -> Any:
        return operate(operator.add, self, y)

    def __radd__(self, y: Any) -> Any:
        return operate(operator.add, y, self)

    def __sub__(self, y: Any) -> Any:
        return operate(operator.sub, self, y)

    def __rsub__(self, y: Any) -> Any:
        return operate(operator.sub, y, self)

    def __mul__(self, y: Any) -> Any:
        return operate(operator.mul, self, y)

    def __rmul__(self, y: Any) -> Any:
        return operate(operator.mul, y, self)

    def __truediv__(self, y: Any) -> Any:
        return operate(operator.truediv, self, y)

    def __rtruediv__(self, y: Any) -> Any:
        return operate(operator.truediv, y, self)

    def __pow__(self, y: Any) -> Any:
        return operate(operator.pow, self, y)

    def __rpow__(self, y: Any) -> Any:
        return operate(operator.pow, y, self)

    def __mod__(self, y: Any) -> Any:
        return operate(operator.mod, self, y)

    def __rmod__(self, y: Any) -> Any:
        return operate(operator.mod, y, self)

    def __floordiv__(self, y: Any) -> Any:
        return _constant(plain(self) // plain(y))

    def __rfloordiv__(self, y: Any) -> Any:
        return _constant(plain(y) // plain(self))

    def __divmod__(self, y: Any) -> Any:
        return self // y, self % y

    def __rdivmod__(self, y: Any) -> Any:
        return y // self, y % self

    def __matmul__(self, y: Any) -> Any:
        return np.matmul(self, y)

    def __rmatmul__(self, y: Any) -> Any:
        return np.matmul(y, self)

    def __lt__(self, y: Any) -> Any:
        return plain(self) < plain(y)

    def __le__(self, y: Any) -> Any:
        return plain(self) <= plain(y)

    def __gt__(self, y: Any) -> Any:
        return plain(self) > plain(y)

    def __ge__(self, y: Any) -> Any:
        return plain(self) >= plain(y)

    def __eq__(self, y: object) -> Any:
        return plain(self) == plain(y)

    def __ne__(self, y: object) -> Any:
        return plain(self) != plain(y)

    def _in_place(self, op: Callable[[Any, Any], Any], y: Any) -> Any:
        if not isinstance(self.indices, np.ndarray):
            return op(self, y)  # a number is not memory: the name is bound anew
        result = op(self, y)
        if np.shape(result) != self.shape:
            raise ValueError("non-broadcastable output operand of an in-place operation")
        self[...] = result
        return self

    def __iadd__(self, y: Any) -> Any:
        return self._in_place(operator.add, y)

    def __isub__(self, y: Any) -> Any:
        return self._in_place(operator.sub, y)

    def __imul__(self, y: Any) -> Any:
        return self._in_place(operator.mul, y)

    def __itruediv__(self, y: Any) -> Any:
        return self._in_place(operator.truediv, y)

    def __ipow__(self, y: Any) -> Any:
        return self._in_place(operator.pow, y)

    def __imod__(self, y: Any) -> Any:
        return self._in_place(operator.mod, y)

    def __ifloordiv__(self, y: Any) -> Any:
        return self._in_place(operator.floordiv, y)

    def __imatmul__(self, y: Any) -> Any:
        return self._in_place(operator.matmul, y)


# ---- between handles, values and plain data


def _handle(content: Any) -> Handle:
    return content.handle() if isinstance(content, Traced) else Handle(content)


def wrap(content: Any) -> Any:
    """A value as user code sees it: plain data stays plain, a traced value gets a handle."""
    return content.handle() if isinstance(content, Traced) else content


def unwrap(x: Any) -> Any:
    """The value of a handle; anything else is itself."""
    return x.content if isinstance(x, Handle) else x


def apply(primitive: Primitive, *inputs: Any, **params: Any) -> Any:
    """A primitive applied to plain data and handles. Arrays come back as handles if one went in."""
    out = bind(primitive, *(unwrap(x) for x in inputs), **params)
    if isinstance(out, Traced):
        return out.handle()
    if isinstance(out, np.ndarray) and any(isinstance(x, Handle) for x in inputs):
        return Handle(out)
    return out


def plain(x: Any) -> Any:
    """Plain data for handles, also those in lists, tuples, dicts and slices."""
    match x:
        case Handle():
            return raw(x.content)
        case list():
            return [plain(e) for e in x]
        case tuple():
            parts = [plain(e) for e in x]
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        case dict():
            return {k: plain(v) for k, v in x.items()}
        case slice():
            return slice(plain(x.start), plain(x.stop), plain(x.step))
        case _:
            return x


SEQUENCES = (list, tuple, collections.deque)
"""What NumPy takes for the items in it."""


def has_handle(x: Any) -> bool:
    """Whether a handle is in x, or in lists, tuples and dicts in x."""
    if isinstance(x, Handle):
        return True
    if isinstance(x, SEQUENCES):
        return any(has_handle(e) for e in x)
    if isinstance(x, dict):
        return any(has_handle(e) for e in x.values())
    return False


def array(x: Any) -> Any:
    """A handle, or a nest of lists with handles in it, as one array; other things through NumPy."""
    if isinstance(x, Handle):
        return x
    if not has_handle(x):
        return np.asarray(x)
    return np.stack([array(e) for e in x])


def dtype_of(x: Any) -> np.dtype[Any]:
    """The type of the entries."""
    data = raw(unwrap(x))
    return data.dtype if isinstance(data, (np.ndarray, np.generic)) else np.asarray(data).dtype


def _constant(result: Any) -> Any:
    # Memory of floats may later be written with traced values, so it needs a handle.
    if isinstance(result, np.ndarray) and result.dtype.kind in "fc":
        return Handle(result)
    return result


def constant(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose derivative is zero, or that has none: it sees plain data."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return _each(func(*plain(args), **plain(kwargs)), _constant)

    return run


def _each(result: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(result, (list, tuple)):
        parts = [_each(e, change) for e in result]
        if isinstance(result, list):
            return parts
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return change(result)


def call(func: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function on arguments among which are handles."""
    handler = FUNCTIONS.get(func)
    if handler is None:
        raise Unsupported(f"the oracle does not know {getattr(func, '__name__', func)}")
    return handler(*args, **kwargs)


def operate(op: Any, *operands: Any) -> Any:
    """A Python operator: on numbers as Python does it, with arrays as NumPy does it."""
    from srcad.testing.tracing.elementwise import OPERATORS

    values = []
    for x in operands:
        if isinstance(x, (list, tuple)):
            x = array(x)
        if not isinstance(x, (Handle, np.ndarray, np.generic, int, float, complex)):
            return NotImplemented
        values.append(x)
    python, ufunc = OPERATORS[op]
    if all(
        isinstance(plain(x), (int, float, complex)) and not isinstance(plain(x), np.generic)
        for x in values
    ):
        return apply(python, *values)
    return ufunc(*values)


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how NumPy functions are carried out."""

    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        for f in functions:
            FUNCTIONS[f] = handler
        return handler

    return register


def newer(*names: str) -> tuple[Any, ...]:
    """Functions that not every supported NumPy has: those that this one has."""
    return tuple(getattr(np, name) for name in names if hasattr(np, name))


class _Flat(Handle):
    """The elements of a handle in C order, and in its memory whatever its layout."""

    __slots__ = ()

    def __init__(self, whole: Handle) -> None:
        self._storage = whole._storage
        self._positions = np.ravel(whole.indices)
        self._seen = 0
        self._value = None

    def __getitem__(self, index: Any) -> Any:
        return self._select(self.indices[plain(index)].copy())

    def __setitem__(self, index: Any, value: Any) -> None:
        picked = np.arange(self.size)[plain(index)]
        if np.ndim(value):
            value = np.ravel(array(value))[np.arange(np.size(picked)) % np.size(value)]
        super().__setitem__(index, np.reshape(value, np.shape(picked)) if np.ndim(value) else value)
