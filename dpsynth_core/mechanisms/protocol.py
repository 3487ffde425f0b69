"""What a mechanism is, and the only view of the private table it gets.

A mechanism is a generator of events over released values. It is handed a `Kernel` (this protocol; never a source, never the
class behind it) and public inputs; its privacy proof is that it only calls the kernel, which charges before it answers.
Whoever drives it may stop taking events at any moment: that is how a run is cancelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.oracles.rules.rule_oracle import Oracle
from dpsynth_core.oracles.rules.rules import Rule
from dpsynth_core.oracles.rules.task import Task
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement, Residual
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.vocabulary.workload import Workload


class Kernel(Protocol):
    """The operations of the privacy kernel (mechanisms are written against this, `privacy.kernel` implements it).

    The costs that operations state are zCDP's; under GDP a selection costs pi/2 times as much (`selection_price`).
    """

    @property
    def domain(self) -> Domain: ...

    @property
    def relation(self) -> str:
        """"add-remove" or "replace"."""

    @property
    def marginal_l2(self) -> float:
        """L2 sensitivity of one marginal: 1 or sqrt(2), times the rows per person."""

    @property
    def marginal_l1(self) -> float:
        """L1 sensitivity of one marginal, and of the score ||M_r(D) - v||_1: 1 or 2, times the rows per person."""

    @property
    def query_l1(self) -> float:
        """Sensitivity of one counting query, and of |q(D) - v|: the most rows that one person owns, in both relations."""

    @property
    def total_is_public(self) -> bool:
        """True when the number of rows is the same in neighbouring tables (replace, one row per person)."""

    @property
    def rho_total(self) -> float: ...

    @property
    def rho_spent(self) -> float: ...

    @property
    def rho_left(self) -> float: ...

    @property
    def delta_total(self) -> float:
        """What was set aside for steps that keep their promise except with a small probability; 0 unless the mechanism asked for it."""

    @property
    def selection_price(self) -> float:
        """rho of one selection at eps = 1 under the accountant in force; at eps it is eps^2 times that."""

    def seed(self) -> int:
        """A fresh seed for randomness that protects nobody, such as the perturbations of a search. Free; part of what is released."""

    def measure_marginal(self, clique: Clique, sigma: float) -> Measurement:
        """Costs marginal_l2^2 / (2 sigma^2)."""

    def residual_l2(self, clique: Clique, sigma: float) -> float:
        """L2 sensitivity of the residual of a marginal when it is measured at sigma, of (): of the number of rows. Public, free."""

    def measure_residual(self, clique: Clique, sigma: float) -> Residual:
        """Costs residual_l2^2 / (2 sigma^2). Every column of the clique must have two values or more."""

    def measure_total(self, sigma: float) -> float:
        """Number of rows + noise; free and exact (sigma ignored) when `total_is_public`."""

    def measure_errors(self, answers: Mapping[Clique, NDArray[np.float64]], sigma: float) -> dict[Clique, float]:
        """||M_r(D) - answers_r||_1 + noise for each of k marginals, in counts. Costs k * marginal_l1^2 / (2 sigma^2)."""

    def select_worst_marginal(
        self,
        answers: Mapping[Clique, NDArray[np.float64]],
        weights: Mapping[Clique, float],
        offsets: Mapping[Clique, float],
        eps: float,
    ) -> Clique:
        """Exponential mechanism over the keys of `answers` with score w_r * (||M_r(D) - answers_r||_1 - offset_r).

        answers: counts, shaped like the marginals.  Costs eps^2 / 8.
        """

    def select_signed_query(
        self, queries: QueryClass, answers: SparseAnswers, eps: float, count: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """`count` independent draws of a query (number) or its negation (sign -1) by the exponential mechanism, with replacement.

        score: sign * (q(D) - answer_q), in counts, over the class closed under negation.  Costs count * eps^2 / 8.
        """

    def select_worst_queries(
        self, queries: QueryClass, answers: SparseAnswers, eps: float, count: int, excluded: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """`count` different queries, drawn one after the other by the exponential mechanism with score |q(D) - answer_q|.

        excluded: numbers that are not offered. Costs count * eps^2 / 8.
        """

    def permute_and_flip(self, queries: QueryClass, answers: SparseAnswers, eps: float) -> int:
        """One query (number) by permute-and-flip with score |q(D) - answer_q|. Costs eps^2 / 2."""

    def measure_queries(self, queries: QueryClass, numbers: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
        """q(D) + noise for each of k queries, in counts. Costs k * rows^2 / (2 sigma^2), rows: the most that one person owns."""

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

        A = sign * (q(D) / records - answer), the first clipped to [0, 1].  answers: fractions, one per query.  eta > 0, gamma > 0,
        records >= 1: the number of people, public or noisy.  Costs k * ((eta * rows / records) * (1 + 1 / (e^gamma - 1)))^2 / 8.
        """

    def measure_largest_error(
        self, answers: Mapping[Clique, NDArray[np.float64]], sigma: float, threshold: int | None = None
    ) -> float:
        """The largest |q(D) - answer_q| over all cells of all marginals, + noise, in counts. Costs rows^2 / (2 sigma^2).

        threshold: answers are to "at least so many of the columns agree" instead of to cells, in tables of the same shape.
        """

    def mixture_l1(self, records: float) -> float:
        """Sensitivity of `best_mixture_error`, of its solver's tolerance too. Public, free."""

    def best_mixture_error(
        self, queries: QueryClass, support: NDArray[np.int32], start: NDArray[np.float64], records: float, floor: float, scale: float
    ) -> float:
        """The least largest error |q(D) - answer_q| that weights on the rows of `support` can have, or `floor`, + Laplace noise, in counts.

        start: public weights, above zero.  records: public or noisy number of people.  Costs (mixture_l1 / scale)^2 / 2.
        """

    def learn_rule(self, task: Task, eps: float, oracle: Oracle) -> NDArray[np.int64]:
        """RSPM: the rule of `task` that is cheapest after Laplace noise on the separators, as `Rule.written`. Costs eps^2 / 2.

        Raises OracleError where the oracle did not prove its answer; then too the budget is spent.
        """

    def learn_rule_gaussian(self, task: Task, eps: float, delta: float, oracle: Oracle) -> NDArray[np.int64]:
        """The same with Gaussian noise. Costs eps^2 / 2, and delta of `delta_total`. Raises OracleError likewise."""

    def learn_rule_robustly(self, task: Task, eps: float, delta: float, oracle: Oracle) -> NDArray[np.int64]:
        """PRSMA over RSPM; an empty array is its answer "fail". Costs eps^2 / 2, and delta of `delta_total`, whatever the oracle does.

        Only where `total_is_public`. CapacityError for a table with fewer records than `privacy.learning.prsma.Prsma` has parts.
        """

    def select_rule(self, task: Task, eps: float) -> NDArray[np.int64]:
        """Exponential mechanism over the rules of a class that can be gone through. Costs eps^2 / 8."""

    def measure_rules(self, task: Task, rules: Sequence[Rule], sigma: float) -> NDArray[np.float64]:
        """What each of k rules costs, in records, + noise. Costs k * rows^2 / (2 sigma^2), rows: the most that one person owns."""


