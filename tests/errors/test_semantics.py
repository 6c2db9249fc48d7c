"""Python that is easily followed wrongly is refused, with its place, or when it is run."""

import contextlib
import copy
import dataclasses
import decimal
import heapq
import math

import numpy as np
import pytest
from scipy import special

import srcad
from srcad.errors import SrcadError

shared = [1.0, 2.0]
moving = iter([1.0, 2.0])


@dataclasses.dataclass
class Point:
    u: float
    v: float


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


@contextlib.contextmanager
def quiet():
    try:
        yield
    except ZeroDivisionError:
        pass


@srcad.opaque
def reads(values):
    return None


@srcad.opaque
def writes(values):
    values[0] = 3.0


# ---- iterators


def list_grows(x):
    values = [x]
    for v in values:
        if len(values) < 3:
            values.append(v * x)
    return sum(values)


def dict_grows(x):
    table = {"a": x}
    for key in table:
        table[key + "b"] = x
    return sum(table.values())


def generator_reads_what_the_body_writes(x):
    scale, total = 1.0, 0.0
    for v in (scale * u for u in [x, x * x]):
        total += v
        scale = v
    return total


def generator_reads_an_array_that_the_body_writes(x):
    u, total = x * np.ones(3), 0.0
    for v in (u[k] * 2 for k in range(3)):
        total += v
        u[2] = total
    return total


def array_changes_between_two_of_its_items(x):
    u = x * np.ones(3)
    pairs = zip(u, [1.0, 2.0, 3.0])
    a, _ = next(pairs)
    u[1] = a * a
    b, scale = next(pairs)
    return b * scale


def map_writes_what_the_body_reads(x):
    seen, total = [], 0.0
    for v in map(lambda u: seen.append(u) or u * x, [1.0, 2.0]):
        total += v * len(seen)
    return total


def iterator_left_in_between(x):
    values, total = iter([x, x * x, 3 * x]), 0.0
    for v in values:
        total += v
        if v > 2:
            break
    return total + 5 * sum(values)


def iterator_of_one_branch(x):
    values = iter([x, 2.0])
    total = sum(values) if x > 0 else 0.0
    return total + sum(values)


def iterator_left_by_a_loop(x):
    for k in range(3):
        values = (x * v * k for v in [x, 1.0])
    return sum(values)


def changed_after_the_first(x):
    scale = 2.0
    values = (scale * v for v in [x, x])
    first = next(values)
    scale = x
    return first + sum(values)


def one_iterator_twice(xs):
    values = iter(xs)
    return sum(a * b for a, b in zip(values, values))


def outer_iterator(x):
    return x * next(moving)


def outer_iterator_summed(x):
    return x * sum(moving)


def generator_of_functions(x):
    scalings = (lambda v: v * k for k in (1.0, 2.0, x))
    return sum(f(x) for f in scalings)


def reversed_before_it_grows(x):
    values = [x, 2 * x]
    backward = reversed(values)
    values.append(x * x)
    return sum(backward)


# ---- containers under two names


def mutable_default(x, seen=[]):  # noqa: B006
    seen.append(x)
    return sum(seen)


def mutable_default_by_name(x, *, seen={}):  # noqa: B006
    seen["x"] = x
    return seen["x"] * x


def remembers_in_a_default(x, n=3, memo={}):  # noqa: B006
    if n not in memo:
        memo[n] = x * (remembers_in_a_default(x, n - 1) if n else 1.0)
    return memo[n]


def with_something_remembered(x):
    return remembers_in_a_default(x) * x


filled = {}


def fills_the_global(x):
    filled["x"] = x
    return filled["x"] * x


def _filled_by(x, n, found):
    found[n] = x * n
    return found[n] + (_filled_by(x, n - 1, found) if n > x else 0.0)


def recursion_that_fills(x):
    return _filled_by(x, 3, {0: x})


def calls_with_a_mutable_default(x):
    return mutable_default(x) + mutable_default(x * x)


