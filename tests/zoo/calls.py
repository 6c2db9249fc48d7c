"""Calls: every kind of argument, nested functions, closures, recursion, functions as values."""

import functools
import math

import numpy as np

from .registry import case


def square(x):
    return x * x


def weighted(x, y, scale=2.0, *, shift=0.5):
    return scale * x * y + shift


def average(*values):
    total = 0.0
    for v in values:
        total = total + v
    return total / len(values)


def from_keywords(base, **options):
    result = base * options.get("scale", 1.0)
    for value in options.values():
        result = result + value
    return result


def everything(a, b=2.0, /, c=3.0, *rest, d, e=0.1, **more):
    return a * b + c * d + e * sum(rest) + sum(more.values()) * a


def early_return(x):
    if x < 0:
        return 0.0
    if x > 2:
        return x
    return x * x


def two_values(x, y):
    return x * y, x + y


@case((0.7,))
def call_of_a_function(x):
    return square(x) + square(square(x) + 1.0)


@case((0.7, 1.3))
def call_by_keyword(x, y):
    return weighted(y=x, x=y, scale=x) + weighted(x, y, shift=y)


@case((0.7, 1.3))
def call_with_defaults(x, y):
    return weighted(x, y) * weighted(x, 3.0, y)


@case((0.7, 1.3))
def call_with_varargs(x, y):
    return average(x, y, x * y) * average(x)


@case((0.7, 1.3))
def call_with_keywords(x, y):
    return from_keywords(x, scale=y, other=x * y) + from_keywords(y)


@case((0.7, 1.3))
def call_with_every_kind(x, y):
    return everything(x, y, x * y, 1.0, y, d=x, extra=y) + everything(x, d=y)


@case((0.7, 1.3))
def call_with_stars(x, y):
    args = (x, y)
    options = {"scale": y, "shift": x}
    return weighted(*args, **options) * average(*[x, y], *(x * y, 1.0))


@case((0.7, 1.3))
def call_returning_a_tuple(x, y):
    p, s = two_values(x, y)
    q = two_values(p, s)
    return q[0] * q[1] + p


@case((0.7,))
def call_with_ignored_result(x):
    square(x)
    two_values(x, x)
    return x * x


@case((0.7, 1.5, -1.0), (-0.5, 3.0, 2.5))
def early_returning_helper(x, y, z):
    return early_return(x) * y + early_return(y) * z + early_return(z)


@case((0.4,))
def early_returning_helper_in_loop(x):
    y = x
    for k in range(6):
        y = y + 0.5 * early_return(y) + 0.1 * early_return(1.5 - k)
    return y


@case(([-0.5, 0.5, 1.5, 2.5],))
def early_returning_helper_in_comprehension(p):
    q = [early_return(v) for v in p]
    return sum(q) * q[1] + sum(early_return(v * 2) for v in p)


@case((0.6, 1.3))
def same_callee_many_times(x, y):
    return early_return(early_return(x)) + early_return(y) * early_return(x + y)


@case((0.7, 1.3), kwargs={"scale": 3.0})
def keyword_arguments_of_the_call(x, y, scale=1.0, offset=0.5):
    return scale * x * y + offset * x


@case((0.7, 1.3, 2.0, -0.5))
def varargs_of_the_function(x, *rest):
    total = x
    for r in rest:
        total = total * r + x
    return total + len(rest)


@case((0.7,), kwargs={"a": 2.0, "b": 3.0})
def keywords_of_the_function(x, **options):
    return x ** options["a"] * options["b"] + len(options)


@case((0.7, 2))
def positional_only_and_keyword_only(x, n, /, *, power=3):
    return x**n + x**power


@case((0.7, 1.3))
def nested_function(x, y):
    def inner(a):
        return a * a + 1.0

    return inner(x) * inner(y)


@case((0.7, 1.3))
def nested_function_reads_outer(x, y):
    def inner(a):
        return a * x + y

    return inner(y) * inner(2.0)


@case((0.7,))
def late_binding(x):
    scale = 1.0

    def inner(a):
        return a * scale

    first = inner(x)
    scale = x * x
    second = inner(x)
    scale = 5.0
    return first * second


