"""Differentials are linear by their text, so that a compiler can transpose them.

A value is *tangent* if it depends on a differential. Of tangent values a body may take sums and
differences, products with and quotients by others, and functions in arguments in which they are
declared linear; nothing else, and no constant term.
"""

import inspect
import textwrap

import gast
import numpy as np
import pytest

from srcad import rules
from tests.rules.test_rules import METHODS_OF_LISTS, _resolve, scope_of

SHAPE_ONLY = {"shape", "ndim", "dtype", "size"}


class Reader:
    """Reads one body. `tangent` tells whether an expression is, and raises if one is misused."""

    def __init__(self, body):
        self.scope = scope_of(body)
        self.tree = gast.parse(textwrap.dedent(inspect.getsource(body))).body[0]
        self.names = {}
        self.returned = 0

    def read(self, differentials):
        self.names = {n: True for n in differentials}
        self.statements(self.tree.body)
        assert self.returned

    def statements(self, body):
        for statement in body:
            self.statement(statement)

    def statement(self, node):
        match node:
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Tuple(elts=values)):
                for target, found in zip(targets, list(map(self.tangent, values)), strict=True):
                    self.bind(target, found)
            case gast.Assign(targets=[target], value=value):
                self.bind(target, self.tangent(value))
            case gast.If(test=test, body=body, orelse=orelse):
                assert not self.tangent(test), self.text(test)
                self.statements(body)
                self.statements(orelse)
            case gast.Return(value=value):
                self.returned += 1
                parts = value.elts if isinstance(value, gast.Tuple) else [value]
                for part in parts:
                    assert self.tangent(part) or self.zero(part), f"constant: {self.text(part)}"
            case gast.Expr(value=gast.Constant()) | gast.Raise():
                pass
            case _:
                raise AssertionError(self.text(node))

    def bind(self, target, tangent):
        match target:
            case gast.Name(id=name):
                self.names[name] = self.names.get(name, False) or tangent
            case gast.Tuple(elts=elts):
                for t in elts:
                    self.bind(t, tangent)
            case _:
                raise AssertionError(self.text(target))

    def bind_items(self, target, iterable):
        match iterable:
            case gast.Call(func=gast.Name(id="zip"), args=args):
                for t, arg in zip(target.elts, args, strict=True):
                    self.bind(t, self.tangent(arg))
            case _:
                self.bind(target, self.tangent(iterable))

    @staticmethod
    def zero(node):
        return isinstance(node, gast.Constant) and node.value in (0, 0.0)

    @staticmethod
    def text(node):
        return gast.unparse(node)

    def tangent(self, node):
        match node:
            case gast.Name(id=name):
                return self.names.get(name, False)
            case gast.Constant():
                return False
            case gast.Attribute(value=value, attr=attr):
                return attr not in SHAPE_ONLY and self.tangent(value)
            case gast.UnaryOp(op=op, operand=operand):
                inner = self.tangent(operand)
                assert not inner or isinstance(op, gast.USub), self.text(node)
                return inner
            case gast.BinOp(left=left, op=op, right=right):
                a, b = self.tangent(left), self.tangent(right)
                match op:
                    case gast.Add() | gast.Sub():
                        assert a == b or self.zero(left) or self.zero(right), self.text(node)
                    case gast.Mult() | gast.MatMult():
                        assert not (a and b), self.text(node)
                    case gast.Div():
                        assert not b, self.text(node)
                    case _:
                        assert not (a or b), self.text(node)
                return a or b
            case gast.Subscript(value=value, slice=index):
                assert not self.tangent(index), self.text(node)
                return self.tangent(value)
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                return any([self.tangent(e) for e in elts])
            case gast.IfExp(test=test, body=body, orelse=orelse):
                assert not self.tangent(test), self.text(node)
                return any([self.tangent(body), self.tangent(orelse)])
            case (
                gast.ListComp(elt=elt, generators=[loop])
                | gast.GeneratorExp(elt=elt, generators=[loop])
            ):
                self.bind_items(loop.target, loop.iter)
                return self.tangent(elt)
            case gast.Starred(value=value):
                return self.tangent(value)
            case gast.Call(func=func, args=args, keywords=keywords):
                return self.call(node, func, args, keywords)
        plain = [self.tangent(n) for n in gast.iter_child_nodes(node) if isinstance(n, gast.expr)]
        assert not any(plain), self.text(node)
        return False

    def call(self, node, func, args, keywords):
        used = [self.tangent(a) for a in args] + [self.tangent(k.value) for k in keywords]
        function = _resolve(func, self.scope)
        if function is None:
            assert isinstance(func, gast.Attribute), self.text(node)
            inner = self.tangent(func.value)
            assert func.attr not in METHODS_OF_LISTS, self.text(node)
            if not inner:
                assert not any(used), self.text(node)
                return False
            function = getattr(np.ndarray, func.attr)
            args = [func.value, *args]
        elif not any(used):
            return False
        if function is sum:
            return True
        if function in (np.shape, np.ndim, np.size, np.iscomplexobj, np.zeros_like, len):
            return False
        rule = rules.lookup_transpose(function)
        if rule is None and getattr(function, "__module__", "").startswith("srcad.rules."):
            return self.helper(function, args, keywords, used)
        assert rule is not None, f"not declared linear: {self.text(node)}"
        bound = rule.parameters.bind(*args, **{k.arg: k.value for k in keywords}).arguments
        tangents = {n for n, a in bound.items() if not isinstance(a, tuple) and self.tangent(a)}
        assert tangents <= set(rule.wrt), f"not linear in this argument: {self.text(node)}"
        if rule.kind == "multilinear":
            assert len(tangents) == 1, f"product of differentials: {self.text(node)}"
        else:
            for name in set(rule.wrt) & set(bound) - tangents:
                assert self.zero(bound[name]), f"constant: {self.text(node)}"
        return True

    @staticmethod
    def helper(function, args, keywords, used):
        """A function of the rules themselves is read with the same arguments tangent."""
        names = list(inspect.signature(function).parameters)[: len(args)]
        names += [k.arg for k in keywords]
        inner = Reader(function)
        inner.read([n for n, t in zip(names, used, strict=True) if t])
        return True


def read(rule):
    names = rule.parameters.parameters
    Reader(rule.body).read({"d" + n for n in rule.wrt if n in names})


@pytest.mark.parametrize(
    "rule", [r for r in rules.rules() if r.kind == "differential"], ids=lambda r: r.name
)
def test_a_differential_is_linear_by_its_text(rule):
    read(rule)


def product(x, y, *, dx, dy):
    return x * dx * dy


def quotient(x, *, dx):
    return x / dx


def inside(x, *, dx):
    return np.sin(dx)


def constant_term(x, *, dx):
    return dx + x


def constant_alone(x, *, dx):
    return x


def condition(x, *, dx):
    return np.where(dx > 0, dx, 0)


def other_branch(x, *, dx):
    return np.where(x > 0, dx, x)


@pytest.mark.parametrize(
    "body", [product, quotient, inside, constant_term, constant_alone, condition, other_branch]
)
def test_what_is_not_linear_is_noticed(body):
    names = [n for n in inspect.signature(body).parameters if n in ("dx", "dy")]
    with pytest.raises(AssertionError):
        Reader(body).read(names)
