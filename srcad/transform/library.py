"""What calls of transforms mean inside lowered code, and which functions are primitives.

``srcad.grad(f)`` in a differentiated function makes an abstract derivative; calling it writes the
derivative of ``f`` where the call stands.  A derivative that is differentiated at top level is
lowered in the same way, so there is one path for all orders.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from srcad import rules, runtime
from srcad.analysis.cost import Costs
from srcad.errors import NotDifferentiable, SourceError
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
    Transformed,
    TupleRef,
)
from srcad.frontend.lowering import Lowering
from srcad.ir import Block, Literal, Value
from srcad.ir.core import make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    Array,
    NumPyScalar,
    dims_of,
    is_complex,
    is_differentiable,
    rank,
)
from srcad.ir.walk import free_values
from srcad.options import DEFAULTS, Options
from srcad.transform import bodies, spaces
from srcad.transform.arraylike import rewritten
from srcad.transform.defined import check_result, require_present, unit_seed
from srcad.transform.expand import Differentiator, Pulled
from srcad.transform.signatures import argument_name, definition, parameter_names
from srcad.transform.structures import leaves_of


@dataclass(frozen=True, slots=True)
class Spec:
    """A transform with its options: 'grad', 'value_and_grad', 'jacrev', 'jacfwd', 'jacobian' or
    'derivative'."""

    kind: str
    argnums: int | str | tuple[int | str, ...] = 0
    has_aux: bool = False

    @property
    def wrt(self) -> tuple[int | str, ...]:
        """The arguments to differentiate by."""
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)

    @property
    def single(self) -> bool:
        """Whether one argument was asked for, so that its gradient comes without a tuple."""
        return not isinstance(self.argnums, tuple)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """``vjp`` of a function, to be compiled as a forward and a reverse function."""

    function: Any
    has_aux: bool = False

    def __call__(self, *args: Any) -> Any:
        """Stands in a call that is compiled."""
        raise TypeError("compiled, not called")


Choice = tuple[dict[int, str], Callable[[dict[str, int]], bool]]
"""The symbols of the example's sizes, and whether forward mode suits given sizes."""

_TRANSFORMS: dict[Any, Callable[..., Any]] = {}


def transform(function: Any) -> Callable[[Any], Any]:
    """Declare how the compiler expands a call of a public function."""

    def register(handler: Any) -> Any:
        _TRANSFORMS[function] = handler
        return handler

    return register


