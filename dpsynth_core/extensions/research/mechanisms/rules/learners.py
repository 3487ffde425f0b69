"""The four private rule learners, with their costs and conditions, for mechanisms that learn rules from the private table.

    laplace      RSPM                    eps-DP             rho = eps^2/2
    gaussian     Gaussian RSPM           (eps, delta)-DP    rho = eps^2/2, and delta
    prsma        PRSMA over RSPM         (eps, delta)-DP    rho = eps^2/2, and delta, however calls of the oracle fail
    exponential  exponential mechanism   bounded range      rho = eps^2/8, by enumerating the whole class

The first two keep their promise on condition that the oracle proves its answer (`RuleLearner.condition`). "auto" is the exponential
mechanism where the class can be enumerated, which needs no oracle, and RSPM elsewhere: the class decides, never a record. The kernel runs
all four; this module holds public arithmetic alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import EXHAUSTIVE, ORACLES, Oracle, Task, enumerable, exhaustible
from dpsynth_core.extensions.research.oracles.rules.rules import DECISION_LIST, Rule, RuleClass
from dpsynth_core.extensions.research.oracles.search import MAX_LITERALS
from dpsynth_core.extensions.research.privacy.rspm import Prsma
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.mechanisms.parameters import choice, real
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload

AUTO, LAPLACE, GAUSSIAN, PRSMA, EXPONENTIAL = "auto", "laplace", "gaussian", "prsma", "exponential"

NUMBERS_OF_PRSMA = (
    "PRSMA's numbers follow from a proof of our own; at epsilon 2 and delta 1e-6 those of Theorem 8 need 20,000 times as many oracle calls."
)

MAX_SECONDS = 3600.0
"""Largest forecast duration of all oracle calls of PRSMA."""
_MEGABYTES_PER_SEARCH = 1000.0
"""Memory of CP-SAT for the largest model it is given."""
_SECONDS_PER_DRAW, _SECONDS_PER_PRODUCT, _SECONDS_PER_LIST, _SECONDS_PER_SET, _SECONDS_PER_SEARCH = 1.2e-5, 3e-9, 2e-4, 6e-7, 0.2
"""Seconds of: one number of noise; one enumerated rule; the cheapest decision list, and each set of features on the way; one search by
CP-SAT in a part of a thousand records over 25 to 60 columns.
"""


def learner_choice() -> str:
    """Declare the parameter for the private learner, "auto" by default, as a field of a mechanism's dataclass."""
    text = (
        "exponential: the exponential mechanism over all rules, the most accurate, where the class is small enough to go through. laplace "
        "and gaussian: RSPM, private as long as its oracle proves its answer. prsma: private even if the oracle fails, but it asks it "
        "about 13/delta times: for one rule, possible from a delta of 0.0001 on with 19 columns besides the target, 0.000001 with 11 and "
        "0.0000001 with two. It learns from a small part of the records: with fewer than 200,000 its rules are mostly noise."
    )
    text += " auto: exponential where that is possible, else laplace."
    return choice((AUTO, EXPONENTIAL, LAPLACE, GAUSSIAN, PRSMA), text=text)


def oracle_choice() -> str:
    """Declare the parameter for the oracle that finds the best rule, "auto" by default, as a field of a mechanism's dataclass."""
    text = (
        "What finds the best rule for laplace, gaussian and prsma: auto goes through all sets of features where that is possible, which "
        "cannot fail, and uses CP-SAT elsewhere."
    )
    return choice(ORACLES, text=text)


def oracle_work() -> float:
    """Declare the parameter for CP-SAT's work per proof, 60 by default, as a field of a mechanism's dataclass.

    A unit of work takes about a second on a fast machine.
    """
    text = (
        "How much CP-SAT may work for one proof, in its own units: a second each on a fast machine, the same work on all. It is given "
        f"{MAX_LITERALS:,} features of distinct records at most: {MAX_LITERALS // 30:,} records that have 30 each. Without a proof "
        "the answer is “no rule”, and paid for. Whether that happens is up to the records: see the Guide on certified learning."
    )
    return real(60.0, least=0.001, most=3600.0, text=text)


