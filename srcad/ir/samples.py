"""Results by sample: a call is run on three sets of examples whose sizes and contents differ.

A fourth set has the smallest sizes that symbols stand for: it may only take back what a type says.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.ir.core import Atom, Value
from srcad.ir.linear import is_natural_term
from srcad.ir.types import (
    OBJECT,
    SMALLEST,
    UNKNOWN,
    Array,
    Cut,
    Dim,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    Size,
    TupleType,
    Type,
    generator_type,
    join_all,
    type_of,
)

_SETS = 3
_LEAST = 3
"""The number of the set whose sizes are as small as they may be."""
_LARGEST = 1_000_000
_SMALL = 1_000


GENERATORS = {generator_type(cls).name: cls for cls in (np.random.Generator, np.random.RandomState)}
"""What draws random numbers, by the names of its type."""


def draws(function: Any) -> type | None:
    """The class of which a function is a method that draws random numbers."""
    name = getattr(function, "__name__", "")
    found = (cls for cls in GENERATORS.values() if getattr(cls, name, None) is function)
    return next(found, None)


class Examples:
    """One set of example arguments; ``sizes`` remembers which size stands for what."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sizes: dict[object, int] = {}
        self.emptied: set[Dim] = set()
        """Sizes that are only 0 because the samples are small."""
        self.integers = 0
        self.reals = 0

    def size(self, size: Size) -> int:
        match size:
            case int():
                return size
            case Dim(base=base, drop=drop):
                found = max(self.base(base) - drop, 0)
                if found == 0:
                    self.emptied.add(size)
                return found
            case None:
                # 1 goes with any size: unknown sizes that have to agree do so in one set at least
                return 1 if self.number >= 2 else self.base(object())

    def base(self, base: object) -> int:
        if isinstance(base, Dim):
            return self.size(base)
        if base not in self.sizes and self.number == _LEAST:
            natural = SMALLEST if isinstance(base, str) else 0
            self.sizes[base] = natural if is_natural_term(base) else -1
        if base not in self.sizes:
            count = len(self.sizes)
            first = ((7, 11, 19, 29, 41), (13, 23, 31, 43, 59), (6, 5, 4, 3, 2))[self.number]
            # no two differ by the same in all sets
            self.sizes[base] = first[count % 5] + (60, 67, 71)[self.number] * (count // 5)
        return self.sizes[base]

    def integer(self, value: Value) -> int:
        base = value.type.size if isinstance(value.type, Number) and value.type.size else Dim(value)
        if self.number == _LEAST or isinstance(base.base, Dim):
            return self.size(base)
        if base.base not in self.sizes:
            self.integers += 1  # no two differ by the same in all sets
            self.sizes[base.base] = (1, 2, 70)[self.number] + abs(base.drop)
            self.sizes[base.base] += self.integers * (1, 2, 3)[self.number]
        return max(self.sizes[base.base] - base.drop, 0)

    def real(self) -> float:
        """A number whose ratio to the others differs between sets: a count of them does too."""
        self.reals += 1
        return (0.7 * self.reals, 5.3 + 11.0 * self.reals, 40.0 / self.reals, 0.3)[self.number]

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
                return [self.of(item) for _ in range((3, 4, 2, 1)[self.number])]
            case Cut(ends=ends):
                return slice(*ends)
            case Opaque(name="slice"):
                return slice(0, (1, 3, 1, 1)[self.number])
            case Opaque(name=name) if name in GENERATORS:
                if GENERATORS[name] is np.random.RandomState:
                    return np.random.RandomState(self.number)
                return np.random.default_rng(self.number)
        raise TypeError(kind)

    def filled(self, dtype: str, shape: tuple[int, ...]) -> Any:
        count = math.prod(shape)
        if count > _LARGEST:
            raise ValueError("an example would be too large")
        if count > _SMALL:
            return _example_array(self.number, dtype, shape)
        return _small_array(self.number, dtype, shape).copy()


_GOLDEN = 0.6180339887498949
"""The parts after the point of its multiples are all different; those of squares have no order
that would take away from the rank of a matrix."""


def _example_array(number: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """Entries that differ between the sets: all zero, with ties, and without."""
    kind, count = np.dtype(dtype).kind, math.prod(shape)
    if kind == "b":
        pattern = np.ones(count) if number == 0 else np.arange(count) % (2 + number) == 0
    elif kind in "iu":
        pattern = (np.arange(count) + number - 1) % 2 if number else np.zeros(count)
    else:
        turns = np.arange(count) ** 2 * _GOLDEN
        pattern = 0.1 + 0.4 * (turns - np.floor(turns))
        if number == 1:
            pattern = np.round(pattern, 1)
    array = pattern.reshape(shape).astype(dtype)
    if kind in "fc" and len(shape) >= 2 and shape[-1] == shape[-2]:
        array = array + (shape[-1] * np.eye(shape[-1])).astype(dtype)
    return array


_small_array = functools.lru_cache(maxsize=256)(_example_array)


def sampled_type(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Type | None:
    """The type of a call's result, ``Unknown`` where the samples differ; None where none fits."""
    outcomes: list[tuple[Examples, Any]] = []
    elementwise = isinstance(callee, np.ufunc)  # whose sizes are those of its arguments
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(_SETS if elementwise else _SETS + 1):
            if number == _LEAST and not outcomes:
                break
            examples = Examples(number)

            def example(atom: Atom, examples: Examples = examples) -> Any:
                return examples.of(atom.type, atom) if isinstance(atom, Value) else atom.value

            try:
                found = run_example(
                    callee, tuple(map(example, args)), {k: example(a) for k, a in keywords}
                )
            except Exception:
                continue
            outcomes.append((examples, found))
    return _common_type(outcomes) if outcomes else None


def run_example(callee: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if getattr(callee, "__objclass__", None) is np.ndarray:  # a method or attribute of arrays
        args = (np.asarray(args[0]), *args[1:])
        if not callable(callee):
            return callee.__get__(args[0])
    return callee(*args, **keywords)


def _common_type(outcomes: list[tuple[Examples, Any]]) -> Type:
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


def _common_size(sizes: list[tuple[Examples, int]]) -> Size:
    if sum(e.number != _LEAST for e, _ in sizes) < _SETS:
        return None
    if len({size for _, size in sizes}) == 1:
        emptied = [e.emptied for e, _ in sizes]
        if sizes[0][1] == 0 and any(emptied):
            known = set.intersection(*emptied)
            return known.pop() if len(known) == 1 else None
        return sizes[0][1]
    for base in sizes[0][0].sizes:
        drop = sizes[0][0].sizes[base] - sizes[0][1]
        if all(base in e.sizes and max(e.sizes[base] - drop, 0) == size for e, size in sizes):
            return None if type(base) is object else Dim(base, drop)
    return None
