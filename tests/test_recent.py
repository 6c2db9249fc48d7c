"""What srcad remembers does not grow with the number of functions that come and go."""

import gc
import linecache
import weakref

import numpy as np

import srcad
from srcad.cache import Cache, CacheKey, Entry
from srcad.frontend import source
from srcad.recent import Recent

MAKE = "def f(x):\n    return x * {}.0\n"


def test_the_oldest_go():
    recent = Recent(8)
    for k in range(8):
        recent[k] = str(k)
    recent[7] = "seven"
    assert list(recent) == list(range(8))
    recent[8] = "8"
    assert list(recent) == [2, 3, 4, 5, 6, 7, 8]
    for k in range(100):
        recent[k] = str(k)
        assert len(recent) <= 8
        assert recent[k] == str(k)


def test_files_of_functions_that_come_and_go():
    count = source._files.most + 10
    trees = []
    for k in range(count):
        name, text = f"<recent cell {k}>", MAKE.format(k)
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        space = {}
        exec(compile(text, name, "exec"), space)
        assert srcad.grad(space["f"])(2.0) == k
        trees.append(weakref.ref(source.read_function(space["f"]).tree))
        del linecache.cache[name]
    gc.collect()
    assert trees[0]() is None
    assert trees[-1]() is not None
    assert len(source._files) <= source._files.most


def test_entries_in_memory():
    cache = Cache(None)
    for k in range(1000):
        cache.put(CacheKey((str(k),)), Entry("x = 1\n", {}))
    assert cache.get(CacheKey(("999",))) is not None
    assert len(cache._entries) <= cache._entries.most


def looked_up_in(data):
    @srcad.opaque
    def looked_up(k):
        return data[k]

    def f(x):
        return x * looked_up(1)

    assert srcad.grad(f)(2.0) == 1.0
    return weakref.ref(looked_up)


def test_an_opaque_function_is_not_kept():
    dead = looked_up_in(np.ones(3))
    gc.collect()  # the derivative
    gc.collect()  # what its module was bound to
    assert dead() is None
