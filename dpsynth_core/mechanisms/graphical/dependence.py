"""How much columns depend on each other, all pairs together: one number with little noise, from noisy distances of all of them.

That the mean over many pairs is asked makes it cheap: k distances cost as much as one with noise sqrt(k) times as large, and the mean of
them has that noise divided by sqrt(k). What columns as measured, and people as drawn, would show of independent columns is taken off."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.estimation import one_each
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.smoothing import Columns
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement

DOUBT, AT_MOST = 0.01, 0.02
"""The largest standard deviation that is asked for, a share of the people; the share of the budget that it may take."""
NOISY = 0.005
"""From this noise of columns on, what chance shows cannot be told from noise: it is no dependence then."""


def noise_in(cells: NDArray[np.float64], deviation: float) -> float:
    """The L1 error that noise makes in cells of these counts: no more in one than is in it, for models have no negative counts."""
    return float(np.minimum(HALF_NORMAL * deviation, cells.clip(0)).sum())


def gap(
    kernel: Kernel, pairs: Sequence[Clique], model: GraphicalModel, columns: Sequence[Measurement], believed: Columns, noise: float
) -> tuple[float, float]:
    """The share of people in a wrong cell of a pair if its columns were independent, mean over the pairs, as far as neither noise nor
    chance explains it, and the standard deviation of what was asked. model: of the columns alone. columns: as measured. believed: of them.
    noise: of columns with all of the budget, as a share of the people; it is asked twice as precisely."""
    answers, people = model.marginals(pairs), model.total
    doubt = min(DOUBT, noise / 2)
    rho = min(AT_MOST * kernel.rho_total, (kernel.unit.marginal_l1 / (2 * people * doubt)) ** 2 / 2)
    noisy = kernel.measure_errors(answers, distance_sigma(kernel.unit, rho, len(pairs)))
    chance = [HALF_NORMAL * np.minimum(np.sqrt(cells), cells).sum() for cells in (answer.clip(0) for answer in answers.values())]
    off = {m.clique: noise_in(model.marginal(m.clique), m.deviation) for m in believed.instead(one_each(columns))}
    of_columns = [math.hypot(*(off.get((name,), 0.0) for name in pair)) for pair in pairs]  # none in published columns
    found, unlearnt = max(0.0, float(np.mean(list(noisy.values())))), float(np.mean(chance)) * min(1.0, noise / NOISY)
    left = math.sqrt(max(0.0, found**2 - unlearnt**2 - float(np.mean(of_columns)) ** 2))
    return left / (2 * people), distance_sigma(kernel.unit, rho, 1) / (2 * people)
