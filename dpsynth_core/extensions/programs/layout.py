"""The form of a column in a file of rows, for programs: the type of its texts, its values with labels, and the cell of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import FIRST, MEMBERS, name
from dpsynth_core.vocabulary.attribute import TYPED, Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.filled import MOST_ROWS, Calibrated, RowColumn
from dpsynth_core.vocabulary.kinds.registry import KINDS

TEXT, NUMBER, TRUTH, DAY, MOMENT, CLOCK = "text", "number", "truth", "day", "moment", "clock"
"""Types of a column's texts in CSV. CLOCK are times of day and durations, such as 13:45:00."""
_TYPES = {"string": TEXT, "int64": NUMBER, "float64": NUMBER, "bool": TRUTH, "date": DAY, "timestamp": MOMENT}


@dataclass(frozen=True)
class Table:
    """A file of rows.

    Attributes:
        file: Name of the file.
        further: Names of further files with rows of the same columns, drawn from the same model.
        domain: The columns of the file.
        weight: Name of the column with survey weights; "" without one.
    """

    file: str
    further: tuple[str, ...]
    domain: Domain
    weight: str = ""

    @property
    def columns(self) -> tuple[RowColumn, ...]:
        """The columns of the file, in order."""
        return self.domain.columns


@dataclass(frozen=True)
class Value:
    """A listed value of a column.

    Attributes:
        value: The value: a text, a number or a truth value.
        label: Its label, which is the value as text if it has no other.
        labelled: Whether the domain states a label.
    """

    value: str | float | int | bool
    label: str
    labelled: bool


def tables(release: Release) -> Iterator[Table]:
    """Yield the files of rows of a release that have different columns: one, or two for linked tables."""
    further = tuple(name(number) for number in range(2, 2 + len(release.further)))
    for file, domain, others in (
        (FIRST, release.plan.row_domain, further),
        *([(MEMBERS, release.plan.member_domain, ())] if release.members is not None else []),
    ):
        yield Table(file, others, domain, next((one.name for one in domain.filled if isinstance(one, Calibrated)), ""))


def type_of(column: RowColumn) -> str:
    """Return the type of a column's texts in CSV: "text", "number", "truth", "day", "moment" or "clock" (times of day and durations)."""
    return _TYPES.get(column.dtype, CLOCK)


def values(column: RowColumn) -> tuple[Value, ...]:
    """Return the listed values of a column in the order of its cells; () for a column without a list.

    A column of codes without a list of its own has its codes, from 0. The value for undeclared values is not
    among them.
    """
    if not isinstance(column, Attribute):
        return ()
    if column.is_coded:
        return tuple(Value(code, str(code), False) for code in range(column.values))
    if not column.is_listed:
        return ()
    labels = column.labels or column.categories
    return tuple(
        Value(TYPED[column.dtype](category), label, bool(column.labels)) for category, label in zip(column.categories, labels, strict=True)
    )


def other(column: RowColumn) -> str:
    """Return the text that rows have in place of undeclared values; "" if they have none."""
    return column.other_text if isinstance(column, Attribute) and column.is_listed and column.other and column.dtype == "string" else ""


def empty_code(column: Attribute) -> int | None:
    """Return the code of the cell that empty values of rows belong to; None if no cell is written as empty."""
    if column.missing_code is not None:
        return column.missing_code
    return column.other_code if column.dtype != "string" or not column.is_listed else None


def is_ordered(column: RowColumn) -> bool:
    """Return whether the listed values of a column have an order; False for a column that the plan does not declare, such as a key."""
    return isinstance(column, Attribute) and bool(KINDS[column.kind].ordered)


def shown(column: RowColumn) -> str:
    """Return the description of a column for people, without invisible characters: its label, or its name."""
    return visible(column.label or column.name)


def longest(column: RowColumn) -> int:
    """Return how many bytes of UTF-8 the texts of a column take at most, at least 1.

    Only listed values, the text for undeclared values, and the texts of filled columns such as keys count:
    for a column of numbers in bins the result is 1.
    """
    if isinstance(column, Attribute):
        texts = [str(one.value) for one in values(column)]
    else:
        texts = [column.text, *map(str, column.values(1, MOST_ROWS - 1))]
    return max(len(text.encode("utf-8", "replace")) for text in [*texts, other(column), "x"])


def user_missing(column: RowColumn) -> frozenset[str | float | int | bool]:
    """Return the listed values of a column that stand for a missing answer, such as 9 for "refused"; an empty set without any."""
    missing = column.user_missing if isinstance(column, Attribute) else ()
    return frozenset(TYPED[column.dtype](value) for value in missing)
