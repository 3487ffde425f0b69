"""Certified learning: one rule over binary columns, learnt in private with an exact oracle (Neel, Roth, Wu 2019, section III).

A learner chooses a rule of a class, most often one that predicts a column from the others. What remains of the budget says how good it
is: how often it is wrong, and how the column is distributed, with noise. No table is published but that of the column, and no row.

What is predicted is that the target has its *second* value: a record costs a rule 1 where it is wrong. Records relabelled, that is the
paper's minimisation over a class with the same separators (`oracles.rules`, `oracles.task`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.answers.gaussian import NoisyAnswers
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import CHOOSING, SINGLE, Forecast, Split
from dpsynth_core.mechanisms.parameters import Parameter
from dpsynth_core.mechanisms.rules import learners
from dpsynth_core.mechanisms.rules.learners import AUTO, EXPONENTIAL, GAUSSIAN, LAPLACE, PRSMA, Ask
from dpsynth_core.mechanisms.steps import Finished, Measured, Step
from dpsynth_core.oracles.rules.rules import KINDS, MAX_COLUMNS, Rule, RuleClass, features
from dpsynth_core.oracles.rules.task import Task
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.workload import Workload

PREDICT, FEWEST = "predict", "fewest"


class Learn:
    name: ClassVar[str] = "learn"
    title: ClassVar[str] = "Certified learning"
    summary: ClassVar[str] = (
        "Learns one rule, such as “income is high if married and a graduate”, by the exponential mechanism, or as the proved best one "
        "under noise. "
        f"For tables of two-valued columns, {MAX_COLUMNS} at most. A rule only, no rows."
    )
    paper: ClassVar[str] = "Neel, Roth, Wu: How to Use Heuristics for Differential Privacy (FOCS 2019), RSPM and PRSMA"
    privacy: ClassVar[str] = (
        "The exponential mechanism over all rules of the class, by how often each is wrong (rho = eps^2/8). Or RSPM: discrete Laplace "
        "noise on a few invented records that tell all rules of the class apart, and the exact minimum (rho = eps^2/2, for it is eps-DP on "
        "condition that the oracle proves its answer). Gaussian noise and PRSMA are (eps, delta)-DP, PRSMA even if its oracle fails. How "
        "good the rule is, is measured with rounded Gaussian noise."
    )
    makes_rows: ClassVar[bool] = False
    takes_thresholds: ClassVar[bool] = False
    accountant: ClassVar[Accountant] = ZCDP
    publishes_tables: ClassVar[bool] = False
    parameters: ClassVar[Sequence[Parameter]] = (
        Parameter.choice("rule", KINDS, "All of some columns, any of them, an odd number, more of them than of the others, a list."),
        Parameter.column("target", "The column to predict, from all others. None: the last column."),
        Parameter.choice("goal", (PREDICT, FEWEST), "predict: the rule that is wrong least often. fewest: the one that holds least often."),
        Parameter("negations", "bool", False, 0, 1, "Rules may also say that a column has its first value. Twice the noise, or more."),
        learners.learner(AUTO, EXPONENTIAL, LAPLACE, GAUSSIAN, PRSMA),
        learners.ORACLE,
        learners.ORACLE_WORK,
        Parameter("check_share", "float", 0.2, 0.01, 0.9, "Share of the budget that measures how good the rule is; the rest learns it."),
    )

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:  # noqa: ARG002
        """Whether there is such a class over this domain."""
        try:
            rules = _task(domain, settings).rules
        except InputError as error:
            return Forecast(False, 0.0, 0.0, f"{error.field}: {error.problem}; {error.remedy}")
        reason = learners.why_not(domain, rules, settings)
        seconds = 3.0 + (settings["oracle_work"] / 10 if learners.oracle(settings).may_fail(rules) else 0.0)
        return Forecast(not reason, seconds, 150.0 + 40e-6 * 2 ** min(len(domain), MAX_COLUMNS), reason)

    def needs_delta(self, settings: Mapping[str, Any]) -> bool:
        """For Gaussian noise and PRSMA."""
        return learners.needs_delta(settings["learner"])

    def obstacle(self, domain: Domain, rho: float, delta: float, relation: str, rows_per_person: int, settings: Mapping[str, Any]) -> str:
        """PRSMA's: its relation, and the number of its oracle calls."""
        rules = _task(domain, settings).rules
        return learners.obstacle(rules, settings, (1 - settings["check_share"]) * rho, delta, 1, relation, rows_per_person)

    def condition(self, domain: Domain, settings: Mapping[str, Any]) -> str:
        """RSPM's, where its oracle may fail."""
        return learners.condition(settings, _task(domain, settings).rules)

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:  # noqa: ARG002
        """The check measures after the rule was chosen."""
        return ((CHOOSING, 1 - settings["check_share"]), (SINGLE, settings["check_share"]))

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Step]:  # noqa: ARG002
        """Learn, then measure. Yields Fitted when the rule is there, Measured, then Finished with `details["rule"]`."""
        task = _task(kernel.domain, settings)
        learner, oracle = learners.chosen(settings, task.rules), learners.oracle(settings)
        ask = Ask.spending(learner, (1 - settings["check_share"]) * kernel.rho_total, kernel.delta_total)
        rule = ask.put(kernel, task, oracle)
        found = ask.no_rule if rule is None else sentence(kernel.domain, task, rule)
        yield rounds.fitted(kernel, 1, found)
        counted = _count(kernel, task, kernel.rho_left / 2)
        yield Measured(2, counted, kernel.rho_spent, rounds.done(kernel))
        total = max(1.0, float(counted.values.sum()))
        details = {"sentence": found, "learner": learner, "guarantee": ask.guarantee(oracle.may_fail(task.rules))}
        details |= _described(kernel.domain, task, rule)
        if rule is not None:
            details |= _checked(kernel, task, rule, counted, total)
        model = NoisyAnswers(kernel.domain, (counted,) if counted.clique else ())
        yield Finished(model, total, {"rule": details})


