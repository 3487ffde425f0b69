"""Blocks in which marginals are counted, few for each pass over the records, from the cliques and the domain alone.

Small cliques are merged into common supersets ("blocks") while a block's table stays in the processor's cache, because one pass over the
records for a block costs the same as for one of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, combinations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, subsets

BLOCK_CELLS = 2**16 - 1
"""Largest number of cells of a block, so that 16 bits number the cells, and their number."""
MANY, SMALL_CELLS = 4_000, 2**13 - 1
"""Number of cliques from which smaller blocks are used: with large ones their tables would exceed the memory of one pass. It takes as long.
"""
TABLE_BYTES = 512 << 20
"""Memory of the tables in which marginals are counted, per counting process; more tables take several passes."""
WHOLE_SEARCH = 12
"""Number of columns up to which all parts of a clique are enumerated; for larger cliques, only the requested ones."""


def maximal(cliques: Collection[Clique]) -> list[Clique]:
    """Return the cliques that are not contained in another one, each once, those with more columns first.

    Args:
        cliques: Cliques in domain order.
    """
    sizes = {len(clique) for clique in cliques}
    inner: set[Clique] = set()
    chosen: list[Clique] = []
    for clique in sorted(dict.fromkeys(cliques), key=len, reverse=True):
        if clique not in inner:
            chosen.append(clique)
            inner.update(part for size in sizes if size < len(clique) for part in combinations(clique, size))
    return chosen


def plan(domain: Domain, cliques: Collection[Clique], block_cells: int | None = None) -> dict[Clique, Clique]:
    """Return the block in which each maximal clique is counted: a clique that contains it.

    Cliques that are contained in another one are not among the keys. The result does not depend on the order of
    the cliques.

    Args:
        domain: The domain.
        cliques: The cliques to count.
        block_cells: Largest number of cells of a block, unless a single clique has more; None for
            65,535, or 8,191 if there are 4,000 maximal cliques or more.
    """
    targets = tuple(maximal(sorted(cliques)))  # the plan must not depend on the order of the request
    return dict(_planned(domain, targets, block_cells or (SMALL_CELLS if len(targets) >= MANY else BLOCK_CELLS)))


@lru_cache(maxsize=8)  # the same tables are counted in records, and again in rows, in a few passes
def _planned(domain: Domain, targets: tuple[Clique, ...], block_cells: int) -> dict[Clique, Clique]:
    shared = set(targets[0]).intersection(*targets) if len(targets) > 1 else set[str]()  # in every block: left out of the search
    waiting = _Waiting([tuple(name for name in clique if name not in shared) for clique in targets], domain, domain.cells(shared))
    always = sorted(map(domain.position, shared))
    block_of: dict[Clique, Clique] = {}
    for first in range(len(targets)):
        if waiting.listed[first]:
            columns, covered = waiting.block(first, block_cells)
            names = tuple(domain.names[a] for a in sorted((*always, *columns)))
            block_of |= {targets[i]: names for i in covered}
    return block_of


class _Waiting:
    """The cliques that are not covered by a block yet, and the number of their columns that the current block lacks."""

    def __init__(self, targets: Sequence[Clique], domain: Domain, cells: int) -> None:
        """Begin with all cliques waiting.

        Args:
            targets: The cliques, without the columns that every block has.
            domain: The domain.
            cells: Number of cells of the columns that every block has, 1 without such columns.
        """
        self._cells = float(cells)
        columns = [[domain.position(name) for name in clique] for clique in targets]
        widest = max(map(len, columns), default=0)
        padded = [own + [len(domain)] * (widest - len(own)) for own in columns]
        self._columns = np.array(padded, dtype=np.intp).reshape(len(columns), widest)
        holders: list[list[int]] = [[] for _ in domain.names]
        for number, own in enumerate(columns):
            for a in own:
                holders[a].append(number)
        self._holders = [np.array(numbers, dtype=np.intp) for numbers in holders]
        self._lengths = np.array([len(own) for own in columns], dtype=np.intp)
        self._lacking = self._lengths.copy()
        self.listed = np.ones(len(targets), dtype=bool)
        self._sizes = np.array(domain.sizes(domain.names), dtype=np.float64)
        self._alone = self._by_column(np.flatnonzero(self._lengths == 1))

    def block(self, first: int, block_cells: int) -> tuple[list[int], list[int]]:
        """Choose the next block, which begins as one clique and grows by columns.

        Each step adds the column that completes most waiting cliques per added cell, while it fits.
        Covered cliques wait no longer.

        Args:
            first: Index of the clique.
            block_cells: Largest number of cells of the block, unless the clique has more.

        Returns:
            The positions of the block's columns in the domain, ascending, and the indices of the
            cliques that the block covers.
        """
        inside, completed, cells = np.zeros(len(self._sizes), dtype=bool), self._alone.copy(), self._cells
        changed, covered = list[NDArray[np.intp]](), [np.array([first], dtype=np.intp)]
        joining = [a for a in self._columns[first].tolist() if a < len(inside)]
        while joining:
            for a in joining:
                inside[a] = True
                cells *= self._sizes[a]
                holders = self._holders[a][self.listed[self._holders[a]]]
                self._lacking[holders] -= 1
                changed.append(holders)
                covered.append(holders[self._lacking[holders] == 0])
                completed += self._by_column(holders[self._lacking[holders] == 1])
            gain = np.where(inside | (self._sizes * cells > block_cells), 0.0, completed / self._sizes)
            best = int(gain.argmax())
            joining = [best] if gain[best] > 0 else []
        for holders in changed:
            self._lacking[holders] = self._lengths[holders]
        done = np.unique(np.concatenate(covered))
        self.listed[done] = False
        self._alone -= self._by_column(done[self._lengths[done] == 1])
        return np.flatnonzero(inside).tolist(), done.tolist()

    def _by_column(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return, for each column, the number of these cliques that contain it.

        Args:
            numbers: Indices of the cliques.
        """
        return np.bincount(self._columns[numbers].ravel(), minlength=len(self._sizes) + 1)[:-1]


