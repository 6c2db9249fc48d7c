"""A comparison as a table of text."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcad.cli.compare import Comparison, Row

_WIDEST = 60


def format_table(comparison: Comparison) -> str:
    """One line for each method, then what the verdicts mean."""
    whole = comparison.shape
    first = comparison.rows[0].value
    assert first is not None
    lines = [("method", "value", "max abs diff", "max rel diff", "verdict")]
    lines += [_cells(row, k == 0) for k, row in enumerate(comparison.rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(4)]
    text = []
    for line in lines:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        text.append("  ".join([*padded, line[4]]).rstrip())
    text.insert(1, "-" * (sum(widths) + 4 * 2 + len("verdict")))
    if first.shape != whole:
        text.append(
            f"compared: {first.shape[0]} of {whole[0]} rows, {first.shape[1]} of {whole[1]} columns"
        )
    text.append(_conclusion(comparison))
    return "\n".join(text)


def _conclusion(comparison: Comparison) -> str:
    limit = f"{comparison.rtol:g} of the largest entry"
    if any(row.verdict == "DIFFERS" for row in comparison.rows):
        return f"There are differences of more than {limit}."
    if not comparison.agrees:
        return "Nothing was checked: no independent method could run."
    return f"All that ran agree within {limit}."


def _cells(row: Row, is_first: bool) -> tuple[str, str, str, str, str]:
    if row.value is None:
        return row.method, "-", "-", "-", row.verdict
    value = _short(row.value)
    if is_first:
        return row.method, value, "", "", ""
    return row.method, value, f"{row.difference:.1e}", f"{row.relative:.1e}", row.verdict


def _short(jacobian: np.ndarray[Any, Any]) -> str:
    """The Jacobian in one line; of a gradient, the row."""
    shown: Any = jacobian[0] if len(jacobian) == 1 else jacobian
    if shown.size == 1:
        return f"{float(shown.reshape(())):.12g}"
    for threshold, edge in ((12, 3), (4, 2), (2, 1)):
        with np.printoptions(threshold=threshold, edgeitems=edge, linewidth=10**6):
            text = np.array2string(shown, separator=", ", formatter={"float_kind": "{:.6g}".format})
        text = " ".join(text.split())
        if len(text) <= _WIDEST:
            break
    return text
