"""From a codebook or the labels of a file of SPSS to dummy rows that SPSS reads."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import pyreadstat

from dpsynth_core.cli.command_line import main
from tests.extensions.dummy.test_command import FIVE_MINUTES, written
from tests.vocabulary.test_ddi import AGE, SEX, book


def test_a_ddi_codebook_becomes_a_bundle_in_five_minutes(tmp_path: Path) -> None:
    begun = time.monotonic()
    codebook = written(tmp_path, "codebook.xml", book(SEX, AGE.format(more="")))
    assert main(["dummy", str(codebook), "--rows", "100", "--out", str(tmp_path / "out"), "--format", "csv,sav"]) == 0
    assert main(["verify", str(tmp_path / "out" / "dummy.zip")]) == 0
    assert time.monotonic() - begun < FIVE_MINUTES
    frame, meta = pyreadstat.read_sav(str(tmp_path / "out" / "dummy.sav"), user_missing=True)
    assert len(frame) == 100
    assert set(frame["sex"].dropna()) == {1.0, 2.0, 9.0}
    assert frame["age"].dropna().between(17, 90).all()
    assert meta.variable_value_labels["sex"] == {1.0: "male", 2.0: "female", 9.0: "refused"}
    assert meta.file_label.startswith("DUMMY ROWS")


def test_labels_of_an_spss_file_become_a_bundle_in_five_minutes(tmp_path: Path) -> None:
    begun = time.monotonic()
    people = pd.DataFrame({"sex": [1.0, 2.0, 2.0], "age": [31.0, 47.0, 52.0]})
    source, domain, out = tmp_path / "people.sav", tmp_path / "domain.json", tmp_path / "out"
    labels, about, form = {"sex": {1: "male", 2: "female", 9: "refused"}}, ["Sex", "Age in years"], {"age": "F3.0"}
    pyreadstat.write_sav(people, str(source), column_labels=about, variable_value_labels=labels, variable_format=form)
    assert main(["domain", str(source), "--out", str(domain)]) == 0
    source.unlink()  # the table is not needed from here on
    made = json.loads(domain.read_text())
    assert [column["name"] for column in made["attributes"] if column.pop("to_do", "")] == ["sex"]  # are 3 to 8 possible? No.
    domain.write_text(json.dumps(made))
    assert main(["dummy", str(domain), "--rows", "50", "--out", str(out), "--format", "sav"]) == 0
    assert main(["verify", str(out / "dummy.zip")]) == 0
    assert time.monotonic() - begun < FIVE_MINUTES
    _, meta = pyreadstat.read_sav(str(out / "dummy.sav"))
    assert meta.variable_value_labels["sex"] == {1.0: "male", 2.0: "female", 9.0: "refused"}
    assert meta.column_names_to_labels == {"sex": "Sex", "age": "Age in years"}
