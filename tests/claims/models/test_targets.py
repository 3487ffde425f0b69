"""What can be asked to be predicted: every refusal names the place in the spec and what to do instead."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.claims.models.specs import ModelSpec
from dpsynth_core.claims.models.targets import Target, predictable, targets
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused

DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m"], missing=True),
        Attribute.integer("age", 0, 99),
        Attribute.numeric("pay", 0.0, 100.0, bins=4),
        Attribute.coded("id", 10_000),
        Attribute.categorical("country", ["only"], missing=True),
        Attribute.day("born", "2000-01-01", "2000-12-31", bins=12),
        Attribute.unknown("text", "categorical"),
    )
)


@pytest.mark.parametrize(
    ("models", "field", "words"),
    [
        ([ModelSpec(column="income")], "models.0.column", "no column"),
        ([ModelSpec(column="sex"), ModelSpec(column="sex")], "models.1.column", "twice"),
        ([ModelSpec(column="id")], "models.0.column", "10,000 cells"),
        ([ModelSpec(column="country")], "models.0.column", "one value"),
        ([ModelSpec(column="text")], "models.0.column", "learnt"),
        ([ModelSpec(column="sex", tolerance=1.0)], "models.0.tolerance", "not a number"),
        ([ModelSpec(column="born", tolerance=1.0)], "models.0.tolerance", "not a number"),
        ([ModelSpec(column="pay", tolerance=12.0)], "models.0.tolerance", "within 12"),
        ([ModelSpec(column="pay", tolerance=100.5)], "models.0.tolerance", "more than the range"),
        ([ModelSpec(column="age", tolerance=1e300)], "models.0.tolerance", "more than the range"),
    ],
)
def test_what_no_model_could_predict_is_refused(models: list[ModelSpec], field: str, words: str) -> None:
    error = refused(targets, DOMAIN, models, saying=words)
    assert error.field == field
    assert error.remedy


def test_a_column_alone_has_nothing_to_be_predicted_from() -> None:
    refused(targets, Domain((DOMAIN["sex"],)), [ModelSpec(column="sex")], saying="only column")


def test_what_is_offered_is_what_is_accepted() -> None:
    assert predictable(DOMAIN) == ("sex", "age", "pay", "born")
    assert len(targets(DOMAIN, [ModelSpec(column=name) for name in predictable(DOMAIN)])) == 4


def test_a_tolerance_is_a_tenth_of_the_range_or_the_median_width_of_the_bins() -> None:
    tolerances = [one.tolerance for one in targets(DOMAIN, [ModelSpec(column=name) for name in ("age", "pay", "sex", "born")])]
    assert tolerances == [pytest.approx(9.9), 25.0, None, None]


def test_a_guess_is_right_about_a_bin_of_which_no_value_is_further_off() -> None:
    (pay,) = targets(DOMAIN, [ModelSpec(column="pay", tolerance=20.0)])
    least, most = pay.least_and_most()
    assert np.allclose(least, [5, 30, 55, 80])
    assert np.allclose(most, [20, 45, 70, 95])


def test_bins_twice_as_wide_as_the_tolerance_and_missing_values_leave_no_room() -> None:
    widths = Attribute.numeric("pay", 0.0, 1.0, edges=[0, 0.1, 0.3, 0.5, 1.0], missing=True)
    assert Target(widths, 0.1).leave_room().tolist() == [True, False, False, False, False]
    assert Target(widths, 0.11).leave_room().tolist() == [True, True, True, False, False]
