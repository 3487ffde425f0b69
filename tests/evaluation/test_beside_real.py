"""Models of synthetic and of real rows on records held out: the shares are theirs, by value and by certainty too."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from dpsynth_core.claims.models import training, training_time
from dpsynth_core.claims.models.specs import ModelSpec
from dpsynth_core.claims.models.targets import targets
from dpsynth_core.evaluation import beside_real, truth
from dpsynth_core.evaluation.beside_real import REAL, SYNTHETIC, BesideReal
from dpsynth_core.foundation.errors import ZoneError
from dpsynth_core.foundation.zones import Zone, publishable
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.sampling import Sample
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import right_counts
from tests.privacy.tables import ArraySource
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 2, "b": 3, "c": 2})
(TARGET,) = targets(DOMAIN, [ModelSpec(column="a")])


def people(count: int, seed: int, strength: float) -> Any:
    """"a" is whether "b" is its first value, for so large a share."""
    rng = np.random.default_rng(seed)
    b, c = rng.integers(0, 3, count), rng.integers(0, 2, count)
    a = np.where(rng.random(count) < strength, b == 0, rng.integers(0, 2, count))
    return np.column_stack([a, b, c]).astype(np.int32)


RECORDS, ROWS = people(1_200, 1, 0.8), people(900, 2, 0.1)


@cache
def made() -> BesideReal:
    compared = beside_real.compared(DOMAIN, ROWS, RECORDS, TARGET, "b")
    assert compared is not None
    return compared


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_time, "ROUNDS", 10)


def test_shares_are_those_of_the_people_held_out() -> None:
    known, held_out = np.array_split(RECORDS, 2)
    for rows, trained in ((ROWS, SYNTHETIC), (known, REAL)):
        models = training.trained(DOMAIN, rows, TARGET)
        exact = right_counts(DOMAIN, held_out, [one.predictor for one in models]) / len(held_out)
        stated = made().right[made().right["trained"] == trained]["share"]
        assert stated.tolist() == pytest.approx(exact.tolist())
    assert (made().held_out, made().trained_on) == (600, 600)
    right = made().right.set_index(["model", "trained"])["share"]
    assert right["gradient boosting", REAL] > right["gradient boosting", SYNTHETIC]


def test_shares_by_value_and_by_certainty_add_up_to_the_whole() -> None:
    for table in (made().by_value, made().calibration):
        for (model, trained), part in table.groupby(["model", "trained"]):
            whole = made().right.set_index(["model", "trained"])["share"][model, trained]
            assert part["people"].sum() == made().held_out
            assert float((part["people"] * part["share"]).sum()) / made().held_out == pytest.approx(whole)


def test_models_that_know_the_truth_are_as_certain_as_they_are_right() -> None:
    """A logistic regression on indicators can learn these people as they are: its certainty is off by sampling alone."""
    exact = made().calibration
    part = exact[(exact["model"] == "logistic regression") & (exact["trained"] == REAL)]
    off = part["share"] - part["certainty"]
    assert float(np.sqrt((part["people"] * off**2).sum() / part["people"].sum())) < 4 / np.sqrt(600)


def test_numbers_have_no_certainty() -> None:
    domain = Domain.from_json(
        {
            "version": 1,
            "attributes": [
                {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 10, "other": False, "missing": False},
                {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
            ],
        }
    )
    (age,) = targets(domain, [ModelSpec(column="age", tolerance=20)])
    rng = np.random.default_rng(4)
    codes = np.column_stack([rng.integers(0, 10, 200), rng.integers(0, 2, 200)]).astype(np.int32)
    compared = beside_real.compared(domain, codes, codes, age, "sex")
    assert compared is not None
    assert compared.calibration.empty
    assert set(compared.by_value["value"]) == {"f", "m"}


def test_with_hardly_anybody_nothing_is_held_out() -> None:
    assert beside_real.compared(DOMAIN, ROWS, RECORDS[:5], TARGET, "b") is None


def test_records_are_for_the_curator_alone_and_a_sample_of_the_table() -> None:
    drawn = truth.true_records(CodesSource(DOMAIN, RECORDS), 100)
    assert drawn.zone is Zone.CURATOR
    refused(publishable, drawn, "records", kind=ZoneError)
    assert drawn.value.shape == (100, 3)
    whole = truth.true_records(CodesSource(DOMAIN, RECORDS), 10_000).value
    assert sorted(map(tuple, whole.tolist())) == sorted(map(tuple, RECORDS.tolist()))
    refused(truth.true_records, ArraySource(DOMAIN, RECORDS), 10, kind=ValueError, saying="counts cells")


def test_a_sample_takes_records_of_every_batch_alike() -> None:
    """Of four batches, each a quarter: 400 of 4,000 records, binomial with a deviation of 8.7; five of them."""
    sample, domain = Sample(Domain.from_json({"batch": 4}), 400), Domain.from_json({"batch": 4})
    assert sample.domain == domain
    for batch in range(4):
        sample.add({"batch": np.full(1_000, batch, dtype=np.int32)}, 1_000)
    counts = np.bincount(sample.records[:, 0], minlength=4)
    assert counts.sum() == 400
    assert np.abs(counts - 100).max() < 44
