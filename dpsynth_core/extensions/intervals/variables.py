"""Variables of an analysis as numbers: one number for each cell of a column, nan for cells that an analysis leaves out.

A number is the middle of its cell: measured tables count cells, and say nothing of how values lie within one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from operator import eq, ge, gt, le, lt, ne

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.intervals.formulas import FIELD, Condition, Term, Variable
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.registry import KINDS

Floats = NDArray[np.float64]
_COMPARE: Mapping[str, Callable[[Floats, float], NDArray[np.bool_]]] = {"==": eq, "!=": ne, ">=": ge, "<=": le, ">": gt, "<": lt}
_MOST_NAMED = 12
MOST_LEVELS = 100
"""Largest number of values of a column that enters a regression as indicators."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A variable as a number for each cell of its column.

    Attributes:
        name: Name for people.
        column: Name of the column.
        values: The number of each cell, nan for a cell that is left out, shape (cells,).
    """

    name: str
    column: str
    values: Floats


def attribute_of(domain: Domain, column: str) -> Attribute:
    """Return a column of the domain.

    Raises:
        InputError: The domain has no such column.
    """
    if column not in domain:
        names = ", ".join(domain.names[:_MOST_NAMED]) + (", ..." if len(domain) > _MOST_NAMED else "")
        raise InputError(FIELD, f"{shown(column)} is not a column of the rows", f"use {names}")
    return domain[column]


def is_numeric(attribute: Attribute) -> bool:
    """Return whether a column enters a regression as a number: bins, codes, and ordered lists of numbers; False for other lists."""
    if attribute.is_listed:
        return attribute.dtype in ("int64", "float64") and KINDS[attribute.kind].ordered
    return True


def numbers(domain: Domain, column: str) -> Cells:
    """Return a column as numbers: the middle of each bin, the number of each code or listed number; true is 1 and false 0.

    Raises:
        InputError: The domain has no such column, or its values are not numbers.
    """
    attribute = attribute_of(domain, column)
    if attribute.is_listed:
        if attribute.dtype not in ("int64", "float64", "bool"):
            remedy = f'compare it with a value, such as {column} == "{attribute.categories[0]}"'
            raise InputError(FIELD, f"{shown(column)} holds no numbers", remedy)
        listed = [float(text == "true") if attribute.dtype == "bool" else float(text) for text in attribute.categories]
    elif attribute.is_coded:
        listed = [float(code) for code in range(attribute.values)]
    else:
        listed = [(low + last) / 2 for low, last in ends(attribute)]
    return Cells(column, column, _padded(attribute, listed))


def ends(attribute: Attribute) -> list[tuple[float, float]]:
    """Return the first and the last number of each bin, on the column's scale (days for dates); of decimal numbers, its two edges."""
    return [(float(low), float(high - 1 if attribute.scale.whole else high)) for low, high in pairwise(attribute.edges)]


def width(domain: Domain, column: str) -> float:
    """Return the largest difference between the last and the first number of a bin of a column, on the column's scale (days for dates).

    A bin of the whole numbers 5 to 9 has width 4, a bin of a single value width 0. It is 0 for a column
    of listed values or codes.
    """
    attribute = domain[column]
    if attribute.is_listed or attribute.is_coded:
        return 0.0
    widths = [last - low for low, last in ends(attribute) if attribute.scale.whole or last > attribute.scale.beyond(low)]
    return max(widths, default=0.0)


def indicator(domain: Domain, condition: Condition) -> Cells:
    """Return a condition as 1 for cells that meet it and 0 for others; NaN for cells that are left out, such as the missing cell.

    Raises:
        InputError: The domain has no such column; the column has no such value or no order; the value is not a number
            although the column holds numbers; or the condition cuts a cell.
    """
    attribute = attribute_of(domain, condition.column)
    compare = _COMPARE[condition.sign]
    if attribute.is_listed and (condition.sign in ("==", "!=") or attribute.dtype == "string"):
        return Cells(str(condition), condition.column, _listed(attribute, condition))
    try:
        limit = _limit(attribute, condition.value)
    except (TypeError, ValueError):
        raise InputError(FIELD, f"{shown(condition.value)} is not a number", f"give a value of {condition.column}") from None
    if not attribute.is_number:
        own = numbers(domain, condition.column).values
        return Cells(str(condition), condition.column, np.where(np.isnan(own), np.nan, compare(own, limit)))
    low, last = np.array(ends(attribute)).T
    first, second = compare(low, limit), compare(last, limit)
    inside = (low < limit) & (limit < last) if condition.sign in ("==", "!=") else np.zeros(len(low), dtype=bool)
    if not attribute.scale.whole and condition.sign in (">=", "<"):  # a bin ends before its upper edge
        second = np.where(last == limit, first, second)
    if (first != second).any() or inside.any():
        cut = attribute.cell_labels()[int(np.flatnonzero((first != second) | inside)[0])]
        problem = f"{condition} cuts the cell {cut}, within which nothing was measured"
        raise InputError(FIELD, problem, "compare with an edge of a cell, by >= or <")
    return Cells(str(condition), condition.column, _padded(attribute, first.astype(np.float64)))


