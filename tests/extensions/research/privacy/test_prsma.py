"""PRSMA's promise computed exactly on small tables, for oracles that fail wherever it hurts; its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.rules.rule_oracle import AUTO, STEPS, LearningProblem, Oracle, Task
from dpsynth_core.extensions.research.oracles.rules.rules import DISJUNCTION, Rule, RuleClass, features
from dpsynth_core.extensions.research.privacy import rspm
from dpsynth_core.extensions.research.privacy.rspm import FAILURE_WITH_A_PERFECT_ORACLE, Prsma
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.vocabulary.domain import Domain
from tests.privacy.tables import FALSE_ALARM, frequency_p_value, occupied
from tests.refusals import refused

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Game:
    """PRSMA on tables of records 0 and 1, in K parts of s. A part is known by its ones: 0, .., s.

    learner: probability of each answer with a perfect oracle, by ones. fails: how often the oracle fails where that is the answer.
    """

    parts: int
    size: int
    runs: int
    threshold: int
    test_eps: float
    learner: Floats
    fails: Floats

    @cached_property
    def _answers(self) -> tuple[Floats, Floats]:
        """Of a part, by ones: how likely it is to survive, and each answer if it does."""
        once = self.learner * (1 - self.fails)
        passed = once.sum(axis=1)
        return passed**self.runs, once / np.maximum(passed, 1e-300)[:, None]

    def law(self, ones: int) -> Floats:
        """The probability of each answer, and of none, on a table with so many ones among K s records."""
        answers = np.zeros(self.learner.shape[1])
        for kinds in compositions(self.parts, self.size + 1):
            if sum(number * count for number, count in enumerate(kinds)) == ones:
                ways = math.factorial(self.parts) * math.prod(math.comb(self.size, n) ** c / math.factorial(c) for n, c in enumerate(kinds))
                answers += ways / math.comb(self.parts * self.size, ones) * self._divided(kinds)
        return np.append(answers, 1 - answers.sum())

    def _divided(self, kinds: tuple[int, ...]) -> Floats:
        """Of each answer, where so many parts have 0, .., s ones."""
        survives, answer = self._answers
        answers = np.zeros(self.learner.shape[1])
        for survivors in product(*(range(count + 1) for count in kinds)):
            if any(survivors):
                each = zip(survivors, kinds, survives.tolist(), strict=True)
                chance = math.prod(math.comb(count, m) * p**m * (1 - p) ** (count - m) for m, count, p in each)
                total = sum(survivors)
                answers += chance * self._passes(total) / total * (np.array(survivors) @ answer)
        return answers

    def _passes(self, survivors: int) -> float:
        """Pr[survivors + z > threshold], z discrete Laplace."""
        ratio, needed = math.exp(-self.test_eps), self.threshold + 1 - survivors
        return ratio**needed / (1 + ratio) if needed > 0 else 1 - ratio ** (1 - needed) / (1 + ratio)


def compositions(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in compositions(total - first, kinds - 1))


def lost(game: Game, eps: float) -> float:
    """The delta that is needed at eps: over all tables with up to three ones, and their neighbours."""
    laws = [game.law(ones) for ones in range(4)]
    pairs = [(one, other) for first, second in pairwise(laws) for one, other in ((first, second), (second, first))]
    return max(float(np.maximum(one - math.exp(eps) * other, 0).sum()) for one, other in pairs)


def learner(size: int, rare: float, eps: float) -> Floats:
    """Two answers; the odds of the second grow by e^eps with each one in the part: eps-DP."""
    odds = rare / (1 - rare) * np.exp(eps * np.arange(size + 1))
    return np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)


def games(plan: Prsma, size: int, **changed: float) -> Iterator[Game]:
    """The plan's game with rare and common answers, and every oracle that always or never fails on an answer of a kind of part."""
    numbers = {"runs": plan.runs, "threshold": plan.threshold, "inner": plan.inner_eps(size * plan.parts), **changed}
    for rare in (0.1, 1 / numbers["runs"] / plan.parts):
        given = learner(size, rare, numbers["inner"])
        for failing in product((0.0, 1.0), repeat=given.size):
            fails = np.array(failing).reshape(given.shape)
            yield Game(plan.parts, size, int(numbers["runs"]), int(numbers["threshold"]), plan.test_eps, given, fails)


PLAN = Prsma(8.0, 0.001)


@pytest.mark.parametrize("size", [1, 2])
def test_no_answer_becomes_more_likely_than_promised_however_the_oracle_fails(size: int) -> None:
    """Everything is computed, nothing drawn: seven parts, 724 runs on each, and all oracles of `games`."""
    assert max(lost(game, PLAN.eps) for game in games(PLAN, size)) <= PLAN.delta


