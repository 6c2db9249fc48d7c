"""The zoo's register: `case` files a function with example arguments, `CASES` lists them."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

CASES: list[Case] = []


@dataclass(frozen=True, slots=True)
class Case:
    """One function at one tuple of example arguments."""

    id: str
    "`module.name[k]`, unique."
    function: Callable[..., Any]
    args: tuple[Any, ...]
    "Never handed out: use `fresh`, so that a test which writes to its arguments harms no other."
    kwargs: Mapping[str, Any]
    argnums: tuple[int, ...]
    "Positions to differentiate with respect to; by default all that hold floats."
    tags: frozenset[str]
    order: int
    "Highest order at which the function is differentiable at these arguments."
    rtol: float

    def fresh(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Copies of the arguments; objects shared between arguments stay shared."""
        args, kwargs = copy.deepcopy((self.args, dict(self.kwargs)))
        return args, kwargs

    def __repr__(self) -> str:
        return f"<Case {self.id}>"


def case(
    *examples: tuple[Any, ...],
    argnums: int | tuple[int, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    tags: str | Iterable[str] = (),
    order: int = 2,
    rtol: float = 1e-10,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """File the decorated function under each of the argument tuples, and return it unchanged.

    `name` is for what has no good name of its own: lambdas, closures, bound methods.
    """
    if not examples:
        raise TypeError("case needs at least one tuple of arguments")
    for example in examples:
        if type(example) is not tuple:
            raise TypeError(f"case takes tuples of arguments, not {example!r}")
    tag_set = frozenset([tags] if isinstance(tags, str) else tags)
    # Of the caller: partials and methods of other modules say something else of themselves.
    module = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        label = name or function.__name__
        taken = sum(known.id.rpartition("[")[0] == f"{module}.{label}" for known in CASES)
        if taken:
            raise ValueError(f"{module}.{label} is in the zoo already")
        for k, example in enumerate(examples):
            if argnums is None:
                wrt = tuple(i for i, arg in enumerate(example) if holds_floats(arg))
            else:
                wrt = (argnums,) if isinstance(argnums, int) else argnums
            if not wrt:
                raise ValueError(f"{module}.{label}[{k}] has nothing to differentiate")
            CASES.append(
                Case(
                    id=f"{module}.{label}[{k}]",
                    function=function,
                    args=example,
                    kwargs=dict(kwargs or {}),
                    argnums=wrt,
                    tags=tag_set,
                    order=order,
                    rtol=rtol,
                )
            )
        return function

    return register


def holds_floats(value: Any) -> bool:
    """Whether all leaves of `value` are floats and there is at least one."""
    found = list(leaves(value))
    return bool(found) and all(
        isinstance(leaf, float)
        or (isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind == "f")
        for leaf in found
    )


def leaves(value: Any) -> Iterable[Any]:
    """What is left of a nest of tuples, lists, dicts and dataclasses when they are unpacked."""
    if isinstance(value, dict):
        return itertools.chain.from_iterable(leaves(v) for v in value.values())
    if isinstance(value, (tuple, list)):
        return itertools.chain.from_iterable(leaves(v) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return itertools.chain.from_iterable(
            leaves(getattr(value, field.name)) for field in dataclasses.fields(value)
        )
    return [value]
