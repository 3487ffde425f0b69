"""No name, label or value becomes code: a program about hostile columns has the code of one about plain columns, and other texts."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.programs.r import r_text
from dpsynth_core.extensions.programs.sas import sas_text
from dpsynth_core.extensions.programs.spss import spss_text
from dpsynth_core.extensions.programs.stata import stata_text
from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.program_names import program_names
from dpsynth_core.vocabulary.domain import Domain
from tests.bundle.bundles import files
from tests.extensions.programs.examples import stated_domain
from tests.extensions.programs.hostile import HOSTILE, hostile, plain, release
from tests.extensions.programs.rscript import run_pspp, run_r
from tests.tiers import examples

LITERALS = {
    "analysis.do": r'"[\w .,:()<>=+?!&-]*"|\b(?:char|uchar)\([0-9]+\)',
    "rows.sas": r"'(?:[^'\n]|'')*'",
    "rows.sps": r"'(?:[^'\n]|'')*'",
}
"""A quoted text of each program, which ends in its line. Those of Stata have plain letters alone."""
PROGRAMS = {"analysis.do": "stata", "rows.sas": "sas", "rows.sps": "spss"}
LONGEST_NAME = {"stata": 32, "sas": 32, "spss": 64}
"""Bytes of a name of a variable."""
texts = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(HOSTILE)


def forms(name: str, bundle: bytes) -> set[str]:
    """The forms of a program's lines: S for each text, V for each name of a variable, N for each number."""
    text = re.sub(r"S(?: \+\s+S)+", "S", re.sub(LITERALS[name], "S", files(bundle)[name].decode()))
    for variable in sorted(program_names(Domain.from_json(stated_domain(bundle)), PROGRAMS[name]), key=len, reverse=True):
        text = re.sub(rf"(?<![\w@#$.]){re.escape(variable)}(?![\w@#$])", "V", text)
    text = re.sub(r"\bdp_+(?=[a-z*])", "dp_", text)
    return set(re.sub(r"[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?", "N", text).splitlines())


@pytest.mark.parametrize("name", LITERALS)
def test_a_program_about_hostile_columns_has_no_line_of_another_form(name: str) -> None:
    assert forms(name, hostile()) - forms(name, plain()) == set()


