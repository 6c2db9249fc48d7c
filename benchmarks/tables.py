"""Tables of ratios between engines, with what they ought to be."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Ratio:
    """A column: the time of one engine over that of another."""

    over: str
    under: str
    target: str = ""
    """The key of what it ought to be; of another package: at least, else at most."""

    @property
    def title(self) -> str:
        return f"{self.over}/{self.under}"

    @property
    def at_least(self) -> bool:
        return self.over in ("jax", "autograd", "tape")

    def of(self, record: Record) -> float | None:
        """The ratio, if both engines have been timed."""
        seconds = record["seconds"]
        if self.over not in seconds or self.under not in seconds:
            return None
        return float(seconds[self.over] / seconds[self.under])

    def cell(self, record: Record) -> str:
        if self.over in record["wrong"]:
            return "WRONG"
        ratio = self.of(record)
        if ratio is None:
            return "refused" if self.over in record["refused"] else "–"
        return self.judged(ratio, record["targets"])

    def judged(self, ratio: float, targets: Mapping[str, float]) -> str:
        """A ratio, and how it stands to what it ought to be."""
        wanted = targets.get(self.target)
        if wanted is None:
            return figure(ratio)
        if self.at_least:
            sign = "≥" if ratio >= wanted else "<"
        else:
            sign = "≤" if ratio <= wanted else ">"
        return f"{figure(ratio)} {sign} {wanted:g}"


def figure(ratio: float) -> str:
    """Three digits or so."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column to the left and all others to the right."""
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    return [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, *rows)
    ]


def ratios(
    head: str,
    records: Mapping[str, Record],
    columns: Sequence[Ratio],
    targets: Mapping[str, float],
) -> list[str]:
    """A row for each workload, and one of geometric means with their own targets."""
    rows = [[name, *(c.cell(record) for c in columns)] for name, record in records.items()]
    means = [geometric_mean(records.values(), c) for c in columns]
    rows.append(
        [
            "geometric mean",
            *(
                "–" if mean is None else c.judged(mean, targets)
                for c, mean in zip(columns, means, strict=True)
            ),
        ]
    )
    return table([head, *(c.title for c in columns)], rows)


def geometric_mean(records: Iterable[Record], column: Ratio) -> float | None:
    """Over the workloads that both engines have computed, rightly."""
    found = [column.of(r) for r in records if column.over not in r["wrong"]]
    there = [ratio for ratio in found if ratio is not None]
    return statistics.geometric_mean(there) if there else None


FIRST = {"plain": 0.1}
"""The most seconds that a first call may take."""


def first_calls(records: Mapping[str, Record], engines: Sequence[str]) -> list[str]:
    """What the first call takes more than later ones, in milliseconds."""
    rows = [
        [name, *(_milliseconds(record["first call"].get(e), FIRST.get(e)) for e in engines)]
        for name, record in records.items()
        if record["first call"]
    ]
    return table(["first call, ms", *engines], rows)


def _milliseconds(seconds: float | None, most: float | None) -> str:
    if seconds is None:
        return "–"
    text = f"{seconds * 1e3:.0f}"
    return text if most is None else f"{text} {'≤' if seconds <= most else '>'} {most * 1e3:g}"


def refusals(records: Mapping[str, Record]) -> list[str]:
    """A line for each engine that has refused a workload."""
    return [
        f"{engine} refuses {name}: {why}"
        for name, record in records.items()
        for engine, why in record["refused"].items()
    ]
