"""The file with the events of a release, each with the keys of its person and its row, and the checks of a recipient."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.bundle.checks.opened import CsvRows, Opened
from dpsynth_core.claims.outcome import expect, some
from dpsynth_core.extensions.sequences import in_order
from dpsynth_core.extensions.sequences.events.layout import EventsLink
from dpsynth_core.extensions.sequences.words import EVENTS_FILE
from dpsynth_core.foundation.content import Writer
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import tables
from dpsynth_core.release.document import write_csv
from dpsynth_core.release.linked import keyed
from dpsynth_core.release.release import Release
from dpsynth_core.sources.decoding import DrawnRows, strays
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import places
from dpsynth_core.vocabulary.rows import Repeated

_SEED = 2
"""Behind the seed of the rows, the seed of the values of events."""


@dataclass(frozen=True, eq=False)
class EventRows:
    """The rows of events, with the keys of their synthetic persons and rows.

    Attributes:
        drawn: The rows; their own keys, which count up, are replaced.
        keys: By name of a key, its value for each event, from 1, shape (events,).
    """

    drawn: DrawnRows
    keys: dict[str, NDArray[np.int64]]

    @property
    def num_rows(self) -> int:
        """The number of events."""
        return self.drawn.num_rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Return the events in the order of their rows as tables, at least one, which may be empty.

        Args:
            columns: Names of the columns; None for all.
        """
        return keyed(self.drawn.batches(), self.keys, columns)


def event_rows(release: Release) -> EventRows | None:
    """Return the events of a release; None for a release without events, or without rows.

    Args:
        release: The release.
    """
    link, codes = release.plan.link, release.codes
    if not isinstance(link, EventsLink) or not isinstance(codes, Repeated) or release.members is None or release.row_seed is None:
        return None
    key = release.plan.row_domain.column_names[0]
    named = [np.empty(0, np.int64), *(batch.column(key).to_numpy() for batch in release.members.batches([key]))]
    owners = np.concatenate(named) - 1
    listed, events = link.events_of(codes.codes)
    rows = _in_file(owners, release.rows, link.most)[listed]
    order = np.argsort(rows, kind="stable")
    rows, events = rows[order], events[order]
    rng = np.random.default_rng((release.row_seed, _SEED))
    drawn = DrawnRows(_domain(release.plan, link), events, rng.bit_generator.state, release.row_seed)
    return EventRows(drawn, {key: owners[rows] + 1, link.event_key: rows + 1})


def _in_file(owners: NDArray[np.int64], persons: int, most: int) -> NDArray[np.int64]:
    """Return for each row, in the order of `EventsLink.events_of`, its place in the file of rows, from 0; -1 for a person without rows.

    Args:
        owners: The person of each row of the file, from 0, ascending.
        persons: Number of persons.
        most: Largest number of rows of a person.
    """
    sizes = np.bincount(owners, minlength=persons)
    starts, found = np.cumsum(sizes) - sizes, [np.full(int((sizes == 0).sum()), -1, dtype=np.int64)]
    for size in range(1, most + 1):
        found.append((starts[sizes == size] + np.arange(size)[:, None]).ravel())
    return np.concatenate(found)


def row_files(release: Release) -> dict[str, Writer]:
    """Return the functions that write the file of events, or the rows with the columns of their persons, by file name."""
    events = event_rows(release)
    return in_order.row_files(release) if events is None else {EVENTS_FILE: partial(write_csv, events)}


def row_domain(plan: Plan) -> Domain:
    """Return the domain of the rows of events, or of rows with the columns of their persons; keys are among the filled columns."""
    return _domain(plan, plan.link) if isinstance(plan.link, EventsLink) else in_order.row_domain(plan)


def _domain(plan: Plan, link: EventsLink) -> Domain:
    return replace(link.events, filled=plan.member_domain.filled)


def carried(opened: Opened) -> NDArray[np.integer]:
    """Return the codes of the rows of a bundle with their events, as `EventsLink.records` takes them, shape (rows, columns of `carried`).

    Args:
        opened: A bundle whose plan has a table of events, with its rows.

    Raises:
        Wrong: The file of events is missing or cannot be read, a value is outside its column's domain, a key names no row
            or another person than its row, events are not in the order of their rows, or a row has more events than it may have.
    """
    link, plan, content = opened.plan.link, opened.plan, opened.bundle.files.get(EVENTS_FILE)
    assert isinstance(link, EventsLink)
    assert opened.members is not None
    expect(content is not None, f"{EVENTS_FILE} is missing, but a third table is stated")
    assert content is not None
    key, domain = plan.row_domain.column_names[0], _domain(plan, link)
    file, wrong, named = CsvRows(domain, content, EVENTS_FILE), dict[str, None](), [np.empty((0, 2), np.int64)]
    for batch in file.checked():
        wrong |= dict.fromkeys(strays(link.events, batch.select(link.events.names)))
        pairs = [batch.column(name).to_numpy() for name in (key, link.event_key)]
        expect(all(np.issubdtype(one.dtype, np.integer) for one in pairs), f"a row of {EVENTS_FILE} has no key")
        named.append(np.column_stack(pairs))
    expect(not wrong, f"values outside the domain in {some([*wrong])} of {EVENTS_FILE}")
    persons, rows = np.concatenate(named).T - 1
    owners = opened.owners
    expect(bool(np.all((rows >= 0) & (rows < len(owners)))), f"a row of {EVENTS_FILE} has a key that no row of {tables.MEMBERS} has")
    expect(bool(np.all(owners[rows] == persons)), f"a row of {EVENTS_FILE} has another person than its row of {tables.MEMBERS}")
    expect(bool(np.all(np.diff(rows) >= 0)), f"{EVENTS_FILE} is not in the order of {tables.MEMBERS}")
    number = np.bincount(rows, minlength=len(owners))
    most = int(number.max(initial=0))
    expect(most <= link.most_events, f"{most:,} rows of {EVENTS_FILE} have one key, and {link.most_events} may")
    held = np.zeros((len(owners), link.most_events, len(link.events)), dtype=np.int32)
    held[rows, places(number)] = file.codes()
    width = link.most_events * len(link.events)
    return np.column_stack([opened.members.codes(), number, held.reshape(len(owners), width)]).astype(np.int32)
