"""Tables of counts from Python are read by their labels: in whatever order the labels are, each count stays with its value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsynth_core as dps
from dpsynth_core.extensions.rows_from.tables import given as given_tables
from dpsynth_core.interface.columns import domain
from tests.interface.test_labelled import COLUMNS, COUNTS, CROSS, FORMS, LINES
from tests.refusals import refused

DOMAIN = domain(COLUMNS)
SERIES = LINES.set_index(["sex", "region"])["count"]


def read(tables: Any) -> Any:
    (table,) = given_tables(DOMAIN, tables, {})
    return table


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15, deadline=None)
@given(order=st.permutations(range(6)))
def test_labels_are_read_in_whatever_order_they_are(form: str, order: list[int]) -> None:
    table = FORMS[form](LINES.iloc[order])
    for tables in ({("sex", "region"): table}, {("region", "sex"): table}, [table]):
        found = read(tables)
        assert found.columns == ("sex", "region")
        assert found.counts.tolist() == COUNTS.tolist()


@given(down=st.permutations(["m", "f"]), across=st.permutations(["n", "s", "w"]), turned=st.booleans())
@settings(max_examples=25, deadline=None)
def test_rows_and_columns_of_a_cross_table_may_be_permuted(down: list[str], across: list[str], turned: bool) -> None:
    table = CROSS.loc[down, across]
    assert read({("sex", "region"): table.T if turned else table}).counts.tolist() == COUNTS.tolist()


def test_what_pandas_counts_keeps_its_labels() -> None:
    people = LINES.loc[LINES.index.repeat(LINES["count"].astype(int))]
    sexes = people["sex"]
    for table in (sexes.value_counts(), sexes.value_counts(ascending=True), people.groupby("sex").size(), {"f": 15, "m": 6}):
        assert read({"sex": table}).counts.tolist() == [6, 15]
    for table in (pd.crosstab(people["sex"], people["region"]), people[["region", "sex"]].value_counts()):
        assert read([table]).counts.tolist() == COUNTS.tolist()
    assert read([people["sex"].value_counts().to_frame()]).counts.tolist() == [6, 15]


def test_the_rows_have_the_counts_of_the_labels() -> None:
    rows = dps.rows_from([CROSS[["w", "n", "s"]]], {name: COLUMNS[name] for name in ("sex", "region")}).rows
    assert rows["sex"].value_counts().to_dict() == {"f": 15, "m": 6}


@pytest.mark.parametrize(
    "labels", [["0 to 1", "2 to 3", "4 to 5", "6 to 7", "8 to 9"], [0, 2, 4, 6, 8], [1, 3, 5, 7, 9], ["0..1", 2, "5", 6.0, 9]]
)
def test_numbers_in_groups_may_be_the_groups_or_values_inside(labels: list[Any]) -> None:
    table = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0], labels)
    assert read({"age": table[::-1]}).counts.tolist() == [1, 2, 3, 4, 5]
    assert read({"age": dict(zip(labels, table, strict=True))}).counts.tolist() == [1, 2, 3, 4, 5]


def test_single_years_are_added_up_to_their_groups() -> None:
    years = pd.Series(range(10), pd.RangeIndex(10, name="age"))
    assert read([years]).counts.tolist() == [1, 5, 9, 13, 17]


def test_missing_and_other_values_have_a_cell_where_the_domain_has_one() -> None:
    columns = {"sex": ["m", "f"]}
    table = pd.Series([3.0, 6.0, 15.0, 1.0], [None, "m", "f", "other"])
    (found,) = given_tables(domain(columns), {"sex": table}, {})
    assert dict(zip(domain(columns)["sex"].cell_labels(), found.counts, strict=True)) == {"m": 6, "f": 15, "other": 1, "missing": 3}
    refused(read, {"sex": table}, saying="missing")


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"sex": pd.Series([1.0, 2.0], ["f", "x"])}, "no value 'x'"),
        ({"sex": pd.Series([1.0, 2.0])}, "no value '0'"),
        ({"sex": pd.Series([1.0, 2.0], pd.Index(["f", "m"], name="gender"))}, "its labels are of 'gender'"),
        ({"sex": pd.Series([1.0], ["f"])}, "'m' of 'sex' is missing from the table"),
        ({"sex": {"f": 1.0}}, "'m' of 'sex' is missing from the table"),
        ({("sex", "region"): {("f", "n"): 1.0}}, "not a table of counts"),
        ({("sex", "region"): CROSS.rename_axis(None).rename_axis(None, axis=1)}, "do not say which columns"),
        ({("sex", "region"): SERIES.rename_axis([None, None])}, "do not say which columns"),
        ({("sex", "region"): CROSS.assign(All=1.0)}, "no value 'All'"),
        ({("sex", "region"): pd.crosstab(LINES["sex"], LINES["region"], margins=True)}, "no value 'All'"),
        ({("sex", "age"): CROSS}, "its labels are of 'sex', 'region'"),
        ([CROSS.rename_axis(None)], "do not say which columns"),
        ([CROSS.reset_index(drop=True).rename_axis(None, axis=1)], "no column 'count'"),
        ({"sex": LINES}, "its labels are of 'sex', 'region'"),
        ([pd.Series([1, 2, 3, 4, 5], pd.cut([0, 2, 4, 6, 8], [-1, 1, 3, 5, 7, 9])).rename_axis("age")], "not texts, numbers or dates"),
        ([pd.DataFrame({"sex": ["f", ["m"]], "count": [1, 2]})], "not texts, numbers or dates"),
        ([pa.table({"sex": [["f"]], "count": [1]})], "lists or structures"),
        ([LINES.set_index("sex", drop=False)], "both in its index and a column"),
        ({"sex": pa.array([1.0, 2.0, 3.0])}, "3 cells"),
        ({"sex": np.ma.array([1.0, 2.0], mask=[True, False])}, "do not say how many people there are"),
        ({"sex": np.array([1.0, np.inf])}, "not a number"),
        ({"sex": "fm"}, "not a table of counts"),
        ([COUNTS], "not a table of counts"),
    ],
)
def test_labels_that_do_not_fit_are_refused_by_name(tables: Any, said: str) -> None:
    refused(dps.rows_from, tables, COLUMNS, saying=said)


def test_arrays_are_read_by_place() -> None:
    for table in (COUNTS, COUNTS.tolist(), np.ma.array(COUNTS)):
        assert read({("sex", "region"): table}).counts.tolist() == COUNTS.tolist()
    assert read({"sex": pa.array([6.0, 15.0])}).counts.tolist() == [6, 15]
