"""The privacy kernel: the one room that sees private counts (a protected kernel in the sense of EKTELO, Zhang et al. 2018).

Everything a mechanism learns about the table comes out of one of the operations below. Each states its cost, charges the meter
before it reads anything, and adds noise calibrated to the unit of privacy. A mechanism that only calls them is private by composition.

Counts and source sit in name-mangled attributes. Python cannot hide them from hostile code; it does not have to, because mechanisms
are ours: import rules and tests make sure that they know only `mechanisms.kernel.Kernel`.

Records that the domain calls impossible (its structural zeros) are counted and measured where they are, like any other. An error, or a
count of them, would be a fact about a person; and the sensitivities hold for every table, not only for tables that obey.

Not protected: how long an operation takes and how much memory it needs. So no release has times (`release.times`). It matters most
where an oracle is asked about records (the learn_... operations): how many of them are distinct decides memory, how long a search takes is
up to them, and whether it ends with a proof.
What an oracle could not prove is an answer of its own, "no rule", and RSPM's promise has the condition that this never happens
(`research.privacy.rspm`); PRSMA's, that no call depends on another (`research.privacy.prsma`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.privacy import events, residuals, thresholds
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.privacy.events import Approximate, Event, Gaussian, Laplace, PermuteAndFlip, Retention, Selection, Thresholded
from dpsynth_core.privacy.group import Group
from dpsynth_core.privacy.grouped import Grouped
from dpsynth_core.privacy.meter import Meter
from dpsynth_core.privacy.noise import Noise
from dpsynth_core.privacy.scores import (
    COUNT_STEPS,
    SUM_STEPS,
    check_answers,
    distances,
    offset_steps,
    scores,
    sensitivity,
    weight_steps,
)
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.research.oracles.rules.rule_oracle import Oracle
from dpsynth_core.research.oracles.rules.rules import Rule
from dpsynth_core.research.oracles.rules.task import Task
from dpsynth_core.research.privacy import best_mixture, exponential, flipping, groups, retention, rspm
from dpsynth_core.research.privacy.groups import QueryCounts, ScoreGroups
from dpsynth_core.research.privacy.prsma import Prsma
from dpsynth_core.research.vocabulary.incidence import Incidence
from dpsynth_core.research.vocabulary.queries import QueryClass, SparseAnswers, merged
from dpsynth_core.sources.source import counted
from dpsynth_core.vocabulary import keys
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import by_name, with_groups
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.marginals import at_least, project
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique, MarginalCounts, Measurement, Residual
from dpsynth_core.vocabulary.occupied import Occupied
from dpsynth_core.vocabulary.predictors import Predictor

if TYPE_CHECKING:
    from dpsynth_core.sources.source import CellSource, MarginalSource, RecordSource, ValueSource

_NEVER = (None, 0)
"""An answer that was not compared before."""


class PrivacyKernel:
    """Implements `mechanisms.kernel.Kernel` over a counting source, with a budget of `rho` sealed at construction.

    delta: set aside for steps that keep their promise except with a small probability (see `meter`). accountant: what operations cost.
    The costs that operations state here are zCDP's; under GDP selections cost pi/2 times as much (`accountant`).
    """

    def __init__(
        self, source: MarginalSource, unit: Unit, rho: float, noise: Noise, delta: float = 0.0, accountant: Accountant = ZCDP
    ) -> None:
        self.__turn_to(source)
        self.__meter = Meter(rho, delta=delta, accountant=accountant)
        self.__noise = noise
        self.__unit = unit
        self.__known: tuple[MarginalCounts, ...] = ()
        self.__groups: dict[str, Groups] = {}

    def __turn_to(self, source: MarginalSource) -> None:
        """Count from this source from here on, with nothing kept of another: whatever is cached of records is listed here."""
        self.__source, self.__domain = source, source.domain
        self.__counts: dict[Clique, NDArray[np.int64]] = {}
        self.__tallies: dict[tuple[tuple[Clique, ...], int | None], QueryCounts] = {}
        self.__cells: dict[Attribute, NDArray[np.int64]] = {}
        self.__occupied: dict[Clique, Occupied] = {}
        self.__compared: dict[Clique, tuple[NDArray[np.float64], int]] = {}

    @property
    def domain(self) -> Domain:
        return self.__domain

    @property
    def unit(self) -> Unit:
        return self.__unit

    @property
    def known(self) -> tuple[MarginalCounts, ...]:
        return self.__known

    @property
    def rho_total(self) -> float:
        return self.__meter.rho_total

    @property
    def rho_spent(self) -> float:
        return self.__meter.rho_spent

    @property
    def rho_left(self) -> float:
        return self.__meter.rho_left

    @property
    def delta_total(self) -> float:
        return self.__meter.delta_total

    @property
    def selection_price(self) -> float:
        return self.__meter.selection_price

    @property
    def events(self) -> tuple[Event, ...]:
        return self.__meter.events

    def part(self, rho: float) -> PrivacyKernel:
        """A kernel over the same table with `rho` of this one's budget; whoever holds it can spend no more.

        What it charges is charged and listed here too. Nothing is read or charged by making it.
        """
        stage = copy(self)
        stage.__meter = self.__meter.part(rho)
        return stage

    def prepare(self, cliques: Collection[Clique]) -> None:
        """Read the marginals that will be needed, in one pass where their tables fit. Releases nothing, costs nothing; without it each
        operation makes a pass."""
        missing = [clique for clique in map(self.__canonical, cliques) if clique not in self.__counts]
        if missing:
            self.__fetch(missing)

    def over(self, domain: Domain, known: Sequence[MarginalCounts] = ()) -> PrivacyKernel:
        """A kernel over the same table in the cells of another public domain, with the same budget: whatever the domain, a record is in one
        cell of each marginal. Nothing is read or charged by making it. known: released answers that a mechanism may use."""
        other = copy(self)
        other.__turn_to(self.__value_source().over(domain))
        other.__known, other.__groups = tuple(known), {}
        return other

    def among(self, cells: Mapping[str, tuple[int, ...]]) -> PrivacyKernel:
        """A kernel over those records alone that are in these public cells of columns, with the same budget: `privacy.group`. Nothing is
        read or charged by making it."""
        other = copy(self)
        other.__turn_to(Group(self.__domain, self.__read, cells))
        other.__unit = replace(self.__unit, rows_may_not_count=True)
        return other

    def grouped(self, groups: Sequence[Groups]) -> Self:
        """A kernel over the same table with these public groups of values as further columns, with the same budget: `privacy.grouped`.
        Nothing is read or charged by making it."""
        other = copy(self)
        other.__turn_to(Grouped(with_groups(self.__domain, groups), self.__domain, self.__read, by_name(groups)))
        other.__groups = self.__groups | by_name(groups)
        return other

    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Count these columns in these public cells in one pass, for `measure_cells`. Releases nothing, costs nothing."""
        counts = self.__value_source().over(Domain(tuple(cells))).counts([(attribute.name,) for attribute in cells])
        self.__cells = {attribute: counts[(attribute.name,)] for attribute in cells}

    def seed(self) -> int:
        """Randomness for what protects nobody, such as the perturbations of a search: free, and may be published. The noise is drawn
        independently of it, except by a seeded source, whose releases are not private anyway."""
        return self.__noise.uniform(2**63)

    def measure_marginal(self, clique: Clique, sigma: float) -> Measurement:
        """M_r(D) + rounded normal noise in every cell. Costs marginal_l2^2 / (2 sigma^2)."""
        clique = self.__canonical(clique)
        self.__meter.charge(Gaussian(sigma, self.__unit.marginal_l2))
        noisy = self.__noise.gaussian(self.__read([clique])[clique], sigma)
        groups = tuple(self.__groups[name] for name in clique if name in self.__groups)
        return Measurement(clique, noisy.astype(np.float64), float(sigma), rounding=ROUNDING, groups=groups)

    def residual_l2(self, clique: Clique, sigma: float) -> float:
        """L2 sensitivity of the residual of a marginal when it is measured at sigma, of the empty one: of the number of rows. Public."""
        sizes = self.__domain.sizes(self.__canonical(clique)) if clique else ()
        return residuals.sensitivity(self.__unit, sizes, sigma)

    def measure_residual(self, clique: Clique, sigma: float) -> Residual:
        """The residual of M_r(D) + rounded normal noise on a lattice in every cell. Costs residual_l2^2 / (2 sigma^2).

        Proof, and why noise is drawn apart from the counts, in `privacy.residuals`.
        """
        clique = self.__canonical(clique)
        bits = residuals.lattice_bits(sigma)
        self.__meter.charge(events.Residual(sigma, self.residual_l2(clique, sigma)))
        counts = self.__read([clique])[clique]
        noise = self.__noise.gaussian(np.zeros_like(counts), math.ldexp(sigma, bits))
        released = residuals.differences((counts << bits) + noise)
        return Residual(clique, residuals.centred(released / 2**bits), float(sigma))

    def measure_cells(self, clique: Clique, cells: Attribute, sigma: float) -> NDArray[np.float64]:
        """How many records are in each of these public cells of one column, whatever the domain says of it, + rounded normal noise.

        Costs marginal_l2^2 / (2 sigma^2), as a marginal: a record is in one of the cells.
        """
        if (cells.name,) != self.__canonical(clique):
            raise ValueError("the cells are of another column")
        self.__meter.charge(Gaussian(sigma, self.__unit.marginal_l2))
        if cells not in self.__cells:
            self.prepare_cells([cells])
        return self.__noise.gaussian(self.__cells[cells], sigma).astype(np.float64)

    def discover_values(self, clique: Clique, sigma: float, delta: float) -> dict[str, int]:
        """Texts of one column with how many records have them, + rounded normal noise: those that reach `thresholds.threshold`.

        Always with `keys.PUBLIC`. Costs marginal_l2^2 / (2 sigma^2), and delta on top; proof in `privacy.thresholds`.
        """
        (name,) = self.__canonical(clique)
        least = thresholds.threshold(sigma, delta, self.__unit.max_rows_per_person)
        self.__meter.charge(Thresholded(sigma, self.__unit.marginal_l2, delta))
        public, values = dict.fromkeys(keys.PUBLIC, 0), dict[str, int]()
        for counts in self.__value_source().values(name):
            public = {key: rows + counts.get(key, 0) for key, rows in public.items()}
            texts = [text for text, rows in counts.items() if text not in public and rows > 0]
            noisy = self.__noise.gaussian(np.array([counts[text] for text in texts], dtype=np.int64), sigma).tolist()
            values |= {text: rows for text, rows in zip(texts, noisy, strict=True) if rows >= least}
        noisy_public = self.__noise.gaussian(np.array(list(public.values()), dtype=np.int64), sigma).tolist()
        return dict(zip(public, noisy_public, strict=True)) | dict(sorted(values.items()))  # in an order that says nothing of the table

    def measure_total(self, sigma: float) -> float:
        """Number of rows + rounded normal noise. Costs total_l2^2 / (2 sigma^2); exact and free where it is public."""
        if self.__unit.total_is_public:
            return float(self.__total()[0])
        self.__meter.charge(Gaussian(sigma, float(self.__unit.total_l2)))
        return float(self.__noise.gaussian(self.__total(), sigma)[0])

    def select_worst_marginal(
        self,
        answers: Mapping[Clique, NDArray[np.float64]],
        weights: Mapping[Clique, float],
        offsets: Mapping[Clique, float],
        eps: float,
    ) -> Clique:
        """Exponential mechanism over the keys of `answers` with score w_r * (||M_r(D) - answers_r||_1 - offset_r). Costs eps^2 / 8.

        One person changes ||M_r(D) - v||_1 by marginal_l1 at most, so a score by max w_r * marginal_l1. That holds exactly, not up to
        floating point: answers, offsets and weights are public and rounded to fixed grids first; from there on all is in integers.

        Answers that cannot be written to are compared once, however often the next selections are among them.
        """
        candidates = tuple(answers)
        fresh = {r: table for r, table in answers.items() if self.__compared.get(r, _NEVER)[0] is not table}
        check_answers(tuple(fresh.values()), [self.__shape(clique) for clique in fresh])
        steps, shifts = weight_steps([weights[r] for r in candidates]), offset_steps([offsets[r] for r in candidates])
        self.__meter.charge(Selection(eps))
        values = scores(steps, self.__distances(answers, fresh), shifts)
        bound = sensitivity(steps, self.__unit.marginal_l1)
        # the largest score + Gumbel(2 * sensitivity / eps) is the exponential mechanism; a scale rounded up only hides more
        winner = self.__noise.noisy_max(values, math.nextafter(2 * bound / eps, math.inf))
        return candidates[winner]

    def measure_errors(self, answers: Mapping[Clique, NDArray[np.float64]], sigma: float) -> dict[Clique, float]:
        """||M_r(D) - answers_r||_1 + rounded normal noise for each of k marginals. Costs k * marginal_l1^2 / (2 sigma^2).

        answers: counts, public, shaped like the marginals. One person changes each error by marginal_l1 at most, the k errors together
        by sqrt(k) times that in L2 norm. As for scores, that holds exactly: answers are rounded to the grid of `scores`, errors are whole
        numbers of its steps, and so is the noise, sigma * COUNT_STEPS of them wide.
        """
        cliques, tables = tuple(answers), tuple(answers.values())
        check_answers(tables, [self.__shape(clique) for clique in cliques])
        self.__meter.charge(Gaussian(sigma, self.__unit.errors_l2(len(cliques))))
        steps = np.array(distances(self.__read_tables(cliques), tables), dtype=np.int64)
        noisy = self.__noise.gaussian(steps, sigma * COUNT_STEPS)  # a power of two: exact
        return dict(zip(cliques, (noisy / COUNT_STEPS).tolist(), strict=True))

    def select_signed_query(
        self, queries: QueryClass, answers: SparseAnswers, eps: float, count: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """`count` independent draws of the exponential mechanism over queries and their negations, score sign * (q(D) - answer_q).

        Costs count * eps^2 / 8: one person changes a score by query_l1 at most, and `privacy.selection` accounts for the rounding.
        """
        b = exponential.scale(eps, self.__unit.query_l1)
        self.__check(queries, answers.numbers)
        groups.check_answers(queries, answers)
        self.__meter.charge(Selection(eps, count))
        return exponential.signed(ScoreGroups(self.__tally(queries), answers), count, b, self.__noise)

    def select_worst_queries(
        self, queries: QueryClass, answers: SparseAnswers, eps: float, count: int, excluded: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """`count` different queries by peeling: the exponential mechanism with score |q(D) - answer_q| over what is left, repeated.

        Costs count * eps^2 / 8, as `select_signed_query`. excluded: numbers that are not offered.
        """
        b = exponential.scale(eps, self.__unit.query_l1)
        left_out = merged(np.asarray(excluded, dtype=np.int64), np.zeros(0, dtype=np.int64))  # in order, each once
        self.__check(queries, answers.numbers)
        self.__check(queries, left_out)
        groups.check_answers(queries, answers)
        if not 0 < count <= queries.size - len(left_out):
            raise ValueError("there are fewer queries left than are to be selected")
        self.__meter.charge(Selection(eps, count))
        return exponential.worst(ScoreGroups(self.__tally(queries), answers, left_out), count, b, self.__noise)

    def permute_and_flip(self, queries: QueryClass, answers: SparseAnswers, eps: float) -> int:
        """One query by permute-and-flip, score |q(D) - answer_q|. Costs eps^2 / 2, as it is eps-DP: `research.privacy.flipping`."""
        b = flipping.scale(eps, self.__unit.query_l1)
        self.__check(queries, answers.numbers)
        groups.check_answers(queries, answers)
        self.__meter.charge(PermuteAndFlip(eps))
        return flipping.worst(ScoreGroups(self.__tally(queries), answers), b, self.__noise)

    def measure_queries(self, queries: QueryClass, numbers: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
        """q(D) + rounded normal noise for each of k queries. Costs k * query_l1^2 / (2 sigma^2): each moves by query_l1 at most."""
        self.__check(queries, numbers)
        self.__meter.charge(Gaussian(sigma, self.__unit.queries_l2(len(numbers))))
        return self.__noise.gaussian(self.__tally(queries).at(numbers), sigma).astype(np.float64)

    def keep_queries(
        self,
        queries: QueryClass,
        numbers: NDArray[np.int64],
        signs: NDArray[np.int8],
        answers: NDArray[np.float64],
        eta: float,
        gamma: float,
        records: float,
    ) -> NDArray[np.bool_]:
        """Whether to keep each of k signed queries: True with probability exp(-eta - gamma - eta * A), independently.

        A = sign * (clip(q(D) / records, 0, 1) - answer).  Costs `events.Retention`; exact, see `research.privacy.retention`.
        """
        self.__check(queries, numbers)
        retention.check(numbers, signs, answers)
        if not len(numbers):
            return np.zeros(0, dtype=np.bool_)
        self.__meter.charge(Retention(eta, gamma, records, self.__unit.query_l1, len(numbers)))
        counts = self.__tally(queries).at(numbers)
        return self.__noise.bernoulli_exp(retention.exponents(counts, signs, answers, eta, gamma, records))

    def measure_largest_error(
        self, answers: Mapping[Clique, NDArray[np.float64]], sigma: float, threshold: int | None = None
    ) -> float:
        """The largest |q(D) - answer_q| over all cells, + rounded normal noise. Costs query_l1^2 / (2 sigma^2).

        Each difference moves by query_l1 at most, and so does the largest. Exact on the grid of `scores`, as `measure_errors` is.
        """
        queries = QueryClass(self.__domain, tuple(answers), threshold)
        check_answers([answers[clique] for clique in queries.cliques], [self.__domain.sizes(clique) for clique in queries.cliques])
        self.__meter.charge(Gaussian(sigma, float(self.__unit.query_l1)))
        counts = self.__read(queries.cliques)
        largest = max(
            int(np.abs(at_least(counts[r], threshold or len(r)) * COUNT_STEPS - groups.steps(answers[r])).max()) for r in queries.cliques
        )
        return float(self.__noise.gaussian(np.array([largest]), sigma * COUNT_STEPS)[0] / COUNT_STEPS)

    def measure_right(self, predictors: Sequence[Predictor], sigma: float) -> NDArray[np.float64]:
        """How many records each of k predictors is right about, + rounded normal noise. Costs k * query_l1^2 / (2 sigma^2).

        Proof. Predictors are made of released values before anything is read here, so they are public: the same for every table. Whether
        one is right about a record is a function of that record's codes alone, in whole numbers (`vocabulary.predictors`): no other record
        and no place in a batch or a part has a say in it. So each number is a counting query, a sum over records of 0 or 1. A person owns
        at most m records that count, whoever counts them (`sources.persons`), and changes nobody else's. Added or removed, they move each
        number by m at most; replaced, up to m terms of 0 or 1 give way to up to m others, which is m at most again. k numbers move by
        m sqrt(k) in L2 norm. A share of the people is such a number over the number of records, which is public or was measured too.
        """
        if not predictors or any(name not in self.__domain for one in predictors for name in one.columns):
            raise ValueError("predictors are about columns of the domain, and there is at least one")
        source = self.__record_source()
        self.__meter.charge(Gaussian(sigma, self.__unit.queries_l2(len(predictors))))
        return self.__noise.gaussian(source.right(predictors), sigma).astype(np.float64)

    def measure_sum(self, clique: Clique, weights: NDArray[np.float64], low: float, high: float, sigma: float) -> float:
        """The sum of the weights of all records + rounded normal noise, a record's weight being that of its cell of a marginal.

        weights: public, shaped like the marginal, from `low` to `high`, with -1 <= low <= 0 <= high <= 1. Costs sum_l2^2 / (2 sigma^2):
        a person's m records add m numbers from low to high; added or removed, they move the sum by m max(-low, high) at most, and
        replaced by m (high - low). That holds exactly: weights are rounded to whole multiples of 1/SUM_STEPS that lie in the same bounds,
        and from there on all is in integers.
        """
        if not -1 <= low <= 0 <= high <= 1 or low == high:
            raise ValueError("weights are from -1 to 1, and their bounds have 0 between them")
        if weights.shape != self.__shape(clique) or not ((low <= weights) & (weights <= high)).all():
            raise ValueError("weights have the shape of the marginal and lie within their bounds")
        self.__meter.charge(Gaussian(sigma, self.__unit.sum_l2(low, high)))
        steps = np.clip(np.rint(weights * SUM_STEPS), math.ceil(low * SUM_STEPS), math.floor(high * SUM_STEPS)).astype(np.int64)
        exact = (self.__read([clique])[clique] * steps).sum()
        return float(self.__noise.gaussian(exact.reshape(1), sigma * SUM_STEPS)[0] / SUM_STEPS)

    def learn_rule(self, task: Task, eps: float, oracle: Oracle) -> NDArray[np.int64]:
        """RSPM: the rule (`Rule.written`) that is cheapest after noise on the separators. Costs eps^2 / 2, for it is eps-DP.

        An empty array: the oracle did not prove its answer. The promise holds if on no neighbour it fails to; proof in
        `research.privacy.rspm`.
        """
        source = self.__cell_source()
        event = rspm.perturbation(task.rules, self.__unit.marginal_l1, eps)
        self.__meter.charge(event)
        noise = rspm.laplace_noise(task.rules, event.scale, self.__noise)
        return rspm.written(task.rules, rspm.minimum(task.problem(self.__distinct(source, task)), noise, oracle))

    def learn_rule_gaussian(self, task: Task, eps: float, delta: float, oracle: Oracle) -> NDArray[np.int64]:
        """The same with Gaussian noise, by a union bound over all rules. Costs eps^2 / 2 and delta, for it is (eps, delta)-DP, under the
        same condition."""
        source = self.__cell_source()
        sigma = rspm.gaussian_sigma(task.rules, self.__unit.marginal_l1, eps, delta)
        self.__meter.charge(Approximate(eps, delta))
        noise = rspm.gaussian_noise(task.rules, sigma, self.__noise)
        return rspm.written(task.rules, rspm.minimum(task.problem(self.__distinct(source, task)), noise, oracle))

    def learn_rule_robustly(self, task: Task, eps: float, delta: float, oracle: Oracle) -> NDArray[np.int64]:
        """PRSMA over RSPM: an empty array is its answer "fail". (eps, delta)-DP; calls of the oracle may fail. Costs eps^2 / 2 and delta.

        ValueError unless the number of records is public; CapacityError, nothing being spent, for fewer records than parts.
        """
        source, plan = self.__cell_source(), Prsma(eps, delta)
        if not self.__unit.total_is_public:
            raise ValueError("PRSMA is for tables that differ in one replaced record")
        if plan.size(int(self.__total()[0])) < 1:
            problem = f"PRSMA divides the records into {plan.parts:,} parts, and there are fewer"
            raise CapacityError("mechanism", problem, "raise epsilon or delta, or use RSPM")
        self.__meter.charge(Approximate(eps, delta))
        table = self.__distinct(source, task)
        return rspm.written(task.rules, rspm.robust_minimum(task, table, plan, self.__unit.marginal_l1, oracle, self.__noise))

    def select_rule(self, task: Task, eps: float) -> NDArray[np.int64]:
        """The exponential mechanism over all rules of a class that can be gone through, by what they cost. Costs eps^2 / 8.

        One person moves the cost of a rule by query_l1 at most.
        """
        source, b = self.__cell_source(), exponential.scale(eps, self.__unit.query_l1)
        self.__meter.charge(Selection(eps))
        return rspm.written(task.rules, rspm.exponential(task.problem(self.__distinct(source, task)), b, self.__noise))

    def measure_rules(self, task: Task, rules: Sequence[Rule], sigma: float) -> NDArray[np.float64]:
        """What each of k rules costs, in records, + rounded normal noise; rivals left aside. Costs k * query_l1^2 / (2 sigma^2)."""
        source = self.__cell_source()
        self.__meter.charge(Gaussian(sigma, self.__unit.queries_l2(len(rules))))
        return self.__noise.gaussian(task.costs(rules, self.__distinct(source, task)), sigma).astype(np.float64)

    def mixture_l1(self, records: float) -> float:
        """Sensitivity of `best_mixture_error`, which the tolerance of its solver is part of. Public."""
        return self.__unit.max_rows_per_person + best_mixture.gap(records)

    def best_mixture_error(
        self, queries: QueryClass, support: NDArray[np.int32], start: NDArray[np.float64], records: float, floor: float, scale: float
    ) -> float | None:
        """max(floor, the least largest error that weights on `support` can have) + discrete Laplace noise, in counts.

        Costs (mixture_l1 / scale)^2 / 2, and is (mixture_l1 / scale)-DP; proof in `research.best_mixture`. None: the solver's bounds did
        not meet. The promise holds if on no neighbour they fail to.
        """
        self.__check(queries, np.zeros(0, dtype=np.int64))
        if not (records >= 1 and floor > 0 and len(support) and start.shape == (len(support),) and (start > 0).all()):
            raise ValueError("the best mixture needs people, a floor above zero, and rows with weights above zero")
        self.__meter.charge(Laplace(scale, self.mixture_l1(records)))
        bounds = best_mixture.bracket(self.__tally(queries), Incidence(queries, support), start, records, floor)
        if bounds is None:
            return None
        steps = np.rint(np.array([sum(bounds) / 2]) * COUNT_STEPS).astype(np.int64)
        return float(self.__noise.discrete_laplace(steps, scale * COUNT_STEPS)[0]) / COUNT_STEPS

    def __value_source(self) -> ValueSource:
        if not hasattr(self.__source, "values"):
            raise ValueError("this source holds cells, not values")
        return cast("ValueSource", self.__source)

    def __record_source(self) -> RecordSource:
        if not hasattr(self.__source, "right"):
            raise ValueError("this source counts cells, and cannot be asked about records")
        return cast("RecordSource", self.__source)

    def __cell_source(self) -> CellSource:
        if not hasattr(self.__source, "occupied"):
            raise ValueError("rules are not learnt from groups of values or of records")
        return cast("CellSource", self.__source)

    def __distinct(self, source: CellSource, task: Task) -> Occupied:
        """The distinct records over the columns of a task, cached: one pass over the source, however often it is asked."""
        if task.columns not in self.__occupied:
            self.__occupied = {task.columns: source.occupied(task.columns)}
        return self.__occupied[task.columns]

    def __check(self, queries: QueryClass, numbers: NDArray[np.int64]) -> None:
        if queries.domain is not self.__domain and queries.domain != self.__domain:
            raise ValueError("these queries are about another domain")
        groups.check_numbers(queries, numbers)

    def __tally(self, queries: QueryClass) -> QueryCounts:
        """The counts of a class of queries, cached."""
        key = queries.cliques, queries.threshold
        if key not in self.__tallies:
            self.__tallies.clear()  # one at a time: a class may have millions of queries
            self.__tallies[key] = QueryCounts.of(queries, self.__read(queries.cliques))
        return self.__tallies[key]

    def __canonical(self, clique: Clique) -> Clique:
        canonical = self.__domain.clique(clique)
        if canonical != clique or not clique:
            raise ValueError("a marginal is named by one or more columns in domain order")
        return canonical

    def __shape(self, clique: Clique) -> tuple[int, ...]:
        """Of a marginal's table. What was counted has a canonical name."""
        counted = self.__counts.get(clique)
        return self.__domain.sizes(self.__canonical(clique)) if counted is None else counted.shape

    def __total(self) -> NDArray[np.int64]:
        """The number of rows, as an array of one."""
        if self.__counts:
            return next(iter(self.__counts.values())).sum().reshape(1)
        return np.asarray(self.__source.counts([()])[()]).reshape(1)

    def __read(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """The counts of these marginals: from what is kept, by summation from a larger one, or else in one pass over the source."""
        unknown = [clique for clique in cliques if clique not in self.__counts and not self.__sum_down(clique)]
        if unknown:
            self.__fetch(unknown)
        return {clique: self.__counts[clique] for clique in cliques}

    def __distances(self, answers: Mapping[Clique, NDArray[np.float64]], fresh: Mapping[Clique, NDArray[np.float64]]) -> NDArray[np.int64]:
        """The distance of each answer from its marginal, in steps; `fresh` are those that the last selection was not among."""
        known = self.__compared
        if fresh:
            gaps = distances(self.__read_tables(fresh), tuple(fresh.values()))
            kept = {r: known[r] for r in answers if r not in fresh} if len(fresh) < len(answers) else {}
            known = kept | {r: (table, gap) for (r, table), gap in zip(fresh.items(), gaps, strict=True)}
            self.__compared = {r: one for r, one in known.items() if not one[0].flags.writeable}
        return np.array([known[r][1] for r in answers], dtype=np.int64)

    def __read_tables(self, cliques: Collection[Clique]) -> list[NDArray[np.int64]]:
        """The same, in the order of the cliques."""
        counts = self.__read(cliques)
        return [counts[clique] for clique in cliques]

    def __sum_down(self, clique: Clique) -> bool:
        """Keep the marginal as a sum of the smallest kept one that contains it; False if there is none."""
        wanted = set(clique)
        supersets = [kept for kept in self.__counts if wanted.issubset(kept)]
        if not supersets:
            return False
        smallest = min(supersets, key=self.__domain.cells)
        self.__counts[clique] = project(self.__counts[smallest], smallest, clique)
        return True

    def __fetch(self, cliques: Collection[Clique]) -> None:
        fetched = counted(self.__source, cliques)
        for clique in cliques:
            if fetched[clique].shape != self.__domain.sizes(clique):
                raise RuntimeError("the source returned a marginal of the wrong shape")
            self.__counts[clique] = fetched[clique]
