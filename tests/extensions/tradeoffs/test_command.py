"""`tradeoffs`: trials of a plan from the command line, with the numbers of the page, and without a look at the plan's table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.cli import main
from dpsynth_core.extensions.tradeoffs import curves, values
from dpsynth_core.extensions.tradeoffs.trial import Trials
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.tradeoffs.plans import plan, sweep

QUICK = ("--mechanisms", "independent,mst", "--epsilons", "1,4", "--rows", "200", "--strength", "0.6")
OPEN = {"version": 1, "attributes": [{"name": name, "kind": "categorical", "discover": True} for name in "ab"]}


def written(folder: Path, **fields: Any) -> Path:
    """A spec whose table is not there."""
    path = folder / "spec.json"
    path.write_text(json.dumps(json.loads(plan(**{"data": {"path": "nowhere.csv"}} | fields).model_dump_json())))
    return path


def tried(folder: Path, *options: str, **fields: Any) -> dict[str, pd.DataFrame]:
    """The files that the command writes."""
    out = folder / "out"
    assert main(["tradeoffs", str(written(folder, **fields)), "--out", str(out), *QUICK, *options]) == 0
    return {path.stem: pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in out.glob("*.csv")}


def test_files_have_the_numbers_of_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tried(tmp_path)
    same = sweep(epsilons=(1.0, 4.0), strengths=(0.6,))
    trials = Trials(same)
    outcomes = {point.number: trials.run(point.number) for point in same.points}
    table = curves.outcomes(same, outcomes)
    assert table.zone is Zone.PUBLIC
    expected = {"trials": table, "curves": curves.bands(table, curves.MEAN), "tables": curves.of_every_setting(same, outcomes, 3)}
    assert files.keys() == expected.keys()
    varying = ["seconds", "cpu_seconds", "memory_mb"]
    for name, zoned in expected.items():
        assert files[name].columns.tolist() == zoned.value.columns.tolist()
        exact = zoned.value.select_dtypes("number").drop(columns=varying, errors="ignore").dropna(axis="columns", how="all")
        np.testing.assert_allclose(files[name][exact.columns], exact, rtol=1e-9)
    assert (files["trials"][["cpu_seconds", "memory_mb"]] > 0).all(axis=None)
    stated = curves.crossings(expected["curves"], 0.1, 3).value
    assert capsys.readouterr().out.splitlines() == [curves.crossing_words(name, one, 10) for name, one in stated.items()]


def test_a_setting_is_varied(tmp_path: Path) -> None:
    files = tried(tmp_path, "--vary", "mst.max_size_mb=1,20")
    assert files["curves"].groupby("mechanism")["value"].first().to_dict() == pytest.approx(
        {"Independent": np.nan, "MST, max_size_mb 1": 1.0, "MST, max_size_mb 20": 20.0}, nan_ok=True
    )
    assert len(files["trials"]) == 6


def test_a_plan_that_learns_has_invented_values_or_those_of_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"domain": OPEN, "workload": {"kind": "all", "k": 2}}
    invented = tried(tmp_path, **fields)
    assert "invented" in capsys.readouterr().err
    assert set(invented["tables"]["cells"]) == {(values.INVENTED + 2) ** 2}
    attributes = [{"name": "a", "kind": "categorical", "categories": ["x", "y"], "other": True, "missing": False}]
    attributes += [{"name": "b", "kind": "categorical", "categories": ["z"], "other": True, "missing": True}]
    release = tmp_path / "release.json"
    release.write_text(json.dumps({"domain": Domain.from_json({"version": 1, "attributes": attributes}).to_json()}))
    learnt = tried(tmp_path, "--learnt", str(release), **fields)
    assert "invented" not in capsys.readouterr().err
    assert set(learnt["tables"]["cells"]) == {9}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--rows", "many"), "--rows"),
        (("--repeats", "0"), "repeats"),
        (("--limit", "0"), "--limit"),
        (("--limit", "a lot"), "--limit"),
        (("--epsilons", "1;2"), "--epsilons"),
        (("--strength", "strong"), "--strength"),
        (("--strength", "2"), "stand-in"),
        (("--mechanisms", "magic"), "mechanism"),
        (("--vary", "mst.max_size_mb"), "--vary"),
        (("--vary", "max_size_mb=1"), "--vary"),
        (("--vary", "aim.max_size_mb=1"), "setting"),
        (("--vary", "mst.magic=1"), "setting"),
        (("--learnt", "nowhere.json"), "--learnt"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_line(
    options: tuple[str, ...], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = {"domain": OPEN, "workload": {"kind": "all", "k": 2}}
    assert main(["tradeoffs", str(written(tmp_path, **fields)), "--out", str(tmp_path / "out"), *QUICK, *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert named in line
    assert not (tmp_path / "out").exists()
