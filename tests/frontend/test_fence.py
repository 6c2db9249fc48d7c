"""What syntax alone rules out is refused at its place, and nothing else is."""

import itertools
import linecache
import re
import string
import sys
import textwrap

import pytest

from srcad.errors import Place, UnsupportedSyntax
from srcad.frontend import fence
from srcad.frontend.source import read_function

_numbers = itertools.count()


def define(text, name="f"):
    """The function `name` of a text that has its source in linecache."""
    file = f"<fence-case-{next(_numbers)}>"
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {}
    exec(compile(text, file, "exec"), space)
    return space[name]


def refused(function):
    source = read_function(function)
    with pytest.raises(UnsupportedSyntax) as caught:
        fence.check_fence(source.tree, source)
    return caught.value


# In each text the caret must stand at «.
OFFENCES = {
    "yield": "def f(x):\n    for i in range(3):\n        «yield x",
    "yield from": "def f(x):\n    «yield from x",
    "yield in a nested function": "def f(x):\n    def g():\n        y = «yield x\n    return g",
    "yield in a lambda": "f = lambda x: («yield x)",
    "async def": "«async def f(x):\n    return x",
    "async def inside": "def f(x):\n    «async def g():\n        return x\n    return g",
    "await": "def f(x):\n    «async def g():\n        return await x\n    return g",
    "class": "def f(x):\n    if x:\n        «class A:\n            exec('')\n    return x",
    "except*": "def f(x):\n    «try:\n        y = x\n    except* ValueError:\n        pass",
    "exec": "def f(x):\n    «exec('x = 1')\n    return x",
    "eval": "def f(x):\n    return 1 + «eval('x')",
    "eval in a comprehension": "def f(x):\n    return [«eval('x') for _ in x]",
    "eval in a default": "def f(x):\n    return lambda y=«eval('x'): y",
    "eval by another name": "g = eval\ndef f(x):\n    y = «g\n    return y('x')",
    "eval captured": "def h(g):\n    def f(x):\n        return «g('x')\n    return f\nf = h(eval)",
    "eval that only an inner function shadows": (
        "def f(x):\n    def g(eval):\n        return eval(2)\n    return «eval('x') + g(int)"
    ),
    "locals": "def f(x):\n    return «locals()['x']",
    "globals": "def f(x):\n    return «globals()['x']",
    "vars": "def f(x):\n    return «vars(x)",
    "global write": "def f(x):\n    global N\n    «N = x\n    return x",
    "global augmented": "def f(x):\n    global N\n    «N += x\n    return x",
    "global loop target": "def f(x):\n    global N\n    for i, «N in x:\n        pass",
    "global del": "def f(x):\n    global N\n    del «N\n    return x",
    "global import": "def f(x):\n    global math\n    «import math\n    return x",
    "global def": "def f(x):\n    global g\n    «def g(): pass\n    return x",
    "global with": "def f(x):\n    global N\n    with x as «N:\n        return x",
    "global except": "def f(x):\n    global N\n    try:\n        pass\n    «except E as N: 1",
    "global walrus": "def f(x):\n    global N\n    return («N := x)",
    "global in a nested function": (
        "def f(x):\n    N = 1\n    def g():\n        global N\n        «N = x\n    return g() + N"
    ),
    "nonlocal write": (
        "def h():\n    n = 0\n    def f(x):\n        nonlocal n\n        «n = n + x\n"
        "        return n\n    return f\nf = h()"
    ),
    "nonlocal through": (
        "def h():\n    n = 0\n    def f(x):\n        def g():\n            nonlocal n\n"
        "            «n += x\n        g()\n        return n\n    return f\nf = h()"
    ),
    "the first of two": "def f(x):\n    y = «vars()\n    yield y",
    "after a wide character": "def f(x):\n    s = 'é∇'; y = «eval(s)\n    return y",
}


@pytest.mark.parametrize("name", OFFENCES)
def test_refused_at_its_place(name):
    text = OFFENCES[name]
    before, after = text.split("«")
    error = refused(define(before + after))
    assert (error.line, error.column) == (before.count("\n") + 1, len(before.split("\n")[-1]))
    assert error.message.endswith("is not supported in differentiated functions")
    assert error.hint


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is new in 3.12")
def test_type_alias():
    error = refused(define("def f(x):\n    type A = int\n    return x"))
    assert error.message.startswith("a 'type' statement")


