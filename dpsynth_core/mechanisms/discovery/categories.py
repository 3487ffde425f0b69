"""The categories of a column from the noisy counts of its texts. Post-processing of `Kernel.discover_values`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.keys import MISSING, PUBLIC


def column(unknown: Attribute, noisy: Mapping[str, int], sigma: float) -> Attribute:
    """What was found, in alphabetical order, with a cell for all other values.

    Where more was found than the column may have cells, the texts with the largest noisy counts are kept and the rest is merged into
    "other": the rule looks at noisy counts only. Empty values have a cell if their noisy number is more than twice the noise, or if the
    column would have no second cell without one; or else they go to "other".
    """
    found = sorted((text for text in noisy if text not in PUBLIC), key=lambda text: (-noisy[text], text))[: unknown.most - 2]
    missing = noisy[MISSING] > 2 * sigma or not found
    return replace(unknown, most=0, categories=tuple(sorted(found)), other=True, missing=missing)
