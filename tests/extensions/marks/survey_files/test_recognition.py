"""Files of survey programs that say that they are synthetic are recognised, by their titles alone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dpsynth_core.extensions.marks.recognition import said
from dpsynth_core.release.row_formats import FORMATS
from tests.extensions.marks.test_recognition import WARNING
from tests.extensions.marks.test_sidecar import ROWS, SMALL
from tests.row_files import ABOUT, row_file

NAMES = ("sav", "dta", "xpt", "xlsx")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_says_so_is_recognised_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"rows{FORMATS[name].ending}"
    path.write_bytes(row_file(name, ROWS, SMALL))
    assert said(path).startswith(WARNING)


@pytest.mark.parametrize("name", NAMES)
def test_people_that_speak_of_synthetic_rows_in_their_records_are_none(tmp_path: Path, name: str) -> None:
    import pyreadstat

    frame, path = pd.DataFrame({"sex": [ABOUT.label] * 3}), str(tmp_path / f"rows.{name}")
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}
    if name == "xlsx":
        frame.to_excel(path, index=False, engine="xlsxwriter")
    else:
        write[name](frame, path)
    assert said(path) == ""
