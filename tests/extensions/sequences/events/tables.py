"""Small tables of persons, rows and events, and what the source makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpsynth_core.extensions.sequences.events.layout import EventsLink
from dpsynth_core.extensions.sequences.events.source import EventsSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.sequences.tables import PERSONS, WARD

DRUG = Attribute.categorical("drug", ("x", "y", "z"))
DOSE = Attribute.categorical("dose", ("low", "high"))


def link(most: int = 3, most_events: int = 3, order: str | None = None, everybody: bool = False, **more: Any) -> EventsLink:
    two: dict[str, Any] = {"events": Domain((DRUG, DOSE)), "event_key": "visit"} | more
    return EventsLink(PERSONS, Domain((WARD,)), most, order=order, everybody=everybody, most_events=most_events, **two)


def source(three: EventsLink, persons: Sequence[Any], rows: Sequence[Any], events: Sequence[Any]) -> EventsSource:
    """persons: key and region of each line; rows: key, visit, ward and time; events: key, visit, drug and dose."""
    names = (["key", "region"], ["key", "visit", "ward", "time"], ["key", "visit", "drug", "dose"])
    frames = (pd.DataFrame(table, columns=columns, dtype=str) for table, columns in zip((persons, rows, events), names, strict=True))
    first, second, third = (opened(frame, TableFormat()) for frame in frames)
    return EventsSource(three, first, second, "key", third)


def read(three: EventsLink, persons: Sequence[Any], rows: Sequence[Any], events: Sequence[Any]) -> list[list[tuple[str, list[str]]]]:
    """The rows of each person that counts, in order: the ward, and drug and dose of each event as two letters."""
    _, sizes, codes = source(three, persons, rows, events)._read()
    found = []
    for number, size in enumerate(sizes):
        own = codes[number, :size].tolist()
        found.append([("ab"[row[0]], ["xyz"[row[2 + 2 * i]] + "lh"[row[3 + 2 * i]] for i in range(row[1])]) for row in own])
    return found
