"""A bundle of dummy rows says what it is, and never passes for a release; its rows are made where no table can be read."""

from __future__ import annotations

import io
import json
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
from dpsynth_core.extensions.dummy import checks, making
from dpsynth_core.extensions.dummy.document import STATEMENT
from dpsynth_core.extensions.dummy.making import make
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.foundation import sandbox
from dpsynth_core.foundation.content import in_memory
from tests.additions import listed
from tests.extensions.dummy.orders import PUBLISHED, linked, order
from tests.refusals import refused

FOLLOWS = "Do the rows follow from the codebook alone?"
LABELLED = "Does it say that it is not a release?"


@cache
def files(kind: str = "one") -> dict[str, bytes]:
    made = {"one": order, "two": linked, "published": lambda: order(published_tables=PUBLISHED)}[kind]()
    return make(made)


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


@pytest.mark.parametrize("kind", ["one", "two", "published"])
def test_a_bundle_is_consistent_and_verify_says_what_it_is(kind: str) -> None:
    report = confined.verified(packed(files(kind)))
    assert report.verdict == CONSISTENT, report.outstanding
    assert report.kind == "dummy rows"
    assert report.summary is not None
    said = " ".join((report.unseen, report.summary.statement, *report.summary.warnings, *(check.detail for check in report.checks)))
    assert STATEMENT in said
    assert "draw no conclusion" in said
    assert "private" not in said
    assert "epsilon" not in said


def test_every_file_says_that_its_rows_are_dummy_rows() -> None:
    content = files("two")
    tables = [name for name in content if name.endswith((".csv", ".parquet")) and "codebook" not in name]
    assert sorted(tables) == ["dummy-members.csv", "dummy-members.parquet", "dummy.csv", "dummy.parquet"]
    for name in tables:
        assert name.startswith("dummy")
        if name.endswith(".csv"):
            assert all(b"DUMMY ROWS" in content[f"{name}{end}"] for end in listed("BESIDE"))
        else:
            metadata = pq.read_schema(io.BytesIO(content[name])).metadata
            assert metadata[b"title"].startswith(b"DUMMY ROWS")
            assert b"draw no conclusion" in metadata[b"description"]
    assert STATEMENT in content["README.md"].decode()
    assert json.loads(content["dummy.json"])["statement"] == STATEMENT
    assert json.loads(content["dummy.json"])["charges"] == []


def changed(name: str, old: bytes, new: bytes) -> dict[str, bytes]:
    content = files()[name]
    assert old in content, name
    return files() | {name: content.replace(old, new)}


def told(change: Callable[[dict[str, Any]], None]) -> dict[str, bytes]:
    document = json.loads(files()["dummy.json"])
    change(document)
    return files() | {"dummy.json": (json.dumps(document) + "\n").encode()}


@pytest.mark.parametrize(
    ("content", "question"),
    [
        (lambda: changed("dummy.csv", b'"yes"', b'"no"'), FOLLOWS),
        (lambda: changed("README.md", b"draw no conclusion", b"draw conclusions"), FOLLOWS),
        (lambda: changed("codebook.csv", b"refused", b"Mr. Miller"), FOLLOWS),
        (lambda: files() | {"notes.txt": b"true counts: 17"}, FOLLOWS),
        (lambda: {name: part for name, part in files().items() if name != "codebook.csv"}, FOLLOWS),
        (lambda: told(lambda document: document.update(statement="Differentially private.")), LABELLED),
        (lambda: told(lambda document: document.update(charges=[{"rho": 1.0}])), LABELLED),
        (lambda: told(lambda document: document.update(answers=[17])), LABELLED),
        (lambda: told(lambda document: document.update(kind="release")), LABELLED),
        (lambda: told(lambda document: document["order"].update(seed=2)), FOLLOWS),
        (lambda: told(lambda document: document["order"].update(answers=[17])), "Is dummy.json complete?"),
        (lambda: told(lambda document: document["order"].pop("domain")), "Is dummy.json complete?"),
        (lambda: told(lambda document: document.pop("order")), "Is dummy.json complete?"),
        (lambda: told(lambda document: document["order"].update(published_tables=7)), "Is dummy.json complete?"),
    ],
)
def test_a_forged_bundle_fails(content: Callable[[], dict[str, bytes]], question: str) -> None:
    report = checked(packed(content()))
    assert report.verdict == INCONSISTENT
    assert verdicts(report)[question] == FAILED


def test_a_file_that_differs_from_the_manifest_fails() -> None:
    stream = io.BytesIO()
    pack(changed("dummy.csv", b'"yes"', b'"no"'), stream)
    assert verdicts(checked(stream.getvalue()))["Are the files unchanged?"] == FAILED


def test_rows_of_another_version_stay_open() -> None:
    def older(document: dict[str, Any]) -> None:
        document["versions"]["numpy"] = "1.0"

    report = checked(packed(told(older) | {"dummy.csv": files()["dummy.csv"] + b"\n"}))
    assert report.verdict == PARTLY
    assert verdicts(report)[FOLLOWS] == SKIPPED


def test_it_never_passes_for_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "dummy.zip"
    place.write_bytes(packed(files()))
    saying = "it is not a release, but holds dummy rows"
    refused(dps.open, place, saying=saying)
    for command in (["reproduce", str(place), "--out", str(tmp_path / "out")], ["ask", str(place), "count"]):
        assert main(command) == 2
        assert saying in capsys.readouterr().err


def test_a_key_that_should_have_signed_it_did_not() -> None:
    assert checked(packed(files())).by("0" * 64).verdict == INCONSISTENT


def test_the_folder_that_it_was_unpacked_into_is_checked_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(io.BytesIO(packed(files()))) as archive:
        archive.extractall(tmp_path)
    assert main(["verify", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "consistent: nothing that can be checked is wrong. These are dummy rows and no release" in said
    assert "differential" not in said


def test_the_process_that_makes_rows_cannot_read_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call with work that opens a table gives an error in place of its content."""
    if sandbox.lacking():
        pytest.skip("this machine cannot confine a process")
    table = tmp_path / "people.csv"
    table.write_text("name\nMiller\n")
    monkeypatch.setattr(making, "WORK", "tests.extensions.dummy.reading:work")
    monkeypatch.setattr(Order, "to_json", lambda _: {"table": str(table)})
    assert make(order())["found"] == b"PermissionError"
