"""The parts that the players of the query release game share: FEM, sepFEM, DualQuery and DQRS.

The source is Vietri, Tian, Bun, Steinke, Wu 2020, section 3.

A data player names records; a query player names queries that the records answer wrongly. Played well and long enough, the records together
answer every query. Only the query player's choices depend on the private table, and the kernel makes them. An oracle (`oracles`) finds the
data player's records from public and released values: a record without a proof of optimality costs accuracy, never privacy. This module
knows no table and no noise.

Where the number N of people is secret, a small share of the budget measures a noisy one, which stands for N everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.pool import Pool
from dpsynth_core.extensions.research.oracles.records import problem
from dpsynth_core.extensions.research.oracles.records.climbing import climb
from dpsynth_core.extensions.research.oracles.records.problem import Exhaustion, Linear, RecordProblem, Records, SignedQueries
from dpsynth_core.extensions.research.oracles.search import Limit, Solution
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.foundation.errors import OracleError
from dpsynth_core.inference.model import WeightedRecords
from dpsynth_core.mechanisms.mechanism import CHOOSING, COUNTING, Forecast, Split
from dpsynth_core.mechanisms.parameters import real
from dpsynth_core.mechanisms.rounds import fitted, too_many_cells
from dpsynth_core.mechanisms.steps import Fitted
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload

PAPER = "Vietri, Tian, Bun, Steinke, Wu: New Oracle-Efficient Algorithms for Private Synthetic Data Release (ICML 2020)"

TOTAL_SHARE = 0.02
"""Share of rho for the number of people, which the papers take as known. At eps = 0.1 and delta = 1e-9 its noise has sigma = 375."""

_ROUNDING = 1e-6
"""Largest gap that comes from rounding perturbations for the solver; such gaps are reported as 0."""
_PATIENCE = 4.0
"""Wall seconds per second of work before a search is ended. Its answer then depends on how busy the machine is."""
_BYTES_PER_CELL = 24
_SEARCH_SECONDS, _EASY_QUERIES = 0.002, 50
_CLIMB_SECONDS_PER_COLUMN, _CLIMB_SECONDS_PER_QUERY, _SECONDS_PER_HIT = 6e-6, 1e-6, 1e-7
_SECONDS_A_ROUND, _SECONDS_PER_CELL = 0.01, 1e-8

Numbers = NDArray[np.int64]
Signs = NDArray[np.int8]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Signed:
    """Queries of a class and negations of queries, possibly repeated.

    Attributes:
        numbers: Numbers of the queries in their class, counted from 0.
        signs: 1 for a query, -1 for its negation, one per number.
    """

    numbers: Numbers
    signs: Signs

    def __len__(self) -> int:
        return len(self.numbers)

    @classmethod
    def uniform(cls, queries: QueryClass, count: int, rng: np.random.Generator) -> Signed:
        """Draw `count` queries at random, independently and uniformly from the queries of a class and their negations."""
        return cls(rng.integers(queries.size, size=count), rng.choice(np.array([-1, 1], dtype=np.int8), size=count))

    def plus(self, other: Signed) -> Signed:
        """Return a new object with the queries of this one, followed by the queries of `other`."""
        return Signed(np.concatenate([self.numbers, other.numbers]), np.concatenate([self.signs, other.signs]))

    def at(self, places: NDArray[Any]) -> Signed:
        """Return the queries at these places.

        Args:
            places: Places in the arrays, counted from 0 and possibly repeated, or a mask that is True for each wanted query.
        """
        return Signed(self.numbers[places], self.signs[places])


@dataclass
class Searches:
    """Statistics of searches for records.

    Attributes:
        count: Number of searches.
        certified: Number of searches that proved their record to be the best.
        gap: Largest known distance between a record's value and its upper bound, in queries.
        climbed: Number of records found by climbing instead of a search; nothing is proved about them.
    """

    count: int = 0
    certified: int = 0
    gap: float = 0.0
    climbed: int = 0

    @classmethod
    def of(cls, answers: Iterable[Solution], climbed: int = 0) -> Searches:
        """Return the statistics of searches with these results.

        Args:
            answers: The results of the searches.
            climbed: Number of records found by climbing besides.
        """
        searches = cls(climbed=climbed)
        searches.add(answers)
        return searches

    def add(self, answers: Iterable[Solution]) -> None:
        """Count these results of searches, and update the largest gap. Results without an upper bound do not change the gap."""
        for answer in answers:
            self.count += 1
            self.certified += answer.certified
            self.gap = max(self.gap, answer.gap) if math.isfinite(answer.gap) else self.gap

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as JSON values for the release: searches, certified, largest_gap (in queries).

        There is also "climbed", unless it is 0. Times are left out, so that a release made again from its transcript is the same.
        """
        climbed = {"climbed": self.climbed} if self.climbed else {}
        return {"searches": self.count, "certified": self.certified, "largest_gap": self.gap, **climbed}

    def __str__(self) -> str:
        number = self.count + self.climbed
        records = f"{number} {'record' if number == 1 else 'records'}"
        climbed = f"{self.climbed} by climbing; of the others " if self.climbed else ""
        gap = self.gap if self.gap > _ROUNDING else 0
        return f"{records}, {climbed}{self.certified / self.count:.0%} proved best, largest gap {gap:.2g}"


