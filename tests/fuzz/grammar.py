"""The operations of random programs: types, text in each dialect, and bounds.

Types: S float, V array of 3, W array of 2, M array of 2 by 3, I small int, B bool, L non-empty
list of floats, D dict with the keys "a" and "b", T pair of floats, K key, F function from S to S;
iI, iS, iSS, iIS, iKS are what a loop runs over, by what it yields.

Each operation has two texts. `plain` is what the compiler under test and the tape read. `traced`
is the same computation for long doubles, where `math` becomes NumPy; it reports each decision
that depends on a float to `trace`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Bound = Callable[..., float]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: its texts are formats over the printed arguments and the bound names `n`."""

    name: str
    result: str
    params: tuple[str, ...]
    plain: str
    traced: str
    bound: Bound
    infix: bool
    """Printed in parentheses inside another expression."""
    weight: int
    binds: tuple[str, ...] = ()
    """Types of names that the operation binds in its later arguments."""
    scoped: int = 99
    """The first argument in which the bound names are visible."""


OPS: dict[str, Op] = {}

_NUMPY_NAMES = {
    "atan2": "arctan2", "atan": "arctan", "asinh": "arcsinh", "pow": "power", "fabs": "abs",
}  # fmt: skip


# A display, a call, a method, an index: never in need of parentheses.
_CLOSED = re.compile(r"^\{\{.*\}\}$|^[\w.]*[\(\[].*[\)\]]$|^\{\d\}\.\w+(\(.*\))?$|^\{\d\}\[.*\]$")


def _without_math(form: str) -> str:
    def spelled(match: re.Match[str]) -> str:
        return "np." + _NUMPY_NAMES.get(match[1], match[1])

    return re.sub(r"\bmath\.(\w+)", spelled, form)


def _types(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"i[A-Z]+(?=,|$)|[A-Z]", text))


def op(
    name: str, result: str, params: str, plain: str, bound: Bound, *, traced: str = "",
    weight: int = 4, binds: str = "", scoped: int = 99,
) -> None:  # fmt: skip
    traced = traced or _without_math(plain)
    infix = not _CLOSED.match(plain)
    assert name not in OPS, name
    OPS[name] = Op(
        name, result, _types(params), plain, traced, bound, infix, weight,
        _types(binds), scoped,
    )  # fmt: skip


def _sum(*bounds: float) -> float:
    return sum(bounds)


def _product(*bounds: float) -> float:
    out = 1.0
    for bound in bounds:
        out *= bound
    return out


def _max(*bounds: float) -> float:
    return max(bounds)


def _at_most(value: float) -> Bound:
    return lambda *bounds: value


def _times(factor: float) -> Bound:
    return lambda *bounds: factor * max(bounds)


def _power(exponent: float) -> Bound:
    return lambda *bounds: bounds[0] ** exponent


# ---- arithmetic, the same for floats and arrays

