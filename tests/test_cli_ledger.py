"""The ledger from the command line: it charges the books of the installation, says what that cost, checks, exports and restores them."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dpsynth_core import cli
from dpsynth_core.cli import making
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.store import auditing, balance, chain, ledger, roles, signing
from dpsynth_core.store.home import now


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, its domain, and a home of its own."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    codes = np.random.default_rng(0).integers(0, 2, size=(200, 2))
    np.savetxt("people.csv", np.column_stack([np.repeat(range(100), 2), codes]), fmt="%d", delimiter=",", header="id,a,b", comments="")
    Path("domain.json").write_text('{"a": 2, "b": 2}')
    return tmp_path / "home"


def synthesize(*extra: str) -> int:
    given = ["people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", "all-1way"]
    return cli.main(["synthesize", *given, "--mechanism", "independent", *extra])


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("name", ["", " ", "not in the ledger", "NOT IN THE LEDGER"])
@pytest.mark.parametrize("command", ["synthesize", "run"])
def test_a_population_that_is_none_is_refused_and_nothing_is_charged(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An unset variable in a script must not charge a population that no other release of these people is charged to."""
    if command == "synthesize":
        assert synthesize("--population", name) == cli.BAD_INPUT
    else:
        assert synthesize() == 0
        spec = json.loads(Path("out/release.json").read_text())["spec"]
        Path("spec.json").write_text(json.dumps(spec))
        capsys.readouterr()
        assert cli.main(["run", "spec.json", "--out", "again", "--population", name]) == cli.BAD_INPUT
    assert "population" in last_line(capsys)
    assert chain.entries() == ()


def test_it_charges_the_same_books_as_the_app(capsys: pytest.CaptureFixture[str]) -> None:
    roles.greet("somebody else", "Ann", roles.EVERY, now())
    ledger.open_population("somebody else", "people", (1.2, 1e-9))
    assert synthesize("--population", "people") == 0
    assert synthesize("--population", "people", "--out", "again") == cli.BAD_INPUT
    assert "above its cap of 1.2" in last_line(capsys)


def test_a_release_says_where_it_is_in_the_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people") == 0
    entry = chain.entries()[1]
    assert f"ledger: entry 2, hash {entry.hash}" in capsys.readouterr().err
    stored = json.loads(Path("out/release.json").read_text())["ledger"]
    assert stored["unit"] == {"relation": "add-remove", "person_column": None, "max_rows_per_person": 1}
    assert stored["cap"] == {"epsilon": 10.0, "delta": 1e-9}
    assert not [key for key in stored if "spent" in key or key.startswith("population_")]


def test_charges_for_rows_and_for_people_are_not_mixed_and_nothing_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert synthesize("--population", "people") == 0
    monkeypatch.setattr(synthesis, "open_source", lambda _: pytest.fail("a record was read"))
    capsys.readouterr()
    assert synthesize("--population", "people", "--person-column", "id", "--max-rows-per-person", "2", "--out", "again") == cli.BAD_INPUT
    line = last_line(capsys)
    assert "is charged for one row, added or removed" in line
    assert "one person of column 'id' with at most 2 rows" in line
    assert balance.spent("people").releases == 1


def test_the_same_file_under_another_name_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people", "--private-notes") == 0
    assert "same table" not in capsys.readouterr().err
    assert synthesize("--population", "people", "--private-notes", "--out", "again") == 0
    assert "same table" not in capsys.readouterr().err
    assert synthesize("--population", "others", "--out", "second") == 0
    assert "same table" not in capsys.readouterr().err
    assert synthesize("--population", "more", "--private-notes", "--out", "third") == 0
    assert "warning, for your eyes only: the same table was charged to the population 'people'" in capsys.readouterr().err


def test_a_spec_of_the_app_is_charged_in_one_unit_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people") == 0
    entry = chain.entries()[1]
    spec = Spec.from_json(json.loads(Path("out/release.json").read_text())["spec"])
    assert (entry.relation, entry.person_column, entry.max_rows) == ("add-remove", None, spec.unit.max_rows_per_person)
    assert "done: " in capsys.readouterr().err


