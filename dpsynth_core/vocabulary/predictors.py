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
    """Additive scores of a record: a start for each output, plus a number for the code of each column.

    Each output belongs to a class, or a single one to a number. All numbers are int64.

    Attributes:
        start: Start of each output, shape (outputs,).
        tables: For each column, the numbers that its codes add, shape (size, outputs).

    Raises:
        ValueError: A table has another number of outputs, or scores can become 2^62 or larger.
    """

    start: Whole
    tables: Mapping[str, Whole]

    def __post_init__(self) -> None:
        if any(table.ndim != 2 or table.shape[1] != len(self.start) for table in self.tables.values()):
            raise ValueError("every column adds a number for each code and output")
        _check_size([self.start, *self.tables.values()])

    @property
    def columns(self) -> Clique:
        """The columns that the scores depend on, in the order of `tables`."""
        return tuple(self.tables)

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """All that determines the scores, for a digest: the start, then the table of each column."""
        return (self.start, *self.tables.values())

    def of(self, codes: Codes, rows: int) -> Whole:
        """Return the scores of each row, int64 of shape (rows, outputs); a row's scores depend on that row alone.

        Args:
            codes: Codes of the rows by column, each int32 of shape (rows,), counted from 0.
            rows: Number of rows.
        """
        scores = np.tile(self.start, (rows, 1))
        for name, table in self.tables.items():
            scores += table[codes[name]]
        return scores


@dataclass(frozen=True, eq=False)
class Tree:
    """One decision tree, whose root is node 0.

    Attributes:
        output: The output that it adds to, counted from 0.
        column: For each node, the place of its column among the forest's columns, counted from 0.
        following: The next node by the group of the node's column, shape (nodes, groups); after a leaf, the leaf.
        values: What each node adds to the output if a row ends there, shape (nodes,).
        depth: Steps from the root to the deepest leaf.
    """

    output: int
    column: NDArray[np.int64]
    following: NDArray[np.int64]
    values: Whole
    depth: int


