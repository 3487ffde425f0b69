"""Choose the cells of a column that a model distinguishes, from its noisy counts (compression: McKenna, Miklau, Sheldon 2021).

A cell whose noisy count does not exceed the noise costs a model more than it is worth: it is a cell of every table with the column, and
adds noise to each. Cells with few people therefore become one *folded* cell of the model, in which they have the shares of their noisy
counts. If their total does not exceed the noise either, the model has no such cell. All of this is post-processing of released values.
Measurements keep the cells of the domain: noisy tables are folded by summing (`summed`), which is linear, so the variances of their
cells add up; answers and rows of the model are unfolded by the shares.

Listed values are never folded with the cells for missing and other values. Impossible combinations stay exact: cells are folded together
only if every rule treats them alike, and no cell is left out of a column that a rule names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.rows import dealt, rows_of_values
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement
from dpsynth_core.vocabulary.released import with_known
from dpsynth_core.vocabulary.rows import narrow
from dpsynth_core.vocabulary.zeros import StructuralZeros, as_shown, boxes_of

EMPTY = 1.0
"""Standard deviations of its noise that the sum of folded counts must have, or the model has no cell for them."""


@dataclass(frozen=True)
class _Limit:
    """The limit of folding: cells are folded as long as few people are in them.

    Attributes:
        share: Largest share of the people that all folded cells may have, noise included.
        sure: Standard deviations of noise that are added to their noisy count before it is
            compared.
    """

    share: float
    sure: float


LISTED, SPARE = _Limit(0.02, 2.0), _Limit(0.05, 1.0)
"""Of values that a curator lists, and of the cells for missing and for other values, which every column has and few columns need."""

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnFolding:
    """The folding of one column.

    Attributes:
        place: For each cell of the column, the index of its cell in the model, from 0, or -1 if the model
            has none; shape (cells,).
        share: For each cell of the column, its share of the model's cell, from 0 to 1; 0 if the model has none. Shape
            (cells,).
    """

    place: NDArray[np.intp]
    share: Float

    @property
    def size(self) -> int:
        """The number of cells that the model has for the column."""
        return int(self.place.max()) + 1

    def summed(self, table: Float, axis: int) -> Float:
        """Return a table with the column's cells, along one axis, summed to the model's cells.

        Cells for which the model has none are left out.
        """
        order, starts = self._by_place()
        summed: Float = np.add.reduceat(np.take(table, order, axis), starts, axis)
        return summed

    def unfolded(self, table: Float, axis: int) -> Float:
        """Return a table with the model's cells, along one axis, divided among the column's cells by their shares."""
        shape = [1] * table.ndim
        shape[axis] = -1
        return np.take(table, np.maximum(self.place, 0), axis) * self.share.reshape(shape)

    def codes(self, places: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int32]:
        """Return a cell of the column for each row, drawn by the shares from the row's model cell.

        Each cell gets its expected number of rows, rounded down or up at random.

        Args:
            places: The model's cell of each row, shape (rows,).
            rng: Source of randomness.

        Returns:
            int32, shape (rows,).
        """
        counts = np.bincount(places, minlength=self.size)
        (order, starts), start = self._by_place(), rng.random((self.size, 1))
        assigned, ends = counts[self.place[order]], np.append(starts[1:], len(order))
        for folded in np.flatnonzero(ends - starts > 1):  # a table of the model's cells by the column's would be mostly zeros
            some, one = slice(starts[folded], ends[folded]), slice(folded, folded + 1)
            assigned[some] = rows_of_values(self.share[None, order[some]], counts[one], start[one])
        return dealt(np.repeat(order.astype(np.int32), assigned), places.astype(np.intp), self.size, rng)

    def _by_place(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the column's cells grouped by model cell, and the position at which each model cell begins.

        Cells for which the model has none are left out.
        """
        order = np.argsort(self.place, kind="stable")[np.count_nonzero(self.place < 0) :]
        return order, np.searchsorted(self.place[order], np.arange(self.size))


