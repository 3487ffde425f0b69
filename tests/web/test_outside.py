"""What is not in a domain is counted exactly, whatever the file writes; missing values are not blamed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources.codec import decode
from dpsynth_core.sources.formats import DEFAULT_MISSING, TableFormat
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import fit_view
from tests.domains import attributes


@pytest.mark.parametrize(
    ("attribute", "values", "wanted"),
    [
        (Attribute.categorical("c", [">50K", "<=50K"]), [">50K.", "<=50K.", " >50K", "?", None, ""], 2),
        (Attribute.categorical("c", ["1", "2"], dtype="int64"), ["1", "2.0", "3", "x", None], 2),
        (Attribute.categorical("c", ["true", "false"], dtype="bool"), ["True", "false", "yes"], 1),
        (Attribute.integer("i", 10, 20), ["9", "10", "20", "21", "ten", "NA", None], 3),
        (Attribute.numeric("n", 0.0, 1.0, bins=4), ["-0.1", "0", "1", "1.5", "", "abc"], 3),
        (Attribute.day("d", "2020-01-01", "2020-12-31"), ["2019-12-31", "2020-06-01", "soon", None], 2),
        (Attribute.coded("k", 3), ["0", "2", "3", "-1"], 2),
    ],
    ids=["text", "numbers as labels", "booleans", "whole numbers", "numbers", "dates", "codes"],
)
@pytest.mark.parametrize("listed", [False, True])
def test_values_outside_are_counted_and_missing_ones_are_not(
    attribute: Attribute, values: list[str | None], wanted: int, listed: bool
) -> None:
    column = pa.array(values, pa.string())
    assert fit_view.outside(attribute, column.dictionary_encode() if listed else column, DEFAULT_MISSING) == wanted


@given(attributes())
def test_what_a_domain_writes_is_in_it(attribute: Attribute) -> None:
    codes = np.arange(attribute.size, dtype=np.int32)[codes_kept(attribute)].reshape(-1, 1)
    column = decode(Domain((attribute,)), codes, np.random.default_rng(0)).column(0).combine_chunks()
    assert fit_view.outside(attribute, column, frozenset({""})) == 0


def codes_kept(attribute: Attribute) -> list[int]:
    """All cells but that of unlisted values, which decodes to a value that is not listed."""
    return [code for code in range(attribute.size) if code != attribute.other_code]


def test_shares_are_curator_only_and_the_worst_column_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    people = {"sex": ["f", "m", "f", "m"], "income": [">50K.", "<=50K.", ">50K.", "<=50K"], "age": [20, 30, 40, 200]}
    pd.DataFrame(people).to_csv(path, index=False)
    domain = Domain(
        (Attribute.categorical("sex", ["f", "m"]), Attribute.categorical("income", [">50K", "<=50K"]), Attribute.integer("age", 0, 99))
    )
    found = fit_view.shares(domain, str(path), TableFormat())
    assert found.zone is Zone.CURATOR
    assert found.value["column"].tolist() == ["income", "age", "sex"]
    assert found.value["outside"].tolist() == [0.75, 0.25, 0.0]
    assert found.value["remark"].tolist() == [fit_view.MOST, fit_view.SOME, fit_view.NONE]
