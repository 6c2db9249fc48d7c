"""Expressions: syntax to abstract values."""

from __future__ import annotations

import contextlib
import operator
from typing import Any

import gast
import numpy as np

from srcad import runtime
from srcad.frontend import (
    attributes,
    calls,
    comprehensions,
    containers,
    iterables,
    methods,
    operators,
    subscripts,
)
from srcad.frontend.abstract import (
    FALSE,
    NONE,
    SCALARS,
    TRUE,
    Abstract,
    ArrayRef,
    Closure,
    DictRef,
    DictView,
    Entries,
    Fields,
    Held,
    Items,
    IteratorRef,
    ListRef,
    MaybeUnbound,
    Method,
    ObjectRef,
    Origin,
    Partial,
    Poison,
    SetRef,
    SliceRef,
    Static,
    TupleRef,
    known_values,
    same_path,
)
from srcad.frontend.control import choose
from srcad.frontend.fence import refusal
from srcad.frontend.loops import RetryLoop
from srcad.frontend.lowering import Frame, Lowering, is_leaf
from srcad.frontend.managers import may_suppress
from srcad.frontend.narrowing import narrow
from srcad.frontend.radii import even_power
from srcad.ir import Atom, Literal, Value
from srcad.ir.core import format_value, literal_values, make_fstring
from srcad.ir.infer import atom_type
from srcad.ir.numbers import may_be_complex, real_power
from srcad.ir.types import (
    BOOL,
    NOTHING,
    OBJECT,
    Array,
    NumPyScalar,
    Opaque,
    Optional,
    TupleType,
    Unknown,
    may_hide,
)
from srcad.ir.types import NONE as NONE_TYPE

BINARY: dict[Any, Any] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}
UNARY = {gast.USub: operator.neg, gast.UAdd: operator.pos, gast.Invert: operator.invert}
COMPARE = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
}


def evaluate(low: Lowering, node: Any) -> Abstract:
    """The abstract value of an expression; its operations go where the cursor is."""
    outer, low.expression = low.expression, node
    found = _evaluate(low, node)
    low.expression = outer
    return found


def _evaluate(low: Lowering, node: Any) -> Abstract:
    match node:
        case gast.Constant(value=value):
            return Static(value)
        case gast.Name(id=name):
            return load(low, name, node)
        case gast.BinOp(left=left, op=op, right=right):
            x = evaluate(low, left)
            y = evaluate(low, right)
            return binary(low, BINARY[type(op)], x, y)
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            return invert(low, condition(low, operand))
        case gast.UnaryOp(op=op, operand=operand):
            return unary(low, UNARY[type(op)], evaluate(low, operand))
        case gast.BoolOp(op=op, values=values):
            return boolean(low, isinstance(op, gast.And), values)
        case gast.Compare(left=left, ops=ops, comparators=comparators):
            return chain(low, evaluate(low, left), ops, comparators)
        case gast.IfExp(test=test, body=body, orelse=orelse):
            known = condition(low, test)
            if isinstance(known, bool):
                return evaluate(low, body if known else orelse)
            return choose(
                low,
                known,
                lambda: _narrowed(low, test, True, body),
                lambda: _narrowed(low, test, False, orelse),
            )
        case gast.NamedExpr(target=target, value=value):
            found = low.hinted(evaluate(low, value), target.id)
            low.state[low.variable(target.id, owner_of_walrus(low.frame))] = found
            return found
        case gast.Tuple(elts=elts):
            return TupleRef(display(low, elts))
        case gast.List(elts=elts):
            if any(isinstance(e, gast.Starred) for e in elts):
                return _starred_list(low, elts)
            return low.new_list(Items(display(low, elts)))
        case gast.Dict(keys=keys, values=values):
            return dictionary(low, keys, values)
        case gast.Subscript(value=value, slice=index):
            return subscripts.get_item(low, evaluate(low, value), evaluate_index(low, index))
        case gast.Attribute(value=value, attr=name):
            return attributes.get_attribute(low, evaluate(low, value), name)
        case gast.Call(func=func, args=args, keywords=keywords):
            return call_expression(low, func, args, keywords, node)
        case gast.Lambda():
            return make_closure(low, "<lambda>", node)
        case gast.ListComp():
            return comprehensions.list_of(low, node)
        case gast.GeneratorExp():
            return comprehensions.generator(low, node)
        case gast.DictComp():
            return comprehensions.dict_of(low, node)
        case gast.Set(elts=elts):
            return low.new_set(list(display(low, elts)))
        case gast.SetComp():
            return comprehensions.set_of(low, node)
        case gast.JoinedStr(values=values):
            return fstring(low, values)
        case gast.Slice():
            return evaluate_index(low, node)
    low.refuse(
        *refusal("node", what=f"an expression of kind {type(node).__name__}"),
        node,
    )


