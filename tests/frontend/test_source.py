"""The source of a function is exactly its own, or it is refused."""

import ast
import doctest
import functools
import importlib.util
import itertools
import linecache
import math
import operator
import os
import subprocess
import sys
import textwrap
import time
from types import FunctionType

import gast
import numpy as np
import pytest

from srcad.errors import SourceChanged, SourceUnavailable, UnsupportedValue
from srcad.frontend.source import read_function

_numbers = itertools.count()


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write a text to a file and import it; `load.file` is the file."""

    def load(text, encoding="utf-8"):
        name = f"source_case_{next(_numbers)}"
        load.file = tmp_path / f"{name}.py"
        load.file.write_bytes(text.encode(encoding))
        spec = importlib.util.spec_from_file_location(name, load.file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


def unparsed(function):
    """The function's tree as text, its decorators left out."""
    tree = gast.gast_to_ast(read_function(function).tree)
    if not isinstance(tree, ast.Lambda):
        tree.decorator_list = []
    return ast.unparse(tree)


def body(function):
    """The text of a lambda's body."""
    source = read_function(function)
    assert isinstance(source.tree, gast.Lambda)
    return source.segment(source.tree.body)


# ---- what is found


def test_positions_are_those_of_the_file(load):
    module = load("\n\n# a comment\ndef f(x):\n    y = x * 2\n    return y\n")
    source = read_function(module.f)
    assert (source.name, source.first_line, source.file) == ("f", 4, str(load.file))
    assert source.function is module.f
    assignment = source.tree.body[0]
    assert (assignment.lineno, assignment.col_offset) == (5, 4)
    place = source.place(assignment.value)
    assert (place.line, place.column, place.text) == (5, 8, "    y = x * 2")
    assert source.segment(assignment) == "y = x * 2"
    assert source.segment(source.tree) == "def f(x):\n    y = x * 2\n    return y"


def test_lambdas_behind_characters_that_end_lines_elsewhere(load):
    module = load("s = 'a\x0cb\u2028c'\nf = [\n    lambda x: x + 1,\n]\ng = lambda x: x + 2\n")
    assert body(module.f[0]) == "x + 1"
    assert body(module.g) == "x + 2"


def test_the_tree_is_the_same_while_the_file_is(load):
    text = "def f(x):\n    return x\n"
    module = load(text)
    first = read_function(module.f).tree
    assert read_function(module.f).tree is first
    edit(load.file, f"\n{text}")
    moved = read_function(module.f).tree
    assert moved is not first
    assert (first.lineno, moved.lineno) == (1, 2)


def test_nested_conditional_and_repeated_definitions(load):
    module = load(
        textwrap.dedent("""
        def outer(k):
            def f(x):
                return x * k
            return f

        if k := 3:
            def f(x):
                return x + 1
        else:
            def f(x):
                return x + 2

        def f2(x):
            return 1
        first = f2
        def f2(x):
            return 2

        def closed():
            a, b = 1, 2
            def inner(x):
                def innermost(y):
                    return y + a + b + x
                return innermost
            return inner
        """)
    )
    assert unparsed(module.outer(2)) == "def f(x):\n    return x * k"
    assert unparsed(module.f) == "def f(x):\n    return x + 1"
    assert unparsed(module.first) == "def f2(x):\n    return 1"
    assert unparsed(module.f2) == "def f2(x):\n    return 2"
    assert "y + a + b + x" in unparsed(module.closed()(1))


def test_methods(load):
    module = load(
        textwrap.dedent("""
        class A:
            def plain(self, x):
                return x

            @staticmethod
            def static(x):
                return 2 * x

            @classmethod
            def of_class(cls, x):
                return 3 * x

            @property
            def prop(self):
                return 4

            def __call__(self, x):
                return 5 * x
        """)
    )
    a = module.A()
    for method in (a.plain, module.A.plain, module.A.__dict__["plain"]):
        assert unparsed(method) == "def plain(self, x):\n    return x"
        assert read_function(method).function is module.A.plain
    for method in (a.static, module.A.__dict__["static"]):
        assert unparsed(method) == "def static(x):\n    return 2 * x"
    for method in (a.of_class, module.A.of_class, module.A.__dict__["of_class"]):
        assert unparsed(method) == "def of_class(cls, x):\n    return 3 * x"
    assert unparsed(module.A.prop.fget) == "def prop(self):\n    return 4"
    assert unparsed(a.__call__) == "def __call__(self, x):\n    return 5 * x"


