"""Checks of a plan that keeps rows of a person in order."""

from __future__ import annotations

from dpsynth_core.extensions.sequences.keepable import can_hold
from dpsynth_core.extensions.sequences.layout import ANY, DATES, FILE_ORDER, NUMBERS, TEXTS, SequenceLink
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import TableSpec
from dpsynth_core.vocabulary.names import column_field


def check(plan: Plan) -> None:
    """Check that the settings about rows in order fit each other and the plan.

    Args:
        plan: A plan whose spec states `order`, `constant` or `gap`.

    Raises:
        InputError: One is stated without what it needs, or the plan has parts that do not go with rows in order.
    """
    spec, stated = plan.spec, plan.spec.extensions
    if plan.link is None or spec.members is None or "order" not in stated:
        name = next(name for name in ("order", "constant", "gap", "order_as") if name in stated)
        problem = "it is of rows that belong to a person in an order"
        raise InputError(f"extensions.{name}", problem, "name the person column, and the order with it")
    if spec.unit.max_rows_per_person == 1:
        raise InputError("unit.max_rows_per_person", "of one row of a person there is no order", "give a number from 2 to 10")
    if spec.weight is not None:
        raise InputError("weight", "rows of a person in order do not go with it yet", "leave it out")
    fields = {*TableSpec.model_fields}
    if "constant" in stated and spec.data.model_dump(include=fields) != spec.members.model_dump(include=fields):
        problem = "it is of one table, and two are named: columns of the first are the same in all rows of a person"
        raise InputError("extensions.constant", problem, "leave it out")
    order, gap = _one(plan, "order"), _one(plan, "gap")
    _check_reading(plan, order, _one(plan, "order_as"), gap)
    if gap and order == FILE_ORDER:
        raise InputError("extensions.gap", "file order says nothing about time", "name a column of dates or numbers as the order")
    for own in (*plan.link.households.names, *plan.link.members.names):
        if own.endswith(" before"):
            problem = "names that end in “before” are of the row before, here and in what is published"
            raise InputError(column_field(own), problem, "rename it in the table and in its domain")
    if (
        spec.members.rules
        and isinstance(plan.link, SequenceLink)
        and not any(can_hold(plan.link, size) for size in range(1, plan.link.most + 1))
    ):
        problem = f"nobody with rows can keep all of them, whether of one row or of up to {plan.link.most}"
        raise InputError("members.rules", problem, "leave one of them out; they hold from a person's first row to the last one")
    if order == spec.unit.person_column:
        raise InputError("extensions.order", "it tells people apart, and is the same in all rows of a person", "name another column")


def _check_reading(plan: Plan, order: str, read_as: str, gap: str) -> None:
    """Check how the values of the order are read. No value of the table is looked at.

    Raises:
        InputError: The way is unknown, or rows have the order of their file; a gap is asked for between texts; or the domain lists the
            texts of the column, and the plan does not state how to read them.
    """
    if read_as and read_as not in (ANY, NUMBERS, DATES, TEXTS):
        raise InputError("extensions.order_as", f"{shown(read_as)} is not known", f"state {NUMBERS}, {DATES}, {TEXTS} or {ANY}")
    if read_as and order == FILE_ORDER:
        raise InputError("extensions.order_as", "the order of the file has no values", "leave it out, or name a column as the order")
    if gap and read_as == TEXTS:
        raise InputError("extensions.gap", "texts are no time apart", f"state {DATES} or {NUMBERS} as order_as, or leave the gap out")
    members = plan.link.members if plan.link is not None else ()
    if not read_as and any(one.name == order and one.categories and not one.is_number for one in members):
        problem = "its domain lists texts, and rows cannot be sorted without knowing as what they are read"
        raise InputError("extensions.order_as", problem, f"state {NUMBERS}, {DATES} or {TEXTS} (by letters)")


def _one(plan: Plan, name: str) -> str:
    texts = plan.spec.extensions.get(name)
    return texts[0] if isinstance(texts, list) else ""
