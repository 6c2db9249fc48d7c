"""Accumulations as statements: ``x_bar += t`` in its several forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from srcad.codegen.literals import call, dotted
from srcad.codegen.ownership import Form, copies_by_method, negated
from srcad.ir.core import Accumulate, Value
from srcad.ir.types import NOTHING

if TYPE_CHECKING:
    from srcad.codegen.statements import Statements


def accumulate(statements: Statements, op: Accumulate, out: list[Any], top: bool) -> None:
    """Append the statements of an accumulation to ``out``."""
    form = statements.plan.ownership.form(op)
    if op.index is None:
        _add_whole(statements, op, form, out, top)
    else:
        _add_item(statements, op, form, out, top)


def _term(statements: Statements, op: Accumulate) -> tuple[Any, Any]:
    """The operator and the term: ``x += -y`` prints as ``x -= y``."""
    nested = statements.plan.nested.get(op.term) if isinstance(op.term, Value) else None
    inner = negated(nested)
    if inner is not None:
        return gast.Sub(), statements.expressions.atom(inner)
    return gast.Add(), statements.expressions.atom(op.term)


def _add_whole(
    statements: Statements, op: Accumulate, form: Form, out: list[Any], top: bool
) -> None:
    sign, term = _term(statements, op)
    target = statements.store(op.version)
    node: Any
    if form is Form.ADD_IN_PLACE and statements.same_variable(op.version, op.target):
        node = gast.AugAssign(target, sign, term)
    else:
        node = gast.Assign(
            [target], gast.BinOp(statements.expressions.atom(op.target), sign, term), None
        )
    statements.add(out, node, op.loc, top)


def _add_item(
    statements: Statements, op: Accumulate, form: Form, out: list[Any], top: bool
) -> None:
    assert op.index is not None
    build = statements.expressions
    ownership = statements.plan.ownership
    if not ownership.in_place(op):
        copy = _copy(statements, op)
        statements.add(out, gast.Assign([statements.store(op.version)], copy, None), op.loc, top)
    elif not statements.same_variable(op.version, op.target):
        source = build.atom(op.target)
        statements.add(out, gast.Assign([statements.store(op.version)], source, None), op.loc, top)

    def item(ctx: Any) -> Any:
        assert op.index is not None
        return gast.Subscript(build.atom(op.version), build.index(op.index), ctx)

    node: Any
    match form:
        case Form.ITEM_IN_PLACE:
            sign, term = _term(statements, op)
            node = gast.AugAssign(item(gast.Store()), sign, term)
        case Form.ITEM_ADD:
            sign, term = _term(statements, op)
            node = gast.Assign(
                [item(gast.Store())], gast.BinOp(item(gast.Load()), sign, term), None
            )
        case Form.KEY_ADD:
            sign, term = _term(statements, op)
            get = gast.Attribute(build.atom(op.version), "get", gast.Load())
            old = call(get, [build.atom(op.index), gast.Constant(0.0, None)])
            node = gast.Assign([item(gast.Store())], gast.BinOp(old, sign, term), None)
        case _:
            names = statements.names
            if form is Form.ADD_AT:
                function = dotted((*names.path(np.add), "at"))
            else:
                function = dotted(names.runtime("add_at"))
            term = build.atom(op.term)
            if ownership.shares_memory(op.target, op.term):
                term = call(dotted(names.path(np.copy)), [term])
            node = gast.Expr(call(function, [build.atom(op.version), build.atom(op.index), term]))
    statements.add(out, node, op.loc, top)


def _copy(statements: Statements, op: Accumulate) -> Any:
    source = statements.expressions.atom(op.target)
    kind = op.target.type if isinstance(op.target, Value) else NOTHING
    if copies_by_method(kind):
        return call(gast.Attribute(source, "copy", gast.Load()), [])
    return call(dotted(statements.names.path(np.copy)), [source])
