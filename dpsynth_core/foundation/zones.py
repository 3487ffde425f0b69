"""Every number, chart and table belongs to one of three zones; published files are built from two zones only.

A value derived from several takes the most restricted zone among them (`combine`). `publishable` is the one gate in front of
every file that leaves the tool.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeVar

from dpsynth_core.foundation.errors import ZoneError

T = TypeVar("T")


class Zone(IntEnum):
    """A zone of values, ordered from least to most restricted."""

    PUBLIC = 0
    RELEASED = 1
    CURATOR = 2

    @property
    def label(self) -> str:
        """The name of the zone for people."""
        return ("Public", "Released", "Curator-only")[self]


@dataclass(frozen=True)
class Zoned(Generic[T]):
    """A value with its zone."""

    zone: Zone
    value: T

    def __repr__(self) -> str:
        """Return the zone and the value; of a curator-only value the zone alone, since logs and screens keep what is printed."""
        return f"{self.zone.label}({'' if self.zone is Zone.CURATOR else repr(self.value)})"


def public(value: T) -> Zoned[T]:
    """Return the value as public: known without the private table, such as domain, workload and budget."""
    return Zoned(Zone.PUBLIC, value)


def released(value: T) -> Zoned[T]:
    """Return the value as released: computed from public inputs and kernel answers only."""
    return Zoned(Zone.RELEASED, value)


def curator_only(value: T) -> Zoned[T]:
    """Return the value as curator-only: computed from private records without noise."""
    return Zoned(Zone.CURATOR, value)


def combine(function: Callable[..., T], *arguments: Zoned[Any]) -> Zoned[T]:
    """Apply a function to the values of zoned arguments, and return the result in their most restricted zone.

    Args:
        function: Takes the values, without zones.
        *arguments: The zoned values, at least one.
    """
    return Zoned(max(a.zone for a in arguments), function(*(a.value for a in arguments)))


def publishable(zoned: Zoned[T], what: str) -> T:
    """Return the value without its zone, if it may be published.

    Args:
        zoned: The value with its zone.
        what: Name of the value in the error.

    Raises:
        ZoneError: The value is curator-only.
    """
    if zoned.zone is Zone.CURATOR:
        raise ZoneError(f"{what} is curator-only and cannot be part of a release")
    return zoned.value
