"""A domain with groups: further columns behind its own, and rules that tie each to the column it is made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.regrouping import by_name, parent, regrouped
from dpsynth_core.vocabulary.rows import Repeated, row_marginals
from dpsynth_core.vocabulary.zeros import MAX_CELLS, StructuralZeros


def with_groups(domain: Domain, groups: Iterable[Groups]) -> Domain:
    """Return the domain with groups as further coded columns behind its own, tied to their columns by rules.

    Columns that are filled in, and the origin, are left out.

    Args:
        domain: The domain.
        groups: The groups; their columns come in this order.

    Raises:
        InputError: A name is taken, or groups do not fit their column.
        CapacityError: The tables of the rules have too many cells.
    """
    every = tuple(groups)
    for one in every:
        check_groups(domain, one)
    attributes = tuple(Attribute.coded(one.name, one.size) for one in every)
    return Domain((*domain.attributes, *attributes), (*domain.impossible, *map(_tie, every)), published=domain.published)


def check_groups(domain: Domain, groups: Groups) -> None:
    """Check that groups fit the domain.

    Raises:
        InputError: The domain lacks their column or has a column of their name, the column has another number of
            cells, or the number of groups times the number of cells is above a million.
    """
    if groups.column not in domain or domain[groups.column].size != len(groups.places) or groups.name in domain.column_names:
        raise InputError(f"groups {groups.name!r}", "they do not fit the domain", "the release is damaged")
    if groups.size * len(groups.places) > MAX_CELLS:
        raise InputError(f"groups {groups.name!r}", f"with their values they have more than {MAX_CELLS:,} cells", "use fewer groups")


def measured_sizes(domain: Domain, clique: Clique, groups: Sequence[Groups]) -> tuple[int, ...]:
    """Return the shape of a table over columns of the domain and groups: the number of cells or groups of each name.

    Args:
        domain: The domain.
        clique: Names of columns and groups.
        groups: The groups among these names.

    Raises:
        InputError: Groups do not fit the domain (`check_groups`), or a name is unknown.
    """
    for one in groups:
        check_groups(domain, one)
    sizes = {one.name: one.size for one in groups}
    return tuple(sizes[name] if name in sizes else domain[name].size for name in clique)


def _tie(groups: Groups) -> StructuralZeros:
    """Return the rule that a record is in the group of its value and in no other group."""
    return StructuralZeros(
        (groups.column, groups.name),
        tuple((cells, tuple(other for other in range(groups.size) if other != group)) for group, cells in enumerate(groups.members)),
    )


def marginals_like(
    domain: Domain, codes: NDArray[np.integer] | Repeated, measurements: Sequence[Measurement]
) -> list[NDArray[np.int64]]:
    """Return, for each measurement, the exact counts of some rows, shaped like its values.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        measurements: The measurements, which may be over groups of values.
    """
    groups = [by_name(m.groups) for m in measurements]
    over = [parent(domain, m.clique, named) for m, named in zip(measurements, groups, strict=True)]
    counts = row_marginals(domain, codes, list(dict.fromkeys(over)))
    return [regrouped(counts[columns], columns, m.clique, named) for columns, m, named in zip(over, measurements, groups, strict=True)]