def _limit(attribute: Attribute, text: str) -> float:
    """Return the number that a value of a column stands for."""
    scale = attribute.scale if attribute.is_number else None
    return float(text) if scale is None else float(scale.number(scale.checked(scale.typed(attribute.name, text))))


def _listed(attribute: Attribute, condition: Condition) -> Floats:
    """Return 1 for the cells of a list that meet a condition, 0 for others, nan for the missing cell."""
    labels = list(attribute.cell_labels())
    texts = [*attribute.categories, *labels[attribute.values :]]
    places = [place for place, pair in enumerate(zip(texts, labels, strict=True)) if condition.value in pair]
    if not places and attribute.dtype in ("int64", "float64"):
        places = [place for place, text in enumerate(attribute.categories) if _same(text, condition.value)]
    if not places:
        known = ", ".join(labels[:_MOST_NAMED]) + (", ..." if len(labels) > _MOST_NAMED else "")
        raise InputError(FIELD, f"{condition.column} has no value {shown(condition.value)}", f"use one of {known}")
    if condition.sign not in ("==", "!=") and not KINDS[attribute.kind].ordered:
        raise InputError(FIELD, f"the values of {condition.column} have no order", "compare them with == or !=")
    met = np.full(attribute.size, np.nan)
    known_cells = np.arange(attribute.size) != (-1 if attribute.missing_code is None else attribute.missing_code)
    known_cells &= True if condition.sign in ("==", "!=") else np.arange(attribute.size) < attribute.values
    met[known_cells] = _COMPARE[condition.sign](np.arange(attribute.size, dtype=np.float64), float(places[0]))[known_cells]
    return met


def _same(text: str, value: str) -> bool:
    try:
        return float(text) == float(value)
    except ValueError:
        return False


def factor(domain: Domain, column: str) -> list[Cells]:
    """Return the indicators of each value of a list but the first, in order; a missing value is left out.

    The last indicator is of all values outside the list, if the column has a cell for them.

    Raises:
        InputError: The domain has no such column, or it has more than 100 cells, with those for other and for
            missing values.
    """
    attribute = attribute_of(domain, column)
    if attribute.size > MOST_LEVELS:
        remedy = f"compare it with single values, such as {column} == {attribute.cell_labels()[0]!r}"
        raise InputError(FIELD, f"{shown(column)} has {attribute.size:,} values, more than {MOST_LEVELS}", remedy)
    labels, found = attribute.cell_labels(), list[Cells]()
    for code in range(1, attribute.size):
        if code != attribute.missing_code:
            values = (np.arange(attribute.size) == code).astype(np.float64)
            if attribute.missing_code is not None:
                values[attribute.missing_code] = np.nan
            found.append(Cells(f"{column}: {labels[code]}", column, values))
    return found


def term(domain: Domain, stated: Term) -> list[tuple[str, tuple[Cells, ...]]]:
    """Return the columns of a design that a term stands for, each as its name and the factors whose product it is.

    A column of numbers and a condition stand for one column, a list for an indicator of each value but the first.

    Args:
        domain: The domain.
        stated: The term.

    Raises:
        InputError: A column or value is unknown or of the wrong kind, a condition cuts a cell, or a list has more than
            100 cells.
    """
    every: list[tuple[Cells, ...]] = [()]
    for one in stated:
        every = [(*before, more) for before in every for more in _of_term(domain, one)]
    return [(" x ".join(one.name for one in cells), cells) for cells in every]


def _of_term(domain: Domain, variable: Variable) -> list[Cells]:
    if isinstance(variable, Condition):
        return [indicator(domain, variable)]
    return [numbers(domain, variable)] if is_numeric(attribute_of(domain, variable)) else factor(domain, variable)


def single(domain: Domain, variable: Variable) -> Cells:
    """Return a column of numbers or a condition as one variable.

    Raises:
        InputError: A column or value is unknown, or of the wrong kind.
    """
    return indicator(domain, variable) if isinstance(variable, Condition) else numbers(domain, variable)


def _padded(attribute: Attribute, values: list[float] | Floats) -> Floats:
    """Return the numbers of the declared values, followed by nan for the cells of other and of missing values."""
    return np.concatenate([np.asarray(values, dtype=np.float64), np.full(attribute.size - attribute.values, np.nan)])
