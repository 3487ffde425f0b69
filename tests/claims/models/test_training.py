"""Models: in whole numbers they say what scikit-learn says, the same rows give the same model, and odd rows give one too."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpsynth_core.claims.models import training
from dpsynth_core.claims.models.specs import ModelSpec
from dpsynth_core.claims.models.targets import Target, targets
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import right_counts

pytestmark = pytest.mark.usefixtures("few_rounds")
DOMAIN = Domain(
    (
        Attribute.categorical("job", ["a", "b", "c", "d"], missing=True),
        Attribute.integer("age", 0, 79, missing=True),
        Attribute.numeric("pay", 0.0, 10.0, edges=[0, 1, 2, 4, 8, 10], other=True),
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.categorical("town", [f"t{i}" for i in range(300)]),
    )
)


def people(rows: int = 1500, seed: int = 1) -> np.ndarray:
    """Columns that say something about each other, all codes in use."""
    rng = np.random.default_rng(seed)
    job, sex, town = rng.integers(0, 5, rows), rng.integers(0, 2, rows), rng.integers(0, 300, rows)
    age = np.clip(rng.normal(20 + 12 * job, 8), 0, 80).astype(int)
    pay = np.clip(age // 16 + sex + (town % 3 == 0) - 1, 0, 5)
    return np.column_stack([job, age, pay, sex, town]).astype(np.int32)


PEOPLE = people()


def target(column: str, tolerance: float | None = None) -> Target:
    (only,) = targets(DOMAIN, [ModelSpec(column=column, tolerance=tolerance)])
    return only


@pytest.fixture(scope="module")
def fitted() -> list[tuple[str, Any, np.ndarray, training.Model]]:
    """By column: scikit-learn's own model, what it saw, and ours."""
    collected, keep = [], training._forest

    def spying(lesson: Any, columns: Any, model: Any) -> Any:
        seen = np.column_stack([one.ranks[one.groups[lesson.column(name)]] for name, one in columns.items()])
        predictor = keep(lesson, columns, model)
        collected.append((lesson.target.column, model, seen, training.Model("ours", predictor)))
        return predictor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_forest", spying)
        for column in ("sex", "job", "age"):
            training.trained(DOMAIN, PEOPLE, target(column))
    return collected


def test_whole_numbers_say_what_scikit_learn_says(fitted: list[tuple[str, Any, np.ndarray, training.Model]]) -> None:
    codes = {name: PEOPLE[:, i] for i, name in enumerate(DOMAIN.names)}
    for column, model, seen, ours in fitted:
        scores = ours.predictor.scores.of(codes, len(PEOPLE)) / 2**20
        if column == "age":
            known = PEOPLE[:, 1] < 80  # people without an age teach nothing
            assert np.allclose(scores[known, 0], model.predict(seen), atol=1e-3)
            continue
        theirs = model.decision_function(seen)
        assert np.allclose(scores[:, 1] if column == "sex" else scores, theirs, atol=1e-3)
        assert right_counts(DOMAIN, PEOPLE, [ours.predictor]) == [(model.predict(seen) == PEOPLE[:, DOMAIN.position(column)]).sum()]


@pytest.mark.parametrize("column", ["sex", "age"])
def test_the_same_rows_give_the_same_models(column: str) -> None:
    again = [[one.predictor.sha256 for one in training.trained(DOMAIN, PEOPLE, target(column))] for _ in range(2)]
    assert again[0] == again[1]
    assert len(set(again[0])) == 2


def test_models_beat_the_majority_on_people_they_never_saw() -> None:
    others = people(seed=2)
    for column in ("sex", "job", "age"):
        models = (*training.trained(DOMAIN, PEOPLE, target(column)), training.majority(DOMAIN, PEOPLE, target(column)))
        boosted, linear, majority = right_counts(DOMAIN, others, [one.predictor for one in models]).tolist()
        assert min(boosted, linear) > majority + 100, column


@pytest.mark.parametrize("column", ["age", "pay"])
def test_a_number_is_right_only_where_every_value_of_the_bin_is_near(column: str) -> None:
    wanted = target(column, 1.5)
    decision = training._within(wanted)
    edges = np.array(wanted.attribute.edges, dtype=float)
    for code, (low, high) in enumerate(pairwise(edges)):
        top = low if column == "age" else high  # ages are whole, one to a bin
        for guess in np.linspace(edges[0], edges[-1], 53).tolist():
            near = max(abs(guess - low), abs(guess - top)) <= 1.5
            score = training._whole((guess - edges[0]) / training._range(*training.ends(wanted.attribute)))
            boundary = min(abs(abs(guess - low) - 1.5), abs(abs(guess - top) - 1.5)) < 1e-4
            assert boundary or bool(decision.right(np.array([[score]]), np.array([code]))[0]) == near
    nowhere = list(range(wanted.attribute.values, wanted.attribute.size))
    assert not decision.right(np.zeros((len(nowhere), 1), dtype=np.int64), np.array(nowhere)).any()


def test_the_best_constant_is_the_best() -> None:
    wanted = target("age", 4.0)
    ages = PEOPLE[PEOPLE[:, 1] < 80, 1]
    best = max(int((np.abs(ages - guess) <= 4).sum()) for guess in range(80))
    assert right_counts(DOMAIN, PEOPLE, [training.majority(DOMAIN, PEOPLE, wanted).predictor]) == [best]
    jobs = np.bincount(PEOPLE[:, 0])
    assert right_counts(DOMAIN, PEOPLE, [training.majority(DOMAIN, PEOPLE, target("job")).predictor]) == [jobs.max()]


@pytest.mark.parametrize("rows", [PEOPLE[:1], PEOPLE[:7], PEOPLE[PEOPLE[:, 3] == 0][:50], PEOPLE[PEOPLE[:, 1] == 80][:3]])
@pytest.mark.parametrize("column", ["sex", "age"])
def test_few_rows_and_a_single_class_give_models_too(rows: np.ndarray, column: str) -> None:
    wanted = target(column)
    models = [*training.trained(DOMAIN, rows, wanted), training.majority(DOMAIN, rows, wanted)]
    assert (right_counts(DOMAIN, PEOPLE, [one.predictor for one in models]) <= len(PEOPLE)).all()


def test_ten_thousand_categories_are_a_column_like_others_to_look_at() -> None:
    wide = Domain((Attribute.coded("id", 10_000), Attribute.coded("y", 2)))
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 10_000, 2000)
    codes = np.column_stack([ids, ids % 2]).astype(np.int32)
    (wanted,) = targets(wide, [ModelSpec(column="y")])
    for model in training.trained(wide, codes, wanted):
        assert all(len(part) <= 10_000 for part in model.predictor.scores.content)


def test_limits_that_64_bits_could_not_hold_are_right_about_every_value() -> None:
    models = training.trained(DOMAIN, PEOPLE, Target(DOMAIN["age"], 1e300))
    known = int((PEOPLE[:, 1] < 80).sum())
    assert right_counts(DOMAIN, PEOPLE, [model.predictor for model in models]).tolist() == [known, known]
