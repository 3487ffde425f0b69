"""Certified learning: one rule over binary columns, learnt in private with an exact oracle (Neel, Roth, Wu 2019, section III).

A learner chooses a rule of a class, most often one that predicts a column from the others. The rest of the budget measures how good it is:
how often it is wrong, and how the column is distributed. The release contains the column's table alone, and no rows.

The prediction is that the target has its *second* value: a record costs a rule 1 where that is wrong. With records relabelled, this is the
paper's minimisation over a class with the same separators (`oracles.rules`, `oracles.task`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.mechanisms.rules import learners
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import Task, exhaustible
from dpsynth_core.extensions.research.oracles.rules.rules import KINDS, WIDTHS, Rule, RuleClass, features
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.answers.gaussian import NoisyAnswers
from dpsynth_core.mechanisms.mechanism import CHOOSING, SINGLE, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.parameters import choice, column, real, switch
from dpsynth_core.mechanisms.steps import Finished, Measured, Step
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.workload import Workload

PREDICT, FEWEST = "predict", "fewest"
_KEPT = ("RSPM's noise is wider by the step of its grid, so that ties do no harm.", "A share of the budget says how good the rule is.")


@dataclass(frozen=True)
class Learn(learners.RuleLearner):
    """Certified learning of one rule over columns of two values; the release has the rule and how good it is, and no rows."""

    card: Card = Card(
        "learn", "Certified learning", ZCDP, makes_rows=False, publishes_tables=False,
        summary=(
            "Learns one rule, such as “income is high if married and a graduate”, by the exponential mechanism, or as the proved best one "
            f"under noise. For tables of two-valued columns: {WIDTHS}. A rule only, no rows."
        ),
        paper="Neel, Roth, Wu: How to Use Heuristics for Differential Privacy (FOCS 2019), RSPM and PRSMA",
        privacy=(
            "The exponential mechanism over all rules of the class, by how often each is wrong (rho = eps^2/8). Or RSPM: discrete Laplace "
            "noise on a few invented records that tell all rules of the class apart, and the exact minimum (rho = eps^2/2, for it is "
            "eps-DP on condition that the oracle proves its answer). Gaussian noise and PRSMA are (eps, delta)-DP, PRSMA even if its "
            "oracle fails. How good the rule is, is measured with rounded Gaussian noise."
        ),
        differences=(
            "Small classes are gone through by the exponential mechanism; the paper's learner is RSPM.", *_KEPT, learners.NUMBERS_OF_PRSMA
        ),
    )
    rule: str = choice(KINDS, text="All of some columns, any of them, an odd number, more of them than of the others, a list.")
    target: str = column(text="The column to predict, from all others. None: the last column.")
    goal: str = choice((PREDICT, FEWEST), text="predict: the rule that is wrong least often. fewest: the one that holds least often.")
    negations: bool = switch(False, text="Rules may also say that a column has its first value. Twice the noise, or more.")
    learner: str = learners.learner_choice()
    oracle: str = learners.oracle_choice()
    oracle_work: float = learners.oracle_work()
    check_share: float = real(0.2, least=0.01, most=0.9, text="Share of the budget that measures how good the rule is; the rest learns it.")

    @override
    def rules(self, domain: Domain) -> RuleClass:
        """Return the class of rules that the parameters set, over all columns but the target.

        Raises:
            InputError: The target is missing or has no other column to predict it from, a column
                does not have exactly two values, or the kind of rule cannot be learnt.
            CapacityError: There are too many columns for this kind of rule.
        """
        return self._task(domain).rules

    @override
    def asked(self, _rules: RuleClass) -> tuple[float, int]:
        """Return the share of the budget that learns the rule, 1 - check_share, and the number of questions, 1."""
        return 1 - self.check_share, 1

    @override
    def needed(self, _domain: Domain, rules: RuleClass) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run."""
        seconds, search_mb = self.searching(rules)
        sets_mb = 40e-6 * 2 ** len(rules.features) if exhaustible(rules) else 0.0
        return Forecast(True, 3.0 + seconds, 150.0 + search_mb + sets_mb)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        """Return two planned stages with their shares of the budget: learning the rule, and measuring how good it is."""
        return ((CHOOSING, 1 - self.check_share), (SINGLE, self.check_share))

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        """Learn a rule, then measure how good it is, with the kernel's whole budget; yield the steps.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Fitted with the rule in words, a Measured for the target column (or the number of
            people), then a Finished with `details["rule"]`. There the rule is None if the learner answered "no rule".

        Raises:
            InputError: The domain does not have such a class of rules (`rules`).
            CapacityError: The learner is PRSMA, and the table has fewer records than its parts.
        """
        task = self._task(kernel.domain)
        learner = self.chosen(task.rules)
        question = learners.Question.spending(learner, (1 - self.check_share) * kernel.rho_total, kernel.delta_total)
        rule = question.put(kernel, task, self.solver)
        outcome = question.no_rule if rule is None else sentence(kernel.domain, task, rule)
        yield rounds.fitted(kernel, 1, outcome)
        if task.target is None:
            counted = rounds.count(kernel, kernel.rho_left / 2, kernel.unit.query_l1)
        else:
            (counted,) = kernel.measure_marginals([(task.target,)], rounds.sigma_for(kernel.rho_left / 2, kernel.unit.marginal_l2))
        yield Measured(2, counted, kernel.rho_spent, rounds.done(kernel))
        total = max(1.0, float(counted.values.sum()))
        guarantee = question.guarantee(self.solver.may_fail(task.rules))
        details: dict[str, Any] = {"sentence": outcome, "learner": learner, "guarantee": guarantee}
        target = None if task.target is None else {"column": task.target, "value": kernel.domain[task.target].cell_labels()[1]}
        details |= {"class": task.rules.kind, "separators": len(task.rules.separators), "target": target}
        details["rule"] = rule and rule.to_json(kernel.domain)
        if rule is not None:
            details |= _checked(kernel, task, rule, counted, total)
        model = NoisyAnswers(kernel.domain, (counted,) if counted.clique else ())
        yield Finished(model, total, {"rule": details})

    def _task(self, domain: Domain) -> Task:
        """Return the learning task that the parameters set.

        Raises:
            InputError: The target is missing or has no other column to predict it from, a column
                does not have exactly two values, or the kind of rule cannot be learnt.
            CapacityError: There are too many columns for this kind of rule.
        """
        target = (self.target or domain.names[-1]) if self.goal == PREDICT else None
        if target is not None and target not in domain:
            raise InputError("mechanism.target", f"the domain has no column {target!r}", "choose one of its columns")
        others = [name for name in domain.names if name != target]
        if not others:
            raise InputError("mechanism.target", "there is no other column to predict it from", "add columns to the domain")
        if target is not None:
            features(domain, (target,))  # that it has two values
        return Task.of(domain, RuleClass(self.rule, features(domain, others, self.negations)), target)


