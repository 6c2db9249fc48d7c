"""Rules of matrix and tensor products, by the ranks of their arguments."""

import operator

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import unbroadcast
from srcad.rules.registry import composition, constant, linear, methods, multilinear
from srcad.runtime import (
    contraction,
    lower_of_product,
    lower_times,
    transposed_subscripts,
    upper_of_product,
    upper_times,
)

constant(contraction, transposed_subscripts)


@multilinear(operator.matmul, np.matmul, np.linalg.matmul, wrt=("x1", "x2"))
def matmul(ct, x1, x2):
    if np.ndim(x1) == 1 and np.ndim(x2) == 1:
        return ct * x2, ct * x1
    if np.ndim(x1) == 2 and np.ndim(x2) == 1:
        return ct[:, None] * x2, ct @ x1
    if np.ndim(x1) == 1 and np.ndim(x2) == 2:
        return x2 @ ct, x1[:, None] * ct
    if np.ndim(x1) == 2 and np.ndim(x2) == 2:
        return ct @ x2.T, x1.T @ ct
    if np.ndim(x2) == 1:
        return ct[..., None] * x2, unbroadcast(x1 * ct[..., None], np.shape(x2))
    if np.ndim(x1) == 1:
        to_x1 = unbroadcast((x2 @ ct[..., None])[..., 0], np.shape(x1))
        return to_x1, x1[:, None] * ct[..., None, :]
    if np.ndim(x2) == 2:
        rows = tuple(range(np.ndim(x1) - 1))
        return ct @ x2.T, np.tensordot(x1, ct, (rows, rows))
    to_x1 = unbroadcast(ct @ np.swapaxes(x2, -1, -2), np.shape(x1))
    return to_x1, unbroadcast(np.swapaxes(x1, -1, -2) @ ct, np.shape(x2))


@multilinear(lower_times, wrt=("x", "y"))
def lower_triangle_times(ct, x, y, k):
    return lower_of_product(ct, y.T, k), upper_times(x.T, ct, -k)


@multilinear(upper_times, wrt=("x", "y"))
def upper_triangle_times(ct, x, y, k):
    return upper_of_product(ct, y.T, k), lower_times(x.T, ct, -k)


@multilinear(lower_of_product, wrt=("x", "y"))
def lower_triangle_of_product(ct, x, y, k):
    return lower_times(ct, y.T, k), upper_times(ct.T, x, -k).T


@multilinear(upper_of_product, wrt=("x", "y"))
def upper_triangle_of_product(ct, x, y, k):
    return upper_times(ct, y.T, k), lower_times(ct.T, x, -k).T


@multilinear(np.dot, *methods("dot"), wrt=("a", "b"))
def dot(ct, a, b):
    if np.ndim(a) == 0 and np.ndim(b) == 0:
        return ct * b, ct * a
    if np.ndim(a) == 0:
        return np.sum(ct * b), ct * a
    if np.ndim(b) == 0:
        return ct * b, np.sum(ct * a)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return ct * b, ct * a
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return ct[:, None] * b, ct @ a
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return b @ ct, a[:, None] * ct
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return ct @ b.T, a.T @ ct
    if np.ndim(b) == 1:
        return ct[..., None] * b, np.tensordot(ct, a, np.ndim(ct))
    n = np.ndim(a) - 1
    rows = tuple(range(n))
    columns = tuple(range(n, np.ndim(ct)))
    others = tuple([k for k in range(np.ndim(b)) if k != np.ndim(b) - 2])
    to_b = np.tensordot(a, ct, (rows, rows))
    return np.tensordot(ct, b, (columns, others)), np.moveaxis(to_b, 0, -2)


@multilinear(np.inner, wrt=("a", "b"))
def inner(ct, a, b):
    if np.ndim(a) == 0 and np.ndim(b) == 0:
        return ct * b, ct * a
    if np.ndim(a) == 0:
        return np.sum(ct * b), ct * a
    if np.ndim(b) == 0:
        return ct * b, np.sum(ct * a)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return ct * b, ct * a
    rows = tuple(range(np.ndim(a) - 1))
    return np.tensordot(ct, b, np.ndim(b) - 1), np.tensordot(ct, a, (rows, rows))


@multilinear(np.outer, np.linalg.outer, wrt=("a", "b"))
def outer(ct, a, b):
    to_a = ct @ np.reshape(b, -1)
    to_b = np.reshape(a, -1) @ ct
    return np.reshape(to_a, np.shape(a)), np.reshape(to_b, np.shape(b))


@multilinear(np.multiply.outer, wrt=("A", "B"))
def multiply_outer(ct, A, B):
    return np.tensordot(ct, B, np.ndim(B)), np.tensordot(A, ct, np.ndim(A))


@linear(np.add.outer, wrt=("A", "B"))
def add_outer(ct, A, B):
    rank = np.ndim(A)
    return np.sum(ct, tuple(range(rank, np.ndim(ct)))), np.sum(ct, tuple(range(rank)))


@linear(np.subtract.outer, wrt=("A", "B"))
def subtract_outer(ct, A, B):
    rank = np.ndim(A)
    return np.sum(ct, tuple(range(rank, np.ndim(ct)))), -np.sum(ct, tuple(range(rank)))


@multilinear(np.vdot, wrt=("a", "b"))
def vdot(ct, a, b):
    to_a = np.reshape(ct * b, np.shape(a))
    to_b = np.reshape(ct * a, np.shape(b))
    if np.iscomplexobj(a):
        return np.conj(to_a), np.reshape(ct * np.conj(a), np.shape(b))
    return to_a, to_b


