"""if, elif, else, conditional expressions, and/or/not, chained comparisons, walrus, match."""

import math

import numpy as np

from .registry import case


@case((1.5,), (-1.5,), tags="scalar")
def if_else(x):
    if x > 0:
        y = x * x
    else:
        y = -3.0 * x
    return y + x


@case((1.5,), (-1.5,), tags="scalar")
def if_without_else(x):
    y = x * 2.0
    if x > 0:
        y = y * x
    return math.sin(y)


@case((-2.0,), (0.5,), (1.5,), (3.0,), tags="scalar")
def if_elif_else(x):
    if x < 0:
        y = x**2
    elif x < 1:
        y = math.sin(x)
    elif x < 2:
        y = math.exp(-x)
    else:
        y = 1.0 / x
    return y * x + y


@case((1.5, 0.5), (1.5, 2.0), (-1.5, 0.5), (-1.5, -2.0))
def nested_ifs(x, y):
    if x > 0:
        if x > y:
            z = x * y
        else:
            z = x / y
    else:
        z = x
        if y > 0:
            z = z * y
    return z


@case((-1.0,), (3.0,))
def integer_constant_in_one_branch(x):
    if x <= 0:
        y = 2
    else:
        y = x * x + 2
    return y * 0.5


@case((-1.0,), (3.0,))
def integer_overwritten_by_float(x):
    y = 0
    if x > 0:
        y = x * x
    return y * x + y


@case((-1.0,), (3.0,))
def none_overwritten(x):
    y = None
    if x > 0:
        y = x * x
    return x if y is None else y


@case((1.5,), (-1.5,))
def branch_returns(x):
    if x > 0:
        return x * x
    return x * 3.0


@case((1.5,), (-1.5,))
def both_branches_return(x):
    if x > 0:
        return math.log(x)
    else:
        return math.log(-x) * x


@case((-2.0,), (0.5,), (2.0,))
def guard_clauses(x):
    if x < -1:
        return -x
    y = x * x
    if x < 1:
        return y * x
    z = math.sqrt(y + 1)
    return z * y


@case((2.0, 0.5), (-2.0, 0.5))
def variables_of_one_branch_only(x, y):
    if x > 0:
        u = x * y
        v = u * u
        z = v + u
    else:
        z = y
    return z * y


@case((2.0, 0.5), (-2.0, 0.5))
def conditionally_undefined(x, y):
    if x > 0:
        factor = x * y
    z = y * y
    if x > 0:
        z = z * factor
    return z


@case((0.1, -0.1), (-0.3, 0.2))
def division_in_untaken_branch(x, y):
    z = y
    if x < 0:
        u = 1.0 / (x + 0.1 - y)
        z = u * y
    return z + x


@case((2.0,), (-2.0,))
def argument_overwritten_in_branch(x):
    if x < 0:
        x = -x
    return math.sqrt(x)


@case((2.0, 3.0), (3.0, 2.0))
def swap_in_branch(a, b):
    if a < b:
        a, b = b, a
    return a**2 - b


@case((2.0,), (-2.0,))
def branch_with_only_pass(x):
    if x > 0:
        pass
    else:
        x = x * x
    return x * 3


@case((1.5,), (-1.5,), tags="scalar")
def ternary(x):
    return x * x if x > 0 else -x


@case((2.5,), (0.5,), (-1.5,), tags="scalar")
def nested_ternary(x):
    return x**3 if x > 2 else x**2 if x > 0 else math.exp(x)


@case((1.5, 0.2), (-1.5, 0.2))
def ternary_inside_expression(x, y):
    return (x if x > 0 else y) * (y if x > 0 else 2.0) + (0 if y > 1 else x)


@case((1.5, 2.0), (0.0, 2.0), argnums=(1,))
def or_gives_its_operand(x, y):
    z = x or y
    return z * y


@case((1.5, 2.0), (0.0, 2.0), argnums=(1,))
def and_gives_its_operand(x, y):
    z = x and y
    return z * y


@case((1.5,), (2.5,))
def or_with_a_default(x):
    scale = None or x
    extra = [] or [x, 2.0]
    return scale * extra[0] + (0.0 or extra[1])


@case((1.5,), (-1.5,))
def short_circuit_protects(x):
    if x > 0 and math.log(x) > 0.1:
        return math.log(x)
    if x < 0 or math.sqrt(x) > 5:
        return x * x
    return x


@case((1.5, 1.0), (-1.5, 1.0), (1.5, -1.0))
def boolean_operators(x, y):
    if x > 0 and y > 0:
        return x * y
    if not (x > 0) or y > 2:
        return x - y
    return x / y


