"""Products of arrays: one primitive, `einsum`, and everything else written with it."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Primitive, Unsupported
from srcad.testing.tracing.handle import METHODS, apply, array, implements, newer, plain


class Einsum(Primitive):
    """A sum of products. No ellipsis, and no letter twice in one operand."""

    name = "einsum"

    def evaluate(self, *operands: Any, subscripts: str) -> Any:
        return np.einsum(subscripts, *operands)

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any], *, subscripts: str) -> Any:
        total: Any = None
        for i, dx in enumerate(tangents):
            if dx is not None:
                term = apply(EINSUM, *inputs[:i], dx, *inputs[i + 1 :], subscripts=subscripts)
                total = term if total is None else total + term
        return total

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int, *, subscripts: str) -> Any:
        left, out = subscripts.split("->")
        letters = left.split(",")
        mine = letters[wrt]
        others = [x for i, x in enumerate(inputs) if i != wrt]
        names = [s for i, s in enumerate(letters) if i != wrt]
        # A letter that only this operand has was summed: its cotangent is spread evenly.
        alone = "".join(c for c in mine if c not in out + "".join(names))
        spread = np.ones([np.shape(inputs[wrt])[mine.index(c)] for c in alone])
        back = ",".join([out, *names, alone]) + "->" + mine
        return apply(EINSUM, ct, *others, spread, subscripts=back)


EINSUM = Einsum()


@implements(np.einsum)
def einsum(*operands: Any, out: Any = None, **kwargs: Any) -> Any:
    """`np.einsum`, brought to the form without ellipsis and repeated letters."""
    if not isinstance(operands[0], str):
        operands = _from_lists(operands)
    subscripts = operands[0].replace(" ", "")
    arrays = [array(x) for x in operands[1:]]
    left, arrow, right = subscripts.partition("->")
    terms = left.split(",")
    free = [c for c in string.ascii_letters if c not in subscripts]
    rank = max(
        (
            np.ndim(x) - len(t.replace("...", ""))
            for x, t in zip(arrays, terms, strict=True)
            if "..." in t
        ),
        default=0,
    )
    dots = "".join(free[:rank])
    for k, (x, term) in enumerate(zip(arrays, terms, strict=True)):
        if "..." in term:
            used = np.ndim(x) - len(term.replace("...", ""))
            terms[k] = term.replace("...", dots[rank - used :])
    if arrow:
        right = right.replace("...", dots)
    else:
        joined = "".join(terms)
        right = dots + "".join(
            sorted(c for c in set(joined) if joined.count(c) == 1 and c not in dots)
        )
    for k, term in enumerate(terms):
        while (twice := next((c for c in term if term.count(c) > 1), None)) is not None:
            i, j = term.index(twice), term.rindex(twice)
            arrays[k] = np.diagonal(arrays[k], axis1=i, axis2=j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + twice
        terms[k] = term
    result = apply(EINSUM, *arrays, subscripts=",".join(terms) + "->" + right)
    if out is not None:
        out[...] = result
        return out
    return result


def _from_lists(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    def text(subs: Any) -> str:
        return "".join("..." if s is Ellipsis else string.ascii_letters[s] for s in subs)

    pairs = len(operands) // 2
    left = ",".join(text(operands[2 * k + 1]) for k in range(pairs))
    right = "->" + text(operands[-1]) if len(operands) % 2 else ""
    return (left + right, *(operands[2 * k] for k in range(pairs)))


@implements(np.matmul)
def _matmul(a: Any, b: Any) -> Any:
    a, b = array(a), array(b)
    if not np.ndim(a) or not np.ndim(b):
        raise ValueError("matmul: input operand does not have enough dimensions")
    left = "k" if np.ndim(a) == 1 else "...ik"
    right = "k" if np.ndim(b) == 1 else "...kj"
    out = "..." + ("" if np.ndim(a) == 1 else "i") + ("" if np.ndim(b) == 1 else "j")
    if "..." not in left + right:
        out = out.replace("...", "")
    return einsum(f"{left},{right}->{out}", a, b)


@implements(np.dot)
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = array(a), array(b)
    if not np.ndim(a) or not np.ndim(b):
        result = a * b
    else:
        result = np.tensordot(a, b, axes=(-1, 0 if np.ndim(b) == 1 else -2))
    if out is not None:
        out[...] = result
        return out
    return result


@implements(np.vdot)
def _vdot(a: Any, b: Any) -> Any:
    return np.dot(np.conj(np.ravel(array(a))), np.ravel(array(b)))


@implements(np.vecdot)
def _vecdot(a: Any, b: Any, axis: int = -1) -> Any:
    return np.sum(np.conj(array(a)) * array(b), axis=axis)


@implements(*newer("matvec"))
def _matvec(a: Any, b: Any) -> Any:
    return einsum("...ij,...j->...i", a, b)


@implements(*newer("vecmat"))
def _vecmat(a: Any, b: Any) -> Any:
    return einsum("...i,...ij->...j", np.conj(array(a)), b)


@implements(np.inner)
def _inner(a: Any, b: Any) -> Any:
    a, b = array(a), array(b)
    if not np.ndim(a) or not np.ndim(b):
        return a * b
    return np.tensordot(a, b, axes=(-1, -1))


@implements(np.outer)
def _outer(a: Any, b: Any, out: Any = None) -> Any:
    return einsum("i,j->ij", np.ravel(array(a)), np.ravel(array(b)), out=out)


@implements(np.linalg.outer)
def _linalg_outer(a: Any, b: Any) -> Any:
    return np.outer(a, b)


@implements(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = array(a), array(b)
    if isinstance(axes, (int, np.integer)):
        first, second = list(range(np.ndim(a) - axes, np.ndim(a))), list(range(axes))
    else:
        first, second = ([x] if np.ndim(x) == 0 else list(x) for x in axes)
    left = list(string.ascii_lowercase[: np.ndim(a)])
    right = list(string.ascii_uppercase[: np.ndim(b)])
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    out = [c for c in left if c not in right] + [c for c in right if c not in left]
    return einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", a, b)


@implements(np.kron)
def _kron(a: Any, b: Any) -> Any:
    a, b = array(a), array(b)
    rank = max(np.ndim(a), np.ndim(b))
    sa = (1,) * (rank - np.ndim(a)) + np.shape(a)
    sb = (1,) * (rank - np.ndim(b)) + np.shape(b)
    wide = np.reshape(a, [n for m in sa for n in (m, 1)]) * np.reshape(
        b, [n for m in sb for n in (1, m)]
    )
    return np.reshape(wide, [m * n for m, n in zip(sa, sb, strict=True)])


@implements(np.cross, np.linalg.cross)
def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(array(a), axisa, -1), np.moveaxis(array(b), axisb, -1)
    if np.shape(a)[-1] != 3 or np.shape(b)[-1] != 3:
        raise Unsupported("np.cross of vectors in the plane")
    parts = [
        a[..., (k + 1) % 3] * b[..., (k + 2) % 3] - a[..., (k + 2) % 3] * b[..., (k + 1) % 3]
        for k in range(3)
    ]
    return np.stack(parts, axis=axisc)


@implements(np.trace, np.linalg.trace)
def _trace(
    a: Any,
    offset: int = 0,
    axis1: Any = None,
    axis2: Any = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    a = array(a)
    first, second = (0, 1) if axis1 is None else (axis1, axis2)
    return np.sum(np.diagonal(a, offset, first, second), axis=-1, dtype=dtype, out=out)


@implements(np.convolve)
def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = array(a), array(v)
    if np.size(v) > np.size(a):
        a, v = v, a
    n, m = np.size(a), np.size(v)
    padded = np.pad(a, (m - 1, m - 1))
    rows = padded[np.arange(n + m - 1)[:, None] + np.arange(m)[None, :]]
    full = np.matmul(rows, np.flip(v))
    if mode == "full":
        return full
    if mode == "valid":
        return full[m - 1 : n]
    start = (m - 1) // 2
    return full[start : start + n]


@implements(np.correlate)
def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = array(a), array(v)
    if np.size(v) > np.size(a):
        raise Unsupported("np.correlate whose second array is longer")
    n, m = np.size(a), np.size(v)
    full = np.convolve(a, np.flip(np.conj(v)))
    if mode == "full":
        return full
    if mode == "valid":
        return full[m - 1 : n]
    start = (m - 1) // 2 + (1 - m % 2) * 0
    return full[start : start + n]


@implements(np.polyval)
def _polyval(p: Any, x: Any) -> Any:
    value = array(x) * 0.0
    for c in array(p):
        value = value * x + c
    return value


@implements(np.vander)
def _vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = array(x)
    powers = np.arange(np.size(x) if N is None else N)
    return x[:, None] ** (powers if increasing else powers[::-1])


@implements(np.interp)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if period is not None:
        raise Unsupported("np.interp with period=")
    x, xp, fp = array(x), array(xp), array(fp)
    k = np.clip(np.searchsorted(plain(xp), plain(x), side="right") - 1, 0, np.size(xp) - 2)
    slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    value = fp[k] + slope * (x - xp[k])
    value = np.where(plain(x) < plain(xp)[0], fp[0] if left is None else left, value)
    return np.where(plain(x) > plain(xp)[-1], fp[-1] if right is None else right, value)


@implements(np.cov)
def _cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, **kw: Any
) -> Any:
    if y is not None or kw:
        raise Unsupported("np.cov with y= or weights")
    m = array(m)
    rows = m if np.ndim(m) == 2 else m[None, :]
    if not rowvar and np.shape(rows)[0] != 1:
        rows = rows.T
    ddof = (0 if bias else 1) if ddof is None else ddof
    centred = rows - np.mean(rows, axis=1, keepdims=True)
    return np.squeeze(centred @ np.conj(centred.T) / (np.shape(rows)[1] - ddof))


METHODS.update(
    dot=np.dot,
    trace=lambda x, *a, **k: np.trace(x, *a, **k),
)
