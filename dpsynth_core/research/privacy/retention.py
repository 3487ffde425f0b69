"""Keep-or-drop bits for samples drawn earlier (DQRS; Vietri et al. 2020, Algorithm 4), with exact probabilities.

Each of k signed queries is kept with probability exp(-x), x = eta + gamma + eta * sign * (clip(q(D) / records, 0, 1) - answer). All numbers
in it are fractions, the private count and floats alike, so x is one too and the draw needs no rounding (`Noise.bernoulli_exp`). Answers
lie in [0, 1], so that the bracket is -1 at least and the probability exp(-gamma) at most: the condition of Proposition 11."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def check(numbers: NDArray[np.int64], signs: NDArray[np.int8], answers: NDArray[np.float64]) -> None:
    """ValueError unless each query has a sign, 1 or -1, and an answer between 0 and 1."""
    if not np.shape(numbers) == np.shape(signs) == np.shape(answers):
        raise ValueError("each query needs a sign and an answer")
    if not (np.abs(signs) == 1).all():
        raise ValueError("a sign is 1 or -1")
    if not ((answers >= 0) & (answers <= 1)).all():
        raise ValueError("an answer is not a fraction from 0 to 1")


def exponents(
    counts: NDArray[np.int64], signs: NDArray[np.int8], answers: NDArray[np.float64], eta: float, gamma: float, records: float
) -> list[Fraction]:
    """x for each query, gamma at least. counts: private."""
    rate, least, people = Fraction(eta), Fraction(eta) + Fraction(gamma), Fraction(records)
    return [
        least + rate * int(sign) * (min(Fraction(1), int(count) / people) - Fraction(float(answer)))
        for count, sign, answer in zip(counts, signs, answers, strict=True)
    ]
