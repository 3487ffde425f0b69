"""A table that says that it is synthetic is warned about where it is chosen for a release, and no other one."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.extensions.marks.recognition import said
from dpsynth_core.extensions.marks.sidecar import beside
from dpsynth_core.foundation.content import stored
from dpsynth_core.release.row_formats import FORMATS
from tests.extensions.marks.test_sidecar import ROWS, SMALL
from tests.row_files import ABOUT, row_file
from tests.test_cli import DOMAIN, place, synthesize

__all__ = ["place"]
MARKED = ("parquet", "feather", "marked-csv", "marked-jsonl")
WARNING = "This table says that it holds synthetic rows of this program"


def written(folder: Path, name: str) -> Path:
    path = folder / f"rows{FORMATS[name].ending}"
    path.write_bytes(row_file(name, ROWS, SMALL))
    return path


@pytest.mark.parametrize("name", MARKED)
def test_a_file_that_says_so_is_recognised_alone(tmp_path: Path, name: str) -> None:
    assert said(written(tmp_path, name)).startswith(WARNING)


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_a_file_is_recognised_by_the_file_beside_it(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    assert said(path) == ""
    for beside_it, text in beside(path.name, stored(path).digest, SMALL, ABOUT).items():
        (tmp_path / beside_it).write_bytes(text)
    assert said(path).startswith(WARNING)
    assert said(str(tmp_path)).startswith(WARNING)  # the folder as one table
    path.write_bytes(path.read_bytes() + path.read_bytes())  # another table in its place
    assert said(path) == ""


def test_people_that_speak_of_synthetic_rows_in_their_records_are_none(tmp_path: Path) -> None:
    text = f"{ABOUT.label} synthetic_rows"
    table = pa.table({"sex": [text] * 3, "synthetic_rows": ["no"] * 3})
    pd.DataFrame(table.to_pandas()).to_csv(tmp_path / "a.csv", index=False)
    pq.write_table(table, tmp_path / "a.parquet", write_statistics=False)
    feather.write_feather(table, tmp_path / "a.feather", compression="uncompressed")
    (tmp_path / "a.jsonl").write_text(json.dumps({"sex": text}) + "\n")
    assert [said(path) for path in sorted(tmp_path.glob("a.*"))] == ["", "", "", ""]
    assert said(tmp_path) == ""


DAMAGED = (b"", b"PAR1", b"PAR1\xff\xff\xff\xffPAR1", b"ARROW1\0\0\xff\xff\xff\xff\xff", b"PK\x03\x04", b"$FL2", b"\xff\xfe")


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    assert said(tmp_path / "a") == ""
    (tmp_path / "a-metadata.json").write_bytes(content or b"[[]]")
    assert said(tmp_path / "a") == ""


PART = "docProps/core.xml"
CONTENT, CENTRAL = 30 + len(PART), b"PK\1\2"
"""Where the packed content of the first part begins, and what the entry about it at the end of an archive begins with."""


@pytest.mark.parametrize("damage", ["none", "content", "encrypted", "packing"])
def test_a_workbook_that_is_damaged_or_encrypted_says_nothing(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(PART, "<title>SYNTHETIC ROWS, plan 0123456789ab</title>" + "".join(map(chr, range(32, 127))))
    held, entry = bytearray(path.read_bytes()), path.read_bytes().index(CENTRAL)
    if damage == "content":
        held[CONTENT : CONTENT + 10] = b"\xff" * 10
    elif damage == "encrypted":
        held[6] = held[entry + 8] = 1
    elif damage == "packing":
        held[8] = held[entry + 10] = 77  # a way to pack that no library knows
    path.write_bytes(held)
    assert said(path).startswith(WARNING) if damage == "none" else said(path) == ""


def test_a_table_in_memory_whose_columns_are_a_method_says_nothing() -> None:
    class Foreign:
        def columns(self) -> list[str]:
            raise AssertionError

    assert said(Foreign()) == ""


def test_places_that_are_no_files_are_not_opened(tmp_path: Path) -> None:
    assert said("s3://bucket/people.parquet") == said("postgresql://host/people") == said(tmp_path / "none.csv") == said("demo") == ""


def test_tables_in_memory_are_recognised() -> None:
    table = pa.table({"sex": ["f"]})
    assert said(table) == said(table.to_pandas()) == said(pd.DataFrame({1: [2]})) == said(pd.DataFrame()) == ""
    described = table.cast(ABOUT.described(table.schema, SMALL))
    assert said(described).startswith(WARNING)
    assert said(pd.read_parquet(io.BytesIO(row_file("parquet", ROWS, SMALL)))).startswith(WARNING)  # by its attrs
    assert said(pd.DataFrame({"synthetic_rows": ["x"], "sex": ["f"]})).startswith(WARNING)


@pytest.mark.usefixtures("place")
def test_the_command_line_warns_before_the_charge_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent", "--format", "csv,marked-csv") == 0
    assert WARNING not in capsys.readouterr().err
    for table in ("out/synthetic.csv", "out/synthetic-marked.csv"):
        assert synthesize("--mechanism", "independent", data=table, out=f"of-{Path(table).stem}") == 0
        before, _, after = capsys.readouterr().err.partition("round 0")
        assert f"warning: {WARNING}" in before
        assert "done: " in after


@pytest.mark.usefixtures("place")
def test_python_warns_where_a_plan_is_made() -> None:
    assert synthesize("--mechanism", "independent") == 0
    with pytest.warns(UserWarning, match=WARNING) as caught:
        dps.plan("out/synthetic.csv", DOMAIN, epsilon=1, tables=1)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dps.plan("people.csv", DOMAIN, epsilon=1, tables=1)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("command", ["verify", "ask", "compare"])
def test_commands_for_bundles_say_that_rows_are_none(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent", "--format", "csv,marked-csv") == 0
    capsys.readouterr()
    table = "out/synthetic-marked.csv"
    given = {"verify": [table], "ask": [table, "count"], "compare": [table, table, "--report", "a.md"]}[command]
    assert cli.main([command, *given]) != 0
    told = capsys.readouterr()
    assert "it is not a whole ZIP file; download it again, or give release.zip and no file of rows alone" in told.err + told.out
