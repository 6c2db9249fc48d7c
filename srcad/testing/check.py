"""`check_grads`: compare the derivatives of an engine with every independent one that can be had."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcad.testing import dual, trees
from srcad.testing.numeric import complex_step, differences
from srcad.testing.reference import Argnums, pairing, positions, pull_back, pull_back_twice
from srcad.testing.tracing.core import Unsupported, is_complex
from srcad.testing.tracing.handle import plain


class GradientMismatch(AssertionError):
    """A derivative that differs from an independent one."""


class NoOracle(RuntimeError):
    """No independent method could run the function, so nothing was checked."""


@dataclass(slots=True)
class CheckReport:
    """What `check_grads` compared with what."""

    compared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each derivative of the engine, such as `jvp` or `vjp over vjp`: the methods it agrees with."""
    skipped: dict[str, str] = field(default_factory=dict)
    """For each method that could not run: why."""

    def __str__(self) -> str:
        lines = [f"{what}: agrees with {', '.join(by)}" for what, by in self.compared.items()]
        lines += [f"{method} was not compared: {why}" for method, why in self.skipped.items()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Reference:
    """Derivatives by one method: leaf by leaf, with the error each may have."""

    method: str
    leaves: list[Any]
    error: list[Any] | None = None


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    modes: Sequence[str] = ("fwd", "rev"),
    order: int = 1,
    argnums: Argnums = None,
    rtol: float = 1e-10,
    kwargs: dict[str, Any] | None = None,
    *,
    engine: Any = None,
    seed: int = 0,
) -> CheckReport:
    """Check the first and, with `order=2`, the second derivatives of `f` at `args`.

    `jvp` and `vjp` (and `grad`, if the value is one real number) of the engine are compared along fixed random directions
    with dual numbers, the tape, complex steps and extrapolated differences, and with each other by
    duality. `rtol` holds for the exact methods, differences are compared within their own error estimate.

    A difference raises GradientMismatch; if no method can run f, NoOracle. Ints, and whatever else is not a
    float, are not differentiated.
    """
    if order not in (1, 2):
        raise ValueError("order is 1 or 2")
    if not set(modes) <= {"fwd", "rev"} or not modes:
        raise ValueError(f"modes are 'fwd' and 'rev', not {modes!r}")
    if engine is None:
        import srcad as engine  # lazily: the oracle must not need the compiler
    check = _Check(f, args, argnums, dict(kwargs or {}), rtol, engine, seed)
    check.first(modes)
    if order == 2:
        check.second(modes)
    return check.report


