"""The benchmark of private discovery measures what it says, small: errors of learnt columns, rare texts, secrets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import discovery
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

PEOPLE = 4000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A binary fact, a city that depends on it, and an age; one city and one age of single people."""
    rng = np.random.default_rng(3)
    ill = rng.integers(0, 2, PEOPLE)
    city = np.where(rng.random(PEOPLE) < 0.7, np.array(["Ghent", "Mons"])[ill], rng.choice(["Lier", "Ath"], PEOPLE))
    frame = pd.DataFrame({"ill": np.array(["no", "yes"])[ill], "city": city, "age": rng.integers(20, 60, PEOPLE)})
    frame.loc[0, ["city", "age"]] = ["Atlantis", 150]
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.to_csv(path, index=False)
    return path


CODEBOOK = Domain(
    (
        Attribute.categorical("ill", ["no", "yes"], other=True, missing=True),
        Attribute.categorical("city", ["Ghent", "Mons", "Lier", "Ath"], other=True, missing=True),
        Attribute.integer("age", 20, 59, other=True, missing=True),
    )
)


def test_columns_that_are_learnt_err_little_more_than_those_of_the_codebook(data: Path) -> None:
    """Two seeded runs at epsilon 4. On so small a table learning costs about a quarter, in five seeds 8 to 49 %, where Adult's is no worse
    for it; and what a learnt domain lacks is seen in the codebook's cells."""
    runs = list(discovery.pairs(data, CODEBOOK, 4.0, 2))
    errors = {name: np.mean([run[name] for run in runs]) for name in discovery.TITLES}
    assert 0 < errors["learnt"] < 1.5 * errors["codebook"]
    assert errors["learnt_in_codebook"] > errors["learnt"]


def test_no_text_below_the_threshold_is_a_value() -> None:
    outcome = discovery.strings(5000, 500, 8.0, seed=2)
    assert outcome["smallest_noisy"] >= outcome["least"] > 1
    assert 0 < outcome["found"] < outcome["texts"] / 2
    assert outcome["missed"] == 0
    assert 0 < outcome["people_in_other"] < outcome["people"]


def test_a_secret_never_leaves_and_all_of_it_is_written(tmp_path: Path) -> None:
    nowhere = ["--tables", "adult", "--data", str(tmp_path / "none.csv"), "--people", "1000", "--values", "20", "--tries", "1000"]
    assert discovery.main([*nowhere, "--results", str(tmp_path)]) == 0
    record = json.loads((tmp_path / "discovery.json").read_text(encoding="utf-8"))
    assert record["secrets"] == {"tries": 1000, "left": 0}
    assert "adult" not in record
    assert "left 0 times in 1,000 tries" in (tmp_path / "discovery.md").read_text(encoding="utf-8")