def test_check_says_what_is_charged_and_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people") == 0
    capsys.readouterr()
    assert cli.main(["ledger", "check"]) == 0
    stored, head = capsys.readouterr().out, chain.entries()[-1]
    assert "entries: 3" in stored
    assert f"head: 3 {head.hash}" in stored
    assert "population 'people': epsilon 1 of 10 at delta 1e-09, charged by 1 run, for one row, added or removed" in stored
    assert cli.main(["ledger", "check", "--head", head.hash[:16]]) == 0
    assert cli.main(["ledger", "check", "--head", "0123456789abcdef"]) == cli.FAILED


def test_an_export_is_checked_by_whoever_gets_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people") == 0
    capsys.readouterr()
    assert cli.main(["ledger", "export"]) == 0
    text = capsys.readouterr().out
    assert auditing.read(text) == chain.entries()
    Path("ledger.json").write_text(text)
    assert cli.main(["ledger", "check", "ledger.json"]) == 0
    Path("ledger.json").write_text(text.replace("people", "others"))
    assert cli.main(["ledger", "check", "ledger.json"]) == cli.FAILED
    assert "NOT WHOLE: entry 1 was altered" in capsys.readouterr().out
    os.mkfifo("pipe")
    Path("bytes").write_bytes(b"\xff\xfe[")
    for name in ("nowhere.json", "pipe", "bytes", "."):
        assert cli.main(["ledger", "check", name]) == cli.BAD_INPUT
    assert cli.main(["ledger", "export", "--format", "csv"]) == 0
    assert "curator,kind,population" in capsys.readouterr().out


def test_a_lost_ledger_charges_nothing_until_a_person_restores_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people") == 0
    for path in home.glob("dpsynth.sqlite*"):
        path.unlink()
    capsys.readouterr()
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert "its database is missing" in (line := last_line(capsys))
    assert "nothing was read and nothing charged" in line
    assert cli.main(["ledger", "check"]) == cli.FAILED
    assert cli.main(["ledger", "restore"]) == cli.BAD_INPUT
    assert cli.main(["ledger", "restore", "--reason", ""]) == cli.BAD_INPUT
    capsys.readouterr()
    assert cli.main(["ledger", "restore", "--reason", "the disk failed"]) == 0
    assert f"head: 1 {chain.entries()[0].hash}" in capsys.readouterr().out
    assert cli.main(["ledger", "check"]) == 0
    assert synthesize("--population", "people", "--out", "again") == 0
    assert json.loads(Path("again/release.json").read_text())["ledger"]["restored"] == 1


def verified(capsys: pytest.CaptureFixture[str], *extra: str, out: str = "out") -> tuple[int, str]:
    """Exit code of `verify`, and what it says of the signature."""
    capsys.readouterr()
    code = cli.main(["verify", f"{out}/release.zip", *extra])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "Is it signed?" in line]
    return code, line


