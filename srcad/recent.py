"""A memory that does not grow for ever."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """A dict of at most so many entries: where one more comes, the oldest quarter goes.

    Threads may share it.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.most and key not in self:
            for old in list(self)[: -(-self.most // 4)]:
                self.pop(old, None)
        super().__setitem__(key, value)
