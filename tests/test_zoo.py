"""Every zoo function in every mode against the oracle, and proof that a fault is noticed.

One test is one case in one mode: `pytest tests/test_zoo.py -k "loops_for and reverse"`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import srcad
from srcad.testing import (
    GradientMismatch,
    Unsupported,
    check_grads,
    differences,
    reference_jvp,
    trees,
)
from srcad.testing.reference import pull_back
from srcad.testing.tracing import Handle
from tests.zoo import CASES, Case

SECOND_ORDER = ("forward over reverse", "reverse over reverse", "reverse over forward")
MODES = ("value", "forward", "reverse", *SECOND_ORDER)
MARKS = {
    **dict.fromkeys(SECOND_ORDER, (pytest.mark.slow,)),
    # what is read of Python is read for "reverse" too
    **dict.fromkeys(("value", "forward"), (pytest.mark.anywhere,)),
}

VALUE_RTOL = 1e-13
"""The value is the function's, up to the last bits in which `math.sin` and `np.sin` differ."""


def runs(cases: list[Case], modes: tuple[str, ...]) -> list[Any]:
    return [
        pytest.param(
            case,
            mode,
            id=f"{case.id}-{mode.replace(' ', '_')}",
            marks=MARKS.get(mode, ()),
        )
        for case in cases
        for mode in modes
        if case.order >= 2 or mode not in SECOND_ORDER
    ]


@pytest.mark.parametrize(("case", "mode"), runs(CASES, MODES))
def test_zoo(case: Case, mode: str) -> None:
    check_mode(case, mode, srcad)


def check_mode(case: Case, mode: str, engine: Any) -> None:
    args, kwargs = case.fresh()

    def check(way: str) -> None:
        check_grads(
            case.function,
            args,
            modes=(way,),
            argnums=case.argnums,
            rtol=case.rtol,
            kwargs=kwargs,
            engine=engine,
        )

    match mode:
        case "value":
            check_value(case, engine)
        case "forward":
            check("fwd")
        case "reverse":
            check("rev")
        case _:
            check_second_order(case, mode, engine)


# ---- the value, the arguments, the form of the gradient


def check_value(case: Case, engine: Any) -> None:
    """The value is that of a plain call, arguments are left alone, gradients look like them."""
    args, kwargs = case.fresh()
    expected = case.function(*args, **kwargs)

    args, kwargs = case.fresh()
    active = tuple(args[k] for k in case.argnums)
    if isinstance(expected, float):
        value, gradients = engine.value_and_grad(case.function, argnums=case.argnums)(
            *args, **kwargs
        )
    else:
        value, pull = engine.vjp(of_active_arguments(case, args, kwargs), *active)
        gradients = pull(direction(expected))
    assert_same(value, expected, "value", rtol=VALUE_RTOL)
    before, before_kwargs = case.fresh()
    assert_same(args, before, "arguments after the call")
    assert_same(kwargs, before_kwargs, "keyword arguments after the call")
    assert type(gradients) is tuple
    assert_same_form(gradients, active, "gradient")
    for gradient in arrays(gradients):
        for arg in arrays(args):
            assert not np.shares_memory(gradient, arg), "a gradient shares memory with an argument"


def assert_same(mine: Any, like: Any, what: str, rtol: float = 0.0) -> None:
    assert_same_form(mine, like, what)
    parts, wanted_parts = trees.children(mine), trees.children(like)
    if parts is None or wanted_parts is None:
        if isinstance(like, (float, int, np.ndarray, np.generic)):
            np.testing.assert_allclose(mine, like, rtol=rtol, err_msg=what)
        else:
            assert mine == like, what
        return
    for (path, part), (_, wanted) in zip(parts, wanted_parts, strict=True):
        assert_same(part, wanted, what + path, rtol)


