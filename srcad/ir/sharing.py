"""Which results of NumPy calls are views of their arguments, and which indices pick views.

Like the type of a result (``infer``), this is found by running the call on small examples:
whatever shares memory there, in C order, in Fortran order or as a strided view, is a view.  A call
that shares for some layouts only, such as ``reshape``, makes a view *sometimes*.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir.core import Apply, Atom, Literal, Value, make_dict, make_list, make_tuple
from srcad.ir.infer import atom_type, memo_key
from srcad.ir.samples import Examples, run_example
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    Optional,
    TupleType,
    Type,
    Unknown,
)
from srcad.recent import Recent


class Sharing(Enum):
    """Whether a result shares the memory of an argument."""

    NEVER = auto()
    SOMETIMES = auto()
    """It depends on the layout of the argument in memory, or is not known."""
    ALWAYS = auto()


SHAPE = {len, np.shape, np.ndim, np.size}
"""Functions that read the shape of an array, which no write changes."""

READ_ONLY = {np.broadcast_to}
"""What makes arrays that cannot be written, of numbers too."""

OF_MATRICES = (
    runtime.inverse_of_lower, runtime.solve_lower, runtime.solve_upper, runtime.cofactors,
    runtime.lower_times, runtime.upper_times, runtime.lower_of_product, runtime.upper_of_product,
    runtime.cholesky_change, runtime.cholesky_adjoint,
)  # fmt: skip
"""Functions of matrices, each of which makes an array of its own."""

_FRESH = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.matmul, operator.neg, operator.abs, operator.invert, operator.and_,
    operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le,
    operator.gt, operator.ge, operator.eq, operator.ne, np.where, np.dot, np.matmul, np.array,
    np.ndarray.copy, np.concatenate, np.stack, np.tensordot, runtime.own, *OF_MATRICES,
    np.hstack, np.vstack, np.dstack, np.column_stack, np.append, np.insert, np.inner, np.outer,
    np.kron, np.cross, np.convolve, np.correlate, np.interp, np.select, np.choose, np.cov,
    np.linalg.solve, np.linalg.lstsq, np.linalg.cross, np.linalg.tensorsolve,
}  # fmt: skip
"""What makes an array of its own, whether examples can be found for it or not."""

_BY_VALUE = {runtime.unbroadcast, runtime.fitted, runtime.add}
"""What hands on an argument or not, by the values of the others: an example proves nothing."""

_ORDERED = {np.asfortranarray, np.ascontiguousarray, np.require}
_memo: Recent[object, tuple[Sharing, ...]] = Recent(4096)


def holds_arrays(kind: Type) -> bool:
    """Whether values of a type may be arrays or hold some."""
    match kind:
        case Array() | Unknown():
            return True
        case ListType(item=item) | DictType(item=item) | Optional(item=item):
            return holds_arrays(item)
        case TupleType(items=items):
            return any(map(holds_arrays, items))
    return False


def is_basic_index(index: Atom) -> bool:
    """Whether an index of an array surely picks a view (or one element), each element once."""
    if isinstance(index, Literal):
        return _is_basic(index.value)
    return _is_basic_type(index.type)


def picks_once(index: Atom) -> bool:
    """Whether an index surely picks no element of an array several times."""
    kind = atom_type(index)
    return is_basic_index(index) or (isinstance(kind, Array) and kind.dtype == "bool")


def _is_basic(index: object) -> bool:
    match index:
        case bool() | np.bool_():
            return False
        case None | int() | slice() | np.integer():
            return True
        case tuple():
            return all(map(_is_basic, index))
    return index is Ellipsis


def _is_basic_type(kind: Type) -> bool:
    match kind:
        case Number(kind="int") | Opaque(name="slice" | "None" | "ellipsis"):
            return True
        case NumPyScalar(dtype=dtype):
            return np.dtype(dtype).kind in "iu"
        case TupleType(items=items, cls=cls):
            return cls is tuple and all(map(_is_basic_type, items))
    return False


def _shared_by_index(index: Atom) -> Sharing:
    if is_basic_index(index):
        return Sharing.ALWAYS
    return Sharing.SOMETIMES if _may_be_basic(atom_type(index)) else Sharing.NEVER


def _may_be_basic(kind: Type) -> bool:
    """Whether an index of this type may pick a view: its type is not known, or not of all parts."""
    if isinstance(kind, TupleType):
        return kind.cls is tuple and all(map(_may_be_basic, kind.items))
    return _is_basic_type(kind) or isinstance(kind, Unknown)


def sharing(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()
) -> dict[Value, Sharing]:
    """The arguments whose memory the arrays in the result may share."""
    atoms = (*args, *(a for _, a in keywords))
    suspects = [a for a in atoms if isinstance(a, Value) and holds_arrays(a.type)]
    if not suspects:
        return {}
    found = _sharing(callee, args, keywords, atoms)
    pairs = zip(atoms, found, strict=True)
    return {a: s for a, s in pairs if a in suspects and s is not Sharing.NEVER}


def views(op: Apply) -> dict[Value, Sharing]:
    """The arguments of an operation whose memory its result may share."""
    if isinstance(op.result.type, (Number, NumPyScalar)):
        return {}
    return sharing(op.callee, op.args, op.keywords)


def _sharing(
    callee: Callable[..., Any],
    args: tuple[Atom, ...],
    keywords: tuple[tuple[str, Atom], ...],
    atoms: tuple[Atom, ...],
) -> tuple[Sharing, ...]:
    if isinstance(callee, np.ufunc) or (callee in _FRESH and not keywords):
        return (Sharing.NEVER,) * len(atoms)
    if callee is operator.getitem and isinstance(atom_type(args[0]), Array):
        return (_shared_by_index(args[1]), Sharing.NEVER)
    if callee in (make_tuple, make_list, make_dict):
        return (Sharing.ALWAYS,) * len(atoms)
    if callee is operator.getitem and isinstance(atom_type(args[0]), (TupleType, ListType)):
        held = holds_arrays(_picked(atom_type(args[0]), args[1]))
        return (Sharing.ALWAYS if held else Sharing.NEVER, Sharing.NEVER)
    if callee is runtime.copied and isinstance(atom_type(args[0]), (Array, Unknown)):
        return (Sharing.NEVER,)
    if callee in _BY_VALUE:
        return (Sharing.SOMETIMES,) * len(atoms)
    if callee is np.einsum and len(args) > 2:
        return (Sharing.NEVER,) * len(atoms)
    settled = memo_key(callee, atoms, len(args), keywords)
    key = None if settled is None else settled[0]
    known = None if key is None else _memo.get(key)
    if known is not None:
        return known
    runs = [_run_shared(callee, args, keywords, layout) for layout in (_plain, _fortran, _strided)]
    ran = [r for r in runs if r is not None]
    ordered = callee in _ORDERED or any(k in ("order", "copy") for k, _ in keywords)
    if ran:
        found = tuple(_judge([r[k] for r in ran], ordered) for k in range(len(atoms)))
    else:
        found = (Sharing.SOMETIMES,) * len(atoms)
    if key is not None:
        _memo[key] = found
    return found


def views_in_order(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> bool:
    """Whether the result is surely a view of the first argument if that is in C order."""
    seen = _run_shared(callee, args, keywords, _plain)
    return seen is not None and seen[0]


def _picked(kind: Type, index: Atom) -> Type:
    """The type of an item of a container; of the container where it is not known which."""
    if isinstance(kind, TupleType) and isinstance(index, Literal):
        if isinstance(index.value, slice):
            return TupleType(kind.items[index.value])
        if isinstance(index.value, int) and -len(kind.items) <= index.value < len(kind.items):
            return kind.items[index.value]
    return kind


def _judge(seen: list[bool], ordered: bool) -> Sharing:
    if not any(seen):
        return Sharing.NEVER
    return Sharing.ALWAYS if all(seen) and not ordered else Sharing.SOMETIMES


def _plain(array: Any) -> Any:
    return array


def _fortran(array: Any) -> Any:
    return np.asfortranarray(array)


def _strided(array: Any) -> Any:
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array


def _run_shared(
    callee: Callable[..., Any],
    args: tuple[Atom, ...],
    keywords: tuple[tuple[str, Atom], ...],
    layout: Callable[[Any], Any],
) -> list[bool] | None:
    """For each argument whether the result shares its memory; None if the call raises."""
    for number in (0, 1, 2):
        examples = Examples(number)

        def example(atom: Atom, examples: Examples = examples) -> Any:
            if not isinstance(atom, Value):
                return atom.value
            return _lay_out(examples.of(atom.type, atom), layout)

        try:
            given = tuple(map(example, args))
            named = {k: example(a) for k, a in keywords}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                arrays = list(_arrays(run_example(callee, given, named)))
        except Exception:
            continue
        return [
            any(np.shares_memory(x, y) for x in _arrays(source) for y in arrays)
            for source in (*given, *named.values())
        ]
    return None


def _lay_out(obj: Any, layout: Callable[[Any], Any]) -> Any:
    if isinstance(obj, np.ndarray):
        return layout(obj)
    if type(obj) in (list, tuple):
        return type(obj)(_lay_out(o, layout) for o in obj)
    return obj


def _arrays(obj: Any) -> Any:
    if isinstance(obj, np.ndarray):
        yield obj
    elif isinstance(obj, (list, tuple)):
        for part in obj:
            yield from _arrays(part)
    elif isinstance(obj, dict):
        yield from _arrays(list(obj.values()))
