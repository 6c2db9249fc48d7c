"""Views as index arithmetic: where the element of a view is in the array behind it.

v = getitem(u, slice(1, -1))     v[i] is u[i + 1]
w = T(v)                         w[i, j] is v[j, i]
"""

from __future__ import annotations

from dataclasses import dataclass

from srcad.analysis.affine import Affine, Sizes


@dataclass(frozen=True, slots=True)
class Along:
    """An index ``step * i + offset`` of an array, ``i`` being the index along an axis of a view."""

    axis: int | None
    """None: it is the offset for all elements of the view."""
    step: int
    offset: Affine


@dataclass(frozen=True, slots=True)
class Picture:
    """The elements of a view of the given sizes: an index for each axis of the array behind."""

    sizes: Sizes
    indices: tuple[Along, ...]

    def then(self, view: Picture) -> Picture:
        """A view of the view."""
        return Picture(view.sizes, tuple(_composed(index, view) for index in self.indices))


def whole(sizes: Sizes) -> Picture:
    """An array as a view of itself."""
    return Picture(sizes, tuple(Along(k, 1, Affine(0)) for k in range(len(sizes))))


def broadcast(sizes: Sizes, to: Sizes) -> Picture | None:
    """An array of some sizes as if it had others; None if not proven to go."""
    added = len(to) - len(sizes)
    if added < 0:
        return None
    indices = []
    for k, (size, wanted) in enumerate(zip(sizes, to[added:], strict=True)):
        if size == wanted:
            indices.append(Along(k + added, 1, Affine(0)))
        elif size == Affine(1):
            indices.append(Along(None, 0, Affine(0)))
        else:
            return None
    return Picture(to, tuple(indices))


def transposed(sizes: Sizes, order: tuple[int, ...]) -> Picture:
    """Axis ``k`` of the view is axis ``order[k]`` of the array."""
    places = {axis: k for k, axis in enumerate(order)}
    indices = tuple(Along(places[k], 1, Affine(0)) for k in range(len(sizes)))
    return Picture(tuple(sizes[axis] for axis in order), indices)


def _composed(index: Along, view: Picture) -> Along:
    if index.axis is None:
        return index
    inner = view.indices[index.axis]
    offset = inner.offset.times(index.step) + index.offset
    return Along(inner.axis, inner.step * index.step, offset)
