"""What the samples do not reach: branches, lists, unknown ranks, single precision in programs."""

import math
import warnings

import numpy as np
import pytest

import srcad
from srcad.errors import MissingRule, SourceError

# ---- branches do not poison


def guarded_root(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


def guarded_quotient(x):
    return np.sum(np.where(x != 0, np.sin(x) / x, 1.0))


def guarded_log(x):
    return np.sum(np.where(x > 0, np.log(x), 0.0) * 2)


def positive_quotient(x):
    return np.sum(np.maximum(-1 / (x * x), 0.0))


@pytest.mark.parametrize("f", [guarded_root, guarded_quotient, guarded_log, positive_quotient])
def test_a_branch_not_taken_does_not_poison(f):
    x = np.array([-1.0, 0.0, 2.0])
    with np.errstate(all="ignore"):
        gradient = srcad.grad(f)(x)
        change = srcad.jvp(f, (x,), (np.array([0.0, 1.0, 0.0]),))[1]
    assert np.isfinite(gradient).all()
    assert gradient[1] == 0
    assert change == 0


def guarded_entropy(x):
    return np.sum(np.where(x > 0, x * np.log(x), 0.0))


def guarded_exponential(x):
    return np.sum(np.where(x < 100, np.exp(x), x))


def guarded_square_of_exponential(x):
    return np.sum(np.where(x < 100, np.exp(x) * np.exp(x), 0.0))


def guarded_arc(x):
    return np.sum(np.where(np.abs(x) < 1, np.arcsin(x) + np.arctanh(x), 0.0))


def picked_entropy(x):
    return np.sum((x * np.log(x))[x > 0])


def finite_or_double(x):
    r = x[0] / x[1]
    return r if np.isfinite(r) else 2 * x[0]


def exponential_that_is_dropped(x):
    y = np.exp(x[0])
    return x[1] if x[0] > 100 else y * x[1]


def root_that_is_dropped(x):
    r = np.sqrt(x[0])
    return x[1] if x[0] <= 0 else r * x[1]


def finite_quotients(x):
    total = 0.0
    for _ in range(3):
        r = x[0] / x[1]
        if np.isfinite(r):
            total = total + r
        else:
            total = total + x[0]
    return total


E = math.e
DROPPED = [
    (guarded_root, [0.0, 4.0], [0, 1 / 4], [0, -1 / 32]),
    (guarded_log, [0.0, 4.0], [0, 1 / 2], [0, -1 / 8]),
    (guarded_quotient, [0.0, np.pi], [0, -1 / np.pi], [0, 2 / np.pi**2]),
    (guarded_entropy, [0.0, 1.0], [0, 1], [0, 1]),
    (picked_entropy, [0.0, 1.0], [0, 1], [0, 1]),
    (guarded_exponential, [1e3, 1.0], [1, E], [0, E]),
    (guarded_square_of_exponential, [1e3, 0.5], [0, 2 * E], [0, 4 * E]),
    (guarded_arc, [1.0, 0.0], [0, 2], [0, 0]),
    (finite_or_double, [1.0, 0.0], [2, 0], [0, 0]),
    (exponential_that_is_dropped, [1e3, 2.0], [0, 1], [0, 0]),
    (root_that_is_dropped, [0.0, 3.0], [0, 1], [0, 0]),
    (finite_quotients, [1.0, 0.0], [3, 0], [0, 0]),
]


@pytest.mark.parametrize(("f", "point", "first", "second"), DROPPED)
def test_what_is_dropped_has_no_derivative_of_any_order(f, point, first, second):
    """The value that is not used, or its slope, is infinite."""
    x = np.array(point)
    units = np.eye(2)
    gradient = srcad.grad(f)

    def part(k):
        return lambda y: srcad.grad(f)(y)[k]

    with np.errstate(all="ignore"):
        forward = [srcad.jvp(f, (x,), (e,))[1] for e in units]
        over_reverse = np.stack([srcad.jvp(gradient, (x,), (e,))[1] for e in units])
        twice = np.stack([srcad.grad(part(k))(x) for k in range(2)])
        np.testing.assert_allclose(gradient(x), first, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(forward, first, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(over_reverse, np.diag(second), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(twice, np.diag(second), rtol=1e-12, atol=1e-14)


def quotient(x, y):
    return x / y


def test_a_row_of_a_jacobian_is_not_poisoned():
    with np.errstate(all="ignore"):
        _, pull = srcad.vjp(quotient, np.array([1.0, 2.0]), np.array([0.0, 4.0]))
        to_x, to_y = pull(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(to_x, [0, 0.25])
    np.testing.assert_array_equal(to_y, [0, -0.125])


def product_of_sines(x, y):
    return np.sum(np.sin(x) / y)


def test_no_protection_where_nothing_is_masked():
    source = srcad.grad(product_of_sines, (0, 1)).source_for(np.ones(3), np.ones(3))
    assert "over" not in source
    assert "over" in srcad.grad(guarded_root).source_for(np.ones(3))


def test_a_quotient_of_large_numbers_has_a_finite_derivative():
    def f(x, y):
        return np.sum(x / y)

    for x, y in ((1e200, 1e200), (np.array([1e-200, 1e250]), np.array([1e-200, 1e249]))):
        to_y = srcad.grad(f, 1)(x, y)
        np.testing.assert_allclose(to_y, -(x / y) / y, rtol=1e-15)
        assert srcad.jvp(f, (x, y), (0 * x, y))[1] == pytest.approx(-np.sum(x / y), rel=1e-15)


# ---- arguments without a derivative beside others


def hypotenuse(x):
    return math.hypot(3, x, 2) + np.hypot(3, x)


def steps_of_two(x):
    return np.sum(np.gradient(np.array([x, x * x, 1.0]), 2) ** 2)


def steps_in_a_list(x):
    return np.sum(np.gradient(np.array([x, x * x, 1.0]), [0, x, 5]) ** 2)


def arrays_of_both(x):
    y = np.array([0, x, [5, 2][0]]) * np.concatenate([[1, x], np.array([3])])
    return np.sum(y * np.hstack([2, x, 3])) + np.sum(np.array([[1, x], [x, 2]]) ** 2)


def interpolated(x):
    return np.interp(0.3, [0, 1, 2], [1, x, 3]) * np.interp(0.3, [0, x, 2], [1, 4, 3])


def extrema_with_integers(x):
    return max(1, x) * min(3, x, 2)


@pytest.mark.parametrize(
    "f",
    [
        hypotenuse,
        steps_of_two,
        steps_in_a_list,
        arrays_of_both,
        interpolated,
        extrema_with_integers,
    ],
    ids=lambda f: f.__name__,
)
def test_integers_among_the_arguments(f):
    x = 1.4
    change = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert srcad.grad(f)(x) == pytest.approx(change, rel=1e-8)
    assert srcad.jvp(f, (x,), (1.0,))[1] == pytest.approx(change, rel=1e-8)
    assert srcad.jacfwd(f)(x) == pytest.approx(change, rel=1e-8)


# ---- objects that hide data


def polynomial(c):
    return np.poly1d(c)(2.0)


def written_number(c):
    return float(str(np.sum(c)))


@pytest.mark.parametrize("f", [polynomial, written_number])
def test_what_an_object_hides_is_refused_and_not_zero(f):
    c = np.array([1.0, 2.0, 3.0])
    for derive in (srcad.grad(f), srcad.jacfwd(f), lambda c: srcad.jvp(f, (c,), (c,))):
        with pytest.raises(SourceError):
            derive(c)


def plane_product(x, y):
    return np.sum(np.cross(x, y))


def test_products_of_plane_vectors_are_refused():
    x = np.arange(6.0).reshape(3, 2)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="3-dimensional"):
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, before 2.5
        srcad.grad(plane_product)(x, x)


def different_rows(x):
    return np.sum(np.unique(x, axis=0))


def four_levels(x):
    return np.sum(np.block([[[[x]]]]))


@pytest.mark.parametrize("f", [different_rows, four_levels])
def test_what_a_composition_does_not_cover_is_refused_where_it_is_called(f):
    for derive in (srcad.grad(f), lambda x: srcad.jvp(f, (x,), (x,))):
        with pytest.raises(MissingRule, match="is not known for these arguments") as caught:
            derive(np.ones(3))
        assert caught.value.place.line == f.__code__.co_firstlineno + 1


PIECES = [np.square, np.negative]


def pieces_in_a_list(x):
    return np.sum(np.piecewise(x, [x > 0], PIECES))


def pieces_that_run_time_chooses(x, k):
    return np.sum(np.piecewise(x, [x > 0], [PIECES[k], PIECES[1 - k]]))


def test_functions_in_a_list_are_not_taken_for_constants():
    """Where they are not known, neither is whether they are `callable`."""
    assert np.array_equal(srcad.grad(pieces_in_a_list)(np.array([0.5, -0.5])), [1, -1])
    assert srcad.derivative(pieces_in_a_list)(0.5) == 1
    with pytest.raises(SourceError):
        srcad.grad(pieces_that_run_time_chooses)(np.array([0.5, -0.5]), 0)


# ---- sizes of arrays of unknown rank


def spectrum_back(x):
    y = x
    for k in range(2):
        y = y if k == 0 else y[:, None] * y
    return np.sum(np.fft.irfft(y) ** 2)


def test_a_mask_made_of_an_unknown_size_is_an_array():
    x = np.array([0.3, -1.2, 0.7])
    untyped = srcad.grad(spectrum_back)._shown()
    np.testing.assert_allclose(untyped.run(x), srcad.grad(spectrum_back)(x), rtol=1e-12)


# ---- lists


def sum_of_squares(a):
    return sum([x * x for x in a])


def largest_times_least(a):
    return max(a) * min(a)


def ends_of_sorted(a):
    b = sorted([x * x for x in a])
    return 2 * b[0] + 3 * b[-1]


def array_of(a):
    return np.sum(np.array([x * x for x in a]) ** 2)


def table_of(a):
    return np.sum(np.array([[x, x * x] for x in a]) ** 2)


def grown(a):
    out = []
    for x in a:
        if x > 0:
            out.append(x * x)
        else:
            out.append(x)
    return np.prod(np.array(out))


def neighbours(a):
    return sum(x * y for x, y in zip(a, a[1:], strict=False))


def exact_sum(a):
    return math.fsum(a) * math.prod(a)


def list_for_an_array(a):
    return np.linalg.norm(a) + np.max(a) * np.mean(a)


def stacked(a):
    return np.sum(np.stack([x * 2 for x in a]) ** 2)


def joined(a):
    return np.sum(np.concatenate([x * 2 for x in a]) ** 3)


def summed(a):
    return np.sum(sum(a) ** 2)


def gram(a):
    return np.sum(np.array(a) @ np.array(a).T)


def flattened(a):
    return np.sum(np.array([x for row in a for x in row]) ** 2)


def nested_sum(a):
    return sum(sum(row) for row in a) * a[0][0]


NUMBERS = [0.5, 1.5, -0.7]
ARRAYS = [np.array([0.3, -1.2]), np.array([0.8, 0.1]), np.array([-0.4, 2.0])]
ROWS = [[0.5, 1.5], [2.0, -0.3]]
ON_LISTS = [
    *[(f, NUMBERS) for f in (sum_of_squares, largest_times_least, ends_of_sorted, array_of)],
    *[(f, NUMBERS) for f in (table_of, grown, neighbours, exact_sum, list_for_an_array)],
    *[(f, ARRAYS) for f in (stacked, joined, summed, gram)],
    *[(f, ROWS) for f in (flattened, nested_sum, gram)],
    (sum_of_squares, [0.1 * k for k in range(1, 15)]),
    (joined, [ARRAYS[0], np.array([1.0])]),
    (joined, (ARRAYS[0], np.array([1.0]))),
]


def _moved(value, direction, h):
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(v, d, h) for v, d in zip(value, direction, strict=True))
    return value + h * direction


def _inner(a, b):
    if isinstance(b, (list, tuple)):
        assert isinstance(a, (list, tuple))
        return sum(_inner(p, q) for p, q in zip(a, b, strict=True))
    assert np.shape(a) == np.shape(b)
    return float(np.sum(a * b))


@pytest.mark.parametrize(("f", "a"), ON_LISTS, ids=lambda v: getattr(v, "__name__", None))
def test_lists(f, a):
    direction = _moved(a, a, -0.5)
    change = (f(_moved(a, direction, 1e-5)) - f(_moved(a, direction, -1e-5))) / 2e-5
    assert _inner(srcad.grad(f)(a), direction) == pytest.approx(change, rel=1e-7, abs=1e-8)
    assert srcad.jvp(f, (a,), (direction,))[1] == pytest.approx(change, rel=1e-7, abs=1e-8)


# ---- ranks that only run time knows: the code for no types at all


def powers(x, y):
    return np.sum(x**2 * y)


def ratio(x, y):
    return np.sum(np.sin(x) / y)


def chosen(x, y):
    return np.sum(np.where(x > y, np.sqrt(x), x * y) + np.maximum(x, y))


def centred(x, y):
    return np.sum(np.exp(x - np.max(x)) * y) + np.mean(x) * np.std(y)


def joined_pair(x, y):
    return np.sum(np.stack([x, 2 * x]) ** 2) + np.prod(y)


def carried(x, y):
    s = 0.0
    for k in range(3):
        s = s * y + x * k
    return np.sum(s * s)


def product(x, y):
    return np.sum((x @ y) ** 2)


def dotted(x, y):
    return np.sum(np.dot(x, y) ** 2)


_random = np.random.default_rng(5)
S, V, W = 0.7, _random.uniform(0.2, 1.2, 3), _random.uniform(0.2, 1.2, 3)
M, N = _random.uniform(0.2, 1.2, (2, 3)), _random.uniform(0.2, 1.2, (3, 2))
PAIRS = [(S, S), (S, V), (V, S), (V, W), (M, V), (V, M), (M, S)]
PRODUCTS = [(V, W), (M, V), (V, N), (M, N)]


@pytest.mark.parametrize(
    ("f", "pairs"),
    [
        *[(f, PAIRS) for f in (powers, ratio, chosen, centred, joined_pair, carried)],
        (product, PRODUCTS),
        (dotted, [*PRODUCTS, (S, V), (M, S)]),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_unknown_ranks(f, pairs):
    untyped = srcad.grad(f, (0, 1))._shown()
    for x, y in pairs:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = untyped.run(x, y)
        wanted = srcad.grad(f, (0, 1))(x, y)
        for p, q in zip(found, wanted, strict=True):
            assert np.shape(p) == np.shape(q)
            np.testing.assert_allclose(p, q, rtol=1e-12)


# ---- single precision


def with_constants(x):
    return 0.5 * np.sum(x**2) + np.mean(x) + np.max(x)


def by_rows(x):
    m = np.reshape(x, (2, 2))
    return np.sum(np.mean(m, axis=0) ** 2) + np.sum(np.max(m, axis=1)) + np.sum(m @ m.T)


def in_a_loop(x):
    s = x
    for k in range(3):
        s = 0.5 * s + k * x
    return np.sum(s)


def element_by_element(x):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] * x[i]
    return s


def from_double(x):
    s = np.zeros(4)
    for k in range(3):
        s = s + k * x
    return np.sum(s * np.linspace(0, 1, 4))


def of_branches(x):
    return np.sum(np.where(x > 0.5, np.sqrt(x), x) + np.maximum(x, 0.3) + np.clip(x, 0.3, 0.6))


def of_moments(x):
    return np.std(x) + np.var(x) + np.prod(x) + np.linalg.norm(x) + np.median(x)


@pytest.mark.parametrize(
    "f",
    [with_constants, by_rows, in_a_loop, element_by_element, from_double, of_branches, of_moments],
)
def test_single_precision_in_programs(f):
    x = np.linspace(0.2, 1, 4)
    small = x.astype(np.float32)
    gradient = srcad.grad(f)(small)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, srcad.grad(f)(x), rtol=1e-5)
    assert srcad.hvp(f, (small,), (small,)).dtype == np.float32
    value, change = srcad.jvp(f, (small,), (small,))
    assert np.asarray(change).dtype <= np.asarray(value).dtype


# ---- what is there on one path only


def largest_of_what_a_branch_makes(x, y):
    for _ in range(2):
        if x[2] > 0:
            y[0] = np.max(np.stack([x, x * x]))
    return math.exp(y[0]) * y[1]


@pytest.mark.parametrize("last", [0.4, -0.4])
@pytest.mark.parametrize("second", [srcad.jacrev, srcad.jacfwd])
def test_shapes_of_what_a_branch_has_not_made(second, last):
    gradient = srcad.grad(largest_of_what_a_branch_makes)
    x, y = np.array([0.7, -1.3, last]), [1.3, -0.5]
    found = second(gradient)(x, y)
    slope, size = 2 * -1.3, 1.3**2  # the largest is the square of the second
    wanted = -0.5 * math.exp(size) * np.array([0.0, slope * slope + 2, 0.0])
    assert np.allclose(found, np.diag(wanted) if last > 0 else 0, rtol=1e-12)


# ---- what is not known of arrays


def cubes_of_scaled(x, w, axes):
    y = np.tensordot(x, w, axes)
    return np.sum((y / y.std(axis=-1, keepdims=True)) ** 3)


def test_deviations_where_the_rank_is_not_known():
    x, w = np.arange(6.0).reshape(2, 3) ** 2, np.cos(np.arange(12.0).reshape(3, 4))
    srcad.testing.check_grads(lambda x, w: cubes_of_scaled(x, w, [[1], [0]]), (x, w))
    found = srcad.grad(cubes_of_scaled)(x, w, [[1], [0]])
    assert np.allclose(found, srcad.grad(lambda x: cubes_of_scaled(x, w, 1))(x), rtol=1e-12)


def of_axes_in_lists(x, w):
    return np.sum(np.tensordot(np.transpose(x, [1, 0]), w, axes=([0], [0])) ** 2)


def test_axes_in_lists_are_known():
    x, w = np.arange(6.0).reshape(2, 3) ** 2, np.cos(np.arange(12.0).reshape(3, 4))
    assert "runtime" not in srcad.grad(of_axes_in_lists, argnums=(0, 1)).source_for(x, w)
    found = srcad.grad(of_axes_in_lists, argnums=(0, 1))(x, w)
    product = 2 * x @ w
    assert np.allclose(found[0], product @ w.T)
    assert np.allclose(found[1], x.T @ product)


def of_products_of_stacks(x, w):
    s = x @ np.swapaxes(x, -1, -2) / 3.0
    return np.sum(np.sin(s @ x @ w))


def test_products_of_stacks_have_a_rank():
    x, w = np.cos(np.arange(24.0)).reshape(2, 4, 3), np.sin(np.arange(6.0)).reshape(3, 2)
    source = srcad.grad(of_products_of_stacks, argnums=(0, 1)).source_for(x, w)
    assert "require_scalar" not in source
    srcad.testing.check_grads(of_products_of_stacks, (x, w))