def list_for_two_parameters(x):
    def product(a, b):
        a[0] = a[0] * 3
        return a[0] * b[0]

    values = [x, 2.0]
    return sum(srcad.grad(product)(values, values))


def heap(x):
    values = [3.0, x]
    heapq.heapify(values)
    return values[0] * 2


def pushed(x):
    values = []
    heapq.heappush(values, x)
    return values[0]


def _handed_back(u, n):
    return u[1:] if n == 0 else _handed_back(u, n - 1)


def array_that_a_recursion_hands_back(x):
    u = x * np.ones(3)
    v = _handed_back(u, len(u))
    u[1] = x * x
    return np.sum(v * u[1:])


def _doubled_from(u, k):
    if k < len(u):
        u[k] *= 2
        _doubled_from(u, k + 1)


def array_that_a_recursion_writes(x):
    u = x * np.ones(3)
    _doubled_from(u, 0)
    return np.sum(u)


def _listed(u, n):
    return [u, u * 2] if n == 0 else _listed(u, n - 1)


def array_in_a_list_that_a_recursion_makes(x):
    u = x * np.ones(3)
    parts = _listed(u, len(u))
    u[1] = x * x
    return np.sum(parts[0] * parts[1])


def _inserted(tree, v):
    if tree is None:
        return (None, v, None)
    left, root, right = tree
    return (_inserted(left, v), root, right) if v < root else (left, root, _inserted(right, v))


def _weighed(tree, depth):
    if tree is None:
        return 0.0
    return _weighed(tree[0], depth + 1) + tree[1] * depth + _weighed(tree[2], depth + 1)


def tree_that_data_shapes(x):
    tree = None
    for v in (x, 1 - x, x * x, 2 * x, x - 1, 3 * x):
        tree = _inserted(tree, v)
    return _weighed(tree, 1)


# ---- text


def through_text(x):
    return float(str(x)) * x


def through_a_format(x):
    return float(f"{x:.8f}") * x


def through_percent(x):
    return float("%.6f" % x)


def through_text_in_an_array(x):
    return np.array([str(x)]).astype(float)[0]


def through_text_beside_a_number(x):
    items = []
    for k in range(int(x) + 2):
        items.append((str(x), x * k))
    total = 0.0
    for text, v in items:
        total += float(text) * v
    return total


def through_decimals_beside_numbers(x):
    items = []
    for k in range(int(x) + 2):
        items.append((decimal.Decimal(x), x * k))
    total = 0.0
    for number, v in items:
        total += float(number) * v
    return total


def through_hex(x):
    return float.fromhex(x.hex())


def through_a_ratio(x):
    over, under = x.as_integer_ratio()
    return over / under


# ---- what an exception leaves behind in the middle


def extended_by_a_generator(x):
    values = [x]
    try:
        values.extend(math.sqrt(v) for v in (x, -x))
    except ValueError:
        pass
    return sum(values)


def iterator_that_failed(x):
    roots, total = map(math.sqrt, [-x, x]), 0.0
    for _ in range(2):
        try:
            total += next(roots)
        except ValueError:
            total += x * x
    return total


def grown_by_a_loop(x):
    values = []
    try:
        for v in (x, -x):
            values.append(math.sqrt(v))
    except ValueError:
        values.append(x * x)
    return sum(values)


def divided_in_place(x):
    u = np.array([x, 1.0])
    with np.errstate(all="raise"):
        try:
            u /= np.array([2.0, x - x])
        except FloatingPointError:
            u[1] = x
    return u[0] * u[1]


def changed_by_finally_on_the_way(x):
    values = []
    try:
        try:
            values.append(math.sqrt(-x))
        finally:
            values.append(x)
    except ValueError:
        values.append(x * x)
    return sum(values)


def _grown(values, x):
    try:
        for v in (x, -x):
            values.append(math.sqrt(v))
    except ValueError:
        return 0.0
    return x