@dataclass(frozen=True, eq=False)
class Forest:
    """Scores as a sum of decision trees.

    Attributes:
        start: Start of each output, int64 of shape (outputs,).
        groups: For each column, the group of each of its codes, counted from 0; trees compare groups.
        trees: The trees.

    Raises:
        ValueError: Scores can become 2^62 or larger.
    """

    start: Whole
    groups: Mapping[str, NDArray[np.int64]]
    trees: Sequence[Tree]

    def __post_init__(self) -> None:
        _check_size([self.start, *(tree.values for tree in self.trees)])

    @property
    def columns(self) -> Clique:
        """The columns that trees compare, in the order of `groups`."""
        return tuple(self.groups)

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """Yield all that determines the scores, for a digest: the start, the groups, then four arrays for each tree."""
        yield self.start
        yield from self.groups.values()
        for tree in self.trees:
            yield from (np.array([tree.output, tree.depth], dtype=np.int64), tree.column, tree.following, tree.values)

    def of(self, codes: Codes, rows: int) -> Whole:
        """Return the scores of each row, int64 of shape (rows, outputs); a row's scores depend on that row alone.

        Args:
            codes: Codes of the rows by column, each int32 of shape (rows,), counted from 0.
            rows: Number of rows.
        """
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
    """The decision for classes: the guess is the code of the output with the largest score.

    The first of several largest scores counts.

    Attributes:
        codes: The target's code of each output.
    """

    codes: NDArray[np.int64]

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """All that determines the decision, for a digest: the guessed codes."""
        return (self.codes,)

    def right(self, scores: Whole, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether the guess at each row is right, bool of shape (rows,).

        Args:
            scores: Scores, shape (rows, outputs).
            codes: The target's code in each row, shape (rows,).
        """
        return np.asarray(self.codes[scores.argmax(axis=1)] == codes)


@dataclass(frozen=True, eq=False)
class Within:
    """The decision for numbers: a score is right if it is within the limits of the record's code.

    Attributes:
        least: Smallest right score for each of the target's codes, shape (size,).
        most: Largest right score for each code; below `least` for a code that no score is right
            about.

    Raises:
        ValueError: A limit is too large.
    """

    least: Whole
    most: Whole

    def __post_init__(self) -> None:
        _check_size([self.least])
        _check_size([self.most])

    @property
    def content(self) -> Iterable[NDArray[np.int64]]:
        """All that determines the decision, for a digest: `least`, then `most`."""
        return (self.least, self.most)

    def right(self, scores: Whole, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether the score of each row is right, bool of shape (rows,).

        Args:
            scores: Scores, shape (rows, 1).
            codes: The target's code in each row, shape (rows,).
        """
        return np.asarray((self.least[codes] <= scores[:, 0]) & (scores[:, 0] <= self.most[codes]))


Decision = Largest | Within
"""The rule by which a score is right about a record's code."""


@dataclass(frozen=True, eq=False)
class Predictor:
    """A guess at a column from other columns, and the rule by which it is right.

    Attributes:
        target: The column.
        scores: The scores of a record.
        decision: The rule by which the scores are right about the target's code.

    Raises:
        ValueError: The scores depend on the target.
    """

    target: str
    scores: Additive | Forest
    decision: Decision

    def __post_init__(self) -> None:
        if self.target in self.scores.columns:
            raise ValueError("a predictor must not look at what it guesses")

    @property
    def columns(self) -> Clique:
        """The columns that determine whether the guess is right: the target, and those that the scores use."""
        return (self.target, *self.scores.columns)

    def right(self, codes: Codes, rows: int) -> NDArray[np.bool_]:
        """Return whether the guess at each row is right, bool of shape (rows,).

        The result for a row depends on that row alone.

        Args:
            codes: Codes of the rows by column, each of shape (rows,), with every column of `columns`.
            rows: Number of rows.
        """
        return self.decision.right(self.scores.of(codes, rows), codes[self.target])

    @cached_property
    def sha256(self) -> str:
        """The SHA-256, in hexadecimal digits, of everything that determines whether a guess is right."""
        digest = sha256(repr(self.columns).encode())
        for part in (*self.scores.content, *self.decision.content):
            digest.update(repr(part.shape).encode())
            digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        return digest.hexdigest()


class RightCounts:
    """A running count of the records that each predictor is right about, with the interface of `vocabulary.tally.Tally`.

    The numbers are exact: of private records they are private.

    Args:
        domain: The domain.
        predictors: The predictors.

    Attributes:
        domain: The domain.
        columns: The columns that `add` needs, in domain order.
        numbers: Number of records that each predictor is right about so far, int64 of shape (predictors,).
    """

    nbytes = 0
    """Of the tables, so to speak: there are some numbers."""

    def __init__(self, domain: Domain, predictors: Sequence[Predictor]) -> None:
        self.domain, self._predictors = domain, tuple(predictors)
        self.columns = domain.clique({name for one in self._predictors for name in one.columns})
        self.numbers = np.zeros(len(self._predictors), dtype=np.int64)

    @property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """The numbers so far as a tuple of one array of shape (predictors,), for `absorb` of another count.

        It is the array `numbers` itself, which `add` and `absorb` change in place.
        """
        return (self.numbers,)

    def absorb(self, tables: Iterable[NDArray[np.int64]]) -> None:
        """Add, in place, the numbers (`tables`) that another count with the same predictors found in other records."""
        (others,) = tables
        self.numbers += others

    def add(self, codes: Codes, rows: int) -> None:
        """Count one batch of records, in addition to earlier batches.

        Args:
            codes: Codes of the records for every column in `columns`, each of shape (rows,).
            rows: Number of records.
        """
        for start in range(0, rows, CHUNK_ROWS):
            some = slice(start, min(start + CHUNK_ROWS, rows))
            chunk = {name: codes[name][some] for name in self.columns}
            self.numbers += [int(one.right(chunk, some.stop - start).sum()) for one in self._predictors]


def _check_size(parts: Sequence[NDArray[np.int64]]) -> None:
    # the absolute value of the smallest integer is not an integer of 64 bits: each end is looked at as it is
    if sum(max(float(part.max(initial=0)), -float(part.min(initial=0))) for part in parts) >= _LARGEST:
        raise ValueError("scores are too large")
