"""From a function of the IR to the text of a Python module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from srcad.codegen.comments import Comments, is_marker
from srcad.codegen.copies import without_idle_copies
from srcad.codegen.globals import GlobalNames
from srcad.codegen.literals import call, dotted, literal
from srcad.codegen.names import user_names
from srcad.codegen.plan import make_plan
from srcad.codegen.printer import print_module
from srcad.codegen.statements import Statements
from srcad.codegen.survey import Survey
from srcad.ir.core import Call, Function, FunctionRef, Loc, Value
from srcad.ir.naming import identifier
from srcad.ir.walk import all_ops


@dataclass(frozen=True, slots=True)
class Emitted:
    """A generated module."""

    source: str
    name: str
    """The name of the function in the module."""
    bindings: dict[str, Any]
    """Objects that cannot be imported: to be put in the module's name space before it runs."""
    line_map: dict[int, Loc]
    """Where each generated line stems from."""
    names: Mapping[Value, str] = field(default_factory=dict)
    """The variables; without those of code that another process has generated."""


@dataclass(frozen=True, slots=True)
class Decorator:
    """``@callee(name=value, …)`` before a function."""

    callee: Callable[..., Any]
    keywords: tuple[tuple[str, Any], ...] = ()


def emit(
    function: Function,
    *,
    header: str = "",
    docs: Mapping[str, str] | None = None,
    decorators: Mapping[str, Decorator] | None = None,
) -> Emitted:
    """The module that defines ``function``, and before it the functions it calls.

    ``header`` is printed at the top as a comment; ``docs`` has docstrings by function name, which
    go before the functions' own, and ``decorators`` what is written above them.
    """
    functions = _called_functions(function)
    surveys = [Survey(without_idle_copies(f)) for f in functions]
    names = GlobalNames(set().union(*map(user_names, surveys)))
    given = {f: names.new_name(identifier(f.name)) for f in reversed(functions)}

    def called(ref: FunctionRef) -> str:
        assert ref.function is not None, f"{ref.name} is called but has no body"
        return given[ref.function]

    comments = Comments()
    origins: dict[int, Loc] = {}
    variables: dict[Value, str] = {}
    body: list[Any] = []
    for original, survey in zip(functions, surveys, strict=True):
        plan = make_plan(survey, names)
        names.reserve(plan.variables.taken())
        variables |= plan.variables.by_value()
        decorator = (decorators or {}).get(survey.function.name)
        compiled = decorator is not None
        statements = Statements(plan, names, comments, called, origins, compiled)
        doc = (docs or {}).get(survey.function.name, survey.function.doc)
        definition = statements.function(given[original], doc)
        if decorator is not None:
            definition.decorator_list.append(_decorator(decorator, names))
        body.append(definition)

    text = comments.insert(print_module(body)).strip("\n") + "\n"
    top = [f"# {line}".rstrip() for line in header.splitlines()]
    imports = names.import_lines()
    prefix = "\n".join([*top, *([""] if top and imports else []), *imports])
    source = f"{prefix}\n\n\n{text}" if prefix else text
    return Emitted(
        source, given[function], names.bindings, _line_map(source, body, origins), variables
    )


def _decorator(decorator: Decorator, names: GlobalNames) -> Any:
    keywords = [(k, literal(v, names)) for k, v in decorator.keywords]
    if not keywords:
        return dotted(names.path(decorator.callee))
    return call(dotted(names.path(decorator.callee)), [], keywords)


def _called_functions(function: Function) -> list[Function]:
    """What ``function`` calls: those in ``calls``, then what only bodies mention; itself last."""
    found: dict[Function, None] = {}
    work = [*(ref.function for ref in function.calls), function]
    while work:
        caller = work.pop(0)
        if caller is None or caller in found:
            continue
        found[caller] = None
        work += [op.function.function for op in all_ops(caller.body) if isinstance(op, Call)]
    return [f for f in found if f is not function] + [function]


_NO_STATEMENTS = ("#", "@", "else:", "finally:", "except", "import ", "from ")


def _line_map(source: str, body: list[Any], origins: dict[int, Loc]) -> dict[int, Loc]:
    """Lines in order against statements in order: a simple statement is one line."""
    found: dict[int, Loc] = {}
    nodes = _heads(body)
    in_docstring = False
    for number, line in enumerate(source.split("\n"), start=1):
        text = line.strip()
        if in_docstring:
            in_docstring = not text.endswith('"""')
            continue
        if text.startswith('"""'):
            in_docstring = len(text) < 6 or not text.endswith('"""')
            continue
        if not text or text.startswith(_NO_STATEMENTS):
            continue
        node = next(nodes, None)
        loc = origins.get(id(node))
        if loc is not None:
            found[number] = loc
    return found


def _heads(body: list[Any]) -> Iterator[Any]:
    """The statements in the order their first lines are printed."""
    for node in body:
        if is_marker(node):
            continue
        yield node
        yield from _heads(getattr(node, "body", []))
        for handler in getattr(node, "handlers", ()):
            yield from _heads(handler.body)
        yield from _heads(getattr(node, "orelse", []))
        yield from _heads(getattr(node, "finalbody", []))
