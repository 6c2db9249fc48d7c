"""What a function refers to: data is read at each call, code and whole numbers are guarded."""

import enum
import functools
import sys
import types

import numpy as np
import pytest

import srcad

COUNT = 3
SCALE = 2.0
WEIGHTS = np.ones(3)
ITEMS = [1.0, 2.0]
TABLE = {"w": 2.0, "n": 2}


def helper(x):
    return x * x


def uses_globals(x):
    return helper(x) * COUNT


def uses_data(x):
    return np.sum(x * WEIGHTS) * SCALE


class Body:
    factor = 2

    def __init__(self, a, n=2):
        self.a = a
        self.n = n

    def method(self, x):
        return self.a * x**self.n * self.factor

    def outer(self, x):
        return self.inner(x)

    def inner(self, x):
        return x


@pytest.fixture
def patch(monkeypatch):
    return lambda name, value: monkeypatch.setitem(globals(), name, value)


def test_global_numbers(patch):
    d = srcad.grad(uses_globals)
    assert d(2.0) == 12.0
    for value, expected in ((5, 20.0), (2.5, 10.0), (True, 4.0), (3, 12.0)):
        patch("COUNT", value)
        assert d(2.0) == expected


def test_helper_functions(patch):
    d = srcad.grad(uses_globals)
    assert d(2.0) == 12.0
    old = helper
    patch("helper", lambda x: x)
    assert d(2.0) == 3.0
    patch("helper", old)
    assert d(2.0) == 12.0


def test_a_function_whose_code_or_defaults_are_replaced():
    def inner(x, k=2, *, m=1):
        return x * k * m

    def other(x, k=2, *, m=1):
        return x * k * m * 10

    def f(x):
        return inner(x)

    d = srcad.grad(f)
    assert d(1.0) == 2.0
    inner.__defaults__ = (3,)
    assert d(1.0) == 3.0
    inner.__kwdefaults__["m"] = 4
    assert d(1.0) == 12.0
    inner.__code__ = other.__code__
    assert d(1.0) == 120.0


def test_defaults_of_the_differentiated_function():
    def f(x, k=2.0, *, m=1.0):
        return x * k * m

    d = srcad.grad(f)
    assert d(1.0) == 2.0
    f.__defaults__ = (4.0,)
    assert d(1.0) == 4.0
    f.__kwdefaults__ = {"m": 3.0}
    assert d(1.0) == 12.0


def test_mutable_defaults():
    def f(x, acc=[2.0]):
        return x * acc[0]

    def g(x):
        return f(x)

    for d in (srcad.grad(f), srcad.grad(g)):
        f.__defaults__[0][0] = 2.0
        assert d(1.0) == 2.0
        f.__defaults__[0][0] = 5.0
        assert d(1.0) == 5.0


def test_global_arrays_and_floats(patch):
    d = srcad.grad(uses_data)
    x = np.ones(3)
    np.testing.assert_array_equal(d(x), np.full(3, 2.0))
    patch("SCALE", 3.0)
    np.testing.assert_array_equal(d(x), np.full(3, 3.0))
    patch("WEIGHTS", np.array([7.0, 1.0, 1.0]))
    np.testing.assert_array_equal(d(x), [21.0, 3.0, 3.0])
    WEIGHTS[1] = 2.0
    np.testing.assert_array_equal(d(x), [21.0, 6.0, 3.0])
    patch("WEIGHTS", 2.0)
    np.testing.assert_array_equal(d(x), np.full(3, 6.0))
    patch("WEIGHTS", np.ones((3, 3)))
    np.testing.assert_array_equal(d(x), np.full(3, 9.0))
    patch("WEIGHTS", np.ones((2, 1)))
    np.testing.assert_array_equal(d(x), np.full(3, 6.0))


def test_global_containers(patch):
    def f(x):
        return x * TABLE["w"] * TABLE["n"] + ITEMS[0] * x

    d = srcad.grad(f)
    assert d(1.0) == 5.0
    patch("TABLE", {"w": 5.0, "n": 3})
    assert d(1.0) == 16.0
    TABLE["n"] = 4
    assert d(1.0) == 21.0
    ITEMS[0] = 10.0
    assert d(1.0) == 30.0
    ITEMS[0] = 1.0


