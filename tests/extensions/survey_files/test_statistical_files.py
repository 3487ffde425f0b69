"""Files of SPSS, Stata and SAS: names, missing values and days as each program declares them, damage, and limits of the reader."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter

from dpsynth_core.foundation import confined as runner
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, headers, opening
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Domain
from tests.patience import SECONDS
from tests.refusals import refused
from tests.sources.test_confined import TABLE, _read
from tests.sources.test_kinds_of_files import CLOCK_TEXTS, CLOCKS, DOMAIN, LASTING, LASTING_TEXTS, MOMENTS, TIMES, TIMES_AS_CODES, times_of
from tests.sources.test_neighbours import coded
from tests.sources.test_readable import DATE, _planned
from tests.sources.written import WRITERS


def test_a_portable_file_is_read_with_its_names_in_capitals(tmp_path: Path) -> None:
    WRITERS[".por"](pa.table({"sex": ["f", "m"], "age": [1.5, 2.0]}), tmp_path / "a.por")
    form = default_format(tmp_path / "a.por")
    assert (form.kind, opened(tmp_path / "a.por", form).column_names()) == ("spss", ("SEX", "AGE"))
    assert pa.Table.from_batches(opened(tmp_path / "a.por", form).batches(["AGE"])).to_pydict() == {"AGE": [1.5, 2.0]}


@pytest.mark.parametrize("ending", [".xlsx", ".ods", ".sav", ".dta", ".xpt"])
def test_dates_of_a_program_are_dates(tmp_path: Path, ending: str) -> None:
    days = [datetime.date(2001, 2, 3), datetime.date(1900, 3, 1), datetime.date(2030, 12, 31)]
    path = tmp_path / f"a{ending}"
    if ending == ".xlsx":
        with xlsxwriter.Workbook(path, {"default_date_format": "dd/mm/yy"}) as book:
            sheet = book.add_worksheet()
            sheet.write_column(0, 0, ["born", *days])
    else:
        WRITERS[ending](pa.table({"born": pa.array(days, pa.date32())}), path)
    table = pa.Table.from_batches(opened(path, default_format(path)).batches(["born"]))
    codes = encode(Domain((DOMAIN["born"],)), table, TableFormat().notation)["born"]
    wanted = encode(Domain((DOMAIN["born"],)), pa.table({"born": pa.array(days)}), TableFormat().notation)["born"]
    assert np.array_equal(codes, wanted)


def test_declared_missing_values_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"answer": [1.0, 2.0, 9.0, np.nan], "word": ["a", "x", "b", ""]})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), missing_ranges={"answer": [{"lo": 8, "hi": 9}], "word": ["x"]})
    table = pa.Table.from_batches(opened(tmp_path / "a.sav", default_format(tmp_path / "a.sav")).batches(["answer", "word"]))
    assert table.to_pydict() == {"answer": [1.0, 2.0, None, None], "word": ["a", None, "b", ""]}


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_damage_to_the_letters_or_the_day_of_one_row_stays_in_its_cell(tmp_path: Path, ending: str) -> None:
    """Bytes that the file's encoding does not know, and a day beyond the calendar, would end the reading of the whole file."""
    days = pd.Series([0.0, 7e15, 3.0, -7e15])
    frame = pd.DataFrame({"sex": ["f", "zzzz", "m", "f"], "age": [1.0, 2, 3, 4], "ward": ["a"] * 4, "day": days})
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}[ending]
    day = {".sav": "DATE11", ".dta": "%td", ".xpt": "DATE9"}[ending]
    path = tmp_path / f"a{ending}"
    write(frame, str(path), variable_format={"day": day})
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"z\xff\xe2z"))
    form = default_format(path)
    table = pa.Table.from_batches(opening.opened(path, form).batches(["sex", "day"]))
    assert table["sex"].to_pylist() == ["f", "z\ufffd\ufffdz" if form.encoding == "utf-8" else "z\xff\xe2z", "m", "f"]
    assert [value is None for value in table["day"].to_pylist()] == [False, True, False, True]
    assert coded(path, form).sum() == 4


def test_a_file_of_a_statistics_program_is_refused_by_the_formats_of_its_variables(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"x": [20240115.0]}), str(tmp_path / "a.sav"))
    section = {"kind": "spss", "path": str(tmp_path / "a.sav")}
    refused(_planned, section, DATE, saying="double.*date")
    _planned(section | {"date_format": "yyyymmdd"}, DATE)


def test_a_column_that_is_not_there_is_named_by_the_other_process(tmp_path: Path) -> None:
    WRITERS[".dta"](TABLE, tmp_path / "a.dta")
    with pytest.raises(InputError, match="column 'more': the data have no column of this name"):
        next(opening.opened(tmp_path / "a.dta", TableFormat("stata")).batches(["more"]))


def test_reading_all_records_may_take_so_long_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for one row at a time, ReadStat starts again for each: of 30,000 rows this would take a minute."""
    WRITERS[".zsav"](pa.table({"a": [0.0] * 30_000}), tmp_path / "a.zsav")
    monkeypatch.setattr(confined, "LIMITS", Limits(megabytes=2048, seconds=1))
    monkeypatch.setattr(confined, "_WAIT", SECONDS)  # a busy machine may not give it that second of work in ten
    monkeypatch.setattr(headers, "BATCH_ROWS", 1)
    refused(_read, tmp_path / "a.zsav", saying="1 seconds of work")


def test_a_package_that_is_missing_there_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS[".sav"](TABLE, tmp_path / "a.sav")
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pyreadstat'] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(runner, "_SHUT_IN", runner._Starter(whole=False))
    for _ in range(2):  # the process goes on
        with pytest.raises(InputError, match=r"packages: pyreadstat is missing; pip install .dpsynth-studio\[formats\]"):
            opening.opened(tmp_path / "a.sav", TableFormat("spss")).column_names()


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".dta", ".xpt"])
def test_times_mean_what_they_mean_in_other_files(tmp_path: Path, ending: str) -> None:
    """As each program has them: Stata has no durations, so they are text there."""
    path, columns = tmp_path / f"a{ending}", (MOMENTS, CLOCKS, LASTING)
    if ending == ".xlsx":
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, TIMES.names)
            for place, (values, form) in enumerate(zip(columns, ("dd/mm/yyyy hh:mm", "hh:mm", "[h]:mm"), strict=True)):
                for row, value in enumerate(values, start=1):
                    if value is not None:
                        sheet.write_datetime(row, place, value, book.add_format({"num_format": form}))
    else:
        seconds = [None if one is None else one.total_seconds() for one in LASTING]
        lasting = ["" if one is None else one for one in LASTING_TEXTS] if ending == ".dta" else pd.Series(seconds, dtype=float)
        clocks = ["" if one is None else one for one in CLOCK_TEXTS] if ending == ".dta" else CLOCKS
        frame = pd.DataFrame({"admitted": pd.Series(MOMENTS, dtype="datetime64[us]"), "hour": clocks, "stay": lasting})
        shown = {".sav": {"stay": "DTIME12"}, ".xpt": {"stay": "TIME12"}}.get(ending, {})
        write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}[ending]
        write(frame, str(path), **({"variable_format": shown} if shown else {}))
    assert times_of(path) == TIMES_AS_CODES