@dataclass(frozen=True)
class Question:
    """One question to a private learner.

    Attributes:
        learner: "laplace" (RSPM), "gaussian" (Gaussian RSPM), "prsma" or "exponential".
        eps: The epsilon of its guarantee; for the exponential mechanism, its parameter.
        delta: The delta of its guarantee; 0 for learners without a delta.
    """

    learner: str
    eps: float
    delta: float

    @classmethod
    def spending(cls, name: str, rho: float, delta: float) -> Question:
        """Return a question to a learner whose eps makes it cost rho.

        Args:
            name: The learner: "laplace", "gaussian", "prsma" or "exponential".
            rho: The cost, in rho.
            delta: The delta of learners that need one; others ignore it.
        """
        return cls(name, math.sqrt((8 if name == EXPONENTIAL else 2) * rho), delta if name in (GAUSSIAN, PRSMA) else 0.0)

    def put(self, kernel: Kernel, task: Task, oracle: Oracle) -> Rule | None:
        """Ask the kernel to learn a rule.

        Args:
            kernel: The kernel, which is charged.
            task: The class of rules, and the cost of a rule at a record.
            oracle: The oracle; not used by the exponential mechanism.

        Returns:
            The rule, which may be released, or None for the answer "no rule": PRSMA's test did not pass, or RSPM's oracle
            did not prove its answer.

        Raises:
            ValueError: The source cannot answer about records, eps or delta does not suit the learner, the
                number of records is secret (PRSMA), or the oracle or the exponential mechanism would have
                to enumerate too many rules.
            CapacityError: The table has fewer records than PRSMA's parts.
            BudgetExceeded: The cost exceeds the kernel's budget.
        """
        if self.learner == EXPONENTIAL:
            written = operations.select_rule(kernel, task, self.eps)
        elif self.learner == LAPLACE:
            written = operations.learn_rule(kernel, task, self.eps, oracle)
        elif self.learner == GAUSSIAN:
            written = operations.learn_rule_gaussian(kernel, task, self.eps, self.delta, oracle)
        else:
            written = operations.learn_rule_robustly(kernel, task, self.eps, self.delta, oracle)
        return task.rules.read(written) if len(written) else None

    def guarantee(self, may_fail: bool) -> str:
        """Return the guarantee in words, for the release.

        Args:
            may_fail: Whether the oracle may answer without a proof.
        """
        spent = f"eps = {self.eps:.4g}" + (f", delta = {self.delta:.4g}" if self.delta else "")
        if self.learner == EXPONENTIAL:
            return f"exponential mechanism at {spent}: no oracle, nothing that could fail"
        if self.learner == PRSMA:
            return f"PRSMA at {spent}: holds however calls of the oracle fail, as long as none remembers another"
        name = "RSPM" if self.learner == LAPLACE else "Gaussian RSPM"
        return f"{name} at {spent}: the oracle {'may fail to prove its answer' if may_fail else 'cannot fail'}"

    @property
    def no_rule(self) -> str:
        """The sentence that stands in the release for the answer "no rule"; it says whether PRSMA's test or the oracle's proof failed."""
        if self.learner == PRSMA:
            return "No rule: PRSMA's test did not pass, which is one of its private answers."
        return "No rule: the oracle did not prove its answer within its limit."


