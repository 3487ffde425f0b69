"""Counting many marginals over batches of codes: few passes over the rows, the rest by summation.

Each record is counted once in the table of each block (`blocks`), and marginals are sums of those tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.blocks import plan, sums
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique

CHUNK_ROWS = 2**17
"""Number of rows whose cells are computed at once."""


def check_canonical(domain: Domain, cliques: Collection[Clique]) -> None:
    """Check that each clique is in domain order.

    Raises:
        ValueError: A clique is in another order.
        InputError: A name is unknown or repeated.
    """
    for clique in cliques:
        if domain.clique(clique) != clique:
            raise ValueError(f"not a canonical clique: {clique}")


class Tally:
    """A running count of marginals over batches of records: `add` each batch, then call `counts` once.

    The counts are exact: of private records they are private.

    Args:
        domain: The domain.
        cliques: The marginals, in domain order.
        block_cells: Largest number of cells of a table in which records are counted
            (`blocks.plan`); None for the default.
    """

    def __init__(self, domain: Domain, cliques: Collection[Clique], block_cells: int | None = None) -> None:
        self.domain = domain
        self._cliques = tuple(cliques)
        self._home = plan(domain, self._cliques, block_cells)
        self._tables = {block: np.zeros(domain.cells(block), dtype=np.int64) for block in self._in_reading_order(self._home.values())}
        self._index = np.min_scalar_type(max(map(len, self._tables.values()), default=1))  # narrow numbers are multiplied faster

    def _in_reading_order(self, blocks: Collection[Clique]) -> Sequence[Clique]:
        """Return the blocks, sorted so that neighbouring blocks share as many first columns as possible."""
        return sorted(set(blocks), key=lambda block: [self.domain.position(name) for name in block])

    @property
    def nbytes(self) -> int:
        """The size of all tables of blocks, in bytes."""
        return sum(table.nbytes for table in self._tables.values())

    @property
    def columns(self) -> Clique:
        """The columns that `add` needs, in domain order."""
        return self.domain.clique({name for block in self._tables for name in block})

    @property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """The counts of the blocks so far, for `absorb`: one int64 array per block, which `add` changes in place."""
        return tuple(self._tables.values())

    def absorb(self, tables: Iterable[NDArray[np.int64]]) -> None:
        """Add the counts (`tables`) of another tally with the same arguments over other records, in place."""
        for table, other in zip(self._tables.values(), tables, strict=True):
            table += other

    def add(self, codes: Mapping[str, NDArray[np.integer]], rows: int) -> None:
        """Count one batch of records, in addition to earlier ones, in chunks, so that few cells are in memory at a time.

        Args:
            codes: Codes of the records for every column in `columns`, from 0, each of shape (rows,).
            rows: Number of records.
        """
        columns = self.columns
        for start in range(0, rows, CHUNK_ROWS):
            some = slice(start, min(start + CHUNK_ROWS, rows))
            self._add_chunk({name: codes[name][some].astype(self._index, copy=False) for name in columns}, some.stop - start)

    def _add_chunk(self, codes: Mapping[str, NDArray[np.unsignedinteger]], rows: int) -> None:
        """Count the records of a chunk in every block.

        Cell numbers of a block's first columns are stored, because the next block begins with the
        same columns.
        """
        cells = np.empty((max(map(len, self._tables), default=0), rows), dtype=self._index)
        whole = np.empty(rows, dtype=np.intp)  # what `np.add.at` takes without a copy of its own
        path: Clique = ()
        for block, table in self._tables.items():
            if not block:
                table += rows
                continue
            for depth in range(_shared(path, block), len(block)):
                if depth:
                    np.multiply(cells[depth - 1], self._index.type(self.domain[block[depth]].size), out=cells[depth])
                    cells[depth] += codes[block[depth]]
                else:
                    cells[0] = codes[block[0]]
            whole[:] = cells[len(block) - 1]
            np.add.at(table, whole, 1)
            path = block

    def counts(self) -> dict[Clique, NDArray[np.int64]]:
        """Return the counts of each marginal, int64 of its shape, summed from the blocks. Call it once, at the end.

        The arrays may be views of the tally's own tables, which `add` and `absorb` change.
        """
        tables = {block: table.reshape(self.domain.sizes(block)) for block, table in self._tables.items()}
        for clique, superset in sums(self.domain, self._cliques, self._home):
            tables[clique] = project(tables[superset], superset, clique)
        return {clique: tables[clique] for clique in self._cliques}


def _shared(first: Clique, second: Clique) -> int:
    """Return the number of first columns that two cliques have in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
