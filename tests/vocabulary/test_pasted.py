"""A codebook pasted from a spreadsheet, with and without header, labels and merged cells."""

from __future__ import annotations

import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.codebook import pasted_domain, pasted_names

EXPECTED = {"sex": ("f", "m"), "eye": ("blue",)}


@pytest.mark.parametrize(
    "text",
    [
        "sex\tf\nsex\tm\neye\tblue\n",
        "column\tvalue\nsex\tf\nsex\tm\neye\tblue",
        "Value;Column\nf;sex\nm;sex\nblue;eye\n",
        "sex\tf\n\tm\neye\tblue\n",
        "\nsex, f\nsex, m\n\neye, blue\n",
    ],
)
def test_two_columns_are_read_however_they_are_pasted(text: str) -> None:
    assert {a.name: a.categories for a in pasted_domain(text)} == EXPECTED


def test_a_third_column_has_labels_and_two_points_are_bounds() -> None:
    domain = pasted_domain("sex\tf\tfemale\nsex\tm\tmale, adult\nage\t17..90\n")
    assert domain["sex"].labels == ("female", "male, adult")
    assert (domain["age"].lower, domain["age"].upper, domain["age"].missing) == (17, 90, True)


@pytest.mark.parametrize(
    ("text", "message"), [("", "none"), ("sex\nage\n", "single field"), ("sex\tf\nsex\tf\n", "twice"), ("\tf\n", "names no column")]
)
def test_what_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pasted_domain(text)


@pytest.mark.parametrize("text", ["age\tsex\teye", "age\nsex\n\neye\n", " age ,sex,eye\n"])
def test_names_stand_in_a_line_or_one_below_the_other(text: str) -> None:
    assert pasted_names(text) == ("age", "sex", "eye")


def test_names_are_there_and_unlike() -> None:
    for text in ("", " \n", "a\na\n"):
        with pytest.raises(InputError):
            pasted_names(text)
