"""Linear algebra: inverse, determinant and eigh are primitives, the rest is composed.

What NumPy reads is what is differentiated: `cholesky` and `eigh` read one triangle only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Primitive, Unsupported
from srcad.testing.tracing.fourier import register as _register_fourier
from srcad.testing.tracing.handle import apply, array, dtype_of, implements, plain


def _t(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


class Inverse(Primitive):
    """The inverse of a matrix, or of each of a stack."""

    name = "inv"

    def evaluate(self, a: Any) -> Any:
        return np.linalg.inv(a)

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        inverse = np.linalg.inv(inputs[0])
        return -(inverse @ tangents[0] @ inverse)

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int) -> Any:
        inverse_t = _t(np.linalg.inv(inputs[0]))
        return -(inverse_t @ ct @ inverse_t)


class Determinant(Primitive):
    """The determinant; its derivative is the cofactor matrix, also where the matrix is singular."""

    name = "det"

    def evaluate(self, a: Any) -> Any:
        return np.linalg.det(a)

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return np.sum(_cofactors(inputs[0]) * tangents[0], axis=(-1, -2))

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int) -> Any:
        return _spread(ct) * _cofactors(inputs[0])


def _spread(x: Any) -> Any:
    return np.reshape(x, (*np.shape(x), 1, 1))


def _cofactors(a: Any) -> Any:
    if np.all(np.linalg.cond(plain(a)) < 1e6):
        return _spread(np.linalg.det(a)) * _t(np.linalg.inv(a))
    # Faddeev and LeVerrier: the adjugate as a polynomial, which needs no inverse.
    n = np.shape(a)[-1]
    adjugate = np.broadcast_to(np.eye(n), np.shape(a))
    for k in range(1, n):
        product = a @ adjugate
        trace = np.trace(product, axis1=-2, axis2=-1)
        adjugate = product - _spread(trace) / k * np.eye(n)
    return _t(adjugate) * (-1.0) ** (n - 1)


class EigenValues(Primitive):
    """The eigenvalues of a Hermitian matrix."""

    name = "eigvalsh"

    def evaluate(self, a: Any) -> Any:
        return np.linalg.eigh(a)[0]

    def continued(self, a: Any) -> Any:
        raise Unsupported("eigh is not continued to complex steps")

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        v = apply(VECTORS, inputs[0])
        return np.real(np.einsum("...ji,...jk,...ki->...i", np.conj(v), tangents[0], v))

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int) -> Any:
        v = apply(VECTORS, inputs[0])
        return np.conj(v) @ (ct[..., :, None] * _t(v))


class EigenVectors(Primitive):
    """The eigenvectors of a Hermitian matrix, in the gauge that LAPACK happens to choose."""

    name = "eigh"

    def evaluate(self, a: Any) -> Any:
        return np.linalg.eigh(a)[1]

    def continued(self, a: Any) -> Any:
        raise Unsupported("eigh is not continued to complex steps")

    def _gaps(self, a: Any) -> Any:
        w = apply(VALUES, a)
        n = np.shape(w)[-1]
        gap = w[..., None, :] - w[..., :, None] + np.eye(n)
        return (1 - np.eye(n)) / gap

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        v = apply(VECTORS, inputs[0])
        return v @ (self._gaps(inputs[0]) * (np.conj(_t(v)) @ tangents[0] @ v))

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int) -> Any:
        v = apply(VECTORS, inputs[0])
        return np.conj(v) @ (self._gaps(inputs[0]) * (_t(v) @ ct)) @ _t(v)


INVERSE = Inverse()
DETERMINANT = Determinant()
VALUES = EigenValues()
VECTORS = EigenVectors()


@implements(np.linalg.inv)
def _inv(a: Any) -> Any:
    return apply(INVERSE, array(a))


@implements(np.linalg.det)
def _det(a: Any) -> Any:
    return apply(DETERMINANT, array(a))


@implements(np.linalg.slogdet)
def _slogdet(a: Any) -> Any:
    a = array(a)
    sign, logabs = np.linalg.slogdet(plain(a))
    scale = _spread(np.exp(logabs / np.shape(a)[-1])) if np.all(np.isfinite(logabs)) else 1.0
    det = np.linalg.det(a / scale)  # scaled, so that it neither over- nor underflows
    size = np.abs(det)
    log = np.log(size) + np.shape(a)[-1] * np.log(np.reshape(scale, np.shape(logabs)))
    result: Any = type(np.linalg.slogdet(np.eye(1)))
    return result(det / size if dtype_of(a).kind == "c" else sign, log)


@implements(np.linalg.solve)
def _solve(a: Any, b: Any) -> Any:
    a, b = array(a), array(b)
    if np.ndim(b) == 1:
        return np.einsum("...ij,j->...i", np.linalg.inv(a), b)
    return np.linalg.inv(a) @ b


@implements(np.linalg.lstsq)
def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    _, residuals, rank, s = np.linalg.lstsq(plain(array(a)), plain(array(b)), rcond)
    if rank < np.shape(a)[1]:
        raise Unsupported("lstsq of a matrix without full column rank")
    a, b = array(a), array(b)
    x = np.linalg.solve(np.conj(a.T) @ a, np.conj(a.T) @ b)
    rest = np.sum(np.abs(b - a @ x) ** 2, axis=0) if np.size(residuals) else residuals
    return x, np.reshape(rest, np.shape(residuals)), rank, s


@implements(np.linalg.pinv)
def _pinv(a: Any, *args: Any, **kwargs: Any) -> Any:
    a = array(a)
    rows, columns = np.shape(a)[-2:]
    if np.any(np.linalg.matrix_rank(plain(a)) < min(rows, columns)):
        raise Unsupported("pinv of a matrix without full rank")
    h = np.conj(_t(a))
    return np.linalg.inv(h @ a) @ h if rows >= columns else h @ np.linalg.inv(a @ h)


@implements(np.linalg.matrix_power)
def _matrix_power(a: Any, n: int) -> Any:
    a = array(a)
    if n < 0:
        a, n = np.linalg.inv(a), -n
    result: Any = np.broadcast_to(np.eye(np.shape(a)[-1]), np.shape(a))
    for _ in range(n):
        result = result @ a
    return result


@implements(np.linalg.multi_dot)
def _multi_dot(arrays: Any, *, out: Any = None) -> Any:
    result = array(arrays[0])
    for a in arrays[1:]:
        result = result @ array(a)
    return result


@implements(np.linalg.cholesky)
def _cholesky(a: Any, *, upper: bool = False) -> Any:
    a = array(a)
    n = np.shape(a)[-1]
    if upper:
        a = np.conj(_t(a))
    np.linalg.cholesky(plain(a))  # raises for a matrix that is not positive definite
    rows: list[list[Any]] = []
    for i in range(n):
        row: list[Any] = []
        for j in range(i + 1):
            rest = a[..., i, j] if i != j else np.real(a[..., i, i])
            for k in range(j):
                other = row[k] if i == j else rows[j][k]
                product = row[k] * np.conj(other)
                rest = rest - (np.real(product) if i == j else product)
            row.append(np.sqrt(rest) if i == j else rest / rows[j][j])
        rows.append(row)
    zero = np.zeros(np.shape(a)[:-2], dtype_of(a))
    full = np.stack([np.stack([*row, *[zero] * (n - len(row))], axis=-1) for row in rows], axis=-2)
    return np.conj(_t(full)) if upper else full


def _hermitian(a: Any, uplo: str) -> Any:
    # The triangle that LAPACK reads, completed to the Hermitian matrix it stands for.
    a = array(a)
    strict = np.tril(a, -1) if uplo.upper() == "L" else np.triu(a, 1)
    diagonal = np.real(a) * np.eye(np.shape(a)[-1])
    return strict + np.conj(_t(strict)) + diagonal


@implements(np.linalg.eigh)
def _eigh(a: Any, UPLO: str = "L") -> Any:
    full = _hermitian(a, UPLO)
    return type(np.linalg.eigh(np.eye(1)))(apply(VALUES, full), apply(VECTORS, full))


@implements(np.linalg.eigvalsh)
def _eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return apply(VALUES, _hermitian(a, UPLO))


@implements(np.linalg.svdvals)
def _svdvals(x: Any) -> Any:
    a = array(x)
    h = np.conj(_t(a))
    gram = h @ a if np.shape(a)[-2] >= np.shape(a)[-1] else a @ h
    return np.sqrt(np.flip(np.linalg.eigvalsh(gram), -1))


@implements(np.linalg.svd)
def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if compute_uv:
        raise Unsupported("the singular vectors of svd")
    return _svdvals(a)


@implements(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = array(x)
    if ord is None and axis is None:
        flat = np.ravel(x)
        result = _length(flat, 0, False)
        return np.reshape(result, (1,) * np.ndim(x)) if keepdims else result
    if axis is None:
        axis = tuple(range(np.ndim(x)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes[0], keepdims)
    if ord in (None, "fro"):
        return _length(x, axes, keepdims)
    size = np.abs(x)
    first, second = (k % np.ndim(x) for k in axes)
    if ord in (1, -1, np.inf, -np.inf):
        inner, outer = (first, second) if abs(ord) == 1 else (second, first)
        pick: Any = np.max if ord > 0 else np.min
        sums = np.sum(size, axis=inner, keepdims=True)
        result = pick(sums, axis=outer, keepdims=True)
    elif ord in (2, -2, "nuc"):
        values = np.linalg.svdvals(np.moveaxis(x, (first, second), (-2, -1)))
        pick = {2: np.max, -2: np.min, "nuc": np.sum}[ord]
        chosen = pick(values, axis=-1)
        result = np.expand_dims(chosen, tuple(sorted((first, second))))
    else:
        raise Unsupported(f"a matrix norm of order {ord!r}")
    return result if keepdims else np.squeeze(result, axis=(first, second))


def _length(x: Any, axes: Any, keepdims: bool) -> Any:
    square = np.real(x) ** 2 + np.imag(x) ** 2 if dtype_of(x).kind == "c" else x * x
    return np.sqrt(np.sum(square, axis=axes, keepdims=keepdims))


def _vector_norm(x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    if ord == 2:
        return _length(x, axis, keepdims)
    size = np.abs(x)
    if ord == np.inf:
        return np.max(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((plain(x) != 0) * 1.0, axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    return np.sum(size**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


@implements(np.linalg.vector_norm)
def _vector_norm_2(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x = array(x)
    if axis is None:
        result = _vector_norm(np.ravel(x), ord, 0, False)
        return np.reshape(result, (1,) * np.ndim(x)) if keepdims else result
    return _vector_norm(x, ord, axis, keepdims)


@implements(np.linalg.matrix_norm)
def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


@implements(np.linalg.matrix_rank)
def _matrix_rank(a: Any, *args: Any, **kwargs: Any) -> Any:
    return np.linalg.matrix_rank(plain(array(a)), *args, **kwargs)


@implements(np.linalg.cond)
def _cond(x: Any, p: Any = None) -> Any:
    if p not in (None, 2):
        return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, (-2, -1))
    values = np.linalg.svdvals(x)
    return values[..., 0] / values[..., -1]


_register_fourier()
