"""Codes in groups: by their first characters or by a table; zeros that numbers lose come back; what is learnt is a group."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pandas as pd
import pyarrow as pa
import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.discovery import learning
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import propose
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.outside import outside
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.kinds.hierarchies import hierarchy
from dpsynth_core.vocabulary.recoding import outside_rule
from dpsynth_core.web.domain.column_draft import ColumnDraft
from tests.refusals import refused

OWN = {"other": True, "missing": True}
LABELS = ["Cholera", "Infarct", "Kidney"]
ICD = Attribute.listed("icd", "hierarchical", ["A00", "I21", "N18"], hierarchy=Hierarchy(level=3), labels=LABELS, **OWN)
TABLE = hierarchy("icd", groups="A = Infections\nB = Infections\nC = Neoplasms\nD = Blood\nD0 = Neoplasms")
CHAPTERS = Attribute.listed("icd", "hierarchical", hierarchy=TABLE, **OWN)
PLACE = Attribute.listed("plz", "hierarchical", ["01", "10", "80"], hierarchy=Hierarchy(level=2, digits=5), **OWN)


def labels(attribute: Attribute, values: list[object], kind: pa.DataType | None = None) -> list[str]:
    return [attribute.cell_labels()[code] for code in encode_column(attribute, pa.array(values, kind), Notation())]


def test_a_code_counts_as_its_first_characters() -> None:
    assert labels(ICD, ["A00.1", "A009", "I21", "I2", "Z99", "", None, "N/A", "N18.3"]) == [
        "Cholera", "Cholera", "Infarct", "other", "other", "missing", "missing", "missing", "Kidney"
    ]  # fmt: skip
    assert Hierarchy(level=3).group("01.11") == "01.1"
    assert Hierarchy(level=4).group("01.1") == "01.1"


def test_a_code_counts_as_the_group_of_its_longest_beginning() -> None:
    assert CHAPTERS.categories == ("Infections", "Neoplasms", "Blood")
    assert labels(CHAPTERS, ["A00", "B99.1", "C50", "D01", "D50", "Z00", "Blood"]) == [
        "Infections", "Infections", "Neoplasms", "Neoplasms", "Blood", "other", "Blood"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
def test_zeros_that_numbers_lose_come_back(kind: pa.DataType) -> None:
    values = [1067, 10115, 80331] if kind != pa.string() else ["01067", "10115", "80331"]
    assert labels(PLACE, values, kind) == ["01", "10", "80"]


@pytest.mark.parametrize("attribute", [ICD, CHAPTERS, PLACE])
def test_json_and_the_domain_page_keep_every_field(attribute: Attribute) -> None:
    assert Domain.from_json(Domain((attribute,)).to_json())[attribute.name] == attribute
    assert ColumnDraft.of(attribute).complete() == attribute


def test_values_that_the_check_adds_are_groups() -> None:
    added = ColumnDraft.of(PLACE).with_values(["99817", "1068", "99099"])
    assert added.categories == ["01", "10", "80", "99"]


def test_the_page_learns_groups_at_a_level_and_codes_without_one() -> None:
    row = ColumnDraft.of(PLACE)
    learnt = row.learning(32).attribute()
    assert (learnt.kind, learnt.hierarchy, learnt.most) == ("hierarchical", PLACE.hierarchy, 32)
    assert ColumnDraft.of(learnt).complete() == learnt
    by_table = ColumnDraft.of(CHAPTERS)
    assert by_table.learning(32).kind == "categorical"


def test_words_say_how_codes_count() -> None:
    assert outside_rule(ICD).startswith("A code counts as its first 3 letters and digits. Values not listed go to 'other'.")
    assert "longest beginning" in outside_rule(CHAPTERS)
    assert outside(ICD, pa.array(["A00.1", "Z1", None]), Notation()) == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "a level or a table of groups"),
        ({"level": 3, "groups": {"A": "x"}}, "a level or a table of groups"),
        ({"level": "many"}, "its level is not a whole number"),
        ({"level": 41}, "its level is not a whole number"),
        ({"groups": "A = x\nA = y"}, "has two groups"),
        ({"groups": "A\nB = y"}, "a beginning has no group"),
        ({"groups": {"A": "B", "B": "C"}}, "is also the beginning of codes of another group"),
        ({"level": 3, "categories": ["A001"]}, "no code counts as"),
        ({"level": 3, "categories": []}, "it has no groups"),
    ],
)
def test_what_cannot_be_is_refused_with_its_column(fields: Mapping[str, object], message: str) -> None:
    with pytest.raises(InputError, match=rf"column 'x': .*{message}"):
        Domain.from_json({"version": 1, "attributes": [{"name": "x", "kind": "hierarchical", "missing": False, **fields}]})


def test_groups_are_learnt_and_single_codes_are_not() -> None:
    unknown = Domain.from_json(
        {"version": 1, "attributes": [{"name": "icd", "kind": "hierarchical", "level": 3, "discover": True, "most": 8}]}
    )
    table = pa.table({"icd": ["A00.1", "A00.2", "A00.3", "I21", "NA", None, ""]}).to_pandas()
    (counts,) = ArrowSource(unknown, table).values("icd")
    assert counts == {"A00": 3, "I21": 1, "": 3}
    learnt = learning.column_of(unknown["icd"], counts, 1.0)
    assert (learnt.categories, learnt.hierarchy, learnt.most) == (("A00", "I21"), Hierarchy(level=3), 0)
    assert Domain.from_json(Domain((learning.column_of(unknown["icd"], {"": 9}, 1.0),)).to_json())["icd"].categories == ()
    refused(Attribute.unknown, "x", "hierarchical", 8, hierarchy=Hierarchy(groups=(("A", "x"),)), saying="groups are learnt at a level")


def test_a_guess_groups_many_codes_at_a_level_with_few_groups() -> None:
    rng = random.Random(3)
    codes = [f"{rng.choice('ABCDEFGHIJ')}{rng.randrange(100):02d}.{rng.randrange(10)}" for _ in range(5000)]
    guess = propose(pd.DataFrame({"diagnosis": codes * 3}), TableFormat()).value[0]
    assert guess.attribute is not None
    assert (guess.attribute.kind, guess.attribute.hierarchy, guess.attribute.values) == ("hierarchical", Hierarchy(level=2), 100)
    ids = propose(pd.DataFrame({"case": [f"P{i:05d}" for i in range(900)]}), TableFormat()).value[0]
    assert ids.drop
