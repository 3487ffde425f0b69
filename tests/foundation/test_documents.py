"""Documents and paths that somebody names: what no field could hold is refused at the door, in linear time."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from dpsynth_core.foundation.documents import MAX_DIGITS, MAX_PATH, check_path, parse_json, read_document
from dpsynth_core.foundation.errors import LONGEST_PART, InputError, count_text, first_repeated, shown
from tests.refusals import refused


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("NaN", "NaN or Infinity"),
        ("[-Infinity]", "NaN or Infinity"),
        ("9" * (MAX_DIGITS + 1), "digits"),
        ("[" + "9" * 5000 + "]", "digits"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "an entry is there twice"),
        ('"\\ud800"', "half a character"),
        ('{"\\udfff": 1}', "half a character"),
    ],
)
def test_json_that_no_field_could_hold_is_refused(text: str, problem: str) -> None:
    error = refused(parse_json, text, "domain", saying=problem)
    assert error.field == "domain"


def test_other_json_is_read_as_it_stands() -> None:
    obj = {"a": [1, -2.5, True, None, "é\U0001d518", "9" * 100], "b": {"": 10**19}}
    assert parse_json(json.dumps(obj), "domain") == obj


def test_repeats_are_found_in_linear_time() -> None:
    names = [str(i) for i in range(1_000_000)]
    start = time.process_time()
    assert first_repeated([*names, "7"]) == "7"
    assert first_repeated(names) is None
    assert time.process_time() - start < 5


@pytest.mark.parametrize("path", ["a\0b", "x" * (MAX_PATH + 1), "~nosuchuser/x"])
def test_paths_that_no_system_opens_are_refused(path: str) -> None:
    refused(check_path, path, "data", saying=r"^data: .*; ")


def test_only_ordinary_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "nowhere", "x" * 300):
        refused(read_document, tmp_path / name, "domain", saying="cannot be read")


def test_what_is_echoed_is_short_whatever_it_is() -> None:
    for value in ("x" * 10**6, "\n" * 10**6, 10**5000, ["x"] * 10**6, {"x": "y" * 10**6}, Path("x" * 10**6)):
        assert len(shown(value)) < 300
    assert (shown("a'b"), shown(2.5), shown(None), shown(True)) == ('"a\'b"', "2.5", "None", "True")
    assert (count_text(1234), count_text(2**30_000)) == ("1,234", "more than 10^18")
    assert len(str(InputError("f" * 10**6, "p" * 10**6, "r" * 10**6))) <= 3 * LONGEST_PART + 4
