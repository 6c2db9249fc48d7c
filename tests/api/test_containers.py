"""Containers as arguments, results, cotangents and tangents: gradients have the same structure."""

from dataclasses import dataclass

import numpy as np

import srcad
from tests.api.functions import Model, Pair, Point


def assert_nest(found, expected):
    assert type(found) is type(expected) or isinstance(expected, float)
    match expected:
        case dict():
            assert list(found) == list(expected)
            for key in expected:
                assert_nest(found[key], expected[key])
        case tuple() | list():
            assert len(found) == len(expected)
            for one, other in zip(found, expected, strict=True):
                assert_nest(one, other)
        case Model() | Pair():
            assert_nest(found.a, expected.a)
            assert_nest(found.b, expected.b)
        case np.ndarray():
            np.testing.assert_array_equal(found, expected)
        case _:
            assert isinstance(found, float)
            assert found == expected


def of_dict(p):
    return p["a"] * p["b"][0] * p["b"][1]


def of_point(p):
    return p.a * np.sum(p.b)


def of_nest(p, extra):
    (u, v), w = p["t"], p["m"]
    return u * v[0] * np.sum(w.b) + w.a * extra[0].a


def test_arguments():
    assert_nest(srcad.grad(of_dict)({"a": 2.0, "b": [3.0, 4.0]}), {"a": 12.0, "b": [8.0, 6.0]})
    assert_nest(srcad.grad(of_point)(Point(2.0, np.ones(2))), Point(2.0, np.full(2, 2.0)))
    assert_nest(srcad.grad(of_point)(Model(2.0, np.ones(2))), Model(2.0, np.full(2, 2.0)))
    assert_nest(
        srcad.grad(lambda p: p.a * p.b.a)(Pair(2.0, Pair(1.0, 3.0))), Pair(1.0, Pair(2.0, 0.0))
    )


def test_deep_nests():
    p = {"t": (2.0, [3.0, 4.0]), "m": Model(5.0, np.ones(2))}
    extra = [Point(7.0, 1.0)]
    gp, ge = srcad.grad(of_nest, (0, 1))(p, extra)
    assert_nest(gp, {"t": (6.0, [4.0, 0.0]), "m": Model(7.0, np.full(2, 6.0))})
    assert_nest(ge, [Point(5.0, 0.0)])
    assert p["t"] == (2.0, [3.0, 4.0])


def test_leaves_that_are_nothing_stay():
    assert srcad.grad(lambda p: p[0] * 2.0)((1.0, None)) == (2.0, None)


def result(p):
    return {"u": p.a * p.b, "v": (p.a, [p.b, 3.0])}


def test_results_cotangents_and_tangents():
    p = Point(2.0, np.ones(2))
    out, pull = srcad.vjp(result, p)
    assert_nest(out, {"u": np.full(2, 2.0), "v": (2.0, [np.ones(2), 3.0])})
    (bar,) = pull({"u": np.ones(2), "v": (1.0, [np.ones(2), 0.0])})
    assert_nest(bar, Point(3.0, np.full(2, 3.0)))
    _, tangent = srcad.jvp(result, (p,), (Point(1.0, np.zeros(2)),))
    assert_nest(tangent, {"u": np.ones(2), "v": (1.0, [np.zeros(2), 0.0])})


def test_results_that_are_dataclasses():
    out, pull = srcad.vjp(lambda a, b: Model(a * a, a * b), 2.0, np.ones(2))
    assert_nest(out, Model(4.0, np.full(2, 2.0)))
    assert_nest(pull(Model(1.0, np.ones(2))), (6.0, np.full(2, 2.0)))
    model = Model(2.0, np.ones(2))
    _, tangent = srcad.jvp(lambda p: Model(p.a * 2, p.b * p.a), (model,), (Model(1.0, np.ones(2)),))
    assert_nest(tangent, Model(2.0, np.full(2, 3.0)))


def test_a_dataclass_is_made_by_a_call_where_that_does_nothing_else():
    @dataclass
    class Scale:
        a: float
        b: float = 1.0

    @dataclass
    class Checked(Scale):
        def __post_init__(self):
            assert self.a > 0

    @dataclass
    class Watched(Scale):
        def __setattr__(self, name, value):
            assert value > 0
            object.__setattr__(self, name, value)

    def f(p):
        return -p.a * p.b

    assert "return Scale(a=" in srcad.grad(f).source_for(Scale(2.0))
    for cls in (Checked, Watched):  # a gradient need not be what an instance must be
        found = srcad.grad(f)(cls(2.0, 3.0))
        assert (type(found), found.a, found.b) == (cls, -3.0, -2.0)


def test_jacobians():
    def f(x, y):
        return {"a": x * y, "b": (np.sum(x), y)}

    for transform in (srcad.jacfwd, srcad.jacrev):
        found = transform(f)(np.ones(2), 2.0)
        assert_nest(found, {"a": 2.0 * np.eye(2), "b": (np.ones(2), np.zeros(2))})
    of_argument = srcad.jacrev(lambda p: p["a"] * p["b"])({"a": 2.0, "b": np.ones(2)})
    assert_nest(of_argument, {"a": np.ones(2), "b": 2.0 * np.eye(2)})
    assert_nest(srcad.jacfwd(lambda p: p["a"] * p["b"])({"a": 2.0, "b": np.ones(2)}), of_argument)


def test_jacobians_by_several_arguments_have_the_results_outside():
    def f(x, y):
        return {"a": x * y, "b": (np.sum(x), y)}

    expected = {
        "a": (2.0 * np.eye(2), np.ones(2)),
        "b": ((np.ones(2), 1.0 * 0), (np.zeros(2), 1.0)),
    }
    assert_nest(srcad.jacrev(f, (0, 1))(np.ones(2), 2.0), expected)
    assert_nest(srcad.jacfwd(f, (0, 1))(np.ones(2), 2.0), expected)


def test_hessian_of_a_dict():
    found = srcad.hessian(lambda p: p["a"] ** 2 * np.sum(p["b"] ** 2))({"a": 2.0, "b": np.ones(2)})
    assert_nest(
        found,
        {
            "a": {"a": 4.0, "b": np.full(2, 8.0)},
            "b": {"a": np.full(2, 8.0), "b": 8.0 * np.eye(2)},
        },
    )
