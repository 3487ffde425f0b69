"""Value labels of a file are the list of values only where no value between them is without a label."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import from_name
from dpsynth_core.vocabulary.value_labels import labelled
from tests.refusals import refused

Labels = Mapping[float | str, str]

COMPLETE: dict[str, tuple[Labels, str]] = {
    "yes and no": ({0.0: "no", 1.0: "yes"}, ""),
    "a scale with every point": ({float(n): "x" for n in range(11)}, "scale"),
    "three points around zero": ({-1.0: "less", 0.0: "same", 1.0: "more"}, ""),
    "years": ({2019.0: "a", 2020.0: "b", 2021.0: "c"}, "ordinal"),
    "names with numbers": ({276.0: "Germany", 40.0: "Austria", 756.0: "Switzerland"}, "nominal"),
    "texts": ({"n": "north", "s": "south"}, "nominal"),
}
PARTIAL: dict[str, tuple[Labels, str, str, str]] = {
    "ends of a scale": ({0.0: "none", 10.0: "full"}, "", "ordinal", "0 and 10 have labels: are 1 to 9 values too?"),
    "ends that are called names": ({0.0: "none", 10.0: "full"}, "nominal", "ordinal", "are 1 to 9 values too?"),
    "ends of a measured scale": ({0.0: "none", 10.0: "full"}, "scale", "numeric", "0 and 10 have labels: which other values can occur?"),
    "ends and middle": ({1.0: "a", 4.0: "b", 7.0: "c"}, "ordinal", "ordinal", "are 2 to 3 and 5 to 6 values too?"),
    "a code above": ({97.0: "97 or older"}, "", "numeric", "97 has a label: which other values can occur?"),
    "zero alone": ({0.0: "None"}, "scale", "numeric", "0 has a label"),
    "answers and codes of no answer": ({1.0: "yes", 2.0: "no", 8.0: "unsure", 9.0: "refused"}, "", "categorical", "3 to 7 have no label"),
    "codes of no answer alone": ({-9.0: "refused", -8.0: "unsure"}, "", "numeric", "-9 and -8 have labels: which other values"),
    "codes of no answer above": ({998.0: "unsure", 999.0: "refused"}, "scale", "numeric", "998 and 999 have labels"),
    "far apart": ({0.0: "none", 5000.0: "a lot"}, "ordinal", "numeric", "Give the smallest and the largest"),
    "halves": ({0.5: "half", 2.5: "more"}, "", "numeric", "0.5 and 2.5 have labels"),
    "one text": ({"Z": "not known"}, "nominal", "categorical", "only Z has a label"),
}


@pytest.mark.parametrize("case", COMPLETE)
def test_labels_without_a_gap_are_the_list_of_values(case: str) -> None:
    labels, measure = COMPLETE[case]
    column = labelled("x", "text" if "n" in labels else "number", labels, measure=measure)
    assert not column.to_do
    assert column.categories is not None
    assert len(column.categories) == len(labels)


@pytest.mark.parametrize("case", PARTIAL)
def test_labels_with_a_gap_are_a_question_and_no_closed_list(case: str) -> None:
    labels, measure, kind, question = PARTIAL[case]
    column = labelled("x", "text" if "Z" in labels else "number", labels, measure=measure)
    assert column.kind == kind
    assert question in column.to_do
    refused(column.complete, saying="it is not finished")


def test_a_scale_keeps_the_labels_of_its_ends_and_is_whole_once_answered() -> None:
    column = labelled("x", "number", {0.0: "none", 10.0: "full"})
    assert column.categories == [str(value) for value in range(11)]
    assert (column.labels or [])[:2] + (column.labels or [])[-1:] == ["none", "1", "full"]
    assert Column.from_json({**column.to_json(), "to_do": ""}).complete().kind == "ordinal"


def test_answers_that_mean_no_answer_make_no_gap() -> None:
    column = labelled("x", "number", {1.0: "yes", 2.0: "no", 9.0: "refused"}, special={9.0})
    assert (column.categories, column.to_do) == (["1", "2", "9"], "")
    scale = labelled("x", "number", {0.0: "none", 10.0: "full", 77.0: "refused"}, special={77.0})
    assert scale.categories == [*map(str, range(11)), "77"]


def test_a_stated_range_stands_beside_labels_of_a_measured_scale() -> None:
    column = labelled("x", "integer", {97.0: "97 or older"}, measure="scale", bounds=(18, 97))
    assert (column.lower, column.upper, column.to_do) == (18, 97, "")


def test_a_name_does_not_answer_the_question() -> None:
    column = labelled("sex", "number", {1.0: "male", 3.0: "female"})
    assert from_name(column) == column
