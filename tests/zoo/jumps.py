"""break, continue, loop else, return anywhere; variables of a loop used after it."""

import math

import numpy as np

from .registry import case


@case((0.7,), (1.7,), tags="scalar")
def break_on_value(x):
    y = x
    for k in range(10):
        y = y * 1.5 + x
        if y > 6:
            break
    return y * k


@case((0.7, 2), (0.7, 50))
def break_on_counter(x, last):
    y = 1.0
    for k in range(6):
        if k == last:
            break
        y = y * x + k
    return y


@case((0.7,), tags="scalar")
def break_in_the_first_trip(x):
    y = x
    for _ in range(5):
        z = y * x
        if z < 10:
            break
        y = z
    return y * z


@case((0.7,), tags="scalar")
def continue_on_counter(x):
    total = 0.0
    for k in range(7):
        if k % 3 == 1:
            continue
        total = total * x + k
    return total


@case((np.array([0.5, -1.5, 2.0, -0.1]),))
def continue_on_value(x):
    total = 1.0
    for v in x:
        if v < 0:
            continue
        total = total * v + v
    return total


@case((0.7,))
def continue_then_code_that_overwrites(x):
    y = x
    for k in range(6):
        z = y * k
        if z > 2.5:
            y = y * 0.5
            continue
        y = z + x
        if k == 4:
            y = y * y
            continue
        y = y + 0.1 * z
    return y


@case((np.array([[0.0, 1.0, -3.0], [2.0, 0.0, -1.0]]) + 0.25, 1.5))
def running_maximum_with_continue(c, x):
    best = -1e20
    for p in range(c.shape[0]):
        for q in range(c.shape[1]):
            if c[p, q] == 0.25:
                continue
            v = x * c[p, q] * (p + 1 + q)
            if v > best:
                best = v
    return best


@case((0.7, 9.0), (0.7, 1.0))
def else_of_for(x, limit):
    y = x
    for k in range(4):
        y = y * 1.6 + x
        if y > limit:
            break
    else:
        y = math.sin(y)
    return y * x + k


@case((0.7, 30.0), (0.7, 1.0), argnums=0)
def else_of_while(x, limit):
    y = x
    n = 0
    while n < 5:
        n += 1
        if y > limit:
            y = y - x
            break
        y = y * 1.6 + x
    else:
        y = y * y
    return y


@case((np.array([0.5, 1.5, 3.0]), 1.0), (np.array([0.5, 1.5, 3.0]), 9.0), argnums=0)
def search_with_else(x, limit):
    for v in x:
        if v > limit:
            found = v * v
            break
    else:
        found = x[0]
    return found * x[-1]


@case((0.7, 2), (0.7, 9))
def return_in_loop(x, n):
    y = x
    for k in range(5):
        if k == n:
            return y * y
        y = y * x + 1.0
    return y


@case((0.5,), (0.1,))
def return_when_converged(x):
    total = 0.0
    for k in range(1, 30):
        if k % 2:
            term = x**k
            if abs(term) < 1e-6:
                return total
            total += term
    return total


@case((0.7, 1, 1), (0.7, 2, 0), (0.7, 5, 5))
def return_in_nested_loops(x, p, q):
    y = x
    for i in range(3):
        y = y + i * x
        for j in range(3):
            y = y * 0.9 + x * j
            if i == p and j == q:
                return y * y
        y = y * y
    return y * x


@case((3.7,), (0.7,))
def return_from_while(x):
    y = x
    while y < 50:
        y = y * x
        if y > 20:
            return math.log(y)
        if y < 0.2:
            return y * 3.0
    return y


@case((0.7,), (2.7,))
def return_in_else_of_loop(x):
    y = x
    for _ in range(3):
        y = y * x
        if y > 5:
            break
    else:
        return y - x
    return math.sqrt(y + 1.0)


@case((0.7,), (-0.7,), (3.0,))
def returns_at_every_depth(x):
    if x < 0:
        return -x
    y = x
    for k in range(4):
        if y > 4:
            if k > 0:
                return y * k
            return y * y
        y = y * 1.5 + x
    if y > 100:
        return y
    return math.sqrt(y)


@case((0.7,), (2.5,))
def returns_of_different_containers(x):
    for k in range(3):
        if x > 2:
            return x * k, x
        x = x * 1.1
    return x * x, 1.0


@case((np.array([0.5, 1.5, 3.0]),))
def loop_variable_after_loop(x):
    total = 0.0
    for v in x:
        total += v * v
    return total * v


@case((0.7,), tags="scalar")
def counter_after_loop(x):
    for k in range(4):
        pass
    return x**k


@case((np.array([0.5, 1.5, 3.0]), 2.0), (np.array([0.5, 1.5, 3.0]), 1.0), argnums=0)
def loop_variable_after_break(x, limit):
    for i, v in enumerate(x):
        if v > limit:
            break
    return v**2 * (i + 1)


@case((0.7, 3), (0.7, 0))
def loop_variable_defined_before(x, n):
    k = 10
    for k in range(n):
        x = x * 1.1
    return x * k


@case((0.7, 3))
def variable_born_in_loop(x, n):
    for k in range(n):
        y = x * k + 1.0
    return y * y


@case((0.7, 3))
def variable_born_in_branch_in_loop(x, n):
    for k in range(n):
        if k == 1:
            late = x * x
        if k > 1:
            x = x + late
    return x * late


