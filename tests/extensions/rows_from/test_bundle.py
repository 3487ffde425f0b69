"""A bundle of rows from protected tables says whose promise it has and that it has none of ours, and a forged one fails."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dpsynth_core as dps
from dpsynth_core.bundle import confined, unpack
from dpsynth_core.bundle.pack import MANIFEST, manifest
from dpsynth_core.bundle.remade import pack
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT, PARTLY, SKIPPED, Report
from dpsynth_core.cli.command_line import main
from dpsynth_core.extensions.rows_from import checks, making
from dpsynth_core.extensions.rows_from.document import DOCUMENT, NO_GUARANTEE
from dpsynth_core.extensions.rows_from.making import make
from dpsynth_core.extensions.rows_from.order import Order
from dpsynth_core.foundation import sandbox
from dpsynth_core.foundation.content import in_memory
from tests.extensions.rows_from.examples import DOMAIN, GIVER, PROMISE, SEXES, order
from tests.refusals import refused

FOLLOWS = "Do the rows follow from the tables alone?"
LABELLED = "Does it say that it is not a release, and whose promise it has?"
COMPLETE = f"Is {DOCUMENT} complete?"


@cache
def files() -> dict[str, bytes]:
    return make(order())


def packed(content: dict[str, bytes]) -> bytes:
    """The ZIP of these files, with a manifest that fits them."""
    own = {name: part for name, part in content.items() if name != MANIFEST}
    stream = io.BytesIO()
    pack(own | {MANIFEST: manifest({name: in_memory(part).digest for name, part in own.items()})}, stream)
    return stream.getvalue()


def checked(bundle: bytes) -> Report:
    (report,) = (said for said in checks.checking(unpack.read_any_bytes(bundle)) if isinstance(said, Report))
    return report


def verdicts(report: Report) -> dict[str, str]:
    return {check.question: check.verdict for check in report.checks}


def test_a_bundle_is_consistent_and_verify_says_what_it_is_not() -> None:
    report = confined.verified(packed(files()))
    assert report.verdict == CONSISTENT, report.outstanding
    assert report.summary is not None
    facts = [text for pair in (*report.summary.facts, *report.summary.brief) for text in pair]
    said = " ".join((report.unseen, report.summary.statement, *report.summary.warnings, *facts, *(check.detail for check in report.checks)))
    for words in (NO_GUARANTEE, GIVER, PROMISE, "no guarantee about the people who were counted"):
        assert words in said
    assert "private" not in said.lower()
    assert "epsilon" not in said


def test_every_file_says_whose_promise_it_has_and_none_says_private() -> None:
    content = files()
    assert "tables/001.csv" in content
    metadata = pq.read_schema(io.BytesIO(content["rows-from-tables.parquet"])).metadata
    beside = [json.loads(part)["dc:description"] for name, part in content.items() if name.startswith("rows-from-tables.csv-")]
    texts = [*beside, metadata[b"description"].decode(), json.loads(content[DOCUMENT])["statement"]]
    for text in texts:
        plain = " ".join(text.split())
        assert NO_GUARANTEE in plain
        assert PROMISE in plain
        assert GIVER in plain
    for name, part in content.items():
        assert b"private" not in part.lower(), name
    title, *_ = content["README.md"].decode().splitlines()
    assert title == "# ROWS FROM PROTECTED TABLES: no guarantee of this program"


def test_the_lines_of_the_description_fit_notes_of_spss_with_any_letters() -> None:
    from dpsynth_core.extensions.rows_from.document import TablesAbout

    for name in ("Statistics Office", "統計局", "Institutt 📊"):
        about = TablesAbout.of_order(order(giver=name))
        assert len(about.label) <= 40
        assert all(len(line.encode()) <= 80 for line in about.lines)


def changed(name: str, old: bytes, new: bytes) -> dict[str, bytes]:
    content = files()[name]
    assert old in content, name
    return files() | {name: content.replace(old, new)}


def told(change: Callable[[dict[str, Any]], None]) -> dict[str, bytes]:
    document = json.loads(files()[DOCUMENT])
    change(document)
    return files() | {DOCUMENT: (json.dumps(document) + "\n").encode()}


@pytest.mark.parametrize(
    ("content", "question"),
    [
        (lambda: changed("rows-from-tables.csv", b'"yes"', b'"no"'), FOLLOWS),
        (lambda: changed("tables/001.csv", b"300", b"299"), FOLLOWS),
        (lambda: changed("README.md", b"no guarantee", b"a guarantee"), FOLLOWS),
        (lambda: changed("README.md", b"Nothing here checks that", b"We checked that"), FOLLOWS),
        (lambda: changed("codebook.csv", b"sex", b"six"), FOLLOWS),
        (lambda: files() | {"notes.txt": b"true counts: 17"}, FOLLOWS),
        (lambda: {name: part for name, part in files().items() if name != "tables/002.csv"}, FOLLOWS),
        (lambda: told(lambda document: document["order"].update(seed=2)), FOLLOWS),
        (lambda: told(lambda document: document["order"].update(tables=[SEXES])), FOLLOWS),
        (lambda: told(lambda document: document["order"].update(tables=[])), COMPLETE),
        (lambda: told(lambda document: document["order"].update(promise="The rows are differentially private.")), FOLLOWS),
        (lambda: told(lambda document: document.update(statement="Differentially private.")), LABELLED),
        (lambda: told(lambda document: document.update(charges=[{"rho": 1.0}])), LABELLED),
        (lambda: told(lambda document: document.update(answers=[17])), LABELLED),
        (lambda: told(lambda document: document.update(kind="release")), LABELLED),
        (lambda: told(lambda document: document["tables"][0].update(rows_differ=0.5)), LABELLED),
        (lambda: told(lambda document: document["order"].update(promise="")), COMPLETE),
        (lambda: told(lambda document: document["order"].update(giver=" ")), COMPLETE),
        (lambda: told(lambda document: document["order"].update(answers=[17])), COMPLETE),
        (lambda: told(lambda document: document["order"].update(tables=7)), COMPLETE),
        (lambda: told(lambda document: document["order"].update(tables=[{"columns": ["sex"], "cells": [["f", 1e16]]}])), COMPLETE),
        (lambda: told(lambda document: document["order"]["tables"][0]["cells"].append(["good", "f", 1])), COMPLETE),
        (lambda: told(lambda document: document["order"].update(rows=10**9)), COMPLETE),
        (lambda: told(lambda document: document.pop("order")), COMPLETE),
    ],
)
def test_a_forged_bundle_fails(content: Callable[[], dict[str, bytes]], question: str) -> None:
    report = checked(packed(content()))
    assert report.verdict == INCONSISTENT
    assert verdicts(report)[question] == FAILED


def test_rows_of_another_version_stay_open() -> None:
    def older(document: dict[str, Any]) -> None:
        document["versions"]["numpy"] = "1.0"

    report = checked(packed(told(older) | {"rows-from-tables.csv": files()["rows-from-tables.csv"] + b"\n"}))
    assert report.verdict == PARTLY
    assert verdicts(report)[FOLLOWS] == SKIPPED


def test_it_never_passes_for_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "rows.zip"
    place.write_bytes(packed(files()))
    saying = "it is not a release, but holds rows that were made from tables which somebody else protected"
    refused(dps.open, place, saying=saying)
    for command in (["reproduce", str(place), "--out", str(tmp_path / "out")], ["ask", str(place), "count"]):
        assert main(command) == 2
        assert saying in capsys.readouterr().err


def test_the_folder_that_it_was_unpacked_into_is_checked_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(io.BytesIO(packed(files()))) as archive:
        archive.extractall(tmp_path)
    assert main(["verify", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "consistent: nothing that can be checked is wrong. These rows were made from protected tables and are not a release" in said


HOSTILE = "=1+1<script>alert(1)</script>\u202e| [x](http://evil) `rm`"


def test_hostile_labels_names_and_promises_are_escaped_and_never_run() -> None:
    column = {"name": "| a | <b>", "kind": "categorical", "categories": [HOSTILE, "b"], "other": False, "missing": False}
    table = {"columns": ["| a | <b>"], "cells": [[HOSTILE, 3], ["b", 4]]}
    found = order(domain={"version": 1, "attributes": [column]}, tables=[table], rows=7, promise="<img src=x onerror=alert(1)> **safe**")
    content = make(found)
    readme = content["README.md"].decode()
    assert not re.search(r"(?<!\\)<", readme)
    assert "**safe**" not in readme
    assert "\u202e" not in readme
    assert content["tables/001.csv"].decode().splitlines()[1].startswith("\"'=1+1")
    report = checked(packed(content))
    assert report.verdict == CONSISTENT, report.outstanding


def test_a_bundle_without_a_promise_cannot_be_saved(tmp_path: Path) -> None:
    fitted = dps.rows_from({"sex": {"f": 1, "m": 2}}, DOMAIN)
    refused(fitted.save, tmp_path / "rows.zip", saying="giver: it is missing; state who made the tables")
    promised = dps.rows_from({"sex": {"f": 1, "m": 2}}, DOMAIN, giver=GIVER)
    refused(promised.save, tmp_path / "rows.zip", saying="promise: it is missing; state how they were protected")
    assert not (tmp_path / "rows.zip").exists()


def test_the_process_that_makes_rows_cannot_read_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call with work that opens a table gives an error in place of its content."""
    if sandbox.lacking():
        pytest.skip("this machine cannot confine a process")
    table = tmp_path / "people.csv"
    table.write_text("name\nMiller\n")
    monkeypatch.setattr(making, "WORK", "tests.extensions.rows_from.reading:work")
    monkeypatch.setattr(Order, "to_json", lambda _: {"table": str(table)})
    assert make(order(tables=[SEXES]))["found"] == b"PermissionError"
