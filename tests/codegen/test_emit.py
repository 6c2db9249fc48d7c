"""How single forms print; each text is also run against the meaning of its IR."""

import functools
import inspect
import math
import operator
import textwrap

import numpy as np
import pytest

from srcad.codegen import emit
from srcad.ir.core import (
    UNDEFINED,
    Accumulate,
    Apply,
    Block,
    Call,
    Effect,
    For,
    Function,
    FunctionRef,
    If,
    Items,
    Literal,
    Loc,
    Range,
    Update,
    Value,
    While,
    check_bound,
    make_list,
    make_tuple,
)
from srcad.ir.types import (
    BOOL,
    FLOAT,
    INT,
    UNKNOWN,
    Array,
    DictType,
    Dim,
    ListType,
    Opaque,
    TupleType,
)
from srcad.ir.verify import verify
from tests.codegen.interpret import run

A = Array("float64", (Dim("n"),))
ANY_RANK = Array("float64", None)
N = Literal(3)


class Draft:
    """A block that is being written down."""

    def __init__(self, *params):
        self.params = params
        self.ops = []

    def __call__(self, callee, *args, kind=FLOAT, hint="", loc=None, **keywords):
        args = tuple(a if isinstance(a, (Value, Literal)) else Literal(a) for a in args)
        pairs = tuple((k, a if isinstance(a, Value) else Literal(a)) for k, a in keywords.items())
        result = Value(hint, kind)
        self.ops.append(Apply(callee, args, pairs, result, loc))
        return result

    def add(self, target, term, index=None, kind=None, hint=None, loc=None):
        version = Value(target.hint if hint is None else hint, kind or target.type)
        self.ops.append(Accumulate(target, index, term, version, loc))
        return version

    def update(self, callee, target, *args, result=None):
        version = Value(target.hint, target.type)
        self.ops.append(Update(callee, target, args, version, result))
        return version

    def block(self, *yields):
        return Block((), tuple(self.ops), yields)

    def function(self, *yields, name="f", **more):
        return Function(name, self.params, self.block(*yields), **more)


def body(emitted):
    """The text of the last function, without its head."""
    text = emitted.source[
        emitted.source.rindex("\ndef " if "\ndef " in emitted.source else "def ") :
    ]
    return textwrap.dedent(text.lstrip("\n").partition("\n")[2]).rstrip()


def load(emitted):
    space = dict(emitted.bindings)
    exec(emitted.source, space)
    return space[emitted.name]


def prints(function, expected, *args):
    verify(function)
    emitted = emit(function)
    assert body(emitted) == textwrap.dedent(expected).strip("\n").rstrip()
    if args:
        out = load(emitted)(*args)
        wanted = run(function, *args)
        wanted = wanted[0] if len(wanted) == 1 else wanted
        np.testing.assert_equal(out, wanted)
    return emitted


x, y = Value("x", FLOAT), Value("y", FLOAT)
a, b = Value("a", A), Value("b", A)
ARRAY = np.array([0.5, -1.0, 2.0])


def test_infix_takes_only_the_parentheses_it_needs():
    d = Draft(x, y)
    left = d(operator.sub, x, d(operator.sub, y, 1.0))
    power = d(operator.pow, d(operator.neg, x), 2)
    product = d(operator.mul, left, d(operator.truediv, power, d(operator.add, y, -2.0)))
    expected = "return (x - (y - 1.0)) * ((-x) ** 2 / (y + -2.0))"
    prints(d.function(product), expected, 0.5, 0.25)


def test_a_users_name_keeps_its_statement():
    d = Draft(a, b)
    h = d(np.tanh, d(operator.mul, a, b, kind=A), kind=A, hint="h")
    out = d(np.sum, d(operator.mul, h, a, kind=A))
    prints(d.function(out), "h = np.tanh(a * b)\nreturn np.sum(h * a)", ARRAY, ARRAY)


def test_methods_attributes_and_indices():
    d = Draft(a)
    part = d(operator.getitem, a, d(slice, 1, None, None, kind=Opaque("slice")), kind=A)
    total = d(np.ndarray.sum, d(operator.getitem, part, Literal((None, ...)), kind=A), axis=0)
    prints(d.function(total), "return a[1:][None, ...].sum(axis=0)", ARRAY)


