"""The order for dummy rows: columns of one table or of two linked ones, and how many rows, as a document that is checked when read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning import domain_origin
from dpsynth_core.planning.plan import check_person, ruled
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary import published
from dpsynth_core.vocabulary.domain import DATA, Domain
from dpsynth_core.vocabulary.filled import Filled
from dpsynth_core.vocabulary.kinds.registry import IDENTIFIER
from dpsynth_core.vocabulary.link import Link

MAX_ROWS = 1_000_000
ROWS, SEED = 1000, 1
"""Number of rows and seed unless others are asked for."""
_MOST_MEMBERS = 5


@dataclass(frozen=True, eq=False)
class Order:
    """An order for dummy rows.

    Attributes:
        stated: The order as JSON: "domain", perhaps "members" and "published_tables", "rows", "seed".
        domain: The columns of the table, or of the first of two linked tables without its key, with published tables.
        rows: Number of rows; of two linked tables, of the first one.
        seed: Seed of the random numbers.
        link: The link of two tables, or None.
        key: The column of both linked tables that says whose a row is; "" for one table.
    """

    stated: Mapping[str, Any]
    domain: Domain
    rows: int = ROWS
    seed: int = SEED
    link: Link | None = None
    key: str = ""

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Order:
        """Return the order that JSON states.

        Args:
            stated: "domain" (a domain's JSON), "rows" (1 to 1,000,000) and "seed" (0 to 2^63 - 1); and perhaps either
                "members" (the second table: "domain", "key", "most", by default 5, and "rules", by default none) or
                "published_tables" (each with "columns", "cells" and "source").

        Raises:
            InputError: A field is wrong or unknown, a column's values are to be learnt, or the domain was read
                from the private table.
            CapacityError: The domain is too large.
        """
        _check_fields(stated, ("domain", "rows", "seed", "members", "published_tables"), "order")
        domain = Domain.stated(stated.get("domain"))
        _check_public(domain, "domain")
        rows, seed = (_whole(stated, name, *limits) for name, limits in (("rows", (1, MAX_ROWS)), ("seed", (0, 2**63 - 1))))
        if stated.get("members") is not None:
            return cls._linked(stated, domain, rows, seed)
        return cls(stated, _with_published(domain, stated.get("published_tables", ())), rows, seed)

    @classmethod
    def _linked(cls, stated: Mapping[str, Any], domain: Domain, rows: int, seed: int) -> Order:
        second, field = stated["members"], "members"
        if not isinstance(second, Mapping):
            raise InputError(field, "it is not a JSON object", "give the second table's domain, key, most and rules")
        _check_fields(second, ("domain", "key", "most", "rules"), field)
        if stated.get("published_tables"):
            raise InputError("published_tables", "two linked tables do not go with it yet", "leave it out")
        key, most, rules = second.get("key"), second.get("most", _MOST_MEMBERS), second.get("rules", [])
        if not isinstance(key, str) or not key.strip():
            raise InputError(f"{field}.key", "two linked tables need a key", "name the column of both tables that says whose a row is")
        if type(most) is not int or not isinstance(rules, list):
            raise InputError(field, "its most is not a whole number, or its rules are not a list", "give a number from 1 to 10, and a list")
        members = Domain.stated(second.get("domain"))
        _check_public(members, f"{field}.domain")
        for one in (domain, members):
            check_person(one, key)
        link = ruled(Link(domain, members, most), rules)
        link.check_rules(rules)
        return cls(stated, domain, rows, seed, link, key)

    @classmethod
    def of_spec(cls, spec: Spec, rows: int, seed: int) -> Order:
        """Return the order for rows of a plan that was made for a release.

        Args:
            spec: The spec.
            rows: Number of rows, from 1 to 1,000,000.
            seed: The seed, 0 or more.

        Raises:
            InputError: The plan has a column of survey weights or a third table, its domain was read from the private table,
                values of a column are to be learnt, or rows or seed is out of range.
            CapacityError: The domain is too large.
        """
        if spec.weight is not None:
            remedy = "take the weight out of the plan, or give its domain alone"
            raise InputError("weight", "dummy rows have no calibrated weights yet", remedy)
        if extension.has_further_tables(spec):
            raise InputError("extensions", "dummy rows of a third table are not made yet", "leave that table out of the plan")
        if domain_origin.from_data(spec):
            raise _from_data("domain_origin")
        stated: dict[str, Any] = {"domain": spec.domain, "rows": rows, "seed": seed}
        if spec.published_tables:
            stated["published_tables"] = [one.model_dump(mode="json") for one in spec.published_tables]
        if (second := spec.members) is not None:
            stated["members"] = {"domain": second.domain, "key": spec.unit.person_column, "rules": second.rules}
            stated["members"]["most"] = spec.unit.max_rows_per_person
        return cls.of(stated)

    def to_json(self) -> dict[str, Any]:
        """Return the order as JSON, from which `of` makes an equal one."""
        return dict(self.stated)

    @cached_property
    def row_domain(self) -> Domain:
        """The columns of the rows of the first table; of two linked tables, with the key."""
        return self.domain if self.link is None else replace(self.link.households, filled=(self._key,))

    @cached_property
    def member_domain(self) -> Domain:
        """The columns of the rows of the second of two linked tables, with the key.

        Raises:
            AssertionError: There is one table only.
        """
        assert self.link is not None
        return replace(self.link.members, filled=(self._key,))

    @property
    def _key(self) -> Filled:
        return Filled(self.key, IDENTIFIER.name, "1")

    @property
    def origin(self) -> str:
        """The origin of the domain as a clause: where its columns and their values came from."""
        return domain_origin.clause_of(self.domain.origin)


def _check_fields(stated: Mapping[str, Any], known: Sequence[str], field: str) -> None:
    """Raise InputError if a part of an order has an entry of another name."""
    if unknown := [str(name) for name in stated if name not in known]:
        raise InputError(field, f"its entry {shown(unknown[0])} is unknown", f"use {', '.join(known)}")


def _check_public(domain: Domain, field: str) -> None:
    """Raise InputError if a column's values are to be learnt, or if the domain was read from the private table."""
    if domain.unknown:
        problem = f"the values of {shown(domain.unknown[0].name)} are to be learnt, which reads the table"
        raise InputError(field, problem, "list them, or give the bounds, from public knowledge")
    if domain.origin == DATA:
        raise _from_data(f"{field}.origin")


def _from_data(field: str) -> InputError:
    problem = "the columns' values were read from the private table, so that rows made from them could tell of people in it"
    return InputError(field, problem, "state the values from public knowledge, such as a codebook")


def _whole(stated: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = stated.get(name)
    if type(value) is not int or not least <= value <= most:
        raise InputError(name, f"{shown(value)} cannot be used", f"give a whole number from {least:,} to {most:,}")
    return value


def _with_published(domain: Domain, sections: object) -> Domain:
    """Return the domain with tables that were published about the same people.

    Raises:
        InputError: The tables are not a list of such tables, do not fit the domain, or contradict each other.
    """
    if not isinstance(sections, Sequence) or len(sections) > published.MAX_TABLES:
        raise InputError(published.FIELD, "it is not a list, or too long", f"give at most {published.MAX_TABLES:,} tables")
    tables = list[published.PublishedTable]()
    for number, one in enumerate(sections):
        field = f"{published.FIELD}.{number}"
        if isinstance(one, Mapping):
            _check_fields(one, ("columns", "cells", "source"), field)
        if not isinstance(one, Mapping) or not all(isinstance(one.get(name), list | tuple) for name in ("columns", "cells")):
            raise InputError(field, "it is not a table", "give its columns, its cells and its source")
        cells = [cell if isinstance(cell, list | tuple) else [cell] for cell in one["cells"]]
        tables.append(published.read([*map(str, one["columns"])], cells, str(one.get("source", "")), domain.attributes, field))
    published.check(tables, domain.zeros)
    return replace(domain, published=tuple(tables))
