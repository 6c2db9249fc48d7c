"""Random functions of the IR, valid by construction, made to be hard to print right.

There are two kinds of memory, as in the IR that the compiler makes.  *Pure* values (numbers,
arrays, tuples) are used any number of times; an ``Accumulate`` may target them whoever else still
reads them.  *Buffers* (lists, arrays) are written by ``Update``, so a version is not read once the
next one exists, nor are its views; loops and branches hand buffers on, and may swap them.
"""

import operator
import random
from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.ir.core import (
    UNDEFINED,
    Accumulate,
    Apply,
    Block,
    Effect,
    For,
    Function,
    Handler,
    If,
    Items,
    Literal,
    Loc,
    Range,
    Try,
    Update,
    Value,
    While,
    make_list,
    make_tuple,
    raise_error,
    select,
)
from srcad.ir.types import BOOL, FLOAT, INT, Array, ListType, NumPyScalar, Opaque, TupleType

A = Array("float64", (3,))
MASK = Array("bool", (3,))
PAIR = TupleType((FLOAT, A))
FLOATS, ARRAYS, PAIRS = ListType(FLOAT), ListType(A), ListType(PAIR)
ERROR = Opaque("ValueError")

HINTS = [
    *[""] * 12,
    "x",
    "h",
    "h",
    "h2",
    "s",
    "x_bar",
    "h_bar",
    "np",
    "range",
    "_",
    "total",
    "x_dot",
]

log = []


def record(*args):
    """An effect: what it sees, and when, is compared."""
    log.append([np.copy(a) if isinstance(a, np.ndarray) else a for a in args])


class Scope:
    """What may be read; a buffer, which may be written, keeps its number when versions change."""

    def __init__(self, pure=(), buffers=None, views=(), frozen=()):
        self.pure = list(pure)
        self.buffers = dict(buffers or {})
        self.views = list(views)
        self.frozen = list(frozen)

    def child(self, numbers):
        """What a block inside may read, if it may write the buffers of these numbers."""
        frozen = [*self.frozen, *(b for n, b in self.buffers.items() if n not in numbers)]
        views = [(v, n) for v, n in self.views if n not in numbers]
        return Scope(self.pure, {n: self.buffers[n] for n in numbers}, views, frozen)

    def replace(self, number, version):
        self.buffers[number] = version
        self.views = [(v, n) for v, n in self.views if n != number]

    def readable(self):
        return [*self.buffers.values(), *self.frozen]