def test_private_names_are_mangled(load):
    module = load(
        textwrap.dedent("""
        class _Model:
            __scale = 2.0

            def f(self, __x, *, __k=1):
                __y = self.__scale * __x
                self.g(__k=__y, __z__=1)
                return __y + __k

            def g(self, **k):
                class Other:
                    def h(self, x):
                        return x.__scale
                return Other().h, lambda x: x.__scale

        class __:
            def f(self, x):
                return x.__scale
        """)
    )
    model = module._Model()
    text = unparsed(model.f)
    assert "_Model__y = self._Model__scale * _Model__x" in text
    assert "self.g(_Model__k=_Model__y, __z__=1)" in text
    assert "def f(self, _Model__x, *, _Model__k=1)" in text
    h, function = model.g()
    assert "x._Other__scale" in unparsed(h)
    assert "x._Model__scale" in unparsed(function)
    assert "x.__scale" in unparsed(module.__dict__["__"]().f)


def test_the_wrapper_is_read_not_what_it_wraps(load):
    module = load(
        textwrap.dedent("""
        import functools

        def twice(f):
            @functools.wraps(f)
            def wrapper(*args):
                return 2 * f(*args)
            return wrapper

        def same(f):
            return f

        @twice
        @twice
        def f(x):
            return x

        @same
        @(lambda g: g)
        def g(x):
            return x
        """)
    )
    assert unparsed(module.f) == "def wrapper(*args):\n    return 2 * f(*args)"
    source = read_function(module.g)
    assert (source.first_line, source.tree.lineno) == (18, 20)
    assert unparsed(module.g) == "def g(x):\n    return x"


# ---- lambdas


def test_lambdas_on_one_line(load):
    module = load(
        "fs = [lambda x: x * 2.0, lambda x: x * 2, lambda y: y * 2, lambda x: x * 2]; "
        "g = lambda a: (lambda b: a + b)\n"
        "h = lambda: (lambda: (lambda: 3))\n"
        "def two(): return lambda: 4, lambda: 5, lambda x: 5, lambda: None, lambda: 1 if 2 else 3\n"
        "c = lambda x, k=lambda q: q: k(x)\n"
        "i = lambda x: x if x else -x; j = lambda x: x and -x\n"
    )
    assert [body(f) for f in module.fs] == ["x * 2.0", "x * 2", "y * 2", "x * 2"]
    assert body(module.g) == "lambda b: a + b"
    assert body(module.g(1)) == "a + b"
    assert [body(module.h), body(module.h()), body(module.h()())] == [
        "lambda: (lambda: 3)",
        "lambda: 3",
        "3",
    ]
    assert [body(f) for f in module.two()] == ["4", "5", "5", "None", "1 if 2 else 3"]
    assert body(module.c) == "k(x)"
    assert body(module.c.__defaults__[0]) == "q"
    assert body(module.i) == "x if x else -x"
    assert body(module.j) == "x and -x"


def test_lambdas_that_do_not_parse_alone(load):
    module = load(
        textwrap.dedent("""
        def apply(*fs, k=None):
            return fs

        f = (
            lambda x, y:
                x ** 2 * y  # a comment
                + (3.0 *
                   y)
        )
        many = [
            lambda x, k=k: x ** k for
            k in range(1, 4)
        ]
        pair = apply(lambda v: v * 2.0,
                     lambda v: v ** 2, k=[
            0])
        whole = apply(
            lambda q: q * q
            + 1.0)
        class A:
            f = staticmethod(lambda x: {"a": x}["a"])
        s = {'é': lambda x: 'ü' * x, 'ö': lambda y: y}
        """)
    )
    assert body(module.f) == ("x ** 2 * y  # a comment\n        + (3.0 *\n           y)")
    assert [body(f) for f in module.many] == ["x ** k"] * 3
    assert [body(f) for f in module.pair] == ["v * 2.0", "v ** 2"]
    assert body(module.whole[0]) == "q * q\n    + 1.0"
    assert body(module.A.f) == '{"a": x}["a"]'
    assert body(module.s["é"]) == "'ü' * x"
    assert body(module.s["ö"]) == "y"
    place = read_function(module.s["ö"]).place(read_function(module.s["ö"]).tree)
    assert place.text[place.column :] == "lambda y: y}"


