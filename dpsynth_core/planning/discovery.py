"""Sentences on plans that learn the values of columns with noise, for the curator before the run and for readers after it.

They follow from the plan alone, and are the same in both places.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpsynth_core.planning.plan import INSIDE, LEARNING, Plan

if TYPE_CHECKING:
    from dpsynth_core.mechanisms.discovery.learning import Portion


def sentences(plan: Plan) -> Iterator[str]:
    """Yield sentences on which columns' values are learnt, and at what cost (a share of the budget, and rho).

    They also state how many records must share a value for it to be found. Names are unescaped.
    Nothing is yielded if all values are declared.
    """
    if not plan.portions:
        return
    texts, numbers = ([p for p in plan.portions if bool(p.delta) == wanted] for wanted in (True, False))
    share, rho = plan.spec.budget.discovery, plan.shares.of(LEARNING)
    yield f"A share of {share:.3g} of the budget (rho = {rho:.6g}) learns the values of {_named(plan.portions)}, the same for each."
    if texts:
        rows = plan.unit.max_rows_per_person
        yield (
            f"Of {_named(texts)}: a value that {texts[0].shared_by(rows):,} records share is found 95 times of 100. It is published if its "
            f"noisy number of records is at least {texts[0].least(rows):,}; one that a single person has is, with a probability of "
            f"{texts[0].delta:.2g} at most. All other values go to “other”, and so do the least frequent ones of a column that would have "
            "more cells than the plan allows."
        )
    if numbers:
        yield (
            f"Of {_named(numbers)}: bounds and bins, from noisy counts (± {numbers[0].sigma:,.0f} records) of ever finer cells of a public "
            "grid. Values beyond the bounds go to the nearest bin."
        )


def of_inside(plan: Plan) -> str:
    """Return a sentence on the measurement of numbers inside their cells, or "" without such a measurement."""
    if not (rho := plan.shares.of(INSIDE)):
        return ""
    share = plan.spec.budget.inside
    return (
        f"A share of {share:.3g} of the budget (rho = {rho:.6g}) measured how the numbers of a column lie inside its bins: noisy counts of"
        " finer ones, from which rows draw."
    )


def price(portion: Portion, rows: int) -> str:
    """Return a sentence on how frequent a value must be to be learnt, or on the noise of learnt bounds and groups, in people or records.

    Args:
        portion: The budget portion of the column.
        rows: Largest number of rows per person.
    """
    records = "people" if rows == 1 else "records"
    if (shared_by := portion.shared_by(rows)) is not None:
        return f"A value must be shared by about {shared_by:,} {records} to be found; all rarer ones go to “other”."
    return f"Bounds and groups come from counts of ever finer cells, each with noise of ± {portion.sigma:,.0f} {records}."


def of_column(plan: Plan, name: str) -> str:
    """Return a sentence on how the values of the column `name` were learnt; "" if they were declared."""
    for portion in plan.portions:
        if portion.column.name == name:
            least = portion.least(plan.unit.max_rows_per_person)
            if least is None:
                return f"Its bounds and bins were learnt from counts with noise of ± {portion.sigma:,.0f} records."
            return f"Its values were learnt with noise of ± {portion.sigma:,.0f} records: those whose noisy count reached {least:,}."
    return ""


def _named(portions: tuple[Portion, ...] | list[Portion]) -> str:
    return ", ".join(f"“{portion.column.name}”" for portion in portions)
