"""A release that was paid for is never lost: whatever ended its run, `recover` finishes it and spends nothing again."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core import cli
from dpsynth_core.bundle import unpack, verdicts, verify
from dpsynth_core.cli import making
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.release import synthesis
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.release.rows import Rows
from dpsynth_core.release.spool import Spool
from dpsynth_core.store import balance, chain, database, dispatch, spools, verified_books
from tests.additions import listed
from tests.test_cli import place, release, synthesize

__all__ = ["place"]

SEEDED = ("--seed", "7", "--set", "rounds_per_attribute=4", "--inside", "0")


def recover(*extra: str, out: str = "again") -> int:
    return cli.main(["recover", *extra, "--out", out])


def interrupt_after(answers: int, patch: pytest.MonkeyPatch) -> None:
    """End the run before it keeps one more answer, as a signal does."""
    left, keep = iter(range(answers)), Spool.keep

    def counted(spool: Spool, *arguments: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        keep(spool, *arguments)

    patch.setattr(Spool, "keep", counted)


def interrupted(answers: int, *extra: str, out: str = "out") -> None:
    with pytest.MonkeyPatch.context() as patch:
        interrupt_after(answers, patch)
        assert synthesize(*SEEDED, *extra, out=out) == cli.INTERRUPTED
    assert not list(Path(out).iterdir())


def forbid_kernels(patch: pytest.MonkeyPatch) -> None:
    """Nothing can be asked of the private table any more, and it is gone too."""

    def refuse(*_: object) -> None:
        raise AssertionError("a kernel was made")

    patch.setattr(PrivacyKernel, "__init__", refuse)
    Path("people.csv").unlink()


def test_after_any_answer_the_release_is_recovered_as_far_as_it_was_paid_for() -> None:
    """Every other number of answers of a seeded run: its tables alone at first, then the very rows of the whole run."""
    assert synthesize(*SEEDED) == 0
    whole, rows = release(), Path("out/synthetic.csv").read_bytes()
    answers = len(whole["transcript"])
    shutil.rmtree("out")
    kinds: list[str] = []
    for number in (*range(1, answers - 5, 5), answers - 3, answers - 1):
        interrupted(number, "--population", f"people {number}")
        charged = balance.spent(f"people {number}")
        assert recover() == 0
        made = json.loads(Path("again/release.json").read_text())
        codes = {brand["code"] for brand in made["brands"]}
        assert len(made["transcript"]) == number
        assert made["measurements"] == whole["measurements"][: len(made["measurements"])]
        assert 0 < made["budget"]["rho_spent"] < whole["budget"]["rho_spent"]
        assert made["ledger"]["population"] == f"people {number}"
        if Path("again/synthetic.csv").exists():
            kinds.append("rows")
            assert Path("again/synthetic.csv").read_bytes() == rows
            assert "certificate-interrupted" in codes
        else:
            kinds.append("tables")
            assert "interrupted" in codes
        checks = verify.verify(unpack.read(Path("again/release.zip"))).checks
        failed = [check.detail for check in checks if check.verdict == verdicts.FAILED]
        assert failed == ["the noise was predictable: this release is not private"]  # the seed's fault, not the recovery's
        assert balance.spent(f"people {number}") == charged
        assert spools.unfinished() == ()
        shutil.rmtree("again")
    assert kinds == sorted(kinds, reverse=True)
    assert set(kinds) == {"tables", "rows"}


def test_an_answer_that_a_power_cut_left_without_a_sector_costs_none_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    interrupted(3, "--population", "people")
    (file,) = (spools.spool_file(run) for run in spools.unfinished())
    *lines, before, last, _ = file.read_bytes().split(b"\n")
    torn, end = last[:40] + bytes(len(last) - 60) + last[-20:], b"\n"
    file.write_bytes(b"\n".join([*lines, torn, last]) + end)
    assert recover() == 2, "what was on disk before another answer was asked for has been damaged since"
    assert "its spool is damaged" in capsys.readouterr().err
    file.write_bytes(b"\n".join([*lines, before, torn]) + end)
    assert recover() == 0
    assert len(json.loads(Path("again/release.json").read_text())["transcript"]) == 2


def test_without_a_population_the_spool_lies_beside_the_folder_until_it_is_recovered(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("error: interrupted")
    assert lines[-2].startswith("kept: 3 answers")
    assert (place / "out.interrupted").stat().st_mode & 0o777 == 0o600
    assert not (place / "home").exists()
    forbid_kernels(monkeypatch)
    assert recover(out="out") == 0
    assert release()["rows"]["count"] == 0
    assert sorted(path.name for path in place.glob("out*")) == ["out"]


def test_a_format_whose_library_fails_for_the_rows_costs_no_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It holds the invented rows that are tried before the charge, and not those that were made."""
    real = FORMATS["feather"].write

    def failing(rows: Rows, *others: Any) -> None:
        if rows.num_rows > 3:
            assert Path("out/release.zip").exists(), "what is paid for is on the disk first"
            raise OverflowError("a value of the rows")
        real(rows, *others)

    monkeypatch.setitem(FORMATS, "feather", replace(FORMATS["feather"], write=failing))  # type: ignore[index]  # a dict, of which no code but this knows
    assert synthesize(*SEEDED, "--format", "feather,csv", "--population", "people") == 0
    told = capsys.readouterr().err
    assert "warning: synthetic.feather was not written: its library failed; use another format; release.zip has the rows" in told
    assert "a value of the rows" not in told
    beside = {f"synthetic.csv{end}" for end in listed("BESIDE")}
    assert {path.name for path in Path("out").iterdir()} == {"synthetic.csv", "release.json", "release.zip", "times.json"} | beside
    assert spools.unfinished() == ()


