"""with, try, raise, assert, print, f-strings, del, docstrings and reads of globals."""

import contextlib
import math
import warnings

import numpy as np

from . import classes
from .registry import case

FACTOR = 1.5
COUNT = 3
TABLE = np.array([0.5, -1.0, 2.0])
SETTINGS = {"scale": 2.5, "names": ["a", "b"]}
PAIR = (0.4, 2)
UNSET = None


@case((0.7,), (-0.7,))
def errstate(x):
    with np.errstate(all="ignore"):
        y = x * x
        z = y + 1.0
    return z * y


@case((np.array([0.7, 0.0, -1.3]), np.array([2.0, 0.5, 1.0])))
def errstate_on_arrays(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = x / y
        w = z * z
    return w + x


@case((0.7,))
def return_inside_with(x):
    with np.errstate(all="ignore"):
        if x > 0:
            return x**3
        y = x
    return y


@case((0.7,))
def several_contexts(x):
    with contextlib.nullcontext(2.0) as two, contextlib.nullcontext(x * 3) as y:
        z = two * y * x
    return z


@case((0.7,))
def nested_contexts_in_loop(x):
    y = x
    for k in range(5):
        with contextlib.nullcontext(k) as n:
            with np.errstate(over="ignore"):
                if n == 3:
                    break
                y = y * x + n
    return y


@case((0.7,))
def context_that_suppresses(x):
    y = x * x
    with contextlib.suppress(KeyError):
        y = y * {"a": 2.0}["a"]
        y = y * {"a": 2.0}["b"]
        y = y * 100.0
    return y


@case((0.7,))
def warnings_caught(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = math.exp(x)
    return y * x


@case((0.7,))
def try_that_passes(x):
    try:
        y = x * x
    except ValueError:
        y = 0.0
    return y * x


@case((0.7,), (-0.7,))
def try_that_may_fail(x):
    try:
        y = math.log(x) * x
    except ValueError:
        y = x * x
    return y + x


@case((0.7, "a"), (0.7, "b"))
def try_with_else_and_finally(x, key):
    scale = 1.0
    try:
        y = x * {"a": 3.0}[key]
    except KeyError:
        y = x**2
        scale = x
    else:
        y = y * x
    finally:
        scale = scale * 2.0
    return y * scale


@case((0.7, 0), (0.7, 1), (0.7, 2), (0.7, 3))
def try_with_several_handlers(x, kind):
    y = x
    try:
        y = y * 2.0
        if kind == 1:
            raise ValueError("one")
        if kind == 2:
            raise KeyError("two")
        if kind == 3:
            raise ZeroDivisionError
        y = y * x
    except ValueError as error:
        y = y * len(str(error))
    except (KeyError, IndexError):
        y = math.sin(y)
    except ArithmeticError:
        return y * y
    return y + x


@case((0.7,))
def return_in_try_with_finally(x):
    log = []
    try:
        y = x * x
        return y * 3.0
    finally:
        log.append(x)


@case((0.7,))
def try_in_loop(x):
    total = 0.0
    values = {0: 1.0, 2: 3.0}
    for k in range(4):
        try:
            total = total * x + values[k]
        except KeyError:
            total = total + x * k
            continue
        total = total * 2.0
    return total


@case((0.7,))
def exception_from_a_callee(x):
    def checked(v):
        if v > 1:
            raise ValueError("too large")
        return v * v

    try:
        y = checked(x)
        y = y + checked(x * 3)
    except ValueError:
        y = x**3
    return y * x


@case((0.7,), (1.7,))
def raise_in_untaken_branch(x):
    if x < 0:
        raise ValueError(f"x must be positive, got {x!r}")
    if x > 1:
        return x * 2
    return x * x


@case((0.7, "square"), (0.7, "cube"))
def raise_in_else(x, kind):
    if kind == "square":
        y = x * x
    elif kind == "cube":
        y = x**3
    else:
        raise NotImplementedError(kind)
    return y


@case((0.7,))
def assertions(x):
    assert x > 0, f"x must be positive, got {x!r:>10}"
    y = math.sqrt(x)
    assert y * y < 1
    return y * x


@case((0.7,), tags="prints")
def printing(x):
    print(f"x is {x}")
    y = x * x
    print("y", y, file=None)
    return y


@case((0.7, True), (0.7, False), tags="prints")
def printing_in_loop_and_branch(x, verbose):
    y = x
    for k in range(3):
        y = y * x
        if verbose:
            print(k, y)
    return y


@case((0.7,))
def format_strings(x):
    label = f"{x:.3f} and {'nested'} {{braces}} {x + 1!r:>8}"
    other = "%.2f" % 1.5 + "{:.1f}".format(x)
    return x * len(label.split()) + len(other) * x * x


@case((0.7,))
def text_that_looks_like_code(x):
    """def f(x): return x  # not code"""
    source = "return 0"
    y = x * len(source)  # return x ** 9
    "x = 5"
    return (  # tail
        y**2
        # x ** 5
        + 1.0
    )


@case((0.7,))
def deleted_names(x):
    y = x * x
    z = y + x
    del y
    y = z * 2.0
    del z, x
    return y * y


@case((0.7,))
def deleted_in_loop(x):
    total = x
    for k in range(3):
        t = total * k
        total = total + math.sin(t)
        del t
    return total


@case((0.7,))
def global_float(x):
    return FACTOR * x * x


@case((0.7,))
def global_integer(x):
    y = x
    for _ in range(COUNT):
        y = y * FACTOR + x**COUNT
    return y


@case((np.array([0.7, 1.3, -0.2]),), (0.7,))
def global_array(x):
    return TABLE * x * x + TABLE[0]


@case((0.7,))
def global_containers(x):
    a, n = PAIR
    return SETTINGS["scale"] * x**n + a * x * len(SETTINGS["names"])


@case((0.7,))
def global_statement(x):
    global FACTOR
    return FACTOR * x + x * x


@case((0.7,))
def global_none_and_module(x):
    scale = 2.0 if UNSET is None else UNSET
    return classes.SPRING.energy(x) * scale + classes.Spring.unit * x


@case((0.7,))
def global_shadowed_by_local(x):
    FACTOR = x * 2.0
    return FACTOR * x


@case((0.7,))
def local_import(x):
    import math as m
    from math import cos
    from math import sin as sine

    return m.exp(x) * sine(x) + cos(x)


@case((0.7,))
def semicolons_and_continuations(x):
    y = x; z = y * y  # fmt: skip  # noqa: E702
    w = z \
        + y  # fmt: skip
    if w > 0: w = w * x  # fmt: skip  # noqa: E701
    return w


@case((0.7,))
def doc_only_branches(x):
    """Docstring.

    With a second paragraph.
    """
    if x > 0:
        """Not a docstring."""
    else:
        ...
    return x * x


@case((1.3, 0.4))
def read_past_the_end_of_a_list(x, y):
    values, total = [x, y, x * y], 0.0
    for k in range(5):
        try:
            v = values[k]
        except IndexError:
            values = [values[-1], total + x]
            v = y
        total = total * y + v
    return total * values[0]


@case((1.3,))
def handler_that_raises_again(x):
    for k in range(3):
        try:
            if k < 2:
                raise ValueError
            return x ** (k + 1)
        except ValueError:
            if k == 2:
                raise


@case((-2.0,), (2.0,))
def handler_that_may_raise_again(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        if x < -5:
            raise
        y = x * x
    return y * x


@case((1.3, 0.4), (-1.3, 0.4), (0.7, -0.4))
def list_grown_in_body_and_handler(x, y):
    out = []
    for v in [x, y, x * y]:
        try:
            out.append(math.log(v))
        except ValueError:
            out.append(v * v)
            out[-1] += 1.0
    return sum(v * (k + 1) for k, v in enumerate(out))


@case((1.3, 0.4), (1.3, -0.4))
def list_changed_before_what_may_fail(x, y):
    out = [x]
    try:
        out[0] *= x
        out.append(math.log(y))
    except ValueError:
        out.append(out[0] * y)
    return out[0] * out[1]


@case((1.3, 0.4), (1.3, -0.4))
def dict_written_in_body_and_handler(x, y):
    found = {"a": x}
    try:
        found["a"] = math.sqrt(y) * x
        found["b"] = x
    except ValueError:
        found["b"] = found["a"] * y
    finally:
        found["a"] *= y
    return found["a"] * found["b"]


@case((1.3, 0.4))
def entries_made_where_they_are_missing(x, y):
    sums = {}
    for name, v in [("a", x), ("b", y), ("a", x * y)]:
        try:
            sums[name] += v * v
        except KeyError:
            sums[name] = v
    return sums["a"] * sums["b"]


@case((1.3, 0.4))
def list_emptied_until_it_fails(x, y):
    stack, total = [x, y, x * y], 0.0
    while True:
        try:
            v = stack.pop()
        except IndexError:
            break
        total = total * y + v
        if v > 1.0 and total < 1.5:
            stack.append(v - 0.9)
    return total


@case((np.array([1.3, 0.4, 0.9]),), (np.array([1.3, -0.4, 0.9]),))
def array_written_in_body_and_handler(x):
    u = np.ones(3)
    for k in range(3):
        try:
            u[k] *= math.sqrt(x[k]) * x[0]
        except ValueError:
            u[k] -= x[k] * x[1]
    return u * u


class Total:
    def __init__(self):
        self.value = 0.0

    def add(self, v):
        self.value += math.sqrt(v)


@case((1.3, 0.4), (1.3, -0.4))
def attribute_changed_by_a_method_that_may_fail(x, y):
    total = Total()
    for v in (x, y):
        try:
            total.add(v)
        except ValueError:
            total.value += v * v * x
    return total.value * y


@case((np.array([1.3, 0.4]),), (np.array([1.3, -0.4]),))
def handler_that_returns(x):
    scale = 2.0
    try:
        scale = np.linalg.norm(x) * x[0]
        root = np.linalg.cholesky(np.diag(x))
    except np.linalg.LinAlgError:
        return x[0] * x[1]
    return np.sum(root * root * root) * scale


@case((np.array([1.3, 0.4, 0.9]),), (np.array([1.3, -0.4, 0.9]),))
def handler_that_returns_from_a_half_filled_list(x):
    found, u = [], np.zeros(3)
    tail = u[1:]
    try:
        for k in range(3):
            u[k] = math.sqrt(x[k])
            found.append(u[k] * x[0])
    except ValueError:
        return x[0] * x[2]
    tail *= x[1]
    return np.sum(u * u) * found[0] + found[2]


@case((1.3, 0.4), (1.3, -0.4), (-1.3, 0.4))
def handler_that_returns_from_a_loop(x, y):
    total = x
    for v in (x, y):
        try:
            a = math.exp(v) * total
            b = math.sqrt(v)
        except ValueError:
            return total * total
        total += a * b
    return total * a


@case((1.3, 0.4, 0.9), (-1.3, 0.4, 0.9), (1.3, 0.4, -0.9))
def list_grown_in_branches_and_inner_attempts(x, y, z):
    out = [y]
    for v in (x, z):
        try:
            if v < 1.0:
                out.append(math.sqrt(v) * y)
            else:
                try:
                    out.append(math.log(v - 1.0) + x)
                except KeyError:
                    out.append(0.0)
        except ValueError:
            out[-1] += v * v
    return sum(v * (k + 1) for k, v in enumerate(out))


@case((0.7,))
def quotients_of_a_list_of_python_and_numpy_floats(x):
    values = [x, np.float64(2.0)]
    total = 0.0
    for k in range(2):
        try:
            total += values[k] * x / k
        except ZeroDivisionError:
            total += 3 * x * x
    return total
