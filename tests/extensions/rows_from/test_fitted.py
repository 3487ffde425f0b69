"""Rows from tables that were made elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from tests.refusals import refused

CLOSED: dict[str, Any] = {"missing": False, "other": False}
COLUMNS: dict[str, Any] = {
    "age": {"kind": "integer", "lower": 0, "upper": 9, "bins": 5, **CLOSED},
    "sex": {"kind": "categorical", "categories": ["f", "m"], **CLOSED},
    "region": {"kind": "categorical", "categories": ["n", "s", "w"], **CLOSED},
}
BY_REGION = np.array([[100.0, 50.0, 10.0], [20.0, 200.0, 70.0]])
BY_AGE = np.array([30.0, 90.0, 200.0, 100.0, 30.0])


def test_exact_tables_come_out_as_they_are() -> None:
    fitted = dps.rows_from({("sex", "region"): BY_REGION, "age": BY_AGE}, COLUMNS)
    assert len(fitted.rows) == 450
    counts = pd.crosstab(fitted.rows["sex"], fitted.rows["region"]).to_numpy()
    assert np.abs(counts - BY_REGION).max() <= 2  # rounding along the tree, and the fit's own tolerance
    assert np.abs(np.histogram(fitted.rows["age"], bins=[0, 2, 4, 6, 8, 10])[0] - BY_AGE).max() <= 2
    assert fitted.differences["difference"].max() < 0.01


def test_the_order_of_columns_and_frames_make_no_difference() -> None:
    cells = [(sex, region) for sex in "fm" for region in "nsw"]
    frame = pd.DataFrame(cells, columns=["sex", "region"]).assign(count=BY_REGION.ravel())
    for tables in ({("region", "sex"): BY_REGION.T}, [frame], [frame.sample(frac=1.0, random_state=1)]):
        fitted = dps.rows_from(tables, {name: COLUMNS[name] for name in ("sex", "region")})
        assert np.abs(pd.crosstab(fitted.rows["sex"], fitted.rows["region"]).to_numpy() - BY_REGION).max() <= 1


def test_less_noisy_tables_count_for_more() -> None:
    tables = {("sex", "region"): BY_REGION, "sex": BY_REGION.sum(axis=1)[::-1].copy()}
    sexes = dps.rows_from(tables, COLUMNS, deviations={"sex": 1000.0}).rows["sex"].value_counts()
    assert abs(sexes["f"] - BY_REGION[0].sum()) < 10
    sexes = dps.rows_from(tables, COLUMNS, deviations={"sex": 0.01, ("sex", "region"): 1000.0}).rows["sex"].value_counts()
    assert abs(sexes["f"] - BY_REGION[1].sum()) < 10


def test_the_tables_of_a_release_of_ours_give_its_tables_again() -> None:
    rng = np.random.default_rng(2)
    sex = rng.choice(["f", "m"], 2000)
    people = pd.DataFrame({"age": rng.integers(0, 10, 2000), "sex": sex, "region": np.where(sex == "f", "n", rng.choice(["s", "w"], 2000))})
    release = dps.plan(people, COLUMNS, epsilon=5, tables=2, mechanism="mst").run(progress=False)
    measured = {one.clique: one for one in release.made.measurements if one.clique}
    fitted = dps.rows_from(
        {clique: one.values for clique, one in measured.items()},
        COLUMNS,
        deviations={clique: one.deviation for clique, one in measured.items()},
        rows=len(release.rows),
    )
    both = (pd.crosstab(rows["sex"], rows["region"]) for rows in (release.rows, fitted.rows))
    ours, again = (table.reindex(columns=list("nsw"), fill_value=0) for table in both)
    assert np.abs(ours.to_numpy() - again.to_numpy()).max() < 0.02 * 2000  # two draws of nearly the same model


def test_what_is_said_of_privacy_is_the_givers_word() -> None:
    fitted = dps.rows_from({"sex": np.array([6.0, 4.0])}, COLUMNS, giver="The office", promise="Each count is rounded to a multiple of 3.")
    assert fitted.statement.startswith("No guarantee of this program")
    assert "multiple of 3" in repr(fitted)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({}, "there are none"),
        ({"sex": np.zeros(3)}, "3 cells"),
        ({"sex": np.array([np.nan, 1.0])}, "do not say how many people there are"),
        ({"income": np.zeros(2)}, "not in the domain"),
        ([pd.DataFrame({"sex": ["f"]})], "count"),
        ([pd.DataFrame({"sex": ["x"], "count": [1]})], "no value 'x'"),
        ([pd.DataFrame({"sex": ["f"], "count": ["many"]})], "in its column 'count' is something else than a number"),
        ({"sex": np.array(["a", "b"])}, "a count is not a number"),
        ([{"sex": "f"}], "not a table of counts"),
        (None, "there are none"),
    ],
)
def test_what_is_no_table_is_named(tables: Any, said: str) -> None:
    refused(dps.rows_from, tables, COLUMNS, saying=said)


def test_tables_that_tie_too_many_columns_together_are_refused() -> None:
    columns = {f"c{number}": 60 for number in range(6)}
    pairs = [(f"c{i}", f"c{j}") for i in range(6) for j in range(i)]
    with pytest.raises(dps.CapacityError, match="a model of these tables takes"):
        dps.rows_from({pair: np.ones((60, 60)) for pair in pairs}, columns)
