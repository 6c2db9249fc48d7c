"""The public transforms, with the names and conventions of JAX and autograd.

Each works as a call and as a decorator, with and without arguments:

    df = srcad.grad(f)
    @srcad.grad
    @srcad.grad(argnums=(0, "w"), has_aux=True)
"""

from __future__ import annotations

import functools
import html
import inspect
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.dispatch import SCALARS, AnyValue, constant_key, key_of, make_call
from srcad.errors import Place, SrcadError, UnsupportedValue, add_primal_note
from srcad.frontend import containers
from srcad.frontend.abstract import Abstract, Intrinsic, Static, Transformed, TupleRef
from srcad.frontend.lowering import Lowering
from srcad.ir import format_function
from srcad.options import Options
from srcad.pipeline import Compiled, CompiledPair, compile_call, compile_vjp
from srcad.transform.library import CompilerLibrary, Spec, transform

_TITLES = {
    "grad": "Gradient of {name}.",
    "value_and_grad": "Value and gradient of {name}.",
    "jacrev": "Jacobian of {name}, row by row.",
    "jacfwd": "Jacobian of {name}, column by column.",
    "jacobian": "Jacobian of {name}.",
    "derivative": "Derivative of {name}.",
    "jvp": "Value and tangent of {name}.",
    "hvp": "Product of the Hessian of {name} with a vector.",
    "primal": "{name}, as it is differentiated.",
}


