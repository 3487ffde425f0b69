"""Test whether a model fits the noisy tables that it was made from, to find a fit that ended too early or was impossible.

A sound model differs from its measurements by noise alone. The squared differences, in units of the noise, add up to a chi-square number
with as many degrees of freedom as there are cells, or to less, because a fit follows some of the noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtri

from dpsynth_core.mechanisms.steps import Model
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Measurement

MISFITS = "misfits"
"""The part of a release's details that names the tables."""
UNSEEN = "unmeasured_columns"
"""The part of a release's details that names columns whose values no measured table has."""
FALSE_ALARM = 1e-6
"""The probability of an alarm about any table of a model that has the true answers."""
MATERIAL = 0.05
"""The share of the people that an alarm needs in a wrong cell, beside those whom noise explains: models leave out rare values by design."""


def misfits(domain: Domain, model: Model, measurements: Sequence[Measurement], total: float) -> list[str]:
    """Return the labels of the measured tables that a model does not fit, each once; [] if it fits all.

    A table is a misfit if a chi-square test rejects the model's answer at level 1e-6 (`FALSE_ALARM`)
    divided by the number of tables, and if the part of the distance that noise does not explain
    exceeds 5 % of the people (`MATERIAL`). Impossible cells (structural zeros) and tables that the model cannot
    answer are left out.

    Args:
        domain: The domain of the tables.
        model: The fitted model, which answers in counts of records.
        measurements: All measurements; those with correlated noise are not tested.
        total: The number of records.
    """
    tables = [one for one in measurements if one.clique and one.spread is None]
    return list(dict.fromkeys(label(one.clique) for one in tables if _is_misfit(domain, model, one, FALSE_ALARM / len(tables), total)))


def unseen(domain: Domain, model: Model, measurements: Sequence[Measurement]) -> list[str]:
    """Return the columns that are in no measured table and for which the model is uniform.

    The list is empty where no table was measured at all.

    Args:
        domain: The domain of the tables.
        model: The fitted model, which answers in counts of records.
        measurements: All measurements.
    """
    measured = {name for one in measurements for name in one.clique}
    return [name for name in domain.names if name not in measured and _is_uniform(model, name)] if measured else []


def _is_uniform(model: Model, name: str) -> bool:
    """Return whether the model gives all cells of a column (at least two) the same count."""
    try:
        values = model.marginal((name,))
    except KeyError:  # the model does not answer this column
        return False
    return len(values) > 1 and bool(np.allclose(values, values.mean(), rtol=1e-6))


def _is_misfit(domain: Domain, model: Model, measured: Measurement, false_alarm: float, total: float) -> bool:
    """Return whether the model's table differs from one measurement by much more than its noise.

    Args:
        domain: The domain of the tables.
        model: The fitted model, which answers in counts of records.
        measured: A measurement with independent noise.
        false_alarm: Level of the chi-square test for this table.
        total: The number of records.
    """
    try:
        off = (model.marginal(measured.clique) - measured.values) / measured.deviation
    except KeyError:  # the model does not answer this table
        return False
    impossible = domain.impossible_cells(measured.clique)
    off = off.reshape(-1) if impossible is None else off[~impossible]
    unexplained = measured.deviation * (float(np.abs(off).sum()) - HALF_NORMAL * off.size) / (2 * total)
    return unexplained > MATERIAL and float(off @ off) > float(chdtri(off.size, false_alarm))
