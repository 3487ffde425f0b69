"""An epsilon so large that it promises little: allowed, for a reason that a person gives in writing and that is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsynth_core.foundation import reasons
from dpsynth_core.privacy.budget import WEAK_EPSILON

if TYPE_CHECKING:
    from dpsynth_core.planning.spec import BudgetSpec

FIELD = "budget.reason"


def is_weak(epsilon: float) -> bool:
    """Return whether an epsilon is so large (above 10, `WEAK_EPSILON`) that the plan needs a written reason."""
    return epsilon > WEAK_EPSILON


def check(budget: BudgetSpec) -> None:
    """Check that a budget with a weak epsilon states a reason.

    Raises:
        InputError: Epsilon is above 10 (`WEAK_EPSILON`), and the reason has fewer than 3 different words.
    """
    if is_weak(budget.epsilon):
        reasons.check_reason(FIELD, budget.reason, f"why an epsilon above {WEAK_EPSILON:g} is right for these people")


def sentence(budget: BudgetSpec) -> str:
    """Return a sentence that quotes the curator's reason for a weak epsilon; "" if epsilon is not weak or no reason is stated."""
    reason = budget.reason.strip()
    return f"The curator's reason for an epsilon above {WEAK_EPSILON:g}: “{reason}”" if reason and is_weak(budget.epsilon) else ""