class RuleLearner(ABC):
    """The base of mechanisms that learn rules from the private table.

    Attributes:
        learner: The private learner: "auto", "exponential", "laplace", "gaussian" or "prsma".
        oracle: Name of the oracle: "auto", "cp-sat" or "exhaustive".
        oracle_work: Work of CP-SAT per question (`Limit.work`), about a second per unit on a fast machine.
    """

    learner: str
    oracle: str
    oracle_work: float

    @abstractmethod
    def rules(self, domain: Domain) -> RuleClass:
        """Return the class of rules that this mechanism learns over a domain.

        Raises:
            InputError: The domain does not have such a class, for example because a column does not have two values.
        """

    @abstractmethod
    def asked(self, rules: RuleClass) -> tuple[float, int]:
        """Return the share of the budget that learns rules, from 0 to 1, and the number of questions.

        The questions divide the share equally.
        """

    @abstractmethod
    def needed(self, domain: Domain, rules: RuleClass) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, for a class that the learner can learn."""

    @property
    def solver(self) -> Oracle:
        """The oracle that the parameters name."""
        return Oracle(self.oracle, self.oracle_work)

    def chosen(self, rules: RuleClass) -> str:
        """Return the name of the learner for a class: as set, or for "auto" the one that suits the class.

        For "auto" it is "exponential", the exponential mechanism, if the class is `enumerable`, otherwise "laplace", RSPM with Laplace
        noise.
        """
        if self.learner != AUTO:
            return self.learner
        return EXPONENTIAL if enumerable(rules) else LAPLACE

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused; the budget does not matter.

        Refused are a domain without such a class of rules, and a learner or oracle that would have
        to enumerate too many rules.
        """
        try:
            rules = self.rules(workload.domain)
        except InputError as error:
            return Forecast(False, 0.0, 0.0, f"{error.field}: {error.problem}; {error.remedy}")
        size, reason = f"a {rules.kind} over {len(rules.features)} features is one of too many", ""
        if self.chosen(rules) == EXPONENTIAL and not enumerable(rules):
            reason = f"the exponential mechanism goes through all rules, and {size}; use laplace"
        elif self.oracle == EXHAUSTIVE and self.chosen(rules) != EXPONENTIAL and not exhaustible(rules):
            reason = f"this oracle goes through all sets of features, and {size}; use auto"
        needed = self.needed(workload.domain, rules)
        return replace(needed, fits=False, reason=reason) if reason else needed

    def needs_delta(self) -> bool:
        """Return whether the learner spends a delta, as Gaussian RSPM and PRSMA do."""
        return self.learner in (GAUSSIAN, PRSMA)

    def condition(self, domain: Domain) -> str:
        """Return the condition of RSPM's guarantee as full sentences, or "" if its oracle cannot fail.

        Other learners have no condition: "".

        Raises:
            InputError: The domain does not have such a class of rules.
        """
        rules = self.rules(domain)
        if self.chosen(rules) not in (LAPLACE, GAUSSIAN) or not self.solver.may_fail(rules):
            return ""
        return (
            "This holds on condition that the solver would prove its answer within its limit on every table that differs in one person, "
            "whatever the noise; nobody checked that. Where it does not, “no rule” is released, and how likely that is can depend on the "
            "records."
        )

    def obstacle(self, domain: Domain, rho: float, delta: float, unit: Unit) -> str:
        """Return why PRSMA cannot run, or "" if it can or another learner is set.

        It needs a public number of records, and its oracle calls for all questions must not take
        more than an hour.

        Args:
            domain: The domain.
            rho: Budget of the run, in rho.
            delta: Delta of the run.
            unit: The unit of privacy.

        Raises:
            InputError: The domain does not have such a class of rules.
            ValueError: rho is not above 0, or delta is not between 0 and 1.
        """
        if self.learner != PRSMA:
            return ""
        if not unit.total_is_public:
            return (
                "PRSMA is proved for tables that differ in one replaced record; choose replace and one row per person in a file of lines, "
                "or another learner"
            )
        rules = self.rules(domain)
        share, questions = self.asked(rules)
        question = Question.spending(PRSMA, share * rho / questions, delta / questions)
        calls = Prsma(question.eps, question.delta).calls * questions
        took = calls * self._call_seconds(rules)
        if took > MAX_SECONDS:
            return (
                f"PRSMA would need {calls:,} oracle calls, about {took / 3600:,.0f} hours, and more than one is refused; raise delta (the "
                "number grows like 1/delta), use fewer columns, or another learner"
            )
        return ""

    def searching(self, rules: RuleClass) -> tuple[float, float]:
        """Return the expected seconds and megabytes of one search for a rule by CP-SAT.

        Both are 0 if CP-SAT does not search. A search takes less where proofs are quick and
        distinct records few.
        """
        if self.chosen(rules) == EXPONENTIAL or not self.solver.may_fail(rules):
            return 0.0, 0.0
        return self.oracle_work / 10, _MEGABYTES_PER_SEARCH

    def _call_seconds(self, rules: RuleClass) -> float:
        """Return the expected seconds of one oracle call, with the drawing of its noise."""
        drawing = _SECONDS_PER_DRAW * len(rules.separators)
        if self.solver.may_fail(rules):
            return drawing + _SECONDS_PER_SEARCH
        if rules.kind == DECISION_LIST:
            return drawing + _SECONDS_PER_LIST + _SECONDS_PER_SET * 2 ** len(rules.features)
        return drawing + _SECONDS_PER_PRODUCT * len(rules.separators) * 2**rules.log2_size