class Generator:
    def __init__(self, seed, size):
        self.random = random.Random(seed)
        self.left = size
        self.line = 0
        self.numbers = 0

    # ---- small parts

    def chance(self, p):
        return self.random.random() < p

    def value(self, kind, hint=None):
        return Value(self.random.choice(HINTS) if hint is None else hint, kind)

    def loc(self):
        self.line += 1
        return Loc(
            "f.py", self.line // 2, 0, f"statement {self.line // 2}", self.random.choice((0, 1))
        )

    def apply(self, ops, callee, args, kind, keywords=()):
        result = self.value(kind)
        ops.append(Apply(callee, tuple(args), tuple(keywords), result, self.loc()))
        return result

    def pick(self, scope, ops, kind):
        """A pure value of a kind; a view of a buffer counts, while the buffer is not written."""
        found = [
            v
            for v in scope.pure
            if v.type == kind or (kind is FLOAT and v.type == NumPyScalar("float64"))
        ]
        if kind == A:
            found += [v for v, _ in scope.views] + [b for b in scope.readable() if b.type == A]
        if found and self.chance(0.9):
            return self.random.choice(found[-6:] if self.chance(0.6) else found)
        if kind is FLOAT:
            return Literal(round(self.random.uniform(-2, 2), 2))
        if kind is INT:
            return Literal(self.random.randrange(3))
        if kind is BOOL:
            return self.test(scope, ops)
        if kind == A:
            return self.apply(ops, np.full, (Literal((3,)), self.pick(scope, ops, FLOAT)), A)
        assert kind == PAIR
        return self.apply(
            ops, make_tuple, (self.pick(scope, ops, FLOAT), self.pure_array(scope, ops)), PAIR
        )

    def pure_array(self, scope, ops):
        """An array that no update writes, so that it may be stored."""
        found = [v for v in scope.pure if v.type == A]
        if found:
            return self.random.choice(found)
        return self.apply(ops, np.full, (Literal((3,)), self.pick(scope, ops, FLOAT)), A)

    def test(self, scope, ops):
        callee = self.random.choice((operator.lt, operator.ge))
        return self.apply(
            ops, callee, (self.pick(scope, ops, FLOAT), self.pick(scope, ops, FLOAT)), BOOL
        )

    def keep(self, scope, value):
        scope.pure.append(value)
        return value

    # ---- statements

    def block(self, scope, depth):
        ops = []
        for _ in range(self.random.randrange(1, 6)):
            if self.left <= 0:
                break
            self.left -= 1
            self.statement(scope, ops, depth)
        return ops

    def statement(self, scope, ops, depth):
        makers = [
            self.number,
            self.number,
            self.array,
            self.array,
            self.accumulate,
            self.accumulate,
        ]
        makers += [
            self.buffer,
            self.write,
            self.write,
            self.read,
            self.read,
            self.effect,
            self.tuple,
        ]
        makers += [self.stale, self.pop_and_use, self.boolean, self.copy, self.copy]
        if depth < 3:
            makers += [
                self.branch,
                self.for_loop,
                self.for_loop,
                self.while_loop,
                self.maybe,
                self.attempt,
                self.walk,
            ]
        self.random.choice(makers)(scope, ops, depth)

    def number(self, scope, ops, depth):
        pick = lambda: self.pick(scope, ops, FLOAT)
        match self.random.randrange(6):
            case 0:
                out = self.apply(ops, operator.add, (pick(), pick()), FLOAT)
            case 1:
                out = self.apply(ops, operator.sub, (pick(), pick()), FLOAT)
            case 2:
                out = self.apply(ops, operator.mul, (pick(), Literal(0.5)), FLOAT)
            case 3:
                out = self.apply(ops, operator.neg, (pick(),), FLOAT)
            case 4:
                out = self.apply(ops, np.sum, (self.pick(scope, ops, A),), NumPyScalar("float64"))
            case 5:
                test = self.pick(scope, ops, BOOL)
                out = self.apply(ops, select, (test, pick(), pick()), FLOAT)
        self.keep(scope, out)

    def array(self, scope, ops, depth):
        pick = lambda: self.pick(scope, ops, A)
        match self.random.randrange(8):
            case 0:
                out = self.apply(ops, operator.add, (pick(), pick()), A)
            case 1:
                out = self.apply(ops, np.subtract, (pick(), pick()), A)
            case 2:
                out = self.apply(ops, operator.mul, (pick(), Literal(0.5)), A)
            case 3:
                out = self.apply(ops, np.zeros_like, (pick(),), A)
            case 4:
                number = self.pick(scope, ops, FLOAT)
                out = self.apply(ops, np.broadcast_to, (number, Literal((3,))), A)
            case 5:
                source = self.pure_array(scope, ops)
                out = self.apply(ops, operator.getitem, (source, Literal(slice(None, None, -1))), A)
            case 6:
                out = self.apply(ops, np.reshape, (self.pure_array(scope, ops), Literal((3,))), A)
            case 7:
                out = self.apply(ops, np.ndarray.copy, (pick(),), A)
        self.keep(scope, out)

    def index(self, scope, ops):
        match self.random.randrange(6):
            case 0:
                return self.pick(scope, ops, INT)
            case 1:
                return Literal(slice(1, None))
            case 2:
                return Literal([0, 0, 2])
            case 3:
                return self.apply(ops, np.greater, (self.pick(scope, ops, A), Literal(0.0)), MASK)
            case 4:
                return Literal(Ellipsis)
            case 5:
                return self.apply(
                    ops, slice, (self.pick(scope, ops, INT), Literal(3)), Opaque("slice")
                )

    def accumulate(self, scope, ops, depth):
        if self.chance(0.3):
            target, term = self.pick(scope, ops, FLOAT), self.pick(scope, ops, FLOAT)
            version = self.value(FLOAT)
            ops.append(Accumulate(target, None, term, version, self.loc()))
        elif self.chance(0.5):
            target, term = self.pure_array(scope, ops), self.pick(scope, ops, A)
            if self.chance(0.3):
                term = self.apply(ops, operator.neg, (term,), A)
            version = self.value(A)
            ops.append(Accumulate(target, None, term, version, self.loc()))
        else:
            target, term = self.pure_array(scope, ops), self.pick(scope, ops, FLOAT)
            index = self.index(scope, ops)
            version = self.value(A)
            ops.append(Accumulate(target, index, term, version, self.loc()))
        self.keep(scope, version)

    def tuple(self, scope, ops, depth):
        pairs = [v for v in scope.pure if v.type == PAIR]
        if not pairs or self.chance(0.3):
            self.keep(scope, self.pick(scope, ops, PAIR))
            return
        pair = self.random.choice(pairs)
        for place, kind in enumerate((FLOAT, A)):
            if self.chance(0.8):
                self.keep(scope, self.apply(ops, operator.getitem, (pair, Literal(place)), kind))

    def effect(self, scope, ops, depth):
        args = [self.pick(scope, ops, self.random.choice((FLOAT, A)))]
        if self.chance(0.5):
            args.append(self.pick(scope, ops, FLOAT))
        ops.append(Effect(record, tuple(args), (), None, self.loc()))

    # ---- buffers

    def buffer(self, scope, ops, depth):
        kind = self.random.choice((FLOATS, ARRAYS, PAIRS, A))
        if kind == A:
            made = self.apply(ops, np.add, (self.pick(scope, ops, A), Literal(1.0)), A)
        elif kind == FLOATS:
            made = self.apply(ops, make_list, (self.pick(scope, ops, FLOAT), Literal(1.5)), kind)
        elif kind == ARRAYS:
            made = self.apply(ops, make_list, (self.pure_array(scope, ops),), kind)
        else:
            made = self.apply(ops, make_list, (self.pick(scope, ops, PAIR),), kind)
        self.numbers += 1
        scope.buffers[self.numbers] = made

    def update(self, scope, ops, number, callee, args, result=None):
        buffer = scope.buffers[number]
        version = self.value(buffer.type, buffer.hint if self.chance(0.7) else None)
        ops.append(Update(callee, buffer, tuple(args), version, result, self.loc()))
        scope.replace(number, version)

    def add_to_buffer(self, scope, ops, number, index, term):
        buffer = scope.buffers[number]
        version = self.value(buffer.type, buffer.hint)
        ops.append(Accumulate(buffer, index, term, version, self.loc()))
        scope.replace(number, version)

    def item(self, scope, ops, kind):
        if kind == FLOATS:
            return self.pick(scope, ops, FLOAT)
        return self.pure_array(scope, ops) if kind == ARRAYS else self.pick(scope, ops, PAIR)

    def write(self, scope, ops, depth):
        if not scope.buffers:
            self.buffer(scope, ops, depth)
            return
        number = self.random.choice(list(scope.buffers))
        kind = scope.buffers[number].type
        if kind == A:
            if self.chance(0.3):
                term = self.pick(scope, ops, A)
                self.update(scope, ops, number, operator.iadd, (Literal(Ellipsis), term))
                return
            index, term = self.index(scope, ops), self.pick(scope, ops, FLOAT)
            if self.chance(0.5):
                self.update(scope, ops, number, operator.setitem, (index, term))
            else:
                self.add_to_buffer(scope, ops, number, index, term)
            return
        item = self.item(scope, ops, kind)
        match self.random.randrange(4):
            case 0:
                self.update(scope, ops, number, list.append, (item,))
            case 1:
                self.update(scope, ops, number, operator.setitem, (Literal(-1), item))
            case 2:
                self.update(scope, ops, number, list.append, (item,))
                for _ in range(self.random.randrange(3)):
                    self.number(scope, ops, depth)
                popped = self.value(kind.item)
                self.update(scope, ops, number, list.pop, (), popped)
                self.keep(scope, popped)
            case 3 if kind != PAIRS:
                self.add_to_buffer(scope, ops, number, Literal(0), item)

    def copy(self, scope, ops, depth):
        """A copy of a buffer, which takes its place or stands beside it."""
        if not scope.buffers:
            self.buffer(scope, ops, depth)
            return
        number = self.random.choice(list(scope.buffers))
        buffer = scope.buffers[number]
        callee = np.ndarray.copy if buffer.type == A else runtime.copied
        made = self.value(buffer.type, buffer.hint if self.chance(0.5) else None)
        loc = replace(self.loc(), reverse=1)
        ops.append(Apply(callee, (buffer,), (), made, loc))
        if self.chance(0.5):
            scope.replace(number, made)
        else:
            self.numbers += 1
            scope.buffers[self.numbers] = made

    def read(self, scope, ops, depth):
        if not scope.readable():
            self.buffer(scope, ops, depth)
            return
        buffer = self.random.choice(scope.readable())
        if buffer.type == A:
            match self.random.randrange(3):
                case 0:
                    args = (buffer, self.pick(scope, ops, INT))
                    self.keep(
                        scope, self.apply(ops, operator.getitem, args, NumPyScalar("float64"))
                    )
                case 1:
                    view = self.apply(
                        ops, operator.getitem, (buffer, Literal(slice(None, None, -1))), A
                    )
                    number = [n for n, b in scope.buffers.items() if b is buffer]
                    scope.views.append((view, number[0] if number else None))
                case 2:
                    self.keep(scope, self.apply(ops, operator.mul, (buffer, Literal(0.5)), A))
        elif buffer.type == FLOATS and self.chance(0.4):
            self.keep(scope, self.apply(ops, sum, (buffer,), FLOAT))
        else:
            args = (buffer, Literal(self.random.choice((0, -1))))
            self.keep(scope, self.apply(ops, operator.getitem, args, buffer.type.item))

    def stale(self, scope, ops, depth):
        """A read before a write, used once, after it."""
        arrays = [n for n, b in scope.buffers.items() if b.type == A]
        if not arrays:
            self.buffer(scope, ops, depth)
            return
        number = self.random.choice(arrays)
        seen = self.value(A, "")
        callee = self.random.choice((operator.neg, np.tanh, np.ndarray.copy))
        ops.append(Apply(callee, (scope.buffers[number],), (), seen, self.loc()))
        index, term = self.index(scope, ops), self.pick(scope, ops, FLOAT)
        if self.chance(0.5):
            self.update(scope, ops, number, operator.setitem, (index, term))
        else:
            self.add_to_buffer(scope, ops, number, index, term)
        self.keep(scope, self.apply(ops, operator.add, (seen, Literal(1.0)), A))

    def pop_and_use(self, scope, ops, depth):
        """A pop whose result is used once, perhaps after the list is looked at again."""
        lists = [n for n, b in scope.buffers.items() if b.type == FLOATS]
        if not lists:
            self.buffer(scope, ops, depth)
            return
        number = self.random.choice(lists)
        self.update(scope, ops, number, list.append, (self.pick(scope, ops, FLOAT),))
        before = self.apply(ops, len, (scope.buffers[number],), INT)
        popped = self.value(FLOAT, self.random.choice(("", "x_bar")))
        self.update(scope, ops, number, list.pop, (), popped)
        other = self.pick(scope, ops, FLOAT)
        match self.random.randrange(5):
            case 0:
                other = self.apply(ops, len, (scope.buffers[number],), INT)
            case 1:
                other = before
            case 2:
                self.effect(scope, ops, depth)
            case 3:
                test = self.apply(ops, operator.lt, (popped, Literal(0.2)), BOOL)
                self.keep(scope, self.both(ops, test, self.pick(scope, ops, BOOL)))
                return
        match self.random.randrange(3):
            case 0:
                self.keep(scope, self.apply(ops, operator.sub, (other, popped), FLOAT))
            case 1:
                version = self.value(FLOAT)
                ops.append(Accumulate(other, None, popped, version, self.loc()))
                self.keep(scope, version)
            case 2:
                self.update(scope, ops, number, list.append, (popped,))

    def both(self, ops, test, other):
        """``test and other``, or ``test or other``."""
        sides = [Block((), (), (other,)), Block((), (), (test,))]
        if self.chance(0.5):
            sides.reverse()
        result = self.value(BOOL)
        ops.append(If(test, *sides, (result,), self.loc()))
        return result

    def boolean(self, scope, ops, depth):
        test, inner = self.pick(scope, ops, BOOL), scope.child(())
        body = []
        other = self.pick(inner, body, BOOL)
        if self.chance(0.4):
            other = self.both(body, other, self.pick(inner, body, BOOL))
        result = self.value(BOOL)
        sides = [Block((), tuple(body), (other,)), Block((), (), (test,))]
        if self.chance(0.5):
            sides.reverse()
        ops.append(If(test, *sides, (result,), self.loc()))
        self.keep(scope, result)

    # ---- control flow

    def yields(self, scope, ops, kinds):
        return [self.pure_array(scope, ops) if k == A else self.pick(scope, ops, k) for k in kinds]

    def some(self, scope):
        return [n for n in scope.buffers if self.chance(0.5)]

    def branch(self, scope, ops, depth, flagged=False):
        """An ``If``; with ``flagged`` its last result is a stop flag, which is returned."""
        test = self.pick(scope, ops, BOOL)
        numbers = self.some(scope)
        kinds = [self.random.choice((FLOAT, A)) for _ in range(self.random.randrange(3))]
        sides = []
        for side in range(2):
            inner = scope.child(numbers)
            body = self.block(inner, depth + 1)
            pure = self.yields(inner, body, kinds)
            flag = []
            if flagged and side == 1 and depth < 4 and self.chance(0.4):
                flag = [self.branch(inner, body, depth + 1, flagged=True)]
            elif flagged:
                flag = [Literal(side == 0) if self.chance(0.9) else self.pick(inner, body, BOOL)]
            versions = [inner.buffers[n] for n in numbers]
            sides.append(Block((), tuple(body), (*pure, *versions, *flag)))
        if self.chance(0.3):
            sides.reverse()
        results = [self.value(k) for k in kinds]
        versions = [self.value(scope.buffers[n].type, scope.buffers[n].hint) for n in numbers]
        flag = [self.value(BOOL)] if flagged else []
        ops.append(If(test, sides[0], sides[1], (*results, *versions, *flag), self.loc()))
        for number, version in zip(numbers, versions):
            scope.replace(number, version)
        scope.pure += results
        return flag[0] if flagged else None

    def for_loop(self, scope, ops, depth):
        self.loop(scope, ops, depth, is_while=False)

    def while_loop(self, scope, ops, depth):
        self.loop(scope, ops, depth, is_while=True)

    def streams(self, scope, ops, sources):
        """What a loop runs over, and its targets; ``sources`` are not written in the body."""
        streams, targets = [], []
        for _ in range(self.random.choice((1, 1, 2))):
            if sources and self.chance(0.6):
                source = self.random.choice(sources)
                streams.append(Items(source, self.chance(0.5)))
                kind = NumPyScalar("float64") if source.type == A else source.type.item
                targets.append(self.value(kind))
                if source.type != A and self.chance(0.3):
                    size = self.apply(ops, len, (source,), INT)
                    streams.insert(0, Range(Literal(0), size, Literal(1)))
                    targets.insert(0, self.value(INT))
            else:
                stop = self.random.choice((Literal(3), self.pick(scope, ops, INT)))
                streams.append(Range(Literal(0), stop, Literal(1)))
                targets.append(self.value(INT))
        return streams, targets

    def loop(self, scope, ops, depth, is_while):
        numbers = self.some(scope)
        buffers = [scope.buffers[n] for n in numbers]
        sources = [b for b in scope.readable() if b not in buffers]
        streams, targets = ([], []) if is_while else self.streams(scope, ops, sources)
        kinds = [self.random.choice((FLOAT, FLOAT, A)) for _ in range(self.random.randrange(4))]
        inits = self.yields(scope, ops, kinds)
        hints = [self.random.choice(HINTS) for _ in kinds]

        def fresh():
            pure = [self.value(k, h) for k, h in zip(kinds, hints)]
            return pure, [self.value(b.type, b.hint) for b in buffers]

        params, moved = fresh()
        inner = scope.child(numbers)
        inner.buffers = dict(zip(numbers, moved))
        inner.pure += [*(t for t in targets if t.type != INT), *params]
        body = self.block(inner, depth + 1)
        stops = self.chance(0.5)
        flag = []
        if stops:
            by_branch = self.chance(0.8)
            flag = [
                self.branch(inner, body, depth + 1, True)
                if by_branch
                else self.pick(inner, body, BOOL)
            ]
            if self.chance(0.2):
                inner.pure.append(flag[0])
        pure = self.yields(inner, body, kinds)
        following = self.shuffled([inner.buffers[n] for n in numbers])
        results, versions = fresh()
        if is_while:
            counter, step, counted, end = (self.value(INT) for _ in range(4))
            body.append(Apply(operator.add, (counter, Literal(1)), (), step, self.loc()))
            if stops and self.chance(0.7):
                body.insert(0, body.pop())
            tested, tested_buffers = fresh()
            test_ops = []
            if self.chance(0.4):
                self.effect(Scope(tested), test_ops, depth)
            going = self.apply(test_ops, operator.lt, (counted, Literal(3)), BOOL)
            test = Block((*tested, *tested_buffers, counted), tuple(test_ops), (going,))
            block = Block((*params, *moved, counter), tuple(body), (*pure, *following, step, *flag))
            carried = (*inits, *buffers, Literal(0))
            op = While(carried, test, block, (*results, *versions, end), stops, self.loc())
        else:
            block = Block((*targets, *params, *moved), tuple(body), (*pure, *following, *flag))
            carried = (*inits, *buffers)
            op = For(tuple(streams), carried, block, (*results, *versions), stops, self.loc())
        ops.append(op)
        for number, version in zip(numbers, versions):
            scope.replace(number, version)
        scope.pure += results

    def shuffled(self, buffers):
        """The buffers, perhaps with two of one kind swapped."""
        pairs = [
            (i, j)
            for i, a in enumerate(buffers)
            for j, b in enumerate(buffers[:i])
            if a.type == b.type
        ]
        if pairs and self.chance(0.5):
            i, j = self.random.choice(pairs)
            buffers[i], buffers[j] = buffers[j], buffers[i]
        return buffers

    def walk(self, scope, ops, depth):
        """A loop over a list that holds the very array that the loop adds to."""
        made = self.apply(ops, np.full, (Literal((3,)), self.pick(scope, ops, FLOAT)), A)
        other = self.pure_array(scope, ops)
        items = self.apply(ops, make_list, self.shuffled([made, other, made]), ARRAYS)
        target, total, version, result = (self.value(A) for _ in range(4))
        add = Accumulate(total, None, target, version, self.loc())
        body = Block((target, total), (add,), (version,))
        ops.append(For((Items(items),), (made,), body, (result,), False, self.loc()))
        scope.pure += [result, *([made] if self.chance(0.3) else [])]

    def maybe(self, scope, ops, depth):
        """A value that is bound in one branch only, and read in a branch of the same test."""
        test = self.pick(scope, ops, BOOL)
        kind = self.random.choice((FLOAT, A))
        inner = scope.child(())
        body = self.block(inner, depth + 1)
        bound = self.pure_array(inner, body) if kind == A else self.pick(inner, body, kind)
        maybe = self.value(kind)
        then = Block((), tuple(body), (bound,))
        ops.append(If(test, then, Block((), (), (UNDEFINED,)), (maybe,), self.loc()))
        for _ in range(self.random.randrange(3)):
            self.number(scope, ops, depth)
        if self.chance(0.4):
            # through a tape
            kind2 = TupleType((BOOL, kind))
            stored = self.apply(ops, make_tuple, (test, maybe), kind2)
            tape = self.apply(ops, make_list, (stored,), ListType(kind2))
            popped = self.value(kind2, "")
            ops.append(Update(list.pop, tape, (), self.value(tape.type), popped, self.loc()))
            test = self.apply(ops, operator.getitem, (popped, Literal(0)), BOOL)
            maybe = self.apply(ops, operator.getitem, (popped, Literal(1)), kind)
        out = self.value(kind)
        inner = scope.child(())
        inner.pure.append(maybe)
        body = self.block(inner, depth + 1)
        default = self.pure_array(scope, ops) if kind == A else self.pick(scope, ops, kind)
        then = Block((), tuple(body), (maybe,))
        ops.append(If(test, then, Block((), (), (default,)), (out,), self.loc()))
        self.keep(scope, out)

    def attempt(self, scope, ops, depth):
        """A ``try`` that may fail in the middle."""
        kinds = [self.random.choice((FLOAT, A)) for _ in range(self.random.randrange(1, 3))]
        inner = scope.child(())
        body = self.block(inner, depth + 1)
        error = self.value(ERROR)
        fail = (
            Apply(ValueError, (Literal("no"),), (), error, self.loc()),
            Effect(raise_error, (error,), (), None, self.loc()),
        )
        body.append(
            If(self.pick(inner, body, BOOL), Block((), fail, ()), Block((), (), ()), (), self.loc())
        )
        body += self.block(inner, depth + 1)
        good = [
            self.pure_array(inner, body) if k == A else self.pick(inner, body, k) for k in kinds
        ]
        other = scope.child(())
        caught = self.value(ERROR)
        handling = self.block(other, depth + 1)
        bad = [
            self.pure_array(other, handling) if k == A else self.pick(other, handling, k)
            for k in kinds
        ]
        text = self.apply(handling, str, (caught,), Opaque("str"))
        handling.append(Effect(record, (text,), (), None, self.loc()))
        handler = Handler(Literal(ValueError), Block((caught,), tuple(handling), tuple(bad)))
        results = [self.value(k) for k in kinds]
        final = None
        if self.chance(0.3):
            effects = []
            self.effect(scope.child(()), effects, depth)
            final = Block((), tuple(effects), ())
        op = Try(Block((), tuple(body), tuple(good)), (handler,), final, tuple(results), self.loc())
        ops.append(op)
        scope.pure += results


def random_function(seed, size=30):
    """A function of two numbers and two arrays."""
    generator = Generator(seed, size)
    names = generator.random.sample(["a", "b", "x", "h", "np", "range", "total"], 4)
    params = tuple(Value(n, k) for n, k in zip(names, (FLOAT, FLOAT, A, A)))
    scope = Scope(params)
    ops = []
    while generator.left > 0:
        ops += generator.block(scope, 0)
    outputs = [*scope.pure[-6:], *scope.buffers.values(), *(v for v, _ in scope.views[-2:])]
    return Function("f", params, Block((), tuple(ops), tuple(outputs)))
