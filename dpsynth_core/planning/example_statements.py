"""Example statements that show what a budget means for this table, each number with its noise. From public facts alone.

The numbers come from invented people with the declared columns (a stand-in); only their precision is known. A share of a group is a ratio
of two noisy sums over a measured table. With noise of sigma in each cell, t the share, a of the group's cells above the line and b not, the
noise of N_group times the share is sigma sqrt(a (1 - t)^2 + b t^2), to first order. sigma is the noise when all tables share the budget
equally (`precision.sigma`): an adaptive mechanism is more precise where it measures, and less elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.visible import visible
from dpsynth_core.planning.precision import QUANTILE
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Told:
    """An example statement with its noise.

    Attributes:
        what: The quantity in words: a number of people, or a share of a group.
        value: Its value for the invented people, in people or as a share from 0 to 1.
        noise: Standard deviation of its noise if a cell's noise has standard deviation 1 person, in
            the unit of `value`.
        is_share: Whether it is a share.
    """

    what: str
    value: float
    noise: float
    is_share: bool

    def margin(self, sigma: float) -> float:
        """Return the half width of the statement's 95 % interval, in the unit of `value`.

        Args:
            sigma: Standard deviation of a cell's noise, in people.
        """
        return QUANTILE * sigma * self.noise

    def lost(self, sigma: float) -> bool:
        """Return whether the 95 % margin of a statement swallows its number.

        It does if the margin is at least as large as the number; for a share, at least as large as
        its distance to 0 and to 1.

        Args:
            sigma: Standard deviation of a cell's noise, in people.
        """
        return self.margin(sigma) >= (max(self.value, 1 - self.value) if self.is_share else self.value)


def tables(workload: Workload) -> tuple[Clique, ...]:
    """Return one or two tables for example statements: the smallest and the largest table of several columns.

    If all tables have a single column, these are the smallest and the largest table.
    """
    several = [clique for clique in workload.cliques if len(clique) > 1] or list(workload.cliques)
    by_size = sorted(several, key=lambda clique: (workload.domain.cells(clique), clique))
    return tuple(dict.fromkeys((by_size[0], by_size[-1])))


def told(domain: Domain, marginals: Mapping[Clique, NDArray[np.floating]]) -> tuple[Told, ...]:
    """Return example statements: a number of people from the first table, and a share from each table of several columns.

    The number is of people with the rarest value of the table's smallest column. The share is of that
    column's most common value, among people with the most common values of the other columns.

    Args:
        domain: The domain.
        marginals: By table of `tables`, the counts of invented people, one axis per column; at least one table.
    """
    first = next(iter(marginals))
    counted = _count(domain, first, marginals[first])
    return (counted, *(_share(domain, clique, counts) for clique, counts in marginals.items() if len(clique) > 1))


def sentence(one: Told, sigma: float, less: float, epsilon: float) -> str:
    """Return an example statement with its margin now and at a smaller epsilon, as a sentence.

    A margin that swallows the number (`Told.lost`) is called "lost in the noise" instead.

    Args:
        one: The statement.
        sigma: Standard deviation of a cell's noise, in people.
        less: The same at the smaller epsilon, so that it is larger.
        epsilon: The smaller epsilon.
    """
    value, points = (f"{one.value:.0%}", " points") if one.is_share else (f"{one.value:,.0f}", "")
    if one.lost(sigma):
        return f"{one.what}: {value}, but lost in the noise."
    now, other = (_digits((100 if one.is_share else 1) * one.margin(noise)) for noise in (sigma, less))
    return f"{one.what}: {value} ± {now}{points}; at ε {epsilon:g}: {'lost in the noise' if one.lost(less) else f'± {other}'}."


def _digits(number: float) -> str:
    """Return a number as text: from 9.95 rounded to a whole number, below with one decimal.

    Numbers below 0.1 give "0.1". Examples: "1,234", "12", "3.0".
    """
    return f"{number:,.0f}" if number >= 9.95 else f"{max(number, 0.1):.1f}"


def _count(domain: Domain, clique: Clique, counts: NDArray[np.floating]) -> Told:
    """Return the number of people with the rarest value of the table's smallest column.

    Small numbers are the first that noise hides.
    """
    name = min(clique, key=lambda column: (domain[column].size, column))
    along = counts.sum(axis=tuple(axis for axis, other in enumerate(clique) if other != name))
    listed = along[: domain[name].values or domain[name].size]
    code = int(np.argmin(listed))
    return Told(f"People with {_cell(domain[name], code)}", float(listed[code]), math.sqrt(counts.size / along.size), False)


def _share(domain: Domain, clique: Clique, counts: NDArray[np.floating]) -> Told:
    """Return the share of the smallest column's most common value among people with the most common values of all other columns."""
    name = min(clique, key=lambda column: (domain[column].size, column))
    ordered = np.moveaxis(counts, clique.index(name), -1)
    group = np.unravel_index(int(np.argmax(ordered.sum(axis=-1))), ordered.shape[:-1])
    inside = ordered[group]
    code, people = int(np.argmax(inside)), float(max(1.0, inside.sum()))
    share = float(inside[code]) / people
    others = [column for column in clique if column != name]
    among = " and ".join(_cell(domain[column], int(where)) for column, where in zip(others, group, strict=True))
    noise = math.sqrt((1 - share) ** 2 + (inside.size - 1) * share**2) / people
    return Told(f"Share with {_cell(domain[name], code)} among people with {among}", share, noise, True)


def _cell(attribute: Attribute, code: int) -> str:
    return f"{visible(attribute.name)} “{visible(attribute.cell_labels()[code])}”"
