"""Coarser tables of counts, against counting by hand; no error tells a count that is not protected."""

from __future__ import annotations

import doctest
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsynth_core as dps
from dpsynth_core.extensions.rows_from import coarsening, interface
from tests.refusals import refused


def by_hand(count: int, k: int, least: int) -> int | None:
    if 0 < count < least:
        return None
    below, above = count - count % k, count - count % k + k
    return below if count - below < above - count else above


@given(st.lists(st.integers(0, 200), min_size=1, max_size=12), st.integers(2, 20), st.integers(2, 30))
@settings(max_examples=60, deadline=None)
def test_counts_become_multiples_and_small_ones_empty(counts: list[int], k: int, least: int) -> None:
    table = pd.DataFrame({"place": [f"p{at}" for at in range(len(counts))], "count": counts})
    found = dps.protect_table(table, multiples_of=k, suppress_below=least)
    assert found["place"].tolist() == sorted(table["place"])
    expected = {f"p{at}": by_hand(count, k, least) for at, count in enumerate(counts)}
    assert {place: None if pd.isna(one) else int(one) for place, one in found.values.tolist()} == expected


@given(st.permutations(range(8)))
@settings(max_examples=30, deadline=None)
def test_the_order_of_the_lines_tells_nothing(order: list[int]) -> None:
    """Such as which suppressed count is larger, in a table that is sorted by its counts."""
    ages = [f"{'0' * (at % 2)}{5 * at}" for at in range(8)]
    table = pd.DataFrame({"sex": list("mmmmffff"), "age": ages, "count": [3, 1, 4, 1, 5, 9, 2, 6]})
    found = dps.protect_table(table.iloc[order], suppress_below=10)
    assert found.equals(dps.protect_table(table, suppress_below=10))
    assert found["sex"].tolist() == list("ffffmmmm")
    assert found["age"].tolist() == [*ages[4:], *ages[:4]]  # by size: as texts, "05" came behind "0" and before "10"


def test_labels_that_are_the_same_number_and_labels_that_are_none_have_one_order() -> None:
    for labels in (["1", "01", "1.0"], ["b", "10", "a", "9"], ["nan", "10", "9"], ["", "2", "10"]):
        table = pd.DataFrame({"of": pd.array(labels, dtype="string"), "count": range(len(labels))})
        found = [dps.protect_table(one, suppress_below=20)["of"].tolist() for one in (table, table.iloc[::-1])]
        assert found[0] == found[1] == sorted(labels)


def test_large_counts_are_exact() -> None:
    table = pd.DataFrame({"sex": ["f"], "count": [2**53 - 1]})
    assert dps.protect_table(table, suppress_below=5)["count"].tolist() == [2**53 - 1]
    assert dps.protect_table(table, multiples_of=3)["count"].tolist() == [3 * round((2**53 - 1) / 3)]


def test_larger_values_are_written_as_the_largest_that_is_told() -> None:
    table = pd.DataFrame({"age": [88, 90, 91, 97, 91], "sex": list("fffmm"), "count": [1, 2, 3, 4, 5]})
    found = dps.protect_table(table, top={"age": 90})
    assert found.values.tolist() == [["88", "f", 1], ["90", "f", 5], ["90", "m", 9]]
    incomes = pd.DataFrame({"income": [100, 2_500_000], "count": [3, 4]})
    assert dps.protect_table(incomes, top={"income": 1_000_000})["income"].tolist() == ["100", "1000000"]


def test_counts_that_are_suppressed_already_stay_so() -> None:
    table = pd.DataFrame({"sex": ["f", "m"], "count": ["..", "12"]})
    assert dps.protect_table(table, multiples_of=5)["count"].tolist() == [pd.NA, 10]
    aged = pd.DataFrame({"age": [90, 95], "count": ["c", "12"]})
    assert dps.protect_table(aged, top={"age": 90})["count"].isna().all()


PRIVATE = "3133.7"


@pytest.mark.parametrize(
    ("table", "how", "said"),
    [
        ({"sex": ["f"], "count": [7]}, {}, "it is not said how"),
        ({"sex": ["f"], "count": [PRIVATE]}, {"multiples_of": 5}, "something else than whole numbers of people"),
        ({"sex": ["f"], "count": [-3133]}, {"multiples_of": 5}, "something else than whole numbers of people"),
        ({"sex": ["f"], "count": ["3133 people"]}, {"multiples_of": 5}, "something else than whole numbers of people"),
        ({"sex": ["3133", "3133"], "count": [1, 2]}, {"multiples_of": 5}, "two of its lines have the same labels"),
        ({"sex": ["3133x"], "count": [1]}, {"top": {"sex": 3}}, "'sex' holds something else than numbers"),
        ({"sex": ["f"], "count": [1]}, {"top": {"age": 3}}, "there is no column 'age'; name one of 'sex'"),
        ({"sex": ["f"], "number": [1]}, {"multiples_of": 5}, "no column 'count'"),
        ({"count": [1]}, {"multiples_of": 5}, "no column 'count', or no other"),
        ({"sex": ["f"], "count": [1]}, {"multiples_of": 1}, "multiples_of: 1 is not a number of people"),
        ({"sex": ["f"], "count": [1]}, {"suppress_below": True}, "suppress_below"),
        ({"age": [31], "count": [3133]}, {"top": {"age": "31"}}, "top, 'age': '31' is not a number"),
        ({"age": [31], "count": [3133]}, {"top": {"age": math.nan}}, "top, 'age': nan is not a number"),
        ({"age": [31], "count": [3133]}, {"top": {"age": math.inf}}, "give a number, such as 90"),
        ({"age": [31], "count": [3133]}, {"top": {"age": 10**400}}, "a number of very many digits is not a number"),
        ({"age": [31], "count": [3133]}, {"top": {"age": True}}, "True is not a number"),
        ({"age": [31], "count": [3133]}, {"top": {"age": None}}, "None is not a number"),
        ({"age": [31], "count": [3133]}, {"top": ["age", 31]}, "give the largest number by column"),
        ({"sex": ["f", "m"], "count": [3133, 1e300]}, {"multiples_of": 5}, "9,007,199,254,740,992 people or more"),
        ({"sex": ["f", "m"], "count": [3133, math.inf]}, {"multiples_of": 5}, "people or more"),
        ({"sex": ["f", "m"], "count": [2**52, 2**52]}, {"multiples_of": 5}, "people or more"),
    ],
)
def test_a_mistake_is_named_and_no_count_is_told(table: Any, how: Any, said: str) -> None:
    error = refused(dps.protect_table, pd.DataFrame(table), **how, saying=said)
    assert "3133" not in str(error)


def test_the_examples_of_docstrings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for module in (coarsening, interface):
        found = doctest.testmod(module)
        assert found.attempted
        assert not found.failed
