"""RAP: relaxed adaptive projection (Aydore, Brown, Kearns, Kenthapadi, Melis, Roth, Siva 2021, Algorithms 1 and 2).

Each of T rounds selects the K queries that the relaxed table answers worst, measures them, and projects: it finds the relaxed table whose
answers are closest to all measured so far. With T = 1 all queries are measured at once (RP).

Differences from the paper are on the card. The paper's noise scale of a selection has a slip, sqrt(2 rho n) for n sqrt(2 rho); here, as for
all mechanisms, a selection at eps costs eps^2/8.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.inference.relaxed.losses import Descent, Loss, MarginalLoss, QueryLoss, Sum, impossible, project
from dpsynth_core.extensions.research.inference.relaxed.onehot import Columns, OneHot, halves
from dpsynth_core.extensions.research.inference.relaxed.relaxed_table import RelaxedTable
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, merged
from dpsynth_core.inference.smoothing import smooth_columns
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.mechanism import ASKED, CHOOSING, CHOSEN, COUNTING, SINGLE, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.steps import Finish, Finished, Fitted, Step, Unmoved, as_it_is
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.workload import Workload

OVERSAMPLING = 5
"""Smallest number of people per relaxed row: rounded that often, rows are nearly as accurate as the relaxed table (paper, Figure 5b)."""
LEAST_ROWS = 20
LEAST_ASKED, MOST_ASKED = 5, 1000
REACH = 5.0
"""Number of noise scales of a selection that a query's error must be able to reach for the query to be offered."""
SMALL = 0.5
"""All is measured at once where noise, of one standard deviation in every cell of a table of mean size, adds up to this share of the people
at most. RP had the smaller error in each of 13 settings there (one or two seeds each), two to five times as small on columns of two
values. At 1.6 it may err more: the largest error of pairs with a column of 500 values doubles."""
DESCENT = Descent()
PRINTED_DESCENT = Descent(rate=1e-3, reach=0.0, steps=5000, window=1, improvement=1e-7)
"""Section 5.1; with `reach` 0, sparsemax is applied after each step (section 4)."""
_KEPT = (
    "T and K follow the budget unless set; the paper tunes them on the private table.",
    "RP measures whole marginals, of which one person changes a cell or two; the paper pays for every cell.",
    "The copies of a relaxed row share out its values; the paper draws each copy by itself.",
    "The gradient is that in the table, not pulled back through sparsemax.",
)

WRITTEN = "counts that the plan names"
COUNTS_SHARE = 0.2
"""Share of what is left after single columns that measures the counts that a plan names, where it names any."""
_STARTING = 0.1
"""Reported progress of a run when it has fitted the columns and knows its number of rounds."""
_USUAL_TOTAL = 100_000.0
"""Number of people for a forecast made before their number is known."""
_SECONDS_PER_PRODUCT, _SECONDS_PER_ENTRY, _SECONDS_PER_SUM = 5e-11, 1.5e-8, 2e-9
_BYTES_PER_ENTRY, _BYTES_PER_QUERY, _MOST_MB = 4, 90, 8_000


class Counts(Protocol):
    """Numbers of people who meet conditions that a plan names, with a form that a relaxed table can be fitted to."""

    @property
    def cells(self) -> Sequence[tuple[Clique, NDArray[np.float64]]]:
        """For each count, the columns that decide, and 1 for each cell of their table that is counted, else 0."""

    @property
    def work(self) -> int:
        """The number of multiplications for one relaxed row."""

    def loss(self, starts: NDArray[np.int64], targets: NDArray[np.float64], weights: NDArray[np.float64]) -> Loss:
        """Return the loss: the sum over the counts of weight * (answer - target)^2.

        Args:
            starts: First one-hot column of each attribute (`OneHot.starts`).
            targets: Noisy answers as fractions, shape (counts,).
            weights: Weights, shape (counts,).
        """