for t in "SVWM":
    w = 8 if t == "S" else 4
    op(f"add_{t}", t, t + t, "{0} + {1}", _sum, weight=3 * w)
    op(f"sub_{t}", t, t + t, "{0} - {1}", _sum, weight=2 * w)
    op(f"mul_{t}", t, t + t, "{0} * {1}", _product, weight=3 * w)
    op(f"neg_{t}", t, t, "-{0}", _max, weight=w)
    op(f"square_{t}", t, t, "{0} ** 2", _power(2), weight=w)
    op(f"cube_{t}", t, t, "{0} ** 3", _power(3), weight=w // 2)
    op(f"div_{t}", t, t + t, "{0} / (1.0 + {1} ** 2)", lambda a, b: a, weight=w)
    op(f"div2_{t}", t, t + t, "{0} / (2.5 + np.sin({1}))", lambda a, b: a, weight=w // 2)
    op(f"root_{t}", t, t, "(0.5 + {0} ** 2) ** 0.5", _sum, weight=w // 2)
    op(f"clip_{t}", t, t, "np.clip({0}, -0.9, 1.1)", _at_most(1.1),
       traced="trace.clip({0}, -0.9, 1.1)", weight=w // 2)  # fmt: skip
    op(f"maximum_{t}", t, t + t, "np.maximum({0}, {1})", _max,
       traced="trace.maximum({0}, {1})", weight=w // 2)  # fmt: skip
    op(f"minimum_{t}", t, t + t, "np.minimum({0}, {1})", _max,
       traced="trace.minimum({0}, {1})", weight=w // 2)  # fmt: skip
    # np.where of floats is an array without dimensions, which += would write to: make it a float.
    unit = "1.0 * " if t == "S" else ""
    op(f"where_{t}", t, t * 4, unit + "np.where({0} < {1}, {2}, {3})",
       lambda a, b, c, d: max(c, d), traced=unit + "np.where(trace.less({0}, {1}), {2}, {3})",
       weight=w // 2 if t != "S" else 1)  # fmt: skip
    op(f"np_abs_{t}", t, t, "np.abs({0})", _max, traced="trace.absolute({0})", weight=w // 2)
    op(f"np_exp_{t}", t, t, "np.exp(0.5 * np.sin({0}))", _at_most(1.7), weight=w // 2)
    op(f"np_log1p_{t}", t, t, "np.log1p({0} ** 2)", _max, weight=w // 2)
    op(f"np_sqrt_{t}", t, t, "np.sqrt(1.0 + {0} * {0})", lambda a: 1.0 + a, weight=w // 2)
    for function in ("sin", "cos", "tanh"):
        op(f"np_{function}_{t}", t, t, f"np.{function}({{0}})", _at_most(1.0), weight=w)
    op(f"np_arctan_{t}", t, t, "np.arctan({0})", _at_most(1.6), weight=w // 2)

# ---- floats

for function in ("sin", "cos", "tanh"):
    op(f"math_{function}", "S", "S", f"math.{function}({{0}})", _at_most(1.0), weight=12)
op("math_exp", "S", "S", "math.exp(-{0} ** 2)", _at_most(1.0))
op("math_log", "S", "S", "math.log(1.5 + {0} ** 2)", _sum)
op("math_sqrt", "S", "S", "math.sqrt(1.0 + {0} ** 2)", lambda a: 1.0 + a)
op("math_atan2", "S", "SS", "math.atan2({0}, 1.2 + {1} ** 2)", _at_most(1.6))
op("math_atan", "S", "S", "math.atan({0})", _at_most(1.6))
op("math_asinh", "S", "S", "math.asinh({0})", _max)
op("math_hypot", "S", "S", "math.hypot({0}, 0.7)", lambda a: a + 0.7)
op("math_fabs", "S", "S", "math.fabs({0})", _max, traced="trace.absolute({0})")
op("abs", "S", "S", "abs({0})", _max, traced="trace.absolute({0})", weight=6)
op("pow", "S", "S", "pow({0}, 2)", _power(2), weight=3)
op("exponent", "S", "S", "1.3 ** {0}", lambda a: 1.3**a)
op("power", "S", "SS", "pow(1.1 + {0} ** 2, math.sin({1}))", lambda a, b: 1.1 + a * a, weight=3)
op("power_int", "S", "SI", "{0} ** ({1} % 3)", _power(2), weight=3)
op("max", "S", "SS", "max({0}, {1})", _max, traced="trace.largest({0}, {1})")
op("min", "S", "SSS", "min({0}, {1}, {2})", _max, traced="trace.smallest({0}, {1}, {2})")
op("mod", "S", "S", "{0} % 1.7", _at_most(1.7), traced="trace.modulo({0}, 1.7)", weight=2)
op("ternary", "S", "BSS", "{1} if {0} else {2}", lambda a, b, c: max(b, c), weight=8)
op("float", "S", "S", "float({0})", _max, traced="{0}", weight=3)
op("float_int", "S", "I", "0.2 * {0}", _at_most(2.0), weight=6)
op("div_int", "S", "SI", "{0} / ({1} + 1)", lambda a, b: a, weight=4)
op("walrus", "S", "S", "({n[0]} := {0})", _max, weight=0)
op("rounded", "S", "S", "{0} - round({0})", _at_most(1.0), traced="trace.rounded({0})", weight=1)

# ---- arrays to floats

for t, n in (("V", 3), ("W", 2), ("M", 6)):
    op(f"np_sum_{t}", "S", t, "np.sum({0})", _times(n))
    op(f"sum_method_{t}", "S", t, "{0}.sum()", _times(n))
    op(f"mean_{t}", "S", t, "np.mean({0})", _max)
    op(f"mean_method_{t}", "S", t, "{0}.mean()", _max, weight=2)
    op(f"max_{t}", "S", t, "{0}.max()", _max, traced="trace.top({0})", weight=2)
    op(f"np_min_{t}", "S", t, "np.min({0})", _max, traced="(-trace.top(-{0}))", weight=2)
    op(f"prod_{t}", "S", t, "np.prod({0})", _power(n), weight=2)
    op(f"masked_{t}", "S", t + "S", "np.sum({0}[{0} > {1}])", lambda a, b, n=n: n * a,
       traced="np.sum({0}[trace.less({1}, {0})])", weight=2)  # fmt: skip
for t, n in (("V", 3), ("W", 2)):
    op(f"dot_{t}", "S", t + t, "np.dot({0}, {1})", lambda a, b, n=n: n * a * b)
    op(f"dot_method_{t}", "S", t + t, "{0}.dot({1})", lambda a, b, n=n: n * a * b, weight=2)
    op(f"matmul_{t}", "S", t + t, "{0} @ {1}", lambda a, b, n=n: n * a * b)
    op(f"einsum_{t}", "S", t + t, 'np.einsum("i,i->", {0}, {1})', lambda a, b, n=n: n * a * b,
       weight=2)  # fmt: skip
    op(f"item_{t}", "S", t + "I", f"{{0}}[{{1}} % {n}]", lambda a, b: a, weight=8)
    op(f"last_{t}", "S", t, "{0}[-1]", _max, weight=4)
    op(f"sum_python_{t}", "S", t + "S", "sum({1} * {n[0]} for {n[0]} in {0})",
       lambda a, b, n=n: n * a * b, binds="S", scoped=1, weight=2)  # fmt: skip
op("item_M", "S", "MII", "{0}[{1} % 2, {2} % 3]", lambda a, b, c: a, weight=6)
op("item_M_negative", "S", "MI", "{0}[-1][-1 - {1} % 3]", lambda a, b: a)

# ---- arrays to arrays

for t in "VWM":
    op(f"scale_{t}", t, t + "S", "{0} * {1}", _product, weight=8)
    op(f"scale_left_{t}", t, "S" + t, "{0} * {1}", _product, weight=6)
    op(f"shift_{t}", t, "S" + t, "{0} + {1}", _sum, weight=6)
    op(f"divide_{t}", t, t + "S", "{0} / (1.5 + {1} ** 2)", lambda a, b: a, weight=3)
    op(f"copy_{t}", t, t, "{0}.copy()", _max, weight=2)
    op(f"like_{t}", t, t + "S", "np.full_like({0}, 0.6) * {1}", lambda a, b: 0.6 * b, weight=2)
    op(f"ternary_{t}", t, "B" + t + t, "{1} if {0} else {2}", lambda a, b, c: max(b, c), weight=3)
for t, n in (("V", 3), ("W", 2)):
    items = ", ".join(f"{{{k}}}" for k in range(n))
    op(f"array_{t}", t, "S" * n, f"np.array([{items}])", _max, traced=f"np.stack([{items}])",
       weight=6)  # fmt: skip
    op(f"reverse_{t}", t, t, "{0}[::-1]", _max)
    op(f"cumsum_{t}", t, t, "np.cumsum({0})", _times(n), weight=3)
    op(f"constant_{t}", t, "S", f"{{0}} * np.ones({n})", _max, weight=2)
    op(f"arange_{t}", t, "S", f"{{0}} * np.arange({n})", _times(n), weight=2)
op("rows_V", "V", "MI", "{0}[{1} % 2]", lambda a, b: a, weight=6)
op("row_last", "V", "M", "{0}[-1, :]", _max)
op("column_W", "W", "MI", "{0}[:, {1} % 3]", lambda a, b: a, weight=6)
op("head_W", "W", "V", "{0}[:2]", _max)
op("tail_W", "W", "V", "{0}[1:]", _max)
op("stride_W", "W", "V", "{0}[::2]", _max)
op("fancy_W", "W", "V", "{0}[[2, 0]]", _max)
op("fancy_V", "V", "W", "{0}[np.array([1, 0, 1])]", _max)
op("diff_W", "W", "V", "np.diff({0})", _times(2), weight=3)
op("join_V", "V", "WV", "np.concatenate([{0}, {1}[:1]])", _max)
op("join2_V", "V", "VW", "np.concatenate(({0}[2:], {1}))", _max)
op("hstack_V", "V", "WS", "np.append({0}, {1})", _max, weight=1,
   traced="np.concatenate([{0}, np.stack([{1}])])")  # fmt: skip
op("matvec", "W", "MV", "{0} @ {1}", lambda a, b: 3 * a * b, weight=6)
op("vecmat", "V", "WM", "{0} @ {1}", lambda a, b: 2 * a * b)
op("dot_MV", "W", "MV", "np.dot({0}, {1})", lambda a, b: 3 * a * b)
op("dot_transposed", "V", "MW", "{0}.T.dot({1})", lambda a, b: 2 * a * b)
op("einsum_MV", "W", "MV", 'np.einsum("ij,j->i", {0}, {1})', lambda a, b: 3 * a * b, weight=2)
op("sum_axis0", "V", "M", "np.sum({0}, axis=0)", _times(2))
op("sum_axis1", "W", "M", "{0}.sum(axis=1)", _times(3))
op("mean_axis1", "W", "M", "np.mean({0}, axis=-1)", _max, weight=2)
op("outer", "M", "WV", "np.outer({0}, {1})", _product, weight=6)
op("stack_M", "M", "VV", "np.stack([{0}, {1}])", _max, weight=6)
op("vstack_M", "M", "VV", "np.vstack(({0}, {1}))", _max, weight=2)
op("array_M", "M", "SSSSSS", "np.array([[{0}, {1}, {2}], [{3}, {4}, {5}]])", _max,
   traced="np.stack([np.stack([{0}, {1}, {2}]), np.stack([{3}, {4}, {5}])])", weight=1)  # fmt: skip
op("broadcast_row", "M", "MV", "{0} + {1}", _sum, weight=4)
op("broadcast_column", "M", "MW", "{0} * {1}[:, None]", _product, weight=4)
op("broadcast_outer", "M", "WV", "{0}[:, np.newaxis] - {1}", _sum, weight=3)
op("centred", "M", "M", "{0} - {0}.mean(axis=1, keepdims=True)", _times(2), weight=3)
op("reshape_M", "M", "VV", "np.concatenate([{0}, {1}]).reshape(2, 3)", _max, weight=3)
op("transpose_M", "M", "M", "np.transpose({0}).reshape((2, 3))", _max, weight=2)
op("matmul_M", "M", "MV", "{0} @ np.outer({1}, {1})", lambda a, b: 3 * a * b * b, weight=2)
op("ravel_V", "V", "M", "{0}.ravel()[1:4]", _max, weight=2)
op("array_list_V", "V", "VS", "np.array([{1} * {n[0]} for {n[0]} in {0}])", _product, binds="S",
   scoped=1, traced="np.stack([{1} * {n[0]} for {n[0]} in {0}])", weight=2)  # fmt: skip

# ---- integers and tests

op("inc", "I", "I", "{0} + 1", _max)
op("dec", "I", "I", "{0} - 1", _max, weight=0)
op("mod_len", "I", "IL", "{0} % len({1})", _max, weight=0)
op("mod4_I", "I", "I", "{0} % 4", _max, weight=0)
op("mod_I", "I", "I", "{0} % 3", _max)
op("div_I", "I", "I", "{0} // 2", _max)
op("len_L", "I", "L", "len({0})", _max, weight=3)
op("len_V", "I", "V", "len({0})", _max, weight=2)
op("shape_M", "I", "M", "{0}.shape[0]", _max, weight=2)
op("int", "I", "S", "int(abs({0}))", _max, weight=2, traced="trace.integer({0})")
for symbol, word, form in (
    ("<", "lt", "trace.less({0}, {1})"), (">", "gt", "trace.less({1}, {0})"),
    ("<=", "le", "not trace.less({1}, {0})"), (">=", "ge", "not trace.less({0}, {1})"),
):  # fmt: skip
    op(word, "B", "SS", f"{{0}} {symbol} {{1}}", _at_most(1), traced=form, weight=8)
    op(f"{word}_I", "B", "II", f"{{0}} {symbol} {{1}}", _at_most(1), weight=2)
op("eq_I", "B", "I", "{0} % 2 == 0", _at_most(1), weight=3)
op("chain", "B", "SSS", "{0} < {1} <= {2}", _at_most(1),
   traced="trace.less({0}, {1}) and not trace.less({2}, {1})", weight=4)  # fmt: skip
op("and", "B", "BB", "{0} and {1}", _at_most(1), weight=3)
op("or", "B", "BB", "{0} or {1}", _at_most(1), weight=3)
op("not", "B", "B", "not {0}", _at_most(1), weight=3)
op("any", "B", "LS", "any({n[0]} > {1} for {n[0]} in {0})", _at_most(1), binds="S", scoped=1,
   traced="any(trace.less({1}, {n[0]}) for {n[0]} in {0})", weight=2)  # fmt: skip
op("np_any", "B", "VS", "np.any({0} > {1})", _at_most(1),
   traced="np.any(trace.less({1}, {0}))", weight=2)  # fmt: skip
op("all_V", "B", "VS", "({0} < {1}).all()", _at_most(1),
   traced="np.all(trace.less({0}, {1}))", weight=1)  # fmt: skip

# ---- containers

op("list2", "L", "SS", "[{0}, {1}]", _max, weight=6)
op("list3", "L", "SSS", "[{0}, {1}, {2}]", _max, weight=4)
op("comp", "L", "LS", "[{1} for {n[0]} in {0}]", lambda a, b: b, binds="S", scoped=1, weight=6)
op("comp_range", "L", "IS", "[{1} for {n[0]} in range(1 + {0} % 3)]", lambda a, b: b, binds="I",
   scoped=1)  # fmt: skip
op("comp_V", "L", "VS", "[{1} for {n[0]} in {0}]", lambda a, b: b, binds="S", scoped=1)
op("concat_L", "L", "LL", "({0} + {1})[:5]", _max, weight=3)
op("reverse_L", "L", "L", "{0}[::-1]", _max, weight=3)
op("copy_L", "L", "L", "list({0})", _max, weight=2)
op("sorted", "L", "L", "sorted({0})", _max, traced="trace.ordered({0})", weight=2)
op("sum_L", "S", "L", "sum({0})", _times(6), weight=6)
op("sum_gen", "S", "LS", "sum({1} for {n[0]} in {0})", lambda a, b: 6 * b, binds="S", scoped=1,
   weight=5)  # fmt: skip
op("sum_filter", "S", "LSS", "sum({2} for {n[0]} in {0} if {n[0]} > {1})",
   lambda a, b, c: 6 * c, binds="S", scoped=1,
   traced="sum({2} for {n[0]} in {0} if trace.less({1}, {n[0]}))", weight=2)  # fmt: skip
op("sum_zip", "S", "LVS", "sum({n[0]} * {n[1]} + {2} for {n[0]}, {n[1]} in zip({0}, {1}))",
   lambda a, b, c: 6 * (a * b + c), binds="SS", scoped=2, weight=2)  # fmt: skip
op("max_L", "S", "L", "max({0})", _max, traced="trace.largest(*{0})", weight=2)
op("first_L", "S", "L", "{0}[0]", _max, weight=5)
op("last_L", "S", "L", "{0}[-1]", _max, weight=4)
op("item_L", "S", "LI", "{0}[{1} % len({0})]", lambda a, b: a, weight=6)
op("pair", "T", "SS", "({0}, {1})", _max, weight=6)
op("swap_T", "T", "T", "({0}[1], {0}[0])", _max, weight=2)
op("first_T", "S", "T", "{0}[0]", _max, weight=4)
op("second_T", "S", "T", "{0}[1]", _max, weight=4)
op("dict2", "D", "SS", '{{"a": {0}, "b": {1}}}', _max, weight=6)
op("item_a", "S", "D", '{0}["a"]', _max, weight=4)
op("item_b", "S", "D", '{0}["b"]', _max, weight=4)
op("get", "S", "DS", '{0}.get("c", {1})', _max, weight=2)
op("sum_values", "S", "D", "sum({0}.values())", _times(3), weight=3)
op("item_D", "S", "DK", "{0}[{1}]", lambda a, b: a, weight=3)

# ---- what loops run over

op("range", "iI", "I", "range({0})", _max, weight=8)
op("range3", "iI", "I", "range(1, 7, 2 + {0} % 2)", _max, weight=2)
op("range_down", "iI", "", "range(3, -1, -2)", _at_most(4), weight=2)
op("reversed_range", "iI", "", "reversed(range(3))", _at_most(4), weight=1)
op("iter_L", "iS", "L", "{0}", _max, weight=6)
op("iter_V", "iS", "V", "{0}", _max, weight=6)
op("iter_T", "iS", "T", "{0}", _max, weight=2)
op("iter_reversed", "iS", "L", "reversed({0})", _max, weight=2)
op("iter_values", "iS", "D", "{0}.values()", _max, weight=2)
op("iter_display", "iS", "SS", "({0}, {1})", _max, weight=2)
op("zip_LV", "iSS", "LV", "zip({0}, {1})", _max)
op("zip_VV", "iSS", "VV", "zip({0}, {1})", _max)
op("zip_LL", "iSS", "LL", "zip({0}, {1})", _max)
op("rows_zip", "iSS", "M", "zip({0}[0], {0}[1])", _max, weight=2)
op("enumerate_L", "iIS", "L", "enumerate({0})", _max)
op("enumerate_V", "iIS", "V", "enumerate({0})", _max)
op("items_D", "iKS", "D", "{0}.items()", _max)

# ---- functions

op("compose", "S", "FS", "{0}({1})", _at_most(4.0), weight=40)

BY_RESULT: dict[str, list[Op]] = {}
for entry in OPS.values():
    BY_RESULT.setdefault(entry.result, []).append(entry)

SQUASHERS = {
    t: [f"np_{function}_{t}" for function in ("tanh", "sin", "cos", "arctan")] for t in "SVWM"
}
SQUASHERS["S"] += ["math_tanh", "math_sin", "math_atan", "math_cos"]
