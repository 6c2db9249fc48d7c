"""Loaded text behaves like any module: files, tools, pickling, threads, and untrusted places."""

import gc
import inspect
import io
import linecache
import math
import os
import pdb
import pickle
import stat
import subprocess
import sys
import textwrap
import threading
import traceback
import weakref

import numpy as np
import pytest

import srcad
from srcad import points
from srcad.codegen import load as loading
from srcad.frontend.source import read_function

TEXT = "def f(x):\n    y = sin(x)\n    return 1.0 / y\n"
BINDINGS = {"sin": math.sin}

posix = pytest.mark.skipif(os.name != "posix", reason="owner and mode are POSIX")


_held: list[loading.Loaded] = []


def load(*args):
    """The module, held until the end of the test or ``unload``."""
    _held.append(loading.load(*args))
    return _held[-1].module


def unload():
    """Let go of all that was loaded."""
    _held.clear()
    gc.collect()


@pytest.fixture
def directory(tmp_path):
    """The directory to load into; what a test loads is let go of after it."""
    yield tmp_path / "deep" / "generated"
    unload()


def test_module_file_and_namespace(directory):
    module = load(TEXT, "f_vjp", BINDINGS, directory)
    assert sys.modules[module.__name__] is module
    assert module.__name__.isidentifier()
    assert module.__name__.startswith("_srcad_f_vjp_")
    assert module.f.__globals__ is module.__dict__
    assert module.f.__module__ == module.__name__
    assert module.sin is math.sin
    [file] = directory.iterdir()
    assert module.__file__ == str(file) == module.f.__code__.co_filename
    assert file.read_text() == TEXT


@posix
def test_only_the_owner_has_access(directory):
    old = os.umask(0)
    try:
        module = load(TEXT, "f", BINDINGS, directory)
    finally:
        os.umask(old)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(os.stat(module.__file__).st_mode) == 0o600


@pytest.mark.parametrize("on_disk", [True, False])
def test_tools_find_the_source(directory, on_disk):
    module = load(TEXT, "f", BINDINGS, directory if on_disk else None)
    assert inspect.getsource(module.f) == TEXT
    assert inspect.getmodule(module.f) is module
    source = read_function(module.f)
    assert source.segment(source.tree) == TEXT.rstrip()
    try:
        module.f(0.0)
    except ZeroDivisionError as error:
        text = "".join(traceback.format_exception(error))
    assert "return 1.0 / y" in text
    assert pickle.loads(pickle.dumps(module.f)) is module.f
    assert os.path.exists(module.__file__) is on_disk


def test_same_text_and_objects_give_the_same_module(directory):
    module = load(TEXT, "f", BINDINGS, directory)
    assert load(TEXT, "f", dict(BINDINGS), directory) is module
    assert load(TEXT, "g", BINDINGS, directory) is not module
    assert load(TEXT + "\n", "f", BINDINGS, directory) is not module
    assert load(TEXT, "f", {"sin": math.cos}, directory).f(1.0) == 1 / math.cos(1.0)


def test_objects_that_look_alike_do_not_share_a_namespace(directory):
    one, other = [1.0], [2.0]
    text = "def f(): return data\n"
    modules = [load(text, "f", {"data": data}, directory) for data in (one, other, one)]
    assert modules[0] is modules[2]
    assert modules[0].__name__ != modules[1].__name__
    assert modules[0].f() is one
    assert modules[1].f() is other
    assert modules[0].__file__ == modules[1].__file__


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("1", 1),
        ((1, 2), (1, 2.0)),
        (np.ones(2), np.zeros(2)),
        (np.ones(2), np.ones(2, np.float32)),
        (lambda x: x + 1, lambda x: x + 2),
        (math, np),
        (math.nan, math.inf),
    ],
)
def test_other_constants_have_another_file(directory, one, other):
    """Numba compiles them in, and its cache knows nothing but the file."""
    first = load("def f(): return c\n", "f", {"c": one}, directory)
    second = load("def f(): return c\n", "f", {"c": other}, directory)
    assert first.__file__ != second.__file__


def test_the_file_is_not_written_again(directory):
    module = load(TEXT, "f", BINDINGS, directory)
    os.utime(module.__file__, ns=(1, 1))
    unload()
    assert module.__name__ not in sys.modules
    again = load(TEXT, "f", BINDINGS, directory)
    assert again is not module
    assert again.__name__ == module.__name__
    assert os.stat(again.__file__).st_mtime_ns == 1


@posix
def test_a_file_that_is_not_the_text_is_replaced(directory):
    file = load(TEXT, "f", BINDINGS, directory).__file__
    elsewhere = directory.parent / "elsewhere"
    elsewhere.write_text(TEXT)

    def tamper():
        with open(file, "w") as f:
            f.write("evil()\n")

    def link():
        os.unlink(file)
        os.symlink(elsewhere, file)

    for damage in (tamper, link, lambda: os.chmod(file, 0o622)):
        damage()
        unload()
        module = load(TEXT, "f", BINDINGS, directory)
        assert module.__file__ == file
        found = os.lstat(file)
        assert stat.S_ISREG(found.st_mode)
        assert stat.S_IMODE(found.st_mode) == 0o600
        with open(file) as f:
            assert f.read() == TEXT
    assert elsewhere.read_text() == TEXT


def blocked_by_a_file(directory):
    directory.parent.mkdir()
    directory.write_text("")


def writable_for_others(directory):
    directory.mkdir(parents=True)
    directory.chmod(0o777)


def writable_for_the_group(directory):
    directory.mkdir(parents=True)
    directory.chmod(0o770)


def symbolic_link(directory):
    target = directory.parent.parent / "target"
    target.mkdir()
    directory.parent.mkdir()
    directory.symlink_to(target)