def test_attribute_descriptors():
    d = Draft(a)
    d.ops.append(Apply(np.ndarray.T, (a,), (), turned := Value("", A)))
    assert body(emit(d.function(turned))) == "return a.T"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "-1"),
        (1e300, "1e+300"),
        (-0.0, "-0.0"),
        (math.inf, "math.inf"),
        (-math.inf, "-math.inf"),
        (2j, "2.0j"),
        (1 - 2j, "complex(1.0, -2.0)"),
        ((1, (2.5, None)), "1, (2.5, None)"),
        (np.float64(0.1), "np.float64(0.1)"),
        (np.dtype("float32"), "np.dtype('float32')"),
        (np.int64, "np.int64"),
        (slice(1, None), "slice(1, None, None)"),
        ("it's\n", '"it\'s\\n"'),
        (Ellipsis, "..."),
        (np.linalg.norm, "np.linalg.norm"),
        (math, "math"),
        (len, "len"),
        (None, "None"),
    ],
)
def test_literals(value, text):
    emitted = emit(Draft().function(Literal(value)))
    assert body(emitted) == f"return {text}"
    out = load(emitted)()
    assert out == value
    assert repr(out) == repr(value)


def test_a_nan_prints():
    assert math.isnan(load(emit(Draft().function(Literal(math.nan))))())


def test_what_cannot_be_imported_is_bound():
    d = Draft(x)
    out = d(lambda v: v + 1, d(functools.partial(math.pow, 2.0), x))
    emitted = emit(d.function(out))
    assert body(emitted) == "return function(partial(x))"
    assert sorted(emitted.bindings) == ["function", "partial"]
    assert load(emitted)(3.0) == 9.0


def test_variables_named_like_modules_and_builtins():
    np_, range_ = Value("np", A), Value("range", INT)
    i, carried, result, version = (
        Value("i", INT),
        Value("sum", FLOAT),
        Value("sum", FLOAT),
        Value("sum", FLOAT),
    )
    d = Draft(np_, range_)
    inner = Draft()
    inner.ops.append(Apply(operator.add, (carried, Literal(1.0)), (), version))
    loop = Block((i, carried), tuple(inner.ops), (version,))
    d.ops.append(For((Range(Literal(0), range_, Literal(1)),), (Literal(0.0),), loop, (result,)))
    total = d(np.sum, np_)
    out = d(operator.add, result, d(sum, make := d(make_list, total, total, kind=ListType(FLOAT))))
    assert make
    emitted = emit(d.function(out))
    text = emitted.source
    assert "import numpy as np_" in text
    assert "builtins.range(range)" in text
    assert load(emitted)(ARRAY, 2) == 2.0 + 2 * ARRAY.sum()


def test_names_that_clash_get_numbers():
    d = Draft(a)
    h = d(np.exp, a, kind=A, hint="h")
    k = d(np.sin, h, kind=A, hint="h")
    out = d(operator.add, h, k, kind=A)
    prints(d.function(out), "h = np.exp(a)\nh2 = np.sin(h)\nreturn h + h2", ARRAY)


def test_a_name_is_used_again_when_its_value_is_dead():
    d = Draft(a)
    h = d(np.exp, a, kind=A, hint="h")
    h = d(np.sin, h, kind=A, hint="h")
    prints(d.function(h), "h = np.exp(a)\nh = np.sin(h)\nreturn h", ARRAY)


def test_keywords_are_no_names():
    d = Draft(a)
    out = d(np.exp, a, kind=A, hint="lambda")
    assert "lambda_ = np.exp(a)" in emit(d.function(out)).source


def swap_loop(hints):
    p, q, i = Value(hints[0], FLOAT), Value(hints[1], FLOAT), Value("i", INT)
    results = Value(hints[0], FLOAT), Value(hints[1], FLOAT)
    d = Draft(x, y)
    loop = Block((i, p, q), (), (q, p))
    d.ops.append(For((Range(Literal(0), N, Literal(1)),), (x, y), loop, results))
    return d.function(*results)


def test_swap_in_a_loop():
    expected = "for _ in range(3):\n    x, y = y, x\nreturn x, y"
    prints(swap_loop("xy"), expected, 1.0, 2.0)
    prints(
        swap_loop("ab"), "a = x\nb = y\nfor _ in range(3):\n    a, b = b, a\nreturn a, b", 1.0, 2.0
    )


def test_fibonacci_reads_before_it_writes():
    p, q = Value("p", FLOAT), Value("q", FLOAT)
    results = Value("p", FLOAT), Value("q", FLOAT)
    inner, d = Draft(), Draft(x, y)
    total = inner(operator.add, p, q)
    loop = Block((Value("i", INT), p, q), tuple(inner.ops), (q, total))
    d.ops.append(For((Range(Literal(0), N, Literal(1)),), (x, y), loop, results))
    expected = """
        p = x
        q = y
        for _ in range(3):
            p, q = q, p + q
        return p, q
        """
    prints(d.function(*results), expected, 1.0, 2.0)