def _narrowed(low: Lowering, test: Any, holds: bool, node: Any) -> Abstract:
    narrow(low, test, holds)
    return evaluate(low, node)


def evaluate_known(low: Lowering, node: Any) -> Abstract:
    """An expression whose items have to be known one by one: a comprehension is unrolled."""
    if isinstance(node, (gast.ListComp, gast.GeneratorExp)):
        return comprehensions.list_of(low, node, unrolled=True)
    return evaluate(low, node)


def takes_known(callee: Abstract) -> bool:
    """Whether a function makes a tuple or a dict of its argument: what has a known length."""
    return isinstance(callee, Static) and any(callee.value is f for f in (tuple, dict))


# ---- names


def load(low: Lowering, name: str, node: Any = None) -> Abstract:
    """The value of a name where the cursor is."""
    frame: Frame | None = low.frame
    while frame is not None:
        if name in frame.scope.globals:
            break
        if name in frame.scope.locals:
            key = low.variable(name, frame)
            value = low.state.get(key)
            if value is None or isinstance(value, MaybeUnbound):
                for loop in reversed(low.loops):
                    if key in loop.assigned and key not in loop.carried:
                        raise RetryLoop(loop, key)
            if value is None:
                low.refuse(
                    *refusal("unbound", name=name),
                    node,
                )
            if isinstance(value, MaybeUnbound):
                found = low.bound(value)
                low.state[key] = found
                return found
            if isinstance(value, Poison):
                low.require_release(value.releases)
                low.refuse(value.message, value.hint, node)
            found_: Abstract = value
            return found_
        if name in frame.cells:
            cell: Abstract = low.session.importer.cell(low, frame, name)
            return cell
        frame = frame.parent
    known: Abstract = low.session.importer.global_name(low, low.frame.globals, name, node)
    return known


def owner_of_walrus(frame: Frame) -> Frame:
    """The function around a comprehension: where its walrus binds."""
    while frame.name == "<comprehension>" and frame.parent is not None:
        frame = frame.parent
    return frame


def owner_of(low: Lowering, name: str) -> Frame:
    """The frame in which an assignment binds a name."""
    frame = low.frame
    if name in frame.scope.nonlocals:
        parent = frame.parent
        while parent is not None:
            if name in parent.scope.locals:
                return parent
            parent = parent.parent
        low.refuse(*refusal("nonlocal", name=name))
    if name in frame.scope.globals:
        low.refuse(*refusal("global", name=name))
    return frame


# ---- operators


def _with_array(low: Lowering, value: Abstract, other: Abstract) -> Abstract:
    """A list or tuple that meets an array in an operator: NumPy makes an array of it."""
    array = isinstance(other, Value) and isinstance(other.type, (Array, NumPyScalar))
    if array and isinstance(value, (ListRef, TupleRef)):
        return containers.wrap(low, low.builder.apply(np.asarray, low.atom(value)))
    return value


def binary(low: Lowering, op: Any, x: Abstract, y: Abstract) -> Abstract:
    """``x op y``"""
    x, y = low.read(x), low.read(y)
    match x, y:
        case Static(value=left), Static(value=right) if isinstance(left, SCALARS) and isinstance(
            right, SCALARS
        ):
            try:
                return Static(op(left, right))
            except Exception:  # it raises at run time, as in the primal
                pass
    x, y = _with_array(low, x, y), _with_array(low, y, x)
    for special in (operators.binary, containers.combine):
        found = special(low, op, x, y)
        if found is not None:
            return found
    left, right = low.atom(x), low.atom(y)
    if op not in _LOGICAL and atom_type(left) == atom_type(right) == BOOL:
        low.require_python(x, y)
    made = None if low.internal else even_power(low.builder, op, (left, right))
    if made is None:
        power = op is operator.pow
        made = _power(low, left, right) if power else low.builder.apply(op, left, right)
    return containers.wrap(low, made)


_LOGICAL = (operator.and_, operator.or_, operator.xor)
"""What does the same to the bools of NumPy and of Python."""


def _power(low: Lowering, x: Atom, y: Atom) -> Atom:
    """``x ** y``, which has to stay real."""
    if not low.internal and not low.session.exact:
        real = real_power(low.builder, x, y)  # where it raises, exact code takes over
        if real is not None:
            return real
    elif not low.internal and may_be_complex(x, y):
        low.builder.effect(runtime.require_real_power, x, y)
    return low.builder.apply(operator.pow, x, y)


