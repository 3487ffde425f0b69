"""Sums of roots (`LinkedSource.roots`) implied by two models of linked tables, and counts from noisy sums of roots.

In a household with s members, c of whom are alike in the columns asked, a table of members has c/s in their cell, and a sum of roots has
sqrt(c/s): up to sqrt(s) times as much with the same noise, where members are not alike. There are s (s - 1) ordered pairs of members, with
up to sqrt(s (s - 1)) times as much. The models' sizes and numbers of alike members convert one to the other, cell by cell, and anew
whenever they are fitted: a model whose counts are the converted ones has the measured sums of roots. Knows released values only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.households import Model
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts

Floats = NDArray[np.float64]

UNKNOWN = 1e8
"""Variance of an unmeasured cell, as a multiple of the others', because fits cannot weigh cells that differ without limit."""
UNSURE = 0.02
"""Relative deviation of the number of alike members in a cell, shared by the cells of a table."""


def of_members(link: Link, clique: Clique) -> tuple[slice, ...]:
    """Return the index of a table's cells in which no member is absent (an absent member is the last cell)."""
    return tuple(slice(-1) if name in link.with_nobody else slice(None) for name in clique)


def rooted(link: Link, sizes: Groups, one: Model, two: Model, clique: Clique) -> tuple[Floats, Floats]:
    """Return the sums of roots that two models imply for a table, and the counts of records behind them.

    A sum of roots is, for each cell, the sum over households of `Link.records_each` * sqrt(share of the household's
    records in the cell). The table is of columns of the household and of one member, or of two members by class of size.

    Args:
        link: The link of the tables.
        sizes: The classes of household sizes.
        one: Model of a household and one of its members.
        two: Model of two members of one household.
        clique: The columns of the table.

    Returns:
        Two arrays over the cells in which no member is absent, axes as in `clique`.
    """
    mine = [name for name in clique if name in link.member_names]
    others = [name for name in clique if name not in (NUMBER, sizes.name)]
    counts = _counts(link, two if paired(link, clique) else one, (NUMBER, *others))
    each = _each_pair(link, two, mine) if paired(link, clique) else _each(link, two, mine)
    shape = [size if name in mine else 1 for name, size in zip(others, counts.shape[1:], strict=True)]
    counts[each.sum(axis=1) == 0] = 0.0  # sizes that have no such records
    both = np.stack([counts * each.reshape(-1, *shape), counts])
    if NUMBER in clique:
        both = np.moveaxis(both, 1, 1 + clique.index(NUMBER))
    elif sizes.name in clique:
        both = np.moveaxis(sizes.summed(both, 1), -1, 1 + clique.index(sizes.name))
    else:
        both = both.sum(axis=1)
    return both[0], both[1]


def paired(link: Link, clique: Clique) -> bool:
    """Return whether the table over `clique` has columns of two members, and not of one."""
    return len({name in link.members for name in clique if name in link.member_names}) == 2


def _counts(link: Link, model: Model, names: Sequence[str]) -> Floats:
    """Return the model's counts over the columns `names`, axes in this order, without cells of absent members; negative ones become 0."""
    clique = link.domain.clique(names)
    counts = np.maximum(model.marginal(clique), 0.0)[of_members(link, clique)]
    return counts.transpose([clique.index(name) for name in names])


def _each(link: Link, two: Model, names: Sequence[str]) -> Floats:
    """Return what a record adds to the sum of roots, by number of members and cell, shape (sizes, cells).

    Other members of the household are assumed to be alike independently, as often as in the model
    `two`.

    Args:
        link: The link of the tables.
        two: Model of two members of one household.
        names: Columns of one member; a column of the other member stands for its counterpart.
    """
    mine = link.domain.clique(name if name in link.members else link.swapped[name] for name in names)
    pairs = _counts(link, two, (NUMBER, *mine, *map(link.other, mine)))
    cells = int(np.prod(pairs.shape[1 : 1 + len(mine)]))
    pairs = pairs.reshape(link.most + 1, cells, cells)
    alike = np.diagonal(pairs, axis1=1, axis2=2) / np.maximum(pairs.sum(axis=2), 1e-9)
    each = np.zeros(alike.shape)
    for size in range(1, link.most + 1):
        one, others = np.clip(alike[size], 0.0, 1.0), size - 1
        likely = sum(math.comb(others, c) * one**c * (1 - one) ** (others - c) / np.sqrt(1 + c) for c in range(size))
        each[size] = link.times[size] / np.sqrt(size) * likely
    return each