def test_lost_copy():
    """The value before the last update is read after the loop."""
    p, result, inner, d = Value("p", FLOAT), Value("p", FLOAT), Draft(), Draft(x)
    last, last_result = Value("last", FLOAT), Value("last", FLOAT)
    following = inner(operator.mul, p, 2.0, hint="p")
    loop = Block((Value("i", INT), p, last), tuple(inner.ops), (following, p))
    streams = (Range(Literal(0), N, Literal(1)),)
    d.ops.append(For(streams, (x, Literal(0.0)), loop, (result, last_result)))
    prints(
        d.function(result, last_result),
        """
        p = x
        last = 0.0
        for _ in range(3):
            p2 = p * 2.0
            last = p
            p = p2
        return p, last
        """,
        1.5,
    )


def test_streams():
    xs = Value("xs", ListType(FLOAT))
    inner, d = Draft(), Draft(xs)
    i, v, s, result = Value("i", INT), Value("v", FLOAT), Value("s", FLOAT), Value("s", FLOAT)
    length = d(len, xs, kind=INT)
    total = inner(operator.add, s, inner(operator.mul, v, i))
    loop = Block((i, v, s), tuple(inner.ops), (total,))
    streams = (Range(Literal(0), length, Literal(1)), Items(xs))
    d.ops.append(For(streams, (Literal(0.0),), loop, (result,)))
    expected = "s = 0.0\nfor i, v in enumerate(xs):\n    s = s + v * i\nreturn s"
    prints(d.function(result), expected, [1.0, 2.0, 3.0])


def test_tuples_of_a_tape_are_unpacked_in_the_head():
    pair = TupleType((FLOAT, A))
    stack, item = Value("stack", ListType(pair)), Value("", pair)
    inner, d = Draft(), Draft(stack)
    s, result = Value("s", FLOAT), Value("s", FLOAT)
    w = inner(operator.getitem, item, 0, hint="w")
    h = inner(operator.getitem, item, 1, hint="h", kind=A)
    total = inner(operator.add, s, inner(operator.mul, inner(np.sum, h), w))
    loop = Block((item, s), tuple(inner.ops), (total,))
    d.ops.append(For((Items(stack, backward=True),), (Literal(0.0),), loop, (result,)))
    expected = "s = 0.0\nfor w, h in reversed(stack):\n    s = s + np.sum(h) * w\nreturn s"
    prints(d.function(result), expected, [(2.0, ARRAY), (3.0, ARRAY)])


def stopping(flag_is_used):
    """A loop that an ``If`` at its end stops."""
    s, result = Value("s", FLOAT), Value("s", FLOAT)
    stopped, stopped_result = Value("broke", BOOL), Value("broke", BOOL)
    inner, rest, d = Draft(), Draft(), Draft(x)
    test = inner(operator.gt, s, 2.0, kind=BOOL)
    grown = rest(operator.add, s, x, hint="s")
    flag, handed = Value("", BOOL), Value("s", FLOAT)
    then, orelse = (
        Block((), (), (s, Literal(True))),
        Block((), tuple(rest.ops), (grown, Literal(False))),
    )
    inner.ops.append(If(test, then, orelse, (handed, flag)))
    stream = (Range(Literal(0), Literal(9), Literal(1)),)
    if flag_is_used:
        loop = Block((Value("i", INT), s, stopped), tuple(inner.ops), (handed, flag, flag))
        d.ops.append(For(stream, (x, Literal(False)), loop, (result, stopped_result), stops=True))
        return d.function(result, stopped_result)
    loop = Block((Value("i", INT), s), tuple(inner.ops), (handed, flag))
    d.ops.append(For(stream, (x,), loop, (result,), stops=True))
    return d.function(result)


def test_break():
    expected = """
        s = x
        for _ in range(9):
            if s > 2.0:
                break
            s = s + x
        return s
        """
    prints(stopping(False), expected, 0.7)


def test_break_with_a_flag_that_is_read_later():
    expected = """
        s = x
        broke = False
        for _ in range(9):
            if s > 2.0:
                broke = True
                break
            s = s + x
        return s, broke
        """
    prints(stopping(True), expected, 0.7)
    prints(stopping(True), expected, 0.1)


