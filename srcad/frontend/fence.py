"""What of Python is refused in differentiated functions, and what to write instead.

`REFUSED` holds the wording of every refusal, those met later, in lowering, included, so that the
error and the documentation say the same. `check_fence` finds what syntax alone tells.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import gast

from srcad.errors import Place, UnsupportedSyntax
from srcad.frontend.source import FunctionSource

__all__ = ["REFUSED", "Refusal", "check_fence", "refusal", "refuse", "refused_builtin", "table"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that is refused. Both texts may name details in braces."""

    what: str
    """A noun phrase: the message is `what` and "is not supported in differentiated functions"."""
    hint: str
    """What to write instead."""


_ONLY_TEXT = "write the code out: only source text can be differentiated"
_NAMESPACE = "name the variables, or keep them in a dict"

REFUSED: dict[str, Refusal] = {
    # Found by `check_fence`.
    "yield": Refusal("'yield'", "collect the values in a list and return the list"),
    "async": Refusal(
        "'async def'", "write an ordinary function and call it from the asynchronous one"
    ),
    "class": Refusal("a class defined in a function", "move the class to module level"),
    "except*": Refusal("'except*'", "use 'except', or handle the group in the caller"),
    "type alias": Refusal("a 'type' statement", "move it to module level"),
    "eval": Refusal("'eval'", _ONLY_TEXT),
    "exec": Refusal("'exec'", _ONLY_TEXT),
    "locals": Refusal("'locals()'", _NAMESPACE),
    "globals": Refusal("'globals()'", _NAMESPACE),
    "vars": Refusal("'vars()'", _NAMESPACE),
    "global": Refusal(
        "assigning to the global '{name}'", "return the value and let the caller assign it"
    ),
    "nonlocal": Refusal(
        "assigning to '{name}' of an enclosing function",
        "return the value and let the caller assign it",
    ),
    # Met in lowering: writes.
    "index write": Refusal(
        "writing into an array whose memory srcad cannot trace",
        "write into a copy: np.copy(x), or keep the rows of a list in an array: np.array(rows)",
    ),
    "object write": Refusal(
        "writing into an object whose type is known at run time only",
        "use a list, a dict or an array that is made in the function",
    ),
    "shared array": Refusal(
        "writing into an array that something else may also refer to",
        "write into a copy, or store copies elsewhere: np.copy(x)",
    ),
    "array outside": Refusal(
        "writing into the array '{name}', which exists outside the function,",
        "pass it as an argument, or write into a copy: np.copy({name})",
    ),
    "array method": Refusal(
        "'{name}', which changes its argument in place,",
        "use what returns a new one, as np.sort(x) for x.sort(), or sorted(xs) for a heap",
    ),
    "out argument": Refusal("the argument 'out' of {name}", "use the value that is returned"),
    "recursive change": Refusal(
        "the recursive function '{name}', which changes something outside it,",
        "return the new value and let the caller assign it",
    ),
    "recursive write": Refusal(
        "writing into an array that the recursive function '{name}' is given",
        "write into a copy and return it: a = np.copy(a), or write a loop",
    ),
    "aliased change": Refusal(
        "changing a list, dict or object that is reached in two ways",
        "give a copy for one of them: list(xs), dict(d), copy.copy(obj)",
    ),
    "attribute write": Refusal(
        "assigning to an attribute of an object that was not made here",
        "use a local variable, or return the new value",
    ),
    "delete": Refusal(
        "'del' of an attribute, or of an item of an array", "build a new one without it"
    ),
    "shared container": Refusal(
        "changing a list, dict or object that something else may also refer to",
        "change a copy of it: list(xs), dict(d), copy.copy(obj), and store that: rows[i] = row; "
        "or make the rows an array",
    ),
    "container outside": Refusal(
        "changing '{name}', which exists outside the function,",
        "pass it as an argument, or change a copy of it: list(xs), dict(d), copy.copy(obj)",
    ),
    "shared default": Refusal(
        "changing the default of the parameter '{name}', a list or dict that all calls share,",
        "let it be None, and make a new one in the function; "
        "to remember results, write @functools.cache before the function",
    ),
    # Met in lowering: values.
    "function choice": Refusal(
        "a choice of function that depends on data",
        "call each function in its own branch of an 'if'",
    ),
    "function result": Refusal(
        "a function as a result", "return numbers and arrays; make the function in the caller"
    ),
    "kind change": Refusal(
        "{name} that is {one} on one way through the code and {other} on another",
        "give it the same kind of value on every way",
    ),
    "unbound": Refusal(
        "'{name}' that may have no value here", "assign it before the branch or the loop"
    ),
    "changing length": Refusal(
        "a {type} whose length depends on data", "use an array, or a list of a fixed length"
    ),
    "changing keys": Refusal(
        "a dict whose keys depend on data", "use fixed keys, or a list that is indexed"
    ),
    "active set": Refusal("a set of differentiable values", "use a list or an array"),
    "active key": Refusal("a differentiable value as a key or a string", "use it as a number only"),
    "mixed items": Refusal(
        "an item at a run-time index of objects of different kinds",
        "loop over the objects themselves: for w in weights, or zip(...)",
    ),
    "changing types": Refusal(
        "a loop in which the types of variables change from iteration to iteration",
        "give each variable one type before the loop and in it",
    ),
    "local function": Refusal(
        "a function made here and given to code that srcad does not look into",
        "call it here, or pass a function defined at module level",
    ),
    "iteration": Refusal(
        "a loop over {type}", "loop over a range, an array, or a list, tuple or dict"
    ),
    "object": Refusal(
        "an operation on a value of type {type}", "use numbers, arrays, or containers of them"
    ),
    # Met in lowering: control.
    "recursion": Refusal(
        "recursion whose argument types change from call to call",
        "pass the same types in every call: float(x), np.asarray(x)",
    ),
    "generator value": Refusal(
        "an iterator that is passed on as a value", "make it a list: list(...)"
    ),
    "outer iterator": Refusal(
        "the iterator '{name}', which was made outside of the function and moves on,",
        "pass a list, or make the iterator in the function",
    ),
    "shared iterator": Refusal(
        "one iterator in several places of zip", "zip slices: zip(xs[::2], xs[1::2])"
    ),
    "generator of functions": Refusal(
        "a generator expression that makes functions", "make a list of them: [...]"
    ),
    "iterator in between": Refusal(
        "using an iterator again after a loop over a part of it", "loop over the list itself"
    ),
    "changed before use": Refusal(
        "changing what an iterator reads before its items have been taken",
        "make the items beforehand: list(...)",
    ),
    "changed under a loop": Refusal(
        "changing a list, dict or array while a loop runs over it",
        "loop over a copy: for v in list(xs)",
    ),
    "manager made here": Refusal(
        "a context manager that is made by a function defined here",
        "define that function at module level, or use a class with __enter__ and __exit__",
    ),
    "reading manager": Refusal(
        "'with {name}(…)' of an object made here whose __exit__ looks at the exception",
        "use try and except, or drop the context manager",
    ),
    "suppressing manager": Refusal(
        "'with {name}', which may suppress exceptions,",
        "use try and except, or contextlib.suppress",
    ),
    "try": Refusal("this form of 'try'", "test for the condition with 'if' before the operation"),
    "jump in finally": Refusal(
        "leaving a 'finally' block by 'return', 'break' or 'continue', which cancels exceptions,",
        "put it after the try statement",
    ),
    "pattern": Refusal("this 'match' pattern", "use 'if' and 'elif'"),
    "own __new__": Refusal(
        "making a {name}, whose class has a __new__ or an InitVar of its own,",
        "make it outside and pass it, or use an ordinary class",
    ),
    "generated manager": Refusal(
        "a manager of contextlib.contextmanager that is given data",
        "compute before the block, or write a class with __enter__ and __exit__",
    ),
    "dispatch": Refusal(
        "a call of {name}, which asks for the class of a value that is known at run time only,",
        "call what is registered for the class",
    ),
    "stand-in": Refusal(
        "a {name} that is returned, or given to code that srcad does not look into,",
        "hand over {kept}(...) of it",
    ),
    "attribute access": Refusal(
        "the class {name}, which has its own way to look up or set attributes,",
        "use ordinary attributes and properties",
    ),
    "instance dict": Refusal(
        "the attribute __dict__",
        "read and set the attributes by their names, or with getattr and setattr",
    ),
    "iterator class": Refusal(
        "a loop over an object whose class {name} has __next__",
        "let its __iter__ return iter([...]), or loop over a list",
    ),
    "array operator": Refusal(
        "an operator between an array and a {name}, which NumPy applies to each entry,",
        "write the {name} first, or give its class __array_ufunc__ = None",
    ),
    "own operators": Refusal(
        "{what}, whose class {name} has its own {method},",
        "use a plain {base}, or an ordinary class that holds one",
    ),
    "super": Refusal("'super()' here", "name the class: Base.method(self, ...)"),
    "arguments": Refusal(
        "a call whose number of arguments depends on data", "pass a list or a tuple as one argument"
    ),
    "node": Refusal("{what}", "write it with assignments, 'if', 'for', 'while' and calls"),
}


