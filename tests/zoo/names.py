"""Names: shadowed builtins, Unicode, names that look generated, names of modules."""

import math
import math as np_like
from math import exp as math_exp
from math import sin

import numpy
import numpy as jnp
import numpy as np
from numpy import cos as np_cos
from numpy import linalg

from .registry import case


@case((0.7,))
def shadowed_builtins(range, abs=abs, max=3):
    sum = 0.0
    len = 2.0
    for zip in (1, 2, max):
        sum += range**zip * len
    float = abs(-sum)
    print = float * 0.5
    return print


@case((np.arange(12.0).reshape(3, 4) / 7,))
def total_called_sum(x):
    sum = 0
    rows, cols = x.shape
    for i in np.arange(rows):
        for j in np.arange(i, cols):
            sum = sum + x[i, j] * x[i, j] * (i + 1)
    return sum


@case((0.7, 1.3))
def parameters_called_like_modules(np, math):
    numpy = np * math
    functools = numpy + np
    return functools * math


@case((0.7, 1.4, -0.3))
def generated_looking_names(x, bx, dx):
    _stack = x * bx
    t = _stack + dx
    t2 = t * t
    ct = t2 * bx
    x_0 = ct + x
    grad = x_0 * 0.5
    tape = [grad, dx]
    srcad = tape[0] * tape[1]
    _x = __x = srcad
    for i in range(2):
        bi = i + 1.0
        _x = _x + bi * x
    df = d_x = gx = xbar = x_bar = adj_x = x_dot = cotangent = _x  # noqa: F841
    return df + __x


@case((0.7, 1.4))
def names_of_adjoints(x, x_bar):
    x_dot = x * x_bar
    x_stack = [x_dot, x]
    if_stack = x_stack[0] + x_bar
    out = if_stack * x_dot
    out_bar = out * x
    x_bar_dot = out_bar + x_bar
    y_bar = x_bar_dot * out
    return y_bar * x_bar


@case((0.7, 1.4))
def names_with_numbers(x1, x2):
    x = x1 * x2
    x_1 = x + x1
    x__1 = x_1 * x
    x3 = x__1 - x2
    x2 = x3 * x_1
    return x2 * x3


@case((0.7,))
def names_of_results(out):
    seed = out * out
    primal = seed + out
    result = primal * seed
    value = result + 1.0
    ct = value
    pullback = ct * out
    return pullback


@case((0.7, 1.4))
def underscores(_, __):
    _, __ = __ * _, _
    for _ in range(3):
        __ = __ * 1.5 + _
    return __ * __


@case((0.3, 1.7, 2.0))
def unicode_names(μ, σ, naïve):
    """Dichte über µ und σ: größer ist besser."""
    Δ = (naïve - µ) / σ  # the micro sign is the same name as the Greek letter
    label = "Ünï→" + "∇"
    ﬁt = -0.5 * Δ**2 - np.log(σ)
    return fit + len(label) * μ


@case((0.7,))
def soft_keywords(match):
    case_ = match * 2.0
    type = case_ * match
    _ = type + 1.0
    return _ * type


@case((0.7,))
def other_names_for_modules(x):
    return jnp.sin(x) + numpy.exp(x) * np_like.cos(x) + math.sqrt(x)


@case((0.7,))
def functions_imported_by_name(x):
    return sin(x) * math_exp(x) + np_cos(x)


@case((np.array([0.7, 1.3]),))
def submodule_imported_by_name(x):
    return linalg.norm(x) * np.linalg.norm(x) * x


@case((0.7,))
def function_called_like_its_variable(x):
    def y(v):
        return v * v

    z = y(x)
    y = z * x
    return y


@case((0.7,))
def local_function_shadows_import(x):
    def sin(v):
        return v * v * v

    return sin(x) + math.sin(x)


@case((0.7,))
def function_shadows_builtin(x):
    def abs(v):
        return v * 3.0

    def max(a, b):
        return a * b

    return abs(x) + max(x, x * x)


@case((0.7,))
def comprehension_reuses_names(x):
    y = [x for x in (x, x * x, 2.0)]
    x = sum([x * y[0] for x in y])
    return x


class Mangled:
    def __init__(self, k):
        self.__k = k

    def value(self, x):
        __scale = 2.0
        return self.__k * x * x * __scale


case((0.7,), name="private_names")(Mangled(1.5).value)


@case((0.7,))
def very_long_name_of_a_variable(x):
    the_intermediate_value_that_is_needed_later_in_the_reverse_sweep_of_this_function = x * x
    return (
        the_intermediate_value_that_is_needed_later_in_the_reverse_sweep_of_this_function
        * the_intermediate_value_that_is_needed_later_in_the_reverse_sweep_of_this_function
    )
