"""Invented tables of any width: columns depend on each other in groups, and the groups a little on each other.

Every record has a hidden type; every group of columns a hidden value that follows from the type and chance; every column of the group
follows from that value and chance; in `of_classes` all columns are one group, in `of_tree` each
follows one other. No person is in such a table, so its counts may be looked at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

TYPES = 6
"""Hidden types of records."""
CHUNK_ROWS = 250_000


@dataclass(frozen=True)
class Invented:
    """What a table is made of. sizes: number of values of each column. group: columns that depend on each other directly. strength: from 0
    to 1, how often a column follows its group rather than chance."""

    name: str
    rows: int
    sizes: tuple[int, ...]
    group: int = 5
    strength: float = 0.7
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(f"c{number:03d}" for number in range(len(self.sizes)))


def sizes(columns: int, choices: Sequence[int], seed: int = 0) -> tuple[int, ...]:
    """Numbers of values for so many columns, drawn from a list."""
    return tuple(np.random.default_rng(seed).choice(choices, columns).tolist())


def write(table: Invented, folder: Path) -> tuple[Path, Path]:
    """A Parquet file of codes, and its domain: of which no cell is for missing or other values."""
    data, domain = folder / f"{table.name}.parquet", folder / f"{table.name}.json"
    schema = pa.schema([(name, pa.int32()) for name in table.names])
    with pq.ParquetWriter(data, schema) as writer:
        for start in range(0, table.rows, CHUNK_ROWS):
            columns = _columns(table, min(CHUNK_ROWS, table.rows - start), start)
            writer.write_table(pa.table([pa.array(column) for column in columns], schema=schema))
    domain.write_text(json.dumps(dict(zip(table.names, table.sizes, strict=True))), encoding="utf-8")
    return data, domain


def codes(table: Invented) -> NDArray[np.int32]:
    """The codes of a table, int32 of shape (rows, columns)."""
    chunks = range(0, table.rows, CHUNK_ROWS)
    return np.concatenate([np.stack(_columns(table, min(CHUNK_ROWS, table.rows - start), start), axis=1) for start in chunks])


def _columns(table: Invented, rows: int, start: int) -> list[NDArray[np.int32]]:
    """The codes of one chunk, int32 of shape (rows,) for each column; the same table's chunks follow the same tables of chances."""
    shape, chance = np.random.default_rng(table.seed), np.random.default_rng((table.seed, start + 1))
    types = chance.choice(TYPES, rows, p=shape.dirichlet(np.ones(TYPES)))
    hidden, columns = types, list[NDArray[np.int32]]()
    for number, size in enumerate(table.sizes):
        if number % table.group == 0:
            follows = shape.permutation(TYPES)[types]
            hidden = np.where(chance.random(rows) < table.strength, follows, chance.integers(TYPES, size=rows))
        favourite = shape.integers(size, size=TYPES)
        base = shape.dirichlet(1 / np.arange(1, size + 1))  # a few frequent values, many rare ones
        own = np.minimum(np.searchsorted(np.cumsum(base), chance.random(rows)), size - 1)
        columns.append(np.where(chance.random(rows) < table.strength, favourite[hidden], own).astype(np.int32))
    return columns


def of_classes(sizes: Sequence[int], rows: int, classes: int, evenness: float, rng: np.random.Generator) -> NDArray[np.int32]:
    """Codes, int32 of shape (rows, columns), of people in hidden classes, whose columns are independent within each: so every pair of
    columns depends on each other. evenness: of a class's shares of a column's values, Dirichlet's parameter; the less, the more it says."""
    group = rng.choice(classes, size=rows, p=rng.dirichlet(np.full(classes, 1.0)))
    return np.stack([_drawn(rng.dirichlet(np.full(size, evenness), classes), group, rng) for size in sizes], axis=1)


def of_tree(
    sizes: Sequence[int], rows: int, parents: Sequence[int], chance: float, skew: float, others: float, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Codes, int32 of shape (rows, columns), of which each column but the first follows an earlier one, its parent.

    chance: how often it is drawn by itself instead, then value i as often as (i + 1)^-skew says. others: the share of people, drawn for
    each column, who may have other values than the first: where it is small, columns are nearly constant."""
    drawn: list[NDArray[np.int64]] = []
    for number, size in enumerate(sizes):
        shares = np.arange(1, size + 1) ** -skew
        column = rng.choice(size, rows, p=shares / shares.sum())
        if number:
            parent = parents[number - 1]
            follows = rng.integers(size, size=sizes[parent])[drawn[parent]]
            column = np.where(rng.random(rows) < chance, column, follows)
        drawn.append(np.where(rng.random(rows) < others, column, 0))
    return np.stack(drawn, axis=1).astype(np.int32)


def _drawn(shares: NDArray[np.float64], group: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int32]:
    """One value for each person. shares: (classes, values)."""
    return (rng.random(len(group))[:, None] > shares.cumsum(axis=1)[group, :-1]).sum(axis=1, dtype=np.int32)
