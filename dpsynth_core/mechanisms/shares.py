"""How a budget is best divided between marginals that are all measured: in closed form, from public sizes and weights alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

Division = Callable[[Domain, Mapping[Clique, float]], dict[Clique, float]]
"""Each marginal's share of rho, from the domain and the weights c_r; they add up to 1."""


def equal_shares(_domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """The same for all: one sigma."""
    return dict.fromkeys(weights, 1 / len(weights))


def least_error_shares(domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """Each marginal's share of rho, proportional to (c_r n_r)^(2/3); they add up to 1. Minimises sum c_r n_r sigma_r, the expected weighted
    L1 error up to a constant, subject to sum 1/sigma_r^2 being fixed: the derivative is zero where c_r n_r is proportional to
    1/sigma_r^3."""
    raw = {clique: (weight * domain.cells(clique)) ** (2 / 3) for clique, weight in weights.items()}
    whole = math.fsum(raw.values())
    return {clique: part / whole for clique, part in raw.items()}
