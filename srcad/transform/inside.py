"""Transforms called inside differentiated functions: what each call means there.

``srcad.grad(f)`` makes an abstract derivative, ``srcad.vjp`` writes the forward sweep where it
stands, and its pullback writes the reverse sweep where that is called.  A back end that is asked
for there does not matter: the code becomes part of what is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcad.frontend import containers
from srcad.frontend.abstract import Abstract, Intrinsic, Static, Transformed, TupleRef
from srcad.frontend.lowering import Lowering
from srcad.options import Choices
from srcad.transform.calls import DifferentiatedCall, Spec
from srcad.transform.library import CompilerLibrary

Handler = Callable[[CompilerLibrary, Lowering, list[Any], dict[str, Any]], Any]


def checked_argnums(argnums: Any) -> Any:
    """``argnums`` as a position, a name, or a tuple of them."""
    if isinstance(argnums, list):
        argnums = tuple(argnums)
    parts = argnums if isinstance(argnums, tuple) else (argnums,)
    if not parts or not all(isinstance(p, (int, str)) and not isinstance(p, bool) for p in parts):
        raise TypeError(f"argnums is an index, a name, or a tuple of them, not {argnums!r}")
    return argnums


def _known_argnums(low: Lowering, value: Abstract | None) -> Any:
    match value:
        case None:
            return 0
        case Static(value=known):
            return checked_argnums(known)
        case TupleRef(items=items):
            return tuple(_known_argnums(low, i) for i in items)
    low.refuse("argnums is known at run time only", "write it as a constant")


def _named(names: tuple[str, ...], args: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(names, args, strict=False)) | keywords


def transform_of(kind: str) -> Handler:
    """The handler of ``srcad.grad`` and its like."""

    def handler(
        library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]
    ) -> Any:
        named = _named(("fun", "argnums", "has_aux"), args, keywords)
        aux = named.get("has_aux")
        has_aux = isinstance(aux, Static) and bool(aux.value)
        spec = Spec(kind, _known_argnums(low, named.get("argnums")), has_aux)
        if "fun" not in named:
            return Intrinsic(kind, lambda low, a, k: Transformed(spec, a[0], None))
        return Transformed(spec, named["fun"], None)

    return handler


def hessian(
    library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]
) -> Any:
    """``srcad.hessian``"""
    named = _named(("fun", "argnums"), args, keywords)
    argnums = _known_argnums(low, named.get("argnums"))

    def of(fun: Any) -> Transformed:
        inner = Transformed(Spec("grad", argnums), fun, None)
        return Transformed(Spec("jacfwd", argnums), inner, None)

    if "fun" not in named:
        return Intrinsic("hessian", lambda low, a, k: of(a[0]))
    return of(named["fun"])


def vjp(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    """``srcad.vjp``"""
    rest = {k: v for k, v in keywords.items() if k not in Choices.__annotations__}
    aux = rest.pop("has_aux", None)
    has_aux = isinstance(aux, Static) and bool(aux.value)
    if rest:
        low.refuse(f"vjp has no argument {next(iter(rest))!r}", "pass the primals by position")
    call = DifferentiatedCall(low, args[0], list(args[1:]), wrt=tuple(range(len(args) - 1)))
    pulled = library.differentiator.vjp(call, has_aux=has_aux)

    def pull(low: Lowering, cts: list[Any], named: dict[str, Any]) -> Any:
        return library.differentiator.pull(low, pulled, cts[0])

    pullback = Intrinsic("pullback", pull)
    if has_aux:
        assert isinstance(pulled.value, TupleRef)
        value, extra = pulled.value.items
        return TupleRef((value, pullback, extra))
    return TupleRef((pulled.value, pullback))


def jvp(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    """``srcad.jvp``"""
    named = _named(("fun", "primals", "tangents"), args, keywords)
    points = containers.unpack(low, named["primals"])
    directions = containers.unpack(low, named["tangents"])
    if len(points) != len(directions):
        low.refuse("jvp needs one tangent for each primal", "")
    call = DifferentiatedCall(low, named["fun"], points, wrt=tuple(range(len(points))))
    made = library.differentiator.jvp(call, directions)
    return TupleRef(made)


def hvp(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    """``srcad.hvp``"""
    named = _named(("fun", "primals", "tangents"), args, keywords)
    count = len(containers.unpack(low, named["primals"]))
    argnums: Any = 0 if count == 1 else tuple(range(count))
    named["fun"] = Transformed(Spec("grad", argnums), named["fun"], None)
    pair = jvp(library, low, [], named)
    assert isinstance(pair, TupleRef)
    return pair.items[1]