@pytest.mark.parametrize("name", LITERALS)
def test_a_text_that_ended_its_quotes_would_be_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that quotes by putting quotes around a text."""
    where = {"analysis.do": "stata", "rows.sas": "sas", "rows.sps": "spss"}[name]
    quote = '"' if where == "stata" else "'"
    monkeypatch.setattr(f"dpsynth_core.extensions.programs.{where}.{where}_text", lambda text: f"{quote}{text}{quote}")
    assert forms(name, release(HOSTILE[:8])) - forms(name, plain()) != set()


@pytest.mark.parametrize(("name", "most"), [(name, LONGEST_NAME[program]) for name, program in PROGRAMS.items()])
def test_names_are_short_enough_and_differ(name: str, most: int) -> None:
    names = list(program_names(Domain.from_json(stated_domain(hostile())), PROGRAMS[name]))
    assert all(len(one.encode()) <= most for one in names)
    assert len({one.lower() for one in names}) == len(HOSTILE)


def test_no_line_for_spss_is_longer_than_256_bytes() -> None:
    assert max(len(line) for line in files(hostile())["rows.sps"].splitlines()) <= 256


@given(texts)
@examples(200)
def test_a_text_of_r_is_that_text(text: str) -> None:
    """Python and R read these escapes alike."""
    assert ast.literal_eval(r_text(text)) == text.replace("\0", " ")
    assert r_text(text).isascii()


@given(texts)
@examples(200)
def test_a_text_of_stata_is_that_text(text: str) -> None:
    parts = stata_text(text).split(" + ")
    assert all(re.fullmatch(LITERALS["analysis.do"], part) for part in parts) or " + " in text
    read = re.findall(r'"([^"]*)"|char\(([0-9]+)\)', stata_text(text))
    assert "".join(letters or (chr(int(code)) if code else "") for letters, code in read) == text.replace("\0", " ")


@given(texts)
@examples(200)
def test_a_text_of_sas_or_spss_is_what_is_visible_of_it(text: str) -> None:
    quoted = sas_text(text)
    assert re.fullmatch(LITERALS["rows.sas"], quoted)
    assert quoted[1:-1].replace("''", "'") == visible(text)
    parts = spss_text(text).split(" +\n    ")
    assert all(re.fullmatch(LITERALS["rows.sps"], part) for part in parts)
    assert "".join(part[1:-1].replace("''", "'") for part in parts) == visible(text)


# In R and PSPP themselves


@pytest.mark.slow
def test_r_reads_the_same_code_with_other_texts_in_it(tmp_path: Path) -> None:
    for name, content in (("hostile.R", hostile()), ("plain.R", plain())):
        (tmp_path / name).write_bytes(files(content)["analysis.R"])
    code = """
    tokens <- function(file) { data <- getParseData(parse(file, keep.source = TRUE)); data$token[data$terminal] }
    cat(identical(tokens("hostile.R"), tokens("plain.R")), length(tokens("plain.R")) > 1000)
    """
    assert run_r(code, tmp_path) == "TRUE TRUE"


@pytest.mark.slow
def test_r_has_hostile_names_labels_and_values_as_they_are_and_runs_none(tmp_path: Path) -> None:
    for name in ("analysis.R", "synthetic.csv"):
        (tmp_path / name).write_bytes(files(hostile())[name])
    code = """
    source("analysis.R")
    said <- function(text) paste(utf8ToInt(enc2utf8(text)), collapse = ",")
    for (name in names(rows)) {
      column <- rows[[name]]
      cat("\n=>", said(name), said(attr(column, "label")), sapply(levels(column), said), anyNA(column))
    }
    """
    lines = [line.removeprefix("=> ").split() for line in run_r(code, tmp_path).splitlines() if line.startswith("=> ")]
    read = [["".join(chr(int(code)) for code in word.split(",")) for word in line[:-1]] for line in lines]
    assert [line[0] for line in read] == list(HOSTILE)
    assert [line[1] for line in read] == [f"{text} is {text}" for text in HOSTILE]
    for number, (text, line) in enumerate(zip(HOSTILE, read, strict=True)):
        expected = [text, f"{text} 2"] if number % 3 == 0 else [f"{text} A", f"B {text}"]
        assert line[2:4] == expected
        assert len(line) == 4 + (number % 6 != 2 and number % 2 == 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["analysis.R", "synthetic.csv"]


@pytest.mark.slow
def test_pspp_has_hostile_labels_and_values_as_they_are_and_runs_none(tmp_path: Path) -> None:
    """Of rows without line breaks, which SPSS takes for the ends of rows."""
    told = [text for text in HOSTILE if "\n" not in text]
    bundle = release(told)
    (tmp_path / "synthetic.csv").write_bytes(files(bundle)["synthetic.csv"])
    run_pspp(files(bundle)["rows.sps"].decode() + "\nSAVE OUTFILE='rows.sav'.\n", tmp_path)
    frame, meta = pyreadstat.read_sav(tmp_path / "rows.sav")
    assert list(meta.column_names_to_labels.values()) == [visible(f"{text} is {text}")[:255].rstrip() for text in told]
    labels = {label for of in meta.variable_value_labels.values() for label in of.values()}
    assert {visible(f"{text} A")[:120] for number, text in enumerate(told) if number % 3 == 2} <= labels
    domain = Domain.from_json(json.loads(files(bundle)["spec.json"])["domain"])
    for place, column in enumerate(domain):
        listed = set(map(float, column.categories)) if column.dtype == "int64" else {*column.categories, "other"}
        assert set(frame.iloc[:, place].dropna()) <= listed, column.name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.sav", "run.sps", "synthetic.csv"]