def test_while_with_a_test_of_one_expression():
    t, p, result, test, inner, d = (
        Value("s", FLOAT),
        Value("s", FLOAT),
        Value("s", FLOAT),
        Draft(),
        Draft(),
        Draft(x),
    )
    going = test(operator.lt, t, 9.0, kind=BOOL)
    grown = inner(operator.mul, p, 2.0, hint="s")
    block = Block((p,), tuple(inner.ops), (grown,))
    d.ops.append(While((x,), Block((t,), tuple(test.ops), (going,)), block, (result,)))
    prints(d.function(result), "s = x\nwhile s < 9.0:\n    s = s * 2.0\nreturn s", 0.7)


def test_branch_of_two_expressions_is_a_ternary():
    d = Draft(x, y)
    then, orelse, result = Draft(), Draft(), Value("", FLOAT)
    grown, shrunk = then(operator.mul, x, 2.0), orelse(operator.neg, x)
    test = d(operator.gt, x, y, kind=BOOL)
    d.ops.append(If(test, then.block(grown), orelse.block(shrunk), (result,)))
    prints(
        d.function(d(operator.add, result, y)), "return (x * 2.0 if x > y else -x) + y", 1.0, 0.5
    )


def test_boolean_operators():
    d = Draft(x, y)
    rest, result = Draft(), Value("", BOOL)
    first = d(operator.gt, x, 0.0, kind=BOOL)
    second = rest(operator.gt, y, 0.0, kind=BOOL)
    d.ops.append(If(first, rest.block(second), Block((), (), (first,)), (result,)))
    prints(d.function(result), "return x > 0.0 and y > 0.0", 1.0, 2.0)


def test_empty_branches_vanish():
    d = Draft(x, y)
    rest, result = Draft(), Value("x", FLOAT)
    other = rest(operator.mul, x, y, hint="x")
    test = d(operator.eq, x, y, kind=BOOL)
    d.ops.append(If(test, Block((), (), (x,)), rest.block(other), (result,)))
    prints(d.function(result), "if x != y:\n    x = x * y\nreturn x", 1.0, 2.0)


def test_a_name_that_may_be_unbound():
    test, d, then, v = Value("test", BOOL), Draft(), Draft(), Value("v", FLOAT)
    d.params = (test, x)
    made = then(operator.mul, x, 2.0, hint="v")
    d.ops.append(If(test, then.block(made), Block((), (), (UNDEFINED,)), (v,)))
    d.ops.append(Effect(check_bound, (v, Literal("v")), (), None))
    run_it = load(emit(d.function(v)))
    assert run_it(True, 2.0) == 4.0
    with pytest.raises(UnboundLocalError, match="'v'"):
        run_it(False, 2.0)


def test_a_name_read_under_its_own_test_stays_unbound():
    test, d, then, again = Value("test", BOOL), Draft(), Draft(), Draft()
    d.params, v, out = (test, x), Value("v", FLOAT), Value("out", FLOAT)
    made = then(operator.mul, x, 2.0, hint="v")
    d.ops.append(If(test, then.block(made), Block((), (), (UNDEFINED,)), (v,)))
    read = again(operator.add, v, 1.0, hint="out")
    d.ops.append(If(test, again.block(read), Block((), (), (x,)), (out,)))
    expected = (
        "if test:\n    v = x * 2.0\nif test:\n    out = v + 1.0\nelse:\n    out = x\nreturn out"
    )
    prints(d.function(out), expected, False, 2.0)


# ---- accumulation


def test_numbers_add_in_place():
    d = Draft(x, y)
    s = d(operator.mul, x, y, hint="s")
    s = d.add(s, d(operator.neg, x))
    prints(d.function(s), "s = x * y\ns -= x\nreturn s", 2.0, 3.0)


def test_owned_arrays_add_in_place():
    d = Draft(a, b)
    s = d(operator.mul, a, b, kind=A, hint="s")
    s = d.add(s, d(np.exp, a, kind=A))
    prints(d.function(s), "s = a * b\ns += np.exp(a)\nreturn s", ARRAY, ARRAY)


