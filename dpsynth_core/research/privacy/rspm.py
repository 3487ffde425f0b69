"""Learning a rule from private records with an oracle: RSPM with Laplace and with Gaussian noise, and PRSMA (Neel, Roth, Wu 2019).

RSPM adds the m separators of the class to the table, each with a weight of random noise, and returns the rule that is cheapest on all of
it. What one person can change is `change`: for any two rules q, q', the difference q(S) - q'(S) of what they cost moves by at most `change`
= m_rows under add-remove and 2 m_rows under replace, which is `Unit.marginal_l1`.

*Theorem.* Let noise be independent on the grid of step g, g = 1/k for a whole k, with Pr[x] proportional to exp(-|x|/b), and the minimum
exact, ties broken in any way whatever, also by looking at the records. Then RSPM is eps-DP with b = (change + g) m / eps.

*Proof.* Fix a rule q, and let f(eta)_i = eta_i + (change + g) (1 - 2 q(e_i)): a one-to-one map of the grid into itself, for change and g
are multiples of g. Say q may be returned for (S, eta): no rule is cheaper there. Take S' next to S and any q' other than q. From (S, eta)
to (S', f(eta)) the cost of q' less that of q grows by at least (change + g) times the number of separators on which they differ, which is
1 at least, and shrinks by at most `change` because of the records: it ends at g or more, above 0. So q alone can be returned for
(S', f(eta)): there is no tie to break. f moves each of m coordinates by change + g, so Pr[eta] <= e^eps Pr[f(eta)], and the
sum over all eta for which q may be returned gives Pr[q | S] <= e^eps Pr[q | S']. QED
The paper has continuous noise, where ties have probability 0, and shifts by 2 (replace). On a grid ties happen: with 2 in place of 2 + g
the difference could end at 0, and the tie be broken the other way. A test shows that this breaks the promise.

*Forms.* In the theorem, rules are functions, and different ones differ on a separator. What leaves this room must then be a function of
the values on the separators too: how an oracle writes a rule (the order of a decision list, say) may depend on the records beyond any
noise. So every rule goes out through `written`, which uses those values alone, whichever oracle returned the rule and in whichever form.

*Gaussian noise* (the paper's Theorem 7 has its constant in an appendix). The same map has L2 norm D = (change + g) sqrt(m). For one output
q, Pr[eta] <= e^eps Pr[f(eta)] unless the noise in the direction of the shift is above t = eps sigma^2/D - D/2. That direction depends on q:
over all outputs, delta is at most |Q| times the probability of one. Discrete Gaussian noise is sub-Gaussian (Canonne, Kamath, Steinke
2020, Corollary 17), so that is at most exp(-u^2/2) with u = t/sigma, and |Q| exp(-u^2/2) <= delta decides sigma. Ours is discrete Gaussian
on a finer lattice and then rounded (`lattice`); f shifts by whole steps and so commutes with rounding, and all of this is said of the noise
before it. Conservative: with |Q| = 2^m it is usually no better than Laplace noise. The promise is (eps, delta)-DP.

*Exactness.* All of that needs the true minimum, on S and on S'. A rule that was not proved to be it is never released; "no rule" is, an
empty answer that is the same for all records and charged like any other. How likely it is can still depend on the records. So the promise
has a condition: the oracle proves its answer on every neighbour of the table, whatever the noise. One that goes through all sets of
features does (`rule_oracle.exhaust`), and is preferred. CP-SAT works on one thread, from one seed and within limits of its own work and of
the size of its model, which grows with the distinct records (`search.MAX_LITERALS`): whether it ends with a proof follows from the question
alone, no clock decides it, and a proved answer is the one without limits. The condition remains; releases state it
(`mechanism.Conditional`). PRSMA has another one, that no call depends on another (`prsma`): RSPM with CP-SAT's answers without limits, ties
broken as it breaks them, is the private algorithm that its theorem asks for, and limits add failures alone. So both limits are of one call
and its part. The distinct records of the whole table have none: one record more would then let all parts fail at once.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import OracleError
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.view import Noise
from dpsynth_core.research.oracles.rules import forms
from dpsynth_core.research.oracles.rules.asking import Ask, asking
from dpsynth_core.research.oracles.rules.rule_oracle import LearningProblem, Oracle, all_values, numbered
from dpsynth_core.research.oracles.rules.rules import Rule, RuleClass
from dpsynth_core.research.oracles.rules.task import STEPS, Task
from dpsynth_core.research.privacy.events import PerturbedMinimum
from dpsynth_core.research.privacy.exponential import Draws
from dpsynth_core.research.privacy.prsma import Prsma
from dpsynth_core.vocabulary.occupied import Occupied

Integers = NDArray[np.int64]

_ASKED_AT_ONCE = 4096
_LARGEST_SCALE = 2.0**36
"""Of noise, in records: sums of all separators' noise then stay far below 2^63 steps, and costs exact."""


def perturbation(separators: int, change: int, eps: float) -> PerturbedMinimum:
    """RSPM's noise as the event that it is charged as: scale (change + g) m / eps, never rounded down. In records.

    ValueError for an eps that is too small for exact costs.
    """
    norm = _shift(change) * separators
    return PerturbedMinimum(_exact(_at_least(norm / Fraction(eps))), float(norm))


