"""Tables over groups of values, from tables over the values: a record is in one group, the group of its value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups, Number
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique


def parent(domain: Domain, clique: Clique, groups: Mapping[str, Groups]) -> Clique:
    """Return the columns that a clique over columns and groups is made from, in domain order.

    Args:
        domain: The domain.
        clique: Names of columns and groups.
        groups: The groups by name.

    Raises:
        InputError: A column would occur twice, or a name is unknown.
    """
    return domain.clique(groups[name].column if name in groups else name for name in clique)


def regrouped(table: NDArray[Number], over: Clique, clique: Clique, groups: Mapping[str, Groups]) -> NDArray[Number]:
    """Return a table over columns and groups, from a table over the columns that it is made from.

    Args:
        table: The table over columns; it is not changed.
        over: The columns of the table (`parent`).
        clique: Names of columns and groups, in the order of the result's axes.
        groups: The groups by name.
    """
    axes = list(over)
    for one in (groups[name] for name in clique if name in groups):
        table = one.summed(table, axes.index(one.column))
        axes.remove(one.column)
        axes.append(one.name)
    return project(table, axes, clique)


def by_name(groups: Iterable[Groups]) -> dict[str, Groups]:
    """Return the groups as a mapping from their names."""
    return {one.name: one for one in groups}
