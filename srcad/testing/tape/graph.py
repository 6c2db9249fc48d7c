"""Nodes, the functions that made them, and the sweep back.

A node knows the function that created it; a function knows the nodes it read, and its result only
weakly, so a graph has no cycle and is freed as soon as nobody holds its end. The generation of a
function is the highest of its inputs, that of its result is one more; going back by descending
generation meets every use of a value before its definition.
"""

from __future__ import annotations

import heapq
import itertools
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from srcad.testing.tracing.core import (
    Primitive,
    Traced,
    Unsupported,
    bind,
    current_level,
    is_complex,
    is_inexact,
    lowered,
    raw,
)
from srcad.testing.tracing.elementwise import CAST
from srcad.testing.tracing.handle import plain, unwrap, wrap

_recording: ContextVar[bool] = ContextVar("srcad_testing_recording", default=True)


@contextmanager
def no_grad() -> Iterator[None]:
    """Nothing is recorded inside."""
    token = _recording.set(False)
    try:
        yield
    finally:
        _recording.reset(token)


class Node(Traced):
    """A value on the tape."""

    __slots__ = ("creator", "generation", "grad", "retained")

    creator: Function | None
    generation: int
    grad: Any
    retained: bool

    def __init__(self, value: Any, level: int, creator: Function | None = None) -> None:
        super().__init__(value, level)
        self.creator = creator
        self.generation = 0 if creator is None else creator.generation + 1
        self.grad = None
        self.retained = creator is None

    def process(self, primitive: Primitive, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        value = bind(primitive, *(lowered(x, self.level) for x in inputs), **params)
        if not _recording.get() or not is_inexact(raw(value)):
            return value
        function = Function(primitive, inputs, params, self.level)
        node = Node(value, self.level, function)
        function.output = weakref.ref(node)
        return node

    def handle(self) -> Any:
        from srcad.testing.tape.variable import Variable

        return Variable.on(self)


class Function:
    """One application of a primitive."""

    __slots__ = ("generation", "inputs", "level", "output", "params", "primitive")

    def __init__(
        self, primitive: Primitive, inputs: Sequence[Any], params: dict[str, Any], level: int
    ) -> None:
        self.primitive = primitive
        self.inputs = tuple(inputs)
        self.params = params
        self.level = level
        self.output: weakref.ref[Node] | None = None
        self.generation = max(x.generation for x in self._nodes())

    def _nodes(self) -> list[Node]:
        return [x for x in self.inputs if isinstance(x, Node) and x.level == self.level]

    def backward(self, ct: Any, create_graph: bool) -> Iterator[tuple[Node, Any]]:
        """The cotangents of the nodes that were read.

        With `create_graph` they are on the tape themselves.
        """
        seen = self.inputs if create_graph else [lowered(x, self.level) for x in self.inputs]
        operands = [wrap(x) for x in seen]
        for k, node in enumerate(self.inputs):
            if isinstance(node, Node) and node.level == self.level:
                part = self.primitive.vjp(wrap(ct), operands, k, **self.params)
                yield node, unwrap(match(part, raw(node)))


def match(ct: Any, like: Any) -> Any:
    """A cotangent as its value has it: not broadcast, and real if the value is."""
    shape = np.shape(like)
    if np.shape(ct) != shape:
        extra = max(np.ndim(ct) - len(shape), 0)
        stretched = tuple(
            k
            for k, n in enumerate((1,) * extra + shape)
            if n == 1 and k < np.ndim(ct) and np.shape(ct)[k] != 1
        )
        axes = tuple(dict.fromkeys((*range(extra), *stretched)))
        if axes:
            kept = [1 if k in axes else n for k, n in enumerate(np.shape(ct))]
            ct = np.reshape(np.sum(ct, axis=axes), kept[extra:])
        if np.shape(ct) != shape:
            ct = np.broadcast_to(ct, shape)
    if is_complex(plain(ct)) and not is_complex(like):
        ct = np.real(ct)
    return ct


def backward(
    root: Any,
    seed: Any = None,
    create_graph: bool = False,
) -> None:
    """Add the gradient of `root`, weighted with `seed`, to `grad` of leaves and retained nodes."""
    node = unwrap(root)
    if not isinstance(node, Node):
        raise Unsupported("backward() of a value that depends on no variable")
    for reached, ct in _sweep(node, seed, create_graph):
        if reached.retained:
            ct = _as_leaf(ct, raw(reached))
            total = wrap(ct) if reached.grad is None else reached.grad + wrap(ct)
            reached.grad = total


def gradients(root: Any, seed: Any, leaves: Sequence[Any], create_graph: bool = False) -> list[Any]:
    """The gradients of `root` in some variables, or None, without touching their `grad`."""
    wanted = [unwrap(x) for x in leaves]
    found: dict[int, Any] = {}
    node = unwrap(root)
    if isinstance(node, Node):
        known = {id(x) for x in wanted}
        for reached, ct in _sweep(node, seed, create_graph):
            if id(reached) in known:
                found[id(reached)] = wrap(_as_leaf(ct, raw(reached)))
    return [found.get(id(x)) for x in wanted]


def _as_leaf(ct: Any, like: Any) -> Any:
    """The kind of number or array that the leaf is."""
    if isinstance(like, np.ndarray):
        if not isinstance(raw(ct), np.ndarray):
            if not isinstance(ct, Traced):
                return np.full(np.shape(like), ct, like.dtype)
            ct = unwrap(np.reshape(wrap(ct), np.shape(like)))
        return ct if raw(ct).dtype == like.dtype else bind(CAST, ct, to=like.dtype)
    to: Any = type(like) if isinstance(like, (float, complex)) else None
    if isinstance(like, np.generic):
        to = like.dtype
    return ct if to is None or type(raw(ct)) is type(like) else bind(CAST, ct, to=to)


def _sweep(root: Node, seed: Any, create_graph: bool) -> Iterator[tuple[Node, Any]]:
    """Every node the root depends on, with its complete cotangent, by descending generation."""
    if seed is None:
        if np.size(raw(root)) != 1:
            raise ValueError("a seed is needed for an output that is not one number")
        seed = np.ones(np.shape(raw(root)))[()]
    # Without a graph the formulas see values of the level below, where an outer derivative may
    # still record.
    order = itertools.count()
    cotangents: dict[int, Any] = {id(root): unwrap(match(seed, raw(root)))}
    queue: list[tuple[int, int, Node]] = [(-root.generation, next(order), root)]
    while queue:
        node = heapq.heappop(queue)[2]
        ct = cotangents.pop(id(node))
        yield node, ct
        if node.creator is None:
            continue
        for source, part in node.creator.backward(ct, create_graph):
            if id(source) in cotangents:
                cotangents[id(source)] = unwrap(wrap(cotangents[id(source)]) + wrap(part))
            else:
                cotangents[id(source)] = part
                heapq.heappush(queue, (-source.generation, next(order), source))


def leaf(data: Any) -> Node:
    """A node without creator at the level in force."""
    if not is_inexact(raw(data)):
        data = np.asarray(data, dtype=float)[()]
    return Node(data, current_level())
