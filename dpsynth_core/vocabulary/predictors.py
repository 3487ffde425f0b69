"""Predictors: released functions of a record's codes that guess one of its columns, and the number of records they are right about.

A predictor consists of whole numbers alone: its guess about a record is the same on every machine, in every batch and beside any other
records. Products of matrices would not do, as they may round a row by its place. `claims.models.training` makes predictors.
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
"""Names of predictors by the way they were made; the last one is a constant guess."""
CHUNK_ROWS = 2**15
"""Number of rows processed together, so that the data of trees stay in the processor's cache."""
_LARGEST = 2**62
"""Largest score, so that no sum overflows."""

Codes = Mapping[str, NDArray[np.int32]]
"""By column, the code of each row."""
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Additive:
    """Additive scores of each record: a start for each output, and what each code of a column adds.

    The outputs are one per class, or one for a number. `start` has shape (outputs,), `tables` shape (size, outputs), by column.
    """

    start: Whole
    tables: Mapping[str, Whole]

    def __post_init__(self) -> None:
        if any(table.ndim != 2 or table.shape[1] != len(self.start) for table in self.tables.values()):
            raise ValueError("every column adds a number for each code and output")
        _check_size([self.start, *self.tables.values()])

    @property
    def columns(self) -> Clique:
        """The columns that it uses."""
        return tuple(self.tables)

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """All that determines the scores, for a digest."""
        return (self.start, *self.tables.values())

    def of(self, codes: Codes, rows: int) -> Whole:
        """Return the scores, shape (rows, outputs)."""
        scores = np.tile(self.start, (rows, 1))
        for name, table in self.tables.items():
            scores += table[codes[name]]
        return scores


@dataclass(frozen=True, eq=False)
class Tree:
    """One decision tree, whose root is node 0.

    Attributes:
        output: The output that it adds to.
        column: For each node, the place of its column among the forest's columns.
        following: The next node, shape (nodes, groups); after a leaf, the leaf.
        values: What each node adds.
        depth: Steps to the deepest leaf.
    """

    output: int
    column: NDArray[np.int64]
    following: NDArray[np.int64]
    values: Whole
    depth: int


@dataclass(frozen=True, eq=False)
class Forest:
    """Scores as a sum of trees. `groups` holds the group of each code by column, which trees compare; `start` has shape (outputs,)."""

    start: Whole
    groups: Mapping[str, NDArray[np.int64]]
    trees: Sequence[Tree]

    def __post_init__(self) -> None:
        _check_size([self.start, *(tree.values for tree in self.trees)])

    @property
    def columns(self) -> Clique:
        """The columns that trees compare, in order."""
        return tuple(self.groups)

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """Yield all that determines the scores, for a digest."""
        yield self.start
        yield from self.groups.values()
        for tree in self.trees:
            yield from (np.array([tree.output, tree.depth], dtype=np.int64), tree.column, tree.following, tree.values)

    def of(self, codes: Codes, rows: int) -> Whole:
        """Return the scores, shape (rows, outputs)."""
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
    """The decision for the code of the largest score, the first of several. `codes` holds the target's codes, one per output."""

    codes: NDArray[np.int64]

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """All that determines the decision, for a digest."""
        return (self.codes,)

    def right(self, scores: Whole, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether each score, shape (rows, outputs), is right about the target's code, shape (rows,)."""
        return np.asarray(self.codes[scores.argmax(axis=1)] == codes)


@dataclass(frozen=True, eq=False)
class Within:
    """The decision for numbers: the score is right about a code from its `least` to its `most`, shape (size,).

    It is right about no code if least > most.
    """

    least: Whole
    most: Whole

    def __post_init__(self) -> None:
        _check_size([self.least])
        _check_size([self.most])

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """All that determines the decision, for a digest."""
        return (self.least, self.most)

    def right(self, scores: Whole, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether the score of each record is right about its code, shape (rows,)."""
        return np.asarray((self.least[codes] <= scores[:, 0]) & (scores[:, 0] <= self.most[codes]))


Decision = Largest | Within
"""The rule by which a score is right about a record's code."""


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
        """The columns that determine whether it is right."""
        return (self.target, *self.scores.columns)

    def right(self, codes: Codes, rows: int) -> NDArray[np.bool_]:
        """Return the rows it is right about. The result for a row depends on that row alone."""
        return self.decision.right(self.scores.of(codes, rows), codes[self.target])

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of everything that determines its guesses."""
        digest = sha256(repr(self.columns).encode())
        for part in (*self.scores.content, *self.decision.content):
            digest.update(repr(part.shape).encode())
            digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        return digest.hexdigest()


class RightCounts:
    """A running count of the records that each predictor is right about (`numbers`), as `vocabulary.tally.Tally` is for marginals."""

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