def unary(low: Lowering, op: Any, x: Abstract) -> Abstract:
    """``op x``"""
    x = low.read(x)
    if isinstance(x, Static) and isinstance(x.value, (int, float, complex)):
        return Static(op(x.value))
    special = operators.unary(low, op, x)
    if special is not None:
        return special
    if isinstance(x, Value) and x.type == BOOL:
        low.require_python(x)
    return containers.wrap(low, low.builder.apply(op, low.atom(x)))


def truth(low: Lowering, value: Abstract) -> bool | Atom:
    """Whether a value counts as true: known, or an atom."""
    answer = operators.ask(low, value, "__bool__", "__len__")
    if answer is not None:
        return truth(low, answer)
    match value:
        case Static(value=known):
            return bool(known)
        case TupleRef(items=items):
            return bool(items)
        case ListRef() | DictRef():
            contents = low.contents(value)
            if isinstance(contents, Items):
                return bool(contents.items)
            if isinstance(contents, Entries):
                return bool(contents.keys)
            return low.peek(value)
        case SetRef():
            return bool(methods.set_values(low, value))
        case DictView(ref=ref):
            return truth(low, ref)
        case IteratorRef():
            return True
        case Value(type=kind):
            if kind == NONE_TYPE:
                return False
            if isinstance(kind, TupleType):
                return bool(kind.items)
            if isinstance(kind, Opaque) and may_hide(kind):  # it may change: ask it now
                now = Value("", BOOL)
                low.builder.effect(bool, value, result=now)
                return now
            return value
        case MaybeUnbound():
            return truth(low, low.bound(value))
        case ObjectRef() | Closure() | Method() | Partial():
            return True
    return low.atom(value)


def invert(low: Lowering, known: bool | Atom) -> Abstract:
    """``not`` of a truth value."""
    if isinstance(known, bool):
        return FALSE if known else TRUE
    return containers.wrap(low, low.builder.apply(operator.not_, known))


def condition(low: Lowering, node: Any) -> bool | Atom:
    """The truth of an expression: in ``xs and n > 0`` nothing chooses a list or a bool."""
    return truth(low, _tested(low, node))


def _tested(low: Lowering, node: Any) -> Abstract:
    """A value as true as an expression."""
    match node:
        case gast.BoolOp(op=op, values=values):
            return boolean(low, isinstance(op, gast.And), values, tested=True)
    return evaluate(low, node)


def boolean(
    low: Lowering, conjunction: bool, nodes: list[Any], *, tested: bool = False
) -> Abstract:
    """``a and b`` or ``a or b``: the operand that decides, the rest unevaluated.

    ``tested``: only its truth matters.
    """
    value = _tested(low, nodes[0]) if tested else evaluate(low, nodes[0])
    if len(nodes) == 1:
        return value
    known = truth(low, value)
    if isinstance(known, bool):
        if known != conjunction:
            return value
        return boolean(low, conjunction, nodes[1:], tested=tested)

    def rest() -> Abstract:
        narrow(low, nodes[0], conjunction)
        last = boolean(low, conjunction, nodes[1:], tested=tested)
        if tested and not is_leaf(last):
            holds = truth(low, last)
            if isinstance(holds, bool):
                return Static(holds)
            return containers.wrap(low, low.builder.apply(bool, holds))
        return last

    def same() -> Abstract:
        return Static(not conjunction) if tested and not is_leaf(value) else value

    return choose(low, known, rest, same) if conjunction else choose(low, known, same, rest)


def chain(low: Lowering, left: Abstract, ops: list[Any], comparators: list[Any]) -> Abstract:
    """``a < b < c``: b is evaluated once, c only if the first comparison holds."""
    right = evaluate(low, comparators[0])
    first = compare(low, ops[0], left, right)
    if len(ops) == 1:
        return first
    known = truth(low, first)
    if isinstance(known, bool):
        return chain(low, right, ops[1:], comparators[1:]) if known else first
    return choose(low, known, lambda: chain(low, right, ops[1:], comparators[1:]), lambda: first)


def compare(low: Lowering, op: Any, x: Abstract, y: Abstract) -> Abstract:
    """One comparison."""
    match op:
        case gast.Is() | gast.IsNot():
            same = identical(low, x, y)
            if isinstance(same, bool):
                return Static(same == isinstance(op, gast.Is))
            return same if isinstance(op, gast.Is) else invert(low, truth(low, same))
        case gast.In() | gast.NotIn():
            found = containers.contains(low, y, x)
            return found if isinstance(op, gast.In) else invert(low, truth(low, found))
    return binary_compare(low, COMPARE[type(op)], x, y)


