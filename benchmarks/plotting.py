"""Gradient over primal against size, as pictures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

FORMATS = ("png", "svg")


def plot(scaling: dict[str, Any], stem: Path) -> str:
    """Draw into files of both formats; says in one line where, or why not."""
    if importlib.util.find_spec("matplotlib") is None:
        return "no plots: matplotlib is not installed"
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for k, (name, found) in enumerate(scaling.items()):
        for pair, ratios in found["ratios"].items():
            axes.plot(
                [int(size) for size in ratios],
                list(ratios.values()),
                "o-" if pair.startswith("plain") else "s--",
                color=f"C{k}",
                label=f"{name}: {pair}",
            )
    axes.set_xscale("log")
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("n")
    axes.set_ylabel("value and gradient / function")
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    files = [stem.with_suffix(f".{kind}") for kind in FORMATS]
    for file in files:
        figure.savefig(file)
    return f"plots in {' and '.join(map(str, files))}"