def gaussian_sigma(rules: RuleClass, change: int, eps: float, delta: float) -> float:
    """Gaussian RSPM's noise for (eps, delta)-DP, in records: see the module's first paragraphs. ValueError as `perturbation`."""
    u = math.sqrt(2 * (rules.log2_size * math.log(2) + math.log(1 / delta)))
    norm = float(_shift(change)) * math.sqrt(len(rules.separators))
    # t = u sigma: eps sigma^2 - u D sigma - D^2 / 2 = 0; the factor covers the rounding of this line
    return _exact(norm * (u + math.sqrt(u * u + 2 * eps)) / (2 * eps) * (1 + 1e-12))


def written(rules: RuleClass, rule: Rule | None) -> Integers:
    """The released form of a rule of the class, as `Rule.written`: a function of its values on the separators alone.

    Without a rule: an empty array, the same for every class, all records and every oracle.
    """
    if rule is None:
        return np.zeros(0, dtype=np.int64)
    return forms.identified(rules, rule.holds(rules.separators)).written()


def minimum(problem: LearningProblem, noise: Integers, oracle: Oracle) -> Rule | None:
    """RSPM. problem, noise: in steps; one number a separator. None: the oracle did not prove its answer, or a process of it died."""
    with suppress(OracleError), asking(oracle, problem.rules, 1) as ask:
        (rule,) = ask(problem, noise.reshape(1, -1))
        return rule
    return None


def laplace_noise(rules: RuleClass, scale: float, noise: Noise, draws: int = 1) -> Integers:
    """In steps, (draws, separators). scale: in records; times STEPS, a power of two, it is exact."""
    return noise.discrete_laplace(np.zeros((draws, len(rules.separators)), dtype=np.int64), scale * STEPS)


def gaussian_noise(rules: RuleClass, sigma: float, noise: Noise) -> Integers:
    """In steps, one number a separator. sigma: in records."""
    return noise.gaussian(np.zeros(len(rules.separators), dtype=np.int64), sigma * STEPS)


def exponential(problem: LearningProblem, b: float, noise: Noise) -> Rule:
    """The exponential mechanism over the whole class, by what a rule costs. b: `research.privacy.exponential.scale` of the sensitivity."""
    costs = all_values(problem) * (COUNT_STEPS // STEPS)
    drawn, _ = Draws(-costs, np.ones(len(costs), dtype=np.int64), b, noise).draw()
    return numbered(problem.rules, drawn)


def robust_minimum(task: Task, table: Occupied, plan: Prsma, change: int, oracle: Oracle, noise: Noise) -> Rule | None:
    """PRSMA over RSPM. None is its own answer "fail", and as private as a rule. The table has `plan.parts` records or more.

    An oracle that fails spoils its part and no more; the other parts are asked all the same. Each part has processes of its own, so that no
    call remembers the calls of another part: the theorem needs that.
    """
    records, survivors = int(table.records.sum()), list[Rule]()
    b = perturbation(len(task.rules.separators), change, plan.inner_eps(records)).scale
    smaller = task if task.rivals is None else replace(task, rivals=task.rivals.scaled(plan.size(records) / records))
    for part in _partition(table, plan.parts, noise):
        with suppress(OracleError), asking(oracle, task.rules, plan.runs) as ask:  # a process that dies spoils the part it was asked about
            if (answer := _spokesman(smaller.problem(part), plan.runs, b, ask, noise)) is not None:
                survivors.append(answer)
    passed = noise.discrete_laplace(np.array([len(survivors)]), 1 / plan.test_eps)[0] > plan.threshold
    if not passed or not survivors:
        return None
    return survivors[noise.uniform(len(survivors))]


def _spokesman(part: LearningProblem, runs: int, b: float, ask: Ask, noise: Noise) -> Rule | None:
    """One of a part's answers, each as likely; None if one of them failed. All are asked for in any case.

    Parts have equally many answers, so the answer of a random part that passed is a random one of all answers of parts that passed.
    """
    chosen, drawn, proved = noise.uniform(runs), None, True
    for start in range(0, runs, _ASKED_AT_ONCE):
        answers = ask(part, laplace_noise(part.rules, b, noise, min(_ASKED_AT_ONCE, runs - start)))
        proved &= all(answer is not None for answer in answers)
        if start <= chosen < start + len(answers):
            drawn = answers[chosen - start]
    return drawn if proved else None


def _shift(change: int) -> Fraction:
    return change + Fraction(1, STEPS)


def _exact(scale: float) -> float:
    if scale > _LARGEST_SCALE:
        raise ValueError("eps is too small for exact costs")
    return scale


def _at_least(value: Fraction) -> float:
    """As a float, not rounded down."""
    rounded = float(value)
    return rounded if Fraction(rounded) >= value else math.nextafter(rounded, math.inf)


def _partition(table: Occupied, parts: int, noise: Noise) -> list[Occupied]:
    """Disjoint random parts of equal size; the records that do not divide are left out, at random."""
    cells = np.repeat(table.cells, table.records)
    for last in range(len(cells) - 1, 0, -1):  # Fisher and Yates
        other = noise.uniform(last + 1)
        cells[last], cells[other] = cells[other], cells[last]
    size = len(cells) // parts
    return [Occupied(table.sizes, *np.unique(cells[i * size : (i + 1) * size], return_counts=True)) for i in range(parts)]
