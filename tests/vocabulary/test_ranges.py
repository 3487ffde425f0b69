"""Ranges: which cells lie in them and which they cut, however they are written, and who refuses those that cut."""

from __future__ import annotations

import itertools
import json
import math
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.claims.criteria.registry import check_stated
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.python_values import named_values
from dpsynth_core.vocabulary.ranges import Between, Chosen, chosen, common, part
from dpsynth_core.vocabulary.zeros import cells_named, cells_sealed, check_ranges, edges_at_ranges, parts_named
from tests.refusals import refused

AGE = Attribute.integer("age", 0, 99, width=10)


def column(kind: str, **said: Any) -> Attribute:
    domain = Domain.from_json({"version": 1, "attributes": [{"name": "x", "kind": kind, "missing": False, "other": False, **said}]})
    return domain.attributes[0]


WHOLE = {
    "even": column("integer", lower=-3, upper=8, width=4),
    "uneven": column("integer", lower=0, upper=12, edges=[1, 2, 7], own_cells=[0, 12]),
    "weeks": column("date", lower="2024-02-20", upper="2024-03-08", width=7),
    "hours": column("time", lower="00:00", upper="00:40", precision="minute", width="15 minutes"),
    "stays": column("duration", lower="00:00:00", upper="12:00:00", precision="hour", width="3 hours"),
    "moments": column("timestamp", lower="2024-01-01 00:00", upper="2024-01-01 20:00", precision="hour", width="6 hours"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_range_of_whole_values_chooses_the_cells_of_its_values_and_no_others(name: str) -> None:
    """Against all values one by one: a cell is whole where all of its values are in the range, cut where some are."""
    attribute = WHOLE[name]
    low, high = int(attribute.edges[0]), int(attribute.edges[-1]) - 1
    value = attribute.scale.value
    for first, last in itertools.combinations_with_replacement(range(low, high + 1), 2):
        ends = [(0, 0), (1, 0), (0, 1)] if last > first else [(0, 0)]
        for above, below in ends:
            found = chosen(attribute, [Between(value(first), value(last), bool(above), bool(below))])
            inside = set(range(first + above, last + 1 - below))
            for code, (start, end) in enumerate(itertools.pairwise(attribute.edges)):
                own = set(range(int(start), int(end)))
                some = own & inside
                assert (code in found.cells) == bool(some)
                assert (code in found.whole_cells) == (own <= inside)
                if some and some != own:
                    assert {n for a, b in found.cut[code] for n in range(int(a), int(b))} == some
                    assert part(attribute, code, found.cut[code]).share == pytest.approx(len(some) / len(own))
                    assert part(attribute, code, found.cut[code]).mean == pytest.approx(np.mean(sorted(some)))


def test_decimal_cells_are_half_open_and_values_of_their_own_are_not() -> None:
    attribute = column("numeric", lower=0, upper=100, width=25, own_cells=[0])
    assert chosen(attribute, [Between("0", "25")]).whole_cells == (0, 1)
    assert chosen(attribute, [Between(None, "0")]).whole_cells == (0,)
    assert chosen(attribute, [Between("0", None, above=True)]).whole_cells == (1, 2, 3, 4)
    assert chosen(attribute, [Between("25", "50")]) == Chosen((2,))
    assert chosen(attribute, [Between("20", "60.5")]).cut == {1: ((20.0, 25),), 3: ((50.0, 60.5),)}
    assert chosen(attribute, [Between("100", None)]).cells == (4,)
    assert chosen(attribute, [Between("100", None)]).cut
    assert part(attribute, 3, ((50.0, 60.0),)).share == 0.4


@pytest.mark.parametrize(
    ("text", "cells", "cut"),
    [
        ("66..", (6, 7, 8, 9), {6: ((66, 70),)}),
        ("> 65", (6, 7, 8, 9), {6: ((66, 70),)}),
        (">=66", (6, 7, 8, 9), {6: ((66, 70),)}),
        ("≥ 66", (6, 7, 8, 9), {6: ((66, 70),)}),
        ("..14", (0, 1), {1: ((10, 15),)}),
        ("< 15", (0, 1), {1: ((10, 15),)}),
        ("<= 14", (0, 1), {1: ((10, 15),)}),
        ("14.5..20", (1, 2), {1: ((15, 20),), 2: ((20, 21),)}),
        ("-5..9", (0,), {}),
        ("90..200", (9,), {}),
        ("66", (6,), {6: ((66, 67),)}),
    ],
)
def test_a_range_is_read_from_text(text: str, cells: tuple[int, ...], cut: dict[int, Any]) -> None:
    assert parts_named([AGE], {"age": text}, "of") == {"age": Chosen(cells, cut)}


def test_several_ranges_of_a_column_are_put_together() -> None:
    assert parts_named([AGE], {"age": ["12..14", "15..30", "10 to 19"]}, "of")["age"] == Chosen((1, 2, 3), {3: ((30, 31),)})
    assert parts_named([AGE], {"age": ["10..14", "15..19"]}, "of")["age"] == Chosen((1,))
    assert parts_named([AGE], {"age": ["11..12", "14..15"]}, "of")["age"].cut == {1: ((11, 13), (14, 16))}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ((66, None), Between(66, None)),
        ((66, math.inf), Between(66, None)),
        ((-np.inf, np.int64(14)), Between(None, 14)),
        ((np.float32(1.5), Decimal("2.5")), Between(1.5, 2.5)),
        ((np.datetime64("2024-01-15"), pd.Timestamp("2024-03-15")), Between(datetime(2024, 1, 15), datetime(2024, 3, 15))),
        ((pd.Timedelta(hours=1), np.timedelta64(90, "m")), Between(timedelta(hours=1), timedelta(minutes=90))),
        (pd.Interval(10, 20, closed="left"), Between(10, 20, False, True)),
        (pd.Interval(10, 20, closed="right"), Between(10, 20, True, False)),
    ],
)
def test_a_range_is_read_from_python(said: Any, meant: Between) -> None:
    assert named_values(AGE, said) == [meant]


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ([66, 99], [66, 99]),
        (np.array([1, 2]), [1, 2]),
        (pd.Series(["a", "b"]), ["a", "b"]),
        (pd.Index([True]), [True]),
        (pd.Series(pd.to_datetime(["2024-01-15"])), [datetime(2024, 1, 15)]),
        (range(3), [0, 1, 2]),
        (np.array(7), [7]),
        (np.str_("f"), ["f"]),
        ([(1, 2), 5], [Between(1, 2), 5]),
        (time(12, 30), [time(12, 30)]),
        (date(2024, 1, 1), [date(2024, 1, 1)]),
        ((1, 2, 3), [1, 2, 3]),
    ],
)
def test_values_of_numpy_and_pandas_are_read_as_pythons_own(said: Any, values: list[Any]) -> None:
    found = named_values(AGE, said)
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]


