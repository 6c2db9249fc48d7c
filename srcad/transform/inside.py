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
from srcad.transform.expand import kept
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


def _has_aux(named: dict[str, Any]) -> bool:
    aux = named.get("has_aux")
    return isinstance(aux, Static) and bool(aux.value)


def _named(names: tuple[str, ...], args: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(names, args, strict=False)) | keywords


def transform_of(kind: str) -> Handler:
    """The handler of ``srcad.grad`` and its like."""

    def handler(
        library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]
    ) -> Any:
        named = _named(("fun", "argnums", "has_aux"), args, keywords)
        spec = Spec(kind, _known_argnums(low, named.get("argnums")), _has_aux(named))
        if "fun" not in named:
            return Intrinsic(kind, lambda low, a, k: Transformed(spec, a[0], None))
        return Transformed(spec, named["fun"], None)

    return handler


def hessian(
    library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]
) -> Any:
    """``srcad.hessian``"""
    named = _named(("fun", "argnums", "has_aux"), args, keywords)
    argnums, has_aux = _known_argnums(low, named.get("argnums")), _has_aux(named)

    def of(fun: Any) -> Transformed:
        inner = Transformed(Spec("grad", argnums, has_aux), fun, None)
        return Transformed(Spec("jacfwd", argnums, has_aux), inner, None)

    if "fun" not in named:
        return Intrinsic("hessian", lambda low, a, k: of(a[0]))
    return of(named["fun"])


def vjp(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    """``srcad.vjp``"""
    rest = {k: v for k, v in keywords.items() if k not in Choices.__annotations__}
    has_aux = _has_aux(rest)
    rest.pop("has_aux", None)
    if rest:
        low.refuse(f"vjp has no argument {next(iter(rest))!r}", "pass the primals by position")
    wrt = tuple(range(len(args) - 1))
    call = DifferentiatedCall(low, args[0], list(args[1:]), wrt=wrt, has_aux=has_aux)
    pulled = kept(low, library.differentiator.vjp(call))

    def pull(low: Lowering, cts: list[Any], named: dict[str, Any]) -> Any:
        return library.differentiator.pull(low, pulled, cts[0])

    pullback = Intrinsic("pullback", pull)
    return _result(pulled.value, pullback, pulled.aux)


def _result(value: Abstract, derivative: Abstract, aux: Abstract | None) -> TupleRef:
    """A value and its derivative, and the auxiliary data if there are any."""
    return TupleRef((value, derivative) if aux is None else (value, derivative, aux))


def jvp(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    """``srcad.jvp``"""
    named = _named(("fun", "primals", "tangents"), args, keywords)
    points = containers.unpack(low, named["primals"])
    directions = containers.unpack(low, named["tangents"])
    if len(points) != len(directions):
        low.refuse("jvp needs one tangent for each primal", "")
    wrt, has_aux = tuple(range(len(points))), _has_aux(named)
    call = DifferentiatedCall(low, named["fun"], points, wrt=wrt, has_aux=has_aux)
    pushed = library.differentiator.jvp(call, directions)
    return _result(pushed.value, pushed.tangent, pushed.aux)


def hvp(library: CompilerLibrary, low: Lowering, args: list[Any], keywords: dict[str, Any]) -> Any:
    """``srcad.hvp``"""
    named = _named(("fun", "primals", "tangents"), args, keywords)
    count = len(containers.unpack(low, named["primals"]))
    argnums: Any = 0 if count == 1 else tuple(range(count))
    named["fun"] = Transformed(Spec("grad", argnums), named["fun"], None)
    pair = jvp(library, low, [], named)
    assert isinstance(pair, TupleRef)
    return pair.items[1]
