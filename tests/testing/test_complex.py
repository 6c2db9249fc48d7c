"""Complex numbers: the convention of the pairing, holomorphic functions and those that are not."""

import cmath

import numpy as np
import pytest

from srcad.testing import check_grads, reference_gradients
from srcad.testing.tape import Variable, gradients

Z = np.array([0.4 + 0.7j, -1.1 + 0.2j, 0.3 - 0.9j])
H = np.array([[1.0, 0.2 + 0.3j, 0.1j], [0.4, -0.5 + 0.2j, 0.3], [0.2j, 0.6, 0.8 - 0.4j]])


def test_gradient_of_the_square_of_the_modulus_is_twice_the_conjugate():
    gradient = reference_gradients(lambda z: np.abs(z) ** 2, (1.0 + 2.0j,))
    assert gradient == pytest.approx(2.0 - 4.0j)


def test_a_holomorphic_function_is_pulled_back_without_conjugates():
    z = Variable(0.3 + 0.4j)
    (pulled,) = gradients(np.exp(z), 2.0 - 1.0j, [z])
    assert pulled == pytest.approx((2.0 - 1.0j) * cmath.exp(0.3 + 0.4j))


def test_a_real_variable_gets_a_real_gradient():
    x = Variable(np.array([0.3, 0.4]))
    (gradient,) = gradients(np.sum(np.real(np.exp(1j * x) * (2 - 1j))), None, [x])
    assert gradient.dtype == float
    np.testing.assert_allclose(gradient, np.real(1j * np.exp(1j * np.array([0.3, 0.4])) * (2 - 1j)))


CASES = {
    "exp": lambda z: np.exp(z) * z,
    "power": lambda z: z**3 / (1 + z) + z**0.5,
    "log": lambda z: np.log(z) + np.sqrt(z),
    "trigonometric": lambda z: np.sin(z) * np.cosh(z) + np.arctan(z),
    "conj": lambda z: np.conj(z) * z**2,
    "abs": lambda z: np.abs(z) * z,
    "angle": lambda z: np.angle(z) * np.abs(z) ** 2,
    "parts": lambda z: z.real * z.imag + 1j * z.imag**2,
    "vdot": lambda z: np.vdot(z, z * z),
    "norm": lambda z: np.linalg.norm(z),
    "matmul": lambda z: H @ z * z.conj(),
    "fft": lambda z: np.fft.ifft(np.fft.fft(z) ** 2),
    "where": lambda z: np.where(z.real > 0, z * z, np.conj(z)),
    "var": lambda z: np.var(z),
    "mixed": lambda z: np.array([1.0, 2.0, 3.0]) * z + z.real,
    "written": lambda z: _written(z),
}


def _written(z):
    u = np.zeros(3, complex)
    u[1:] = z[:2] * z[1:]
    u *= np.conj(z)
    return u


@pytest.mark.parametrize("case", CASES)
def test_functions(case, oracle):
    check_grads(CASES[case], (Z,), order=2, engine=oracle, rtol=1e-9)


MATRICES = {
    "inv": lambda a: np.linalg.inv(a),
    "det": lambda a: np.linalg.det(a),
    "slogdet": lambda a: np.linalg.slogdet(a),
    "cholesky": lambda a: np.linalg.cholesky(a @ np.conj(a.T) + np.eye(3)),
    "eigvalsh": lambda a: np.linalg.eigvalsh(a),
    "eigh": lambda a: np.abs(np.linalg.eigh(a + np.conj(a.T))[1]) ** 2,
    "svdvals": lambda a: np.linalg.svd(a, compute_uv=False),
}


@pytest.mark.parametrize("case", MATRICES)
def test_matrices(case, oracle):
    check_grads(MATRICES[case], (H,), order=2, engine=oracle, rtol=1e-8)


def test_python_complex_numbers(oracle):
    def f(z):
        return cmath.exp(z) * abs(z) + z.conjugate() * cmath.phase(z)

    check_grads(f, (0.4 + 0.7j,), order=2, engine=oracle)
