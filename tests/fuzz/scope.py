"""What is defined at a point of a program that is being generated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Signature:
    """A function that may be called."""

    name: str
    params: tuple[tuple[str, str], ...]
    """Name and type of each."""
    defaults: int
    """So many of the last parameters have a default."""
    result: str
    rest: str = ""
    """'*' or '**' if the last two parameters are caught by one such."""
    impure: bool = False
    """It changes a variable around it, so that it is only called by a statement of its own."""


@dataclass(slots=True)
class Scope:
    """Names that are certainly bound here, with their types."""

    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    frozen: frozenset[str] = frozenset()
    """Neither rebound nor mutated here: loop counters, lists under iteration, outer variables."""
    pinned: frozenset[str] = frozenset()
    """Captured by a closure: may be rebound, but to the same type."""
    returns: str = "S"
    in_loop: bool = False
    nested: int = 0
    """How many branches and loops of the function are around this point."""
    inner: int = 0
    """How many functions are around this one."""

    def of_type(self, kind: str) -> list[str]:
        return [name for name, its_type in self.variables.items() if its_type == kind]

    def assignable(self, kind: str) -> list[str]:
        return [name for name in self.of_type(kind) if name not in self.frozen]

    def child(self, **changes: object) -> Scope:
        """A scope for a block inside: what it defines stays inside until merged."""
        settings: dict[str, object] = {
            "variables": dict(self.variables),
            "functions": dict(self.functions),
            "nested": self.nested + 1,
            **changes,
        }
        return replace(self, **settings)  # type: ignore[arg-type]

    def bind(self, name: str, kind: str) -> None:
        self.variables[name] = kind

    def merge(self, *ends: Scope | None) -> None:
        """Keep what all ends that are reached agree on; None is an end that is not reached."""
        reached = [end for end in ends if end is not None]
        if not reached:
            return
        first, *others = reached
        self.variables = {
            name: kind
            for name, kind in first.variables.items()
            if all(other.variables.get(name) == kind for other in others)
        }
        self.functions = {
            name: signature
            for name, signature in self.functions.items()
            if all(end.functions.get(name) is signature for end in reached)
        }
