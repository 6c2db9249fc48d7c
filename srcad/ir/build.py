"""Building blocks: the one place where operations are made, typed and folded.

A ``Builder`` collects the operations of one block.  With ``simplify`` (derivative code, never the
user's own statements) it also folds what types prove (``x * 1``, ``a + (-b)``, ``x ** 2``) and
returns the earlier value of an expression that the block, or one around it, has computed already.
Versions of written memory are values of their own, so a read is never confused with an earlier one.

``exact`` decides what a NumPy float64 scalar is.  In exact code it is itself; else it counts as the
Python float it is a subclass of, and elementary functions of Python floats are those of ``math``.
The two differ only where Python raises (division by zero, overflow, domain errors): callers run the
exact code when the fast code raises.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir.core import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Effect,
    Literal,
    Loc,
    Op,
    Update,
    Value,
    View,
    literal_values,
    make_dict,
    make_list,
    make_tuple,
    select,
)
from srcad.ir.infer import atom_type, result_type
from srcad.ir.sharing import SHAPE, views
from srcad.ir.shortcuts import (
    constant_product,
    is_bounded,
    is_off_zero,
    new_axes,
    repeated_number,
    scalar_of,
    total,
)
from srcad.ir.shortcuts import number as _number
from srcad.ir.types import (
    BOOL,
    FLOAT,
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Optional,
    TupleType,
    Type,
    dims_of,
    dtype_of,
    is_complex,
    same_shape,
)
from srcad.ir.walk import map_atoms, results

ZERO, ONE = Literal(0.0), Literal(1.0)

MATH: dict[Callable[..., Any], Callable[..., Any]] = {
    getattr(np, name): getattr(math, other)
    for name, other in {
        **{
            n: n
            for n in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "log10")
        },
        **{
            n: n
            for n in ("log2", "log1p", "expm1", "hypot", "degrees", "radians", "copysign", "cbrt")
        },
        **{"arc" + n: "a" + n for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        "arctan2": "atan2",
        "exp2": "exp2",
        "deg2rad": "radians",
        "rad2deg": "degrees",
        "isnan": "isnan",
        "isinf": "isinf",
        "isfinite": "isfinite",
    }.items()
    if hasattr(math, other)
}
"""NumPy's elementary functions and their counterparts for Python floats."""

OPERATORS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.absolute: builtins.abs,
    np.conjugate: operator.pos,
}
"""What ufuncs do to Python floats."""


