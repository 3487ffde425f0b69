"""Marginals drawn at random from a seed, as the papers' experiments draw their workloads. Public: names of columns and a seed, no record.

`random`: so many different sets of k columns, each as likely as any other (Aydore et al. 2021, section 5.2; Vietri et al. 2020, sec. 6).
`skewed`: each column gets a weight from a squared exponential distribution, and sets of k columns are drawn with probability proportional
to the product of their columns' weights (McKenna et al. 2022, section 6.1, with 256 draws of three columns). The paper leaves open whether
a set can be drawn twice. Here it can, for one of its tables has fewer than 256 sets of three columns; a set counts as often as drawn.

The same seed means the same marginals on every machine: nothing but `Random.random` is used, whose sequence Python promises not to change.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

RANDOM, SKEWED = "random", "skewed"
PAPER_DRAWS = 256
"""Number of draws of the AIM paper's skewed workload."""


@dataclass(frozen=True)
class Draw:
    """A random draw of marginals.

    Attributes:
        kind: RANDOM, for different sets of columns that are equally likely, or SKEWED, for draws that favour some
            columns and may repeat a set.
        k: Number of columns of each marginal.
        count: Number of different marginals (RANDOM), or of draws (SKEWED).
        seed: Seed that determines them.
    """

    kind: str
    k: int
    count: int
    seed: int

    def weights(self, names: Sequence[str]) -> dict[tuple[str, ...], int]:
        """Return the number of times that each marginal was drawn; the same draw gives the same result on every machine.

        Marginals are ordered by the positions of their columns; those that were not drawn are left
        out. With RANDOM every number is 1.

        Args:
            names: The columns to draw from, in order: at least `k`, and with RANDOM enough for `count` different
                marginals, which is not checked here.
        """
        rng = Random(self.seed)
        drawn = _skewed(len(names), self.k, self.count, rng) if self.kind == SKEWED else _uniform(len(names), self.k, self.count, rng)
        return {tuple(names[place] for place in places): times for places, times in sorted(Counter(drawn).items())}


Places = tuple[int, ...]
"""Positions of columns, ascending."""


def _uniform(columns: int, k: int, count: int, rng: Random) -> list[Places]:
    """Return `count` different sets of k columns, each set as likely as any other.

    They are the first ones of a shuffled list of all sets, of which only the places that were
    exchanged are stored.
    """
    every = math.comb(columns, k)
    exchanged: dict[int, int] = {}
    chosen = []
    for i in range(count):
        j = i + int(rng.random() * (every - i))
        chosen.append(exchanged.get(j, j))
        exchanged[j] = exchanged.get(i, i)
    return [_set_of_rank(rank, columns, k) for rank in chosen]


def _set_of_rank(rank: int, columns: int, k: int) -> Places:
    """Return the set of k columns at this place among all such sets in lexicographic order.

    Args:
        rank: The place, counted from 0.
        columns: Number of columns.
        k: Number of columns of a set.
    """
    places: list[int] = []
    for place in range(columns):
        with_it = math.comb(columns - place - 1, k - len(places) - 1)
        if rank < with_it:
            places.append(place)
            if len(places) == k:
                break
        else:
            rank -= with_it
    return tuple(places)


def _skewed(columns: int, k: int, count: int, rng: Random) -> list[Places]:
    """Return `count` sets of k columns, each drawn with probability proportional to its columns' weights.

    Weights are w = E^2 with E exponential of mean 1. A set is drawn by inversion: by a number below
    the sum of all products.
    """
    weights = [math.log(1.0 - rng.random()) ** 2 for _ in range(columns)]
    sums = _sums_of_products(weights, k)
    return [_set_of_mass(rng.random() * sums[0][k], weights, sums, k) for _ in range(count)]


def _sums_of_products(weights: Sequence[float], k: int) -> list[list[float]]:
    """Return sums[i][m]: the sum, over all choices of m of the weights from place i on, of their product."""
    sums = [[1.0] + [0.0] * k]
    for weight in reversed(weights):
        after = sums[-1]
        sums.append([1.0, *(after[m] + weight * after[m - 1] for m in range(1, k + 1))])
    return sums[::-1]


def _set_of_mass(mass: float, weights: Sequence[float], sums: Sequence[Sequence[float]], k: int) -> Places:
    """Return the set at which the products, added up in lexicographic order, first exceed a number.

    Args:
        mass: The number.
        weights: Weight of each column.
        sums: Result of `_sums_of_products`.
        k: Number of columns of a set.
    """
    places: list[int] = []
    for place, weight in enumerate(weights):
        missing = k - len(places)
        if not missing:
            break
        with_it = weight * sums[place + 1][missing - 1]
        if mass < with_it or len(weights) - place == missing:
            places.append(place)
            mass /= weight
        else:
            mass -= with_it
    return tuple(places)
