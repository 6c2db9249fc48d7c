"""Code for Numba: the same derivative, with what Numba cannot compile said in other words.

The finished function goes through the passes below, is printed by the same printer as plain code,
and has ``@numba.njit`` above it.  Compiled code does not raise what the function raises, and does
not handle what is rare: it raises ``Unforeseen``, or any error, and the call is run as plain code
(``Derivative._decide``).  So a check may stop compiled code where it is not sure.


outline      what takes containers apart and puts them together stays Python
stacks       products of stacks of matrices are loops of products
triangles    systems with a factor of Cholesky are solved by substitution (matrices)
written_out  functions that Numba does not have, in other words (definitions)
advanced     indices that are arrays
sums         sums of lists are loops
integers     what may have more than 64 bits is checked
lists        lists of numbers become arrays
unbound      names that may have no value go with a flag
packing      tuples and slices that one branch hands on are put together after it
streams      loops over arrays count; after the tapes, those over anything else
tapes        what is kept for the reverse sweep becomes arrays (taped, stores)
appended     lists that grow or shrink by a number each round keep their length: arrays
undefined    names without a value get one
operations   what Numba does not know, or means otherwise
sinking      what one branch alone asks for is computed there
bounds       indices that are not proven are checked (analysis.integers)
(loops)      operations on arrays become loops over elements
additions    additions in place are safe
nests        loops that only add up go through memory by small steps (chains, distribution)
domains      where functions of numbers raise in Python is checked
conditions   loops end at their head
order        sums of loops in any order
vectors      functions that are vectorised (functions)
supported    what is left and is not compiled is refused
lent         arrays that are returned are made in Python, before the compiled part
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numba

import srcad.backends.numba.matrices  # it tells Numba what its functions are
import srcad.backends.numba.products  # noqa: F401  # this too
from srcad.backends.loops import to_loops
from srcad.backends.numba.additions import safe_additions
from srcad.backends.numba.advanced import array_indices_as_loops
from srcad.backends.numba.appended import of_fixed_length
from srcad.backends.numba.bounds import check_bounds
from srcad.backends.numba.conditions import loops_by_flags
from srcad.backends.numba.domains import check_domains
from srcad.backends.numba.integers import check_integers
from srcad.backends.numba.lent import as_call, lend
from srcad.backends.numba.lists import lists_to_arrays
from srcad.backends.numba.nests import in_order_of_memory
from srcad.backends.numba.operations import in_other_words
from srcad.backends.numba.order import free_order
from srcad.backends.numba.outline import outline
from srcad.backends.numba.packing import pack_after_branches
from srcad.backends.numba.sinking import sink
from srcad.backends.numba.stacks import products_of_stacks
from srcad.backends.numba.streams import count_through_arrays, count_through_streams
from srcad.backends.numba.sums import write_out_sums
from srcad.backends.numba.supported import named, refusal, refuse_unsupported, refused_argument
from srcad.backends.numba.tapes import tapes_to_arrays
from srcad.backends.numba.triangles import solve_by_substitution
from srcad.backends.numba.unbound import flag_unbound
from srcad.backends.numba.undefined import define_all
from srcad.backends.numba.vectors import vectorise
from srcad.backends.numba.warnings import without_errstate
from srcad.backends.numba.written_out import write_out
from srcad.codegen import Decorator
from srcad.errors import NotCompilable
from srcad.ir import Effect, Function, Loc, Try, With
from srcad.ir.core import assert_true, check_bound, raise_error
from srcad.ir.walk import all_ops
from srcad.options import Options

__all__ = ["decorator", "failure", "for_numba", "refused_effects", "refused_exact"]

_FASTMATH = frozenset({"reassoc", "contract", "nsz"})
"""What is as fast as all of it, and leaves nan and inf as they are."""


def decorator(options: Options, is_file: bool) -> Decorator:
    """What is written above a function that Numba compiles."""
    keywords: list[tuple[str, object]] = []
    if is_file:
        keywords.append(("cache", True))
    if options.fastmath:
        keywords.append(("fastmath", _FASTMATH))
    return Decorator(numba.njit, tuple(keywords))


def failure(
    error: BaseException, lines: Mapping[int, Loc], loc: Loc | None
) -> NotCompilable | None:
    """The refusal that an exception of Numba amounts to; None if it is none.

    ``lines`` are where the lines of generated code stem from; ``loc`` is the function.
    """
    if not isinstance(error, numba.core.errors.NumbaError):
        return None
    plain = re.sub(r"\x1b\[\d*m", "", str(error))
    said = [line.strip() for line in plain.splitlines() if line.strip()]
    text = next((x for x in said if not x.startswith(("Failed in", "During:"))), "")
    call = next((x for x in said if x.startswith(">>> ")), None)
    if call is not None and text.startswith("No implementation"):
        text = f"Numba does not have {call.removeprefix('>>> ')}"
    for number in re.findall(r'File "[^"]*srcad[^"]*", line (\d+)', plain):
        loc = lines.get(int(number), loc)
    made = refusal(text.rstrip(":."), loc)
    made.__cause__ = error
    return made


def refused_effects(function: Function) -> NotCompilable:
    """The refusal of what must not be run twice: compiled code that raises is run as plain code."""
    harmless = (raise_error, assert_true, check_bound)
    acting = (
        op for op in all_ops(function.body) if isinstance(op, Effect) and op.callee not in harmless
    )
    op = next(acting, None)
    what = "what acts on something" if op is None else f"{named(op.callee)} acts on something"
    return refusal(f"{what} outside of the function", (op and op.loc) or function.loc)


def refused_exact(function: Function) -> NotCompilable:
    """The refusal of code that looks at exceptions, or at what kind of number it is given."""
    watching = (op for op in all_ops(function.body) if isinstance(op, (Try, With)))
    op = next(watching, None)
    if op is None:
        error = refused_argument(function)
        return error or refusal("code for arguments whose types are not known", function.loc)
    name = "try" if isinstance(op, Try) else "with"
    return refusal(f"a '{name}' statement", op.loc or function.loc)


def for_numba(function: Function) -> tuple[Function, frozenset[str]]:
    """The function to call, and the names of the functions that are to be compiled."""
    outlined = outline(function)
    kernel = _legal(outlined.kernel)
    if outlined.is_whole:
        entry, called, ref = as_call(kernel)
    else:
        (ref,) = (r for r in outlined.entry.calls if r.function is outlined.kernel)
        entry, called = outlined.entry, kernel
    lending, compiled = lend(entry, called, ref)
    names = frozenset({compiled.name, *(r.name for r in compiled.calls)})
    if outlined.is_whole and lending is entry:
        return kernel, frozenset({kernel.name, *(r.name for r in kernel.calls)})
    ref.function = compiled
    return replace(lending, calls=(*compiled.calls, *lending.calls)), names


def _legal(function: Function) -> Function:
    function = replace(function, calls=())  # functions that call themselves: refused below
    function = without_errstate(function)
    function = solve_by_substitution(products_of_stacks(function))
    function = array_indices_as_loops(write_out(function))
    function = check_integers(write_out_sums(function))
    function = pack_after_branches(flag_unbound(lists_to_arrays(function)))
    function = tapes_to_arrays(count_through_arrays(function))
    function = of_fixed_length(count_through_streams(function))
    function = define_all(lists_to_arrays(function))
    function = sink(in_other_words(function))
    function = to_loops(check_bounds(function), checked=True)
    function = in_order_of_memory(safe_additions(function))
    function = vectorise(free_order(loops_by_flags(check_domains(function))))
    refuse_unsupported(function)
    return function
