"""Synthetic rows from a graphical model, by randomised rounding instead of independent draws.

Attributes are assigned one by one against the elimination order. Within each group of rows that agree on everything the next attribute
depends on, value v is given to floor(n_group * p_v) rows and the remainders are drawn at random, so that the rows follow the model's
marginals more closely than independent sampling would (Private-PGM's synthetic data procedure; engine notes, point 9). A row never falls
into a cell where a potential is zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.arithmetic import LEAST, LOGARITHMS, NUMBERS, Arithmetic, logarithms
from dpsynth_core.inference.contraction import ONCE, Labels, Program, Table
from dpsynth_core.inference.structure import Structure
from dpsynth_core.vocabulary.rows import narrow

_Bucket = tuple[int, list[tuple[Table, Labels]]]

GATHER_CELLS = 4_000_000
"""Conditional probabilities are looked up for at most this many (row, value) pairs at a time."""
MOST_CELLS = 2**62
"""Combinations of parents that a number tells apart."""
DENSE = 4
"""Combinations of parents are looked up in a table where there are at most this many for each row."""


def generate(
    structure: Structure, potentials: Sequence[Table], n: int, rng: np.random.Generator, arithmetic: Arithmetic = NUMBERS
) -> NDArray[np.integer]:
    """Return codes of n synthetic rows of a model, shape (n, attributes), in the narrowest integer type.

    Args:
        structure: The structure of the model.
        potentials: Potentials of the cliques. Numbers that would underflow when multiplied are
            replaced by their logarithms.
        n: Number of rows.
        rng: Source of randomness.
        arithmetic: What the potentials hold: numbers, or their logarithms.

    Raises:
        FloatingPointError: No record is possible.
    """
    try:
        buckets = _buckets(structure, potentials, arithmetic)
    except FloatingPointError:
        if arithmetic is LOGARITHMS:
            raise
        return generate(structure, logarithms(potentials), n, rng, LOGARITHMS)
    codes = np.zeros((n, len(structure.sizes)), dtype=narrow(structure.sizes))
    for attribute, tables in reversed(buckets):
        parents = sorted({a for _, labels in tables for a in labels} - {attribute})
        groups, members = _groups(codes, parents, structure.sizes)
        products = _products(attribute, tables, parents, groups, structure.sizes, arithmetic)
        if arithmetic is NUMBERS and (small := ~(products.max(axis=1) > LEAST)).any():
            logs = list(zip(logarithms([table for table, _ in tables]), [labels for _, labels in tables], strict=True))
            of_small = _products(attribute, logs, parents, groups[small], structure.sizes, LOGARITHMS)
            products[small] = LOGARITHMS.shares_of_rows(of_small)
        codes[:, attribute] = share_out(arithmetic.shares_of_rows(products), members, rng)
    return codes


def in_random_order(codes: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.integer]:
    """Return the rows in a random order that depends only on rng and on the set of rows.

    The order in which rows were made does not matter: where two choices are equally good, the last
    digits of a processor decide which row gets which, but sorted, the rows are the same on all
    processors.
    """
    return codes[np.lexsort(codes.T[::-1])[rng.permutation(len(codes))]]


def _buckets(structure: Structure, potentials: Sequence[Table], arithmetic: Arithmetic) -> list[_Bucket]:
    """Return for each attribute, in elimination order, the tables that contain it after summing out earlier ones.

    The product of these tables, at fixed values of the other attributes in them, is proportional to
    the attribute's conditional distribution given those.

    Args:
        structure: The structure of the model.
        potentials: Potentials of the cliques.
        arithmetic: What the potentials hold.

    Raises:
        FloatingPointError: All cells of a sum are impossible or, in numbers, below `LEAST`.
    """
    pool: list[tuple[Table, Labels]] = list(zip(potentials, structure.cliques, strict=True))
    buckets = []
    for attribute in structure.tree.elimination.order:
        bucket = [entry for entry in pool if attribute in entry[1]]
        pool = [entry for entry in pool if attribute not in entry[1]]
        buckets.append((attribute, bucket))
        program = Program([labels for _, labels in bucket], structure.sizes, ONCE)
        keep = frozenset(a for _, labels in bucket for a in labels) - {attribute}
        slot = program.contract(range(len(bucket)), keep)
        message = arithmetic.levelled(program.result([table for table, _ in bucket], slot, arithmetic), LEAST)
        if message.ndim:
            pool.append((message, program.labels[slot]))
    return buckets


def _groups(codes: NDArray[np.integer], parents: Sequence[int], sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Return the distinct combinations of the parents' codes, ascending, and each row's index among these.

    Args:
        codes: The rows, shape (rows, attributes).
        parents: Indices of the parent attributes.
        sizes: Number of values of each attribute.

    Returns:
        Combinations, shape (groups, parents), and the index of each row's group, shape (rows,).
    """
    shape = [sizes[a] for a in parents]
    cells = math.prod(shape)
    if not parents:
        return np.zeros((1, 0), dtype=np.int32), np.zeros(len(codes), dtype=np.intp)
    if cells > MOST_CELLS:
        groups, members = np.unique(codes[:, parents], axis=0, return_inverse=True)
        return groups, members.reshape(-1)
    places = np.ravel_multi_index(tuple(codes[:, a] for a in parents), shape)
    if cells <= DENSE * len(codes):  # numbered by looking cells up instead of by sorting rows
        taken = np.zeros(cells, dtype=bool)
        taken[places] = True
        present, members = np.flatnonzero(taken), (np.cumsum(taken) - 1)[places]
    else:
        present, members = np.unique(places, return_inverse=True)
    return np.stack(np.unravel_index(present, shape), axis=1).astype(np.int32), members


