"""Every transform, as a call and as a decorator, on every kind of callable."""

import functools
import math

import numpy as np
import pytest

import srcad
from srcad.errors import NotDifferentiable
from tests.api.functions import Spring, cubes, defaulted, doubled, product, variadic, vector

# ---- what can be differentiated


def test_function_and_lambda():
    assert srcad.grad(product)(2.0, 3.0) == 12.0
    assert srcad.grad(lambda x: x**3)(2.0) == 12.0


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [(math.sin, 1.0, math.cos(1.0)), (np.sin, 1.0, math.cos(1.0)), (abs, -2.0, -1.0)],
)
def test_builtins_by_themselves(function, argument, expected):
    assert srcad.grad(function)(argument) == pytest.approx(expected, rel=1e-15)
    assert srcad.grad(srcad.grad(function))(argument) == pytest.approx(
        -math.sin(1.0) if expected > 0 else 0.0, rel=1e-15
    )


def test_numpy_functions_by_themselves():
    x, y = np.arange(3.0), np.ones(3)
    np.testing.assert_array_equal(srcad.grad(np.sum)(x), np.ones(3))
    gx, gy = srcad.grad(np.dot, argnums=(0, 1))(x, y)
    np.testing.assert_array_equal(gx, y)
    np.testing.assert_array_equal(gy, x)
    np.testing.assert_array_equal(srcad.jacobian(np.cumsum)(x), np.tril(np.ones((3, 3))))


def test_methods():
    spring = Spring(2.0)
    assert srcad.grad(spring.energy)(3.0) == 24.0
    assert srcad.grad(Spring.energy, argnums=1)(spring, 3.0) == 24.0
    assert srcad.grad(spring)(3.0) == 2.0
    assert srcad.grad(Spring.square)(3.0) == 6.0
    assert srcad.grad(Spring.scaled)(3.0) == 12.0
    assert srcad.grad(spring.scaled)(3.0) == 12.0


class Decorated:
    def __init__(self, a):
        self.a = a

    @srcad.grad
    def plain(self, x):
        return self.a * x * x

    @srcad.grad(argnums=1)
    def second(self, x, y):
        return self.a * x * x * y

    @srcad.value_and_grad(argnums="y")
    def named(self, x, y):
        return self.a * x * y * y

    def uses(self, x):
        return self.plain(x) * x


def test_decorated_methods_count_the_instance_as_a_function_does():
    obj = Decorated(2.0)
    assert obj.plain(3.0) == 12.0
    assert Decorated.plain(obj, 3.0) == 12.0
    assert obj.second(3.0, 5.0) == 60.0
    assert Decorated.second(obj, 3.0, 5.0) == 60.0
    assert obj.named(3.0, 5.0) == (150.0, 60.0)
    obj.a = 4.0
    assert obj.second(3.0, 5.0) == 120.0
    assert "def second_grad(self, x, y)" in obj.second.source
    assert "def second_grad(self, x, y)" in obj.second.source_for(1.0, 2.0)


def test_derivative_of_a_method_that_calls_a_derivative():
    obj = Decorated(2.0)
    assert srcad.grad(obj.uses)(3.0) == 4 * 2.0 * 3.0


def test_partial_and_wrappers():
    assert srcad.grad(functools.partial(product, y=3.0))(2.0) == 12.0
    assert srcad.grad(functools.partial(product, 3.0))(2.0) == 9.0
    assert srcad.grad(functools.partial(product, y=3.0), argnums="y")(2.0) == 4.0
    assert srcad.grad(functools.partial(product, y=3.0), argnums="y")(2.0, y=5.0) == 4.0
    assert srcad.grad(doubled)(2.0, 3.0) == 24.0
    assert srcad.grad(doubled, "y")(2.0, 3.0) == 8.0
    assert srcad.grad(functools.lru_cache(product))(2.0, 3.0) == 12.0


