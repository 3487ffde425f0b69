"""From a bundle alone, the rows come out again, byte for byte; and where they do not, that is said."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.reproduce import replayed, reproduce
from dpsynth_core.bundle.verdicts import FAILED, SKIPPED
from dpsynth_core.bundle.verify import verify
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.inference.junction_tree import ATTRIBUTES_TRIED, SizeOracle
from dpsynth_core.planning import machine
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from tests.bundle import pack
from tests.bundle.bundles import edited, files, made, packed, repacked, run, spec, unpacked
from tests.refusals import refused
from tests.releases import close_tables, found
from tests.row_files import parquet_of

ROOT = Path(__file__).resolve().parents[2]


def test_rows_bounds_and_certificate_are_the_same_to_the_last_bit() -> None:
    again = reproduce(unpack.read_bytes(packed()))
    assert not again.different
    assert releases.content_of(again.made.values, releases.write_csv) == files()["synthetic.csv"]
    assert parquet_of(again.made) == files()["synthetic.parquet"]


def test_the_private_table_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    close_tables(monkeypatch)
    assert not reproduce(unpack.read_bytes(packed())).different


def test_a_table_of_so_many_columns_that_orders_of_elimination_are_kept_comes_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How large a model is thought to be then depends on what was asked before: the same is asked again, in the same order."""
    kept, solve = list[bool](), SizeOracle._solve

    def solved(oracle: SizeOracle, graph: tuple[int, ...]) -> Any:
        before, found = oracle._kept, solve(oracle, graph)
        kept.append(oracle._kept is before)
        return found

    monkeypatch.setattr(SizeOracle, "_solve", solved)
    rng, names = np.random.default_rng(20261126), [f"c{number}" for number in range(ATTRIBUTES_TRIED + 2)]
    both, path = rng.random(300) < 0.5, tmp_path / "wide.csv"
    table = {name: np.where(rng.random(300) < 0.6, both, rng.random(300) < 0.5).astype(int) for name in names}
    pd.DataFrame(table).to_csv(path, index=False)
    columns = [{"name": name, "kind": "categorical", "categories": ["0", "1"], "other": False, "missing": False} for name in names]
    domain = {"version": 1, "attributes": columns}
    release = run(spec(data={"kind": "csv", "path": str(path)}, domain=domain, output={"rows": 400, "seed": 1}))
    assert any(kept)
    assert not reproduce(unpack.read_bytes(pack.pack(release))).different


def test_another_seed_than_the_one_that_follows_from_the_answers_is_seen() -> None:
    again = reproduce(unpack.read_bytes(edited(lambda d: d["rows"].update(seed=1))))
    assert again.different == ("rows",)
    np.testing.assert_array_equal(again.made.codes, made().codes)


def test_rows_that_were_changed_afterwards_are_found() -> None:
    def change(held: dict[str, bytes]) -> None:
        lines = held["synthetic.csv"].splitlines(keepends=True)
        held["synthetic.csv"] = b"".join([lines[0], lines[2], lines[1], *lines[3:]])

    bundle = unpack.read_bytes(repacked(change))
    if bundle.files["synthetic.csv"].read() != files()["synthetic.csv"]:
        assert reproduce(bundle).different == ("rows",)


def test_other_versions_are_named() -> None:
    bundle = unpack.read_bytes(pack.pack(replace(made(), versions={**made().versions, "scipy": "0.1"})))
    assert reproduce(bundle).versions == ("scipy",)


def test_the_script_in_the_bundle_does_the_same(tmp_path: Path) -> None:
    command = [sys.executable, str(unpacked(tmp_path) / "reproduce.py"), str(tmp_path / "again")]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again" / "synthetic.csv").read_bytes() == files()["synthetic.csv"]


def named(path: str) -> bytes:
    """A bundle that says it used a public table at this path."""
    public = {"kind": "csv", "path": path, "encoding": "utf-8", "delimiter": ",", "sha256": ""}
    return edited(lambda document: document["spec"].update(public=public, mechanism={"name": "aim_public", "settings": {}}))


@pytest.mark.parametrize("path", ["/etc/passwd", "../people.csv", "folder/people.csv", "/proc/kmsg"])
def test_a_bundle_that_names_a_file_by_its_path_is_refused(path: str) -> None:
    refused(reproduce, unpack.read_bytes(named(path)), saying="bundle")
    refused(verify, unpack.read_bytes(named(path)), saying="bundle")


