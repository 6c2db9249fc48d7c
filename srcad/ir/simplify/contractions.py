"""Contractions that are something simpler.

np.einsum(",ij->ji", c, x)            |    c * x.T
np.einsum("ik,jk->ij", a, b)          |    a @ b.T
np.einsum("ijk,ijl->kl", a, b)        |    np.tensordot(a, b, ((0, 1), (0, 1)))
np.einsum("il,jk,kl->ij", a, b, c)    |    a @ c.T @ b.T

NumPy's einsum without a path visits every combination of all indices, and does not use BLAS.
"""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING

import numpy as np

from srcad.ir.core import Atom, Literal
from srcad.ir.infer import atom_type
from srcad.ir.types import Size, Type, dims_of

if TYPE_CHECKING:
    from srcad.ir.build import Builder


def simplify_einsum(b: Builder, subscripts: Atom, *operands: Atom) -> Atom | None:
    """Two operands at a time, as products of matrices where they are; numbers go out as factors."""
    if not isinstance(subscripts, Literal) or not isinstance(subscripts.value, str):
        return None
    given, arrow, wanted = subscripts.value.replace(" ", "").partition("->")
    labels = given.split(",")
    if not arrow or "." in given or len(labels) != len(operands):
        return None
    types = [atom_type(x) for x in operands]
    for k, word in enumerate(labels):
        if not word and len(operands) > 1 and dims_of(types[k]) == ():
            rest = ",".join((*labels[:k], *labels[k + 1 :]))
            others = (*operands[:k], *operands[k + 1 :])
            inner = b.apply(np.einsum, Literal(f"{rest}->{wanted}"), *others)
            return b.apply(operator.mul, operands[k], inner)
    match operands:
        case (x,) if len(set(given)) == len(given) and sorted(given) == sorted(wanted):
            if len(dims_of(types[0]) or ()) == len(given):
                return b.apply(np.transpose, x, Literal(tuple(map(given.index, wanted))))
        case (x, y) if _agree(labels, types):
            return _product(b, x, y, labels, wanted)
        case (_, _, _, *_):
            return _pairwise(b, labels, wanted, operands)
    return None


def _agree(labels: list[str], types: list[Type]) -> bool:
    """Whether the sizes of all labels are known to be the same wherever they stand.

    An axis of size 1 is stretched by einsum, and by products of matrices is not.
    """
    sizes: dict[str, Size] = {}
    for word, kind in zip(labels, types, strict=True):
        dims = dims_of(kind)
        if dims is None or len(dims) != len(word) or None in dims or len(set(word)) != len(word):
            return False
        if any(sizes.setdefault(label, n) != n for label, n in zip(word, dims, strict=True)):
            return False
    return True


def _product(b: Builder, x: Atom, y: Atom, labels: list[str], wanted: str) -> Atom | None:
    """A product of two arrays whose common labels are all summed, or are those of a batch."""
    of_x, of_y = labels
    if of_x == of_y == wanted:
        return b.apply(operator.mul, x, y)
    if _comes_second(of_x, of_y, wanted):
        x, y, of_x, of_y = y, x, of_y, of_x
    summed = [label for label in of_x if label in of_y and label not in wanted]
    free = [label for label in of_x + of_y if (label in of_x) != (label in of_y)]
    batch = [label for label in of_x if label in of_y and label in wanted]
    if not summed or any(label not in wanted for label in free):
        return None
    if batch:
        return _batched(b, x, y, [of_x, of_y], wanted, "".join(batch), summed[0])
    found = "".join(free)
    if len(of_x) <= 2 and len(of_y) <= 2 and len(summed) == 1:
        left = x if of_x[-1] == summed[0] else b.apply(np.transpose, x)
        right = y if of_y[0] == summed[0] else b.apply(np.transpose, y)
        product = b.apply(operator.matmul, left, right)
    elif of_x[-1:] == of_y[:1] == summed[0] and len(summed) == 1 and len(of_y) == 2:
        product = b.apply(operator.matmul, x, y)
    else:
        axes = tuple(map(of_x.index, summed)), tuple(map(of_y.index, summed))
        product = b.apply(np.tensordot, x, y, Literal(axes))
    if found == wanted:
        return product
    return b.apply(np.transpose, product, Literal(tuple(map(found.index, wanted))))


def _comes_second(of_x: str, of_y: str, wanted: str) -> bool:
    """Whether `y @ x` needs fewer transposes than `x @ y`."""
    if len(wanted) == 1:
        matrix = max(of_x, of_y, key=len)
        return (matrix == of_x) != (matrix[-1] != wanted)
    return bool(wanted) and wanted[-1] not in of_y


def _batched(
    b: Builder, x: Atom, y: Atom, labels: list[str], wanted: str, batch: str, summed: str
) -> Atom | None:
    """A product of matrices for each element of a batch, whose axes come first."""
    if not all(w.startswith(batch) and len(w) == len(batch) + 2 for w in (*labels, wanted)):
        return None
    of_x, of_y = (w[len(batch) :] for w in labels)
    left = x if of_x[1] == summed else _turned(b, x)
    right = y if of_y[0] == summed else _turned(b, y)
    return b.apply(operator.matmul, left, right)


def _turned(b: Builder, x: Atom) -> Atom:
    return b.apply(np.swapaxes, x, Literal(-1), Literal(-2))


def _pairwise(
    b: Builder, labels: list[str], wanted: str, operands: tuple[Atom, ...]
) -> Atom | None:
    """First the two operands whose product has the fewest axes."""
    best = min(
        itertools.combinations(range(len(labels)), 2),
        key=lambda pair: len(_common_result(labels, wanted, pair)),
    )
    found = _common_result(labels, wanted, best)
    if len(found) > max(map(len, (*labels, wanted))):
        return None  # it would need more memory than any of them
    pair = ",".join(labels[k] for k in best)
    both = b.apply(np.einsum, Literal(f"{pair}->{found}"), *(operands[k] for k in best))
    rest = [k for k in range(len(labels)) if k not in best]
    spec = ",".join((found, *(labels[k] for k in rest)))
    return b.apply(np.einsum, Literal(f"{spec}->{wanted}"), both, *(operands[k] for k in rest))


def _common_result(labels: list[str], wanted: str, pair: tuple[int, int]) -> str:
    """The labels of two operands that the others or the result need, each once.

    What the result starts or ends with stands there already, lest it be transposed.
    """
    others = "".join(w for k, w in enumerate(labels) if k not in pair) + wanted
    kept = dict.fromkeys(labels[pair[0]] + labels[pair[1]])
    found = [label for label in kept if label in others]
    return "".join(sorted(found, key=lambda label: (label in wanted[-1:]) - (label in wanted[:1])))
