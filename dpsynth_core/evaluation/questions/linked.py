"""Answer questions about a release of two linked tables: about its households, and about their members.

The measured tables are of pairs of members, and each household counts once in them (`vocabulary.link`). A table with the number of members
k gives the number of members. In a cell of k, a household stands for its k members, and its members are in one of the cells of its pairs by
1/k each, a single member by 1/2. With weights w_k = max(k, 2) for columns of members and w_k = k for columns of households,

    sum over k of w_k M(k, cell)

counts the members in a cell; from a noisy table with independent noise sigma it has independent noise sigma sqrt(sum w_k^2). If a share b
of the households is in a wrong cell of that table, then at most b L / W of the members are, with L the largest weight and W the mean number
of members. Proof: with p, q the tables as shares, d = p - q, and V, W the weights of q and p, the shares of members differ by (w d - w q (W
- V) / V) / W, whose positive part is at most max(w d+, w d-) / W, and d+, d- have mass b. As W >= V - b L, the rows give the bound. Tables
without the number of members give no bound.

The module reads released values only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import Certificate
from dpsynth_core.claims.weights import Weighted
from dpsynth_core.evaluation.questions.known import Known, Limit, known, known_weighted
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.ranges import Chosen, part
from dpsynth_core.vocabulary.rows import Repeated

NONE, SOME = "none", "some"


def of_households(link: Link, codes: Repeated | None, measurements: Sequence[Measurement], certificate: Certificate | None) -> Known:
    """Return the released values for questions about households, with the first table's columns and `NUMBER`.

    Args:
        link: The link of the two tables.
        codes: Codes of the rows, as records of pairs of members; None without rows.
        measurements: The noisy tables of pairs, in whole numbers of records.
        certificate: The certificate of these tables, or None.
    """
    domain = _households(link)
    told = [_scaled(one, 1 / link.records_each) for one in measurements if set(one.clique) <= set(domain.names)]
    rows = None if codes is None else link.split(codes.codes)[0]
    every = _limits(link, certificate)
    limits = {clique: limit for clique, limit in every.items() if set(clique) <= set(domain.names)}
    return replace(known(domain, rows, told, known_total(told, None), {}, None), limits={} if rows is None else limits)


def of_members(link: Link, codes: Repeated | None, measurements: Sequence[Measurement], certificate: Certificate | None) -> Known:
    """Return the released values for questions about members, with the columns of their households and those that a link describes.

    Only tables with the number of members give counts and limits for members.

    Args:
        link: The link of the two tables.
        codes: Codes of the rows, as records of pairs of members; None without rows.
        measurements: The noisy tables of pairs, in whole numbers of records.
        certificate: The certificate of these tables, or None.
    """
    domain = Domain((*link.households, *link.described))
    aside = {one.name for one in link.columns} - {NUMBER, *domain.names, *link.again}  # such as whether a row is the last one
    summed = [_without(one, aside) for one in measurements]
    told = [_of_members(link, domain, one) for one in summed if NUMBER in one.clique and set(one.clique) <= {NUMBER, *domain.names}]
    rows, limits = None, dict[tuple[str, ...], Limit]()
    if codes is not None:
        households, rows = link.split(codes.codes)[0], link.each(codes.codes)
        most, each = max(2, link.most), len(rows) / max(1, len(households))
        for clique, limit in _limits(link, certificate).items():
            if NUMBER in clique and (others := tuple(name for name in clique if name in domain)):
                alone, beside, together = (_share_of_members(b, most, each) for b in (limit.alone, limit.beside, limit.together))
                limits[others] = replace(limit, alone=alone, beside=beside, together=together, likely=None)
    return replace(known(domain, rows, told, known_total(told, None), {}, None), limits=limits)


def weighted(link: Link, codes: Repeated, weights: NDArray[np.float64], stated: Weighted, members: bool) -> Known:
    """Return the released values for questions about weighted households, or about their weighted members.

    Each member has the columns and the weight of its household.

    Args:
        link: The link of the two tables.
        codes: Codes of the rows, as records of pairs of members.
        weights: The weight of each household, in the order in which `Link.split` returns them.
        stated: The statements about weighted tables.
        members: True for members (if `stated` has statements about them), False for households.
    """
    households, owners, listed = link.split(codes.codes)
    if members and stated.members is not None:
        told = known_weighted(Domain((*link.households, *link.members)), listed, weights[owners], stated.members)
        return replace(told, limits={clique: limit for clique, limit in told.limits.items() if NUMBER not in clique})
    return known_weighted(_households(link), households, weights, stated)


def with_members(known: Known, link: Link, codes: Repeated, wanted: Mapping[str, Sequence[Mapping[str, Chosen]]]) -> Known:
    """Return the released values for households, with a further column for each of some conditions on their members.

    The column has the value `SOME` for households with a member who meets the condition, else
    `NONE`. It is computed from the rows, so no noisy table contains it. In a cell that a range
    cuts, members are drawn at random with the share that an even spread gives, with a fixed seed.

    Args:
        known: The released values for households (`of_households`), with rows.
        link: The link of the two tables.
        codes: Codes of the rows, as records of pairs of members.
        wanted: By name of the new column, its condition: by column of members, the cells that a
            member must be in; then the same of a member after that one, and so on.
    """
    assert known.codes is not None
    households, owners, members = link.split(codes.codes)

    def inside(cells: Mapping[str, Chosen]) -> NDArray[np.bool_]:
        """Return for each member whether it is in all of these cells.

        Args:
            cells: The cells by column of members. In a cell that a range cuts, members are drawn
                at random, with the same seed in each call.
        """
        rng, within = np.random.default_rng(0), np.ones(len(members), dtype=bool)
        for name, of in cells.items():
            own = members[:, len(link.households) + link.members.position(name)]
            within &= np.isin(own, of.cells)
            for code, spans in of.cut.items():
                within &= (own != code) | (rng.random(len(members)) < part(link.members[name], code, spans).share)
        return within

    def met(rows: Sequence[Mapping[str, Chosen]]) -> NDArray[np.bool_]:
        """Return for each household whether a member is in the first cells, one after it in the next ones, and so on."""
        place, first = np.arange(len(members)), np.full(len(households), -1)  # members of one household are listed in their order
        for cells in rows:
            here = np.flatnonzero(inside(cells) & (place > first[owners]))
            first = np.full(len(households), len(members))
            np.minimum.at(first, owners[here], here)
        return first < len(members)

    flags = (Attribute.categorical(name, (NONE, SOME)) for name in wanted)
    domain = Domain((*known.domain, *flags))
    return replace(known, domain=domain, codes=np.column_stack([known.codes, *map(met, wanted.values())]), _estimates={})


def _households(link: Link) -> Domain:
    """Return the domain of households: the first table's columns and the number of members."""
    return Domain((*link.households, Attribute.integer(NUMBER, 0, link.most, width=1)))