@dataclass(frozen=True)
class Rap:
    """RAP.

    Attributes:
        counts: Counts that the plan names, which are measured and fitted to; None for none.
        descent: Settings of each projection; None for DESCENT.
        oversampling: Smallest number of people per relaxed row; 0 for no limit.
        small: Largest noise, as a share of the people, at which all queries are measured at once
            (SMALL); 0 for never.
        finish: Finish of the rows.
    """

    card: Card = Card(
        "rap", "RAP", ZCDP, takes_thresholds=True,
        summary=(
            "Keeps the largest error of any single count small: asks for the counts it still gets most wrong, and adjusts a table of "
            "half-decided rows to all answers. For many large tables, or for counts of “at least so many of these”."
        ),
        paper="Aydore et al.: Differentially Private Query Release Through Adaptive Projection (ICML 2021), Algorithm 2",
        privacy=(
            "Measures every column with rounded Gaussian noise; then every round selects counting queries with the exponential mechanism "
            "(rho = eps^2/8 each) and measures them with rounded Gaussian noise (rho = queries * sensitivity^2 / (2 sigma^2)). Where the "
            "tables are small beside the noisy number of people, all are measured instead, likewise, and so is each count of people that "
            "the plan names. The table is fitted to released answers only. The rounds compose adaptively under zero-concentrated "
            "differential privacy."
        ),
        differences=(
            "A tenth of the budget measures every column first; Algorithm 2 does not.",
            "Seven tenths of a round select and three measure; Algorithm 2 halves its budget.",
            "Where neither T nor K is set, and noise in the cells of a table adds up to half the people at most, all tables are measured "
            "at once (T = 1): on 3,000 people with 8 columns of two values it errs a fifth as much at epsilon 2.",
            "Counts that the columns show to be small are not offered while a selection is noisier than they are.",
            "Adam's steps are 0.1, 300 at most, until fifty improve the loss by less than 0.1%; printed: 0.001, 5,000, 1e-7 a step.",
            "Squared errors weigh 1/variance, columns and counts alike; printed are equal weights.",
            "Columns are smoothed where neighbouring values are alike, or most are rare, before anything is fitted or left out by them: at "
            "epsilon 1 it errs 15% less on Titanic, 32% on 2,000 people, 10% on a column of 500 values.",
            "A relaxed row stands for five people at least, and finished rows are moved towards the relaxed table; the paper has neither.",
            *_KEPT,
        ),
    )
    rounds: int = whole(
        0, least=0, most=200, text="Number of rounds T; with 1, all counts are measured at once. 0: what suits the budget and the tables."
    )
    queries: int = whole(0, least=0, most=10_000, text="Counts that each round selects and measures, K; 0: what suits the budget.")
    relaxed_rows: int = whole(1000, least=LEAST_ROWS, most=20_000, text="Rows of the relaxed table, n'. More: more accurate, slower.")
    start_share: float = real(0.1, least=0.0, most=0.9, text="Share of the budget that measures single columns first; 0: none.")
    measure_share: float = real(0.3, least=0.05, most=0.95, text="Share of each round's budget that measures; the rest selects.")
    descent: Descent | None = None
    oversampling: int = OVERSAMPLING
    small: float = SMALL
    finish: Finish = as_it_is
    counts: Counts | None = None

    def asking(self, counts: Counts) -> Rap:
        """Return RAP that also measures these counts, with a fifth of what is left after single columns, and is fitted to them."""
        return replace(self, counts=counts)

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for 100,000 people, or why it is refused.

        Args:
            workload: The tables that are asked for.
            rho: Budget of the run, in rho.
        """
        return self.forecast_for(workload, rho, _USUAL_TOTAL)

    def forecast_for(self, workload: Workload, rho: float, people: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused: too many cells, or too much memory.

        Each round answers the whole workload and takes some hundreds of steps. If all queries are
        measured at once, every step answers the whole workload.

        Args:
            workload: The tables that are asked for.
            rho: Budget of the run, in rho.
            people: Expected number of people.
        """
        queries, space, rows = QueryClass.of(workload), OneHot(workload.domain), self.relaxed_rows
        answering, step = _SECONDS_PER_PRODUCT * queries.size * rows, _SECONDS_PER_ENTRY * space.columns * rows
        if self.measures_all(queries, rounds.sigma_for((1 - self.start_share) * rho / len(workload.cliques), 1.0), people):
            seconds = 2 * (self.descent or DESCENT).steps * (step + 3 * answering)
        else:
            plan = self.plan(queries.size, people, rho)
            asking = _SECONDS_PER_ENTRY * plan.rounds * plan.queries * rows / 2
            seconds = (plan.rounds + 1) * (answering + (self.descent or DESCENT).steps * (step + asking))
        if self.counts is not None:
            fits = 2 if self.rounds == 1 else self.plan(queries.size, people, rho).rounds + 1
            seconds += fits * (self.descent or DESCENT).steps * _SECONDS_PER_SUM * self.counts.work * rows
        # cells of the larger half of a marginal: what has a number for each relaxed row while the marginal is answered
        parts = (half for clique in workload.cliques for half in halves(space.blocks(clique)))
        widest = max(math.prod(block.stop - block.start for block in half) for half in parts)
        memory = 200.0 + (_BYTES_PER_ENTRY * rows * (8 * space.columns + 3 * widest) + _BYTES_PER_QUERY * queries.size) / 1e6
        reason = rounds.too_many_cells(queries.size)
        if not reason and memory > _MOST_MB:
            reason = f"it needs about {memory:,.0f} MB; use fewer relaxed_rows, merge values, or use smaller tables"
        return Forecast(not reason, 2.0 + seconds, memory, reason)

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        """Return the planned stages with their shares of the budget, which add up to 1.

        They are columns (or a count of the people if it is secret and columns have no share), selections, and selected queries.
        If the parameter `rounds` is 1 there are no selections: all queries are measured. A run whose noise turns out
        to be small measures all queries too (`measures_all`), although the plan has selections.
        """
        start, measuring = self.start_share, self.measure_share
        first: Split = ((SINGLE, start),)
        if not start:
            start = 0.0 if total_is_public else rounds.TOTAL_SHARE
            first = ((COUNTING, start),) if start else ()
        left = 1 - start
        if self.counts is not None:
            first, left = (*first, (WRITTEN, left * COUNTS_SHARE)), left * (1 - COUNTS_SHARE)
        if self.rounds == 1:
            return *first, (ASKED, left)
        return *first, (CHOOSING, left * (1 - measuring)), (CHOSEN, left * measuring)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run Algorithm 2 with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each column (or for the number of people, if it is secret and columns have no share) and, if all are
            measured at once, for each marginal; a Fitted during and after each projection; then a Finished.
        """
        run = _Run(self, kernel, QueryClass.of(workload))
        yield from run.start()
        if self.counts is not None:
            yield from run.measure_counts(self.counts)
        if run.plan.queries == 0:
            yield from run.measure_all()
        else:
            for number in range(1, run.plan.rounds + 1):
                yield from run.round(number, self.measure_share)
        yield Finished(self.finish(run.table), run.total, run.details())

    def measures_all(self, queries: QueryClass, sigma: float, total: float) -> bool:
        """Return whether every marginal is measured at once, without selections.

        This holds if T is 1, or if neither T nor K is set and the noise in the cells of a marginal
        is small enough.

        Args:
            queries: The class of queries.
            sigma: Standard deviation of the noise of each cell, in counts, if all are measured at
                once.
            total: Number of people, noisy or public.
        """
        if self.rounds or self.queries:
            return self.rounds == 1
        return sigma * queries.size / len(queries.cliques) <= self.small * total

    def plan(self, size: int, total: float, rho: float) -> RoundPlan:
        """Return the number of rounds T and of queries per round K: the parameters if they are set, else by the budget.

        About (total * sqrt(rho))^(2/3) / 2 queries in all suit the budget, from 5 to 1,000, with K = 2.5 T. On
        simulated people 40, 160 and 640 queries were best at eps 0.1, 1 and 10 (`docs/accuracy.md`). T is at most
        `size`, and T times K at most `size`, also if the parameters ask for more.

        Args:
            size: Number of queries in the class.
            total: Number of people, noisy or public, divided by the largest change of a query by
                one person.
            rho: Budget of the whole run, in rho.
        """
        queries = min(max((total * math.sqrt(rho)) ** (2 / 3) / 2, LEAST_ASKED), MOST_ASKED)
        rounds = min(self.rounds or max(2, round(math.sqrt(queries / 2.5))), size)
        return RoundPlan(rounds, min(self.queries or max(1, round(queries / rounds)), size // rounds))


@dataclass(frozen=True)
class RoundPlan:
    """T rounds of K queries each.

    Attributes:
        rounds: Number of rounds T.
        queries: Number of queries K that each round selects; 0 if all queries are measured at once.
    """

    rounds: int
    queries: int


@dataclass
class _Run:
    """The state of a run: the relaxed table's parameters and the answers it is fitted to."""

    mechanism: Rap
    kernel: Kernel
    queries: QueryClass
    plan: RoundPlan = RoundPlan(1, 0)
    columns: Sequence[Measurement] = ()
    total: float = 1.0
    free: Columns = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    losses: list[Loss] = field(default_factory=list)
    chosen: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    answers: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    taken: int = 0
    counted: int = 0

    @property
    def descent(self) -> Descent:
        return self.mechanism.descent or DESCENT

    @property
    def space(self) -> OneHot:
        return OneHot(self.kernel.domain)

    @property
    def table(self) -> RelaxedTable:
        return RelaxedTable(self.kernel.domain, self.space.sparsemax(self.free), self.total)

    @property
    def _sigma_of_all(self) -> float:
        """Noise of each cell, in counts, if the remaining budget measures every marginal of the workload."""
        left = self.kernel.rho_left * (1.0 if self.mechanism.counts is None or self.counted else 1 - COUNTS_SHARE)
        return rounds.sigma_for(left / len(self.queries.cliques), self.kernel.unit.marginal_l2)

    def start(self) -> Iterator[Step]:
        """Measure every column, estimate the number of people, and project random parameters to the columns.

        If the columns have no share of the budget, only the number of people is measured, if it is
        secret.
        """
        kernel = self.kernel
        if not self.mechanism.start_share:
            self.total = rounds.people((yield from rounds.count_people(kernel, rounds.TOTAL_SHARE)))
            self._initialise()
            self.losses += impossible(self.space, 1.0)
            return
        sigma = rounds.sigma_for(self.mechanism.start_share * kernel.rho_total / len(kernel.domain), kernel.unit.marginal_l2)
        self.columns = yield from self._measure(0, rounds.columns_of(kernel.domain), sigma)
        self.total = max(1.0, rounds.total_from(kernel, self.columns))
        self.columns = smooth_columns(kernel.domain, self.columns).instead(self.columns)
        self._initialise()
        shares = np.concatenate([m.values for m in self.columns]) / self.total
        every = np.arange(self.space.columns)[None]  # queries of one column: steps without matrix products do not wait for busy cores
        weights = np.concatenate([np.full(m.values.size, self._weight(m.deviation)) for m in self.columns])
        self.losses.append(QueryLoss(every, shares, 1, weights))
        self.losses += impossible(self.space, self._weight(sigma))
        yield from self._project(0, "every column")

    def _initialise(self) -> None:
        """Plan the rounds and draw the relaxed table, once the number of people is known."""
        kernel, most = self.kernel, self.mechanism.relaxed_rows
        if not self.mechanism.measures_all(self.queries, self._sigma_of_all, self.total):
            self.plan = self.mechanism.plan(self.queries.size, self.total / kernel.unit.query_l1, kernel.rho_total)
        if self.mechanism.oversampling:
            most = max(LEAST_ROWS, min(most, int(self.total / self.mechanism.oversampling)))
        self.free = self.space.random(most, np.random.default_rng(kernel.seed()))

    def measure_counts(self, counts: Counts) -> Iterator[Step]:
        """Measure the counts that the plan names, each with the same noise, and project. Yields the steps."""
        kernel, asked = self.kernel, counts.cells
        sigma = rounds.sigma_for(COUNTS_SHARE * kernel.rho_left / len(asked), kernel.unit.query_l1)
        noisy = np.array([kernel.measure_sum(clique, cells, 0.0, 1.0, sigma) for clique, cells in asked])
        weights = np.full(len(asked), self._weight(sigma))
        self.losses.append(counts.loss(self.space.starts, np.clip(noisy / self.total, 0.0, 1.0), weights))
        self.counted = len(asked)
        yield from self._project(0, f"{len(asked)} counts that the plan names")

    def measure_all(self) -> Iterator[Step]:
        """Run RP: measure every marginal of the workload at once, and project. Yields the steps.

        Answers to threshold queries follow from the marginals.
        """
        cliques, sigma = self.queries.cliques, self._sigma_of_all
        measured = yield from self._measure(1, cliques, sigma)
        blocks = [self.space.blocks(clique) for clique in cliques]
        self.losses.append(MarginalLoss(blocks, [m.values / self.total for m in measured], self._weight(sigma)))
        yield from self._project(1, f"{len(cliques)} tables")

    def round(self, number: int, measure_share: float) -> Iterator[Step]:
        count, rho = self.plan.queries, self.kernel.rho_left / (self.plan.rounds + 1 - number)
        eps = rounds.eps_for((1 - measure_share) * rho / count, self.kernel.selection_price)
        sigma = rounds.sigma_for(measure_share * rho / count, self.kernel.unit.query_l1)
        excluded = np.sort(self.chosen)
        if self.columns:  # and what can hardly be wrong by REACH times the scale of the selection's noise, judged by the noisy columns
            counts, scale = {m.clique[0]: m.values + 2 * m.deviation for m in self.columns}, 2 * self.kernel.unit.query_l1 / eps
            keep = 10 * self.plan.rounds * self.plan.queries
            excluded = merged(out_of_reach(self.queries, counts, REACH * scale, keep), excluded)
        chosen = operations.select_worst_queries(self.kernel, self.queries, self.table.answers(self.queries), eps, count, excluded)
        measured = np.clip(operations.measure_queries(self.kernel, self.queries, chosen, sigma), 0.0, self.total)
        self.chosen = np.concatenate([self.chosen, chosen])
        self.answers = np.concatenate([self.answers, measured / self.total])
        self.weights = np.concatenate([self.weights, np.full(count, self._weight(sigma))])
        yield from self._project(number, f"{len(self.chosen)} counts")

    def details(self) -> dict[str, Any]:
        return {"rounds": self.plan.rounds, "queries": len(self.chosen), "relaxed_rows": self.free.shape[1], "steps": self.taken}

    def _measure(self, number: int, cliques: Sequence[Clique], sigma: float) -> Generator[Step, None, list[Measurement]]:
        """Measure marginals as the first half of a stage, yield the steps, and return the measurements.

        Args:
            number: Number of the stage, 0 for the columns.
            cliques: The marginals.
            sigma: Standard deviation of the noise of each cell, in counts.
        """
        taken = list[Measurement]()
        for step in rounds.measure(self.kernel, number, cliques, sigma):
            taken.append(step.measurement)
            yield replace(step, done=self._done(number, 0.5 * len(taken) / len(cliques)))
        return taken

    def _loss(self) -> Loss:
        """Return the loss of all measurements so far.

        Selected queries with the same number of columns are evaluated together.
        """
        chosen = [self.queries.query(int(number)) for number in self.chosen]
        parts = list(self.losses)
        for k in sorted({len(query.columns) for query in chosen}):
            alike = [i for i, query in enumerate(chosen) if len(query.columns) == k]
            columns = np.array([self.space.starts[list(chosen[i].columns)] + chosen[i].values for i in alike]).T
            parts.append(QueryLoss(columns, self.answers[alike], self.queries.threshold or k, self.weights[alike]))
        return Sum(parts)

    def _weight(self, sigma: float) -> float:
        """Return the weight of a squared error: 1 / variance of a fraction measured at sigma (in people)."""
        return (self.total / sigma) ** 2

    def _project(self, number: int, what: str) -> Iterator[Step]:
        """Run Algorithm 1 from the present parameters, and yield a Fitted for each report.

        Args:
            number: Number of the stage.
            what: The measurements that the table is fitted to, in words.
        """
        for fit in project(self.space, self.free, self._loss(), self.descent):
            self.free = fit.free
            done = self._done(number, 0.5 + 0.5 * fit.steps / self.descent.steps)
            yield Fitted(number, f"fitted to {what}: {fit.steps} steps", self.kernel.rho_spent, done)
        self.taken += fit.steps

    def _done(self, stage: int, part: float) -> float:
        return _STARTING * part if stage == 0 else _STARTING + (1 - _STARTING) * (stage - 1 + part) / self.plan.rounds


