"""Files of SPSS, Stata, SAS, Excel and OpenDocument as kinds of tables that hold values. For `tests/sources/ways.py`."""

from __future__ import annotations

import pyarrow as pa
import pyreadstat

from tests.sources.ways import Store, file
from tests.sources.written import WRITERS


def _plain(table: pa.Table) -> pa.Table:
    """Return the table with the types that programs of statistics have: float64 for numbers and truths."""
    for place, field in enumerate(table.schema):
        if pa.types.is_boolean(field.type) or pa.types.is_integer(field.type) or pa.types.is_decimal(field.type):
            column = pa.array([None if value is None else float(value) for value in table.column(place).to_pylist()])
            table = table.set_column(place, field.name, column)
    return table


STORES: dict[str, Store] = {
    "Excel": file(".xlsx", WRITERS[".xlsx"]),
    "ODS": file(".ods", WRITERS[".ods"]),
    "SPSS": file(".sav", lambda table, path: pyreadstat.write_sav(_plain(table).to_pandas(), str(path))),
    "Stata": file(".dta", lambda table, path: pyreadstat.write_dta(_plain(table).to_pandas(), str(path))),
    "SAS": file(".xpt", lambda table, path: pyreadstat.write_xport(_plain(table).to_pandas(), str(path))),
}
