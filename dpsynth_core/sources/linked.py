"""Counts of two linked tables, households and their members, as counts of one table of pairs (`vocabulary.link`).

A household is a value of the key. Its first row in the table of households counts, and its first rows in the table of members, up to the
limit, in file order. Rows without a key, and members of a household that has no row of its own, do not count. *So the records of a
household that count depend on the rows that name it and on no others* (`persons`), and neighbouring tables, which differ in all rows of one
household in both, differ in the records of that household alone.

Both tables are read once, and held as codes in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import isqrt

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.sources import persons
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.opening import Table
from dpsynth_core.sources.records import Records
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import Codes, Link
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, Clique
from dpsynth_core.vocabulary.tally import Tally


class LinkedSource:
    """A source of marginals and roots over the pairs of members of households (`vocabulary.link`)."""

    def __init__(self, link: Link, households: Table, members: Table, key: str) -> None:
        """Open both tables.

        Args:
            link: The domains of both tables, and the number of members of a household that are
                counted.
            households: The table of households.
            members: The table of members.
            key: The column that names the household, in both tables.

        Raises:
            InputError: A table lacks a column of its domain or the key.
        """
        self.domain, self._link = link.domain, link
        self._households, self._members = Records(households, key, 1), self._counted(members, key)
        self._households.check_columns(link.households)
        self._pairs: list[tuple[int, NDArray[np.integer]]] | None = None

    @classmethod
    def of_codes(cls, link: Link, households: Codes, sizes: NDArray[np.int64], members: Codes) -> LinkedSource:
        """Return a source of invented households, which are given as codes. Its records cannot be encoded anew (`over`).

        Args:
            link: The domains of both tables, and the number of members that count.
            households: Codes of the households, shape (n, columns).
            sizes: Numbers of members, shape (n,).
            members: Codes of the members, shape (n, most, columns) (`Link.records`).
        """
        made = cls.__new__(cls)
        made.domain, made._link, made._pairs = link.domain, link, list(link.records(households, sizes, members))
        return made

    def over(self, domain: Domain) -> LinkedSource:
        """Return a source of the same tables, with household columns encoded in another domain.

        Columns of members keep their cells, and the link's rules are dropped. The tables are read again when the new
        source is first asked.

        Args:
            domain: A domain with the household columns.

        Raises:
            InputError: The domain lacks a column of the households.
        """
        other = copy(self)
        households = Domain(tuple(domain[name] for name in self._link.households.names))
        other._link, other._pairs = replace(self._link, households=households, rules=(), numbers=()), None
        other.domain = other._link.domain
        return other

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """Return the exact marginal over each clique, int64: numbers of records of pairs, without noise.

        A household is `Link.records_each` records, divided among its pairs of members. See
        `MarginalSource.counts`. The tables are read at the first call and then kept in memory as codes.

        Raises:
            InputError: A table cannot be read.
        """
        total = {clique: np.zeros(self.domain.sizes(clique), dtype=np.int64) for clique in cliques}
        for records, codes in self._records():
            tally = Tally(self.domain, cliques)
            tally.add({name: codes[:, self.domain.position(name)] for name in tally.columns}, len(codes))
            for clique, counts in tally.counts().items():
                total[clique] += records * counts
        return total

    def roots(self, clique: Clique, groups: Mapping[str, Groups]) -> NDArray[np.int64]:
        """Return per cell the sum over households of n * sqrt(share), int64, in units of 1/1024 (`ROOT_STEPS`) of a record.

        n is `Link.records_each`, and the share is the fraction of the household's records that are in
        the cell. If `clique` has columns of members, only records in which these members exist
        are counted, and shares are fractions of these. Each household's term is rounded down. See
        `RootSource.roots`.

        Args:
            clique: The columns of the cells; a name of `groups` may stand in place of a column.
            groups: Groups of the values of a column, by name.

        Raises:
            InputError: A table cannot be read.
        """
        over = [groups[name].column if name in groups else name for name in clique]
        sizes = [groups[name].size if name in groups else self.domain[name].size for name in clique]
        places = [self.domain.position(name) for name in over]
        nobody = [self.domain[name].size - (name in self._link.with_nobody) for name in over]
        total = np.zeros(int(np.prod(sizes)), dtype=np.int64)
        for records, codes in self._records():
            asked = codes.reshape(self._link.records_each // records, -1, codes.shape[1])[:, :, places]  # by pair, then by household
            asked = asked[(asked[:, 0] < nobody).all(axis=1)]
            columns = zip(clique, asked.transpose(2, 0, 1), strict=True)
            cells = np.ravel_multi_index([groups[name].codes(one) if name in groups else one for name, one in columns], sizes)
            roots = np.array([isqrt((ROOT_STEPS * self._link.records_each) ** 2 * n // max(1, len(cells))) for n in range(len(cells) + 1)])
            alike, held = np.unique(cells + len(total) * np.arange(cells.shape[1]), return_counts=True)  # of each household apart
            np.add.at(total, alike % len(total), roots[held])
        return total.reshape(sizes)

    def _records(self) -> Sequence[tuple[int, NDArray[np.integer]]]:
        """Return blocks of pairs as codes of the domain, each with the number of records per pair.

        They are read at the first call and then kept.
        """
        if self._pairs is None:
            self._pairs = list(self._link.records(*self._read()))
        return self._pairs

    def _counted(self, members: Table, key: str) -> Records:
        """Return the records of the table of members: of each household the first `most` in file order.

        Raises:
            InputError: The table lacks a column of its domain or the key.
        """
        records = Records(members, key, self._link.most)
        records.check_columns(self._link.members)
        return records

    def _read(self) -> tuple[Codes, NDArray[np.int64], Codes]:
        """Return the households' codes, their numbers of members, and the members' codes.

        These are the arguments of `Link.records`, with shapes (households, columns), (households,)
        and (households, most, columns).
        """
        number: dict[str, int] = {}
        first = []
        for names, codes in _rows(self._households, self._link.households):
            number |= {name: len(number) + place for place, name in enumerate(names)}  # each name comes once: it has one row that counts
            first.append(codes)
        sizes, members = self._link.slots(len(number), *self._listed(number))
        return np.concatenate([np.empty((0, len(self._link.households)), np.int32), *first]), sizes, members

    def _listed(self, number: Mapping[str, int]) -> tuple[NDArray[np.int64], Codes]:
        """Return the members that count, household by household: the number of each one's household, ascending, and the codes.

        Args:
            number: The number of each household by its key, from 0. Members of other households are left out.
        """
        rows = [(owners_of(names, number), codes) for names, codes in _rows(self._members, self._link.members)]
        owners = np.concatenate([np.empty(0, np.int64), *(owner for owner, _ in rows)])
        codes = np.concatenate([np.empty((0, len(self._link.members)), np.int32), *(codes for _, codes in rows)])
        order = np.argsort(owners, kind="stable")[(owners < 0).sum() :]
        return owners[order], codes[order]


def owners_of(names: Sequence[str], number: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the number of each row's household by its key; -1 for a household that has no row of its own."""
    return np.array([number.get(name, -1) for name in names], dtype=np.int64)


def _rows(records: Records, domain: Domain) -> Iterator[tuple[list[str], Codes]]:
    """Yield by batch the keys of the counted rows and their codes, shape (rows, columns)."""
    for batch in records.batches(domain.names):
        codes = encode(domain, batch, records.table.form.notation)
        yield keys(records, batch), np.column_stack([codes[name] for name in domain.names])


def keys(records: Records, batch: pa.RecordBatch) -> list[str]:
    """Return the keys of a batch of rows that count; the records have a person column."""
    assert records.person_column is not None
    return persons.named(batch.column(records.person_column), records.table.form).to_pylist()
