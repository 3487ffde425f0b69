"""Conditions on people by the cells of their columns. Public; made from JSON such as {"sex": ["female"]}."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.vocabulary import zeros
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.marginals import expand
from dpsynth_core.vocabulary.measurement import Clique


@dataclass(frozen=True)
class Condition:
    """A condition on people: for each named column, the cells in which they must be.

    Attributes:
        cells: Columns with the codes (from 0) of their cells, ascending; empty for everybody.
    """

    cells: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the condition names, in the order of `cells`."""
        return tuple(name for name, _ in self.cells)

    def on(self, domain: Domain, clique: Clique) -> NDArray[np.bool_]:
        """Return which cells of a table the condition means, as truth values shaped like the table.

        Args:
            domain: The domain.
            clique: The columns of the table, among them all columns of the condition.
        """
        meant = np.ones(domain.sizes(clique), dtype=np.bool_)
        for name, codes in self.cells:
            chosen = np.zeros(domain[name].size, dtype=np.bool_)
            chosen[list(codes)] = True
            meant &= expand(chosen, (name,), clique)
        return meant

    def sentence(self, domain: Domain) -> str:
        """Return words such as: sex “female” and age “0 to 17”; names and labels are unescaped. It is "" for everybody.

        Of more than four values of a column, four are quoted and the others are counted.
        """
        return " and ".join(f"{name} {zeros.values_in_words(domain[name], codes)}" for name, codes in self.cells)

    def among(self, domain: Domain) -> str:
        """Return the words that restrict a statement to these people, " among those with ..."; "" for everybody.

        Of more than four values of a column, four are quoted and the others are counted.
        """
        return f" among those with {self.sentence(domain)}" if self.cells else ""


EVERYBODY = Condition()


def read_condition(obj: object, domain: Domain, field: str) -> Condition:
    """Return the condition that JSON states. A range of numbers means the cells that it covers whole.

    Args:
        obj: For each column, its values, such as {"sex": ["female"]}.
        domain: The domain.
        field: Name of the condition in errors.

    Raises:
        InputError: `obj` names no column or no value, a column or value is not in the domain or is still to be
            learnt, a range covers no whole cell, or all values of a column are named.
    """
    if isinstance(obj, Mapping):
        check_known(map(str, obj), domain, field)
    cells = zeros.cells_sealed(domain, obj, field)
    for name, codes in cells.items():
        if len(set(codes)) == domain[name].size:
            problem = f"all values of {column_field(name)} are named, so that it holds for everybody"
            raise InputError(field, problem, "leave values out, or leave out the column")
    return Condition(tuple((name, cells[name]) for name in domain.names if name in cells))


def check_open(of: Condition, group: Condition, field: str) -> None:
    """Check that a group of people does not decide by itself whether its members are in `of`.

    The share of `of` in the group would be 0 or 1 for every table.

    Args:
        of: The condition whose share counts.
        group: The group.
        field: Name of `of` in errors.

    Raises:
        InputError: All or no members of the group are in `of`.
    """
    within = dict(group.cells)
    shared = [(set(within[name]), set(codes)) for name, codes in of.cells if name in within]
    if any(inside.isdisjoint(meant) for inside, meant in shared):
        raise InputError(field, "no member of the group can have this value", "name other values, or another group")
    if len(shared) == len(of.cells) and all(inside <= meant for inside, meant in shared):
        raise InputError(field, "everybody of the group is in it", "name other values, or another group")


def read_among(entries: Mapping[str, object], domain: Domain, field: str) -> Condition:
    """Return the people that a criterion is about: everybody, unless it has an entry "among".

    Args:
        entries: The criterion's JSON.
        domain: The domain.
        field: Place of the criterion in the spec, for errors.

    Raises:
        InputError: "among" names no column or no value, an unknown one or one that is still to be learnt, a
            range that covers no whole cell, or all values of a column.
    """
    return read_condition(entries["among"], domain, f"{field}.among") if "among" in entries else EVERYBODY


def known_column(name: object, domain: Domain, field: str, remedy: str) -> str:
    """Return `name` if it is a column of the domain with known values.

    Args:
        name: The name that a criterion states.
        domain: The domain.
        field: Name of the entry in errors.
        remedy: What to do about an unknown name.

    Raises:
        InputError: The name is unknown, or the column's values are still to be learnt.
    """
    if not isinstance(name, str) or name not in domain:
        raise InputError(field, f"{shown(name)} is not a column of the domain", remedy)
    check_known([name], domain, field)
    return name


def check_known(columns: Iterable[str], domain: Domain, field: str) -> None:
    """Check that the values of these columns are not still to be learnt.

    Args:
        columns: Names of columns.
        domain: The domain.
        field: Name of the entry in errors.

    Raises:
        InputError: The values of a column are still to be learnt.
    """
    unknown = {attribute.name for attribute in domain.unknown}
    named = next((name for name in columns if name in unknown), None)
    if named is not None:
        raise InputError(field, f"the values of {column_field(named)} are to be learnt", "list them in the domain, or name another column")