@posix
@pytest.mark.parametrize(
    "spoil", [blocked_by_a_file, writable_for_others, writable_for_the_group, symbolic_link]
)
def test_a_directory_that_cannot_be_trusted_is_not_used(directory, spoil):
    spoil(directory)
    module = load(TEXT, "f", BINDINGS, directory)
    assert module.__file__.startswith("<srcad f_")
    assert linecache.getlines(module.__file__) == TEXT.splitlines(keepends=True)
    assert module.f(1.0) == 1 / math.sin(1.0)
    if directory.is_dir():
        assert not list(directory.iterdir())


def test_foreign_owner_is_not_trusted(directory, monkeypatch):
    load(TEXT, "f", BINDINGS, directory)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1, raising=False)
    assert load("x = 1\n", "g", {}, directory).__file__.startswith("<srcad g_")


def test_text_that_fails_leaves_nothing(directory):
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        load("1 / 0\n", "f", {}, directory)
    with pytest.raises(SyntaxError):
        load("1 /\n", "f", {}, directory)
    assert set(sys.modules) == before


def test_odd_names(directory):
    module = load("x = 1\n", "<lambda>.größe/../x", {}, directory)
    assert os.path.dirname(module.__file__) == str(directory)
    assert module.__name__.isascii()
    assert module.__name__.isidentifier()


def test_what_was_bound_is_freed(directory):
    class Thing:
        pass

    thing = Thing()
    module = load("def f(): return thing\n", "f", {"thing": thing}, directory)
    dead = weakref.ref(thing)
    del thing, module
    unload()
    assert dead() is None


def generated(name):
    """How many modules of code called so there are, and how many files whose lines are shown."""
    for _ in range(3):  # a derivative, its module, the namespace of that
        gc.collect()
    modules = [module for module in sys.modules if module.startswith(f"_srcad_{name}")]
    files = [file for file in linecache.cache if f"{name}_" in os.path.basename(file)]
    return len(modules), len(files)


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_module_goes_with_its_last_owner(directory, on_disk):
    place = directory if on_disk else None
    one, other = (loading.load(TEXT, "going", BINDINGS, place) for _ in range(2))
    linecache.getlines(one.module.__file__)  # as a traceback does
    name = one.module.__name__
    assert generated("going") == (1, 1)
    del one
    gc.collect()
    assert sys.modules[name] is other.module
    del other
    assert name not in sys.modules
    assert generated("going") == (0, 0)


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_function_that_outlives_its_module_shows_its_lines(directory, on_disk):
    place = directory if on_disk else None
    f = load(TEXT, "f", BINDINGS, place).f
    unload()
    assert f.__module__ not in sys.modules
    again = load(TEXT, "f", BINDINGS, place)
    assert again.f is not f
    del again
    unload()
    with pytest.raises(ZeroDivisionError) as caught:
        f(0.0)
    assert "return 1.0 / y" in "".join(traceback.format_exception(caught.value))
    debugger = pdb.Pdb(stdout=io.StringIO(), nosigint=True, readrc=False)
    frame = caught.traceback[-1]._rawentry.tb_frame
    assert "return 1.0 / y" in debugger.format_stack_entry((frame, 3))
    assert inspect.getsource(f) == TEXT


def test_dropped_derivatives_leave_nothing(monkeypatch):
    monkeypatch.setenv("SRCAD_CACHE_DIR", "off")

    def use(k):
        def dropped(x):
            return x**k

        gradient = srcad.grad(dropped)
        assert gradient(2.0) == k * 2.0 ** (k - 1)
        assert gradient(np.ones(())) == k
        return gradient

    def pull():
        def dropped(x):
            return x / (x - 1.0)

        value, pullback = srcad.vjp(dropped, 3.0)
        return pullback

    gradients = [use(k) for k in (2, 3, 4)]
    with_all = generated("dropped")
    assert min(with_all) >= 3
    del gradients[1:]
    assert (0, 0) < generated("dropped") < with_all
    assert gradients[0](5.0) == 10.0
    del gradients
    assert generated("dropped") == (0, 0)
    pullback = pull()
    points._makers.clear()
    assert pullback(1.0) == (-0.25,)
    assert generated("dropped") != (0, 0)
    del pullback
    assert generated("dropped") == (0, 0)


def test_threads_that_load_and_let_go(directory):
    """Modules come and go under the same names, also while another thread loads."""
    failed = []

    def run():
        try:
            for _ in range(200):
                loaded = loading.load(TEXT, "going", BINDINGS, None)
                assert sys.modules[loaded.module.__name__] is loaded.module
                del loaded
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert generated("going") == (0, 0)


def test_threads_get_one_module(directory):
    barrier = threading.Barrier(8)
    found = []

    def run():
        barrier.wait()
        found.append(load(TEXT, "f", BINDINGS, directory))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1
    assert len(list(directory.iterdir())) == 1


@pytest.mark.numba
def test_numba_caches_between_processes(tmp_path):
    pytest.importorskip("numba")
    script = textwrap.dedent("""
        import sys, numba
        from pathlib import Path
        from srcad.codegen.load import load
        text = "@njit(cache=True)\\ndef f(x):\\n    return x * k\\n"
        bindings = {"njit": numba.njit, "k": float(sys.argv[2])}
        loaded = load(text, "f", bindings, Path(sys.argv[1]))
        f = loaded.module.f
        print(f(2.0), sum(f.stats.cache_hits.values()))
    """)

    def run(k):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "generated"), str(k)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": os.getcwd(), "NUMBA_CACHE_DIR": ""},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run(3) == ["6.0", "0"]
    assert run(3) == ["6.0", "1"]
    assert run(4) == ["8.0", "0"]