def test_lambdas_without_columns_are_told_apart_or_refused(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        from srcad.errors import SourceError
        from srcad.frontend.source import read_function
        f = lambda x: x + 1
        g, h = lambda x: x + 2, lambda x: x + 3
        def outer(k):
            return lambda x: x + k, lambda x: x - k
        for function in f, g, h, *outer(1):
            try:
                print(ast.unparse(gast.gast_to_ast(read_function(function).tree)))
            except SourceError:
                print("refused")
        """).replace("\n", "import ast, gast\n", 1)
    )
    out = run_python("-X", "no_debug_ranges", str(script))
    assert out.splitlines() == [
        "lambda x: x + 1",
        "lambda x: x + 2",
        "lambda x: x + 3",
        "refused",
        "refused",
    ]


# ---- texts that are not files


def test_linecache_entries_are_read():
    """What notebooks do for their cells."""
    text = "def f(x):\n    return x * 7\n\ng = lambda x: x - 1\n"
    name = "<ipython-input-1-abcdef>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {}
    exec(compile(text, name, "exec"), space)
    assert unparsed(space["f"]) == "def f(x):\n    return x * 7"
    assert body(space["g"]) == "x - 1"
    del linecache.cache[name]


def test_doctest():
    """
    >>> def f(x):
    ...     return x * 3
    >>> g = f
    >>> def f(x):
    ...     return x * 4
    >>> print(unparsed(g))
    def f(x):
        return x * 3
    >>> print(unparsed(f))
    def f(x):
        return x * 4
    >>> body(lambda x: x + 9)
    'x + 9'
    """
    finder = doctest.DocTestFinder(recurse=False)
    [test] = finder.find(test_doctest, "test_doctest", globs={"unparsed": unparsed, "body": body})
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted == 6
    assert result.failed == 0, "".join(report)


def test_future_statements_change_the_code(load):
    module = load(
        "from __future__ import annotations\n"
        "def f(x):\n"
        "    def g(y: undefined) -> also[undefined]:\n"
        "        return y\n"
        "    return g(x)\n"
    )
    assert "return g(x)" in unparsed(module.f)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="python -c keeps its text since 3.13")
def test_python_c():
    out = run_python(
        "-c",
        "from srcad.frontend.source import read_function\n"
        "def f(x): return x + 1\n"
        "print(read_function(f).segment(read_function(f).tree))",
    )
    assert out == "def f(x): return x + 1\n"


def test_zipped_module(tmp_path, monkeypatch):
    import zipfile

    with zipfile.ZipFile(tmp_path / "library.zip", "w") as archive:
        archive.writestr("zipped_case.py", "def f(x):\n    return x / 2\n")
    monkeypatch.syspath_prepend(str(tmp_path / "library.zip"))
    import zipped_case

    assert unparsed(zipped_case.f) == "def f(x):\n    return x / 2"


def run_python(*args):
    done = subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=os.getcwd(),
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- what is refused


@pytest.mark.parametrize(
    "space", [{}, {"__name__": "__main__"}, {"__name__": __name__, "__file__": __file__}]
)
def test_exec_has_no_source(space):
    exec("def f(x):\n    return x\n", space)
    with pytest.raises(SourceUnavailable, match="source of 'f' cannot be found") as caught:
        read_function(space["f"])
    assert caught.value.hint
    assert caught.value.file == "<string>"


@pytest.mark.parametrize("function", [len, [].append, str.upper, math.sin, operator.add])
def test_builtins_have_no_source(function):
    with pytest.raises(SourceUnavailable, match="is built in"):
        read_function(function)


@pytest.mark.parametrize("thing", [functools.partial(len), np.sin, 3, int, None])
def test_other_things_are_no_functions(thing):
    with pytest.raises(UnsupportedValue, match="is not a Python function"):
        read_function(thing)
    with pytest.raises(TypeError):
        read_function(thing)


ORIGINAL = '''
K = 2

def f(x, k=1.0):
    """Doc."""
    if x > 0.0:
        y = x * k
    else:
        y = np.sin(x)
    return [y + i for i in range(3)]

def use():
    return (lambda q: q + 1), (lambda q: q + 2)
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x * k", "x + k"),
        ("x * k", "k * x"),
        ("np.sin", "np.cos"),
        ("> 0.0", "> -0.0"),
        ("> 0.0", "> 0"),
        ("> 0.0", ">= 0.0"),
        ("if x", "if not x"),
        ("y + i", "y - i"),
        ("range(3)", "range(4)"),
        ("k=1.0", "k=1.0, z=2"),
        ("x, k=1.0", "x, *, k=1.0"),
        ("return [y", "del k; return [y"),
        ("def f(", "def g("),
        ("def f(", "async def f("),
        ("def f(", "def f(:"),
        ("def use", "def f(x): pass\nreturn\ndef use"),
        ("    return [y + i for i in range(3)]\n", ""),
        ('"""Doc."""', "yield"),
    ],
)
def test_edited_functions_are_refused(load, old, new):
    module = load(ORIGINAL)
    read_function(module.f)
    edit(load.file, ORIGINAL.replace(old, new, 1))
    with pytest.raises(SourceChanged, match="'f' is not what the function was made from") as caught:
        read_function(module.f)
    assert caught.value.file == str(load.file)
    assert caught.value.line == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("K = 2", "K = 3"),
        ("K = 2", "import os\n\nK = 2"),
        ('"""Doc."""', '"""Another docstring."""'),
        ("x * k", "x*k  # a comment"),
        ("range(3)", "range(\n        3\n    )"),
        ("q + 2", "q + 3"),
    ],
)
def test_edits_that_change_nothing_are_accepted(load, old, new):
    module = load(ORIGINAL)
    edit(load.file, ORIGINAL.replace(old, new, 1))
    source = read_function(module.f)
    first = source.segment(source.tree).splitlines()[0]
    assert first == "def f(x, k=1.0):"
    assert source.lines[source.first_line - 1].rstrip() == first


def test_edited_lambdas(load):
    module = load(ORIGINAL)
    first, second = module.use()
    assert [body(first), body(second)] == ["q + 1", "q + 2"]
    edit(load.file, ORIGINAL.replace("(lambda q: q + 1), ", "").replace("K = 2", ""))
    assert body(second) == "q + 2"
    with pytest.raises(SourceChanged):
        read_function(first)


def test_docstring_that_is_also_a_value(load):
    text = 'def f(x):\n    "a"\n    return x["a"]\n'
    module = load(text)
    edit(load.file, text.replace('"a"', '"b"'))
    with pytest.raises(SourceChanged):
        read_function(module.f)


def test_removed_file(load):
    module = load(ORIGINAL)
    load.file.unlink()
    with pytest.raises(SourceUnavailable):
        read_function(module.f)


def edit(file, text):
    before = file.stat()
    file.write_text(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 2_000_000_000))


def asserting(x):
    """pytest has rewritten the asserts in this module."""
    assert x > 0, f"not {x}"
    y = x * 2 if x else 3
    assert y < 100
    return [y, -y][0]


def test_asserts_rewritten_by_pytest():
    assert "@pytest_ar" in asserting.__code__.co_names
    assert "assert x > 0" in unparsed(asserting)


@pytest.mark.parametrize(
    ("old", "new"),
    [("x * 2 if x", "x + 2 if x"), ("2 if x", "2 if not x"), ("-y", "+y"), ("else 3", "else 4")],
)
def test_edited_function_with_rewritten_asserts(monkeypatch, old, new):
    source = read_function(asserting)
    text = source.segment(source.tree)
    changed = text.replace(old, new)
    assert changed != text
    name = "edited_under_pytest.py"
    live = FunctionType(asserting.__code__.replace(co_filename=name), globals())
    for version in (text, changed):
        lines = ["\n"] * (source.first_line - 1) + version.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, name, (1, None, lines, name))
        if version is text:
            assert "assert x > 0" in unparsed(live)
        else:
            with pytest.raises(SourceChanged):
                read_function(live)


# ---- text and columns


def test_unicode_tabs_and_form_feeds(load):
    module = load(
        "\x0c\n# π\ndef größe(ﬁt):\n\ts = 'ü∇'; y = 'x' + ﬁt\n\x0c\n\treturn (s,\n\t\ty)\n"
        "\x0cg = lambda x: ('\u2028', x + 1)\n"
    )
    source = read_function(module.größe)
    assert source.tree.args.args[0].id == "fit"
    second = source.tree.body[1]
    place = source.place(second)
    assert place.text[place.column :] == "y = 'x' + ﬁt"
    assert str(place) == f"{load.file}:4"
    assert source.place(source.tree.body[2]).line == 6
    assert body(module.g) == "('\u2028', x + 1)"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8-sig"])
def test_encodings(load, encoding):
    cookie = encoding.removesuffix("-sig")
    module = load(f"# -*- coding: {cookie} -*-\ndef f(x):\n    return 'é', x\n", encoding)
    source = read_function(module.f)
    value = source.tree.body[0].value
    assert value.elts[0].value == "é"
    place = source.place(value.elts[1])
    assert place.text[place.column :] == "x"


def test_windows_line_ends(load):
    module = load("def f(x):\r\n    return (x +\r\n            1)\r\n")
    source = read_function(module.f)
    assert source.segment(source.tree.body[0]) == "return (x +\n            1)"


def test_invalid_escapes_do_not_warn_again(load):
    with pytest.warns((SyntaxWarning, DeprecationWarning)):
        module = load("def f(x):\n    return '\\d'\n")
    assert "return" in unparsed(module.f)


def test_reading_is_quick_once_the_file_is_cached(load):
    block = "    if x > {0}:\n        x = np.sin(x * {0}) + y[{0}]\n    x = x - {0} * y\n"
    functions = [
        f"def f{n}(x, y):\n" + "".join(block.format(n + k) for k in range(8)) + "    return x\n"
        for n in range(20)
    ]
    module = load("\n".join(functions))
    assert len(load.file.read_text().splitlines()) > 500
    read_function(module.f0)
    times = []
    for n in range(20):
        start = time.perf_counter()
        read_function(getattr(module, f"f{n}"))
        times.append(time.perf_counter() - start)
    assert min(times) < 3e-3
