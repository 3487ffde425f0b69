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
    """Raise ValueError for a clique that is not in canonical order."""
    for clique in cliques:
        if domain.clique(clique) != clique:
            raise ValueError(f"not a canonical clique: {clique}")


class Tally:
    """A running count of a plan's blocks; `add` each batch, then ask for `counts`."""

    def __init__(self, domain: Domain, cliques: Collection[Clique], block_cells: int | None = None) -> None:
        self.domain = domain
        self._cliques = tuple(cliques)
        self._home = plan(domain, self._cliques, block_cells)
        self._tables = {block: np.zeros(domain.cells(block), dtype=np.int64) for block in self._in_reading_order(self._home.values())}
        self._index = np.min_scalar_type(max(map(len, self._tables.values()), default=1))  # narrow numbers are multiplied faster

    def _in_reading_order(self, blocks: Collection[Clique]) -> Sequence[Clique]:
        """Sorted so that neighbouring blocks share as many first columns as possible."""
        return sorted(set(blocks), key=lambda block: [self.domain.position(name) for name in block])

    @property
    def nbytes(self) -> int:
        """Size of all tables in bytes."""
        return sum(table.nbytes for table in self._tables.values())

    @property
    def columns(self) -> Clique:
        """The columns of all blocks, in the domain's order."""
        return self.domain.clique({name for block in self._tables for name in block})

    @property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """The counts so far, for `absorb`."""
        return tuple(self._tables.values())

    def absorb(self, tables: Iterable[NDArray[np.int64]]) -> None:
        """Add the counts of other records by the same domain and cliques."""
        for table, other in zip(self._tables.values(), tables, strict=True):
            table += other

    def add(self, codes: Mapping[str, NDArray[np.integer]], rows: int) -> None:
        """Count one batch: `rows` codes of every column in `columns`. Of a large one, few rows are in memory at a time."""
        columns = self.columns
        for start in range(0, rows, CHUNK_ROWS):
            some = slice(start, min(start + CHUNK_ROWS, rows))
            self._add_chunk({name: codes[name][some].astype(self._index, copy=False) for name in columns}, some.stop - start)

    def _add_chunk(self, codes: Mapping[str, NDArray[np.unsignedinteger]], rows: int) -> None:
        """Count the rows of a chunk. Flat cells of a block's prefixes are kept, because the next block begins with the same columns."""
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
        """Tables of all cliques, summed from their blocks. Call it once, at the end."""
        tables = {block: table.reshape(self.domain.sizes(block)) for block, table in self._tables.items()}
        for clique, superset in sums(self.domain, self._cliques, self._home):
            tables[clique] = project(tables[superset], superset, clique)
        return {clique: tables[clique] for clique in self._cliques}


def _shared(first: Clique, second: Clique) -> int:
    """Return the number of columns with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
