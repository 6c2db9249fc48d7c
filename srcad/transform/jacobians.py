"""Jacobians: row by row in reverse mode, column by column in forward mode, or the cheaper of both.

One forward sweep serves all rows (Griewank and Walther, Evaluating Derivatives, section 3.2); which
mode costs less is found by counting operations, at the sizes of the call (``analysis/cost``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.analysis.cost import Costs
from srcad.errors import NotDifferentiable
from srcad.frontend import containers, iteration
from srcad.frontend.abstract import (
    Abstract,
    DictRef,
    Entries,
    Fields,
    Items,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    Static,
    TupleRef,
    with_parts,
)
from srcad.frontend.lowering import Lowering
from srcad.ir import Block, Literal, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, NumPyScalar, dims_of, is_complex, rank
from srcad.transform import spaces
from srcad.transform.calls import DifferentiatedCall, Spec
from srcad.transform.defined import check_result, unit_tangent
from srcad.transform.expand import Differentiator, Pulled
from srcad.transform.inner import lower_inner
from srcad.transform.structures import leaves_of

Choice = tuple[dict[int, str], Callable[[dict[str, int]], bool]]
"""The symbols of the example's sizes, and whether forward mode suits given sizes."""


class Jacobian:
    """The Jacobian of one call."""

    def __init__(
        self, differentiator: Differentiator, call: DifferentiatedCall, spec: Spec
    ) -> None:
        self.differentiator = differentiator
        self.call = call
        self.spec = spec
        self.low = call.low

    # ---- the mode

    def choice(self) -> Choice:
        """Whether tangents cost less than adjoints, by the sizes of a call.

        A tangent for each input, or one forward sweep and a reverse sweep for each output.
        """
        low = self.low
        state, mark = dict(low.state), low.builder.mark()
        try:
            inner, tangent, swept = self.differentiator.sweeps(self.call)
        finally:
            low.state = state
            low.builder.rewind(mark)
        kinds = [p.type for p in inner.block.params], [atom_type(y) for y in inner.outputs]
        first = Block((), swept.forward, ())

        def decide(sizes: dict[str, int]) -> bool:
            costs = Costs({**sizes})
            inputs, outputs = map(costs.entries, kinds)
            if inputs is None or outputs is None:
                return False
            if any(map(is_complex, kinds[1])) and not any(map(is_complex, kinds[0])):
                return True  # reverse mode would refuse it
            forward = inputs * costs.of(tangent)
            return forward < costs.of(first) + outputs * costs.of(swept.reverse)

        return dict(low.session.importer.sizes), decide

    # ---- reverse mode

    def by_rows(self) -> Abstract:
        """A gradient for each entry of the result."""
        return beside(*self._row_by_row())

    def _row_by_row(self) -> tuple[Abstract, Abstract | None]:
        """The Jacobian, and the auxiliary data."""
        pulled = self.differentiator.vjp(self.call)

        def rows(leaf: Abstract, ct_of: Callable[[Abstract], Abstract]) -> Abstract:
            return self._rows(pulled, leaf, ct_of)

        return self._per_leaf(pulled.value, rows), pulled.aux

    def _per_leaf(
        self,
        value: Abstract,
        rows: Callable[[Abstract, Callable[[Abstract], Abstract]], Abstract],
        context: Callable[[Abstract], Abstract] | None = None,
    ) -> Abstract:
        """The Jacobian of every leaf of a result, in the structure of the result."""
        if isinstance(value, MaybeUnbound):
            value = self.low.bound(value)
        shape = _mapped(value, self.low.state, lambda leaf: leaf)
        return self._each(shape, rows, context or (lambda ct: ct))

    def _each(
        self,
        shape: Any,
        rows: Callable[[Abstract, Callable[[Abstract], Abstract]], Abstract],
        outer: Callable[[Abstract], Abstract],
    ) -> Abstract:
        if not isinstance(shape, _Nest):
            return rows(shape, outer)
        made = []
        for k, part in enumerate(shape.parts):

            def inside(ct: Abstract, k: int = k) -> Abstract:
                cts = [
                    ct if j == k else _rebuilt(self.low, p, lambda leaf: self._zero(leaf))
                    for j, p in enumerate(shape.parts)
                ]
                return outer(_made(self.low, shape, cts))

            made.append(self._each(part, rows, inside))
        return _made(self.low, shape, made)

    def _zero(self, value: Abstract) -> Abstract:
        """The zero cotangent of a leaf."""
        if isinstance(value, Value):
            return containers.wrap(self.low, spaces.zeros(self.low.builder, value))
        return Static(0.0)

    def _rows(
        self,
        pulled: Pulled,
        leaf: Abstract,
        ct_of: Callable[[Abstract], Abstract],
    ) -> Abstract:
        """The gradients of one leaf of the result, entry by entry."""
        check_result(self.low, leaf)
        of_reals = not any(is_complex(p.type) for p in pulled.inner.block.params)
        if of_reals and isinstance(leaf, Value) and is_complex(leaf.type):
            raise NotDifferentiable(
                self.low.place(),
                "jacrev of a function of real numbers needs a real result; this one is complex",
                "take its real and imaginary parts, or use jacfwd",
            )
        if isinstance(leaf, Static) or (isinstance(leaf, Value) and rank(leaf.type) == 0):
            kind = leaf.type if isinstance(leaf, Value) else None
            seed = Static(1.0)
            if isinstance(kind, (NumPyScalar, Array)) and kind.dtype not in (None, "float64"):
                seed = Static(np.dtype(kind.dtype).type(1))
            grads = self.differentiator.pull(self.low, pulled, ct_of(seed))
            assert isinstance(grads, TupleRef)
            return grads.items[0] if self.spec.single else grads
        out = self.low.atom(leaf)
        assert isinstance(out, Value)
        basis = self._basis(out)
        lists: list[ListRef] = []
        template: list[Any] = []
        shapes: list[Abstract] = []

        def collect(leaf: Abstract) -> Abstract:
            """Append a leaf of the gradients to a list of its own; the number of the list."""
            if isinstance(leaf, Static) and not isinstance(leaf.value, (int, float, complex)):
                return leaf
            k = len(shapes)
            shapes.append(leaf)
            containers.call_method(self.low, lists[k], "append", [leaf], {})
            return Static(k)

        params = pulled.inner.block.params
        lists += [self.low.new_list(Items(())) for _ in params]
        for ref, param in zip(lists, params, strict=True):
            self.low.session.container_names[ref.place] = _plural(param, "rows", len(params))
        item_key = ("temporary", self.low.session.new_place(), "")

        def put(item: Abstract) -> None:
            self.low.state[item_key] = item

        def body() -> None:
            shapes.clear()
            row = self.low.state.pop(item_key)
            grads = self.differentiator.pull(self.low, pulled, ct_of(row))
            template[:] = [_mapped(grads, self.low.state, collect)]

        assigned = {("place", ref.place, "") for ref in lists}
        name = spaces.value_hint(out, "_bar") or "out_bar"
        iteration.iterate_with(self.low, basis, put, body, assigned, name)
        inputs = pulled.inner.inits

        def stacked_leaf(leaf: Abstract) -> Abstract:
            if not isinstance(leaf, Static) or not isinstance(leaf.value, int):
                return leaf
            rows = self.low.list_atom(lists[leaf.value])
            return self._stacked(rows, out, inputs[leaf.value])

        grads = _rebuilt(self.low, template[0], stacked_leaf)
        assert isinstance(grads, TupleRef)
        return grads.items[0] if self.spec.single else grads

    def _basis(self, out: Value) -> Value:
        """The unit cotangents of an array, one per entry."""
        b = self.low.builder
        kind = out.type
        dtype = kind.dtype if isinstance(kind, Array) else None
        more: dict[str, Any] = {}
        if dtype not in (None, "float64"):
            more["dtype"] = Literal(np.dtype(dtype).type)
        if rank(kind) == 1:
            size = b.apply(len, out)
            square = Array("float64", 2 * (dims_of(kind) or (None,)))
            basis = (
                b.apply(np.eye, size, **more) if more else b.apply_typed(np.eye, (size,), square)
            )
        else:
            eye = b.apply(np.eye, b.apply(np.size, out), **more)
            shape = b.apply(
                operator.add, Literal((0 if _is_empty(out) else -1,)), b.apply(np.shape, out)
            )
            dims = dims_of(kind)
            made = (
                Array(dtype or "float64", (None, *dims)) if dims is not None else Array(dtype, None)
            )
            basis = b.apply_typed(np.reshape, (eye, shape), made)
        assert isinstance(basis, Value)
        return basis

    def _stacked(self, rows: Any, out: Value, leaf: Any) -> Abstract:
        """A list of rows as an array in the shape of the result, then that of the argument."""
        b = self.low.builder
        stacked = b.apply(np.array, rows)
        kind = atom_type(leaf)
        if rank(out.type) == 1 and rank(kind) == 0:
            return containers.wrap(self.low, stacked)
        first = b.apply(np.shape, out)
        shape = first if rank(kind) == 0 else b.apply(operator.add, first, b.apply(np.shape, leaf))
        outer, inner = dims_of(out.type), dims_of(kind)
        dtype = getattr(atom_type(stacked), "dtype", None)
        dims = (*outer, *inner) if outer is not None and inner is not None else None
        if outer is not None and len(outer) == 1 and isinstance(outer[0], int) and outer[0]:
            return b.apply_typed(np.array, (rows,), Array(dtype, dims))  # there is a row
        return b.apply_typed(np.reshape, (stacked, shape), Array(dtype, dims))

    # ---- forward mode

    def by_columns(self) -> Abstract:
        """A derivative in the direction of each entry of the arguments."""
        sources = [self.call.argument(w) for w in self.call.wrt]
        if not self.spec.single and not all(map(_is_one_array, sources)):
            # containers: reverse mode has the structure at hand
            return self.by_rows()
        # each column has auxiliary data, which are the same: there may be no column
        aux = self.differentiator.value(self.call)[1] if self.call.has_aux else None
        columns = [self._columns(w, s) for w, s in zip(self.call.wrt, sources, strict=True)]
        # results outside, arguments inside, as in reverse mode
        return beside(columns[0] if self.spec.single else self._inside_out(columns), aux)

    def _inside_out(self, columns: list[Abstract]) -> Abstract:
        """From one result structure per argument to one tuple of arguments per result leaf."""
        shapes = [_mapped(c, self.low.state, lambda leaf: leaf) for c in columns]
        return self._turned(shapes)

    def _turned(self, shapes: list[Any]) -> Abstract:
        first = shapes[0]
        if not isinstance(first, _Nest):
            return TupleRef(tuple(shapes))
        made = [self._turned([s.parts[k] for s in shapes]) for k in range(len(first.parts))]
        return _made(self.low, first, made)

    def _columns(self, which: int | str, source: Abstract) -> Abstract:
        """The derivative by one argument, in directions one after the other."""
        low, b = self.low, self.low.builder
        call = self.call.by(which)
        if isinstance(source, MaybeUnbound):
            source = low.bound(source)
        numeric = isinstance(source, Static) and isinstance(source.value, (int, float))
        if numeric or (isinstance(source, Value) and rank(source.type) == 0):
            return self.differentiator.tangent(call, [unit_tangent(low, source)])
        if not isinstance(source, Value) or not isinstance(source.type, Array) or _is_empty(source):
            # of containers reverse mode has the structure at hand, of no column the shape
            single = Spec("jacrev", which, self.spec.has_aux)
            return Jacobian(self.differentiator, call, single)._row_by_row()[0]
        basis = self._basis(source)
        item_key = ("temporary", low.session.new_place(), "")
        box: list[Any] = []
        lists: dict[int, ListRef] = {}
        outs: list[Any] = []

        def put(item: Abstract) -> None:
            low.state[item_key] = item

        probe_state, mark = dict(low.state), len(b.ops)
        probe = lower_inner(call, self.differentiator.options)
        low.state = probe_state
        del b.ops[mark:]
        count = len(probe.outputs)
        for k in range(count):
            lists[k] = low.new_list(Items(()))
            name = _plural(probe.outputs[k], "columns", count)
            low.session.container_names[lists[k].place] = name

        def body() -> None:
            direction = low.state.pop(item_key)
            tangent = self.differentiator.tangent(call, [direction])
            outs[:] = leaves_of(low, tangent, low.state)
            box[:] = [tangent]
            for k, leaf in enumerate(outs):
                containers.call_method(low, lists[k], "append", [leaf], {})

        assigned = {("place", ref.place, "") for ref in lists.values()}
        name = spaces.value_hint(source, "_dot") or "dot"
        iteration.iterate_with(low, basis, put, body, assigned, name)
        counter = iter(range(count))

        def joined(leaf: Any) -> Abstract:
            k = next(counter)
            return self._columns_array(lists[k], probe.outputs[k], source)

        shape = _mapped(probe.result, probe.contents, lambda leaf: leaf)
        return _rebuilt(low, shape, joined)

    def _columns_array(self, ref: ListRef, out: Any, source: Value) -> Abstract:
        """A list of directional derivatives as an array: result axes first."""
        b = self.low.builder
        kind = atom_type(out)
        stacked = b.apply(np.array, self.low.list_atom(ref))
        source_rank = rank(source.type)
        if rank(kind) == 0:
            if source_rank == 1:
                return containers.wrap(self.low, stacked)
            shape = b.apply(np.shape, source)
            dtype = getattr(atom_type(stacked), "dtype", None)
            return b.apply_typed(np.reshape, (stacked, shape), Array(dtype, dims_of(source.type)))
        moved = b.apply(np.moveaxis, stacked, Literal(0), Literal(-1))
        if source_rank == 1:
            return containers.wrap(self.low, moved)
        shape = b.apply(
            operator.add,
            b.apply(operator.getitem, b.apply(np.shape, moved), Literal(slice(None, -1))),
            b.apply(np.shape, source),
        )
        outer, inner = dims_of(kind), dims_of(source.type)
        dims = (*outer, *inner) if outer is not None and inner is not None else None
        dtype = getattr(atom_type(stacked), "dtype", None)
        return b.apply_typed(np.reshape, (moved, shape), Array(dtype, dims))