def binary_compare(low: Lowering, op: Any, x: Abstract, y: Abstract) -> Abstract:
    """``x op y`` of an ordering or equality."""
    x, y = low.read(x), low.read(y)
    if isinstance(x, Static) and isinstance(y, Static):
        try:
            result = op(x.value, y.value)
            if isinstance(result, bool):
                return Static(result)
        except Exception:  # it raises at run time, as in the primal
            pass
    special = operators.binary(low, op, x, y)
    if special is not None:
        return special
    if op in (operator.eq, operator.ne):
        if isinstance(x, TupleRef) and isinstance(y, TupleRef) and len(x.items) != len(y.items):
            return Static(op is operator.ne)
        for a, b in ((x, y), (y, x)):
            if isinstance(b, Static) and b.value is None and not isinstance(a, Static):
                same = identical(low, a, NONE)
                if isinstance(same, bool):
                    return Static(same == (op is operator.eq))
    return containers.wrap(low, low.builder.apply(op, low.peek(_plain(x)), low.peek(_plain(y))))


def _plain(value: Abstract) -> Abstract:
    """A tuple for a namedtuple: they are equal."""
    return TupleRef(value.items) if isinstance(value, TupleRef) else value


def identical(low: Lowering, x: Abstract, y: Abstract) -> bool | Abstract:
    """``x is y``, known where the kinds of both decide it."""
    if isinstance(x, ArrayRef) and isinstance(y, ArrayRef):
        return x.place == y.place and same_path(x.path, y.path)
    x, y = low.read(x), low.read(y)
    if isinstance(x, Static) and isinstance(y, Static):
        return x.value is y.value
    if isinstance(x, (ListRef, DictRef, ObjectRef)) or isinstance(y, (ListRef, DictRef, ObjectRef)):
        if x != y and (first := _live_value(low, x)) and (second := _live_value(low, y)):
            # two names for what existed before the call: it may be one object
            return containers.wrap(low, low.builder.apply(operator.is_, first, second))
        return x == y
    for value in (x, y):
        if isinstance(value, Value) and value.type == BOOL:
            low.require_python(value)
    if isinstance(x, Value) and isinstance(y, Value):
        return True if x is y else containers.wrap(low, low.builder.apply(operator.is_, x, y))
    for value, other in ((x, y), (y, x)):
        if isinstance(value, Value) and isinstance(other, Static):
            kind = value.type
            if kind == NONE_TYPE:
                return other.value is None
            maybe = isinstance(kind, (Optional, Unknown, Opaque)) or kind == NOTHING
            if other.value is None and not maybe:
                return False
            return containers.wrap(
                low, low.builder.apply(operator.is_, value, Literal(other.value))
            )
    return False


def _live_value(low: Lowering, ref: Abstract) -> Value | None:
    """The run-time object of what may have existed before the call."""
    if isinstance(ref, Value) and isinstance(ref.type, (Optional, Unknown, Opaque)):
        return ref
    if isinstance(ref, (ListRef, DictRef, ObjectRef)):
        match low.contents(ref):
            case Fields(origin=Origin(value=value)):
                return value
            case Held(value=value, borrowed="argument"):
                return value
    return None


# ---- displays


def display(low: Lowering, elts: list[Any]) -> tuple[Abstract, ...]:
    """The items of a tuple or list display, stars unpacked."""
    items: list[Abstract] = []
    for elt in elts:
        if isinstance(elt, gast.Starred):
            items += containers.unpack(low, evaluate_known(low, elt.value))
        else:
            items.append(evaluate(low, elt))
    return tuple(items)


def _starred_list(low: Lowering, elts: list[Any]) -> Abstract:
    """``[a, *xs]``, also of lists whose length is known at run time only."""
    made = low.new_list(Items(()))
    for elt in elts:
        star = isinstance(elt, gast.Starred)
        value = evaluate_known(low, elt.value) if star else evaluate(low, elt)
        containers.call_method(low, made, "extend" if star else "append", [value], {})
    return made


def dictionary(low: Lowering, keys: list[Any], values: list[Any]) -> Abstract:
    """A dict display."""
    ref = low.new_dict(Entries((), ()))
    for key, value in zip(keys, values, strict=True):
        if key is None:
            other = evaluate(low, value)
            for k, v in containers.entries(low, other):
                subscripts.set_item(low, ref, Static(k), v)
        else:
            k = evaluate(low, key)
            subscripts.set_item(low, ref, k, evaluate(low, value))
    return ref


