"""The meaning of a budget under its accountant: an attacker's best tests, and the promise in words and symbols.

In these functions, `slack` is the delta of steps that keep their promise except with a small probability.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy import attacker
from dpsynth_core.privacy.accountant import DISTANCE, GDP, Accountant, mu_of
from dpsynth_core.privacy.attacker import Curve, Reading

Float = NDArray[np.float64]


def power(accountant: Accountant, rho: float, fpr: Float, slack: float = 0.0) -> Float:
    """Return the largest true-positive rates of membership tests at these false-positive rates.

    Args:
        accountant: The accountant of the budget.
        rho: The budget, above 0 (for GDP, rho = mu^2 / 2).
        fpr: False-positive rates, from 0 to 1, shape (rates,).
        slack: The delta of steps whose guarantee fails with that probability.

    Returns:
        True-positive rates from 0 to 1, shape (rates,).

    Raises:
        ValueError: rho is not positive, or slack no probability below 1.
    """
    return attacker.gdp_power(mu_of(rho), fpr, slack + DISTANCE) if accountant is GDP else attacker.zcdp_power(rho, fpr, slack)


def least_rho(accountant: Accountant, fpr: Float, tpr: Float, slack: float = 0.0) -> Float:
    """Return the smallest rho at which `power` allows a membership test with these rates.

    An audit that passes an upper confidence bound for `fpr` and a lower one for `tpr` obtains a lower
    confidence bound for the true rho.

    Args:
        accountant: The accountant in which rho is expressed (for GDP, rho = mu^2 / 2).
        fpr: False-positive rates.
        tpr: True-positive rates, of the same shape.
        slack: Sum of the deltas of the charged steps, each the probability with which the step's
            guarantee may fail.

    Returns:
        One rho per pair of rates: 0 where `slack` alone explains the rates, and infinity where no
        finite rho allows them.
    """
    return attacker.gdp_least(fpr, tpr, slack + DISTANCE) ** 2 / 2 if accountant is GDP else attacker.zcdp_least(fpr, tpr, slack)


def reading(accountant: Accountant, rho: float, slack: float = 0.0) -> Reading:
    """Return the success rates of an attacker under a budget, as three numbers that describe it to a person (`Reading`).

    Each is an upper bound from 0 to 1: two shares of members identified, and a probability.

    Args:
        accountant: The accountant of the budget.
        rho: The budget, above 0 (for GDP, rho = mu^2 / 2).
        slack: The delta of steps whose guarantee fails with that probability.

    Raises:
        ValueError: rho is not positive, or slack no probability below 1.
    """
    return attacker.gdp_reading(mu_of(rho), slack + DISTANCE) if accountant is GDP else attacker.zcdp_reading(rho, slack)


@lru_cache(maxsize=32)
def tradeoff(accountant: Accountant, rho: float, slack: float = 0.0) -> Curve:
    """Return the trade-off curve of the best membership tests under a budget.

    Args:
        accountant: The accountant of the budget.
        rho: The budget, above 0 (for GDP, rho = mu^2 / 2).
        slack: The delta of steps whose guarantee fails with that probability.

    Returns:
        False-positive rates (`attacker.RATES`), and the largest true-positive rate at each; both ascend
        from 0 to 1. Both arrays are shared: do not write to them.

    Raises:
        ValueError: rho is not positive, or slack no probability below 1.
    """
    return attacker.RATES, power(accountant, rho, attacker.RATES, slack)


def title(accountant: Accountant) -> str:
    """Return the English name of the privacy definition under which an accountant adds up costs."""
    return "Gaussian differential privacy" if accountant is GDP else "zero-concentrated differential privacy"


def conversion(accountant: Accountant) -> str:
    """Return a clause, without a capital or a full stop, that cites how an accountant converts rho to (epsilon, delta)."""
    if accountant is GDP:
        kept = "a 1024th of delta is kept because noise is in whole numbers and theirs is continuous"
        return f"converted as in Dong, Roth and Su 2022; {kept}"
    return "converted as in Canonne, Kamath and Steinke 2020"


def stated(accountant: Accountant, rho: float) -> str:
    """Return a budget as text with six significant digits: "rho = ...", under GDP "mu = ... (rho = mu^2/2 = ...)"."""
    return f"mu = {mu_of(rho):.6g} (rho = mu^2/2 = {rho:.6g})" if accountant is GDP else f"rho = {rho:.6g}"


def symbols(accountant: Accountant, weight: str) -> str:
    """Return the guarantee of a budget as a formula for the output distributions M(D) and M(D′).

    Args:
        accountant: The accountant.
        weight: Symbols for the weight of the parts that steps with a delta of their own may leave
            out; "" for no such steps.
    """
    if accountant is GDP:
        except_for = f", and for parts of weight {weight}" if weight else ""
        return (
            "T( M(D), M(D′) )(α) ≥ Φ( Φ⁻¹(1 − α) − μ )   for all D ~ D′ and all levels α, T being the least error of the second kind; "
            f"but for 2⁻⁷² of total variation, as noise is in whole numbers{except_for};   μ = √(2ρ)"
        )
    except_for = f", but for parts of weight {weight} (approximate zCDP)" if weight else ""
    return f"D_α( M(D) ‖ M(D′) ) ≤ α ρ   for all D ~ D′ and all α > 1{except_for};   D_α: Rényi divergence of order α"
