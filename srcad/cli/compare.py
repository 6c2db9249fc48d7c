"""The comparison behind `--check`: one derivative by several methods that share no code.

Derivatives are compared as Jacobians, a row for each number in the result, a column for each number
in the arguments: a gradient is a Jacobian of one row.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.cli.arguments import Arguments
from srcad.cli.derivatives import Shown, Wrt, as_tuple, value_named, wrt_values
from srcad.cli.errors import CommandError
from srcad.cli.target import Target
from srcad.testing import Unsupported, complex_step, differences, trees
from srcad.testing.arity import restricted
from srcad.testing.comparison import refusal
from srcad.testing.reference import pull_back

_MOST = 40
"""Rows and columns that are compared one by one; of more, these many, spread evenly."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one method gives."""

    method: str
    value: np.ndarray[Any, Any] | None
    """The Jacobian; None where the method cannot run."""
    difference: float = 0.0
    """The largest difference from the first method."""
    relative: float = 0.0
    """The same in units of the largest entry."""
    verdict: str = ""

    @property
    def independent(self) -> bool:
        """Whether it ran and is no derivative by srcad."""
        return self.value is not None and not self.method.startswith("srcad")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What all methods give. The first row is what the others are compared with."""

    what: str
    """`gradient` or `Jacobian`."""
    rows: tuple[Row, ...]
    shape: tuple[int, int]
    """Of the whole Jacobian; the rows may have a part of it."""
    rtol: float

    @property
    def agrees(self) -> bool:
        """Whether an independent method ran and none differs."""
        differs = any(row.verdict == "DIFFERS" for row in self.rows)
        return not differs and any(row.independent for row in self.rows)


def compare(target: Target, arguments: Arguments, wrt: Wrt, shown: list[Shown]) -> Comparison:
    """Run the derivatives and every independent method at the arguments."""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return _Check(target, arguments, wrt).compared(shown)


class _Check:
    def __init__(self, target: Target, arguments: Arguments, wrt: Wrt) -> None:
        self.target = target
        self.arguments = arguments
        self.wrt = wrt
        self.x = tuple(wrt_values(arguments, wrt))
        self.f = _of_wrt(target.function, arguments, wrt)
        args, keywords = arguments.fresh()
        try:
            self.value = target.function(*args, **keywords)
        except Exception as error:
            raise CommandError(
                f"{target.text} raises {type(error).__name__} at {arguments}: {error}",
                "choose other arguments: --args 'EXPR'" if arguments.guessed else "",
            ) from None
        outputs, inputs = _flat(self.value), _flat(self.x)
        if outputs.size == 0:
            raise CommandError(f"the result of {target.text} holds no floats: {self.value!r}")
        if np.iscomplexobj(outputs) or np.iscomplexobj(inputs):
            raise CommandError("the comparison is made for real numbers only")
        if arguments.guessed and not np.all(np.isfinite(outputs)):
            raise CommandError(
                f"the value of {target.text} is {self.value!r} at {arguments}",
                "choose other arguments: --args 'EXPR'",
            )
        self.shape = (outputs.size, inputs.size)
        self.rows = _spread(outputs.size)
        self.columns = _spread(inputs.size)
        numbers = [x for _, x in [*trees.leaves(self.x), *trees.leaves(self.value)]]
        single = any(np.asarray(x).dtype.itemsize < 8 for x in numbers)
        self.rtol = 2e-4 if single else 1e-10

    def compared(self, shown: list[Shown]) -> Comparison:
        rows = [Row(f"srcad, {s.mode}", self.part(self.own(s))) for s in shown]
        first = rows[0].value
        assert first is not None
        rows = [rows[0], *(self.row(r.method, r.value, first) for r in rows[1:])]
        rows += self.independent(first)
        is_number = trees.children(self.value) is None and np.ndim(self.value) == 0
        what = "gradient" if is_number else "Jacobian"
        return Comparison(what, tuple(rows), self.shape, self.rtol)

    # ---- methods

    def own(self, shown: Shown) -> np.ndarray[Any, Any]:
        """The whole Jacobian by generated code."""
        args, keywords = self.arguments.fresh()
        several = isinstance(self.wrt, tuple)
        result = shown.derivative(*args, **keywords)
        return np.concatenate(
            [
                _flattened(jacobian, self.x if several else self.x[0], np.size(leaf))
                for jacobian, (_, leaf) in zip(
                    _by_leaf(result, self.value), trees.leaves(self.value), strict=True
                )
            ]
        )

    def independent(self, first: np.ndarray[Any, Any]) -> Iterator[Row]:
        found = list(self.run({"tape": self.tape, "complex step": self.complex_step}, first))
        yield from found
        if all(row.value is None for row in found):
            yield self.differences(first)
        hand_written = self.target.hand_written()
        if hand_written is not None:
            yield self.hand_written(*hand_written, first)

    def run(
        self, methods: dict[str, Callable[[], Any]], first: np.ndarray[Any, Any]
    ) -> Iterator[Row]:
        for name, method in methods.items():
            try:
                yield self.row(name, method(), first)
            except Exception as error:
                reason = refusal(error)
                if reason is None:
                    raise
                yield Row(name, None, verdict=f"not run: {reason}")

    def tape(self) -> np.ndarray[Any, Any]:
        rows = []
        for k in self.rows:
            ct = _basis(self.value, int(k))
            out, pulled = pull_back(self.f, self.point(), range(len(self.x)), ct)
            self.confirm(out)
            rows.append(_flat(tuple(pulled), self.x)[self.columns])
        return np.array(rows)

    def complex_step(self) -> np.ndarray[Any, Any]:
        columns = []
        for k in self.columns:
            out, tangent = complex_step(self.f, self.point(), _basis(self.x, int(k)))
            self.confirm(trees.map_all(lambda y: np.real(y) if np.iscomplexobj(y) else y, out))
            columns.append(_flat(tangent, self.value)[self.rows])
        return np.array(columns).T

    def differences(self, first: np.ndarray[Any, Any]) -> Row:
        columns, errors = [], []
        for k in self.columns:
            found = differences(self.f, self.point(), _basis(self.x, int(k)))
            columns.append(np.concatenate([np.ravel(v) for v in found.value])[self.rows])
            errors.append(np.concatenate([np.ravel(e) for e in found.error])[self.rows])
        value, error = np.array(columns).T, np.array(errors).T
        if not np.all(np.isfinite(error)):
            return Row("differences", None, verdict="not run: they do not converge")
        return self.row("differences", value, first, 10 * error + 1e-9 * _scale(value, first))

    def hand_written(self, name: str, f: Any, first: np.ndarray[Any, Any]) -> Row:
        args, keywords = self.arguments.fresh()
        try:
            result = f(*args, **keywords)
            whole = np.concatenate([np.ravel(np.asarray(part, float)) for part in _parts(result)])
        except Exception as error:  # it need not take the same arguments
            return Row(name, None, verdict=f"not run: {type(error).__name__}: {error}")
        if whole.size != self.shape[0] * self.shape[1]:
            return Row(name, None, verdict=f"not compared: it has {whole.size} entries")
        return self.row(name, self.part(whole.reshape(self.shape)), first)

    # ---- parts

    def point(self) -> tuple[Any, ...]:
        args, keywords = self.arguments.fresh()
        copied = Arguments(args, keywords, self.arguments.names, ())
        return tuple(wrt_values(copied, self.wrt))

    def part(self, jacobian: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        some: np.ndarray[Any, Any] = jacobian[self.rows][:, self.columns]
        return some

    def confirm(self, out: Any) -> None:
        """A method that computes another value says nothing of the derivative."""
        same = np.allclose(_flat(out, self.value), _flat(self.value), 1e-6, 1e-9, equal_nan=True)
        if not same:
            raise Unsupported("it computes another value than the function itself")

    def row(
        self,
        method: str,
        value: Any,
        first: np.ndarray[Any, Any],
        allowed: Any = None,
    ) -> Row:
        """The comparison of one method's Jacobian with the first."""
        scale = _scale(value, first)
        same = (value == first) | (np.isnan(value) & np.isnan(first))
        difference = np.where(same, 0.0, np.abs(value - first))
        if allowed is None:
            allowed = self.rtol * scale
        agrees = bool(np.all(same | (difference <= allowed)))
        largest = float(np.max(difference))
        return Row(
            method,
            value,
            largest,
            largest / scale if scale else 0.0,
            "agrees" if agrees else "DIFFERS",
        )