def evaluate_index(low: Lowering, node: Any) -> Abstract:
    """The index of a subscript."""
    if isinstance(node, gast.Slice):
        parts = [
            NONE if p is None else evaluate(low, p) for p in (node.lower, node.upper, node.step)
        ]
        known = known_values(parts)
        return SliceRef(*parts) if known is None else Static(slice(*known))
    if isinstance(node, gast.Tuple):
        return TupleRef(
            tuple(
                item
                for elt in node.elts
                for item in (
                    containers.unpack(low, evaluate_known(low, elt.value))
                    if isinstance(elt, gast.Starred)
                    else [evaluate_index(low, elt)]
                )
            )
        )
    return evaluate(low, node)


def fstring(low: Lowering, values: list[Any]) -> Abstract:
    """An f-string."""
    parts: list[Atom] = []
    for part in values:
        if isinstance(part, gast.Constant):
            parts.append(Literal(part.value))
            continue
        spec = NONE if part.format_spec is None else fstring(low, part.format_spec.values)
        shown = low.peek(evaluate(low, part.value))
        spec_atom = (
            Literal("") if isinstance(spec, Static) and spec.value is None else low.atom(spec)
        )
        parts.append(low.builder.apply(format_value, shown, Literal(part.conversion), spec_atom))
    known = literal_values(parts)
    if known is not None:
        return Static("".join(known))
    return containers.wrap(low, low.builder.apply(make_fstring, *parts))


# ---- functions and calls


def make_closure(low: Lowering, name: str, node: Any) -> Closure:
    """A function defined here: its defaults are evaluated now, its body when it is called."""
    low.frame.keeps = True
    args = node.args
    defaults = tuple(evaluate(low, d) for d in args.defaults)
    keyword = tuple(None if d is None else evaluate(low, d) for d in args.kw_defaults)
    return Closure(name, node, low.frame, defaults, keyword)


def call_expression(
    low: Lowering, func: Any, args: list[Any], keywords: list[Any], node: Any
) -> Abstract:
    """A call as written: arguments in order, stars unpacked."""
    lazily = comprehensions.reduce_generator(low, func, args, keywords)
    if lazily is not None:
        return lazily
    callee = evaluate(low, func)
    if isinstance(callee, Static) and callee.value is zip:
        match args:
            case [gast.Starred(value=rows)] if all(k.arg for k in keywords):
                given = evaluate_known(low, rows)
                strict = {k.arg: evaluate(low, k.value) for k in keywords}
                return iterables.zip_rows(low, given, strict)
    positional: list[Abstract] = []
    for arg in args:
        if isinstance(arg, gast.Starred):
            positional += containers.unpack(low, evaluate_known(low, arg.value))
        elif takes_known(callee):
            positional.append(evaluate_known(low, arg))
        elif isinstance(arg, gast.GeneratorExp) and iterables.takes_all(callee):
            positional.append(comprehensions.list_of(low, arg))
        else:
            positional.append(evaluate(low, arg))
    named: dict[str, Abstract] = {}
    for keyword in keywords:
        if keyword.arg is None:
            for key, value in containers.entries(low, evaluate(low, keyword.value)):
                named[key] = value
        else:
            named[keyword.arg] = evaluate(low, keyword.value)
    low.nodes.append(node)
    try:
        return calls.call(low, callee, positional, named)
    finally:
        low.nodes.pop()


def evaluate_manager(low: Lowering, node: Any) -> Abstract:
    """The context manager of a ``with``: made by a call that is not looked into."""
    if not isinstance(node, gast.Call):
        manager = evaluate(low, node)
        if isinstance(manager, ObjectRef) and may_suppress(manager.cls):
            low.refuse(*refusal("suppressing manager", name=manager.cls.__name__), node)
        return manager
    callee = evaluate(low, node.func)
    if not isinstance(callee, Static):
        low.refuse(*refusal("manager made here"))
    if callee.value is contextlib.suppress:
        return callee
    if callee.value is contextlib.nullcontext:
        return TupleRef((evaluate(low, node.args[0]) if node.args else NONE,))
    if may_suppress(callee.value):
        name = getattr(callee.value, "__name__", "this manager")
        low.refuse(*refusal("suppressing manager", name=name), node)
    values = [evaluate(low, a) for a in node.args]
    named = {k.arg: evaluate(low, k.value) for k in node.keywords}
    if not all(map(calls.is_inert, (*values, *named.values()))):
        if not isinstance(callee.value, type):
            low.refuse(*refusal("generated manager"), node)
        return calls.call(low, callee, values, named)
    args = [low.atom(v) for v in values]
    keywords = {k: low.atom(v) for k, v in named.items()}
    manager = Value("", OBJECT)
    low.builder.effect(callee.value, *args, result=manager, **keywords)
    return manager
