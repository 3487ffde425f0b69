"""Small tables of persons and their rows, and what the source makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dpsynth_core.extensions.sequences.layout import SequenceLink
from dpsynth_core.extensions.sequences.source import SequenceSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

PERSONS = Domain.from_json({"region": 2})
WARD = Attribute.categorical("ward", ("a", "b"))
GAP = Attribute.integer("gap", 0, 100, edges=[0, 1, 2, 10, 100], missing=True)
FIRST_ROW = GAP.code_for_missing
"""The code of the gap of a first row."""


def link(most: int = 3, gap: bool = False, order: str | None = "time", everybody: bool = False, **more: Any) -> SequenceLink:
    rows = Domain((WARD, GAP) if gap else (WARD,))
    return SequenceLink(PERSONS, rows, most, order=order, gap="gap" if gap else None, everybody=everybody, **more)


def source(two: SequenceLink, persons: Sequence[Sequence[str]], rows: Any, form: TableFormat | None = None) -> SequenceSource:
    """persons: key and region of each line; rows: key, ward and time of each line, or a table of these."""
    form = form or TableFormat()
    first = pd.DataFrame(persons, columns=["key", "region"], dtype=str)
    second = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=["key", "ward", "time"], dtype=str)
    return SequenceSource(two, opened(first, form), opened(second, form), "key")


def read(two: SequenceLink, persons: Sequence[Sequence[str]], rows: Any, form: TableFormat | None = None) -> list[list[list[int]]]:
    """The codes of the rows of each person that counts, in order."""
    _, sizes, codes = source(two, persons, rows, form)._read()
    return [codes[number, :size].tolist() for number, size in enumerate(sizes)]


def wards(two: SequenceLink, rows: Any, form: TableFormat | None = None) -> str:
    """The wards of person 1, in order, as letters."""
    return "".join("ab"[codes[0]] for codes in read(two, [("1", "0")], rows, form)[0])


def typed(column: pa.Array) -> pd.DataFrame:
    """Rows of person 1 in wards a, b, a, b, ... with times of an Arrow type."""
    letters = np.resize(["a", "b"], len(column))
    return pd.DataFrame({"key": "1", "ward": letters, "time": pd.Series(column, dtype=pd.ArrowDtype(column.type))})
