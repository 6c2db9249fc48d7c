"""What calls of transforms mean inside lowered code, and which functions are primitives.

``srcad.grad(f)`` in a differentiated function makes an abstract derivative; calling it writes the
derivative of ``f`` where the call stands.  A derivative that is differentiated at top level is
lowered in the same way, so there is one path for all orders.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from srcad import rules, runtime
from srcad.analysis.existence import missing_values
from srcad.errors import NotDifferentiable, SourceError
from srcad.frontend import containers
from srcad.frontend.abstract import (
    Abstract,
    ObjectRef,
    Static,
    Transformed,
    TupleRef,
)
from srcad.frontend.lowering import Lowering
from srcad.ir import Block, Literal, Value
from srcad.ir.core import make_tuple
from srcad.ir.types import (
    is_differentiable,
    rank,
)
from srcad.ir.walk import free_values
from srcad.options import DEFAULTS, Options, is_opaque
from srcad.transform import bodies
from srcad.transform.arraylike import rewritten
from srcad.transform.calls import DifferentiatedCall, Spec
from srcad.transform.defined import require_present, unit_seed, unit_tangent
from srcad.transform.expand import Differentiator, Pulled
from srcad.transform.jacobians import Choice, Jacobian, beside
from srcad.transform.kept import shapes_kept
from srcad.transform.signatures import argument_name, definition, parameter_names, unbound_name


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """``vjp`` of a function, to be compiled as a forward and a reverse function."""

    function: Any
    has_aux: bool = False

    def __call__(self, *args: Any) -> Any:
        """Stands in a call that is compiled."""
        raise TypeError("compiled, not called")


_TRANSFORMS: dict[Any, Callable[..., Any]] = {}


def transform(function: Any) -> Callable[[Any], Any]:
    """Declare how the compiler expands a call of a public function."""

    def register(handler: Any) -> Any:
        _TRANSFORMS[function] = handler
        return handler

    return register


class CompilerLibrary:
    """The ``Library`` of user code: primitives have rules, transforms are expanded."""

    points: ClassVar[dict[type, Callable[..., Any]]] = {}
    """How calls of other transform objects are expanded, by their class."""

    def __init__(self, options: Options = DEFAULTS) -> None:
        self.differentiator = Differentiator(options)
        self.split: tuple[Pulled, dict[Any, Any]] | None = None
        self.choice: Choice | None = None
        """How the mode of the Jacobian that is compiled was chosen."""
        self._choosing = False

    def is_known(self, function: object) -> bool:
        """Whether a function is a primitive."""
        return rules.is_known(function)

    def is_effect(self, function: object) -> bool:
        """Whether a call has to stay in order."""
        return rules.is_effect(function)

    def is_opaque(self, function: object) -> bool:
        """Whether a function is run as it is."""
        return is_opaque(function) or rules.instead_of(function) is not None

    def expand(
        self,
        low: Lowering,
        function: Any,
        args: list[Abstract],
        keywords: dict[str, Abstract],
    ) -> Any:
        """The result of calling a derivative or a transform; NotImplemented for other functions."""
        if isinstance(function, Transformed):
            return self.apply(low, function.transform, function.function, args, keywords)
        if isinstance(function, Split):
            return self._split(low, function, args)
        if type(function) in self.points:
            return self.points[type(function)](self, low, function, args, keywords)
        spec = getattr(type(function), "__srcad_transform__", None)
        if spec is not None:
            inner = low.session.importer.constant(low, function.primal)
            if hasattr(function, "instance"):
                args = [low.session.importer.receiver(low, function.instance), *args]
            return self.apply(low, function.spec, inner, args, keywords)
        try:
            handler = _TRANSFORMS.get(function)
        except TypeError:
            return NotImplemented
        if handler is None:
            found = bodies.ahead(low, function, args, keywords) if low.internal else NotImplemented
            return rewritten(low, function, args, keywords) if found is NotImplemented else found
        found = handler(self, low, args, keywords)
        return rewritten(low, function, args, keywords) if found is NotImplemented else found

    # ---- derivatives

    def apply(
        self,
        low: Lowering,
        spec: Spec,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
    ) -> Abstract:
        """The result of calling a derivative."""
        with placed(function):
            call = DifferentiatedCall(low, function, args, keywords, has_aux=spec.has_aux)
            call = call.by(*self._which(spec, call))
            match spec.kind:
                case "grad" | "value_and_grad":
                    return self._gradient(spec, call)
                case "jacrev":
                    return Jacobian(self.differentiator, call, spec).by_rows()
                case "jacfwd":
                    return Jacobian(self.differentiator, call, spec).by_columns()
                case "jacobian":
                    return self._jacobian(spec, call)
                case "derivative":
                    for which in call.wrt:
                        self._check_scalar(call, which)
                    ones = [unit_tangent(low, call.argument(w)) for w in call.wrt]
                    pushed = self.differentiator.jvp(call, ones)
                    require_present(low, pushed.value)
                    return beside(pushed.tangent, pushed.aux)
        raise AssertionError(spec.kind)

    def _jacobian(self, spec: Spec, call: DifferentiatedCall) -> Abstract:
        """A Jacobian by the mode that costs less; the outermost one is chosen for each call."""
        jacobian = Jacobian(self.differentiator, call, spec)
        choice = symbols, is_forward = jacobian.choice()
        outermost, self._choosing = not self._choosing, True
        if outermost:
            self.choice = choice
        forward = is_forward({name: size for size, name in symbols.items()})
        try:
            return jacobian.by_columns() if forward else jacobian.by_rows()
        finally:
            self._choosing = not outermost

    def _which(self, spec: Spec, call: DifferentiatedCall) -> tuple[int | str, ...]:
        """The differentiated arguments as positions or keywords of this call."""
        low, args = call.low, call.args
        names = parameter_names(call.function)
        if (
            spec.argnums == 0
            and names
            and names[0] == "self"
            and len(args) > 1
            and _is_plain(args[0])
        ):
            return (1,)  # a decorated method: its instance holds no numbers to differentiate by
        found: list[int | str] = []
        for which in spec.wrt:
            place = self._position(which, names, call)
            if place in found:
                name = argument_name(call.function, place)
                raise NotDifferentiable(
                    low.place(), f"argnums={spec.argnums!r} has {name} twice", "name each once"
                )
            found.append(place)
        return tuple(found)

    def _position(
        self, which: int | str, names: list[str] | None, call: DifferentiatedCall
    ) -> int | str:
        """An argument as a position or a keyword of this call."""
        low, args, keywords = call.low, call.args, call.keywords
        if isinstance(which, str):
            if which in keywords:
                return which
            if names is not None and which in names and names.index(which) < len(args):
                return names.index(which)
            given = ", ".join([*(names or [])[: len(args)], *keywords])
            raise NotDifferentiable(
                low.place(),
                f"argnums names {which!r}, which is no argument of this call",
                f"its arguments are {given}" if given else "",
            )
        position = which + len(args) if which < 0 else which
        if 0 <= position < len(args):
            return position
        if names is not None and 0 <= which < len(names) and names[which] in keywords:
            return names[which]
        hint = "pass that argument by position, or give argnums as its name"
        if not args and not keywords and (unbound := unbound_name(call.function)) is not None:
            hint = f"to differentiate by the object itself, make it an argument: {unbound}"
        raise NotDifferentiable(
            low.place(),
            f"argnums is {which}, but the number of positional arguments is {len(args)}",
            hint,
        )

    def _check_scalar(self, call: DifferentiatedCall, which: int | str) -> None:
        """Refuse ``derivative`` by an array or a container."""
        match call.argument(which):
            case Value(type=kind) if rank(kind) in (0, None) or not is_differentiable(kind):
                return
            case Value(type=kind):
                what = str(kind)
            case Static():
                return
            case _:
                what = "a container"
        raise NotDifferentiable(
            call.low.place(),
            f"derivative is by a number, but {argument_name(call.function, which)} is {what}",
            "use grad for a scalar function, jacobian for any other, or jvp for one direction",
        )

    def _gradient(self, spec: Spec, call: DifferentiatedCall) -> Abstract:
        low = call.low
        pulled = self.differentiator.vjp(call, unit=True)
        loss = pulled.value
        unit_seed(low, loss)
        if isinstance(loss, Value) and rank(loss.type) is None:
            low.builder.effect(runtime.require_scalar, loss)
        grads = self.differentiator.pull(low, pulled, None)
        assert isinstance(grads, TupleRef)
        result = grads.items[0] if spec.single else grads
        if spec.kind == "value_and_grad":
            return TupleRef((beside(loss, pulled.aux), result))
        return beside(result, pulled.aux)

    def _split(self, low: Lowering, split: Split, args: list[Abstract]) -> Abstract:
        """The forward half of ``vjp``: the value and what the reverse reads."""
        function = low.session.importer.constant(low, split.function)
        wrt = tuple(range(len(args)))
        call = DifferentiatedCall(low, function, args, wrt=wrt, has_aux=split.has_aux)
        with placed(function):
            pulled = self.differentiator.vjp(call)
        missing = missing_values(Block((), tuple(low.builder.ops), ()))
        kept = list(free_values(pulled.reverse))
        reverse, _, shapes = shapes_kept(pulled.reverse, kept, missing)
        for _, op in shapes:
            low.builder.append(op)
        self.split = dataclasses.replace(pulled, reverse=reverse), dict(low.state)
        needed = tuple(free_values(reverse))  # in the order in which the reverse takes it
        saved = low.builder.apply(make_tuple, *needed) if needed else Literal(())
        return TupleRef((beside(pulled.value, pulled.aux), containers.wrap(low, saved)))


@contextmanager
def placed(function: Abstract) -> Iterator[None]:
    """Give errors that have no place of their own that of the function's definition."""
    try:
        yield
    except SourceError as error:
        if error.place is not None or (place := definition(function)) is None:
            raise
        raise type(error)(place, error.message, error.hint) from None


def _is_plain(value: Abstract) -> bool:
    return isinstance(value, ObjectRef) and not dataclasses.is_dataclass(value.cls)
