"""A table as a workbook. For `tests/interface/test_same_table.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

WRITTEN: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "workbook": lambda frame, path: frame.to_excel(path / "people.xlsx", index=False) or str(path / "people.xlsx"),
}
