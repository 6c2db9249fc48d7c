"""Run random programs with arrays: `python -m tests.fuzz.arrays --count 1000 --seed 0`.

Prints counts, refusals by message, and each cause of failure with a minimal program that shows it.
Exits with 1 if a derivative is wrong or anything crashed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.arrays.campaign import Plan, Result, program_of, run, shrunk
from tests.fuzz.record import Record, summary
from tests.fuzz.runner import temporary_folder


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.arrays", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--most", type=int, default=9, help="statements of a program, about")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--second-every", type=int, default=4, metavar="N")
    parser.add_argument("--rewrite-every", type=int, default=3, metavar="N")
    parser.add_argument("--backend", choices=["python", "numba", "plain"], default="python",
                        help="plain: by Python, without the passes")  # fmt: skip
    parser.add_argument("--record", type=Path, metavar="FILE",
                        help="keep what came of each program; go on where it stops")  # fmt: skip
    parser.add_argument("--show", type=int, default=8, help="so many causes are shown with code")
    parser.add_argument("--runs", type=int, default=400, help="runs to shrink one program")
    parser.add_argument("--print", type=int, metavar="NUMBER", help="print one program, do no more")
    options = parser.parse_args(argv)
    plan = Plan(options.seed, options.most, options.second_every, options.rewrite_every,
                options.backend)  # fmt: skip
    if options.print is not None:
        program, _ = program_of(plan, options.print)
        print(program.text, f"args = {program.args}", sep="\n")
        return 0
    causes: dict[tuple[str, str], list[Result]] = {}
    counts: dict[str, int] = {}
    record = Record(options.record, plan.title, plan.seed)
    numbers = range(options.start, options.start + options.count)
    began = time.monotonic()
    for result in run(plan, record.left(numbers), options.jobs):
        kind = result.outcome.kind
        record.add(result.number, kind, result.outcome.cause, result.rewrite)
        counts[kind] = counts.get(kind, 0) + 1
        if kind != "ok":
            causes.setdefault((kind, result.outcome.cause), []).append(result)
    print(f"{sum(counts.values())} programs in {time.monotonic() - began:.0f} s: {counts}")
    print("all:", summary(record.done[n] for n in numbers), flush=True)
    ordered = sorted(causes.items(), key=lambda item: (_ORDER.index(item[0][0]), -len(item[1])))
    for (kind, cause), results in ordered:
        numbers = ", ".join(str(result.number) for result in results[:6])
        print(f"  {kind:8} {len(results):5}  {cause}  ({numbers})", flush=True)
    failed = [item for item in ordered if item[0][0] in ("wrong", "crash", "oracle")]
    refused = [item for item in ordered if item[0][0] == "refused"]
    with temporary_folder() as folder:
        for (kind, cause), results in (failed + refused)[: options.show]:
            smallest = min(results, key=lambda result: len(result.program.text))
            small = shrunk(Path(folder), smallest, options.runs, plan.engine)
            print(f"\n==== {kind}, {len(results)} times: {cause} ({smallest.number})\n")
            print(standalone(small), flush=True)
    return 1 if failed else 0


_ORDER = ("wrong", "oracle", "crash", "refused", "skipped")


def standalone(result: Result) -> str:
    """A module that shows one failure by itself, with what was expected."""
    outcome = result.outcome
    args = ", ".join(repr(a).replace("array(", "np.array(") for a in result.program.args)
    out = [result.program.text, f"args = ({args},)", f"# {outcome.mode}: {outcome.cause}"]
    if outcome.expected:
        out += [f"# expected {outcome.expected}", f"# obtained {outcome.obtained}"]
    out += [f"# {line}" for line in outcome.detail.splitlines()[-8:]]
    return "\n".join(out)


if __name__ == "__main__":
    sys.exit(main())
