"""How far a table of some people is from the table of everybody, where an independent coin decided for each person.

Let everybody own N records, at most m each, and each person be left out with probability h = 1 - q. Of a table with C cells, p are the
shares of everybody's N records and p' those of the n records of the people who are left. The total variation distance of p and p' is
G / n, where G is the largest over sets S of cells of

    sum over people of (coin - q) (records in S - p(S) records),

with coin 1 for those who are left and 0 for others. The terms are independent, have mean 0, and are at most m. Then

    E G <= sqrt(h q m N (C - 1)) / 2,        sum of variances <= h q m N / 4,

the first by Jensen and Cauchy-Schwarz from the variance of each cell, the second because a share p(S) times (1 - p(S)) is 1/4 at most.
Cells without records add nothing, so C is N at most. The supremum is then bounded by an inequality of Klein and Rio (2005, theorem 1.1):
with v = 2 E G / m + h q N / (4 m) it exceeds its mean by m x with a probability of at most exp(-x^2 / (2 v + 3 x)). N is bounded from n
by Hoeffding's inequality, and n from its noisy number. Nothing here depends on what records say. It needs coins that are independent of
the table. A keyed hash with a secret key is, for everybody who cannot tell it from a random function (Proposition 30).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsynth_core.statistics.totals import Total

OF_COINS = 0.2
"""Share of the failure probability of a bound that is spent on the coins."""
_OF_NUMBER = 0.1
"""Of that, the share that is spent on the number of everybody's records, and on the noise of the number of those who are left."""


@dataclass(frozen=True)
class Coins:
    """Independent coins that leave people out before a mechanism.

    Attributes:
        left_out: Probability with which each person is left out, above 0 and below 1.
        most_records: Largest number of records of a person.
    """

    left_out: float
    most_records: int

    def off(self, cells: int, counted: Total, failure: float) -> float:
        """Return a bound of the total variation distance of a table of those who are left from that of everybody, from 0 to 1.

        It is a share of the records. The bound fails with a probability of at most `failure`, for one table that is chosen without
        regard to the coins.

        Args:
            cells: Number of cells of the table.
            counted: Number of records of those who are left, as a public or noisy number.
            failure: Probability of failure, of coins and of the noise of `counted` together.
        """
        h, q, m = self.left_out, 1 - self.left_out, self.most_records
        doubt, surprise = counted.doubt(1 - _OF_NUMBER * failure), math.log(1 / ((1 - 2 * _OF_NUMBER) * failure))
        fewest, most = counted.value - doubt, self._everybody(counted.value + doubt, _OF_NUMBER * failure)
        if fewest <= 0:
            return 1.0
        mean = math.sqrt(h * q * most * (min(cells, most) - 1) / m) / 2 if most > 1 else 0.0
        variance = 2 * mean + h * q * most / (4 * m)
        above = (3 * surprise + math.sqrt(9 * surprise**2 + 8 * surprise * variance)) / 2
        return min(1.0, m * (mean + above) / fewest)

    def _everybody(self, counted: float, failure: float) -> float:
        """Return an upper bound of the number of everybody's records, if `counted` records are left, with this probability of failure."""
        q, reach = 1 - self.left_out, math.sqrt(math.log(1 / failure) * self.most_records / 2)
        return ((reach + math.sqrt(reach**2 + 4 * q * counted)) / (2 * q)) ** 2
