"""Analyses are read from text, and what is not an analysis is refused with what may be written."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.intervals.estimates import prepared
from dpsynth_core.extensions.intervals.formulas import Condition, Regression, Statistic, columns, read
from dpsynth_core.foundation.errors import InputError
from tests.extensions.intervals.releases import DOMAIN
from tests.refusals import refused

SICK = Condition("sick", "==", "yes")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("mean(age)", Statistic("mean", ("age",))),
        ("mean(age | sex == 'f')", Statistic("mean", ("age",), Condition("sex", "==", "f"))),
        ('share(sick == "yes"|age>=40)', Statistic("share", (SICK,), Condition("age", ">=", "40"))),
        ("median(age)", Statistic("quantile", ("age",))),
        ("quantile(age, 0.9)", Statistic("quantile", ("age",), None, 0.9)),
        ("difference(age, sick == yes)", Statistic("difference", ("age", SICK))),
        ("correlation(age, `visits`)", Statistic("correlation", ("age", "visits"))),
        ("visits ~ age + sex", Regression("", "visits", (("age",), ("sex",)))),
        ("sick == 'yes' ~ age + age:sex", Regression("", SICK, (("age",), ("age", "sex")))),
        ("poisson(visits ~ `age`)", Regression("poisson", "visits", (("age",),))),
    ],
)
def test_a_text_means_what_it_says(text: str, meant: object) -> None:
    assert read(text) == meant
    assert prepared(DOMAIN, read(text)).columns == tuple(name for name in DOMAIN.names if name in columns(read(text)))


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("", "is not an analysis"),
        ("mean", "'~' is missing"),
        ("mean(", "a column is missing"),
        ("mode(age)", "not a known statistic"),
        ("share(age)", "needs a condition"),
        ("quantile(age)", "',' is missing"),
        ("quantile(age, 1.5)", "not the level"),
        ("visits ~ age + age", "stands there twice"),
        ("visits ~ age; drop", "cannot be read from ';"),
        ("mean(age) + 1", "stands behind its end"),
        ("mean(age | sex)", "compared with nothing"),
        ("a" * 3000, "more than 2,000 characters"),
    ],
)
def test_what_is_no_analysis_is_refused(text: str, saying: str) -> None:
    assert refused(read, text, saying=saying).field == "analysis"


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("mean(height)", "not a column"),
        ("mean(sex)", "holds no numbers"),
        ("share(sex == 'x')", "has no value"),
        ("share(age >= 45)", "cuts the cell 40 to 49"),
        ("share(age == 40)", "cuts the cell 40 to 49"),
        ("share(sex >= 'f')", "no order"),
        ("share(age >= 'old')", "is not a"),
        ("age ~ age + sex", "on both sides"),
        ("logistic(age ~ sex)", "neither 0 nor 1"),
        ("difference(age, visits)", "compares groups"),
        ("odds_ratio(age, sick == 'yes')", "compares groups"),
        ("median(sick == 'yes')", "no quantile"),
    ],
)
def test_what_the_columns_do_not_allow_is_refused(text: str, saying: str) -> None:
    assert refused(lambda: prepared(DOMAIN, read(text)), saying=saying).remedy


@given(st.text(alphabet="agesx()~+|:,<>=!'\"` 01.yvisit", max_size=40))
def test_any_text_is_an_analysis_or_is_refused(text: str) -> None:
    """No other error than InputError."""
    with suppress(InputError):
        assert prepared(DOMAIN, read(text)).names