@case((0.5,), (1.5,), (-0.5,))
def chained_comparison(x):
    if 0 < x < 1:
        return x * x
    if 1 <= x <= 2 < 3:
        return x**3
    return -x


@case((0.5,), (1.5,))
def comparisons_of_every_kind(x):
    n = 0
    n += x > 1
    n += x >= 1.0
    n += x < 1
    n += x <= 1.0
    n += x != 0.0
    n += x == 0.25
    return n * x * x


@case((0.5, 3), (0.5, 7))
def membership_and_identity(x, k):
    y = x
    if k in (1, 2, 3):
        y = y * x
    if k not in {4, 5}:
        y = y + x
    if y is not None:
        y = 2.0 * y
    return y


@case((1.5,), (-1.5,))
def walrus_in_test(x):
    if (y := x * x) > 1 and (z := y + x) > 3:
        return y * z
    return y


@case((1.5,))
def walrus_in_expression(x):
    return (y := math.sin(x)) * y + (z := y * x) / (1 + z * z)


@case((0.5, 0), (0.5, 1), (0.5, 7))
def match_on_integers(x, kind):
    match kind:
        case 0:
            return x * x
        case 1 | 2:
            y = math.sin(x)
        case _:
            y = math.exp(x)
    return y * x


@case((0.5, "square"), (0.5, "sine"), (0.5, "other"))
def match_on_strings(x, kind):
    match kind:
        case "square":
            y = x * x
        case "sine" | "sin":
            y = math.sin(x)
        case other:
            y = x * len(other)
    return y + 1


@case((0.5, (1.5, 0.7)), (0.5, (1.5, 0.7, 1.1)), (0.5, (1.5,)))
def match_on_structure(x, point):
    match point:
        case (a, b):
            return a * b * x
        case (a, *rest) if len(rest) > 1:
            return a * rest[0] * rest[1] + x
        case _:
            return x + point[0]


@case((0.5, {"kind": "line", "slope": 2.0}), (0.5, {"kind": "point"}), argnums=0)
def match_on_mapping(x, shape):
    match shape:
        case {"kind": "line", "slope": slope}:
            return slope * x * x
        case {"kind": kind}:
            return x * len(kind)


@case((2.5,), (0.5,), (-0.5,))
def match_with_guards(x):
    match x:
        case value if value > 1:
            return value * value
        case value if value > 0:
            return value**3
        case value:
            return -value


@case((0.5, None), (0.5, 2.0), argnums=0)
def optional_argument(x, scale):
    if scale is None:
        scale = 1.0
    return scale * x * x


@case((np.array([1.0, 2.0]), True), (np.array([1.0, 2.0]), False))
def branch_on_a_flag(x, flip):
    if flip:
        x = x[::-1]
    return x * np.array([1.0, 10.0])


@case((np.array([0.5, -2.0, 3.0]),), (np.array([-0.5, -2.0, 1.0]),))
def branch_on_array_values(x):
    if x[0] > 0:
        y = x * x
    elif np.any(x > 2):
        y = x
    else:
        y = np.sin(x)
    if np.all(y < 100) and np.sum(x) > 0:
        y = y * x[1]
    return y


@case((np.array([0.5, -2.0]),), (np.array([-0.5, -2.0]),))
def float_in_one_branch_array_in_other(x):
    y = 0.0
    if x[0] > 0:
        y = x * x
    return np.sum(y * x)


@case((2.0,), (0.5,))
def three_sequential_branches(x):
    y = x
    if x > 1:
        y = y * x
    if y > 2:
        y = y - x
    if y < 1:
        y = math.sin(y)
    return y


@case((1.5,), (-1.5,))
def test_shares_a_value(x):
    y = x * 3.0
    if y > 0:
        z = y * y
    else:
        z = y
    return z + y


@case((1.5, 0.5), (-1.5, 0.5))
def branch_result_is_the_argument(x, y):
    if x > 0:
        z = x
    else:
        z = y
    x = z * y
    return x * z


@case((np.array([0.7, -1.3]),), (np.array([[0.7, -1.3], [0.4, 2.0], [1.0, 1.5]]),))
def match_on_a_shape(x):
    match x.shape:
        case (n,):
            return np.sum(x**2) * n
        case (n, m):
            return np.sum(x**2) * n * m


@case((1.3, "Linear "), (1.3, "cubic"))
def by_the_name_of_a_kind(x, kind):
    kind = kind.strip().lower()
    if kind.startswith("lin"):
        return 2.0 * x
    if kind.replace("-", "_") == "cubic":
        return x**3
    return x
