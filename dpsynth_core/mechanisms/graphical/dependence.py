"""The mean dependence of all pairs of columns: one number with little noise, from noisy distances of all pairs.

The mean over many pairs is cheap: k distances cost as much as one with noise sqrt(k) times as large, and their mean has that noise divided
by sqrt(k). The apparent dependence of independent columns, from their noise and from drawing people, is subtracted.
"""

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
"""Largest standard deviation that is asked for, as a share of the people, and the largest share of the budget for it."""
NOISY = 0.005
"""Noise of columns from which on chance cannot be told from noise; dependence then counts as zero."""


def noise_in(cells: NDArray[np.float64], deviation: float) -> float:
    """Return the expected L1 error that noise causes in a model's cells, in counts.

    The error of a cell is at most its count, as models have no negative counts.

    Args:
        cells: Counts of the cells, of any shape.
        deviation: Standard deviation of the noise of each cell, in counts.
    """
    return float(np.minimum(HALF_NORMAL * deviation, cells.clip(0)).sum())


def gap(
    kernel: Kernel, pairs: Sequence[Clique], model: GraphicalModel, columns: Sequence[Measurement], believed: Columns, noise: float
) -> tuple[float, float]:
    """Measure the mean dependence of pairs of columns.

    It is the mean share of people that are in a wrong cell of a pair if its columns are taken as
    independent. Dependence that noise or chance explains is subtracted. The question costs at most 2 % of the
    kernel's whole budget (`AT_MOST`).

    Args:
        kernel: The kernel, which is charged.
        pairs: The pairs, at least one.
        model: Model of the columns alone, in which they are independent.
        columns: The columns as measured.
        believed: The smoothed columns.
        noise: Noise of columns with the whole budget, as a share of the people; the question is
            asked twice as precisely, or to 1 % of the people (`DOUBT`) if that is more precise.

    Returns:
        The mean dependence, at least 0, and the standard deviation of its noise, both as shares of the
        people.
    """
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
