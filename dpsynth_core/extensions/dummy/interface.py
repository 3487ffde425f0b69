"""Dummy rows for Python programs."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.bundle.remade import pack
from dpsynth_core.extensions.dummy.document import MEMBERS, TABLE, statement
from dpsynth_core.extensions.dummy.making import make
from dpsynth_core.extensions.dummy.order import MAX_ROWS, ROWS, SEED, Order
from dpsynth_core.foundation.asked_files import asked_file
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.interface import columns as domains
from dpsynth_core.interface.columns import Columns
from dpsynth_core.interface.frames import pandas_of
from dpsynth_core.interface.given_values import path_of, plain, whole_number
from dpsynth_core.interface.plan import Plan, published_sections
from dpsynth_core.vocabulary.link import MOST

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Dummy:
    """Dummy rows: invented from a codebook alone, to write code with.

    Attributes:
        order: Columns, number of rows and seed, from which the rows follow.
        files: The content of each file of the bundle, by name.
    """

    order: Order
    files: Mapping[str, bytes]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the table, or of the first of two linked tables, with the columns and types of a release of the same plan.

        Each access returns the same frame.
        """
        return self._table(TABLE)

    @cached_property
    def members(self) -> pd.DataFrame | None:
        """The rows of the second of two linked tables, the same frame at each access; None for a single table."""
        return None if self.order.link is None else self._table(MEMBERS)

    @property
    def statement(self) -> str:
        """The statement about the rows, to be passed on with them."""
        return statement(self.order)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the bundle as a ZIP, which `verify` checks, and return its path.

        Args:
            path: Where to write it; a file there is replaced.

        Raises:
            InputError: If the path cannot be used.
        """
        place = path_of(path, "path")
        with asked_file(place, "path") as stream:
            pack(self.files, stream)
        return place

    def __repr__(self) -> str:
        return f"{self.order.rows:,} dummy rows of {len(self.order.domain.columns):,} columns. {self.statement}"

    def _table(self, name: str) -> pd.DataFrame:
        import pyarrow.parquet as pq

        return pandas_of(pq.read_table(io.BytesIO(self.files[f"{name}.parquet"])).replace_schema_metadata())


def dummy(
    columns: Columns | Plan,
    *,
    rows: int = ROWS,
    seed: int = SEED,
    published: Sequence[tuple[Any, str]] = (),
    members: Columns | None = None,
    person: str | None = None,
    rows_per_person: int = 5,
    rules: Sequence[Mapping[str, Any]] = (),
) -> Dummy:
    """Make dummy rows from columns alone: no table of records is opened, and nothing is charged.

    Every value is one that its column may have, and every rule holds. Frequencies and relations are invented: write code with the
    rows, and draw no conclusion from them. Code that runs on them runs on a release of the same plan.

    Args:
        columns: What each column may contain, such as ``{"age": (0, 99), "sex": ["f", "m"]}``, a domain, or
            the path of a domain or codebook; or a plan, which states all other options but rows and seed.
        rows: Number of rows, from 1 to 1,000,000; of two linked tables, of the first one.
        seed: From 0 to 2^63 - 1; the same seed gives the same rows.
        published: Tables that were published about the people, whose shares the rows take over: each a path
            or a labelled table, with the place of publication, such as ``("ages.csv", "Census 2021")``. Linked
            tables take none.
        members: The columns of the second of two linked tables.
        person: The column of both linked tables that says whose a row is; linked tables need it.
        rows_per_person: Largest number of rows of the second table that belong to one row of the first, from 1 to 10.
        rules: Statements that hold in every household; of linked tables only.

    Raises:
        InputError: If a column is not described, its values are to be learnt, or they were read from the private table.
        InputError: If a number is out of range, the options do not go together, or no household keeps all rules.
        CapacityError: If the domain is too large, or making the rows takes too much time or memory.

    Examples:
        >>> import dpsynth_core as dps
        >>> made = dps.dummy({"age": (0, 99), "sex": ["f", "m"]}, rows=50)
        >>> len(made.rows), bool(made.rows["age"].dropna().between(0, 99).all())
        (50, True)
        >>> path = made.save("dummy.zip")
    """
    number = whole_number(rows, "rows", "a number of rows that can be made", 1, MAX_ROWS)
    first = whole_number(seed, "seed", "a seed", 0, 2**63 - 1)
    if isinstance(columns, Plan):
        if published or members is not None or person is not None or rules:
            raise InputError("columns", "a plan says all the rest itself", "give a plan, rows and seed alone")
        order = Order.of_spec(columns.sealed.spec, number, first)
    else:
        domain = domains.domain(columns)
        stated: dict[str, Any] = {"domain": domain.to_json(), "rows": number, "seed": first}
        if published:
            stated["published_tables"] = published_sections(published, domain)
        if members is not None:
            most = whole_number(rows_per_person, "rows_per_person", "a number of members", 1, MOST)
            own = [plain(dict(rule)) for rule in rules]
            stated["members"] = {"domain": domains.domain(members).to_json(), "key": person, "most": most, "rules": own}
        elif person is not None or rules:
            raise InputError("members", "a key and rules are of two linked tables", "give the columns of the second one")
        order = Order.of(stated)
    return Dummy(order, make(order))