def test_a_table_of_functions():
    table = {"f": helper}

    def f(x):
        return table["f"](x)

    d = srcad.grad(f)
    assert d(2.0) == 4.0
    table["f"] = lambda x: x
    assert d(2.0) == 1.0


def test_closure_variables():
    k = 2

    def f(x):
        return x * k  # noqa: F821 - it is deleted at the end

    d = srcad.grad(f)
    assert d(1.0) == 2.0
    k = 3.5
    assert d(1.0) == 3.5
    k = np.ones(2)
    with pytest.raises(srcad.errors.NotDifferentiable, match="array"):
        d(1.0)
    k = True
    assert d(1.0) == 1.0
    del k
    with pytest.raises(srcad.errors.SrcadError, match="k has no value"):
        d(1.0)


def test_a_name_that_comes_to_hide_a_builtin():
    def f(x):
        return abs(x) * 2

    d = srcad.grad(f)
    assert d(-3.0) == -2.0
    globals()["abs"] = lambda x: x * 10
    try:
        assert d(-3.0) == 20.0
    finally:
        del globals()["abs"]
    assert d(-3.0) == -2.0


def test_module_attributes():
    module = types.ModuleType("guarded_module")
    module.k, module.z = 2, 2.0
    sys.modules["guarded_module"] = module
    try:

        def f(x):
            return x * module.k * module.z

        d = srcad.grad(f)
        assert d(1.0) == 4.0
        module.k = 3
        assert d(1.0) == 6.0
        module.z = 3.0
        assert d(1.0) == 9.0
        del module.z
        with pytest.raises(srcad.errors.SrcadError, match="'z'"):
            d(1.0)
    finally:
        del sys.modules["guarded_module"]


# ---- objects


def test_attributes_of_a_bound_method():
    body = Body(2.0)
    d = srcad.grad(body.method)
    assert d(1.0) == 8.0
    body.a = 3.0
    assert d(1.0) == 12.0
    body.n = 3
    assert d(1.0) == 18.0
    body.factor = 1
    assert d(1.0) == 9.0


def test_attributes_of_a_class(monkeypatch):
    d = srcad.grad(Body(2.0).method)
    direct = srcad.grad(lambda x: x * Body.factor)
    assert (d(1.0), direct(1.0)) == (8.0, 2.0)
    monkeypatch.setattr(Body, "factor", 5)
    assert (d(1.0), direct(1.0)) == (20.0, 5.0)
    monkeypatch.setattr(Body, "factor", 1.5)
    assert (d(1.0), direct(1.0)) == (6.0, 1.5)


def test_methods_that_are_replaced(monkeypatch):
    body = Body(2.0)
    d = srcad.grad(body.outer)
    assert d(1.0) == 1.0
    monkeypatch.setattr(Body, "inner", lambda self, x: 3 * x)
    assert d(1.0) == 3.0
    body.inner = lambda x: 7 * x
    assert d(1.0) == 7.0


def test_objects_as_arguments():
    def f(x, body):
        return x * body.a * body.n

    d = srcad.grad(f)
    body = Body(2.0)
    assert d(1.0, body) == 4.0
    body.n = 3
    assert d(1.0, body) == 6.0
    assert d(1.0, Body(5.0, 2)) == 10.0
    assert srcad.grad(lambda x, p, q: x * p.a * q.a)(1.0, body, Body(7.0)) == 14.0


def test_objects_that_refer_to_themselves():
    body = Body(2.0)
    body.me = body
    assert srcad.grad(body.method)(1.0) == 8.0
    assert srcad.grad(lambda x, b: x * b.me.a)(1.0, body) == 2.0


def test_attributes_that_come_and_go():
    def f(x, body):
        return x * body.extra if hasattr(body, "extra") else x

    d = srcad.grad(f)
    body = Body(2.0)
    assert d(1.0, body) == 1.0
    body.extra = 5.0
    assert d(1.0, body) == 5.0
    del body.extra
    assert d(1.0, body) == 1.0


