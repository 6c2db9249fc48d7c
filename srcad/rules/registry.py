"""The registry of derivative rules, and the decorators that fill it.

Each differentiable argument of a primitive is declared once: the transpose where the primitive is
linear in it, the differential otherwise.

    @differential(np.sin, math.sin)              one coefficient per differential
    def sin(x, *, dx):
        return np.cos(x) * dx

    @linear(np.negative, wrt="x")                linear in the arguments of `wrt` together
    def negative(ct, x):
        return -ct

    @multilinear(np.multiply, wrt=("x", "y"))    linear in each argument of `wrt` alone
    def multiply(ct, x, y):
        return ct * y, ct * x

    @composition(np.trapezoid, wrt=("y", "x"))   made of functions that have rules
    def trapezoid(y, x):
        return np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)

Parameters of a body, by kind:

- positional: the arguments of the primitive, with its names and defaults; the first parameter `ct`
  of a transpose or a pullback is the cotangent of the result;
- keyword-only `d<name>`: the differential of the argument `name`; `out`: the result of the
  primitive; `<name>_bar`: the adjoint of `name`, which the body adds to (`x_bar[i] += ct`), or
  returns a term of;
- every other keyword-only parameter is a keyword of the primitive.

An argument without a differential and outside `wrt` must be inactive: a compiler refuses it
otherwise. What has a zero derivative says so, by a differential that is not used or a returned 0.

A composition takes the place of the call: it is the function itself, written out. What it does not
support it refuses, by raising `MissingRule`; `NotImplemented` leaves it to another rule.

A function has at most one differential, one transpose and one pullback. It has a differential *and*
a transpose where it is linear in some arguments only (`x / y` in `x`): the differential then covers
all arguments, and the transpose is what the compiler uses to transpose other rules. Where a result
is a tuple, so are the differential and the cotangent; a literal 0 in it means no derivative.
Complex cotangents follow the convention `ct * f'(x)`, without conjugation.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from srcad.errors import RuleError

__all__ = [
    "Rule",
    "composition",
    "constant",
    "constants",
    "differential",
    "digest",
    "effect",
    "hashable",
    "instead_of",
    "is_constant",
    "is_effect",
    "is_known",
    "is_literal",
    "is_sequence",
    "is_sourced",
    "linear",
    "lookup",
    "lookup_composition",
    "lookup_pullback",
    "lookup_transpose",
    "methods",
    "methods_of_copies",
    "multilinear",
    "nesting",
    "of_numbers",
    "pullback",
    "refused",
    "rules",
    "sourced",
    "sourced_functions",
    "watch",
    "when_imported",
]

Function = Any
"""A primitive: a function, a ufunc, a method or attribute descriptor, a type; anything hashable."""

Kind = Literal["differential", "linear", "multilinear", "pullback", "composition"]
_Body = TypeVar("_Body", bound=Callable[..., Any])
_F = TypeVar("_F")

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """How one primitive, under all its names, is differentiated."""

    name: str
    kind: Kind
    body: Callable[..., Any]
    functions: tuple[Function, ...]
    """The primitives the rule covers: those the installed NumPy and Python have."""
    wrt: tuple[str, ...]
    """The arguments with a derivative. A pullback returns one cotangent for each, a transpose too,
    but the cotangent itself where there is one argument."""
    parameters: inspect.Signature
    """The arguments of the primitive that the rule supports; binding others is a `TypeError`.
    Keyword-only here is what the primitive takes at another position than the body."""
    needs_out: bool
    """The body takes the result of the primitive as `out`."""
    elementwise: bool
    """The arguments broadcast against each other. The body ignores it: whoever uses the rule
    reduces each cotangent to the shape and dtype of its argument."""
    domain: str
    """Where tests sample: "real", "positive", "nonzero", "unit" (-1 to 1) or "above one"."""
    accumulates: tuple[str, ...]
    """Names of the adjoints that the body adds to in place, `x_bar` for the argument `x`. Where it
    returns something, that is the cotangent instead."""
    sequences: tuple[str, ...]
    """The arguments that are a sequence of values (`np.concatenate`), not an array given as a list:
    their differentials and cotangents are sequences of the same structure. A list given for another
    argument stands for the array of its elements."""


_rules: dict[Function, Rule] = {}
_transposes: dict[Function, Rule] = {}
_pullbacks: dict[Function, Rule] = {}
_compositions: dict[Function, Rule] = {}
_in_order: list[Rule] = []
_constant: dict[Function, None] = {}
_effects: dict[Function, None] = {}
_sourced: dict[Function, None] = {}
_refused: dict[Function, str] = {}
_originals: dict[type, Callable[[Any], Any]] = {}
_digest: list[str] = []
_watchers: list[Callable[[], None]] = []
_later: dict[str, tuple[str, ...]] = {}
"""Modules of rules for packages that srcad does not need, by the name of the package."""


def is_literal(value: object) -> bool:
    """Whether `value` is a Python number. The compiler folds it: true for literals alone.

    A rule asks it to give a literal argument (`x ** 2`) a simpler formula. A literal has no
    derivative, so the formula may leave out its differential.
    """
    return type(value) in (int, float)


def is_sequence(value: object) -> bool:
    """Whether `value` is a list or a tuple. The compiler answers from the type of the value.

    What it knows nothing of counts as a number or an array.
    """
    return isinstance(value, (list, tuple))


def nesting(value: object) -> int:
    """How many levels of lists and tuples `value` has. The compiler answers from its type."""
    if not isinstance(value, (list, tuple)):
        return 0
    return 1 + nesting(value[0] if value else 0)


def of_numbers(value: object) -> bool:
    """Whether what `value` holds at its deepest level is numbers, not arrays."""
    if isinstance(value, (list, tuple)):
        return all(map(of_numbers, value))
    return isinstance(value, (int, float, complex, np.generic))


def differential(
    *functions: Function,
    domain: str = "real",
    elementwise: bool = False,
    sequences: tuple[str, ...] = (),
    replace: bool = False,
) -> Callable[[_Body], _Body]:
    """Declare the differential of `functions`, linear in its keyword-only parameters `d<name>`."""

    def register(body: _Body) -> _Body:
        rule = _rule("differential", functions, body, None, domain, elementwise, sequences)
        _add(rule, _rules, replace)
        return body

    return register


def linear(
    *functions: Function,
    wrt: str | tuple[str, ...],
    domain: str = "real",
    elementwise: bool = False,
    sequences: tuple[str, ...] = (),
    replace: bool = False,
) -> Callable[[_Body], _Body]:
    """Declare the transpose of `functions`, linear in the arguments `wrt` taken together.

    The body may ask the arguments of `wrt` for their shape, dtype and structure alone.
    """

    def register(body: _Body) -> _Body:
        rule = _rule("linear", functions, body, wrt, domain, elementwise, sequences)
        _add(rule, _transposes, replace)
        return body

    return register


def multilinear(
    *functions: Function,
    wrt: str | tuple[str, ...],
    domain: str = "real",
    elementwise: bool = False,
    sequences: tuple[str, ...] = (),
    replace: bool = False,
) -> Callable[[_Body], _Body]:
    """Declare the transposes of `functions`, linear in each of the arguments `wrt` taken alone.

    An argument `*name` stands for each of its elements.
    """

    def register(body: _Body) -> _Body:
        rule = _rule("multilinear", functions, body, wrt, domain, elementwise, sequences)
        _add(rule, _transposes, replace)
        return body

    return register


def pullback(
    *functions: Function,
    wrt: str | tuple[str, ...] | None = None,
    elementwise: bool = False,
    replace: bool = False,
) -> Callable[[_Body], _Body]:
    """Replace the reverse that is derived from a rule by a better one; its docstring says why.

    `body(ct, *arguments, out=...)` returns a tuple over `wrt`, by default that of the rule.
    """

    def register(body: _Body) -> _Body:
        names = wrt
        if names is None:
            known = [rule for f in functions if (rule := lookup(f)) is not None]
            if not known:
                raise RuleError(None, f"pullback {body.__name__!r} has neither a rule nor `wrt=`")
            names = known[0].wrt
        rule = _rule("pullback", functions, body, names, "real", elementwise, ())
        _add(rule, _pullbacks, replace)
        return body

    return register


def composition(
    *functions: Function,
    wrt: str | tuple[str, ...],
    domain: str = "real",
    sequences: tuple[str, ...] = (),
    replace: bool = False,
) -> Callable[[_Body], _Body]:
    """Declare `functions` by what they are made of: the body is called in their place."""

    def register(body: _Body) -> _Body:
        rule = _rule("composition", functions, body, wrt, domain, False, sequences)
        _add(rule, _compositions, replace)
        return body

    return register


def constant(*functions: _F, replace: bool = False) -> _F:
    """Declare that `functions` have a zero derivative wherever they have one; also a decorator."""
    return _mark(_constant, functions, replace)


def effect(*functions: _F, replace: bool = False) -> _F:
    """Declare that `functions` act on the outside (output, random draws); also a decorator.

    A call of them is not repeated, dropped or moved. Its result has no derivative: where it is used
    and an argument is active, the call is to be refused.
    """
    return _mark(_effects, functions, replace)


def sourced(*functions: _F) -> None:
    """Say that `functions` need no rule: the derivative of their own source is right, and tested.

    It is how every function without a declaration is differentiated; to say so counts them.
    """
    _sourced.update(dict.fromkeys(f for f in functions if f is not None))


def refused(*functions: Function, instead: str) -> None:
    """Say what to write instead of `functions`, which have neither a rule nor a source to read."""
    _refused.update(dict.fromkeys((f for f in functions if f is not None), instead))


def methods_of_copies(cls: type, original: Callable[[Any], Any]) -> None:
    """Say that the methods of x, a `cls`, have the declarations of those of `original(x)`."""
    _originals[cls] = original


def instead_of(function: Function) -> str | None:
    """What to write instead of a function that has no rule, where that is known."""
    _load_what_is_imported()
    return _refused.get(function) if hashable(function) and not is_known(function) else None


def is_sourced(function: Function) -> bool:
    """Whether `function` is known to be differentiated by its own source."""
    _load_what_is_imported()
    return hashable(function) and function in _sourced


def sourced_functions() -> tuple[Function, ...]:
    """The functions that are known to be differentiated by their own source."""
    _load_what_is_imported()
    return tuple(_sourced)


def lookup(function: Function) -> Rule | None:
    """The rule from which forward and reverse follow: the differential, else the transpose, else
    what the function is composed of."""
    return _get(_rules, function) or _get(_transposes, function) or _get(_compositions, function)


def lookup_transpose(function: Function) -> Rule | None:
    """The linear or multilinear rule of `function`: what transposing a differential builds on."""
    return _get(_transposes, function)


def lookup_pullback(function: Function) -> Rule | None:
    """The hand-written reverse of `function`, if there is one."""
    return _get(_pullbacks, function)


def lookup_composition(function: Function) -> Rule | None:
    """What takes the place of calls of `function`, if anything does."""
    return _get(_compositions, function)


def is_constant(function: Function) -> bool:
    """Whether `function` is declared to have a zero derivative."""
    _load_what_is_imported()
    return hashable(function) and function in _constant


def constants() -> tuple[Function, ...]:
    """The functions that are declared to have a zero derivative."""
    _load_what_is_imported()
    return tuple(_constant)


def is_effect(function: Function) -> bool:
    """Whether `function` is declared to act on the outside."""
    _load_what_is_imported()
    return hashable(function) and function in _effects


def is_known(function: Function) -> bool:
    """Whether anything is declared for `function`."""
    return is_constant(function) or is_effect(function) or lookup(function) is not None


def when_imported(package: str, *modules: str) -> None:
    """Load the rules in `modules` once the program has imported `package`."""
    _later[package] = modules


def _load_what_is_imported() -> None:
    for package in [p for p in _later if p in sys.modules]:
        # nothing is left if a module that was loaded just now has looked up something
        for module in _later.pop(package, ()):
            import_module(module)


def methods(*names: str) -> tuple[Function, ...]:
    """The methods and attributes of NumPy arrays and scalars that have these names."""
    homes = (np.ndarray, np.generic)
    return tuple(getattr(home, name) for name in names for home in homes if hasattr(home, name))


def rules() -> Iterator[Rule]:
    """All rules, pullbacks too, in the order of their definition."""
    _load_what_is_imported()
    return iter(tuple(_in_order))


def digest() -> str:
    """A hash of the sources of all rules and of what they cover, the same in every process."""
    _load_what_is_imported()
    if not _digest:
        state = hashlib.sha256()
        files: dict[str, None] = {}
        for rule in _in_order:
            code = rule.body.__code__
            files[code.co_filename] = None
            covered = " ".join(_label(f) for f in rule.functions)
            head = f"{rule.kind} {rule.name} {rule.wrt} {rule.elementwise} {covered}\n"
            state.update(head.encode())
            state.update(code.co_code)  # a rule that was typed in has no file
            state.update(repr((code.co_names, code.co_varnames, _stable(code.co_consts))).encode())
        for file in files:
            path = Path(file)
            if path.is_file():
                state.update(path.read_bytes())
        for marked in (_constant, _effects):
            state.update(" ".join(_label(f) for f in marked).encode())
        _digest.append(state.hexdigest())
    return _digest[0]


def _rule(
    kind: Kind,
    functions: tuple[Function, ...],
    body: Callable[..., Any],
    wrt: str | tuple[str, ...] | None,
    domain: str,
    elementwise: bool,
    sequences: tuple[str, ...],
) -> Rule:
    """The checked rule for `body`."""
    name = body.__name__
    present = tuple(dict.fromkeys(f for f in functions if f is not None and hashable(f)))
    own = list(inspect.signature(body).parameters.values())
    if kind not in ("differential", "composition"):
        if not own or own[0].name != "ct" or own[0].kind not in _POSITIONAL:
            raise RuleError(None, f"the first parameter of rule {name!r} must be `ct`")
        own = own[1:]
    arguments = [p for p in own if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    extra = {p.name: p for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY}
    names = [p.name for p in own]
    differentials = tuple(n for n in names if "d" + n in extra) if kind == "differential" else ()
    accumulates = tuple(n + "_bar" for n in names if n + "_bar" in extra)
    special = {"out", *("d" + n for n in differentials), *accumulates}
    arguments += [p for p in extra.values() if p.name not in special]
    if wrt is None:
        wrt = differentials
    elif isinstance(wrt, str):
        wrt = (wrt,)
    if not wrt:
        raise RuleError(None, f"rule {name!r} has no differential", "add a parameter `*, dx`")
    for missing in sorted({*wrt, *sequences} - {p.name for p in arguments}):
        raise RuleError(None, f"rule {name!r} has no parameter {missing!r}")
    return Rule(
        name=name,
        kind=kind,
        body=body,
        functions=present,
        wrt=wrt,
        parameters=inspect.Signature(_placed(arguments, present)),
        needs_out="out" in extra,
        elementwise=elementwise,
        domain=domain,
        accumulates=accumulates,
        sequences=sequences,
    )


def _placed(
    arguments: list[inspect.Parameter], functions: tuple[Function, ...]
) -> list[inspect.Parameter]:
    """`arguments`, keyword-only where the primitive has them at another position.

    A body leaves out the parameters it does not support; without this, what follows them would take
    their values.
    """
    positions: dict[str, int] = {}
    open_ended = False
    for function in functions:
        try:
            reference = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            continue
        if all(p.kind is not inspect.Parameter.VAR_POSITIONAL for p in reference):
            by_position = [p for p in reference if p.kind in _POSITIONAL]
            positions = {p.name: -1 for p in reference}
            positions |= {p.name: k for k, p in enumerate(by_position)}
            open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in reference)
            break
    placed: list[inspect.Parameter] = []
    moved: list[inspect.Parameter] = []
    for k, p in enumerate(arguments):
        bare = p.replace(annotation=inspect.Parameter.empty)
        # One of the keywords that the primitive takes but does not list.
        unlisted = open_ended and p.name not in positions and p.default is not p.empty
        if p.kind in _POSITIONAL and (positions.get(p.name, k) != k or moved or unlisted):
            moved.append(bare.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        elif p.kind is inspect.Parameter.KEYWORD_ONLY:
            moved.append(bare)
        else:
            placed.append(bare)
    return placed + moved


def watch(forget: Callable[[], None]) -> Callable[[], None]:
    """Have a function called whenever rules change: what was made by others is out of date."""
    _watchers.append(forget)
    return forget


def _changed() -> None:
    _digest.clear()
    for forget in _watchers:
        forget()


def _add(rule: Rule, table: dict[Function, Rule], replace: bool) -> None:
    """Enter `rule` for its functions in `table`."""
    _load_what_is_imported()  # ours first: the user's is to replace it
    taken = [f for f in rule.functions if f in table]
    if taken and not replace:
        raise RuleError(
            None,
            f"{_label(taken[0])} already has the rule {table[taken[0]].name!r}",
            "pass replace=True to replace it",
        )
    for function in rule.functions:
        if replace:
            _constant.pop(function, None)
            _effects.pop(function, None)
        elif function in _constant or function in _effects:
            raise RuleError(
                None, f"{_label(function)} is declared constant", "pass replace=True to replace it"
            )
        table[function] = rule
    if rule.functions:
        _in_order.append(rule)
    if taken:
        _drop_unused()
    _changed()


def _mark(table: dict[Function, None], functions: tuple[_F, ...], replace: bool) -> _F:
    """Enter `functions` in `table`; the first of them."""
    for function in functions:
        if function is None or not hashable(function):
            continue
        if function in table:
            continue
        if not replace and is_known(function):
            raise RuleError(
                None, f"{_label(function)} has a rule", "pass replace=True to replace it"
            )
        if is_known(function):
            for rule_table in (_rules, _transposes, _pullbacks, _compositions):
                rule_table.pop(function, None)
            for marked in (_constant, _effects):
                marked.pop(function, None)
            _drop_unused()
        table[function] = None
    _changed()
    return functions[0]


def _drop_unused() -> None:
    """Take the rules that cover nothing any more out of the order of definition."""
    in_use = {id(r) for t in (_rules, _transposes, _pullbacks, _compositions) for r in t.values()}
    _in_order[:] = [r for r in _in_order if id(r) in in_use]


def _get(table: dict[Function, Rule], function: Function) -> Rule | None:
    _load_what_is_imported()
    try:
        return table.get(function) or table.get(_of_original(function))
    except TypeError:  # it has no hash
        return None


def _of_original(method: Function) -> Function | None:
    """The same method of the object that a copy was made of."""
    if isinstance(method, types.MethodType):
        for cls in type(method.__self__).__mro__:
            if cls in _originals:
                return getattr(_originals[cls](method.__self__), method.__name__, None)
    return None


def hashable(function: object) -> bool:
    """Whether something can be declared."""
    try:
        hash(function)
    except TypeError:
        return False
    return not isinstance(function, (int, float, complex, str, bytes, tuple, frozenset))


def _label(function: Function) -> str:
    """A name for `function` without addresses in it."""
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    home = getattr(owner, "__name__", None) or getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return f"{home}.{name or type(function).__name__}"


def _stable(constants: tuple[object, ...]) -> tuple[object, ...]:
    """`constants` of a code object in a form whose `repr` has no addresses."""
    stable: list[object] = []
    for c in constants:
        if inspect.iscode(c):
            stable.append((c.co_code, c.co_names, _stable(c.co_consts)))
        elif isinstance(c, frozenset):
            stable.append(sorted(map(repr, c)))
        elif isinstance(c, float) and math.isnan(c):
            stable.append("nan")
        else:
            stable.append(c)
    return tuple(stable)
