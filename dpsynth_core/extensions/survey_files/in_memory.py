"""Formats of rows whose libraries need all rows in memory at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import BinaryIO

import pyarrow as pa

from dpsynth_core.extensions import survey_files
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.release.about import About
from dpsynth_core.release.rows import Rows, as_table
from dpsynth_core.vocabulary.domain import Domain, column_field

THEN = datetime(1980, 1, 1)
"""The time of writing in files that have a place for it, so that the same rows give the same bytes."""
LONGEST_TEXT = 32_767
"""Of a value: characters of UTF-16 in Excel, bytes in SPSS and SAS."""


def at_once(write: Callable[[pa.Table, Domain, About], bytes]) -> Callable[[Rows, Domain, BinaryIO, About], None]:
    """Return `RowFormat.write` of a library that needs all rows in memory at once.

    The returned function writes the file to a stream, and raises CapacityError for more than 2,000,000 rows.

    Args:
        write: Returns the file's bytes from all rows, their columns and the description.
    """

    def put(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
        if rows.num_rows > survey_files.MOST_AT_ONCE:
            most = f"at most {survey_files.MOST_AT_ONCE:,} rows here"
            problem = f"files of this kind are made of {most}, since their libraries want all in memory"
            raise CapacityError("rows", problem, "use CSV or Parquet, or fewer rows")
        stream.write(write(as_table(rows), domain, about))

    return put


def check_texts(domain: Domain, title: str, size: Callable[[str], int], names: bool = False) -> None:
    """Check that no text is longer than 32,767 units (`LONGEST_TEXT`), and return nothing.

    The format's library would cut a longer text or leave it out.

    Args:
        domain: The columns of the rows. The categories of text columns are checked.
        title: The name of the format, for the message.
        size: Returns the length of a text as the format counts it.
        names: Whether names of columns are written as cells too.

    Raises:
        CapacityError: A text is longer.
    """
    for column in domain.columns:
        texts = (*(column.categories if column.dtype == "string" else ()), *((column.name,) if names else ()))
        if any(size(text) > LONGEST_TEXT for text in texts):
            problem = f"a file for {title} holds texts of {LONGEST_TEXT:,} characters or bytes; its name or a value is longer"
            raise CapacityError(column_field(column.name), problem, "shorten it in the domain, or use another format such as csv")
