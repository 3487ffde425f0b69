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
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import TableSource, opened
from dpsynth_core.sources.parts import USUAL, Part, Sizes
from dpsynth_core.sources.records import Counting, Counts, RecordCounts, Records
from dpsynth_core.vocabulary.domain import Domain

COPIED_BYTES = 128 << 20
"""Tables of counts that each thread may have of its own."""

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


class ArrowSource(RecordCounts):
    """A source of exact counts and written values over a table that is read in this process.

    Its results are exact and private: they are for the kernel and for the curator only.

    Args:
        domain: The domain, whose columns the table must have.
        table: The table to count.
        form: The format of the table; by default the default CSV format.
        person_column: The column that names persons. Only the first rows of each person in file
            order are counted, and rows without a person are not (see `persons`). None counts all rows.
        max_rows_per_person: The number of rows of each person that are counted, at least 1.
        sizes: The approximate sizes of the parts that threads count at the same time.

    Raises:
        InputError: The table cannot be read, or lacks a column of the domain or the person column; the number of rows
            per person is below 1; or two categories of a column count as the same text in this format.
        CapacityError: A folder holds more than 20,000 files and folders.
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
        """Return a uniform random sample of at most `most` counted records, in random order.

        The records are private codes, int32 of shape (records, attributes of the domain); all records if the table
        has no more than `most`. The seed is fixed, so that the same table gives the same sample. One thread reads all
        records in order.

        Raises:
            InputError: The table cannot be read.
        """
        from dpsynth_core.sources.sampling import Sample  # loaded for screens alone

        drawn = Sample(self.domain, most)
        for _ in self._records.add_to(drawn):
            interrupts.check()
        return drawn.records

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield exact numbers of counted records by key of column `name` (`vocabulary.keys`).

        The mappings from key to number of records come in parts; no key is in two parts. A key is the text of a value,
        in a column of codes in groups the group of the code; "" for missing values and "other" for texts that cannot be
        keys. Each part takes a pass over the table.

        Raises:
            InputError: The column is not in the domain, or the table cannot be read.
        """
        from dpsynth_core.sources.values import keyed_counts  # loaded where values are learnt

        def columns() -> Iterator[pa.Array]:
            for batch in self._records.batches((name,)):
                interrupts.check()
                yield batch.column(name)

        form = self._records.table.form
        return keyed_counts(columns, form.missing_markers, hierarchy=self.domain[name].hierarchy, same_text=form.same_text)

    def _counted(self, new: Callable[[], Counts]) -> Counts:
        """Count all records, on several threads, and return the counter with the sums.

        The number of threads is bounded by the processors, the parts and the memory of the counters
        (`COPIED_BYTES`).
        """
        total, parts = new(), self._records.parts()
        workers = min(processors.available(), len(parts), max(1, COPIED_BYTES // max(1, total.nbytes)))
        counts = [total, *(new() for _ in range(workers - 1))]
        _shared_out(counts, list(zip(parts, self._before(parts, workers), strict=True)), self._add)
        for other in counts[1:]:
            total.absorb(other.tables)
        return total

    def _before(self, parts: Sequence[Part], workers: int) -> list[persons.Before]:
        """Return for each part a function that looks up its persons' rows in the earlier parts.

        Args:
            parts: The parts of the table, in file order.
            workers: The number of threads.
        """
        if self._records.person_column is None or len(parts) == 1:
            return [persons.nobody] * len(parts)
        keys, limit = persons.new_keys(), self._records.max_rows_per_person
        turnouts: dict[int, persons.Turnout] = {}

        def add(_: None, part: tuple[int, Part]) -> Iterator[None]:
            turnouts[part[0]] = self._records.turnout(part[1], keys)
            yield

        _shared_out([None] * workers, list(enumerate(parts)), add)
        return [before.before(keys) for before in persons.earlier([turnouts[i] for i in range(len(parts))], limit)]

    def _add(self, counts: Counting, part: tuple[Part, persons.Before]) -> Iterator[None]:
        """Add the records of a part to a counter, one batch with each step of the iterator."""
        return self._records.add_to(counts, *part)


def _shared_out(results: Sequence[_Result], items: Sequence[_Item], work: Callable[[_Result, _Item], Iterator[None]]) -> None:
    """Do the work for each item with several threads; each thread adds to its own result.

    After each step of the work, signals are obeyed. If a thread fails, the others stop and its
    exception is raised.

    Args:
        results: One object for each thread, which its work changes. A single one is filled without
            threads.
        items: The items; each is given to one thread.
        work: A function of a result and an item, whose iterator does one step at a time.
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