@pytest.mark.parametrize("changed", [{"runs": 1}, {"threshold": 0}, {"inner": 9.0}])
def test_each_of_its_numbers_is_needed(changed: dict[str, float]) -> None:
    """One run a part, survivors that need not be many, a learner that tells parts apart: each breaks the same promise."""
    assert max(lost(game, PLAN.eps) for game in games(PLAN, 1, **changed)) > PLAN.delta


def test_what_is_released_has_the_distribution_that_was_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-square over both answers and none, with an oracle that draws its answer and fails by the ones in its part."""
    domain = Domain.from_json({"a": 2})
    asked = Task.of(domain, RuleClass(DISJUNCTION, features(domain, domain.names)))
    answers, plan, rng = [asked.rules.rule(()), asked.rules.rule((0,))], Prsma(6.0, 0.1), np.random.default_rng(11)
    fails = np.array([[0.0, 0.01], [0.02, 0.0], [0.0, 0.05]])
    game = Game(plan.parts, 2, plan.runs, plan.threshold, plan.test_eps, learner(2, 0.4, 0.8), fails)

    @contextmanager
    def drawn(*_: object) -> Iterator[Callable[..., list[Rule | None]]]:
        def ask(problem: LearningProblem, noise: NDArray[np.int64]) -> list[Rule | None]:
            ones = int(problem.weights[problem.seen[:, 0]].sum()) // STEPS
            chosen = (rng.random(len(noise)) < game.learner[ones, 1]).astype(int)
            failed = rng.random(len(noise)) < game.fails[ones, chosen]
            return [None if no else answers[one] for one, no in zip(chosen, failed, strict=True)]

        yield ask

    monkeypatch.setattr(rspm, "batch_oracle", drawn)
    ones = game.parts - 1
    people, noise = occupied(np.array([2 * game.parts - ones, ones])), SeededNoise(12)
    released = [rspm.robust_minimum(asked, people, plan, 2, Oracle(AUTO, 10), noise) for _ in range(2000)]
    law = game.law(ones)
    assert min(law) > 0.05
    assert frequency_p_value([[*answers, None].index(one) for one in released], law) > FALSE_ALARM


@pytest.mark.parametrize("eps", [0.01, 0.1, 1.0, 2.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [0.5, 9.9e-4, 1e-6, 1e-12])
def test_the_numbers_meet_the_theorem(eps: float, delta: float) -> None:
    """Its conditions written out; c = 1 and eps' = 1/16 at most. Logarithms, because e^100 and e^90 differ in most digits."""
    plan, c, size = Prsma(eps, delta), 1.0, 50
    least, parts = plan.least, plan.parts
    kappa, inner = math.exp(2 * c + 1 / 16), plan.inner_eps(parts * size + 7)
    spread = size * inner**2 / 4
    assert inner <= 1 / 16
    assert spread <= c
    assert plan.test_eps + math.log((least + kappa) / (least + 1)) <= eps
    assert math.log((least + 1 + kappa) / least) <= eps
    reached = math.exp(-plan.test_eps * (plan.threshold + 1 - least)) / (1 + math.exp(-plan.test_eps))
    extreme = parts * math.exp(inner + c - c**2 / (2 * spread)) / (least + 1)
    unnoticed = kappa * (parts - 1) / (math.e * plan.runs * least * (least + 1))
    assert reached + extreme + unnoticed <= delta


@pytest.mark.parametrize("eps", [0.1, 1.0, 10.0])
def test_with_a_perfect_oracle_its_test_fails_as_rarely_as_it_says(eps: float) -> None:
    plan = Prsma(eps, 1e-6)
    perfect = Game(plan.parts, 1, plan.runs, plan.threshold, plan.test_eps, learner(1, 0.1, 0.0), np.zeros((2, 2)))
    assert 0 < 1 - perfect._passes(plan.parts) <= FAILURE_WITH_A_PERFECT_ORACLE


def test_its_calls_grow_like_one_over_delta_and_no_faster() -> None:
    """Theorem 8's numbers need 1.4e11 calls at eps = 2, delta = 1e-6."""
    assert Prsma(2.0, 1e-6).calls == pytest.approx(6.3e6, rel=0.01)
    for eps, delta in product((0.1, 1.0, 5.0), (1e-3, 1e-6, 1e-9)):
        assert 2 / delta < Prsma(eps, delta).calls < 14 / delta


@pytest.mark.parametrize(("eps", "delta"), [(0.0, 0.1), (1.0, 0.0), (1.0, 1.0)])
def test_it_is_refused_outside_its_theorem(eps: float, delta: float) -> None:
    refused(Prsma, eps, delta, kind=ValueError, saying="the theorem needs")
