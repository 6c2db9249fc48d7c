"""What srcad knows of mathematics: the derivative rules, and the decorators to declare more."""

from importlib import import_module

from srcad.rules.registry import (
    Rule,
    composition,
    constant,
    differential,
    digest,
    effect,
    instead_of,
    is_constant,
    is_effect,
    is_known,
    is_literal,
    is_sequence,
    linear,
    lookup,
    lookup_composition,
    lookup_pullback,
    lookup_transpose,
    multilinear,
    nesting,
    of_numbers,
    pullback,
    refused,
    rules,
    watch,
    when_imported,
)

__all__ = [
    "Rule",
    "composition",
    "constant",
    "differential",
    "digest",
    "effect",
    "instead_of",
    "is_constant",
    "is_effect",
    "is_known",
    "is_literal",
    "is_sequence",
    "linear",
    "lookup",
    "lookup_composition",
    "lookup_pullback",
    "lookup_transpose",
    "multilinear",
    "nesting",
    "of_numbers",
    "pullback",
    "refused",
    "rules",
    "watch",
]

_CATALOGUE = (
    "intrinsics",
    "arithmetic",
    "elementwise",
    "special",
    "reductions",
    "ufuncs",
    "shaping",
    "indexing",
    "sequences",
    "grids",
    "polynomials",
    "series",
    "mapping",
    "products",
    "linalg",
    "fft",
    "constants",
)

for _module in _CATALOGUE:
    import_module(f"{__name__}.{_module}")

when_imported(
    "scipy.special",
    f"{__name__}.scipy_special",
    f"{__name__}.scipy_distributions",
    f"{__name__}.scipy_bessel",
    f"{__name__}.scipy_hypergeometric",
)
when_imported("scipy.linalg", f"{__name__}.scipy_linalg")
when_imported("scipy.stats", f"{__name__}.scipy_stats")
when_imported("scipy.integrate", f"{__name__}.scipy_integrate")
