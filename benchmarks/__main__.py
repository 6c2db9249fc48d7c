"""`python -m benchmarks`: measure, print, and write the figures to a JSON file, with plots."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import srcad
from benchmarks import arrays, compiling, crossover, dispatching, loops, memory, scalar, scaling
from benchmarks.engines import ENGINES
from benchmarks.plotting import plot


def main(argv: Sequence[str] | None = None) -> int:
    options = _options(argv)
    tiny, without = options.tiny, tuple(options.without)
    rounds, budget, most = (1, 1e-4, 3) if tiny else (9, 0.005, None)
    sections: dict[str, tuple[Any, Callable[[], dict[str, Any]]]] = {
        "scalar": (scalar, lambda: scalar.measure(rounds, budget, most)),
        "loops": (loops, lambda: loops.measure(rounds, budget, tiny, without)),
        "arrays": (arrays, lambda: arrays.measure(rounds, budget, tiny, without)),
        "scaling": (scaling, lambda: scaling.measure(rounds, budget, tiny, without)),
        "jacobian": (crossover, lambda: crossover.measure(rounds, budget, tiny)),
        "memory": (memory, lambda: memory.measure(rounds, budget, tiny)),
        "compile": (compiling, lambda: compiling.measure(1 if tiny else 9)),
        "dispatch": (dispatching, lambda: dispatching.measure(rounds, budget, without)),
    }
    record: dict[str, Any] = {
        "srcad": srcad.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "tiny": tiny,
    }
    start = time.perf_counter()
    for name in options.only or sections:
        module, measured = sections[name]
        record[name] = measured()
        print(module.TITLE)
        print("\n".join(f"  {line}".rstrip() for line in module.lines(record[name])), flush=True)
    options.json.write_text(json.dumps(record, indent=1) + "\n")
    print(f"written to {options.json}, after {time.perf_counter() - start:.0f} s")
    if "scaling" in record:
        print(plot(record["scaling"], options.json))
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = ["scalar", "loops", "arrays", "scaling", "jacobian", "memory", "compile", "dispatch"]
    parser.add_argument("--json", metavar="FILE", default="benchmarks.json", type=Path)
    parser.add_argument(
        "--only", metavar="SECTION", choices=names, nargs="+", help=f"some of {', '.join(names)}"
    )
    parser.add_argument(
        "--without",
        metavar="ENGINE",
        choices=list(ENGINES)[2:],
        nargs="+",
        default=[],
        help=f"leave out some of {', '.join(list(ENGINES)[2:])}",
    )
    parser.add_argument("--tiny", action="store_true", help="only see that it runs")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
