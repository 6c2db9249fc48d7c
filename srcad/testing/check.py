"""`check_grads`: compare the derivatives of an engine with every independent one there is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad.testing import dual, trees
from srcad.testing.arity import pulled_back, restricted, tangent_along
from srcad.testing.comparison import (
    CheckReport,
    Comparison,
    GradientMismatch,
    NoOracle,
    Reference,
    is_single,
    paired,
    refusal,
    same_structure,
)
from srcad.testing.numeric import Differences, complex_step, differences
from srcad.testing.reference import Argnums, positions, pull_back, pull_back_twice
from srcad.testing.tracing.core import Unsupported, is_complex

Methods = dict[str, Callable[[], Any]]

__all__ = ["CheckReport", "GradientMismatch", "NoOracle", "check_grads", "check_rule"]


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

    `jvp` and `vjp` of the engine, and `grad` if the value is one real number, are compared along
    fixed random directions with dual numbers, the tape, complex steps and extrapolated
    differences, and with each other by duality. `rtol` holds for the exact methods, relative to the
    largest entry of an array; differences are compared within their own error estimate.

    Ints, and whatever else is no float, are not differentiated: their tangent is a zero of their
    own type, or None. The engine, by default srcad, needs `jvp`, `vjp` and `grad` as srcad has
    them.

    A difference raises GradientMismatch; if no independent method can run f, NoOracle.
    """
    if not isinstance(args, (tuple, list)):
        raise TypeError("args holds the arguments of the call: check_grads(f, (x,))")
    if order not in (1, 2):
        raise ValueError("order is 1 or 2")
    if not modes or not set(modes) <= {"fwd", "rev"}:
        raise ValueError(f"modes are 'fwd' and 'rev', not {modes!r}")
    chosen = positions(argnums, args)
    if not chosen:
        raise ValueError("no argument has anything to differentiate")
    if engine is None:
        import srcad as engine  # only now: the oracles must not need the compiler
    check = _Check(f, tuple(args), chosen, dict(kwargs or {}), rtol, engine, seed)
    check.first(modes)
    if order == 2:
        check.second(modes)
    return check.report


def check_rule(
    function: Callable[..., Any],
    *args: Any,
    argnums: Argnums = None,
    rtol: float = 1e-9,
    seed: int = 0,
    **kwargs: Any,
) -> CheckReport:
    """Check the derivative of `function` at `args`, and the derivative of that.

    `args` and `kwargs` are those of a call; numbers and arrays of floats or complex numbers among
    `args`, of any shapes, are differentiated, or those at `argnums`. The first order is that of
    `check_grads`. At the second, `jvp` and `vjp` of the derivative in a fixed direction are
    compared with its differences, and with each other by duality (Griewank and Walther, Evaluating
    Derivatives, 2nd ed., section 3.2).

        srcad.testing.check_rule(np.hypot, 3.0, np.array([4.0, 0.5]))

    Raises GradientMismatch where two differ by more than `rtol` of the largest entry, or by more
    than differences may be wrong; MissingRule if nothing is known of the function.
    """
    import srcad

    chosen = positions(argnums, args)
    check = _Check(function, args, chosen, kwargs, rtol, srcad, seed)
    check.first(("fwd", "rev"))
    tangent = tangent_along(len(check.x), srcad.jvp, check.f, check.v)
    again = _Check(tangent, check.x, tuple(range(len(check.x))), {}, rtol, srcad, seed + 1)
    again.first(("fwd", "rev"), traced=False)
    second = {f"{what} of that": by for what, by in again.report.compared.items()}
    return CheckReport({**check.report.compared, **second}, check.report.skipped)


