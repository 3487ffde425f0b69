"""Predictors: released functions of a record's codes that guess one of its columns, and how many records they are right about.

A predictor is made of whole numbers alone: what it says of a record is the same on every machine, in every batch and beside every other
record. Products of matrices would not do, as they may round a row by where it stands. `claims.models.training` makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

BOOSTING, LOGISTIC, LINEAR, MAJORITY = "gradient boosting", "logistic regression", "linear regression", "majority"
"""What predictors are called, by how they were made; the last one looks at nothing."""
CHUNK_ROWS = 2**15
"""Rows that are looked at together: what trees need of them stays in the processor's cache."""
_LARGEST = 2**62
"""Of a score, so that no sum overflows."""

Codes = Mapping[str, NDArray[np.int32]]
"""By column, the code of each row."""
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Additive:
    """Numbers for each record: one for each class, or one that stands for a value. They are a start for each output, and what each code of
    a column adds. start: shape (outputs,); tables: (size, outputs), by column."""

    start: Whole
    tables: Mapping[str, Whole]

    def __post_init__(self) -> None:
        if any(table.ndim != 2 or table.shape[1] != len(self.start) for table in self.tables.values()):
            raise ValueError("every column adds a number for each code and output")
        _check_size([self.start, *self.tables.values()])

    @property
    def columns(self) -> Clique:
        """That are looked at."""
        return tuple(self.tables)

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """All that decides what is said, for a digest."""
        return (self.start, *self.tables.values())

    def of(self, codes: Codes, rows: int) -> Whole:
        """Shape (rows, outputs)."""
        scores = np.tile(self.start, (rows, 1))
        for name, table in self.tables.items():
            scores += table[codes[name]]
        return scores


@dataclass(frozen=True, eq=False)
class Tree:
    """One decision tree, whose root is node 0. column: by node, the place of its column among those of the forest. following: the node that
    comes next, shape (nodes, groups); after a leaf, itself. values: by node, what it adds. depth: steps to the deepest leaf."""

    output: int
    column: NDArray[np.int64]
    following: NDArray[np.int64]
    values: Whole
    depth: int


@dataclass(frozen=True, eq=False)
class Forest:
    """The same as the sum of trees. groups: by column, the group of each code; trees tell groups apart. start: shape (outputs,)."""

    start: Whole
    groups: Mapping[str, NDArray[np.int64]]
    trees: Sequence[Tree]

    def __post_init__(self) -> None:
        _check_size([self.start, *(tree.values for tree in self.trees)])

    @property
    def columns(self) -> Clique:
        return tuple(self.groups)

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        yield self.start
        yield from self.groups.values()
        for tree in self.trees:
            yield from (np.array([tree.output, tree.depth], dtype=np.int64), tree.column, tree.following, tree.values)

    def of(self, codes: Codes, rows: int) -> Whole:
        scores = np.tile(self.start, (rows, 1))
        grouped = np.stack([groups[codes[name]] for name, groups in self.groups.items()]).ravel()
        places = np.arange(rows)
        for tree in self.trees:
            node = np.zeros(rows, dtype=np.int64)
            flat, width = tree.following.ravel(), tree.following.shape[1]
            for _ in range(tree.depth):
                node = flat[node * width + grouped[tree.column[node] * rows + places]]
            scores[:, tree.output] += tree.values[node]
        return scores


@dataclass(frozen=True, eq=False)
class Largest:
    """The code of the largest score is guessed, the first of several. codes: of the target, one for each output."""

    codes: NDArray[np.int64]

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        return (self.codes,)

    def right(self, scores: Whole, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each score counts as right about the record's code. scores: (rows, outputs); codes: (rows,), of the target."""
        return np.asarray(self.codes[scores.argmax(axis=1)] == codes)


@dataclass(frozen=True, eq=False)
class Within:
    """The one score is right about a code between its `least` and its `most`, both of shape (size,); about none where least > most."""

    least: Whole
    most: Whole

    def __post_init__(self) -> None:
        _check_size([self.least])
        _check_size([self.most])

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        return (self.least, self.most)

    def right(self, scores: Whole, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        return np.asarray((self.least[codes] <= scores[:, 0]) & (scores[:, 0] <= self.most[codes]))


Decision = Largest | Within
"""When a score counts as right about a record's code."""


@dataclass(frozen=True, eq=False)
class Predictor:
    """A guess at the column `target`."""

    target: str
    scores: Additive | Forest
    decision: Decision

    def __post_init__(self) -> None:
        if self.target in self.scores.columns:
            raise ValueError("a predictor must not look at what it guesses")

    @property
    def columns(self) -> Clique:
        """That decide whether it is right."""
        return (self.target, *self.scores.columns)

    def right(self, codes: Codes, rows: int) -> NDArray[np.bool_]:
        """About which of the rows it is right. What is said of a row depends on that row alone."""
        return self.decision.right(self.scores.of(codes, rows), codes[self.target])

    @cached_property
    def sha256(self) -> str:
        """Of everything that decides what it says."""
        digest = sha256(repr(self.columns).encode())
        for part in (*self.scores.content, *self.decision.content):
            digest.update(repr(part.shape).encode())
            digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        return digest.hexdigest()


class RightCounts:
    """How many records each predictor is right about (`numbers`), a batch after the other: what `vocabulary.tally.Tally` is for marginals.
    """

    nbytes = 0
    """Of the tables, so to speak: there are some numbers."""

    def __init__(self, domain: Domain, predictors: Sequence[Predictor]) -> None:
        self.domain, self._predictors = domain, tuple(predictors)
        self.columns = domain.clique({name for one in self._predictors for name in one.columns})
        self.numbers = np.zeros(len(self._predictors), dtype=np.int64)

    @property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """The numbers so far, for `absorb`."""
        return (self.numbers,)

    def absorb(self, tables: Iterable[NDArray[np.int64]]) -> None:
        """Add the numbers of other records by the same predictors."""
        (others,) = tables
        self.numbers += others

    def add(self, codes: Codes, rows: int) -> None:
        """Look at one batch: `rows` codes of every column in `columns`."""
        for start in range(0, rows, CHUNK_ROWS):
            some = slice(start, min(start + CHUNK_ROWS, rows))
            chunk = {name: codes[name][some] for name in self.columns}
            self.numbers += [int(one.right(chunk, some.stop - start).sum()) for one in self._predictors]


def _check_size(parts: Sequence[NDArray[np.int64]]) -> None:
    # the absolute value of the smallest integer is no integer of 64 bits: each end is looked at as it is
    if sum(max(float(part.max(initial=0)), -float(part.min(initial=0))) for part in parts) >= _LARGEST:
        raise ValueError("scores are too large")
