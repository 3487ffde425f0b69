"""Counts of persons and their rows in order, as counts of one table of rows beside the rows before them (`layout`).

A person is a value of the key. Of its rows, in the order of the stated column and then of the file, the first ones count, up to the limit.
*Which rows count, their order and the time between them depend on that person's rows alone.* All else is as for two linked tables.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import SequenceLink
from dpsynth_core.foundation.arrow_times import DAY_MICROS, NO_TIME
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.headers import check_columns
from dpsynth_core.sources.linked import LinkedSource, keys, owners_of
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import Table
from dpsynth_core.sources.records import Records
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Codes, places

_ALL = 2**31 - 1


class SequenceSource(LinkedSource):
    """A source of marginals over persons' rows in order."""

    _link: SequenceLink

    def _counted(self, members: Table, key: str) -> Records:
        """Return the records of the table of rows, all of them: which ones count follows from their order.

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

    def _listed(self, number: Mapping[str, int]) -> tuple[NDArray[np.int64], Codes]:
        """Return the rows that count, person by person in order: the number of each one's person, ascending, and the codes.

        Args:
            number: The number of each person by its key, from 0. Rows of other persons are left out.
        """
        form, order, domain = self._members.table.form, self._link.order, self._stored
        owners, times, codes = [np.empty(0, np.int64)], [np.empty(0)], [np.empty((0, len(domain)), np.int32)]
        for batch in self._members.batches((*domain.names, *([order] if order else ()))):
            owners.append(owners_of(keys(self._members, batch), number))
            times.append(moments(batch.column(order), form.notation) if order else np.zeros(batch.num_rows))
            codes.append(np.column_stack([encode_column(one, batch.column(one.name), form.notation) for one in domain]))
        owner, time, code = np.concatenate(owners), np.concatenate(times), np.concatenate(codes)
        rows = np.lexsort((time, owner))[(owner < 0).sum() :]  # stable: rows of one time keep the order of the file
        rows = rows[places(np.bincount(owner[rows], minlength=len(number))) < self._link.most]
        owner, time, code = owner[rows], time[rows], code[rows]
        if self._link.gap is None:
            return owner, code
        since = np.full(len(owner), np.nan)
        since[1:][owner[1:] == owner[:-1]] = np.diff(time)[owner[1:] == owner[:-1]]
        gaps = encode_column(self._link.members[self._link.gap], pa.array(since, from_pandas=True), Notation())
        return owner, np.insert(code, self._link.members.position(self._link.gap), gaps, axis=1)


def moments(column: pa.Array, notation: Notation) -> NDArray[np.float64]:
    """Return the number or the time of each value, times in days since 1970-01-01; nan for other values and missing ones.

    A value is read by itself. A text that could be a number and a date is a date if the stated form of dates has digits only.

    Args:
        column: Numbers, dates, times or texts of these.
        notation: How values are written as text.
    """
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        moment = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return pc.divide(moment.cast(pa.float64()), float(DAY_MICROS)).to_numpy(zero_copy_only=False)
    written = texts(column)
    number = notation.numbers(written).to_numpy(zero_copy_only=False)
    micros = notation.moments(written)
    moment = np.where(micros == NO_TIME, np.nan, micros / DAY_MICROS)
    first, second = (moment, number) if notation.dates_are_digits else (number, moment)
    absent = pc.fill_null(notation.absent(written), True).to_numpy(zero_copy_only=False)
    return np.where(absent, np.nan, np.where(np.isnan(first), second, first))