class _Check:
    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        argnums: Argnums,
        kwargs: dict[str, Any],
        rtol: float,
        engine: Any,
        seed: int,
    ) -> None:
        self.args = tuple(args)
        self.argnums = positions(argnums, self.args)
        if not self.argnums:
            raise ValueError("no argument has anything to differentiate")
        self.f = _restricted(f, self.args, self.argnums, kwargs)
        self.x = tuple(self.args[k] for k in self.argnums)
        self.rtol = rtol
        self.engine = engine
        self.report = CheckReport()
        rng = np.random.default_rng(seed)
        self.value = self.f(*self.point())
        self.v = tuple(_random(x, rng) for x in self.x)
        self.w = tuple(_random(x, rng) for x in self.x)
        self.ct = _random(self.value, rng)
        self.ct2 = tuple(_random(x, rng, real_static=True) for x in self.x)
        self.out_paths = [p for p, _ in trees.leaves(self.value)]
        if not self.out_paths:
            raise ValueError("the output has nothing to differentiate")

    def point(self) -> tuple[Any, ...]:
        """A fresh copy of the differentiated arguments: f may write to them."""
        return copy.deepcopy(self.x)

    # ---- the engine

    def jvp(self, v: Any) -> Any:
        return self.engine.jvp(self.f, self.point(), copy.deepcopy(v))[1]

    def vjp(self, ct: Any) -> tuple[Any, ...]:
        _, pullback = self.engine.vjp(self.f, *self.point())
        return tuple(pullback(copy.deepcopy(ct)))

    # ---- order 1

    def first(self, modes: Sequence[str]) -> None:
        forward = self._references(
            {
                "dual numbers": lambda: self._confirmed(*dual.jvp(self.f, self.point(), self.v)),
                "complex step": lambda: self._confirmed(*complex_step(self.f, self.point(), self.v)),
                "differences": lambda: differences(self.f, self.point(), self.v),
            }
        )
        backward = self._references(
            {"tape": lambda: self._confirmed(*pull_back(self.f, self.point(), range(len(self.x)), self.ct))}
        )
        if not forward and not backward:
            raise NoOracle("no independent method can run this function:\n" + str(self.report))
        tangent: Any = None
        if "fwd" in modes:
            tangent = self.jvp(self.v)
            self._same_structure("jvp", tangent, self.value)
            self._compare("jvp", tangent, self.out_paths, forward)
            self._paired("jvp", self._pair(self.ct, tangent), self._tape_pairing(backward))
        if "rev" in modes:
            pulled = self.vjp(self.ct)
            self._same_structure("vjp", pulled, self.x)
            self._compare("vjp", pulled, self._paths(), backward)
            mine = self._pair(pulled, self.v)
            pairings = [
                _Reference(
                    r.method,
                    [self._pair(self.ct, r.leaves)],
                    None if r.error is None else [self._pair(_abs(self.ct), r.error)],
                )
                for r in forward
            ]
            self._compare("<vjp, v>", [mine], ["<ct, f'(x) v>"], pairings)
            if tangent is not None:
                own = _Reference("jvp (duality)", [self._pair(self.ct, tangent)])
                self._compare("<vjp, v>", [mine], ["<ct, f'(x) v>"], [own])
            self._gradient()
        if not self.report.compared:
            raise NoOracle("nothing could be compared:\n" + str(self.report))

    def _gradient(self) -> None:
        if trees.children(self.value) is not None or np.shape(self.value) != ():
            return
        if is_complex(self.value):
            return
        by_tape = self._references(
            {"tape": lambda: pull_back(self.f, self.point(), range(len(self.x)), 1.0)[1]}
        )
        many = tuple(range(len(self.x)))
        gradient = self.engine.grad(self.f, argnums=many)(*self.point())
        self._same_structure("grad", gradient, self.x)
        if not by_tape:
            _, pullback = self.engine.vjp(self.f, *self.point())
            by_tape = [_Reference("vjp", _flat(pullback(_one_like(self.value))))]
        self._compare("grad", gradient, self._paths(), by_tape)

    def _tape_pairing(self, backward: list[_Reference]) -> list[_Reference]:
        return [_Reference(r.method, [self._pair(r.leaves, self.v)]) for r in backward]

    def _paired(self, what: str, mine: float, references: list[_Reference]) -> None:
        self._compare(f"<ct, {what}>", [mine], ["<J^T ct, v>"], references)

    # ---- order 2

    def second(self, modes: Sequence[str]) -> None:
        f, jvp, vjp = self.f, self.engine.jvp, self.engine.vjp
        v, ct = self.v, self.ct

        tangent_of = _fixed_arity(len(self.x), lambda *xs: jvp(f, xs, v)[1], jvp, f, v)
        gradient_of = _pullback_of(len(self.x), vjp, f, ct)
        outer: dict[tuple[str, str], Callable[[], Any]] = {
            ("fwd", "fwd"): lambda: jvp(tangent_of, self.point(), self.w)[1],
            ("rev", "fwd"): lambda: vjp(tangent_of, *self.point())[1](copy.deepcopy(ct)),
            ("fwd", "rev"): lambda: jvp(gradient_of, self.point(), self.w)[1],
            ("rev", "rev"): lambda: vjp(gradient_of, *self.point())[1](_as_tuple(self.w)),
        }
        ways = [way for way in outer if set(way) <= set(modes)]

        def dual_tangent(*xs: Any) -> Any:
            return dual.jvp(f, xs, v)[1]

        def tape_gradient(*xs: Any) -> Any:
            return tuple(pull_back(f, xs, range(len(xs)), ct)[1])

        n = range(len(self.x))
        # Each second derivative: its references, and its paths.
        methods: dict[tuple[str, str], dict[str, Callable[[], Any]]] = {
            ("fwd", "fwd"): {
                "dual over dual": lambda: dual.jvp(dual_tangent, self.point(), self.w)[1],
                "differences of dual": lambda: differences(dual_tangent, self.point(), self.w),
            },
            ("rev", "fwd"): {
                "tape over dual": lambda: pull_back(dual_tangent, self.point(), n, ct)[1],
                "dual over tape": lambda: dual.jvp(tape_gradient, self.point(), v)[1],
                "differences of tape": lambda: differences(tape_gradient, self.point(), v),
            },
            ("fwd", "rev"): {
                "dual over tape": lambda: dual.jvp(tape_gradient, self.point(), self.w)[1],
                "differences of tape": lambda: differences(tape_gradient, self.point(), self.w),
            },
            ("rev", "rev"): {
                "tape over tape": lambda: pull_back(tape_gradient, self.point(), n, self.w)[1],
                "tape through its graph": lambda: pull_back_twice(f, self.point(), n, ct, self.w),
                "differences of tape": lambda: differences(tape_gradient, self.point(), self.w),
            },
        }
        names = {"fwd": "jvp", "rev": "vjp"}
        for way in ways:
            references = self._references(methods[way])
            what = f"{names[way[0]]} over {names[way[1]]}"
            if not references:
                raise NoOracle(f"no independent method for {what}:\n{self.report}")
            mine = outer[way]()
            like, paths = (
                (self.value, self.out_paths) if way == ("fwd", "fwd") else (self.x, self._paths())
            )
            self._same_structure(what, mine, like)
            self._compare(what, mine, paths, references)

    # ---- comparing

    def _paths(self) -> list[str]:
        return [
            f"argument {self.argnums[k]}{path}"
            for k, x in enumerate(self.x)
            for path, _ in trees.leaves(x)
        ]

    def _references(self, methods: dict[str, Callable[[], Any]]) -> list[_Reference]:
        found = []
        for method, run in methods.items():
            try:
                with np.errstate(all="ignore"):
                    result = run()
            except Unsupported as reason:
                self.report.skipped[method] = str(reason)
                continue
            if isinstance(result, (list, tuple)) or not hasattr(result, "error"):
                found.append(_Reference(method, _flat(result)))
                continue
            if not any(np.any(np.isfinite(e)) for e in result.error):
                self.report.skipped[method] = "they do not converge"
                continue
            found.append(_Reference(method, result.value, result.error))
        return found

    def _confirmed(self, value: Any, derivative: Any) -> Any:
        """The derivative, if the oracle has computed the value that f itself has."""
        own, other = _flat(self.value), _flat(value)
        if len(own) != len(other) or not all(
            np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-4 if _is_single(a) else 1e-8, equal_nan=True)
            for a, b in zip(own, other, strict=True)
        ):
            raise Unsupported("the lifted function computes another value than the function itself")
        return derivative

    def _pair(self, a: Any, b: Any) -> float:
        pairs = zip(_flat(a), _flat(b), strict=True)
        return float(sum(pairing(x, y) for x, y in pairs))

    def _same_structure(self, what: str, mine: Any, like: Any) -> None:
        for path, got, wanted in _walk(mine, like, ""):
            if not trees.is_leaf(wanted):
                continue
            if got is None or np.shape(got) != np.shape(wanted):
                raise GradientMismatch(
                    f"{what}{path}: has shape {None if got is None else np.shape(got)}, "
                    f"its place has shape {np.shape(wanted)}"
                )
            if np.asarray(got).dtype.kind not in "fc":
                raise GradientMismatch(f"{what}{path}: {got!r} is no float")
            if is_complex(got) and not is_complex(wanted):
                raise GradientMismatch(f"{what}{path}: {got!r} is complex where the place is real")

    def _compare(
        self, what: str, mine: Any, paths: Sequence[str], references: Sequence[_Reference]
    ) -> None:
        got = _flat(mine)
        for reference in references:
            if len(got) != len(reference.leaves):
                raise GradientMismatch(
                    f"{what}: {len(got)} differentiable leaves, {reference.method} has "
                    f"{len(reference.leaves)}"
                )
        for k, value in enumerate(got):
            for reference in references:
                wrong = self._wrong(value, reference, k)
                if wrong is not None:
                    raise GradientMismatch(
                        self._message(what, paths[k], k, wrong, value, references)
                    )
        if references:
            known = self.report.compared.get(what, ())
            fresh = tuple(r.method for r in references if r.method not in known)
            self.report.compared[what] = known + fresh

    def _wrong(self, value: Any, reference: _Reference, k: int) -> tuple[int, ...] | None:
        """The index of the first entry that differs."""
        a, b = np.asarray(value), np.asarray(plain(reference.leaves[k]))
        single = any(
            np.asarray(x).dtype.itemsize * (2 if is_complex(x) else 1) and _is_single(x)
            for x in (*_flat(self.x), *_flat(self.value))
        )
        rtol = max(self.rtol, 2e-4) if single else self.rtol
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(a), np.abs(b))
            finite = size[np.isfinite(size)]
            scale = float(np.max(finite, initial=0.0))
            allowed: Any = rtol * np.maximum(size, scale) + 1e-30
            if reference.error is not None:
                allowed = allowed + 10 * np.asarray(reference.error[k]) + 1e-9 * scale
            same = (np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b))
        if np.all(same):
            return None
        return tuple(int(i) for i in np.argwhere(~same)[0]) if np.ndim(same) else ()

    def _message(
        self,
        what: str,
        path: str,
        k: int,
        index: tuple[int, ...],
        value: Any,
        references: Sequence[_Reference],
    ) -> str:
        entry = f"[{', '.join(map(str, index))}]" if index else ""
        lines = [f"{what} differs in {path or 'the output'}{entry}:"]
        lines.append(f"    {'engine':>24}  {np.asarray(value)[index]!r}")
        for r in references:
            line = f"    {r.method:>24}  {np.asarray(plain(r.leaves[k]))[index]!r}"
            if r.error is not None:
                line += f"  (error about {float(np.asarray(r.error[k])[index]):.1e})"
            lines.append(line)
        return "\n".join(lines)