def test_partial_objects():
    def f(x, k, n):
        return x * k * n

    part = functools.partial(f, k=2.0, n=3)
    direct, through = srcad.grad(part), srcad.grad(lambda x: part(x))
    assert (direct(1.0), through(1.0)) == (6.0, 6.0)
    part.keywords["k"] = 5.0
    assert (direct(1.0), through(1.0)) == (15.0, 15.0)
    part.keywords["n"] = 4
    assert (direct(1.0), through(1.0)) == (20.0, 20.0)
    part = functools.partial(f, k=7.0, n=3)
    assert through(1.0) == 21.0


def test_a_derivative_that_is_replaced():
    inner = srcad.grad(lambda x: x**3)

    def f(x):
        return inner(x)

    d = srcad.grad(f)
    assert d(1.0) == 6.0
    inner = srcad.grad(lambda x: x**2)
    assert d(1.0) == 2.0


# ---- code is kept


def count_compilations(monkeypatch):
    from srcad import pipeline

    found = []
    real = pipeline.lower_function

    def counted(*args, **keywords):
        found.append(args)
        return real(*args, **keywords)

    monkeypatch.setattr(pipeline, "lower_function", counted)
    return found


def test_nothing_is_compiled_twice(monkeypatch, patch):
    found = count_compilations(monkeypatch)

    def f(x, body, items):
        return np.sum(x * WEIGHTS) * body.a * items["k"] * SCALE + helper(0.0) * COUNT

    d = srcad.grad(f)
    for size in (3, 5, 3):
        patch("WEIGHTS", np.ones(size))
        patch("SCALE", float(size))
        d(np.ones(size), Body(1.0 * size), {"k": 2.0})
    assert len(found) == 1
    for count in (1, 2, 1, 2, 1):
        patch("COUNT", count)
        d(np.ones(size), Body(1.0 * size), {"k": 2.0})
    assert len(found) == 3
    d(np.ones(4), Body(2.0), {"k": 2.0}) if size == 4 else None
    for _ in range(2):  # sizes that were equal are not
        patch("WEIGHTS", np.ones((4, 1)))
        d(np.ones(3), Body(1.0), {"k": 2.0})
    assert len(found) == 4


def by_what_is_imported(x):
    return x * x if "numpy" in sys.modules else x


def test_generated_modules_are_not_imports(monkeypatch):
    found = count_compilations(monkeypatch)
    gradient = srcad.grad(by_what_is_imported)
    assert gradient(3.0) == 6.0
    others = [srcad.grad(lambda x, k=k: k * x) for k in range(3)]
    assert [other(1.0) for other in others] == [0.0, 1.0, 2.0]
    count = len(found)
    assert gradient(3.0) == 6.0
    others.clear()
    assert gradient(3.0) == 6.0
    assert len(found) == count
    monkeypatch.delitem(sys.modules, "numpy")
    assert gradient(3.0) == 1.0


def test_vjp_and_jvp_are_compiled_once(monkeypatch):
    found = count_compilations(monkeypatch)

    def f(x):
        return x * x

    for x in (1.0, 2.0):
        assert srcad.vjp(f, x)[1](1.0) == (2 * x,)
        assert srcad.jvp(f, (x,), (1.0,)) == (x * x, 2 * x)
    assert len(found) == 2


# ---- objects as flags


class Mode(enum.Enum):
    DOUBLE = 2
    TRIPLE = 3


class Sentinel:
    pass


DEFAULT = Sentinel()


def by_mode(x, mode=Mode.DOUBLE):
    return x * 2 if mode is Mode.DOUBLE else x * 3


def by_sentinel(x, flag=DEFAULT):
    return x * 2 if flag is DEFAULT else x * 3


def test_members_of_enumerations():
    d = srcad.grad(by_mode)
    assert [d(1.0), d(1.0, Mode.TRIPLE), d(1.0, Mode.DOUBLE)] == [2.0, 3.0, 2.0]


