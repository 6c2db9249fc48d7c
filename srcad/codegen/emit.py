"""From a function of the IR to the text of a Python module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from srcad.codegen.comments import Comments, is_marker
from srcad.codegen.copies import without_idle_copies
from srcad.codegen.globals import GlobalNames
from srcad.codegen.names import user_names
from srcad.codegen.plan import make_plan
from srcad.codegen.printer import print_module
from srcad.codegen.statements import Statements
from srcad.codegen.survey import Survey
from srcad.ir.core import Call, Function, FunctionRef, Loc
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


def emit(function: Function, *, header: str = "", docs: Mapping[str, str] | None = None) -> Emitted:
    """The module that defines ``function``, and before it the functions it calls.

    ``header`` is printed at the top as a comment; ``docs`` has docstrings by function name, which
    go before the functions' own.
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
    body: list[Any] = []
    for original, survey in zip(functions, surveys, strict=True):
        plan = make_plan(survey, names)
        names.reserve(plan.variables.taken())
        statements = Statements(plan, names, comments, called, origins)
        doc = (docs or {}).get(survey.function.name, survey.function.doc)
        body.append(statements.function(given[original], doc))

    text = comments.insert(print_module(body)).strip("\n") + "\n"
    top = [f"# {line}".rstrip() for line in header.splitlines()]
    imports = names.import_lines()
    prefix = "\n".join([*top, *([""] if top and imports else []), *imports])
    source = f"{prefix}\n\n\n{text}" if prefix else text
    return Emitted(source, given[function], names.bindings, _line_map(source, body, origins))


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
        if not text or text.startswith(("#", "else:", "finally:", "except", "import ", "from ")):
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