class Derivative:
    """A derivative of a function: callable, readable, differentiable again.

    Its code is generated on the first call for the types of the arguments, and kept.  Attributes:
    ``source`` (the generated module), ``source_for(*args)``, ``ir``, ``primal`` (the function),
    ``__wrapped__``.
    """

    __srcad_transform__ = True

    def __init__(self, function: Callable[..., Any], spec: Spec, options: Options) -> None:
        if not callable(function):
            raise UnsupportedValue(
                None, f"a derivative of {type(function).__name__} is asked for", "pass a function"
            )
        functools.update_wrapper(self, function, updated=())
        self.primal = function
        self.spec = spec
        self.options = options
        self._lock = threading.RLock()
        self._scalars: dict[Any, Callable[..., Any]] = {}
        self._compiled: dict[Any, Any] = {}
        self._latest: Compiled | None = None

    # ---- calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._slow(args, keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        import types

        return type(self).bound(self, types.MethodType(self.primal, instance))

    @staticmethod
    def bound(derivative: Derivative, method: Any) -> Derivative:
        """The derivative of a method, for a method's derivative."""
        return make_derivative(method, derivative.spec, derivative.options)

    def _slow(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        positional, named = self._bind(args, keywords)
        compiled = self.compiled_for(positional, named)
        values = [v for _, v in (*positional, *named)]
        captured = [c.access.read(values) for c in compiled.captures]
        try:
            return compiled.run(*values, *captured)
        except Exception as error:  # noqa: BLE001 - decided below
            caught = error
        return self._failed(caught, args, keywords)

    def _failed(self, error: Exception, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Fast code raised: exact code decides whether the function really does."""
        positional, named = self._bind(args, keywords)
        compiled = self.compiled_for(positional, named)
        if compiled.lowered.exact or compiled.lowered.acts or isinstance(error, SrcadError):
            annotate(error, compiled)
            raise error
        exact = self.compiled_for(positional, named, exact=True)
        values = [v for _, v in (*positional, *named)]
        captured = [c.access.read(values) for c in exact.captures]
        try:
            return exact.run(*values, *captured)
        except Exception as again:
            annotate(again, exact)
            raise

    # ---- compiling

    @functools.cached_property
    def signature(self) -> inspect.Signature | None:
        """The signature of the function; None if it has none."""
        try:
            return inspect.signature(self.primal)
        except (TypeError, ValueError):
            return None

    def _bind(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[tuple[str, Any], ...], tuple[tuple[str, Any], ...]]:
        """Arguments by position and by keyword, each with a name; defaults filled in."""
        if self.signature is None:
            return tuple((f"x{k}", a) for k, a in enumerate(args)), tuple(keywords.items())
        bound = self.signature.bind(*args, **keywords)
        bound.apply_defaults()
        positional: list[tuple[str, Any]] = []
        named: list[tuple[str, Any]] = []
        for name, value in bound.arguments.items():
            kind = self.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                positional += [(f"{name}_{k}", v) for k, v in enumerate(value)]
            elif kind is inspect.Parameter.VAR_KEYWORD:
                named += list(value.items())
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                named.append((name, value))
            else:
                positional.append((name, value))
        return tuple(positional), tuple(named)

    def compiled_for(
        self,
        positional: tuple[tuple[str, Any], ...],
        named: tuple[tuple[str, Any], ...],
        *,
        exact: bool = False,
    ) -> Compiled:
        """The code for arguments of these types, compiled if need be."""
        sizes: dict[int, int] = {}
        values = [v for _, v in (*positional, *named)]
        key = (exact, tuple(n for n, _ in named), tuple(key_of(v, sizes) for v in values))
        variants = self._compiled.get(key)
        if variants is not None:
            for compiled, expected in variants:
                if expected == _captured_key(compiled, dict(sizes), values):
                    return compiled  # type: ignore[no-any-return]
        with self._lock:
            compiled = self._compile(positional, named, exact)
            entry = (compiled, _captured_key(compiled, dict(sizes), values))
            self._compiled[key] = [entry, *self._compiled.get(key, [])]
            self._latest = compiled
            kinds = tuple(type(v) for v in values)
            plain = not named and not exact and all(k in SCALARS for k in kinds)
            if plain and not compiled.lowered.captures:
                self._scalars[kinds] = compiled.run
            return compiled

    def _compile(self, positional: Any, named: Any, exact: bool) -> Compiled:
        name = getattr(self.primal, "__name__", type(self.primal).__name__)
        label = "lambda" if name == "<lambda>" else name
        return compile_call(
            self,
            positional,
            named,
            name=f"{label}_{self.spec.kind}",
            title=_TITLES[self.spec.kind].format(name=label),
            options=self.options,
            exact=exact,
        )

    # ---- reading

    @property
    def source(self) -> str:
        """The generated module: of the latest compilation, or for annotated types before any call."""
        return self._shown().source

    @property
    def ir(self) -> str:
        """The intermediate representation as text."""
        compiled = self._shown()
        refs = [r.function for r in compiled.function.calls if r.function is not None]
        return "\n".join(format_function(f) for f in (*refs, compiled.function))

    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The module that these arguments get."""
        return self.compiled_for(*self._bind(args, keywords)).source

    def _shown(self) -> Compiled:
        if self._latest is not None:
            return self._latest
        if self.signature is None:
            raise UnsupportedValue(None, "the function has no signature to read", "call it first")
        examples = []
        for parameter in self.signature.parameters.values():
            if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                continue
            examples.append((parameter.name, _example(parameter)))
        return self._compile(tuple(examples), (), False)

    def __repr__(self) -> str:
        name = getattr(self.primal, "__qualname__", repr(self.primal))
        code = getattr(self.primal, "__code__", None)
        where = f" from {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
        more = "" if self.spec.argnums == 0 else f", argnums={self.spec.argnums!r}"
        return f"<srcad.{self.spec.kind} of {name}{more}{where}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.source)}</pre>"

    def __copy__(self) -> Derivative:
        return self

    def __deepcopy__(self, memo: Any) -> Derivative:
        return self

    def __reduce__(self) -> Any:
        return make_derivative, (self.primal, self.spec, self.options)


def _example(parameter: inspect.Parameter) -> Any:
    annotation = parameter.annotation
    if annotation in (float, "float"):
        return 1.0
    if annotation in (int, "int"):
        return 1
    if annotation in (complex, "complex"):
        return 1j
    if annotation is inspect.Parameter.empty and isinstance(parameter.default, (bool, int, str, type(None))):
        return parameter.default
    return AnyValue()


def _captured_key(compiled: Compiled, sizes: dict[int, int], values: Any) -> Any:
    """What a function refers to besides its arguments, as it is now."""
    keys = []
    for capture in compiled.lowered.captures:
        try:
            value = capture.access.read(values)
        except Exception:  # noqa: BLE001 - a name that is gone is a change like any other
            keys.append(None)
            continue
        keys.append(constant_key(value) if capture.constant else key_of(value, sizes))
    return keys


def annotate(error: BaseException, compiled: Compiled) -> None:
    """Note on an exception which line of the primal it stems from."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == compiled.file:
            loc = compiled.emitted.line_map.get(trace.tb_lineno)
            if loc is not None:
                add_primal_note(error, Place(loc.file, loc.line, loc.column, loc.text))
                return
        trace = trace.tb_next


def make_derivative(function: Any, spec: Spec, options: Options) -> Derivative:
    """A derivative whose call has the signature of the function."""
    made = Derivative(function, spec, options)
    if made.signature is not None:
        call = make_call(
            made.signature,
            made._scalars.get,
            lambda self, args, keywords: made._slow(args, keywords),
            lambda self, error, args, keywords: made._failed(error, args, keywords),
        )
        if call is not None:
            cls = type("Derivative", (Derivative,), {"__call__": call, "__module__": __name__})
            made.__class__ = cls
            made.__doc__ = getattr(function, "__doc__", None)
    return made


# ---- transforms


def _transform(kind: str, function: Any, argnums: Any, has_aux: bool) -> Any:
    spec = Spec(kind, _argnums(argnums), has_aux)
    if function is None:
        return lambda f: make_derivative(f, spec, Options())
    return make_derivative(function, spec, Options())


def _argnums(argnums: Any) -> Any:
    if isinstance(argnums, list):
        argnums = tuple(argnums)
    parts = argnums if isinstance(argnums, tuple) else (argnums,)
    if not parts or not all(isinstance(p, (int, str)) and not isinstance(p, bool) for p in parts):
        raise TypeError(f"argnums is an index, a name, or a tuple of them, not {argnums!r}")
    return argnums


def grad(fun: Any = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    """The gradient of a function that returns one real scalar, by reverse mode.

    ``argnums``: position or name of the differentiated argument, or a tuple of them.  The gradient
    has the structure, shape and dtype of the argument; for a tuple of argnums it is a tuple.  With
    ``has_aux`` the function returns ``(value, aux)`` and the result is ``(gradient, aux)``.

    Raises ``NotDifferentiable`` for integer arguments and for results that are not a real scalar.

    >>> import srcad
    >>> def f(x, y):
    ...     return x * x * y
    >>> srcad.grad(f)(3.0, 2.0)
    12.0

    Griewank and Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 3.
    """
    return _transform("grad", fun, argnums, has_aux)


def value_and_grad(fun: Any = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    """The value and the gradient together: ``(value, gradient)``; see ``grad``.

    With ``has_aux``: ``((value, aux), gradient)``.
    """
    return _transform("value_and_grad", fun, argnums, has_aux)


def jacrev(fun: Any = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    """The Jacobian by reverse mode: one forward sweep, one reverse sweep for each entry of the result.

    Shape: that of the result, then that of the argument.
    """
    return _transform("jacrev", fun, argnums, has_aux)


def jacfwd(fun: Any = None, argnums: Any = 0) -> Any:
    """The Jacobian by forward mode: one sweep for each entry of the argument.

    Shape: that of the result, then that of the argument.
    """
    return _transform("jacfwd", fun, argnums, False)


def jacobian(fun: Any = None, argnums: Any = 0) -> Any:
    """The Jacobian, by the mode that needs fewer sweeps.

    Shape: that of the result, then that of the argument.
    """
    return _transform("jacobian", fun, argnums, False)


def derivative(fun: Any = None, argnums: Any = 0) -> Any:
    """The derivative by a scalar argument, by forward mode; the result has the shape of the value."""
    return _transform("derivative", fun, argnums, False)


def hessian(fun: Any = None, argnums: Any = 0) -> Any:
    """The matrix of second derivatives of a scalar function, forward over reverse.

    Shape: that of the argument, twice.  For a tuple of argnums: a tuple of tuples.
    """
    if fun is None:
        return lambda f: hessian(f, argnums)
    return jacfwd(grad(fun, argnums), argnums)


def opaque(function: Any) -> Any:
    """Mark a function to be run as it is; a derivative through it is refused.  Also a decorator."""
    from srcad.options import mark_opaque

    return mark_opaque(function)


stop_gradient = runtime.stop_gradient


# ---- functions of the point


class Pullback:
    """What ``vjp`` returns: cotangent to a tuple of gradients, as often as wanted."""

    def __init__(self, pair: CompiledPair, saved: Any, value: Any) -> None:
        self._pair = pair
        self._saved = saved
        self._value = value

    def __call__(self, ct: Any) -> Any:
        """The gradients for a cotangent of the shape and structure of the value."""
        _check_cotangent(self._value, ct)
        return self._pair.reverse.run(self._saved, ct)

    @property
    def source(self) -> str:
        """The generated reverse function."""
        return self._pair.reverse.source


def _check_cotangent(value: Any, ct: Any) -> None:
    if isinstance(value, np.ndarray) and np.shape(ct) != value.shape:
        raise ValueError(f"the cotangent has shape {np.shape(ct)}, the value {value.shape}")


class _Vjp(Derivative):
    """Compiles the two halves of ``vjp``."""

    def pair_for(self, primals: tuple[Any, ...], exact: bool = False) -> CompiledPair:
        """The pair for primals of these types."""
        sizes: dict[int, int] = {}
        key = (exact, tuple(key_of(v, sizes) for v in primals))
        for pair, expected in self._compiled.get(key, ()):
            if expected == _captured_key(pair.forward, dict(sizes), primals):
                return pair  # type: ignore[no-any-return]
        with self._lock:
            label = getattr(self.primal, "__name__", "function").strip("<>")
            names = _primal_names(self.primal, len(primals))
            named = tuple(zip(names, primals, strict=True))
            pair = compile_vjp(self.primal, named, name=label, options=self.options, exact=exact)
            self._compiled.setdefault(key, []).insert(0, (pair, _captured_key(pair.forward, dict(sizes), primals)))
            return pair


def _primal_names(function: Any, count: int) -> list[str]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    names = [p.name for p in parameters if p.kind in plain][:count]
    return [*names, *(f"x{k}" for k in range(len(names), count))]


_pairs: dict[Any, _Vjp] = {}


def _memo(table: dict[Any, Any], function: Any, make: Callable[[], Any]) -> Any:
    """One compiler for each function, as long as the function lives."""
    try:
        found = table.get(function)
    except TypeError:
        return make()
    if found is None:
        if len(table) > 512:
            table.clear()
        found = table[function] = make()
    return found


def vjp(fun: Any, *primals: Any, has_aux: bool = False) -> Any:
    """The value at the primals and the pullback: ``(value, pullback)``.

    ``pullback(cotangent)`` is a tuple of gradients, one for each primal; it can be called many times.
    With ``has_aux`` the function returns ``(value, aux)`` and the result is ``(value, pullback, aux)``.
    """
    maker = _memo(_pairs, fun, lambda: _Vjp(fun, Spec("vjp"), Options()))
    pair = maker.pair_for(primals)
    try:
        value, saved = pair.forward.run(*primals, *(c.access.read(primals) for c in pair.forward.captures))
    except Exception as error:
        if pair.forward.lowered.exact or pair.forward.lowered.acts:
            annotate(error, pair.forward)
            raise
        pair = maker.pair_for(primals, exact=True)
        value, saved = pair.forward.run(*primals, *(c.access.read(primals) for c in pair.forward.captures))
    if has_aux:
        value, aux = value
        inner = Pullback(pair, saved, None)

        def pull(ct: Any) -> Any:
            return inner((ct, runtime.zeros_like(aux)))

        return value, pull, aux
    return value, Pullback(pair, saved, value)


class _AtPoint:
    """``jvp`` or ``hvp`` of one function, as a function of primals and tangents."""

    __srcad_transform__ = True

    def __init__(self, kind: str, function: Any) -> None:
        self.primal = function
        self.spec = Spec(kind)
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, primals: Any, tangents: Any) -> Any:
        raise TypeError("compiled, not called")


_points: dict[Any, Derivative] = {}


def _at_point(kind: str, fun: Any, primals: Any, tangents: Any) -> Any:
    primals, tangents = tuple(primals), tuple(tangents)
    if len(primals) != len(tangents):
        raise TypeError(f"{len(primals)} primals and {len(tangents)} tangents: one for each is needed")
    maker = _memo(
        _points, (kind, fun), lambda: _Pointwise(_AtPoint(kind, fun), Spec(kind), Options())
    )
    return maker(primals, tangents)


class _Pointwise(Derivative):
    """Compiles ``jvp`` or ``hvp``: a call of an ``_AtPoint``."""

    def _compile(self, positional: Any, named: Any, exact: bool) -> Compiled:
        label = getattr(self.primal.primal, "__name__", "function").strip("<>")  # type: ignore[attr-defined]
        kind = self.spec.kind
        return compile_call(
            self.primal,
            positional,
            named,
            name=f"{label}_{kind}",
            title=_TITLES[kind].format(name=label),
            options=self.options,
            exact=exact,
        )


def jvp(fun: Any, primals: Any, tangents: Any) -> Any:
    """The value at the primals and its tangent: ``(value, tangent)``, by forward mode.

    ``tangents`` has the structure of ``primals``; an argument that is not differentiable (an integer)
    has no tangent: pass it by closure.
    """
    return _at_point("jvp", fun, primals, tangents)


def hvp(fun: Any, primals: Any, tangents: Any) -> Any:
    """The Hessian of a scalar function times a vector, forward over reverse.

    For one primal an array or a number, for several a tuple, one entry for each.
    """
    return _at_point("hvp", fun, primals, tangents)


# ---- transforms inside differentiated functions


def _known_argnums(low: Lowering, value: Abstract | None) -> Any:
    match value:
        case None:
            return 0
        case Static(value=known):
            return _argnums(known)
        case TupleRef(items=items):
            return tuple(_known_argnums(low, i) for i in items)
    low.refuse("argnums is known at run time only", "write it as a constant")


def _make(kind: str) -> Callable[..., Any]:
    def handler(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
        named = dict(zip(("fun", "argnums", "has_aux"), args, strict=False)) | keywords
        aux = named.get("has_aux")
        has_aux = isinstance(aux, Static) and bool(aux.value)
        spec = Spec(kind, _known_argnums(low, named.get("argnums")), has_aux)
        if "fun" not in named:
            return Intrinsic(kind, lambda low, a, k: Transformed(spec, a[0], None))
        return Transformed(spec, named["fun"], None)

    return handler


for _function in (grad, value_and_grad, jacrev, jacfwd, jacobian, derivative):
    transform(_function)(_make(_function.__name__))


@transform(hessian)
def _(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    named = dict(zip(("fun", "argnums"), args, strict=False)) | keywords
    argnums = _known_argnums(low, named.get("argnums"))
    return Transformed(Spec("jacfwd", argnums), Transformed(Spec("grad", argnums), named["fun"], None), None)


@transform(vjp)
def _(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    if keywords:
        low.refuse("has_aux of vjp inside a differentiated function", "return the extra data apart")
    wrt = tuple(range(len(args) - 1))
    pulled = library.differentiator.vjp(low, args[0], list(args[1:]), {}, wrt)

    def pull(low: Lowering, cts: list[Any], named: dict[str, Any]) -> Any:
        return library.differentiator.pull(low, pulled, cts[0])

    return TupleRef((pulled.value, Intrinsic("pullback", pull)))


@transform(jvp)
def _(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    named = dict(zip(("fun", "primals", "tangents"), args, strict=False)) | keywords
    return _push(library, low, named["fun"], named["primals"], named["tangents"])


@transform(hvp)
def _(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    named = dict(zip(("fun", "primals", "tangents"), args, strict=False)) | keywords
    return _hessian_product(library, low, named["fun"], named["primals"], named["tangents"])


def _push(library: Any, low: Lowering, fun: Any, primals: Any, tangents: Any) -> Abstract:
    points = containers.unpack(low, primals)
    directions = containers.unpack(low, tangents)
    if len(points) != len(directions):
        low.refuse("jvp needs one tangent for each primal", "")
    wrt = tuple(range(len(points)))
    value, tangent = library.differentiator.jvp(low, fun, points, {}, wrt, directions)
    return TupleRef((value, tangent))


def _hessian_product(library: Any, low: Lowering, fun: Any, primals: Any, tangents: Any) -> Abstract:
    count = len(containers.unpack(low, primals))
    argnums: Any = 0 if count == 1 else tuple(range(count))
    pair = _push(library, low, Transformed(Spec("grad", argnums), fun, None), primals, tangents)
    assert isinstance(pair, TupleRef)
    return pair.items[1]


def _expand_point(library: Any, low: Lowering, point: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    named = dict(zip(("primals", "tangents"), args, strict=False)) | keywords
    fun = low.session.importer.constant(low, point.primal)
    run = _push if point.spec.kind == "jvp" else _hessian_product
    return run(library, low, fun, named["primals"], named["tangents"])


CompilerLibrary.points[_AtPoint] = _expand_point
