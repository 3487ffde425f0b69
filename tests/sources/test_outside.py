"""What is not in a domain is counted exactly, whatever the file writes; missing values are not blamed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources import outside
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.decoding import decode
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute, Recode
from dpsynth_core.vocabulary.domain import Domain
from tests.domains import attributes


@pytest.mark.parametrize(
    ("attribute", "values", "wanted"),
    [
        (Attribute.categorical("c", [">50K", "<=50K"]), [">50K.", "<=50K.", " >50K", "?", None, ""], 2),
        (Attribute.categorical("c", ["1", "2"], dtype="int64"), ["1", "2.0", "3", "x", None], 2),
        (Attribute.categorical("c", ["true", "false"], dtype="bool"), ["True", "false", "yes", "perhaps"], 1),
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
    assert outside.outside(attribute, column.dictionary_encode() if listed else column, Notation()) == wanted


@given(attributes())
def test_what_a_domain_writes_is_in_it(attribute: Attribute) -> None:
    codes = np.arange(attribute.size, dtype=np.int32)[codes_kept(attribute)].reshape(-1, 1)
    column = decode(Domain((attribute,)), codes, np.random.default_rng(0)).column(0).combine_chunks()
    assert outside.outside(attribute, column, Notation(frozenset({""}))) == 0


def codes_kept(attribute: Attribute) -> list[int]:
    """All cells but that of unlisted values, which decodes to a value that is not listed."""
    return [code for code in range(attribute.size) if code != attribute.other_code]


@pytest.mark.parametrize(
    "attribute", [Attribute.categorical("c", ["a", "b"]), Attribute.integer("c", 0, 9), Attribute.day("c", "2020-01-01", "2020-01-09")]
)
def test_what_would_become_something_else_is_counted_and_named(attribute: Attribute) -> None:
    label = attribute.cell_labels()[0]
    good = {"categorical": "b", "integer": "3", "date": "2020-01-03"}[attribute.kind]
    (one,) = outside.fit(Domain((attribute,)), pd.DataFrame({"c": [None, "?", "soon", "soon", good]}), TableFormat()).value
    assert (one.rows, one.missing, one.missing_to, one.outside) == (5, 2, label, 2)
    assert one.outside_to == (outside.NEAREST if attribute.is_number else label)
    assert one.values == (("soon", 2),)
    assert one.recoded == 4


def test_values_with_a_cell_of_their_own_are_not_recoded() -> None:
    attribute = Attribute.categorical("c", ["a"], other=True, missing=True)
    (one,) = outside.fit(Domain((attribute,)), pd.DataFrame({"c": ["a", "-", None]}), TableFormat()).value
    assert (one.missing, one.outside, one.recoded, one.placeholders) == (1, 1, 0, ("-",))


def test_a_named_cell_is_what_values_count_as() -> None:
    as_b = Recode("b", "the form says so")
    attribute = Attribute.categorical("c", ["a", "b"], missing_as=as_b, other_as=as_b)
    assert encode_column(attribute, pa.array(["a", "z", None]), Notation(frozenset())).tolist() == [0, 1, 1]
    (one,) = outside.fit(Domain((attribute,)), pd.DataFrame({"c": ["a", "z", None]}), TableFormat()).value
    assert (one.missing_to, one.outside_to, one.recoded) == ("b", "b", 2)


def test_fits_are_curator_only_and_add_up_over_batches(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    people = {"sex": ["f", "m", "f", "m"], "income": [">50K.", "<=50K.", ">50K.", "<=50K"], "age": [20, 30, 40, 200]}
    pd.DataFrame(people).to_csv(path, index=False)
    domain = Domain(
        (Attribute.categorical("sex", ["f", "m"]), Attribute.categorical("income", [">50K", "<=50K"]), Attribute.integer("age", 0, 99))
    )
    fits = outside.fit(domain, str(path), TableFormat())
    assert fits.zone is Zone.CURATOR
    assert [(one.column, one.share_outside) for one in fits.value] == [("sex", 0.0), ("income", 0.75), ("age", 0.25)]
    assert fits.value[1].values[0] == (">50K.", 2)
