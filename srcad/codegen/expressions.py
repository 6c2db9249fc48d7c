"""Expressions: operations and atoms as syntax."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcad import runtime
from srcad.codegen.globals import GlobalNames
from srcad.codegen.literals import call, constant, dotted, literal, name
from srcad.codegen.names import Variables
from srcad.codegen.nest import Nested
from srcad.ir.core import (
    Apply,
    Atom,
    Effect,
    If,
    Literal,
    Update,
    Value,
    View,
    format_value,
    make_dict,
    make_fstring,
    make_list,
    make_tuple,
    select,
)
from srcad.ir.infer import atom_type
from srcad.ir.samples import draws
from srcad.ir.tree import is_made_by_call
from srcad.ir.types import BOOL, Array, Number, NumPyScalar

_OPERATORS = {
    "add": gast.Add, "sub": gast.Sub, "mul": gast.Mult, "truediv": gast.Div,
    "floordiv": gast.FloorDiv, "mod": gast.Mod, "pow": gast.Pow, "matmul": gast.MatMult,
    "and": gast.BitAnd, "or": gast.BitOr, "xor": gast.BitXor, "lshift": gast.LShift,
    "rshift": gast.RShift,
}  # fmt: skip

_BINARY: dict[int, type] = {
    id(getattr(operator, f"__{key}__")): node for key, node in _OPERATORS.items()
}

IN_PLACE: dict[int, type] = {
    id(getattr(operator, f"i{key}")): node for key, node in _OPERATORS.items()
}
"""Callees of updates that print as augmented assignment."""

_COMPARE: dict[int, type] = {
    id(getattr(operator, key)): node
    for key, node in {
        "lt": gast.Lt, "le": gast.LtE, "gt": gast.Gt, "ge": gast.GtE, "eq": gast.Eq,
        "ne": gast.NotEq, "is_": gast.Is, "is_not": gast.IsNot,
    }.items()
}  # fmt: skip

_OF_BOOLS: dict[int, type] = {id(operator.and_): gast.And, id(operator.or_): gast.Or}
"""Of what is `True` or `False` they say the same as the operators `and` and `or`.