class Model(Protocol):
    """What a mechanism ends with: an estimate of the table's distribution, in counts."""

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Estimated counts with one axis per attribute. Raises KeyError if this model cannot answer it."""


class RowModel(Model, Protocol):
    """A model that can also write rows."""

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.int32]:
        """Codes, shape (n, attributes of the domain), as close to the model's answers to `marginals` (weights c_r) as n rows can be."""


@dataclass(frozen=True)
class Measured:
    """A measurement was taken. `round` counts from 0 (0: before the adaptive rounds); `done` is a fraction in [0, 1]."""

    round: int
    measurement: Measurement
    rho_spent: float
    done: float


@dataclass(frozen=True)
class Fitted:
    """The model was re-estimated after a round; shown as progress."""

    round: int
    message: str
    rho_spent: float
    done: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """A marginal as a selection saw it: its score was weight * (||M_r(D) - answer||_1 - offset). answer: counts, the model's then."""

    weight: float
    offset: float
    answer: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Selection:
    """One round that chose a marginal by the exponential mechanism at `eps` and measured it; released values only.

    sensitivity: Delta_t, what one person changes any score by at most. candidates: |C_t|. chosen: what `measurement` was chosen as.
    """

    chosen: Candidate
    measurement: Measurement
    eps: float
    sensitivity: float
    candidates: int


