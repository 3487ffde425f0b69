"""What mechanisms share that learn rules from the private table: the four private learners, what each costs, what stands in its way.

    laplace      RSPM                    eps-DP             rho = eps^2/2
    gaussian     Gaussian RSPM           (eps, delta)-DP    rho = eps^2/2, and delta
    prsma        PRSMA over RSPM         (eps, delta)-DP    rho = eps^2/2, and delta, whatever the oracle does
    exponential  exponential mechanism   bounded range      rho = eps^2/8, by going through the whole class

The first two keep their promise only if the oracle's answer is a true minimum: an answer without proof ends the run. All four are the
kernel's; here is public arithmetic alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.parameters import Parameter
from dpsynth_core.oracles.answer import Limit
from dpsynth_core.oracles.rules.rule_oracle import EXHAUSTIVE, ORACLES, Oracle, enumerable, exhaustible
from dpsynth_core.oracles.rules.rules import DECISION_LIST, Rule, RuleClass, check_binary
from dpsynth_core.oracles.rules.task import Task
from dpsynth_core.privacy.learning.prsma import Prsma
from dpsynth_core.vocabulary.domain import Domain

LAPLACE, GAUSSIAN, PRSMA, EXPONENTIAL = "laplace", "gaussian", "prsma", "exponential"

ORACLE = Parameter.choice(
    "oracle",
    ORACLES,
    "What finds the best rule: auto goes through the whole class where that is possible, which cannot fail, and uses CP-SAT elsewhere.",
)
ORACLE_SECONDS = Parameter(
    "oracle_seconds",
    "float",
    60.0,
    0.01,
    3600.0,
    "How long CP-SAT may search for one proof. Without a proof the run ends and its budget is spent. Whether that happens is up to the "
    "records: see the Guide on certified learning.",
)

MAX_SECONDS = 3600.0
"""Of all oracle calls of PRSMA, as far as they can be foreseen."""
_SECONDS_PER_DRAW, _SECONDS_PER_PRODUCT, _SECONDS_PER_LIST, _SECONDS_PER_SET, _SECONDS_PER_SEARCH = 1.2e-5, 3e-9, 2e-4, 6e-7, 0.02
"""Of one number of noise; of one rule that is gone through; of the cheapest decision list, and of each set of features on the way; of one
small search by CP-SAT."""


def learner(*names: str) -> Parameter:
    """Which private learner; the first is the default."""
    return Parameter.choice(
        "learner",
        names,
        "laplace and gaussian: RSPM, as exact as its oracle's proof. prsma: private even if the oracle fails, but it asks it very often. "
        "exponential: the exponential mechanism over all rules, more accurate, where the class is small enough to go through.",
    )


@dataclass(frozen=True)
class Ask:
    """One question to a learner. eps, delta: its guarantee; of the exponential mechanism, the parameter."""

    learner: str
    eps: float
    delta: float

    @classmethod
    def spending(cls, name: str, rho: float, delta: float) -> Ask:
        """The question that costs rho and, where it needs one, delta."""
        return cls(name, math.sqrt((8 if name == EXPONENTIAL else 2) * rho), delta if needs_delta(name) else 0.0)

    def put(self, kernel: Kernel, task: Task, oracle: Oracle) -> Rule | None:
        """The rule; None for PRSMA's answer "fail". Raises OracleError where a proof was needed and missing."""
        if self.learner == EXPONENTIAL:
            return task.rules.read(kernel.select_rule(task, self.eps))
        if self.learner == LAPLACE:
            return task.rules.read(kernel.learn_rule(task, self.eps, oracle))
        if self.learner == GAUSSIAN:
            return task.rules.read(kernel.learn_rule_gaussian(task, self.eps, self.delta, oracle))
        written = kernel.learn_rule_robustly(task, self.eps, self.delta, oracle)
        return task.rules.read(written) if len(written) else None

    def guarantee(self) -> str:
        """In words, for the release."""
        if self.learner == EXPONENTIAL:
            return f"exponential mechanism at eps = {self.eps:.4g}: no oracle, nothing that could fail"
        if self.learner == LAPLACE:
            return f"RSPM at eps = {self.eps:.4g}: the oracle's answer was proved to be a minimum"
        if self.learner == GAUSSIAN:
            return f"Gaussian RSPM at eps = {self.eps:.4g}, delta = {self.delta:.4g}: the oracle's answer was proved to be a minimum"
        return f"PRSMA at eps = {self.eps:.4g}, delta = {self.delta:.4g}: holds whatever the oracle does"


def oracle(settings: Mapping[str, Any]) -> Oracle:
    """The oracle that the settings ask for."""
    return Oracle(settings["oracle"], Limit(settings["oracle_seconds"]))


def needs_delta(name: str) -> bool:
    """Whether a learner keeps its promise except with a small probability."""
    return name in (GAUSSIAN, PRSMA)


def why_not(domain: Domain, rules: RuleClass, settings: Mapping[str, Any]) -> str:
    """Why a class cannot be learnt in this domain at all, or with this oracle; "" if it can."""
    try:
        check_binary(domain, domain.names)
    except InputError as error:
        return f"{error.field}: {error.problem}; {error.remedy}"
    name = settings["learner"]
    size = f"a {rules.kind} over {len(rules.features)} features is one of too many"
    if name == EXPONENTIAL and not enumerable(rules):
        return f"the exponential mechanism goes through all rules, and {size}; use laplace"
    if settings["oracle"] == EXHAUSTIVE and name != EXPONENTIAL and not exhaustible(rules):
        return f"this oracle goes through all sets of features, and {size}; use auto"
    return ""


def obstacle(
    rules: RuleClass, settings: Mapping[str, Any], rho: float, delta: float, questions: int, relation: str, rows_per_person: int
) -> str:
    """Why the learner cannot answer so many questions, each costing an equal share, with this unit of privacy; "" if it can."""
    if settings["learner"] != PRSMA:
        return ""
    if relation != "replace" or rows_per_person != 1:
        return "PRSMA is proved for tables that differ in one replaced record; choose replace and one row per person, or another learner"
    ask = Ask.spending(PRSMA, rho / questions, delta / questions)
    if ask.eps > 31:
        return f"PRSMA is proved for an epsilon up to 31, and its share is {ask.eps:.3g}; lower epsilon"
    calls = Prsma(ask.eps, ask.delta).calls * questions
    took = calls * _call_seconds(rules, settings)
    if took > MAX_SECONDS:
        return (
            f"PRSMA would need {calls:,} oracle calls, about {took / 3600:,.0f} hours, and more than one is refused; raise delta (the "
            "number grows like 1/delta) or epsilon, use fewer columns, or another learner"
        )
    return ""


def _call_seconds(rules: RuleClass, settings: Mapping[str, Any]) -> float:
    """Of one oracle call with its noise."""
    drawing = _SECONDS_PER_DRAW * len(rules.separators)
    if oracle(settings).may_fail(rules):
        return drawing + _SECONDS_PER_SEARCH
    if rules.kind == DECISION_LIST:
        return drawing + _SECONDS_PER_LIST + _SECONDS_PER_SET * 2 ** len(rules.features)
    return drawing + _SECONDS_PER_PRODUCT * len(rules.separators) * 2**rules.log2_size