@case((0.7, 3), (0.7, 0))
def variable_maybe_born(x, n):
    total = x
    for k in range(n):
        if k > 0:
            total = total + previous  # noqa: F821
        previous = total * x
    return total


@case((0.7,))
def previous_value_of_the_last_trip(x):
    first = True
    y = x
    for k in range(4):
        if first:
            first = False
        else:
            y = y * saved + k  # noqa: F821
        saved = y * 0.5
    return y


@case((0.4, 2.2), (0.9, 1.3))
def break_inside_if_inside_for_inside_while(x, a):
    value = x
    n = 0
    while n < 4:
        n += 1
        for k in range(5):
            value = value * a + 0.1 * k
            if k > 0:
                if value > 3 * n:
                    carried = value * x
                    break
                value = value - 0.05
        else:
            carried = value
        value = math.sin(carried) + x
    return value * carried


@case((0.6,))
def breaks_of_both_loops(x):
    y = x
    stop = False
    for i in range(5):
        for j in range(5):
            y = y * 1.2 + 0.1 * x * j
            if y > 4:
                stop = True
                break
            if j > i:
                break
        if stop:
            break
        y = y + i * x
    return y * y + i + j


@case((0.6,))
def continue_of_both_loops(x):
    y = x
    for i in range(4):
        if i == 1:
            continue
        z = y
        for j in range(4):
            if j == i:
                continue
            z = z * x + j
        y = math.tanh(y + z)
    return y


@case((0.6,))
def break_and_continue_in_while(x):
    k = 0
    y = x
    while True:
        k += 1
        if k % 2:
            continue
        y = y * y + x * k
        if k > 6 or y > 50:
            break
    return y * k


@case((0.6,))
def code_after_conditional_break(x):
    y = x
    z = 1.0
    for k in range(6):
        z = z * y
        if z < 0.02:
            break
        y = y + 0.1 * z
        z = z + 0.01 * k
    return y * z


@case((0.7,), (1.3,))
def break_before_any_statement(x):
    y = x
    while True:
        if y > 9:
            break
        y = y * 2.0 + x
    return y


@case((0.6,))
def loop_that_always_returns(x):
    for k in range(1, 5):
        return x**2 * k
    return x


@case((0.6,))
def while_true_return(x):
    y = x
    while True:
        y = y * 1.9
        if y > 3:
            return y * y


@case((1.7, 0.9), (0.5, 9.0))
def return_in_a_loop_and_nowhere_else(x, y):
    for k in range(4):
        x = x * x * y - 0.1 * x
        if x > 3.0 * y:
            return x * y / (k + 1)


@case((np.array([0.5, -0.2]), 0.9))
def helper_that_may_return_none(x, y):
    def first_above(limit):
        for v in x:
            if v * y > limit:
                return v * y**2

    low, high = first_above(-3.0), first_above(3.0)
    return low if high is None else high


@case((1.3, 0.9), (3.5, 0.9))
def while_after_a_loop_that_may_return(x, y):
    for k in range(3):
        if x * k > 5.0:
            return x * y
        x = x * y
    total = 0.0
    while total < 3.0:
        total += x * y + total * total + x
    return x * total


@case(({"a": 0.9, "b": 1.3}, 1.3, 2), ({"a": 0.9, "b": 1.3}, 1.3, 5))
def dict_changed_before_a_return_in_a_loop(table, x, last):
    table = dict(table)
    for k in range(3):
        table["c"] = math.cos(x * k)
        if k == last:
            return x * table["c"]
    return sum(table.values()) * x


@case((1.3,), (1.0,), (0.7,))
def return_and_elif_that_returns(x):
    if x > 1.2:
        return x
    elif x < 0.9:
        return x * x
    return x**3


@case((1.3,), (1.1,), (0.7,))
def return_in_one_branch_and_deep_in_the_other(x):
    if x > 1:
        if x > 1.2:
            return x * x
    else:
        return 0.5 * x
    return x**3


@case((1.3,), (1.1,), (0.7,))
def names_bound_where_nothing_was_returned(x):
    if x > 1:
        if x > 1.2:
            return x * x
        y = 2 * x
    else:
        return 0.5 * x
    return y * x**3


@case((1.3,), (1.1,), (0.7,))
def break_in_one_branch_and_continue_deep_in_the_other(x):
    t = x
    for _ in range(4):
        if t > 1:
            if t > 1.2:
                continue
        else:
            break
        t = t * x
    return t


@case((0.7,))
def continue_and_elif_that_breaks(x):
    for i in range(5):
        if i == 0:
            continue
        elif i == 3:
            break
        x = x * 1.5
    return x**2


@case((1.3,), (0.7,))
def loop_that_may_return_in_a_branch(x):
    if x < 0.9:
        return x * x
    else:
        for k in range(3):
            if x * k > 2:
                return x * k
    return x**3


@case((1.3,), (0.1,))
def pair_that_a_search_finds_or_not(x):
    found = None
    for i in range(5):
        if x * i > 4:
            found = (i, x**2)
            break
    if found is None:
        return x
    i, y = found
    return i * y


@case((1.3,))
def search_in_nested_loops(x):
    found = None
    for i in range(30):
        for j in range(5):
            if x * i * j > 6:
                found = (i, j * x)
                break
        if found:
            break
    return found[0] * found[1]


@case((1.3,))
def list_and_dict_of_the_last_hit(x):
    last = named = None
    for i in range(5):
        if x * i > 2:
            last, named = [x * i, x], {"x": x, "hit": x**i}
    return last[0] * named["hit"] + last[1] * named["x"]