@dataclass
class DataPlayer:
    """The player that finds records by an oracle.

    Attributes:
        queries: The class of queries.
        oracle: Solver processes, or the enumeration of all records.
        limit: The limit of each search.
        proved: Number of records of a round that solver processes look for; the others are found by
            climbing.
        last: Codes of the last record found, shape (columns,); it stands in if a search finds no
            record.
        searches: Statistics of all searches so far.
    """

    queries: QueryClass
    oracle: Pool | Exhaustion
    limit: Limit
    proved: int
    last: Codes
    searches: Searches

    def records(self, wanted: Signed, perturbations: Sequence[Linear]) -> tuple[Codes, Searches]:
        """Find, for each perturbation, a record that satisfies many of the wanted queries at a low cost.

        The value of a record is the number of wanted queries that it satisfies less the costs of
        its values. Solver processes search for the first `proved` records, and for those that a climb finds
        no record for. If all possible records are tried instead, each record is the best one. If a search finds
        no record within its limit, the last record found stands in. The player's own statistics are updated.

        Args:
            wanted: The queries and negations; repeated ones count several times.
            perturbations: For each search, the cost of each value of each attribute, in queries; at least one.

        Returns:
            Codes of the records, shape (perturbations, columns), and the statistics of the round.

        Raises:
            OracleError: A solver process failed.
        """
        queries = SignedQueries.of(self.queries, wanted.numbers, wanted.signs)
        problems = [RecordProblem(queries, linear) for linear in perturbations]
        found: list[Codes | None] = [None] * len(problems)
        if isinstance(self.oracle, Pool):
            found[self.proved :] = climb(problems[self.proved :], self.limit.seed)
        left = [place for place, codes in enumerate(found) if codes is None]
        answers = self.oracle.solve_many([problems[place] for place in left], self.limit)
        for place, answer in zip(left, answers, strict=True):
            self.last = answer.codes if answer.status != "failed" else self.last
            found[place] = self.last
        climbed = len(problems) - len(left)
        self.searches.climbed += climbed
        self.searches.add(answers)
        return np.stack([codes for codes in found if codes is not None]), Searches.of(answers, climbed)


@contextmanager
def data_player(queries: QueryClass, limit: Limit, proved: int) -> Iterator[DataPlayer]:
    """Open a data player for a `with` block, at whose end its solver processes are killed.

    It first looks for any possible record; no budget is spent. If the domain has at most 5,000 combinations of
    values, all records are tried, and no process is started.

    Args:
        queries: The class of queries.
        limit: The limit of each search.
        proved: Number of records per round that solver processes search for; with one, a single process
            is started. The others are found by climbing.

    Raises:
        OracleError: No possible record is found, or a solver process fails.
        ValueError: The domain has at most 5,000 combinations, and allows no record.
    """
    nothing = np.zeros(0, dtype=np.int64)
    problem = RecordProblem.unperturbed(SignedQueries.of(queries, nothing, nothing.astype(np.int8)))
    with _oracle(queries.domain, proved) as oracle:
        (any_record,) = oracle.solve_many([problem], limit)
        if any_record.status == "failed":
            raise OracleError("no row was found that the impossible combinations allow", "allow a search more time, or remove rules")
        yield DataPlayer(queries, oracle, limit, proved, any_record.codes, Searches())