def _of_wrt(function: Any, arguments: Arguments, wrt: Wrt) -> Callable[..., Any]:
    """The function of those arguments alone."""
    parts = as_tuple(wrt)
    if all(isinstance(p, int) or p in arguments.names for p in parts):
        where = tuple(p if isinstance(p, int) else arguments.names.index(p) for p in parts)
        if where == tuple(sorted(where)):
            return restricted(function, arguments.args, where, arguments.keywords)
    for name in (p for p in parts if isinstance(p, str)):
        value_named(arguments, name)

    def of_wrt(*values: Any) -> Any:
        args, keywords = list(arguments.args), dict(arguments.keywords)
        for part, value in zip(parts, values, strict=True):
            if isinstance(part, int):
                args[part] = value
            elif part in keywords:
                keywords[part] = value
            else:
                args[arguments.names.index(part)] = value
        return function(*args, **keywords)

    return of_wrt


def _parts(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple) else [x]


def _flat(x: Any, like: Any = None) -> np.ndarray[Any, Any]:
    """All differentiable numbers in x, or those in the places where `like` has some."""
    found = trees.selected(x, x if like is None else like)
    return np.concatenate([np.ravel(np.asarray(leaf)) for leaf in found] or [np.zeros(0)])


def _basis(x: Any, k: int) -> Any:
    """Structured like x, 1 at its number `k` and 0 elsewhere."""
    made = []
    for _, leaf in trees.leaves(x):
        size = np.size(leaf)
        new = np.zeros(np.shape(leaf), np.asarray(leaf).dtype)
        if 0 <= k < size:
            new.flat[k] = 1
        k -= size
        made.append(new if isinstance(leaf, np.ndarray) else type(leaf)(new[()]))
    return trees.replace_leaves(x, iter(made))


def _by_leaf(result: Any, value: Any) -> Iterator[Any]:
    """What a Jacobian has in place of each number or array of the value."""
    parts = trees.children(value)
    if parts is None:
        if trees.is_leaf(value):
            yield result
        return
    own = trees.children(result)
    assert own is not None
    for (_, part), (_, inner) in zip(parts, own, strict=True):
        yield from _by_leaf(inner, part)


def _flattened(jacobian: Any, x: Any, rows: int) -> np.ndarray[Any, Any]:
    """The Jacobian of one number or array by all arguments, as a matrix."""
    found = trees.selected(jacobian, x)
    return np.concatenate([np.asarray(leaf).reshape(rows, -1) for leaf in found], axis=1)


def _spread(count: int) -> np.ndarray[Any, Any]:
    if count <= _MOST:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, _MOST).astype(int))


def _scale(a: Any, b: Any) -> float:
    size = np.maximum(np.abs(a), np.abs(b))
    return float(np.max(size[np.isfinite(size)], initial=0.0))