@case((0.7,))
def closures_made_in_loop_share_the_variable(x):
    functions = []
    for k in range(3):
        functions.append(lambda v: v * k + x * k)  # noqa: B023
    total = 0.0
    for f in functions:
        total += f(x) ** 2
    return total


@case((0.7,))
def closures_made_in_loop_with_default(x):
    functions = []
    for k in range(3):
        functions.append(lambda v, k=k: v**k + x * k)
    return functions[0](x) + functions[1](x) * functions[2](x)


@case((0.7,))
def closures_made_by_factory(x):
    def make(power):
        def inner(v):
            return v**power * x

        return inner

    functions = [make(k) for k in range(1, 4)]
    return functions[0](x) + functions[1](2.0 * x) + functions[2](x)


@case((0.7,))
def closure_called_in_loop(x):
    y = x

    def step(a):
        return math.sin(a) * x + y

    for _ in range(4):
        y = step(y)
    return y


@case((0.7,))
def nonlocal_total(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * v

    for k in range(3):
        add(x * k)
    add(total)
    return total * x


@case((0.7,))
def nonlocal_counter(x):
    calls = 0

    def step(v):
        nonlocal calls
        calls += 1
        return v * calls

    y = step(x) + step(x * x) * step(x)
    return y * calls


@case((0.7, 1.3))
def closure_returned_and_called(x, y):
    def outer(a):
        b = a * x

        def inner(c):
            return b * c + y

        return inner

    return outer(y)(x) * outer(x)(2.0)


@case((0.7, 1.3))
def deeply_nested_functions(x, y):
    def one(a):
        def two(b):
            def three(c):
                return a * b * c + x

            return three(b) + y

        return two(a * 2.0)

    return one(x * y)


@case((0.7, 1.3))
def lambdas(x, y):
    f = lambda a, b=2.0: a * b + x  # noqa: E731
    return f(x) * f(x, y) + (lambda: x * y)() + (lambda *v: v[0] * v[1])(x, y)


@case((0.7,))
def function_as_argument(x):
    def twice(f, v):
        return f(f(v))

    return twice(square, x) + twice(math.sin, x) + twice(lambda v: v * x, 3.0)


@case((square, 0.7), (math.sin, 0.7), (early_return, 0.7), argnums=1)
def function_argument(f, x):
    return f(x) * x + f(x * 2)


@case((0.7, True), (0.7, False))
def function_chosen_in_branch(x, flag):
    f = square if flag else math.exp
    return f(x) * x


@case((0.7,))
def functions_in_containers(x):
    table = {"square": square, "sin": math.sin}
    y = x
    for name in ("square", "sin", "square"):
        y = table[name](y) + x
    for f in (math.cos, square, lambda v: v * x):
        y = f(y)
    return y


@case((0.7,))
def composition(x):
    def compose(*functions):
        def composed(v):
            for f in functions:
                v = f(v)
            return v

        return composed

    return compose(square, math.sin, lambda v: v + x)(x)


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * (x if n % 2 else 1.0)


case((1.1, 13), (1.1, 0), (1.1, 1))(power)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return 3.0 * x if n == 0 else even(x + 1.0, n - 1)


case((1.2, 3), (1.2, 4), name="mutual_recursion")(even)


@case(([1.0, -2.0, 3.0, -4.0],))
def recursion_on_list(xs, pos=0.0, neg=0.0):
    if not xs:
        return pos * neg
    if xs[0] > 0:
        return recursion_on_list(xs[1:], pos=pos + xs[0], neg=neg)
    return recursion_on_list(xs[1:], pos=pos, neg=neg + xs[0])


@case((np.array([2.0, 3.0, 4.0, 5.0]),))
def recursion_on_the_rest_of_an_array(x):
    if len(x) < 2:
        return x[0] * 3.0
    return x[0] ** 2 * recursion_on_the_rest_of_an_array(x[1:])


def _grown(x, depth):
    return x * x if depth == 0 else np.append(_grown(x[1:] * 1.5, depth - 1), x[:1])


@case((np.array([2.0, 3.0, 4.0, 5.0]), 3))
def recursion_whose_arrays_differ_in_size(x, depth):
    return _grown(x, depth) * x


def _weighted(a, i):
    return 0.0 if i == len(a) else np.sum(a * a) * a[i] + _weighted(a, i + 1)


@case((np.array([0.3, 0.5, -0.7]),))
def array_written_after_a_recursion_has_read_it(x):
    u = x.copy()
    total = _weighted(u, 0)
    u[0] = 5 * total
    for k in range(2):
        total = total + _weighted(u[1:], 0) * u[k]
        u[k:] *= total
    return u * total


@case((np.array([0.3, 0.5, -0.7]), 2.0))
def recursion_reads_variables_that_change(x, scale):
    def summed(i):
        return 0.0 if i == len(x) else scale * x[i] ** 2 + summed(i + 1)

    first = summed(0)
    scale = first * x[1]
    second = summed(0)
    scale = 3.0
    return first * second + summed(0)


@case((np.array([0.3, 0.5, -0.7]),))
def recursion_reads_an_array_that_changes(x):
    u, total = x.copy(), 0.0

    def summed(i):
        return 0.0 if i == len(u) else u[i] ** 2 + summed(i + 1)

    for k in range(3):
        total += summed(0)
        u[k] *= total
    return total * summed(1)


def _applied(f, i, x):
    return 0.0 if i == len(x) else f(x[i]) + _applied(f, i + 1, x)


@case((np.array([0.3, 0.5, -0.7]),))
def recursion_with_a_function_that_reads_what_changes(x):
    scale = x[0]

    def scaled(v):
        return v * v * scale

    first = _applied(scaled, 0, x)
    scale = first * x[1]
    return _applied(scaled, 0, x) * first


@case((0.7, 5))
def recursion_branching_twice(x, n):
    if n < 2:
        return x * (n + 1)
    return recursion_branching_twice(x, n - 1) * 0.5 + math.sin(recursion_branching_twice(x, n - 2))


@case((0.7,))
def recursion_in_loop(x):
    total = 0.0
    for k in range(4):
        total = total * 0.5 + power(x + total, k)
    return total


@case((5.3,))
def recursion_on_value(x):
    if x < 1.0:
        return x * x
    return recursion_on_value(x * 0.5) * x


@case((0.7,))
def recursive_closure(x):
    def tower(n):
        return x if n == 0 else x ** tower(n - 1)

    return tower(3)


@case(((((0.7, 1.3), 0.2), (2.0, 0.1)),))
def recursion_on_tree(tree):
    if isinstance(tree, tuple):
        left, right = tree
        return recursion_on_tree(left) * recursion_on_tree(right) + 1.0
    return tree * tree


@case((0.7, 1.3))
def partial_application(x, y):
    f = functools.partial(weighted, x)
    g = functools.partial(weighted, scale=y, shift=x)
    return f(y) * f(y, scale=x) + g(x, 2.0)


case((1.3,), (-0.4,), name="partial_object")(functools.partial(weighted, 0.7, scale=3.0))


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2.0 * function(*args, **kwargs)

    return wrapper


def times(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(x):
            return factor * function(x) * x

        return wrapper

    return decorate


@case((0.7, 1.3))
@doubled
def decorated(x, y):
    return math.sin(x) * y


@case((0.7,))
@times(3.0)
@times(0.5)
@doubled
def decorated_many_times(x):
    return x * x


@functools.lru_cache(maxsize=None)
def binomial(n, k):
    if k in (0, n):
        return 1
    return binomial(n - 1, k - 1) + binomial(n - 1, k)


@case((0.7,))
def cached_helper_on_integers(x):
    return sum(binomial(4, k) * x**k for k in range(5))


@functools.lru_cache
def cached_square(x):
    return x * x


@case((0.7,))
def cached_helper_on_floats(x):
    return cached_square(x) * x + cached_square(2.0)


@case((0.7, 1.3))
def default_evaluated_at_definition(x, y):
    scale = x

    def inner(a, s=scale * 2.0):
        return a * s

    scale = 100.0
    return inner(y) + inner(x, y) * 0.0 * scale


@case((0.7, 1.3))
def argument_order_of_evaluation(x, y):
    log = []

    def note(v):
        log.append(v)
        return v * len(log)

    z = weighted(note(x), note(y), scale=note(x))
    return z + log[0] * log[2]


def euler(field, state, dt, steps):
    for _ in range(steps):
        slope = field(*state)
        state = tuple(s + dt * d for s, d in zip(state, slope))
    return state


@case((1.1, 0.4, 0.7))
def integrator_over_a_closure(prey, predator, rate):
    def field(u, v):
        return rate * u - u * v, u * v - v

    end = euler(field, (prey, predator), 0.1, 6)
    return end[0] * end[1]


@case((np.array([0.7, 1.3]),))
def helper_on_arrays_and_floats(x):
    return square(x) * square(x[0]) + square(2.0)


@case((np.array([0.7, 1.3]), 0.4))
def layers_of_array_calls(x, scale):
    def layer(h, k):
        return np.tanh(h * scale + k)

    for k in range(3):
        x = layer(x, k) + layer(x, scale)
    return x


@case((0.7,))
def callee_overwrites_its_argument(x):
    def change(a):
        a = a * 3.0
        a += 1.0
        return a

    y = x
    z = change(y)
    return z * y


@case((1.3, np.array([0.4, 0.9, 0.2])))
def recursion_that_returns_a_tuple(x, v):
    def go(n, a):
        if n == 0:
            return a, x
        b, c = go(n - 1, a * v)
        if n % 2:
            return b * c, c * np.sum(b)
        return b + a, c

    p, q = go(4, v)
    return np.sum(p) * q


@case((1.3, np.array([0.4, 0.9, 0.2])))
def recursion_with_a_dict(x, v):
    def go(n, table):
        if n == 0:
            return table
        table = dict(table)
        table["k"] = table["k"] * x + v[n % 3]
        if n == 2:
            table["z"] = table["k"] * v[0]
        return go(n - 1, table)

    table = go(3, {"k": x})
    return table["k"] * table.get("z", 1.0)


TIMES = np.linspace(0.0, 1.0, 5)
EDGES = [(0, 1), (1, 2), (0, 2)]


def decay(t, a, b, c=0.5):
    return a * np.exp(-b * t) + c


@case((np.array([0.7, 1.3, 0.4]),), (np.array([0.7, 1.3]),), ([0.7, 1.3, 0.4],))
def star_arguments_of_an_array(p):
    return np.sum((decay(TIMES, *p) - 2 * TIMES) ** 2)


@case((np.array([0.7, 1.3, 0.4, 2.0]),))
def star_arguments_of_a_slice(p):
    return decay(p[3], *p[:-1]) * max(*p) * math.hypot(*p)


@case((np.array([0.7, 1.3, 0.4]),), ([0.7, 1.3, 0.4],))
def keyword_arguments_zipped_with_names(p):
    return np.sum((decay(TIMES, **dict(zip("abc", p, strict=True))) - 2 * TIMES) ** 2)


@case((np.array([0.7, 1.3, 0.4]),), ([0.7, 1.3, 0.4],))
def tuples_zipped_with_an_array(w):
    total = 0.0
    for (a, b), c in zip(EDGES, w, strict=False):
        total += c * (a + b)
    return total * total


@case((np.array([0.7, 1.3, 0.4]),))
def functions_zipped_with_an_array(w):
    waves = [f(x) for f, x in zip([np.sin, np.cos], w, strict=False)]
    return waves[0] * waves[1] + sum(k * x for k, x in zip({"a": 2.0}.values(), w, strict=False))


@case((np.array([0.7, 1.3, 0.4]),), ([0.7, 1.3, 0.4],))
def star_in_a_display(p):
    return np.sum(np.array((*p, 1.0)) ** 3) + sum([*p][1:])


def _halved(v, n):
    if n == 0:
        last = v.copy()
        last[1] = 2 * v[0]
        return last
    rest = _halved(v * 0.5, n - 1)
    return rest * v + rest[0]


@case((np.array([0.7, 0.6, 0.9]), 2), (np.array([0.7, 0.6, 0.9]), 0))
def recursion_that_ends_with_a_written_array(x, n):
    return _halved(x, n)


def _written_and_a_number(v, n):
    if n == 0:
        last = np.zeros(3)
        last[1] = 2 * v[0]
        return last, v[1]
    array, number = _written_and_a_number(v * 1.1, n - 1)
    out = array.copy()
    out[2] += number
    return out, number * v[0]


@case((np.array([0.7, 0.6, 0.9]), 2))
def recursion_that_returns_a_written_array_and_a_number(x, n):
    array, number = _written_and_a_number(x, n)
    return np.sum(array**2) * number