def left_half_done_to_the_caller(x):
    values = [x]
    return _grown(values, x) + sum(values)


def returned_half_done(x):
    values = [x]
    try:
        for v in (x, -x):
            values.append(math.sqrt(v))
    except ValueError:
        return values[-1]
    return sum(values)


def left_half_done_to_finally(x):
    try:
        try:
            y = np.linalg.norm([x, x])
            z = np.linalg.norm([x, y]) / math.floor(x - x)
        except ZeroDivisionError:
            return x
    finally:
        x = y
    return z


def changed_between_two_that_fail(x):
    values = []
    try:
        values.append(math.sqrt(x))
        values.append(math.sqrt(-x))
    except ValueError:
        values.append(x * x)
    return sum(values)


# ---- the rest


def swallowed(x):
    y = x
    with Swallows():
        y = x * x
        y = y / (x - x)
    return y


class Reports:
    def __init__(self, level):
        self.level = level

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            print(error)


def reported(x):
    with Reports(x) as report:
        y = report.level * x
    return y


def managed_by_a_function_of_its_own(x):
    def manager():
        return contextlib.nullcontext(x)

    with manager() as level:
        y = level * x
    return y


def quietly(x):
    y = x
    with quiet():
        y = x * x / (x - x)
    return y


def leaves_finally(x):
    for _ in range(3):
        try:
            x = x * 2
        finally:
            break
    return x


def out_by_position(x):
    y = np.zeros(2)
    np.multiply(x, np.ones(2), y)
    return np.sum(y)


def out_of_a_method(x):
    y = np.zeros(())
    (x * np.ones(2)).sum(0, None, y)
    return float(y)


def out_of_dot(x):
    y = np.zeros(())
    np.dot(x * np.ones(2), np.ones(2), y)
    return float(y)


def out_of_two_results(x):
    y, whole = np.zeros(2), np.zeros(2)
    np.modf(x * np.ones(2) - 1.0, y, whole)
    part, _ = np.divmod(x * np.ones(2), 1.0, out=(None, y[:]))
    return np.sum(y + whole + part)


def out_of_a_method_of_a_ufunc(x):
    y = np.zeros((1, 2))
    np.multiply.outer(x * np.ones(1), np.ones(2), out=y)
    return np.sum(y)


def out_before_others(x):
    y = np.zeros((1, 1))
    np.sum(x * np.ones((2, 1)), 0, None, y, True)
    return y[0, 0]


def set_by_methods(x):
    y = np.zeros(3)
    y.__setitem__(0, x)
    np.ndarray.__setitem__(y[1:], slice(0, 1), x)
    y.put(indices=[2], values=x)
    y.sort(0, "stable")
    np.place(arr=y[1:], mask=y[:2] > x, vals=[0.0])
    np.add.accumulate(y, 0, None, y)
    return y[1]


def windows_of_what_is_written(x):
    u = x * np.ones(4)
    windows = np.lib.stride_tricks.sliding_window_view(u, 2)
    u[0] = 5.0
    return np.sum(windows**2)


def windows_written(x):
    u = x * np.ones(4)
    windows = np.lib.stride_tricks.sliding_window_view(u, 2, writeable=True)
    windows[0] = 5.0
    return np.sum(u)


def written_in_the_order_of_memory(x):
    u = x * np.ones((2, 2))
    flat = u.ravel(order="K")
    flat[0] = 5.0
    return np.sum(u)


def through_an_iterator_of_numpy(x):
    u = np.full(3, x)
    with np.nditer(u, op_flags=["readwrite"]) as items:
        for item in items:
            item[...] = item * x
    return np.sum(u)


def nan_replaced_by_data(x):
    u = np.array([x, np.nan])
    np.nan_to_num(u, copy=False, nan=x)
    return np.sum(u)


# ---- derivatives inside


