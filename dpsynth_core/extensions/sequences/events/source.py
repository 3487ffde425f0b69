"""Counts of persons, their rows in order and the rows' events, as counts of one table (`layout`).

All three tables have the key of persons, and the tables of rows and events have a key of rows. An event is of the person whom it
names, and of this person's first row that counts with its key of rows. Of the events of a row the first ones in file order count, up to the
limit. *So which events count, and of which row, depends on the rows in the three tables that name the person, and on no others*: another
person's row with the same key of rows changes nothing. All else is as for rows alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.events.layout import EventsLink
from dpsynth_core.extensions.sequences.source import SequenceSource
from dpsynth_core.sources import persons
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.headers import check_columns
from dpsynth_core.sources.linked import keys, owners_of
from dpsynth_core.sources.opening import Table
from dpsynth_core.sources.records import Records
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import Codes, places
from dpsynth_core.vocabulary.measurement import Clique

_ALL = 2**31 - 1
_NO_KEY = -1
_Pairs = tuple[NDArray[np.integer], NDArray[np.integer]]


class EventsSource(SequenceSource):
    """A source of marginals over persons' rows in order and their events."""

    _link: EventsLink

    def __init__(self, link: EventsLink, households: Table, members: Table, key: str, events: Table) -> None:
        """Open the three tables.

        Args:
            link: The domains, and the limits.
            households: The table of persons.
            members: The table of rows.
            key: The column that names the person, in all three tables.
            events: The table of events.

        Raises:
            InputError: A table lacks a column of its domain or a key.
        """
        super().__init__(link, households, members, key)
        check_columns(members.column_names(), [link.event_key])
        check_columns(events.column_names(), [link.event_key])
        self._events, self._form = Records(events, key, _ALL), members.form
        self._events.check_columns(link.events)
        self._rows: dict[str, int] = {}

    def roots(self, clique: Clique, groups: Mapping[str, Groups]) -> NDArray[np.int64]:
        """Refuse: sums of roots are not worked out for events.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("sums of roots of events are not worked out")

    def _numbered(self, keys: pa.Array) -> NDArray[np.int32]:
        """Return a number for each key of a row, the same for equal keys; -1 for a missing one."""
        return self._numbers(persons.named(keys, self._form).to_pylist())

    def _numbers(self, names: Collection[str | None]) -> NDArray[np.int32]:
        numbers = [_NO_KEY if name is None else self._rows.setdefault(name, len(self._rows)) for name in names]
        return np.array(numbers, dtype=np.int32)

    def _listed(self, number: Mapping[str, int]) -> tuple[NDArray[np.int64], Codes]:
        """Return the rows that count, person by person in order, as `SequenceSource` does, with their events behind their codes.

        Args:
            number: The number of each person by its key, from 0.
        """
        owner, listed = super()._listed(number)
        of_event, names, events = self._read_events(number)
        row = _first((owner, listed[:, -1]), (of_event, names))
        order = np.argsort(row, kind="stable")[(row < 0).sum() :]  # stable: events of a row keep the order of the file
        place = places(np.bincount(row[order], minlength=len(owner)))
        order, place = order[place < self._link.most_events], place[place < self._link.most_events]
        held = np.zeros((len(owner), self._link.most_events, len(self._link.events)), dtype=np.int32)
        width = self._link.most_events * len(self._link.events)
        held[row[order], place] = events[order]
        counted = np.bincount(row[order], minlength=len(owner))
        return owner, np.column_stack([listed[:, :-1], counted, held.reshape(len(owner), width)]).astype(np.int32)

    def _read_events(self, number: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int32], Codes]:
        """Return the person of each event by its number, -1 for others; the number of its key of rows, -1 without one; and its codes."""
        domain, key, form = self._link.events, self._link.event_key, self._events.table.form
        owners, names, codes = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty((0, len(domain)), np.int32)]
        for batch in self._events.batches((*domain.names, key)):
            owners.append(owners_of(keys(self._events, batch), number))
            names.append(self._numbers(persons.named(batch.column(key), form).to_pylist()))
            codes.append(np.column_stack([encode_column(one, batch.column(one.name), form.notation) for one in domain]))
        return np.concatenate(owners), np.concatenate(names), np.concatenate(codes)


def _first(rows: _Pairs, wanted: _Pairs) -> NDArray[np.int64]:
    """Return for each wanted pair the index of the first row that has it, shape (events,), and -1 where a part is -1 or no row has it.

    Args:
        rows: The person of each row, and the number of its key.
        wanted: The person of each event, and the number of its key.
    """
    found: dict[tuple[int, int], int] = {}
    for index, pair in enumerate(zip(*(part.tolist() for part in rows), strict=True)):
        found.setdefault(pair, index)
    pairs = zip(*(part.tolist() for part in wanted), strict=True)
    return np.array([-1 if min(pair) < 0 else found.get(pair, -1) for pair in pairs], dtype=np.int64)