# ---- directions and structures


def _random(x: Any, rng: np.random.Generator, real_static: bool = False) -> Any:
    """A random direction of the structure of x; where x is not differentiated, zero or None."""
    parts = trees.children(x)
    if parts is not None:
        return trees.rebuilt(x, [_random(p, rng) for _, p in parts])
    if not trees.is_leaf(x):
        return type(x)(0) if isinstance(x, (bool, int, np.integer)) else None
    shape = np.shape(x)
    draw = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    if is_complex(x):
        draw = draw + 1j * rng.uniform(0.5, 1.5, shape)
    kind = np.asarray(x).dtype
    if isinstance(x, np.ndarray):
        return np.asarray(draw, kind)
    return kind.type(draw) if isinstance(x, np.generic) else type(x)(draw)


def _flat(x: Any) -> list[Any]:
    return [plain(leaf) for _, leaf in trees.leaves(x)]


def _abs(x: Any) -> Any:
    return [np.abs(leaf) for leaf in _flat(x)]


def _is_single(x: Any) -> bool:
    return np.asarray(x).dtype in (np.dtype(np.float32), np.dtype(np.complex64))


def _one_like(x: Any) -> Any:
    return np.ones_like(x) if isinstance(x, np.ndarray) else type(x)(1)


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return tuple(copy.deepcopy(x))