@pytest.mark.parametrize(
    ("callee", "args"),
    [
        (np.broadcast_to, (Literal((3,)),)),
        (np.reshape, (Literal(-1),)),
        (operator.getitem, (Literal(slice(None)),)),
        (np.asarray, ()),
        (np.ravel, ()),
    ],
)
def test_views_are_not_written(callee, args):
    d = Draft(a)
    s = d(callee, a, *args, kind=A, hint="s")
    s = d.add(s, a)
    given = ARRAY.copy()
    emitted = emit(d.function(s))
    assert "s = s + a" in emitted.source
    np.testing.assert_array_equal(load(emitted)(given), 2 * ARRAY)
    np.testing.assert_array_equal(given, ARRAY)


def test_a_seed_is_not_written():
    d = Draft(a)
    s = d.add(a, a)
    assert "a = a + a" in emit(d.function(s)).source


def test_arrays_whose_shape_may_change_are_not_written():
    d = Draft(a)
    s = d(operator.mul, a, 2.0, kind=ANY_RANK, hint="s")
    s = d.add(s, a)
    assert "s = s + a" in emit(d.function(s)).source


def test_an_array_that_is_read_later_is_not_written():
    d = Draft(a)
    s = d(operator.mul, a, 2.0, kind=A, hint="s")
    t = d.add(s, a, hint="t")
    prints(d.function(s, t), "s = a * 2.0\nt = s + a\nreturn s, t", ARRAY)


def test_an_array_on_a_tape_is_not_written():
    d = Draft(a)
    s = d(operator.mul, a, 2.0, kind=A, hint="s")
    kept = d(make_list, s, kind=ListType(A), hint="kept")
    s = d.add(s, a)
    prints(d.function(s, kept), "s = a * 2.0\nkept = [s]\ns = s + a\nreturn s, kept", ARRAY)


def test_an_array_that_a_loop_still_walks_over_is_not_written():
    d = Draft(a)
    s = d(operator.mul, a, 2.0, kind=A, hint="s")
    walked = d(make_list, a, s, a, s, kind=ListType(A))
    item, carried, result, inner = Value("v", A), Value("s", A), Value("s", A), Draft()
    version = inner.add(carried, item)
    loop = Block((item, carried), tuple(inner.ops), (version,))
    d.ops.append(For((Items(walked),), (s,), loop, (result,)))
    expected = "s = a * 2.0\nfor v in [a, s, a, s]:\n    s = s + v\nreturn s"
    prints(d.function(result), expected, ARRAY)


def test_a_loop_adds_in_place_what_it_owns():
    d = Draft(a)
    zeros = d(np.zeros_like, a, kind=A, hint="s")
    carried, result, inner = Value("s", A), Value("s", A), Draft()
    version = inner.add(carried, a)
    loop = Block((Value("i", INT), carried), tuple(inner.ops), (version,))
    d.ops.append(For((Range(Literal(0), N, Literal(1)),), (zeros,), loop, (result,)))
    expected = "s = np.zeros_like(a)\nfor _ in range(3):\n    s += a\nreturn s"
    prints(d.function(result), expected, ARRAY)


INDICES = [
    (Literal(1), "s[1] += x"),
    (Literal(slice(1, None)), "s[1:] += x"),
    (Literal((Ellipsis, None)), "s[..., None] += x"),
    (Literal([0, 0, 2]), "np.add.at(s, [0, 0, 2], x)"),
    (Value("i", INT), "s[i] += x"),
    (Value("i", Array("int64", (None,))), "np.add.at(s, i, x)"),
    (Value("i", Array("bool", (Dim("n"),))), "s[i] += x"),
    (Value("i", UNKNOWN), "runtime.add_at(s, i, x)"),
]


@pytest.mark.parametrize(("index", "text"), INDICES, ids=[text for _, text in INDICES])
def test_indexed_accumulation(index, text):
    d = Draft(a, x, *([index] if isinstance(index, Value) else []))
    s = d(np.zeros_like, a, kind=A, hint="s")
    s = d.add(s, x, index)
    assert body(emit(d.function(s))) == f"s = np.zeros_like(a)\n{text}\nreturn s"


def test_indexed_accumulation_copies_what_is_not_owned():
    d = Draft(a, x)
    s = d.add(a, x, Literal(0))
    given = ARRAY.copy()
    prints(d.function(s), "a = a.copy()\na[0] += x\nreturn a", given, 2.0)
    np.testing.assert_array_equal(given, ARRAY)


