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
    make_dict,
    make_fstring,
    make_list,
    make_tuple,
)
from srcad.ir.walk import blocks, operands

STATEMENT_WIDTH = 84
VALUE_WIDTH = 72
DERIVED_WIDTH = 60

_SYMBOLS = ids(
    *operator.attrgetter(
        *[
            "add",
            "sub",
            "mul",
            "truediv",
            "floordiv",
            "mod",
            "pow",
            "matmul",
            "lt",
            "le",
            "gt",
            "ge",
            "eq",
            "ne",
            "and_",
            "or_",
            "xor",
            "lshift",
        ],
        *["rshift", "is_", "is_not", "contains", "getitem", "neg", "pos", "not_", "invert"],
    )(operator)
)
_DISPLAYS = ids(make_tuple, make_list, make_dict, slice)


def nested_values(survey: Survey, memory: Memory) -> dict[Value, Apply]:
    """The values that print where they are used, with the operations that compute them."""
    nester = _Nester(survey, memory)
    nester.block(survey.function.body, 1)
    return nester.nested


class _Nester:
    def __init__(self, survey: Survey, memory: Memory) -> None:
        self.survey = survey
        self.memory = memory
        self.nested: dict[Value, Apply] = {}
        self.widths: dict[Value, int] = {}

    def block(self, block: Block, depth: int) -> None:
        self._choose(block)
        for op in block.ops:
            if op not in self.survey.skipped:
                self._limit(op, depth)
                for inner in blocks(op):
                    self.block(inner, depth + 1)

    # ---- what may move

    def _choose(self, block: Block) -> None:
        """Backwards, so that it is known where the statement stands that prints a user."""
        printed: dict[Op, int] = {}
        next_barrier = len(block.ops) + 1
        next_effect = len(block.ops) + 1
        next_write: dict[int, int] = {}
        for position in range(len(block.ops) - 1, -1, -1):
            op = block.ops[position]
            if op in self.survey.skipped:
                continue
            printed[op] = position
            match op:
                case Apply(result=result):
                    site = self._site(block, op, printed)
                    if site is None or site > next_barrier:
                        continue
                    roots = self._roots(op)
                    if roots and site > next_effect:
                        continue
                    if any(next_write.get(root, site) < site for root in roots):
                        continue
                    self.nested[result] = op
                    printed[op] = site
                case Update(target=target) | Accumulate(target=Value() as target):
                    root = self.memory.root(target)
                    if root is not None:
                        next_write[root] = position
                case Effect() | Call():
                    next_effect = position
                case If() | For() | While() | With() | Try():
                    next_barrier = position

    def _site(self, block: Block, op: Apply, printed: dict[Op, int]) -> int | None:
        """The position of the statement that would print an operation; None if it may not move."""
        result = op.result
        uses = self.survey.uses[result]
        if len(uses) != 1 or result in self.survey.unpacked:
            return None
        if result.hint and not is_reverse(op.loc) and not is_derived(result):
            return None
        home, position = uses[0]
        if home is not block:
            return None
        if position == len(block.ops):
            return None if result.hint else position
        user = block.ops[position]
        if isinstance(user, (Update, Accumulate)) and user.target is result:
            return None
        return printed[user]

    def _roots(self, op: Apply) -> list[int]:
        roots = []
        for atom in operands(op):
            if isinstance(atom, Value):
                root = self.memory.root(atom)
                if root is not None:
                    roots.append(root)
        return roots

    # ---- what fits in a line

    def _limit(self, op: Op, depth: int) -> None:
        if isinstance(op, Apply):
            room = VALUE_WIDTH if op.result in self.nested else STATEMENT_WIDTH - 4 * depth
            width = self._shrink(op, room - (0 if op.result in self.nested else 6))
            if op.result in self.nested and op.result.hint and width > DERIVED_WIDTH:
                del self.nested[op.result]
            self.widths[op.result] = width
        elif isinstance(op, (For, While, Try)):
            return
        else:
            self._shrink(op, STATEMENT_WIDTH - 4 * depth - 6)

    def _shrink(self, op: Op, room: int) -> int:
        """Give names to the widest operands until the operation fits; returns its width."""
        while True:
            width = self._width(op)
            if width <= room:
                return width
            inner = [a for a in operands(op) if isinstance(a, Value) and a in self.nested]
            inner = [a for a in inner if self.nested[a].callee is not format_value]
            if not inner:
                return width
            widest = max(inner, key=self._atom_width)
            if self._atom_width(widest) <= 12:
                return width
            del self.nested[widest]

    def _width(self, op: Op) -> int:
        atoms = operands(op)
        inner = sum(map(self._atom_width, atoms))
        if isinstance(op, Apply):
            if id(op.callee) in _SYMBOLS:
                return inner + 4
            if id(op.callee) in _DISPLAYS:
                return inner + 2 * len(atoms)
            if op.callee is make_fstring:
                return 20
            name = getattr(op.callee, "__name__", "callee")
            return inner + len(name) + 4 + 2 * len(atoms) + sum(len(k) + 1 for k, _ in op.keywords)
        return inner + 2 * len(atoms) + 6

    def _atom_width(self, atom: Atom) -> int:
        if isinstance(atom, Literal):
            value = atom.value
            return len(getattr(value, "__name__", None) or repr(value))
        if atom in self.nested:
            return self.widths.get(atom, 8)
        return len(atom.hint) or 6