PUBLISHED = Rap(
    card=printed(
        Rap.card,
        "A fit ends when a step changes the loss by less than 1e-7 of it or raises it: the paper does not say what a rise means.",
        "The number of people is measured for 1% of the budget where it is secret; the paper takes it as known.",
        *_KEPT,
    ),
    relaxed_rows=1000, start_share=0.0, measure_share=0.5, descent=PRINTED_DESCENT, oversampling=0, small=0.0, finish=Unmoved,
)
"""Algorithm 2 with the constants of section 5.1 (Aydore et al. 2021)."""


def out_of_reach(
    queries: QueryClass, columns: Mapping[str, NDArray[np.float64]], least: float, keep: int, most: int = 20_000_000
) -> NDArray[np.int64]:
    """Return the numbers, ascending, of the queries whose counts are surely below `least`; an empty array if there are no such queries.

    Upper bounds of the counts follow from the counts of single columns. Such queries need not be
    offered to a selection: among millions of queries, nearly all with empty cells, it mostly finds
    noise, because the largest of m noises is about ln(m) scales above zero.

    Args:
        queries: The class of queries.
        columns: Upper estimates of the counts of each column's values, by column.
        least: Smallest upper bound of a count at which a query stays in reach, in counts.
        keep: Smallest number of queries that stay in reach, the ones with the largest upper bounds.
        most: In a class of more queries all stay in reach, because the list would be too long.
    """
    if queries.size > most:
        return np.zeros(0, dtype=np.int64)
    bounds = np.concatenate(
        [_largest([columns[name] for name in clique], queries.threshold or len(clique)).reshape(-1) for clique in queries.cliques]
    )
    if keep >= queries.size:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(bounds < min(least, float(np.partition(bounds, -keep)[-keep])))


def _largest(columns: Sequence[NDArray[np.float64]], threshold: int) -> NDArray[np.float64]:
    """Return an upper bound of each query's count, shaped like the marginal.

    A record that agrees with a cell in at least `threshold` of k columns agrees in one of any k -
    threshold + 1 columns, so the count is at most the sum of the smallest k - threshold + 1 column
    counts.

    Args:
        columns: Counts of the values of each of the k columns.
        threshold: Number of columns that must agree.
    """
    k = len(columns)
    shaped = np.broadcast_arrays(*(column.reshape([-1 if i == j else 1 for j in range(k)]) for i, column in enumerate(columns)))
    if threshold == k:
        return np.asarray(np.minimum.reduce(shaped))
    return np.asarray(np.sort(np.stack(shaped), axis=0)[: k - threshold + 1].sum(axis=0))
