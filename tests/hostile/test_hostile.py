"""At least a thousand hostile cases on every build, and some of them as whole processes.

HOSTILE_CASES and HOSTILE_SEED ask for more of them, or for others.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.hostile import people
from tests.hostile.attempts import Case
from tests.hostile.groups import GROUPS
from tests.hostile.trial import judge

CASES, SEED = int(os.environ.get("HOSTILE_CASES", "1050")), int(os.environ.get("HOSTILE_SEED", "0"))
PART = 14
"""Cases of one test: few enough that tests which run side by side share them evenly."""
EACH = -(-CASES // len(GROUPS))

WHOLE_PROCESSES = {"content": 2, "domains": 1, "options": 1, "paths": 4, "specs": 1, "parquet": 2}
"""Cases by group that are run as a user would run them. Few: each takes the seconds in which the program starts, and is judged without a
process of its own besides."""
ADDRESS_SPACE, PATIENCE = 2 << 30, 60


@pytest.mark.parametrize("group", sorted(GROUPS))
@pytest.mark.parametrize("first", range(0, EACH, PART))
def test_hostile_input_ends_as_promised(group: str, first: int) -> None:
    broken = []
    for number in range(first, min(first + PART, EACH)):
        case = Case(group, SEED, number)
        outcome = judge(case)
        if outcome.wrong:
            broken.append(f"{case}: {'; '.join(outcome.wrong)}\n  exit {outcome.code}: {outcome.stderr.strip()[-500:]}")
    assert not broken, "\n".join(["", *broken])


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


@pytest.mark.slow  # the program starts anew for each of them
@pytest.mark.parametrize(("group", "number"), [(group, number) for group, count in WHOLE_PROCESSES.items() for number in range(count)])
def test_whole_processes_end_as_promised_within_two_gigabytes(group: str, number: int, tmp_path: Path) -> None:
    attempt = Case(group, SEED, number).make(tmp_path)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": tempfile.mkdtemp(dir=tmp_path),
        "DPSYNTH_HOME": str(tmp_path / "home-of-books"),
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
    arguments = [argument.replace("\0", "") for argument in attempt.arguments]  # no system passes them on
    done = subprocess.run(
        [sys.executable, "-m", "dpsynth_core", *arguments],
        cwd=tmp_path,
        env=environment | dict(attempt.environment),
        capture_output=True,
        timeout=PATIENCE * 3,  # two other tests may be running
        preexec_fn=_limited,
        check=False,
    )
    output = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode in attempt.codes, output[-2000:]
    assert "Traceback" not in output
    assert not any(canary in output for canary in people.CANARIES)
    if done.returncode == 2:
        assert [line.startswith(b"error: ") for line in done.stderr.splitlines()] == [True]


def test_a_case_is_the_same_each_time_it_is_made(tmp_path: Path) -> None:
    for group in GROUPS:
        places = [tmp_path / f"{group}-{number}" for number in range(2)]
        for place in places:
            place.mkdir()
        first, second = (Case(group, 5, 0).make(place) for place in places)
        assert first.arguments == second.arguments
        assert [path.name for path in sorted(places[0].iterdir())] == [path.name for path in sorted(places[1].iterdir())]


# What the judge would say of a program that breaks a promise


def _judged(monkeypatch: pytest.MonkeyPatch, main: object) -> tuple[str, ...]:
    from dpsynth_core import cli

    monkeypatch.setattr(cli, "main", main)
    return judge(Case("content", 0, 0)).wrong


def test_the_judge_notices_a_canary_a_traceback_and_a_wrong_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaks(_: object) -> int:
        print(f"error: data: {people.CANARIES[0]} cannot be read; mend it", file=sys.stderr)
        Path("new.log").write_text(people.CANARIES[1])
        return 2

    assert [sentence for sentence in _judged(monkeypatch, leaks) if people.CANARIES[0] in sentence]
    assert [sentence for sentence in _judged(monkeypatch, leaks) if "new.log" in sentence]

    def falls(_: object) -> int:
        print("Traceback (most recent call last):", file=sys.stderr)
        return 7

    wrong = " ".join(_judged(monkeypatch, falls))
    assert "traceback" in wrong
    assert "ends with 7" in wrong


def test_the_judge_notices_a_charge_behind_exit_code_2_and_what_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsynth_core import cli

    real = cli.main

    def charges(_: object) -> int:
        place = Path("good")
        place.mkdir()
        people.write(random.Random(0), place)
        assert real(people.synthesize("good/people.csv", "good/domain.json")) == 0  # type: ignore[arg-type]
        return 2

    wrong = _judged(monkeypatch, charges)
    assert "it charged and ends with 2" in wrong
    assert "it opened the source and ends with 2" in wrong

    def hangs(_: object) -> int:
        while True:
            pass

    monkeypatch.setattr("tests.hostile.trial.SECONDS_SHARE", 0.02)
    assert "it hangs" in _judged(monkeypatch, hangs)