These are branches, though, and a compiler vectorises loops without: compiled code has `&` and `|`.
"""

_ATTRIBUTES: dict[int, str] = {id(np.shape): "shape", id(np.size): "size"}
"""What an array has as an attribute, which takes a fifth of the time of the function."""

_PLAIN = (bool, int, float, str)

_UNARY: dict[int, type] = {
    id(operator.neg): gast.USub,
    id(operator.pos): gast.UAdd,
    id(operator.invert): gast.Invert,
    id(operator.not_): gast.Not,
}

_NEGATED: dict[type, type] = {
    gast.Is: gast.IsNot,
    gast.IsNot: gast.Is,
    gast.In: gast.NotIn,
    gast.NotIn: gast.In,
}


def negate(test: Any) -> Any:
    """``not test``, without a double negation."""
    match test:
        case gast.UnaryOp(op=gast.Not(), operand=inner):
            return inner
        case gast.Compare(ops=[op]) if type(op) in _NEGATED:
            return gast.Compare(test.left, [_NEGATED[type(op)]()], test.comparators)
        case gast.Constant(value=bool() as value):
            return constant(not value)
    return gast.UnaryOp(gast.Not(), test)


def is_method(callee: Callable[..., Any]) -> bool:
    """Whether a callee is a method of a built-in type, called on its first argument."""
    owner = getattr(callee, "__objclass__", None) or draws(callee)
    return owner is not None and callable(callee) and not isinstance(callee, type)


def is_attribute(callee: Any) -> bool:
    """Whether a callee is an attribute of a built-in type, read from its only argument."""
    return getattr(callee, "__objclass__", None) is not None and not callable(callee)


def width(node: Any) -> int:
    """About how many characters an expression takes."""
    match node:
        case gast.Name(id=identifier):
            return len(identifier)
        case gast.Constant(value=value):
            return len(repr(value))
        case gast.Attribute(value=value, attr=attribute):
            return width(value) + 1 + len(attribute)
        case gast.IfExp():
            return width(node.test) + width(node.body) + width(node.orelse) + 10
    total = 0
    for child in gast.iter_child_nodes(node):
        total += width(child) + 2
    return total


@functools.cache
def _defaults(callee: Callable[..., Any]) -> dict[str, Any]:
    """The default values of keywords, where the callee tells them."""
    try:
        parameters = inspect.signature(callee).parameters
    except (TypeError, ValueError):
        return {}
    return {k: p.default for k, p in parameters.items()}


def _is_default(callee: Callable[..., Any], keyword: str, atom: Atom) -> bool:
    """Whether a NumPy function would take this value for a keyword anyway."""
    if not isinstance(atom, Literal) or not (atom.value is None or type(atom.value) in _PLAIN):
        return False
    if not (getattr(callee, "__module__", None) or "").startswith("numpy"):
        return False
    default = _defaults(callee).get(keyword, inspect.Parameter.empty)
    return type(default) is type(atom.value) and default == atom.value


def _is_number(atom: Atom) -> bool:
    if isinstance(atom, Literal):
        return isinstance(atom.value, (int, float, complex))
    return isinstance(atom.type, (Number, NumPyScalar))


def _is_array(atom: Atom) -> bool:
    """Whether an atom is an array for certain: one without axes may be a number."""
    return isinstance(atom, Value) and isinstance(atom.type, Array) and bool(atom.type.dims)


class Expressions:
    """Builds the expressions of one function."""

    def __init__(
        self,
        variables: Variables,
        nested: dict[Value, Nested],
        names: GlobalNames,
        compiled: bool = False,
    ) -> None:
        """``compiled``: a compiler reads them."""
        self.variables = variables
        self.nested = nested
        self.names = names
        self.of_bools = {} if compiled else _OF_BOOLS

    def atom(self, atom: Atom) -> Any:
        """A literal, a variable, or the expression nested here."""
        if isinstance(atom, Literal):
            return literal(atom.value, self.names)
        op = self.nested.get(atom)
        return name(self.variables[atom]) if op is None else self.nested_operation(op)

    def nested_operation(self, op: Nested) -> Any:
        """An operation as an expression."""
        match op:
            case Apply() | Effect():
                return self.operation(op)
            case If():
                return self.choice(op.test, op.then.yields[0], op.orelse.yields[0])
            case Update():
                return self.call(op.callee, (op.version, *op.args))

    def choice(self, test: Atom, then: Atom, orelse: Atom) -> Any:
        """``then if test else orelse``, or the boolean operator that says the same."""
        if then is test:
            return gast.BoolOp(gast.Or(), [self.atom(test), self.atom(orelse)])
        if orelse is test:
            return gast.BoolOp(gast.And(), [self.atom(test), self.atom(then)])
        return gast.IfExp(self.atom(test), self.atom(then), self.atom(orelse))

    def operation(self, op: Apply | Effect) -> Any:
        """The right side of an operation."""
        callee, args = op.callee, op.args
        key = id(callee)
        if not op.keywords:
            if len(args) == 2:
                if key in self.of_bools and [atom_type(a) for a in args] == [BOOL, BOOL]:
                    return gast.BoolOp(self.of_bools[key](), [self.atom(a) for a in args])
                if key in _BINARY:
                    return gast.BinOp(self.atom(args[0]), _BINARY[key](), self.atom(args[1]))
                if key in _COMPARE:
                    return gast.Compare(self.atom(args[0]), [_COMPARE[key]()], [self.atom(args[1])])
                if callee is operator.getitem:
                    return gast.Subscript(self.atom(args[0]), self.index(args[1]), gast.Load())
                if callee is operator.contains:
                    return gast.Compare(self.atom(args[1]), [gast.In()], [self.atom(args[0])])
                if callee is getattr and self._is_attribute_name(args[1]):
                    assert isinstance(args[1], Literal)
                    return gast.Attribute(self.atom(args[0]), args[1].value, gast.Load())
            elif len(args) == 1:
                if key in _UNARY:
                    if callee is operator.not_:
                        return self.negated(args[0])
                    return gast.UnaryOp(_UNARY[key](), self.atom(args[0]))
                if key in _ATTRIBUTES and _is_array(args[0]):
                    return gast.Attribute(self.atom(args[0]), _ATTRIBUTES[key], gast.Load())
                if is_attribute(callee):
                    return gast.Attribute(self.atom(args[0]), callee.__name__, gast.Load())
            display = self._display(callee, args)
            if display is not None:
                return display
        return self.call(callee, args, op.keywords)

    def call(
        self,
        callee: Callable[..., Any],
        args: tuple[Atom, ...],
        keywords: tuple[tuple[str, Atom], ...] = (),
    ) -> Any:
        """A call of a function or method."""
        arguments = [self.atom(a) for a in args]
        keywords = tuple(p for p in keywords if not _is_default(callee, *p))
        pairs = [(k, self._keyword(k, a)) for k, a in keywords]
        if is_method(callee) and args and not isinstance(args[0], Literal):
            return call(
                gast.Attribute(arguments[0], callee.__name__, gast.Load()), arguments[1:], pairs
            )
        if callee is operator.call:
            return call(arguments[0], arguments[1:], pairs)
        return call(self.callee(callee), arguments, pairs)

    def viewed(self, base: Any, path: tuple[View, ...]) -> Any:
        """The view of an array that a path leads to."""
        for step in path:
            if step.callee is operator.getitem:
                base = gast.Subscript(base, self.index(step.args[0]), gast.Load())
            elif is_attribute(step.callee):
                base = gast.Attribute(base, step.callee.__name__, gast.Load())
            else:
                arguments = [self.atom(a) for a in step.args]
                pairs = [(k, self.atom(a)) for k, a in step.keywords]
                if is_method(step.callee):
                    method = gast.Attribute(base, step.callee.__name__, gast.Load())
                    base = call(method, arguments, pairs)
                else:
                    base = call(self.callee(step.callee), [base, *arguments], pairs)
        return base

    def _keyword(self, keyword: str, atom: Atom) -> Any:
        """The value of a keyword: NumPy takes ``np.float64`` for the dtype it stands for."""
        if keyword == "dtype" and isinstance(atom, Literal) and isinstance(atom.value, np.dtype):
            scalar = atom.value.type
            if np.dtype(scalar) == atom.value:
                return self.atom(Literal(scalar))
        return self.atom(atom)

    def negated(self, atom: Atom) -> Any:
        """``not atom``; of numbers ``a != b`` says the same as ``not a == b``, even of nan."""
        op = self.nested.get(atom) if isinstance(atom, Value) else None
        if isinstance(op, Apply) and all(map(_is_number, op.args)):
            opposite = {operator.eq: operator.ne, operator.ne: operator.eq}.get(op.callee)
            if opposite is not None:
                node = _COMPARE[id(opposite)]()
                return gast.Compare(self.atom(op.args[0]), [node], [self.atom(op.args[1])])
        return negate(self.atom(atom))

    def callee(self, callee: Callable[..., Any]) -> Any:
        """A function by name."""
        return dotted(self.names.path(callee))

    def index(self, atom: Atom) -> Any:
        """What stands between brackets."""
        if isinstance(atom, Literal):
            return self._index_literal(atom.value)
        op = self.nested.get(atom)
        if isinstance(op, Apply) and not op.keywords:
            if op.callee is make_tuple and op.args:
                items = [self.index(a) for a in op.args]
                return gast.Tuple(items, gast.Load())
            if op.callee is slice:
                return self._slice(op.args)
        return self.atom(atom)

    def _index_literal(self, value: Any) -> Any:
        if isinstance(value, slice):
            return self._slice(tuple(map(Literal, (value.start, value.stop, value.step))))
        if type(value) is tuple and value:
            return gast.Tuple([self._index_literal(v) for v in value], gast.Load())
        return literal(value, self.names)

    def _slice(self, args: tuple[Atom, ...]) -> Any:
        bounds = (Literal(None), *args) if len(args) == 1 else args
        nodes = [
            None if isinstance(a, Literal) and a.value is None else self.atom(a)
            for a in (*bounds, Literal(None))[:3]
        ]
        return gast.Slice(*nodes)

    def _is_attribute_name(self, atom: Atom) -> bool:
        return (
            isinstance(atom, Literal) and isinstance(atom.value, str) and atom.value.isidentifier()
        )

    def _display(self, callee: Callable[..., Any], args: tuple[Atom, ...]) -> Any:
        if callee is make_tuple:
            return gast.Tuple([self.atom(a) for a in args], gast.Load())
        if callee is make_list:
            return gast.List([self.atom(a) for a in args], gast.Load())
        if callee is make_dict:
            return gast.Dict([self.atom(a) for a in args[::2]], [self.atom(a) for a in args[1::2]])
        if callee is select:
            test, then, orelse = map(self.atom, args)
            return gast.IfExp(test, then, orelse)
        if callee is runtime.dataclass_of:
            return self._instance(*args)
        if callee is make_fstring:
            return gast.JoinedStr([self._fstring_part(a) for a in args])
        if callee is format_value:
            return gast.JoinedStr([self._replacement(args)])
        return None

    def _instance(self, cls: Atom, fields: Atom) -> Any:
        """A call of a dataclass that does nothing but keep its arguments."""
        op = self.nested.get(fields) if isinstance(fields, Value) else None
        if not isinstance(cls, Literal) or not isinstance(op, Apply) or op.callee is not make_dict:
            return None
        keys = [a.value for a in op.args[::2] if isinstance(a, Literal)]
        if not is_made_by_call(cls.value, keys):
            return None
        pairs = [(k, self.atom(a)) for k, a in zip(keys, op.args[1::2], strict=True)]
        return call(self.atom(cls), [], pairs)

    def _fstring_part(self, atom: Atom) -> Any:
        if isinstance(atom, Literal) and isinstance(atom.value, str):
            return constant(atom.value)
        if isinstance(atom, Value):
            op = self.nested.get(atom)
            if isinstance(op, Apply) and op.callee is format_value:
                return self._replacement(op.args)
        return gast.FormattedValue(self.atom(atom), -1, None)

    def _replacement(self, args: tuple[Atom, ...]) -> Any:
        value, conversion, spec = args
        assert isinstance(conversion, Literal)
        if isinstance(spec, Literal):
            pieces = [constant(spec.value)] if spec.value else []
        else:
            op = self.nested.get(spec)
            composed = isinstance(op, Apply) and op.callee is make_fstring
            inner = op.args if isinstance(op, Apply) and composed else (spec,)
            pieces = [self._fstring_part(a) for a in inner]
        return gast.FormattedValue(
            self.atom(value), conversion.value, gast.JoinedStr(pieces) if pieces else None
        )
