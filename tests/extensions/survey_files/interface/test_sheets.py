"""Sheets of a workbook are different tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpsynth_core.store import chain
from tests.interface.test_interface import people, planned


def test_another_sheet_of_a_workbook_is_another_table(tmp_path: Path) -> None:
    book = tmp_path / "people.xlsx"
    with pd.ExcelWriter(book) as writer:
        people().to_excel(writer, sheet_name="first", index=False)
        people().assign(sex="f").to_excel(writer, sheet_name="second", index=False)

    def women(sheet: str) -> int:
        made = planned(str(book), form={"kind": "spreadsheet", "sheet": sheet}).run(progress=False)
        return int((made.rows["sex"] == "f").sum())

    assert women("second") > women("first")
    assert women("second") == women("second")
    assert [entry.kind for entry in chain.entries()].count("reserve") == 2
