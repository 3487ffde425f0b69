"""The domain: the columns of the release in order, each with its public set of cells, and the combinations that cannot occur.

A domain knows nothing of any record. It is read from our JSON, or from the benchmark form {"age": 32} of already coded data; every mistake
in those is an InputError that names the column and the remedy. `codebook` reads files.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import CapacityError, InputError, first_repeated
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.inside import one_value_each
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.order import Order, implied
from dpsynth_core.vocabulary.zeros import Cells, StructuralZeros, check_ranges, checked, numbered
from dpsynth_core.vocabulary.zeros import from_json as zeros_from_json
from dpsynth_core.vocabulary.zeros import to_json as zeros_json

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.filled import Filled, RowColumn
    from dpsynth_core.vocabulary.published import PublishedTable

__all__ = ["Attribute", "Domain", "column_field"]

VERSION = 1
DATA = "data"
LABELS = "labels"
LEARNT = "learnt"
ORIGINS = (DATA, "typed", "usual", LEARNT, LABELS, "codebook", "public")
"""Where a domain can have come from; of a domain whose columns differ, the first that occurs. DATA: the private table itself; LEARNT: noisy
answers, at a price."""
MAX_COLUMNS = 1000
"""Ten times as many as all pairs of columns can be asked for; with more, a model of the columns alone takes minutes and gigabytes."""


@dataclass(frozen=True)
class Domain:
    """The attributes, in the order of the released columns, with rules.

    Attributes:
        attributes: The columns with cells.
        impossible: Rules about combinations that cannot occur (see `zeros`).
        origin: Origin of the domain, one of `ORIGINS`; "" if its document does not state it.
        filled: Columns of the rows that do not depend on any record.
        published: Tables that were published about the people; they come from the plan and not from
            a domain's document.

    Raises:
        InputError: It has no attribute, two columns have the same name, or a rule is invalid.
        CapacityError: It has too many columns, or the tables of the rules have too many cells.
    """

    attributes: tuple[Attribute, ...]
    impossible: tuple[StructuralZeros, ...] = ()
    origin: str = field(default="", compare=False)
    filled: tuple[Filled, ...] = ()
    published: tuple[PublishedTable, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.attributes:
            raise InputError("domain", "it has no columns", "keep at least one column")
        _check_number(len(self.attributes) + len(self.filled))
        if (repeated := first_repeated([column.name for column in self.columns])) is not None:
            raise InputError(column_field(repeated), "the name is used twice", "rename or drop one of the columns")
        seen = {attribute.name for attribute in self.attributes}
        rules = (rule.ordered(self.names) if seen.issuperset(rule.attributes) else rule for rule in self.impossible)
        object.__setattr__(self, "impossible", tuple(rules))
        checked(self.impossible, self.attributes)

    @cached_property
    def zeros(self) -> dict[Clique, Cells]:
        """The impossible cells: for each clique with rules, a table that is True in them; empty without rules.

        A table has one axis per column of its clique. Pairs of columns that only follow from several orders have
        tables too. The tables are kept and returned again, so the caller must not change them.
        """
        return checked(self.impossible, self.attributes)

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """The stated orders of columns, and the orders that these imply (a <= c from a <= b and b <= c); () without any."""
        return tuple(implied([rule.order for rule in self.impossible if rule.order is not None]))

    @cached_property
    def loose_orders(self) -> tuple[Order, ...]:
        """The stated orders of two columns of which at least one has cells with several values; () without such orders."""
        stated = (rule.order for rule in self.impossible if rule.order is not None)
        return tuple(one for one in stated if not all(one_value_each(self[name]) for name in (one.first, one.second)))

    @classmethod
    def of(
        cls,
        columns: Iterable[RowColumn],
        impossible: tuple[StructuralZeros, ...] = (),
        origin: str = "",
        published: tuple[PublishedTable, ...] = (),
    ) -> Domain:
        """Return a domain with these columns of the rows, in order.

        Args:
            columns: Attributes and columns that are filled in, in the order of the rows.
            impossible: Rules about combinations that cannot occur.
            origin: Origin of the domain, one of `ORIGINS`, or "".
            published: Tables that were published about the people.

        Raises:
            InputError: No column is an attribute, two columns have the same name, or a rule is invalid.
            CapacityError: There are too many columns, or the tables of the rules have too many cells.
        """
        every = list(columns)
        attributes = tuple(column for column in every if isinstance(column, Attribute))
        others = tuple(replace(column, place=place) for place, column in enumerate(every) if not isinstance(column, Attribute))
        return cls(attributes, impossible, origin, others, published)

    @cached_property
    def columns(self) -> tuple[RowColumn, ...]:
        """All columns of the rows, attributes and filled ones, in the order of the rows."""
        columns: list[RowColumn] = list(self.attributes)
        for other in self.filled:
            columns.insert(other.place, other)
        return tuple(columns)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns of the rows, filled ones included, in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, in domain order, without columns that are filled in."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {attribute.name: attribute.size for attribute in self.attributes}

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.position(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._position

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def position(self, name: str) -> int:
        """Return the index of an attribute among the attributes, counted from 0.

        Raises:
            InputError: The name is not an attribute of the domain.
        """
        try:
            return self._position[name]
        except KeyError:
            problem, remedy = "it is not in the domain", "check the spelling, or add it to the domain"
            raise InputError(column_field(str(name)), problem, remedy) from None

    def clique(self, names: Iterable[str]) -> Clique:
        """Return the names as a clique, that is in domain order; () for no names.

        Raises:
            InputError: A name is not in the domain, or is given twice.
        """
        positions = [self.position(name) for name in names]
        ordered = sorted(set(positions))
        if (repeated := first_repeated(positions)) is not None:
            raise InputError(column_field(self.names[repeated]), "it is named twice in one marginal", "name each column once")
        return tuple(self.names[p] for p in ordered)

    def sizes(self, clique: Iterable[str]) -> tuple[int, ...]:
        """Return the shape of a marginal: the number of cells of each column, in the order given; () for no columns.

        Raises:
            InputError: A name is not in the domain.
        """
        sizes = self._sizes
        try:
            return tuple([sizes[name] for name in clique])
        except KeyError as error:
            self.position(error.args[0])
            raise

    def cells(self, clique: Iterable[str]) -> int:
        """Return the number of cells of a marginal, as an exact integer of any size; 1 for the empty clique.

        Raises:
            InputError: A name is not in the domain.
        """
        return math.prod(self.sizes(clique))

    def possible_cells(self, clique: Clique) -> int:
        """Return the number of cells of a marginal that no rule excludes.

        Rules that name a column outside the marginal do not count.

        Raises:
            InputError: A name is not in the domain.
        """
        if not self.zeros:
            return self.cells(clique)
        if clique not in self._possible_cells:
            impossible = self.impossible_cells(clique)
            self._possible_cells[clique] = self.cells(clique) - (0 if impossible is None else int(impossible.sum()))
        return self._possible_cells[clique]

    def impossible_cells(self, clique: Clique) -> Cells | None:
        """Return a table of the marginal's shape that is True in impossible cells.

        None is returned if no rule is about columns of the marginal alone.

        Args:
            clique: The columns of the marginal, in domain order.
        """
        inside = {zeros: table for zeros, table in self.zeros.items() if set(zeros) <= set(clique)}
        if not inside:
            return None
        impossible = np.zeros(self.sizes(clique), dtype=bool)
        for zeros, table in inside.items():
            impossible |= table.reshape([self[name].size if name in zeros else 1 for name in clique])
        return impossible

    def cleared(self, clique: Clique, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a marginal with 0 in the impossible cells, where values can only be noise.

        Args:
            clique: The columns of the marginal, in domain order.
            table: The marginal, one axis per column. It is not changed, and is returned itself if no rule is about
                these columns alone.
        """
        impossible = self.impossible_cells(clique)
        return table if impossible is None else np.where(impossible, 0.0, table)

    @cached_property
    def _possible_cells(self) -> dict[Clique, int]:
        return {}

    def keep(self, names: Collection[str]) -> Domain:
        """Return the domain with only these attributes, in domain order; columns that are filled in stay.

        Rules and published tables that name another attribute are left out.

        Raises:
            InputError: There are no names, or a name is not in the domain or is given twice.
        """
        kept = set(self.clique(names))
        rules = tuple(rule for rule in self.impossible if kept.issuperset(rule.attributes))
        published = tuple(table for table in self.published if kept.issuperset(table.columns))
        return Domain.of((c for c in self.columns if c.name in kept or not isinstance(c, Attribute)), rules, self.origin, published)

    def is_published(self, clique: Iterable[str]) -> bool:
        """Return whether all columns of a marginal are in one published table, which then states the marginal.

        The empty clique is published if there is any published table.
        """
        return any(set(clique) <= set(table.columns) for table in self.published)

    def published_columns(self) -> dict[Clique, NDArray[np.float64]]:
        """Return the one-way marginal of each column of a published table, as shares of people that add up to 1.

        If several tables have a column, the last one counts. The result is empty without published tables.
        """
        tables = ((table, name) for table in self.published for name in table.columns)
        return {(name,): project(table.shares, table.columns, (name,)) for table, name in tables}

    def unpublished(self, cliques: Iterable[Clique]) -> list[Clique]:
        """Return the marginals that no published table states (`is_published`), in order."""
        return [clique for clique in cliques if not self.is_published(clique)]

    def ordered_like(self, columns: Sequence[str]) -> Domain:
        """Return the domain with its columns in another order.

        Args:
            columns: Names in the new order; columns of the domain that it lacks come last, in their old order.
                Names that the domain lacks are ignored.
        """
        place = {name: i for i, name in enumerate(columns)}
        ordered = sorted(self.columns, key=lambda column: place.get(column.name, len(place)))
        return Domain.of(ordered, self.impossible, self.origin, self.published)

    def unfolded(self) -> Domain:
        """Return the attributes alone as a domain, with separate cells for missing and undeclared values.

        Coded columns, and columns whose values are to be learnt, are kept unchanged (`Attribute.unfolded`). Rules, the
        origin, published tables and columns that are filled in are left out.
        """
        return Domain(tuple(attribute.unfolded() for attribute in self.attributes))

    @property
    def unknown(self) -> tuple[Attribute, ...]:
        """The columns whose values are to be learnt, in domain order; () without such columns."""
        return tuple(attribute for attribute in self.attributes if attribute.most)

    def completed(self, learnt: Iterable[Attribute]) -> Domain:
        """Return the domain with learnt attributes in the places of the attributes of the same names.

        Other attributes stay. Each keeps the description (`label`) of the attribute that it replaces.

        Args:
            learnt: The learnt attributes, each with the name of one of the domain's attributes.

        Raises:
            InputError: An attribute's name is not in the domain, or a rule does not fit the learnt values.
        """
        by_name = {attribute.name: replace(attribute, label=self[attribute.name].label) for attribute in learnt}
        return replace(self, attributes=tuple(by_name.get(attribute.name, attribute) for attribute in self.attributes))

    def to_json(self) -> dict[str, Any]:
        """Return the domain as JSON without its published tables; `from_json` reads it back to an equal domain."""
        obj: dict[str, Any] = {"version": VERSION, "attributes": [Column.of(column).to_json() for column in self.columns]}
        by_name = {a.name: a for a in self.attributes}
        obj |= {"origin": self.origin} if self.origin else {}
        return obj | ({"impossible": [zeros_json(rule, by_name) for rule in self.impossible]} if self.impossible else {})

    @classmethod
    def stated(cls, obj: object) -> Domain:
        """Return the domain of a new plan, from its JSON.

        Args:
            obj: The JSON value, in one of the two forms that `from_json` reads.

        Raises:
            InputError: The JSON is not a domain (`from_json`), or a range in a rule covers only a
                part of a cell.
            CapacityError: There are too many columns, or the tables of the rules have too many
                cells.
        """
        domain = cls.from_json(obj)
        domain.check_rules(obj.get("impossible", []) if isinstance(obj, Mapping) else [])
        return domain

    def check_rules(self, rules: object) -> None:
        """Check that no range in these rules covers only a part of a cell.

        Args:
            rules: The rules as JSON; nothing is checked if it is not a list. Rules of an unknown form, and values that
                cannot be read, are skipped.

        Raises:
            InputError: A range covers only a part of a cell. The error names the rule and the nearest valid ranges.
        """
        for place, rule in enumerate(rules if isinstance(rules, list) else []):
            check_ranges(rule, self.attributes, numbered(place))

    @classmethod
    def from_json(cls, obj: object) -> Domain:
        """Return the domain that JSON describes.

        Args:
            obj: {"version": 1, "attributes": [...]}, perhaps with "impossible" (rules) and "origin"; or
                {"age": 32, ...} with the number of codes of each column, as in benchmarks.

        Raises:
            InputError: It is not such JSON, or a column, a rule or the origin is invalid.
            CapacityError: There are too many columns, or the tables of the rules have too many
                cells.
        """
        if not isinstance(obj, Mapping) or not obj:
            raise InputError("domain", "it is not a JSON object with columns", 'give {"version": 1, "attributes": [...]} or {"age": 32}')
        entries = obj.get("attributes")
        if not isinstance(entries, list):
            if "attributes" in obj and "version" in obj and not isinstance(entries, int):
                raise InputError("domain.attributes", "it is not a list", "list one object per column")
            if not any(isinstance(size, int | float) for size in obj.values()):  # perhaps the table itself, of which nothing may be quoted
                raise InputError("domain", "it has no columns", 'give {"version": 1, "attributes": [...]} or {"age": 32}')
            _check_number(len(obj))
            return cls(tuple(Attribute.coded(str(name), size) for name, size in obj.items()))
        if obj.get("version", VERSION) != VERSION:
            raise InputError("domain.version", "this version is not known", f"use version {VERSION}")
        rules = obj.get("impossible", [])
        if not isinstance(rules, list):
            raise InputError("domain.impossible", "it is not a list", "list one rule per object")
        _check_number(len(entries))
        columns = [Column.from_json(entry).complete() for entry in entries]
        attributes = tuple(column for column in columns if isinstance(column, Attribute))
        if (origin := obj.get("origin", "")) not in ("", *ORIGINS):
            raise InputError("domain.origin", "it is not known", f"use one of {', '.join(ORIGINS)}, or leave it out")
        return cls.of(columns, tuple(zeros_from_json(rule, attributes, i) for i, rule in enumerate(rules)), origin)


def _check_number(columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise CapacityError("domain", f"it has {columns:,} columns", f"keep at most {MAX_COLUMNS:,} of them")
