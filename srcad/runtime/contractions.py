"""Index arithmetic of the transposes of `np.tensordot` and `np.einsum`."""

from __future__ import annotations

from typing import Any


def contraction(axes: Any, rank_a: int, rank_b: int) -> tuple[tuple[int, ...], ...]:
    """The axes of `np.tensordot(a, b, axes)`: those of `a` and of `b` that stay, where they are in
    the result, and the permutations that bring the axes of `ct @ b` and `a @ ct` into order.
    """
    if isinstance(axes, int):
        of_a = list(range(rank_a - axes, rank_a))
        of_b = list(range(axes))
    else:
        of_a, of_b = ([x] if isinstance(x, int) else list(x) for x in axes)
    of_a = [k % rank_a for k in of_a]
    of_b = [k % rank_b for k in of_b]
    free_a = [k for k in range(rank_a) if k not in of_a]
    free_b = [k for k in range(rank_b) if k not in of_b]
    rows = range(len(free_a))
    columns = range(len(free_a), len(free_a) + len(free_b))
    # The axes that were summed come out in the order they have in the other factor.
    order_a = free_a + [k for _, k in sorted(zip(of_b, of_a, strict=True))]
    order_b = [k for _, k in sorted(zip(of_a, of_b, strict=True))] + free_b
    return (
        tuple(free_a),
        tuple(free_b),
        tuple(rows),
        tuple(columns),
        tuple(map(order_a.index, range(rank_a))),
        tuple(map(order_b.index, range(rank_b))),
    )


def transposed_subscripts(
    subscripts: str, k: int, ranks: tuple[int, ...]
) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The subscripts that give the cotangent of operand `k` from that of the result and the others.

    Also the axes of operand `k` that need an identity matrix (a label it repeats) and those that
    need a vector of ones (a label that nothing else has), in this order after the others.
    """
    spec = subscripts.replace(" ", "")
    letters = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in spec]
    left, arrow, right = spec.partition("->")
    terms = left.split(",")
    named = [len(t.replace("...", "")) for t in terms]
    hidden = [rank - n if "..." in t else 0 for t, rank, n in zip(terms, ranks, named, strict=True)]
    broad = "".join(letters[: max(hidden)])
    letters = letters[max(hidden) :]
    terms = [t.replace("...", broad[len(broad) - n :]) for t, n in zip(terms, hidden, strict=True)]
    if arrow:
        right = right.replace("...", broad)
    else:
        every = "".join(terms)
        right = broad + "".join(sorted({c for c in every if every.count(c) == 1} - {*broad}))
    others = terms[:k] + terms[k + 1 :]
    result = ""
    inputs = [right, *others]
    eyes = []
    ones = []
    pairs = []
    singles = []
    for axis, label in enumerate(terms[k]):
        if label in result:
            fresh = letters.pop(0)
            eyes.append(axis)
            pairs.append(label + fresh)
            result += fresh
        else:
            if label not in "".join(inputs):
                ones.append(axis)
                singles.append(label)
            result += label
    return ",".join(inputs + pairs + singles) + "->" + result, tuple(eyes), tuple(ones)