ACCEPTED = {
    "defaults, decorators and annotations of the function itself": """
        from __future__ import annotations
        def keep(g): return g
        @keep
        def f(x: eval, k=eval('1'), *, z=vars(object)) -> eval:
            y: eval = x
            return y
    """,
    "names that are variables": """
        def f(exec, vars=2):
            def g(locals):
                return locals * vars
            eval = exec
            for globals in range(3):
                eval = eval * globals
            return g(eval) + sum([vars for vars in (1, exec)])
    """,
    "names that are captured": """
        def h():
            eval = 2
            def f(x):
                return x * eval
            return f
        f = h()
    """,
    "names that are globals": """
        vars = abs
        def f(x):
            return vars(x)
    """,
    "a cell that is still empty": """
        def h():
            def f(x):
                return later(x)
            return f
            later = eval
        f = h()
    """,
    "attributes and keywords": """
        def f(x):
            return x.eval(exec=1).vars
    """,
    "global that is only read": """
        def f(x):
            global N
            def g():
                N = 3
                return N
            return x * N + g()
    """,
    "nonlocal of the function itself": """
        def f(x):
            n = 0
            def g(y):
                nonlocal n
                n += y
                def h():
                    nonlocal n
                    n = 2 * n
                h()
            g(x)
            return n
    """,
    "nonlocal of a parameter": """
        def f(x):
            def g():
                nonlocal x
                x = 2 * x
            g()
            return x
    """,
    "the rest of Python": """
        def f(x, *a, **k):
            import math as m
            with x as (y, z):
                try:
                    y[0] += 1
                except (ValueError, TypeError) as error:
                    raise
                else:
                    del z
                finally:
                    assert x, f"{x!r}"
            match y:
                case {"a": b, **rest} | [b, *rest] if (c := b):
                    print(b, rest, c)
                case str() as s:
                    return m.sin(x)
            while x:
                x -= 1
                continue
            else:
                pass
            return {i: {j for j in i} for i in (lambda: x, *a)}, sum(i for i in x)
    """,
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name):
    source = read_function(define(ACCEPTED[name]))
    fence.check_fence(source.tree, source)


def test_match_bindings_are_writes():
    for pattern in ("{**N}", "[*N]", "N", "str() as N"):
        text = (
            f"def f(x):\n    global N\n    match x:\n        case {pattern}:\n            return 1"
        )
        assert refused(define(text)).message.startswith("assigning to the global 'N'")


# ---- the table


def fields(entry):
    parts = itertools.chain(*(string.Formatter().parse(t) for t in (entry.what, entry.hint)))
    return {name for _, name, _, _ in parts if name}


@pytest.mark.parametrize("kind", fence.REFUSED)
def test_every_refusal_reads_well(kind):
    details = dict.fromkeys(fields(fence.REFUSED[kind]), "thing")
    message, hint = fence.refusal(kind, **details)
    assert re.fullmatch(r"[a-z'].* is not supported in differentiated functions", message)
    assert hint
    assert not hint.endswith(".")
    assert "{" not in message + hint
    place = Place("m.py", 3, 0, "y = x")
    error = fence.refuse(kind, place, **details)
    assert (error.place, error.message, error.hint) == (place, message, hint)


def test_every_refusal_is_in_the_table():
    lines = fence.table().splitlines()
    assert lines[:2] == ["| not supported | instead |", "|---|---|"]
    assert len(lines) == len(fence.REFUSED) + 1
    assert "| 'eval' | write the code out: only source text can be differentiated |" in lines
    assert all(line.count("|") == 3 and "{" not in line for line in lines)


def test_unknown_kind_is_our_own_mistake():
    with pytest.raises(KeyError):
        fence.refusal("no such kind")


def test_refused_builtins():
    assert fence.refused_builtin(eval) == "eval"
    assert fence.refused_builtin(locals) == "locals"
    assert fence.refused_builtin(abs) is None
    assert fence.refused_builtin(None) is None


def test_a_name_that_comes_to_mean_something_else():
    function = define("def f(x):\n    return run(x)")
    function.__globals__["run"] = float
    source = read_function(function)
    fence.check_fence(source.tree, source)
    function.__globals__["run"] = eval
    assert refused(function).message.startswith("'eval'")
