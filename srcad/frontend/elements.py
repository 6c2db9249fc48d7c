"""What arrays do element by element, in Python: lowered where it is used, like the user's code."""

from typing import Any

import numpy as np

from srcad.runtime import rounds


class Flat:
    """``a.flat``: the elements of an array in C order, which a store writes into the array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __len__(self) -> Any:
        return np.size(self.array)

    def __iter__(self) -> Any:
        return iter(np.ravel(self.array))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        found = self.array.flatten()
        return found if dtype is None else found.astype(dtype)

    def __getitem__(self, index: Any) -> Any:
        """A copy, unlike a slice of the array."""
        array, counted = self.array, np.arange(np.size(self.array))
        if np.ndim(counted[index]) > 0:
            return array.flatten()[index]
        return array[index if np.ndim(array) == 1 else np.unravel_index(index, np.shape(array))]

    def __setitem__(self, index: Any, value: Any) -> None:
        """After the last element of a value that is too short comes its first again."""
        array = self.array
        counted = np.arange(np.size(array))
        picked = counted[index]
        if np.ndim(value) > 0:
            value = np.resize(value, np.size(picked)) if np.ndim(picked) > 0 else np.ravel(value)[0]
        array[index if np.ndim(array) == 1 else np.unravel_index(picked, np.shape(array))] = value


def at(ufunc: Any, a: Any, indices: Any, *values: Any) -> None:
    """``ufunc.at``: round by round, so that no element is written twice in one.

    The values are copied, as NumPy does: they may be of the array that is written.
    """
    places = np.arange(np.size(a)).reshape(np.shape(a))[indices]
    spread = [np.broadcast_to(v, np.shape(places)).flatten() for v in values]
    places = np.reshape(places, -1)
    for chosen in rounds(places):
        here = places[chosen]
        where = here if np.ndim(a) == 1 else np.unravel_index(here, np.shape(a))
        a[where] = ufunc(a[where], *[v[chosen] for v in spread])