@pytest.mark.parametrize(
    ("said", "saying"),
    [
        ([66, float("nan")], "nan is not a value; write None for what is missing"),
        (pd.NA, "<NA> is not a value"),
        ([pd.NaT], "NaT is not a value"),
        ((np.datetime64("NaT"), None), "NaT is not a value"),
        ((None, None), "a range has no end"),
        (None, "it has no cell for missing values"),
        (["f", None], "it has no cell for missing values"),
        (slice(1, 2), "a slice does not say"),
        ({"a": 1}, "a dict is not a list of values"),
        (object(), "is not a value"),
    ],
)
def test_what_is_no_value_is_refused_in_plain_words(said: Any, saying: str) -> None:
    refused(named_values, AGE, said, saying=re.escape(saying) if "<" in saying else saying)


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("60..20", "ends before it begins"),
        ("200..", "no value is in the range '200..'; its values are 0 to 99"),
        ("> 99", "no value is in the range"),
        ("a..b", "is not a whole number"),
        ("200", "has no value '200'"),
    ],
)
def test_a_range_of_nothing_is_refused(text: str, saying: str) -> None:
    refused(parts_named, [AGE], {"age": text}, "of", saying=saying)


def test_ends_of_dates_and_times_are_values_as_rows_write_them() -> None:
    day, hour = column("date", lower="2024-01-01", upper="2024-12-31", width="month"), WHOLE["moments"]
    half = chosen(day, [Between(pd.Timestamp("2024-01-15"), pd.Timestamp("2024-03-31"))])
    assert (half.cells, list(half.cut)) == ((0, 1, 2), [0])
    assert chosen(day, [Between("2024-01-15 08:00", None)]).cut == chosen(day, [Between("2024-01-16", None)]).cut
    assert chosen(hour, [Between("2024-01-01 05:30", None)]).whole_cells == (1, 2, 3)
    assert chosen(hour, [Between(None, "2024-01-01")]).whole_cells == (0, 1, 2, 3)
    assert chosen(hour, [Between("2024-01-01", None)]).whole_cells == (0, 1, 2, 3)
    refused(chosen, hour, [Between("2024-01-01", None, above=True)], saying="no value is in the range")


def test_ordered_categories_have_ranges_and_others_have_none() -> None:
    grade = Attribute.categorical("grade", ["poor", "fair", "good"], ordered=True, labels=["1 poor", "2 fair", "3 good"])
    assert parts_named([grade], {"grade": "fair.."}, "of")["grade"] == Chosen((1, 2))
    assert parts_named([grade], {"grade": ["< 3 good"]}, "of")["grade"] == Chosen((0, 1))
    refused(parts_named, [grade], {"grade": "fair..best"}, "of", saying="ends at 'best', which is not its value")
    sex = Attribute.categorical("sex", ["f", "m", "f..m"])
    assert parts_named([sex], {"sex": "f..m"}, "of")["sex"].cells == (2,)
    refused(parts_named, [sex], {"sex": "m..f"}, "of", saying="has no value 'm..f'")
    refused(parts_named, [sex], {"sex": named_values(sex, ("f", "m"))}, "of", saying="no order")