def search_limit(seconds: float, gap: float = 0.0) -> Limit:
    """Return the limit of one search for a record.

    Args:
        seconds: Work of the search, about this many seconds on an idle machine. It is ended after
            four times as much wall time in any case.
        gap: Gap at which a search may end without a proof, relative to the record's value; 0 asks for a proof.
    """
    return Limit(seconds=_PATIENCE * seconds, gap=gap, work=seconds)


@contextmanager
def _oracle(domain: Domain, draws: int) -> Iterator[Pool | Exhaustion]:
    records = Records.of(domain)
    if problem.fits(records):
        yield Exhaustion.of(records)
        return
    with Pool(1 if draws == 1 else None) as pool:
        yield pool


def solve_seconds() -> float:
    """Declare the parameter for the seconds of a search, 0.5 by default, as a field of a mechanism's dataclass."""
    text = "How long one search for a record may take on an idle machine. Matters for accuracy only."
    return real(0.5, least=0.001, most=600.0, text=text)


def gap() -> float:
    """Declare the parameter for the gap at which a search may end without a proof, as a field of a mechanism's dataclass.

    It is relative to a record's value; the default 0 asks for a proof.
    """
    return real(0.0, least=0.0, most=1.0, text="A search may end once no record can be better by more than this; 0 asks for a proof.")


def skip(default: float = 0.0) -> float:
    """Declare the parameter for the share of the rounds, the first ones, whose records are left out.

    It is a field of a mechanism's dataclass.

    Args:
        default: The default, from 0 to 0.9.
    """
    text = "Share of the rounds whose records are left out at the end, the first ones. The papers leave out none."
    return real(default, least=0.0, most=0.9, text=text)


def together(domain: Domain, rounds: Sequence[Codes], skip: float, total: float) -> WeightedRecords:
    """Return the output of a game: the records of its rounds with equal weights, each distinct record once.

    Args:
        domain: The domain.
        rounds: Codes of the records of each round, shape (records, columns); at least one round.
        skip: Share of the rounds, the first ones, whose records are left out, below 1.
        total: Number of people that all records together stand for.
    """
    codes, times = np.unique(np.concatenate(rounds[int(skip * len(rounds)) :]), axis=0, return_counts=True)
    return WeightedRecords(domain, codes, times * (total / times.sum()))


def played(kernel: Kernel, number: int, searches: Searches) -> Fitted:
    """Return the step that reports a round, with the statistics of its searches in words and the budget spent so far.

    Args:
        kernel: The kernel, which knows the spent budget.
        number: Number of the round, counted from 1.
        searches: Statistics of the round, with at least one search.
    """
    return fitted(kernel, number, str(searches))


def split(_workload: Workload, total_is_public: bool) -> Split:
    """Return the planned stages with their shares of the budget: 2 % for a count of the people if it is secret, then the rounds."""
    return ((CHOOSING, 1.0),) if total_is_public else ((COUNTING, TOTAL_SHARE), (CHOOSING, 1 - TOTAL_SHARE))


def forecast(workload: Workload, rounds: int, draws: int, queries: float, solve_seconds: float, climbed: int = 0) -> Forecast:
    """Return the expected time (seconds) and memory (MB) of a game, or why it is refused: too many cells.

    The number of different queries in a search grows from the first round to the last. From about a
    hundred queries on, the time of a search grows with their square (`docs/accuracy.md`) until its
    limit. Searches run two at a time. A round selects among groups of equal counts, and forms them
    anew, which takes longer with more records.

    Args:
        workload: The tables that are asked for.
        rounds: Number of rounds.
        draws: Number of searches per round, at least 1.
        queries: Number of different queries in the searches of the last round.
        solve_seconds: Limit of a search, in seconds.
        climbed: Number of records per round that are found by climbing.
    """
    cells, columns = workload.cells, len(workload.domain)
    reason = too_many_cells(cells)
    search = min(_PATIENCE * solve_seconds, _SEARCH_SECONDS * (1 + (queries / _EASY_QUERIES) ** 2 / 3))
    climbing = climbed * (_CLIMB_SECONDS_PER_COLUMN * columns + _CLIMB_SECONDS_PER_QUERY * queries)
    hits = _SECONDS_PER_HIT * (draws + climbed) * len(workload.cliques)
    seconds = 3.0 + rounds * (draws * search / min(draws, 2) + climbing + hits + _SECONDS_A_ROUND + _SECONDS_PER_CELL * cells)
    return Forecast(not reason, seconds, 350.0 + _BYTES_PER_CELL * cells / 1e6, reason)
