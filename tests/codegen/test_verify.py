"""The verifier accepts what is valid and names what is not."""

import operator

import pytest

from srcad.ir.core import (
    UNDEFINED,
    Accumulate,
    Apply,
    Block,
    Call,
    Effect,
    For,
    Function,
    FunctionRef,
    If,
    Items,
    Literal,
    Range,
    Update,
    Value,
    While,
    check_bound,
    make_tuple,
)
from srcad.ir.types import BOOL, FLOAT, INT, ListType
from srcad.ir.verify import InvalidIR, verify

FLOATS = ListType(FLOAT)


def value(hint="", kind=FLOAT):
    return Value(hint, kind)


x, test, xs = value("x"), value("test", BOOL), value("xs", FLOATS)


def function(*ops, yields=(x,)):
    return Function("f", (x, test, xs), Block((), ops, yields))


def double(operand, result):
    return Apply(operator.add, (operand, operand), (), result)


def push(target, version):
    return Update(list.append, target, (x,), version)


def loop(body, carried=(), results=(), stops=False):
    return For((Items(Literal((1, 2))),), carried, body, results, stops)


t, u, v, w = value("t"), value("u"), value("v"), value("w")
ys, zs = value("ys", FLOATS), value("zs", FLOATS)
NOTHING = Block((), (), ())

VALID = {
    "straight line": function(double(x, t), double(t, u), yields=(u,)),
    "undefined is handed on": function(
        If(test, Block((), (), (x,)), Block((), (), (UNDEFINED,)), (t,)),
        Effect(check_bound, (t, Literal("t")), (), None),
        Apply(make_tuple, (UNDEFINED, t), (), u),
        yields=(u,),
    ),
    "one update on each side of a branch": function(
        If(test, Block((), (push(xs, ys),), (ys,)), Block((), (push(xs, zs),), (zs,)), (w,)),
        yields=(w,),
    ),
    "an accumulation leaves its target": function(
        Accumulate(x, None, x, t), Accumulate(x, None, t, u), yields=(t, u)
    ),
    "a loop hands on a list": function(
        loop(Block((t, ys), (push(ys, zs),), (zs,)), (xs,), (w,)), yields=(w,)
    ),
}

INVALID = {
    "is undefined": function(double(t, u)),
    "is defined twice": function(double(x, t), double(x, t)),
    "outside the block that defines it": function(
        If(test, Block((), (double(x, t),), ()), NOTHING, ()), yields=(t,)
    ),
    "read after it was written over": function(push(xs, ys), yields=(xs,)),
    "written over in a loop": function(loop(Block((t,), (push(xs, ys),), ()))),
    "0 yields of a branch, expected 1": function(
        If(test, Block((), (), (x,)), NOTHING, (t,)), yields=(t,)
    ),
    "parameters of the body": function(loop(Block((), (), ()))),
    "yields of the body": function(loop(Block((t,), (), ()), stops=True)),
    "1 results, expected 0": function(loop(Block((t,), (), ()), results=(u,))),
    "yields of the test": function(While((), NOTHING, NOTHING, ())),
    "step 0": function(
        For((Range(Literal(0), Literal(3), Literal(0)),), (), Block((t,), (), ()), ())
    ),
    "UNDEFINED is computed with": function(double(UNDEFINED, t)),
    "holds a part of the IR": function(double(Literal((x,)), t)),
    "neither a value nor a literal": function(double(3.0, t)),
    "bad keywords": function(Apply(sum, (xs,), (("a b", x),), t)),
    "cannot be called": function(Apply(3, (), (), t)),
}


@pytest.mark.parametrize("name", VALID)
def test_valid(name):
    verify(VALID[name])


@pytest.mark.parametrize("message", INVALID)
def test_invalid(message):
    with pytest.raises(InvalidIR, match=message) as caught:
        verify(INVALID[message])
    assert "function f(x" in str(caught.value) or "cannot be written" in str(caught.value)


def test_a_read_in_the_other_branch_is_no_read_after():
    sides = Block((), (push(xs, ys),), (ys,)), Block((), (), (xs,))
    verify(function(If(test, *sides, (w,)), yields=(w,)))
    with pytest.raises(InvalidIR, match="written over"):
        verify(function(If(test, *sides, (w,)), yields=(w, xs)))


def test_calls_agree_with_what_they_call():
    ref = FunctionRef("g")
    ref.function = Function("g", (v,), Block((), (), (v, v)))
    results = value("p"), value("q")
    verify(function(Call(ref, (x,), results), yields=results))
    with pytest.raises(InvalidIR, match="2 arguments of g, expected 1"):
        verify(function(Call(ref, (x, x), results)))
    with pytest.raises(InvalidIR, match="1 results of g, expected 2"):
        verify(function(Call(ref, (x,), results[:1])))


def test_the_kind_of_a_counter_does_not_matter():
    i = value("i", INT)
    verify(function(For((Range(Literal(0), Literal(3), Literal(1)),), (), Block((i,), (), ()), ())))
