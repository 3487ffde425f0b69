"""Columns whose values are to be learnt, as the domain has them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import DEFAULT_MOST, Attribute
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused


def domain(*columns: dict[str, Any], **more: Any) -> Domain:
    return Domain.from_json({"version": 1, "attributes": list(columns), **more})


SEX = {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False}
CITY = {"name": "city", "kind": "categorical", "discover": True}


@pytest.mark.parametrize("kind", ["categorical", "integer", "numeric", "date"])
def test_a_column_to_learn_is_written_and_read(kind: str) -> None:
    whole = domain(SEX, {"name": "x", "kind": kind, "discover": True, "most": 7})
    assert Domain.from_json(whole.to_json()) == whole
    assert whole["x"].size == 7
    assert len(whole["x"].cell_labels()) == 7
    assert whole.unknown == (whole["x"],)


def test_it_counts_as_a_column_of_as_many_cells_as_it_may_have() -> None:
    assert domain(SEX, CITY).cells(("sex", "city")) == 2 * DEFAULT_MOST


def test_a_column_of_which_nothing_was_found_is_written_and_read() -> None:
    nothing_listed = Attribute("city", "categorical", other=True, missing=True)
    whole = domain(CITY, SEX).completed([nothing_listed])
    assert Domain.from_json(whole.to_json()) == whole
    assert nothing_listed.cell_labels() == ("other", "missing")


def test_what_is_learnt_takes_its_place() -> None:
    nothing_listed = Attribute.categorical("city", ["Ghent"], other=True)
    whole = domain(CITY, SEX).completed([nothing_listed])
    assert whole.names == ("city", "sex")
    assert whole["city"] == nothing_listed
    assert not whole.unknown


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"discover": False}, "not true"),
        ({"discover": 1}, "not true"),
        ({"categories": ["a"]}, "does not go with 'discover'"),
        ({"missing": True}, "does not go with 'discover'"),
        ({"kind": "ordinal"}, "cannot be learnt"),
        ({"kind": "coded"}, "cannot be learnt"),
        ({"most": 3}, "not a whole number"),
        ({"most": 20_000}, "not a whole number"),
        ({"most": "many"}, "not a whole number"),
    ],
)
def test_what_does_not_go_with_learning_is_refused(more: dict[str, Any], says: str) -> None:
    error = refused(domain, SEX, CITY | more, saying=says)
    assert error.field == "column 'city'"


def test_a_column_that_lists_values_and_learns_them_is_refused() -> None:
    refused(Attribute, "city", "categorical", categories=("Ghent",), most=9, saying="to be learnt are listed")


def test_no_rule_may_name_a_column_whose_values_nobody_knows() -> None:
    number = {"name": "n", "kind": "integer", "lower": 0, "upper": 9, "bins": 2}
    rules: list[dict[str, Any]] = [
        {"columns": ["sex", "city"], "cells": [["f", "0"]]},
        {"never": {"sex": "f", "city": "other"}},
        {"if": {"city": "missing"}, "then": {"sex": "f"}},
        {"column": "sex", "determines": "city", "values": {"f": "0"}},
        {"column": "n", "at_most": "learnt"},
        {"column": "learnt", "below": "n"},
    ]
    for rule in rules:
        learnt = {"name": "learnt", "kind": "integer", "discover": True}
        refused(domain, SEX, CITY, number, learnt, impossible=[rule], saying="are to be learnt")


def test_records_have_no_cells_before_values_are_learnt() -> None:
    with pytest.raises(ValueError, match="not known yet"):
        encode_column(Attribute.unknown("city", "categorical"), pa.array(["Ghent"]), Notation())