def _walk(mine: Any, like: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    parts = trees.children(like)
    if parts is None:
        yield path, mine, like
        return
    own = trees.children(mine)
    if own is None or len(own) != len(parts):
        raise GradientMismatch(
            f"the derivative at {path or 'the top'} is {mine!r}, not like {like!r}"
        )
    for (piece, part), (_, other) in zip(parts, own, strict=True):
        yield from _walk(other, part, path + piece)


def _restricted(
    f: Callable[..., Any], args: tuple[Any, ...], argnums: tuple[int, ...], kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """f as a function of the differentiated arguments only. As little as possible is put around f."""
    if argnums == tuple(range(len(args))):
        return functools.partial(f, **kwargs) if kwargs else f
    lead = next(k for k in range(len(args) + 1) if k in argnums)
    if argnums == tuple(range(lead, len(args))):
        return functools.partial(f, *args[:lead], **kwargs)
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    rest = [k for k in range(lead, len(args)) if k not in argnums]
    last = max(argnums)
    by_name = all(
        k < len(parameters) and parameters[k].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        for k in rest
    )
    if by_name and min(rest) > last:
        named = {parameters[k].name: args[k] for k in rest}
        return functools.partial(f, *args[:lead], **{**named, **kwargs})

    def restricted(*differentiated: Any) -> Any:
        full = list(args)
        for k, x in zip(argnums, differentiated, strict=True):
            full[k] = x
        return f(*full, **kwargs)

    return restricted


def _fixed_arity(n: int, general: Any, jvp: Any, f: Any, v: Any) -> Callable[..., Any]:
    """The derivative in a fixed direction, as a function of n arguments without a star where that is possible."""
    if n == 1:
        return lambda x: jvp(f, (x,), v)[1]
    if n == 2:
        return lambda x, y: jvp(f, (x, y), v)[1]
    if n == 3:
        return lambda x, y, z: jvp(f, (x, y, z), v)[1]
    return general  # type: ignore[no-any-return]


def _pullback_of(n: int, vjp: Any, f: Any, ct: Any) -> Callable[..., Any]:
    """The pullback of a fixed cotangent, as a function of n arguments."""

    def one(x: Any) -> Any:
        _, pullback = vjp(f, x)
        return pullback(ct)

    def two(x: Any, y: Any) -> Any:
        _, pullback = vjp(f, x, y)
        return pullback(ct)

    def three(x: Any, y: Any, z: Any) -> Any:
        _, pullback = vjp(f, x, y, z)
        return pullback(ct)

    def many(*xs: Any) -> Any:
        _, pullback = vjp(f, *xs)
        return pullback(ct)

    known: dict[int, Callable[..., Any]] = {1: one, 2: two, 3: three}
    return known.get(n, many)