def test_partial_of_arrays():
    weights = np.array([1.0, 2.0])
    f = functools.partial(lambda w, x: np.sum(w * x * x), weights)
    d = srcad.grad(f)
    np.testing.assert_array_equal(d(np.ones(2)), [2.0, 4.0])
    weights[0] = 5.0
    np.testing.assert_array_equal(d(np.ones(2)), [10.0, 4.0])


# ---- which argument


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        (0, 12.0),
        (1, 4.0),
        (-1, 4.0),
        (-2, 12.0),
        ("x", 12.0),
        ("y", 4.0),
        ((0, 1), (12.0, 4.0)),
        ([0, 1], (12.0, 4.0)),
        (("y", 0), (4.0, 12.0)),
        ((-1,), (4.0,)),
    ],
)
def test_argnums(argnums, expected):
    assert srcad.grad(product, argnums)(2.0, 3.0) == expected
    assert srcad.grad(product, argnums)(2.0, y=3.0) == expected
    assert srcad.value_and_grad(product, argnums)(2.0, 3.0) == (12.0, expected)


def test_argnums_of_defaults_and_keywords():
    assert srcad.grad(defaulted, "y")(1.0) == 3.0
    assert srcad.grad(defaulted, "z")(1.0) == 2.0
    assert srcad.grad(defaulted, (0, "y", "z"))(1.0, 5.0) == (15.0, 3.0, 5.0)
    assert srcad.grad(defaulted, 1)(1.0, z=5.0) == 5.0
    assert srcad.grad(variadic)(1.0, 2.0, s=3.0) == 6.0
    assert srcad.grad(variadic, (0, 1, "s"))(1.0, 2.0, s=3.0) == (6.0, 3.0, 2.0)


@pytest.mark.parametrize("argnums", [True, (), 1.5, None, (0, None)])
def test_argnums_that_are_none(argnums):
    with pytest.raises(TypeError, match="argnums"):
        srcad.grad(product, argnums)


# ---- decorators and options


@srcad.grad
def plain_gradient(x):
    return x**3


@srcad.grad(argnums=(0, "w"), has_aux=True)
def gradient_with_aux(x, *, w=2.0):
    return x * w, {"x": x, "text": "aux", "n": 3}


def test_decorators():
    assert plain_gradient(2.0) == 12.0
    gradients, aux = gradient_with_aux(3.0, w=5.0)
    assert gradients == (5.0, 3.0)
    assert aux == {"x": 3.0, "text": "aux", "n": 3}
    for transform in (srcad.jacfwd, srcad.jacrev, srcad.jacobian, srcad.derivative):
        assert transform(argnums=1)(product)(2.0, 3.0) == 4.0
        assert transform(product)(2.0, 3.0) == 12.0
    assert srcad.hessian(argnums=0)(product)(2.0, 3.0) == 6.0


def squares(x, scale=2.0):
    y = x * x * scale
    return y, {"name": "squares", "parts": [y, None], "count": 3}


def sum_of_squares(x, scale=2.0):
    y, aux = squares(x, scale)
    return y.sum(), aux


X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("transform", [srcad.jacrev, srcad.jacfwd, srcad.jacobian])
@pytest.mark.parametrize("argnums", [0, (0, "scale")])
@pytest.mark.parametrize("x", [X, 2.0, np.ones(0)], ids=["array", "number", "empty"])
def test_has_aux_beside_a_jacobian(transform, argnums, x):
    found, aux = transform(squares, argnums, has_aux=True)(x, scale=3.0)
    plain = transform(lambda x, scale: squares(x, scale)[0], argnums)(x, scale=3.0)
    np.testing.assert_equal(found, plain)
    np.testing.assert_equal(aux, squares(x, 3.0)[1])


