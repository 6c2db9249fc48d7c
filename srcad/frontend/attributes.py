"""Attributes: of modules, arrays, instances, containers."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from functools import partial
from typing import Any

import numpy as np

from srcad.frontend import (
    arrays,
    calls,
    classes,
    containers,
    elements,
    expressions,
    subscripts,
)
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    Closure,
    DictRef,
    Fields,
    Intrinsic,
    ListRef,
    MaybeUnbound,
    Method,
    ObjectRef,
    Partial,
    RangeRef,
    SetRef,
    Static,
    SuperRef,
    Transformed,
    TupleRef,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering, NeedsExact
from srcad.frontend.stand_ins import STANDS_FOR
from srcad.ir import Literal, Value
from srcad.ir.infer import atom_type
from srcad.ir.samples import GENERATORS
from srcad.ir.tree import is_generated
from srcad.ir.types import (
    EXCEPTION,
    OBJECT,
    SET,
    STRING,
    Array,
    Number,
    NumPyScalar,
    Opaque,
    Optional,
    TupleType,
    Unknown,
    dims_of,
    dtype_of,
    is_complex,
    is_differentiable,
    rank,
)


def _operator(op: Any, reflected: bool = False) -> Any:
    def call(obj: Abstract, low: Lowering, args: list[Abstract], keywords: Any) -> Abstract:
        if not args:
            return expressions.unary(low, op, obj)
        left, right = (args[0], obj) if reflected else (obj, args[0])
        if op in expressions.COMPARE.values():
            return expressions.binary_compare(low, op, left, right)
        return expressions.binary(low, op, left, right)

    return call


def _getitem(obj: Abstract, low: Lowering, args: list[Abstract], keywords: Any) -> Abstract:
    return subscripts.get_item(low, obj, args[0])


def _len(obj: Abstract, low: Lowering, args: list[Abstract], keywords: Any) -> Abstract:
    return containers.length(low, obj)


def _contains(obj: Abstract, low: Lowering, args: list[Abstract], keywords: Any) -> Abstract:
    return containers.contains(low, obj, args[0])


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_PROTOCOL: dict[str, Any] = {
    "__getitem__": _getitem,
    "__len__": _len,
    "__contains__": _contains,
    **{
        f"__{n}__": _operator(getattr(operator, n))
        for n in (*_BINARY, "lt", "le", "gt", "ge", "eq", "ne")
    },
    **{f"__r{n}__": _operator(getattr(operator, n), reflected=True) for n in _BINARY},
    **{f"__{n}__": _operator(getattr(operator, n)) for n in ("neg", "pos", "abs")},
}
"""Special methods called by name: they are the operation that they stand for."""

_ABSENT = object()
_LISTS = {ListRef: list, DictRef: dict, TupleRef: tuple, SetRef: set}


def get_attribute(low: Lowering, obj: Abstract, name: str) -> Abstract:
    """``obj.name``"""
    match obj:
        case MaybeUnbound():
            return get_attribute(low, low.bound(obj), name)
        case Static(value=known):
            return _of_static(low, known, name)
        case ObjectRef():
            return _of_instance(low, obj, name)
        case TupleRef(cls=cls, items=items) if name in (fields := getattr(cls, "_fields", ())):
            return items[fields.index(name)]
        case TupleRef(cls=cls) if cls is not tuple and not _is_of_namedtuples(cls, name):
            return _of_class(low, obj, cls, name)
        case SuperRef():
            return _of_super(low, obj, name)
        case TupleRef() | ListRef() | DictRef() | SetRef() if name in _PROTOCOL:
            return Intrinsic(name, partial(_PROTOCOL[name], obj))
        case TupleRef() | ListRef() | DictRef() | SetRef():
            base = _LISTS[type(obj)]
            return Method(Static(getattr(base, name, name)), obj)
        case ArrayRef() | Value(type=Array()) if name == "flat":
            return classes.construct(low, elements.Flat, [obj], {})
        case ArrayRef():
            return _of_buffer(low, obj, name)
        case Value() if name in _PROTOCOL and not isinstance(obj.type, Opaque):
            return Intrinsic(name, partial(_PROTOCOL[name], obj))
        case Value(type=TupleType() as kind) | Value(type=Optional(item=TupleType() as kind)) if (
            hasattr(kind.cls, "_fields")
        ):
            return get_attribute(low, _taken_apart(low, obj, kind), name)
        case Value():
            return _of_value(low, obj, name)
        case RangeRef() if name in ("start", "stop", "step"):
            part = getattr(obj, name)
            return Static(part.value) if isinstance(part, Literal) else part
        case Partial() if name == "func":
            return obj.function
        case Closure() if name == "__name__":
            return Static(obj.name)
        case Transformed():
            low.refuse(
                f"the attribute {name} of a derivative is read in a differentiated function",
                "read it outside: inside, a derivative can only be called",
            )
    low.refuse(f"the attribute {name} of this object is not supported", "use a local variable")


def _taken_apart(low: Lowering, obj: Value, kind: TupleType) -> TupleRef:
    """A namedtuple that is known at run time only, by its items."""
    count = range(len(kind.items))
    items = (low.builder.apply(operator.getitem, obj, Literal(k)) for k in count)
    return TupleRef(tuple(containers.wrap(low, item) for item in items), kind.cls)


def _of_static(low: Lowering, known: Any, name: str) -> Abstract:
    if isinstance(known, types.ModuleType):
        return low.session.importer.module_attribute(low, known, name)
    try:
        found = getattr(known, name)
    except AttributeError as error:
        if low.internal:  # a rule for values of another rank than these will have
            low.raise_known(error)
        low.refuse(
            f"{type(known).__name__} object has no attribute {name!r}",
            "the plain function raises AttributeError here too: correct the name",
        )
    if isinstance(known, type):
        return low.session.importer.class_attribute(low, known, name, found)
    if low.session.library.is_known(found):
        return Static(found)
    if callable(found) and not isinstance(found, type):
        return Method(Static(getattr(type(known), name, found)), Static(known))
    return low.session.importer.constant(low, found)


_PLAIN = (object, types.SimpleNamespace)
_LOOK_UP = {inspect.getattr_static(cls, "__getattribute__") for cls in _PLAIN}
_SET = {cls.__setattr__ for cls in _PLAIN}
"""How attributes are looked up and set in what an instance holds, and then in its class."""


def _of_instance(low: Lowering, obj: ObjectRef, name: str) -> Abstract:
    contents = low.contents(obj)
    assert isinstance(contents, Fields)
    on_class = inspect.getattr_static(obj.cls, name, _ABSENT)
    importer = low.session.importer
    if inspect.getattr_static(obj.cls, "__getattribute__") not in _LOOK_UP:
        low.refuse(*refusal("attribute access", name=obj.cls.__name__))
    if isinstance(on_class, property):
        importer.member(obj.cls, contents.origin, name, on_class)
        return calls.call(low, Static(on_class.fget), [obj], {})
    known = contents.get(name)
    if known is not None:
        return known
    if name == "__class__":
        return Static(STANDS_FOR.get(obj.cls, obj.cls))
    if name == "__dict__":
        low.refuse(*refusal("instance dict"))
    if contents.origin is not None:
        live = contents.origin.obj
        if name in getattr(live, "__dict__", {}) or isinstance(
            on_class, types.MemberDescriptorType
        ):
            found: Abstract = importer.attribute(low, contents.origin, name)
            return found
    fallback = inspect.getattr_static(obj.cls, "__getattr__", None)
    if on_class is _ABSENT and isinstance(fallback, types.FunctionType):
        importer.member(obj.cls, contents.origin, "__getattr__", fallback)
        return calls.call(low, Static(fallback), [obj, Static(name)], {})
    if on_class is _ABSENT:
        low.refuse(
            f"{obj.cls.__name__} object has no attribute {name!r}",
            "set it in __init__, or correct the name",
        )
    if callable(on_class) or isinstance(on_class, (staticmethod, classmethod)):
        importer.member(obj.cls, contents.origin, name, on_class)
    match on_class:
        case staticmethod():
            return Static(on_class.__func__)
        case classmethod():
            return Method(Static(on_class.__func__), Static(obj.cls))
        case types.FunctionType():
            if contents.origin is not None:
                bound = getattr(contents.origin.obj, name)
                if low.session.library.is_known(bound):  # of this object, as scipy.stats.norm.cdf
                    importer.same(contents.origin)
                    return Static(bound)
            return Method(Static(on_class), obj)
        case functools.cached_property():
            made = calls.call(low, Static(on_class.func), [obj], {})
            if contents.origin is None and not low.is_shared(obj.place):
                store_attribute(low, obj, name, made)
            return made
        case _ if hasattr(on_class, "__get__") and callable(on_class):
            return Method(Static(on_class), obj)
        case _ if isinstance(getattr(type(on_class), "__get__", None), types.FunctionType):
            low.refuse(*refusal("attribute access", name=type(on_class).__name__))
    if contents.origin is None:
        found_: Abstract = importer.class_attribute(low, obj.cls, name, on_class)
        return found_
    of_class: Abstract = importer.attribute(low, contents.origin, name)
    return of_class


def _is_of_namedtuples(cls: type, name: str) -> bool:
    """Whether a name is one that every tuple or every namedtuple has."""
    made_by_factory = ("_replace", "_asdict", "_make", "_fields", "_field_defaults")
    return name in made_by_factory or getattr(cls, name, _ABSENT) is getattr(tuple, name, None)


def _of_class(low: Lowering, obj: TupleRef, cls: type, name: str) -> Abstract:
    """What the class of a namedtuple has under a name."""
    found = inspect.getattr_static(cls, name, _ABSENT)
    importer = low.session.importer
    if found is _ABSENT:
        low.refuse(f"{cls.__name__} object has no attribute {name!r}", calls.RAISES)
    if isinstance(found, (property, types.FunctionType, staticmethod, classmethod)):
        importer.member(cls, None, name, found)
    match found:
        case property(fget=function):
            return calls.call(low, Static(function), [obj], {})
        case staticmethod(__func__=function):
            return Static(function)
        case classmethod(__func__=function):
            return Method(Static(function), Static(cls))
        case types.FunctionType():
            return Method(Static(found), obj)
        case _ if hasattr(type(found), "__get__"):
            low.refuse(*refusal("attribute access", name=cls.__name__))
    of_class: Abstract = importer.class_attribute(low, cls, name, found)
    return of_class


def _of_super(low: Lowering, ref: SuperRef, name: str) -> Abstract:
    receiver = ref.receiver
    if isinstance(receiver, ObjectRef):
        order = receiver.cls.__mro__
    elif isinstance(receiver, Static) and isinstance(receiver.value, type):
        order = receiver.value.__mro__
    else:
        low.refuse(*refusal("super"))
    for cls in order[order.index(ref.cls) + 1 :]:
        if name not in vars(cls):
            continue
        match vars(cls)[name]:
            case property(fget=function):
                return calls.call(low, Static(function), [receiver], {})
            case staticmethod(__func__=function):
                return Static(function)
            case classmethod(__func__=function):
                owner = receiver if isinstance(receiver, Static) else Static(order[0])
                return Method(Static(function), owner)
            case found if callable(found):
                return Method(Static(found), receiver)
            case found:
                return low.session.importer.class_attribute(low, cls, name, found)
    low.refuse(f"'super' object has no attribute {name!r}", "look at the names in the base classes")


def set_attribute(low: Lowering, obj: Abstract, name: str, value: Abstract) -> None:
    """``obj.name = value``: of an instance made in the function."""
    if isinstance(obj, ObjectRef):
        on_class = inspect.getattr_static(obj.cls, name, None)
        setter = getattr(obj.cls, "__setattr__", None)
        if setter not in _SET:
            if isinstance(setter, types.FunctionType) and not is_generated(setter):
                calls.call(low, Static(setter), [obj, Static(name), value], {})
                return
            low.refuse(*refusal("attribute access", name=obj.cls.__name__))
        if isinstance(on_class, property):
            if on_class.fset is None:
                low.raise_known(AttributeError(f"property {name!r} has no setter"))
            calls.call(low, Static(on_class.fset), [obj, value], {})
            return
        if hasattr(type(on_class), "__set__") and not isinstance(
            on_class, types.MemberDescriptorType
        ):
            low.refuse(*refusal("attribute access", name=obj.cls.__name__))
    if isinstance(obj, (ArrayRef, Value)) and name in ("real", "imag"):
        kind = atom_type(low.atom(obj))
        if isinstance(kind, Array) and is_complex(kind):
            part = get_attribute(low, arrays.target(low, obj), name)
            assert isinstance(part, ArrayRef)
            if part != value:  # z.real += v has written it
                arrays.store(low, part, arrays.WHOLE, value)
            return
    if isinstance(obj, (ArrayRef, Value)) and name == "flat":
        subscripts.set_item(low, get_attribute(low, obj, name), Static(slice(None)), value)
        return
    store_attribute(low, obj, name, value)


def store_attribute(low: Lowering, obj: Abstract, name: str, value: Abstract) -> None:
    """Keep an attribute in the instance itself."""
    if isinstance(obj, ObjectRef):
        contents = low.contents(obj)
        assert isinstance(contents, Fields)
        if contents.origin is None:
            low.set_contents(obj, contents.set(name, low.hinted(value, name)))
            return
    low.refuse(*refusal("attribute write"))


_NUMBER_TYPES = {"bool": bool, "int": int, "real": float, "float": float, "complex": complex}


def _of_value(low: Lowering, value: Value, name: str) -> Abstract:
    kind = value.type
    if isinstance(kind, Optional):
        kind = kind.item
    match kind:
        case Array() | NumPyScalar() | Unknown():
            return _of_array(low, value, name)
        case Number(kind=number):
            cls = _NUMBER_TYPES[number]
            if not hasattr(cls, name):
                if hasattr(np.float64, name) and not low.session.exact:
                    raise NeedsExact
                if hasattr(np.ndarray, name):
                    return _of_array(low, value, name)
                low.refuse(
                    f"a Python {cls.__name__} has no attribute {name!r}",
                    "use a function of math or numpy, or pass an array",
                )
            if name in ("real", "imag"):
                function = np.real if name == "real" else np.imag
                return containers.wrap(low, low.builder.apply(function, value))
            if name == "conjugate":
                return Method(Static(np.conjugate if number == "complex" else operator.pos), value)
            return Method(Static(getattr(cls, name)), value)
        case Opaque():
            return _of_opaque(low, value, name)
    return _of_opaque(low, value, name)


def _of_buffer(low: Lowering, ref: ArrayRef, name: str) -> Abstract:
    if name in _PROTOCOL:
        return Intrinsic(name, partial(_PROTOCOL[name], ref))
    descriptor = getattr(np.ndarray, name, None)
    if descriptor is None or name in ("dtype", "ndim", "shape", "size", "nbytes", "itemsize"):
        return get_attribute(low, low.read(ref), name)
    if not callable(descriptor):
        return arrays.attribute(low, ref, descriptor)
    return Method(Static(descriptor), ref)


def _of_array(low: Lowering, value: Value, name: str) -> Abstract:
    kind = value.type
    if name == "dtype" and (dtype := dtype_of(kind)) is not None:
        return Static(np.dtype(dtype))
    if name == "ndim" and (count := rank(kind)) is not None:
        return Static(count)
    descriptor = getattr(np.ndarray, name, None)
    if descriptor is None and isinstance(kind, Unknown):
        low.refuse(
            f"the attribute {name!r} of a value whose type is known at run time only is not"
            " supported",
            "use numbers and arrays, or containers of them",
        )
    if descriptor is None:
        low.refuse(
            f"an array has no attribute {name!r}",
            "correct the name, or pass the object itself as an argument and not an array",
        )
    if name == "shape":
        dims = dims_of(kind)
        if dims is not None and all(isinstance(d, int) for d in dims):
            return TupleRef(tuple(map(Static, dims)))
        return containers.wrap(low, low.builder.apply(np.shape, value))
    if name == "size" and rank(kind) == 0:
        return Static(1)
    if not callable(descriptor):
        return containers.wrap(low, low.builder.apply(descriptor, value))
    return Method(Static(descriptor), value)


_CHANGES_OF_SETS = frozenset(dir(set)) - frozenset(dir(frozenset))
"""The methods of sets that change them."""


def _of_opaque(low: Lowering, value: Value, name: str) -> Abstract:
    """An attribute of an object that carries no derivative: read at run time."""
    if is_differentiable(value.type):
        low.refuse(
            f"the attribute {name} of a {value.type} is not supported",
            "use a function of the value, or index it",
        )
    if value.type == STRING:
        return Method(Static(getattr(str, name)), value)
    if value.type == EXCEPTION:
        low.refuse(
            "data is read from an exception", "keep what the handler needs in a variable instead"
        )
    if value.type == SET and name in _CHANGES_OF_SETS:  # of whichever set it is at run time
        low.refuse(*refusal("shared container"))
    generator = GENERATORS.get(value.type.name) if isinstance(value.type, Opaque) else None
    method = getattr(generator, name, None)
    if callable(method):
        return Method(Static(method), value)
    result = Value("", OBJECT)
    low.builder.effect(getattr, value, Literal(name), result=result)
    return result
