"""Graphical models as mechanisms use them: how large one may become, and the fit to what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import compress
from operator import or_
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.estimation import Stopping, estimate
from dpsynth_core.inference.junction_tree import ATTRIBUTES_TRIED, SizeOracle, mask_of
from dpsynth_core.inference.model import GraphicalModel, labels_of
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.smoothing import MEASURED, Columns, as_measured, smooth_columns
from dpsynth_core.mechanisms.parameters import real
from dpsynth_core.mechanisms.rounds import columns_of, total_from
from dpsynth_core.mechanisms.steps import Candidate, Finish, SelectionRecord, Unmoved, as_it_is
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.scores import Offered
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement

BYTES_PER_CELL = 8
MEGABYTE = 1e6
MOST_MB = 4096.0
"""The largest capacity of a model that a plan may state as `max_size_mb`."""

MANY = 200
"""From so many candidates on, pairs of many attributes are looked at together."""

BETWEEN, FINAL = Stopping(iterations=100, again=0), Stopping(tolerance=1e-2)
"""Between rounds, fits show where a model is wrong; the last one, which is published, ends before it follows noise."""
ROUGH = Stopping(iterations=100, noise_level=0.6, tolerance=0.03, least=50, again=0)
"""Between many rounds: a model that is as good as this shows where it is wrong, and need not follow the noise of each round."""


CONVERGED = Stopping(iterations=1000, tolerance=1e-4)
"""The papers print the minimum and leave open when a fit is at it."""


@dataclass(frozen=True)
class Fitting:
    """The way in which models are fitted during and at the end of a run.

    Attributes:
        between: When fits between rounds stop.
        final: When the last fit stops.
        finish: Returns the final model from the last fitted one.
        columns: Returns smoothed columns, to which models are fitted instead of the measurements.
    """

    between: Stopping = BETWEEN
    final: Stopping = FINAL
    finish: Finish = as_it_is
    columns: Callable[[Domain, Sequence[Measurement], Sequence[MarginalCounts]], Columns] = smooth_columns


FITTED_AS_PRINTED = Fitting(CONVERGED, CONVERGED, Unmoved, as_measured)
COLUMNS_SMOOTHED = "Columns are smoothed where neighbouring values are alike, or most are rare; the paper fits what was measured."
FITS_CHOSEN = "Fits end after 1,000 steps, or when ten steps lower the loss by less than 0.01%: the paper prints the minimum."
WEIGHTS_KEPT = "Measurements weigh 1/sigma^2, the maximum likelihood that the paper speaks of; printed is 1/sigma."


def capacity_mb(default: float = 80.0, besides: str = "") -> float:
    """Declare the parameter `max_size_mb` for the capacity of the model, as a field of a mechanism's dataclass.

    Args:
        default: Default in megabytes.
        besides: Another sentence for its help, which begins with a space.
    """
    text = f"Capacity of the model in megabytes (JT-SIZE). More: more accurate, slower.{besides}"
    return real(default, least=0.1, most=MOST_MB, text=text)


def merge_below() -> float:
    """Declare the parameter for the count below which values are merged, in standard deviations of its noise.

    The default is 3; 0 merges no values.
    """
    text = "Values whose noisy count is below this many standard deviations of its noise are one value to the model. 0: never."
    return real(3.0, least=0.0, most=10.0, text=text)


Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pool:
    """The tables that a selection chooses from, as arrays.

    Attributes:
        tables: The tables.
        columns: Indices of each table's columns, shape (tables, most columns), -1 beyond the
            table's own.
        places: Index of each column, by name.
    """

    tables: tuple[Clique, ...]
    columns: NDArray[np.intp]
    places: Mapping[str, int]

    @cached_property
    def _width(self) -> NDArray[np.intp]:
        return np.asarray((self.columns >= 0).sum(axis=1))

    @cached_property
    def pairs(self) -> NDArray[np.intp]:
        """A number for each table that is a pair, -1 for other tables, shape (tables,).

        The number is (index of the first column) * (number of columns) + (index of the second).
        """
        return np.where(self._width == 2, self.columns[:, 0] * len(self.places) + self.columns[:, 1], -1)

    def only(self, some: Booleans) -> Pool:
        """Return the pool of the tables where `some` is True, shape (tables,)."""
        return Pool(tuple(compress(self.tables, some)), self.columns[some], self.places)

    def unrelated(self, chosen: Clique) -> Booleans:
        """Return a mask of the pool's tables about which a measurement of the chosen table says nothing, shape (tables,).

        It is True for a table that shares at most one column with the chosen table and is not itself one of its
        columns.
        """
        shared = np.isin(self.columns, [self.places[name] for name in chosen]).sum(axis=1)
        return np.asarray(shared < np.minimum(2, self._width))


def unrelated_tables(chosen: Clique, tables: Iterable[Clique]) -> list[Clique]:
    """Return the tables that share at most one column with the chosen table and are not one of its columns.

    A measurement of the chosen table says nothing about the dependence in these.
    """
    columns = set(chosen)
    return [r for r in tables if len(columns.intersection(r)) < min(2, len(r))]


class Capacity:
    """The largest size of a model, in cells of its junction tree's maximal cliques.

    JT-SIZE (AIM, section 4) is eight bytes a cell. The domain's structural zeros (AIM, appendix D)
    and published tables are part of every model, and so of its size.

    Args:
        domain: The domain.
        max_size_mb: The largest size in MB.
    """

    def __init__(self, domain: Domain, max_size_mb: float) -> None:
        self.cells = max_size_mb * MEGABYTE / BYTES_PER_CELL
        self._domain = domain
        self._sizes = SizeOracle(domain.sizes(domain.names))
        self._masks: dict[Clique, int] = {}
        self._places = {name: place for place, name in enumerate(domain.names)}
        self._always = (*domain.zeros, *(table.columns for table in domain.published))
        self._latest: tuple[frozenset[Clique], tuple[int, ...]] = (frozenset(), tuple(self._mask(clique) for clique in self._always))

    def allows(self, measured: Iterable[Clique], candidate: Clique, fraction: float = 1.0) -> bool:
        """Return whether a model of the measured tables and a candidate stays within a fraction of the capacity.

        A candidate that lies inside a measured table is always allowed, because the model does not
        grow.

        Args:
            measured: The measured tables.
            candidate: The candidate.
            fraction: The fraction of the capacity.
        """
        return bool(self.allowed(measured, [candidate], fraction))

    def allowed(self, measured: Iterable[Clique], candidates: Iterable[Clique], fraction: float = 1.0) -> list[Clique]:
        """Return the candidates with which a model of the measured tables stays within a fraction of its capacity.

        They keep their order. A candidate that lies inside a measured table is always among them.

        Args:
            measured: The measured tables.
            candidates: The candidates.
            fraction: The fraction of the capacity.
        """
        pool = self.pool(candidates)
        return list(compress(pool.tables, self.fitting(measured, pool, fraction)))

    def pool(self, tables: Iterable[Clique]) -> Pool:
        """Return the tables, in their order, as a `Pool`: arrays with which `fitting` is fast."""
        every, place = tuple(tables), self._places
        widest = max((2, *map(len, every)))
        columns = [[*(place[name] for name in clique), *[-1] * (widest - len(clique))] for clique in every]
        return Pool(every, np.array(columns, dtype=np.intp).reshape(-1, widest), place)

    def fitting(self, measured: Iterable[Clique], pool: Pool, fraction: float = 1.0) -> Booleans:
        """Return for each table of the pool whether a model with it stays within the capacity (`allows`), shape (tables,).

        Args:
            measured: The measured tables.
            pool: The candidates.
            fraction: The fraction of the capacity.
        """
        present, limit = self._present(measured), fraction * self.cells
        if len(pool.tables) < MANY or len(self._domain) <= ATTRIBUTES_TRIED:
            return np.array(self._sizes.fitting(present, list(map(self._mask, pool.tables)), limit), dtype=bool)
        fits, others = self._sizes.pairs_fitting(present, limit)[pool.pairs], np.flatnonzero(pool.pairs < 0)
        held = reduce(or_, present, 0)  # a column of a measured table makes no model larger
        kept = [len(pool.tables[i]) == 1 and bool(self._mask(pool.tables[i]) & held) for i in others.tolist()]
        fits[others], others = True, others[~np.array(kept, dtype=bool)]
        if others.size:
            fits[others] = self._sizes.fitting(present, [self._mask(pool.tables[i]) for i in others.tolist()], limit)
        return fits

    def used_mb(self, measured: Iterable[Clique]) -> float:
        """Return the size (JT-SIZE) of a model of the measured tables, in MB (1e6 bytes).

        A column that is in no table adds its own cells. With more than 32 columns the size may be an upper bound that
        depends on earlier calls (`SizeOracle.cells`).
        """
        return self._sizes.cells(self._present(measured)) * BYTES_PER_CELL / MEGABYTE

    def _present(self, measured: Iterable[Clique]) -> tuple[int, ...]:
        """Return the masks of all cliques of a model: measured tables, structural zeros and published tables.

        The latest result is cached, because candidates are also tried one by one with the same
        model.
        """
        cliques = frozenset(measured)
        if cliques != self._latest[0]:
            self._latest = cliques, tuple(sorted({self._mask(clique) for clique in (*self._always, *cliques)}))
        return self._latest[1]

    def _mask(self, clique: Clique) -> int:
        mask = self._masks.get(clique)
        if mask is None:
            mask = self._masks[clique] = mask_of(labels_of(self._domain, clique))
        return mask


def fit(
    kernel: Kernel,
    measurements: Sequence[Measurement],
    earlier: GraphicalModel | None = None,
    stopping: Stopping = BETWEEN,
    counted: Sequence[Measurement] = (),
    assumed: Sequence[MarginalCounts] = (),
    folding: Folding | None = None,
    columns: Columns = MEASURED,
) -> GraphicalModel:
    """Return the model that Private-PGM estimates from measurements.

    Earlier answers about single columns (`Kernel.known`) are used as well.

    Args:
        kernel: The kernel, for its domain and a public number of rows.
        measurements: The noisy tables.
        earlier: The model to start from.
        stopping: When the fit ends.
        counted: Noisy numbers of rows (measurements of the empty clique), if the mechanism took
            any.
        assumed: Marginals that are known without measurement; they do not inform the number of
            rows.
        folding: The folding of columns.
        columns: The smoothed columns, which replace the measurements and known counts that they
            follow from.
    """
    total = total_from(kernel, [*counted, *measurements])
    measured = [m for m in measurements if m not in columns.measured] if columns.measured else measurements
    known = [one for one in kernel.known if one not in columns.known]
    return estimate(kernel.domain, measured, total, earlier, stopping, folding, [*known, *columns.believed, *assumed])


class Fit(Protocol):
    """The function `fit` of one run, whose kernel, folding and smoothed columns are given."""

    def __call__(
        self,
        measurements: Sequence[Measurement],
        earlier: GraphicalModel | None = None,
        stopping: Stopping = BETWEEN,
        *,
        assumed: Sequence[MarginalCounts] = (),
    ) -> GraphicalModel:
        """Return the model that Private-PGM fits to the measurements, in the run's kernel, folding and smoothed columns.

        Args:
            measurements: The noisy tables.
            earlier: The model to start from; None to start anew.
            stopping: When the fit ends.
            assumed: Marginals that are known without measurement; they do not inform the number of rows.
        """


def columns_too_large(domain: Domain, max_size_mb: float, most_mb: float = MOST_MB) -> str:
    """Return why the capacity is too small for the smallest model; "" if it suffices.

    The smallest model has the one-way marginals, structural zeros and published tables.

    Args:
        domain: The columns.
        max_size_mb: Capacity of the model in MB.
        most_mb: The largest capacity that a plan may state: `max_size_mb` itself where the
            mechanism has no such parameter.
    """
    needed = Capacity(domain, max_size_mb).used_mb(columns_of(domain))
    if needed <= max_size_mb:
        return ""
    least = "one-way marginals and the impossible combinations" if domain.zeros else "one-way marginals"
    least += " and the published tables" if domain.published else ""
    others = ["give fewer published tables"] if domain.published else []
    return f"the {least} alone are larger than the model's capacity; {room_for(needed, 'merge values', *others, most_mb=most_mb)}"


def none_fits(domain: Domain, tables: Iterable[Clique], max_size_mb: float) -> str:
    """Return why no unpublished table fits a model of this capacity; "" if at least one fits.

    The text is also returned if there are no unpublished tables.

    Args:
        domain: The domain, with its published tables.
        tables: The tables to try.
        max_size_mb: The capacity in MB.
    """
    unpublished = domain.unpublished(tables)
    if Capacity(domain, max_size_mb).allowed((), unpublished):
        return ""
    remedies = room_for(least_mb(domain, unpublished), "use smaller tables")
    return f"every table of the workload is larger than the model's capacity; {remedies}"


def least_mb(domain: Domain, tables: Iterable[Clique]) -> float:
    """Return the size in MB (JT-SIZE) of the smallest model that holds one of the tables; infinity without tables."""
    capacity = Capacity(domain, MOST_MB)
    return min((capacity.used_mb([table]) for table in tables), default=math.inf)


def room_for(needed_mb: float, *others: str, most_mb: float = MOST_MB) -> str:
    """Return the remedies for a model that needs more than its capacity, joined by "or"; "" without any remedy.

    Args:
        needed_mb: Size of the model in MB. To raise the capacity to it is a remedy if it is at most `most_mb`.
        *others: Other remedies.
        most_mb: The largest capacity that a plan may state.
    """
    remedies = [*([f"raise max_size_mb to {math.ceil(needed_mb)}"] if needed_mb <= most_mb else []), *others]
    return " or ".join(remedies)


Answers = Mapping[Clique, NDArray[np.float64]]
ByTable = Mapping[Clique, float]


@dataclass(frozen=True, eq=False)
class Choice:
    """The outcome of a selection.

    Attributes:
        clique: The chosen table.
        eps: Privacy parameter of the selection.
        sensitivity: Largest change of a score by one person.
        candidates: Number of tables that could be chosen.
        chosen: The chosen table with its answer, weight and offset.
        seen: The tables that are offered for the first time with these answers.
    """

    clique: Clique
    eps: float
    sensitivity: float
    candidates: int
    chosen: Candidate
    seen: Mapping[Clique, Candidate]

    def taught_little(self, model: GraphicalModel) -> bool:
        """Return whether the measurement of the chosen table changed the model's answer no more than noise would.

        That is so if the L1 distance, in counts, of the answers before and after is at most the offset of the
        selection. This is the condition for more expensive rounds (AIM, Algorithm 3).

        Args:
            model: The model after the measurement.
        """
        return float(np.abs(model.marginal(self.clique) - self.chosen.answer).sum()) <= self.chosen.offset


def choose(kernel: Kernel, answers: Answers, weights: ByTable, offsets: ByTable, eps: float) -> Choice:
    """Select one table at random by the exponential mechanism, with score w_r * (||M_r(D) - answers_r||_1 - offset_r).

    Args:
        kernel: The kernel, which is charged.
        answers: The model's answers, in counts, at least one.
        weights: The weight w_r of each table.
        offsets: A number of counts for each table.
        eps: Privacy parameter of the selection.
    """
    return Selecting(kernel, answers, weights, offsets, eps).draw(np.ones(len(answers), dtype=bool))


class Selecting:
    """Several selections by the exponential mechanism with the same answers, weights and offsets.

    The candidates and `Choice.seen` are fixed before the first selection.

    Args:
        kernel: The kernel, which each selection charges.
        answers: The model's answers, in counts, at least one.
        weights: The weight w_r of each table.
        offsets: A number of counts for each table, which is subtracted from its distance.
        eps: Privacy parameter of each selection.
    """

    def __init__(self, kernel: Kernel, answers: Answers, weights: ByTable, offsets: ByTable, eps: float) -> None:
        self.eps, self._kernel, self._offered = eps, kernel, Offered(answers, weights, offsets)
        self._tables = self._fresh = {r: Candidate(weights[r], offsets[r], answer.astype(np.float32)) for r, answer in answers.items()}
        self._weights = np.array([weights[r] for r in answers])

    def draw(self, among: Booleans) -> Choice:
        """Select one of the tables where `among` is True, shape (tables,), at random by the exponential mechanism.

        The kernel is charged. `Choice.seen` has all tables at the first selection, and no table later.

        Raises:
            InputError: A transcript that is replayed has another table.
        """
        clique = self._kernel.select_offered_marginal(self._offered, self.eps, among)
        if clique not in self._tables:
            raise InputError("transcript", "a table was selected that could not be", "do not rely on this release")
        seen, self._fresh = self._fresh, {}
        sensitivity = float(self._weights[among].max()) * self._kernel.unit.marginal_l1
        return Choice(clique, self.eps, sensitivity, int(among.sum()), self._tables[clique], seen)


def choose_worst(kernel: Kernel, answers: Answers, eps: float) -> Choice:
    """Select one table at random by the exponential mechanism, with score ||M_r(D) - answers_r||_1.

    Args:
        kernel: The kernel, which is charged.
        answers: The model's answers, in counts, at least one.
        eps: Privacy parameter of the selection.
    """
    return choose(kernel, answers, dict.fromkeys(answers, 1.0), dict.fromkeys(answers, 0.0), eps)


@dataclass
class Selections:
    """The selections of a run whose tables were then measured, from which error bounds are computed.

    Attributes:
        selections: One record per selection, in order.
        considered: Every table that was a candidate, with the index in `selections` of the last
            time and its state then (see `Finished`).
    """

    selections: list[SelectionRecord] = field(default_factory=list)
    considered: dict[Clique, tuple[int, Candidate]] = field(default_factory=dict)

    def add(self, choice: Choice, measurement: Measurement) -> None:
        """Record a selection with the measurement of the chosen table.

        The noise of the measurement must be independent of the selection.
        """
        self.considered.update((clique, (len(self.selections), candidate)) for clique, candidate in choice.seen.items())
        self.selections.append(SelectionRecord(choice.chosen, measurement, choice.eps, choice.sensitivity, choice.candidates))

    def pass_over(self, choice: Choice) -> None:
        """Record a selection after which the chosen table was not measured in counts.

        No bound follows for its candidates. They are removed from `considered`, because an earlier
        selection is then not their last one (`bounds.unsupported`).
        """
        self.considered = {clique: last for clique, last in self.considered.items() if clique not in choice.seen}
