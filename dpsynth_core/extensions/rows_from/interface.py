"""Rows for Python programs from tables of others: of another program, or of an office that protects its tables in its own way.

No guarantee of ours is in them. What holds of the tables holds of the rows, for nothing else is looked at; who made the tables says what.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.bundle.remade import pack
from dpsynth_core.extensions.rows_from.document import DOCUMENT, TABLE, closeness, notes, statement
from dpsynth_core.extensions.rows_from.making import make
from dpsynth_core.extensions.rows_from.order import SEED, Order, check_public
from dpsynth_core.extensions.rows_from.tables import Tables, given
from dpsynth_core.foundation.asked_files import asked_file
from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.interface import columns as domains
from dpsynth_core.interface.columns import Columns
from dpsynth_core.interface.frames import pandas_of
from dpsynth_core.interface.given_values import path_of, whole_number
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.vocabulary.published import MAX_COUNT

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """Rows that were fitted to given tables.

    Attributes:
        order: Columns, tables, number of rows and seed, from which the rows follow.
        files: The content of each file of the bundle, by name.
    """

    order: Order
    files: Mapping[str, bytes]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows, a pandas frame; each access returns the same one."""
        import pyarrow.parquet as pq

        return pandas_of(pq.read_table(io.BytesIO(self.files[f"{TABLE}.parquet"])).replace_schema_metadata())

    @cached_property
    def differences(self) -> pd.DataFrame:
        """A pandas frame with a row for each given table.

        `table` has the names of its columns, and `difference` the share of the rows that must move to another cell to
        have the table's shares. Negative counts of the table are read as 0, and suppressed ones are left open.
        """
        import pandas as pd

        document = parse_json(self.files[DOCUMENT].decode(), DOCUMENT)
        off = [one["rows_differ"] for one in document["tables"]]
        return pd.DataFrame({"table": [str(one) for one in self.order.tables], "difference": off})

    @property
    def statement(self) -> str:
        """The statement about the rows, to be passed on with them."""
        return statement(self.order)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the rows and the tables.

        The first says how far the rows are from the given tables; others follow if something was noticed, such as
        totals of the tables that differ.
        """
        return (closeness(self.files), *notes(self.order))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the bundle as a ZIP, which `verify` checks, and return its path.

        Args:
            path: Where to write it. A file that is there is replaced.

        Raises:
            InputError: If `giver` or `promise` was not given, as the rows have no promise at all without
                them, or the file cannot be written.
        """
        self.order.check_promised()
        place = path_of(path, "path")
        with asked_file(place, "path") as stream:
            pack(self.files, stream)
        return place

    def __repr__(self) -> str:
        return f"{self.order.rows:,} rows from {len(self.order.tables):,} tables. {self.statement}"


def rows_from(
    tables: Tables,
    columns: Columns,
    *,
    deviations: Mapping[Any, float] | None = None,
    rows: int | None = None,
    people: float | None = None,
    seed: int = SEED,
    giver: str = "",
    promise: str = "",
) -> Fitted:
    """Make rows whose tables match the given tables as closely as one graphical model can (Private-PGM).

    Nothing is protected and no budget is charged: the rows protect people as far as the tables do. Tables whose totals
    differ are read as shares. A suppressed count (empty, nan, or a mark such as "..") is left open,
    and the model fills its cell. Values of columns that are in no table are drawn evenly.

    Args:
        tables: Counts, exact or protected, of the same people: tables by the columns that each is over, or a
            list of tables whose labels name the columns. A table is an array with one axis per column; a
            pandas, Polars or Arrow table with a column for each column and `count`; a Series or cross table
            of pandas; or a path.
        columns: What each column may contain, such as {"age": (16, 95), "sex": ["f", "m"]}, or a domain.
        deviations: Standard deviation of the noise in a cell, in people, by table; 1 for each table that is left out.
        rows: Number of rows, at most 20,000,000; by default as many as people, up to this limit.
        people: The number of people, if it was published; by default the number that the tables count.
        seed: The same seed gives the same rows.
        giver: Who made the tables, such as the name of an office, in at most 200 characters.
        promise: How the giver protected the tables, in its own words, which are passed on with the rows; at
            most 2,000 characters.

    Returns:
        The rows in random order, and how far their tables differ from the given ones.

    Raises:
        InputError: If a table does not fit these columns, no table is given, the values of a column are to be
            learnt or were read from the private table, a number or text is out of its limits, or all tables
            have suppressed counts and `people` is left out.
        CapacityError: If a table has more than 1,000,000 cells, the tables connect too many columns for one model,
            or making the rows takes too much time or memory.

    Examples:
        >>> import dpsynth_core as dps, numpy as np
        >>> columns = {"sex": {"kind": "categorical", "categories": ["f", "m"], "missing": False, "other": False}}
        >>> fitted = dps.rows_from({("sex",): np.array([60.0, 40.0])}, columns)
        >>> fitted.rows["sex"].value_counts().to_dict()
        {'f': 60, 'm': 40}
    """
    domain = domains.domain(columns)
    check_public(domain)
    stated: dict[str, Any] = {
        "domain": domain.to_json(),
        "tables": [one.to_json(domain) for one in given(domain, tables, deviations or {})],
        "people": None if people is None else whole_number(people, "people", "a number of people", 1, MAX_COUNT),
        "rows": None if rows is None else whole_number(rows, "rows", "a number of rows that can be made", 1, MAX_ROWS),
        "seed": whole_number(seed, "seed", "a seed", 0, 2**63 - 1),
        "giver": giver,
        "promise": promise,
    }
    order = Order.of(stated)
    return Fitted(order, make(order))