def test_a_public_table_is_opened_only_where_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("sex\nfemale\n")
    refused(reproduce, unpack.read_bytes(named("people.csv")), saying="--public")
    refused(reproduce, unpack.read_bytes(named("people.csv")), public=tmp_path, saying="--public")


@pytest.mark.parametrize("part", ["measurements", "charges", "rows", "transcript", "budget", "spec"])
def test_a_document_without_a_part_is_refused(part: str) -> None:
    refused(reproduce, unpack.read_bytes(edited(lambda document: document.pop(part))), saying="bundle")


KEPT = "Do the rows keep to the domain?"


@cache
def several() -> bytes:
    return pack.pack(run(spec(output={"rows": 400, "tables": 3})))


def test_all_tables_come_out_the_same_and_each_keeps_to_the_domain() -> None:
    bundle = unpack.read_bytes(several())
    again = reproduce(bundle)
    assert not again.different
    assert sorted(name for name in bundle.files if name.endswith(".csv") and name.startswith("synthetic")) == [
        "synthetic-2.csv",
        "synthetic-3.csv",
        "synthetic.csv",
    ]
    assert len({bundle.files[name].digest.sha256 for name in ("synthetic.csv", "synthetic-2.csv", "synthetic-3.csv")}) == 3
    report = verify(bundle)
    assert not [check.question for check in report.checks if check.verdict == FAILED]
    assert "in each of 3 tables" in next(check.detail for check in report.checks if check.question == KEPT)


def test_recipients_need_memory_for_the_rows_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tables of an unstated number of rows might be three million rows; of a release it is known how many they are."""
    small = {"kind": "standin", "standin": {"rows": 500, "strength": 0.5, "seed": 1}}
    release = run(spec(data=small, mechanism={"name": "independent"}, output={"tables": 3}))
    bundle = unpack.read_bytes(pack.pack(release))
    monkeypatch.setattr(machine, "free_mb", lambda: 200.0)
    refused(synthesis.plan, release.spec, kind=CapacityError, saying=r"output\.rows")
    again = reproduce(bundle)
    assert not again.different
    assert again.made.spec == release.spec
    monkeypatch.setattr(machine, "free_mb", lambda: 0.0)
    refused(reproduce, bundle, kind=CapacityError, saying=r"^memory.* free here; allow more with --memory and --seconds")
    check = replayed(bundle)
    assert check.verdict == SKIPPED
    assert check.detail.endswith("free here; allow more with --memory and --seconds on the command line")


def _other_value(content: bytes) -> bytes:
    """The same rows, one of them with another sex."""
    header, first, rest = content.split(b"\n", 2)
    flipped = first.replace(b'"female"', b'"male"') if b'"female"' in first else first.replace(b'"male"', b'"female"')
    assert flipped != first
    return b"\n".join([header, flipped, rest])


def test_a_changed_byte_of_another_table_is_found() -> None:
    held = files(several())
    held["synthetic-2.csv"] = _other_value(held["synthetic-2.csv"])
    assert found(unpack.read_bytes(pack.zipped(held)))["Are the files unchanged?"] == FAILED
    assert "rows" in reproduce(unpack.read_bytes(pack.sealed(held))).different


@pytest.mark.parametrize(
    ("change", "question"),
    [
        (lambda held: held.pop("synthetic-3.csv"), KEPT),
        (lambda held: held.update({"synthetic-2.csv": held["synthetic-3.csv"].replace(b"male", b"mole")}), KEPT),
        (lambda held: held.update({"synthetic-2.csv": _widowed_child(held["synthetic-2.csv"])}), "Are impossible combinations absent?"),
    ],
)
def test_another_table_is_judged_as_the_first_is(change: Any, question: str) -> None:
    held = files(several())
    change(held)
    assert found(unpack.read_bytes(pack.sealed(held)))[question] == FAILED


def _widowed_child(content: bytes) -> bytes:
    header, first, rest = content.split(b"\n", 2)
    values = first.split(b",")
    values[1], values[3] = b"7", b'"widowed"'
    return b"\n".join([header, b",".join(values), rest])
