"""From a live Python function to the syntax tree of exactly that function.

`read_function` finds the text the function was made from, proves that it is that text, and returns
the function's node as a gast tree with positions in the file. The proof: the whole file is
compiled again, and the code object found in it must equal the live one. Hence a file edited since
its import is refused (`SourceChanged`), and two lambdas on one line are told apart by the columns
that the compiler notes for every instruction.

The decorated function is what is read: `functools.wraps` is not followed, since the wrapper is what
a call runs. Defaults and closure values belong to the live function, not to the tree.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import re
import threading
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeAlias

import gast

from srcad.errors import Place, SourceChanged, SourceUnavailable, UnsupportedValue
from srcad.frontend.codematch import FUTURES, same_code
from srcad.recent import Recent

__all__ = ["FunctionSource", "read_function"]

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Defined: TypeAlias = tuple[_Definition, str | None]
"""A definition, and the name of the class whose private names it uses."""


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSource:
    """A function and the syntax it was made from."""

    name: str
    """`__name__` as written at the `def`; a lambda is called `<lambda>`."""
    tree: Any
    """gast.FunctionDef, gast.AsyncFunctionDef or gast.Lambda, to be read only: while the file stays
    as it is, each reading of the function gives this very tree. Lines and columns are those of the
    file; private names (`__x` in a class) are already mangled."""
    file: str
    first_line: int
    """Where the definition starts: at its first decorator, if it has one."""
    lines: Sequence[str]
    """All lines of the file: line `n` is `lines[n - 1]`."""
    function: FunctionType
    """The plain function: that under a bound method, a staticmethod or a classmethod."""

    def place(self, node: Any) -> Place:
        """Where `node`, a node of `tree` that has a position, stands."""
        return self.place_at(node.lineno, node.col_offset)

    def place_at(self, line: int, byte_column: int = 0) -> Place:
        """The place at a position as the `ast` module counts: columns in UTF-8 bytes."""
        text = self.lines[line - 1].rstrip("\r\n") if 0 < line <= len(self.lines) else ""
        column = len(text.encode()[:byte_column].decode(errors="ignore"))
        return Place(self.file, line, column, text)

    def segment(self, node: Any) -> str:
        """The text of `node` as the user wrote it, comments and line breaks included."""
        first = self.place(node)
        last = self.place_at(node.end_lineno, node.end_col_offset)
        if first.line == last.line:
            return first.text[first.column : last.column]
        between = [line.rstrip("\r\n") for line in self.lines[first.line : last.line - 1]]
        return "\n".join([first.text[first.column :], *between, last.text[: last.column]])


def read_function(function: object) -> FunctionSource:
    """The source of `function`, or an error that says why there is none.

    Raises `UnsupportedValue` (a TypeError) for what is not a Python function, `SourceUnavailable`
    where no text can be found, and `SourceChanged` where the text has become another one.
    """
    plain = _plain_function(function)
    code = plain.__code__
    with _lock:
        file = _read_file(plain)
        found = file.find(code) if file is not None else None
    if file is None or (found is None and _is_pseudo_file(code.co_filename)):
        raise SourceUnavailable(
            Place(code.co_filename, code.co_firstlineno),
            f"the source of {plain.__qualname__!r} cannot be found",
            "define the function in a file or a notebook cell; text given to exec() needs an entry "
            "in linecache.cache under the file name it was compiled with",
        )
    if found is None:
        line, lines = code.co_firstlineno, file.lines
        text = lines[line - 1].rstrip("\r\n") if line <= len(lines) else ""
        raise SourceChanged(
            Place(code.co_filename, line, len(text) - len(text.lstrip()), text),
            f"the source of {plain.__qualname__!r} is not what the function was made from",
            "the file was edited after its import, or an import hook rewrote the function: "
            "reload the module",
        )
    node, _ = found
    return FunctionSource(
        name="<lambda>" if isinstance(node, ast.Lambda) else node.name,
        tree=file.tree_of(found),
        file=code.co_filename,
        first_line=_first_line(node),
        lines=file.lines,
        function=plain,
    )


def _plain_function(function: object) -> FunctionType:
    while isinstance(function, MethodType | staticmethod | classmethod):
        function = function.__func__
    if isinstance(function, FunctionType):
        return function
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    if inspect.isbuiltin(function) or inspect.ismethoddescriptor(function):
        raise SourceUnavailable(
            None,
            f"{name!r} is built in: it has no Python source",
            "wrap it in a function, or declare a rule for it",
        )
    raise UnsupportedValue(
        None,
        f"{name!r} of type {type(function).__qualname__} is not a Python function",
        "pass a function, a lambda or a method",
    )


def _is_pseudo_file(name: str) -> bool:
    """`<stdin>`, `<string>`, ...: a name that any number of texts share."""
    return name.startswith("<") and name.endswith(">")


# ---- files


@dataclass(slots=True, eq=False)
class _File:
    """A text, its syntax tree, and where in it each function is defined."""

    lines: list[str]
    tree: ast.Module
    definitions: dict[tuple[str, int], list[_Defined]]
    """By name and first line, as code objects have them."""
    codes: dict[int, dict[str, list[CodeType]]] = field(default_factory=dict)
    """Compiler flags to: qualified name to the code objects of that name."""
    trees: dict[_Definition, Any] = field(default_factory=dict)
    """The gast trees of the definitions that were asked for."""

    def tree_of(self, defined: _Defined) -> Any:
        """A definition as a gast tree, the same each time."""
        node, class_name = defined
        if node not in self.trees:
            tree = gast.ast_to_gast(node)
            if class_name is not None:
                _mangle(tree, class_name)
            self.trees.setdefault(node, tree)
        return self.trees[node]

    def find(self, live: CodeType) -> _Defined | None:
        """The node that `live` was compiled from.

        The same code at the same place is preferred. The same code elsewhere (lines were added
        above it) means the same, so it is as good.
        """
        best: _Defined | None = None
        best_rank = -1
        for code in self._compiled(live.co_flags & FUTURES).get(live.co_qualname, ()):
            rank = (code.co_firstlineno == live.co_firstlineno) + (
                code.co_linetable == live.co_linetable
            )
            if rank <= best_rank or (node := self._node_of(code)) is None:
                continue
            if same_code(live, code, node[0]):
                best, best_rank = node, rank
        return best

    def _compiled(self, flags: int) -> dict[str, list[CodeType]]:
        if flags not in self.codes:
            every: dict[str, list[CodeType]] = {}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # they were shown when the file was imported
                    module = compile(
                        self.tree,
                        "<srcad>",
                        "exec",
                        flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,  # as notebooks do
                        dont_inherit=True,
                    )
            except SyntaxError:
                pass  # an edit in progress: nothing in this text is what was imported
            else:
                for code in _nested_codes(module):
                    every.setdefault(code.co_qualname, []).append(code)
            self.codes[flags] = every
        return self.codes[flags]

    def _node_of(self, code: CodeType) -> _Defined | None:
        """The node of a code object of this text.

        A line has at most one `def` of a name. Of the lambdas on it, the code's is the innermost
        whose body has all the instructions.
        """
        nodes = self.definitions.get((code.co_name, code.co_firstlineno), [])
        if code.co_name == "<lambda>" and len(nodes) > 1:
            extent = _extent(code)
            nodes = [
                (node, class_name)
                for node, class_name in nodes
                if isinstance(node, ast.Lambda)
                and (
                    _start(node.body) <= extent[0] and extent[1] <= _end(node.body)
                    if extent is not None
                    else _compiles_to(node, code)
                )
            ]
            nodes.sort(key=lambda pair: (pair[0].lineno, pair[0].col_offset))
        return nodes[-1] if nodes else None


_files: Recent[str, _File] = Recent(128)
_lock = threading.Lock()
"""Held while `_files` is used, and because catching warnings is not safe between threads."""


def _read_file(function: FunctionType) -> _File | None:
    """The file of `function` as it is now, parsed once for each state of the file."""
    name = function.__code__.co_filename
    linecache.checkcache(name)
    # Not `from linecache import getlines`: doctest replaces it while it runs.
    lines = linecache.getlines(name, function.__globals__)
    if not lines:
        try:
            lines = inspect.findsource(function)[0]  # knows the text of `python -c` since 3.13
        except OSError:
            return None
    file = _files.get(name)
    if file is None or file.lines != lines:
        file = _files[name] = _parse_file(lines)
    return file


def _parse_file(lines: list[str]) -> _File:
    text = "".join(lines)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):  # ValueError: the text has null bytes
        tree = ast.Module(body=[], type_ignores=[])
    file = _File(list(lines), tree, {})
    for node, class_name in _definitions(tree, text):
        name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        file.definitions.setdefault((name, _first_line(node)), []).append((node, class_name))
    return file


def _definitions(tree: ast.AST, text: str) -> Iterator[_Defined]:
    lines = re.split("\r\n|\r|\n", text)  # as Python counts them
    lambdas = [number for number, line in enumerate(lines, start=1) if "lambda" in line]
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, class_name = pending.pop()
        if isinstance(node, _Definition):
            yield node, class_name
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                first = bisect_left(lambdas, child.lineno)
                if first == len(lambdas) or lambdas[first] > (child.end_lineno or child.lineno):
                    continue  # no other expression defines a function
            if isinstance(node, ast.ClassDef) and isinstance(child, ast.stmt):
                pending.append((child, node.name))  # in the body, not a base or a decorator
            else:
                pending.append((child, class_name))


def _nested_codes(code: CodeType) -> Iterator[CodeType]:
    pending = [code]
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, CodeType):
                yield constant
                pending.append(constant)


# ---- positions


def _extent(code: CodeType) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """From where to where the instructions of a body come.

    None if no columns are known: under `python -X no_debug_ranges`, and on 3.12 for a body that is
    a constant.
    """
    starts: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    steps = dis.get_instructions(code)
    for step in steps:
        if step.opname == "RESUME":
            break  # up to here positions are those of the definition
    for step in steps:
        match step.positions:
            case dis.Positions(int(line), int(end_line), int(column), int(end_column)):
                if (line, column) != (end_line, end_column):  # the final return stands at (line, 0)
                    starts.append((line, column))
                    ends.append((end_line, end_column))
    return (min(starts), max(ends)) if starts else None


def _compiles_to(node: ast.Lambda, code: CodeType) -> bool:
    """Whether `node`, out of its scope, does what `code` does; never so if it captures names."""
    module = compile(ast.Expression(node), "<srcad>", "eval", dont_inherit=True)
    return any(
        same_code(code, alone, node) for alone in module.co_consts if isinstance(alone, CodeType)
    )


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _first_line(node: _Definition) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return decorators[0].lineno if decorators else node.lineno


# ---- private names


def _mangle(tree: Any, class_name: str) -> None:
    """Spell the private names in `tree` as the compiler does: `__x` in class C is `_C__x`."""
    prefix = class_name.lstrip("_")
    if not prefix:
        return
    for node in gast.walk(tree):
        for name in ("id", "attr", "arg", "name", "names"):
            match getattr(node, name, None):
                case str(value) if node is not tree and _is_private(value):
                    setattr(node, name, f"_{prefix}{value}")
                case [*values] if all(isinstance(value, str) for value in values):
                    setattr(node, name, [f"_{prefix}{v}" if _is_private(v) else v for v in values])


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")
