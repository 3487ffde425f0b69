"""analysis.do has the numbers of `Release.ask`; PSPP reads the rows with their labels by rows.sps; rows.sas names every column."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

import dpsynth_core as dps
from dpsynth_core.extensions.programs.layout import tables, values
from dpsynth_core.extensions.programs.statements import MOST_CELLS, statements
from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.program_names import program_names
from tests.bundle import pack
from tests.bundle.bundles import files, run, spec
from tests.extensions.programs.examples import EXAMPLES, bundle
from tests.extensions.programs.rscript import run_pspp


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_program_for_stata_has_the_released_numbers(kind: str) -> None:
    """The same in its order; that they are those of `Release.ask` is in `test_r`, of the same list."""
    program = files(bundle(kind))["analysis.do"].decode()
    lines = re.findall(r"^mata: dp_line\(.*, (\S+), (\S+), (\S+), \"(\w+)\", \"(\w+)\"\)$", program, re.MULTILINE)
    stated = sorted(statements(dps.open(bundle(kind)).made), key=lambda one: one.file != "synthetic.csv")
    assert len(lines) == len(stated)
    for line, one in zip(lines, stated, strict=True):
        for text, number in zip(line, (one.value, one.low, one.high), strict=False):
            assert text == "." if number is None else float(text) == pytest.approx(number, rel=1e-9, abs=1e-9)
        assert line[3:] == (one.known, "w_calibrated" if one.weighted else "dp_one")


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXAMPLES)
def test_pspp_reads_the_rows_as_they_are(kind: str, tmp_path: Path) -> None:
    held, release = files(bundle(kind)), dps.open(bundle(kind)).made
    for name, content in held.items():
        if name.endswith(".csv") and "/" not in name:
            (tmp_path / name).write_bytes(content)
    saving = [f"DATASET ACTIVATE {name}.\nSAVE OUTFILE='{name}.sav'." for name in ("synthetic", "members") if f"{name}.csv" in held]
    run_pspp("\n".join([held["rows.sps"].decode(), *saving, ""]), tmp_path)
    for table in tables(release):
        path = tmp_path / table.file.replace(".csv", ".sav")
        frame, meta = pyreadstat.read_sav(path, disable_datetime_conversion=True, user_missing=True)
        rows = pd.read_csv(tmp_path / table.file, dtype=str, keep_default_na=False)
        assert list(frame) == list(program_names(table.domain, "spss"))
        for name, column in zip(frame, table.columns, strict=True):
            assert list(map(read(column.dtype), frame[name])) == list(map(expected(column.dtype), rows[column.name])), name
            label = column.label or (column.name if column.name != name else "")
            assert (meta.column_names_to_labels[name] or "") == visible(label)
            labels = {one.value: one.label for one in values(column) if one.labelled}
            assert meta.variable_value_labels.get(name, {}) == labels
        assert meta.missing_ranges == (MISSING if kind == "survey" else {})


MISSING = {
    "trust": [{"lo": 8.0, "hi": 8.0}, {"lo": 9.0, "hi": 9.0}],
    "party": [{"lo": 95.0, "hi": 98.0}],
    "word": [{"lo": "ref", "hi": "ref"}, {"lo": "dk", "hi": "dk"}],
}


def read(dtype: str) -> Callable[[Any], object]:
    """A cell of SPSS as text or rounded number: days and moments in seconds since 1582, times in seconds."""
    return (lambda cell: cell) if dtype in ("string", "bool") else (lambda cell: None if pd.isna(cell) else round(cell, 6))


def expected(dtype: str) -> Callable[[str], object]:
    """The same of a cell of the CSV file."""

    def told(text: str) -> object:
        if dtype in ("string", "bool"):
            return text
        if not text:
            return None
        if dtype in ("date", "timestamp"):
            return round((datetime.fromisoformat(text) - datetime(1582, 10, 14)).total_seconds(), 6)
        if dtype in ("time", "duration"):
            sign = -1 if text.startswith("-") else 1
            hours, minutes, seconds = map(float, text.lstrip("-").split(":"))
            return sign * (hours * 3600 + minutes * 60 + seconds)
        return round(float(text), 6)

    return told


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_program_for_sas_reads_every_column_in_order(kind: str) -> None:
    program = files(bundle(kind))["rows.sas"].decode()
    release = dps.open(bundle(kind)).made
    read = [block.split() for block in re.findall(r"^  input\n(.*?)^  ;", program, re.MULTILINE | re.DOTALL)]
    assert read == [list(program_names(table.domain, "sas")) for table in tables(release)]
    informats = re.findall(r"^  informat (\w+) \S+;$", program, re.MULTILINE)
    assert informats == [name for one in read for name in one]


def test_columns_of_many_cells_and_releases_without_rows_have_no_statements() -> None:
    domain = {"version": 1, "attributes": [
        {"name": "many", "kind": "integer", "lower": 0, "upper": MOST_CELLS, "bins": MOST_CELLS + 1, "other": False, "missing": False},
        {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
    ]}  # fmt: skip
    data = {"kind": "standin", "standin": {"rows": 50}}
    made = run(spec(data=data, domain=domain, workload={"kind": "all", "k": 1}, mechanism={"name": "independent"}))
    assert [(one.column, one.statistic) for one in statements(made)] == [("many", "mean"), ("sex", "share"), ("sex", "share")]
    answers = run(spec(data=data, domain=domain, workload={"kind": "all", "k": 1}, mechanism={"name": "gaussian"}, output={}))
    assert not {"analysis.R", "analysis.do", "rows.sas", "rows.sps"} & set(pack.contents(answers))
