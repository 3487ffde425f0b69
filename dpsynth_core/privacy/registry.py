"""Every operation that a kernel knows, by name: the core's, and those that the wings register (`foundation.wings`).

The list follows from the source alone and cannot be written to: `find` reads it once, from modules that are named in a constant. Mechanisms
ask by name. One that made an operation of its own would ask for a name that no kernel knows, and get no counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.wings import registered
from dpsynth_core.privacy import operations, questions
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.operation import Asked, Operation
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain

Operations = Mapping[str, Operation[..., Any]]


@dataclass(frozen=True)
class Call:
    """A question to the kernel and its answer. arguments: names of columns and numbers, in the order of the operation's parameters, and
    what else `questions` tells of it."""

    unit: Unit
    domain: Domain
    operation: str
    arguments: tuple[Any, ...]
    answer: Any


def find(name: str) -> Operation[..., Any] | None:
    """The operation of this name; None where there is none. Wings are loaded for names that the core does not have."""
    return _core().get(name) or everything().get(name)


@cache
def everything() -> Operations:
    """All operations by name."""
    return _of(operations, *registered("operations"))


def event_named(name: str) -> type[Event] | None:
    """The kind of event of this name that some operation is charged as; None where there is none."""
    return next((kind for known in (_core, everything) for kind in _kinds(known()) if kind.__name__ == name), None)


def due(call: Call) -> Event | None:
    """What the call must have been charged as; None where it is free. Raises InputError for an unknown operation or a question that
    does not fit it. What is asked of a group costs what it costs of everybody."""
    unit, arguments = call.unit, call.arguments
    if arguments and questions.is_group(arguments[-1]):
        unit, arguments = replace(unit, rows_may_not_count=True), arguments[:-1]
    operation = find(call.operation)
    if operation is None:
        raise InputError("transcript", f"nothing is known of an operation {call.operation[:40]!r}", "use the version that made it")
    try:
        return operation.due(Asked(unit, call.domain), [one for one in arguments if not questions.is_about(one)], call.answer)
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        problem = f"a call of {call.operation} has arguments that cannot be"
        raise InputError("transcript", problem, "the release is damaged") from None


@cache
def _core() -> Operations:
    return _of(operations)


def _of(*modules: ModuleType) -> Operations:
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Operation)]
    return MappingProxyType({operation.name: operation for operation in found})


def _kinds(known: Operations) -> Iterator[type[Event]]:
    return (operation.event for operation in known.values() if operation.event is not None)