def refusal(kind: str, /, **details: object) -> tuple[str, str]:
    """The message and the hint for one kind of refusal."""
    entry = REFUSED[kind]
    what, hint = entry.what.format(**details), entry.hint.format(**details)
    return f"{what} is not supported in differentiated functions", hint


def refuse(kind: str, place: Place | None, /, **details: object) -> UnsupportedSyntax:
    """The error to raise."""
    return UnsupportedSyntax(place, *refusal(kind, **details))


def refused_builtin(function: object) -> str | None:
    """The kind of refusal, if calling `function` is refused whatever the arguments are."""
    return next((kind for kind, value in _REFUSED_BUILTINS.items() if value is function), None)


def table() -> str:
    """All refusals as a Markdown table."""
    rows = ["| not supported | instead |", "|---|---|"]
    for kind, entry in REFUSED.items():
        if kind == "node":
            continue  # stands for whatever has no entry
        cells = [_without_details(text).replace("|", r"\|") for text in (entry.what, entry.hint)]
        rows.append(f"| {cells[0].rstrip(',')} | {cells[1]} |")
    return "\n".join(rows) + "\n"


def _without_details(text: str) -> str:
    return text.format_map(_Ellipses())


class _Ellipses(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


_REFUSED_BUILTINS = {
    name: getattr(builtins, name) for name in ("eval", "exec", "locals", "globals", "vars")
}


# ---- the check


def check_fence(tree: Any, source: FunctionSource) -> None:
    """Raise `UnsupportedSyntax` at the first place in `tree` that syntax alone rules out.

    `tree` is a function or a lambda of `source`. What runs once, when the function is defined
    (decorators, defaults, annotations), is not looked at.
    """
    found = _found.get(tree)
    if found is None:
        found = _found[tree] = tuple(_offences(tree, ()))
    offences = [f for f in found if isinstance(f, _Offence)]
    for outer in found:
        if isinstance(outer, _OuterName):
            refused = refused_builtin(_outer_value(outer, source.function))
            if refused is not None:
                offences.append(_Offence(refused, outer.node, {}))
    if offences:
        first = min(offences, key=lambda offence: (offence.node.lineno, offence.node.col_offset))
        raise refuse(first.kind, source.place(first.node), **first.details)


@dataclass(frozen=True, slots=True)
class _Offence:
    kind: str
    node: Any
    details: dict[str, object]


@dataclass(frozen=True, slots=True)
class _OuterName:
    """A name that is no variable of the tree itself: what it stands for decides."""

    node: Any
    is_global: bool
    """Whether it is declared so, and is not a variable of a function around the tree."""


_found: WeakKeyDictionary[Any, tuple[_Offence | _OuterName, ...]] = WeakKeyDictionary()
"""By tree: what does not depend on the function made from it."""


@dataclass(frozen=True, slots=True)
class _Scope:
    bound: frozenset[str]
    """Names that are assigned here, parameters included."""
    from_global: frozenset[str]
    from_nonlocal: frozenset[str]


_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def _offences(node: Any, enclosing: tuple[_Scope, ...]) -> Iterator[_Offence | _OuterName]:
    """The offences in a function, a lambda or a comprehension, those nested in it included."""
    own = list(_own_nodes(_inside(node)))
    scope = _scope_of(node, own)
    scopes = (*enclosing, scope)
    if isinstance(node, gast.AsyncFunctionDef) and not enclosing:
        yield _Offence("async", node, {})
    for inner in own:
        kind = type(inner).__name__
        if kind in _OFFENSIVE:
            yield _Offence(_OFFENSIVE[kind], inner, {})
        yield from _writes(inner, scope, enclosing)
        if kind == "Name" and isinstance(inner.ctx, gast.Load):
            yield from _outer_name(inner, scopes)
        if isinstance(inner, (*_FUNCTIONS, *_COMPREHENSIONS)):
            yield from _offences(inner, scopes)


_OFFENSIVE = {
    "Yield": "yield",
    "YieldFrom": "yield",
    "AsyncFunctionDef": "async",  # no other asynchronous syntax can stand outside of one
    "ClassDef": "class",
    "TryStar": "except*",
    "TypeAlias": "type alias",
}
"""Kinds of syntax nodes that are refused wherever they stand."""


def _writes(node: Any, scope: _Scope, enclosing: tuple[_Scope, ...]) -> Iterator[_Offence]:
    for name in _bound_by(node):
        if name in scope.from_global:
            yield _Offence("global", node, {"name": name})
        elif name in scope.from_nonlocal and not any(name in outer.bound for outer in enclosing):
            yield _Offence("nonlocal", node, {"name": name})


def _outer_name(node: Any, scopes: Sequence[_Scope]) -> Iterator[_OuterName]:
    for scope in reversed(scopes):
        if node.id in scope.from_global:
            yield _OuterName(node, True)
            return
        if node.id in scope.bound:
            return
    yield _OuterName(node, False)


def _outer_value(outer: _OuterName, function: FunctionType) -> object:
    """What a name from outside stands for now; None for nothing."""
    name = outer.node.id
    if not outer.is_global and name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:  # not assigned yet
            return None
    return function.__globals__.get(name, getattr(builtins, name, None))


# ---- scopes


def _scope_of(node: Any, own: Iterable[Any]) -> _Scope:
    bound: set[str] = set()
    from_global: set[str] = set()
    from_nonlocal: set[str] = set()
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [rest for rest in (arguments.vararg, arguments.kwarg) if rest is not None]
        bound.update(parameter.id for parameter in parameters)
    for inner in own:
        bound.update(_bound_by(inner))
        if isinstance(inner, gast.Global):
            from_global.update(inner.names)
        elif isinstance(inner, gast.Nonlocal):
            from_nonlocal.update(inner.names)
    return _Scope(
        frozenset(bound - from_global - from_nonlocal),
        frozenset(from_global),
        frozenset(from_nonlocal),
    )


def _bound_by(node: Any) -> tuple[str, ...]:
    """The names that `node` itself, not what stands in it, assigns or deletes."""
    match node:
        case gast.Name(id=name, ctx=context):
            return () if isinstance(context, gast.Load) else (name,)
        case gast.expr():
            return ()
        case gast.FunctionDef(name=name) | gast.AsyncFunctionDef(name=name):
            return (name,)
        case gast.ClassDef(name=name) | gast.ExceptHandler(name=gast.Name(id=name)):
            return (name,)
        case gast.Import(names=aliases) | gast.ImportFrom(names=aliases):
            return tuple(alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case gast.MatchAs(name=str(name)) | gast.MatchStar(name=str(name)):
            return (name,)
        case gast.MatchMapping(rest=str(name)):
            return (name,)
    return ()


def _inside(node: Any) -> list[Any]:
    """What runs when the scope runs."""
    if isinstance(node, _COMPREHENSIONS):
        results = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        first, *rest = node.generators
        return [*results, first.target, *first.ifs, *rest]
    return [node.body] if isinstance(node, gast.Lambda) else list(node.body)


def _own_nodes(roots: Iterable[Any]) -> Iterator[Any]:
    """The nodes under `roots`; of an inner scope only what runs out here."""
    pending = list(roots)
    while pending:
        node = pending.pop()
        yield node
        match node:
            case gast.Name() | gast.Constant():
                pass
            case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.Lambda():
                defaults = [*node.args.defaults, *node.args.kw_defaults]
                pending += [default for default in defaults if default is not None]
                pending += getattr(node, "decorator_list", [])
            case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
                pending.append(node.generators[0].iter)
            case gast.ExceptHandler(type=kind, body=body):
                pending += body if kind is None else [kind, *body]
            case gast.ClassDef():
                pass  # refused as a whole
            case gast.AnnAssign(target=target, value=value):
                pending += [target] if value is None else [target, value]
            case _:
                pending += [n for n in gast.iter_child_nodes(node) if n._fields]
