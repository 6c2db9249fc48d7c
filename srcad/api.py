"""The public transforms, with the names and conventions of JAX and autograd.

Each works as a call and as a decorator, with and without arguments:

    df = srcad.grad(f)
    @srcad.grad
    @srcad.grad(argnums=(0, "w"), has_aux=True)

What is differentiated by, the arguments at ``argnums``, are floats, complex numbers, arrays of them
(float16 to complex128), and tuples, lists, dicts and dataclasses of these; the others may be
anything.  By complex numbers derivatives are as JAX has them: of a holomorphic function ``f'(z)``,
of a real one ``df/dx - 1j * df/dy``.

All raise at the first call with arguments of new types, from ``srcad.errors``:
``NotDifferentiable`` for a derivative by an integer, or of what is no number;
``UnsupportedSyntax``, ``UnsupportedValue`` and ``MissingRule`` for what is not supported, with the
line and what to write instead; ``SourceUnavailable`` where there is no source to read.  What no
call could mend is refused at once: ``argnums`` that are neither positions nor names by a
``TypeError``, options that there are not by a ``TypeError`` or ``ValueError``.
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
    ``options`` are those of ``srcad.Options``: ``options=``, or ``backend=``, ``fastmath=`` and
    ``fallback=`` alone.

    Raises ``NotDifferentiable`` for integer arguments and for results that are not a real scalar.
    Exceptions of the function come through with their own type and a note that names its line.  A
    function that has no effects may be run a second time when it raises, to keep to NumPy's
    semantics (``np.log(0.0)`` is ``-inf`` with a warning); one with effects never is.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * x * y
    >>> srcad.grad(f)(3.0, 2.0)
    12.0
    >>> srcad.grad(f, argnums=(0, "y"))(3.0, 2.0)
    (12.0, 9.0)

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), section 3.2.
    """
    return _transform("grad", fun, argnums, has_aux, options)


