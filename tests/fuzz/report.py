"""What a campaign prints: counts, samples of refusals, and minimal stand-alone programs."""

from __future__ import annotations

from typing import Any

from tests.fuzz.campaign import Result, Tally
from tests.fuzz.printer import source
from tests.fuzz.runner import direction
from tests.fuzz.tree import Program


def standalone(result: Result) -> str:
    """A module that shows one failure by itself: run it as a file."""
    assert result.program is not None
    outcome = result.outcome
    lines = [
        f'"""Program {result.number}: {outcome.kind}, {outcome.mode}: {outcome.cause}."""', "",
        _with_srcad(source(result.program)).rstrip(), "", "",
        f"args = {arguments(result.program)}",
    ]  # fmt: skip
    if outcome.expected:
        lines += [f"expected = {outcome.expected}", f"obtained = {outcome.obtained}"]
    lines += ["", 'if __name__ == "__main__":']
    lines += [f"    {line}" for line in _calls(result)]
    return "\n".join(lines) + "\n"


def _with_srcad(text: str) -> str:
    return text.replace("import numpy as np\n", "import numpy as np\n\nimport srcad\n", 1)


def arguments(program: Program) -> str:
    return _literal(program.args)


def _literal(values: tuple[Any, ...]) -> str:
    texts = [repr(value).replace("array(", "np.array(") for value in values]
    return f"({', '.join(texts)},)"


def _calls(result: Result) -> list[str]:
    mode = result.outcome.mode
    program = result.program
    assert program is not None
    argnums = tuple(range(len(program.args)))
    if mode.startswith("reverse over reverse"):
        argnum = int(mode.rsplit(" ", 1)[1])
        outer = "grad" if isinstance(program.args[argnum], float) else "jacrev"
        return [f"print(srcad.{outer}(srcad.grad(f, argnums={argnum}), argnums={argnum})(*args))"]
    if mode.startswith("for"):
        name = "jvp" if mode == "forward" else "hvp"
        tangents = _literal(direction(program.args))
        return [f"tangents = {tangents}", f"print(srcad.{name}(f, args, tangents))"]
    return [f"print(srcad.value_and_grad(f, argnums={argnums})(*args))"]


def summary(tally: Tally, seconds: float) -> str:
    total = sum(tally.counts.values())
    counts = ", ".join(
        f"{tally.counts.get(kind, 0)} {kind}"
        for kind in ("ok", "refused", "skipped", "wrong", "crash", "oracle")
    )
    lines = [f"{total} programs in {seconds:.0f} s: {counts}"]
    if tally.rewrites:
        lines.append(
            "rewritten: " + ", ".join(f"{n} {k}" for k, n in sorted(tally.rewrites.items()))
        )
    for (kind, cause), results in sorted(tally.causes.items(), key=lambda item: -len(item[1])):
        numbers = ", ".join(str(result.number) for result in results[:6])
        lines.append(f"  {kind:8} {len(results):5}  {cause}  (programs {numbers}, ...)")
    return "\n".join(lines)
