"""Activity: which values depend on the differentiated inputs and matter to the results.

A value is *varied* if it depends on an input differentiably, *useful* if a result depends on it so,
and *active* if both (Griewank and Walther, Evaluating Derivatives, 2nd ed., section 6.2).  No
derivative code is made for what is not active.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from srcad import runtime
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    If,
    Items,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import make_dict, make_list, make_tuple, select
from srcad.ir.infer import atom_type
from srcad.ir.samples import draws
from srcad.ir.types import (
    DictType,
    ListType,
    TupleType,
    Unknown,
    is_differentiable,
    is_text,
    may_hide,
)
from srcad.ir.walk import all_ops, operands

Values = dict[Value, None]


def varied_values(
    block: Block, inputs: Iterable[Value], is_constant: Callable[[Any], bool]
) -> Values:
    """The values of a block, and of the blocks in it, that depend differentiably on the inputs."""
    varied: Values = dict.fromkeys(inputs)
    _vary(block, varied, is_constant, _owners(block))
    return varied


Owners = dict[Value, Value]


def _owners(block: Block) -> Owners:
    """The objects that attributes were read from at run time: ``queue`` of ``queue.put``."""
    return {
        op.result: op.args[0]
        for op in all_ops(block)
        if isinstance(op, Effect)
        and op.callee is getattr
        and op.result is not None
        and isinstance(op.args[0], Value)
    }


def _taint(op: Effect, varied: Values, owners: Owners) -> None:
    """What is run as it is may keep its arguments in the other objects that it gets."""
    if draws(op.callee) is not None:
        return
    for atom in operands(op):
        value = atom if isinstance(atom, Value) else None
        while value is not None and (may_hide(value.type) or isinstance(value.type, Unknown)):
            varied[value] = None
            value = owners.get(value)


def _mark(value: Value, varied: Values) -> None:
    # an opaque object made of active data hides it: it is varied, so that a use of it is noticed
    if is_differentiable(value.type) or may_hide(value.type):
        varied[value] = None


def hidden_operand(op: Apply | Effect, is_active: Callable[[Value], bool]) -> Value | None:
    """What active data is hidden in that a call gets: it is not, where all is only packed or read.

    Of a tuple of text and a number the number is in the open; the text is refused where it is used.
    """
    if op.callee in (make_tuple, make_list, make_dict, select):
        return None
    atoms = operands(op)
    if op.callee is operator.getitem:
        atoms = tuple(a for a in atoms if not isinstance(atom_type(a), _OPEN))
    hiding = (a for a in atoms if isinstance(a, Value) and may_hide(a.type))
    return next(filter(is_active, hiding), None)


_OPEN = (TupleType, ListType, DictType)


def makes_container(op: Apply | Effect) -> bool:
    """Whether a call makes a container of differentiable data: no constant function does.

    ``operator.or_`` is constant for integers, and merges dicts.  What has been cut is constant.
    """
    if op.result is None or op.callee is runtime.stop_gradient:
        return False
    kind = op.result.type
    if isinstance(kind, Unknown):
        kinds = (a.type for a in op.args if isinstance(a, Value))
        return any(
            isinstance(k, (ListType, TupleType, DictType)) and is_differentiable(k) for k in kinds
        )
    return isinstance(kind, (ListType, TupleType, DictType)) and is_differentiable(kind)


def _passes(op: Apply | Effect, is_constant: Callable[[Any], bool]) -> bool:
    """Whether the result of a call depends on its arguments in a way that a derivative follows.

    Text is followed too: a number that is read from it is refused.
    """
    if op.result is None:
        return False
    return not is_constant(op.callee) or makes_container(op) or is_text(op.result.type)


def _any(atoms: Iterable[Atom], varied: Values) -> bool:
    return any(a in varied for a in atoms if isinstance(a, Value))


def _vary(block: Block, varied: Values, is_constant: Callable[[Any], bool], owners: Owners) -> None:
    for op in block.ops:
        match op:
            case Apply() | Effect():
                if not _any(operands(op), varied):
                    continue
                if isinstance(op, Effect) and op.callee is not getattr:
                    _taint(op, varied, owners)
                if op.result is not None and _passes(op, is_constant):
                    _mark(op.result, varied)
            case Update():
                if _any(operands(op), varied):
                    _mark(op.version, varied)
                    if op.result is not None:
                        _mark(op.result, varied)
            case Accumulate():
                if _any((op.target, op.term), varied):
                    _mark(op.version, varied)
            case Call():
                if _any(op.args, varied):
                    for result in op.results:
                        _mark(result, varied)
            case If():
                _vary(op.then, varied, is_constant, owners)
                _vary(op.orelse, varied, is_constant, owners)
                _results(op.results, (op.then, op.orelse), varied)
            case With():
                if _any((op.manager,), varied):
                    for target in op.body.params:
                        _mark(target, varied)
                _vary(op.body, varied, is_constant, owners)
                _results(op.results, (op.body,), varied)
            case Try():
                inner = (op.body, *(h.body for h in op.handlers))
                for b in inner:
                    _vary(b, varied, is_constant, owners)
                _results(op.results, inner, varied)
            case For() | While():
                _vary_loop(op, varied, is_constant, owners)


def _results(results: tuple[Value, ...], blocks: tuple[Block, ...], varied: Values) -> None:
    for k, result in enumerate(results):
        if _any((b.yields[k] for b in blocks), varied):
            _mark(result, varied)


def _vary_loop(
    op: For | While, varied: Values, is_constant: Callable[[Any], bool], owners: Owners
) -> None:
    if isinstance(op, For):
        for target, stream in zip(op.targets, op.streams, strict=True):
            if isinstance(stream, Items) and _any((stream.sequence,), varied):
                _mark(target, varied)
    params = op.carried_params
    for param, init in zip(params, op.carried, strict=True):
        if _any((init,), varied):
            _mark(param, varied)
    while True:
        before = len(varied)
        _vary(op.body, varied, is_constant, owners)
        for param, end in zip(params, op.body.yields, strict=False):
            if _any((end,), varied):
                _mark(param, varied)
        if len(varied) == before:
            break
    for param, result in zip(params, op.results, strict=True):
        if param in varied:
            _mark(result, varied)


def useful_values(
    block: Block, outputs: Iterable[Value], is_constant: Callable[[Any], bool]
) -> Values:
    """The values on which the outputs depend differentiably."""
    useful: Values = dict.fromkeys(outputs)
    _use(block, useful, is_constant)
    return useful


def _need(atoms: Iterable[Atom], useful: Values) -> None:
    for atom in atoms:
        if isinstance(atom, Value) and (is_differentiable(atom.type) or may_hide(atom.type)):
            useful[atom] = None


def _use(block: Block, useful: Values, is_constant: Callable[[Any], bool]) -> None:
    for op in reversed(block.ops):
        match op:
            case Apply() | Effect():
                if op.result in useful and _passes(op, is_constant):
                    _need(operands(op), useful)
            case Update():
                if op.version in useful or (op.result is not None and op.result in useful):
                    _need(operands(op), useful)
            case Accumulate():
                if op.version in useful:
                    _need((op.target, op.term), useful)
            case Call():
                if any(r in useful for r in op.results):
                    _need(op.args, useful)
            case If():
                _use_blocks(op.results, (op.then, op.orelse), useful, is_constant)
            case With():
                if any(r in useful for r in op.results):
                    _need((op.manager,), useful)  # it may pass on what it was made of
                _use_blocks(op.results, (op.body,), useful, is_constant)
            case Try():
                inner = (op.body, *(h.body for h in op.handlers))
                _use_blocks(op.results, inner, useful, is_constant)
            case For() | While():
                _use_loop(op, useful, is_constant)


def _use_blocks(
    results: tuple[Value, ...],
    blocks: tuple[Block, ...],
    useful: Values,
    is_constant: Callable[[Any], bool],
) -> None:
    for block in blocks:
        for k, result in enumerate(results):
            if result in useful:
                _need((block.yields[k],), useful)
        _use(block, useful, is_constant)


def _use_loop(op: For | While, useful: Values, is_constant: Callable[[Any], bool]) -> None:
    params = op.carried_params
    for k, result in enumerate(op.results):
        if result in useful:
            _need((op.body.yields[k], params[k]), useful)
    while True:
        before = len(useful)
        for k, param in enumerate(params):
            if param in useful:
                _need((op.body.yields[k],), useful)
        _use(op.body, useful, is_constant)
        if len(useful) == before:
            break
    for param, init in zip(params, op.carried, strict=True):
        if param in useful:
            _need((init,), useful)
    if isinstance(op, For):
        for target, stream in zip(op.targets, op.streams, strict=True):
            if target in useful and isinstance(stream, Items):
                _need((stream.sequence,), useful)


def active_values(
    block: Block,
    inputs: Iterable[Value],
    outputs: Iterable[Value],
    is_constant: Callable[[Any], bool],
) -> Values:
    """The values between inputs and outputs that carry a derivative."""
    varied = varied_values(block, inputs, is_constant)
    useful = useful_values(block, outputs, is_constant)
    return {v: None for v in varied if v in useful}