class Builder:
    """The operations of one block while it is being built."""

    def __init__(
        self, parent: Builder | None = None, *, exact: bool = True, simplify: bool = False
    ) -> None:
        self.ops: list[Op] = []
        self.parent = parent
        self.exact: bool = parent.exact if parent else exact
        self.simplify: bool = parent.simplify if parent else simplify
        self.shorten: bool = parent.shorten if parent else True
        """Whether simplification takes the shortcuts too."""
        self.loc: Loc | None = parent.loc if parent else None
        self.depth: int = parent.depth + 1 if parent else 0
        self.primal: Mapping[Value, Apply] = parent.primal if parent else {}
        """The calls of the function that this is the reverse of, by what they define."""
        self.given: Container[Value] = parent.given if parent else ()
        """The values of the function that this is a derivative of, and those around it."""
        self.masks: dict[Value, bool] = parent.masks if parent else {}
        """Whether a value is a mask, or a differential that may have gone through one."""
        self.unmasked: set[Value] = parent.unmasked if parent else set()
        """Coefficients that are differentials too: of a seed of 1."""
        self.missing: Container[Value] = parent.missing if parent else ()
        """Values of the function that this is a derivative of that may not exist at run time."""
        self.standing: dict[Value, Atom] = parent.standing if parent else {}
        """Differentials, and the arguments that they stand for: their shapes are the same."""
        self._written: set[Value] = parent._written if parent else set()
        """Versions that a write has consumed."""
        self._definitions: dict[Value, Apply] = {}
        self._others: set[Value] = set()
        """What the operations make that are not calls."""
        self._computed: dict[object, Value] = {}

    # ---- making operations

    def apply(
        self, callee: Callable[..., Any], *args: Atom, hint: str = "", **keywords: Atom
    ) -> Atom:
        """The result of a pure call; a literal or an earlier value where it is one."""
        pairs = tuple(keywords.items())
        callee = self._for_scalars(callee, args)
        folded = fold_literals(callee, args, pairs)
        if folded is None and self.simplify and isinstance(callee, np.ufunc) and not pairs:
            folded = _fold_ufunc(callee, args)
        if folded is not None:
            return folded
        if self.simplify and not pairs:
            simpler = self._simplified(callee, args)
            if simpler is not None:
                return simpler
        key = None
        if self.simplify and callee not in _ALLOCATIONS:
            key = _expression_key(callee, args, pairs)
            known = self._find(key)
            if known is not None:
                return known
        result = Value(hint, self.typed(callee, args, pairs))
        op = Apply(callee, args, pairs, result, self.loc)
        self.ops.append(op)
        self._definitions[result] = op
        if key is not None:
            self._computed[key] = result
        return result

    def view(self, step: View, array: Atom) -> Atom:
        """A view of an array, made once for each version of it."""
        key = ("view", step.callee, array, step.args, step.keywords)
        known = self._find(key)
        if known is None:
            named: dict[str, Any] = dict(step.keywords)
            made = self.apply(step.callee, array, *step.args, **named)
            if not isinstance(made, Value):
                return made
            self._computed[key] = known = made
        return known

    def apply_typed(
        self, callee: Callable[..., Any], args: tuple[Atom, ...], kind: Type, hint: str = ""
    ) -> Value:
        """The result of a pure call whose type the caller knows better."""
        result = Value(hint, kind)
        op = Apply(callee, args, (), result, self.loc)
        self.ops.append(op)
        self._definitions[result] = op
        return result

    def typed(
        self,
        callee: Callable[..., Any],
        args: tuple[Atom, ...],
        keywords: tuple[tuple[str, Atom], ...] = (),
    ) -> Type:
        """The type of a call's result, in this builder's view of NumPy scalars."""
        kind = result_type(callee, args, keywords)
        if kind == NumPyScalar("float64") and any(map(_is_narrow, args)):
            return kind  # beside float32 it is not the Python float it stands for
        if callee in (np.array, np.asarray):
            kind = self._counted(kind, args[0])
        return kind if self.exact else scalars_as_python(kind)

    def _counted(self, kind: Type, items: Atom) -> Type:
        """The type of an array made of a display, as long as that."""
        made = self.definition(items)
        dims = dims_of(kind)
        if made is None or made.callee not in (make_list, make_tuple) or not dims:
            return kind
        assert isinstance(kind, Array)
        return Array(kind.dtype, (len(made.args), *dims[1:]))

    def effect(
        self, callee: Callable[..., Any], *args: Atom, result: Value | None = None, **keywords: Atom
    ) -> Value | None:
        """A call that is kept, in order."""
        self.ops.append(Effect(callee, args, tuple(keywords.items()), result, self.loc))
        return result

    def update(
        self,
        callee: Callable[..., Any],
        target: Value,
        *args: Atom,
        kind: Type | None = None,
        result: Value | None = None,
        path: tuple[View, ...] = (),
    ) -> Value:
        """A write in place; the next version of the target."""
        version = Value(target.hint, kind if kind is not None else target.type)
        if isinstance(target.type, Array):
            self._written.add(target)
        self.ops.append(Update(callee, target, args, version, result, self.loc, path))
        return version

    def accumulate(self, target: Atom, index: Atom | None, term: Atom, hint: str = "") -> Value:
        """``target[index] += term``, or ``target + term``; the next version of the target."""
        if self.simplify and index is None:
            term = self.narrow(term, target)
        elif self.simplify and isinstance(atom_type(target), Array):
            term = scalar_of(self, term)  # what a dict does not have yet, the term becomes
        if self.simplify and index is None and (number := self._repeated(target, term)) is not None:
            total = self.apply(operator.add, term, number, hint=hint)
            if isinstance(total, Value):
                return total
        if index is None:
            kind = self.typed(operator.add, (target, term))
        else:
            kind = atom_type(target)
        version = Value(hint or (target.hint if isinstance(target, Value) else ""), kind)
        self.ops.append(Accumulate(target, index, term, version, self.loc))
        return version

    def _repeated(self, target: Atom, term: Atom) -> Atom | None:
        """The number that a target repeats, where adding a term makes an array of it anyway."""
        kind = atom_type(term)
        if not isinstance(kind, Array) or scalar_of(self, target) is target:
            return None
        found = self.narrow(target, term)
        return None if found is target else found

    def know(self, op: Apply) -> None:
        """A call whose result need not be computed here again."""
        self._computed.setdefault(_expression_key(op.callee, op.args, op.keywords), op.result)

    def adopt(self, op: Op) -> None:
        """A pure operation made in another builder, to be found again here."""
        self.append(op)
        if isinstance(op, Apply) and self.simplify and op.callee not in _ALLOCATIONS:
            self.know(op)

    def substitute(self, mark: int, mapping: Mapping[Value, Atom]) -> None:
        """Replace values that the operations from ``mark`` on read."""

        def read(atom: Atom) -> Atom:
            return mapping.get(atom, atom) if isinstance(atom, Value) else atom

        made = [map_atoms(op, read, lambda v: v) for op in self.ops[mark:]]
        del self.ops[mark:]
        for op in made:
            self.append(op)

    def mark(self) -> tuple[int, int, int]:
        """A point to which ``rewind`` can return."""
        return len(self.ops), len(self._definitions), len(self._computed)

    def rewind(self, mark: tuple[int, int, int]) -> None:
        """Take back the operations made since, and what is known of them."""
        count, defined, computed = mark
        del self.ops[count:]
        while len(self._definitions) > defined:
            self._definitions.popitem()
        while len(self._computed) > computed:
            self._computed.popitem()

    def append(self, op: Op) -> None:
        """An operation made elsewhere."""
        self.ops.append(op)
        if isinstance(op, Apply):
            self._definitions[op.result] = op
        else:
            self._others.update(results(op))

    def block(self, params: tuple[Value, ...], yields: tuple[Atom, ...]) -> Block:
        """The finished block."""
        return Block(params, tuple(self.ops), yields)

    def at(self, loc: Loc | None) -> _At:
        """Operations made meanwhile belong to the given statement."""
        return _At(self, loc)

    # ---- what is known

    def definition(self, atom: Atom) -> Apply | None:
        """The call that defines a value in this block or one around it."""
        if not isinstance(atom, Value):
            return None
        builder: Builder | None = self
        while builder is not None:
            op = builder._definitions.get(atom)
            if op is not None:
                return op
            builder = builder.parent
        return None

    def makes(self, value: Value) -> bool:
        """Whether a value is made in this block or one around it."""
        builder: Builder | None = self
        while builder is not None:
            if value in builder._definitions or value in builder._others:
                return True
            builder = builder.parent
        return False

    def made_here(self, value: Value) -> bool:
        """Whether a call in this very block makes a value, and not one around it."""
        return value in self._definitions

    def recipe(self, atom: Atom) -> Apply | None:
        """The same, if nothing that the call reads has been written over: it could be repeated."""
        op = self.definition(atom)
        if op is None or not self._written or op.callee in SHAPE:
            return op
        return None if any(map(self._is_stale, op.args)) else op

    def _is_stale(self, atom: Atom) -> bool:
        """Whether an atom is, or is a view of, a version that a write has consumed."""
        if not isinstance(atom, Value):
            return False
        if atom in self._written:
            return True
        op = self.definition(atom)
        return op is not None and any(map(self._is_stale, views(op)))

    def origin(self, atom: Atom) -> Apply | None:
        """The call that defines a value here or in the function that this is the reverse of."""
        found = self.recipe(atom)
        return self.primal.get(atom) if found is None and isinstance(atom, Value) else found

    def forget(self) -> None:
        """Drop known expressions (before code that may run at another time)."""
        self._computed.clear()

    def _find(self, key: object) -> Value | None:
        builder: Builder | None = self
        while builder is not None:
            known = builder._computed.get(key)
            if known is not None:
                return known
            builder = builder.parent
        return None

    # ---- folding

    def _for_scalars(
        self, callee: Callable[..., Any], args: tuple[Atom, ...]
    ) -> Callable[..., Any]:
        """What a NumPy function becomes when all its arguments are Python floats."""
        if self.exact or not isinstance(callee, np.ufunc):
            return callee
        other = MATH.get(callee) or OPERATORS.get(callee)
        if other is not None and all(_is_real_number(a) for a in args):
            return other
        return callee

    def _simplified(self, callee: Callable[..., Any], args: tuple[Atom, ...]) -> Atom | None:
        rule = _SIMPLIFY.get(callee)
        return rule(self, *args) if rule is not None else None

    def negated(self, atom: Atom) -> Atom | None:
        """What an atom is the negative of, if it is one by construction."""
        op = self.recipe(atom)
        if op is not None and op.callee in (operator.neg, np.negative):
            return op.args[0]
        return None

    def narrow(self, atom: Atom, other: Atom) -> Atom:
        """``atom`` before it was broadcast, where broadcasting against ``other`` does the same."""
        op = self.recipe(atom)
        if self.shorten and (number := repeated_number(self, atom)) is not None:
            both = self.typed(operator.add, (atom, other))
            if same_shape(both, atom_type(other)):
                return number
        if op is None or op.callee is not np.broadcast_to:
            return atom
        if same_shape(atom_type(other), atom_type(atom)):
            return op.args[0]
        return op.args[0] if _shape_root(self, other) is _shape_root(self, atom) else atom