def test_lists_and_dicts():
    numbers, arrays = Value("p", ListType(FLOAT)), Value("q", ListType(A))
    table = Value("t", DictType(FLOAT))
    d = Draft(x, a)
    d.ops.append(Apply(make_list, (Literal(0.0),), (), numbers))
    d.ops.append(Apply(make_list, (a,), (), arrays))
    d.ops.append(Apply(dict, (), (), table))
    p = d.add(numbers, x, Literal(0))
    q = d.add(arrays, a, Literal(0))
    t = d.add(table, x, Literal("k"))
    expected = """
        p = [0.0]
        q = [a]
        t = dict()
        p[0] += x
        q[0] = q[0] + a
        t['k'] = t.get('k', 0.0) + x
        return p, q, t
        """
    prints(d.function(p, q, t), expected, 2.0, ARRAY)


def test_a_read_is_not_carried_past_a_write():
    d = Draft(a, x)
    u = d(np.ndarray.copy, a, kind=A, hint="u")
    seen = d(np.sum, u)
    u = d.update(operator.setitem, u, Literal(0), x)
    out = d(operator.mul, seen, d(np.sum, u))
    expected = "u = a.copy()\ntotal = np.sum(u)\nu[0] = x\nreturn total * np.sum(u)"
    prints(d.function(out), expected, ARRAY, 5.0)


def test_pops_print_where_they_are_used():
    d = Draft(a)
    stack = d(make_list, a, kind=ListType(A), hint="stack")
    popped = Value("", A)
    d.update(list.pop, stack, result=popped)
    out = d(operator.mul, popped, 2.0, kind=A)
    scaled = d(operator.add, out, a, kind=A, hint="scaled")
    expected = "stack = [a]\nscaled = stack.pop() * 2.0 + a\nreturn scaled"
    prints(d.function(scaled), expected, ARRAY)


# ---- modules


def test_comments_and_line_map():
    first = Loc("m.py", 3, 4, "y = x * x")
    back = Loc("m.py", 3, 4, "y = x * x", reverse=1)
    d = Draft(x)
    out = d(operator.mul, x, x, hint="y", loc=first)
    d1 = d(operator.mul, x, 2.0, hint="x_bar", loc=back)
    grown = d.add(d.add(d1, x, loc=back), x, loc=back)
    emitted = emit(d.function(out, grown, doc='Say "this".'), header="made by hand")
    assert emitted.source == (
        "# made by hand\n\n\n"
        "def f(x):\n"
        '    """Say "this"."""\n'
        "    # ---- forward sweep\n"
        "    y = x * x\n"
        "    # ---- reverse sweep\n"
        "    # line 3: y = x * x\n"
        "    x_bar = x * 2.0 + x\n"
        "    x_bar += x\n"
        "    return y, x_bar\n"
    )
    assert {line: loc.reverse for line, loc in emitted.line_map.items()} == {7: 0, 10: 1, 11: 1}


def test_docstrings_print_as_they_are():
    text = 'One line.\n\nA \\ and a """ quote"'
    emitted = emit(Draft(x).function(x, doc=text))
    assert inspect.cleandoc(load(emitted).__doc__) == text


def test_functions_call_each_other():
    ref = FunctionRef("half")
    inner = Draft(x)
    ref.function = inner.function(inner(operator.mul, x, 0.5), Literal(None), name="half")
    d, h, nothing = Draft(y), Value("h", FLOAT), Value("", Opaque("None"))
    d.ops.append(Call(ref, (y,), (h, nothing)))
    emitted = emit(d.function(h, calls=(ref,)))
    assert emitted.source == (
        "def half(x):\n    return x * 0.5, None\n\n\ndef f(y):\n    h, _ = half(y)\n    return h\n"
    )
    assert load(emitted)(3.0) == 1.5


def test_results_that_nobody_reads_are_not_printed():
    d = Draft(x)
    d(operator.mul, d(operator.add, x, 1.0), 2.0)
    prints(d.function(x), "return x", 1.0)


def test_long_expressions_are_broken_into_names():
    d = Draft(*(Value(f"a_rather_long_name_{k}", FLOAT) for k in range(9)))
    total = d.params[0]
    for param in d.params[1:]:
        total = d(operator.add, total, d(operator.mul, param, param))
    emitted = prints(d.function(total), body(emit(d.function(total))), *map(float, range(9)))
    assert max(map(len, body(emitted).splitlines())) <= 92


def test_a_tuple_on_a_tape():
    d = Draft(x, a)
    stack = d(make_list, kind=ListType(TupleType((FLOAT, A))), hint="stack")
    pair = d(make_tuple, x, a, kind=TupleType((FLOAT, A)))
    stack = d.update(list.append, stack, pair)
    prints(d.function(stack), "stack = []\nstack.append((x, a))\nreturn stack", 1.0, ARRAY)
