"""Python programs draw sets of rows and analyse a release, in the names of the package."""

from __future__ import annotations

import doctest
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.extensions.intervals import interface, pooling
from dpsynth_core.extensions.intervals.analysing import HOLDS, LEAST, Analysed, Result, analyse, holds_from
from dpsynth_core.extensions.intervals.interface import samples
from dpsynth_core.extensions.intervals.noise import Informed
from dpsynth_core.foundation import extension
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.unit import Unit
from tests.extensions.intervals.releases import codes, released
from tests.refusals import refused

_NEVER = {"missing": False, "other": False}
COLUMNS: dict[str, Any] = {
    "age": {"kind": "integer", "lower": 20, "upper": 59, **_NEVER},
    "sex": {"kind": "categorical", "categories": ["f", "m"], **_NEVER},
    "sick": {"kind": "categorical", "categories": ["no", "yes"], **_NEVER},
}
"""Without cells for missing values, which noise alone would fill in some releases, so that the types of their columns differ."""


@pytest.fixture(scope="module")
def release() -> dps.Release:
    rows = codes(1500)
    sex, sick = np.array(["f", "m"])[rows[:, 1]], np.array(["no", "yes", "no"])[rows[:, 2]]
    frame = pd.DataFrame({"age": 20 + 10 * rows[:, 0], "sex": sex, "sick": sick})
    return dps.plan(frame, COLUMNS, epsilon=5, tables=2, mechanism="aim", population="intervals").run(progress=False)


class Whose:
    """A plan whose people may own several rows."""

    def __init__(self, plan: Plan, unit: Unit) -> None:
        self.plan, self.unit = plan, unit

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)


def analysed(text: str, of: str = "population", mechanism: str = "aim") -> Analysed:
    return analyse(Informed.of(released(mechanism)), text, of)


def test_the_examples_of_docstrings_run() -> None:
    for module in (interface, pooling):
        found = doctest.testmod(module)
        assert found.attempted
        assert not found.failed


def test_the_package_has_the_names_of_the_manifest() -> None:
    names = extension.names()
    assert {"samples", "analyse", "pool"} <= names.keys()
    assert (dps.samples, dps.analyse, dps.pool) == (samples, interface.analyse, pooling.pool)


def test_sets_are_frames_like_the_rows(release: dps.Release) -> None:
    first, second = samples(release, 2)
    assert list(first.columns) == list(release.rows.columns) == list(second.columns)
    assert (first.dtypes == release.rows.dtypes).all()
    (again, _) = samples(release, 2)
    assert again.equals(first)
    other, _ = samples(release, 2, seed=5)
    assert not other.equals(first)


def test_an_analysis_passes_where_its_tables_were_measured(release: dps.Release) -> None:
    found = interface.analyse(release, "difference(sick == 'yes', sex == 'm')")
    assert found.passes == (found.results[0].r2 >= HOLDS)
    assert "95 % interval" in str(found)


@pytest.mark.parametrize("m", [1, 0, 2.5, "many", 201])
def test_a_number_of_sets_that_cannot_be_is_refused(release: dps.Release, m: Any) -> None:
    assert refused(samples, release, m).field == "m"


def test_what_no_table_holds_gets_no_interval_and_names_the_relation() -> None:
    """Independent measures single columns alone."""
    found = analysed("visits ~ age", mechanism="independent")
    assert [one.name for one in found.refused] == ["(Intercept)", "age"]
    assert all(one.r2 < LEAST and one.low is None and one.error is None for one in found.refused)
    assert all(set(one.missing) == {"age", "visits"} for one in found.refused)
    assert "no measured table holds age x visits" in str(found)
    assert "name this table in the workload" in " ".join(found.notes)
    assert analysed("mean(visits)", mechanism="independent").passes


def test_intervals_of_a_population_are_wider_than_those_of_the_table() -> None:
    table, people = (analysed("mean(visits)", of).results[0] for of in ("table", "population"))
    assert table.value == people.value
    assert table.error is not None
    assert people.error is not None
    assert table.error < people.error
    assert table.noise == people.noise


def test_numbers_inside_cells_are_said_to_be_rounded() -> None:
    assert "age (up to 9)" in " ".join(analysed("mean(age)").notes)
    assert "middles" not in " ".join(analysed("mean(visits)").notes)


def test_people_with_several_rows_have_no_interval_of_a_population() -> None:
    informed = Informed.of(released("mst"))
    several = replace(informed, plan=Whose(informed.plan, replace(informed.plan.unit, max_rows_per_person=2)))
    assert refused(analyse, several, "mean(age)", "population").field == "of"
    assert analyse(several, "mean(age)", "table").results


def test_an_analysis_fits_no_model(release: dps.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interface, "_sets_of", lambda _: pytest.fail("a model was fitted"))
    assert interface.analyse(release, "mean(age)").results


def test_a_wrong_analysis_is_refused(release: dps.Release) -> None:
    refused(interface.analyse, release, "mean(height)", saying="not a column")
    refused(interface.analyse, release, "mean(age)", of="sample", saying="has no intervals")


@pytest.mark.parametrize(("people", "from_"), [(100, 0.99), (5_000, 0.99), (50_000, 0.999), (1_000_000, 0.99995)])
def test_the_more_people_the_more_of_a_result_must_be_measured(people: int, from_: float) -> None:
    assert holds_from(people) == pytest.approx(from_)


def test_a_result_of_many_people_with_too_little_measured_is_doubtful_and_says_on_what_it_rests() -> None:
    one = Result("mean of pay", 3.0, 2.0, 4.0, 0.5, 0.4, 0.9937, ("pay", "sex"), holds_from(50_000))
    assert one.state == "doubtful"
    assert "R2 0.9937: part of it rests on pay x sex" in str(one)
    assert Result("mean of pay", 3.0, 2.0, 4.0, 0.5, 0.4, 0.9937, (), holds_from(5_000)).state == "holds"