def test_identity_of_objects():
    d = srcad.grad(by_sentinel)
    found = [d(1.0), d(1.0, Sentinel()), d(1.0, DEFAULT), d(1.0, None)]
    assert found == [2.0, 3.0, 2.0, 3.0]
    same = srcad.grad(lambda x, a, b: x * 2 if a is b else x * 3)
    one, other = Sentinel(), Sentinel()
    assert [same(1.0, one, one), same(1.0, one, other), same(1.0, other, other)] == [2.0, 3.0, 2.0]
    items = [1.0]
    assert [same(1.0, items, items), same(1.0, items, [1.0])] == [2.0, 3.0]


# ---- rules


def scaled(x):
    return np.sum(x * WEIGHTS)


@srcad.rules.differential(scaled)
def scaled_rule(x, *, dx):
    return SCALE * np.sum(dx * WEIGHTS)


def test_what_a_users_rule_refers_to(patch):
    d = srcad.grad(scaled)
    patch("WEIGHTS", np.array([1.0, 2.0]))
    np.testing.assert_array_equal(d(np.ones(2)), [2.0, 4.0])
    patch("SCALE", 5.0)
    patch("WEIGHTS", np.array([1.0, 3.0]))
    np.testing.assert_array_equal(d(np.ones(2)), [5.0, 15.0])


def takes_three(p):
    return three(*p)


def three(a, b, c=2.0):
    return a * b * c


@pytest.mark.parametrize("make", [np.array, list])
def test_code_that_takes_an_array_apart_is_for_its_size(make):
    gradient = srcad.grad(takes_three)
    for _ in range(2):
        np.testing.assert_array_equal(gradient(make([3.0, 4.0])), [8.0, 6.0])
        np.testing.assert_array_equal(gradient(make([3.0, 4.0, 5.0])), [20.0, 15.0, 12.0])
        with pytest.raises((TypeError, srcad.errors.UnsupportedSyntax), match="4 given|arguments"):
            gradient(make([1.0, 2.0, 3.0, 4.0]))


def test_a_call_like_the_first_is_not_looked_up(monkeypatch):
    def f(x, y):
        return np.sum(x * y) * 2.0

    d = srcad.grad(f)
    x = np.array([1.0, 2.0])
    d(x, 3.0)
    d._code.scalars.clear()
    d._code.doors.clear()
    monkeypatch.setattr(
        sys.modules["srcad.derivative"], "key_of_all", None
    )  # what the second door asks
    assert (d(x, 4.0) == 8.0).all()


def test_calls_unlike_the_first():
    d = srcad.value_and_grad(lambda x, y: np.sum(x * y))
    x = np.array([1.0, 2.0])
    for _ in range(3):
        for a, b in (
            (x, x + 1.0),
            (x, 3.0),
            (np.array([1.0, 2.0, 3.0]), 2.0),
            (x[:1], x),
            (np.array(2.0), 3.0),
            (1.5, 2.0),
            (1.5, 2),
        ):
            value, slope = d(a, b)
            assert value == np.sum(a * b)
            assert np.shape(slope) == np.shape(a)
            full = np.broadcast_to(b, np.shape(a * b))
            assert np.allclose(slope, full if np.shape(full) == np.shape(a) else np.sum(full))


def test_parameters_with_names_that_checks_have():
    def f(type, v, is_same, run, c0):
        return type * v * SCALE + is_same * run - c0

    d = srcad.grad(f, argnums=(0, 4))
    for _ in range(2):
        assert d(2.0, 3.0, 4.0, 5.0, 6.0) == (6.0, -1.0)


def test_a_rule_that_comes_later_holds_for_calls_like_the_first():
    def square(x):
        return x * x

    d = srcad.grad(lambda x: 2.0 * square(x))
    assert (d(3.0), d(3.0)) == (12.0, 12.0)

    @srcad.rules.differential(square)
    def square_rule(x, *, dx):
        return 7.0 * dx

    assert d(3.0) == 14.0
