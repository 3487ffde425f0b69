"""What models see of the columns: numbers for trees, and numbers for linear models, each a function of a column's code.

Made from synthetic rows and the domain alone. A column's table has one row for each of its codes, so that whatever a model makes of
it is again a function of the code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import Attribute

MOST_GROUPS = 255
"""Values of one column that trees tell apart at most, as scikit-learn's histograms do."""
MOST_INDICATORS = 64
"""Values of one column that have a coefficient each in a linear model; rarer ones share one."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """A column as trees see it. groups: of each code, int64 of shape (size,). ranks: of each group, the number that is compared."""

    groups: NDArray[np.int64]
    ranks: NDArray[np.float64]


def ranked(attribute: Attribute, codes: NDArray[np.int32], outcomes: NDArray[np.float64]) -> Ranked:
    """Numbers and ordered values in their order, others ordered by how the outcomes differ between them.

    codes: of the column, shape (rows,). outcomes: shape (rows, outputs): what is to be predicted, as a number or one indicator a class.
    """
    groups = _groups(attribute, codes, MOST_GROUPS)
    number = int(groups.max()) + 1
    if _in_order(attribute):
        return Ranked(groups, np.arange(number, dtype=np.float64))
    weight = np.bincount(groups[codes], minlength=number).astype(np.float64)
    sums = np.stack([np.bincount(groups[codes], weights=column, minlength=number) for column in outcomes.T], axis=1)
    means = np.divide(sums, weight[:, None], out=np.tile(outcomes.mean(axis=0), (number, 1)), where=weight[:, None] > 0)
    order = np.lexsort((np.arange(number), _along(means - outcomes.mean(axis=0), weight)))
    ranks = np.empty(number)
    ranks[order] = np.arange(number)
    return Ranked(groups, ranks)


def _along(differences: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each group's place in the direction in which the groups' mean outcomes differ most."""
    _, _, directions = np.linalg.svd(differences * np.sqrt(weight)[:, None], full_matrices=False)
    first = directions[0]
    return np.asarray(differences @ (first * np.sign(first[np.abs(first).argmax()])))


def indicators(attribute: Attribute, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """A column as linear models see it, shape (size, features): one indicator for each value, and of ordered values also their place."""
    groups = _most_frequent(attribute, codes, MOST_INDICATORS)
    table = np.eye(int(groups.max()) + 1)[groups]
    if not _in_order(attribute) or attribute.values < 2:
        return table
    place = np.zeros(attribute.size)
    place[: attribute.values] = np.linspace(-1, 1, attribute.values)
    return np.column_stack([table, place])


def _in_order(attribute: Attribute) -> bool:
    """Whether the order of its codes means something."""
    return attribute.about.ordered and not attribute.is_coded


def _groups(attribute: Attribute, codes: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """The group of each code: neighbours together where values are in order, rare ones together elsewhere."""
    if _in_order(attribute):
        return np.arange(attribute.size, dtype=np.int64) * min(most, attribute.size) // attribute.size
    return _most_frequent(attribute, codes, most)


def _most_frequent(attribute: Attribute, codes: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    if attribute.size <= most:
        return np.arange(attribute.size, dtype=np.int64)
    often = np.argsort(-np.bincount(codes, minlength=attribute.size), kind="stable")
    groups = np.full(attribute.size, most - 1, dtype=np.int64)
    groups[often[: most - 1]] = np.arange(most - 1)
    return groups
