"""By how much a junction tree grows at most when two attributes are joined: for all pairs of attributes at once.

A new edge between attributes a and b, a eliminated first, makes only the clusters on one path larger (`junction_tree.cells_with`). First
a's cluster takes in b. From then on two sets are carried: what is left of the cluster made last, and the other one; the cluster of the
next attribute in either takes in the other set, until it has all of it anyway. So what is still to come depends on two things only, the
attribute that is next and the set that its cluster takes in, and all pairs share the way from there. Knows nothing of data or privacy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def pair_growth(order: Sequence[int], clusters: Sequence[int], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Cells by which all clusters of an elimination together grow when two attributes are joined and the order stays; inf where no number
    holds them. Shape (attributes, attributes), symmetric.

    order, clusters: of the elimination, clusters as masks.
    """
    count = len(order)
    places = np.array(order, dtype=np.intp)
    inside = members(clusters, count)[:, places]  # from here on attributes are numbered as they are eliminated
    logarithms = np.log(np.array(sizes, dtype=np.float64))[places]
    alone = np.eye(count, dtype=bool)
    carried = np.concatenate([inside & ~alone, alone])  # what a cluster leaves behind; or an attribute that nothing has taken in yet
    first = np.where(carried.any(axis=1), carried.argmax(axis=1), count)
    with np.errstate(over="ignore", invalid="ignore"):
        cells = np.rint(np.exp(inside @ logarithms))
        taken_in = cells[:, None] * (np.rint(np.exp(~inside @ (carried * logarithms).T)) - 1)
    taken_in[np.isnan(taken_in)] = 0.0  # inf times what attributes of one value add
    complete = (~inside).astype(np.float32) @ carried.T.astype(np.float32) == 0
    growth = np.zeros((count + 1, 2 * count))
    for place in reversed(range(count)):
        after = np.where(first[place] <= first, growth[first[place]], growth[first, place])
        growth[place] = np.where(complete[place], 0.0, taken_in[place] + after)
    joined = np.triu(growth[:count, count:], 1)
    by_attribute = np.empty_like(joined)
    by_attribute[np.ix_(places, places)] = joined + joined.T
    return by_attribute


def members(masks: Sequence[int], count: int) -> NDArray[np.bool_]:
    """Which attributes each mask has, shape (masks, attributes)."""
    width = (count + 7) // 8
    packed = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
    return np.unpackbits(packed.reshape(len(masks), width), axis=1, count=count, bitorder="little").astype(bool)
