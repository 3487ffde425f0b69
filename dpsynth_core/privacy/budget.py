"""Checks of a budget: which budgets are usable, and which deserve a warning."""

from __future__ import annotations

import math

import numpy as np

from dpsynth_core.foundation.errors import InputError

MIN_EPSILON, MAX_EPSILON = 1e-6, 1000.0
MIN_DELTA, MAX_DELTA = 1e-300, 1e-3
WEAK_EPSILON = 10.0


def check_budget(epsilon: object, delta: object, public_n: int | None = None) -> list[str]:
    """Check that (epsilon, delta) is usable, and return warnings in words about a weak guarantee.

    Args:
        epsilon: Epsilon as given.
        delta: Delta as given.
        public_n: A public, declared or noisy number of people; never the exact count under
            add-remove. None for an unknown number, without a warning about it.

    Returns:
        One English sentence or two per warning: for a delta of 1 / public_n or more, and for an epsilon
        above 10. The list is empty for a strong guarantee.

    Raises:
        InputError: A value is not a number, epsilon is outside 1e-6 to 1000, or delta is below 1e-300
            or from 0.001 up.
    """
    eps = _read_number("budget.epsilon", epsilon, "1")
    dlt = _read_number("budget.delta", delta, "1e-9")
    if not MIN_EPSILON <= eps <= MAX_EPSILON:
        raise InputError("budget.epsilon", f"{eps:g} is outside {MIN_EPSILON:g} to {MAX_EPSILON:g}", "choose a value such as 1")
    if dlt >= MAX_DELTA:
        raise InputError(
            "budget.delta",
            f"{dlt:g} is {MAX_DELTA:g} or more, which would allow whole records to be published",
            "choose a value far below 1 in the number of people, such as 1e-9",
        )
    if dlt < MIN_DELTA:
        raise InputError("budget.delta", f"{dlt:g} is below {MIN_DELTA:g}", "choose a positive value such as 1e-9")
    warnings = []
    if public_n is not None and public_n > 0 and dlt >= 1 / public_n:
        warnings.append(f"delta {dlt:g} {_too_large(public_n)}. Choose a delta at least a hundred times smaller.")
    if eps > WEAK_EPSILON:
        warnings.append(f"epsilon {eps:g} is a weak promise: values above {WEAK_EPSILON:g} need a reason in writing.")
    return warnings


def check_delta(delta: float, people: float) -> None:
    """Check, before a run when another delta can still be chosen, that delta is below 1 / people.

    Args:
        delta: Delta of the budget.
        people: Number of people, above 0: public, declared or noisy.

    Raises:
        InputError: delta is 1 / people or more.
    """
    if delta >= 1 / people:
        raise InputError("budget.delta", f"{delta:g} {_too_large(people)}", "choose a delta at least a hundred times smaller, such as 1e-9")


def _too_large(people: float) -> str:
    one = f"{1 / people:.2g}"
    return f"is not below 1 in the number of people ({one}): the guarantee would allow a method that publishes a random person's record"


def _read_number(field: str, value: object, example: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(float(value)):
        raise InputError(field, f"{str(value)[:40]!r} is not a number", f"give a number such as {example}")
    return float(value)
