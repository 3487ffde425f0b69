"""RAP: relaxed adaptive projection (Aydore, Brown, Kearns, Kenthapadi, Melis, Roth, Siva 2021, Algorithms 1 and 2).

Each of T rounds selects the K queries that the relaxed table answers worst, measures them, and projects: finds the relaxed table whose
answers are closest to all measured so far. With T = 1, or where T rounds would ask for everything, all is measured at once (RP).

Otherwise than in the paper: every column is measured first, for a share of the budget, so that the first choices are not spent on single
columns and the number of people is known without further cost; choosing and measuring need not cost the same; RP measures whole marginals,
whose cells one person changes once, not one by one, which is what sqrt(cells / marginals) less noise costs nothing. The paper's noise
scale of selection has a slip, sqrt(2 rho n) for n sqrt(2 rho): here, as for all mechanisms, eps of a selection costs eps^2/8.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.domain import Domain
from dpsynth_core.inference.estimation import estimate_total
from dpsynth_core.measurement import Clique, Measurement
from dpsynth_core.mechanisms import graphical
from dpsynth_core.mechanisms.protocol import (
    ASKED,
    CHOOSING,
    CHOSEN,
    SINGLE,
    Event,
    Finished,
    Fitted,
    Forecast,
    Kernel,
    Measured,
    Parameter,
    Split,
)
from dpsynth_core.queries import QueryClass
from dpsynth_core.relaxed.losses import Loss, MarginalLoss, QueryLoss, Sum
from dpsynth_core.relaxed.onehot import Columns, OneHot
from dpsynth_core.relaxed.products import halves
from dpsynth_core.relaxed.projection import Stopping, project
from dpsynth_core.relaxed.table import RelaxedTable
from dpsynth_core.workload import Workload

OVERSAMPLING = 5
"""People a relaxed row stands for at least: rounded so often, rows are nearly as accurate as the relaxed table (paper, Figure 5b)."""
LEAST_ROWS = 20
STOPPING = Stopping()

_SECONDS_PER_PRODUCT = 4e-11
_SECONDS_PER_ENTRY = 1.5e-8
_BYTES_PER_ENTRY = 4
_BYTES_PER_QUERY = 40
_MOST_MB = 8_000


class Rap:
    name: ClassVar[str] = "rap"
    title: ClassVar[str] = "RAP"
    summary: ClassVar[str] = (
        "Keeps the largest error of any single count small: asks for the counts it still gets most wrong, and adjusts a table of "
        "half-decided rows to all answers. For many large tables, or for counts of “at least so many of these”."
    )
    paper: ClassVar[str] = "Aydore et al.: Differentially Private Query Release Through Adaptive Projection (ICML 2021), Algorithm 2"
    privacy: ClassVar[str] = (
        "Measures every column with discrete Gaussian noise; then every round selects counting queries with the exponential mechanism "
        "(rho = eps^2/8 each) and measures them with discrete Gaussian noise (rho = queries * sensitivity^2 / (2 sigma^2)). The table is "
        "fitted to released answers only. The rounds compose adaptively under zero-concentrated differential privacy."
    )
    makes_rows: ClassVar[bool] = True
    takes_thresholds: ClassVar[bool] = True
    parameters: ClassVar[Sequence[Parameter]] = (
        Parameter("rounds", "int", 10, 1, 200, "Number of rounds T. With one, all counts of the workload are measured at once."),
        Parameter("queries", "int", 10, 1, 10_000, "Counts that each round selects and measures, K."),
        Parameter("relaxed_rows", "int", 1000, LEAST_ROWS, 20_000, "Rows of the relaxed table, n'. More: more accurate, slower."),
        Parameter("start_share", "float", 0.1, 0.01, 0.9, "Share of the budget that measures single columns first."),
        Parameter("measure_share", "float", 0.3, 0.05, 0.95, "Share of each round's budget that measures; the rest selects."),
    )

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:  # noqa: ARG002
        """Each round answers the whole workload and takes some hundreds of steps; where all is measured at once, every step answers it."""
        queries, space, rows = QueryClass.of(workload), OneHot(domain), settings["relaxed_rows"]
        rounds, step = _rounds(queries, settings), _SECONDS_PER_ENTRY * space.columns * rows
        answering = _SECONDS_PER_PRODUCT * queries.size * rows
        if rounds == 1:
            seconds = 2 * STOPPING.steps * (step + 3 * answering)
        else:
            asked = rounds * settings["queries"]
            seconds = (rounds + 1) * (answering + STOPPING.steps * (step + _SECONDS_PER_ENTRY * asked * rows))
        widest = max(_half(space, clique) for clique in workload.cliques)
        memory = 200.0 + (_BYTES_PER_ENTRY * rows * (8 * space.columns + 3 * widest) + _BYTES_PER_QUERY * queries.size) / graphical.MEGABYTE
        reason = ""
        if queries.size > graphical.MAX_CELLS:
            reason = f"the workload has {queries.size:,} cells, more than {graphical.MAX_CELLS:,}; use fewer or smaller tables"
        elif memory > _MOST_MB:
            reason = f"it needs about {memory:,.0f} MB; use fewer relaxed_rows, merge values, or use smaller tables"
        return Forecast(not reason, 2.0 + seconds, memory, reason)

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:  # noqa: ARG002
        """The columns, then the rounds; or the columns, then everything."""
        start, measuring = settings["start_share"], settings["measure_share"]
        if _rounds(QueryClass.of(workload), settings) == 1:
            return (SINGLE, start), (ASKED, 1 - start)
        return (SINGLE, start), (CHOOSING, (1 - start) * (1 - measuring)), (CHOSEN, (1 - start) * measuring)

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Event]:
        """Algorithm 2. Yields Measured for each column (and where all is measured at once, each marginal), Fitted during and after each
        projection, then Finished."""
        queries = QueryClass.of(workload)
        run = _Run(kernel, queries, _rounds(queries, settings))
        yield from run.start(settings["start_share"], settings["relaxed_rows"])
        if run.rounds == 1:
            yield from run.measure_all()
        else:
            for number in range(1, run.rounds + 1):
                yield from run.round(number, settings["queries"], settings["measure_share"])
        yield Finished(run.table, run.total, run.details())


@dataclass
class _Run:
    """The state of a run: the relaxed table's parameters, and what it is fitted to."""

    kernel: Kernel
    queries: QueryClass
    rounds: int
    total: float = 1.0
    free: Columns = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    marginals: list[Loss] = field(default_factory=list)
    chosen: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    answers: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    taken: int = 0

    @property
    def space(self) -> OneHot:
        return OneHot(self.kernel.domain)

    @property
    def table(self) -> RelaxedTable:
        return RelaxedTable(self.kernel.domain, self.space.sparsemax(self.free), self.total)

    def start(self, share: float, rows: int) -> Iterator[Event]:
        """Measure every column, learn from them how many people there are, and project random parameters to them."""
        domain = self.kernel.domain
        sigma = graphical.sigma_for(share * self.kernel.rho_total / len(domain), self.kernel.marginal_l2)
        columns = yield from self._measure(0, graphical.columns_of(domain), sigma)
        self.total = max(1.0, self.kernel.measure_total(1.0)) if self.kernel.total_is_public else estimate_total(columns)
        rows = max(LEAST_ROWS, min(rows, int(self.total / OVERSAMPLING)))
        self.free = self.space.random(rows, np.random.default_rng(self.kernel.seed()))
        self._learn(columns)
        yield from self._project(0, "every column")

    def measure_all(self) -> Iterator[Event]:
        """RP: every marginal of the workload at once; thresholds follow from them."""
        cliques = self.queries.cliques
        sigma = graphical.sigma_for(self.kernel.rho_left / len(cliques), self.kernel.marginal_l2)
        self._learn((yield from self._measure(1, cliques, sigma)))
        yield from self._project(1, f"{len(cliques)} tables")

    def round(self, number: int, count: int, measure_share: float) -> Iterator[Event]:
        """Select `count` queries, measure them, project. Every round left costs the same."""
        rho = self.kernel.rho_left / (self.rounds + 1 - number)
        eps = graphical.eps_for((1 - measure_share) * rho / count)
        sigma = graphical.sigma_for(measure_share * rho / count, self.kernel.query_l1)
        chosen = self.kernel.select_worst_queries(self.queries, self.table.answers(self.queries), eps, count, self.chosen)
        counts = np.clip(self.kernel.measure_queries(self.queries, chosen, sigma), 0.0, self.total)
        self.chosen = np.concatenate([self.chosen, chosen])
        self.answers = np.concatenate([self.answers, counts / self.total])
        self.weights = np.concatenate([self.weights, np.full(count, self._weight(sigma))])
        yield from self._project(number, f"{len(self.chosen)} counts")

    def details(self) -> dict[str, Any]:
        """Public facts for the report."""
        return {"rounds": self.rounds, "queries": len(self.chosen), "relaxed_rows": self.free.shape[1], "steps": self.taken}

    def _measure(self, number: int, cliques: Sequence[Clique], sigma: float) -> Generator[Event, None, list[Measurement]]:
        """Marginals, the first half of a stage."""
        measurements = []
        for i, clique in enumerate(cliques, start=1):
            measurements.append(self.kernel.measure_marginal(clique, sigma))
            yield Measured(number, measurements[-1], self.kernel.rho_spent, self._done(number, 0.5 * i / len(cliques)))
        return measurements

    def _learn(self, measurements: Sequence[Measurement]) -> None:
        """Fit to these marginals from now on."""
        for sigma in sorted({m.sigma for m in measurements}):
            alike = [m for m in measurements if m.sigma == sigma]
            blocks = [self.space.blocks(m.clique) for m in alike]
            self.marginals.append(MarginalLoss(blocks, [m.values / self.total for m in alike], self._weight(sigma)))

    def _loss(self) -> Loss:
        """Everything that was measured so far. Queries of the same number of columns go together."""
        asked = [self.queries.query(int(number)) for number in self.chosen]
        parts = list(self.marginals)
        for k in sorted({len(query.columns) for query in asked}):
            alike = [i for i, query in enumerate(asked) if len(query.columns) == k]
            columns = np.array([self.space.starts[list(asked[i].columns)] + asked[i].values for i in alike]).T
            parts.append(QueryLoss(columns, self.answers[alike], self.queries.threshold or k, self.weights[alike]))
        return Sum(parts)

    def _weight(self, sigma: float) -> float:
        """1 / variance of the fraction that was measured at sigma."""
        return (self.total / sigma) ** 2

    def _project(self, number: int, what: str) -> Iterator[Event]:
        """Algorithm 1, from where the table is."""
        for fit in project(self.space, self.free, self._loss(), STOPPING):
            self.free = fit.free
            done = self._done(number, 0.5 + 0.5 * fit.steps / STOPPING.steps)
            yield Fitted(number, f"fitted to {what}: {fit.steps} steps", self.kernel.rho_spent, done)
        self.taken += fit.steps

    def _done(self, stage: int, part: float) -> float:
        return (stage + part) / (self.rounds + 1)


def _rounds(queries: QueryClass, settings: Mapping[str, Any]) -> int:
    """T; one, where T rounds would ask for everything."""
    return 1 if settings["rounds"] * settings["queries"] >= queries.size else int(settings["rounds"])


def _half(space: OneHot, clique: Clique) -> int:
    """Cells of the larger half of a marginal: what has a number for each relaxed row while the marginal is answered."""
    return max(math.prod(block.stop - block.start for block in half) for half in halves(space.blocks(clique)))
