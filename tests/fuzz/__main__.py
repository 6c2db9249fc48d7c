"""Run random programs: `python -m tests.fuzz --count 10000 --seed 0`.

Prints counts, and each cause of refusal and of failure with a minimal program that shows it.
Exits with 1 if a derivative is wrong or anything crashed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from srcad.options import Options
from tests.fuzz.campaign import Plan, Tally, run, shrunk
from tests.fuzz.engines import Differences, Engine, Planted, Srcad
from tests.fuzz.printer import source
from tests.fuzz.record import Record
from tests.fuzz.record import summary as record_summary
from tests.fuzz.report import standalone, summary
from tests.fuzz.runner import temporary_folder

ENGINES: dict[str, Engine] = {
    "srcad": Srcad(),
    "numba": Srcad(backend="numba"),
    "plain": Srcad(options=Options.none()),
    "differences": Differences(),
    "planted": Planted(Differences(), "tanh"),
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Random programs against the oracle."
    )
    parser.add_argument("--count", type=int, default=1000, help="so many programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--max-statements", type=int, default=14)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--second-every", type=int, default=4, metavar="N",
                        help="second derivatives of every Nth program; 0: none")  # fmt: skip
    parser.add_argument("--rewrite-every", type=int, default=3, metavar="N",
                        help="rewrite every Nth program and compare; 0: none")  # fmt: skip
    parser.add_argument("--engine", choices=sorted(ENGINES), default="srcad",
                        help="what to test; plain: without passes")  # fmt: skip
    parser.add_argument("--record", type=Path, metavar="FILE",
                        help="keep what came of each program; go on where it stops")  # fmt: skip
    parser.add_argument("--show", type=int, default=5, help="so many causes are shown with code")
    parser.add_argument("--print", type=int, metavar="NUMBER", help="print one program, do no more")
    options = parser.parse_args(argv)
    plan = Plan(
        ENGINES[options.engine], options.seed, options.max_statements, options.second_every,
        options.rewrite_every,
    )  # fmt: skip
    if options.print is not None:
        print(_program_text(plan, options.print))
        return 0
    return _campaign(plan, options)


def _campaign(plan: Plan, options: argparse.Namespace) -> int:
    tally = Tally()
    record = Record(options.record, plan.title, plan.seed)
    numbers = range(options.start, options.start + options.count)
    began = last = time.monotonic()
    for result in run(plan, record.left(numbers), options.jobs):
        tally.add(result)
        outcome = result.outcome
        record.add(result.number, outcome.kind, outcome.cause, "".join(result.rewrites))
        if time.monotonic() - last > 30:
            last = time.monotonic()
            print(f"... {sum(tally.counts.values())} programs, {tally.counts}", flush=True)
    print(summary(tally, time.monotonic() - began), flush=True)
    print("all:", record_summary(record.done[n] for n in numbers), flush=True)
    _show_refusals(plan, tally, options.show)
    _show_failures(plan, tally, options.show)
    return 1 if tally.failures else 0


def _show_refusals(plan: Plan, tally: Tally, most: int) -> None:
    refused = [(c, results) for (kind, c), results in tally.causes.items() if kind == "refused"]
    with temporary_folder() as folder:
        for cause, results in sorted(refused, key=lambda item: -len(item[1]))[:most]:
            smallest = min(results, key=lambda result: len(source(result.program)))  # type: ignore[arg-type]
            small = shrunk(plan, Path(folder), smallest, most_runs=200)
            assert small.program is not None
            print(f"\n==== refused {len(results)} times: {cause}\n")
            print(f"{source(small.program)}\n{small.outcome.detail}", flush=True)


def _show_failures(plan: Plan, tally: Tally, most: int) -> None:
    with temporary_folder() as folder:
        for cause, results in tally.failures[:most]:
            smallest = min(results, key=lambda result: len(source(result.program)))  # type: ignore[arg-type]
            small = shrunk(plan, Path(folder), smallest)
            print(f"\n==== {smallest.outcome.kind}, {len(results)} times: {cause}\n")
            print(standalone(small))
            if small.outcome.detail:
                print("\n".join(small.outcome.detail.splitlines()[-12:]))
            sys.stdout.flush()


def _program_text(plan: Plan, number: int) -> str:
    from tests.fuzz.choices import SeededChoices
    from tests.fuzz.generate import generate

    return source(generate(SeededChoices(plan.seed, number), plan.max_statements))


if __name__ == "__main__":
    sys.exit(main())
