"""Every answer of an operation with its exact probability: a source of noise that makes every possible choice in turn.

For operations whose randomness is a choice among finitely many (selections, bits). Nothing is drawn, so the result is exact: the
smallest error in a scale or a sensitivity shows. OpenDP's samplers are not covered here but by the tests of `privacy.noise`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.view import Integers

MOST_PATHS = 100_000


def probabilities(answer: Callable[[Branch], Hashable]) -> dict[Hashable, float]:
    """The probability of each answer. answer: a function of its noise alone. RuntimeError for more than MOST_PATHS ways to it."""
    total: defaultdict[Hashable, float] = defaultdict(float)
    waiting: list[tuple[int, ...]] = [()]
    for _ in range(MOST_PATHS):
        branch = Branch(waiting.pop())
        total[answer(branch)] += branch.probability
        waiting += branch.others
        if not waiting:
            return dict(total)
    raise RuntimeError("an operation makes too many choices to go through")


class Branch:
    """One way through the choices: those of `first`, then always choice 0. others: the ways that branch off after `first`."""

    private = False

    def __init__(self, first: tuple[int, ...]) -> None:
        self._choices, self._depth = first, 0
        self.probability, self.others = 1.0, list[tuple[int, ...]]()

    def noisy_max(self, scores: Integers, scale: float) -> int:
        weights = np.exp((scores - scores.max()) / scale)
        return self._choose((weights / weights.sum()).tolist())

    def uniform(self, size: int) -> int:
        return self._choose([1 / size] * size)

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        heads = [float(np.exp(-float(x))) for x in exponents]
        return np.array([self._choose([1 - p, p]) for p in heads], dtype=np.bool_)

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        return self._refuse(values, sigma)

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        return self._refuse(values, scale)

    def halved(self, counts: Integers) -> Integers:
        return self._refuse(counts, 1.0)

    def _choose(self, chances: Sequence[float]) -> int:
        if self._depth < len(self._choices):
            chosen = self._choices[self._depth]
        else:
            chosen = 0
            self.others += [(*self._choices, other) for other in range(1, len(chances)) if chances[other] > 0]
            self._choices = (*self._choices, chosen)
        self._depth += 1
        self.probability *= chances[chosen]
        return chosen

    def _refuse(self, values: Integers, scale: float) -> NoReturn:
        raise NotImplementedError("this noise has more values than can be gone through")
