"""What is known of sizes: of an array, of the arrays in a tuple, of each array in a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from srcad.analysis.affine import Affine, Sizes


@dataclass(frozen=True, slots=True)
class Several:
    """The items of a tuple."""

    items: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """What is known of every item of a list."""

    item: Known


@dataclass(frozen=True, slots=True)
class Empty:
    """An item of a list that has none."""


Known = Affine | Sizes | Several | Each | Empty | None
"""Of an integer its value, of an array its sizes; None if nothing is known."""


@dataclass(frozen=True, slots=True)
class Check:
    """What has to hold: ``left == right``, or ``left >= right``."""

    left: Affine
    same: bool
    right: Affine


def join(one: Known, other: Known, same: Callable[[Affine, Affine], bool]) -> Known:
    """What is known of a value that is one of two."""
    match one, other:
        case (Empty(), known) | (known, Empty()):
            return known
        case (Affine(), Affine()):
            return one if same(one, other) else None
        case (Several(items=x), Several(items=y)) if len(x) == len(y):
            return Several(tuple(join(a, b, same) for a, b in zip(x, y, strict=True)))
        case (Each(item=x), Each(item=y)):
            return Each(join(x, y, same))
        case (tuple(), tuple()) if len(one) == len(other):
            made = [join(a, b, same) for a, b in zip(one, other, strict=True)]
            return None if None in made else tuple(k for k in made if isinstance(k, Affine))
    return one if one == other else None


def shape_of(known: Known) -> Sizes | None:
    """Integers in a tuple as the sizes of an array; one integer as the only size."""
    if isinstance(known, Affine):
        return (known,)
    if isinstance(known, Several) and all(isinstance(k, Affine) for k in known.items):
        return tuple(k for k in known.items if isinstance(k, Affine))
    return None