def list_read_by_the_closure(x):
    values = [x, x * x]

    def first(xs):
        xs[0] = values[1] * xs[0]
        return xs[0] * xs[1]

    return sum(srcad.grad(first)(values))


def closure_changes_a_list(x):
    total = [x]

    def add(y):
        total[0] = total[0] * y
        return total[0]

    return srcad.grad(add)(x) + total[0]


def closure_changes_an_array(x):
    total = np.zeros(2)

    def add(y):
        total[0] += y * y
        return total[0]

    return srcad.grad(add)(x) + total[0]


class Level:
    def __init__(self, x):
        self.level = x

    def rise(self, y):
        self.level = self.level * y
        return self.level


def closure_changes_an_object(x):
    tank = Level(x)
    return srcad.grad(tank.rise)(x) + tank.level


def test_array_written_under_another_name_inside():
    def f(x, part):
        values = np.array([x, x * x, 1.0])

        def first(xs):
            xs[0] = 2 * xs[0]
            return values[1] * xs[1]

        return srcad.grad(first)(values[1:] if part else values)[0]

    def g(x):
        values = np.array([x, x * x])

        def product(a, b):
            a[0] = 2 * b[0]
            return b[0] * a[1]

        return srcad.grad(product)(values, values)[1]

    for function in (lambda x: f(x, True), lambda x: f(x, False), g):
        for attempt in (function, srcad.grad(function)):
            with pytest.raises(ValueError, match="share memory and the function writes into one"):
                attempt(1.5)


# ---- random numbers, and objects that are known at run time only


def shuffled(x):
    rng = np.random.default_rng(2)
    z = x * np.arange(3.0)
    rng.shuffle(z)
    return z[1]


def drawn_into(x):
    rng = np.random.default_rng(2)
    z = np.zeros(2)
    rng.random(out=z)
    return x * z[1]


def drawn_by_data(x):
    rng = np.random.default_rng(2)
    return rng.normal(x, 1.0)


def by_an_object(x):
    line = special.legendre(1)
    return line(x)


def an_array_kept_on_some_rounds(x):
    a, b = np.full(3, x), np.full(3, 2.0 * x)
    kept = a * 3.0
    k = 0
    while k < x * 4:
        k += 1
        b[1:] = a[:-1] * b[1:]
        if k % 2:
            kept = a
        a, b = b, a
    return np.sum(a * b * kept)


def a_list_kept_on_some_rounds(x):
    a, b = [x, x * x], [2.0 * x, x]
    kept = [x, x]
    k = 0
    while k < x * 4:
        k += 1
        b[1] = a[0] * b[1]
        if k % 2:
            kept = a
        a, b = b, a
    return a[0] * b[1] * kept[1]


def the_first_of_two_in_turn(x):
    a, b = np.full(3, x), np.full(3, 2.0 * x)
    first = a
    k = 0
    while k < x * 4:
        k += 1
        b[1:] = a[:-1] * b[1:]
        a, b = b, a
    return np.sum(a * b * first)


def what_a_turn_has_left(x):
    a, b = np.full(3, x), np.full(3, 2.0 * x)
    k = 0
    while k < x * 4:
        k += 1
        b[1:] = a[:-1] * b[1:]
        old = a
        a, b = b, np.ones(3)
        b[0] = old[1]
    return np.sum(a * b * old)


@pytest.mark.parametrize(
    "function",
    [
        out_by_position,
        out_of_a_method,
        out_of_dot,
        out_of_two_results,
        out_of_a_method_of_a_ufunc,
        out_before_others,
        set_by_methods,
    ],
)
def test_written_by_calls(function):
    assert function(1.5) == 3.0
    assert srcad.grad(function)(1.5) == 2.0
    assert srcad.jvp(function, (1.5,), (1.0,)) == (3.0, 2.0)


