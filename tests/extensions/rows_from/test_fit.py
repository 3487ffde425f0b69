"""Rows agree with the tables that they were made from, and with nothing else that somebody could mistake for people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.extensions.rows_from import tables
from dpsynth_core.extensions.rows_from.document import notes
from dpsynth_core.extensions.rows_from.fitting import drawn
from tests.extensions.rows_from.examples import DOMAIN, LISTED, SEXES, counted, distance, order, people
from tests.refusals import refused

TRIPLES = ("age", "sex", "job"), ("age", "health")


def test_rows_from_true_tables_have_these_tables() -> None:
    real = people()
    fitted = dps.rows_from([counted(real, *columns) for columns in TRIPLES], DOMAIN)
    assert len(fitted.rows) == len(real)
    for columns, stated in zip(TRIPLES, fitted.differences["difference"], strict=True):
        off = distance(fitted.rows, real, *columns)
        assert off < 0.01, columns  # 40 and 30 cells: rounding to whole rows alone is 40 / 2 / 20,000 = 0.001
        assert off == pytest.approx(stated, abs=1e-6)
    assert not fitted.rows.isna().any().any()  # no table counts a missing value


def test_rows_from_protected_tables_are_as_far_off_as_the_protection_was() -> None:
    """Multiples of 5 and suppression below 10 move at most 2.5 people a cell and 9 a suppressed one."""
    real = people()
    given = [dps.protect_table(counted(real, *columns), multiples_of=5, suppress_below=10) for columns in TRIPLES]
    given.append(dps.protect_table(counted(real, "sex"), multiples_of=5))
    assert any(table["count"].isna().any() for table in given)
    fitted = dps.rows_from(given, DOMAIN, rows=20_000)
    for columns, table in zip(TRIPLES, given, strict=False):
        missing = int(table["count"].isna().sum())
        assert distance(fitted.rows, real, *columns) < 0.01 + (2.5 * len(table) + 9 * missing) / 20_000


def test_a_suppressed_count_becomes_what_the_other_tables_say() -> None:
    """Sex has 600 f, of whom 500 are known; 100 are left for the one suppressed cell of f, and 150 for that of m."""
    made = drawn(order(rows=1000))
    table = pd.concat([batch.to_pandas() for batch in made.rows.batches()])
    counts = pd.crosstab(table["health"], table["sex"])
    assert counts.loc[3, "f"] == pytest.approx(100, abs=5)
    assert counts.loc[1, "m"] == pytest.approx(150, abs=5)
    assert counts.loc[2, "m"] == pytest.approx(200, abs=5)
    assert max(made.differences) < 0.01


def test_a_suppressed_count_that_others_give_away_is_told() -> None:
    found = order()
    assert [tables.following(one, found.tables, False) for one in found.tables] == [2, 0]
    assert "work out from the other tables by subtraction, up to rounding: at least 2." in " ".join(notes(found))
    alone = order(tables=LISTED[:1], people=1000)
    assert tables.following(alone.tables[0], alone.tables, alone.counted) == 0  # two are suppressed
    one = order(tables=[{"columns": ["sex"], "cells": [["f", 6], ["m", None]]}], people=10)
    assert tables.following(one.tables[0], one.tables, one.counted) == 1


def test_totals_that_differ_are_read_as_shares_and_told() -> None:
    sexes = {"columns": ["sex"], "cells": [["f", 300], ["m", 100]]}
    health = {"columns": ["health"], "cells": [["good", 500], ["fair", 300], ["bad", 240]]}
    found = order(tables=[sexes, health], rows=1040)
    table = pd.concat([batch.to_pandas() for batch in drawn(found).rows.batches()])
    assert table["sex"].value_counts().to_dict() == pytest.approx({"f": 780, "m": 260}, abs=2)
    assert table["health"].value_counts().to_dict() == pytest.approx({1: 500, 2: 300, 3: 240}, abs=2)
    (said, *_) = notes(found)
    assert "from 400 to 1,040 people: each was read as shares" in said


def test_a_column_in_no_table_is_even_over_its_values_and_named() -> None:
    found = order(rows=1000)
    assert found.untold == ("age", "job")
    table = pd.concat([batch.to_pandas() for batch in drawn(found).rows.batches()])
    assert table["job"].value_counts().to_dict() == pytest.approx({"yes": 500, "no": 500}, abs=3)
    assert (table["age"] // 10).value_counts().between(95, 105).all()
    assert any("drawn evenly and say nothing about people: age, job." in sentence for sentence in notes(found))


def test_rules_of_the_domain_hold() -> None:
    ruled = DOMAIN | {"impossible": [{"if": {"age": ["0 to 9"]}, "then": {"job": ["no"]}}]}
    rows = dps.rows_from([SEXES_FRAME], ruled, rows=2000).rows
    assert set(rows[rows["age"] < 10]["job"]) == {"no"}


SEXES_FRAME = pd.DataFrame({"sex": ["m", "f"], "count": [400, 600]})


def test_without_a_whole_table_the_number_of_people_has_to_be_stated() -> None:
    suppressed = SEXES_FRAME.assign(count=["..", "600"])
    refused(dps.rows_from, [suppressed], DOMAIN, saying="do not say how many people there are")
    rows = dps.rows_from([suppressed], DOMAIN, people=1000).rows
    assert rows["sex"].value_counts(dropna=False).to_dict()["f"] == pytest.approx(600, abs=2)


def test_the_same_seed_gives_the_same_rows_and_another_one_others() -> None:
    first, again, other = (dps.rows_from([SEXES_FRAME], DOMAIN, rows=100, seed=seed).rows for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([pd.DataFrame({"sex": ["f", "woman"], "count": [1, 2]})], r"no value 'woman'; write one of 'f', 'm', 'missing', and leave out"),
        ([pd.DataFrame({"gender": ["f", "m"], "count": [1, 2]})], r"'gender' has no values in the domain; .*'age', 'health', 'sex', 'job'"),
        ([pd.DataFrame({"sex": ["f", "Total"], "count": [1, 3]})], "leave out lines of totals"),
        ([pd.DataFrame({"sex": ["f", "m"], "count": ["few", "3"]})], "something else than a number"),
        ([pd.DataFrame({"sex": ["f", "m"], "count": ["", "c"]})], "its known counts are nobody"),
        ([pd.DataFrame({"sex": ["f", "m"], "count": [0, 0]})], "its known counts are nobody"),
        ([pd.DataFrame({"age": ["0 to 9", "5..14"], "count": [1, 2]})], "'age'"),
        ([SEXES_FRAME, SEXES_FRAME], "it is there twice"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_with_what_is_allowed(tables: Any, said: str) -> None:
    refused(dps.rows_from, tables, DOMAIN, saying=said)


def test_a_domain_that_was_read_from_the_private_table_is_refused() -> None:
    refused(dps.rows_from, [SEXES_FRAME], DOMAIN | {"origin": "data"}, saying="which no promise about the tables covers")
    refused(dps.rows_from, [SEXES_FRAME], {"sex": dps.discover()}, saying="to be learnt")


def test_a_value_that_nobody_has_is_in_no_row() -> None:
    fitted = dps.rows_from({"sex": {"f": 10, "m": 0}, "health": {"good": 3, "fair": 0, "bad": 7}}, DOMAIN)
    assert fitted.rows["sex"].tolist() == ["f"] * 10
    assert fitted.rows["health"].value_counts().to_dict() == {3: 7, 1: 3}
    assert fitted.notes[0].startswith("Rows in another cell than a table says: at most 0.00%")


def test_a_table_that_contradicts_a_rule_is_not_met_and_that_is_told() -> None:
    ruled = DOMAIN | {"impossible": [{"if": {"sex": ["f"]}, "then": {"health": ["bad"]}}]}
    table = pd.DataFrame({"sex": list("ffm"), "health": ["good", "bad", "fair"], "count": [50, 25, 25]})
    fitted = dps.rows_from([table], ruled)
    assert set(fitted.rows[fitted.rows["sex"] == "f"]["health"]) == {3}
    assert fitted.differences["difference"].max() > 0.4


def test_negative_counts_of_noisy_tables_are_taken() -> None:
    rows = dps.rows_from([SEXES_FRAME.assign(count=[-3.5, 1000.25])], DOMAIN, rows=100).rows
    assert rows["sex"].value_counts().to_dict() == {"f": 100}


def test_json_keeps_a_table() -> None:
    for one in order().tables:
        again = tables.from_json(one.to_json(order().domain), order().domain, "tables.0")
        assert again.columns == one.columns
        assert np.array_equal(again.counts, one.counts, equal_nan=True)
    assert SEXES["cells"] == order().tables[1].to_json(order().domain)["cells"]
