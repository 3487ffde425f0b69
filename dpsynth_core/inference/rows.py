"""Synthetic rows from a graphical model, by randomised rounding instead of independent draws.

Attributes are assigned one by one against the elimination order. Within each group of rows that agree on everything the next attribute
depends on, value v is given to floor(n_group * p_v) rows and the remainders are drawn at random, so that the rows follow the model's
marginals more closely than independent sampling would (Private-PGM's synthetic data procedure; engine notes, point 9).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.contraction import Labels, Program, Table
from dpsynth_core.inference.structure import Structure

GATHER_CELLS = 4_000_000
"""Conditional probabilities are looked up for at most this many (row, value) pairs at a time."""


def generate(structure: Structure, potentials: Sequence[Table], n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Codes, shape (n, attributes)."""
    codes = np.zeros((n, len(structure.sizes)), dtype=np.int32)
    for attribute, tables in reversed(_buckets(structure, potentials)):
        parents = sorted({a for _, labels in tables for a in labels} - {attribute})
        groups, members = _groups(codes[:, parents])
        conditional = _conditional(attribute, tables, parents, groups, structure.sizes)
        codes[:, attribute] = _round(conditional, members, rng)
    return codes


def _buckets(structure: Structure, potentials: Sequence[Table]) -> list[tuple[int, list[tuple[Table, Labels]]]]:
    """For each attribute in elimination order, the tables that mention it once all earlier attributes are summed out.

    The product of those tables, at fixed values of the other attributes in them, is proportional to the attribute's conditional.
    """
    pool: list[tuple[Table, Labels]] = list(zip(potentials, structure.cliques, strict=True))
    buckets = []
    for attribute in structure.tree.elimination.order:
        bucket = [entry for entry in pool if attribute in entry[1]]
        pool = [entry for entry in pool if attribute not in entry[1]]
        buckets.append((attribute, bucket))
        program = Program([labels for _, labels in bucket], structure.sizes)
        keep = frozenset(a for _, labels in bucket for a in labels) - {attribute}
        slot = program.contract(range(len(bucket)), keep)
        message = program.forward([table for table, _ in bucket])[slot]
        if message.ndim:
            pool.append((message / message.max(), program.labels[slot]))
    return buckets


def _groups(parents: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Distinct parent configurations and, for each row, the index of its configuration."""
    if parents.shape[1] == 0:
        return np.zeros((1, 0), dtype=np.int32), np.zeros(len(parents), dtype=np.intp)
    groups, members = np.unique(parents, axis=0, return_inverse=True)
    return groups, members.reshape(-1)


def _conditional(
    attribute: int, tables: list[tuple[Table, Labels]], parents: list[int], groups: NDArray[np.int32], sizes: Sequence[int]
) -> NDArray[np.float64]:
    """p(attribute | parents = group), shape (groups, size)."""
    size = sizes[attribute]
    product = np.ones((len(groups), size))
    step = max(1, GATHER_CELLS // size)
    for start in range(0, len(groups), step):
        block = slice(start, start + step)
        for table, labels in tables:
            index = tuple(slice(None) if a == attribute else groups[block, parents.index(a)] for a in labels)
            product[block] *= _lookup(table, labels, attribute, index)
    mass = product.sum(axis=1, keepdims=True)
    # A group that the rounding reached although the model gives it no mass gets the uniform distribution.
    return np.where(mass > 0, product / np.where(mass > 0, mass, 1.0), 1.0 / size)


def _lookup(table: Table, labels: Labels, attribute: int, index: tuple[slice | NDArray[np.int32], ...]) -> Table:
    """table[others = group] as (groups, values of the attribute)."""
    last = np.moveaxis(table, labels.index(attribute), -1)
    others = tuple(i for i, a in zip(index, labels, strict=True) if a != attribute)
    return last[others] if others else last


def _round(conditional: NDArray[np.float64], members: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int32]:
    """One value per row: integer parts for sure, remainders by systematic sampling in random order, shuffled within each group."""
    counts = np.bincount(members, minlength=len(conditional))
    expected = conditional * counts[:, None]
    whole = np.floor(expected)
    cumulative = np.cumsum(expected - whole, axis=1)
    whole_remainder = np.rint(cumulative[:, -1:])  # the remainders of a group add up to a whole number of rows
    cumulative = np.minimum(cumulative, whole_remainder)
    cumulative[:, -1:] = whole_remainder
    start = rng.random((len(conditional), 1))
    # Systematic sampling: value v gets a row whenever the running sum of remainders passes start + an integer; every value's
    # expectation is exactly its remainder and the group's total is met.
    passed = np.floor(cumulative + start)
    extra = np.diff(passed, axis=1, prepend=0.0)
    assigned = (whole + extra).astype(np.int64)
    values = np.repeat(np.tile(np.arange(conditional.shape[1], dtype=np.int32), len(conditional)), assigned.reshape(-1))
    order = np.lexsort((rng.random(len(members)), members))
    codes = np.empty(len(members), dtype=np.int32)
    codes[order] = values
    return codes
