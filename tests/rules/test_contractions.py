"""The adjoints of einsum: products of matrices, two operands at a time."""

import numpy as np
import pytest

import srcad

SIZES = {"i": 3, "j": 4, "k": 2, "l": 5, "b": 2, "h": 3}
SPECS = """
ij,jk->ik   ij,kj->ik   ji,jk->ki   ij,jk->ki   ij,jk   ij,ji
i,ij->j     ij,j->i     i,j->ij     i,i->       i,i->i  i,i,i->i
ij,ij->     ij,ji->     ij,ij->i    ij,ij->ij   ij,k->  ij,kl->ijkl
ijk,jkl->il ijk,kl->ijl ijk,jk->i   ijk,ijl->kl kij,jl->kil
bij,bjk->bik bij,bkj->bik bji,bjk->bki bij,bj->bi bhij,bhkj->bhik bihk,bjhk->bhij
ij,jk,kl->il bi,ij,bj->b i,j,ij-> i,ij,j-> ij,ik,il->jkl ij,jk,ki-> b,bi,bj->ij ij,kl,il->jk
ijk->kji     ij->       i,ij,jk,k->
""".split()


def operands(spec, stretched=False):
    random = np.random.default_rng(len(spec))
    words = spec.split("->")[0].split(",")
    made = [random.standard_normal([SIZES[label] for label in word]) for word in words]
    return [made[0][..., :1], *made[1:]] if stretched else made


@pytest.mark.parametrize("stretched", [False, True])
@pytest.mark.parametrize("spec", SPECS)
def test_gradients(spec, stretched):
    """Of a sum of squares, by differences; also with an axis of size 1 that is stretched."""
    given = operands(spec, stretched)

    def loss(*arrays):
        return np.sum(np.einsum(spec, *arrays) ** 2) / 2

    bars = srcad.grad(loss, argnums=tuple(range(len(given))))(*given)
    random = np.random.default_rng(0)
    for k, (x, bar) in enumerate(zip(given, bars, strict=True)):
        assert bar.shape == x.shape
        d = 1e-5 * random.standard_normal(x.shape)
        above = loss(*given[:k], x + d, *given[k + 1 :])
        below = loss(*given[:k], x - d, *given[k + 1 :])
        assert np.isclose((above - below) / 2, np.sum(bar * d), rtol=1e-7, atol=1e-12)
        forward = srcad.jvp(lambda y, k=k: loss(*given[:k], y, *given[k + 1 :]), (x,), (d,))[1]
        assert np.isclose(forward, np.sum(bar * d), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "spec, lines",
    [
        ("ij,jk->ik", ["prod @ y.T", "x.T @ prod"]),
        ("ij,j->i", ["np.einsum('i,j->ij', prod, y)", "prod @ x"]),
        ("i,ij->j", ["y @ prod", "np.einsum('j,i->ij', prod, x)"]),
        ("bij,bkj->bik", ["prod @ y", "np.swapaxes(prod, -1, -2) @ x"]),
        (
            "ijk,ijl->kl",
            ["np.tensordot(y, prod, ((2,), (1,)))", "x @ prod"],
        ),
    ],
)
def test_texts(spec, lines):
    """Adjoints by products of matrices, of which BLAS makes the most."""

    def loss(x, y):
        return np.sum(np.einsum(spec, x, y) ** 2)

    text = srcad.grad(loss, argnums=(0, 1)).source_for(*operands(spec))
    for name, line in zip("xy", lines, strict=True):
        assert f"{name}_bar = {line}\n" in text


def test_of_three_matrices():
    def loss(a, b, c):
        return np.sum(np.einsum("ij,jk,kl->il", a, b, c) ** 2)

    text = srcad.grad(loss, argnums=(0, 1, 2)).source_for(*operands("ij,jk,kl->il"))
    reverse = text.partition("# line")[2].partition("\n")[2]
    assert reverse.count("einsum") == 1  # of the value, squared
    assert reverse.count("@") == 5
