"""Classes of the standard library that are written in C, as Python that can be differentiated.

Calling one of them in a differentiated function makes an instance of its stand-in here, which is
lowered like a class of the user's: its list or dict is what the generated code works on.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


class Deque:
    """``collections.deque``: a list that loses items at one end when it is full."""

    def __init__(self, iterable: Iterable[Any] = (), maxlen: int | None = None) -> None:
        self.maxlen = maxlen
        self._held: list[Any] = []
        for x in iterable:
            self.append(x)

    def append(self, x: Any) -> None:
        if self.maxlen != 0:
            if self.maxlen is not None and len(self._held) >= self.maxlen:
                self._held.pop(0)
            self._held.append(x)

    def appendleft(self, x: Any) -> None:
        if self.maxlen != 0:
            if self.maxlen is not None and len(self._held) >= self.maxlen:
                self._held.pop()
            self._held.insert(0, x)

    def extend(self, iterable: Iterable[Any]) -> None:
        for x in list(iterable):
            self.append(x)

    def extendleft(self, iterable: Iterable[Any]) -> None:
        for x in list(iterable):
            self.appendleft(x)

    def pop(self) -> Any:
        return self._held.pop()

    def popleft(self) -> Any:
        return self._held.pop(0)

    def rotate(self, n: int = 1) -> None:
        for _ in range(n):
            self._held.insert(0, self._held.pop())
        for _ in range(-n):
            self._held.append(self._held.pop(0))

    def reverse(self) -> None:
        self._held.reverse()

    def clear(self) -> None:
        self._held.clear()

    def insert(self, i: int, x: Any) -> None:
        if self.maxlen is not None and len(self._held) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self._held.insert(i, x)

    def remove(self, value: Any) -> None:
        self._held.remove(value)

    def index(self, x: Any) -> int:
        return self._held.index(x)

    def count(self, x: Any) -> int:
        return self._held.count(x)

    def copy(self) -> Any:
        return collections.deque(self._held, self.maxlen)

    def __copy__(self) -> Any:
        return self.copy()

    def __add__(self, value: Any) -> Any:
        return collections.deque(self._held + list(value), self.maxlen)

    def __iadd__(self, value: Any) -> Any:
        self.extend(value)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, collections.deque) and self._held == list(other)

    def __len__(self) -> int:
        return len(self._held)

    def __delitem__(self, index: int) -> None:
        del self._held[index]

    def __getitem__(self, index: int) -> Any:
        return self._held[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self._held[index] = value

    def __contains__(self, x: Any) -> bool:
        return x in self._held

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """To NumPy it is a sequence like others."""
        return np.array(self._held, dtype)

    def __reversed__(self) -> Any:
        return reversed(self._held)


class Held:
    """What classes of dicts have in common."""

    _held: dict[Any, Any]

    def __getitem__(self, key: Any) -> Any:
        return self._held[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._held[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._held[key]

    def get(self, key: Any, default: Any = None) -> Any:
        return self._held.get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self._held.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self._held.pop(key, *default)

    def popitem(self) -> Any:
        return self._held.popitem()

    def update(self, *more: Any, **given: Any) -> None:
        self._held.update(*more, **given)

    def keys(self) -> Any:
        return self._held.keys()

    def values(self) -> Any:
        return self._held.values()

    def items(self) -> Any:
        return self._held.items()

    def clear(self) -> None:
        self._held.clear()

    def copy(self) -> Any:
        raise NotImplementedError

    def __copy__(self) -> Any:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and self._held == dict(other.items())

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: Any) -> bool:
        return key in self._held

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held)


class DefaultDict(Held):
    """``collections.defaultdict``: a dict that makes what it is asked for and has not."""

    def __init__(self, default_factory: Callable[[], Any] | None = None, *more: Any, **given: Any):
        self.default_factory = default_factory
        self._held = dict(*more, **given)

    def __getitem__(self, key: Any) -> Any:
        if self.default_factory is not None and key not in self._held:
            self._held.setdefault(key, self.default_factory())
        return self._held[key]

    def copy(self) -> Any:
        return collections.defaultdict(self.default_factory, self._held)


class OrderedDict(Held):
    """``collections.OrderedDict``: a dict whose entries can change their places."""

    def __init__(self, *more: Any, **given: Any):
        self._held = dict(*more, **given)

    def move_to_end(self, key: Any, last: bool = True) -> None:
        value = self._held.pop(key)
        if last:
            self._held[key] = value
        else:
            others = dict(self._held)
            self._held.clear()
            self._held[key] = value
            self._held.update(others)

    def popitem(self, last: bool = True) -> Any:
        key = list(self._held)[-1 if last else 0]
        return key, self._held.pop(key)

    def copy(self) -> Any:
        return collections.OrderedDict(self._held)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, collections.OrderedDict):
            return list(self._held) == list(other) and self._held == dict(other.items())
        return self._held == other

    def __reversed__(self) -> Any:
        return reversed(list(self._held))


class Counter(Held):
    """``collections.Counter``: a dict of numbers, 0 for what it has not."""

    def __init__(self, *more: Any, **given: Any):
        self._held = {}
        self.update(*more, **given)

    def __getitem__(self, key: Any) -> Any:
        return self._held.get(key, 0)

    def __delitem__(self, key: Any) -> None:
        self._held.pop(key, None)

    def update(self, *more: Any, **given: Any) -> None:
        for key, number in _counted(*more, **given):
            self._held[key] = self._held.get(key, 0) + number

    def subtract(self, *more: Any, **given: Any) -> None:
        for key, number in _counted(*more, **given):
            self._held[key] = self._held.get(key, 0) - number

    def most_common(self, n: int | None = None) -> Any:
        found = sorted(self._held.items(), key=lambda item: item[1], reverse=True)
        return found if n is None else found[:n]

    def total(self) -> Any:
        return sum(self._held.values())

    def elements(self) -> Any:
        return [key for key, number in self._held.items() for _ in range(number)]

    def copy(self) -> Any:
        return collections.Counter(dict(self._held))


def _counted(what: Any = (), **given: Any) -> list[Any]:
    """What a Counter adds, and how many of it."""
    pairs: list[Any] = []
    if isinstance(what, dict):
        pairs.extend(what.items())
    else:
        for key in what:
            pairs.append((key, 1))
    pairs.extend(given.items())
    return pairs


STAND_INS: dict[type, type] = {
    collections.deque: Deque,
    collections.defaultdict: DefaultDict,
    collections.OrderedDict: OrderedDict,
    collections.Counter: Counter,
}
"""By the class of the standard library; what an instance holds is its ``_held``."""
STANDS_FOR = {made: cls for cls, made in STAND_INS.items()}