def value_and_grad(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The value and the gradient together: ``(value, gradient)``; see ``grad``.

    With ``has_aux``: ``((value, aux), gradient)``.  The function is run once, as the forward sweep.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * x * y
    >>> srcad.value_and_grad(f)(3.0, 2.0)
    (18.0, 12.0)
    """
    return _transform("value_and_grad", fun, argnums, has_aux, options)


def jacrev(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The Jacobian by reverse mode: a reverse sweep for each entry of the result.

    Shape: that of the result, then that of the argument; of containers it is a container of these,
    in the structure of the result, then that of the argument.  With ``has_aux`` the function
    returns ``(value, aux)`` and the result is ``(jacobian, aux)``.

    Raises ``NotDifferentiable`` for integer arguments, for a result without a derivative, and for a
    complex result of a function of real numbers: ``jacfwd`` has that.

    >>> import numpy as np, srcad
    >>> def f(x):
    ...     return np.outer(x, x)
    >>> srcad.jacrev(f)(np.array([1.0, 2.0, 3.0])).shape
    (3, 3, 3)

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), section 3.2.
    """
    return _transform("jacrev", fun, argnums, has_aux, options)


def jacfwd(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The Jacobian by forward mode: one sweep for each entry of the argument.

    Shape: that of the result, then that of the argument; containers, ``has_aux`` and errors are as
    for ``jacrev``, but a real argument may have a complex result.

    >>> import numpy as np, srcad
    >>> def f(x):
    ...     return np.array([x[0] * x[1], x[0]])
    >>> srcad.jacfwd(f)(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), section 3.1.
    """
    return _transform("jacfwd", fun, argnums, has_aux, options)


def jacobian(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The Jacobian, by the mode that costs less.

    What both cost is estimated from their operations and the sizes of the arguments, for each call.
    Shape: that of the result, then that of the argument; containers, ``has_aux`` and errors are as
    for ``jacrev``.

    >>> import numpy as np, srcad
    >>> def f(x):
    ...     return np.sum(x * x)
    >>> srcad.jacobian(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _transform("jacobian", fun, argnums, has_aux, options)


def derivative(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The derivative by a number, by forward mode; the result has the shape of the value.

    With ``has_aux`` the function returns ``(value, aux)`` and the result is ``(derivative, aux)``.
    Raises ``NotDifferentiable`` for an argument that is no float or complex number.

    >>> import numpy as np, srcad
    >>> def f(t):
    ...     return np.array([t, t * t])
    >>> srcad.derivative(f)(3.0)
    array([1., 6.])
    """
    return _transform("derivative", fun, argnums, has_aux, options)


def hessian(
    fun: Any = None, argnums: Any = 0, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The matrix of second derivatives of a scalar function, forward over reverse.

    Shape: that of the argument, twice.  For a tuple of argnums: a tuple of tuples.  With
    ``has_aux`` the function returns ``(value, aux)`` and the result is ``(hessian, aux)``.
    Raises what ``grad`` raises.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * y * y
    >>> srcad.hessian(f, argnums=(0, 1))(1.0, 2.0)
    ((0.0, 4.0), (4.0, 2.0))

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), section 5.1.
    """
    if fun is None:
        return lambda f: hessian(f, argnums, has_aux, **options)
    return jacfwd(grad(fun, argnums, has_aux), argnums, has_aux, **options)


def opaque(function: Any) -> Any:
    """Mark a function to be run as it is; a derivative through it is refused.  Also a decorator.

    What it returns is a constant where none of its arguments depends on what is differentiated by;
    else ``MissingRule`` is raised.

    >>> import srcad
    >>> @srcad.opaque
    ... def table(k):
    ...     return {1: 0.5, 2: 0.25}[k]
    >>> def f(x, k):
    ...     return x * x * table(k)
    >>> srcad.grad(f)(3.0, 2)
    1.5
    """
    return mark_opaque(function)


stop_gradient = runtime.stop_gradient
"""``stop_gradient(x)`` is ``x``, as a constant: no derivative goes through it."""


# ---- functions of the point


def vjp(fun: Any, *primals: Any, has_aux: bool = False, **options: Unpack[Choices]) -> Any:
    """The value at the primals and the pullback: ``(value, pullback)``.

    ``pullback(cotangent)`` is a tuple of gradients, one for each primal, with its structure, shapes
    and dtypes; it can be called often.  The cotangent has the structure and shapes of the value.
    With ``has_aux`` the function returns ``(value, aux)``, and ``vjp`` returns ``(value, pullback,
    aux)``.

    Raises ``NotDifferentiable`` for a primal that is an integer; the pullback ``UnsupportedValue``
    for a cotangent of another structure or shape.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * y, x + y
    >>> value, pullback = srcad.vjp(f, 3.0, 2.0)
    >>> value, pullback((1.0, 10.0))
    ((6.0, 5.0), (12.0, 13.0))

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), section 3.2.
    """
    return points.vjp(fun, primals, has_aux, chosen(options))


def jvp(
    fun: Any, primals: Any, tangents: Any, has_aux: bool = False, **options: Unpack[Choices]
) -> Any:
    """The value at the primals and its tangent: ``(value, tangent)``, by forward mode.

    ``primals`` and ``tangents`` are tuples of the arguments and their directions, of the same
    structure and shapes; the tangent has those of the value.  An argument that is not
    differentiable (an integer) has no tangent: pass it by closure.  With ``has_aux`` the function
    returns ``(value, aux)``, and ``jvp`` returns ``(value, tangent, aux)``.

    Raises ``TypeError`` for what are not two tuples of one length, ``UnsupportedValue`` for
    tangents of another structure or shape, ``NotDifferentiable`` for a primal that is an integer.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * y
    >>> srcad.jvp(f, (3.0, 2.0), (1.0, 10.0))
    (6.0, 32.0)

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), section 3.1.
    """
    return points.at_point("jvp", fun, primals, tangents, has_aux, chosen(options))


def hvp(fun: Any, primals: Any, tangents: Any, **options: Unpack[Choices]) -> Any:
    """The Hessian of a scalar function times a vector, forward over reverse.

    ``primals`` and ``tangents`` are tuples, as for ``jvp``.  The result has the structure, shape
    and dtype of the primal; for several primals it is a tuple, one entry for each.  Its cost is a
    small multiple of that of the function: the Hessian is not formed.  Raises what ``grad`` and
    ``jvp`` raise.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * y * y
    >>> srcad.hvp(f, (1.0, 2.0), (1.0, 0.0))
    (0.0, 4.0)

    Pearlmutter, Fast Exact Multiplication by the Hessian, Neural Computation 6 (1994).
    """
    return points.at_point("hvp", fun, primals, tangents, options=chosen(options))


for _function in (grad, value_and_grad, jacrev, jacfwd, jacobian, derivative):
    transform(_function)(inside.transform_of(_function.__name__))
transform(hessian)(inside.hessian)
transform(vjp)(inside.vjp)
transform(jvp)(inside.jvp)
transform(hvp)(inside.hvp)
