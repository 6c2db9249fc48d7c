"""Compiled loops are of the form that a compiler vectorises, and do no work twice."""

from __future__ import annotations

import re

import numpy as np
import pytest

import srcad

numba = pytest.importorskip("numba")
pytestmark = pytest.mark.numba


def compiled(function, *args, argnums=0):
    """The text of the value and gradient, and the instructions of the function that is compiled."""
    derivative = srcad.value_and_grad(function, argnums=argnums, backend="numba")
    code = derivative.compiled_for(*derivative.bind(*args))
    code.run(*args)
    made = [v for v in vars(code.text.module).values() if hasattr(v, "inspect_llvm")]
    (kernel,) = made
    (llvm,) = kernel.inspect_llvm().values()
    return code.source, llvm


def is_vectorised(llvm):
    """Whether several numbers are multiplied at once."""
    return re.search(r" = fmul (?:\w+ )*<\d+ x double> ", llvm) is not None


def same_as_plain(function, *args, argnums=0):
    plain = srcad.value_and_grad(function, argnums=argnums)(*args)
    made = srcad.value_and_grad(function, argnums=argnums, backend="numba")(*args)
    np.testing.assert_allclose(made[0], plain[0], rtol=1e-13)
    for one, other in zip(np.atleast_1d(made[1]), np.atleast_1d(plain[1]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300)


def dear(x):
    y = np.sin(x) * np.exp(-x)
    return np.sum(y * np.log1p(y * y))


def test_checks_in_a_loop_do_not_keep_it_from_being_vectorised():
    x = np.linspace(0.1, 2.0, 1000)
    source, llvm = compiled(dear, x)
    loop = source[source.index("for i in range") : source.index("return")]
    assert " or " not in loop
    assert " | " in loop
    assert is_vectorised(llvm)
    same_as_plain(dear, x)


def scaled(alpha, beta, a, b, x):
    y = alpha * a @ x + x @ (b * beta)
    return np.sum(y * y)


def test_a_number_goes_out_of_a_product_with_a_vector():
    rng = np.random.default_rng(0)
    a, b, x = rng.normal(size=(5, 5)), rng.normal(size=(5, 5)), rng.normal(size=5)
    args = (1.5, 0.5, a, b, x)
    source, _ = compiled(scaled, *args, argnums=(0, 1, 2, 3, 4))
    lines = [line for line in source.splitlines() if " @ " in line and "# line" not in line]
    assert {re.sub(r".* = ", "", line) for line in lines} >= {"a @ x", "x @ b"}
    assert len(lines) == 4
    plain = srcad.value_and_grad(scaled, argnums=(0, 1, 2, 3, 4))(*args)
    made = srcad.value_and_grad(scaled, argnums=(0, 1, 2, 3, 4), backend="numba")(*args)
    for one, other in zip(made[1], plain[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def scaled_then_written(c, a, x):
    a = a.copy()
    scaled = c * a
    a[0, 0] = 100.0
    return np.sum(scaled @ x) + np.sum(a)


def test_of_a_matrix_that_is_written_no_number_goes_out():
    a, x = np.arange(4.0).reshape(2, 2), np.array([1.0, 2.0])
    made = srcad.value_and_grad(scaled_then_written, argnums=0, backend="numba")(3.0, a, x)
    assert made == (3.0 * np.sum(a @ x) + 106.0, np.sum(a @ x))


def tree(s, n):
    v = np.zeros(n + 1)
    for j in range(n + 1):
        v[j] = s * j
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[j] = 0.5 * max(v[j + 1], s) + 0.4 * v[j]
    return v[1]


def test_indices_in_arrays_whose_sizes_are_sums_are_proven():
    source = srcad.value_and_grad(tree, backend="numba").source_for(1.5, 6)
    assert source.count("IndexError") == 1  # of v[1]: n may be 0
    same_as_plain(tree, 1.5, 6)
    with pytest.raises(IndexError):
        srcad.grad(tree, backend="numba")(1.5, 0)
