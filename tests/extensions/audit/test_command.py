"""The command `audit`: what it prints, its exit codes, and what it refuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dpsynth_core.cli import main
from dpsynth_core.extensions.audit import report
from dpsynth_core.extensions.audit.found import RATES
from dpsynth_core.privacy import noise
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.view import Integers
from dpsynth_core.vocabulary.domain import Domain
from tests.patience import SECONDS
from tests.specs import usual

GAUSSIAN = ("audit", "--mechanism", "gaussian", "--epsilon", "8", "--delta", "1e-6")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Of a data file that does not exist."""
    document = usual(
        {"path": "absent.csv"}, Domain.from_json({"age": 90, "sex": 2, "region": 12, "job": 30}).to_json(), population="somebody",
        epsilon=2.0, mechanism={"name": "independent", "settings": {}},
    )
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_an_audit_says_what_was_claimed_found_and_visible_and_that_it_proves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GAUSSIAN, "--draws", "150"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    verdicts = [line for line in lines if line.startswith("nothing found: ")]
    curves = [line for line in lines if line.startswith(" ")]
    assert len(verdicts) == 2 * 2  # two pairs of tables, two claims
    assert len(curves) == 2 * (2 + len(RATES))
    assert sum("mu found" in line for line in curves) == 2
    assert len(lines) == len(verdicts) + len(curves) + 2  # what audits cannot do; the verdict
    assert "claimed mu = 1.53" in lines[0]
    assert "found at least " in lines[0]  # OpenDP's noise: so few draws may well show nothing
    assert "visible from mu = " in lines[0]
    assert lines[-2] == report.CANNOT
    assert lines[-1].startswith("nothing was found")
    assert "100% of the runs are done" in err


class Quarter(OpenDPNoise):
    """A quarter of the noise that was asked for."""

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        return super().gaussian(values, sigma / 4)


def test_a_violation_is_named_and_ends_with_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """OpenDP's noise, so not repeatable: at four times the mu that is claimed 200 draws miss it with a probability far below 1e-6."""
    monkeypatch.setattr(noise, "OpenDPNoise", Quarter)
    assert main([*GAUSSIAN, "--draws", "200"]) == 3
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("VIOLATION: ")
    assert out[-1].startswith("VIOLATED: ")


def test_a_spec_is_audited_without_its_data(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--spec", str(spec), "--draws", "40"]) == 0
    out, err = capsys.readouterr()
    assert "note: Of the spec's 4 columns, age, sex, region were kept" in err
    assert "too few to show any violation" in out or "visible from" in out


def test_the_operations_are_audited_for_every_unit(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [case for case in report.operations.CASES if case.operation in ("measure_marginals", "select_offered_marginal")]
    monkeypatch.setattr(report.operations, "CASES", tuple(wanted))
    assert main(["audit", "--operations", "--draws", "60"]) == 0
    out = capsys.readouterr().out
    for unit in ("add-remove, 1 row", "add-remove, 2 rows", "replace, 1 row", "replace, 2 rows"):
        assert f"nothing found: measure_marginals, {unit} per person, zCDP" in out
        assert f"nothing found: select_offered_marginal, {unit} per person, pure DP" in out
    assert "computed from every answer's probability" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mechanism", "gaussian"), "--epsilon: it is missing"),
        (("--mechanism", "absent", "--epsilon", "1"), "mechanism: 'absent' is unknown"),
        (("--mechanism", "aim", "--epsilon", "1", "--set", "absent=1"), "mechanism.absent"),
        (("--mechanism", "aim", "--epsilon", "nan"), "budget.epsilon"),
        (("--mechanism", "aim", "--epsilon", "1", "--relation", "swap"), "unit.relation"),
        (("--mechanism", "aim", "--epsilon", "1", "--rows-per-person", "0"), "unit.max_rows_per_person"),
        (("--mechanism", "aim", "--epsilon", "1", "--draws", "7"), "--draws"),
        (("--mechanism", "aim", "--epsilon", "1", "--draws", "1000000"), "--draws: two runs take"),
        (("--operations", "--epsilon", "1"), "command line: budget, unit and settings go with --mechanism"),
        (("--spec", "absent.json"), "spec: the file 'absent.json' cannot be read"),
        ((), "command line: one of the arguments"),
    ],
)
def test_bad_input_is_one_line_and_ends_with_2(options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert message in err


def test_ctrl_c_ends_it_in_one_line() -> None:
    command = [sys.executable, "-m", "dpsynth_core", *GAUSSIAN, "--draws", "400"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == "10% of the runs are done\n"
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=SECONDS)
    assert running.returncode == 130
    assert err.splitlines()[-1] == "error: interrupted"
    assert "Traceback" not in err
