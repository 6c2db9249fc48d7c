"""Equal eigenvalues and singular values: right, or refused by name; and no warnings."""

import numpy as np
import pytest
import scipy.linalg as sl

import srcad

RNG = np.random.default_rng(5)
Q = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
C = RNG.normal(size=(4, 4))
TWICE = Q @ np.diag([1.0, 1.0, 2.5, 4.0]) @ Q.T
"""Two eigenvalues are equal but for rounding."""
BATCH = np.stack([np.diag([1.0, 2.0, 3.0, 4.0]), np.diag([1.0, 3.0, 3.0, 4.0])])


def top_by_numpy(a):
    v = np.linalg.eigh(a)[1]
    return np.sum(C * np.outer(v[:, 3], v[:, 3]))


def top_by_scipy(a):
    v = sl.eigh(a, subset_by_index=[2, 3])[1]
    return np.sum(C * np.outer(v[:, 1], v[:, 1]))


def first(a):
    return np.linalg.eigh(a)[1][0, 0]


def projector(a):
    v = np.linalg.eigh(a)[1][:, :2]
    return np.sum(C * (v @ v.T))


def exponential(a):
    w, v = np.linalg.eigh(a)
    return np.sum(C * ((v * np.exp(w)) @ v.T))


def logarithm(a):
    """At the identity it is 0, and so are the cotangents of the vectors."""
    w, v = np.linalg.eigh(a)
    return np.sum(C * ((v * np.log(w)) @ v.T))


