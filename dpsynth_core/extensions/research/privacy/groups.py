"""Private counts of queries, and the queries grouped by the error of a public answer, for selections over millions of queries.

A query's score depends on two numbers only, its private count and its public answer. Most cells of a sparse table share the pair (0, 0),
and a few thousand distinct scores stand for a million queries. Only queries with people in them, or with an answer of their own, are
ever looked at one by one. Scores are whole steps of the grid of `privacy.scores`, so nothing here rounds but public answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.vocabulary.queries import Numbers, QueryClass, SparseAnswers, merged, values_at
from dpsynth_core.privacy.scores import COUNT_STEPS, steps
from dpsynth_core.privacy.scores import check_answers as check_tables
from dpsynth_core.vocabulary.measurement import Clique

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class QueryCounts:
    """The exact private counts of all queries of a class, which are not released.

    Attributes:
        size: Number of queries in the class.
        numbers: Numbers of the queries with a count above zero, ascending.
        counts: The counts of these queries; every other query has count zero.
    """

    size: int
    numbers: Numbers
    counts: Integers

    @classmethod
    def of(cls, queries: QueryClass, marginals: Mapping[Clique, Integers]) -> QueryCounts:
        """Return the counts of all queries of a class.

        Args:
            queries: The class.
            marginals: The exact counts of each marginal of the class.
        """
        counts = queries.counts(marginals)
        numbers = np.flatnonzero(counts)
        return cls(queries.size, numbers, counts[numbers])

    def at(self, numbers: Numbers) -> Integers:
        """Return the counts of the queries with these numbers, given in any order; the result has their order."""
        return values_at(self.numbers, self.counts, numbers)

    @cached_property
    def levels(self) -> Integers:
        """The distinct counts of the queries, ascending; the first is always 0."""
        return merged(np.zeros(1, dtype=np.int64), np.sort(self.counts))

    def level_of(self, counts: Integers) -> Integers:
        """Return the index, from 0, of each count in `levels`, where every given count must occur."""
        return np.searchsorted(self.levels, counts).astype(np.int64)

    @cached_property
    def sizes(self) -> Integers:
        """The number of queries with each private count in `levels`, in the same order."""
        sizes = np.bincount(self.level_of(self.counts), minlength=len(self.levels))
        sizes[0] = self.size - len(self.numbers)
        return sizes.astype(np.int64)

    @cached_property
    def _by_level(self) -> tuple[Numbers, Integers]:
        """`numbers` ordered by count, and the index at which each level except level 0 begins."""
        return self.numbers[np.argsort(self.counts, kind="stable")], np.concatenate([[0], np.cumsum(self.sizes[1:])])

    def members(self, level: int) -> Numbers:
        """Return the numbers, ascending, of the queries whose count is levels[level].

        Args:
            level: Index in `levels`, not 0.
        """
        ordered, starts = self._by_level
        return np.sort(ordered[starts[level - 1] : starts[level]])


class ScoreGroups:
    """The queries of a class in groups of equal score, which is count - answer in steps of 1/COUNT_STEPS of a person.

    Two groups may have the same score. Scores and sizes are private.

    Attributes:
        scores: Score of each group, in steps.
        sizes: Number of queries in each group, at least 1.

    Args:
        tally: Private counts of the queries.
        answers: Public answers in counts, which must have passed `check_answers`.
        left_out: Numbers of queries that belong to no group, ascending; None for no such query.
    """

    def __init__(self, tally: QueryCounts, answers: SparseAnswers, left_out: Numbers | None = None) -> None:
        self._tally = tally
        own, values, self._apart = answers.numbers, answers.values, answers.numbers
        if left_out is not None and len(left_out):
            kept = ~_in(own, left_out)
            own, values, self._apart = own[kept], values[kept], merged(own, left_out)
        scores = tally.at(own) * COUNT_STEPS - steps(values)
        own_scores, inverse, own_sizes = np.unique(scores, return_inverse=True, return_counts=True)
        self._own = own[np.argsort(inverse, kind="stable")]
        self._own_starts = np.concatenate([[0], np.cumsum(own_sizes)])

        left = tally.sizes - np.bincount(tally.level_of(tally.at(self._apart)), minlength=len(tally.levels))
        self._levels = np.flatnonzero(left)
        level_scores = tally.levels[self._levels] * COUNT_STEPS - steps(np.array([answers.elsewhere]))
        self.scores: Integers = np.concatenate([level_scores, own_scores])
        self.sizes: Integers = np.concatenate([left[self._levels], own_sizes])

    def member(self, group: int, index: int) -> int:
        """Return the number, in the class, of the query at a place of a group, in a fixed order.

        Args:
            group: Index of the group in `scores`, from 0.
            index: Place in the group, counted from 0.
        """
        if group >= len(self._levels):
            return int(self._own[self._own_starts[group - len(self._levels)] + index])
        level = int(self._levels[group])
        if level == 0:
            # the index-th other number: below it are as many counted, answered or left-out ones as have `index` others or fewer below them
            return index + int(np.searchsorted(self._free_below, index, side="right"))
        members = self._tally.members(level)
        return int(members[~_in(members, self._apart)][index])

    @cached_property
    def _free_below(self) -> Integers:
        """The number of free queries with smaller numbers, for each query that is counted, answered or left out.

        A query is free if its count is zero, it has no answer of its own, and it is not left out.
        """
        numbers = merged(self._tally.numbers, self._apart)
        return np.asarray(numbers - np.arange(len(numbers)))


def check_answers(queries: QueryClass, answers: SparseAnswers) -> None:
    """Check that public answers are to queries of the class, and small enough for exact scores; return nothing.

    Args:
        queries: The class.
        answers: The answers, in counts.

    Raises:
        ValueError: An answer is for no query of the class, not finite or too large.
    """
    check_numbers(queries, answers.numbers)
    check_tables([np.array([answers.elsewhere, np.abs(answers.values).max(initial=0.0)])], [(2,)])


def check_numbers(queries: QueryClass, numbers: Numbers) -> None:
    """Check that an array holds numbers of queries of a class; return nothing.

    Args:
        queries: The class.
        numbers: The numbers, in any order; may be empty.

    Raises:
        ValueError: The array is not one-dimensional, or a number is not in 0..queries.size - 1.
    """
    if np.ndim(numbers) != 1 or (len(numbers) and not (np.min(numbers) >= 0 and np.max(numbers) < queries.size)):
        raise ValueError("a number is not that of a query of this class")


def _in(numbers: Numbers, ascending: Numbers) -> NDArray[np.bool_]:
    return values_at(ascending, np.ones(len(ascending), dtype=np.bool_), numbers)
