"""Reference derivatives: reverse by the tape, forward by dual numbers, and both nested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad.testing import dual, trees
from srcad.testing.lifting import lift
from srcad.testing.tape.graph import Node, gradients
from srcad.testing.tracing.core import Unsupported, is_complex, lowered, nested_level
from srcad.testing.tracing.handle import Handle, array, plain, unwrap, wrap

Argnums = int | Sequence[int] | None


def positions(argnums: Argnums, args: Sequence[Any]) -> tuple[int, ...]:
    """The differentiated arguments; by default all that have something to differentiate."""
    if argnums is None:
        return tuple(k for k, x in enumerate(args) if trees.differentiable(x))
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    return tuple(k % len(args) for k in chosen)


def reference_gradients(
    f: Callable[..., Any],
    args: Sequence[Any],
    argnums: Argnums = 0,
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """The gradient of a function with one number as its value, by the tape.

    For one argnum the gradient alone, for several a tuple. Places in a container that are not
    differentiated hold None.
    """
    chosen = positions(argnums, args)
    with nested_level() as level:
        run = _Run(f, args, chosen, kwargs or {}, level)
        value = plain(run.out)
        if not isinstance(value, (int, float, np.number, np.ndarray)) or np.size(value) != 1:
            raise TypeError("reference_gradients needs a function whose value is one number")
        if is_complex(value):
            raise TypeError("reference_gradients needs a function whose value is real")
        found = run.gradients(np.sum(run.out) if np.ndim(value) else run.out)
        parts = [run.filled(k, found) for k in chosen]
    return parts[0] if isinstance(argnums, int) else tuple(parts)


def reference_jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
) -> tuple[Any, Any]:
    """The value of f and its derivative in a direction, by dual numbers."""
    return dual.jvp(f, primals, tangents, kwargs)


def pull_back(
    f: Callable[..., Any],
    args: Sequence[Any],
    argnums: Sequence[int],
    ct: Any,
    kwargs: dict[str, Any] | None = None,
) -> tuple[Any, list[Any]]:
    """The output of f, and the cotangent `ct` of it pulled back to each argument in `argnums`."""
    with nested_level() as level:
        run = _Run(f, args, argnums, kwargs or {}, level)
        pulled = run.gradients(weighted(run.out, ct))
        out = trees.map_all(lambda y: wrap(lowered(unwrap(y), level)), run.out)
    return out, [run.filled(k, pulled) for k in argnums]


def pull_back_twice(
    f: Callable[..., Any], args: Sequence[Any], argnums: Sequence[int], ct: Any, w: Any
) -> list[Any]:
    """The derivative of `<w, pull_back(f, ..., ct)>`, through the graph of the first way back."""
    with nested_level() as level:
        run = _Run(f, args, argnums, {}, level)
        first = run.gradients(weighted(run.out, ct), create_graph=True)
        second = run.gradients(weighted([first[id(h)] for h in run.every], w))
    return [run.filled(k, second) for k in argnums]


class _Run:
    """One call of f, with the chosen arguments on the tape."""

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        argnums: Sequence[int],
        kwargs: dict[str, Any],
        level: int,
    ) -> None:
        self.args = args
        self.starts: dict[int, list[Handle]] = {k: [] for k in argnums}
        moved = []
        for k, x in enumerate(args):
            if k not in self.starts:
                moved.append(trees.prepared(x))
                continue

            def start(leaf: Any, own: list[Handle] = self.starts[k]) -> Any:
                own.append(Handle(Node(_owned(unwrap(leaf)), level)))
                return Handle(own[-1].content)  # another handle: the function may write to it

            moved.append(trees.map_leaves(start, x))
        self.out = lift(f)(*moved, **{k: trees.prepared(v) for k, v in kwargs.items()})

    @property
    def every(self) -> list[Handle]:
        return [h for own in self.starts.values() for h in own]

    def gradients(self, total: Any, create_graph: bool = False) -> dict[int, Any]:
        found = gradients(total, None, self.every, create_graph)
        return {
            id(h): zero_like(plain(h)) if g is None else g
            for h, g in zip(self.every, found, strict=True)
        }

    def filled(self, k: int, found: dict[int, Any]) -> Any:
        return _filled(self.args[k], iter([found[id(h)] for h in self.starts[k]]))


def _owned(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def zero_like(x: Any) -> Any:
    """A zero of the kind that x is."""
    return np.zeros_like(x) if isinstance(x, np.ndarray) else type(x)(0)


def weighted(out: Any, ct: Any) -> Any:
    """`Re <ct, out>`, over the differentiable leaves of the output."""
    values = [y for _, y in trees.leaves(out)]
    weights = [w for _, w in trees.leaves(ct)]
    if len(values) != len(weights):
        raise ValueError("the cotangent has another structure than the output")
    return sum((pairing(w, y) for w, y in zip(weights, values, strict=True)), start=0.0)


def pairing(w: Any, y: Any) -> Any:
    """The bilinear pairing of a cotangent and a tangent: `Re sum(w * y)`."""
    product = np.sum(array(w) * array(y)) if isinstance(y, Handle) else np.sum(np.asarray(w) * y)
    return np.real(product) if is_complex(plain(product)) else product


def _filled(x: Any, new: Any) -> Any:
    parts = trees.children(x)
    if parts is None:
        return next(new) if trees.is_leaf(x) else None
    return trees.rebuilt(x, [_filled(p, new) for _, p in parts])


__all__ = [
    "Argnums",
    "Unsupported",
    "pairing",
    "positions",
    "pull_back",
    "pull_back_twice",
    "reference_gradients",
    "reference_jvp",
    "weighted",
    "zero_like",
]
