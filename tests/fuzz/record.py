"""A campaign in pieces: what came of each program is one line of a file.

A run with `--record FILE` leaves out the programs that the file has for the same compiler and plan,
so it can be stopped at any time and go on. `python -m tests.fuzz.record FILE ...` sums files up:
one line for each state of the compiler and each plan.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import srcad
from tests.fuzz.runner import Kind

KINDS: tuple[Kind, ...] = ("ok", "refused", "skipped", "wrong", "crash", "oracle")


@dataclass(frozen=True, slots=True)
class Entry:
    """One program of a campaign."""

    code: str
    """The state of the compiler."""
    plan: str
    """What was run, besides the seed."""
    seed: int
    number: int
    kind: Kind
    cause: str = ""
    rewritten: str = ""
    """The rewrite that was compared too, if there was one."""


@cache
def code() -> str:
    """A name for the state of the compiler: it follows from its source."""
    folder = Path(srcad.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:10]


class Record:
    """The file of a campaign; without a path nothing is kept."""

    def __init__(self, path: Path | None, plan: str, seed: int) -> None:
        self._path, self._plan, self._seed = path, plan, seed
        self.done: dict[int, Entry] = {}
        """The programs that need not be run again."""
        for entry in entries([path] if path is not None and path.exists() else []):
            if (entry.code, entry.plan, entry.seed) == (code(), plan, seed):
                self.done[entry.number] = entry

    def left(self, numbers: Iterable[int]) -> list[int]:
        """Those of the numbers that are still to be run."""
        return [number for number in numbers if number not in self.done]

    def add(self, number: int, kind: Kind, cause: str, rewritten: str) -> None:
        entry = Entry(code(), self._plan, self._seed, number, kind, cause, rewritten)
        self.done[number] = entry
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(entry)) + "\n")


def entries(paths: Iterable[Path]) -> Iterator[Entry]:
    """All that files have, but for a line that was cut off when a run was stopped."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield Entry(**json.loads(line))
            except (ValueError, TypeError):
                continue


def summary(found: Iterable[Entry]) -> str:
    """One line: programs, ok, refused by reason, skipped, wrong, crashed."""
    entries_ = list(found)
    counts = Counter(entry.kind for entry in entries_)
    parts = []
    for kind in KINDS:
        causes = Counter(entry.cause for entry in entries_ if entry.kind == kind)
        reasons = "; ".join(f"{n}x {cause}" for cause, n in causes.most_common() if cause)
        parts.append(f"{counts[kind]} {kind}" + (f" ({reasons})" if reasons else ""))
    rewritten = sum(bool(entry.rewritten) for entry in entries_)
    return f"{len(entries_)} programs: {', '.join(parts)}, {rewritten} rewritten"


def main(paths: list[str]) -> int:
    groups: dict[tuple[str, str], dict[tuple[int, int], Entry]] = {}
    for entry in entries(map(Path, paths)):
        groups.setdefault((entry.code, entry.plan), {})[entry.seed, entry.number] = entry
    for (state, plan), found in groups.items():
        seeds = ", ".join(map(str, sorted({seed for seed, _ in found})))
        print(f"compiler {state}, {plan}, seeds {seeds}: {summary(found.values())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