def test_a_release_is_signed_and_its_recipient_can_demand_the_key(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people") == 0
    capsys.readouterr()
    assert cli.main(["ledger", "key"]) == 0
    key = capsys.readouterr().out.strip()
    Path("publisher.txt").write_text(f"{key}\n")
    code, line = verified(capsys)
    assert (code, line.partition(":")[0]) == (0, "passed")
    assert f"signed by {key}, entry 2 of its ledger" in line
    for given in (key, key.upper(), "publisher.txt"):
        code, line = verified(capsys, "--key", given)
        assert code == 0
        assert "that is the key that was given" in line
    code, line = verified(capsys, "--key", "0" * 64)
    assert (code, line.partition(":")[0]) == (cli.FAILED, "failed")
    for given in ("", "nowhere.txt", key[1:]):
        assert cli.main(["verify", "out/release.zip", "--key", given]) == cli.BAD_INPUT
        assert "--key" in last_line(capsys)
    (home / signing.NAME).unlink()
    assert synthesize("--population", "people", "--out", "again") == 0
    assert verified(capsys, "--key", key, out="again")[0] == cli.FAILED, "a new key is another one"


def test_a_release_that_charged_no_ledger_is_not_signed_and_makes_no_key(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize() == 0
    assert "it is unsigned" in verified(capsys)[1]
    assert not home.exists()


def test_a_key_that_cannot_be_used_is_said_before_anything_is_charged(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signing.public_key()
    (home / signing.NAME).write_bytes(b"x" * 64)
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert "signing.key is damaged" in last_line(capsys)
    assert chain.entries() == ()


def test_a_key_that_is_spoilt_meanwhile_is_no_reason_to_lose_the_release(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signing.public_key()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signing, "check", lambda: (home / signing.NAME).write_bytes(b"x"))
        assert synthesize("--population", "people") == 0
    assert "warning: release.zip is not signed: DPSYNTH_HOME: its signing.key is damaged" in capsys.readouterr().err
    assert "it is unsigned" in verified(capsys)[1]


@pytest.mark.parametrize("command", ["synthesize", "run"])
def test_the_ledger_commits_to_the_sealed_plan_before_a_record_is_counted(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    committed: list[list[tuple[str, str]]] = []
    opened = synthesis.open_source

    def spying(plan: Plan) -> object:
        committed.append([(entry.kind, entry.spec) for entry in chain.entries() if entry.run])
        return opened(plan)

    monkeypatch.setattr(synthesis, "open_source", spying)
    if command == "run":
        assert synthesize() == 0
        committed.clear()
        spec = json.loads(Path("out/release.json").read_text())["spec"]
        Path("spec.json").write_text(json.dumps(spec))
        assert cli.main(["run", "spec.json", "--out", "out", "--population", "people"]) == 0
    else:
        assert synthesize("--population", "people") == 0
    digest = json.loads(Path("out/release.json").read_text())["spec_sha256"]
    assert committed == [[("reserve", digest), ("touch", digest)]]


@pytest.fixture
def kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a charged run has measured that could not write its release."""
    with monkeypatch.context() as patch:
        patch.setattr(making, "write_files", lambda *_, **__: (_ for _ in ()).throw(InputError("--out", "it is gone", "name another")))
        assert synthesize("--population", "people") == cli.FAILED
    (spool,) = (home / "spools").iterdir()
    return spool


def test_a_recovered_release_is_signed_where_it_was_kept_here(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = Path("from-a-stranger.jsonl")
    elsewhere.write_bytes(kept.read_bytes())
    assert cli.main(["recover", str(elsewhere), "--out", "out"]) == 0
    assert "it is unsigned" in verified(capsys)[1]


def test_a_release_that_was_recovered_here_is_signed(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["recover", "--out", "out"]) == 0
    assert "entry 2 of its ledger" in verified(capsys)[1]
    assert not kept.exists()


def test_what_was_kept_of_another_plan_than_the_charged_one_makes_no_release(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = re.sub(r"\t[0-9a-f]{8}$", "", kept.read_text(encoding="utf-8"), flags=re.MULTILINE)  # by hand
    kept.write_text(before.replace('"name": "people"', '"name": "others"', 1), encoding="utf-8")
    assert kept.read_text(encoding="utf-8") != before
    assert cli.main(["recover", "--out", "out"]) == cli.BAD_INPUT
    assert "another one than entry 2 of the ledger was charged for" in last_line(capsys)
    assert kept.exists()
    assert not Path("out/release.zip").exists()


def test_a_ledger_without_its_table_is_not_whole(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--population", "people") == 0
    with closing(sqlite3.connect(home / "dpsynth.sqlite")) as db:
        db.execute("DROP TABLE ledger")
        db.commit()
    capsys.readouterr()
    assert cli.main(["ledger", "check"]) == cli.FAILED
    assert "NOT WHOLE: tables or rules of its database were changed" in capsys.readouterr().out
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert "nothing was read and nothing charged" in last_line(capsys)


def test_a_clock_behind_the_ledger_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert synthesize("--population", "people") == 0
    assert "clock" not in capsys.readouterr().err
    for module in (chain, balance):
        monkeypatch.setattr(module, "now", lambda: "2001-01-01T00:00:00.000+00:00")
    assert synthesize("--population", "people", "--out", "again") == 0
    assert "warning: the clock of this machine is behind entry 3 of the ledger" in capsys.readouterr().err
    assert cli.main(["ledger", "check"]) == 0
    assert "note: entry 4 is dated before the entry before it" in capsys.readouterr().out