@pytest.mark.parametrize(
    ("function", "part", "line"),
    [
        (list_grows, "while a loop runs over it", "for v in values:"),
        (dict_grows, "while a loop runs over it", "for key in table:"),
        (generator_reads_what_the_body_writes, "changing what an iterator reads", "for v in"),
        (generator_reads_an_array_that_the_body_writes, "while a loop runs over it", "for v in"),
        (array_changes_between_two_of_its_items, "while a loop runs over it", "next(pairs)"),
        (map_writes_what_the_body_reads, "changing what an iterator reads", "for v in"),
        (iterator_left_in_between, "using an iterator again", "return"),
        (iterator_of_one_branch, "depends on data", "return"),
        (iterator_left_by_a_loop, "depends on data", "return"),
        (changed_after_the_first, "changing what an iterator reads", "return"),
        (outer_iterator, "the iterator 'moving'", "return"),
        (outer_iterator_summed, "the iterator 'moving'", "return"),
        (generator_of_functions, "generator expression that makes functions", "scalings = "),
        (reversed_before_it_grows, "while a loop runs over it", "return"),
        (mutable_default, "list", "seen"),
        (mutable_default_by_name, "default of the parameter 'seen'", 'seen["x"] = x'),
        (remembers_in_a_default, "default of the parameter 'memo'", "memo[n] = "),
        (with_something_remembered, "default of the parameter 'memo'", "memo[n] = "),
        (fills_the_global, "'filled', which exists outside", 'filled["x"] = x'),
        (recursion_that_fills, "recursive function '_filled_by'", "found[n] = "),
        (calls_with_a_mutable_default, "list", "seen"),
        (list_for_two_parameters, "reached in two ways", "return"),
        (list_read_by_the_closure, "reached in two ways", "return"),
        (array_that_a_recursion_hands_back, "something else may also refer to", "u[1] = "),
        (array_that_a_recursion_writes, "recursive function '_doubled_from' is given", "u[k] *= 2"),
        (array_in_a_list_that_a_recursion_makes, "something else may also refer to", "u[1] = "),
        (tree_that_data_shapes, "recursion whose argument types change", "_inserted("),
        (closure_changes_a_list, "something else may also refer to", "total[0] = "),
        (closure_changes_an_array, "something else may also refer to", "total[0] += "),
        (closure_changes_an_object, "something else may also refer to", "self.level = "),
        (shuffled, "'shuffle', which changes its argument", "shuffle(z)"),
        (drawn_into, "the argument 'out' of random", "rng.random(out=z)"),
        (drawn_by_data, "normal has no derivative rule", "rng.normal"),
        (by_an_object, "an object that srcad cannot look into", "line(x)"),
        (heap, "'heapify', which changes its argument", "heapq.heapify(values)"),
        (pushed, "'heappush', which changes its argument", "heapq.heappush(values, x)"),
        (through_text, "through text", "return"),
        (through_a_format, "through text", "return"),
        (through_percent, "through text", "return"),
        (through_text_in_an_array, "an object that srcad cannot look into", "return"),
        (through_text_beside_a_number, "through text", "total += "),
        (through_decimals_beside_numbers, "srcad cannot look into", "total += "),
        (through_hex, "fromhex", "return"),
        (through_a_ratio, "as_integer_ratio has no derivative rule", "over, under"),
        (extended_by_a_generator, "may have been changed or not", "return"),
        (iterator_that_failed, "may have been changed or not", "total += next(roots)"),
        (grown_by_a_loop, "may have been changed or not", "values.append(x * x)"),
        (divided_in_place, "may have been changed or not", "u[1] = x"),
        (changed_by_finally_on_the_way, "may have been changed or not", "values.append(x * x)"),
        (left_half_done_to_the_caller, "may have been changed or not", "return _grown"),
        (returned_half_done, "may have been changed or not", "return values[-1]"),
        (left_half_done_to_finally, "y may have been assigned or not", "x = y"),
        (changed_between_two_that_fail, "may have been changed or not", "values.append(x * x)"),
        (swallowed, "'with Swallows', which may suppress", "with Swallows():"),
        (reported, "'with Reports(…)' of an object made here whose", "with Reports(x)"),
        (managed_by_a_function_of_its_own, "is made by a function defined here", "with manager()"),
        (quietly, "'with quiet', which may suppress", "with quiet():"),
        (leaves_finally, "leaving a 'finally' block", "break"),
        (an_array_kept_on_some_rounds, "something else may also refer to", "b[1:] = "),
        (a_list_kept_on_some_rounds, "something else may also refer to", "b[1] = "),
        (the_first_of_two_in_turn, "something else may also refer to", "b[1:] = "),
        (what_a_turn_has_left, "differs between iterations", "return"),
        (windows_of_what_is_written, "something else may also refer to", "u[0] = 5.0"),
        (windows_written, "a write into one window is seen in others", "windows = "),
        (written_in_the_order_of_memory, "memory srcad cannot trace", "flat[0] = 5.0"),
        (through_an_iterator_of_numpy, "np.nditer of run-time data", "with np.nditer"),
        (nan_replaced_by_data, "by its argument 'nan' is not known", "np.nan_to_num"),
    ],
)
def test_refused_with_its_place(function, part, line):
    for attempt in (srcad.grad(function), lambda x: srcad.jvp(function, (x,), (1.0,))):
        with pytest.raises(SrcadError) as found:
            attempt(1.5)
        assert part in str(found.value)
        assert found.value.file == __file__
        assert line in found.value.text
        assert found.value.hint


