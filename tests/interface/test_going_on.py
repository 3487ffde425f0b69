"""A run that was interrupted goes on where it stopped: with the answers that it had, on the budget that is left, for no further charge."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.bundle.verdicts import INCONSISTENT
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.release import document, synthesis
from dpsynth_core.release.spool import Spool, parsed
from dpsynth_core.store import auditing, balance, chain, jobs, ledger, rules, spools
from dpsynth_core.store.home import LOCAL_OWNER
from tests.refusals import refused

PEOPLE = "Patients 2026"
COLUMNS = {"age": (0, 99), "sex": ["f", "m"], "region": ["north", "south"]}


def people(seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["f", "m"], 400), rng.choice(["north", "south"], 400)
    return pd.DataFrame({"age": rng.integers(0, 100, 400), "sex": sex, "region": region})


def planned(data: Any = None, **options: Any) -> dps.Plan:
    fixed: dict[str, Any] = {"epsilon": 3, "tables": 2, "mechanism": "aim", "settings": {"rounds_per_attribute": 2}, "population": PEOPLE}
    return dps.plan(people() if data is None else data, COLUMNS, **fixed | options)


class OneStream(SeededNoise):
    """Noise that a run and the one that goes on draw from together, as if it had never stopped."""

    private = True


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def begin() -> None:
        noise = OneStream(11)
        monkeypatch.setattr(synthesis, "noise_for", lambda _: noise)

    return begin


def stopped(plan: dps.Plan, answers: int, error: type[BaseException] = KeyboardInterrupt, lost: bool = False) -> str:
    """Run it until so many answers are on disk, and end before the next question; or after it, so that its answer is lost."""
    left, check, keep = iter(range(answers)), PrivacyKernel._ask, Spool._write

    def ask(kernel: PrivacyKernel, *arguments: Any, **options: Any) -> object:
        if next(left, None) is None:
            raise error
        return check(kernel, *arguments, **options)

    def write(spool: Spool, content: Any) -> None:
        if "answer" in content and next(left, None) is None:
            raise error
        keep(spool, content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*((Spool, "_write", write) if lost else (PrivacyKernel, "_ask", ask)))
        with pytest.raises(dps.ChargedError if issubclass(error, Exception) else error):
            plan.run(progress=False)
    (run,) = [entry.run for entry in chain.entries() if entry.kind == "reserve"][-1:]
    return run


def contents(release: dps.Release) -> dict[str, Any]:
    """A release as a document, without what names the population."""
    written = json.loads(json.dumps(document.to_json(release.made), default=document.plain))
    return {name: value for name, value in written.items() if name not in ("ledger", "spec", "spec_sha256")}


def test_it_ends_with_the_release_that_it_would_have_had_wherever_it_stopped(stream: Callable[[], None]) -> None:
    stream()
    whole = planned().run(progress=False)
    assert len(whole.made.transcript) > 8
    for answers in range(0, len(whole.made.transcript), 4):
        plan = planned(population=f"{PEOPLE}, {answers}")
        stream()
        run = stopped(plan, answers)
        charged = chain.entries()
        release = plan.run(progress=False)
        assert chain.entries() == charged
        assert release.rows.equals(whole.rows)
        assert contents(release) == contents(whole)
        assert release.made.ledger["entry"] == ledger.reservation(run).number
        assert not spools.spool_file(run).exists()
        assert jobs.kind_of(run) is None


def test_a_run_that_stops_again_and_again_still_ends(stream: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    stream()
    whole, plan = planned().run(progress=False), planned(population="others")
    stream()
    for _ in whole.made.transcript[1:]:  # one more answer in each attempt
        before = answered()
        stopped(plan, 1)
        assert answered() == before + 1
        assert "run() goes on from there" in capsys.readouterr().err
    release = plan.run(progress=False)
    assert release.rows.equals(whole.rows)
    assert "nothing is charged again" in capsys.readouterr().err
    assert balance.spent("others").rho == balance.spent(PEOPLE).rho


def answered() -> int:
    return sum(len(spools.spool_file(run).read_bytes().splitlines()) - 1 for run in spools.unfinished())


def test_what_goes_on_spends_what_is_left_and_no_more() -> None:
    """With the noise of real runs. The charges of the whole run are within its budget, and each is the price of its answer."""
    plan = planned()
    run = stopped(plan, 5)
    kept = [parsed(line) for line in spools.spool_file(run).read_bytes().splitlines()[1:]]
    release = plan.run(progress=False)
    assert sum(len(line["paid"]) for line in kept) < len(release.made.charges)
    assert release.made.rho_spent <= release.made.rho
    assert sum(answer.charges for answer in release.made.transcript) == len(release.made.charges)
    assert release.verify().verdict != INCONSISTENT  # which asks each answer what it must have cost
    assert not auditing.audit().problem


def test_a_run_with_a_seed_begins_its_noise_again_and_ends_the_same() -> None:
    whole = dps.testing.seeded(planned(), 3).run(progress=False)
    plan = dps.testing.seeded(planned(population="others"), 3)
    stopped(plan, 6)
    charged = chain.entries()
    assert plan.run(progress=False).rows.equals(whole.rows)
    assert chain.entries() == charged


def test_what_a_run_kept_and_that_was_put_back_after_its_release_does_not_go_on(home: Path) -> None:
    """By a backup, say: another end of the same beginning would be a second draw for one charge."""
    plan = planned()
    run = stopped(plan, 5)
    kept = spools.spool_file(run).read_bytes()
    plan.run(progress=False)
    spent = balance.spent(PEOPLE).rho
    spools.spool_file(run).write_bytes(kept)
    next((home / "releases").glob(f"{run}-*.zip")).unlink()
    plan.run(progress=False)
    assert balance.spent(PEOPLE).rho == pytest.approx(2 * spent)
    assert spools.spool_file(run).read_bytes() == kept


def test_a_plan_that_breaks_a_rule_of_the_house_meanwhile_does_not_go_on() -> None:
    plan = planned()
    stopped(plan, 4)
    rules.put_in_force(LOCAL_OWNER, json.dumps({"largest_epsilon": 0.5}), "decided by the board in March")
    before = answered()
    refused(plan.run, progress=False, saying=r"epsilon is at most 0\.5, and this one is 3")
    assert answered() == before


def test_another_table_is_another_run() -> None:
    stopped(planned(), 4)
    spent = balance.spent(PEOPLE).rho
    planned(people(6)).run(progress=False)
    assert balance.spent(PEOPLE).rho == pytest.approx(2 * spent)
    assert len(spools.unfinished()) == 1


def test_a_table_that_is_read_otherwise_does_not_go_on(tmp_path: Path) -> None:
    """Neither file nor digest tells, but the same cells may mean something else."""
    people().to_csv(tmp_path / "people.csv", index=False)
    run = stopped(planned(tmp_path / "people.csv"), 4)
    otherwise = planned(tmp_path / "people.csv", form={"missing_markers": ["f"]})
    refused(otherwise.run, progress=False, saying="of a table that was read otherwise; .*, or recover it")
    assert spools.unfinished() == (run,)
    planned(tmp_path / "people.csv").run(progress=False)
    assert (spools.unfinished(), balance.spent(PEOPLE).releases) == ((), 1)


@pytest.mark.parametrize("error", [OSError, MemoryError, ValueError])
def test_an_answer_that_may_have_been_the_reason_of_the_end_is_not_drawn_again(
    error: type[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned()
    run = stopped(plan, 4, error, lost=True)
    assert "it cannot go on; recover(" in capsys.readouterr().err
    spent = balance.spent(PEOPLE).rho
    refused(plan.run, progress=False, saying="cannot go on; recover it, which spends nothing")
    assert dps.recover(run, progress=False).rows is None
    assert balance.spent(PEOPLE).rho == spent
    plan.run(progress=False, again=True)
    assert balance.spent(PEOPLE).rho == pytest.approx(2 * spent)


@pytest.mark.parametrize("taken", [0, 100, 10**6])
def test_an_answer_whose_write_is_answered_with_an_error_is_on_disk_once(taken: int) -> None:
    """However much of it was written: a file system of another machine may say so of a write that is done."""
    written, kept = os.write, iter(range(4))

    def write(descriptor: int, content: Any) -> int:
        if b'{"answer"' not in bytes(content) or next(kept, None) is not None:
            return written(descriptor, content)
        written(descriptor, content[:taken])
        raise OSError(errno.EIO, "Input/output error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write)
        refused(planned().run, progress=False, saying="can no longer be kept")
    (run,) = spools.unfinished()
    answers = [parsed(line)["answer"] for line in spools.spool_file(run).read_bytes().split(b"\n")[1:-1]]
    assert len(answers) == 4 + (taken == 10**6)
    assert len({json.dumps(answer) for answer in answers}) == len(answers)
    assert len(dps.recover(run, progress=False).made.transcript) == len(answers)


def test_whoever_wants_another_release_of_an_interrupted_plan_says_so() -> None:
    plan = planned()
    stopped(plan, 4)
    spent = balance.spent(PEOPLE).rho
    plan.run(progress=False, again=True)
    assert balance.spent(PEOPLE).rho == pytest.approx(2 * spent)


def one_digit(line: bytes) -> bytes:
    return re.sub(rb"(?<=\d)\d(?=,)", lambda digit: b"%d" % (9 - int(digit[0])), line, count=1)


def cheaper(line: bytes) -> bytes:
    return re.sub(rb'"sigma": ([0-9.]+)', lambda sigma: b'"sigma": %f' % (3 * float(sigma[1])), line)


def test_a_last_answer_that_cannot_be_read_any_more_is_not_drawn_again() -> None:
    """A power cut may have left it so; but so may damage after somebody acted on it."""
    plan = planned()
    file = spools.spool_file(stopped(plan, 5))
    content = file.read_bytes()
    file.write_bytes(content[:-30] + bytes(20) + content[-10:])
    with pytest.raises(dps.InputError, match="an answer that was paid for is lost"):
        plan.run(progress=False)


def free(line: bytes) -> bytes:
    return re.sub(rb'"charges": 1', b'"charges": 0', re.sub(rb'"paid": \[.*\]', b'"paid": []', line))


@pytest.mark.parametrize(
    ("what", "changed", "problem"),
    [
        ("a digit of a noisy count", one_digit, "its spool is damaged"),
        ("a price is lower", cheaper, "not with the noise"),
        ("a price is missing", free, "charged"),
        ("it is another question", lambda line: line.replace(b'"measure_marginals"', b'"measure_total"'), "transcript"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_what_was_altered_on_disk_does_not_go_on(what: str, changed: Callable[[bytes], bytes], problem: str) -> None:
    plan = planned()
    run = stopped(plan, 5)
    file = spools.spool_file(run)
    first, *others = file.read_bytes().splitlines(keepends=True)
    altered = [changed(line) for line in others]
    assert altered != others, what
    if changed is not one_digit:  # by hand, as in a spool without checksums
        altered = [line.partition(b"\t")[0] + b"\n" for line in altered]
    file.write_bytes(first + b"".join(altered))
    refused(plan.run, progress=False, saying=problem)
    assert file.exists()
