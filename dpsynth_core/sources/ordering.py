"""Orders of columns in synthetic rows: values that were drawn within their cells are drawn again until they are in order.

Cells in which no values can be in order have no row (`vocabulary.order`). In all others a value is drawn from its bin alone, and may come
out of order; then the row's values are drawn again together, which leaves them uniform among those in order. The few rows that are still
out of order after some rounds take one column after the other, each between what the columns before it have and those behind it allow.
Everything here follows from the rows' cells alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.order import Order, from_first_to_last, positions

Codes = NDArray[np.integer]
"""Cells, in a type that also holds the largest code plus one, as `vocabulary.rows.narrow` chooses it."""
Numbers = dict[str, NDArray[Any]]
"""The number of each row's value, by column."""
Draw = Callable[[Attribute, Codes], NDArray[Any]]
"""Numbers from the cells of a column."""
_ROUNDS = 16


def in_order(domain: Domain, codes: Codes, drawn: Numbers, draw: Draw, rng: np.random.Generator) -> Numbers:
    """Return the drawn numbers, by column, after drawing again the rows that break an order of columns.

    The values of such a row in all ordered columns are drawn again together, up to 16 times. Rows that still break an
    order then get one value after the other, each within what the others allow. Values of other columns stay.

    Args:
        domain: The domain with the orders of columns.
        codes: The cells of the rows, shape (n, attributes of the domain).
        drawn: The numbers drawn so far, by column. Its arrays are changed.
        draw: Draws numbers of a column from the bins of codes.
        rng: The source of randomness.
    """
    names = from_first_to_last(domain.orders)
    numbers = dict(drawn)
    for _ in range(_ROUNDS):
        rows = np.flatnonzero(_out_of_order(domain, codes, numbers))
        if not len(rows):
            return numbers
        for name in names:
            numbers[name][rows] = draw(domain[name], codes[rows, domain.position(name)])
    rows = np.flatnonzero(_out_of_order(domain, codes, numbers))
    placed = _one_after_the_other(domain, codes[rows], names, rng)
    for name in names:
        numbers[name][rows] = np.where(_known(domain, codes[rows], name), placed[name], numbers[name][rows])
    return numbers


def _out_of_order(domain: Domain, codes: Codes, numbers: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Return which rows break an order, shape (n,)."""
    wrong = np.zeros(len(codes), dtype=bool)
    for rule in domain.orders:
        first, second = (positions(domain[name], numbers[name]) for name in (rule.first, rule.second))
        wrong |= _known(domain, codes, rule.first) & _known(domain, codes, rule.second) & ~rule.holds(first, second)
    return wrong


def _known(domain: Domain, codes: Codes, name: str) -> NDArray[np.bool_]:
    """Return which rows have a value in the column, and not a cell for missing or other values."""
    return codes[:, domain.position(name)] < domain[name].values


def _one_after_the_other(domain: Domain, codes: Codes, names: Sequence[str], rng: np.random.Generator) -> Numbers:
    """Return numbers in order, drawn column by column.

    Each number lies in its bin, not below what the earlier columns require, and leaves room for the
    later columns.

    Args:
        domain: The domain with the orders of columns.
        codes: The cells of the rows.
        names: The columns of the orders, each after those that are at most as large.
        rng: The source of randomness.
    """
    lowest, highest = {}, {}
    for name in names:
        attribute, cells = domain[name], np.minimum(codes[:, domain.position(name)], domain[name].values - 1)
        edges = np.array(attribute.edges)
        lowest[name] = edges[cells]
        highest[name] = edges[cells + 1] - 1 if attribute.scale.whole else np.nextafter(edges[cells + 1], -np.inf)
    for rule in sorted(domain.orders, key=lambda rule: names.index(rule.second), reverse=True):  # from the last column to the first
        both = _known(domain, codes, rule.first) & _known(domain, codes, rule.second)
        most = _most(rule, domain[rule.first], positions(domain[rule.second], highest[rule.second]))
        highest[rule.first] = np.where(both, np.minimum(highest[rule.first], most), highest[rule.first])
    numbers: Numbers = {}
    for name in names:
        low = lowest[name]
        for rule in domain.orders:
            if rule.second == name:
                both = _known(domain, codes, rule.first) & _known(domain, codes, name)
                least = _least(rule, domain[name], positions(domain[rule.first], numbers[rule.first]))
                low = np.where(both, np.maximum(low, least), low)
        high = np.maximum(low, highest[name])
        if domain[name].scale.whole:
            numbers[name] = rng.integers(low.astype(np.int64), high.astype(np.int64), endpoint=True)
        else:
            numbers[name] = _between(low, high, domain[name].decimals, rng)
    return numbers


def _between(low: NDArray[np.float64], high: NDArray[np.float64], decimals: int | None, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return numbers drawn uniformly from `low` to `high`, with `decimals` where possible.

    A number keeps all its digits if no number with these decimals lies between its ends, or if
    `decimals` is None.
    """
    drawn = np.minimum(low + rng.random(len(low)) * (high - low), high)
    if decimals is None:
        return drawn
    scale = 10.0**decimals
    below, above = np.floor(drawn * scale) / scale, np.ceil(drawn * scale) / scale
    return np.where(below >= low, below, np.where(above <= high, above, drawn))


def _most(rule: Order, first: Attribute, bound: NDArray[Any]) -> NDArray[Any]:
    """Return the largest numbers of the column `first` that an order allows.

    Args:
        rule: The order of two columns.
        first: The column with the smaller values.
        bound: The other column's values, on the common axis (`vocabulary.order.positions`).
    """
    if rule.span:
        return np.asarray(((bound // rule.span - rule.gap + 1) * rule.span) // first.scale.span - 1)
    if first.scale.whole:
        return np.ceil(bound) - 1 if rule.gap else np.floor(bound)
    return np.nextafter(bound, -np.inf) if rule.gap else bound


def _least(rule: Order, second: Attribute, bound: NDArray[Any]) -> NDArray[Any]:
    """Return the smallest numbers of the column `second` that an order allows.

    Args:
        rule: The order of two columns.
        second: The column with the larger values.
        bound: The other column's values, on the common axis (`vocabulary.order.positions`).
    """
    if rule.span:
        return np.asarray((bound // rule.span + rule.gap) * rule.span // second.scale.span)
    if second.scale.whole:
        return np.floor(bound) + 1 if rule.gap else np.ceil(bound)
    return np.nextafter(bound, np.inf) if rule.gap else bound
