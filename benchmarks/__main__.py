"""`python -m benchmarks`: measure, print, and write the figures to a JSON file."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import srcad
from benchmarks import compiling, crossover, dispatching, memory, scalar


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("--json", metavar="FILE", default="benchmarks.json", type=Path)
    parser.add_argument("--only", choices=["scalar", "compile", "dispatch", "memory", "jacobian"])
    parser.add_argument("--tiny", action="store_true", help="only see that it runs")
    options = parser.parse_args(argv)
    rounds, budget, most = (1, 1e-4, 3) if options.tiny else (5, 0.01, None)
    record: dict[str, Any] = {
        "srcad": srcad.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "tiny": options.tiny,
    }
    for name, module, measure in (
        ("scalar", scalar, lambda: scalar.measure(rounds, budget, most)),
        ("compile", compiling, lambda: compiling.measure(1 if options.tiny else 9)),
        ("dispatch", dispatching, lambda: dispatching.measure(rounds, budget)),
        ("memory", memory, lambda: memory.measure(rounds, budget, options.tiny)),
        ("jacobian", crossover, lambda: crossover.measure(rounds, budget, options.tiny)),
    ):
        if options.only not in (None, name):
            continue
        record[name] = measure()
        print(module.TITLE)
        print("\n".join(f"  {line}" for line in module.lines(record[name])), flush=True)
    options.json.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    print(f"written to {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
