"""Persons, their rows in order and events of the rows as one table: each row of a person divided evenly among its events.

A person is W V records of that table, W as for rows alone (`layout`) and V = lcm(1, ..., most events of a row). With k rows, a row with
j events is j times W V / (k j) records: each event beside the row, the rows before it and the person. A row without events is W V / k
records of an absent event, and a person without rows W V records. So a person has one weight in every table, and the records
are made of that person's rows in the three tables alone (Proposition 24).

Public: domains, rules and limits. It says how codes of three tables become records, and knows no table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences import layout as rows_layout
from dpsynth_core.extensions.sequences.layout import START, STARTS, SequenceLink
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.link import Codes, with_absent
from dpsynth_core.vocabulary.link_words import LinkWords
from dpsynth_core.vocabulary.rows import Repeated
from dpsynth_core.vocabulary.zeros import StructuralZeros

EVENTS = "events"
"""The column of a record with the number of events of its row."""
NO_EVENT = "no event"
"""The label of the cell for an absent event: that of a row without events."""
_FILE = re.compile(r"(?!\.)[^/\\:\x00-\x1f]+")
MOST_EVENTS = 6
"""Largest number of events of a row that may count: more would make a person too many records to count exactly."""


@dataclass(frozen=True)
class EventsLink(SequenceLink):
    """The link of persons, their rows in order and the events of rows.

    Codes of a row that `records` takes have, behind the row's own columns, the number of its events and the columns of each event.

    Attributes:
        events: Columns of an event.
        most_events: Largest number of events of a row that count, from 1 to 6.
        event_key: The column that names a row of a person, in the tables of rows and of events.

    Raises:
        InputError: As `SequenceLink`, or the events have no columns, share a column with another table, have features that
            linked tables do not support, or `most_events` is out of range.
    """

    events: Domain = field(kw_only=True)
    most_events: int = field(kw_only=True)
    event_key: str = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.most_events <= MOST_EVENTS:
            problem = f"{self.most_events:,} is out of range"
            raise InputError("extensions.most_events", problem, f"give the most events of a row that count, from 1 to {MOST_EVENTS}")
        taken = {*self.households.names, *self.members.names, *self.made_names, self.event_key}
        for name in self.events.names:
            if name in taken:
                raise InputError(column_field(name), "another table has it too, or the link itself has", "rename it in the table of events")
        if self.event_key in {*self.households.names, *self.members.names, *self.made_names}:
            raise InputError("extensions.event_key", "it tells rows apart, and its values cannot be released", "drop it from the domains")

    @cached_property
    def plain(self) -> SequenceLink:
        """The link of persons and rows, without events."""
        return SequenceLink(**{one.name: getattr(self, one.name) for one in fields(SequenceLink)})

    @property
    def made_names(self) -> set[str]:
        """The names of columns that the link makes, which no column of a table may have."""
        return super().made_names | {EVENTS}

    @property
    def read_names(self) -> frozenset[str]:
        """The names of the columns that are read of the three tables."""
        return super().read_names | {*self.events.names}

    @property
    def own_names(self) -> tuple[str, ...]:
        """The columns of a row and of one of its events, and the number of events."""
        return (*self.members.names, EVENTS, *self.events.names)

    @property
    def has_roots(self) -> bool:
        """False: sums of roots of events are not worked out."""
        return False

    @property
    def member_names(self) -> frozenset[str]:
        """The columns of a record that are of a row, of one before it, or of an event."""
        return super().member_names | {EVENTS, *self.events.names}

    @property
    def with_nobody(self) -> frozenset[str]:
        """The columns whose last cell is for an absent row or event."""
        return super().with_nobody | {*self.events.names}

    @property
    def further_keys(self) -> tuple[str, ...]:
        """The key of rows, by which events refer to them."""
        return (self.event_key,)

    @property
    def records_each(self) -> int:
        """The number of records that each person is divided into."""
        return super().records_each * math.lcm(*range(1, self.most_events + 1))

    @cached_property
    def carried(self) -> Domain:
        """The columns of a row's codes: its own, the number of its events, and the columns of each event, one event after the other."""
        slots = (replace(one, name=f"{one.name} of event {place}") for place in range(1, self.most_events + 1) for one in self.events)
        return Domain((*self.members, Attribute.coded(EVENTS, self.most_events + 1), *slots))

    @cached_property
    def words(self) -> LinkWords:
        """The words of pages, files and errors for persons, rows, events and the columns that the link makes."""
        words, most = self.plain.words, self.most_events

        def none(name: str) -> str:
            return self.domain[name].cell_labels()[-1]

        made = {
            **dict(words.columns),
            EVENTS: f"The number of events of the row that count: the first {most} at most. A row with more has {most}.",
            **{name: f"“{name}” of an event of the row; “{none(name)}” where it has none." for name in self.events.names},
        }
        counted = f"the first {{most}} rows in order, and the first {most} events of each row in their file,"
        return replace(
            words,
            columns=made,
            tables=f"{words.tables} Each of j events of a row counts 1/j of the row. “{EVENTS}” is the number of events of the row.",
            unit=words.unit.replace("with all rows of that person", "with all rows and events of that person"),
            owned="all rows and events of a person say, how many they are, and what follows what",
            changed="one person in all three tables,",
            person=f"a person is a value of the column {{column!r}} with all rows and events in three tables, of which {counted} are used",
            protects=f"one person with all its rows and events, of which at most {{most}} rows with at most {most} events each are used",
            key="The column “{column}” of all three tables names the person of a row and of an event.",
            used=f"{words.used} Of each of these rows at most {most} events were used, the first ones in the order of their file.",
            counting=f"{words.counting[:-1]}, and of a row only the first {most} events.",
        )  # fmt: skip

    @cached_property
    def domain(self) -> Domain:
        """The domain of the records: the columns of rows, the number of events of the row, and an event, which may be absent.

        Raises:
            InputError: The rules leave no possible record.
            CapacityError: There are too many columns, or the tables of the rules have too many cells.
        """
        rows = self.plain.domain
        events = [with_absent(one, one.name, NO_EVENT) for one in self.events]
        some = tuple(range(1, self.most_events + 1))
        fits = [
            StructuralZeros((EVENTS, one.name), (((0,), tuple(range(one.size))), (some, (one.size,)))) for one in self.events
        ]  # fmt: skip
        if not self.everybody:
            fits.append(StructuralZeros((START, EVENTS), (((len(STARTS) - 1,), some),)))
        return Domain((*rows.attributes, Attribute.coded(EVENTS, self.most_events + 1), *events), (*rows.impossible, *fits))

    def records(self, households: Codes, sizes: NDArray[np.int64], members: Codes) -> Iterator[tuple[int, NDArray[np.integer]]]:
        """Yield the events with their rows and persons as codes of `domain`.

        Args:
            households: Codes of the persons, shape (n, columns).
            sizes: Numbers of rows from 0 to `most`, shape (n,).
            members: Codes of the rows with their events, in order, shape (n, most, columns of `carried`); codes beyond a person's number of
                rows or a row's number of events are ignored.

        Yields:
            The number of equal records that each event, or row without events, stands for, and the codes, shape (events, columns
            of `domain`).
        """
        for codes, times in self._by_size(households, sizes, members):
            for each in np.unique(times):
                yield int(each), codes[times == each]

    def repeated(self, households: Codes, sizes: NDArray[np.int64], members: Codes) -> Repeated:
        """Return the records, each event once: by number of rows, and of each number the first events of all rows before the others."""
        parts = list(self._by_size(households, sizes, members))
        codes = np.concatenate([np.empty((0, len(self.domain)), self.narrow), *(one for one, _ in parts)])
        kind = np.min_scalar_type(self.records_each)
        return Repeated(codes, np.concatenate([np.empty(0, kind), *(times.astype(kind) for _, times in parts)]))

    def _by_size(
        self, households: Codes, sizes: NDArray[np.int64], members: Codes
    ) -> Iterator[tuple[NDArray[np.integer], NDArray[np.int64]]]:
        """Yield for each number of rows the events with rows and persons as codes, and how many equal records each is, in two arrays.

        First events, or absent ones, of all rows come in the order of `SequenceLink.records`, then all second events, and so on.
        """
        own, width = len(self.members), len(self.events)
        absent = np.array([one.size for one in self.events], dtype=np.int32)
        for size in range(self.most + 1):
            chosen = np.flatnonzero(sizes == size)
            if not len(chosen):
                continue
            ((_, rows),) = self.plain.records(households[chosen], sizes[chosen], members[chosen][:, :, :own])
            behind = members[chosen, :size, own:].swapaxes(0, 1).reshape(-1, 1 + width * self.most_events)
            behind = behind if size else np.zeros((len(chosen), 1 + width * self.most_events), dtype=np.int32)
            number = behind[:, 0].astype(np.int64)
            codes, times = list[NDArray[np.integer]](), list[NDArray[np.int64]]()
            for place in range(max(1, int(number.max()))):
                some = np.flatnonzero((number > place) | (place == 0))
                event = behind[some, 1 + place * width : 1 + (place + 1) * width]
                event = np.where((number[some] == 0)[:, None], absent, event)
                codes.append(np.column_stack([rows[some], number[some], event]).astype(self.narrow))
                times.append(self.records_each // (max(1, size) * np.maximum(1, number[some])))
            yield np.concatenate(codes), np.concatenate(times)

    def split(self, records: NDArray[np.integer]) -> tuple[Codes, NDArray[np.int64], Codes]:
        """Split the records of `repeated` into persons and rows, without events, as `Link.split` does."""
        return self.plain.split(np.concatenate([records[:0], *(some[:rows] for some, rows in self._blocks(records))])[:, : self._number])

    def events_of(self, records: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the events in the records of `repeated`.

        Args:
            records: Codes of the records, each once, shape (records, columns of `domain`).

        Returns:
            The row of each event, ascending, and the codes of its columns. Rows are counted from 0 in the order of the records:
            by number of rows of their person, then first rows of all these persons, then second ones, and so on. A person without rows
            counts as one row, which has no event.
        """
        owners, events, before = [np.empty(0, np.int64)], [np.empty((0, len(self.events)), np.int32)], 0
        for some, rows in self._blocks(records):
            number, first = some[:rows, self._number].astype(np.int64), 0
            for place in range(self.most_events):
                with_it = np.flatnonzero(number > place)
                at = with_it if place == 0 else first + np.arange(len(with_it))
                first = rows if place == 0 else first + len(with_it)
                owners.append(before + with_it)
                events.append(some[at, self._number + 1 :].astype(np.int32))
            before += rows
        owner, codes = np.concatenate(owners), np.concatenate(events)
        order = np.argsort(owner, kind="stable")
        return owner[order], codes[order]

    @property
    def _number(self) -> int:
        return self.domain.position(EVENTS)

    def _blocks(self, records: NDArray[np.integer]) -> Iterator[tuple[NDArray[np.integer], int]]:
        """Yield for each number of rows its records, and how many rows, with the persons without rows, they are of."""
        for size in range(self.most + 1):
            some = records[records[:, len(self.households)] == size]
            held = np.bincount(some[:, self._number], minlength=self.most_events + 1)
            yield some, int(sum(held[number] // max(1, number) for number in range(self.most_events + 1)))


def linked(households: Domain, members: Domain, most: int, rules: Sequence[object], stated: Stated) -> EventsLink:
    """Return the link that a spec asks for.

    Args:
        households: Columns of the persons.
        members: Columns of the rows and of the events.
        most: Largest number of rows of a person that count, from 1 to 10.
        rules: Combinations that cannot occur, as JSON, which are of persons and rows alone.
        stated: The spec's section `extensions`.

    Raises:
        InputError: A setting about events is missing or names no column, a rule names a column of events, or the tables cannot
            be linked so (`EventsLink`).
        CapacityError: The table of a rule has too many cells.
    """
    key, columns, most_events, file = (stated.get(name) for name in ("event_key", "event_column", "most_events", "events"))
    if not isinstance(file, list) or not _FILE.fullmatch(file[0]):
        problem = "it is the name of a file in the folder of the second table, without a folder"
        raise InputError("extensions.events", problem, "put the file there, and give its name")
    for name, value in (("event_key", key), ("event_column", columns), ("most_events", most_events)):
        if value is None:
            raise InputError(f"extensions.{name}", "a table of events is named, and this is not stated", "state it too")
    assert isinstance(key, list)
    assert isinstance(columns, list)
    assert isinstance(most_events, int)
    for name in columns:
        if name not in members:
            raise InputError("extensions.event_column", f"the second domain has no column {name!r}", "check the spelling, or add it there")
    own = [name for name in members.names if name not in columns]
    if not own:
        raise InputError("extensions.event_column", "it names all columns, and none is left for rows", "name those of events alone")
    plain = rows_layout.linked(households, members.keep(own), most, rules, stated)
    own_fields = {one.name: getattr(plain, one.name) for one in fields(plain)}
    return EventsLink(**own_fields, events=members.keep(columns), most_events=most_events, event_key=key[0])
