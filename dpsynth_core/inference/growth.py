"""Upper bounds on the growth of a junction tree when further attributes are joined, for many candidates at once.

New edges among the attributes of a candidate enlarge only clusters on one path, as long as the order of elimination stays. They appear when
the first of its attributes is eliminated, whose neighbours are complete among each other from then on, and are carried to the earliest of
these, until one cluster contains all.

For a pair, two sets are carried from its first cluster on: the rest of the cluster made last, and the other attribute at first; the cluster
of the next attribute in either takes in the other set. So the rest depends on two things only, the next attribute and the set that its
cluster takes in, and all pairs share the way from there. Knows nothing of data or privacy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

TOGETHER = 2**15
"""Number of candidates processed together; more would take memory and save no time."""


def growth(order: Sequence[int], clusters: Sequence[int], sizes: Sequence[int], candidates: Booleans, enough: float) -> Floats:
    """Return by how many cells the clusters grow in total when a candidate's attributes are all connected.

    The elimination order is kept. Growth beyond `enough` is reported as some number above it.

    Args:
        order: Attributes in the order of their elimination.
        clusters: Mask of each eliminated attribute and its neighbours then, in that order.
        sizes: Number of values of each attribute.
        candidates: Attributes of each candidate, shape (candidates, attributes).
        enough: Largest growth of interest, in cells.

    Returns:
        Numbers of cells, shape (candidates,).
    """
    added = np.zeros(len(candidates))
    places, inside, logarithms, cells = _by_place(order, clusters, sizes)
    for start in range(0, len(candidates), TOGETHER):
        carried = candidates[start : start + TOGETHER][:, places]
        number = start + np.arange(len(carried))
        while len(carried):
            place = carried.argmax(axis=1)  # the earliest attribute
            cluster = inside[place]
            taken_in = carried & ~cluster
            growing = taken_in.any(axis=1)
            number, place, taken_in = number[growing], place[growing], taken_in[growing]
            with np.errstate(over="ignore"):
                added[number] += cells[place] * (np.rint(np.exp(taken_in @ logarithms)) - 1)
            carried = carried[growing] | cluster[growing]
            carried[np.arange(len(carried)), place] = False
            short = added[number] <= enough
            number, carried = number[short], carried[short]
    return added


def pair_growth(order: Sequence[int], clusters: Sequence[int], sizes: Sequence[int]) -> Floats:
    """Return by how many cells the clusters grow when a pair of attributes is connected (`growth`).

    Args:
        order: Attributes in the order of their elimination.
        clusters: Mask of each eliminated attribute and its neighbours then, in that order.
        sizes: Number of values of each attribute.

    Returns:
        Numbers of cells, symmetric, shape (attributes, attributes); inf where no float holds the
        number.
    """
    count = len(order)
    places, inside, logarithms, cells = _by_place(order, clusters, sizes)
    rows, columns = np.nonzero(inside)
    rest, alone = rows != columns, np.arange(count)
    # what is carried: an attribute that nothing has taken in yet; or what a cluster leaves behind
    number, held = np.concatenate([alone, count + rows[rest]]), np.concatenate([alone, columns[rest]])
    first = np.full(2 * count, count)
    np.minimum.at(first, number, held)
    each = 1 + 1j * logarithms  # sums of it are a number of attributes, and the logarithm of their cells
    carried = scipy.sparse.csr_array((each[held], (number, held)), shape=(2 * count, count))
    whole = carried.sum(axis=1)
    shared = (scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(count, count)) @ carried.T).tocoo()
    left, some = whole[shared.col] - shared.data, (shared.row, shared.col)
    complete = np.tile(whole.real == 0, (count, 1))
    complete[some] = left.real == 0
    with np.errstate(over="ignore", invalid="ignore"):
        taken_in = np.outer(cells, np.rint(np.exp(whole.imag)) - 1)
        taken_in[some] = cells[shared.row] * (np.rint(np.exp(left.imag)) - 1)
    taken_in[np.isnan(taken_in)] = 0.0  # inf times what attributes of one value add
    growth = np.zeros((count + 1, 2 * count))
    for place in reversed(range(count)):
        later = slice(place + 1, count + place)  # attributes that come after it, and what clusters before it leave behind
        then, other = first[count + place], first[later]
        after = np.where(then <= other, growth[then, later], growth[other, count + place])
        growth[place, later] = np.where(complete[place, later], 0.0, taken_in[place, later] + after)
    joined = np.triu(growth[:count, :count], 1)
    by_attribute = np.empty_like(joined)
    by_attribute[np.ix_(places, places)] = joined + joined.T
    return by_attribute


def _by_place(order: Sequence[int], clusters: Sequence[int], sizes: Sequence[int]) -> tuple[NDArray[np.intp], Booleans, Floats, Floats]:
    """Return arrays in which attributes are numbered by their place in the elimination order.

    Returns:
        The order itself; the members of each cluster, shape (clusters, places); the logarithms of
        the sizes by place; and the number of cells of each cluster.
    """
    places = np.array(order, dtype=np.intp)
    inside = members(clusters, len(order))[:, places]
    logarithms = np.log(np.array(sizes, dtype=np.float64))[places]
    with np.errstate(over="ignore"):
        return places, inside, logarithms, np.rint(np.exp(inside @ logarithms))


def within(masks: Booleans, others: Booleans) -> Booleans:
    """Return, for each row of `masks`, whether it is a subset of some row of `others`, shape (masks,).

    Args:
        masks: Sets of attributes as Booleans, shape (masks, attributes).
        others: Other sets, shape (others, attributes).
    """
    missing = masks.astype(np.float32) @ (~others).T.astype(np.float32)
    return np.asarray((missing == 0).any(axis=1))


def members(masks: Sequence[int], count: int) -> Booleans:
    """Return bit masks as Booleans, shape (masks, count): True for the attributes that a mask contains.

    Args:
        masks: Sets of attributes as integers, whose bit i stands for attribute i; at least one.
        count: Number of attributes.
    """
    width = (count + 7) // 8
    packed = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
    return np.unpackbits(packed.reshape(len(masks), width), axis=1, count=count, bitorder="little").astype(bool)
