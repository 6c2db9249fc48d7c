"""Derivative objects: what they show, and how they behave as objects."""

import copy
import functools
import inspect
import pickle
import pydoc
import threading

import numpy as np
import pytest

import srcad
from tests.api.functions import cubes, product


def annotated(x: float, y: np.ndarray, n: int = 3) -> float:
    return np.sum(x * y) * n


@srcad.grad
def decorated(x):
    """The gradient, documented."""
    return x**3


def test_source():
    d = srcad.grad(product)
    assert "def product_grad(x, y)" in d.source
    assert "for x: any, y: any" in d.source
    d(2.0, 3.0)
    assert "for x: float, y: float" in d.source
    assert "for x: f8[n]" in srcad.grad(cubes).source_for(np.ones(2))
    assert "for x: float, y: any, n: int" in srcad.grad(annotated).source
    space = {}
    exec(d.source_for(1.0, 1.0), space)
    assert space["product_grad"](2.0, 3.0) == 12.0


def test_source_before_any_call_runs():
    for transform in (srcad.grad, srcad.value_and_grad, srcad.derivative):
        d = transform(product)
        space = {}
        exec(d.source, space)
        run = space[f"product_{d.spec.kind}"]
        assert run(2.0, 3.0) == d(2.0, 3.0)


def test_ir():
    d = srcad.grad(product)
    d(2.0, 3.0)
    assert d.ir.startswith("function product_grad(x: float, y: float)")


def test_attributes():
    d = srcad.grad(product, argnums=(0, "y"))
    assert d.primal is product
    assert d.__wrapped__ is product
    assert d.__name__ == "product"
    assert d.__doc__ == product.__doc__
    assert repr(d).startswith("<srcad.grad of product, argnums=(0, 'y') from ")
    assert inspect.signature(d) == inspect.signature(product)
    assert d._repr_html_().startswith("<pre>")
    assert callable(d)


def test_help():
    text = pydoc.render_doc(decorated, renderer=pydoc.plaintext)
    assert "decorated" in text
    assert "The gradient, documented." in text


def test_wraps():
    d = srcad.grad(product)

    @functools.wraps(d)
    def wrapper(*args):
        return d(*args)

    assert wrapper.__name__ == "product"
    assert inspect.signature(wrapper) == inspect.signature(product)
    assert srcad.grad(wrapper)(2.0, 3.0) == 6.0


def test_wrong_calls_are_told_as_python_tells_them():
    d = srcad.grad(product)
    with pytest.raises(TypeError, match=r"grad\(product\)\(\) missing 1 required.*'y'"):
        d(1.0)
    with pytest.raises(TypeError, match="positional"):
        d(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        d(1.0, z=2.0)


def test_copies():
    d = srcad.grad(product)
    assert d(2.0, 3.0) == 12.0
    assert copy.copy(d)(2.0, 3.0) == 12.0
    assert copy.deepcopy({"d": d})["d"](2.0, 3.0) == 12.0
    for made in (d, srcad.hessian(product), decorated):
        again = pickle.loads(pickle.dumps(made))
        assert again(2.0, 3.0) == made(2.0, 3.0) if made is not decorated else again is decorated


def test_many_threads():
    d = srcad.grad(lambda x, y: np.sum(np.sin(x * y) ** 2))
    results, start = [], threading.Barrier(8)

    def work(k):
        start.wait()
        for size in (2, 3, 4):
            x = np.full(size, 0.1 * k)
            results.append((k, size, d(x, 2.0), d(float(k), 2.0)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 24
    for k, size, array, number in results:
        np.testing.assert_allclose(array, np.full(size, 2 * np.sin(0.4 * k)), rtol=1e-14)
        assert number == pytest.approx(2 * np.sin(4.0 * k), rel=1e-13, abs=1e-15)


def test_names_of_parameters_may_be_anything():
    def f(self, args, run, sizes, _srcad_self=2.0, *, a0=3.0, v=1.0, MISS=1.0):
        return self * args * run * sizes * _srcad_self * a0 * v * MISS

    assert srcad.grad(f, "sizes")(1.0, 2.0, 3.0, 4.0) == 36.0
    assert srcad.grad(f, "sizes")(self=1.0, args=2.0, run=3.0, sizes=4.0, _srcad_self=1.0) == 18.0

    def g(self, args, keywords, sizes, *, a0=3.0, v=1.0, MISS=1.0):
        return self * args * keywords * sizes * a0 * v * MISS

    assert srcad.grad(g, "sizes")(self=1.0, args=2.0, keywords=3.0, sizes=4.0) == 18.0


def test_positional_only():
    def f(x, /, y, *, z):
        return x * y * z

    d = srcad.grad(f, (0, "y", "z"))
    assert d(1.0, 2.0, z=3.0) == (6.0, 3.0, 2.0)
    assert d(1.0, y=2.0, z=3.0) == (6.0, 3.0, 2.0)
    with pytest.raises(TypeError):
        d(x=1.0, y=2.0, z=3.0)


def filtered(y, f):
    x, p, total = np.zeros(2), np.eye(2), 0.0
    for t in range(y.shape[0]):
        x = f @ x
        p = f @ p @ f.T + 0.1 * np.eye(2)
        e = y[t] - x
        s = p + 0.5 * np.eye(2)
        gain = p @ np.linalg.inv(s)
        total += e @ np.linalg.solve(s, e) + np.log(np.linalg.det(s))
        x = x + gain @ e
        p = p - gain @ s @ gain.T
    return total


def test_shapes_kept_for_the_reverse_sweep_have_no_lines_of_it():
    source = srcad.grad(filtered, argnums=(0, 1)).source_for(np.ones((3, 2)), np.ones((2, 2)))
    forward = source[source.index("# ---- forward") : source.index("# ---- reverse")]
    assert ".shape\n" in forward
    assert "# line" not in forward
