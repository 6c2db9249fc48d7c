"""Which values print inside the expression that uses them.

    t: float = mul(w, h)      |
    u: float = add(t, x)      |    h = np.tanh(w * h + x)
    h: float = tanh(u)        |

A value is nested if it is pure, used once, in the block that defines it, and if nothing between its
definition and the statement that prints it writes memory that it reads.  Nothing moves over a loop
or a branch.  What would make a line too long gets a name instead.
"""

from __future__ import annotations

import operator
from collections.abc import Container

from srcad import runtime
from srcad.codegen.memory import Memory
from srcad.codegen.survey import Survey, ids, is_derived, is_reverse
from srcad.ir.core import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    If,
    Literal,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
    format_value,
    is_undefined,
    make_dict,
    make_fstring,
    make_list,
    make_tuple,
)
from srcad.ir.types import Array, Number, NumPyScalar
from srcad.ir.walk import blocks, operands, results, values_read

STATEMENT_WIDTH = 90
VALUE_WIDTH = 72
DERIVED_WIDTH = 60

_NAMES = """
    add sub mul truediv floordiv mod pow matmul lt le gt ge eq ne and_ or_ xor lshift rshift
    is_ is_not contains getitem neg pos not_ invert
"""
_SYMBOLS = ids(*(getattr(operator, name) for name in _NAMES.split()))
_DISPLAYS = ids(make_tuple, make_list, make_dict, slice)
_PACKING = ids(make_tuple, make_list, make_dict, runtime.dataclass_of)


Nested = Apply | Effect | If | Update
"""An operation that prints as an expression; of an update, its result does (``xs.pop()``)."""


def nested_values(survey: Survey, memory: Memory) -> dict[Value, Nested]:
    """The values that print where they are used, with the operations that compute them."""
    nester = _Nester(survey, memory)
    nester.choose(survey.function.body)
    nester.limit(survey.function.body, 1)
    return nester.nested


def inputs(op: Nested) -> tuple[Atom, ...]:
    """The atoms in the expression an operation prints as."""
    match op:
        case Apply() | Effect():
            return operands(op)
        case If():
            return (op.test, op.then.yields[0], op.orelse.yields[0])
        case Update():
            return (op.version, *op.args)


def is_nested(op: Op, nested: Container[Value]) -> bool:
    """Whether an operation prints nothing but the expression that its result is."""
    match op:
        case Apply(result=result) | If(results=(result,)):
            return result in nested
        case Effect(result=Value() as result):
            return result in nested
    return False


