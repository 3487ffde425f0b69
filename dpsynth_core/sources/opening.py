"""The opening of tables: files, a DataFrame, a table in memory or one at a place of an extension."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # a run loads the reader of its own table alone
    import pandas as pd

    from dpsynth_core.sources.files import FileTable
    from dpsynth_core.sources.formats import TableFormat
    from dpsynth_core.sources.held import Batches, HeldTable

TableSource: TypeAlias = "str | os.PathLike[str] | pd.DataFrame | Batches"
Table: TypeAlias = "FileTable | HeldTable"


def opened(source: TableSource, form: TableFormat) -> Table:
    """Return the source as an opened table: a path as `FileTable`, any other source as `HeldTable`. No record is read.

    Args:
        source: A path, a URI of an object store, a pandas DataFrame, or another table that yields batches.
        form: The format of the table.

    Raises:
        InputError: A path is not a file or a folder of files of one kind.
        CapacityError: A folder holds too many files.
    """
    if isinstance(source, str | os.PathLike):
        from dpsynth_core.sources.files import FileTable  # loaded where the table is files

        return FileTable.of(source, form)
    import pandas as pd

    from dpsynth_core.sources.held import Frame, HeldTable

    return HeldTable(Frame(source) if isinstance(source, pd.DataFrame) else source, form)
