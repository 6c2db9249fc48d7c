"""What computes a workload: srcad, the function itself, a tape, and other packages.

An engine takes a workload and its arguments, does all that is done once, and gives a call without
arguments that returns value and gradients; engines that run the function alone return no gradients.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

import srcad
from benchmarks.tape import MATH, value_and_gradients
from benchmarks.workloads.workload import Workload

Arguments = tuple[Any, ...]
Run = Callable[[], tuple[Any, Any]]
Engine = Callable[[Workload, Arguments], Run]


def primal(workload: Workload, args: Arguments) -> Run:
    """The function as it is."""
    f = workload.function
    return lambda: (f(*args), None)


def plain(workload: Workload, args: Arguments) -> Run:
    """srcad, run by Python."""
    gradient = srcad.value_and_grad(workload.function, argnums=workload.argnums)
    return lambda: gradient(*args)


def numba(workload: Workload, args: Arguments) -> Run:
    """srcad, compiled by Numba. A call that would run as plain code is an error."""
    options = srcad.Options(backend="numba", fastmath=workload.fastmath)
    gradient = srcad.value_and_grad(workload.function, argnums=workload.argnums, options=options)
    args = with_arrays(args)
    with warnings.catch_warnings():
        warnings.simplefilter("error", srcad.errors.SlowFallback)
        gradient(*args)
    return lambda: gradient(*args)


def njit(workload: Workload, args: Arguments) -> Run:
    """The function as it is, compiled by Numba."""
    from numba import njit

    f = rebound(workload.function, wrapped=njit(fastmath=workload.fastmath))
    args = with_arrays(args)
    return lambda: (f(*args), None)


def tape(workload: Workload, args: Arguments) -> Run:
    """A tape of numbers, as one writes it in a class room."""
    f = rebound(workload.function, math=MATH)
    return lambda: value_and_gradients(f, args, workload.argnums)


def jax(workload: Workload, args: Arguments) -> Run:
    """JAX: value and gradient, compiled."""
    from jax import block_until_ready, jit, value_and_grad
    from jax import numpy as jnp

    from benchmarks.workloads import in_jax

    f = rewritten(workload.function, in_jax) or rebound(workload.function, np=jnp)
    static = tuple(k for k, a in enumerate(args) if isinstance(a, int))
    gradient = jit(value_and_grad(f, argnums=workload.argnums), static_argnums=static)
    there = [a if k in static else jnp.asarray(a) for k, a in enumerate(args)]
    return lambda: block_until_ready(gradient(*there))


def autograd(workload: Workload, args: Arguments) -> Run:
    """autograd, which follows each call with a tape of array operations."""
    from autograd import numpy as anp
    from autograd import value_and_grad

    from benchmarks.workloads import in_autograd

    f = rewritten(workload.function, in_autograd)
    if f is None:
        f = rebound(workload.function, np=anp, math=in_autograd.MATH)
    gradient = value_and_grad(f, argnum=workload.argnums)
    args = with_arrays(args)
    return lambda: gradient(*args)


ENGINES: dict[str, Engine] = {
    "primal": primal,
    "plain": plain,
    "numba": numba,
    "njit": njit,
    "tape": tape,
    "jax": jax,
    "autograd": autograd,
}
NEEDS = {"numba": "numba", "njit": "numba", "jax": "jax", "autograd": "autograd"}
"""The package that an engine needs."""


def is_installed(engine: str) -> bool:
    """Whether the package that an engine needs is there."""
    return engine not in NEEDS or importlib.util.find_spec(NEEDS[engine]) is not None


def with_arrays(args: Sequence[Any]) -> Arguments:
    """The arguments with arrays for lists: what one gives to compiled code."""
    return tuple(np.array(a) if isinstance(a, list) else a for a in args)


def rewritten(function: Callable[..., Any], module: ModuleType) -> Callable[..., Any] | None:
    """The function of the same name that a module defines itself, if it does."""
    found = getattr(module, function.__name__, None)
    own = isinstance(found, FunctionType) and found.__module__ == module.__name__
    return found if own else None


def rebound(
    function: Callable[..., Any],
    wrapped: Callable[[Callable[..., Any]], Any] = lambda f: f,
    **names: Any,
) -> Any:
    """A copy of a function, and of its module's others that it may call, with other globals.

    It is what one gets by changing an import: `np=jax.numpy`. Each copy is wrapped.
    """
    assert isinstance(function, FunctionType)
    old = function.__globals__
    new = {**old, **names}
    for name, other in old.items():
        if isinstance(other, FunctionType) and other.__globals__ is old:
            copy = FunctionType(other.__code__, new, other.__name__, other.__defaults__)
            new[name] = wrapped(copy)
    return new[function.__name__]