def sums(domain: Domain, cliques: Collection[Clique], block_of: Mapping[Clique, Clique]) -> list[tuple[Clique, Clique]]:
    """Return steps (table, larger table) that sum every table from the counted blocks, in order.

    The larger table is a block or the table of an earlier step. Steps include tables outside
    `cliques`, between a block and its cliques; for a clique that is its own block the two may be
    the same. A clique that is not maximal is summed from a clique with one more column, or, if there is none, from any
    clique that contains it; of several such cliques the one with the fewest cells is taken.

    Args:
        domain: The domain.
        cliques: The cliques to count.
        block_of: The block of each maximal clique, from `plan` for the same cliques.
    """
    inside: dict[Clique, list[Clique]] = {}
    for clique, block in block_of.items():
        inside.setdefault(block, []).append(clique)
    steps = [step for block, some in inside.items() for step in _halfway(block, some)]
    done = set(block_of)
    for clique in sorted(set(cliques).difference(block_of), key=lambda clique: (-len(clique), clique)):
        by_one_more = (domain.clique((*clique, name)) for name in domain.names if name not in clique)
        near = [c for c in by_one_more if c in done]
        steps.append((clique, min(near or [c for c in done if set(clique).issubset(c)], key=lambda c: (domain.cells(c), c))))
        done.add(clique)
    return steps


def _halfway(table: Clique, cliques: Sequence[Clique]) -> Iterator[tuple[Clique, Clique]]:
    """Yield steps (table, larger table) from a table down to the cliques, each without one group of columns.

    Cliques of at most k columns each lack one of k + 1 groups of columns, so many are summed from a
    table without a group, which is far smaller.

    Args:
        table: The table.
        cliques: The cliques inside it.
    """
    groups, left = max(map(len, cliques)) + 1, list(cliques)
    if len(cliques) <= groups or len(table) <= groups:
        yield from ((clique, table) for clique in cliques)
        return
    for number in range(groups):
        kept = tuple(name for place, name in enumerate(table) if place % groups != number)
        some = [clique for clique in left if set(clique).issubset(kept)]
        if some:
            yield kept, table
            yield from _halfway(kept, some)
            left = [clique for clique in left if not set(clique).issubset(kept)]


def slices(domain: Domain, cliques: Collection[Clique], most_bytes: int) -> list[list[Clique]]:
    """Return the cliques in groups; each group is counted in one pass over the records.

    The tables of a group take at most `most_bytes`. The exception is a clique whose own table is
    larger: its group contains only the clique and its parts. A single group is returned if all fit, also for no
    cliques.

    Args:
        domain: The domain.
        cliques: The cliques.
        most_bytes: Largest size of a group's tables, in bytes, with 8 bytes per cell.
    """
    if len(cliques) <= 1 or 8 * sum(max(BLOCK_CELLS, domain.cells(clique)) for clique in cliques) <= most_bytes:  # however they are merged
        return [list(cliques)]
    block_of = plan(domain, cliques)
    sizes = {block: 8 * domain.cells(block) for block in dict.fromkeys(block_of.values())}
    if sum(sizes.values()) <= most_bytes or len(block_of) <= 1:
        return [list(cliques)]
    wanted, left = set(cliques), list[list[Clique]]()
    for group in _divided(block_of, sizes, math.ceil(sum(sizes.values()) / most_bytes)):
        inside = {part for clique in group for part in _parts(clique, wanted)}
        wanted -= inside
        left += slices(domain, [clique for clique in cliques if clique in inside], most_bytes)
    return left


def passes(domain: Domain, cliques: Collection[Clique]) -> int:
    """Return the number of passes over the records that counting these cliques takes, at least 1.

    The tables of one pass take at most 512 MiB (`TABLE_BYTES`), unless a single clique's table is larger.
    """
    return len(slices(domain, cliques, TABLE_BYTES))


def _divided(block_of: Mapping[Clique, Clique], sizes: Mapping[Clique, int], parts: int) -> list[list[Clique]]:
    """Return the maximal cliques in at least two groups, with about equal sizes of their blocks.

    The cliques of a block stay together unless it is the only block.

    Args:
        block_of: The block of each maximal clique.
        sizes: Size of each block in bytes.
        parts: Number of groups, about.
    """
    if len(sizes) == 1:
        every = list(block_of)
        return [every[: len(every) // 2], every[len(every) // 2 :]]
    ends = dict(zip(sizes, accumulate(sizes.values()), strict=True))
    total = sum(sizes.values())
    number = {block: (ends[block] - size // 2) * max(2, parts) // (total + 1) for block, size in sizes.items()}
    groups: dict[int, list[Clique]] = {}
    for clique, block in block_of.items():
        groups.setdefault(number[block], []).append(clique)
    return list(groups.values())


def _parts(clique: Clique, wanted: Collection[Clique]) -> Iterator[Clique]:
    """Yield the wanted cliques that are contained in a clique, including the clique if it is wanted."""
    if len(clique) <= WHOLE_SEARCH:
        yield from (part for part in subsets(clique) if part in wanted)
    else:
        yield from (part for part in wanted if set(part) <= set(clique))
