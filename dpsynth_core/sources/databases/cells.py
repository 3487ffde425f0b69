"""Cells as expressions: the bin of a value by binary search over the edges, the code of a listed value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ibis

from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.names import column_field

MOST_CELLS = 5000
"""Of a column; an expression for more is too long for some databases."""
_LEAF = 8


def check_size(attribute: Attribute) -> None:
    """CapacityError for a column of very many cells."""
    if attribute.values > MOST_CELLS and not attribute.is_coded:
        remedy = f"use at most {MOST_CELLS:,} categories or bins, or drop the column"
        raise CapacityError(column_field(attribute.name), "it has too many cells to be counted in a database", remedy)


def bins(attribute: Attribute, reaches: Callable[[float], Any], exceeds: Callable[[float], Any]) -> Any:
    """The cell of a value that is there. reaches, exceeds: whether it is at or above an edge; above it."""
    edges, elsewhere = attribute.edges, attribute.code_for_beyond
    last = attribute.values - 1
    if elsewhere is None:
        return _search(lambda place: reaches(edges[place]), 0, last)
    above = reaches(edges[-1]) if attribute.scale.whole else exceeds(edges[-1])
    inside = _search(lambda place: reaches(edges[place]), 0, last)
    return ibis.cases((~reaches(edges[0]), elsewhere), (above, elsewhere), else_=inside)


def _search(reaches: Callable[[int], Any], low: int, high: int) -> Any:
    """The largest place from low to high whose edge is reached, or low."""
    if low == high:
        return ibis.literal(low).cast("int32")
    middle = (low + high + 1) // 2
    return ibis.cases((reaches(middle), _search(reaches, middle, high)), else_=_search(reaches, low, middle - 1))


def listed(is_one_of: Callable[[Sequence[Any]], Any], codes: Sequence[tuple[Any, int]], otherwise: Any) -> Any:
    """The code that is listed for a value. is_one_of: whether it is among some; otherwise: what it has if it is among none."""
    by_code: dict[int, list[Any]] = {}
    for value, code in codes:
        by_code.setdefault(code, []).append(value)
    return _chosen(is_one_of, list(by_code.items()), otherwise)


def _chosen(is_one_of: Callable[[Sequence[Any]], Any], groups: list[tuple[int, list[Any]]], otherwise: Any) -> Any:
    """Halves of long lists are told apart first, so that few comparisons are made for each value."""
    if not groups:
        return otherwise
    if len(groups) <= _LEAF:
        return ibis.cases(*((is_one_of(values), ibis.literal(code).cast("int32")) for code, values in groups), else_=otherwise)
    half = len(groups) // 2
    first = [value for _, values in groups[:half] for value in values]
    return ibis.cases(
        (is_one_of(first), _chosen(is_one_of, groups[:half], otherwise)), else_=_chosen(is_one_of, groups[half:], otherwise)
    )
