"""The point at which a function is looked at: given on the command line, or guessed."""

from __future__ import annotations

import copy
import inspect
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from srcad.cli.errors import CommandError
from srcad.cli.guess import Guesser, NotGuessed
from srcad.cli.target import Target
from srcad.dispatch import defaults_of

_HINT = "give them: --args 'EXPR', what stands between the parentheses of the call, or FILE.npz"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call."""

    args: tuple[Any, ...]
    keywords: dict[str, Any]
    names: tuple[str, ...]
    """What the parameters are called that `args` go to."""
    origins: tuple[str, ...]
    """For each guess, what it was taken from; empty where the arguments were given."""

    @property
    def guessed(self) -> bool:
        return bool(self.origins)

    def fresh(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Copies: a function may write to its arguments."""
        return copy.deepcopy((self.args, self.keywords))

    def __str__(self) -> str:
        pairs = [*zip(self.names, self.args, strict=True), *self.keywords.items()]
        return ", ".join(f"{name} = {shown(value)}" for name, value in pairs)


def shown(value: Any) -> str:
    """A value in one short line."""
    if isinstance(value, np.ndarray):
        with np.printoptions(threshold=12, edgeitems=3, precision=6, linewidth=10**6):
            text = " ".join(repr(value).split())
    else:
        text = " ".join(repr(value).split())
    return text if len(text) <= 100 else text[:97] + "..."


def find_arguments(target: Target, given: str | None) -> Arguments:
    """The arguments that `given` says, or a guess where it says nothing."""
    origins: tuple[str, ...] = ()
    if given is None:
        args, keywords, origins = _guessed(target)
    elif given.endswith(".npz"):
        args, keywords = _from_file(Path(given))
    else:
        args, keywords = _from_expression(given, target)
    try:
        bound = target.signature.bind(*args, **keywords)
    except TypeError as error:
        raise CommandError(f"{target.text} does not take these arguments: {error}") from None
    if defaults_of(target.function) is not None:  # as a call of the derivative does
        bound.apply_defaults()
    return Arguments(bound.args, bound.kwargs, _names(target.signature, bound), origins)


def _names(signature: inspect.Signature, bound: inspect.BoundArguments) -> tuple[str, ...]:
    names: list[str] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{name}[{k}]" for k in range(len(bound.args) - len(names))]
        else:
            names.append(name)
    return tuple(names[: len(bound.args)])


def _from_expression(text: str, target: Target) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """`text` is what stands between the parentheses; it sees the names of the target's module."""

    def call(*args: Any, **keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, keywords

    names = {"np": np, "numpy": np, "math": math, **vars(target.module), "_srcad_call": call}
    try:
        made: tuple[tuple[Any, ...], dict[str, Any]] = eval(f"_srcad_call({text}\n)", names)
    except Exception as error:  # whatever the expression raises
        raise CommandError(
            f"--args {text!r} cannot be evaluated: {type(error).__name__}: {error}"
        ) from None
    return made


def _from_file(file: Path) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arrays by the names of the parameters, or in order as `np.savez(file, x, y)` numbers them.

    What has no dimension is a number of Python.
    """
    try:
        with np.load(file, allow_pickle=False) as arrays:
            loaded = {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise CommandError(f"--args {file} cannot be read: {error}") from None
    values = {name: a.item() if a.ndim == 0 else a for name, a in loaded.items()}
    args: list[Any] = []
    while (name := f"arr_{len(args)}") in values:
        args.append(values.pop(name))
    return tuple(args), values


def _guessed(target: Target) -> tuple[tuple[Any, ...], dict[str, Any], tuple[str, ...]]:
    guesser = Guesser(target.function)
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    origins: list[str] = []
    for name, parameter in target.signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            value = parameter.default
            origins.append(f"{name} by its default")
        else:
            try:
                value, origin = guesser.guess(name, parameter)
            except NotGuessed as why:
                raise CommandError(
                    f"no example arguments can be guessed for {target.text}: {why}", _HINT
                ) from None
            origins.append(f"{name} by {origin}")
        if parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = value
        else:
            args.append(value)
    return tuple(args), keywords, tuple(origins)
