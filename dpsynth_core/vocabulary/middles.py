"""The number that stands for each cell of a column of bins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import Attribute


def middles(attribute: Attribute) -> NDArray[np.float64]:
    """The middle of each bin, shape (size,); NaN for the cells behind them, which have no number."""
    edges = np.array(attribute.edges, dtype=np.float64)
    return behind((edges[:-1] + edges[1:] - attribute.scale.whole) / 2, attribute)


def behind(values: NDArray[np.float64], attribute: Attribute) -> NDArray[np.float64]:
    """These numbers of a column's values, and NaN for other and missing ones: shape (size,)."""
    return np.concatenate([values, np.full(attribute.size - attribute.values, np.nan)])


def one_value_each(attribute: Attribute) -> bool:
    """Whether no bin holds more than one value, so that its middle is that value."""
    return all(high <= attribute.scale.beyond(low) for low, high in pairwise(attribute.edges))
