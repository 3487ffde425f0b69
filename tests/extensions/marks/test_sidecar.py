"""The file beside a CSV says what its rows are, verify writes it again, and nothing else than what was released is in it."""

from __future__ import annotations

import io
import json
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from dpsynth_core import cli
from dpsynth_core.bundle.verdicts import CONSISTENT, INCONSISTENT
from dpsynth_core.extensions.marks.names import COLUMN
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import Domain
from tests.bundle import pack
from tests.bundle.bundles import files, made, repacked, run, spec, verified
from tests.row_files import ABOUT, row_file
from tests.test_cli import place, synthesize

__all__ = ["place"]
SIDECAR = "synthetic.csv-metadata.json"
SMALL = Domain.from_json({"version": 1, "attributes": [{"name": "sex", "kind": "categorical", "categories": ["f", "m"]}]})
ROWS = pa.table({"sex": ["f", None, "m"]})


def note(content: bytes) -> dict[str, Any]:
    """The statement in a sidecar."""
    (only,) = json.loads(content)["notes"]
    return dict(only)


def test_the_sidecar_of_a_bundle_says_what_the_rows_are_and_which_file_it_is_about() -> None:
    held, release = files(), made()
    said = json.loads(held[SIDECAR])
    assert (said["@context"][0], said["url"]) == ("http://www.w3.org/ns/csvw", "synthetic.csv")
    assert note(held[SIDECAR]) == {
        "synthetic": True,
        "plan_sha256": json.loads(held["release.json"])["spec_sha256"],
        "epsilon": 2.0,
        "delta": 1e-9,
        "private": False,
        "mechanism": "aim",
        "relation": "add-remove",
        "made_by": f"dpsynth_core {release.versions['dpsynth_core']}",
        "bytes": len(held["synthetic.csv"]),
        "sha256": sha256(held["synthetic.csv"]).hexdigest(),
    }
    header = held["synthetic.csv"].decode().splitlines()[0]
    assert [f'"{column["titles"]}"' for column in said["tableSchema"]["columns"]] == header.split(",")
    assert "nobody in them is a real person" in said["dc:description"]


def test_a_release_of_answers_alone_has_none() -> None:
    assert not [name for name in files(pack.pack(run(spec(mechanism={"name": "gaussian"}, output={})))) if "metadata" in name]


FORGED = [(b'"synthetic": true', b'"synthetic": false'), (b'"epsilon": 2.0', b'"epsilon": 0.1'), (b'"aim"', b'"mst"')]


@pytest.mark.parametrize("forged", FORGED)
def test_verify_writes_it_again_and_refuses_a_forged_one(forged: tuple[bytes, bytes]) -> None:
    def change(held: dict[str, bytes]) -> None:
        assert forged[0] in held[SIDECAR]
        held[SIDECAR] = held[SIDECAR].replace(*forged)

    assert verified(repacked(lambda _: None)).verdict == CONSISTENT
    report = verified(repacked(change))
    assert report.verdict == INCONSISTENT
    assert any(SIDECAR in check.detail for check in report.checks if check.verdict == "failed"), report.checks


def test_a_marked_file_has_the_same_rows_behind_its_first_column() -> None:
    read = pd.read_csv(io.BytesIO(row_file("marked-csv", ROWS, SMALL)), keep_default_na=False)
    assert list(read.columns) == [COLUMN, "sex"]
    assert set(read[COLUMN]) == {ABOUT.label}
    assert list(read["sex"]) == ["f", "", "m"]
    lines = [json.loads(line) for line in row_file("marked-jsonl", ROWS, SMALL).splitlines()]
    assert lines == [{COLUMN: ABOUT.label, "sex": sex} for sex in ("f", None, "m")]


def test_a_table_without_rows_is_a_marked_header() -> None:
    assert row_file("marked-csv", ROWS.slice(0, 0), SMALL) == f'"{COLUMN}","sex"\n'.encode()


def test_a_zip_has_the_rows_and_their_sidecar_and_the_same_rows_are_the_same_bytes() -> None:
    packed = row_file("csv-zip", ROWS, SMALL)
    assert packed == row_file("csv-zip", ROWS, SMALL)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        rows = archive.read("synthetic.csv")
        assert archive.namelist() == ["synthetic.csv", SIDECAR]
        assert rows == row_file("csv", ROWS, SMALL)
        assert note(archive.read(SIDECAR))["sha256"] == sha256(rows).hexdigest()


def test_a_column_of_the_marks_name_is_refused_by_its_name() -> None:
    domain = Domain.from_json({"version": 1, "attributes": [{"name": COLUMN, "kind": "categorical", "categories": ["f", "m"]}]})
    with pytest.raises(InputError, match=f"column '{COLUMN}'.*rename it"):
        row_file("marked-csv", pa.table({COLUMN: ["f"]}), domain)


def test_the_command_line_writes_sidecars_beside_all_files_without_a_place_for_a_description(place: Path) -> None:
    assert synthesize("--mechanism", "independent", "--format", "csv,jsonl,marked-csv,parquet", "--tables", "2") == 0
    there = {path.name for path in (place / "out").iterdir() if path.name.startswith("synthetic")}
    silent = {"synthetic.csv", "synthetic-2.csv", "synthetic.jsonl", "synthetic-marked.csv"}
    assert there == silent | {f"{name}-metadata.json" for name in silent} | {"synthetic.parquet"}
    for name in silent:
        said = note((place / "out" / f"{name}-metadata.json").read_bytes())
        assert said["sha256"] == sha256((place / "out" / name).read_bytes()).hexdigest()
        assert (said["mechanism"], said["private"]) == ("independent", True)
    with zipfile.ZipFile(place / "out" / "release.zip") as bundle:
        assert bundle.read(SIDECAR) == (place / "out" / SIDECAR).read_bytes()


@pytest.mark.usefixtures("place")
def test_drawn_and_repeated_rows_have_theirs() -> None:
    assert synthesize("--mechanism", "independent", "--seed", "7") == 0
    assert cli.main(["sample", "out/release.zip", "--rows", "20", "--output", "more-marked.csv"]) == 0
    assert set(pd.read_csv("more-marked.csv")[COLUMN]) == {json.loads(Path(f"out/{SIDECAR}").read_text())["dc:title"]}
    said = json.loads(Path("more-marked.csv-metadata.json").read_text())
    assert said["url"] == "more-marked.csv"
    assert said["notes"][0]["sha256"] == sha256(Path("more-marked.csv").read_bytes()).hexdigest()
    assert cli.main(["reproduce", "out/release.zip", "--out", "again"]) == 0
    assert Path(f"again/{SIDECAR}").read_bytes() == Path(f"out/{SIDECAR}").read_bytes()


@pytest.mark.usefixtures("place")
def test_tables_of_other_records_give_the_same_but_for_the_digest_of_the_released_rows() -> None:
    frame = pd.read_csv("people.csv")
    assert synthesize("--mechanism", "independent", "--rows", "50") == 0
    first = json.loads(Path(f"out/{SIDECAR}").read_text())
    frame.assign(age=(frame["age"] + 13) % 100).to_csv("people.csv", index=False)
    assert synthesize("--mechanism", "independent", "--rows", "50", out="other") == 0
    second = json.loads(Path(f"other/{SIDECAR}").read_text())
    for one in (first, second):
        del one["notes"][0]["sha256"], one["notes"][0]["bytes"]
    assert first == second
