"""The order for rows from protected tables: columns, tables and their giver's promise, as a document that is checked when read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpsynth_core.extensions.rows_from import tables
from dpsynth_core.extensions.rows_from.tables import Given
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.mechanisms.graphical.models import Capacity
from dpsynth_core.planning import domain_origin
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.vocabulary.domain import DATA, Domain
from dpsynth_core.vocabulary.published import MAX_COUNT

SEED = 1
"""Seed unless another is asked for."""
CAPACITY_MB = 500.0
"""Capacity of the model."""
MAX_GIVER, MAX_PROMISE = 200, 2000
"""Characters of the giver's name and of its promise."""
_ENTRIES = ("domain", "tables", "people", "rows", "seed", "giver", "promise")


@dataclass(frozen=True, eq=False)
class Order:
    """An order for rows from protected tables.

    Attributes:
        stated: The order as JSON, with the entries `_ENTRIES`.
        domain: The columns.
        tables: The tables.
        people: The number of people whom the tables count: as it was published, or as the tables have it.
        rows: Number of rows.
        seed: Seed of the random numbers.
        giver: The name of the office or person who made the tables; "" if it is unknown.
        promise: What the giver promises about the tables, in its own words; "" if nothing.
    """

    stated: Mapping[str, Any]
    domain: Domain
    tables: tuple[Given, ...]
    people: float
    rows: int
    seed: int
    giver: str = ""
    promise: str = ""

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Order:
        """Return the order that JSON states.

        Args:
            stated: "domain" (a domain's JSON), "tables" (see `tables.from_json`), "people" (the published number of people,
                or null), "rows" (a number, or null for as many as people), "seed", "giver" and "promise" (texts, perhaps empty).

        Raises:
            InputError: A field is wrong, a column's values are to be learnt, or the domain was read from the private table.
            CapacityError: The domain, a table, or the model of all tables is too large.
        """
        if unknown := [str(name) for name in stated if name not in _ENTRIES]:
            raise InputError("order", f"its entry {shown(unknown[0])} is unknown", f"use {', '.join(_ENTRIES)}")
        domain = Domain.stated(stated.get("domain"))
        check_public(domain)
        listed = stated.get("tables")
        if not isinstance(listed, list):
            raise InputError("tables", "it is not a list", "give tables with columns and cells")
        given = tuple(tables.from_json(one, domain, f"tables.{number}") for number, one in enumerate(listed))
        tables.check(given)
        if (size := Capacity(domain, CAPACITY_MB).used_mb([one.columns for one in given])) > CAPACITY_MB:
            problem = f"a model of these tables takes {size:,.0f} MB, and may take {CAPACITY_MB:,.0f}"
            raise CapacityError("tables", problem, "give fewer tables, or ones that tie fewer columns together")
        people = tables.people(given, _people(stated.get("people")))
        rows = min(MAX_ROWS, round(people)) if stated.get("rows") is None else _whole(stated, "rows", 1, MAX_ROWS)
        texts = (_text(stated, name, most) for name, most in (("giver", MAX_GIVER), ("promise", MAX_PROMISE)))
        return cls(stated, domain, given, people, rows, _whole(stated, "seed", 0, 2**63 - 1), *texts)

    def check_promised(self) -> None:
        """Check that somebody promises something about the tables, without which their rows are not passed on.

        Raises:
            InputError: The giver is not named, or it promises nothing.
        """
        for name, text, what in (("giver", self.giver, "who made the tables"), ("promise", self.promise, "how they were protected")):
            if not text:
                remedy = f"state {what}: this program gives no guarantee, so that a reader has the giver's word alone"
                raise InputError(name, "it is missing", remedy)

    def to_json(self) -> dict[str, Any]:
        """Return the order as JSON, from which `of` makes an equal one."""
        return {name: self.stated.get(name) for name in _ENTRIES}

    @property
    def origin(self) -> str:
        """The origin of the domain as a clause."""
        return domain_origin.clause_of(self.domain.origin)

    @property
    def counted(self) -> bool:
        """True if the number of people is stated beside the tables."""
        return self.stated.get("people") is not None

    @property
    def untold(self) -> tuple[str, ...]:
        """The columns that are in no table, in the order of the domain; () if each is in one."""
        return tuple(name for name in self.domain.names if not any(name in one.columns for one in self.tables))


def check_public(domain: Domain) -> None:
    """Check that a domain states all values, and that they were not read from the private table; return nothing.

    Raises:
        InputError: A column's values are to be learnt, or the domain was read from the private table.
    """
    if domain.unknown:
        raise InputError("columns", f"the values of {domain.unknown[0].name!r} are to be learnt, and tables have their own", "list them")
    if domain.origin == DATA:
        problem = "the columns' values were read from the private table, which no promise about the tables covers"
        raise InputError("domain", problem, "state the values that the tables have, or those of a codebook")


def _whole(stated: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = stated.get(name)
    if type(value) is not int or not least <= value <= most:
        raise InputError(name, f"{shown(value)} cannot be used", f"give a whole number from {least:,} to {most:,}")
    return value


def _people(value: object) -> float | None:
    if value is not None and (type(value) not in (int, float) or not 1 <= value <= MAX_COUNT):  # type: ignore[operator]
        raise InputError("people", f"{shown(value)} is not a number of people", f"give a number from 1 to {MAX_COUNT:,}, or leave it out")
    return value  # type: ignore[return-value]


def _text(stated: Mapping[str, Any], name: str, most: int) -> str:
    value = stated.get(name) or ""
    if not isinstance(value, str) or len(value) > most or not all(part.isprintable() for part in value.split("\n")):
        raise InputError(name, "it is not a text", f"write at most {most:,} characters")
    return " ".join(value.split())
