"""Renewal of a plan for next year's table of the same columns, and the changes in the table's structure.

This module knows names of columns and values that a file itself declares, but no record and no count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsynth_core.foundation.visible import listed, visible
from dpsynth_core.planning.spec import Spec, TableSpec
from dpsynth_core.vocabulary.domain import Domain

_NAMED = 8


@dataclass(frozen=True)
class Values:
    """The differences between the values that a file declares for a column and the plan's.

    Attributes:
        column: The column.
        new: Values that the file declares and the plan lacks.
        gone: Values of the plan that the file does not declare.
    """

    column: str
    new: tuple[str, ...]
    gone: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """The differences between the columns of a plan and of another table.

    Attributes:
        missing: Columns of the plan that the table lacks.
        extra: Columns of the table that the plan does not name.
        values: Differences of values, for columns whose values the table's file declares.
    """

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    values: tuple[Values, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Sentences on the changes: one each on missing and on further columns, and on each column with other values.

        If no column is missing or new, a sentence says so. Of more than eight names, eight are quoted and the
        others are counted. Names of columns and values are hostile text.
        """
        said = []
        if self.missing:
            said.append(f"The plan has columns that this table lacks: {_some(self.missing)}.")
        if self.extra:
            said.append(f"This table has columns that the plan does not name: {_some(self.extra)}. They are left out.")
        if not said:
            said.append("The table has the columns of the plan, and no others.")
        for one in self.values:
            new = f" {_some(one.new)}, which the plan does not have" if one.new else ""
            gone = f" no longer {_some(one.gone)}" if one.gone else ""
            said.append(f"Of {_some([one.column])} the file declares{new}{' and' if new and gone else ''}{gone}.")
        return said


def changes(domain: Domain, columns: Sequence[str], declared: Mapping[str, Collection[str]], unreleased: Collection[str] = ()) -> Changes:
    """Return the differences in columns and values between a plan and another table. No record is read.

    Values are compared for columns that the plan lists value by value and the file declares.

    Args:
        domain: The plan's domain.
        columns: Columns of the table.
        declared: Values by column, as far as the table's file itself declares them.
        unreleased: Columns that the plan uses and does not release, such as the column of persons.
    """
    stated = [attribute for attribute in domain if attribute.name in declared and attribute.is_listed]
    values = (
        Values(one.name, _without(tuple(declared[one.name]), one.categories), _without(one.categories, declared[one.name]))
        for one in stated
    )
    return Changes(
        _without((*domain.names, *unreleased), columns),
        _without(tuple(columns), {*domain.names, *unreleased}),
        tuple(one for one in values if one.new or one.gone),
    )


def renewed(spec: Spec, data: Mapping[str, Any], name: str) -> Spec:
    """Return the same plan for another table, which takes the place of both where one table is named as two linked ones.

    Args:
        spec: The plan.
        data: The section "data" for the other table.
        name: Name of the new plan.

    Raises:
        InputError: A field of the new document is wrong (`Spec.from_json`).
    """
    before = spec.model_dump(mode="json")
    if spec.members is not None:
        named = {field: value for field, value in data.items() if field in TableSpec.model_fields}
        before["members"] = {**named, "domain": spec.members.domain, "rules": spec.members.rules}
    return Spec.from_json({**before, "data": dict(data), "name": name})


def given_reasons(spec: Spec) -> list[str]:
    """Return the names of the stated fields about the former table or its people, such as "budget.reason"; [] if none is stated.

    These statements must be true of the next table too.
    """
    reasons = {
        "domain_justification": spec.domain_justification,
        "other_copies": spec.other_copies,
        "published_tables": spec.published_tables,
        "budget.reason": spec.budget.reason,
        "about": spec.about,
    }
    return [name for name, text in reasons.items() if text]


def _without(names: Collection[str], others: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in others)


def _some(names: Sequence[str]) -> str:
    """Return the first `_NAMED` names in quotation marks, with a note of how many more there are."""
    return listed([f"“{visible(name)}”" for name in names], _NAMED)
