"""The command line writes files of survey programs, and says before the charge what they cannot hold."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from dpsynth_core.store import balance
from tests.test_cli import place, synthesize

__all__ = ["place"]


@pytest.mark.parametrize("form", ["xlsx", "parquet"])
def test_days_that_a_workbook_holds_as_text_are_said_before_the_charge(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({"born": ["1850-01-01", "1920-01-01"] * 50, "sex": ["f", "m"] * 50}).to_csv("births.csv", index=False)
    born = {"name": "born", "kind": "date", "lower": "1850-01-01", "upper": "1949-12-31", "width": "10 years"}
    sex = {"name": "sex", "kind": "categorical", "categories": ["f", "m"]}
    Path("births.json").write_text(json.dumps({"version": 1, "attributes": [born, sex]}))
    assert synthesize("--mechanism", "independent", "--format", form, data="births.csv", domain="births.json") == 0, capsys.readouterr().err
    before, _, _ = capsys.readouterr().err.partition("round 0")
    note = "note: Days before 1900 are texts such as 1899-12-31, since Excel has no number for them: 'born'. Use parquet"
    assert (note in before) == (form == "xlsx")


def test_rows_come_in_the_formats_that_are_asked_for_with_their_labels(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(Path("domain.json").read_text())
    entry = next(one for one in document["attributes"] if one["name"] == "sex")
    entry |= {"label": "Sex at <birth>", "labels": [f"label of {category}" for category in entry["categories"]]}
    Path("labelled.json").write_text(json.dumps(document))
    assert synthesize("--mechanism", "independent", "--format", "csv,sav,xlsx", domain="labelled.json") == 0, capsys.readouterr().err
    files = [path.name for path in Path("out").glob("synthetic.*") if not path.name.endswith("-metadata.json")]
    assert {Path(name).suffix for name in files} == {".csv", ".sav", ".xlsx"}
    with zipfile.ZipFile("out/release.zip") as bundle:
        codebook = pd.read_csv(io.BytesIO(bundle.read("codebook.csv")))
        assert set(codebook.loc[codebook["column"] == "sex", "about"]) == {"Sex at <birth>"}
        assert {"f", "m"} <= set(codebook["written_as"])
        assert b"Sex at &lt;birth&gt;" in bundle.read("report.html")
        assert b"Sex at" in bundle.read("DATA_CARD.md")
    assert synthesize("--rows", "1048576", "--format", "csv,xlsx", "--population", "people") == 2
    refused = capsys.readouterr().err
    assert "--format: files for Excel are made of at most 1,048,575 rows, and 1,048,576 are asked for; use csv, parquet" in refused
    assert balance.populations() == ()
    entry["categories"][0] = "x" * 40_000
    Path("long.json").write_text(json.dumps(document))
    assert synthesize("--format", "sav,xlsx", "--population", "people", domain="long.json") == 2
    assert "column 'sex': a file for SPSS holds texts of 32,767" in capsys.readouterr().err
    assert balance.populations() == ()
    assert synthesize("--format", "docx") == 2
    assert "--format: 'docx' is not a known format of rows" in capsys.readouterr().err