def assert_same_form(mine: Any, like: Any, what: str) -> None:
    """The same containers, and in them the same kinds of numbers and arrays."""
    match like:
        case np.ndarray():
            assert isinstance(mine, np.ndarray), f"{what} is {mine!r}"
            assert mine.shape == like.shape, what
            assert mine.dtype == like.dtype, what
        case bool() | int():
            assert type(mine) is type(like), f"{what} is {mine!r}"
        case float() | np.generic():
            # A Python float and a float64 stand for one another: their arithmetic is the same.
            assert isinstance(mine, (float, np.generic)), f"{what} is {mine!r}"
            assert np.asarray(mine).dtype == np.asarray(like).dtype, f"{what} is {mine!r}"
        case _:
            assert type(mine) is type(like), f"{what} is {mine!r}"
            parts, wanted_parts = trees.children(mine), trees.children(like)
            if parts is None or wanted_parts is None:
                return
            assert [path for path, _ in parts] == [path for path, _ in wanted_parts], what
            for (path, part), (_, wanted) in zip(parts, wanted_parts, strict=True):
                if wanted is None or isinstance(wanted, (int, str)) and part is None:
                    continue
                assert_same_form(part, wanted, what + path)


def arrays(value: Any) -> Iterator[np.ndarray]:
    return (leaf for _, leaf in trees.leaves(value) if isinstance(leaf, np.ndarray))


# ---- one mode over the other


def check_second_order(case: Case, mode: str, engine: Any) -> None:
    """The tangent of a gradient, and the gradient of a tangent or of a gradient along a direction.

    They are the same: a Hessian is symmetric.
    """
    args, kwargs = case.fresh()
    function = of_active_arguments(case, args, kwargs)
    point = tuple(args[k] for k in case.argnums)
    along = direction(point)
    cotangent = direction(function(*copy.deepcopy(point)))

    def gradient(*active: Any) -> Any:
        _, pull = engine.vjp(function, *active)
        return pull(cotangent)

    def tape_gradient(*active: Any) -> Any:
        return tuple(pull_back(function, active, range(len(active)), cotangent)[1])

    def tangent(*active: Any) -> Any:
        return engine.jvp(function, active, along)[1]

    match mode:
        case "forward over reverse":
            mine = engine.jvp(gradient, copy.deepcopy(point), along)[1]
        case "reverse over forward":
            mine = engine.vjp(tangent, *copy.deepcopy(point))[1](cotangent)
        case "reverse over reverse":
            mine = engine.vjp(gradient, *copy.deepcopy(point))[1](along)
        case _:
            raise ValueError(mode)
    assert_same_form(mine, point, mode)
    try:
        reference = [
            leaf for _, leaf in trees.leaves(reference_jvp(tape_gradient, point, along)[1])
        ]
        error: list[Any] = [0.0] * len(reference)
    except Unsupported:
        by_differences = differences(tape_gradient, point, along)
        reference, error = by_differences.value, by_differences.error
    for (path, got), wanted, uncertain in zip(trees.leaves(mine), reference, error, strict=True):
        scale = np.max(np.abs(wanted), initial=0.0)
        allowed = case.rtol * scale + 10 * np.asarray(uncertain)
        if not np.all(np.abs(got - wanted) <= allowed):
            raise GradientMismatch(f"{mode}{path}: {got!r}, the oracle has {wanted!r}")


