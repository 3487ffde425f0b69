"""Values for columns whose values a plan leaves to be learnt: those that a release has learnt, else invented ones.

Both are public. Trials spend nothing on learning, so something must stand where the plan will learn.
"""

from __future__ import annotations

from dataclasses import replace

from dpsynth_core.mechanisms.discovery import numbers
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

INVENTED = 8
"""Number of values that are invented for a column, besides cells for other and missing values."""


def in_place(domain: Domain, released: Domain | None = None) -> tuple[Domain, tuple[str, ...]]:
    """Return a domain with values in place of those to be learnt.

    Args:
        domain: The domain of a plan.
        released: The domain of a release, whose values are taken for columns of the same name and
            kind; None without one.

    Returns:
        The domain, and the names of the columns whose values are invented; () if none are.

    Raises:
        InputError: A rule of the domain does not go with the values.
    """
    known = {} if released is None else {attribute.name: attribute for attribute in released if not attribute.most}
    taken = {column.name: known[column.name] for column in domain.unknown if _is_of(known.get(column.name), column)}
    made = {column.name: invented(column) for column in domain.unknown if column.name not in taken}
    return domain.completed((taken | made).values()), tuple(made)


def _is_of(learnt: Attribute | None, unknown: Attribute) -> bool:
    """Return whether there is a learnt column, and its values are of the kind that is to be learnt."""
    if learnt is None:
        return False
    return (learnt.kind, learnt.precision, learnt.hierarchy) == (unknown.kind, unknown.precision, unknown.hierarchy)


def invented(unknown: Attribute) -> Attribute:
    """Return a column whose values are to be learnt with 8 invented ones, or as many as it may have.

    Texts also get a cell for other values and one for missing values. Numbers and dates get neighbouring cells of the grid with which
    learning begins, and a cell for missing values.

    Args:
        unknown: The column.
    """
    if unknown.is_number:
        edges = numbers.grid(unknown)
        first, count = len(edges) // 2, min(INVENTED, unknown.most - 1)
        return numbers.cells(unknown, edges[first : first + count + 1])
    count = min(INVENTED, unknown.most - 2)
    level = 0 if unknown.hierarchy is None else unknown.hierarchy.level
    texts = (f"{number:0{level}d}" if level else f"value {number}" for number in range(1, count + 1))
    return replace(unknown, most=0, categories=tuple(texts), other=True, missing=True)