class CompilerLibrary:
    """The ``Library`` of user code: primitives have rules, transforms are expanded."""

    points: ClassVar[dict[type, Callable[..., Any]]] = {}
    """How calls of other transform objects are expanded, by their class."""

    def __init__(self, options: Options = DEFAULTS) -> None:
        self.differentiator = Differentiator(options)
        self.split: tuple[Pulled, dict[Any, Any]] | None = None
        self.is_opaque_function = options.is_opaque
        self.choice: Choice | None = None
        """How the mode of the Jacobian that is compiled was chosen."""
        self._choosing = False

    def is_known(self, function: object) -> bool:
        """Whether a function is a primitive."""
        return rules.is_known(function)

    def is_effect(self, function: object) -> bool:
        """Whether a call has to stay in order."""
        return rules.is_effect(function)

    def is_opaque(self, function: object) -> bool:
        """Whether a function is run as it is."""
        return self.is_opaque_function(function)

    def expand(
        self,
        low: Lowering,
        function: Any,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        node: Any,
    ) -> Any:
        """The result of calling a derivative or a transform; NotImplemented for other functions."""
        if isinstance(function, Transformed):
            return self.apply(low, function.transform, function.function, args, keywords)
        if isinstance(function, Split):
            return self._split(low, function, args)
        if type(function) in self.points:
            return self.points[type(function)](self, low, function, args, keywords)
        spec = getattr(type(function), "__srcad_transform__", None)
        if spec is not None:
            inner = low.session.importer.constant(low, function.primal)
            if hasattr(function, "instance"):
                args = [low.session.importer.receiver(low, function.instance), *args]
            return self.apply(low, function.spec, inner, args, keywords)
        try:
            handler = _TRANSFORMS.get(function)
        except TypeError:
            return NotImplemented
        if handler is None:
            found = bodies.ahead(low, function, args, keywords) if low.internal else NotImplemented
            return rewritten(low, function, args, keywords) if found is NotImplemented else found
        found = handler(self, low, args, keywords)
        return rewritten(low, function, args, keywords) if found is NotImplemented else found

    # ---- derivatives

    def apply(
        self,
        low: Lowering,
        spec: Spec,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
    ) -> Abstract:
        """The result of calling a derivative."""
        with placed(function):
            return self._apply(low, spec, function, args, keywords)

    def _apply(
        self,
        low: Lowering,
        spec: Spec,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
    ) -> Abstract:
        wrt = self._which(low, spec, function, args, keywords)
        match spec.kind:
            case "grad" | "value_and_grad":
                return self._gradient(low, spec, function, args, keywords, wrt)
            case "jacrev":
                return self._jacrev(low, spec, function, args, keywords, wrt)
            case "jacfwd":
                return self._jacfwd(low, spec, function, args, keywords, wrt)
            case "jacobian":
                outermost, self._choosing = not self._choosing, True
                try:
                    forward = self._prefers_forward(low, function, args, keywords, wrt, outermost)
                    chosen = self._jacfwd if forward else self._jacrev
                    return chosen(low, spec, function, args, keywords, wrt)
                finally:
                    self._choosing = not outermost
            case "derivative":
                for which in wrt:
                    self._check_scalar(low, function, which, args, keywords)
                sources = [keywords[w] if isinstance(w, str) else args[w] for w in wrt]
                ones = [_one(low, source) for source in sources]
                return self._tangent(low, function, args, keywords, wrt, ones)
        raise AssertionError(spec.kind)

    def _which(
        self,
        low: Lowering,
        spec: Spec,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
    ) -> tuple[int | str, ...]:
        """The differentiated arguments as positions or keywords of this call."""
        names = parameter_names(function)
        if (
            spec.argnums == 0
            and names
            and names[0] == "self"
            and len(args) > 1
            and _is_plain(args[0])
        ):
            return (1,)  # a decorated method: its instance holds no numbers to differentiate by
        found: list[int | str] = []
        for which in spec.wrt:
            place = self._position(low, which, names, args, keywords)
            if place in found:
                name = argument_name(function, place)
                raise NotDifferentiable(
                    low.place(), f"argnums={spec.argnums!r} has {name} twice", "name each once"
                )
            found.append(place)
        return tuple(found)

    def _position(
        self,
        low: Lowering,
        which: int | str,
        names: list[str] | None,
        args: list[Abstract],
        keywords: dict[str, Abstract],
    ) -> int | str:
        """An argument as a position or a keyword of this call."""
        if isinstance(which, str):
            if which in keywords:
                return which
            if names is not None and which in names and names.index(which) < len(args):
                return names.index(which)
            given = ", ".join([*(names or [])[: len(args)], *keywords])
            raise NotDifferentiable(
                low.place(),
                f"argnums names {which!r}, which is no argument of this call",
                f"its arguments are {given}" if given else "",
            )
        position = which + len(args) if which < 0 else which
        if 0 <= position < len(args):
            return position
        if names is not None and 0 <= which < len(names) and names[which] in keywords:
            return names[which]
        raise NotDifferentiable(
            low.place(),
            f"argnums is {which}, but the call passes {len(args)} positional arguments",
            "pass that argument by position, or give argnums as its name",
        )

    def _check_scalar(
        self,
        low: Lowering,
        function: Abstract,
        which: int | str,
        args: list[Abstract],
        keywords: dict[str, Abstract],
    ) -> None:
        """Refuse ``derivative`` by an array or a container."""
        source = keywords[which] if isinstance(which, str) else args[which]
        match source:
            case Value(type=kind) if rank(kind) in (0, None) or not is_differentiable(kind):
                return
            case Value(type=kind):
                what = str(kind)
            case Static():
                return
            case _:
                what = "a container"
        raise NotDifferentiable(
            low.place(),
            f"derivative is by a number, but {argument_name(function, which)} is {what}",
            "use grad for a scalar function, jacobian for any other, or jvp for one direction",
        )

    def _gradient(
        self,
        low: Lowering,
        spec: Spec,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
    ) -> Abstract:
        pulled = self.differentiator.vjp(
            low, function, args, keywords, wrt, has_aux=spec.has_aux, unit=True
        )
        value = pulled.value
        aux: Abstract | None = None
        loss = value
        if spec.has_aux:
            assert isinstance(value, TupleRef)
            loss, aux = value.items
        unit_seed(low, loss)
        if isinstance(loss, Value) and rank(loss.type) is None:
            low.builder.effect(runtime.require_scalar, loss)
        grads = self.differentiator.pull(low, pulled, None)
        assert isinstance(grads, TupleRef)
        result = grads.items[0] if spec.single else grads
        if spec.kind == "value_and_grad":
            return TupleRef((value, result))
        return result if aux is None else TupleRef((result, aux))

    def _split(self, low: Lowering, split: Split, args: list[Abstract]) -> Abstract:
        """The forward half of ``vjp``: the value and what the reverse reads."""
        function = low.session.importer.constant(low, split.function)
        wrt = tuple(range(len(args)))
        with placed(function):
            pulled = self.differentiator.vjp(low, function, args, {}, wrt, has_aux=split.has_aux)
        self.split = pulled, dict(low.state)
        needed = tuple(free_values(pulled.reverse))
        saved = low.builder.apply(make_tuple, *needed) if needed else Literal(())
        return TupleRef((pulled.value, containers.wrap(low, saved)))

    # ---- Jacobians

    def _prefers_forward(
        self,
        low: Lowering,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
        outermost: bool,
    ) -> bool:
        """Whether tangents cost less than adjoints, at the sizes of the example.

        A tangent for each input, or one forward sweep and a reverse sweep for each output.
        """
        state, mark = dict(low.state), len(low.builder.ops)
        try:
            inner, tangent, swept = self.differentiator.sweeps(low, function, args, keywords, wrt)
        finally:
            low.state = state
            del low.builder.ops[mark:]
        kinds = [p.type for p in inner.block.params], [atom_type(y) for y in inner.block.yields]
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

        symbols = dict(low.session.importer.sizes)
        if outermost:
            self.choice = symbols, decide
        return decide({name: size for size, name in symbols.items()})

    def _jacrev(
        self,
        low: Lowering,
        spec: Spec,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
    ) -> Abstract:
        pulled = self.differentiator.vjp(low, function, args, keywords, wrt, has_aux=spec.has_aux)
        value = pulled.value
        aux = None
        if spec.has_aux:
            assert isinstance(value, TupleRef)
            value, aux = value.items

        def rows(leaf: Abstract, ct_of: Callable[[Abstract], Abstract]) -> Abstract:
            return self._rows(low, spec, pulled, leaf, ct_of)

        result = self._per_leaf(low, value, rows)
        return result if aux is None else TupleRef((result, aux))

    def _per_leaf(
        self,
        low: Lowering,
        value: Abstract,
        rows: Callable[[Abstract, Callable[[Abstract], Abstract]], Abstract],
        context: Callable[[Abstract], Abstract] | None = None,
    ) -> Abstract:
        """The Jacobian of every leaf of a result, in the structure of the result."""
        if isinstance(value, MaybeUnbound):
            value = low.bound(value)
        shape = _mapped(value, low.state, lambda leaf: leaf)
        return self._each(low, shape, rows, context or (lambda ct: ct))

    def _each(
        self,
        low: Lowering,
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
                    ct if j == k else _rebuilt(low, p, lambda leaf: self._zero(low, leaf))
                    for j, p in enumerate(shape.parts)
                ]
                return outer(_made(low, shape, cts))

            made.append(self._each(low, part, rows, inside))
        return _made(low, shape, made)

    def _zero(self, low: Lowering, value: Abstract) -> Abstract:
        """The zero cotangent of a leaf."""
        if isinstance(value, Value):
            return containers.wrap(low, spaces.zeros(low.builder, value))
        return Static(0.0)

    def _rows(
        self,
        low: Lowering,
        spec: Spec,
        pulled: Pulled,
        leaf: Abstract,
        ct_of: Callable[[Abstract], Abstract],
    ) -> Abstract:
        """The gradients of one leaf of the result, entry by entry."""
        check_result(low, leaf)
        of_reals = not any(is_complex(p.type) for p in pulled.inner.block.params)
        if of_reals and isinstance(leaf, Value) and is_complex(leaf.type):
            raise NotDifferentiable(
                low.place(),
                "jacrev of a function of real numbers needs a real result; this one is complex",
                "take its real and imaginary parts, or use jacfwd",
            )
        if isinstance(leaf, Static) or (isinstance(leaf, Value) and rank(leaf.type) == 0):
            kind = leaf.type if isinstance(leaf, Value) else None
            seed = Static(1.0)
            if isinstance(kind, (NumPyScalar, Array)) and kind.dtype not in (None, "float64"):
                seed = Static(np.dtype(kind.dtype).type(1))
            grads = self.differentiator.pull(low, pulled, ct_of(seed))
            assert isinstance(grads, TupleRef)
            return grads.items[0] if spec.single else grads
        out = low.atom(leaf)
        assert isinstance(out, Value)
        basis = self._basis(low, out)
        lists: list[ListRef] = []
        template: list[Any] = []
        shapes: list[Abstract] = []

        def collect(leaf: Abstract) -> Abstract:
            """Append a leaf of the gradients to a list of its own; the number of the list."""
            if isinstance(leaf, Static) and not isinstance(leaf.value, (int, float, complex)):
                return leaf
            k = len(shapes)
            shapes.append(leaf)
            containers.call_method(low, lists[k], "append", [leaf], {})
            return Static(k)

        params = pulled.inner.block.params
        lists += [low.new_list(Items(())) for _ in params]
        for ref, param in zip(lists, params, strict=True):
            low.session.container_names[ref.place] = _plural(param, "rows", len(params))
        item_key = ("temporary", low.session.new_place(), "")

        def put(item: Abstract) -> None:
            low.state[item_key] = item

        def body() -> None:
            shapes.clear()
            row = low.state.pop(item_key)
            grads = self.differentiator.pull(low, pulled, ct_of(row))
            template[:] = [_mapped(grads, low.state, collect)]

        assigned = {("place", ref.place, "") for ref in lists}
        name = spaces.value_hint(out, "_bar") or "out_bar"
        iteration.iterate_with(low, basis, put, body, assigned, [name])
        inputs = pulled.inner.inits

        def stacked_leaf(leaf: Abstract) -> Abstract:
            if not isinstance(leaf, Static) or not isinstance(leaf.value, int):
                return leaf
            rows = low.list_atom(lists[leaf.value])
            return self._stacked(low, rows, out, inputs[leaf.value])

        grads = _rebuilt(low, template[0], stacked_leaf)
        assert isinstance(grads, TupleRef)
        return grads.items[0] if spec.single else grads

    def _basis(self, low: Lowering, out: Value) -> Value:
        """The unit cotangents of an array, one per entry."""
        b = low.builder
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
            shape = b.apply(operator.add, Literal((-1,)), b.apply(np.shape, out))
            dims = dims_of(kind)
            made = (
                Array(dtype or "float64", (None, *dims)) if dims is not None else Array(dtype, None)
            )
            basis = b.apply_typed(np.reshape, (eye, shape), made)
        assert isinstance(basis, Value)
        return basis

    def _stacked(self, low: Lowering, rows: Any, out: Value, leaf: Any) -> Abstract:
        """A list of rows as an array in the shape of the result, then that of the argument."""
        b = low.builder
        stacked = b.apply(np.array, rows)
        kind = atom_type(leaf)
        if rank(out.type) == 1 and rank(kind) == 0:
            return containers.wrap(low, stacked)
        first = b.apply(np.shape, out)
        shape = first if rank(kind) == 0 else b.apply(operator.add, first, b.apply(np.shape, leaf))
        outer, inner = dims_of(out.type), dims_of(kind)
        dtype = getattr(atom_type(stacked), "dtype", None)
        dims = (*outer, *inner) if outer is not None and inner is not None else None
        if outer is not None and len(outer) == 1 and isinstance(outer[0], int) and outer[0]:
            return b.apply_typed(np.array, (rows,), Array(dtype, dims))  # there is a row
        return b.apply_typed(np.reshape, (stacked, shape), Array(dtype, dims))

    def _jacfwd(
        self,
        low: Lowering,
        spec: Spec,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
    ) -> Abstract:
        columns: list[Abstract] = []
        sources = [keywords[w] if isinstance(w, str) else args[w] for w in wrt]
        if not spec.single and not all(map(_is_one_array, sources)):
            # containers: reverse mode has the structure at hand
            return self._jacrev(low, spec, function, args, keywords, wrt)
        for which, source in zip(wrt, sources, strict=True):
            columns.append(self._columns(low, function, args, keywords, which, source, spec))
        if spec.single:
            return columns[0]
        # results outside, arguments inside, as in reverse mode
        return self._inside_out(low, columns)

    def _inside_out(self, low: Lowering, columns: list[Abstract]) -> Abstract:
        """From one result structure per argument to one tuple of arguments per result leaf."""
        shapes = [_mapped(c, low.state, lambda leaf: leaf) for c in columns]
        return self._turned(low, shapes)

    def _turned(self, low: Lowering, shapes: list[Any]) -> Abstract:
        first = shapes[0]
        if not isinstance(first, _Nest):
            return TupleRef(tuple(shapes))
        made = [self._turned(low, [s.parts[k] for s in shapes]) for k in range(len(first.parts))]
        return _made(low, first, made)

    def _columns(
        self,
        low: Lowering,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        which: int | str,
        source: Abstract,
        spec: Spec,
    ) -> Abstract:
        """The derivative by one argument, in directions one after the other."""
        b = low.builder
        if isinstance(source, MaybeUnbound):
            source = low.bound(source)
        numeric = isinstance(source, Static) and isinstance(source.value, (int, float))
        if numeric or (isinstance(source, Value) and rank(source.type) == 0):
            return self._tangent(low, function, args, keywords, (which,), [_one(low, source)])
        if not isinstance(source, Value) or not isinstance(source.type, Array):
            # containers: reverse mode has the structure at hand
            single = Spec("jacrev", which, spec.has_aux)
            return self._jacrev(low, single, function, args, keywords, (which,))
        basis = self._basis(low, source)
        item_key = ("temporary", low.session.new_place(), "")
        box: list[Any] = []
        lists: dict[int, ListRef] = {}
        outs: list[Any] = []

        def put(item: Abstract) -> None:
            low.state[item_key] = item

        probe_state, mark = dict(low.state), len(b.ops)
        probe = self.differentiator.lower_inner(low, function, args, keywords, (which,))
        low.state = probe_state
        del b.ops[mark:]
        count = len(probe.block.yields)
        for k in range(count):
            lists[k] = low.new_list(Items(()))
            name = _plural(probe.block.yields[k], "columns", count)
            low.session.container_names[lists[k].place] = name

        def body() -> None:
            direction = low.state.pop(item_key)
            tangent = self._tangent(low, function, args, keywords, (which,), [direction])
            outs[:] = leaves_of(low, tangent, low.state)
            box[:] = [tangent]
            for k, leaf in enumerate(outs):
                containers.call_method(low, lists[k], "append", [leaf], {})

        assigned = {("place", ref.place, "") for ref in lists.values()}
        name = spaces.value_hint(source, "_dot") or "dot"
        iteration.iterate_with(low, basis, put, body, assigned, [name])
        counter = iter(range(count))

        def joined(leaf: Any) -> Abstract:
            k = next(counter)
            return self._columns_array(low, lists[k], probe.block.yields[k], source)

        shape = _mapped(probe.result, probe.contents, lambda leaf: leaf)
        return _rebuilt(low, shape, joined)

    def _tangent(
        self,
        low: Lowering,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
        directions: list[Abstract],
    ) -> Abstract:
        """The derivative of a result in one direction."""
        value, tangent = self.differentiator.jvp(low, function, args, keywords, wrt, directions)
        require_present(low, value)
        return tangent

    def _columns_array(self, low: Lowering, ref: ListRef, out: Any, source: Value) -> Abstract:
        """A list of directional derivatives as an array: result axes first."""
        b = low.builder
        kind = atom_type(out)
        stacked = b.apply(np.array, low.list_atom(ref))
        source_rank = rank(source.type)
        if rank(kind) == 0:
            if source_rank == 1:
                return containers.wrap(low, stacked)
            shape = b.apply(np.shape, source)
            dtype = getattr(atom_type(stacked), "dtype", None)
            return b.apply_typed(np.reshape, (stacked, shape), Array(dtype, dims_of(source.type)))
        moved = b.apply(np.moveaxis, stacked, Literal(0), Literal(-1))
        if source_rank == 1:
            return containers.wrap(low, moved)
        shape = b.apply(
            operator.add,
            b.apply(operator.getitem, b.apply(np.shape, moved), Literal(slice(None, -1))),
            b.apply(np.shape, source),
        )
        outer, inner = dims_of(kind), dims_of(source.type)
        dims = (*outer, *inner) if outer is not None and inner is not None else None
        dtype = getattr(atom_type(stacked), "dtype", None)
        return b.apply_typed(np.reshape, (moved, shape), Array(dtype, dims))