def of_active_arguments(
    case: Case, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """The function of its differentiated arguments, the others bound."""
    function, argnums = case.function, case.argnums
    if argnums == tuple(range(len(args))) and not kwargs:
        return function

    def of_active(*active: Any) -> Any:
        full = list(args)
        for k, value in zip(argnums, active, strict=True):
            full[k] = value
        return function(*full, **kwargs)

    return of_active


def direction(value: Any) -> Any:
    """A fixed direction of the structure of `value`, with no entry small and no two alike."""
    count = 0

    def entry() -> float:
        nonlocal count
        count += 1
        return (-1) ** count * (0.6 + 0.8 * ((count * math.sqrt(2)) % 1))

    def leaf(like: Any) -> Any:
        if isinstance(like, np.ndarray):
            return np.array([entry() for _ in range(like.size)], like.dtype).reshape(like.shape)
        return type(like)(entry())

    return trees.replace_leaves(value, iter([leaf(like) for _, like in trees.leaves(value)]))


# ---- the harness notices


class Oracle:
    """The oracle itself as an engine, without the compiler. Nested, it gives no value."""

    def jvp(self, f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
        return reference_jvp(f, tuple(primals), tuple(tangents))

    def vjp(self, f: Callable[..., Any], *primals: Any) -> Any:
        def pull(cotangent: Any) -> Any:
            return tuple(pull_back(f, primals, range(len(primals)), cotangent)[1])

        nested = any(isinstance(leaf, Handle) for _, leaf in trees.leaves(primals))
        return None if nested else f(*copy.deepcopy(primals)), pull

    def grad(self, f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
        return lambda *args: self.value_and_grad(f, argnums)(*args)[1]

    def value_and_grad(self, f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
        def value_and_gradients(*args: Any, **kwargs: Any) -> Any:
            gradients = tuple(pull_back(f, args, argnums, 1.0, kwargs)[1])
            return f(*copy.deepcopy(args), **kwargs), gradients

        return value_and_gradients


class Scaled:
    """An engine with all its derivatives multiplied by a factor."""

    def __init__(self, engine: Any, factor: float) -> None:
        self.engine = engine
        self.factor = factor

    def scaled(self, value: Any) -> Any:
        return trees.replace_leaves(value, (leaf * self.factor for _, leaf in trees.leaves(value)))

    def jvp(self, f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
        out, tangent = self.engine.jvp(f, primals, tangents)
        return out, self.scaled(tangent)

    def vjp(self, f: Callable[..., Any], *primals: Any) -> Any:
        out, pull = self.engine.vjp(f, *primals)
        return out, lambda cotangent: self.scaled(pull(cotangent))

    def grad(self, f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
        return lambda *args: self.scaled(self.engine.grad(f, argnums=argnums)(*args))


class Careless(Oracle):
    """Right derivatives, but a fault in what surrounds them."""

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def value_and_grad(self, f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
        right = super().value_and_grad(f, argnums)

        def value_and_gradients(*args: Any) -> Any:
            value, (gradient, *others) = right(*args)
            match self.fault:
                case "wrong value":
                    value *= 1 + 1e-12
                case "argument changed":
                    args[0][0] += 1e-9
                case "gradient is the argument":
                    gradient = args[0]
                case "other shape":
                    gradient = gradient[None]
                case "other precision":
                    gradient = gradient.astype(np.float32)
                case "list for a tuple":
                    return value, [gradient, *others]
            return value, (gradient, *others)

        return value_and_gradients


NONLINEAR = """
    straight_line.powers[0] branches.nested_ifs[0] loops_for.leapfrog[0] loops_while.fixed_point[0]
    jumps.break_inside_if_inside_for_inside_while[0] assignment.swap_with_product_in_loop[0]
    containers.list_methods[0] containers.nested_parameters[0] builtin_calls.sorted_list[0]
    calls.nonlocal_total[0] classes.bound_method_with_default[0] context.try_that_may_fail[1]
    names.generated_looking_names[0] numpy_elementwise.softmax[0]
    numpy_reductions.matrix_norms[0] numpy_shapes.pad[0] numpy_index.repeated_indices[0]
    numpy_linalg.solve[0] numpy_methods.product_methods[0] casts.float_of_array_entry[0]
    creation.array_of_nested_lists[0] interactions.lorenz[0]
""".split()
BY_ID = {case.id: case for case in CASES}
PLANTED = [BY_ID[name] for name in NONLINEAR]


@pytest.mark.parametrize(("case", "mode"), runs(PLANTED, MODES))
def test_the_oracle_passes(case: Case, mode: str) -> None:
    check_mode(case, mode, Oracle())


@pytest.mark.parametrize(("case", "mode"), runs(PLANTED, MODES[1:]))
@pytest.mark.parametrize("factor", [1.001, 1 - 1e-8, -0.5])
def test_a_scaled_derivative_fails(case: Case, mode: str, factor: float) -> None:
    with pytest.raises(GradientMismatch):
        check_mode(case, mode, Scaled(Oracle(), factor))


@pytest.mark.parametrize(("case", "mode"), runs(PLANTED, ("forward", "reverse")))
def test_a_scaled_derivative_of_the_compiler_fails(case: Case, mode: str) -> None:
    with pytest.raises(GradientMismatch):
        check_mode(case, mode, Scaled(srcad, 1.001))


@pytest.mark.parametrize(
    "fault",
    [
        "wrong value",
        "argument changed",
        "gradient is the argument",
        "other shape",
        "other precision",
        "list for a tuple",
    ],
)
def test_a_careless_engine_fails(fault: str) -> None:
    case = BY_ID["loops_for.rosenbrock[0]"]
    check_value(case, Careless("none"))
    with pytest.raises(AssertionError):
        check_value(case, Careless(fault))
