"""Values that nobody listed: noisy counts of a column's texts, of which only those are said that reach a threshold.

The question is `PrivacyKernel.discover_values`. A record has one key (`vocabulary.keys`), by its own cell alone. Each key that some record
has gets its count c plus Z, rounded normal noise of sigma (`lattice`), independently; it is released with c + Z if that is at least T.
The public keys, "missing" and "other", are always released. (Korolova et al. 2009; with Gaussian noise: Rogers 2023, OpenDP's
make_gaussian_threshold.)

*Proposition.* Let m be the rows per person and l2 the sensitivity of a marginal (`unit`). If
(1) T >= m + 1, Pr[Z >= T - m] <= delta and m Pr[Z >= T - 1] <= delta,
the answer is delta-approximate (l2^2 / (2 sigma^2))-zCDP (Bun and Steinke 2016, Definition 8.1), in both neighbouring relations.

*Proof.* Let D and D' be neighbours. *Common* keys have records in both, or are public; others are *lone*. All records of D with lone keys
are the person's, at most m. Let E be the event that no lone key of D is released from D. With c_1, ..., c_j >= 1 records of its lone keys,
sum c_i <= m, the probability that E fails is at most the sum of g(c_i), where g(c) = Pr[Z >= T - c]. For 0 <= c <= m, g is convex:
g(c + 1) - g(c) = Pr[Z = T - c - 1], and the probabilities of Z fall away from 0 (those of discrete Gaussian noise do, and rounding adds up
blocks of equal length, that of 0 in the middle). A convex function's sum over j numbers from 1 up that add up to m is largest where all
but one of them are 1, and is then convex in j: so largest at j = 1, g(m), or at j = m, m g(1). By (1) E fails with probability delta at
most; and likewise E' of D'. The noise of keys is independent, so that given E the released common keys are as without it, and nothing else
is released; likewise given E'. The counts of common keys, one number for each key, differ by at most l2 in L2 norm, as those of a marginal
do; so they, and what is released of them, are (l2^2 / (2 sigma^2))-zCDP to each other. QED

*Gaussian DP.* The same holds with sqrt(2 rho)-GDP in place of rho-zCDP: the answer on D is a mixture, with weight 1 - delta at least, of
what is released of common keys, which a Gaussian mechanism gives up to `lattice.DISTANCE`; and on D' likewise. Deltas add up as under zCDP:
draw for each step first which part of the mixture it comes from, as likely on D as on D' (make the common parts' weights exactly 1 -
delta). With probability 1 - sum of the deltas all are common parts, and then the answers are those of an adaptive composition of Gaussian
mechanisms, (epsilon, delta')-DP for some delta'. So for any event S, Pr[M(D) in S] <= (1 - sum) (e^epsilon Pr[common parts of D' in S] +
delta') + sum <= e^epsilon Pr[M(D') in S] + delta' + sum.

*The numbers.* Z is discrete Gaussian noise of parameter s = 2^b sigma, divided by 2^b and rounded, so that Pr[Z >= t] is the probability of
2^b (t - 1/2) or more, b >= 1, or of t or more, b = 0. That a discrete Gaussian is k or more, k >= 1, is no likelier than that a normal is
k - 1 or more (Canonne, Kamath and Steinke 2020, Proposition 25). So Pr[Z >= t] <= Phi(-(t - 1) / sigma) for t >= 1, which costs at most
half a person at the threshold.

What the threshold means: a value that c people share is found with probability Phi((c - T) / sigma), about; one that m or fewer have, which
may be a single person, with probability delta at most.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.special import log_ndtr, ndtri, ndtri_exp

_ROUNDING = 1e-9
"""Of a logarithm of a probability: far more than log_ndtr errs by."""
LIKELY = 0.95
"""The chance with which a value is called likely to be found."""


@lru_cache(maxsize=256)
def threshold(sigma: float, delta: float, rows: int) -> int:
    """The smallest T that the proposition's bounds allow. rows: per person. ValueError for a sigma or delta out of range."""
    if not (0 < sigma < math.inf and 0 < delta < 0.5 and rows >= 1):
        raise ValueError("sigma must be positive, delta a probability below one half, rows 1 or more")
    start = max(rows + 1, math.floor(max(rows - sigma * float(ndtri_exp(math.log(delta))), 0.0)) - 1)
    while not _hides(start, sigma, delta, rows):
        start += 1
    return start


def _hides(t: int, sigma: float, delta: float, rows: int) -> bool:
    limit = math.log(delta) - _ROUNDING
    return max(_log_tail(t - rows, sigma), math.log(rows) + _log_tail(t - 1, sigma)) <= limit


def _log_tail(t: int, sigma: float) -> float:
    """ln of a bound of Pr[Z >= t], t >= 1."""
    return float(log_ndtr(-(t - 1) / sigma))


def shared_by(sigma: float, delta: float, rows: int, chance: float = LIKELY) -> int:
    """The number of records that a value must have to be found with this chance."""
    return max(1, math.ceil(threshold(sigma, delta, rows) - 0.5 + sigma * float(ndtri(chance))))
