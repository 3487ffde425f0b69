"""Checks of a plan that keeps rows of a person in order."""

from __future__ import annotations

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan


def check(plan: Plan) -> None:
    """Check that the settings about rows in order fit each other and the plan.

    Args:
        plan: A plan whose spec states `order`, `constant` or `gap`.

    Raises:
        InputError: One is stated without what it needs.
    """
    stated = plan.spec.extensions
    if plan.link is None or "order" not in stated:
        problem = "rows of a person are put in order where each person has several"
        raise InputError("extensions.order", problem, "name the person column, and the order with it")
    if "gap" in stated and plan.link is not None and getattr(plan.link, "order", None) is None:
        raise InputError("extensions.gap", "file order says nothing about time", "name a column of dates or numbers as the order")
