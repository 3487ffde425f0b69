"""What two models of linked tables say of sums of roots (`LinkedSource.roots`), and counts from noisy such sums.

Of a household with s members, c of whom are alike in the columns asked, a table of members has c/s in their cell, and a sum of roots has
sqrt(c/s): up to sqrt(s) times as much beside the same noise, where members are not alike. What the models say of sizes and of how many are
alike leads from one to the other, cell by cell, and anew whenever they are fitted: a model whose counts are those that follow has the sums
of roots that were measured. Knows released values only."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.households import Model
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts

Floats = NDArray[np.float64]

UNKNOWN = 1e8
"""The variance of a cell that nothing was measured of, as a multiple of the others': fits cannot weigh cells that differ without end."""
UNSURE = 0.02
"""Of a cell, how far the number who are alike is known: deviation, which the cells of a table share."""


def of_members(link: Link, clique: Clique) -> tuple[slice, ...]:
    """The cells of a table in which nobody is missing."""
    return tuple(slice(-1) if name in link.swapped else slice(None) for name in clique)


def rooted(link: Link, model: Model, two: Model, clique: Clique) -> tuple[Floats, Floats]:
    """Sums of roots, and counts of records, in the cells of members: of columns of the household and of one member. model: that knows them,
    and the number of members. two: of two members of one household."""
    names = link.domain.clique({*clique, NUMBER})
    axis = names.index(NUMBER)
    counts = np.moveaxis(np.maximum(model.marginal(names), 0.0)[of_members(link, names)], axis, 0)
    mine = [name for name in clique if name in link.swapped]
    each = _each(link, two, link.domain.clique(name if name in link.members else link.swapped[name] for name in mine))
    shape = [size if name in mine else 1 for name, size in zip((n for n in names if n != NUMBER), counts.shape[1:], strict=True)]
    roots = counts * each.reshape(-1, *shape)
    if NUMBER in clique:
        return np.moveaxis(roots, 0, axis), np.moveaxis(counts, 0, axis)
    return roots.sum(axis=0), counts.sum(axis=0)


def _each(link: Link, two: Model, mine: Clique) -> Floats:
    """What a record adds to the sum of roots, by the number of members and its cell of columns of one: shape (sizes, cells). Other members
    are alike independently of each other, as often as `two` says."""
    another = [link.other(name) for name in mine]
    names = link.domain.clique((NUMBER, *mine, *another))
    pairs = np.maximum(two.marginal(names), 0.0)[of_members(link, names)]
    pairs = pairs.transpose([names.index(name) for name in (NUMBER, *mine, *another)])
    cells = int(np.prod(pairs.shape[1 : 1 + len(mine)]))
    pairs = pairs.reshape(link.most + 1, cells, cells)
    alike = np.diagonal(pairs, axis1=1, axis2=2) / np.maximum(pairs.sum(axis=2), 1e-9)
    each = np.zeros(alike.shape)
    for size in range(1, link.most + 1):
        one, others = np.clip(alike[size], 0.0, 1.0), size - 1
        likely = sum(comb(others, c) * one**c * (1 - one) ** (others - c) / np.sqrt(1 + c) for c in range(size))
        each[size] = link.times[size] / np.sqrt(size) * likely
    return each


@dataclass(frozen=True, eq=False)
class Roots:
    """Sums of roots as they are believed, in the cells of members, with noise of deviation sigma. clique: of a table of columns of the
    household and of one member, which may be the other one."""

    link: Link
    clique: Clique
    values: Floats
    sigma: float

    def mirrored(self) -> Roots:
        """Of the other member."""
        names = self.link.mirrored(self.clique)
        clique = self.link.domain.clique(names)
        return Roots(self.link, clique, self.values.transpose([names.index(name) for name in clique]), self.sigma)

    def counts(self, model: Model, two: Model) -> MarginalCounts:
        """What follows for the table of records. All of them together are those of members, for how many are alike is known less well than
        how many there are: what is missing is spread as noise and `UNSURE` cells err. Who is nobody in one column is in all; how often is
        not said."""
        link, columns = self.link, sum(name in self.link.swapped for name in self.clique)
        missing = np.array([1.0, 0.5, *[0.0] * (link.most - 1)])  # the share of records without this member, by how many there are
        sizes = np.maximum(model.marginal((NUMBER,)), 0.0)
        there = (missing < 1).reshape(-1, *[1] * columns) if NUMBER in self.clique else np.ones(1)
        roots, records = rooted(link, model, two, self.clique)
        ratio = np.minimum((records + 1e-6 * records.mean() + 1e-9) / (roots + 1e-6 * roots.mean() + 1e-9), 1.0)  # sqrt(c/s) is no more
        found, inside = ratio * self.values * there, of_members(link, self.clique)
        spread = ((ratio * self.sigma) ** 2 + UNSURE**2 * records.sum() * records) * there
        values = np.zeros(link.domain.sizes(self.clique))
        values[inside] = found + (sizes @ (1 - missing) - found.sum()) * spread / spread.sum()
        variances = np.full(values.shape, (ratio**2).mean() * self.sigma**2)
        variances[tuple(-1 if name in link.swapped else slice(None) for name in self.clique)] = UNKNOWN * self.sigma**2
        variances[inside] = (ratio * self.sigma) ** 2
        return MarginalCounts(self.clique, values, variances)