@dataclass(frozen=True, eq=False)
class Folding:
    """The folding of a domain's columns.

    Attributes:
        domain: The domain.
        columns: By name, the folding of each folded column; other columns keep all cells.
        model: The domain of the model, whose columns have the model's cells; it follows from the
            others.
    """

    domain: Domain
    columns: Mapping[str, ColumnFolding] = field(default_factory=dict)
    model: Domain = None  # type: ignore[assignment]  # follows from the other two

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", _folded(self.domain, self.columns) if self.columns else self.domain)

    @classmethod
    def of(cls, domain: Domain, measurements: Sequence[Measurement], below: float, known: Sequence[MarginalCounts] = ()) -> Folding:
        """Return the folding that follows from noisy counts of single columns.

        Rare cells are folded as long as all folded cells of a column surely hold few people: 2% for listed values,
        5% for the cells of missing and other values.

        Args:
            domain: The domain.
            measurements: The noisy tables; only tables of single columns are used.
            below: Number of standard deviations of noise below which a count is rare; 0 folds
                nothing.
            known: Further counts of single columns, with a variance for each cell.
        """
        columns, rules = {}, _rules(domain)
        for column in with_known(measurements, known) if below > 0 else ():
            columns[column.clique[0]] = _column(domain, rules, column, below)
        return cls(domain, {name: folding for name, folding in columns.items() if folding is not None})

    def summed(self, clique: Clique, table: Float) -> Float:
        """Return a table over `clique` with the domain's cells summed to the model's.

        If no column of the clique is folded, it is the table itself. Cells for which the model has none are left out.
        """
        for axis, name in enumerate(clique):
            if name in self.columns:
                table = self.columns[name].summed(table, axis)
        return table

    def unfolded(self, clique: Clique, table: Float) -> Float:
        """Return a table over `clique` with the model's cells divided among the domain's by their shares.

        If no column of the clique is folded, it is the table itself. Cells for which the model has none are 0.
        """
        for axis, name in enumerate(clique):
            if name in self.columns:
                table = self.columns[name].unfolded(table, axis)
        return table

    def unfolded_pairs(self, table: Float) -> Float:
        """Return the matrix of all pairs of the model's cells as a matrix of all pairs of the domain's cells.

        Args:
            table: A value for each pair of cells, numbered through all columns (`Pairs`).

        Returns:
            Shape (cells of the domain, cells of the domain); the same array if no column is folded.
        """
        if not self.columns:
            return table
        places, shares, start = [], [], 0
        for name in self.domain.names:
            folding = self.columns.get(name) or ColumnFolding(np.arange(self.domain[name].size), np.ones(self.domain[name].size))
            places.append(start + np.maximum(folding.place, 0))
            shares.append(folding.share)
            start += folding.size
        place, share = np.concatenate(places), np.concatenate(shares)
        unfolded = table[np.ix_(place, place)]
        unfolded *= share
        unfolded *= share[:, None]
        return unfolded

    def codes(self, places: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return rows of the model as rows of the domain: each folded cell is replaced by one of its cells, by share.

        Args:
            places: Codes of the model's cells, shape (rows, attributes); it may have the first attributes alone.
            rng: Source of randomness.
        """
        codes = places.astype(narrow(self.domain.sizes(self.domain.names)))
        for name, folding in self.columns.items():
            if (position := self.domain.position(name)) < places.shape[1]:
                codes[:, position] = folding.codes(places[:, position], rng)
        return codes


def _column(domain: Domain, rules: Sequence[StructuralZeros], column: MarginalCounts, below: float) -> ColumnFolding | None:
    (name,), counts, sigma = column.clique, column.values, np.sqrt(column.variances)
    place, share = np.arange(len(counts)), np.ones(len(counts))
    free = not any(name in rule.attributes for rule in rules)
    for cells, limit in _alike(domain[name], rules):
        folded = _rare(cells, counts, sigma, below, limit)
        held = np.maximum(counts[folded], 0.0)
        if free and len(folded) and counts[folded].sum() < EMPTY * math.sqrt(float(column.variances[folded].sum())):
            place[folded], share[folded] = -1, 0.0
        elif len(folded) > 1:
            place[folded] = folded[0]
            share[folded] = held / held.sum() if held.any() else 1.0 / len(folded)
    if (share == 1).all():
        return None
    kept = np.unique(place[place >= 0])
    return ColumnFolding(np.where(place < 0, -1, np.searchsorted(kept, place)), share)


def _rare(cells: NDArray[np.intp], counts: Float, sigma: Float, below: float, limit: _Limit) -> NDArray[np.intp]:
    """Return the cells to fold: those with the smallest counts, as long as they are rare.

    A cell is rare if its count is below `below` deviations of its noise, and it and all smaller
    ones have few people together (`limit`).

    Args:
        cells: Indices of the cells that may be folded together.
        counts: Noisy counts of all cells.
        sigma: Standard deviation of the noise of each cell.
        below: Number of standard deviations.
        limit: Limit on the people in folded cells.
    """
    order = cells[np.argsort(counts[cells], kind="stable")]
    noise = np.sqrt(np.cumsum(sigma[order] ** 2))
    people = np.cumsum(np.maximum(counts[order], 0.0)) + limit.sure * noise
    return np.sort(order[(counts[order] < below * sigma[order]) & (people <= limit.share * counts.sum())])


def _alike(column: Attribute, rules: Sequence[StructuralZeros]) -> Iterator[tuple[NDArray[np.intp], _Limit]]:
    """Yield sets of a column's cells that may be folded together, because all rules treat them alike.

    Each comes with its limit. Cells for missing and for other values are not in a set with listed
    values.
    """
    about = [rule for rule in rules if column.name in rule.attributes]
    named = [set(box[rule.attributes.index(column.name)]) for rule in about for box in rule.boxes]
    sets: dict[tuple[bool, ...], list[int]] = {}
    for code in range(column.size):
        sets.setdefault((code >= column.values, *(code in codes for codes in named)), []).append(code)
    for (spare, *_), codes in sorted(sets.items()):
        yield np.array(codes, dtype=np.intp), SPARE if spare else LISTED


def _rules(domain: Domain) -> tuple[StructuralZeros, ...]:
    """Return the rules that forbid a cell, and for every pair what follows from several orders, which the folded model cannot derive."""
    by_name = {attribute.name: attribute for attribute in domain}
    stated = tuple(as_shown(rule, by_name) for rule in domain.impossible if rule.boxes)  # an order may decide no cell
    if not any(rule.order for rule in domain.impossible):
        return stated
    return (*stated, *(StructuralZeros(pair, boxes_of(table)) for pair, table in domain.zeros.items() if len(pair) == 2))


def _folded(domain: Domain, columns: Mapping[str, ColumnFolding]) -> Domain:
    sizes = {name: columns[name].size if name in columns else domain[name].size for name in domain.names}
    attributes = tuple(Attribute.coded(name, size) for name, size in sizes.items())
    rules = tuple(_folded_rule(rule, columns) for rule in _rules(domain))
    return Domain(attributes, rules, published=domain.published)  # whose columns nobody measures, so that none is folded


def _folded_rule(rule: StructuralZeros, columns: Mapping[str, ColumnFolding]) -> StructuralZeros:

    def places(name: str, codes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted({int(columns[name].place[code]) for code in codes})) if name in columns else codes

    boxes = tuple(tuple(places(name, codes) for name, codes in zip(rule.attributes, box, strict=True)) for box in rule.boxes)
    return StructuralZeros(rule.attributes, boxes, rule.target, rule.note)
