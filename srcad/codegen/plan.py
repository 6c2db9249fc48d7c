"""All decisions about one function, made before a word of it is printed."""

from __future__ import annotations

from dataclasses import dataclass

from srcad.codegen.globals import GlobalNames
from srcad.codegen.liveness import Liveness
from srcad.codegen.memory import Memory
from srcad.codegen.names import Variables
from srcad.codegen.nest import Nested, nested_values
from srcad.codegen.ownership import Ownership
from srcad.codegen.survey import Survey
from srcad.codegen.undefined import needs_none
from srcad.ir.core import Function, Try, Value
from srcad.ir.walk import all_ops


@dataclass(frozen=True, slots=True)
class Plan:
    """What the statements of a function are printed from."""

    survey: Survey
    nested: dict[Value, Nested]
    liveness: Liveness
    variables: Variables
    ownership: Ownership
    none: frozenset[Value]
    """Targets of copies that become None where their source is undefined."""


def make_plan(survey: Survey, names: GlobalNames) -> Plan:
    """Decide nesting, variables and in-place writes of the surveyed function."""
    memory = Memory(survey)
    nested = nested_values(survey, memory)
    liveness = Liveness(survey, nested, memory.escaped)
    variables = Variables(survey, liveness, names.is_free, _exceptions(survey.function))
    ownership = Ownership(survey, memory, liveness)
    return Plan(
        survey, nested, liveness, variables, ownership, needs_none(survey, liveness, variables)
    )


def _exceptions(function: Function) -> frozenset[Value]:
    """Names of caught exceptions: Python unbinds them at the end of the handler."""
    return frozenset(
        param
        for op in all_ops(function.body)
        if isinstance(op, Try)
        for handler in op.handlers
        for param in handler.body.params
    )
