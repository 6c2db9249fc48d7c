"""The public transforms, with the names and conventions of JAX and autograd.

Each works as a call and as a decorator, with and without arguments:

    df = srcad.grad(f)
    @srcad.grad
    @srcad.grad(argnums=(0, "w"), has_aux=True)
"""

from __future__ import annotations

from typing import Any, Unpack

from srcad import points, runtime
from srcad.derivative import Derivative, make_derivative
from srcad.options import Choices, chosen, mark_opaque
from srcad.transform import inside
from srcad.transform.calls import Spec
from srcad.transform.inside import checked_argnums
from srcad.transform.library import transform

__all__ = [
    "Derivative",
    "derivative",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "opaque",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]


def _transform(kind: str, function: Any, argnums: Any, has_aux: bool, choices: Choices) -> Any:
    spec = Spec(kind, checked_argnums(argnums), has_aux)
    options = chosen(choices)
    if function is None:
        return lambda f: make_derivative(f, spec, options)
    return make_derivative(function, spec, options)


def grad(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The gradient of a function that returns one real scalar, by reverse mode.

    ``argnums``: position or name of the differentiated argument, or a tuple of them.  The gradient
    has the structure, shape and dtype of the argument; for a tuple of argnums it is a tuple.  With
    ``has_aux`` the function returns ``(value, aux)`` and the result is ``(gradient, aux)``.

    Raises ``NotDifferentiable`` for integer arguments and for results that are not a real scalar.
    Exceptions of the function come through with their own type and a note that names its line.  A
    function that has no effects may be run a second time when it raises, to keep to NumPy's
    semantics (``np.log(0.0)`` is ``-inf`` with a warning); one with effects never is.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * x * y
    >>> srcad.grad(f)(3.0, 2.0)
    12.0

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 3.
    """
    return _transform("grad", fun, argnums, has_aux, options)


def value_and_grad(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The value and the gradient together: ``(value, gradient)``; see ``grad``.

    With ``has_aux``: ``((value, aux), gradient)``.
    """
    return _transform("value_and_grad", fun, argnums, has_aux, options)


def jacrev(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The Jacobian by reverse mode: a reverse sweep for each entry of the result.

    Shape: that of the result, then that of the argument.  With ``has_aux`` the function returns
    ``(value, aux)`` and the result is ``(jacobian, aux)``.
    """
    return _transform("jacrev", fun, argnums, has_aux, options)


def jacfwd(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The Jacobian by forward mode: one sweep for each entry of the argument.

    Shape: that of the result, then that of the argument; ``has_aux`` as for ``jacrev``.
    """
    return _transform("jacfwd", fun, argnums, has_aux, options)


def jacobian(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The Jacobian, by the mode that needs fewer sweeps.

    Shape: that of the result, then that of the argument; ``has_aux`` as for ``jacrev``.
    """
    return _transform("jacobian", fun, argnums, has_aux, options)


def derivative(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The derivative by a number, by forward mode; the result has the shape of the value.

    With ``has_aux`` the function returns ``(value, aux)`` and the result is ``(derivative, aux)``.
    """
    return _transform("derivative", fun, argnums, has_aux, options)


def hessian(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The matrix of second derivatives of a scalar function, forward over reverse.

    Shape: that of the argument, twice.  For a tuple of argnums: a tuple of tuples.  With
    ``has_aux`` the function returns ``(value, aux)`` and the result is ``(hessian, aux)``.
    """
    if fun is None:
        return lambda f: hessian(f, argnums, has_aux, **options)
    return jacfwd(grad(fun, argnums, has_aux), argnums, has_aux, **options)


def opaque(function: Any) -> Any:
    """Mark a function to be run as it is; a derivative through it is refused.  Also a decorator."""
    return mark_opaque(function)


stop_gradient = runtime.stop_gradient


# ---- functions of the point


def vjp(fun: Any, *primals: Any, has_aux: bool = False, **options: Unpack[Choices]) -> Any:
    """The value at the primals and the pullback: ``(value, pullback)``.

    ``pullback(cotangent)`` is a tuple of gradients, one for each primal; it can be called often.
    With ``has_aux`` the function returns ``(value, aux)``, and ``vjp`` returns ``(value, pullback,
    aux)``.
    """
    return points.vjp(fun, primals, has_aux, chosen(options))


def jvp(
    fun: Any, primals: Any, tangents: Any, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The value at the primals and its tangent: ``(value, tangent)``, by forward mode.

    ``tangents`` has the structure of ``primals``.  An argument that is not differentiable (an
    integer) has no tangent: pass it by closure.  With ``has_aux`` the function returns
    ``(value, aux)``, and ``jvp`` returns ``(value, tangent, aux)``.
    """
    return points.at_point("jvp", fun, primals, tangents, has_aux, chosen(options))


def hvp(fun: Any, primals: Any, tangents: Any, **options: Unpack[Choices]) -> Any:
    """The Hessian of a scalar function times a vector, forward over reverse.

    For one primal an array or a number, for several a tuple, one entry for each.
    """
    return points.at_point("hvp", fun, primals, tangents, options=chosen(options))


for _function in (grad, value_and_grad, jacrev, jacfwd, jacobian, derivative):
    transform(_function)(inside.transform_of(_function.__name__))
transform(hessian)(inside.hessian)
transform(vjp)(inside.vjp)
transform(jvp)(inside.jvp)
transform(hvp)(inside.hvp)