def _task(domain: Domain, settings: Mapping[str, Any]) -> Task:
    """Raises InputError for a target that is not there, and for columns that no rule can be learnt over."""
    target = (settings["target"] or domain.names[-1]) if settings["goal"] == PREDICT else None
    if target is not None and target not in domain:
        raise InputError("mechanism.target", f"the domain has no column {target!r}", "choose one of its columns")
    others = [name for name in domain.names if name != target]
    if not others:
        raise InputError("mechanism.target", "there is no other column to predict it from", "add columns to the domain")
    if target is not None:
        features(domain, (target,))  # that it has two values
    return Task.of(domain, RuleClass(settings["rule"], features(domain, others, settings["negations"])), target)


def sentence(domain: Domain, task: Task, rule: Rule) -> str:
    """The rule as a full sentence. Column names and labels in it are hostile text."""
    when = rule.in_words(domain)
    if task.target is None:
        return f"The rule that holds for the fewest records: {when}."
    label = domain[task.target].cell_labels()[1]
    return f"Predict that {task.target} is {label!r}: {when}."


def _described(domain: Domain, task: Task, rule: Rule | None) -> dict[str, Any]:
    target = None if task.target is None else {"column": task.target, "value": domain[task.target].cell_labels()[1]}
    return {"class": task.rules.kind, "separators": len(task.rules.separators), "target": target, "rule": rule and rule.to_json(domain)}


def _count(kernel: Kernel, task: Task, rho: float) -> Measurement:
    """The target's own table; without a target, the number of records."""
    if task.target is not None:
        return kernel.measure_marginal((task.target,), rounds.sigma_for(rho, kernel.marginal_l2))
    return rounds.count(kernel, rho, kernel.query_l1)


def _checked(kernel: Kernel, task: Task, rule: Rule, counted: Measurement, total: float) -> dict[str, Any]:
    """How often the rule is wrong (holds), and how often the better of always yes and always no would be. Shares, with 95 % either way."""
    sigma = rounds.sigma_for(kernel.rho_left, kernel.query_l1)
    records = float(kernel.measure_rules(task, [rule], sigma)[0])
    found = {"records": records, "sigma": sigma, "share": _share(records, total), "within": 1.96 * sigma / total}
    if task.target is None:
        return {"holds": found}
    return {"wrong": found, "wrong_without_rule": _share(float(counted.values.min()), total)}


def _share(records: float, total: float) -> float:
    return min(1.0, max(0.0, records / total)) if math.isfinite(records) else 0.0