def written_out(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum(C * (u @ np.diag(s) @ vh))


def best_of_rank_one(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum(C * (u[:, :1] * s[:1] @ vh[:1]))


def share_of_the_first(a):
    w, v = np.linalg.eigh(a)
    best = v[:, np.argsort(-w)[:1]]
    return np.sum(C * (best @ best.T)) + w[-1] / np.sum(w)


def first_by_scipy(a):
    return sl.eigh(a, subset_by_index=[0, 0])[1][0, 0]


def by_svd(a):
    u, _, vh = np.linalg.svd(a)
    return np.sum(C * (u @ vh))


def by_eig(a):
    return np.sum(C[: len(a), : len(a)] * np.real(np.linalg.eig(a)[1]))


def cubes(a):
    return np.sum(np.linalg.eigh(a)[0] ** 3)


def squares(a):
    return np.sum(np.linalg.svd(a)[1] ** 2)


@pytest.mark.parametrize("top", [top_by_numpy, top_by_scipy])
@pytest.mark.parametrize("values", [[1.0, 1.0, 2.5, 4.0], [0.0, 0.0, 0.0, 4.0]])
def test_vectors_of_other_eigenvalues_are_right(top, values):
    a = Q @ np.diag(values) @ Q.T
    gradient = srcad.grad(top)(a)
    step = C + C.T
    change = (top(a + 1e-6 * step) - top(a - 1e-6 * step)) / 2e-6
    assert np.sum(gradient * step) == pytest.approx(change, rel=1e-7)


def test_a_projector_onto_all_equal_ones_is_right_from_the_other_side():
    """Of what it projects onto it would be 0 / 0; the rest of the space has a derivative."""

    def rest(a):
        v = np.linalg.eigh(a)[1][:, 2:]
        return np.sum(C * (v @ v.T))

    step = C + C.T
    change = (projector(TWICE + 1e-6 * step) - projector(TWICE - 1e-6 * step)) / 2e-6
    assert -np.sum(srcad.grad(rest)(TWICE) * step) == pytest.approx(change, rel=1e-7)


@pytest.mark.parametrize("f", [logarithm, exponential, written_out])
def test_a_column_of_zeros_does_not_say_that_a_vector_is_not_needed(f):
    for a in (np.eye(4), np.diag([0.0, 0.0, 0.0, 3.0]), np.diag([1.0, 1.0, 2.0, 3.0])):
        with (
            pytest.raises(np.linalg.LinAlgError, match="has no derivative"),
            np.errstate(all="ignore"),
        ):
            srcad.grad(f)(a)


@pytest.mark.parametrize("f", [best_of_rank_one, share_of_the_first])
def test_vectors_that_an_index_leaves_out_are_not_needed(f):
    a = np.outer(C[0], C[0])
    step = C + C.T
    change = (f(a + 1e-6 * step) - f(a - 1e-6 * step)) / 2e-6
    assert np.sum(srcad.grad(f)(a) * step) == pytest.approx(change, rel=1e-6)


@pytest.mark.parametrize(
    "f", [first, first_by_scipy, projector, exponential, by_svd, by_eig], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("a", [TWICE, np.eye(4)], ids=["rounding", "identity"])
def test_a_vector_of_equal_ones_is_refused(f, a):
    with pytest.raises(np.linalg.LinAlgError, match="has no derivative"):
        srcad.grad(f)(a)


def test_the_error_names_vector_matrix_and_line():
    def one(a):
        return np.sum(np.linalg.eigh(a)[1][:, 1, 1] ** 2)

    with pytest.raises(np.linalg.LinAlgError, match="vector number 1 of matrix 1") as error:
        srcad.grad(one)(BATCH)
    assert "test_spectra.py" in "".join(error.value.__notes__)


def test_what_is_masked_away_is_not_asked_for():
    def one(a):
        w, v = np.linalg.eigh(a)
        apart = np.min(np.diff(w, axis=-1), -1) > 1e-9
        return np.sum(np.where(apart, v[:, 0, 1] + w[:, 0], 0))

    gradient = srcad.grad(one)(BATCH)
    assert np.all(np.isfinite(gradient))
    assert np.all(gradient[1] == 0)


def test_values_alone_have_derivatives():
    np.testing.assert_allclose(np.tril(srcad.grad(cubes)(np.eye(4))), 3 * np.eye(4), atol=1e-14)
    np.testing.assert_allclose(srcad.grad(squares)(TWICE), 2 * TWICE, atol=1e-13)
    low_rank = np.outer(C[0], C[1])
    np.testing.assert_allclose(srcad.grad(squares)(low_rank), 2 * low_rank, atol=1e-13)


def test_a_tangent_of_what_does_not_exist_is_nan():
    _, change = srcad.jvp(lambda a: np.linalg.eigh(a)[1], (np.eye(3),), (np.ones((3, 3)),))
    assert np.isnan(change).any()


@pytest.mark.parametrize("f", [by_eig, lambda a: np.sum(np.real(np.linalg.eigvals(a)) ** 2)])
def test_a_matrix_without_a_basis_of_eigenvectors_is_refused(f):
    with pytest.raises(np.linalg.LinAlgError, match="fewer eigenvectors"):
        srcad.grad(f)(np.array([[1.0, 1.0], [0.0, 1.0]]))


def an_entry_of_a_vector(a):
    """Whether the vectors are complex is seen at run time."""
    return np.real(np.linalg.eig(a)[1][0, 0])


@pytest.mark.parametrize("a", [[[2.0, 1.0], [0.5, 3.0]], [[0.1, 2.0], [-1.0, 0.4]]])
def test_second_derivatives_of_vectors_that_may_be_complex(a):
    a, d = np.array(a), np.array([[0.3, -0.2], [0.5, 0.1]])
    gradient = srcad.grad(an_entry_of_a_vector)
    change = (gradient(a + 1e-6 * d) - gradient(a - 1e-6 * d)) / 2e-6
    hessian = srcad.hessian(an_entry_of_a_vector)(a)
    np.testing.assert_allclose(np.tensordot(hessian, d), change, atol=1e-8)
    forward = srcad.jvp(gradient, (a,), (d,))[1]
    reverse = srcad.grad(lambda a: np.sum(srcad.grad(an_entry_of_a_vector)(a) * d))(a)
    np.testing.assert_allclose(forward, change, atol=1e-8)
    np.testing.assert_allclose(reverse, change, atol=1e-8)
