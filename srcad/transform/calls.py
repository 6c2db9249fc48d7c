"""A call that is to be differentiated, and the transform that asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from srcad.frontend.abstract import Abstract
from srcad.frontend.lowering import Lowering


@dataclass(frozen=True, slots=True)
class Spec:
    """A transform with its options: 'grad', 'value_and_grad', 'jacrev', 'jacfwd', 'jacobian' or
    'derivative'."""

    kind: str
    argnums: int | str | tuple[int | str, ...] = 0
    has_aux: bool = False

    @property
    def wrt(self) -> tuple[int | str, ...]:
        """The arguments to differentiate by."""
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)

    @property
    def single(self) -> bool:
        """Whether one argument was asked for, so that its gradient comes without a tuple."""
        return not isinstance(self.argnums, tuple)


@dataclass(frozen=True, slots=True, eq=False)
class DifferentiatedCall:
    """A call of an abstract function, and the arguments that it is differentiated by."""

    low: Lowering
    """What the call is lowered by."""
    function: Abstract
    args: list[Abstract]
    keywords: dict[str, Abstract] = field(default_factory=dict)
    wrt: tuple[int | str, ...] = ()
    """Positions and keywords of this call."""
    has_aux: bool = False
    """Whether it returns its value and auxiliary data, which have no derivative."""

    def argument(self, which: int | str) -> Abstract:
        """The argument at a position or of a keyword."""
        return self.keywords[which] if isinstance(which, str) else self.args[which]

    def by(self, *wrt: int | str) -> DifferentiatedCall:
        """The same call, by other arguments."""
        return replace(self, wrt=wrt)