def sentence(domain: Domain, task: Task, rule: Rule) -> str:
    """Return a rule as a full sentence in English. Column names and labels in it are untrusted text.

    Args:
        domain: The domain.
        task: The task, whose target is the predicted column.
        rule: The rule.
    """
    when = rule.in_words(domain)
    if task.target is None:
        return f"The rule that holds for the fewest records: {when}."
    label = domain[task.target].cell_labels()[1]
    return f"Predict that {task.target} is {label!r}: {when}."


def _checked(kernel: Kernel, task: Task, rule: Rule, counted: Measurement, total: float) -> dict[str, Any]:
    """Measure on the remaining budget how often the rule is wrong, or holds if it has no target.

    Returns:
        Under "wrong" or "holds", a dict with the noisy number of records, its standard deviation
        "sigma", the share of people, and half the width of the share's 95 % interval
        ("within"). With a target also "wrong_without_rule": the share for whom the better
        constant guess (always yes, always no) is wrong, from counts that were measured before.
    """
    sigma = rounds.sigma_for(kernel.rho_left, kernel.unit.query_l1)
    records = float(operations.measure_rules(kernel, task, [rule], sigma)[0])
    estimate = {"records": records, "sigma": sigma, "share": _share(records, total), "within": 1.96 * sigma / total}
    if task.target is None:
        return {"holds": estimate}
    return {"wrong": estimate, "wrong_without_rule": _share(float(counted.values.min()), total)}


def _share(records: float, total: float) -> float:
    return min(1.0, max(0.0, records / total)) if math.isfinite(records) else 0.0


PUBLISHED = Learn(card=printed(Learn.card, *_KEPT, learners.NUMBERS_OF_PRSMA), learner=learners.LAPLACE)
"""RSPM with Laplace noise (Neel, Roth and Wu 2019, section III)."""