def test_has_aux_beside_second_derivatives_and_tangents():
    second, aux = srcad.hessian(sum_of_squares, (0, 1), has_aux=True)(X, 2.0)
    np.testing.assert_equal(second, ((4 * np.eye(3), 2 * X), (2 * X, 0.0)))
    np.testing.assert_equal(aux, sum_of_squares(X)[1])
    assert srcad.derivative(squares, has_aux=True)(3.0) == (12.0, squares(3.0)[1])
    assert srcad.jvp(squares, (3.0,), (10.0,), has_aux=True) == (18.0, 120.0, squares(3.0)[1])
    with pytest.raises(NotDifferentiable, match="returns \\(value, auxiliary data\\)"):
        srcad.jacfwd(lambda x: x * x, has_aux=True)(X)


def test_has_aux_inside_a_differentiated_function():
    def whole(x):
        first, aux = srcad.jacfwd(squares, has_aux=True)(x)
        value, tangent, more = srcad.jvp(squares, (x,), (x,), has_aux=True)
        second, last = srcad.hessian(sum_of_squares, has_aux=True)(x)
        parts = aux["parts"][0] + value * tangent * more["parts"][0]
        return (first * first).sum() + parts.sum() + second.sum() * last["parts"][0].sum()

    step = 1e-6 * np.eye(3)
    slopes = [(whole(X + h) - whole(X - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(srcad.grad(whole)(X), slopes, rtol=1e-7)


def test_tangents_of_tangents_of_a_list_with_whole_numbers():
    def cube(t):
        return np.sum(np.array([t**3, 0]) ** 2)

    assert srcad.jacfwd(srcad.jacfwd(cube))(0.5) == pytest.approx(30 * 0.5**4)


def test_unknown_keywords():
    with pytest.raises(TypeError, match="'argnum': did you mean 'argnums'"):
        srcad.grad(squares, argnum=0)
    with pytest.raises(TypeError, match="'by': there are argnums, has_aux, options"):
        srcad.grad(squares, by=0)


def test_has_aux():
    def f(x):
        return x * x, (x, "text")

    assert srcad.grad(f, has_aux=True)(3.0) == (6.0, (3.0, "text"))
    assert srcad.value_and_grad(f, has_aux=True)(3.0) == ((9.0, (3.0, "text")), 6.0)
    value, pull, aux = srcad.vjp(f, 3.0, has_aux=True)
    assert (value, pull(1.0), aux) == (9.0, (6.0,), (3.0, "text"))
    jacobian, aux = srcad.jacrev(lambda x: (x * np.ones(2), x), has_aux=True)(3.0)
    np.testing.assert_array_equal(jacobian, np.ones(2))
    assert aux == 3.0


def test_stop_gradient():
    assert srcad.stop_gradient(3.0) == 3.0
    assert srcad.grad(lambda x: x * srcad.stop_gradient(x))(3.0) == 3.0
    assert srcad.jvp(lambda x: x * srcad.stop_gradient(x), (3.0,), (1.0,)) == (9.0, 3.0)


def test_stop_gradient_of_containers():
    cut = srcad.stop_gradient

    def f(params, xs):
        total = params["scale"] * cut(params)["scale"]
        for fixed, x in zip(cut(xs), xs, strict=True):
            total += fixed * x
        first, (second, _) = cut((total, [xs[0], params]))
        return total + first * second

    gradient = srcad.grad(f, argnums=(0, 1))({"scale": 2.0, "offset": 1.0}, [3.0, 4.0])
    assert gradient == ({"scale": 2.0, "offset": 0.0}, [3.0, 4.0])
    assert srcad.jvp(lambda x: x * cut([x, [x]])[1][0], (3.0,), (1.0,)) == (9.0, 3.0)


@srcad.opaque
def settings(n):
    return n + 1


def test_opaque():
    assert srcad.grad(lambda x: x * settings(3))(2.0) == 4.0
    with pytest.raises(srcad.errors.MissingRule, match=r"settings is marked srcad\.opaque"):
        srcad.grad(lambda x: x * settings(x))(2.0)


# ---- vjp, jvp, Jacobians, Hessians


def test_a_pullback_can_be_called_often():
    x = np.array([1.0, 2.0])
    out, pull = srcad.vjp(lambda v: v * v, x)
    np.testing.assert_array_equal(out, [1.0, 4.0])
    for scale in (1.0, 2.0, 1.0):
        (bar,) = pull(np.array([scale, 0.0]))
        np.testing.assert_array_equal(bar, [2.0 * scale, 0.0])
    ct = np.ones(2)
    (bar,) = pull(ct)
    bar += 100.0
    np.testing.assert_array_equal(ct, np.ones(2))
    np.testing.assert_array_equal(pull(ct)[0], [2.0, 4.0])
    assert "lambda_rev" in repr(pull)
    assert "def lambda_rev" in pull.source


def test_vjp_of_an_identity_does_not_hand_out_the_cotangent():
    ct = np.ones(2)
    _, pull = srcad.vjp(lambda v: v, np.zeros(2))
    (bar,) = pull(ct)
    bar += 1.0
    np.testing.assert_array_equal(ct, np.ones(2))


def test_jvp():
    assert srcad.jvp(product, (2.0, 3.0), (1.0, 0.0)) == (12.0, 12.0)
    assert srcad.jvp(product, [2.0, 3.0], [0.0, 1.0]) == (12.0, 4.0)


def test_the_tangent_of_a_constant_is_zero_where_that_is_a_number():
    def f(x):
        return x * x, 1j, 2, True, "a", None

    assert srcad.jvp(f, (2.0,), (1.0,)) == (
        (4.0, 1j, 2, True, "a", None),
        (4.0, 0, 0, None, None, None),
    )
    assert srcad.jacfwd(lambda x: [x * x, 1j])(2.0) == srcad.jacrev(lambda x: [x * x, 1j])(2.0)


def test_jacobians_agree():
    x = np.array([0.5, 2.0])
    expected = np.array([[2.0, 0.5], [np.cos(0.5), 0.0], [0.0, 1.0]])
    for transform in (srcad.jacfwd, srcad.jacrev, srcad.jacobian):
        np.testing.assert_allclose(transform(vector)(x), expected, rtol=1e-15)
    jx, jy = srcad.jacfwd(lambda x, y: x * y, (0, 1))(x, 3.0)
    np.testing.assert_array_equal(jx, 3.0 * np.eye(2))
    np.testing.assert_array_equal(jy, x)


def test_jacobian_of_matrices():
    a = np.arange(6.0).reshape(2, 3)
    for transform in (srcad.jacfwd, srcad.jacrev, srcad.jacobian):
        found = transform(lambda a: a.T)(a)
        assert found.shape == (3, 2, 2, 3)
        np.testing.assert_array_equal(found, np.einsum("il,jk->ijkl", np.eye(3), np.eye(2)))


def test_hessian_of_a_tuple_is_a_tuple_of_tuples():
    assert srcad.hessian(product, (0, 1))(2.0, 3.0) == ((6.0, 4.0), (4.0, 0.0))
    (xx, xy), (yx, yy) = srcad.hessian(lambda x, y: cubes(x) * np.sum(y * y), (0, 1))(
        np.arange(3.0), np.ones(2)
    )
    np.testing.assert_array_equal(xx, np.diag([0.0, 12.0, 24.0]))
    np.testing.assert_array_equal(xy, yx.T)
    assert (xy.shape, yy.shape) == ((3, 2), (2, 2))


def test_hvp():
    x = np.arange(3.0)
    np.testing.assert_array_equal(srcad.hvp(cubes, (x,), (np.ones(3),)), 6 * x)
    assert srcad.hvp(product, (2.0, 3.0), (1.0, 0.0)) == (6.0, 4.0)


# ---- composition


def test_third_order():
    g = srcad.grad
    assert g(g(g(lambda x: x**4)))(2.0) == 48.0
    assert srcad.derivative(srcad.derivative(g(math.sin)))(1.0) == pytest.approx(-math.cos(1.0))


def inner_vjp(x):
    _, pull = srcad.vjp(lambda z: z**3, x)
    return pull(1.0)[0]


def inner_jvp(x):
    return srcad.jvp(lambda z: z**3, (x,), (1.0,))[1]


def inner_hvp(x):
    return srcad.hvp(lambda z: z**3, (x,), (1.0,))


def inner_decorators(x):
    @srcad.grad
    def first(z):
        return z**3

    @srcad.value_and_grad(argnums=0)
    def second(z):
        return z**3

    return first(x) + second(x)[1]


def inner_closure(x, y):
    def cube(z):
        return z * z * z * y

    return srcad.grad(cube)(x)


def inner_aux(x):
    value, pull, aux = srcad.vjp(lambda z: (z**3, z), x, has_aux=True)
    return pull(1.0)[0] + 0.0 * value + aux


def inner_vjp_of_what_is_written_later(x):
    u = np.array([x, 1.0])
    _, pull = srcad.vjp(lambda z: np.sum(z**3 * u), u[:1])
    u[:] = -1.0
    return pull(1.0)[0][0]


@pytest.mark.parametrize(
    ("function", "value", "slope"),
    [
        (inner_vjp, 12.0, 12.0),
        (inner_vjp_of_what_is_written_later, 36.0, 48.0),
        (inner_jvp, 12.0, 12.0),
        (inner_hvp, 12.0, 6.0),
        (inner_decorators, 24.0, 24.0),
        (inner_aux, 14.0, 13.0),
    ],
)
def test_derivatives_inside_functions(function, value, slope):
    assert function(2.0) == value
    assert srcad.jvp(function, (2.0,), (1.0,)) == (value, slope)
    assert srcad.value_and_grad(function)(2.0) == (value, slope)


def test_closures_of_derivatives():
    assert srcad.grad(inner_closure, (0, 1))(2.0, 3.0) == (36.0, 12.0)
    outer = srcad.grad(product)
    assert srcad.grad(lambda x: outer(x, 3.0) ** 2)(2.0) == 144.0


def test_perturbations_are_not_confused():
    # d/dx (x · d/dy (x + y)) is 1, and 2 where the two perturbations are taken for one
    assert srcad.grad(lambda x: x * srcad.grad(lambda y: x + y)(1.0))(1.0) == 1.0
    assert srcad.derivative(lambda x: x * srcad.derivative(lambda y: x + y)(1.0))(1.0) == 1.0


weights = np.array([1.0, 2.0])


def weighted_squares(x):
    return x * x * weights


def exponentials(x):
    return np.exp(x)


def product_of_items(values):
    return values[0] * values[1] * np.sum(values[2] ** 2)


def rows_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total = total + np.sum(np.sin(x[i]) * x[i])
    return total


def cleared(value):
    """Change a value in place, as far as that is possible."""
    if isinstance(value, np.ndarray):
        value[...] = 0.0
    elif isinstance(value, list):
        for item in value:
            cleared(item)
        value[0] = 9.0


@pytest.mark.parametrize(
    ("function", "x", "ct"),
    [
        (weighted_squares, np.array([1.0, 2.0]), np.ones(2)),
        (exponentials, np.array([1.0, 2.0]), np.ones(2)),
        (product_of_items, [2.0, 3.0, np.array([1.0, 2.0])], 1.0),
        (rows_in_a_loop, np.arange(6.0).reshape(3, 2), 1.0),
    ],
)
def test_a_pullback_is_that_of_the_point(function, x, ct):
    value, pull = srcad.vjp(function, x)
    (wanted,) = pull(ct)
    for changeable in (x, value, weights):
        cleared(changeable)
    (found,) = pull(ct)
    weights[:] = 1.0, 2.0
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
