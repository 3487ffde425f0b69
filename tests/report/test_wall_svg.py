"""The columns in the report: bars are as high as the frame says, each picture says its standing in words, and names are never markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from dpsynth_core.evaluation.standing import GOOD, ODD, POOR, UNKNOWN, Standing
from dpsynth_core.report import wall_svg

HOSTILE = "</svg><script>alert(1)</script>"
STANDINGS = (
    Standing(HOSTILE, ODD, "all missing"),
    Standing("b", POOR, "mean is off", 0.2),
    Standing("c", GOOD, limit=0.01),
    Standing("d", UNKNOWN),
)


def bars() -> pd.DataFrame:
    of_c = {"column": "c", "cell": list("xyz"), "left": [0, 0.5, 0.9], "right": [0.5, 0.8, 0.9], "height": [1, 0.5, 0.25]}
    of_c |= {"low": [0.9, float("nan"), 0.1], "high": [1.0, float("nan"), 0.4], "outside": [False, False, True]}
    of_first = {"column": HOSTILE, "cell": ["missing"], "left": [0], "right": [1], "height": [1], "low": float("nan"), "high": float("nan")}
    return pd.concat([pd.DataFrame(of_c), pd.DataFrame(of_first | {"outside": True})], ignore_index=True)


@pytest.fixture
def pictures() -> list[ET.Element]:
    return list(ET.fromstring(wall_svg.wall(bars(), STANDINGS)))


def test_every_column_has_a_picture_in_their_order_that_says_its_standing_in_words(pictures: list[ET.Element]) -> None:
    told = [(str(one.get("class")), [text.text for text in one.findall("text")][-1]) for one in pictures]
    assert told == [("odd", "✕ all missing"), ("odd", "✕ mean is off"), ("good", "✓"), ("open", "?")]
    assert all(one.get("role") == "img" and one.get("aria-label") for one in pictures)
    assert [one.find("title") is not None for one in pictures] == [True] * 4


def test_bars_have_the_heights_and_widths_of_the_frame(pictures: list[ET.Element]) -> None:
    path = str(next(one for one in pictures[2].findall("path") if one.get("class") == "bars").get("d"))
    drawn = [(float(up), float(wide)) for up, wide in re.findall(r"v-([\d.]+)h([\d.]+)", path)]
    assert len(drawn) == 2
    assert drawn[1][0] / drawn[0][0] == pytest.approx(0.5, abs=0.01)
    assert drawn[1][1] / drawn[0][1] == pytest.approx(0.6, abs=0.01)
    [rest] = [one for one in pictures[2].findall("path") if one.get("class") == "rest"]
    assert "h1.0" in str(rest.get("d"))  # a stick can be seen
    [noise] = [one for one in pictures[2].findall("path") if one.get("class") == "noise"]
    assert str(noise.get("d")).count("M") == 2


def test_a_column_of_which_nothing_is_known_has_no_bars(pictures: list[ET.Element]) -> None:
    assert pictures[3].findall("path") == []


def test_hostile_names_are_text(pictures: list[ET.Element]) -> None:
    assert {element.tag for one in pictures for element in one.iter()} == {"svg", "title", "rect", "path", "text"}
    assert str(pictures[0].get("aria-label")).startswith(f"{HOSTILE}: all missing")


def test_a_picture_weighs_no_more_than_a_kilobyte() -> None:
    many = pd.concat([bars()[bars()["column"] == "c"]] * 8).assign(low=0.25, high=0.75)  # a full picture
    assert len(wall_svg.wall(many, STANDINGS[2:3])) < 1400
