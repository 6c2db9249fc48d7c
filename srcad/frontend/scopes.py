"""Which names belong to a function: Python's scoping rules, read off the syntax.

A name bound anywhere in a function is its own, unless declared ``global`` or ``nonlocal``.
Comprehensions have a scope of their own, but a walrus in one binds in the function around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import gast

FUNCTIONS = (gast.FunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of one function or comprehension."""

    locals: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]


_scopes: WeakKeyDictionary[Any, Scope] = WeakKeyDictionary()


def scope_of(node: Any) -> Scope:
    """The scope of a function, a lambda or a comprehension; syntax trees do not change."""
    scope = _scopes.get(node)
    if scope is None:
        scope = _scopes[node] = _read_scope(node)
    return scope


def _read_scope(node: Any) -> Scope:
    names = _Names()
    if isinstance(node, FUNCTIONS):
        for parameter in parameters(node.args):
            names.bound.add(parameter)
        body = node.body if isinstance(node.body, list) else [node.body]
        for statement in body:
            names.visit(statement)
    else:
        for generator in node.generators:
            names.target(generator.target)
    declared = names.globals | names.nonlocals
    return Scope(
        frozenset(names.bound - declared), frozenset(names.globals), frozenset(names.nonlocals)
    )


def parameters(args: Any) -> list[str]:
    """The names of all parameters, in order."""
    found = [a.id for a in (*args.posonlyargs, *args.args)]
    if args.vararg is not None:
        found.append(args.vararg.id)
    found += [a.id for a in args.kwonlyargs]
    if args.kwarg is not None:
        found.append(args.kwarg.id)
    return found


def bound_names(statements: list[Any]) -> set[str]:
    """The names that statements bind in their function."""
    names = _Names()
    for statement in statements:
        names.visit(statement)
    return names.bound


class _Names:
    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()

    def target(self, node: Any) -> None:
        for part in gast.walk(node):
            if isinstance(part, gast.Name) and isinstance(part.ctx, gast.Store):
                self.bound.add(part.id)

    def visit(self, node: Any) -> None:
        match node:
            case gast.Name(ctx=context):
                if not isinstance(context, gast.Load):
                    self.bound.add(node.id)
                return
            case gast.FunctionDef() | gast.ClassDef():
                self.bound.add(node.name)
                return
            case gast.Lambda() | gast.Constant():
                return
            case gast.Global():
                self.globals.update(node.names)
            case gast.Nonlocal():
                self.nonlocals.update(node.names)
            case gast.ExceptHandler(name=name) if name is not None:
                self.bound.add(name.id if isinstance(name, gast.Name) else name)
            case gast.MatchAs(name=name) | gast.MatchStar(name=name) if name is not None:
                self.bound.add(name.id if isinstance(name, gast.Name) else name)
            case gast.MatchMapping(rest=rest) if rest is not None:
                self.bound.add(rest.id if isinstance(rest, gast.Name) else rest)
            case gast.Import() | gast.ImportFrom():
                for alias in node.names:
                    self.bound.add((alias.asname or alias.name).split(".")[0])
            case gast.NamedExpr():
                self.bound.add(node.target.id)
        if isinstance(node, COMPREHENSIONS):
            # only a walrus reaches the function around a comprehension
            for part in gast.walk(node):
                if isinstance(part, gast.NamedExpr):
                    self.bound.add(part.target.id)
            return
        for child in gast.iter_child_nodes(node):
            if child._fields:  # no operator, no context
                self.visit(child)