class _At:
    """A context: one is entered for each statement, so it is no generator."""

    __slots__ = ("before", "builder", "loc")

    def __init__(self, builder: Builder, loc: Loc | None) -> None:
        self.builder = builder
        self.loc = loc

    def __enter__(self) -> None:
        self.before = self.builder.loc
        self.builder.loc = self.loc

    def __exit__(self, *error: object) -> None:
        self.builder.loc = self.before


def scalars_as_python(kind: Type) -> Type:
    """The type with NumPy float64 scalars counted as Python floats."""
    match kind:
        case NumPyScalar(dtype="float64"):
            return FLOAT
        case NumPyScalar(dtype="bool"):
            return BOOL
        case TupleType(items=items, cls=cls):
            return TupleType(tuple(map(scalars_as_python, items)), cls)
        case ListType(item=item):
            return ListType(scalars_as_python(item))
        case DictType(item=item):
            return DictType(scalars_as_python(item))
        case Optional(item=item):
            return Optional(scalars_as_python(item))
    return kind


def _is_real_number(atom: Atom) -> bool:
    if isinstance(atom, Literal):
        return isinstance(atom.value, (int, float)) and not isinstance(atom.value, np.generic)
    return isinstance(atom.type, Number) and atom.type.kind != "complex"


# ---- literals