@multilinear(getattr(np, "vecdot", None), np.linalg.vecdot, wrt=("x1", "x2"))
def vecdot(ct, x1, x2, *, axis=-1):
    """The axis counts from the end, or both arguments have as many."""
    if axis >= 0 and np.ndim(x1) != np.ndim(x2):
        raise MissingRule(None, "vecdot along an axis counted from the start, of unequal ranks")
    ct = np.expand_dims(ct, axis)
    if np.iscomplexobj(x1):
        to_x1 = np.conj(ct * x2)
        return unbroadcast(to_x1, np.shape(x1)), unbroadcast(ct * np.conj(x1), np.shape(x2))
    return unbroadcast(ct * x2, np.shape(x1)), unbroadcast(ct * x1, np.shape(x2))


@multilinear(getattr(np, "matvec", None), wrt=("x1", "x2"))
def matvec(ct, x1, x2):
    to_x1 = unbroadcast(ct[..., :, None] * x2[..., None, :], np.shape(x1))
    return to_x1, unbroadcast(np.sum(ct[..., :, None] * x1, -2), np.shape(x2))


@multilinear(getattr(np, "vecmat", None), wrt=("x1", "x2"))
def vecmat(ct, x1, x2):
    to_x1 = np.sum(ct[..., None, :] * x2, -1)
    to_x2 = ct[..., None, :] * np.conj(x1)[..., :, None]
    return unbroadcast(np.conj(to_x1), np.shape(x1)), unbroadcast(to_x2, np.shape(x2))


@multilinear(np.tensordot, np.linalg.tensordot, wrt=("a", "b"))
def tensordot(ct, a, b, axes=2):
    free_a, free_b, rows, columns, order_a, order_b = contraction(axes, np.ndim(a), np.ndim(b))
    to_a = np.tensordot(ct, b, (columns, free_b))
    to_b = np.tensordot(a, ct, (free_a, rows))
    return np.transpose(to_a, order_a), np.transpose(to_b, order_b)


@multilinear(np.kron, wrt=("a", "b"))
def kron(ct, a, b):
    rank = np.ndim(ct)
    size_a = (1,) * (rank - np.ndim(a)) + np.shape(a)
    size_b = (1,) * (rank - np.ndim(b)) + np.shape(b)
    blocks = np.reshape(ct, [(size_a, size_b)[k % 2][k // 2] for k in range(2 * rank)])
    axes = list(range(rank))
    even = list(range(0, 2 * rank, 2))
    odd = list(range(1, 2 * rank, 2))
    to_a = np.tensordot(blocks, np.reshape(b, size_b), (odd, axes))
    to_b = np.tensordot(blocks, np.reshape(a, size_a), (even, axes))
    return np.reshape(to_a, np.shape(a)), np.reshape(to_b, np.shape(b))


@multilinear(np.linalg.cross, wrt=("x1", "x2"))
def cross(ct, x1, x2, *, axis=-1):
    to_x1 = unbroadcast(np.linalg.cross(x2, ct, axis=axis), np.shape(x1))
    return to_x1, unbroadcast(np.linalg.cross(ct, x1, axis=axis), np.shape(x2))


@composition(np.cross, wrt=("a", "b"))
def cross_along_axes(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Of vectors with three components; `np.linalg.cross` refuses others, which are deprecated."""
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    if axisa == axisb == axisc and np.ndim(a) == np.ndim(b):
        return np.linalg.cross(a, b, axis=axisc)
    product = np.linalg.cross(np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1))
    return product if axisc == -1 else np.moveaxis(product, -1, axisc)


# ---- einsum


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@composition(np.einsum, wrt="operands", sequences=("operands",))
def einsum_of_lists(*operands, optimize=False):
    """With a list of axes after each operand, and one for the result."""
    if isinstance(operands[0], str):
        return NotImplemented
    subscripts = ""
    arrays = []
    for k in range(len(operands) // 2):
        arrays.append(operands[2 * k])
        subscripts = subscripts + ("," if k else "") + labels(operands[2 * k + 1])
    if len(operands) % 2:
        subscripts = subscripts + "->" + labels(operands[-1])
    return np.einsum(subscripts, *arrays, optimize=optimize)


def labels(axes):
    word = ""
    for axis in axes:
        word = word + ("..." if axis is Ellipsis else LETTERS[axis])
    return word


@multilinear(np.einsum, wrt="operands", sequences=("operands",))
def einsum(ct, subscripts, *operands, optimize=False):
    """With the subscripts as a string."""
    if not isinstance(subscripts, str):
        raise MissingRule(None, "einsum with lists of axes is not supported")
    if "..." in subscripts:
        ranks = tuple(np.ndim(x) for x in operands)
    else:
        ranks = (0,) * len(operands)  # no label is hidden
    kind = np.result_type(*operands)
    bars = []
    for k in range(len(operands)):
        spec, eyes, ones = transposed_subscripts(subscripts, k, ranks)
        sizes = np.shape(operands[k])
        others = operands[:k] + operands[k + 1 :]
        more = [np.eye(sizes[p], dtype=kind) for p in eyes]
        more += [np.ones(sizes[p], kind) for p in ones]
        if optimize:
            bar = np.einsum(spec, ct, *others, *more, optimize=optimize)
        else:
            bar = np.einsum(spec, ct, *others, *more)
        bars.append(unbroadcast(bar, sizes))
    return bars
