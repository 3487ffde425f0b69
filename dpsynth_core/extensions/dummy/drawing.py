"""Drawing of dummy rows: values have even shares, or the shares of published tables, and every rule holds. No record is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.household_rules import Rules
from dpsynth_core.inference.publishing import matched_to_published, rows_off
from dpsynth_core.release.linked import MemberRows
from dpsynth_core.release.rows import Rows
from dpsynth_core.sources.decoding import DrawnRows, as_written
from dpsynth_core.sources.simulated import at_quantiles
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link

RARE = 0.02
"""Share of rows in the cell for missing values, and in that for values that are not listed, where a column has such a cell."""

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Dummy rows.

    Attributes:
        rows: The rows of the table, or of the first of two linked tables.
        members: The rows of the second of two linked tables, or None.
        off: For each published table, the largest difference of a cell from its share, as a number of rows; () without any.
    """

    rows: Rows
    members: Rows | None
    off: tuple[float, ...] = ()


def drawn(order: Order) -> Drawn:
    """Return the rows of an order; the same order gives the same rows.

    Raises:
        InputError: No household was found that keeps all rules.
    """
    rng = np.random.default_rng(order.seed)
    if order.link is not None:
        return _linked(order, order.link, rng)
    codes = matched_to_published(order.domain, _even(order.domain, order.rows, rng), rng)
    off = tuple(rows_off(order.domain, codes))
    return Drawn(_as_rows(order.row_domain, codes, order.seed, rng), None, off)


def shares(attribute: Attribute) -> NDArray[np.float64]:
    """Return the share of each cell of a column, shape (cells,): 0.02 for missing and for unlisted values, equal shares for all values.

    For a column without values, the cells have equal shares.
    """
    extra = attribute.size - attribute.values
    if not attribute.values:
        return np.full(extra, 1 / extra)
    return np.concatenate([np.full(attribute.values, (1 - RARE * extra) / attribute.values), np.full(extra, RARE)])


def _even(domain: Domain, rows: int, rng: np.random.Generator, told: Mapping[str, NDArray[np.float64]] | None = None) -> Codes:
    """Return codes whose columns are independent but for rules, with as nearly the stated shares as whole rows allow.

    The quantiles of a column are one from each of `rows` equal intervals, in random order. Where no
    rule concerns a column, each cell thus has its expected number of rows, up to 1.

    Args:
        domain: The domain.
        rows: Number of rows.
        rng: Source of randomness.
        told: The shares of columns that differ from `shares`, by column.
    """
    order = np.argsort(rng.random((rows, len(domain))), axis=0)
    quantiles = (order + rng.random((rows, len(domain)))) / rows
    return at_quantiles(domain, {one.name: shares(one) for one in domain} | dict(told or {}), quantiles)


def _as_rows(domain: Domain, codes: Codes, seed: int, rng: np.random.Generator) -> DrawnRows:
    return DrawnRows(domain, as_written(domain, codes), rng.bit_generator.state, seed)


def _linked(order: Order, link: Link, rng: np.random.Generator) -> Drawn:
    """Return two linked tables, whose households have any number of members that the link allows, and keep all its rules."""
    with_number = Domain((*link.households.attributes, Attribute.coded(NUMBER, link.most + 1)))
    own = tuple(rule for rule in link.rules if set(rule.attributes) <= set(with_number.names))
    houses = _even(replace(with_number, impossible=own), order.rows, rng).astype(np.int64)
    households, sizes = houses[:, :-1].copy(), houses[:, -1].copy()
    members = _even(link.members, order.rows * link.most, rng).astype(np.int64).reshape(order.rows, link.most, len(link.members))
    try:
        Rules(link).keep(households, sizes, members, rng)
    except InputError:
        raise InputError("members.rules", "no household was found that keeps all of them", "leave one of them out") from None
    owners = np.repeat(np.arange(order.rows), sizes)
    present = members[np.arange(link.most) < sizes[:, None]]
    own_rows = _as_rows(order.row_domain, households, order.seed, rng)
    their_rows = _as_rows(order.member_domain, present, order.seed, rng)
    return Drawn(own_rows, MemberRows(their_rows, owners, order.key))
