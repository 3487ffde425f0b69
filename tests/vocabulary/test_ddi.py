"""Codebooks in XML: what they say of variables becomes a domain; what was counted is not read; what is not a codebook is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dpsynth_core.cli.command_line import main
from dpsynth_core.vocabulary.codebook import parse_domain
from dpsynth_core.vocabulary.ddi import declared_domain
from tests.refusals import refused

SEX = """<var name="sex" intrvl="discrete"><labl>Sex of the respondent</labl>
  <catgry><catValu>1</catValu><labl>male</labl><catStat type="freq">17</catStat></catgry>
  <catgry><catValu>2</catValu><labl>female</labl><catStat type="freq">4</catStat></catgry>
  <catgry missing="Y"><catValu>9</catValu><labl>refused</labl></catgry><varFormat type="numeric"/></var>"""
AGE = """<var name="age" intrvl="contin" dcml="0"><valrng><range min="17" max="90"/></valrng>{more}<varFormat type="numeric"/></var>"""
PLACE = """<var name="place" intrvl="discrete"><catgry><catValu>007</catValu><labl>Aa</labl></catgry>
  <catgry><catValu>12</catValu><labl>Bb</labl></catgry><varFormat type="numeric"/></var>"""
NAMESPACES = ['xmlns="ddi:codebook:2_5"', 'xmlns="http://www.icpsr.umich.edu/DDI"', ""]


def book(*variables: str, namespace: str = NAMESPACES[0]) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<codeBook {namespace}><dataDscr>{"".join(variables)}</dataDscr></codeBook>'


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_whole_codebook_is_a_domain(namespace: str) -> None:
    domain = parse_domain(book(SEX, AGE.format(more=""), PLACE, namespace=namespace))
    assert domain.names == ("sex", "age", "place")
    assert domain.origin == "codebook"
    sex, age, place = domain
    assert (sex.label, sex.dtype) == ("Sex of the respondent", "int64")
    assert (sex.categories, sex.labels) == (("1", "2", "9"), ("male", "female", "refused"))
    assert (age.kind, age.lower, age.upper) == ("integer", 17, 90)
    assert (place.categories, place.dtype) == (("007", "12"), "string")  # as numbers, 007 would not be found
    assert all(one.missing and one.other for one in domain)


def test_what_was_counted_changes_nothing() -> None:
    assert declared_domain(book(SEX)) == declared_domain(book(SEX.replace("17", "18").replace(">4<", ">400<")))


@pytest.mark.parametrize("statistic", ["min", "mean", "vald"])
def test_a_range_beside_statistics_of_the_records_stays_open(statistic: str) -> None:
    (age,) = declared_domain(book(AGE.format(more=f'<sumStat type="{statistic}">17</sumStat>')))["attributes"]
    assert (age["lower"], age["upper"]) == (None, None)
    assert "smallest" in age["to_do"]


@pytest.mark.parametrize(
    ("variable", "kind"),
    [
        ('<var name="a" intrvl="contin" dcml="2"><varFormat type="numeric"/></var>', "numeric"),
        ('<var name="a" intrvl="contin"><catgry missing="Y"><catValu>9</catValu></catgry></var>', "numeric"),
        ('<var name="a" dcml="0"><varFormat type="numeric"/></var>', "integer"),
        ('<var name="a"><varFormat type="character"/></var>', "categorical"),
        ('<var name="a"><varFormat type="character" category="date"/></var>', "date"),
        ('<var name="a"><varFormat category="date"/><valrng><range min="20100101" max="20201231"/></valrng></var>', "date"),
        ('<var name="a"/>', "categorical"),
    ],
)
def test_what_is_not_said_stays_open(variable: str, kind: str) -> None:
    made = declared_domain(book(variable, SEX))
    assert made["attributes"][0]["kind"] == kind
    assert "to_do" in made["attributes"][0]
    assert "origin" not in made  # somebody has to add something
    refused(parse_domain, book(variable, SEX), saying="column 'a': it is not finished")


def test_an_order_is_kept() -> None:
    assert parse_domain(book(SEX.replace('<var name="sex"', '<var name="sex" nature="ordinal"')))["sex"].kind == "ordinal"


@pytest.mark.parametrize(
    "text",
    [
        "<",
        "<html></html>",
        "<codeBook></codeBook>",
        '<!DOCTYPE a [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><codeBook><var name="&b;"/></codeBook>',
        '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><codeBook><var name="&a;"/></codeBook>',
        book("<var/>"),
        book(SEX, SEX),
        book(*(f'<var name="v{i}"/>' for i in range(1001))),
    ],
)
def test_what_is_no_codebook_is_refused(text: str) -> None:
    caught = refused(parse_domain, text)
    assert caught.field.startswith(("domain", "column"))


def test_the_command_line_writes_the_domain_of_a_codebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "survey.xml").write_text(book(SEX, AGE.format(more='<sumStat type="min">17</sumStat>')), encoding="utf-8")
    assert main(["domain", str(tmp_path / "survey.xml"), "--out", str(tmp_path / "domain.json")]) == 0
    sex, age = json.loads((tmp_path / "domain.json").read_text())["attributes"]
    assert sex["labels"] == ["male", "female", "refused"]
    assert (age["lower"], age["upper"]) == (0, 122)  # the usual bounds: the smallest value of the records is not taken
    assert "done: 2 columns are declared" in capsys.readouterr().err


@pytest.mark.parametrize("labels", ["", "<labl>the same</labl>"])
def test_a_long_list_of_answers_is_read_in_linear_time_or_refused(labels: str) -> None:
    def seconds(answers: int) -> float:
        categories = "".join(f"<catgry><catValu>{i}</catValu>{labels}</catgry>" for i in range(answers))
        start = time.process_time()
        columns = declared_domain(book(f'<var name="sex">{categories}</var>'))["attributes"]
        assert len(set(columns[0]["labels"])) == answers
        return time.process_time() - start

    assert seconds(20_000) < 4  # 6 s and more where each label is looked for among all
    refused(seconds, 100_001, saying="column 'sex': it has too many values")