def test_a_full_disk_while_a_format_is_written_is_mended_by_the_same_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real, full = FORMATS["jsonl"].write, [True]

    def write(rows: Rows, *others: Any) -> None:
        if rows.num_rows > 3 and full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(rows, *others)

    monkeypatch.setitem(FORMATS, "jsonl", replace(FORMATS["jsonl"], write=write))  # type: ignore[index]  # a dict, of which no code but this knows
    asked = (*SEEDED, "--format", "jsonl", "--population", "people")
    assert synthesize(*asked) == cli.FAILED
    assert "No space left on device" in capsys.readouterr().err
    first = Path("out/release.json").read_bytes()
    full[0] = False
    assert synthesize(*asked) == 0
    assert "goes on with the run" in capsys.readouterr().err
    assert (Path("out/synthetic.jsonl").exists(), Path("out/release.json").read_bytes()) == (True, first)
    assert balance.spent("people").releases == 1


def test_a_release_that_cannot_be_written_is_recovered_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder has become a file since the check, as a full disk or another program may do."""
    real = making._write_packed_rows

    def gone(made: Any, out: Path, formats: Sequence[str]) -> dict[str, Path]:
        if out.name == "out":
            out.rmdir()
            out.write_text("somebody else's")
        return real(made, out, formats)

    monkeypatch.setattr(making, "_write_packed_rows", gone)
    assert synthesize(*SEEDED, "--population", "people") == cli.FAILED
    assert "what was charged stays charged" in capsys.readouterr().err.splitlines()[-1]
    forbid_kernels(monkeypatch)
    assert recover() == 0
    made = json.loads(Path("again/release.json").read_text())
    assert made["certificate"] is not None
    assert made["ledger"]["population"] == "people"
    assert "interrupted" not in capsys.readouterr().err


def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_charged(place: Path) -> None:
    (place / "out" / "release.json").mkdir(parents=True)
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert balance.populations() == ()


@pytest.mark.parametrize("charge", [(), ("--population", "people")], ids=["uncharged", "charged"])
def test_a_folder_with_the_longest_name_is_one_like_others(charge: tuple[str, ...]) -> None:
    for name in ("x" * 255, "ä" * 127):
        assert synthesize("--mechanism", "independent", *charge, out=name) == 0
        assert (Path(name) / "release.zip").exists()


def test_a_place_that_takes_no_spool_is_named_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Spool, "_write", full)
    assert synthesize() == cli.BAD_INPUT
    assert "error: --out: what is measured cannot be kept in" in capsys.readouterr().err
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert "error: DPSYNTH_HOME: what is measured cannot be kept in" in capsys.readouterr().err
    assert balance.spent("people").rho == 0
    assert spools.unfinished() == ()
    assert not Path("out.interrupted").exists()


def test_what_a_killed_run_left_half_written_is_removed_by_the_next_and_nothing_else(place: Path) -> None:
    assert synthesize("--mechanism", "independent") == 0
    left, others = place / "out" / ".release.zip.0123abcd.partial", place / "out" / ".my.partial"
    for file in (left, others):
        file.write_text("half")
    assert synthesize("--mechanism", "independent") == 0
    assert (left.exists(), others.exists()) == (False, True)
    interrupted(5, "--population", "people", out="again")
    left = place / "again" / ".synthetic.csv.0123abcd.partial"
    left.write_text("half")
    assert recover() == 0
    assert not left.exists()


def test_two_runs_do_not_write_into_one_folder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real, codes = synthesis.open_source, []

    def meanwhile(plan: Any) -> Any:
        codes.append(cli.main(["recover", "gone", "--out", "out"]))
        codes.append(synthesize("--population", "people", out="./out"))
        return real(plan)

    monkeypatch.setattr(synthesis, "open_source", meanwhile)
    assert synthesize("--mechanism", "independent", "--population", "others") == 0
    assert codes == [cli.BAD_INPUT, cli.BAD_INPUT]
    assert "error: --out: another run writes in 'out'; name another folder, or wait for its end" in capsys.readouterr().err.splitlines()
    assert balance.populations() == ("others",)


def test_a_release_that_was_charged_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent", "--population", "people") == 0
    kept = Path("out/release.zip").read_bytes()
    for charge in (("--population", "others"), (), ("--population", "people")):
        assert synthesize("--mechanism", "independent", *charge) == cli.BAD_INPUT
        assert "holds a release that was charged to the population 'people'" in capsys.readouterr().err.splitlines()[-1]
    assert Path("out/release.zip").read_bytes() == kept
    assert balance.populations() == ("people",)


def test_a_run_goes_on_beside_the_part_of_its_own_release_that_was_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(making, "pack", lambda *_, **__: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
        assert synthesize("--mechanism", "independent", "--population", "people") == cli.FAILED
    assert Path("out/release.json").exists()
    assert not Path("out/release.zip").exists()
    assert synthesize("--mechanism", "independent", "--population", "people") == 0
    assert "nothing is charged again" in capsys.readouterr().err
    assert Path("out/release.zip").exists()


def test_a_disk_without_room_is_refused_before_anything_is_charged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert "make room first" in capsys.readouterr().err
    assert balance.populations() == ()


def test_damage_found_after_the_charge_is_no_mistake_that_cost_nothing_and_leaves_nothing_to_recover(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise InputError("data", "a page of it is broken", "repair it")

    monkeypatch.setattr(synthesis, "open_source", broken)
    assert synthesize("--population", "people") == cli.FAILED
    (*_, last) = capsys.readouterr().err.splitlines()
    assert "a page of it is broken; repair it; no release was written, and what was charged stays charged" in last
    assert balance.spent("people").rho > 0
    assert recover() == cli.BAD_INPUT


def test_which_run_is_meant_is_asked_where_it_is_not_clear(capsys: pytest.CaptureFixture[str]) -> None:
    assert recover() == cli.BAD_INPUT
    assert "there is no interrupted run" in capsys.readouterr().err
    interrupted(3, "--population", "a")
    interrupted(3, "--population", "b")
    capsys.readouterr()
    assert recover() == cli.BAD_INPUT
    line, runs = capsys.readouterr().err, spools.unfinished()
    assert all(run in line for run in runs)
    assert [recover(run, out=run) for run in runs] == [0, 0]
    assert recover(runs[0]) == cli.BAD_INPUT


def test_a_line_that_a_crash_cut_off_is_left_out_and_a_run_under_way_is_not_recovered(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(3)
    file = place / "out.interrupted"
    file.write_bytes(file.read_bytes()[:-5])
    assert recover(out="out") == 0
    assert len(release()["transcript"]) == 2

    keep, statuses = Spool.keep, []

    def meanwhile(spool: Spool, *arguments: Any) -> None:
        keep(spool, *arguments)
        statuses.append(recover(str(spool.path)))

    monkeypatch.setattr(Spool, "keep", meanwhile)
    assert synthesize(*SEEDED) == 0
    assert set(statuses) == {cli.BAD_INPUT}
    assert "still under way" in capsys.readouterr().err


def test_a_home_that_takes_nothing_more_from_any_moment_on_loses_nothing_and_says_whether_it_was_charged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A disk that fills before, during or after the charge: nothing is written any more by the n-th connection to the database and all
    after it."""
    opened, codes = database._open, []
    for before in count():
        population, out, connections = f"people {before}", f"out {before}", []

        def failing(path: Path, before: int = before, connections: list[Path] = connections) -> sqlite3.Connection:
            connection = opened(path)
            connections.append(path)
            if len(connections) > before:
                connection.execute("PRAGMA query_only = ON")
            return connection

        chain.entries()  # the home is there
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "_open", failing)
            code = synthesize("--seed", "7", "--mechanism", "independent", "--population", population, out=out)
        codes.append(code)
        said = capsys.readouterr().err.splitlines()[-1]
        dispatch.pump()
        charged = population in balance.populations() and balance.spent(population).rho > 0
        assert (Path(out) / "release.json").exists() == (code == 0)
        if code == 0:
            assert charged
        else:
            assert said.startswith("error: DPSYNTH_HOME: ")
            assert ("stays charged" in said, "nothing charged" in said) == (code == cli.FAILED, code == cli.BAD_INPUT)
            assert code == cli.FAILED or not charged
        for run in spools.unfinished():
            assert recover(run) == 0
            shutil.rmtree("again")
        assert verified_books.verify().ok
        if len(connections) <= before:
            break
    assert set(codes) == {0, cli.FAILED, cli.BAD_INPUT}
