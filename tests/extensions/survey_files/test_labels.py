"""A domain from a file's labels: what it says of itself is taken over, what it does not say stays open, and no record is read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from dpsynth_core.cli.command_line import main
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.files import declared_domain
from dpsynth_core.vocabulary.declared import guessed
from dpsynth_core.vocabulary.domain import Domain


def survey(path: Path, answers: list[float]) -> Path:
    frame = pd.DataFrame({"q1": answers, "region": ["n"] * len(answers), "age": [30.0] * len(answers), "name": ["x"] * len(answers)})
    pyreadstat.write_sav(
        frame,
        str(path),
        column_labels={"q1": "Sind Sie zufrieden?", "age": "Age in years"},
        variable_value_labels={"q1": {1.0: "ja", 2.0: "nein", 9.0: "keine Angabe"}, "region": {"n": "north", "s": "north"}},
        missing_ranges={"q1": [9.0]},
        variable_format={"age": "F3.0"},
    )
    return path


def test_labels_become_categories_and_what_is_open_says_so(tmp_path: Path) -> None:
    path = survey(tmp_path / "a.sav", [1.0, 2.0, np.nan])
    made = {entry["name"]: entry for entry in declared_domain(path, default_format(path))["attributes"]}
    assert made["q1"]["label"] == "Sind Sie zufrieden?"
    assert (made["q1"]["categories"], made["q1"]["user_missing"]) == (["1", "2", "9"], ["9"])  # 9 is declared to be missing
    assert (made["q1"]["labels"], made["q1"]["dtype"], made["q1"]["missing"]) == (["ja", "nein", "keine Angabe"], "int64", True)
    assert made["region"]["labels"] == ["north (n)", "north (s)"]
    assert (made["age"]["kind"], made["age"]["lower"]) == ("integer", None)
    assert "to_do" in made["age"]
    assert "to_do" in made["name"]
    with pytest.raises(InputError, match=r"column 'age': it is not finished.*the smallest and the largest"):
        Domain.from_json({"version": 1, "attributes": [made["q1"], made["age"]]})
    finished = Domain.from_json({"version": 1, "attributes": [made["q1"], made["region"]]})
    assert Domain.from_json(finished.to_json()) == finished
    assert finished["q1"].label == "Sind Sie zufrieden?"


def test_the_records_do_not_change_it(tmp_path: Path) -> None:
    one, other = survey(tmp_path / "a.sav", [1.0]), survey(tmp_path / "b.sav", [2.0, 9.0, np.nan, 1.0, 77.0])
    assert declared_domain(one, default_format(one)) == declared_domain(other, default_format(other))


def test_a_schema_says_what_kind_a_column_is(tmp_path: Path) -> None:
    schema = {"n": pa.int32(), "x": pa.float64(), "d": pa.date32(), "yes": pa.bool_(), "t": pa.string()}
    pq.write_table(pa.table({name: pa.array([None, None], kind) for name, kind in schema.items()}), tmp_path / "a.parquet")
    made = declared_domain(tmp_path / "a.parquet", default_format(tmp_path / "a.parquet"))["attributes"]
    assert [entry["kind"] for entry in made] == ["integer", "numeric", "date", "categorical", "categorical"]
    assert [("to_do" in entry) for entry in made] == [True, True, True, False, True]


def test_the_command_writes_it_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = survey(tmp_path / "a.sav", [1.0]), tmp_path / "domain.json"
    assert main(["domain", str(path), "--out", str(out)]) == 0
    said, (made, left_out) = capsys.readouterr().err, guessed(declared_domain(path, default_format(path)))
    assert f"left out, for their names promise identifiers or free text: {', '.join(left_out)}\n" in said
    assert json.loads(out.read_text(encoding="utf-8")) == made
    assert main(["domain", str(path), "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
