"""What values without a name of the user's are called: after the operation that makes them."""

from __future__ import annotations

import builtins
import keyword
import operator
import re
from collections.abc import Iterator, Mapping

from srcad.ir.core import Apply, If, Literal, Op, Update, Value

_NAMES = {
    "add": "total", "sub": "diff", "mul": "prod", "truediv": "quot", "floordiv": "quot",
    "mod": "rest", "pow": "power", "neg": "minus", "matmul": "prod", "dot": "prod",
    "multiply": "prod", "divide": "quot", "subtract": "diff", "sum": "total", "getitem": "item",
    "len": "size", "lt": "test", "le": "test", "gt": "test", "ge": "test", "eq": "test",
    "ne": "test", "not_": "test", "make_tuple": "items", "make_list": "items",
    "make_dict": "table", "make_fstring": "text", "select": "choice", "pop": "saved",
    "slice": "part", "tuple": "items", "list": "items", "dict": "table", "broadcast_to": "spread",
    "max": "largest", "min": "smallest", "abs": "size", "getattr": "field",
}  # fmt: skip
"""By the name of the operation; others by their own."""

BUILTINS = frozenset(dir(builtins))


def identifier(hint: str) -> str:
    """A valid name near to ``hint``."""
    name = re.sub(r"\W", "_", hint)
    if not name or name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def name_after(value: Value, made: Mapping[Value, Op]) -> str:
    """A name for a value by the operation that makes it; empty if that says nothing."""
    op = made.get(value)
    if isinstance(op, If):
        handed = list(_handed_on(op, value))
        names = {v.hint or name_after(v, made) for v in handed}
        if len(names) == 1 and not handed[0].hint:
            return names.pop()
        return "choice" if names else ""
    if not isinstance(op, (Apply, Update)) or (isinstance(op, Update) and value is not op.result):
        return ""
    if isinstance(op, Apply) and (key := _key(op)) is not None:
        return key
    name = getattr(op.callee, "__name__", "value")
    name = _NAMES.get(name, name)
    return "value" if name in BUILTINS or name == "<lambda>" else identifier(name)


def _key(op: Apply) -> str | None:
    """The key that an item of a dict is read by, if it can be a name."""
    if op.callee not in (operator.getitem, dict.get) or len(op.args) < 2:
        return None
    key = op.args[1].value if isinstance(op.args[1], Literal) else None
    if not isinstance(key, str) or not key.isidentifier() or keyword.iskeyword(key):
        return None
    adjoint = op.callee is dict.get and op.loc is not None and op.loc.reverse > 0
    return f"{key}_bar" if adjoint else key


def name_of(value: Value, made: Mapping[Value, Op]) -> str:
    """What a value is called: its own name, else that of what a branch hands on, else by its op."""
    if value.hint:
        return value.hint
    op = made.get(value)
    if isinstance(op, If):
        first = next(_handed_on(op, value), None)
        if first is not None:
            return name_of(first, made)
    return name_after(value, made) or "value"


def _handed_on(op: If, result: Value) -> Iterator[Value]:
    """The values that the branches hand on as a result."""
    place = op.results.index(result)
    for side in (op.then, op.orelse):
        handed = side.yields[place]
        if isinstance(handed, Value):
            yield handed
