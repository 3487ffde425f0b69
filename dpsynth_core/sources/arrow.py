"""Marginal counts of one table on this machine: a file, a folder of files or a DataFrame, streamed as Arrow record batches.

Each call of `counts` makes one pass, for any number of marginals; memory holds some batches, the tables of counts (or the distinct records)
and, with a person column, how many rows of each person were seen. A table of several parts is counted by as many threads as there are
processors: reading, coding and counting are done by Arrow and NumPy, which let other threads run meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation import interrupts, processors
from dpsynth_core.sources import persons
from dpsynth_core.sources.files import TableSource, opened
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.parts import USUAL, Part, Sizes
from dpsynth_core.sources.persons import Before, nobody
from dpsynth_core.sources.records import Counting, Counts, RecordCounts, Records
from dpsynth_core.sources.sampling import Sample
from dpsynth_core.sources.values import keyed_counts
from dpsynth_core.vocabulary.domain import Domain

COPIED_BYTES = 128 << 20
"""Tables of counts that each thread may have of its own."""

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


class ArrowSource(RecordCounts):
    """A `ValueSource` over a table.

    Args:
        domain: The domain, whose columns the table must have.
        table: The table to count.
        form: The format of the table.
        person_column: The column that names persons; only their first rows in file order are counted (see `persons`).
        max_rows_per_person: The number of rows of each person that count.
        sizes: The sizes of the parts that are counted at the same time.

    Raises:
        InputError: The table lacks a column of the domain or the person column.
    """

    def __init__(
        self,
        domain: Domain,
        table: TableSource,
        form: TableFormat | None = None,
        person_column: str | None = None,
        max_rows_per_person: int = 1,
        sizes: Sizes = USUAL,
    ) -> None:
        super().__init__(domain, Records(opened(table, form or TableFormat()), person_column, max_rows_per_person, sizes))

    def sample(self, most: int) -> NDArray[np.int32]:
        """See `SampledSource.sample`. One thread: all records in their order."""
        drawn = Sample(self.domain, most)
        for _ in self._records.add_to(drawn):
            interrupts.check()
        return drawn.records

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """See `ValueSource.values`."""

        def columns() -> Iterator[pa.Array]:
            for batch in self._records.batches((name,)):
                interrupts.check()
                yield batch.column(name)

        form = self._records.table.form
        return keyed_counts(columns, form.missing_markers, hierarchy=self.domain[name].hierarchy, same_text=form.same_text)

    def _counted(self, new: Callable[[], Counts]) -> Counts:
        total, parts = new(), self._records.parts()
        workers = min(processors.available(), len(parts), max(1, COPIED_BYTES // max(1, total.nbytes)))
        counts = [total, *(new() for _ in range(workers - 1))]
        _shared_out(counts, list(zip(parts, self._before(parts, workers), strict=True)), self._add)
        for other in counts[1:]:
            total.absorb(other.tables)
        return total

    def _before(self, parts: Sequence[Part], workers: int) -> list[Before]:
        """Return for each part the rows of its persons in the parts before it."""
        if self._records.person_column is None or len(parts) == 1:
            return [nobody] * len(parts)
        keys, limit = persons.new_keys(), self._records.max_rows_per_person
        turnouts: dict[int, persons.Turnout] = {}

        def add(_: None, part: tuple[int, Part]) -> Iterator[None]:
            turnouts[part[0]] = self._records.turnout(part[1], keys)
            yield

        _shared_out([None] * workers, list(enumerate(parts)), add)
        return [before.before(keys) for before in persons.earlier([turnouts[i] for i in range(len(parts))], limit)]

    def _add(self, counts: Counting, part: tuple[Part, Before]) -> Iterator[None]:
        return self._records.add_to(counts, *part)


def _shared_out(results: Sequence[_Result], items: Sequence[_Item], work: Callable[[_Result, _Item], Iterator[None]]) -> None:
    """Work each item into one of the results, with one thread for each result, and without threads for a single result.

    Between the steps of the work signals are obeyed, and where one thread fails the others stop.
    """
    waiting, failed = iter(items), threading.Event()

    def some(result: _Result) -> None:
        try:
            while not failed.is_set() and (item := next(waiting, None)) is not None:  # one step of a list's iterator: no two get the same
                for _ in work(result, item):
                    interrupts.check()
                    if failed.is_set():
                        return
        except BaseException:
            failed.set()
            raise

    if len(results) == 1:
        some(results[0])
        return
    with ThreadPoolExecutor(len(results)) as threads:
        for future in [threads.submit(some, result) for result in results]:
            future.result()
