"""The derivatives that the commands show, check and save: which transform for which mode."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import srcad
from srcad.api import Derivative
from srcad.cli.arguments import Arguments
from srcad.cli.errors import CommandError
from srcad.cli.target import Target
from srcad.errors import NotDifferentiable
from srcad.pipeline import Compiled
from srcad.testing import trees

Wrt = int | str | tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One derivative of the target, compiled for the arguments."""

    mode: str
    """`reverse` or `forward`."""
    derivative: Derivative
    compiled: Compiled


def find_wrt(target: Target, arguments: Arguments, given: str | None) -> Wrt:
    """What to differentiate by: as given, else the first argument that holds floats."""
    if given is not None:
        parts = [part.strip() for part in given.split(",")]
        chosen = tuple(_position(part, target, arguments) for part in parts)
        return chosen[0] if len(chosen) == 1 else chosen
    if target.wrt is not None:
        return target.wrt
    for k, value in enumerate(arguments.args):
        if trees.differentiable(value):
            return k
    for name, value in arguments.keywords.items():
        if trees.differentiable(value):
            return name
    raise CommandError(f"no argument of {target.text} holds floats: {arguments}")


def _position(part: str, target: Target, arguments: Arguments) -> int | str:
    if part in arguments.names:
        return arguments.names.index(part)
    if part in arguments.keywords:
        return part
    try:
        k = int(part)
    except ValueError:
        k = len(arguments.args)
    if not -len(arguments.args) <= k < len(arguments.args):
        known = ", ".join([*arguments.names, *arguments.keywords])
        raise CommandError(f"--wrt {part}: {target.text} is called with {known}")
    return k % len(arguments.args)


def wrt_values(arguments: Arguments, wrt: Wrt) -> list[Any]:
    """The arguments to differentiate by."""
    return [
        arguments.args[part] if isinstance(part, int) else value_named(arguments, part)
        for part in as_tuple(wrt)
    ]


def names_of(wrt: Wrt, arguments: Arguments) -> list[str]:
    """What the parameters are called that are differentiated by."""
    return [arguments.names[part] if isinstance(part, int) else part for part in as_tuple(wrt)]


def value_named(arguments: Arguments, name: str) -> Any:
    """An argument by the name of its parameter."""
    if name in arguments.keywords:
        return arguments.keywords[name]
    return arguments.args[arguments.names.index(name)]


def as_tuple(wrt: Wrt) -> tuple[int | str, ...]:
    """The parts of `wrt`."""
    return wrt if isinstance(wrt, tuple) else (wrt,)


def derivatives(target: Target, arguments: Arguments, wrt: Wrt, mode: str) -> Iterator[Shown]:
    """The derivatives in the modes asked for; the function is not run for it."""
    if mode in ("reverse", "both"):
        try:
            yield _compiled("reverse", srcad.grad(target.function, wrt), arguments)
        except NotDifferentiable:
            # No real scalar. If the fault is in the arguments, this says the same again.
            yield _compiled("reverse", srcad.jacrev(target.function, wrt), arguments)
    if mode in ("forward", "both"):
        scalar = isinstance(wrt, int | str) and isinstance(
            wrt_values(arguments, wrt)[0], float | complex
        )
        transform = srcad.derivative if scalar else srcad.jacfwd
        yield _compiled("forward", transform(target.function, wrt), arguments)


def _compiled(mode: str, derivative: Derivative, arguments: Arguments) -> Shown:
    args, keywords = arguments.fresh()
    named = tuple(keywords.items())
    return Shown(
        mode,
        derivative,
        derivative.compiled_for(tuple(zip(arguments.names, args, strict=True)), named),
    )


def saved_text(shown: Shown, target: Target) -> str:
    """The generated module as it can be imported elsewhere."""
    bindings = shown.compiled.emitted.bindings
    if bindings:
        raise CommandError(
            f"the derivative refers to {', '.join(sorted(bindings))}, which no module can import",
            "move what it is made of to the top level of a module",
        )
    captures = [c.name for c in shown.compiled.captures]
    head = [f"# {shown.mode} derivative of {target.text}, made by: srcad emit {target.text}"]
    if captures:
        given = list(inspect.signature(shown.compiled.run).parameters)[-len(captures) :]
        head.append(f"# What {target.name} reads from outside comes last: {', '.join(given)}")
    return "\n".join(head) + "\n" + shown.compiled.source
