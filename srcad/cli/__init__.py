"""The command `srcad`: show, check and save the derivative of a function, and list the rules.

srcad show scipy.optimize:rosen --check
srcad check model.py:energy --args 'np.ones(3), steps=4'
srcad emit model.py:Model.loss --args 'Model(2.0), 1.5' -o loss_grad.py
srcad rules tanh
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from srcad.errors import SrcadError

__all__ = ["main"]

AGREEMENT, DISAGREEMENT, REFUSED = 0, 1, 2
"""Exit statuses. Where nothing could be compared is no agreement either."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    options = _parser().parse_args(_with_minus(sys.argv[1:] if argv is None else argv))
    try:
        return _rules(options) if options.command == "rules" else _run(options)
    except SrcadError as error:
        print(error, file=sys.stderr)
        return REFUSED
    except BrokenPipeError:  # of `srcad show … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return AGREEMENT


def _with_minus(argv: Sequence[str]) -> list[str]:
    """``--args -0.5,2.0`` as ``--args=-0.5,2.0``: argparse takes what has a minus for an option."""
    words: list[str] = []
    for word in argv:
        if words and words[-1] == "--args" and re.match(r"-(?!-|[oh]$)", word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def _rules(options: argparse.Namespace) -> int:
    from srcad.rules.coverage import described, page

    if options.coverage:
        print(page(), end="")
        return AGREEMENT
    name = options.name and options.name.replace("numpy.", "np.", 1)
    found = list(described(lambda n: name is None or name in (n, n.rpartition(".")[2])))
    if not found:
        print(f"no rule for {name}: `srcad rules --coverage` lists what there is", file=sys.stderr)
        return REFUSED
    print("\n\n".join(found))
    return AGREEMENT


def _run(options: argparse.Namespace) -> int:
    # Only now, so that `srcad --help` is quick.
    from srcad.cli.arguments import find_arguments
    from srcad.cli.compare import compare
    from srcad.cli.derivatives import derivatives, explained, find_wrt, names_of, saved_text
    from srcad.cli.table import format_table
    from srcad.cli.target import find_target

    target = find_target(options.target)
    arguments = find_arguments(target, options.args)
    wrt = find_wrt(target, arguments, options.wrt)
    shown = list(derivatives(target, arguments, wrt, options.mode))
    by = ", ".join(names_of(wrt, arguments))
    point = f"{target.text} at {arguments}"
    guessed = f"({'; '.join(arguments.origins)}: --args gives others)"

    match options.command:
        case "emit":
            text = saved_text(shown[0], target, arguments)
            Path(options.output).write_text(text, encoding="utf-8")
            print(f"{options.output}: {shown[0].compiled.emitted.name}")
            return AGREEMENT
        case "show":
            print(f"# derivative of {point}, by {by}")
            if arguments.guessed:
                print(f"# {guessed}")
            for one in shown:
                print(f"\n# ---- {one.mode} mode\n")
                print((one.derivative.ir if options.ir else one.compiled.source).strip("\n"))
                if options.explain:
                    print(f"\n{explained(one, arguments)}")
            if not options.check:
                return AGREEMENT
            print()
    comparison = compare(target, arguments, wrt, shown)
    print(f"{comparison.what} of {point}, by {by}")
    if arguments.guessed and options.command == "check":
        print(guessed)
    print()
    print(format_table(comparison))
    return AGREEMENT if comparison.agrees else DISAGREEMENT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="srcad", description="Show, check and save derivatives of Python functions."
    )
    parser.add_argument("--version", action="version", version=f"srcad {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    show = commands.add_parser("show", help="print the source of a derivative")
    _add_common(show)
    show.add_argument("--ir", action="store_true", help="print the intermediate form instead")
    show.add_argument("--check", action="store_true", help="compare with independent methods, too")
    show.add_argument(
        "--explain",
        action="store_true",
        help="say what is kept for the reverse sweep, computed again, fused, and written in place",
    )

    check = commands.add_parser("check", help="compare a derivative with independent methods")
    _add_common(check)

    emit = commands.add_parser("emit", help="save the source of a derivative as a module")
    _add_common(emit, modes=("reverse", "forward"))
    emit.add_argument("-o", "--output", required=True, metavar="FILE.py", help="the file to write")

    listed = commands.add_parser("rules", help="print derivative rules")
    listed.add_argument("name", nargs="?", metavar="NAME", help="of a function; by default all")
    listed.add_argument("--coverage", action="store_true", help="print what has a rule, by module")
    return parser


def _add_common(
    parser: argparse.ArgumentParser, modes: Sequence[str] = ("reverse", "forward", "both")
) -> None:
    parser.add_argument("target", metavar="TARGET", help="MODULE:function or FILE.py:function")
    parser.add_argument("--mode", choices=modes, default="reverse")
    parser.add_argument(
        "--wrt",
        metavar="NAMES",
        help="parameters to differentiate by, as names or positions with commas between them; "
        "by default the first argument that holds floats",
    )
    parser.add_argument(
        "--args",
        metavar="EXPR|FILE.npz",
        help="example arguments: what stands between the parentheses of a call, as '1.5, n=3' "
        "(np, math and the names of the module are known), or a file of numpy.savez; by default "
        "a guess from defaults, annotations and the docstring",
    )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("srcad")
    except PackageNotFoundError:  # run from its source
        return "(not installed)"
