"""How numbers and dates seem to be written: nothing is suggested by which a number could be another one, and no question quotes a value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.cli.command_line import main
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.detect import public_format, suggestions
from dpsynth_core.sources.detect_notation import MARKS, DetectedNotation, detect_notation
from dpsynth_core.sources.notation import Notation
from tests.refusals import refused
from tests.tiers import examples

OPEN, GERMAN, PLAIN, ENGLISH = ["10,584", "3,127"], (",", "."), (".", ""), (".", ",")
COMMA = (",", "")


def look(*columns: list[str], comma_separates: bool = True, **stated: str) -> DetectedNotation:
    return detect_notation(columns, Notation(), ["lab", "size", "third"], stated, comma_separates)


def marks(found: DetectedNotation) -> tuple[str, str] | None:
    return None if found.doubts else (found.stated.get("decimal", "."), found.stated.get("thousands", ""))


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (([*OPEN],), None),
        ((["10.584", "3.127"],), None),  # ten thousand, where commas are decimal marks
        ((["-10,584", "+3,127", ""],), None),
        ((OPEN, ["10.584"]), None),
        ((OPEN, ["170,3"]), COMMA),
        ((["170,3"], OPEN), COMMA),
        ((OPEN, ["2.784,95"]), GERMAN),
        ((["10.584"], ["170,3"]), GERMAN),
        ((OPEN, ["12.5"]), ENGLISH),
        ((OPEN, ["1,234.5"]), ENGLISH),
        ((["10.584"], ["12.5"]), PLAIN),
        (([*OPEN, "170,3"],), COMMA),
        (([*OPEN * 20, "0,584"],), COMMA),  # no thousands begin with 0
        ((["0.584", "3.127"],), PLAIN),
        ((["1,234,567", "12"],), ENGLISH),
        ((["1.234.567", "12"],), GERMAN),
        ((["1234,567", "10,584"],), COMMA),
        ((["1 234", "10 584"],), (".", " ")),
        ((["1\u202f234,5", "2\u00a0584"],), (",", " ")),
        ((["1 234"], OPEN), (",", " ")),
        ((["1'234.50", "12.5"],), (".", "'")),
        ((["1,234e3", "-2,500E-1"],), COMMA),  # what has an exponent has no thousands
        ((["1.234e+03"], ["10.584"]), PLAIN),
        ((["12,5 %", "3,25%"], OPEN), COMMA),
        ((["10,584", "<0,5", "1,25"],), COMMA),
        ((["12", "250"],), PLAIN),
        ((["08.30", "14.15", "09.45"], ["170,3"]), COMMA),  # times of day are not numbers
        ((["12.5", "250"] * 40 + ["1,234.5"],), ENGLISH),
        ((["1,234.5"], ["170,3"]), None),
        ((["12.5", "12,5"],), None),
        ((["1'234.5"], OPEN), None),
        ((OPEN, ["12.5"], ["1 234"]), None),
    ],
)
def test_what_can_be_read_in_one_way_decides_and_else_the_curator_is_asked(
    columns: tuple[list[str], ...], wanted: tuple[str, str] | None
) -> None:
    assert marks(look(*columns)) == wanted


def test_a_semicolon_speaks_for_decimal_commas_and_not_for_points_between_thousands() -> None:
    assert marks(look(OPEN, comma_separates=False)) == COMMA
    assert marks(look(OPEN, ["1,234.5"], comma_separates=False)) == ENGLISH
    assert marks(look(["10.584"], comma_separates=False)) is None
    assert marks(look(OPEN, ["12.5"], comma_separates=False)) is None  # the separator says one thing, another column the other


def test_what_is_stated_settles_what_is_open() -> None:
    assert marks(look(OPEN, decimal=",")) == marks(look(OPEN, thousands="")) == COMMA
    assert marks(look(OPEN, decimal=".")) == ENGLISH
    assert marks(look(["1,234.5"], ["170,3"], decimal=",")) == COMMA
    assert look(["1,234.5"], ["170,3"], thousands="").doubts


def test_columns_that_contradict_each_other_are_named_and_no_value_is() -> None:
    (doubt,) = look(["7,777.7"], ["999,9"]).doubts
    assert "column 'lab' has numbers like 1,234.5 and column 'size' like 1234,5" in doubt.question
    assert [stated for _, stated in doubt.answers] == [{"decimal": ".", "thousands": ","}, {"decimal": ",", "thousands": ""}]
    assert not any(digits in doubt.question for digits in ("7,7", "999"))
    (doubt,) = look(["1,234.5"], ["1,5", "2.5"]).doubts
    assert "column 'size' has numbers like 1234.5 and others like 1234,5" in doubt.question


def test_days_and_months_that_can_be_taken_for_each_other_are_asked_about() -> None:
    (doubt,) = look(["05/06/2021", "07/08/2022"]).doubts
    assert [stated for _, stated in doubt.answers] == [{"date_format": "dd/mm/yyyy"}, {"date_format": "mm/dd/yyyy"}]
    assert look(["05/06/2021"], ["25/06/2021"]).stated["date_format"] == "dd/mm/yyyy"
    assert look(["05/06/2021"], ["06/25/2021"]).stated["date_format"] == "mm/dd/yyyy"
    assert not look(["05/06/2021"], date_format="mm/dd/yyyy").doubts


def written(number: float, digits: int, marks: tuple[str, str]) -> str:
    plain = f"{number:,.{digits}f}" if marks[1] else f"{number:.{digits}f}"
    return plain.replace(",", "G").replace(".", marks[0]).replace("G", marks[1])


@examples(400)
@given(
    st.sampled_from(MARKS),
    st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=6)), min_size=1, max_size=4),
)
def test_no_number_of_a_table_that_is_written_in_one_way_is_read_as_another(
    truth: tuple[str, str], columns: list[tuple[int, list[int]]]
) -> None:
    numbers = [[whole / 10**digits for whole in column] for digits, column in columns]
    texts = [[written(one, digits, truth) for one in column] for (digits, _), column in zip(columns, numbers, strict=True)]
    found = detect_notation(texts, Notation())
    if found.doubts:
        return
    notation = Notation(decimal=found.stated["decimal"], thousands=found.stated["thousands"])
    for column, cells in zip(numbers, texts, strict=True):
        assert notation.numbers(pa.array(cells)).to_pylist() == column


def table(tmp_path: Path, separator: str = ",") -> Path:
    path = tmp_path / "lab.csv"
    path.write_text(f'lab{separator}sex\n"10,584"{separator}f\n"7,127"{separator}m\n')
    return path


@pytest.mark.parametrize("command", ["synthesize", "domain"])
def test_a_command_refuses_what_can_be_read_either_way_until_it_is_stated(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lab, sex = {"name": "lab", "kind": "numeric", "lower": 0, "upper": 20}, {"name": "sex", "kind": "categorical", "categories": ["f", "m"]}
    Path("domain.json").write_text(json.dumps({"version": 1, "attributes": [lab, sex]}))
    further: Mapping[str, list[str]] = {
        "synthesize": ["--domain", "domain.json", "--epsilon", "1", "--workload", "all-2way", "--out", "out"],
        "domain": ["--out", "made.json"],
    }
    arguments = [command, str(table(tmp_path)), *further[command]]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "--decimal comma --thousands none, or --decimal point --thousands comma" in said
    assert "7,127" not in said
    assert not Path("out").exists()
    assert main([*arguments, "--decimal", "comma"]) == 0


def test_a_public_table_is_read_as_it_suggests_and_refused_where_it_can_be_read_either_way(tmp_path: Path) -> None:
    refused(public_format, table(tmp_path), "public", saying="Parquet")
    assert public_format(table(tmp_path, ";"), "public").decimal == ","


def test_what_is_stated_of_two_marks_leaves_a_question_about_the_other(tmp_path: Path) -> None:
    path, stated = table(tmp_path), {"decimal": "."}
    (doubt,) = suggestions(path, default_format(path, stated), stated).value
    assert [said for _, said in doubt.answers] == [{"thousands": ","}, {"thousands": ""}]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_signs_that_end_lines_in_python_alone_suggest_nothing(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"home;town;pay\n;{sign};{sign}\nme;{sign};12\n", encoding="utf-8", newline="")
    assert suggestions(path, default_format(path), ()).value == ()


@pytest.mark.parametrize("record", [";;;", "\x1c; ;;", "\u200b;;;"])
def test_a_record_that_would_be_a_header_of_blank_cells_is_not_suggested(tmp_path: Path, record: str) -> None:
    """It refused the table: a record decided whether the table was read."""
    path = tmp_path / "people.csv"
    path.write_text(f"a;b\n{record}\n" + "1;2;3;4\n" * 20, encoding="utf-8")
    assert suggestions(path, default_format(path), ()).value == ()
