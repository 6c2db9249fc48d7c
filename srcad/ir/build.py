"""Building blocks: the one place where operations are made, typed and folded.

A ``Builder`` collects the operations of one block.  With ``simplify`` (derivative code, never the
user's own statements) it also folds what types prove (``x * 1``, ``a + (-b)``, ``x ** 2``), writes
``2.0 * x`` for ``2 * x`` of a float, and returns the earlier value of an expression that the block,
or one around it, has computed already.
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
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import linear
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
    hashable,
    literal_key,
    make_dict,
    make_list,
    make_tuple,
)
from srcad.ir.folding import fold_literals, fold_ufunc
from srcad.ir.infer import atom_type, result_type
from srcad.ir.known import number_kind, without_ellipsis
from srcad.ir.linear import Linear
from srcad.ir.numbers import (
    in_floats,
    is_narrow,
    is_real_number,
    scalars_as_python,
)
from srcad.ir.sharing import SHAPE, views
from srcad.ir.simplify import SIMPLIFY
from srcad.ir.simplify.choices import joined_choice
from srcad.ir.simplify.defaults import without_defaults
from srcad.ir.simplify.masks import is_masked
from srcad.ir.simplify.shapes import plain_index, shape_root
from srcad.ir.simplify.shortcuts import leading_axes, repeated_number, scalar_of
from srcad.ir.types import (
    Array,
    Dim,
    Number,
    NumPyScalar,
    Opaque,
    Piece,
    Size,
    Type,
    dims_of,
    same_shape,
)
from srcad.ir.walk import map_atoms, overwritten, renaming, results

ZERO, ONE = Literal(0.0), Literal(1.0)

_COUNTING = frozenset({operator.add, operator.sub, operator.mul, operator.floordiv})
"""What makes integers of integers that are sums, or terms of sums."""

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
        "power": "pow",
        "float_power": "pow",
        "fmod": "fmod",
        "deg2rad": "radians",
        "rad2deg": "degrees",
        "isnan": "isnan",
        "isinf": "isinf",
        "isfinite": "isfinite",
    }.items()
    if hasattr(math, other)
}
"""NumPy's elementary functions and their counterparts for Python floats."""

