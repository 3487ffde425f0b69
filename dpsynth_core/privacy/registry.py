"""Every operation that a kernel knows, by name: the core's, and those that built-in extensions add (`foundation.extension`).

The list follows from the source alone and cannot be written to: `find` reads it once, from modules that are named in a constant. Mechanisms
ask by name. One that made an operation of its own would ask for a name that no kernel knows, and get no counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any

from dpsynth_core.foundation import extension
from dpsynth_core.privacy import operations
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.operation import Operation

Operations = Mapping[str, Operation[..., Any]]


def find(name: str) -> Operation[..., Any] | None:
    """Return the operation of this name, or None if neither the core nor an extension has such an operation.

    Extensions are loaded only for names that the core does not have.
    """
    return _core().get(name) or everything().get(name)


@cache
def everything() -> Operations:
    """Return all operations of the core and of extensions by name."""
    return _of(operations, *extension.operations())


def event_named(name: str) -> type[Event] | None:
    """Return the class of events with this name, or None if no operation of the core or an extension is charged as such an event."""
    return next((kind for known in (_core, everything) for kind in _kinds(known()) if kind.__name__ == name), None)


@cache
def _core() -> Operations:
    return _of(operations)


def _of(*modules: ModuleType) -> Operations:
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Operation)]
    return MappingProxyType({operation.name: operation for operation in found})


def _kinds(known: Operations) -> Iterator[type[Event]]:
    return (operation.event for operation in known.values() if operation.event is not None)
