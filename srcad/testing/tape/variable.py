"""`Variable`: the handle on a node of the tape."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcad.testing.tape import graph
from srcad.testing.tracing.core import Unsupported
from srcad.testing.tracing.handle import Handle, plain, unwrap


class Variable(Handle):
    """A number or an array whose history is known."""

    __slots__ = ()

    def __init__(self, data: Any) -> None:
        """A leaf, of a copy of the data."""
        data = unwrap(data)
        super().__init__(graph.leaf(data.copy() if isinstance(data, np.ndarray) else data))

    @classmethod
    def on(cls, node: graph.Node) -> Variable:
        """A handle on an existing node."""
        variable = object.__new__(cls)
        Handle.__init__(variable, node)
        return variable

    def _node(self) -> graph.Node:
        node = self.content
        if not isinstance(node, graph.Node):
            raise Unsupported("this memory holds no variable")
        return node

    @property
    def data(self) -> Any:
        """The plain value."""
        return plain(self)

    @property
    def creator(self) -> graph.Function | None:
        """The function that made it; None for a leaf."""
        return self._node().creator

    @property
    def generation(self) -> int:
        """The length of the longest chain of functions behind it."""
        return self._node().generation

    @property
    def grad(self) -> Any:
        """What `backward` has left here: plain data, or a Variable if it made a graph."""
        return self._node().grad

    @grad.setter
    def grad(self, value: Any) -> None:
        self._node().grad = value

    def retain_grad(self) -> None:
        """Keep the gradient of this value also, though it is no leaf."""
        self._node().retained = True

    def backward(self, seed: Any = None, create_graph: bool = False) -> None:
        """Add the gradient of this value to `grad` of the leaves it depends on."""
        graph.backward(self, seed, create_graph)

    def __setitem__(self, index: Any, value: Any) -> None:
        root = self._storage.content
        if isinstance(root, graph.Node) and root.creator is None:
            raise Unsupported("a leaf can not be written in place: its gradient would be lost")
        super().__setitem__(index, value)
