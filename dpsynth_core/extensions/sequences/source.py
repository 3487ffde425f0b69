"""Counts of persons and their rows in order, as counts of one table of rows beside the rows before them (`layout`).

A person is a value of the key. Of its rows, in the order of the stated column and then of the file, the first ones count, up to the limit.
*Which rows count, their order and the time between them depend on that person's rows alone.* Where everybody has a row, a person without
one does not count. All else is as for two linked tables.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import ANY, DATES, NUMBERS, TEXTS, SequenceLink
from dpsynth_core.foundation.arrow_times import DAY_MICROS, NO_TIME
from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.codec import dictionary, encode_column, floats
from dpsynth_core.sources.headers import check_columns
from dpsynth_core.sources.linked import LinkedSource, keys, owners_of
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import Table
from dpsynth_core.sources.records import Records
from dpsynth_core.sources.times import READERS
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Codes, places

_ALL = 2**31 - 1


class SequenceSource(LinkedSource):
    """A source of marginals over persons' rows in order."""

    _link: SequenceLink

    def _counted(self, members: Table, key: str) -> Records:
        """Return all records of the table of rows; their order decides which ones count.

        Raises:
            InputError: The table lacks a column of its domain, the column of the order or the key.
        """
        records = Records(members, key, _ALL)
        records.check_columns(self._stored)
        if self._link.order is not None:
            check_columns(members.column_names(), [self._link.order])
        return records

    @property
    def _stored(self) -> Domain:
        """The columns of rows that the table has: all but the time since the row before."""
        return self._link.members.keep([name for name in self._link.members.names if name != self._link.gap])

    def _read(self) -> tuple[Codes, NDArray[np.int64], Codes]:
        """Return the persons' codes, their numbers of rows, and the rows' codes, as `LinkedSource` does.

        Where everybody has a row, persons without one are left out, for no cell of the domain is theirs.
        """
        persons, sizes, rows = super()._read()
        some = sizes >= int(self._link.everybody)
        return persons[some], sizes[some], rows[some]

    def _numbered(self, keys: pa.Array) -> NDArray[np.int32]:
        """Return a number for each key of a row, which stands behind the row's codes; the link has no such keys."""
        raise NotImplementedError

    def _listed(self, number: Mapping[str, int]) -> tuple[NDArray[np.int64], Codes]:
        """Return the rows that count, person by person in order: the number of each one's person, ascending, and the codes.

        Args:
            number: The number of each person by its key, from 0. Rows of other persons are left out.
        """
        form, order, domain = self._members.table.form, self._link.order, self._stored
        read_as, columns, further = self._link.read_as, list[pa.Array](), self._link.further_keys
        owners, times, codes = [np.empty(0, np.int64)], [np.empty(0)], [np.empty((0, len(domain) + len(further)), np.int32)]
        for batch in self._members.batches(tuple(dict.fromkeys((*domain.names, *([order] if order else ()), *further)))):
            owners.append(owners_of(keys(self._members, batch), number))
            if order is not None and read_as == TEXTS:
                columns.append(sorted_as(batch.column(order), form.notation))
            else:
                times.append(moments(batch.column(order), form.notation, read_as) if order else np.zeros(batch.num_rows))
            own = [encode_column(one, batch.column(one.name), form.notation) for one in domain]
            codes.append(np.column_stack([*own, *(self._numbered(batch.column(name)) for name in further)]))
        owner, code = np.concatenate(owners), np.concatenate(codes)
        time = ranks(pa.chunked_array(columns)) if columns else np.concatenate(times)
        rows = np.lexsort((time, owner))[(owner < 0).sum() :]  # stable: rows of one time keep the order of the file
        rows = rows[places(np.bincount(owner[rows], minlength=len(number))) < self._link.most]
        owner, time, code = owner[rows], time[rows], code[rows]
        if self._link.gap is None:
            return owner, code
        since = np.full(len(owner), np.nan)
        later = owner[1:] == owner[:-1]
        with np.errstate(all="ignore"):  # a warning would tell that somebody has endless numbers
            since[1:][later] = np.diff(time)[later]
        gaps = encode_column(self._link.members[self._link.gap], pa.array(since, from_pandas=True), Notation())
        return owner, np.insert(code, self._link.members.position(self._link.gap), gaps, axis=1)


def sorted_as(column: pa.Array, notation: Notation) -> pa.Array:
    """Return the texts by which rows are sorted that have a column of texts as their order; null for missing values."""
    if pa.types.is_null(column.type) or pa.types.is_nested(column.type):
        return pa.nulls(len(column), pa.large_string())
    coded = dictionary(column)
    text = texts(coded.dictionary).cast(pa.large_string())
    shown = pc.if_else(pc.fill_null(notation.absent(text.cast(pa.string())), True), None, text)
    return shown.take(coded.indices)


def ranks(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return numbers in the order of texts, equal ones for equal texts, float64; nan for null.

    Texts are compared by the code points of their letters. The order of two texts depends on no other text.

    Args:
        column: The texts.
    """
    encoded = column.dictionary_encode().combine_chunks()
    encoded = encoded if isinstance(encoded, pa.Array) else encoded.chunk(0)
    rank = np.append(pc.rank(encoded.dictionary, tiebreaker="dense").to_numpy().astype(np.float64), np.nan)
    return rank[pc.fill_null(encoded.indices.cast(pa.int64()), len(rank) - 1).to_numpy(zero_copy_only=False)]


def moments(column: pa.Array, notation: Notation, read_as: str = ANY) -> NDArray[np.float64]:
    """Return the number or the time of each value, float64, times in days; nan for other values and missing ones.

    Dates and timestamps count from 1970-01-01 by the clock of their zone, times of day from midnight. A value is read by itself. What
    could be a number and a date is a date if the stated form of dates has digits only.

    Args:
        column: Numbers, dates, times, durations or texts of these; values of another type are missing.
        notation: How values are written as text.
        read_as: Whether texts are read as numbers (`NUMBERS`), as dates and times (`DATES`), or each as what it is (`ANY`). Values of
            other types are read as these types say.
    """
    if pa.types.is_null(column.type) or pa.types.is_nested(column.type):
        return np.full(len(column), np.nan)
    if is_plain_number(column.type):
        return _moments(column, notation, ANY)
    coded = dictionary(column)
    table = np.append(_moments(coded.dictionary, notation, read_as), np.nan)  # the last one is what a null points to
    return table[pc.fill_null(coded.indices.cast(pa.int64()), len(table) - 1).to_numpy(zero_copy_only=False)]


def _moments(values: pa.Array, notation: Notation, read_as: str) -> NDArray[np.float64]:
    """Return the first reading of each value that is a number, as `moments` does; the values have no dictionary encoding."""
    kinds = ["timestamp", "time", "duration"]
    if not pa.types.is_temporal(values.type):
        kinds.insert(int(notation.dates_are_digits), "number")
        kinds = {NUMBERS: ["number"], DATES: [kind for kind in kinds if kind != "number"]}.get(read_as, kinds)
    found = np.full(len(values), np.nan)
    for kind in kinds:
        if kind == "number":
            read = floats(values, notation)
        else:
            counts = READERS[kind](values, notation, 1)
            read = np.where(counts == NO_TIME, np.nan, counts / DAY_MICROS)
            if read_as == DATES and kind == "duration" and not pa.types.is_temporal(values.type):
                read = np.where(np.isnan(floats(values, notation)), read, np.nan)  # a mere number is no date
        found = np.where(np.isnan(found), read, found)
    return found
