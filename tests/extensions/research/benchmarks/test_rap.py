"""RAP's benchmark in the papers' setting: what is measured, resumed and said, on a small table in place of Adult."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import figures, rap
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, people
from tests.mechanisms.runs import run as run_on_people

PAIRS = all_kway(DOMAIN, 2)


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> figures.Setting:
    source = people()
    small = figures.Setting(source, source.rows, PAIRS)  # type: ignore[arg-type]
    monkeypatch.setattr(figures, "adult", lambda _k, _marginals: small)
    return small


def test_errors_are_the_largest_of_any_cell(setting: figures.Setting) -> None:
    true = {r: table / 4000 for r, table in people().counts(PAIRS.cliques).items()}
    assert setting.zero_error() == pytest.approx(max(table.max() for table in true.values()))
    assert setting.rows_error(setting.codes) == 0.0
    assert setting.rows_error(setting.codes[:1], np.array([3.0])) == pytest.approx(1 - min(table[*index] for table, index in _cells(true)))
    model = run_on_people("independent", PAIRS, 10.0).finished.model
    expected = max(float(np.abs(table - model.marginal(r) / 5000).max()) for r, table in true.items())
    assert setting.model_error(model, 5000.0) == pytest.approx(expected)


def _cells(true: dict) -> list:
    """Each marginal with the cell of the first person."""
    first = people().rows[0]
    return [(table, tuple(first[DOMAIN.position(name)] for name in r)) for r, table in true.items()]


def test_the_same_seed_draws_the_same_distinct_marginals() -> None:
    domain = Domain.from_json({f"c{i}": 3 for i in range(9)})
    drawn = figures.random_marginals(domain, 3, 64, 0)
    assert len(set(drawn)) == 64
    assert drawn == figures.random_marginals(domain, 3, 64, 0) != figures.random_marginals(domain, 3, 64, 1)
    assert len(figures.random_marginals(domain, 8, 64, 0)) == 9


@pytest.mark.usefixtures("setting")
def test_what_is_refused_is_recorded_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "refusal", lambda name, *_: "too large" if name == "hdmm_pgm" else "")
    asked = ["--figures", "5a", "--epsilons", "1", "--programs", "zero", "hdmm_pgm", "--runs", "1", "--results", str(tmp_path)]
    rap.main(asked)
    assert json.loads((tmp_path / "rap.json").read_text(encoding="utf-8"))["runs"][1]["refused"] == "too large"
    assert "| HDMM+PGM | refused |  |" in (tmp_path / "rap.md").read_text(encoding="utf-8")


def test_every_figure_is_measured_once_and_written(setting: figures.Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rap, "RELAXED_ROWS", (50, 1000))
    monkeypatch.setattr(rap, "OVERSAMPLING", (1, 5))
    asked = ["--epsilons", "1", "--marginals", "64", "--programs", "zero", "rap", "hdmm", "--runs", "1", "--results", str(tmp_path)]
    rap.main(asked)
    runs = json.loads((tmp_path / "rap.json").read_text(encoding="utf-8"))["runs"]
    assert [(run["figure"], run["program"], run["relaxed_rows"]) for run in runs] == [
        *((figure, program, 0) for figure in ("2", "5a", "10") for program in ("zero", "rap", "hdmm")),
        *((figure, program, 0) for figure in ("3", "4") for program in ("zero", "rap", "hdmm")),
        *(("5b", "rap", 0), ("6", "rap", 50), ("6", "rap", 1000)),
    ]
    assert runs[0]["error"] == pytest.approx(setting.zero_error(), abs=1e-5)
    assert runs[1]["error"] < 0.2 * runs[0]["error"]
    assert "rows_error" not in runs[2]  # HDMM makes none
    assert runs[7]["error"] < 0.3 < runs[6]["error"]  # most people agree with a likely cell in one column
    assert "refused" in runs[8]  # HDMM answers no thresholds
    assert set(runs[15]["rounded"]) == {"1", "5"}
    assert runs[16]["step_seconds"] >= 0
    text = (tmp_path / "rap.md").read_text(encoding="utf-8")
    assert all(
        f"Figure {figure}" in text
        for figure in ("2, 64 random 3-way", "3, random 3-way", "5a, 15 random 3-way", "5 (b), 3-way", "6, 3-way")
    )
    monkeypatch.setattr(rap, "measure", None)  # nothing is measured again
    rap.main(asked)