class _Nester:
    def __init__(self, survey: Survey, memory: Memory) -> None:
        self.survey = survey
        self.memory = memory
        self.nested: dict[Value, Nested] = {}
        self.widths: dict[Value, int] = {}

    # ---- what may move

    def choose(self, block: Block) -> None:
        """Backwards, so that it is known where the statement stands that prints a user."""
        printed: dict[Op, int] = {}
        next_barrier = len(block.ops) + 1
        next_effect = len(block.ops) + 1
        writes: list[tuple[int, int]] = []
        """Positions, the last first, and what is written there."""

        def try_nest(op: Apply | If, result: Value) -> bool:
            site = self._site(block, op, result, printed)
            if site is None or site > next_barrier:
                return False
            roots = 0
            for value in values_read(op):
                roots |= self.memory.reach(value)
            if roots and site > next_effect:
                return False
            for where, written in reversed(writes):
                if where >= site:
                    break
                if written & roots:
                    return False
            self.nested[result] = op
            printed[op] = site
            return True

        for position in range(len(block.ops) - 1, -1, -1):
            op = block.ops[position]
            if op in self.survey.skipped:
                continue
            printed[op] = position
            for inner in blocks(op):
                self.choose(inner)
            match op:
                case Apply(result=result):
                    try_nest(op, result)
                case If(results=(result,)) if self._is_expression(op) and try_nest(op, result):
                    pass
                case Update(target=target) | Accumulate(target=Value() as target):
                    if isinstance(op, Update) and op.result is not None:
                        self._nest_update(block, op, op.result, position, printed)
                    writes.append((position, self.memory.identity(target)))
                case Effect(result=Value() as result):
                    self._nest_effect(block, op, result, position)
                    next_effect = position
                case Effect() | Call():
                    next_effect = position
                case If() | For() | While() | With() | Try():
                    next_barrier = position

    def _site(self, block: Block, op: Nested, result: Value, printed: dict[Op, int]) -> int | None:
        """The position of the statement that would print an operation; None if it may not move."""
        uses = self.survey.uses[result]
        if len(uses) != 1 or result in self.survey.unpacked or result in self.survey.flags:
            return None
        if result.hint and not is_reverse(op.loc) and not is_derived(result):
            return None
        home, position = uses[0]
        if home is not block:
            return None
        if position == len(block.ops):
            return None if result.hint else position
        user = block.ops[position]
        if isinstance(user, Update) and user.target is result:
            return None
        if isinstance(user, Accumulate) and user.target is result and not _opens_sum(op, user):
            return None
        if result.hint and self._is_returned(user):
            return None
        return printed[user]

    def _is_returned(self, user: Op) -> bool:
        """Whether an operation only packs what the function returns: that goes by its name."""
        body = self.survey.function.body
        while isinstance(user, Apply) and id(user.callee) in _PACKING:
            uses = self.survey.uses[user.result]
            if len(uses) != 1 or uses[0][0] is not body:
                return False
            if uses[0][1] == len(body.ops):
                return True
            user = body.ops[uses[0][1]]
        return False

    def _is_expression(self, op: If) -> bool:
        """Whether both sides of a branch are expressions."""
        for side in (op.then, op.orelse):
            handed = side.yields[0]
            if is_undefined(handed):
                return False
            for inner in side.ops:
                if inner not in self.survey.skipped and not is_nested(inner, self.nested):
                    return False
        return True

    def _nest_effect(self, block: Block, op: Effect, result: Value, position: int) -> None:
        """A call that has to stay in order may move into the statement that follows it."""
        uses = self.survey.uses[result]
        if result.hint or result in self.survey.unpacked or uses != [(block, position + 1)]:
            return
        if position + 1 < len(block.ops) and isinstance(block.ops[position + 1], With):
            self.nested[result] = op

    def _nest_update(
        self, block: Block, op: Update, result: Value, position: int, printed: dict[Op, int]
    ) -> None:
        """``xs.pop()`` may move to the use of its result if nothing until then looks at ``xs``."""
        site = self._site(block, op, result, printed)
        if site is None or site == len(block.ops):
            return
        written = self.memory.identity(op.target)
        for between in block.ops[position + 1 : site + 1]:
            last = between is block.ops[site]
            if not isinstance(between, Apply) and not last:
                return
            seen = [a for a in operands(between) if isinstance(a, Value) and a is not result]
            if any(self.memory.reach(a) & written for a in seen):
                return
        user = block.ops[site]
        if isinstance(user, (For, While, With, Try, Call)):
            return
        if self._is_printed_once(block, result, user):
            self.nested[result] = op

    def _is_printed_once(self, block: Block, value: Value, end: Op) -> bool:
        """Whether the statement ``end`` prints a value once: an index or a test may come twice."""
        while True:
            user = block.ops[self.survey.uses[value][0][1]]
            if user in self.survey.booleans:
                return False
            if user is end:
                break
            value = results(user)[0]
        return not isinstance(end, Accumulate) or (value is end.term and value is not end.index)

    # ---- what fits in a line

    def limit(self, block: Block, depth: int) -> None:
        """Take back what makes lines too long, in order, so that the width of operands is known."""
        for op in block.ops:
            if op in self.survey.skipped:
                continue
            inside = isinstance(op, If) and is_nested(op, self.nested)
            if not inside:
                self._limit(op, depth)
            for inner in blocks(op):
                self.limit(inner, depth + 1)
            if isinstance(op, If) and inside:
                self._limit_branch(op, depth)

    def _limit(self, op: Op, depth: int) -> None:
        if isinstance(op, Apply):
            nested = op.result in self.nested
            width = self._shrink(op, VALUE_WIDTH if nested else STATEMENT_WIDTH - 4 * depth - 6)
            if nested and op.result.hint and width > DERIVED_WIDTH:
                del self.nested[op.result]
            self.widths[op.result] = width
        elif not isinstance(op, (For, While, Try)):
            self._shrink(op, STATEMENT_WIDTH - 4 * depth - 6)

    def _limit_branch(self, op: If, depth: int) -> None:
        result = op.results[0]
        width = sum(map(self._atom_width, inputs(op))) + 12
        self.widths[result] = width
        if width > DERIVED_WIDTH or not self._is_expression(op):
            del self.nested[result]
            self._limit(op, depth)

    def _shrink(self, op: Op, room: int) -> int:
        """Give names to the widest operands until the operation fits; returns its width."""
        while True:
            width = self._width(op)
            if width <= room:
                return width
            inner = [a for a in operands(op) if isinstance(a, Value) and a in self.nested]
            inner = [a for a in inner if not _is_piece(self.nested[a])]
            if not inner:
                return width
            widest = max(inner, key=self._atom_width)
            if self._atom_width(widest) <= 12:
                return width
            turned = self._negated(widest) if isinstance(op, Accumulate) else None
            if turned is not None:  # `-=` says the sign
                del self.nested[turned]
                self.widths[widest] = self._atom_width(turned)
            else:
                del self.nested[widest]

    def _negated(self, value: Value) -> Value | None:
        """What a nested negative is of, if that is nested too."""
        op = self.nested[value]
        if not isinstance(op, Apply) or op.callee is not operator.neg:
            return None
        (turned,) = op.args
        return turned if isinstance(turned, Value) and turned in self.nested else None

    def _width(self, op: Op) -> int:
        atoms = operands(op)
        inner = sum(map(self._atom_width, atoms))
        if isinstance(op, Apply):
            if id(op.callee) in _SYMBOLS:
                return inner + (2 if len(atoms) == 1 else 3)
            if op.callee is slice:
                return sum(self._atom_width(a) for a in atoms if not _is_none(a)) + 1
            if id(op.callee) in _DISPLAYS:
                return inner + 2 * len(atoms)
            if op.callee is make_fstring:
                return 20
            name = getattr(op.callee, "__name__", "callee")
            named = sum(len(keyword) + 1 for keyword, _ in op.keywords)
            return inner + len(name) + 2 + 2 * len(atoms) + named
        return inner + 2 * len(atoms) + 8

    def _atom_width(self, atom: Atom) -> int:
        if isinstance(atom, Literal):
            return _literal_width(atom.value)
        if atom in self.nested:
            return self.widths.get(atom, 8)
        return len(atom.hint) or 6


def _literal_width(value: object) -> int:
    match value:
        case slice(start=start, stop=stop):
            return sum(len(repr(end)) for end in (start, stop) if end is not None) + 1
        case tuple():
            return sum(map(_literal_width, value)) + 2 * len(value)
    return len(getattr(value, "__name__", None) or repr(value))


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value is None


def _opens_sum(op: Nested, user: Accumulate) -> bool:
    """Whether ``x_bar = t; x_bar += u`` is better written ``x_bar = t + u``: of one statement."""
    if user.index is not None or not isinstance(op, Apply):
        return False
    if not isinstance(op.result.type, (Array, Number, NumPyScalar)):
        return False
    if op.loc is None or user.loc is None:
        return op.loc is user.loc
    return (op.loc.file, op.loc.line) == (user.loc.file, user.loc.line)


def _is_piece(op: Nested) -> bool:
    """Whether an operation has no form of its own outside the one that uses it."""
    return isinstance(op, Apply) and op.callee is format_value
