"""The derivative object: callable, readable, differentiable again.

A call goes through three doors, each slower than the one before: plain numbers find their code by
their types; other arguments by their keys; what has not been seen is compiled.  Code is entered by
way of its guards, so a global, a helper function or an attribute that has changed since is noticed.

Code runs on Python floats where it can.  Where that raises, the function itself is run, so that
its own exceptions come from its own lines; if it does not raise, exact code follows, which keeps to
NumPy's semantics: the derivative of ``np.log`` at 0 is ``inf``, with a warning.  A function that
acts on something outside (prints, appends to a list of the caller's) is never run twice: its code
follows NumPy scalars as such from the start.
"""

from __future__ import annotations

import functools
import html
import inspect
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.codes import VARIANTS, Variant, chooser, codes_of
from srcad.dispatch import MISSING, call_signature, default_now, defaults_of, make_call
from srcad.errors import NotCompilable, SlowFallback, SrcadError, UnsupportedValue
from srcad.guards import (
    MISS,
    SCALARS,
    AnyValue,
    Door,
    entered_with,
    key_of,
    key_of_all,
    like_first,
    make_entry,
)
from srcad.ir import Function
from srcad.options import Options
from srcad.pipeline import Compiled, Named, compile_call, compile_failure
from srcad.primal import annotate, copied, hides_own_frames, is_own, name_of, run_primal
from srcad.runtime import Unforeseen
from srcad.stored import Request, fetch, keep
from srcad.transform.calls import Spec

