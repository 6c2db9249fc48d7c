"""while loops: counted, data-dependent, zero trips, with else, nested."""

import math

import numpy as np

from .registry import case


@case((0.9, 4), (0.9, 0), tags="scalar")
def counted(x, n):
    y = x
    k = 0
    while k < n:
        y = math.sin(y) * x
        k += 1
    return y


@case((5.3,), (0.3,), tags="scalar")
def halved_until_small(x):
    y = x
    while y > 1.0:
        y = y * 0.5
    return y * y


@case((2.0,), tags="scalar")
def newton_until_converged(x):
    a = x
    while abs(a * a - x) > 1e-13:
        a = 0.5 * (a + x / a)
    return a


@case((0.4, 1.1), tags="scalar")
def fixed_point(x, a):
    y = 0.0
    step = 1.0
    while step > 1e-3:
        new = math.cos(a * y) * x
        step = abs(new - y)
        y = new
    return y


@case((10.0, 0.9), tags="scalar")
def bouncing_ball(v, restitution):
    t = 0.0
    while v > 1.0:
        t += 2.0 * v / 9.81
        v = v * restitution * restitution
    return t


@case((0.7, 3.0), (5.0, 3.0))
def test_on_two_values(x, y):
    while x < y and x * y < 20:
        x = x * 1.7
        y = y + 0.3 * x
    return x * y


@case((0.7,))
def condition_calls_functions(x):
    y = x
    while math.exp(y) < 10.0 and not y > 5:
        y = y + math.sin(x)
    return y * x


@case((0.7, 3), (0.7, 0))
def while_with_else(x, n):
    y = x
    while n > 0:
        y = y * x
        n -= 1
    else:
        y = y + math.sin(x)
    return y


@case((6.5, 1.4), tags="scalar")
def nested_whiles(x, y):
    total = 0.0
    while x > 1:
        z = y
        while z < x:
            z = z * 1.9
            total += z * x
        x = x - y
    return total


@case((3.3,), tags="scalar")
def for_inside_while(x):
    y = x
    while y < 100:
        for k in range(3):
            y = y * 1.3 + k * x
    return y


@case((3.3,), tags="scalar")
def while_inside_for(x):
    total = 0.0
    for k in range(1, 4):
        y = x * k
        while y > 2:
            y = y / 2.1
        total = total * 0.7 + y * y
    return total


@case((0.9, 13), (0.9, 0))
def power_by_squaring(x, n):
    result = 1.0
    base = x
    while n:
        if n & 1:
            result = result * base
        base = base * base
        n >>= 1
    return result


@case((np.array([1.5, 2.0, -1.0, 3.0, 0.5, 2.5, -2.0, 1.0]),))
def bisection_on_indices(x):
    lo, hi = 0, len(x) - 1
    total = 0.0
    while lo < hi:
        mid = (lo + hi) // 2
        total += x[mid] * (1 << mid) + x[-mid] ** (mid % 3)
        lo = mid + 1
    return total / 2**lo


@case((np.array([3.0, -4.0]),), (np.array([0.3, -0.4]),))
def array_scaled_until_short(x):
    while np.sqrt(np.sum(x * x)) > 1.0:
        x = 0.7 * x - 0.01 * x * x
    return x


@case((0.8,))
def while_walrus(x):
    y = x
    while (z := y * y) < 5:
        y = y + z * x
    return y + z


@case(([0.5, 1.5, 2.5],))
def emptied_list(xs):
    stack = list(xs)
    total = 1.0
    while stack:
        total = total * stack.pop() + 0.5
    return total


@case((0.8,))
def while_true_with_break(x):
    y = x
    while True:
        y = y * 1.5 + x
        if y > 10:
            break
    return y * y


@case((0.8,))
def integer_condition(x):
    n = 5
    y = x
    while n:
        n -= 2 if n > 1 else 1
        y = y * x + n
    return y


@case((0.3, 0.2))
def mandelbrot_escape(re, im):
    x = 0.0
    y = 0.0
    n = 0
    while x * x + y * y < 4.0 and n < 8:
        x, y = x * x - y * y + re, 2 * x * y + im
        n += 1
    return x * x + y * y + n


@case((1.1, 0.4), tags="scalar")
def adaptive_step_euler(y, k):
    t = 0.0
    h = 0.3
    while t < 1.0:
        slope = -k * y * y
        if abs(slope) * h > 0.1:
            h = h * 0.5
        y = y + h * slope
        t = t + h
    return y


@case((0.9, 0.5), (2.0, 0.6))
def no_trip_leaves_all_untouched(x, y):
    z = x * y
    while x > 1.0:
        z = z * x
        x = x * y
        y = y * 0.9
    return z + x + y


@case((np.array([0.4, -1.1, 0.7]), 0.3), (np.array([0.4, -1.1, 0.7]), 2.0))
def array_reassigned_in_a_loop_that_may_not_run(x, y):
    count = 0
    while count < 2 and np.all(y < np.array([1.0, 2.0])):
        count += 1
        x = (x / (1.5 + y**2))[::-1]
    return np.sum(x**3)


@case((0.7, 1.1, 4))
def while_a_list_has_items_and(x, y, n):
    waiting, done, total = [x], [], 0.0
    while (waiting and n > 0) or done:
        n -= 1
        if done or not waiting:
            total += done.pop() * y
            continue
        a = waiting.pop()
        if (n and waiting) or n:
            waiting.append(a * y + x)
        if not (waiting and n > 1):
            done.append(a * x)
        total += a if waiting and done else a * a
    return total


@case((0.9, 0.5), (0.3, 0.2), tags="scalar")
def newton_with_a_step_that_is_set_again(x, y):
    relax, target = 0.75, y
    while abs(x * x - target) > 1e-9:
        new = x - relax * (x * x - target) / (2 * x)
        if new < 0.5:
            relax, target = 0.75, y
            x = 0.5 * (x + new)
            continue
        relax = 0.75
        x = new
    return x * relax + target


@case((0.9, 3), (0.9, 0), tags="scalar")
def a_zero_that_changes_its_sign(x, n):
    turn, total = 0.0, 1.0
    while n > 0:
        total += math.atan2(turn, -x) * x
        turn = -0.0 if n > 2 else 0.0
        n -= 1
    return total * x