@dataclass(frozen=True)
class Finished:
    """The last event. total: estimated (or public) number of rows. details: public facts for the report.

    selections, considered: what error bounds are computed from (evaluation.bounds), where the mechanism selects. considered: every
    marginal that was ever a candidate, with the index in `selections` of the last time and what it was then.
    """

    model: Model
    total: float
    details: Mapping[str, Any]
    selections: tuple[Selection, ...] = ()
    considered: Mapping[Clique, tuple[int, Candidate]] = field(default_factory=dict)


Event = Measured | Fitted | Finished


Setting = float | int | bool | str
"""The value of a parameter."""


@dataclass(frozen=True)
class Parameter:
    """One knob of a mechanism, with a data-independent default."""

    name: str
    kind: str  # "int" | "float" | "bool" | "choice" (one of `options`) | "column" (of the domain, or "")
    default: Setting
    low: float
    high: float
    help: str
    options: tuple[str, ...] = ()

    @classmethod
    def choice(cls, name: str, options: tuple[str, ...], help: str) -> Parameter:
        """One of several words, by default the first."""
        return cls(name, "choice", options[0], 0, 0, help, options)

    @classmethod
    def column(cls, name: str, help: str) -> Parameter:
        """A column of the domain, by default none."""
        return cls(name, "column", "", 0, 0, help)


@dataclass(frozen=True)
class Forecast:
    """What a run is expected to need, from public inputs only. fits: False means it is refused, with `reason`."""

    fits: bool
    seconds: float
    memory_mb: float
    reason: str = ""


SINGLE, CHOOSING, CHOSEN, ASKED, COUNTING, CHECKING = (
    "single columns",
    "choosing what to ask",
    "chosen tables",
    "tables asked for",
    "number of records",
    "checking the public table",
)
"""What parts of a budget go to, as people are told."""

Split = tuple[tuple[str, float], ...]
"""Stages of a run in order, each with its share of the budget; the shares add up to 1."""


class Mechanism(Protocol):
    """name: registry key. title, summary, paper, privacy: sentences for cards and reports.

    makes_rows: or answers only. takes_thresholds: whether the workload may ask "at least t of these columns" (`Workload.threshold`).
    accountant: what its runs are accounted in, GDP if nearly all of the budget goes to Gaussian noise (`privacy.accountant`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    privacy: ClassVar[str]
    makes_rows: ClassVar[bool]
    takes_thresholds: ClassVar[bool]
    accountant: ClassVar[Accountant]
    parameters: ClassVar[Sequence[Parameter]]

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast: ...

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:
        """How a run divides its budget as planned; an adaptive mechanism may move some of it between the last stages."""

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Event]:
        """Run. settings: complete and validated (see registry.settings). Yields events; the last is Finished."""


@runtime_checkable
class Learner(Protocol):
    """A mechanism that has an oracle look at private records: the kernel's learn_... operations and select_rule.

    publishes_tables: whether it answers the workload; one that does not has no use for a certificate of its errors.
    """

    publishes_tables: ClassVar[bool]

    def needs_delta(self, settings: Mapping[str, Any]) -> bool:
        """Whether steps of it keep their promise except with a small probability: half of the delta is then set aside for them."""

    def obstacle(self, domain: Domain, rho: float, delta: float, relation: str, rows_per_person: int, settings: Mapping[str, Any]) -> str:
        """Why it cannot run with this unit and budget, as its Forecast has it; "" if it can. delta: what is set aside."""


@runtime_checkable
class UsesPublic(Protocol):
    """A mechanism that can use a public table. One that needs it says in its forecast that it does not fit without."""

    def informed_by(self, public: PublicTable) -> Mechanism:
        """The same mechanism, knowing this table."""
