"""A check in a process of its own says the same, and what takes too much is refused, whoever is kept from their memory by it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsynth_core import cli
from dpsynth_core.bundle import confined, unpack, work
from dpsynth_core.bundle.confined import planned, verified
from dpsynth_core.bundle.reproduce import replayed
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT, Running
from dpsynth_core.bundle.verify import verify
from dpsynth_core.foundation import confinement, sandbox
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import CapacityError, OracleError
from dpsynth_core.report import asking
from tests.bundle import pack
from tests.bundle.bundles import edited, packed, repacked
from tests.foundation.test_sandbox import files_guarded
from tests.refusals import refused

QUESTION = asdict(asking.Asked("count", ("sex=female",)))


def test_the_report_is_the_same_as_without_limits(tmp_path: Path) -> None:
    (tmp_path / "release.zip").write_bytes(packed())
    bundle = unpack.read_bytes(packed())
    wanted = verify(bundle).replayed(replayed(bundle))
    assert wanted.verdict == CONSISTENT
    assert verified(tmp_path / "release.zip") == verified(packed()) == wanted


def test_each_check_is_named_before_it_is_made_and_in_the_order_of_the_report() -> None:
    running: list[Running] = []
    report = verified(packed(), on_check=running.append)
    assert [one.question for one in running] == [check.question for check in report.checks]
    assert [(one.number, one.of) for one in running] == [(place + 1, len(running)) for place in range(len(running))]


def test_what_is_refused_is_refused_with_the_same_words() -> None:
    for content in (b"no zip", edited(lambda document: document.pop("spec"))):
        here = refused(lambda one=content: verify(unpack.read_bytes(one)))
        there = refused(verified, content)
        assert str(there) == str(here)


DAMAGES: tuple[Callable[[dict[str, Any]], Any], ...] = (
    lambda document: document.update(details=[]),
    lambda document: document.update(details={"rule": 1}),
    lambda document: document["certificate"]["marginals"].clear(),
)


@pytest.mark.parametrize("damage", range(len(DAMAGES)))
def test_what_damage_makes_fail_is_called_damage(damage: int) -> None:
    """Wherever a question meets it; as `verify` says it of the bundle."""
    bundle = edited(DAMAGES[damage])
    assert verify(unpack.read_bytes(bundle)).verdict == INCONSISTENT
    refused(lambda: [*work.asked(bundle, QUESTION)], saying="bundle: it is damaged; download it again, or verify it")


def test_a_mistake_of_the_program_is_not_called_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(work.asked(packed(), QUESTION))
    monkeypatch.setattr(asking, "ask_typed", lambda *_: [][0])
    refused(lambda: [*work.asked(packed(), QUESTION)], kind=IndexError)


def many_objects() -> bytes:
    """95 MB of JSON in 97 kB, which take 3 GB as objects."""
    return pack.zipped({"release.json": b"[" + b"{}," * 33_000_000 + b"{}]"})


def test_its_plan_is_read_within_limits_too() -> None:
    assert planned(packed()) == unpack.plan_of(unpack.read_bytes(packed())).spec
    refused(planned, many_objects(), saying="reading its plan takes more than")


def test_verify_says_what_the_machine_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "release.zip").write_bytes(packed())
    for lacking in ("", "the sky"):
        monkeypatch.setattr(sandbox, "lacking", lambda lacking=lacking: lacking)
        assert cli.main(["verify", str(tmp_path / "release.zip")]) == 0
        assert ("note: the sky" in capsys.readouterr().err) == bool(lacking)


def long_texts() -> bytes:
    """synthetic.parquet in which one text of 1 MB stands once and is named in 10,000 rows: 10 GB, if it was written out."""

    def change(held: dict[str, bytes]) -> None:
        schema, rows = pq.read_schema(io.BytesIO(held["synthetic.parquet"])), 10_000
        short = {"integer": pa.array([1] * rows, schema.field("age").type)}
        columns = [short["integer"] if f.name == "age" else pa.array(["female"] * rows) for f in schema]
        texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * 2**20]))
        out = io.BytesIO()
        pq.write_table(pa.table([texts, *columns[1:]], names=schema.names), out, store_schema=False, compression="zstd")
        held["synthetic.parquet"] = out.getvalue()
        line = b"female,1,female,female\n"
        held["synthetic.csv"] = ",".join(schema.names).encode() + b"\n" + line * rows
        document = json.loads(held["release.json"])
        document["rows"]["count"] = rows
        held["release.json"] = json.dumps(document).encode()

    return repacked(change)


def test_a_small_file_of_many_objects_is_refused() -> None:
    refused(verified, many_objects(), kind=CapacityError, saying="memory")


def test_texts_that_a_parquet_file_repeats_are_not_written_out() -> None:
    """10 GB do not fit the limit: the check ends because it never makes them."""
    report = verified(long_texts())
    assert ("Do both tables of rows agree?", FAILED) in [(check.question, check.verdict) for check in report.checks]


def test_what_takes_longer_is_refused() -> None:
    either = r"checking it (takes more than 1 seconds of work|has not come to an end in 10 seconds); if you trust"
    refused(verified, many_objects(), Limits(2048, 1), kind=CapacityError, saying=either)


@pytest.mark.parametrize(
    ("function", "sentence"),
    {
        "end_by_signal": r"checking it was ended by signal 11 \(SIGSEGV\); nothing is known of it",
        "end_by_mistake": "checking it failed with KeyError; nothing is known of it",
    }.items(),
)
def test_a_process_that_fails_is_not_said_to_have_taken_too_much(function: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "_asked", lambda *_: (f"tests.bundle.failing_work:{function}",))
    raised = refused(verified, b"", saying=sentence)
    assert not isinstance(raised, CapacityError)
    assert "MB" not in str(raised)


@files_guarded
def test_a_check_opens_no_file_but_the_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.zip"
    for one in (path, tmp_path / "release.zip.other"):
        one.write_bytes(b"x")
    monkeypatch.setattr(confined, "_asked", lambda *_: ("tests.bundle.failing_work:look_beside", str(path)))
    for check in (verified, lambda bundle: confined.reproduced(bundle, tmp_path / "out", Limits())):
        refused(check, path, saying="failed with PermissionError")


def test_a_package_that_is_missing_in_the_process_is_named_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['opendp'] = None\n")
    (tmp_path / "release.zip").write_bytes(packed())
    where = os.pathsep.join([str(tmp_path), confinement.environment()["PYTHONPATH"]])
    command = [sys.executable, "-m", "dpsynth_core", "verify", str(tmp_path / "release.zip")]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": where}, capture_output=True, text=True, timeout=300)
    wanted = "error: packages: opendp is missing; pip install dpsynth-studio; in a checkout: make run\n"
    assert (done.returncode, done.stdout, done.stderr) == (cli.BAD_INPUT, "", wanted)


# A search for records that fails


def failing(*_: object) -> None:
    raise OracleError("a solver process went far beyond its time limit", "try again when the machine is less busy")


def test_a_failed_search_is_told_apart_from_wrong_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(confined, "_asked", lambda *_: ("tests.bundle.failing_work:fail_to_search",))
    with pytest.raises(OracleError, match="oracle: a solver process went far beyond its time limit; try again"):
        confined.reproduced(tmp_path / "release.zip", tmp_path, Limits())


def test_a_failed_search_is_no_mistake_in_the_input_and_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(confined, "reproduced", failing)
    assert cli.main(["reproduce", str(tmp_path / "release.zip"), "--out", str(tmp_path / "out")]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error: oracle: a solver process went far beyond its time limit;")
    assert errors.endswith("; nothing was written\n")
    assert list((tmp_path / "out").iterdir()) == []