def _each_pair(link: Link, two: Model, names: Sequence[str]) -> Floats:
    """Return what a record of an ordered pair adds on average to its cell's sum of roots.

    A cell is a value of a column of the first member and a value of a column of the second. In a
    household of s members, of whom A have the first value, B the second and D both, A B - D of the
    s (s - 1) ordered pairs are in the cell. A record of such a pair adds sqrt(s (s - 1) / (A B -
    D)). The average is over households with such a pair. The other s - 2 members are assumed to be
    independent of each other; their probabilities are means of those given either member of the
    pair.

    Args:
        link: The link of the tables.
        two: Model of two members of one household.
        names: A column of one member and a column of the other.

    Returns:
        Shape (link.most + 1, cells), by number of members; 0 for fewer than two. The cells are
        flattened, the second member's value fastest.
    """
    mine = list(dict.fromkeys(name if name in link.members else link.swapped[name] for name in names))
    every = _counts(link, two, (NUMBER, *mine, *map(link.other, mine)))
    if len(mine) == 1:
        eye = np.eye(every.shape[1])
        every = np.einsum("sik,ij,kl->sijkl", every, eye, eye)
    one, first, second, pair = (np.maximum(np.einsum(f"sijkl->s{to}", every), 1e-9) for to in ("ij", "i", "j", "il"))
    too = [np.einsum(f"{same}->{to}", every) / pair for same, to in (("sijij", "sij"), ("sijkj", "sij"), ("sijil", "sil"))]
    has_both, has_second, has_first = np.clip(too, 0.0, 1.0)  # of the two, the first has the second value as well; the second the first
    of_two = {(1, 1): has_both, (1, 0): has_second - has_both, (0, 1): has_first - has_both}
    of_two[0, 0] = 1 - has_second - has_first + has_both
    first, second = first[:, :, None], second[:, None]
    likely_a = (np.einsum("sijil->si", every)[:, :, None] / first + pair / second) / 2
    likely_b = (np.einsum("sijkj->sj", every)[:, None] / second + pair / first) / 2
    both = np.minimum(likely_a * one / first, likely_b)
    third = np.stack([both, likely_a - both, likely_b - both]).clip(0.0)
    third /= np.maximum(third.sum(axis=0), 1.0)
    each = np.zeros(pair.shape)
    for size in range(2, link.most + 1):
        shares = [*third[:, size], 1 - third[:, size].sum(axis=0)]
        for many in _divided(size - 2, len(shares)):
            likely = math.factorial(size - 2) * math.prod(share**k / math.factorial(k) for share, k in zip(shares, many, strict=True))
            for (second_too, first_too), share in of_two.items():
                held = 1 + first_too + many[0] + many[1], 1 + second_too + many[0] + many[2]
                alike = held[0] * held[1] - (first_too + second_too + many[0])
                each[size] += likely * share[size] * math.sqrt(size * (size - 1) / alike)
    return each.reshape(len(each), -1)


def _divided(n: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every tuple of `parts` whole numbers, 0 or more, with sum n."""
    if parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        yield from ((first, *rest) for rest in _divided(n - first, parts - 1))


@dataclass(frozen=True, eq=False)
class Roots:
    """Noisy sums of roots of one table, over the cells in which no member is absent.

    Attributes:
        link: The link of the tables.
        sizes: The classes of household sizes.
        clique: Columns of the household and of one member, who may be the other one; or of two
            members, by class of size.
        values: The sums over households of `Link.records_each` * sqrt(share of its records), in records.
        sigma: Standard deviation of their noise, in records.
    """

    link: Link
    sizes: Groups
    clique: Clique
    values: Floats
    sigma: float

    def counts(self, one: Model, two: Model) -> MarginalCounts:
        """Return the table of records that the noisy sums of roots imply, given two fitted models.

        The table's sum is the models' number of members, or of pairs, because the number of alike
        members is less certain than that: the difference is spread by the errors from noise and
        `UNSURE`. Cells with an absent member are 0, except those that the sizes determine, which
        get a very large variance: a member absent in one column is absent in all, and a single
        member is paired with an absent one.

        Args:
            one: Model of a household and one of its members.
            two: Model of two members of one household.
        """
        link, sizes = self.link, self.sizes
        number = _counts(link, two if (pairs := paired(link, self.clique)) else one, (NUMBER,))
        there = np.array([0.0, 0.0 if pairs else 0.5, *[1.0] * (link.most - 1)])  # the share of such records, by how many members there are
        roots, records = rooted(link, sizes, one, two, self.clique)
        ratio = np.minimum((records + 1e-6 * records.mean() + 1e-9) / (roots + 1e-6 * roots.mean() + 1e-9), 1.0)  # sqrt(c/s) is no more
        some: NDArray[np.bool_] = np.ones(1, dtype=bool)
        for name, by in ((NUMBER, there), (sizes.name, sizes.summed(there, 0))):
            if name in self.clique:
                some = (by > 0).reshape([-1 if one == name else 1 for one in self.clique])
        found, inside = ratio * self.values * some, of_members(link, self.clique)
        spread = ((ratio * self.sigma) ** 2 + UNSURE**2 * records.sum() * records) * some
        shape = [len(sizes.members) if name == sizes.name else link.domain[name].size for name in self.clique]
        values, variances = np.zeros(shape), np.full(shape, (ratio**2).mean() * self.sigma**2)
        values[inside] = found + (number @ there - found.sum()) * spread / spread.sum()
        variances[inside] = (ratio * self.sigma) ** 2
        codes = dict(zip(self.clique, np.indices(shape), strict=True))
        nobody = [codes[name] == link.domain[name].size - 1 for name in self.clique if name in link.with_nobody]
        unsaid = np.any(nobody, axis=0) & (codes[sizes.name] == 0) if pairs else np.all(nobody, axis=0)
        variances[unsaid] = UNKNOWN * self.sigma**2
        return MarginalCounts(self.clique, values, variances)