def a_view_that_only_a_loop_binds(x, count):
    u, v = np.full(3, x), np.full(3, 2.0 * x)
    for _ in range(count):
        v[1:] = u[:-1]
        part = u[1:]
        u, v = v, u
    return np.sum(u) + part[0]


def test_a_name_for_an_array_that_a_loop_did_not_bind():
    gradient = srcad.grad(a_view_that_only_a_loop_binds)
    assert gradient(1.5, 1) == 5.0
    with pytest.raises(UnboundLocalError, match="'part'"):
        gradient(1.5, 0)


def test_one_iterator_in_two_places():
    with pytest.raises(SrcadError, match="several places of zip"):
        srcad.grad(one_iterator_twice)([1.0, 2.0, 3.0, 4.0])


def test_text_of_constants_is_a_constant():
    def f(x, y, n):
        return float(str(y)) * x + float(f"{n}") + float(str(srcad.stop_gradient(x)))

    assert srcad.grad(f)(1.5, 4.0, 2) == 4.0
    assert srcad.value_and_grad(lambda x: x * len(f"{x:.2f}"))(1.5) == (6.0, 4.0)


# ---- containers of the caller under two names: known when it is called


def first_of_both(a, b, x):
    a[0] = x * x
    return b[0] * x + a[0]


def doubled(p, q):
    p.u = p.u * 2
    return p.u * q.u


def beside_the_global(a, x):
    a[0] = x * x
    return shared[0] * x + a[0]


def in_one_argument(rows):
    rows[0][0] = rows[0][0] * 3
    return rows[1][0] * rows[0][1]


def of_dicts(d, e):
    d["a"] = d["a"] * 2
    return e["a"] * d["a"]


twins = [1.0, 2.0]
point, table = Point(1.5, 1.0), {"a": 1.5}


def copied(value):
    """A copy in which nothing is the same object twice."""
    return list(map(copied, value)) if isinstance(value, list) else copy.deepcopy(value)


@pytest.mark.parametrize(
    ("function", "argnums", "aliased"),
    [
        (first_of_both, 2, (twins, twins, 1.5)),
        (first_of_both, (0, 1), (twins, twins, 1.5)),
        (doubled, (0, 1), (point, point)),
        (beside_the_global, 1, (shared, 1.5)),
        (beside_the_global, 0, (shared, 1.5)),
        (in_one_argument, 0, ([twins, twins],)),
        (of_dicts, 0, (table, table)),
    ],
)
def test_aliases_of_what_is_written(function, argnums, aliased):
    derivative = srcad.grad(function, argnums)

    def expect_refusal():
        with pytest.raises((SrcadError, TypeError), match="under another name|may also refer to"):
            derivative(*aliased)

    expect_refusal()
    derivative(*map(copied, aliased))
    expect_refusal()  # by the code that was compiled for what is apart


