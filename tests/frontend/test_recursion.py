"""What a recursive function is lowered for, as a key of the code that is made for it."""

import weakref

import srcad
from srcad.frontend.abstract import Static
from srcad.frontend.recursion import describe


class Thing:
    pass


def test_what_is_told_by_identity_is_kept_alive():
    # another object could be at its address, and would get its code
    thing = Thing()
    alive = weakref.ref(thing)
    key = describe(None, Static(thing))
    del thing
    assert alive() is not None
    assert key == describe(None, Static(alive())) != describe(None, Static(Thing()))


def test_constants_are_told_by_their_values():
    key = describe(None, Static(1j))
    assert key == describe(None, Static(complex(0, 1))) != describe(None, Static(-1j))
    assert describe(None, Static(True)) != describe(None, Static("True"))


def stretched(x, c, n):
    return x if n <= 0 else stretched(x * c.real, c, n - 1)


def test_constants_that_are_made_one_after_the_other():
    def f(x, n):
        few = stretched(x, -(1.0 + 1j), n) + stretched(x, -(2.0 + 1j), n)
        return few + stretched(x, -(3.0 + 1j), n)

    assert srcad.value_and_grad(f)(2.0, 2) == (2.0 * 14, 14.0)
