"""Which buffers of a block may be the same memory."""

from __future__ import annotations

from srcad.backends.loops.items import Buffer
from srcad.ir import Value


class Aliases:
    """Answers for the buffers of one block.

    Memory that the block makes is none of what it has had before, though a later iteration may find
    it there.
    """

    def __init__(self) -> None:
        self.start: dict[Buffer, Value | None] = {}
        """The value that a buffer has where the block gets it; None if the block makes it."""
        self.made: dict[Buffer, int] = {}
        """When the block makes a buffer: at which of its operations."""
        self.born: dict[Value, int] = {}
        """When the block makes other values; what is not here is older."""
        self.now = 0

    def touch(self, buffer: Buffer) -> None:
        """Note that the block has to do with a buffer."""
        self.start.setdefault(buffer, buffer.latest)

    def make(self, buffer: Buffer) -> None:
        """Note that the block makes a buffer."""
        self.start[buffer] = None
        self.made[buffer] = self.now

    def may(self, x: Buffer, y: Buffer) -> bool:
        """Whether two buffers may share memory."""
        if x is y:
            return True
        if not x.mask & y.mask:
            return False
        return not (self._is_older(x, y) or self._is_older(y, x))

    def _is_older(self, x: Buffer, y: Buffer) -> bool:
        """Whether ``x`` was there before the block made ``y``."""
        if y not in self.made:
            return False
        if x in self.made:
            return True
        start = self.start.get(x)
        return start is None or self.born.get(start, -1) < self.made[y]
