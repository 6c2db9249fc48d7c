"""Live objects: arguments, globals, closure cells and attributes become abstract values.

Structure and code (functions, modules, classes, strings, flags, integers of a module) are taken as
they are and become part of what the compiled derivative is valid for.  Data (floats, arrays, and
the lists, dicts and objects that hold them) is read when the derivative is called: each piece
becomes one more parameter.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
import operator
import types
from collections.abc import Container, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from srcad import runtime
from srcad.errors import UnsupportedSyntax, UnsupportedValue
from srcad.frontend import arrays, operators
from srcad.frontend.abstract import (
    SCALARS,
    Abstract,
    ArrayRef,
    DictRef,
    Entries,
    Fields,
    Held,
    Items,
    ListRef,
    Method,
    ObjectRef,
    Origin,
    Partial,
    Poison,
    Static,
    TupleRef,
)
from srcad.frontend.access import (
    Access,
    Argument,
    Attribute,
    Global,
    Has,
    Item,
    Member,
    Size,
    Step,
    Times,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Frame, Lowering, Session
from srcad.ir import Literal, Value
from srcad.ir.numbers import scalars_as_python
from srcad.ir.types import (
    LONG,
    SMALLEST,
    UNKNOWN,
    Array,
    Dim,
    ListType,
    LongAxis,
    TupleType,
    Type,
    type_of,
)

CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ModuleType,
    type,
    np.ufunc,
    np.dtype,
    staticmethod,
    classmethod,
    functools.partial,
    types.MethodType,
)
_MANY = 64
_ARRAYS = (np.ndarray, np.memmap)
"""Array classes whose operators are those of arrays: np.matrix and masked arrays have others."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """Something the function refers to: what its code is valid for depends on it."""

    name: str
    """What it is called; of sizes, what holds: ``m == 3 * n``."""
    access: Access
    """Where its present object is."""
    value: Value | None
    """The parameter it is handed over in; None if generated code does not need it or reads it."""
    seen: Any
    """The object at transform time."""
    constant: bool
    """Whether the code is valid for this very object or constant, not for all of its kind."""


_MOST_TIMES = 8
"""How many times a size may be another one for that to be no accident."""

current: ContextVar[Importer | None] = ContextVar("current", default=None)
"""The importer of the function being lowered: what rule bodies refer to, it refers to."""


class Importer:
    """Brings live objects into one session."""

    def __init__(self, exact: bool, parameters: Container[str] = ()) -> None:
        self.exact = exact
        self.letters = [n for n in "nmkpqrst" if n not in parameters]
        """Names of sizes: a parameter of that name would be taken for the size."""
        self.session: Session | None = None
        self.captures: dict[Any, Capture] = {}
        self.sizes: dict[int, str] = {}
        self.vectors: dict[Value, None] = {}
        """Arrays that exist before the first statement and are not written."""
        self.arrays: list[Value] = []
        """The arrays among the arguments and captured objects."""
        self.sized: dict[Any, tuple[Access, int]] = {}
        """Where each size is seen, by its name or by the list that has it, and what it is."""
        self.lists: dict[Value, Any] = {}
        self.elements: dict[Any, Any] = {}
        self.places: dict[int, list[int]] = {}
        """The places that stand for one live object."""
        self._imported: dict[Any, Abstract] = {}

    def for_rule(self) -> Importer:
        """The importer of a rule body: its captures are those of the function it goes into."""
        made = Importer(self.exact)
        made.captures, made.sizes, made.sized = self.captures, self.sizes, self.sized
        made.letters = self.letters
        return made

    # ---- types

    def type_of(self, obj: Any) -> Type:
        """The type of a live object, its sizes replaced by symbols."""
        if type(obj).__name__ == "AnyValue":
            return UNKNOWN
        kind = self._symbolic(type_of(obj))
        return kind if self.exact else scalars_as_python(kind)

    def _symbolic(self, kind: Type) -> Type:
        match kind:
            case Array(dtype=dtype, dims=dims) if dims is not None:
                return Array(dtype, tuple(self._size(d) if isinstance(d, int) else d for d in dims))
            case TupleType(items=items, cls=cls):
                return TupleType(tuple(map(self._symbolic, items)), cls)
            case ListType(item=item):
                return ListType(self._symbolic(item))
        return kind

    def _size(self, size: int) -> int | Dim:
        if size < SMALLEST:
            return size
        if size not in self.sizes:
            count = len(self.sizes)
            name = self.letters[count] if count < len(self.letters) else f"n{count}"
            self.sizes[size] = LongAxis(name) if size >= LONG else name
        return Dim(self.sizes[size])

    def fixed(self, size: Any) -> int | None:
        """A size of an argument or captured object as a number, for which alone the code then is.

        ``size`` is its name, or the value of a list.
        """
        if size not in self.sized:
            return None
        access, number = self.sized[size]
        name = f"{size} == {number}" if isinstance(size, str) else "size"
        self.captures["size", size] = Capture(name, access, None, number, True)
        return number

    def count(self, whole: str, part: str) -> int | None:
        """How many times a size is another one: the code is for arguments where that holds."""
        if whole not in self.sized or part not in self.sized:
            return None
        (place, number), (other, unit) = self.sized[whole], self.sized[part]
        times = number // unit
        if number != times * unit or not 1 < times <= _MOST_TIMES:
            return None
        way = place.then(Times(times, other))
        name = f"{whole} == {times} * {part}"
        self.captures["times", whole, part] = Capture(name, way, None, True, True)
        return times

    def share(self, whole: str, by: int) -> str | None:
        """The size that goes so many times into another one, if the arguments have it."""
        if whole not in self.sized:
            return None
        names = {number: name for name, (_, number) in self.sized.items() if isinstance(name, str)}
        number = self.sized[whole][1]
        part = names.get(number // by)
        return part if part is not None and self.count(whole, part) == by else None

    # ---- arguments

    def argument(self, low: Lowering, obj: Any, value: Value, number: int) -> Abstract:
        """The abstract value of a parameter for an example argument."""
        return self._structure(low, obj, value, value.hint, Access(Argument(number)))

    def hide(self, value: Value) -> None:
        """Note an argument that the function is not given: what it writes is not seen there."""
        self.arrays = [a for a in self.arrays if a is not value]

    def _structure(
        self, low: Lowering, obj: Any, value: Value, hint: str, access: Access
    ) -> Abstract:
        found = self._followed(low, obj, value, hint, access)
        if isinstance(found, (ListRef, DictRef, ObjectRef)):
            low.session.identities[found.place] = value
            twins = self.places.setdefault(id(obj), [])
            twins.append(found.place)
            if len(twins) > 1:  # one object under several names
                for twin in twins:
                    low.session.foreign.setdefault(twin, None)
        return found

    def names_of(self, place: int) -> list[int]:
        """The places of one object, which may have come in under several names."""
        return next((twins for twins in self.places.values() if place in twins), [place])

    def _followed(
        self, low: Lowering, obj: Any, value: Value, hint: str, access: Access
    ) -> Abstract:
        if value.type == UNKNOWN:
            return value
        operators.require_plain(low, type(obj), hint)
        if isinstance(obj, Iterator):
            return Poison(*refusal("outer iterator", name=hint))
        part = functools.partial(self._part, low, value, access)
        match obj:
            case np.ndarray():
                return self._array(low, obj, value, hint, access)
            case bool() | str() | bytes() | None:
                return Static(obj)
            case int() | float() | complex() | np.generic():
                return value
            case tuple():
                fields = getattr(type(obj), "_fields", None)
                names = fields or [f"{hint}_{k}" for k in range(len(obj))]
                items = [part(operator.getitem, k, o, names[k]) for k, o in enumerate(obj)]
                return TupleRef(tuple(items), type(obj))
            case list() if isinstance(value.type, ListType) and not _structured(obj):
                self.sized[value] = access.then(Size(0)), len(obj)
                return low.new_list(Held(value, "argument"))
            case list():
                if len(obj) > _MANY:
                    low.refuse(
                        f"the list {hint} has {len(obj)} items of different kinds",
                        "use arrays, or lists of numbers",
                    )
                items = [part(operator.getitem, k, o, f"{hint}_{k}") for k, o in enumerate(obj)]
                return low.new_list(Items(tuple(items)))
            case dict():
                named = [
                    (k, k if isinstance(k, str) and k.isidentifier() else f"{hint}_{i}")
                    for i, k in enumerate(obj)
                ]
                items = [part(operator.getitem, k, obj[k], name) for k, name in named]
                return low.new_dict(Entries(tuple(obj), tuple(items)))
        if is_code(obj) or isinstance(obj, enum.Enum):
            return self.constant(low, obj)
        if hasattr(obj, "__dict__") or dataclasses.is_dataclass(obj):
            return low.new_object(type(obj), Fields((), (), Origin(obj, value, access)))
        return value

    def _part(
        self,
        low: Lowering,
        whole: Value,
        access: Access,
        callee: Any,
        key: Any,
        item: Any,
        name: str,
    ) -> Abstract:
        """An item of a live container: read at run time, unless it decides the structure."""
        constant = isinstance(item, _CONSTANTS) and not isinstance(item, np.generic)
        if constant or is_code(item):
            return self.constant(low, item)
        kind = self.type_of(item)
        read = low.session.root.apply_typed(callee, (whole, Literal(key)), kind, name)
        return self._structure(low, item, read, name, access.then(Item(key)))

    def _array(self, low: Lowering, obj: Any, value: Value, hint: str, access: Access) -> Abstract:
        """An array: an argument, which the function may write into a copy of, or one outside."""
        if type(obj) not in _ARRAYS:
            raise UnsupportedValue(
                low.place(),
                f"{hint} is a {type(obj).__module__}.{type(obj).__qualname__}, whose"
                " operators may differ from those of arrays",
                f"pass np.asarray({hint})",
            )
        for axis, size in enumerate(obj.shape):
            if size in self.sizes:
                where = access.then(Size(axis)), size
                self.sized.setdefault(self.sizes[size], where)
        session, root = low.session, low.session.root
        given = isinstance(access.root, Argument) and all(isinstance(s, Item) for s in access.steps)
        if given:
            made = arrays.argument(low, value, ("argument", hint))
            if isinstance(made, ArrayRef):
                self.arrays.append(value)
                session.owned.append(value)
                arrays.own(low, made)
                return made
        else:
            arrays.outside(low, value, hint)
            if root.depth:  # read at the head of an inner block: nobody else sees it
                for owned in session.owned:
                    root.effect(runtime.require_disjoint, owned, value)
                self.vectors[value] = None
                return value
        self.arrays.append(value)
        self.vectors[value] = None
        return value

    def attribute(self, low: Lowering, origin: Origin, name: str) -> Abstract:
        """An attribute of a live instance."""
        obj = getattr(origin.obj, name)
        access = origin.access.then(Attribute(name))
        key = ("attribute", id(origin.obj), name, origin.value)
        if key in self._imported:
            return self._imported[key]
        places = low.session.places
        if _is_constant(obj):
            found = self.guarded(low, key, name, access, obj)
        else:
            self.captures[key] = Capture(name, access, None, obj, False)
            prelude = low.session.root
            read = prelude.apply_typed(
                getattr, (origin.value, Literal(name)), self.type_of(obj), name
            )
            found = self._structure(low, obj, read, name, access)
        self._imported[key] = found
        _keep_places(low, places, name)
        return found

    def has_attribute(self, origin: Origin, name: str) -> bool:
        """Whether a live instance has an attribute."""
        found = hasattr(origin.obj, name)
        access = origin.access.then(Has(name))
        self.captures["has", id(origin.obj), name] = Capture(name, access, None, found, True)
        return found

    def member(self, cls: type, origin: Origin | None, name: str, found: Any) -> None:
        """Note that an instance's ``name`` is what its class has under it."""
        if _is_library(cls.__module__):
            return
        if origin is not None:
            access = origin.access.then(Member(name))
            self.captures["member", id(origin.obj), name] = Capture(name, access, None, found, True)
            return
        for base in cls.__mro__:
            if name in base.__dict__ and not _is_library(base.__module__):
                access = Access(base, (Attribute("__dict__"), Item(name)))
                self.captures["member", base, name] = Capture(name, access, None, found, True)
                return

    # ---- what a function refers to

    def guarded(self, low: Lowering, key: Any, name: str, access: Access, obj: Any) -> Abstract:
        """A known object that the code is valid for."""
        self.captures[key] = Capture(name, access, None, obj, True)
        return self.constant(low, obj)

    def code(self, function: types.FunctionType) -> None:
        """Note that the source of a function goes into this one."""
        if _is_library(function.__module__):
            return
        access = Access(function)
        key = ("code", function)
        self.captures[key] = Capture(
            function.__name__, access.then(Attribute("__code__")), None, function.__code__, True
        )
        if function.__defaults__:
            self.captures["defaults", function] = Capture(
                function.__name__,
                access.then(Attribute("__defaults__")),
                None,
                function.__defaults__,
                True,
            )

    def default(
        self, low: Lowering, function: types.FunctionType, key: int | str, name: str
    ) -> Abstract:
        """The default of a parameter, by its number among those with defaults or by its name."""
        if isinstance(key, int):
            access = Access(function, (Attribute("__defaults__"), Item(key)))
        else:
            access = Access(function, (Attribute("__kwdefaults__"), Item(key)))
        obj = access.read()
        if isinstance(obj, SCALARS):
            if isinstance(key, str) and not _is_library(function.__module__):
                self.captures["default", function, key] = Capture(name, access, None, obj, True)
            return Static(obj)
        return self.captured(low, ("default", function, key), name, access, obj)

    def constant(self, low: Lowering, obj: Any) -> Abstract:
        """A known object in the form that lowering works with."""
        if type(obj) is tuple:
            return TupleRef(tuple(self.constant(low, o) for o in obj))
        if isinstance(obj, functools.partial):
            return self._partial(low, obj)
        if isinstance(obj, types.MethodType) and not low.session.library.is_known(obj):
            return Method(Static(obj.__func__), self.receiver(low, obj.__self__))
        return Static(obj)

    def _partial(self, low: Lowering, obj: functools.partial[Any]) -> Partial:
        access = Access(obj)
        args = tuple(
            self.captured(
                low,
                ("partial", id(obj), k),
                f"fixed_{k}",
                access.then(Attribute("args"), Item(k)),
                a,
            )
            for k, a in enumerate(obj.args)
        )
        keywords = tuple(
            (
                k,
                self.captured(
                    low, ("partial", id(obj), k), k, access.then(Attribute("keywords"), Item(k)), v
                ),
            )
            for k, v in obj.keywords.items()
        )
        names = access.then(Attribute("keywords"))
        self.captures["partial", id(obj)] = Capture(
            "keywords", names, None, tuple(obj.keywords), True
        )
        return Partial(self.constant(low, obj.func), args, keywords)

    def same(self, origin: Origin) -> None:
        """The code is for this very object."""
        obj = origin.obj
        key = ("same", id(obj))
        self.captures[key] = Capture(type(obj).__name__, origin.access, None, obj, True)

    def dispatched(self, function: Any, cls: type) -> Any:
        """What a function of ``functools.singledispatch`` calls for a class."""
        found = function.dispatch(cls)
        registry = Access(function, (Attribute("registry"),))
        known: list[tuple[Step, Any]] = [(Size(0), len(function.registry))]
        known += [(Item(c), f) for c, f in function.registry.items() if f is found]
        for step, seen in known:
            key = ("dispatched", function, step)
            self.captures[key] = Capture("registry", registry.then(step), None, seen, True)
        return found

    def receiver(self, low: Lowering, obj: Any) -> Abstract:
        """The instance of a bound method."""
        if isinstance(obj, type) or is_code(obj):
            return Static(obj)
        return self.captured(low, ("self", id(obj)), "self", Access(obj), obj)

    def global_name(
        self, low: Lowering, namespace: dict[str, Any], name: str, node: Any
    ) -> Abstract:
        """A global or builtin name."""
        stays = _is_library(namespace.get("__name__"))
        if name in namespace:
            obj = namespace[name]
            if stays and (_is_constant(obj) or type(obj) in (float, complex)):
                return self.constant(low, obj)
            access = Access(namespace, (Global(name),))
            return self.captured(low, ("global", id(namespace), name), name, access, obj)
        if hasattr(builtins, name):
            found = getattr(builtins, name)
            if not stays:
                access = Access(namespace, (Global(name),))
                self.captures["global", id(namespace), name] = Capture(
                    name, access, None, found, True
                )
            return Static(found)
        raise UnsupportedSyntax(
            low.place(node), f"the name {name} is not defined", "define it first"
        )

    def cell(self, low: Lowering, frame: Frame, name: str) -> Abstract:
        """A variable of a function around the live function."""
        cell = frame.cells[name]
        try:
            obj = cell.cell_contents
        except ValueError:
            low.refuse(f"{name} has no value yet", "call the function after it has been assigned")
        access = Access(cell, (Attribute("cell_contents"),))
        return self.captured(low, ("cell", id(cell)), name, access, obj)

    def module_attribute(self, low: Lowering, module: types.ModuleType, name: str) -> Abstract:
        """An attribute of a module."""
        try:
            obj = getattr(module, name)
        except AttributeError:
            low.refuse(
                f"the module {module.__name__} has no attribute {name!r}", "correct the name"
            )
        if _is_library(module.__name__) or isinstance(obj, types.ModuleType):
            return self.constant(low, obj)
        access = Access(module, (Attribute(name),))
        return self.captured(low, ("module", module.__name__, name), name, access, obj)

    def class_attribute(self, low: Lowering, cls: type, name: str, obj: Any) -> Abstract:
        """What a class has under a name, asked of the class."""
        simple = _is_constant(obj) or _is_data(obj)
        if _is_library(cls.__module__) or not simple:
            return self.constant(low, obj)
        return self.captured(low, ("class", cls, name), name, Access(cls, (Attribute(name),)), obj)

    def captured(self, low: Lowering, key: Any, name: str, access: Access, obj: Any) -> Abstract:
        """Something read by name: code and constants as they are, data as a parameter."""
        if key in self._imported:
            return self._imported[key]
        places = low.session.places
        if (
            _is_constant(obj)
            or (type(obj) is tuple and _all_constant(obj))
            or (not _is_data(obj) and callable(obj) and not hasattr(type(obj), "__dict__"))
            or low.session.library.is_known(obj)
        ):
            result = self.guarded(low, key, name, access, obj)
        elif isinstance(obj, dict) and any(map(is_code, obj.values())):
            self.captures[key] = Capture(name, access, None, dict(obj), True)
            result = Static(obj)
        else:
            known = self.captures.get(key)
            if known is not None and known.value is not None:
                value = known.value  # a rule body has read it
            else:
                value = Value(name, self.type_of(obj))
                self.captures[key] = Capture(name, access, value, obj, False)
            result = self._structure(low, obj, value, name, access)
        self._imported[key] = result
        kind = "shared default" if key[0] == "default" else "container outside"
        _keep_places(low, places, name, kind)
        return result


