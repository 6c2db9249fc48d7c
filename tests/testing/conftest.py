"""An engine made of the oracles, so that they can be judged by steps and differences."""

import types

import pytest

from srcad.testing import dual, lift, reference, trees


def _jvp(f, primals, tangents):
    return dual.jvp(f, primals, tangents)


def _vjp(f, *primals):
    def pullback(ct):
        return tuple(reference.pull_back(f, primals, range(len(primals)), ct)[1])

    return lift(f)(*(trees.prepared(x) for x in primals)), pullback


def _grad(f, argnums=0):
    return lambda *args: reference.reference_gradients(f, args, argnums)


@pytest.fixture(scope="session")
def oracle():
    """`jvp` by dual numbers, `vjp` and `grad` by the tape."""
    return types.SimpleNamespace(jvp=_jvp, vjp=_vjp, grad=_grad)