_TITLES = {
    "grad": "Gradient of {name}.",
    "value_and_grad": "Value and gradient of {name}.",
    "jacrev": "Jacobian of {name}, row by row.",
    "jacfwd": "Jacobian of {name}, column by column.",
    "jacobian": "Jacobian of {name}.",
    "derivative": "Derivative of {name}.",
    "jvp": "Value and tangent of {name}.",
    "hvp": "Product of the Hessian of {name} with a vector.",
    "value": "{name}, as it is differentiated.",
    "pullback": "A cotangent of {name} pulled back.",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Which arguments are handed over: names by position and by keyword."""

    positional: tuple[str, ...]
    named: tuple[str, ...]

    def split(self, values: tuple[Any, ...]) -> tuple[Named, Named]:
        """The values with their names."""
        count = len(self.positional)
        return (
            tuple(zip(self.positional, values[:count], strict=True)),
            tuple(zip(self.named, values[count:], strict=True)),
        )


class Derivative:
    """A derivative of a function: callable, readable, differentiable again.

    Its code is generated on the first call for the types of the arguments, and kept.  It takes the
    arguments of the function, and may be called from several threads.  Attributes: ``source`` (the
    generated module), ``source_for(*args)``, ``ir``, ``primal`` (the function), ``__wrapped__``.

    >>> import srcad
    >>> def f(x):
    ...     return x * x
    >>> gradient = srcad.grad(f)
    >>> print("".join(gradient.source_for(3.0).splitlines(keepends=True)[-2:]))
        x_bar = 2.0 * x
        return x_bar
    <BLANKLINE>
    """

    __srcad_transform__ = True

    def __init__(self, function: Callable[..., Any], spec: Spec, options: Options) -> None:
        if not callable(function):
            raise UnsupportedValue(
                None,
                f"a function is differentiated, not an object of type {type(function).__name__}",
                "pass a function: srcad.grad(f)(x), not srcad.grad(f(x))",
            )
        functools.update_wrapper(self, function, updated=())
        self.primal = function
        self.spec = spec
        self.options = options
        code = codes_of(function, spec, options)
        self._code = code
        self._lock = code.lock
        self._scalars = code.scalars
        self._variants = code.variants
        self._has_warned = False
        self._make_call: Callable[..., Any] | None = None
        """Makes what a call runs: it is made anew when it is known what calls are like."""
        self._expected: tuple[Any, ...] = (None, ())
        """The types of the arguments that calls are expected to have, and for how long."""

    # ---- how arguments bind

    @functools.cached_property
    def signature(self) -> inspect.Signature | None:
        """The parameters that a call binds to; None if the function does not tell."""
        return call_signature(self.primal)

    @functools.cached_property
    def _filled(self) -> frozenset[str]:
        """Parameters whose defaults are handed over as arguments.

        A Python function's all are; any other callable fills in its own, but those that are
        differentiated by have to be given.
        """
        if self.signature is None:
            return frozenset()
        parameters = list(self.signature.parameters.values())
        optional = [p.name for p in parameters if p.default is not p.empty]
        if defaults_of(self.primal) is not None:
            return frozenset(optional)
        places = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        wanted = {
            w if isinstance(w, str) else places[w]
            for w in self.spec.wrt
            if isinstance(w, str) or -len(places) <= w < len(places)
        }
        return frozenset(wanted.intersection(optional))

    @functools.cached_property
    def _layout(self) -> _Layout:
        """The arguments of a call that gives all of them."""
        assert self.signature is not None
        parameters = self.signature.parameters.values()
        return _Layout(
            tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY),
            tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY),
        )

    @functools.cached_property
    def _may_miss(self) -> bool:
        """Whether a call may leave out an argument that the function fills in itself."""
        assert self.signature is not None
        parameters = self.signature.parameters.values()
        return any(p.default is not p.empty and p.name not in self._filled for p in parameters)

    def bind(self, /, *args: Any, **keywords: Any) -> tuple[Named, Named]:
        """The arguments of a call by position and by keyword, each with a name."""
        if self.signature is None:
            return tuple((f"x{k}", a) for k, a in enumerate(args)), tuple(keywords.items())
        bound = self.signature.bind(*args, **keywords).arguments
        positional: list[tuple[str, Any]] = []
        named: list[tuple[str, Any]] = []
        gap = False
        for name, parameter in self.signature.parameters.items():
            if name not in bound and name not in self._filled:
                gap = gap or parameter.kind is parameter.POSITIONAL_OR_KEYWORD
                continue
            if name in bound:
                value = bound[name]
            else:
                value = default_now(self.primal, name)
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += [(f"{name}_{k}", v) for k, v in enumerate(value)]
            elif parameter.kind is parameter.VAR_KEYWORD:
                named += list(value.items())
            elif parameter.kind is parameter.KEYWORD_ONLY or gap:
                named.append((name, value))
            else:
                positional.append((name, value))
        return tuple(positional), tuple(named)

    # ---- calling

    @hides_own_frames
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        positional, named = self.bind(*args, **keywords)
        return self._call(positional, named)

    @hides_own_frames
    def _slow(self, given: tuple[Any, ...]) -> Any:
        """A call with the arguments in the order of the parameters, by the second door."""
        if self._may_miss and any(v is MISSING for v in given):
            return self._call(*self._without_missing(given))
        sizes: dict[int, int] = {}
        key = self._chosen(key_of_all(given, sizes, self.options), sizes)
        for variant in self._variants.get(key, ()):
            try:
                out = variant.enter(*given, sizes=sizes)
            except Exception as error:
                caught = error
            else:
                if out is MISS:
                    continue
                self._register(given, variant, sizes)
                return out
            try:
                return self._decide(variant, caught, given, *self._layout.split(given), key)
            finally:
                del caught
        positional, named = self._layout.split(given)
        variant = self._compiled_variant(key, sizes, positional, named)
        self._register(given, variant, sizes)
        return self._enter(variant, key, given, positional, named)

    def _call(self, positional: Named, named: Named) -> Any:
        """A call of a function with ``*args`` or ``**kwargs``, or with arguments left out."""
        values = tuple(v for _, v in (*positional, *named))
        key, sizes = self._key(positional, named)
        variant = self._variant(key, sizes, positional, named)
        return self._enter(variant, key, values, positional, named)

    def _enter(
        self, variant: Variant, key: Any, values: tuple[Any, ...], positional: Named, named: Named
    ) -> Any:
        data = variant.compiled.data(values)
        try:
            return variant.compiled.run(*values, *data)
        except Exception as error:
            caught = error
        try:
            return self._decide(variant, caught, values, positional, named, key)
        finally:
            del caught

    @hides_own_frames
    def _failed(self, error: Exception, given: tuple[Any, ...]) -> Any:
        """Code entered by the first door raised."""
        positional, named = self._layout.split(given)
        key, sizes = self._key(positional, named)
        variant = self._variant(key, sizes, positional, named)
        return self._decide(variant, error, given, positional, named, key)

    def _decide(
        self,
        variant: Variant,
        error: Exception,
        values: tuple[Any, ...],
        positional: Named,
        named: Named,
        key: Any,
    ) -> Any:
        """Fast code raised.  Does the function?  If not, its exact derivative has a value."""
        compiled = variant.compiled
        if compiled.backend != "python":
            refusal = compile_failure(error, self.primal, compiled)
            return self._as_python(error, refusal, values, positional, named, key)
        if compiled.acts or isinstance(error, SrcadError):
            annotate(error, compiled)
            raise error
        self._run_primal(positional, named)
        sizes: dict[int, int] = {}
        for value in values:
            key_of(value, sizes)
        exact = self._variant(("exact", key), sizes, positional, named, exact=True).compiled
        data = exact.data(values)
        try:
            return exact.run(*values, *data)
        except Exception as again:
            annotate(again, exact)
            raise

    def _as_python(
        self,
        error: Exception,
        refusal: NotCompilable | None,
        values: tuple[Any, ...],
        positional: Named,
        named: Named,
        key: Any,
    ) -> Any:
        """What a back end could not compile, or what its code raised at, by plain code."""
        if refusal is not None and self.options.fallback == "refuse":
            raise refusal
        sizes: dict[int, int] = {}
        for value in values:
            key_of(value, sizes)
        plain = self._variant(("python", key), sizes, positional, named, backend="python")
        if refusal is not None:
            self._variants[key] = (plain,)
            self._code.close()
        result = self._enter(plain, ("python", key), values, positional, named)
        if refusal is not None:
            self._warn(str(refusal))
        elif isinstance(error, Unforeseen):
            self._warn("compiled code is for other sizes or numbers than those of a call")
        else:
            self._warn(f"compiled code raised {error!r}, which plain code does not")
        return result

    def _run_primal(self, positional: Named, named: Named) -> None:
        """Run the function itself, so that what it raises comes from its own lines."""
        args = [copied(v) for _, v in positional]
        run_primal(self.primal, args, {n: copied(v) for n, v in named})

    def _without_missing(self, given: tuple[Any, ...]) -> tuple[Named, Named]:
        assert self.signature is not None
        positional: list[tuple[str, Any]] = []
        named: list[tuple[str, Any]] = []
        gap = False
        for parameter, value in zip(self.signature.parameters.values(), given, strict=True):
            if value is MISSING:
                gap = True
            elif parameter.kind is parameter.KEYWORD_ONLY or gap:
                named.append((parameter.name, value))
            else:
                positional.append((parameter.name, value))
        return tuple(positional), tuple(named)

    def _register(self, given: tuple[Any, ...], variant: Variant, sizes: dict[int, int]) -> None:
        """Let plain numbers of these types, and arrays of these shapes, in by the first door."""
        kinds = tuple([type(v) for v in given])
        if not all(k in SCALARS or k is np.ndarray for k in kinds):
            return
        with self._lock:
            if np.ndarray not in kinds:
                self._scalars[kinds] = variant.enter
            else:
                enter = entered_with(variant.enter, variant.compiled.guards, sizes)
                door = self._code.doors.get(kinds)
                if door is not None and not door.has_first(given):
                    door.let_in(given, enter)
                    return
                # there was none, or what came first is no longer valid
                door = self._code.doors[kinds] = Door(given, enter)
                self._scalars[kinds] = door.enter
            self._expect(kinds, given, variant)

    def _expect(self, kinds: tuple[type, ...], given: tuple[Any, ...], variant: Variant) -> None:
        """Let calls like this one in without a look-up, if no others are expected."""
        valid = self._code.valid
        known, expected = self._expected
        if self._make_call is None or (known is valid and expected != kinds):
            return
        compiled = variant.compiled
        names = (*self._layout.positional, *self._layout.named)
        first = like_first(names, given, compiled.run, compiled.guards, valid, compiled)
        self._expected = valid, kinds
        type(self).__call__ = staticmethod(self._make_call(first=first))  # type: ignore[method-assign]

    # ---- compiling

    def _key(self, positional: Named, named: Named) -> tuple[Any, dict[int, int]]:
        sizes: dict[int, int] = {}
        values = [v for _, v in (*positional, *named)]
        keys = key_of_all(values, sizes, self.options)
        if self.signature is not None:
            full = tuple(n for n, _ in positional), tuple(n for n, _ in named)
            if full == (self._layout.positional, self._layout.named):
                return self._chosen(keys, sizes), sizes
        given = "named", len(positional), tuple(n for n, _ in named), keys
        return self._chosen(given, sizes), sizes

    def _chosen(self, key: Any, sizes: dict[int, int]) -> Any:
        """The key with the mode of a Jacobian, which depends on the sizes themselves."""
        choose = self._code.choices.get(key)
        return key if choose is None else (choose(sizes), key)

    def _variant(
        self,
        key: Any,
        sizes: dict[int, int],
        positional: Named,
        named: Named,
        *,
        exact: bool = False,
        backend: str | None = None,
    ) -> Variant:
        """The code for these arguments, compiled if need be."""
        values = [v for _, v in (*positional, *named)]
        known = self._known_variant(key, sizes, values)
        if known is not None:
            return known
        return self._compiled_variant(key, sizes, positional, named, exact=exact, backend=backend)

    def _known_variant(self, key: Any, sizes: dict[int, int], values: list[Any]) -> Variant | None:
        """The code that is there for these arguments, if what it relies on is as it was."""
        for variant in self._variants.get(key, ()):
            if variant.collect(*values, sizes=sizes) is not MISS:
                return variant
        return None

    def _compiled_variant(
        self,
        key: Any,
        sizes: dict[int, int],
        positional: Named,
        named: Named,
        *,
        exact: bool = False,
        backend: str | None = None,
    ) -> Variant:
        values = [v for _, v in (*positional, *named)]
        with self._lock:
            known = self._known_variant(key, sizes, values)
            if known is not None:  # another thread has been here
                return known
            if exact or backend == "python":
                compiled = self._generate(positional, named, exact, self.options.plain)
            else:
                compiled = self._compile(positional, named)
            if compiled.choice is not None and not exact:
                self._code.choices.setdefault(key, chooser(compiled.choice, dict(sizes)))
                key = self._chosen(key, sizes)
            sized = dict(sizes)
            entry = make_entry(compiled.run, len(values), compiled.guards, sized, compiled)
            variant = Variant(compiled, *entry)
            self._variants[key] = (variant, *self._variants.get(key, ()))[:VARIANTS]
            if backend is None:
                self._code.latest = compiled
            return variant

    def compiled_for(self, positional: Named, named: Named, *, exact: bool = False) -> Compiled:
        """The code for arguments of these types, compiled if need be."""
        key, sizes = self._key(positional, named)
        if exact:
            key = "exact", key
        return self._variant(key, sizes, positional, named, exact=exact).compiled

    def lowered_for(self, positional: Named, named: Named) -> Function:
        """The IR of the code for arguments of these types."""
        compiled = self.compiled_for(positional, named)
        if compiled.function is None:  # the text was there already
            compiled = self._lowered(positional, named, compiled.exact, self.options)
        assert compiled.function is not None
        return compiled.function

    def _compile(self, positional: Named, named: Named) -> Compiled:
        """Code by the back end that was asked for, or plain code if it may be that."""
        try:
            return self._generate(positional, named, False, self.options)
        except NotCompilable as error:
            if self.options.fallback == "refuse":
                raise
            self._warn(str(error))
        return self._generate(positional, named, False, self.options.plain)

    def _generate(self, positional: Named, named: Named, exact: bool, options: Options) -> Compiled:
        if self.spec.kind == "jacobian":  # the text does not tell which mode it has, nor why
            return self._lowered(positional, named, exact, options)
        request = Request(self.primal, self.spec, positional, named, exact, options)
        found = fetch(request)
        if found is not None:
            return found[0]
        compiled = self._lowered(positional, named, exact, options)
        keep(request, (compiled,))
        return compiled

    def _lowered(self, positional: Named, named: Named, exact: bool, options: Options) -> Compiled:
        name = name_of(self.primal)
        return compile_call(
            self._called,
            positional,
            named,
            name=f"{name}_{self.spec.kind}",
            title=_TITLES[self.spec.kind].format(name=name),
            options=options,
            exact=exact,
        )

    def _warn(self, reason: str) -> None:
        """Say once that code runs as plain Python, and why."""
        if not self._has_warned:
            self._has_warned = True
            text = f"{self!r} runs as plain Python: {reason}"
            warnings.warn(text, SlowFallback, stacklevel=_outside())

    @property
    def _called(self) -> Any:
        """What is lowered: a call of it."""
        return self

    # ---- methods

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundDerivative(self, instance)

    # ---- reading

    @property
    def source(self) -> str:
        """The generated module: of the latest call, or before any for the annotated types."""
        return self._shown().source

    @property
    def ir(self) -> str:
        """The intermediate representation as text."""
        return self._shown().ir

    @hides_own_frames
    def source_for(self, /, *args: Any, **keywords: Any) -> str:
        """The module that these arguments get."""
        return self.compiled_for(*self.bind(*args, **keywords)).source

    def _shown(self) -> Compiled:
        if self._code.latest is not None:
            return self._code.latest
        if self._code.example is None:
            self._code.example = self._compile(*self._examples())
        return self._code.example

    def _examples(self) -> tuple[Named, Named]:
        """Arguments of the annotated types, or of any."""
        if self.signature is None:
            raise UnsupportedValue(
                None,
                f"{name_of(self.primal)} does not tell its parameters",
                "call the derivative first, or use source_for(*arguments)",
            )
        positional: list[tuple[str, Any]] = []
        named: list[tuple[str, Any]] = []
        for parameter in self.signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.default is not parameter.empty and parameter.name not in self._filled:
                continue
            into = named if parameter.kind is parameter.KEYWORD_ONLY else positional
            into.append((parameter.name, _example(parameter)))
        return tuple(positional), tuple(named)

    def __repr__(self) -> str:
        name = getattr(self.primal, "__qualname__", None) or repr(self.primal)
        code = getattr(self.primal, "__code__", None)
        where = f" from {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
        more = "" if self.spec.argnums == 0 else f", argnums={self.spec.argnums!r}"
        if self.options.backend != "python":
            more += f", backend={self.options.backend!r}"
        return f"<srcad.{self.spec.kind} of {name}{more}{where}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.source)}</pre>"

    def __copy__(self) -> Derivative:
        return self

    def __deepcopy__(self, memo: Any) -> Derivative:
        return self

    def __reduce__(self) -> Any:
        found: Any = sys.modules.get(getattr(self, "__module__", None) or "")
        qualname = getattr(self, "__qualname__", "")
        for part in qualname.split("."):
            found = getattr(found, part, None)
        if found is self:  # a decorated function: its name leads here
            return qualname
        return make_derivative, (self.primal, self.spec, self.options)


class BoundDerivative:
    """The derivative of a method, asked of an instance: the instance is its first argument.

    As for a function, ``argnums`` counts the instance as 0; but a plain ``@srcad.grad`` is by the
    argument after it where the instance is no container (a dataclass, a namedtuple).
    """

    __srcad_transform__ = True

    def __init__(self, derivative: Derivative, instance: Any) -> None:
        self.derivative = derivative
        self.instance = instance
        self.__wrapped__ = types.MethodType(derivative.primal, instance)
        self.__name__ = getattr(derivative, "__name__", "derivative")
        self.__doc__ = derivative.__doc__

    @property
    def spec(self) -> Spec:
        """The transform and its options, counted from the instance."""
        return self.derivative.spec

    @property
    def primal(self) -> Any:
        """The function of the class."""
        return self.derivative.primal

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self.derivative(self.instance, *args, **keywords)

    @property
    def source(self) -> str:
        """The generated module."""
        return self.derivative.source

    @property
    def ir(self) -> str:
        """The intermediate representation as text."""
        return self.derivative.ir

    def source_for(self, /, *args: Any, **keywords: Any) -> str:
        """The module that these arguments get."""
        return self.derivative.source_for(self.instance, *args, **keywords)

    def __repr__(self) -> str:
        return f"<{self.derivative!r} bound to {self.instance!r}>"


def make_derivative(function: Any, spec: Spec, options: Options) -> Derivative:
    """A derivative whose call has the signature of the function."""
    made = Derivative(function, spec, options)
    if made.signature is not None:
        make = functools.partial(
            make_call,
            f"{spec.kind}({name_of(function)})",
            made.signature,
            function,
            made._filled,
            made._scalars.get,
            made._slow,
            made._failed,
        )
        call = make()
        if call is not None:
            made._make_call = make
            doc = getattr(function, "__doc__", None)
            space = {
                "__call__": staticmethod(call),
                "__module__": __name__,
                "__doc__": Derivative.__doc__,
            }
            made.__class__ = type("Derivative", (Derivative,), space)
            made.__doc__ = doc
    return made


def _outside() -> int:
    """How far up the stack the caller of srcad is, as ``warnings.warn`` counts."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and is_own(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def _example(parameter: inspect.Parameter) -> Any:
    annotation = parameter.annotation
    if annotation in (float, "float"):
        return 1.0
    if annotation in (int, "int"):
        return 1
    if annotation in (complex, "complex"):
        return 1j
    plain = isinstance(parameter.default, (bool, int, str, type(None)))
    if annotation is inspect.Parameter.empty and plain:
        return parameter.default
    return AnyValue()