def _plural(value: Any, what: str, count: int) -> str:
    """The name of the list of rows or columns of one value among several."""
    named = count > 1 and isinstance(value, Value) and value.hint
    return f"{value.hint}_{what}" if named else what


@contextmanager
def placed(function: Abstract) -> Iterator[None]:
    """Give errors that have no place of their own that of the function's definition."""
    try:
        yield
    except SourceError as error:
        if error.place is not None or (place := definition(function)) is None:
            raise
        raise type(error)(place, error.message, error.hint) from None


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


def _made(low: Lowering, shape: _Nest, parts: list[Abstract]) -> Abstract:
    """A container of a kind, with other parts."""
    match shape:
        case _Nest(value=TupleRef(cls=cls)):
            return TupleRef(tuple(parts), cls)
        case _Nest(contents=Items()):
            return low.new_list(Items(tuple(parts)))
        case _Nest(contents=Entries(keys=keys)):
            return low.new_dict(Entries(keys, tuple(parts)))
        case _Nest(value=ObjectRef(cls=cls), contents=Fields(names=names)):
            return low.new_object(cls, Fields(names, tuple(parts), None))
    raise AssertionError(shape)


def _is_plain(value: Abstract) -> bool:
    return isinstance(value, ObjectRef) and not dataclasses.is_dataclass(value.cls)


def _one(low: Lowering, value: Abstract) -> Abstract:
    """The unit tangent of a number, of its kind: methods of NumPy are called on it."""
    kind = value.type if isinstance(value, Value) else None
    if isinstance(kind, Array):
        dtype = () if kind.dtype is None else (Literal(np.dtype(kind.dtype).type),)
        return containers.wrap(low, low.builder.apply(np.ones, Literal(()), *dtype))
    if isinstance(kind, NumPyScalar):
        return low.builder.apply_typed(np.dtype(kind.dtype).type, (Literal(1.0),), kind)
    return Static(1.0)


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
