"""Marginal counts of a table in a database: coded and counted there, so that nothing but tables of counts leaves it, of a table that is too
large to be sent (`occupied`) the cells that are not empty.

**Rows per person.** A table in a database has no order, so "the first m" means nothing there. Which rows of a person count is defined by
the rows' own content: each row has the codes of all columns of the domain, in the domain's order; a person's rows are sorted by them, and
the first m count. A row that names nobody does not count. Persons are compared as trimmed texts (`sources.persons`).

*Proof that the records that count change by at most m when one person's rows do.* Whether a row counts depends on the rows that name the
same person, and on no others: ROW_NUMBER() is taken within PARTITION BY person, and codes depend on nothing but their own row and public
cells. So the rows of everybody else count as before. Of the one person at most m rows count, in each of the two tables: m are lost at
most, or m gained, or (replace) m lost and m gained. *And the counts are well defined:* rows of a person that are equal in all codes are
interchangeable, as counts see codes alone. Whichever of them the database numbers first, the multiset of codes that count is the same:
the m smallest. It depends on no partition, no plan and no version of the database, and because all columns of the domain take part, not
on which marginals are asked for either; so every answer of one run is about the same rows.

**How it counts.** Codes are made once and kept in a temporary table in memory, where a read-only connection may have one: one or two bytes
for a code. Each block of `vocabulary.tally.plan` is one GROUP BY over it. Elsewhere, and where they are more than the memory holds, codes
that cost little are made anew for each block, others once for some blocks in one statement.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import ibis
import numpy as np
from numpy.typing import NDArray

from dpsynth_core.sources import persons
from dpsynth_core.sources.databases import coding, connect
from dpsynth_core.sources.databases.catalogue import Column
from dpsynth_core.sources.databases.connect import Connection
from dpsynth_core.sources.databases.texts import Keep
from dpsynth_core.sources.databases.words import OTHERS, WORDS
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.readers import check_columns
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import trimmed
from dpsynth_core.vocabulary.occupied import Occupied, OccupiedCounts
from dpsynth_core.vocabulary.tally import Tally, check_canonical

BLOCK_CELLS = 2**15
"""Larger blocks are fewer scans and more counts to send; measured (`benchmarks/databases.py`)."""
_KEPT, _VALUES = "dpsynth_codes", "dpsynth_values"
_TOGETHER = 16
"""Blocks in one statement over codes that cannot be kept."""


class DatabaseSource:
    """A `MarginalSource` over one table or query of a database.

    section: the `data` section of a spec. person_column: with it, only max_rows_per_person rows of each person count (see above).
    Raises InputError if the table lacks a column of the domain or the person column, or a column cannot be counted exactly.
    """

    def __init__(
        self, domain: Domain, section: Mapping[str, Any], notation: Notation, person_column: str | None = None, max_rows_per_person: int = 1
    ) -> None:
        persons.check_limit(max_rows_per_person)
        self.domain, self._notation = domain, notation
        self._person_column, self._limit = person_column, max_rows_per_person
        self._connection = connect.connect(section)
        self._words = WORDS.get(self._connection.address.engine, OTHERS)
        self._select = self._connection.select(section)
        self._columns = {trimmed(column.name): column for column in self._connection.columns(self._select)}
        check_columns(list(self._columns), [*domain.names, *([person_column] if person_column else [])])
        self._table = _records(self._connection, self._select, self._columns)
        self._kept = False
        weakref.finalize(self, self._connection.close)

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """See `MarginalSource.counts`. Raises ValueError for a clique that is not in canonical order."""
        check_canonical(self.domain, cliques)
        if not cliques:
            return {}
        tally = Tally(self.domain, cliques, BLOCK_CELLS)
        for block, rows in self._counted(tally.blocks):
            tally.add_counts(block, rows[:, 0], rows[:, 1])
        return tally.counts()

    def occupied(self, clique: Clique) -> Occupied:
        """See `CellSource.occupied`: one GROUP BY."""
        counts = OccupiedCounts(self.domain, clique)
        for _, rows in self._counted((clique,)):
            counts.absorb((rows[:, 0], rows[:, 1]))
        return counts.occupied

    def prepare(self) -> None:
        """Make all expressions, and ask nothing. InputError for a column that cannot be counted exactly."""
        self._codes(self.domain.names)

    def close(self) -> None:
        self._connection.close()

    def _counted(self, blocks: Sequence[Clique]) -> Iterator[tuple[Clique, NDArray[np.int64]]]:
        """Each block with the cells that are not empty and their counts, shape (cells, 2)."""
        names = {name for block in blocks for name in block}
        quick = self._is_quick(names)
        if self._words.keeps and self._keep(or_not=quick):
            yield from ((block, self._ask(self._cells(self._kept_codes(), block))) for block in blocks)
        elif quick:
            yield from ((block, self._ask(self._cells(self._coded(block), block))) for block in blocks)
        else:
            for first in range(0, len(blocks), _TOGETHER):
                yield from self._together(blocks[first : first + _TOGETHER])

    def _is_quick(self, names: Collection[str]) -> bool:
        """Whether codes of these columns may be made again and again."""
        return self._person_column is None and all(coding.is_quick(self._columns[name], self.domain[name]) for name in names)

    def _together(self, blocks: Sequence[Clique]) -> Iterator[tuple[Clique, NDArray[np.int64]]]:
        """Some blocks from codes that are made once for one statement."""
        names = self.domain.clique({name for block in blocks for name in block})
        codes = self._codes(names if self._person_column is None else self.domain.names)
        parts = [self._sql(self._cells(self._kept_codes(), block).mutate(block=ibis.literal(i))) for i, block in enumerate(blocks)]
        counted = "\nUNION ALL\n".join(f"({part})" for part in parts)
        rows = self._connection.numbers(f"WITH {_KEPT} AS MATERIALIZED (\n{codes}\n)\n{counted}", 3)
        yield from ((block, rows[rows[:, 2] == i]) for i, block in enumerate(blocks))

    def _ask(self, counts: Any) -> NDArray[np.int64]:
        return self._connection.numbers(self._sql(counts), 2)

    def _sql(self, expression: Any) -> str:
        return str(self._connection.ibis.compile(expression))

    def _cells(self, codes: Any, block: Clique) -> Any:
        """The cells of a block with their counts: one number for each combination of codes."""
        if self._words.groups_numbers:
            return codes.select(cell=self._cell(codes, block)).group_by("cell").agg(records=lambda rows: rows.count())
        counted = codes.group_by([self._alias(name) for name in block]).agg(records=lambda rows: rows.count())
        return counted.select(cell=self._cell(counted, block), records=counted.records)

    def _cell(self, codes: Any, block: Clique) -> Any:
        cell = ibis.literal(0).cast("int64")
        for name in block:
            cell = cell * self.domain[name].size + codes[self._alias(name)]
        return cell

    def _coded(self, names: Clique) -> Any:
        """Codes of columns that cost little, straight from the table."""
        if not names:
            return self._table.select(c=ibis.literal(0))
        return self._table.select(**{self._alias(name): self._code(name, lambda made: made).cast(self._width(name)) for name in names})

    def _codes(self, names: Clique) -> str:
        """The statement for the codes of columns, of the rows that count."""
        values = _Values(self._table)
        for name in names:
            self._code(name, values.add)
        person = None if self._person_column is None else values.add(self._named(self._person_column))
        kept = values.kept()
        made = {self._alias(name): self._code(name, kept.next).cast(self._width(name)) for name in names}
        coded = kept.table.select(**made) if person is None else self._limited(kept.table.select(**made, person=kept.next(None)))
        return f"WITH {_VALUES} AS {self._words.once} (\n{self._sql(values.select())}\n)\n{self._sql(coded)}"

    def _limited(self, coded: Any) -> Any:
        """The rows that count; all columns of the domain have codes."""
        rows = coded.filter(coded.person.notnull())
        codes = [self._alias(name) for name in self.domain.names]
        number = ibis.row_number().over(ibis.window(group_by=rows.person, order_by=[rows[alias] for alias in codes]))
        return rows.mutate(place=number).filter(lambda numbered: numbered.place < self._limit).select(*codes)

    def _keep(self, or_not: bool) -> bool:
        """Whether the codes are kept from here on. or_not: False is an answer; else MemoryError where there is no room for them."""
        if self._kept:
            return True
        try:
            names = self.domain.names
            codes = self._sql(self._coded(names)) if self._is_quick(names) else self._codes(names)
            self._connection.run(f"CREATE TEMPORARY TABLE {_KEPT} AS {codes}")
        except MemoryError:
            if not or_not:
                raise
            return False
        self._kept = True
        return True

    def _kept_codes(self) -> Any:
        return ibis.table({self._alias(name): self._width(name) for name in self.domain.names}, name=_KEPT)

    def _width(self, name: str) -> str:
        """The smallest type that all databases have for the codes of a column."""
        return str(np.min_scalar_type(-self.domain[name].size))

    def _alias(self, name: str) -> str:
        """Names of columns may differ in capitals alone, which not every database tells apart."""
        return f"c{self.domain.position(name)}"

    def _code(self, name: str, keep: Keep) -> Any:
        column = self._columns[name]
        return coding.code(self._words, self.domain[name], column, self._table[column.name], self._notation, keep)

    def _named(self, name: str) -> Any:
        column = self._columns[name]
        return coding.person(self._words, name, column, self._table[column.name], self._notation)


class _Values:
    """What is worked out of the values of a table once, under names of its own, before codes are made of it."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._made: list[Any] = []

    def add(self, made: Any) -> Any:
        self._made.append(made)
        return made

    def select(self) -> Any:
        return self._table.select(**{f"v{place}": made for place, made in enumerate(self._made)})

    def kept(self) -> _Kept:
        return _Kept(ibis.table({f"v{place}": made.type() for place, made in enumerate(self._made)}, name=_VALUES))


class _Kept:
    """The same values, handed out in the order in which they were added."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._place = count()

    def next(self, _made: Any) -> Any:
        return self.table[f"v{next(self._place)}"]


def check(section: Mapping[str, Any], domain: Domain, notation: Notation, person_column: str | None) -> None:
    """Whether everything can be counted exactly: types alone are looked at, no record. InputError."""
    source = DatabaseSource(domain, section, notation, person_column)
    source.prepare()
    source.close()


def _records(connection: Connection, select: str, columns: Mapping[str, Column]) -> Any:
    schema = ibis.schema({column.name: coding.ibis_type(column) for column in columns.values()})
    return connection.ibis.sql(select, schema=schema)