_FLOAT_ONLY = frozenset({math.pow, math.fmod})
"""Of two integers NumPy's function gives an integer, and this a float."""

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
        self.missing: dict[Value, None] = parent.missing if parent else {}
        """Values of the function that this is a derivative of that may not exist at run time."""
        self.steep: bool = parent.steep if parent else False
        """Whether differentials may be infinite where the function itself has values."""
        self.standing: dict[Value, Atom] = parent.standing if parent else {}
        """Differentials, and the arguments that they stand for: their shapes are the same."""
        self.watch: Callable[[Op], None] | None = parent.watch if parent else None
        """Is told of each operation, when it is made."""
        self._written: dict[Value, None] = parent._written if parent else {}
        """Versions that a write has consumed."""
        self._definitions: dict[Value, Apply] = {}
        self._others: set[Value] = set()
        """What the operations make that are not calls."""
        self._accumulations: dict[Value, Accumulate] = {}
        """What added to adjoints here, by the version that it made."""
        self._computed: dict[object, Value] = {}

    # ---- making operations

    def apply(
        self, callee: Callable[..., Any], *args: Atom, hint: str = "", **keywords: Atom
    ) -> Atom:
        """The result of a pure call; a literal or an earlier value where it is one."""
        pairs = tuple(keywords.items())
        callee = self._for_scalars(callee, args)
        if self.simplify:
            args, pairs = without_defaults(callee, args, pairs)
        folded = fold_literals(callee, args, pairs)
        if folded is None and self.simplify and isinstance(callee, np.ufunc) and not pairs:
            folded = fold_ufunc(callee, args)
        if folded is not None:
            return folded
        if self.simplify and not pairs:
            simpler = self._simplified(callee, args)
            if simpler is not None:
                return simpler
        key = None
        if self.simplify:
            args = in_floats(callee, args)
        if self.simplify and callee not in _ALLOCATIONS:
            key = _expression_key(callee, args, pairs)
            known = self._find(key)
            if known is not None:
                return known
        result = Value(hint, self.typed(callee, args, pairs))
        op = Apply(callee, args, pairs, result, self.loc)
        self._add(op)
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
        self._add(op)
        self._definitions[result] = op
        return result

    def typed(
        self,
        callee: Callable[..., Any],
        args: tuple[Atom, ...],
        keywords: tuple[tuple[str, Atom], ...] = (),
    ) -> Type:
        """The type of a call's result, in this builder's view of NumPy scalars."""
        sizes = args if callee in _COUNTING else tuple(map(self._as_size, args))
        kind = result_type(callee, sizes, keywords)
        if kind == NumPyScalar("float64") and any(map(is_narrow, args)):
            return kind  # beside float32 it is not the Python float it stands for
        if callee in (np.array, np.asarray):
            kind = self._counted(kind, args[0])
        elif callee is operator.getitem and isinstance(kind, Array) and None in (kind.dims or ()):
            kind = self._sliced(kind, *args)
        elif callee is np.arange and not keywords and list(map(_is_integer, args)) == [True, True]:
            size = linear.to_size(self.count(args[1]) - self.count(args[0]))
            kind = Array("int64", (size,))
        return kind if self.exact else scalars_as_python(kind)

    def _counted(self, kind: Type, items: Atom) -> Type:
        """The type of an array made of a display, as long as that."""
        made = self.definition(items)
        dims = dims_of(kind)
        if made is None or made.callee not in (make_list, make_tuple) or not dims:
            return kind
        assert isinstance(kind, Array)
        return Array(kind.dtype, (len(made.args), *dims[1:]))

    def _sliced(self, kind: Array, array: Atom, index: Atom) -> Type:
        """The type of slices whose ends are known at run time: with equal ends of equal size."""
        made = self.origin(index)
        parts = made.args if made is not None and made.callee is make_tuple else (index,)
        source = atom_type(array)
        if not isinstance(source, Array) or source.dims is None:
            return kind
        axes, sizes = list(source.dims), list(kind.dims or ())
        found: list[Size] = []
        every = Literal(slice(None))
        for part in without_ellipsis(parts, every, len(axes), atom_type):
            match atom_type(part):
                case Opaque(name="None"):
                    found.append(sizes.pop(0))
                case Number(kind="int"):
                    axes.pop(0)
                case Opaque(name="slice"):
                    size, whole = sizes.pop(0), axes.pop(0)
                    found.append(self._piece(whole, part) if size is None else size)
                case _:
                    return kind
        return Array(kind.dtype, (*found, *sizes))

    def _piece(self, whole: Size, part: Atom) -> Size:
        made, total = self.origin(part), linear.of_size(whole)
        if total is None or made is None or made.callee is not slice or len(made.args) != 3:
            return None
        first, last, step = made.args
        if not isinstance(step, Literal) or step.value not in (None, 1):
            return None
        start = linear.constant(0) if _is_none(first) else self.count(first)
        stop = None if _is_none(last) else self.count(last)
        inside = linear.cut(total, start, total if stop is None else stop)
        if inside is None:
            total = linear.related(total, (start,) if stop is None else (start, stop))
            if total is not None:
                inside = linear.cut(total, start, total if stop is None else stop)
        return Dim(Piece(whole, start, stop)) if inside is None else linear.to_size(inside)

    def _as_size(self, atom: Atom) -> Atom:
        """An integer that arithmetic has made, with what it is as a size."""
        op = self.origin(atom) if _is_integer(atom) else None
        total = None if op is None else self.sum_of(op.callee, op.args)
        if total is None:
            return atom
        size = linear.to_size(total)
        return Value("", Number("int", size)) if isinstance(size, Dim) else atom

    def count(self, atom: Atom, depth: int = 4) -> Linear:
        """An integer in terms of others."""
        if isinstance(atom, Literal):
            return linear.constant(atom.value)
        size = atom.type.size if isinstance(atom.type, Number) else None
        if size is not None and isinstance(size.base, str):
            exactly = linear.of_size(size)
            if exactly is not None and exactly != linear.term(size):
                return exactly
        op = self.origin(atom)
        found = None if op is None or not depth else self.sum_of(op.callee, op.args, depth - 1)
        return linear.term(atom) if found is None else found

    def sum_of(
        self, callee: Callable[..., Any], args: tuple[Atom, ...], depth: int = 4
    ) -> Linear | None:
        """What arithmetic makes of integers, in terms of others; None if it is not such."""
        if callee not in _COUNTING or len(args) != 2 or not all(map(_is_integer, args)):
            return None
        x, y = (self.count(a, depth) for a in args)
        if callee is operator.add:
            return x + y
        if callee is operator.sub:
            return x - y
        if callee is operator.mul:
            return linear.product(x, y)
        return linear.share(x, y.number) if not y.terms and y.number > 0 else None

    def effect(
        self, callee: Callable[..., Any], *args: Atom, result: Value | None = None, **keywords: Atom
    ) -> Value | None:
        """A call that is kept, in order."""
        self._add(Effect(callee, args, tuple(keywords.items()), result, self.loc))
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
        self.append(Update(callee, target, args, version, result, self.loc, path))
        return version

    def accumulate(self, target: Atom, index: Atom | None, term: Atom, hint: str = "") -> Value:
        """``target[index] += term``, or ``target + term``; the next version of the target."""
        if self.simplify and index is None:
            term = self.narrow(term, target)
        elif self.simplify and index is not None and isinstance(atom_type(target), Array):
            term = scalar_of(self, term)  # what a dict does not have yet, the term becomes
            known = dims_of(atom_type(target))
            index = self._alone(plain_index(index, None if known is None else len(known)))
        if self.simplify and index is None and (number := self._repeated(target, term)) is not None:
            total = self.apply(operator.add, term, number, hint=hint)
            if isinstance(total, Value):
                return total
        if self.shorten and index is None:
            joined = joined_choice(self, operator.add, target, term)
            if isinstance(joined, Value):
                return joined
        name = hint or (target.hint if isinstance(target, Value) else "")
        if index is None and self.shorten and isinstance(atom_type(term), Array):
            shorter = self._sum_with_negative(target, term, name)
            if isinstance(shorter, Value):
                return shorter
        if index is None:
            kind = self.typed(operator.add, (target, term))
        else:
            kind = atom_type(target)
        version = Value(name, kind)
        op = Accumulate(target, index, term, version, self.loc)
        self._accumulations[version] = op
        version.masked = is_masked(self, version)
        self._add(op)
        return version

    def _alone(self, index: Atom) -> Atom:
        """The array of an index that is a tuple of one."""
        op = self.recipe(index)
        if op is None or op.callee is not make_tuple or len(op.args) != 1:
            return index
        return op.args[0] if isinstance(atom_type(op.args[0]), Array) else index

    def _sum_with_negative(self, target: Atom, term: Atom, name: str) -> Atom | None:
        """A sum that begins with a negative, with nothing negated."""
        first, second = self.negated(target), self.negated(term)
        if first is None:
            return None
        if second is None:
            return self.apply(operator.sub, term, first, hint=name)
        return self.apply(operator.neg, self.apply(operator.add, first, second), hint=name)

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

        read = renaming(mapping)

        made = [map_atoms(op, read, lambda v: v) for op in self.ops[mark:]]
        del self.ops[mark:]
        for op in made:
            self.append(op)

    def mark(self) -> tuple[int, int, int]:
        """A point to which ``rewind`` can return."""
        return len(self.ops), len(self._definitions), len(self._written)

    def rewind(self, mark: tuple[int, int, int]) -> None:
        """Take back the operations made since, and what is known of them."""
        count, defined, written = mark
        gone = {r for op in self.ops[count:] for r in results(op)}
        del self.ops[count:]
        for noted, number in ((self._definitions, defined), (self._written, written)):
            while len(noted) > number:
                noted.popitem()
        for key in [k for k, value in self._computed.items() if value in gone]:
            del self._computed[key]

    def _add(self, op: Op) -> None:
        self.ops.append(op)
        if self.watch is not None:
            self.watch(op)

    def append(self, op: Op) -> None:
        """An operation made elsewhere."""
        self._add(op)
        if isinstance(op, Apply):
            self._definitions[op.result] = op
        else:
            self._others.update(results(op))
            self.write_over(overwritten(op))

    def write_over(self, versions: Iterable[Value]) -> None:
        """Note versions that are written from here on: by what comes next, or by a loop around."""
        self._written.update(dict.fromkeys(v for v in versions if isinstance(v.type, Array)))

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

    def accumulation(self, atom: Atom) -> Accumulate | None:
        """The accumulation that makes a version of an adjoint, in this block or one around it."""
        if not isinstance(atom, Value):
            return None
        builder: Builder | None = self
        while builder is not None:
            op = builder._accumulations.get(atom)
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
            if known is not None and not (self._written and self._is_stale(known)):
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
        if other is None or not all(is_real_number(a) for a in args):
            return callee
        if other in _FLOAT_ONLY and not any(number_kind(a) == "float" for a in args):
            return callee
        return other

    def _simplified(self, callee: Callable[..., Any], args: tuple[Atom, ...]) -> Atom | None:
        rule = SIMPLIFY.get(callee)
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
        if op is not None and op.callee is operator.getitem and leading_axes(op.args[1]):
            # new axes before all others are there already
            have, most = dims_of(atom_type(atom)), dims_of(atom_type(other))
            return op.args[0] if have and most and len(most) >= len(have) else atom
        if op is None or op.callee is not np.broadcast_to:
            return atom
        if same_shape(atom_type(other), atom_type(atom)):
            return op.args[0]
        return op.args[0] if shape_root(self, other) is shape_root(self, atom) else atom


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


def _is_integer(atom: Atom) -> bool:
    if isinstance(atom, Literal):
        return type(atom.value) is int
    return isinstance(atom.type, Number) and atom.type.kind == "int"


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value is None


def _expression_key(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> object:
    def part(atom: Atom) -> object:
        if isinstance(atom, Value):
            return atom
        key = literal_key(atom.value)
        return key if hashable(key) else atom

    args = in_floats(callee, args)
    return (id(callee), tuple(map(part, args)), tuple((k, part(a)) for k, a in keywords))
