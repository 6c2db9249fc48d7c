"""Contractions that are something simpler.

np.einsum(",ij->ji", c, x)     |    c * x.T
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from srcad.ir.core import Atom, Literal
from srcad.ir.infer import atom_type
from srcad.ir.types import dims_of

if TYPE_CHECKING:
    from srcad.ir.build import Builder


def simplify_einsum(b: Builder, subscripts: Atom, *operands: Atom) -> Atom | None:
    """Numbers go out as factors; of one array with its axes in another order it is a transpose."""
    if not isinstance(subscripts, Literal) or not isinstance(subscripts.value, str):
        return None
    given, arrow, wanted = subscripts.value.replace(" ", "").partition("->")
    labels = given.split(",")
    if not arrow or "." in given or len(labels) != len(operands):
        return None
    numbers = [k for k, word in enumerate(labels) if not word]
    if numbers and len(operands) > 1:
        k = numbers[0]
        if dims_of(atom_type(operands[k])) != ():
            return None
        rest = ",".join((*labels[:k], *labels[k + 1 :]))
        others = (*operands[:k], *operands[k + 1 :])
        inner = b.apply(np.einsum, Literal(f"{rest}->{wanted}"), *others)
        return b.apply(operator.mul, operands[k], inner)
    if len(operands) == 1 and len(set(given)) == len(given) and sorted(given) == sorted(wanted):
        rank = len(dims_of(atom_type(operands[0])) or ())
        if rank == len(given):
            return b.apply(np.transpose, operands[0], Literal(tuple(map(given.index, wanted))))
    return None
