"""Sums of products in nests of three loops are products of matrices.

    for i in range(0, m, 1) with b        |    p = upper_times(a.T, b, 1)
      for j in range(0, n, 1) …           |    for i in range(0, m, 1) with b
        t = getitem(b, (i, j))            |      for j in range(0, n, 1) …
        t.3 = for k in range(i + 1, m, 1) |        t = getitem(b, (i, j))
            with t.1 = t                  |        t.4 = getitem(p, (i, j))
          x = getitem(a, (k, i))          |        t.3 = add(t, t.4)
          y = getitem(b, (k, j))          |
          t.2 = add(t.1, mul(x, y))       |
        b.2 = setitem(b, (i, j), t.3)     |        b.2 = setitem(b, (i, j), t.3)

What is summed up over a counter is computed for all places at once, before the nest, from the
arrays as they are there: it has to be proven that each element is read before it is written.  What
an inner loop adds to an array is added after the nest: it has to be proven that each element is
read, and set, before something is added to it.

A counter may be bounded by another one; then a triangle of one of the matrices takes part.  BLAS
multiplies several times as fast as a loop, and the derivative of a product is two products; that of
a loop that writes over what it reads keeps all that it has written.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from srcad import runtime
from srcad.analysis.affine import Affine, Symbol, only
from srcad.analysis.integers import Facts
from srcad.analysis.nests import Access, Counter, Nest, nest_of
from srcad.ir import Apply, Atom, Block, For, Literal, Loc, Op, Update, Value
from srcad.ir.build import Builder
from srcad.ir.core import literal_values, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import FLOAT, Array, Number, NumPyScalar
from srcad.ir.walk import all_ops, map_atoms, map_blocks, operands, rename_values, renaming
from srcad.passes.dce import prune_block

_FEW = 8
"""Sums of fewer products, or for fewer places, stay as they are."""


def products_of_matrices(block: Block) -> Block:
    """The block with products of matrices for nests that compute them."""
    if not any(isinstance(inner, For) for op in all_ops(block) for inner in _loops_in(op)):
        return block
    pruned = prune_block(block)
    found = _Pass(pruned)
    made = found.block(pruned)
    return _without_idle(prune_block(made)) if found.count else block


def _loops_in(op: Op) -> tuple[Op, ...]:
    return op.body.ops if isinstance(op, For) else ()


# ---- what is summed up


@dataclass(frozen=True, slots=True)
class _Factor:
    """A number that does not change in the nest, or an element of an array."""

    atom: Atom
    axes: tuple[Affine, ...] | None
    """Which element; None for a number."""
    base: Value | None = None


@dataclass(frozen=True, slots=True)
class _Product:
    """A term of a sum: factors in the order in which they are multiplied."""

    factors: tuple[_Factor, ...]
    is_negative: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """Products that are summed up over one of three counters."""

    products: list[_Product]
    counters: tuple[Counter, Counter, Counter]
    """Of the rows, of the columns, and the one that is summed over."""
    op: Op
    """What adds to an array; the call that is a sum; or the loop."""
    slot: int = 0
    """Of a loop, or of the nest: which carried value is added to."""
    target: tuple[Affine, ...] = ()
    """The element that is added to."""
    loc: Loc | None = None


class _Pass:
    def __init__(self, block: Block) -> None:
        self.facts = Facts()
        self.count = 0
        self.facts.note(block)

    def block(self, block: Block) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, For):
                nest = nest_of(op, self.facts)
                made = None if nest is None else _Rewriting(nest).ops()
                if made is not None:
                    self.count += 1
                    ops += [map_blocks(o, self.block) for o in made]
                    continue
                self.facts.enter_loop(op)
            ops.append(map_blocks(op, self.block))
        return replace(block, ops=tuple(ops))


class _Rewriting:
    """A nest, and what is made of it."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.facts = nest.facts
        self.readers: dict[Value, list[Op]] = {}
        for op in all_ops(nest.loop.body):
            for atom in operands(op):
                if isinstance(atom, Value):
                    self.readers.setdefault(atom, []).append(op)
        self.ends = {y for op in self._blocks() for y in op.yields}

    def _blocks(self) -> Iterator[Block]:
        yield self.nest.loop.body
        for op in all_ops(self.nest.loop.body):
            if isinstance(op, For):
                yield op.body

    def ops(self) -> list[Op] | None:
        """The operations that take the place of the nest; None if it stays."""
        changed: dict[Op, _Matrix] = {}
        for found in list(self._sums()):
            matrix = _Contraction(self.nest, found).make()
            if matrix is not None:
                changed[found.op] = matrix
        return _replaced(self.nest.loop, changed, self.nest.chain) if changed else None

    # ---- candidates

    def _sums(self) -> Iterator[_Sum]:
        for op in all_ops(self.nest.loop.body):
            match op:
                case Update(callee=operator.iadd | operator.isub) if op in self._adding():
                    found = self._added(op)
                    if found is not None:
                        yield found
                case Apply(callee=operator.matmul | np.matmul | np.dot, args=(left, right)):
                    found = self._inner_product(op, left, right)
                    if found is not None:
                        yield found
                case For():
                    for slot in range(len(op.carried)):
                        found = self._running_sum(op, slot)
                        if found is not None:
                            yield found
                            break
                case _:
                    pass

    def _adding(self) -> set[Op]:
        return {a.op for a in self.nest.accesses if a.adds}

    def _added(self, op: Update) -> _Sum | None:
        """What is added to elements of which nothing is read or set after that."""
        (access,) = (a for a in self.nest.accesses if a.op is op and a.writes)
        others = [a for a in self.nest.accesses if a.chain == access.chain and not a.adds]
        if access.axes is None or len(access.counters) != 3 or not _is_real(op.target):
            return None
        if not all(self.nest.comes_before(other, access) for other in others):
            return None
        places = [self._counter(form, access.counters) for form in access.axes]
        rows_and_columns = [c for c in places if c is not None]
        if len(set(rows_and_columns)) != 2 or len(rows_and_columns) != 2:
            return None
        (inner,) = (c for c in access.counters if c not in rows_and_columns)
        slices = list(access.counters[access.loops :])
        products = self._products(op.args[1], slices, op.callee is operator.isub)
        row, column = rows_and_columns
        return self._checked(products, (row, column, inner), op, access.chain, access.axes, op.loc)

    def _inner_product(self, op: Apply, left: Atom, right: Atom) -> _Sum | None:
        if op.keywords or atom_type(op.result) not in (FLOAT, NumPyScalar("float64")):
            return None
        around = self.nest.around[op]
        slices: list[Counter] = []
        first, second = self._products(left, slices), self._products(right, slices)
        if len(slices) != 1 or len(around) != 2 or first is None or second is None:
            return None
        products = _multiplied(first, second)
        return self._checked(products, (*around, slices[0]), op, loc=op.loc)

    def _running_sum(self, loop: For, slot: int) -> _Sum | None:
        """What a loop adds to a number, and does nothing else with."""
        param, end = loop.carried_params[slot], loop.body.yields[slot]
        around = self.nest.around[loop]
        if param.type != FLOAT or len(around) != 2 or param is end:
            return None
        made = self.facts.made
        products: list[_Product] = []
        value, loc = end, None
        while value is not param:
            op = made.get(value) if isinstance(value, Value) else None
            if op is None or op.callee not in (operator.add, operator.sub):
                return None
            if self.nest.parent.get(op) is not loop or not self._once(value, value is end):
                return None
            total, term = op.args
            if op.callee is operator.add and not self._leads_to(total, param, loop):
                total, term = term, total
            more = self._products(term, [], op.callee is operator.sub)
            if more is None or term is param:
                return None
            products += more
            value, loc = total, op.loc
        if not self._once(param, False):
            return None
        counter = self._own_counter(loop)
        return self._checked(products, (*around, counter), loop, slot, loc=loc or loop.loc)

    def _own_counter(self, loop: For) -> Counter:
        first = next(op for op in loop.body.ops)
        return self.nest.around[first][-1]

    def _leads_to(self, atom: Atom, param: Value, loop: For) -> bool:
        while atom is not param:
            op = self.facts.made.get(atom) if isinstance(atom, Value) else None
            if op is None or self.nest.parent.get(op) is not loop:
                return False
            if op.callee not in (operator.add, operator.sub):
                return False
            atom = op.args[0] if self._leads_to(op.args[0], param, loop) else op.args[1]
        return True

    def _once(self, value: Atom, is_end: bool) -> bool:
        """Whether a value is read by one operation, or is yielded."""
        if not isinstance(value, Value):
            return False
        readers = self.readers.get(value, [])
        if is_end:
            yields = [y for b in self._blocks() for y in b.yields if y is value]
            return not readers and len(yields) == 1
        return value not in self.ends and sum(operands(o).count(value) for o in readers) == 1

    def _counter(self, form: Affine, counters: tuple[Counter, ...]) -> Counter | None:
        """The counter that a sum has, once, besides what does not change; None if it has none."""
        found = [
            c for c in counters for s, f in form.terms if f == 1 and s.axis is None
            and s.value is c.value
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _checked(
        self,
        products: list[_Product] | None,
        counters: tuple[Counter, ...],
        op: Op,
        slot: int = 0,
        target: tuple[Affine, ...] = (),
        loc: Loc | None = None,
    ) -> _Sum | None:
        """A sum, if each of its products is one of two elements that share the last counter."""
        if not products or len(counters) != 3:
            return None
        row, column, inner = counters
        for product in products:
            elements = [f for f in product.factors if f.axes is not None]
            if len(elements) != 2:
                return None
            pairs = [self._pair(f, counters) for f in elements]
            if {row, inner} not in pairs or {column, inner} not in pairs:
                return None
            if not all(self._is_as_before(f, op) for f in elements):
                return None
        return _Sum(products, (row, column, inner), op, slot, target, loc)

    def _pair(self, factor: _Factor, counters: tuple[Counter, ...]) -> set[Counter] | None:
        """The counters that an element depends on, if there are two, each in an axis of its own."""
        assert factor.axes is not None
        found: list[Counter] = []
        for form in factor.axes:
            counter = self._counter(form, counters)
            if counter is not None:
                found.append(counter)
            rest = [s for s, _ in form.terms if counter is None or s.value is not counter.value]
            if any(s.axis is None and s.value in self.nest.inside for s in rest):
                return None
        return set(found) if len(found) == len(set(found)) == 2 else None

    def _is_as_before(self, factor: _Factor, at: Op) -> bool:
        """Whether an element is read before anything is written there."""
        assert factor.base is not None
        slot = self.nest.chain.get(factor.base)
        if slot is None:
            return factor.base not in self.nest.inside
        writes = [a for a in self.nest.accesses if a.chain == slot and a.writes]
        reads = [a for a in self.nest.accesses if a.chain == slot and not a.writes]
        own = [a for a in reads if a.axes is not None and self._is_read_by(a, factor)]
        return bool(own) and all(self.nest.comes_before(a, w) for a in own for w in writes)

    def _is_read_by(self, access: Access, factor: _Factor) -> bool:
        return isinstance(access.op, Apply) and (
            access.op.result is factor.atom or factor.atom in operands(access.op)
        )

    # ---- terms

    def _products(
        self, atom: Atom, slices: list[Counter], is_negative: bool = False
    ) -> list[_Product] | None:
        """The products that a term is a sum of, where counters go through its slices."""
        if not isinstance(atom, Value) or atom not in self.nest.inside:
            kind = atom_type(atom)
            if isinstance(kind, Number) and kind.kind in ("float", "int"):
                return [_Product((_Factor(atom, None),), is_negative)]
            return self._element(atom, slices, is_negative)
        op = self.facts.made.get(atom) if isinstance(atom, Value) else None
        if op is not None and not op.keywords and _is_arithmetic(op):
            if op.callee is operator.neg:
                return self._products(op.args[0], slices, not is_negative)
            first = self._products(op.args[0], slices, is_negative)
            if op.callee is operator.mul:
                second = self._products(op.args[1], slices)
                return None if first is None or second is None else _multiplied(first, second)
            changes = op.callee is operator.sub
            second = self._products(op.args[1], slices, is_negative != changes)
            return None if first is None or second is None else [*first, *second]
        return self._element(atom, slices, is_negative)

    def _element(
        self, atom: Atom, slices: list[Counter], is_negative: bool
    ) -> list[_Product] | None:
        op = self.facts.made.get(atom) if isinstance(atom, Value) else None
        kind = atom_type(atom)
        if kind in (FLOAT, NumPyScalar("float64")):
            if op is None or op.callee is not operator.getitem:
                return None
            whole = self.nest.region(op.args[0])
            region = None if whole is None else self.nest.part(whole, op.args[1])
        else:
            region = self.nest.region(atom)
        if region is None or not _is_real(region.base) or len(region.free) > 1:
            return None
        axes = self.nest.along(region, slices)
        if axes is None:
            return None
        return [_Product((_Factor(atom, axes, region.base),), is_negative)]


def _is_real(base: Value) -> bool:
    return isinstance(base.type, Array) and base.type.dtype == "float64"


def _is_arithmetic(op: Apply) -> bool:
    return op.callee in (operator.add, operator.sub, operator.mul, operator.neg)


def _multiplied(first: list[_Product], second: list[_Product]) -> list[_Product] | None:
    """The product of two sums, if one of them is a single term."""
    if len(first) > 1 and len(second) > 1:
        return None
    return [
        _Product((*a.factors, *b.factors), a.is_negative != b.is_negative)
        for a in first
        for b in second
    ]


# ---- the product


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A sum for all places."""

    sum: _Sum
    value: Value
    index: Atom
    """The element in the nest; or the part of the array that it is added to after the nest."""
    made: list[Op]
    """What computes it."""
    is_early: bool
    """Whether it is computed before the nest, which writes an array that it is made of."""
    inside: list[Op]
    """What computes the index in the nest."""


@dataclass(frozen=True, slots=True)
class _Span:
    """The places that a counter goes through in a matrix."""

    low: Affine
    high: Affine


@dataclass(frozen=True, slots=True)
class _Triangle:
    """``bounded >= by + offset``, or ``bounded < by + offset``."""

    bounded: Counter
    by: Counter
    offset: Affine
    is_lower_bound: bool


class _Contraction:
    """The matrix of a sum, for all places."""

    def __init__(self, nest: Nest, found: _Sum) -> None:
        self.nest = nest
        self.facts = nest.facts
        self.sum = found
        self.builder = Builder(exact=False)
        self.inner = Builder(exact=False)
        self.builder.loc = self.inner.loc = found.loc
        self.spans: dict[Counter, _Span] = {}
        self.triangle: _Triangle | None = None

    def make(self) -> _Matrix | None:
        """The matrix; None if it cannot be computed outside of the nest."""
        if not self._bounds() or any(map(self._is_short, self.sum.counters)):
            return None
        row, column, _ = self.sum.counters
        total: Atom | None = None
        products = list(self.sum.products)
        while products:
            product = products.pop(0)
            mirrored = next((p for p in products if self._is_mirrored(product, p)), None)
            if mirrored is not None:
                products.remove(mirrored)
                term = self._with_transpose(product, mirrored)
            else:
                term = self._product(product)
            if term is None:
                return None
            if total is None:
                total = self.builder.apply(operator.neg, term) if product.is_negative else term
            else:
                sign = operator.sub if product.is_negative else operator.add
                total = self.builder.apply(sign, total, term)
        if not isinstance(total, Value):
            return None
        index: Atom | None
        if isinstance(self.sum.op, Update):
            parts = self._index(self.sum.target, self.sum.op.target)
            index = None if parts is None else self._tuple(parts)
        else:
            index = self._place(row, column)
        if index is None:
            return None
        factors = [f for p in self.sum.products for f in p.factors]
        is_early = not isinstance(self.sum.op, Update) or any(
            f.base in self.nest.chain for f in factors if f.base is not None
        )
        return _Matrix(self.sum, total, index, self.builder.ops, is_early, self.inner.ops)

    def _place(self, row: Counter, column: Counter) -> Atom | None:
        """The element of the matrix in a turn of the nest."""
        parts: list[Atom] = []
        for counter in (row, column):
            low = self._atom(self.spans[counter].low)
            if low is None:
                return None
            is_first = isinstance(low, Literal) and low.value == 0
            value = counter.value
            parts.append(value if is_first else self.inner.apply(operator.sub, value, low))
        return self.inner.apply(make_tuple, *parts)

    def _is_short(self, counter: Counter) -> bool:
        span = self.spans[counter]
        length = span.high - span.low
        return length.is_known and length.const < _FEW

    # ---- spans

    def _bounds(self) -> bool:
        """Find what the counters go through, and which one is bounded by which."""
        own = {c.value: c for c in self.sum.counters}
        for counter in self.sum.counters:
            by = [self._bounding(form, own) for form in (counter.low, counter.high)]
            if not all(ok for ok, _ in by):
                return False
            (_, below), (_, above) = by
            if below is not None and above is not None:
                return False
            if below is None and above is None:
                self.spans[counter] = _Span(counter.low, counter.high)
                continue
            other = below or above
            if self.triangle is not None or other is None:
                return False
            form = counter.low if below is not None else counter.high
            offset = form - self.facts.form(other.value)
            self.triangle = _Triangle(counter, other, offset, below is not None)
        if self.triangle is not None:
            self._span_of_bounded(self.triangle)
        return True

    def _bounding(self, form: Affine, own: dict[Value, Counter]) -> tuple[bool, Counter | None]:
        """Whether a bound is a sum of what does not change, and of one counter at most."""
        found = None
        for symbol, factor in form.terms:
            if symbol.axis is None and symbol.value in own:
                if found is not None or factor != 1:
                    return False, None
                found = own[symbol.value]
            elif symbol.axis is None and symbol.value in self.nest.inside:
                return False, None
        return True, found

    def _span_of_bounded(self, triangle: _Triangle) -> None:
        """All of an axis if it can be: what is beside the triangle is left out anyway."""
        counter, by = triangle.bounded, self.spans[triangle.by]
        if triangle.is_lower_bound:
            whole = self._starts_at_zero(counter)
            low = Affine(0) if whole else by.low + triangle.offset
            self.spans[counter] = _Span(low, counter.high)
            return
        size = self._common_size(counter)
        high = by.high - 1 + triangle.offset if size is None else size
        self.spans[counter] = _Span(counter.low, high)

    def _places(self, counter: Counter) -> Iterator[tuple[Affine, Affine]]:
        """The offset of a counter in each axis that it is in, and the size of the axis."""
        symbol = self._symbol(counter)
        elements = [
            (f.axes, f.base) for p in self.sum.products for f in p.factors if f.axes is not None
        ]
        if isinstance(self.sum.op, Update):
            elements.append((self.sum.target, self.sum.op.target))
        for axes, base in elements:
            assert base is not None
            for axis, form in enumerate(axes):
                if any(s is symbol for s, _ in form.terms):
                    yield form - self.facts.form(counter.value), self.facts.size(base, axis)

    def _symbol(self, counter: Counter) -> Symbol:
        (symbol,) = self.facts.form(counter.value).symbols
        return symbol

    def _starts_at_zero(self, counter: Counter) -> bool:
        return all(offset == Affine(0) for offset, _ in self._places(counter))

    def _common_size(self, counter: Counter) -> Affine | None:
        """The size of all axes that a counter is in, if it stands there alone."""
        sizes = {size for _, size in self._places(counter)}
        return sizes.pop() if self._starts_at_zero(counter) and len(sizes) == 1 else None

    # ---- matrices

    def _is_mirrored(self, one: _Product, other: _Product) -> bool:
        """Whether the matrix of a product is the transpose of that of another one."""
        row, column, _ = self.sum.counters
        if self.spans[row] != self.spans[column] or len(one.factors) != len(other.factors):
            return False
        numbers, others = ([f.atom for f in p.factors if f.axes is None] for p in (one, other))
        return numbers == others and all(
            any(f.base is g.base and self._swapped(f.axes) == g.axes for g in other.factors)
            for f in one.factors
            if f.axes is not None
        )

    def _swapped(self, axes: tuple[Affine, ...]) -> tuple[Affine, ...]:
        """The element where rows are columns."""
        row, column, _ = self.sum.counters
        first, second = self._symbol(row), self._symbol(column)
        names = {first: self.facts.form(column.value), second: self.facts.form(row.value)}
        return tuple(
            sum((names.get(s, only(s)).times(f) for s, f in form.terms), Affine(form.const))
            for form in axes
        )

    def _with_transpose(self, product: _Product, mirrored: _Product) -> Atom | None:
        """The sum of a product and its transpose, or the difference, from one product."""
        triangle, self.triangle = self.triangle, None
        made = self._product(replace(product, is_negative=False))
        self.triangle = triangle
        if made is None:
            return None
        sign = operator.add if product.is_negative == mirrored.is_negative else operator.sub
        whole = self.builder.apply(sign, made, self.builder.apply(np.ndarray.T, made))
        if triangle is None:
            return whole
        is_upper, k = self._diagonal(triangle)
        if k is None:
            return None
        return self.builder.apply(np.triu if is_upper else np.tril, whole, k)

    def _product(self, product: _Product) -> Atom | None:
        row, column, inner = self.sum.counters
        left = right = None
        numbers: list[Atom] = []
        for factor in product.factors:
            if factor.axes is None:
                numbers.append(factor.atom)
                continue
            counters = [self._counter_of(form) for form in factor.axes]
            if row in counters:
                left = self._matrix(factor, row, inner)
                if left is None:
                    return None
            else:
                right = self._matrix(factor, inner, column)
                if right is None:
                    return None
        if left is None or right is None:
            return None
        made = self._times(left, right)
        for atom in numbers:
            made = None if made is None else self.builder.apply(operator.mul, made, atom)
        return made

    def _counter_of(self, form: Affine) -> Counter | None:
        for counter in self.sum.counters:
            if any(s is self._symbol(counter) for s, _ in form.terms):
                return counter
        return None

    def _times(self, left: Atom, right: Atom) -> Atom | None:
        """The product of two matrices, of which a triangle may take part."""
        row, _, inner = self.sum.counters
        apply = self.builder.apply
        if self.triangle is None:
            return apply(operator.matmul, left, right)
        bounded, by = self.triangle.bounded, self.triangle.by
        is_upper, k = self._diagonal(self.triangle)
        if k is None:
            return None
        if inner not in (bounded, by):
            part = runtime.upper_of_product if is_upper else runtime.lower_of_product
            return apply(part, left, right, k)
        times = runtime.upper_times if is_upper else runtime.lower_times
        if row in (bounded, by):
            return apply(times, left, right, k)
        turned = (apply(np.ndarray.T, m) for m in (right, left))
        return apply(np.ndarray.T, apply(times, *turned, k))

    def _diagonal(self, triangle: _Triangle) -> tuple[bool, Atom | None]:
        """Whether a triangle is above a diagonal, and which: of rows and columns, or else inner."""
        row, column, inner = self.sum.counters
        bounded, by = triangle.bounded, triangle.by
        # where both count from 0: bounded >= by + start, or bounded <= by + start - 1
        start = self.spans[by].low - self.spans[bounded].low + triangle.offset
        is_upper = triangle.is_lower_bound
        offset = start if is_upper else start - 1
        if bounded is row or (bounded is column and by is inner):
            is_upper, offset = not is_upper, offset.times(-1)
        return is_upper, self._atom(offset)

    def _matrix(self, factor: _Factor, first: Counter, second: Counter) -> Atom | None:
        """The elements that a factor goes through, by two counters."""
        assert factor.axes is not None
        assert factor.base is not None
        base: Atom = factor.base
        if factor.base in self.nest.chain:
            base = self.nest.loop.carried[self.nest.chain[factor.base]]
        index = self._index(factor.axes, factor.base)
        if index is None:
            return None
        made = self._part(base, index)
        order = [c for c in map(self._counter_of, factor.axes) if c is not None]
        return made if order == [first, second] else self.builder.apply(np.ndarray.T, made)

    def _part(self, base: Atom, index: tuple[Atom, ...]) -> Atom:
        if all(isinstance(p, Literal) and p.value == slice(None) for p in index):
            return base
        return self.builder.apply(operator.getitem, base, self._tuple(index))

    def _tuple(self, index: tuple[Atom, ...]) -> Atom:
        values = literal_values(index)
        return self.builder.apply(make_tuple, *index) if values is None else Literal(values)

    def _index(self, axes: tuple[Affine, ...], base: Value) -> tuple[Atom, ...] | None:
        """The index of the part of an array that the counters go through."""
        parts: list[Atom] = []
        for axis, form in enumerate(axes):
            counter = self._counter_of(form)
            if counter is None:
                part = self._atom(form)
            else:
                part = self._slice(form, counter, self.facts.size(base, axis))
            if part is None:
                return None
            parts.append(part)
        return tuple(parts)

    def _slice(self, form: Affine, counter: Counter, size: Affine) -> Atom | None:
        span = self.spans[counter]
        offset = form - self.facts.form(counter.value)
        low, high = span.low + offset, span.high + offset
        if not self._is_inside(form, counter, size):
            return None
        start: Atom | None = Literal(None) if low == Affine(0) else self._atom(low)
        beyond = high - size
        if beyond == Affine(0):
            stop: Atom | None = Literal(None)
        elif beyond.is_known and beyond.const < 0:
            stop = Literal(beyond.const)
        else:
            stop = self._atom(high)
        if start is None or stop is None:
            return None
        if isinstance(start, Literal) and isinstance(stop, Literal):
            return Literal(slice(start.value, stop.value))
        return self.builder.apply(slice, start, stop, Literal(None))

    def _is_inside(self, form: Affine, counter: Counter, size: Affine) -> bool:
        """Whether all that a counter goes through is proven to be in an axis."""
        positive, span = self.facts.is_positive, self.spans[counter]
        offset = form - self.facts.form(counter.value)
        loops = positive(form) and positive(size - form - 1)
        return loops and positive(span.low + offset) and positive(size - span.high - offset)

    def _atom(self, form: Affine) -> Atom | None:
        """A sum as a value outside of the nest; None if it cannot be said there."""
        total: Atom | None = None
        for symbol, factor in form.terms:
            value: Atom = symbol.value
            if symbol.axis is not None:
                if symbol.value in self.nest.inside:
                    return None
                shape = self.builder.apply(np.shape, symbol.value)
                value = self.builder.apply(operator.getitem, shape, Literal(symbol.axis))
            elif symbol.value in self.nest.inside or not self.facts.is_value(symbol):
                return None
            if factor != 1:
                value = self.builder.apply(operator.mul, value, Literal(factor))
            total = value if total is None else self.builder.apply(operator.add, total, value)
        if total is None:
            return Literal(form.const)
        if form.const:
            return self.builder.apply(operator.add, total, Literal(form.const))
        return total


# ---- the nest without it


def _replaced(loop: For, changed: dict[Op, _Matrix], chain: dict[Value, int]) -> list[Op]:
    """The nest, with elements of matrices for what was summed up in it."""
    before = [op for matrix in changed.values() if matrix.is_early for op in matrix.made]
    made = replace(loop, body=_without(loop.body, changed))
    results_ = list(made.results)
    after: list[Op] = []
    added = [(op, m) for op, m in changed.items() if isinstance(op, Update)]
    for op, matrix in added:
        slot = chain[op.target]
        final, results_[slot] = results_[slot], Value(op.target.hint, op.target.type)
        args = matrix.index, matrix.value
        addition = Update(operator.iadd, results_[slot], args, final, None, matrix.sum.loc)
        after = [*([] if matrix.is_early else matrix.made), addition, *after]
    return [*before, replace(made, results=tuple(results_)), *after]


def _without(block: Block, changed: dict[Op, _Matrix]) -> Block:
    names: dict[Value, Atom] = {}
    read = renaming(names)
    ops: list[Op] = []
    for op in block.ops:
        matrix = changed.get(op)
        match op:
            case Update() if matrix is not None:
                names[op.version] = read(op.target)
            case Apply() if matrix is not None:
                ops += matrix.inside
                ops.append(replace(op, callee=operator.getitem, args=(matrix.value, matrix.index)))
            case For():
                outside = map_atoms(replace(op, body=Block(op.body.params, (), ())), read, _same)
                assert isinstance(outside, For)
                looped = replace(outside, body=rename_values(_without(op.body, changed), names))
                ops += [looped] if matrix is None else _without_sum(looped, matrix)
            case _:
                ops.append(map_atoms(op, read, _same))
    return Block(block.params, tuple(ops), tuple(map(read, block.yields)))


def _without_idle(block: Block) -> Block:
    """The block without what loops carry and do not change, and without loops that do nothing."""
    names: dict[Value, Atom] = {}
    read = renaming(names)
    ops: list[Op] = []
    for plain in block.ops:
        op = map_atoms(plain, read, _same)
        if not isinstance(op, For) or op.stops:
            ops.append(map_blocks(op, _without_idle))
            continue
        body = _without_idle(op.body)
        params = op.carried_params
        kept = [k for k, param in enumerate(params) if body.yields[k] is not param]
        for k, param in enumerate(params):
            if k not in kept:
                names[op.results[k]] = names[param] = op.carried[k]
        if kept or any(not isinstance(o, Apply) for o in body.ops):
            params = (*op.targets, *(params[k] for k in kept))
            yields = tuple(body.yields[k] for k in kept)
            ops.append(
                replace(
                    op,
                    carried=tuple(op.carried[k] for k in kept),
                    body=rename_values(Block(params, body.ops, yields), names),
                    results=tuple(op.results[k] for k in kept),
                )
            )
    return Block(block.params, tuple(ops), tuple(map(read, block.yields)))


def _same(value: Value) -> Value:
    return value


def _without_sum(loop: For, matrix: _Matrix) -> list[Op]:
    """A loop that does not sum up, and the addition of the sum after it."""
    slot = matrix.sum.slot
    yields, ends = list(loop.body.yields), list(loop.results)
    yields[slot] = loop.carried_params[slot]
    result, ends[slot] = ends[slot], Value("", FLOAT)
    start, loc = loop.carried[slot], matrix.sum.loc
    starts_at_zero = isinstance(start, Literal) and start.value == 0
    item = result if starts_at_zero else Value("", FLOAT)
    body = replace(loop.body, yields=tuple(yields))
    made: list[Op] = [replace(loop, body=body, results=tuple(ends)), *matrix.inside]
    made.append(Apply(operator.getitem, (matrix.value, matrix.index), (), item, loc))
    if not starts_at_zero:
        made.append(Apply(operator.add, (start, item), (), result, loc))
    return made
