"""Rules of matrix and tensor products, by the ranks of their arguments."""

import operator

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import unbroadcast
from srcad.rules.registry import constant, linear, methods, multilinear


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
        to_x2 = np.sum(x1 * ct[..., None], tuple(range(np.ndim(ct))))
        return ct[..., None] * x2, to_x2
    if np.ndim(x1) == 1:
        to_x1 = unbroadcast((x2 @ ct[..., None])[..., 0], np.shape(x1))
        return to_x1, x1[:, None] * ct[..., None, :]
    to_x1 = unbroadcast(ct @ np.swapaxes(x2, -1, -2), np.shape(x1))
    return to_x1, unbroadcast(np.swapaxes(x1, -1, -2) @ ct, np.shape(x2))


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
    rows = list(range(n))
    columns = list(range(n, np.ndim(ct)))
    others = [k for k in range(np.ndim(b)) if k != np.ndim(b) - 2]
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
    rows = list(range(np.ndim(a) - 1))
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
def vecdot(ct, x1, x2):
    ct = ct[..., None]
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
    if isinstance(axes, int):
        of_a = list(range(np.ndim(a) - axes, np.ndim(a)))
        of_b = list(range(axes))
    elif isinstance(axes[0], int):
        of_a = [axes[0] % np.ndim(a)]
        of_b = [axes[1] % np.ndim(b)]
    else:
        of_a = [k % np.ndim(a) for k in axes[0]]
        of_b = [k % np.ndim(b) for k in axes[1]]
    free_a = [k for k in range(np.ndim(a)) if k not in of_a]
    free_b = [k for k in range(np.ndim(b)) if k not in of_b]
    rows = list(range(len(free_a)))
    columns = list(range(len(free_a), np.ndim(ct)))
    # The axes that were summed come out in the order they have in the other factor.
    order_a = free_a + [of_a[k] for k in np.argsort(of_b)]
    order_b = [of_b[k] for k in np.argsort(of_a)] + free_b
    to_a = np.transpose(np.tensordot(ct, b, (columns, free_b)), np.argsort(order_a))
    to_b = np.transpose(np.tensordot(a, ct, (free_a, rows)), np.argsort(order_b))
    return to_a, to_b


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


@multilinear(np.cross, np.linalg.cross, wrt=("a", "b"))
def cross(ct, a, b, axis=-1):
    """Of vectors with three components."""
    to_a = unbroadcast(np.cross(b, ct, axis=axis), np.shape(a))
    return to_a, unbroadcast(np.cross(ct, a, axis=axis), np.shape(b))


# ---- einsum


@constant
def transposed_subscripts(subscripts, k, ranks):
    """The subscripts that give the cotangent of operand `k` from that of the result and the others.

    Also the axes of operand `k` that need an identity matrix (a label it repeats) and those that
    need a vector of ones (a label that nothing else has), in this order after the others.
    """
    spec = subscripts.replace(" ", "")
    letters = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in spec]
    left, arrow, right = spec.partition("->")
    terms = left.split(",")
    named = [len(t.replace("...", "")) for t in terms]
    hidden = [rank - n if "..." in t else 0 for t, rank, n in zip(terms, ranks, named, strict=True)]
    broad = "".join(letters[: max(hidden)])
    letters = letters[max(hidden) :]
    terms = [t.replace("...", broad[len(broad) - n :]) for t, n in zip(terms, hidden, strict=True)]
    if arrow:
        right = right.replace("...", broad)
    else:
        every = "".join(terms)
        right = broad + "".join(sorted({c for c in every if every.count(c) == 1} - {*broad}))
    others = terms[:k] + terms[k + 1 :]
    result = ""
    inputs = [right, *others]
    eyes = []
    ones = []
    pairs = []
    singles = []
    for axis, label in enumerate(terms[k]):
        if label in result:
            fresh = letters.pop(0)
            eyes.append(axis)
            pairs.append(label + fresh)
            result += fresh
        else:
            if label not in "".join(inputs):
                ones.append(axis)
                singles.append(label)
            result += label
    return ",".join(inputs + pairs + singles) + "->" + result, tuple(eyes), tuple(ones)


@constant
def transposed_operands(operands, k, eyes, ones):
    """The operands that `transposed_subscripts` asks for besides the given ones."""
    sizes = np.shape(operands[k])
    kind = np.result_type(*operands)
    return [np.eye(sizes[p], dtype=kind) for p in eyes] + [np.ones(sizes[p], kind) for p in ones]


@multilinear(np.einsum, wrt="operands", sequences=("operands",))
def einsum(ct, subscripts, *operands, optimize=False):
    """With the subscripts as a string."""
    if not isinstance(subscripts, str):
        raise MissingRule(None, "einsum with lists of axes is not supported")
    ranks = tuple(np.ndim(x) for x in operands)
    bars = []
    for k in range(len(operands)):
        spec, eyes, ones = transposed_subscripts(subscripts, k, ranks)
        others = operands[:k] + operands[k + 1 :]
        more = transposed_operands(operands, k, eyes, ones)
        bar = np.einsum(spec, ct, *others, *more, optimize=optimize)
        bars.append(unbroadcast(bar, np.shape(operands[k])))
    return bars