def test_a_range_that_cuts_is_refused_with_the_nearest_two_and_how_to_cut_there() -> None:
    error: InputError = refused(cells_named, [AGE], {"age": "15..64"}, "rule")
    assert "cuts the groups '10 to 19' and '60 to 69'" in str(error)
    assert "name 20 to 59, or 10 to 69; or state" in str(error)
    edges = [int(text) for text in str(error).split('"edges": [')[1].split("]")[0].split(",")]
    again = Attribute.integer("age", 0, 99, edges=edges)
    assert {"15 to 19", "60 to 64"} <= set(again.cell_labels())
    assert again.cell_labels()[cells_named([again], {"age": "15..64"}, "rule")["age"][0]] == "15 to 19"
    assert cells_named([AGE], {"age": "..59"}, "rule") == {"age": (0, 1, 2, 3, 4, 5)}
    month = column("date", lower="2024-01-01", upper="2024-12-31", width="month")
    assert '"2024-01-15"' in str(refused(cells_named, [month], {"x": "2024-01-15.."}, "rule"))


@pytest.mark.parametrize(
    "rule",
    [
        {"never": {"age": "15..64", "sex": "m"}},
        {"never": {"age": ["0..9", "15..64"], "sex": "m"}},
        {"if": {"sex": "m"}, "then": {"age": "..64"}},
        {"if": {"age": "> 65"}, "then": {"sex": "m"}},
        {"columns": ["age", "sex"], "cells": [["15..39", "m"]]},
        {"column": "age", "determines": "sex", "values": {"15..39": "m"}},
        {"column": "sex", "determines": "age", "values": {"m": ["15..39"]}},
    ],
)
def test_a_rule_of_a_new_domain_refuses_a_range_that_cuts_and_a_sealed_one_means_the_groups_within(rule: dict[str, Any]) -> None:
    said = {
        "version": 1,
        "attributes": [
            {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "width": 10},
            {"name": "sex", "kind": "categorical", "categories": ["f", "m"]},
        ],
        "impossible": [rule],
    }
    assert "cuts the group" in str(refused(Domain.stated, said))
    assert Domain.from_json(said).to_json()["impossible"]
    whole = json.dumps(rule).replace("15..64", "20..59").replace("..64", "..59").replace("> 65", ">= 70").replace("15..39", "20..39")
    assert Domain.from_json(said).to_json() == Domain.stated({**said, "impossible": [json.loads(whole)]}).to_json()


def test_a_criterion_of_a_new_plan_refuses_a_range_that_cuts() -> None:
    domain = Domain((AGE, Attribute.categorical("sex", ["f", "m"])))
    error: InputError = refused(check_stated, [{"kind": "share", "of": {"sex": "f"}, "among": {"age": "15..64"}}], domain)
    assert error.field == "criteria.0"
    check_stated([{"kind": "share", "of": {"sex": "f"}, "among": {"age": "20..59"}}], domain)
    assert cells_sealed(domain, {"age": "15..64"}, "of") == {"age": (2, 3, 4, 5)}


@pytest.mark.parametrize("name", WHOLE)
def test_no_range_of_a_rule_cuts_the_groups_that_its_refusal_offers(name: str) -> None:
    """Every range of whole values: the offered edges keep all others, and may end at the upper bound, which has a group of its own then."""
    attribute, sex = WHOLE[name], Attribute.categorical("sex", ("f", "m"))
    low, high = int(attribute.edges[0]), int(attribute.edges[-1]) - 1
    for first, last in itertools.combinations_with_replacement(range(low, high + 1), 2):
        ends = (attribute.scale.text(end) for end in (first, last))
        rule = {"never": {"x": "..".join(map(str, ends)), "sex": "f"}}
        edges = edges_at_ranges(rule, (attribute, sex))
        if not edges:
            check_ranges(rule, (attribute, sex), "rule")
            continue
        stated = Domain((attribute,)).to_json()["attributes"][0]
        groups = {field: value for field, value in stated.items() if field not in ("bins", "width", "edges", "own_cells")}
        finer = column(**{**groups, "edges": edges["x"]})
        check_ranges(rule, (finer, sex), "rule")
        assert set(attribute.edges) < set(finer.edges)


def test_common_parts_of_spans_are_those_of_both() -> None:
    assert common(((0, 5), (7, 9)), ((3, 8),)) == ((3, 5), (7, 8))
    assert common(((0, 5),), ((5, 8),)) == ()


def test_a_rule_of_linked_tables_refuses_a_range_that_cuts() -> None:
    link = Link(Domain((Attribute.categorical("region", ["n", "s"]),)), Domain((AGE,)), 3)
    link.check_rules([{"never": {"age": ["0..19"], "region": ["n"]}}, {"members_with": {"age": ["90.."]}, "at_most": 1}])
    for rule in ({"never": {"age": ["0..14"], "region": ["n"]}}, {"members_with": {"age": ["95.."]}, "at_most": 1}):
        error: InputError = refused(link.check_rules, [rule], saying="cuts the group")
        assert error.field == "members.rules 1"
    refused(link.check_rules, [{"never": {"age of another": ["0..14"], "age": ["0..9"]}}], saying="column 'age of another'")
