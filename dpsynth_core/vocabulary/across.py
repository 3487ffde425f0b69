"""Rules that hold in every household of two linked tables: public knowledge, like the rules of one table (`zeros`).

They speak of the columns of both tables, of the number of `members` and of columns `of another` member; what holds of two members holds in
both orders. To the forms of rules of one table, but for orders of columns, come numbers of members:

    {"members_with": {"role": ["head"]}, "exactly": 1}      so many members of each household, or all where it has fewer
    {"members_with": {"work": ["full", "part"]}, "at_most": 2}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.order import FIELD
from dpsynth_core.vocabulary.recoding import other_is_missing
from dpsynth_core.vocabulary.zeros import StructuralZeros, cells_sealed, checked, from_json

MEMBERS_WITH = "members_with"


@dataclass(frozen=True)
class Number:
    """The rule that a household has a number of members with one of some codes of a column.

    Attributes:
        column: The column of members.
        codes: The codes that are counted, from 0.
        most: The largest number; with `exactly` the number itself, or the size of a smaller
            household.
        exactly: Whether the number must be reached.
    """

    column: str
    codes: tuple[int, ...]
    most: int
    exactly: bool

    def bounds(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the smallest and the largest number of members with such a code that a household may have, both inclusive.

        Args:
            sizes: Number of members of each household, shape (households,).

        Returns:
            Two arrays of shape (households,).
        """
        most = np.minimum(sizes, self.most)
        return (most if self.exactly else np.zeros_like(most)), most

    def broken(self, sizes: NDArray[np.int64], codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return, for each household, how many members with such a code are too many or too few; 0 if it keeps the rule.

        Args:
            sizes: Number of members of each household, shape (households,).
            codes: Codes of the column, shape (households, places); places beyond a household's size
                are ignored.
        """
        held = (np.isin(codes, self.codes) & (np.arange(codes.shape[1]) < sizes[:, None])).sum(axis=1)
        least, most = self.bounds(sizes)
        return np.asarray(np.maximum(least - held, 0) + np.maximum(held - most, 0))


def read(
    rules: Sequence[object], attributes: Sequence[Attribute], members: Domain
) -> tuple[tuple[StructuralZeros, ...], tuple[Number, ...]]:
    """Return the rules about combinations and the rules about numbers of members, from their JSON.

    Args:
        rules: The rules as JSON.
        attributes: Columns that rules may name.
        members: Columns of members, whose values may be counted.

    Raises:
        InputError: A rule is invalid, or is an order of columns.
        CapacityError: The table of a rule has too many cells.
    """
    zeros, numbers = list[StructuralZeros](), list[Number]()
    for place, rule in enumerate(rules):
        field = f"members.rules {place + 1}"
        if isinstance(rule, Mapping) and MEMBERS_WITH in rule:
            numbers.append(_number(rule, members, field))
            continue
        try:
            zeros.append(from_json(rule, attributes, place))
            checked(zeros[-1:], attributes)
        except InputError as error:  # which counts the rules of one table
            raise type(error)(field if error.field.startswith(FIELD) else error.field, error.problem, error.remedy) from None
        if zeros[-1].order is not None:
            raise InputError(field, "two linked tables have no orders of columns", "write “never”, or “if” and “then”")
    return tuple(zeros), tuple(numbers)


def _number(rule: Mapping[str, Any], members: Domain, field: str) -> Number:
    kind = "exactly" if "exactly" in rule else "at_most"
    most = rule.get(kind)
    if set(rule) - {"note"} != {MEMBERS_WITH, kind} or type(most) is not int or most < 0:
        raise InputError(field, "it does not say how many", f"give “{MEMBERS_WITH}”, and a whole number for “exactly” or “at_most”")
    named = cells_sealed(members.attributes, rule[MEMBERS_WITH], field)
    if len(named) != 1:
        raise InputError(field, "it is of more than one column", "name one column of members")
    ((column, codes),) = named.items()
    of = members[column]
    if kind == "exactly" and most and other_is_missing(of) and of.other_code in codes and of.missing_code not in codes:
        problem = f"rows show “other” values of column {column!r} as empty, so that none could be counted in them"
        raise InputError(field, problem, "count “missing” with them, or leave “other” out")
    return Number(column, codes, most, kind == "exactly")
