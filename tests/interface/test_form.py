"""How a file is written, as Python programs state it: part of it for every kind of file, and of both of two linked tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import dpsynth_core as dps
from dpsynth_core.cli.command_line import main
from dpsynth_core.sources.listing import kind_of
from tests.additions import listed
from tests.homes import MOST, PEOPLE, tables
from tests.refusals import refused
from tests.sources.written import WRITERS

DAYS = [f"{number % 28 + 1:02d}/02/2024" for number in range(60)]
COLUMNS: Mapping[str, Any] = {"x": {"kind": "date", "lower": "2024-02-01", "upper": "2024-02-29", "width": 7}, "sex": ["f", "m"]}
ENDINGS = (".csv", ".jsonl", ".parquet", ".feather", *listed("ASKED_ABOUT"))


def written(folder: Path, ending: str) -> Path:
    (WRITERS | {".parquet": pyarrow.parquet.write_table})[ending](pa.table({"x": DAYS, "sex": ["f", "m"] * 30}), folder / f"days{ending}")
    return folder / f"days{ending}"


def plan(path: Path, **stated: Any) -> dps.Plan:
    return dps.plan(path, COLUMNS, epsilon=1, tables=1, mechanism="independent", **stated)


@pytest.mark.parametrize("ending", ENDINGS)
def test_days_in_text_are_asked_about_in_every_kind_of_file_and_one_entry_answers(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, ending)
    refused(plan, path, saying='the first records suggest dates like dd/mm/yyyy; state it: form={"date_format": "dd/mm/yyyy"}, or form=')
    for form in ("dd/mm/yyyy", "yyyy-mm-dd"):
        stated = plan(path, form={"date_format": form}).sealed.spec.data
        assert (kind_of(path), form) == (stated.kind, stated.date_format or "yyyy-mm-dd")


def test_what_a_part_leaves_open_is_still_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x;sex\n" + "".join(f"{day};f\xe9\n" for day in DAYS).encode("cp1252"))
    refused(plan, path, form={"date_format": "dd/mm/yyyy"}, saying=r'suggest cp1252 .*; state it: form={"encoding": "cp1252"}')
    refused(plan, path, form={"encoding": "cp1252"}, saying='suggest dates like dd/mm/yyyy; state it: form={"date_format"')
    assert plan(path, form={"encoding": "cp1252", "date_format": "dd/mm/yyyy"}).sealed.spec.data.delimiter == ";"


@pytest.mark.parametrize(("entry", "value"), [("encodin", "x"), ("delimiter", 5), ("kind", "demo"), ("encoding", "x"), ("skip", -1)])
def test_an_entry_that_there_is_not_is_named(tmp_path: Path, entry: str, value: object) -> None:
    refused(plan, written(tmp_path, ".csv"), form={entry: value}, saying=f"data.{entry}")


def test_of_linked_tables_each_is_asked_about_and_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(tmp_path)
    people = tmp_path / "people.csv"
    header, *lines = people.read_text().splitlines()
    people.write_bytes("\n".join([f"{header},note", *(f"{line},caf\xe9" for line in lines), ""]).encode("cp1252"))

    def linked(*form: Any) -> dps.Plan:
        members = (people, PEOPLE, *form)
        return dps.plan(tmp_path / "homes.csv", {"region": ["0", "1"]}, epsilon=1, members=members, person="id", rows_per_person=MOST)

    refused(linked, saying=r'members: the first records suggest cp1252 .*; state it: members=\(path, columns, {"encoding": "cp1252"}\), or')
    assert linked({"encoding": "cp1252"}).sealed.spec.members.encoding == "cp1252"  # type: ignore[union-attr]
    refused(linked, {"encodin": "cp1252"}, saying="members.encodin")
    refused(linked, "cp1252", saying="third part")
    monkeypatch.chdir(tmp_path)
    Path("homes.json").write_text('{"region": 2}')
    Path("people.json").write_text(json.dumps(PEOPLE))
    given = ["synthesize", "homes.csv", "--domain", "homes.json", "--epsilon", "4", "--out", "out"]
    second = ["--members", "people.csv", "--members-domain", "people.json", "--key", "id", "--max-members", str(MOST)]
    assert main([*given, *second]) == 2
    said = "state it: --members-encoding cp1252, or --members-encoding utf-8 to keep the default"
    assert said in capsys.readouterr().err
    assert main([*given, *second, "--members-encoding", "cp1252", "--members-sheet", "x"]) == 2
    assert "--members-sheet: files of this kind do not have that" in capsys.readouterr().err
    assert main([*given, *second, "--members-encoding", "cp1252"]) == 0
    assert main([*given, "--members-encoding", "cp1252"]) == 2
    assert "there is no second table" in capsys.readouterr().err


def test_the_demo_takes_no_form() -> None:
    refused(dps.plan, "demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, form={"delimiter": ";"}, saying="this is the demo")
