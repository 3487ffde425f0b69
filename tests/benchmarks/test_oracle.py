"""The benchmark of the oracle measures both solvers on queries of every sort, and says which is faster."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import figures, oracle
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.workload import Workload


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> figures.Setting:
    """1,000 random people with five columns, in the place of Adult."""
    domain = Domain(tuple(Attribute.coded(f"c{i}", 4) for i in range(5)))
    codes = np.random.default_rng(0).binomial(3, 0.3, size=(1000, 5)).astype(np.int32)
    workload = Workload(domain, {("c0", "c1", "c2"): 1.0, ("c2", "c3", "c4"): 1.0})
    setting = figures.Setting(None, codes, workload)  # type: ignore[arg-type]
    monkeypatch.setattr(figures, "adult", lambda *_args, **_kwargs: setting)
    return setting


def test_every_sort_gives_that_many_distinct_queries(small: figures.Setting) -> None:
    for sort in oracle.SORTS:
        queries = oracle.instance(sort, small, 40, eta=2.0)
        assert 40 <= len(queries.net.weights) < 40 + oracle.PICKS_A_ROUND


@pytest.mark.usefixtures("small")
def test_the_record_names_both_solvers_and_the_faster_one(tmp_path: Path) -> None:
    options = ["--sorts", "frequent", "--distinct", "20", "--draws", "10", "--results", str(tmp_path)]
    assert oracle.main(options) == 0
    runs = json.loads((tmp_path / "oracle.json").read_text(encoding="utf-8"))["runs"]
    assert [(run["solver"], run["answers"], run["certified"]) for run in runs] == [("CP-SAT", 10, 1.0), ("HiGHS", 1, 1.0)]
    assert all(run["gap"] == 0 for run in runs)
    assert "times as fast as" in (tmp_path / "oracle.md").read_text(encoding="utf-8")
