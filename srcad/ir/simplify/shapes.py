"""Shapes, axes and items: what types prove to be there already."""

from __future__ import annotations

import builtins
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad import runtime
from srcad.ir import linear
from srcad.ir.core import (
    Apply,
    Atom,
    Literal,
    Value,
    make_list,
    make_tuple,
)
from srcad.ir.infer import atom_type
from srcad.ir.numbers import number_of
from srcad.ir.simplify.shortcuts import leading_axes, new_axes, total
from srcad.ir.types import (
    Array,
    Dim,
    ListType,
    Number,
    TupleType,
    dims_of,
    dtype_of,
    same_shape,
)

if TYPE_CHECKING:
    from srcad.ir.build import Builder


def simplify_broadcast(b: Builder, x: Atom, shape: Atom) -> Atom | None:
    op = b.recipe(shape)
    if op is not None and op.callee is np.shape:
        kind = atom_type(op.args[0])
        if same_shape(kind, atom_type(x)) and dims_of(kind) is not None:
            return x
    if isinstance(shape, Literal) and dims_of(atom_type(x)) == shape.value:
        return x
    op = b.recipe(x)
    if op is not None and _adds_leading(op):
        # leading axes of size 1 say nothing that the shape does not
        kind = b.typed(np.broadcast_to, (x, shape))
        return b.apply_typed(np.broadcast_to, (op.args[0], shape), kind)
    return None


def _adds_leading(op: Apply) -> bool:
    if op.callee is operator.getitem:
        return leading_axes(op.args[1])
    return op.callee is np.expand_dims and _leads(op.args[0], op.args[1])


def _leads(x: Atom, axes: Atom) -> bool:
    """Whether new axes come before all others."""
    if dims_of(atom_type(x)) == ():
        return True
    if not isinstance(axes, Literal):
        return False
    places = axes.value if isinstance(axes.value, tuple) else (axes.value,)
    return sorted(places) == list(range(len(places)))


def simplify_shape(b: Builder, x: Atom) -> Atom | None:
    dims = dims_of(atom_type(x))
    if dims is not None and all(isinstance(d, int) for d in dims):
        return Literal(dims)
    kind = atom_type(x)
    if isinstance(kind, TupleType) and all(dims_of(k) == () for k in kind.items):
        return Literal((len(kind.items),))  # of numbers
    root = shape_root(b, x)
    return b.apply(np.shape, root) if root is not x else None


def simplify_size(b: Builder, x: Atom) -> Atom | None:
    dims = dims_of(atom_type(x))
    if dims is not None and all(isinstance(d, int) for d in dims):
        return Literal(math.prod(dims))
    root = shape_root(b, x)
    return b.apply(np.size, root) if root is not x else None


_KEEPS_SHAPE = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow),
        *(
            operator.lt,
            operator.le,
            operator.gt,
            operator.ge,
            operator.eq,
            operator.ne,
            operator.abs,
        ),
        *(np.where, runtime.over, runtime.times, runtime.strong, runtime.excess, runtime.evened),
        *(operator.pos, builtins.abs),
    }
)


def shape_root(b: Builder, x: Atom, depth: int = 0) -> Atom:
    """What an elementwise result has its shape from: an argument that surely has it."""
    x = b.standing.get(x, x) if isinstance(x, Value) else x
    op = b.origin(x)
    if op is None or op.keywords:
        return x
    if op.callee in (np.broadcast_to, runtime.unbroadcast):
        source = b.origin(op.args[1])
        return source.args[0] if source is not None and source.callee is np.shape else x
    if op.callee not in _KEEPS_SHAPE and not isinstance(op.callee, np.ufunc):
        return x
    wide = [a for a in op.args if dims_of(atom_type(a)) != ()]
    for arg in wide:
        if not isinstance(arg, Value) or not isinstance(arg.type, Array):
            continue
        if len(wide) == 1 or same_shape(arg.type, atom_type(x)):
            return shape_root(b, arg, depth)
    if not wide or depth >= _DEPTH or not all(isinstance(atom_type(a), Array) for a in wide):
        return x  # of lists, `+` and `*` are something else
    first, *others = (shape_root(b, a, depth + 1) for a in wide)
    return first if all(other is first for other in others) else x


