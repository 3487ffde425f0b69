"""Benchmarks measure what they say: on a small public table, with our own command line and with a stand-in for dpmm."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from benchmarks import certificate, compare, counting, programs
from benchmarks.scale_model import Model, fit
from benchmarks.table import Table
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.workload import all_kway

ROWS = 400

# Writes back the table that it was given: rows without any error, if they are read as what they are.
ECHO = """
import sys
from pathlib import Path
table, domain, out = sys.argv[3], sys.argv[4], sys.argv[sys.argv.index("--out") + 1]
assert Path(domain).exists()
Path(out).write_bytes(Path(table).read_bytes())
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    age, sex = rng.integers(18, 90, ROWS), rng.integers(0, 2, ROWS)
    frame = pd.DataFrame({"age": age, "sex": np.array(["f", "m"])[sex], "smokes": np.where(sex == 1, "yes", "no")})
    frame.to_csv(tmp_path / "people.csv", index=False)
    domain = {
        "version": 1,
        "attributes": [
            {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": False},
            {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
            {"name": "smokes", "kind": "categorical", "categories": ["no", "yes"], "other": False, "missing": False},
        ],
    }
    (tmp_path / "domain.json").write_text(json.dumps(domain), encoding="utf-8")
    return tmp_path


def where(place: Path) -> list[str]:
    return ["--data", str(place / "people.csv"), "--domain", str(place / "domain.json"), "--workload", "all-2way", "--results", str(place)]


def recorded(place: Path) -> dict[str, object]:
    record: dict[str, object] = json.loads((place / "comparison.json").read_text(encoding="utf-8"))
    return record


def test_programs_take_turns_and_every_run_is_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "DPMM_PYTHON", stand_in(place))
    monkeypatch.setattr(compare, "DPMM_PYTHON", Path(sys.executable))
    monkeypatch.setattr(compare, "versions", lambda maker: {"maker": maker})
    options = ["--epsilon", "50", "--runs", "2", "--programs", "independent", "dpmm-mst:1"]
    compare.main([*where(place), *options])
    runs = recorded(place)["runs"]
    assert isinstance(runs, list)
    assert [run["program"] for run in runs] == ["independent", "dpmm-mst", "independent"]
    assert all(run["seconds"] > 0 and run["peak_mb"] > 2 for run in runs)
    # The stand-in gave the table back; Independent cannot know that all men and no women smoke, half of the people in one of three pairs.
    assert runs[1]["error"] == 0
    assert 0.2 < runs[0]["error"] < 0.7
    assert len([line for line in (place / "comparison.md").read_text(encoding="utf-8").splitlines() if " 50 " in line]) == 2


def stand_in(place: Path) -> Path:
    """An interpreter that runs ECHO whatever script it is told to run."""
    echo, python = place / "echo.py", place / "python"
    echo.write_text(ECHO, encoding="utf-8")
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {echo} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return python


def test_more_runs_join_those_of_the_same_table_only(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cost = {"error": 0.1, "seconds": 1.0, "cpu_seconds": 1.0, "peak_mb": 9, "load": 0.0}
    run = {"program": "independent", "title": "Independent", "epsilon": 1.0, **cost, "began": "2000-01-01T00:00:00", "versions": {}}
    monkeypatch.setattr(compare, "measure", lambda *_: run)
    options = [*where(place), "--epsilon", "1", "--runs", "1", "--programs", "independent", "--append"]
    compare.main(options)
    compare.main(options)
    record = recorded(place)
    assert isinstance(record["runs"], list)
    assert len(record["runs"]) == 2
    (place / "comparison.json").write_text(json.dumps({**record, "table": "other.csv"}), encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        compare.main(options)


@pytest.mark.parametrize("asked", ["nobody", "independent:0", "independent:x", "dpmm-aim"])
def test_a_program_that_is_not_there_is_refused_before_anything_runs(
    asked: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare, "DPMM_PYTHON", place / "no such python")
    with pytest.raises(SystemExit, match="2"):
        compare.main([*where(place), "--programs", asked])
    assert asked.split(":")[0] in capsys.readouterr().err
    assert not (place / "comparison.json").exists()


def test_codes_stand_for_the_same_table(place: Path) -> None:
    domain = load_domain(place / "domain.json")
    table = Table(place / "people.csv", place / "domain.json", domain, "all-2way", all_kway(domain, 2))
    table.codes().to_csv(place / "codes.csv", index=False)
    again = table.counts(place / "codes.csv", codes=True)
    assert table.rows == ROWS
    assert all(np.array_equal(again[r], table.true[r]) for r in table.true)


def test_a_program_that_fails_stops_the_comparison_with_its_last_words() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)exit code 3.*no memory left"):
        programs.execute([sys.executable, "-c", "import sys; print('no memory left', file=sys.stderr); sys.exit(3)"])


def test_cost_is_that_of_the_process_and_not_ours() -> None:
    # 60 MB written to, so that they are resident, and an interpreter; our own process, with NumPy, pandas and Altair, is much larger.
    cost = programs.execute([sys.executable, "-S", "-c", "import time; block = bytearray(b'x') * (60 << 20); time.sleep(0.3)"])
    assert 60 <= cost.peak_mb < 80
    assert 0.3 <= cost.seconds < 30
    assert cost.cpu_seconds <= cost.seconds * (os.cpu_count() or 1)


def test_certificate_is_judged_against_the_true_errors(place: Path) -> None:
    certificate.main([*where(place), "--mechanism", "aim", "--epsilon", "3", "--runs", "1"])
    (path,) = place.glob("certificate_*.json")
    (one,) = json.loads(path.read_text(encoding="utf-8"))["with_certificate"]
    # A measured error has noise of about 18 of 400 people, the mean of three marginals 0.026: six of those.
    assert abs(one["mean_error"] - one["error"]) < 0.16
    assert 0 < one["error"] < 1


def test_the_model_of_exact_times_is_exact() -> None:
    true = Model(0.5, 3e-8, 2e-9)
    counts = [
        {"engine": engine, "rows": rows, "blocks": blocks, "processor": true.processor(rows, blocks, processes)}
        for rows in (10**6, 10**7)
        for blocks in (15, 65)
        for engine, processes in (("arrow", 1), ("dask 1", 2), ("dask 2", 3))
    ]
    fitted = fit(counts)
    assert (fitted.start, fitted.row, fitted.block) == pytest.approx((true.start, true.row, true.block), rel=1e-6)


def test_the_people_of_the_benchmark_are_the_same_in_both_files(tmp_path: Path) -> None:
    paths = counting.people(tmp_path, 2000)
    domain = counting.people_domain()
    assert pq.read_table(paths["parquet"]).num_rows == pacsv.read_csv(paths["csv"]).num_rows == 2000
    clique = domain.names[:3]
    parquet, csv = (ArrowSource(domain, paths[kind], form).counts([clique])[clique] for kind, form in counting.FORMS.items())
    assert np.array_equal(parquet, csv)
    assert parquet.sum() == 2000
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".json") == ["people-2000.csv", "people-2000.parquet"]
