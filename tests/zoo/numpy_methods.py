"""Methods and attributes of arrays and of NumPy scalars."""

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 0.4, 2.1])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6]])


@case((M,))
def sum_methods(m):
    return m.sum() * m.sum(axis=0) + m.sum(1)[0] * m.sum(axis=1, keepdims=True)


@case((M,))
def mean_and_variance_methods(m):
    return m.mean() * m.mean(0) + m.std() * m.var(axis=0) + m.var(ddof=1)


@case((M,))
def extremum_methods(m):
    return m.max() * m.min(axis=0) + m.max(axis=1)[0] + m.ravel()[m.argmax()] * m.argmin()


@case((V,))
def product_methods(x):
    return x.prod() * x + x.cumsum() * x.cumprod()


@case((M,))
def transposes(m):
    return m.T @ m + m.transpose() @ m.transpose().T + m.T.T.T @ m


@case((M,))
def reshape_methods(m):
    return m.reshape(3, 2) * m.reshape((3, 2)) + m.reshape(-1)[:2] + m.flatten()[2:4] * m.ravel()[0]


@case((M,))
def swapaxes_and_squeeze(m):
    return m.swapaxes(0, 1) * m[None].squeeze().T


@case((M, np.array([0.2, -0.3, 0.5])))
def dot_method(m, v):
    return m.dot(v) * m.dot(m.T).dot(np.array([1.0, 2.0]))


@case((V,))
def copy_methods(x):
    y = x.copy()
    z = np.copy(x)
    return y * z + np.ascontiguousarray(x)


@case((V,))
def astype_methods(x):
    return x.astype(float) * x.astype(np.float64) + x.astype("float64", copy=False)


@case((V,))
def clip_and_round_methods(x):
    return x.clip(-1.0, 1.0) * x + x.round(1) * x + x.clip(min=0.0)


@case((V,))
def repeat_and_take_methods(x):
    return x.repeat(2)[:4] * x.take([0, 0, 3, 1]) + x[::-1].repeat(1)


@case((M,))
def diagonal_and_trace_methods(m):
    return m.diagonal() * m.trace() + m[:, 1:].diagonal()


@case((V,))
def shape_attributes(x):
    return x * x.size + x**2 * x.ndim + x.shape[0] * x.itemsize + len(x.shape) * x


@case((M,))
def real_and_conjugate(m):
    return m.real * m + m.conj() * m.imag + m.conjugate()


@case((V,))
def sort_by_method(x):
    order = x.argsort()
    return x[order] * np.array([1.0, 2.0, 3.0, 4.0])


@case((V,))
def any_and_all_methods(x):
    if (x > 0).any() and not (x > 0).all():
        return x * (x > 0).sum() + (x > 0).mean() * x**2
    return x


@case((np.float64(0.7), np.array([0.7, 1.3])))
def methods_of_numpy_scalars(s, x):
    total = x.sum()
    return s.sum() * total.mean() + s.item() * x.max().item() + total.astype(float) * s.real


@case((np.array(0.7),), (np.float64(0.7),))
def zero_dimensional(s):
    return s * s + s.reshape(1)[0] * s.item() + np.sin(s)[()] + s.ndim


@case((V,))
def dtype_decides(x):
    if x.dtype == np.float64 and np.issubdtype(x.dtype, np.floating) and x.dtype.kind == "f":
        return x * x
    return x


@case((V,))
def chained_methods(x):
    return (x * x).reshape(2, 2).T.dot(np.ones(2)).sum() * x.copy().cumsum().max()


@case((V,))
def method_of_expression(x):
    return (x - x.mean()).dot(x - x.mean()) / x.size + (-x).sum() * (x**2).mean()


@case((V,))
def numpy_functions_of_result_type(x):
    kind = np.result_type(x, 1.0)
    y = np.zeros(x.shape, dtype=kind) + x
    return y * np.asarray(x, dtype=kind)


@case((M,))
def iteration_over_transpose(m):
    total = 0.0
    for column in m.T:
        total = total + column.sum() * column.max()
    return total


@case((V,))
def operator_methods(x):
    return x.__mul__(2.0) + x.__getitem__(0) * x.__add__(x)
