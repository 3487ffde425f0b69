"""How much columns depend on each other, all pairs together: one number with little noise, from noisy distances of all of them.

That the mean over many pairs is asked makes it cheap: k distances cost as much as one with noise sqrt(k) times as large, and the mean of
them has that noise divided by sqrt(k). What columns as measured, and people as drawn, would show of independent columns is taken off."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpsynth_core.inference.estimation import one_each
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.smoothing import Columns
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement

DOUBT, AT_MOST = 0.01, 0.02
"""The standard deviation that is asked for, a share of the people; the share of the budget that it may take."""


def gap(kernel: Kernel, pairs: Sequence[Clique], model: GraphicalModel, columns: Sequence[Measurement], believed: Columns) -> float:
    """The share of people in a wrong cell of a pair if its columns were independent, mean over the pairs, as far as neither noise nor
    chance explains it. model: of the columns alone. columns: as measured. believed: of them."""
    answers, people = model.marginals(pairs), model.total
    enough = (kernel.unit.marginal_l1 / (2 * people * DOUBT)) ** 2 / 2
    noisy = kernel.measure_errors(answers, distance_sigma(kernel.unit, min(AT_MOST * kernel.rho_total, enough), len(pairs)))
    chance = [HALF_NORMAL * np.minimum(np.sqrt(cells), cells).sum() for cells in (answer.clip(0) for answer in answers.values())]
    off = {m.clique: np.minimum(HALF_NORMAL * m.deviation, model.marginal(m.clique)).sum() for m in believed.instead(one_each(columns))}
    noise = [math.hypot(*(off.get((name,), 0.0) for name in pair)) for pair in pairs]  # none in published columns
    found = max(0.0, float(np.mean(list(noisy.values()))))
    return math.sqrt(max(0.0, found**2 - float(np.mean(chance)) ** 2 - float(np.mean(noise)) ** 2)) / (2 * people)
