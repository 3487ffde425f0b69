"""Next year: what changed in columns and declared values, and that the plan is the same."""

from __future__ import annotations

from dpsynth_core.planning import renewal
from dpsynth_core.planning.renewal import Changes, Values, changes, given_reasons, renewed
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.bundle.bundles import spec
from tests.refusals import refused

SEX, REGION = Attribute.categorical("sex", ["f", "m"]), Attribute.categorical("region", ["n", "s"])
DOMAIN = Domain((SEX, Attribute.integer("age", 0, 99, bins=5), REGION))


def test_nothing_changed() -> None:
    same = changes(DOMAIN, ("region", "sex", "age"), {"sex": ["m", "f"]})
    assert same == Changes((), ())
    assert same.sentences == ["The table has the columns of the plan, and no others."]


def test_columns_that_went_and_came_are_named_and_the_persons_number_is_neither() -> None:
    found = changes(DOMAIN, ("id", "sex", "region", "income"), {}, ("id",))
    assert found == Changes(("age",), ("income",))
    assert found.sentences == [
        "The plan has columns that this table lacks: “age”.",
        "This table has columns that the plan does not name: “income”. They are left out.",
    ]


def test_values_are_compared_as_far_as_the_file_declares_them() -> None:
    found = changes(DOMAIN, DOMAIN.names, {"region": ["n", "e"], "age": ["0"], "other": ["x"]})
    assert found.values == (Values("region", ("e",), ("s",)),)
    assert found.sentences[1] == "Of “region” the file declares “e”, which the plan does not have and no longer “s”."


def test_names_are_shown_and_not_obeyed() -> None:
    assert "\u202e" not in changes(DOMAIN, (*DOMAIN.names, "\u202ex"), {}).sentences[0]


def test_the_plan_is_the_same_but_for_the_table_and_the_name() -> None:
    before = spec(other_copies="A report.")
    after = renewed(before, {"kind": "csv", "path": "/data/2026.csv"}, "People 2026")
    ours, theirs = (one.published() | {"data": None, "name": None} for one in (before, after))
    assert ours == theirs
    assert (after.data.path, after.name) == ("/data/2026.csv", "People 2026")
    assert given_reasons(after) == ["other_copies"]


def test_a_table_that_cannot_be_described_is_refused() -> None:
    refused(renewed, spec(), {"kind": "csv", "strange": 1}, "People 2026")
    assert renewal.given_reasons(spec()) == []