def test_reading_one_container_under_two_names():
    assert srcad.grad(lambda a, b: a[0] * b[1], (0, 1))(twins, twins) == ([2.0, 0.0], [0.0, 1.0])


def test_functions_that_are_run_as_they_are_may_only_read():
    def f(x, function):
        values = [x, 2.0]
        function(values)
        return values[0] * x

    assert srcad.grad(f)(1.5, reads) == 3.0
    assert srcad.jvp(lambda x: f(x, reads), (1.5,), (1.0,)) == (2.25, 3.0)
    with pytest.raises(TypeError, match="writes changed a list that it was given"):
        srcad.grad(f)(1.5, writes)

    def g(x, function):
        function(x)
        return np.sum(x * x)

    np.testing.assert_allclose(srcad.grad(g)(np.array([1.0, 2.0]), reads), [2.0, 4.0])
    with pytest.raises(TypeError, match="writes changed a ndarray"):
        srcad.grad(g)(np.array([1.0, 2.0]), writes)


# ---- real functions


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x**0.5,
        lambda x: x**1.5,
        lambda x: pow(x, 0.5),
        lambda x: abs(x**0.5),
        lambda x: (x**0.5).real,
        lambda x: (x - 1.0) ** (x + 1.25),
        lambda x: sum([x**0.5 for _ in range(2)]),
    ],
)
def test_powers_that_are_complex(function):
    for attempt in (
        srcad.grad(function),
        srcad.derivative(function),
        srcad.jacrev(function),
        srcad.hessian(function),
        lambda x: srcad.vjp(function, x),
        lambda x: srcad.jvp(function, (x,), (1.0,)),
    ):
        with pytest.raises(TypeError, match="a derivative needs real numbers"):
            attempt(-0.5)
    assert np.isreal(srcad.grad(function)(1.5))


def test_powers_of_numpy_are_not_a_number():
    with np.errstate(invalid="ignore"):
        assert np.isnan(srcad.grad(lambda x: x**0.5)(np.float64(-1.0)))
    assert srcad.grad(lambda x, y: x**y)(-1.5, 2.0) == -3.0


def test_jacobians_of_complex_results():
    def turned(x):
        return x * (1 + 2j)

    for x in (1.5, np.array([1.5, 2.0])):
        with pytest.raises(SrcadError, match="needs a real result"):
            srcad.jacrev(turned)(x)
    assert srcad.jacfwd(turned)(1.5) == 1 + 2j


calls = []


def logs_its_calls(x):
    calls.append(x)
    total = 0.0
    for k in range(3):
        calls.append(total)
        total = total + k * x * x
    return total


def counts_its_calls(x):
    calls.append(x)
    return x * len(calls)


def test_a_list_outside_gets_its_items_once():
    calls.clear()
    assert srcad.grad(logs_its_calls)(2.0) == 12.0
    assert calls == [2.0, 0.0, 0.0, 4.0]
    with pytest.raises(SrcadError, match="is read after the function has appended to it"):
        srcad.grad(counts_its_calls)(2.0)


def returns_what_is_found_or_not(x):
    found = None
    for k in range(8):
        if x * k > 2:
            found = {"at": k * x, "all": [x * j for j in range(k)]}
            break
    return found["at"] * sum(found["all"]) if found else x


def test_a_result_that_has_no_common_form_is_told_so():
    with pytest.raises(SrcadError, match="differs between paths|on one way through the code"):
        srcad.grad(returns_what_is_found_or_not)(0.7)