_DEPTH = 5
"""How deep a tree of operands is searched, whose branches may share what they are made of."""


def simplify_expand_dims(b: Builder, x: Atom, axes: Atom) -> Atom | None:
    op = b.recipe(x)
    if op is not None and op.callee is np.broadcast_to:
        return None  # a broadcast may prove not to be needed
    return new_axes(b, x, axes) if b.shorten else None


def simplify_greater(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A small number is not greater than a size that has a name."""
    number, kind = number_of(x), atom_type(y)
    if number is None or not isinstance(kind, Number) or not isinstance(kind.size, Dim):
        return None
    size = linear.of_size(kind.size)
    if size is None or type(number) is not int:
        return None
    return Literal(False) if linear.is_natural(size - linear.constant(number)) else None


def simplify_fitted(b: Builder, x: Atom, n: Atom, axis: Atom) -> Atom | None:
    """What has the length already."""
    places, kind = _places(x, axis), atom_type(n)
    dims = dims_of(atom_type(x))
    if places is None or not dims or not isinstance(kind, Number):
        return None
    size = dims[places[0][0]]
    if size is None:
        return None
    return x if size in (kind.size, number_of(n)) else None


def simplify_equal(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """Sizes that types prove to be the same."""
    one, other = atom_type(x), atom_type(y)
    if not isinstance(one, Number) or not isinstance(other, Number) or one.size is None:
        return None
    # below 0 an integer is not what it is as a size
    named = isinstance(one.size.base, Value) and not one.size.drop
    exact = named or linear.of_size(one.size) != linear.term(one.size)
    return Literal(True) if one.size == other.size and exact else None


def simplify_len(b: Builder, x: Atom) -> Atom | None:
    """The length that an array or list has by the way it is made."""
    dims = dims_of(atom_type(x))
    if dims and isinstance(dims[0], int):
        return Literal(dims[0])
    root = shape_root(b, x)
    if root is not x:
        return b.apply(builtins.len, root)
    op = b.origin(x)
    if op is None or op.keywords:
        return None
    if op.callee in (make_list, make_tuple):
        return Literal(len(op.args))
    if not op.args:
        return None
    first = op.args[0]
    if op.callee is np.ndarray.tolist or op.callee is builtins.list:
        if isinstance(atom_type(first), Array) and dims_of(atom_type(first)):
            return b.apply(builtins.len, first)
    elif op.callee in (np.zeros, np.ones, np.full, np.empty):
        return first if _is_integer(first) else None
    elif op.callee is operator.mul and isinstance(op.result.type, ListType):
        made = b.origin(first)
        if made is not None and made.callee is make_list and len(made.args) == 1:
            return op.args[1]
    return None


def _is_integer(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, Number) and kind.kind == "int"


def simplify_transpose(b: Builder, x: Atom, axes: Atom | None = None) -> Atom | None:
    """By the attribute, where the axes are reversed."""
    known = dims_of(atom_type(x))
    if known is None:
        return None
    rank = len(known)
    if axes is not None and not isinstance(axes, Literal):
        return None
    order = tuple(range(rank))[::-1] if axes is None else axes.value
    return _permuted(b, x, order) if isinstance(order, tuple) else None


def _permuted(b: Builder, x: Atom, order: tuple[int, ...]) -> Atom | None:
    rank = len(order)
    if order == tuple(range(rank)):
        return x
    if order == tuple(range(rank))[::-1] and isinstance(atom_type(x), Array):
        return b.apply(np.ndarray.T, x)
    return None


def simplify_swapaxes(b: Builder, x: Atom, one: Atom, other: Atom) -> Atom | None:
    """Of a matrix the transpose."""
    places = _places(x, one, other)
    if places is None:
        return None
    order = list(range(len(dims_of(atom_type(x)) or ())))
    (p,), (q,) = places
    order[p], order[q] = q, p
    return _permuted(b, x, tuple(order))


def _places(x: Atom, *axes: Atom) -> list[list[int]] | None:
    """Axes that are known, counted from the first one."""
    rank = len(dims_of(atom_type(x)) or ())
    found = []
    for axis in axes:
        if not isinstance(axis, Literal):
            return None
        parts = axis.value if isinstance(axis.value, tuple) else (axis.value,)
        if not all(type(p) is int and -rank <= p < rank for p in parts):
            return None
        found.append([p % rank for p in parts])
    return found


def simplify_reshape(b: Builder, x: Atom, shape: Atom, order: Atom | None = None) -> Atom | None:
    op = b.recipe(shape)
    kind = atom_type(x)
    if (
        op is not None
        and op.callee is np.shape
        and isinstance(kind, Array)
        and kind.dims is not None
    ):
        other = dims_of(atom_type(op.args[0]))
        if other is not None and same_shape(kind, atom_type(op.args[0])):
            return x
    if isinstance(shape, Literal) and shape.value in (-1, (-1,)) and len(dims_of(kind) or ()) == 1:
        return x
    if isinstance(shape, Literal) and shape.value == () and dims_of(kind) == ():
        return x
    made = b.recipe(x)
    if op is not None and op.callee is np.shape and made is not None and made.callee is np.array:
        like = atom_type(op.args[0])
        if len(dims_of(kind) or ()) == len(dims_of(like) or ()) == 1 and isinstance(like, Array):
            # of one axis both: they have the same size
            return b.apply_typed(np.array, made.args, Array(dtype_of(kind), like.dims))
    return None


def simplify_moveaxis(b: Builder, x: Atom, source: Atom, target: Atom) -> Atom | None:
    places = _places(x, source, target)
    if places is None or len(places[0]) != len(places[1]):
        return None
    rank = len(dims_of(atom_type(x)) or ())
    order = [k for k in range(rank) if k not in places[0]]
    for place, axis in sorted(zip(places[1], places[0], strict=True)):
        order.insert(place, axis)
    return _permuted(b, x, tuple(order))


def simplify_transposed(b: Builder, x: Atom) -> Atom | None:
    """The transpose of a transpose, or of a negative."""
    known = dims_of(atom_type(x))
    if known is not None and len(known) < 2:
        return x
    op = b.origin(x)
    if op is not None and op.callee is np.ndarray.T:
        return op.args[0]
    turned = b.negated(x)
    return None if turned is None else b.apply(operator.neg, b.apply(np.ndarray.T, turned))


def plain_index(index: Atom, rank: int | None) -> Atom:
    """An index without what says nothing: an ellipsis that stands for few axes, whole last axes."""
    if not isinstance(index, Literal) or type(index.value) is not tuple or rank is None:
        return index
    parts = index.value
    if not all(p is None or p is Ellipsis or type(p) in (int, slice) for p in parts):
        return index
    left = rank - sum(type(p) in (int, slice) for p in parts)
    dots = [k for k, p in enumerate(parts) if p is Ellipsis]
    if left < 0 or len(dots) > 1 or not parts:
        return index
    if dots and (left < 2 or dots[0] == len(parts) - 1):
        place = dots[0]
        parts = (*parts[:place], *(slice(None),) * left, *parts[place + 1 :])
        dots = []
    while not dots and len(parts) > 1 and type(parts[-1]) is slice and parts[-1] == slice(None):
        parts = parts[:-1]
    if parts == index.value and len(parts) != 1:
        return index
    return Literal(parts if len(parts) != 1 else parts[0])


def simplify_astype(b: Builder, x: Atom, dtype: Atom) -> Atom | None:
    known = dtype_of(atom_type(x))
    if known is not None and isinstance(dtype, Literal):
        try:
            return x if np.dtype(dtype.value).name == known else None
        except TypeError:
            return None
    return None


def simplify_unbroadcast_to(b: Builder, x: Atom, shape: Atom) -> Atom | None:
    op = b.recipe(shape)
    if isinstance(shape, Literal):
        return simplify_unbroadcast(b, x, None, tuple(shape.value))
    if op is not None and op.callee is np.shape:
        return simplify_unbroadcast(b, x, op.args[0], dims_of(atom_type(op.args[0])))
    return None


def simplify_unbroadcast(
    b: Builder, x: Atom, primal: Atom | None, want: tuple[Any, ...] | None
) -> Atom | None:
    """``x`` summed over the axes that types prove to be repeated; None if they do not tell.

    ``want`` are the sizes of ``primal``, or of a known shape.
    """
    have = dims_of(atom_type(x))
    if primal is not None and shape_root(b, x) is shape_root(b, primal):
        return x
    if have is None or want is None:
        return None
    if have == want and None not in want:
        return x
    if want == ():
        return total(b, x)
    extra = len(have) - len(want)
    if extra < 0 or have == ():
        shared = zip(have, want[-len(have) :], strict=True) if have else ()
        if any(h != 1 and (h != w or h is None) for h, w in shared):
            return None
        shape = Literal(want) if primal is None else b.apply(np.shape, primal)
        return b.apply(np.broadcast_to, x, shape)
    pairs = list(enumerate(zip(have[extra:], want, strict=True)))
    stretched = tuple(k for k, (h, w) in pairs if w == 1 and h != 1)
    if any(h != w or h is None for k, (h, w) in pairs if k not in stretched):
        return None
    if extra:
        x = total(b, x, axis=Literal(tuple(range(extra)) if extra > 1 else 0))
    if stretched:
        axes = Literal(stretched if len(stretched) > 1 else stretched[0])
        x = total(b, x, axis=axes, keepdims=Literal(True))
    return x


def _unkept(b: Builder, x: Atom, index: Atom) -> Atom | None:
    """``sum(a, axis=k, keepdims=True)[:, 0]``, of which the index takes the kept axis out again."""
    op = b.recipe(x)
    if op is None or op.callee not in _KEEPING or not isinstance(index, Literal):
        return None
    named = {name: a.value for name, a in op.keywords if isinstance(a, Literal)}
    axis, dims = named.get("axis"), dims_of(atom_type(x))
    if not (len(op.args) == 1 and named == {"axis": axis, "keepdims": True}) or not dims:
        return None
    picks = index.value if isinstance(index.value, tuple) else (index.value,)
    whole = (slice(None),) * (len(picks) - 1)
    if type(axis) is not int or type(picks[-1]) is not int or picks[-1] not in (0, -1):
        return None
    if picks[:-1] != whole or axis % len(dims) != len(picks) - 1:
        return None
    return b.apply(op.callee, op.args[0], axis=Literal(axis))


_KEEPING = {np.sum, np.ndarray.sum, np.mean, np.max, np.min, np.prod}


def simplify_getitem(b: Builder, x: Atom, index: Atom) -> Atom | None:
    """An item of what was just put together; of a negative, the negative of an item."""
    turned = b.negated(x)
    if turned is not None and isinstance(index, Literal):
        return b.apply(operator.neg, b.apply(operator.getitem, turned, index))
    known = dims_of(atom_type(x)) if isinstance(atom_type(x), Array) else None
    plain = plain_index(index, None if known is None else len(known))
    if plain is not index:
        return b.apply(operator.getitem, x, plain)
    unkept = _unkept(b, x, index)
    if unkept is not None:
        return unkept
    op = b.origin(x)
    if op is None or not isinstance(index, Literal) or type(index.value) is not int:
        return None
    if op.callee is builtins.list and isinstance(atom_type(op.args[0]), Array):
        return b.apply(operator.getitem, op.args[0], index)
    if op.callee in (make_tuple, make_list) and -len(op.args) <= index.value < len(op.args):
        return op.args[index.value]
    if (
        op.callee is np.shape
        and index.value == 0
        and len(dims_of(atom_type(op.args[0])) or ()) == 1
    ):
        return b.apply(builtins.len, op.args[0])
    return None
