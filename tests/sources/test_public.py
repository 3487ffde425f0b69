"""A public table is taken as it is, compared with the domain, and refused with a remedy where it would mislead."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dpsynth_core.sources import public
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.refusals import refused

DOMAIN = Domain((Attribute.categorical("sex", ["f", "m"]), Attribute.integer("age", 0, 99), Attribute.coded("zone", 3)))
ROWS = {"zone": [0, 1, 2, 1], "age": [20, 30, 99, 30], "sex": ["f", "m", "f", "m"]}


def saved(folder: Path, rows: dict[str, list[object]], name: str = "census.csv") -> Path:
    path = folder / name
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_codes_follow_the_domain_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    table = public.read(saved(tmp_path, ROWS | {"note": list("abcd")}), TableFormat(), DOMAIN)
    assert table.codes[:, 0].tolist() == [0, 1, 0, 1]
    assert table.codes[:, 2].tolist() == [0, 1, 2, 1]
    assert (table.name, table.rows) == ("census.csv", 4)


def test_the_support_is_the_distinct_possible_rows_with_their_frequencies(tmp_path: Path) -> None:
    rows, counts = public.read(saved(tmp_path, ROWS), TableFormat(), DOMAIN).support()
    assert len(rows) == 3
    assert sorted(counts.tolist()) == [1, 1, 2]
    no_men_in_zone_1 = StructuralZeros(("sex", "zone"), (((1,), (1,)),))
    ruled = Domain(DOMAIN.attributes, (no_men_in_zone_1,))
    rows, counts = public.read(saved(tmp_path, ROWS), TableFormat(), ruled).support()
    assert (rows[:, 0] == 0).all()
    assert counts.tolist() == [1, 1]


def test_differences_are_listed(tmp_path: Path) -> None:
    rows = {"age": [20, 200, 30, 40], "sex": ["f", "m", "female", "male"], "note": list("abcd")}
    comparison = public.compare(saved(tmp_path, rows), TableFormat(), DOMAIN)
    assert comparison.missing == ("zone",)
    assert comparison.extra == ("note",)
    assert dict(comparison.outside) == {"sex": 0.5, "age": 0.25}
    assert comparison.rows == 4


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"age": [1, 2], "sex": ["f", "m"]}, "it lacks the column 'zone'"),
        ({"age": [1, 2]}, "it lacks the columns 'sex', 'zone'"),
        ({"zone": [1], "age": [1], "sex": ["f"]}, "one row"),
        ({"zone": [1, 1], "age": [1, 1], "sex": ["f", "f"]}, "fewer than two different rows"),
        ({"zone": [1, 2], "age": [1, 2], "sex": ["female", "male"]}, "100% of the values of its column 'sex'"),
    ],
    ids=["a missing column", "missing columns", "one row", "one row many times", "other labels"],
)
def test_what_would_mislead_is_refused_with_a_remedy(tmp_path: Path, rows: dict[str, list[object]], problem: str) -> None:
    caught = refused(public.read, saved(tmp_path, rows), TableFormat(), DOMAIN)
    assert problem in caught.problem
    assert caught.remedy


def test_a_few_values_outside_are_no_reason_to_refuse(tmp_path: Path) -> None:
    assert public.read(saved(tmp_path, ROWS | {"sex": ["f", "m", "x", "m"]}), TableFormat(), DOMAIN).rows == 4


def test_the_same_content_is_recognised_under_another_name(tmp_path: Path) -> None:
    first, copy = saved(tmp_path, ROWS), saved(tmp_path, ROWS, "other.csv")
    other = saved(tmp_path, ROWS | {"age": [20, 30, 99, 31]}, "third.csv")
    assert first.stat().st_size == other.stat().st_size
    assert public.is_same_table(copy, first)
    assert not public.is_same_table(other, first)
    assert public.digest(first) == public.digest(copy) != public.digest(other)


def test_a_file_of_the_private_folder_is_recognised(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir()
    saved(folder, ROWS, "part1.csv")
    saved(folder, ROWS | {"age": [1, 2, 3, 4]}, "part2.csv")
    assert public.is_same_table(saved(tmp_path, ROWS), folder)
