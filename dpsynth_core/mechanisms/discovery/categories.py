"""The categories of a column from the noisy counts of its texts. Post-processing of `Kernel.discover_values`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.keys import MISSING, PUBLIC
from dpsynth_core.vocabulary.measurement import ROUNDING, MarginalCounts


def column(unknown: Attribute, noisy: Mapping[str, int], sigma: float) -> Attribute:
    """What was found, in alphabetical order, with a cell for all other values.

    Where more was found than the column may have cells, the texts with the largest noisy counts are kept and the rest is merged into
    "other": the rule looks at noisy counts only. Empty values have a cell if their noisy number is more than twice the noise, or if the
    column would have no second cell without one; or else they go to "other".
    """
    frequent = sorted((text for text in noisy if text not in PUBLIC), key=lambda text: (-noisy[text], text))[: unknown.most - 2]
    missing = noisy[MISSING] > 2 * sigma or not frequent
    return replace(unknown, most=0, categories=tuple(sorted(frequent)), other=True, missing=missing)


def counts(learnt: Attribute, noisy: Mapping[str, int], sigma: float) -> MarginalCounts:
    """What the noisy counts say of the cells of the column: nothing of "other", where texts are that were not said. Of a text near the
    threshold they say a little too much, for it was found because its noise was high; far less than the noise."""
    variance = sigma**2 + ROUNDING
    noisy_cells = [(float(noisy[text]), variance) for text in learnt.categories]
    noisy_cells += [(0.0, math.inf), *([(float(noisy[MISSING]), variance)] if learnt.missing else [])]
    return MarginalCounts((learnt.name,), *np.array(noisy_cells).T)