def _products(
    attribute: int,
    tables: list[tuple[Table, Labels]],
    parents: list[int],
    groups: NDArray[np.int32],
    sizes: Sequence[int],
    arithmetic: Arithmetic,
) -> NDArray[np.float64]:
    """Return the product of the tables in each group, proportional to p(attribute | parents = group).

    Args:
        attribute: The attribute.
        tables: Tables that contain the attribute, with their labels.
        parents: The other attributes of these tables.
        groups: Combinations of the parents' codes, shape (groups, parents).
        sizes: Number of values of each attribute.
        arithmetic: What the tables and the result hold.

    Returns:
        Shape (groups, values of the attribute); rows are not normalised.
    """
    size = sizes[attribute]
    product = np.full((len(groups), size), arithmetic.one)
    step = max(1, GATHER_CELLS // size)
    for start in range(0, len(groups), step):
        block = slice(start, start + step)
        for table, labels in tables:
            index = tuple(slice(None) if a == attribute else groups[block, parents.index(a)] for a in labels)
            last = np.moveaxis(table, labels.index(attribute), -1)
            others = tuple(i for i, a in zip(index, labels, strict=True) if a != attribute)
            arithmetic.times(product[block], last[others] if others else last, product[block])
    return product


def share_out(conditional: NDArray[np.float64], members: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int32]:
    """Return a value for each row, in each group as often as expected, rounded down or up at random; int32 of shape (rows,).

    Args:
        conditional: Probabilities of the values by group, shape (groups, values); each row sums to
            one.
        members: Index of each row's group, from 0, shape (rows,).
        rng: Source of randomness, which also shuffles values within each group.
    """
    counts = np.bincount(members, minlength=len(conditional))
    assigned = rows_of_values(conditional, counts, rng.random((len(conditional), 1)))
    values = np.repeat(np.tile(np.arange(conditional.shape[1], dtype=np.int32), len(conditional)), assigned.reshape(-1))
    return dealt(values, members, len(conditional), rng)


def rows_of_values(conditional: NDArray[np.float64], counts: NDArray[np.intp], start: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many rows of each group get each value, shape (groups, values).

    Expected numbers are rounded down, and the rows left over go to values by systematic sampling,
    so that each value's expectation is met exactly.

    Args:
        conditional: Probabilities of the values by group, shape (groups, values); each row sums to
            one.
        counts: Number of rows of each group.
        start: Start of the sampling in each group, uniform from 0 to 1, shape (groups, 1).
    """
    expected = conditional * counts[:, None]
    whole = np.floor(expected)
    cumulative = np.cumsum(expected - whole, axis=1)
    whole_remainder = np.rint(cumulative[:, -1:])  # the remainders of a group add up to a whole number of rows
    # They do so from the last value with a remainder on: rounding errors of the sum must not give a row to a value that has none.
    last = conditional.shape[1] - 1 - ((expected - whole)[:, ::-1] > 0).argmax(axis=1)  # the end where none has any
    complete = np.arange(conditional.shape[1]) >= last[:, None]
    cumulative = np.where(complete, whole_remainder, np.minimum(cumulative, whole_remainder))
    # Systematic sampling: value v gets a row whenever the running sum of remainders passes start + an integer; every value's
    # expectation is exactly its remainder and the group's total is met.
    passed = np.floor(cumulative + start)
    extra = np.diff(passed, axis=1, prepend=0.0)
    return np.asarray((whole + extra).astype(np.int64))


def dealt(values: NDArray[np.int32], members: NDArray[np.intp], groups: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the values assigned to the rows of their groups, shuffled within each group, shape (rows,).

    Args:
        values: The values of all rows of the first group, then of the second group, and so on.
        members: Index of each row's group, shape (rows,).
        groups: Number of groups.
        rng: Source of randomness.
    """
    # The rows of each group in random order, after those of the groups before it, by one sort of one number a row: its group, chance, and
    # its place, which is much faster than a sort that returns places.
    places = len(members).bit_length()
    chance = 62 - groups.bit_length() - places
    keys = members.astype(np.int64) << chance
    keys |= (rng.random(len(members)) * 2.0**chance).astype(np.int64)
    keys <<= places
    keys |= np.arange(len(members))
    keys.sort()
    codes = np.empty(len(members), dtype=np.int32)
    codes[keys & ((1 << places) - 1)] = values
    return codes