def _limits(link: Link, certificate: Certificate | None) -> dict[tuple[str, ...], Limit]:
    """Return the limits of the tables of pairs that follow from a certificate, as shares of households."""
    return dict(known(link.domain, np.empty((0, 0), np.int32), (), None, {}, certificate).limits)


def _share_of_members(b: float, most: int, each: float) -> float:
    """Return an upper bound of the share of members in a wrong cell, at most 1 (the proof is in the module's docstring).

    Args:
        b: The largest share of households in a wrong cell.
        most: The largest number of members that counts for a household.
        each: The mean number of members in the rows.
    """
    return min(1.0, b * most / (each - b * most)) if each > b * most else 1.0


def _of_members(link: Link, domain: Domain, one: Measurement) -> Measurement:
    """Return a measurement of members, in members, from a measurement of pairs that includes the number of members.

    Args:
        link: The link of the two tables.
        domain: The columns of households and members.
        one: The measurement, in records of pairs.
    """
    others = tuple(name for name in one.clique if name != NUMBER)
    rows = {one.name for one in link.described}
    weights = (link.times if rows & {*others} else np.arange(link.most + 1)).astype(np.float64)
    values = np.tensordot(weights, one.values, (0, one.clique.index(NUMBER)))
    somebody = values[tuple(slice(domain[name].size) for name in others)]  # nobody's cell is the last
    return _scaled(replace(one, clique=others, values=np.asarray(somebody), sigma=one.sigma * _norm(weights),
                           rounding=one.rounding * _norm(weights) ** 2), 1 / link.records_each)  # fmt: skip


def _without(one: Measurement, names: Collection[str]) -> Measurement:
    """Return a measurement summed over these columns, whose noise adds up; itself if it has none of them."""
    axes = tuple(place for place, name in enumerate(one.clique) if name in names)
    if not axes:
        return one
    many = math.prod(one.values.shape[axis] for axis in axes)
    left = tuple(name for name in one.clique if name not in names)
    return replace(one, clique=left, values=one.values.sum(axis=axes), sigma=one.sigma * math.sqrt(many), rounding=one.rounding * many)


def _norm(weights: NDArray[np.float64]) -> float:
    """Return the Euclidean norm: the factor by which a weighted sum of independent noise exceeds one cell's noise."""
    return math.sqrt(float(weights @ weights))


def _scaled(one: Measurement, by: float) -> Measurement:
    """Return the measurement with its values and its noise multiplied by `by`."""
    return replace(one, values=one.values * by, sigma=one.sigma * by, rounding=one.rounding * by**2)