def _keep_places(low: Lowering, before: int, name: str, refusal: str = "container outside") -> None:
    """What is imported once is there on every path, also on those where it was not met."""
    for place in range(before + 1, low.session.places + 1):
        contents = low.state["place", place, ""]
        low.session.initial[place] = contents
        if not isinstance(contents, Fields):
            # a write would have to reach the object outside
            low.session.foreign[place] = refusal, name


_LIBRARIES = ("numpy", "math", "scipy", "cmath", "builtins", "operator", "_operator", "functools")
"""Packages whose functions are taken to stay what they are; srcad's own are another."""


def _is_library(module: str | None) -> bool:
    """Whether what a module defines needs no guard."""
    if module is None:
        return False
    package = module.partition(".")[0]
    return package in _LIBRARIES or (package == "srcad" and not module.startswith("srcad.testing"))


_CONSTANTS = (bool, str, bytes, type(None), type(...))
"""Scalars that no calculation is made of: in a container they decide the course of the program."""


def _is_constant(obj: Any) -> bool:
    """Whether an object is part of the program: code, or what decides its course."""
    if is_code(obj) or obj is None or isinstance(obj, enum.Enum):
        return True
    return isinstance(obj, (bool, str, int)) and not isinstance(obj, np.generic)


def is_code(obj: Any) -> bool:
    """Whether an object is a function, a class, a module: part of the program, not of its data."""
    if isinstance(obj, CODE) or type(obj).__name__ in (
        "_ArrayFunctionDispatcher", "getset_descriptor", "_lru_cache_wrapper", "CPUDispatcher",
    ):  # fmt: skip
        return True
    return _is_derivative(obj)


def _is_derivative(obj: Any) -> bool:
    return hasattr(type(obj), "__srcad_transform__")


def _all_constant(obj: Any) -> bool:
    if type(obj) is tuple:
        return all(map(_all_constant, obj))
    return _is_constant(obj)


def _is_data(obj: Any) -> bool:
    return isinstance(obj, (float, complex, np.ndarray, np.generic, list, dict, tuple, set))


def _structured(items: list[Any]) -> bool:
    """Whether a list is better followed item by item: a few arrays, containers or objects."""
    return len(items) <= _MANY and any(
        isinstance(i, (np.ndarray, list, dict, tuple))
        or dataclasses.is_dataclass(i)
        or hasattr(i, "__dict__")
        for i in items
    )
