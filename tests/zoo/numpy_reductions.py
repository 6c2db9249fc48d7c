"""Reductions and scans: sums, means, extrema, products, norms, cumulative sums, sorting."""

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 0.4, 2.1])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6]])
T = (np.arange(24.0).reshape(2, 3, 4) - 7.3) / 9


@case((V,), (M,), (1.5,))
def sum_of_all(x):
    return np.sum(x * x)


@case((M,))
def sum_along_axes(m):
    return np.sum(m, axis=0) * np.sum(m * m, axis=1)[0] + np.sum(m, axis=-1)[1]


@case((M,))
def sum_keeping_dimensions(m):
    return m / np.sum(m, axis=1, keepdims=True) + np.sum(m, keepdims=True)


@case((T,))
def sum_over_axis_tuples(t):
    return np.sum(t, axis=(0, 2)) * np.sum(t * t, axis=(-1, 0)) + np.sum(t, axis=(1,)).shape[0]


@case((V,))
def sum_of_nothing(x):
    return np.sum(x[2:2]) + np.sum(x) ** 2


@case((M,))
def mean_and_average(m):
    w = np.array([1.0, 2.0, 0.5])
    return np.mean(m) * np.mean(m, axis=0) + np.average(m, axis=1, weights=w)[0] + np.average(m)


@case((M,))
def variance_and_deviation(m):
    return np.var(m) + np.std(m, axis=0) * np.var(m, axis=1, ddof=1, keepdims=True)


@case((M,))
def maximum_along_axes(m):
    return np.max(m) * np.max(m, axis=0) + np.amax(m, axis=1, keepdims=True)


@case((M,))
def minimum_along_axes(m):
    return np.min(m) * np.min(m, axis=0) + np.amin(m, axis=1)[1]


@case((V,))
def extrema_by_index(x):
    return x[np.argmax(x)] * x[np.argmin(x)] + x[np.argmax(np.abs(x))]


@case((M,))
def range_of_values(m):
    return np.ptp(m) * m + np.ptp(m, axis=0)


@case((V,), (M,))
def product_of_all(x):
    return np.prod(x) * x


@case((M,))
def product_along_axes(m):
    return np.prod(m, axis=0) + np.prod(m, axis=1, keepdims=True)


@case((np.array([0.7, 0.0, 1.3]),))
def product_with_one_zero(x):
    return np.prod(x)


@case((V,), (M,))
def cumulative_sum(x):
    return np.cumsum(x) * np.cumsum(x * x)


@case((M,))
def cumulative_sum_along_axes(m):
    return np.cumsum(m, axis=0) * np.cumsum(m, axis=1)


@case((V,))
def cumulative_product(x):
    return np.cumprod(x) * x


@case((V,))
def differences(x):
    return np.diff(x) ** 2 * np.diff(x, n=1)[0] + np.sum(np.diff(x, n=2))


@case((V,))
def norms(x):
    return np.linalg.norm(x) + np.linalg.norm(x, 1) * np.linalg.norm(x, 3) + np.linalg.norm(x[:2])


@case((M,))
def matrix_norms(m):
    return np.linalg.norm(m) * np.linalg.norm(m, axis=1) + np.linalg.norm(m, "fro")


@case((V,))
def sorting(x):
    return np.sort(x) * np.array([1.0, 2.0, 3.0, 4.0]) + np.sort(x)[::-1] * x


@case((M,))
def sorting_along_axes(m):
    order = np.argsort(m, axis=1)
    return np.take_along_axis(m, order, axis=1) * np.sort(m, axis=0) + np.sort(m, axis=-1)


@case((V,))
def median_of_entries(x):
    return np.median(x) * x + np.median(x[:3])


@case((V,))
def quantiles(x):
    return np.quantile(x, 0.3) * x + np.percentile(x, 75.0)


@case((M,))
def log_sum_exp(m):
    top = np.max(m, axis=1, keepdims=True)
    return np.log(np.sum(np.exp(m - top), axis=1)) + top[:, 0]


@case((V,))
def nansum_ignores(x):
    return np.nansum(np.where(x > 2, np.nan, x) * np.array([1.0, 2.0, 3.0, 4.0])) ** 2


@case((V,))
def any_and_all_are_constants(x):
    return x * np.any(x > 2) + x**2 * np.all(x > -2) + np.count_nonzero(x > 0) * x


@case((V, M))
def ufunc_methods(x, m):
    return np.add.reduce(x) * np.multiply.reduce(x) + np.sum(np.add.reduce(m, axis=1)) * x[0]


@case((V,))
def maximum_reduce(x):
    return np.maximum.reduce(x) * x + np.minimum.reduce(x)


@case((V,))
def trapezoid_rule(y):
    return np.trapezoid(y, dx=0.5) * np.trapezoid(y * y, np.array([0.0, 0.5, 0.7, 2.0]))


@case((V,))
def sum_in_loop(x):
    total = 0.0
    for k in range(1, 4):
        total = total + np.sum(x[:k] ** k) * np.mean(x[k:])
    return total


@case((M,))
def standardised_columns(m):
    centred = m - np.mean(m, axis=0)
    return centred / np.sqrt(np.mean(centred**2, axis=0) + 0.1)


@case((V, np.array([0.3, 0.2, 0.4, 0.1])))
def weighted_moments(x, w):
    mean = np.sum(w * x) / np.sum(w)
    return mean * np.sum(w * (x - mean) ** 2) / np.sum(w)