class _Check:
    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        argnums: tuple[int, ...],
        kwargs: dict[str, Any],
        rtol: float,
        engine: Any,
        seed: int,
    ) -> None:
        self.f = restricted(f, args, argnums, kwargs)
        self.x = tuple(args[k] for k in argnums)
        self.engine = engine
        self.report = CheckReport()
        rng = np.random.default_rng(seed)
        self.value = self.f(*self.point())
        self.v = tuple(_direction(x, rng) for x in self.x)
        self.w = tuple(_direction(x, rng) for x in self.x)
        self.ct = _direction(self.value, rng)
        self.in_paths = [
            f"argument {k}{path}"
            for k, x in zip(argnums, self.x, strict=True)
            for path, _ in trees.leaves(x)
        ]
        self.out_paths = [path for path, _ in trees.leaves(self.value)]
        if not self.out_paths:
            raise ValueError("the output has nothing to differentiate")
        numbers = [*trees.leaves(self.x), *trees.leaves(self.value)]
        self.rtol = max(rtol, 2e-4) if any(is_single(x) for _, x in numbers) else rtol

    def point(self) -> tuple[Any, ...]:
        """A fresh copy of the differentiated arguments: f may write to them."""
        return copy.deepcopy(self.x)

    # ---- order 1

    def first(self, modes: Sequence[str], *, traced: bool = True) -> None:
        """Both modes; `traced` if the oracles may run the function with numbers of their own."""
        f, n = self.f, range(len(self.x))
        ahead: Methods = {"differences": lambda: differences(f, self.point(), self.v)}
        back: Methods = {}
        if traced:
            ahead = {
                "dual numbers": lambda: self._confirmed(*dual.jvp(f, self.point(), self.v)),
                "complex step": lambda: self._confirmed(*complex_step(f, self.point(), self.v)),
                **ahead,
            }
            back = {"tape": lambda: self._confirmed(*pull_back(f, self.point(), n, self.ct))}
        forward = self._references(ahead, self.value)
        backward = self._references(back, self.x)
        if not forward and not backward:
            raise NoOracle(f"no independent method can run this function:\n{self.report}")
        ct, v = trees.selected(self.ct, self.value), trees.selected(self.v, self.x)
        by_pairing = [
            *(_paired_reference(r, ct) for r in forward),
            *(_paired_reference(r, v) for r in backward),
        ]
        if "fwd" in modes:
            tangent = self.engine.jvp(f, self.point(), copy.deepcopy(self.v))[1]
            mine = self._compare("jvp", tangent, self.value, forward)
            self._compare_pairings("<ct, jvp>", mine, ct, by_pairing)
            by_pairing.append(Reference("jvp, by duality", [paired(mine, ct)[0]]))
        if "rev" in modes:
            _, pullback = self.engine.vjp(f, *self.point())
            pulled = tuple(pullback(copy.deepcopy(self.ct)))
            mine = self._compare("vjp", pulled, self.x, backward)
            self._compare_pairings("<vjp, v>", mine, v, by_pairing)
            if traced:
                self._gradient()

    def _gradient(self) -> None:
        """`grad`, of a function whose value is one real number."""
        y = self.value
        if trees.children(y) is not None or np.shape(y) != () or is_complex(y):
            return
        n = range(len(self.x))
        references = self._references(
            {"tape": lambda: self._confirmed(*pull_back(self.f, self.point(), n, 1.0))}, self.x
        )
        if not references:
            _, pullback = self.engine.vjp(self.f, *self.point())
            one = np.ones_like(y) if isinstance(y, np.ndarray) else type(y)(1)
            references = [Reference("vjp", trees.selected(tuple(pullback(one)), self.x))]
        gradient = self.engine.grad(self.f, argnums=tuple(n))(*self.point())
        self._compare("grad", gradient, self.x, references)

    # ---- order 2

    def second(self, modes: Sequence[str]) -> None:
        f, v, w, ct = self.f, self.v, self.w, self.ct
        jvp, vjp, n = self.engine.jvp, self.engine.vjp, range(len(self.x))
        tangent = tangent_along(len(self.x), jvp, f, v)
        pulled = pulled_back(len(self.x), vjp, f, ct)
        engine: dict[tuple[str, str], Callable[[], Any]] = {
            ("fwd", "fwd"): lambda: jvp(tangent, self.point(), copy.deepcopy(w))[1],
            ("rev", "fwd"): lambda: tuple(vjp(tangent, *self.point())[1](copy.deepcopy(ct))),
            ("fwd", "rev"): lambda: jvp(pulled, self.point(), copy.deepcopy(w))[1],
            ("rev", "rev"): lambda: tuple(vjp(pulled, *self.point())[1](copy.deepcopy(w))),
        }

        def by_dual(*xs: Any) -> Any:
            return dual.jvp(f, xs, v)[1]

        def by_tape(*xs: Any) -> Any:
            return tuple(pull_back(f, xs, n, ct)[1])

        # The Hessian of <ct, f> is symmetric, so it is had in several ways along each direction.
        methods: dict[tuple[str, str], Methods] = {
            ("fwd", "fwd"): {
                "dual over dual": lambda: dual.jvp(by_dual, self.point(), w)[1],
                "differences of dual": lambda: differences(by_dual, self.point(), w),
            },
            ("rev", "fwd"): {
                "tape over dual": lambda: pull_back(by_dual, self.point(), n, ct)[1],
                "dual over tape": lambda: dual.jvp(by_tape, self.point(), v)[1],
                "differences of tape": lambda: differences(by_tape, self.point(), v),
            },
            ("fwd", "rev"): {
                "dual over tape": lambda: dual.jvp(by_tape, self.point(), w)[1],
                "differences of tape": lambda: differences(by_tape, self.point(), w),
            },
            ("rev", "rev"): {
                "tape over tape": lambda: pull_back(by_tape, self.point(), n, w)[1],
                "tape through its graph": lambda: pull_back_twice(f, self.point(), n, ct, w),
                "differences of tape": lambda: differences(by_tape, self.point(), w),
            },
        }
        names = {"fwd": "jvp", "rev": "vjp"}
        for way in (way for way in engine if set(way) <= set(modes)):
            what = f"{names[way[0]]} over {names[way[1]]}"
            like = self.value if way == ("fwd", "fwd") else self.x
            references = self._references(methods[way], like)
            if not references:
                raise NoOracle(f"no independent method for {what}:\n{self.report}")
            self._compare(what, engine[way](), like, references)

    # ---- references and comparisons

    def _references(self, methods: Methods, like: Any) -> list[Reference]:
        """What the methods give that can run; the others go to the report."""
        found = []
        for method, run in methods.items():
            try:
                with np.errstate(all="ignore"):
                    result = run()
            except Exception as error:
                reason = refusal(error)
                if reason is None:
                    raise
                self.report.skipped[method] = str(reason)
                continue
            if not isinstance(result, Differences):
                found.append(Reference(method, trees.selected(result, like)))
            elif any(np.any(np.isfinite(e)) for e in result.error):
                found.append(Reference(method, result.value, result.error))
            else:
                self.report.skipped[method] = "they do not converge"
        return found

    def _confirmed(self, value: Any, derivative: Any) -> Any:
        """The derivative, if the oracle has computed the value that f itself has."""
        own, other = trees.selected(self.value, self.value), trees.selected(value, self.value)
        for a, b in zip(own, other, strict=True):
            rtol = 1e-4 if is_single(a) else 1e-8
            if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol, rtol, equal_nan=True):
                raise Unsupported("the lifted function has another value than the function itself")
        return derivative

    def _compare(
        self, what: str, mine: Any, like: Any, references: Sequence[Reference]
    ) -> list[Any]:
        """The leaves of a derivative, after it was compared."""
        paths = self.in_paths if like is self.x else self.out_paths
        same_structure(what, mine, like)
        leaves = trees.selected(mine, like)
        Comparison(what, leaves, paths, references).check(self.rtol)
        self._note(what, references)
        return leaves

    def _compare_pairings(
        self, what: str, mine: Sequence[Any], others: Sequence[Any], references: Sequence[Reference]
    ) -> None:
        value, size = paired(mine, others)
        known = [r for r in references if r.error is None or np.isfinite(r.error[0])]
        Comparison(what, [value], ["<ct, f'(x) v>"], known, size).check(self.rtol)
        self._note(what, known)

    def _note(self, what: str, references: Sequence[Reference]) -> None:
        if references:
            self.report.compared[what] = tuple(r.method for r in references)


def _paired_reference(reference: Reference, others: Sequence[Any]) -> Reference:
    value, _ = paired(reference.leaves, others)
    if reference.error is None:
        return Reference(reference.method, [value])
    error, _ = paired(reference.error, [np.abs(x) for x in others])
    return Reference(reference.method, [value], [error])


def _direction(x: Any, rng: np.random.Generator) -> Any:
    """A random direction with the structure of x, of entries that are neither tiny nor equal."""
    parts = trees.children(x)
    if parts is not None:
        return trees.rebuilt(x, [_direction(p, rng) for _, p in parts])
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
