"""The numbers of PRSMA, the Private Robust Subsampling Meta Algorithm (Neel, Roth, Wu 2019), and why they keep its promise.

The records are divided at random into K parts of s, with N - K s left out. On each part a learner is run R times; the part survives if no
run failed. T survivors pass if T + z > tau, z being a whole number with Pr[z] proportional to exp(-eps1 |z|), and then one answer of a
random survivor is released. Theorem 8 of the paper runs this with eps* = eps/62 and delta* = delta/11, and needs K ln(K/delta*)/delta*
calls of the oracle: 10^11 of them at eps = 2, delta = 1e-6. The algorithm here is the paper's; K, R, eps', eps1 and tau follow from the
theorem below instead, and the calls are 20,000 times fewer.

Let A_P be the learner's distribution on a part P with an oracle that never fails, eps'-DP for parts that differ in one record. The true
oracle answers as that one or fails, as it pleases, also by looking at P and at the answer, but call by call: none remembers another, nor
do calls at once depend on each other, and what it calls proved is proved. So a run on P returns q with probability a_P(q) <= A_P(q),
and fails with f_P = sum over q of A_P(q) - a_P(q).

*Theorem.* Let c > 0, sigma^2 = s eps'^2 / 4 <= c, kappa = e^(2c + eps'), and let `least` >= 1 and tau be whole numbers. The answer is
(eps, delta)-DP for tables of N records that differ in one, if e^eps is at least
    e^eps1 (least + kappa) / (least + 1)    and    (least + 1 + kappa) / least,
and delta at least the sum of
    delta_1 = e^(-eps1 (tau + 1 - least)) / (1 + e^(-eps1))
    delta_2 = K e^(eps' + c - c^2/(2 sigma^2)) / (least + 1)
    delta_3 = kappa (K - 1) / (e R least (least + 1)).

*Proof.* D and D' differ in record r. Divide both alike. If r is left out the outputs have one distribution; else fix the part j that r is
in: P_j in D, P'_j in D'. All other parts are the same, and so is the distribution of Y, the survivors among them. Fix the division and Y,
with t = |Y|; let w(t) be the probability that t survivors pass, v and v' that part j survives in D and D', b_i = a_i / (1 - f_i) the
distribution of one answer of part i once it survives, U = sum of b_i over Y, alpha_0 = w(t)/t and alpha_1 = w(t+1)/(t+1). An answer q has
probability
    in D   v alpha_1 (U + b_j)(q) + (1 - v) alpha_0 U(q),       in D'  at least min(alpha_0, alpha_1) U(q).
(a) "No answer" has probability at most 1 - w(t) <= e^eps1 (1 - w(t+1)) in D and at least 1 - w(t+1) in D'; with t = 0, where no survivor
is left to answer whatever the noise, at most 1 and at least 1 - w(1). (b) If t < `least`, an answer has probability w(least) at most,
which is delta_1 at most; for t = 0, (a) and (b) together lose delta_1. (c) From here on t >= `least`. v b_j = (1 - f_j)^(R-1) a_j <= A_j.
Say
    A_j(q) <= kappa/t sum over Y of A_i(q) + x(q);   then   v b_j(q) <= kappa/t U(q) + x(q) + kappa/t sum over Y of (A_i - a_i)(q).
Because w(t) <= w(t+1) <= e^eps1 w(t), alpha_1/alpha_0 is at least t/(t+1) and at most e^eps1 t/(t+1), and what multiplies U in D is at
most e^eps times min(alpha_0, alpha_1): by the first condition where alpha_1 >= alpha_0, by the second elsewhere; both are weakest at t =
`least`. Left are alpha_1 <= 1/(t+1) times the sums of the last two terms over q, on average over divisions and Y. (d) The last term is
kappa/t times the sum of f_i over Y. Part i is in Y with probability (1 - f_i)^R, and f (1 - f)^R <= 1/(e R): delta_3. (e) Given j, every
other part is a uniformly random set of s records of D without r, the same for D', and so is P, which is P_j with a random record from
outside it in place of r; A_j <= e^eps' A_P. Let h(S) = ln A_S(q) for such a random set S, and mu = E h. Draw S record by record: the
conditional mean of h after a draw moves by eps' at most between two records that could have been drawn, since exchanging them in all that
follows changes S by one record at most. Hoeffding's lemma for each draw gives E e^(l (h - mu)) <= e^(l^2 sigma^2 / 2) for all l. Hence h <
mu - c has probability e^(-c^2/(2 sigma^2)) at most, and E [A_S(q); h > mu + c] <= e^(mu + c - c^2/(2 sigma^2)): Chernoff with 1 + l =
c/sigma^2 >= 1. If no other part is so low, and P not so high, then A_j(q) <= kappa A_i(q) for each i, and x(q) = 0. Else x(q) <= A_j(q):
where P is high, that averages e^(eps' + mu + c - c^2/(2 sigma^2)); where it is not but one of K - 1 parts is low, K - 1 times as much. The
sum of e^mu over q is at most that of E A_S(q), which is 1, by Jensen: delta_2. QED

A part of delta each goes to the three, `_SHARES`; most goes to delta_3, which decides the number of runs. eps1 is `_TEST_SHARE` of eps and
c is `_SPREAD`: of the values tried for eps from 0.1 to 10, near the least product of calls and squared noise. K is so large that with a
perfect oracle the test fails with probability `FAILURE_WITH_A_PERFECT_ORACLE` (in the paper's numbers, with 1/4).

For a small delta that makes 3/delta to 13/delta calls. That they grow like 1/delta is no weakness of the proof: where all parts but j fail
exactly on an answer of probability f, far fewer than 1/f runs do not notice it, and the answer has probability f/K in D and none in D'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FAILURE_WITH_A_PERFECT_ORACLE = 0.01

_SHARES = (0.1, 0.1, 0.8)
_TEST_SHARE = 0.9
_SPREAD = 1.0
_MOST_INNER_EPS = 1 / 16
_KAPPA = math.exp(2 * _SPREAD + _MOST_INNER_EPS)
_UP = 1 + 1e-9
"""Covers the rounding of a line: what is rounded up to a whole number is rounded up after this."""


@dataclass(frozen=True)
class Prsma:
    """eps, delta: the guarantee of the whole."""

    eps: float
    delta: float

    def __post_init__(self) -> None:
        if not (self.eps > 0 and 0 < self.delta < 1):
            raise ValueError("the theorem needs an eps above 0 and a delta between 0 and 1")

    @property
    def test_eps(self) -> float:
        """eps1."""
        return _TEST_SHARE * self.eps

    @property
    def least(self) -> int:
        """Survivors with fewer of which the test passes hardly ever."""
        rest = (1 - _TEST_SHARE) * self.eps
        first = (_KAPPA * math.exp(-rest) - 1) / -math.expm1(-rest)
        second = (1 + _KAPPA) * math.exp(-self.eps) / -math.expm1(-self.eps)
        return max(1, math.ceil(max(first, second) * _UP))

    @property
    def threshold(self) -> int:
        """tau."""
        return self.least - 1 + self._reached(_SHARES[0] * self.delta)

    @property
    def parts(self) -> int:
        """K."""
        return self.threshold + self._reached(FAILURE_WITH_A_PERFECT_ORACLE)

    @property
    def runs(self) -> int:
        """R, on each part."""
        others = _KAPPA * (self.parts - 1) / (self.least * (self.least + 1))
        return math.ceil(others / (math.e * _SHARES[2] * self.delta) * _UP)

    @property
    def calls(self) -> int:
        """Of the oracle, in all."""
        return self.parts * self.runs

    def size(self, records: int) -> int:
        """Records in each part; the rest of the table is left out. 0: there are too few."""
        return records // self.parts

    def inner_eps(self, records: int) -> float:
        """eps' of each run."""
        extreme = math.log(self.parts / ((self.least + 1) * _SHARES[1] * self.delta)) + _MOST_INNER_EPS
        sigma = _SPREAD / math.sqrt(2 * (extreme + _SPREAD)) / _UP
        return min(_MOST_INNER_EPS, 2 * sigma / math.sqrt(self.size(records)))

    def _reached(self, chance: float) -> int:
        """The least whole number that the test's noise reaches with this probability at most."""
        return max(1, math.ceil(-math.log(chance * (1 + math.exp(-self.test_eps))) / self.test_eps * _UP))