_FOLDABLE = frozenset(
    {
        *(
            getattr(operator, n)
            for n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "pos")
        ),
        *(
            getattr(operator, n)
            for n in ("lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not", "not_")
        ),
        *(
            getattr(operator, n)
            for n in ("contains", "getitem", "and_", "or_", "xor", "invert", "abs")
        ),
        *(builtins.abs, builtins.len, builtins.bool, builtins.int, builtins.float, builtins.str),
        *(builtins.max, builtins.min, builtins.isinstance, builtins.issubclass, builtins.round),
        *(
            np.result_type,
            np.dtype,
            np.ndim,
            np.issubdtype,
            np.iscomplexobj,
            np.isrealobj,
            np.finfo,
        ),
    }
)


_ALLOCATIONS = frozenset(
    {
        *(make_list, make_dict, builtins.list, builtins.dict),
        *(
            np.zeros,
            np.ones,
            np.empty,
            np.full,
            np.zeros_like,
            np.ones_like,
            np.empty_like,
            np.full_like,
        ),
        *(np.array, np.copy, np.ndarray.copy, runtime.zeros_like, runtime.shadow, runtime.own),
    }
)
"""What makes memory that may be written later: each call makes its own."""


def fold_literals(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Literal | None:
    """The value of a call of which all is known, where computing it has no effect."""
    values = literal_values(args)
    if values is None or keywords or callee not in _FOLDABLE:
        return None
    try:
        return Literal(callee(*values))
    except Exception:
        return None


def _fold_ufunc(callee: np.ufunc, args: tuple[Atom, ...]) -> Literal | None:
    """What a ufunc makes of numbers: a Python float, which leaves the precision of arrays alone."""
    values = literal_values(args)
    if values is None or not all(type(v) in (int, float) for v in values):
        return None
    with np.errstate(all="ignore"):
        found = callee(*values)
    return Literal(float(found)) if isinstance(found, np.float64) and np.isfinite(found) else None


def _is_narrow(atom: Atom) -> bool:
    """Whether an atom is a NumPy scalar of single precision, or was computed beside one."""
    kind = atom_type(atom)
    narrow = ("float16", "float32", "complex64", "float64")
    return isinstance(kind, NumPyScalar) and kind.dtype in narrow


def _expression_key(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> object:
    def part(atom: Atom) -> object:
        if isinstance(atom, Value):
            return atom
        return (type(atom.value), repr(atom.value))

    return (id(callee), tuple(map(part, args)), tuple((k, part(a)) for k, a in keywords))


# ---- simplification of derivative code


def _keeps_type(
    builder: Builder, callee: Callable[..., Any], args: tuple[Atom, ...], kept: Atom
) -> bool:
    kind = atom_type(kept)
    if isinstance(kind, Array) and (kind.dtype is None or kind.dims is None or None in kind.dims):
        # a literal number changes neither the shape of an array nor the dtype of a float array
        return kind.dtype is not None and np.dtype(kind.dtype).kind in "fc"
    found = builder.typed(callee, args)
    if isinstance(kind, Number) and isinstance(found, Number):
        return kind.kind == found.kind
    return found == kind


def _simplify_mul(b: Builder, x: Atom, y: Atom) -> Atom | None:
    for this, other in ((x, y), (y, x)):
        number = _number(this)
        if number == 1 and _keeps_type(b, operator.mul, (x, y), other):
            if isinstance(other, Value) and b.given and _is_no_mask(b, other):
                b.unmasked.add(other)
            return other
        if number == -1:
            return b.apply(operator.neg, other)
    p, q = b.negated(x), b.negated(y)
    if p is not None and q is not None:
        return b.apply(operator.mul, p, q)
    if p is not None:
        return b.apply(operator.neg, b.apply(operator.mul, p, y))
    if q is not None:
        return b.apply(operator.neg, b.apply(operator.mul, x, q))
    shorter = constant_product(b, x, y) if b.shorten else None
    return shorter or _narrowed(b, operator.mul, x, y)


def _narrowed(b: Builder, callee: Callable[..., Any], x: Atom, y: Atom) -> Atom | None:
    """Leave out a broadcast that the operation does by itself."""
    left, right = b.narrow(x, y), b.narrow(y, x)
    if left is not x:
        return b.apply(callee, left, y)
    if right is not y:
        return b.apply(callee, x, right)
    # a number and a broadcast: the number acts on what is broadcast
    for this, other in ((x, y), (y, x)):
        op = b.recipe(this)
        if op is not None and op.callee is np.broadcast_to and dims_of(atom_type(other)) == ():
            inner = op.args[0]
            made = b.apply(callee, inner, other) if this is x else b.apply(callee, other, inner)
            return _broadcast(b, made, op)
    return None


def _broadcast(b: Builder, x: Atom, like: Apply) -> Value:
    """``x`` broadcast as another value was."""
    kind = like.result.type
    if isinstance(kind, Array):
        dtype = dtype_of(atom_type(x))
        kind = Array(dtype if dtype is not None else kind.dtype, kind.dims)
    return b.apply_typed(np.broadcast_to, (x, like.args[1]), kind)


def _simplify_truediv(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if _number(y) == 1 and _keeps_type(b, operator.truediv, (x, y), x):
        return x
    p, q = b.negated(x), b.negated(y)
    if p is not None and q is not None:
        return b.apply(operator.truediv, p, q)
    if p is not None:
        return b.apply(operator.neg, b.apply(operator.truediv, p, y))
    if q is not None:
        return b.apply(operator.neg, b.apply(operator.truediv, x, q))
    return _narrowed(b, operator.truediv, x, y)


def _simplify_add(b: Builder, x: Atom, y: Atom) -> Atom | None:
    for this, other in ((x, y), (y, x)):
        if _number(this) == 0 and _keeps_type(b, operator.add, (x, y), other):
            return other
    p, q = b.negated(x), b.negated(y)
    if q is not None:
        return b.apply(operator.sub, x, q)
    if p is not None:
        return b.apply(operator.sub, y, p)
    return _narrowed(b, operator.add, x, y)


def _simplify_sub(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if _number(y) == 0 and _keeps_type(b, operator.sub, (x, y), x):
        return x
    if _number(x) == 0 and _keeps_type(b, operator.sub, (x, y), y):
        return b.apply(operator.neg, y)
    q = b.negated(y)
    if q is not None:
        return b.apply(operator.add, x, q)
    return _narrowed(b, operator.sub, x, y)


def _simplify_neg(b: Builder, x: Atom) -> Atom | None:
    inner = b.negated(x)
    if inner is not None:
        return inner
    op = b.recipe(x)
    if op is not None and op.callee is np.broadcast_to:
        return _broadcast(b, b.apply(operator.neg, op.args[0]), op)
    return _opposite(b, x)


def _opposite(b: Builder, x: Atom) -> Atom | None:
    """The negative of a number, or of a product that begins with a negative one."""
    number = _number(x)
    if number is not None:
        return Literal(-number)
    op = b.recipe(x)
    if op is None or op.callee not in (operator.mul, operator.truediv) or op.keywords:
        return None
    left, right = op.args
    if isinstance(left, Literal) and (_number(left) or 0) >= 0:
        return None
    turned = _opposite(b, left)
    return None if turned is None else b.apply(op.callee, turned, right)


def _simplify_pow(b: Builder, x: Atom, y: Atom) -> Atom | None:
    number = _number(y)
    if number == 1 and _keeps_type(b, operator.pow, (x, y), x):
        return x
    if number == 2 and not isinstance(atom_type(x), (ListType, TupleType)):
        return b.apply(operator.mul, x, x)
    return None if b.exact else real_power(b, x, y)


def real_power(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A power by what raises where Python gives a complex number; None where it never does."""
    if not may_be_complex(x, y):
        return None
    return b.apply(math.sqrt, x) if _number(y) == 0.5 else b.apply(math.pow, x, y)


def may_be_complex(x: Atom, y: Atom) -> bool:
    """Whether a power of Python's numbers is complex where the base is negative."""
    if not (_is_real_number(x) and _is_real_number(y)):
        return False
    known, base = _number(y), _number(x)
    if known is not None:
        return known != int(known) if abs(known) < float("inf") else False
    return (
        _kind(y) in ("float", "real")
        and "float" in (_kind(x), _kind(y))
        and (base is None or base < 0)
    )


def _simplify_where(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    if isinstance(test, Literal) and isinstance(test.value, bool):
        return x if test.value else y
    if isinstance(atom_type(test), Number) and _is_real_number(x) and _is_real_number(y):
        kinds = {_kind(x), _kind(y)}
        if "float" in kinds and "bool" in kinds:
            x, y = (b.apply(float, a) if _kind(a) == "bool" else a for a in (x, y))
        return b.apply(select, test, x, y)
    return _narrow_choice(b, test, x, y)


def _narrow_choice(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    """Leave out a broadcast of what is chosen to the shape of the condition."""
    left, right = _narrow_to(b, x, test), _narrow_to(b, y, test)
    return b.apply(np.where, test, left, right) if left is not x or right is not y else None


def _narrow_to(b: Builder, x: Atom, other: Atom) -> Atom:
    op = b.recipe(x)
    if op is not None and op.callee is np.broadcast_to and dims_of(atom_type(op.args[0])) == ():
        return b.narrow(x, other)
    return x


def _kind(atom: Atom) -> str:
    kind = atom_type(atom)
    return kind.kind if isinstance(kind, Number) else ""


def _simplify_broadcast(b: Builder, x: Atom, shape: Atom) -> Atom | None:
    op = b.recipe(shape)
    if op is not None and op.callee is np.shape:
        kind = atom_type(op.args[0])
        if same_shape(kind, atom_type(x)) and dims_of(kind) is not None:
            return x
    if isinstance(shape, Literal) and shape.value == () and dims_of(atom_type(x)) == ():
        return x
    op = b.recipe(x)
    if op is not None and op.callee is np.expand_dims and _leads(op.args[0], op.args[1]):
        # leading axes of size 1 say nothing that the shape does not
        kind = b.typed(np.broadcast_to, (x, shape))
        return b.apply_typed(np.broadcast_to, (op.args[0], shape), kind)
    return None


def _leads(x: Atom, axes: Atom) -> bool:
    """Whether new axes come before all others."""
    if dims_of(atom_type(x)) == ():
        return True
    if not isinstance(axes, Literal):
        return False
    places = axes.value if isinstance(axes.value, tuple) else (axes.value,)
    return sorted(places) == list(range(len(places)))


def _simplify_shape(b: Builder, x: Atom) -> Atom | None:
    dims = dims_of(atom_type(x))
    if dims is not None and all(isinstance(d, int) for d in dims):
        return Literal(dims)
    root = _shape_root(b, x)
    return b.apply(np.shape, root) if root is not x else None


_KEEPS_SHAPE = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow),
        *(
            operator.lt,
            operator.le,
            operator.gt,
            operator.ge,
            operator.eq,
            operator.ne,
            operator.abs,
        ),
        *(np.where, runtime.over, runtime.times, operator.pos, builtins.abs),
    }
)


def _shape_root(b: Builder, x: Atom, depth: int = 0) -> Atom:
    """What an elementwise result has its shape from: an argument that surely has it."""
    x = b.standing.get(x, x) if isinstance(x, Value) else x
    op = b.origin(x)
    if op is None or op.keywords:
        return x
    if op.callee in (np.broadcast_to, runtime.unbroadcast):
        source = b.origin(op.args[1])
        return source.args[0] if source is not None and source.callee is np.shape else x
    if op.callee not in _KEEPS_SHAPE and not isinstance(op.callee, np.ufunc):
        return x
    wide = [a for a in op.args if dims_of(atom_type(a)) != ()]
    for arg in wide:
        if not isinstance(arg, Value) or not isinstance(arg.type, Array):
            continue
        if len(wide) == 1 or same_shape(arg.type, atom_type(x)):
            return _shape_root(b, arg, depth)
    if not wide or depth >= _DEPTH or not all(isinstance(atom_type(a), Array) for a in wide):
        return x  # of lists, `+` and `*` are something else
    first, *others = (_shape_root(b, a, depth + 1) for a in wide)
    return first if all(other is first for other in others) else x


_DEPTH = 5
"""How deep a tree of operands is searched, whose branches may share what they are made of."""


def _simplify_expand_dims(b: Builder, x: Atom, axes: Atom) -> Atom | None:
    op = b.recipe(x)
    if op is not None and op.callee is np.broadcast_to:
        return None  # a broadcast may prove not to be needed
    return new_axes(b, x, axes) if b.shorten else None


def _simplify_len(b: Builder, x: Atom) -> Atom | None:
    """The length that an array or list has by the way it is made."""
    dims = dims_of(atom_type(x))
    if dims and isinstance(dims[0], int):
        return Literal(dims[0])
    root = _shape_root(b, x)
    if root is not x:
        return b.apply(builtins.len, root)
    op = b.origin(x)
    if op is None or op.keywords:
        return None
    if op.callee in (make_list, make_tuple):
        return Literal(len(op.args))
    if not op.args:
        return None
    first = op.args[0]
    if op.callee is np.ndarray.tolist or op.callee is builtins.list:
        if isinstance(atom_type(first), Array) and dims_of(atom_type(first)):
            return b.apply(builtins.len, first)
    elif op.callee in (np.zeros, np.ones, np.full, np.empty):
        return first if _is_integer(first) else None
    elif op.callee is operator.mul and isinstance(op.result.type, ListType):
        made = b.origin(first)
        if made is not None and made.callee is make_list and len(made.args) == 1:
            return op.args[1]
    return None


def _is_integer(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, Number) and kind.kind == "int"


def _simplify_transpose(b: Builder, x: Atom, axes: Atom | None = None) -> Atom | None:
    known = dims_of(atom_type(x))
    if axes is None:
        return x if known is not None and len(known) < 2 else None
    if (
        isinstance(axes, Literal)
        and axes.value == tuple(range(len(known or ())))
        and known is not None
    ):
        return x
    return None


def _simplify_reshape(b: Builder, x: Atom, shape: Atom, order: Atom | None = None) -> Atom | None:
    op = b.recipe(shape)
    kind = atom_type(x)
    if (
        op is not None
        and op.callee is np.shape
        and isinstance(kind, Array)
        and kind.dims is not None
    ):
        other = dims_of(atom_type(op.args[0]))
        if other is not None and same_shape(kind, atom_type(op.args[0])):
            return x
    if isinstance(shape, Literal) and shape.value in (-1, (-1,)) and len(dims_of(kind) or ()) == 1:
        return x
    made = b.recipe(x)
    if op is not None and op.callee is np.shape and made is not None and made.callee is np.array:
        like = atom_type(op.args[0])
        if len(dims_of(kind) or ()) == len(dims_of(like) or ()) == 1 and isinstance(like, Array):
            # of one axis both: they have the same size
            return b.apply_typed(np.array, made.args, Array(dtype_of(kind), like.dims))
    return None


def _simplify_moveaxis(b: Builder, x: Atom, source: Atom, target: Atom) -> Atom | None:
    if isinstance(source, Literal) and isinstance(target, Literal) and source.value == target.value:
        return x
    return None


def _simplify_attribute(b: Builder, x: Atom) -> Atom | None:
    """The transpose of a transpose."""
    op = b.recipe(x)
    if op is not None and op.callee is np.ndarray.T:
        return op.args[0]
    return None


def _simplify_astype(b: Builder, x: Atom, dtype: Atom) -> Atom | None:
    known = dtype_of(atom_type(x))
    if known is not None and isinstance(dtype, Literal):
        try:
            return x if np.dtype(dtype.value).name == known else None
        except TypeError:
            return None
    return None


def _simplify_real_part(b: Builder, x: Atom) -> Atom | None:
    kind = atom_type(x)
    if isinstance(kind, Number) and not is_complex(kind):
        return x
    return x if dtype_of(kind) is not None and not is_complex(kind) else None


def _simplify_over(b: Builder, n: Atom, d: Atom) -> Atom | None:
    # Python floats raise where the quotient has no value, and exact code takes over
    if not b.exact and _is_real_number(n) and _is_real_number(d):
        return b.apply(operator.truediv, n, d)
    if (isinstance(d, Literal) and d.value) or _is_unmasked(b, n):
        return b.apply(operator.truediv, n, d)
    if b.shorten and is_off_zero(b, d) and not is_complex(atom_type(d)):
        return b.apply(operator.truediv, n, d)
    return None


_KEEP_ZEROS_OUT = frozenset(
    {
        *(operator.neg, operator.pos, np.negative, np.broadcast_to, np.reshape, np.expand_dims),
        *(np.transpose, np.swapaxes, np.moveaxis, np.sum, operator.truediv, np.divide),
    }
)
_PRODUCTS = frozenset({operator.mul, np.multiply, operator.matmul, np.matmul})
_ARITHMETIC = frozenset(
    {*_KEEP_ZEROS_OUT, *_PRODUCTS, operator.add, operator.sub, np.add, np.subtract, operator.pow}
)
_MASKS = frozenset(
    {
        *(
            np.where,
            select,
            np.sign,
            np.heaviside,
            np.eye,
            np.zeros,
            np.zeros_like,
            np.tril,
            np.triu,
        ),
        *(
            np.less,
            np.less_equal,
            np.greater,
            np.greater_equal,
            np.equal,
            np.not_equal,
            np.isfinite,
        ),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, np.isnan),
        *(
            np.logical_and,
            np.logical_or,
            np.logical_not,
            runtime.over,
            runtime.times,
            operator.getitem,
        ),
    }
)


def _is_unmasked(b: Builder, ct: Atom) -> bool:
    """Whether no branch can have made entries of a differential zero.

    It stems from a literal seed through arithmetic. Where such a differential is zero because a
    factor is, and the divisor too, the primal has no value either: nothing is there to protect.
    """
    if isinstance(ct, Literal):
        return bool(_number(ct))
    if ct in b.unmasked:
        return True
    op = b.recipe(ct)
    if op is None or not op.args:
        return False
    if op.callee in _PRODUCTS:
        x, y = op.args
        return (_is_unmasked(b, x) and _is_no_mask(b, y)) or (
            _is_unmasked(b, y) and _is_no_mask(b, x)
        )
    return op.callee in _KEEP_ZEROS_OUT and _is_unmasked(b, op.args[0])


def _is_no_mask(b: Builder, factor: Atom) -> bool:
    """Whether a coefficient is a number of the primal, not a choice between branches.

    A differential is none: what it stems from may be masked.
    """
    if isinstance(factor, Literal):
        return bool(_number(factor))
    if factor not in b.masks:
        b.masks[factor] = not _is_from_primal(b, factor)
    return not b.masks[factor]


def _is_from_primal(b: Builder, factor: Value) -> bool:
    op = b.origin(factor)
    if op is None:
        return factor in b.given
    if op.callee in _MASKS:
        return False
    if op.callee not in _ARITHMETIC and factor in b.given:
        return True
    return all(isinstance(a, Literal) or _is_no_mask(b, a) for a in op.args)


def _simplify_times(b: Builder, w: Atom, v: Atom) -> Atom | None:
    turned = b.negated(v)
    if turned is not None:
        return b.apply(operator.neg, b.apply(runtime.times, w, turned))
    if (not b.exact and _is_real_number(w) and _is_real_number(v)) or _is_unmasked(b, v):
        return b.apply(operator.mul, w, v)
    if b.shorten and is_bounded(b, w) and not is_complex(atom_type(w)):
        return b.apply(operator.mul, w, v)
    return None


def _simplify_unbroadcast(b: Builder, x: Atom, shape: Atom) -> Atom | None:
    op = b.recipe(shape)
    if isinstance(shape, Literal):
        return simplify_unbroadcast(b, x, None, tuple(shape.value))
    if op is not None and op.callee is np.shape:
        return simplify_unbroadcast(b, x, op.args[0], dims_of(atom_type(op.args[0])))
    return None


def simplify_unbroadcast(
    b: Builder, x: Atom, primal: Atom | None, want: tuple[Any, ...] | None
) -> Atom | None:
    """``x`` summed over the axes that types prove to be repeated; None if they do not tell.

    ``want`` are the sizes of ``primal``, or of a known shape.
    """
    have = dims_of(atom_type(x))
    if primal is not None and _shape_root(b, x) is _shape_root(b, primal):
        return x
    if have is None or want is None:
        return None
    if have == want and None not in want:
        return x
    if want == ():
        return total(b, x)
    extra = len(have) - len(want)
    if extra < 0 or have == ():
        shared = zip(have, want[-len(have) :], strict=True) if have else ()
        if any(h != 1 and (h != w or h is None) for h, w in shared):
            return None
        shape = Literal(want) if primal is None else b.apply(np.shape, primal)
        return b.apply(np.broadcast_to, x, shape)
    pairs = list(enumerate(zip(have[extra:], want, strict=True)))
    stretched = tuple(k for k, (h, w) in pairs if w == 1 and h != 1)
    if any(h != w or h is None for k, (h, w) in pairs if k not in stretched):
        return None
    if extra:
        x = total(b, x, axis=Literal(tuple(range(extra)) if extra > 1 else 0))
    if stretched:
        axes = Literal(stretched if len(stretched) > 1 else stretched[0])
        x = total(b, x, axis=axes, keepdims=Literal(True))
    return x


def _simplify_getitem(b: Builder, x: Atom, index: Atom) -> Atom | None:
    """An item of what was just put together; of a negative, the negative of an item."""
    turned = b.negated(x)
    if turned is not None and isinstance(index, Literal):
        return b.apply(operator.neg, b.apply(operator.getitem, turned, index))
    op = b.origin(x)
    if op is None or not isinstance(index, Literal) or type(index.value) is not int:
        return None
    if op.callee is builtins.list and isinstance(atom_type(op.args[0]), Array):
        return b.apply(operator.getitem, op.args[0], index)
    if op.callee in (make_tuple, make_list) and -len(op.args) <= index.value < len(op.args):
        return op.args[index.value]
    if (
        op.callee is np.shape
        and index.value == 0
        and len(dims_of(atom_type(op.args[0])) or ()) == 1
    ):
        return b.apply(builtins.len, op.args[0])
    return None


_SIMPLIFY: dict[Callable[..., Any], Callable[..., Atom | None]] = {
    runtime.over: _simplify_over,
    runtime.times: _simplify_times,
    runtime.unbroadcast: _simplify_unbroadcast,
    operator.mul: _simplify_mul,
    operator.truediv: _simplify_truediv,
    operator.add: _simplify_add,
    operator.sub: _simplify_sub,
    operator.neg: _simplify_neg,
    operator.getitem: _simplify_getitem,
    operator.pow: _simplify_pow,
    np.multiply: _simplify_mul,
    np.divide: _simplify_truediv,
    np.add: _simplify_add,
    np.subtract: _simplify_sub,
    np.negative: _simplify_neg,
    np.power: _simplify_pow,
    np.where: _simplify_where,
    np.broadcast_to: _simplify_broadcast,
    np.shape: _simplify_shape,
    builtins.len: _simplify_len,
    np.expand_dims: _simplify_expand_dims,
    np.reshape: _simplify_reshape,
    np.transpose: _simplify_transpose,
    np.moveaxis: _simplify_moveaxis,
    np.ndarray.T: _simplify_attribute,
    np.ndarray.astype: _simplify_astype,
    np.real: _simplify_real_part,
    np.conjugate: _simplify_real_part,
}
