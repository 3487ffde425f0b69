"""No record has a part in how a table is read by default: whatever lies below the header, the format is the same, and so is a refusal."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import default_format as module
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.detect import suggestions
from dpsynth_core.sources.formats import TableFormat
from tests.refusals import refused
from tests.sources import default_road
from tests.sources.default_road import SORTS, family
from tests.sources.neighbouring import ODD, RAW
from tests.tiers import examples

HEADERS: dict[str, bytes] = {
    "comma": b"age,sex\n",
    "semicolon": b"age;sex;pay, gross\n",
    "tab": b"age\tsex\r\n",
    "one column": b"age\n",
    "carriage return": b"age;sex\r",
    "quoted": b'"age, in years";"sex"\n',
    "marked": b"\xef\xbb\xbfage|sex\n",
    "utf-16": "\ufeffage;sex\n".encode("utf-16-le"),
    "utf-16-le": "age;sex\n".encode("utf-16-le"),
    "utf-16-be": "age;sex\n".encode("utf-16-be"),
    "blank lines above": b"\n \n\nage;sex\n",
    "not utf-8": "größe;geschlecht\n".encode("cp1252"),
    "PAR1": b"PAR1,sex\n",
    "a page": b"<html><body>\n",
    "JSON": b'{"age": 1}\n',
    "an image": b"\x89PNG\r\n\x1a\n",
    "NUL": b"age,\0\0\0sex\n",
    "SPSS": b"$FL2@(#) IBM SPSS\n",
}
LIKE_OTHERS = (b"\n", b"1,2", b"1;2;3", b"SPSSPORT", b"PAR1\0", b"caf\xe9")
BELOW = st.one_of(
    st.binary(max_size=700),
    st.lists(st.sampled_from([*(text.encode() for text in ODD), *RAW, *LIKE_OTHERS])).map(b"".join),
)


def outcome(path: Path, **stated: Any) -> TableFormat | str:
    try:
        return default_format(path, stated)
    except InputError as error:
        return str(error)


def made(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("named", HEADERS)
@examples(60)
@given(below=BELOW)
def test_the_format_is_that_of_the_header_whatever_lies_below_it(
    named: str, below: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, header = tmp_path_factory.getbasetemp(), HEADERS[named]
    alone = outcome(made(folder / "a.csv", header))
    assert outcome(made(folder / "a.csv", header + (b"\0" if named == "utf-16-le" else b"") + below)) == alone


@examples(60)
@given(content=BELOW, other=BELOW)
def test_a_file_without_a_header_says_nothing_about_its_format(
    content: bytes, other: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name, stated in (("a.jsonl", {}), ("a.csv", {"names": ("a", "b")})):
        first, second = (outcome(made(folder / name, b"x" + text), **stated) for text in (content, other))
        assert first == second == TableFormat(kind=name.split(".")[1], **stated)  # type: ignore[arg-type]


def test_the_kind_of_text_is_in_its_name_or_stated(tmp_path: Path) -> None:
    lines = made(tmp_path / "a.csv", b'{"age": 1}\n{"age": 2}\n')
    refused(default_format, lines, saying="looks like JSON.*state the kind jsonl")
    assert default_format(lines, {"kind": "jsonl"}).kind == "jsonl"
    assert default_format(made(tmp_path / "a.ndjson", b"age,sex\n1,f\n")).kind == "jsonl"


def test_kind_and_encoding_come_from_one_look_at_the_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("\ufeffage;sex\n".encode("utf-16-le"))
    looks: list[object] = []
    look = module._first_line
    monkeypatch.setattr(module, "_first_line", lambda place: looks.append(place) or look(place))
    assert default_format(path) == TableFormat(encoding="utf-16", delimiter=";")
    assert len(looks) == 1


def test_what_is_stated_is_taken_and_the_rest_is_by_default(tmp_path: Path) -> None:
    path = made(tmp_path / "a.csv", b"Report; of today\nage|sex\n1|f\n")
    assert default_format(path, {"skip": 1}) == TableFormat(delimiter="|", skip=1)
    stated = {"skip": 1, "delimiter": ";", "encoding": "cp1252"}
    assert default_format(path, stated) == TableFormat(**stated)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", range(120))
def test_of_neighbours_that_are_opened_by_their_path_alone_everybody_elses_codes_are_equal(case: int) -> None:
    """20,000 pairs in all cases, of files, folders and linked tables of all kinds. `python -m benchmarks neighbours` tries others."""
    pairs = 0
    for number in count(101 * case):  # begins with each sort of family in turn
        one = family(0, number)
        assert not one.wrong, f"family {number}"
        if (pairs := pairs + one.pairs) >= 167:
            break


def following(path: Path, *_: Any) -> TableFormat:
    """Return the format that the first records suggest, which the curator did not state."""
    form = default_format(path)
    for doubt in suggestions(path, form, ()).value:
        form = replace(form, **doubt.answers[0][1])
    return form


@pytest.mark.parametrize("sort", sorted({*SORTS}))
def test_a_format_that_follows_the_records_is_noticed(sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By families of each sort: records of others are read otherwise because of one person's record."""
    monkeypatch.setattr(default_road, "settled_format", following)
    families = (family(0, number) for number in range(40) if SORTS[number % len(SORTS)] == sort)
    assert any("records lost" in wrong for one in families for wrong in one.wrong)