def beside(result: Abstract, aux: Abstract | None) -> Abstract:
    """The result of a transform, with the auxiliary data if there are any."""
    return result if aux is None else TupleRef((result, aux))


def _plural(value: Any, what: str, count: int) -> str:
    """The name of the list of rows or columns of one value among several."""
    named = count > 1 and isinstance(value, Value) and value.hint
    return f"{value.hint}_{what}" if named else what


@dataclass(frozen=True, slots=True, eq=False)
class _Nest:
    """A container of known structure, detached from the state that holds its contents."""

    value: Abstract
    contents: Any
    parts: tuple[Any, ...]


def _mapped(value: Abstract, state: dict[Any, Any], leaf: Callable[[Abstract], Any]) -> Any:
    """The structure of a value as ``_Nest``, each leaf as ``leaf`` has it."""
    contents: Any = None
    match value:
        case TupleRef(items=parts):
            pass
        case ListRef() | DictRef() | ObjectRef():
            contents = state[("place", value.place, "")]
            match contents:
                case Items(items=parts) | Entries(values=parts) | Fields(values=parts):
                    pass
                case _:
                    return leaf(value)
        case _:
            return leaf(value)
    return _Nest(value, contents, tuple(_mapped(p, state, leaf) for p in parts))


def _rebuilt(low: Lowering, shape: Any, leaf: Callable[[Any], Abstract]) -> Abstract:
    """Containers of a structure, each leaf as ``leaf`` makes it."""
    if not isinstance(shape, _Nest):
        return leaf(shape)
    return _made(low, shape, [_rebuilt(low, p, leaf) for p in shape.parts])


def _made(low: Lowering, shape: _Nest, items: list[Abstract]) -> Abstract:
    """A container of a kind, with other parts."""
    match shape.value:
        case ListRef() | DictRef() | ObjectRef() as ref:
            return low.new_like(ref, with_parts(shape.contents, items))
        case TupleRef() as whole:
            return with_parts(whole, items)
    raise AssertionError(shape)


def _is_empty(array: Value) -> bool:
    """Whether an array is known to have no entries."""
    return 0 in (dims_of(array.type) or ())


def _is_one_array(value: Abstract) -> bool:
    """Whether an argument is one number or array."""
    match value:
        case MaybeUnbound(value=inner):
            return _is_one_array(inner)
        case Static(value=known):
            return isinstance(known, (int, float))
        case Value(type=kind):
            return rank(kind) == 0 or isinstance(kind, Array)
    return False
