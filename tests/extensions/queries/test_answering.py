"""Answers of releases to written queries: exact for the rows, as wide as the noise makes them, and as `ask` says where it can be asked."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsynth_core as dps
from dpsynth_core import report
from dpsynth_core.cli.command_line import main
from dpsynth_core.evaluation.combination import Combined
from dpsynth_core.evaluation.questions.evidence import Noisy
from dpsynth_core.extensions.queries.answering import answered, answers, covariance
from dpsynth_core.extensions.queries.written import written
from dpsynth_core.interface.release import Release
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.measurement import subsets
from tests.bundle.bundles import run, spec
from tests.bundle.pack import pack
from tests.extensions.queries.test_written import DOMAIN
from tests.refusals import refused

INVENTED = {"data": {"kind": "standin", "standin": {"rows": 6000}}, "budget": {"epsilon": 50.0, "delta": 1e-9, "certificate": 0.1}}
PAIRS = INVENTED | {"workload": {"kind": "all", "k": 2}}
TEXTS = [
    "all of sex=female, age>=60",
    "any of sex=female, age>=60",
    "at least 2 of sex=female, health=good, not age<60",
    "at least 4 of 3*marital_status=married, 2*sex=male, -1*age<20",
]


@cache
def released(text: str = json.dumps(PAIRS)) -> Release:
    return dps.open(io.BytesIO(pack(run(spec(**json.loads(text))))))


def test_the_noise_of_a_product_is_that_of_ask() -> None:
    rng, clique = np.random.default_rng(5), ("sex", "age", "job")
    table = Combined(clique, rng.random(DOMAIN.sizes(clique)), {part: float(rng.random()) for part in subsets(clique)})
    for _ in range(20):
        f, g = ({name: rng.integers(0, 2, DOMAIN[name].size).astype(float) for name in clique} for _ in range(2))
        cells = [np.einsum("a,b,c->abc", *(of[name] for name in clique)) for of in (f, g)]
        assert covariance(table, *cells) == pytest.approx(Noisy(DOMAIN, table).covariance(f, g), abs=1e-9)


def test_the_noise_of_equal_cells_adds_up() -> None:
    """Where every part has the same variance, the cells are independent: a set of k cells has k times the variance of one."""
    clique = ("sex", "age")
    table = Combined(clique, np.zeros(DOMAIN.sizes(clique)), dict.fromkeys(subsets(clique), 7.0))
    inside = written(DOMAIN, "any of sex=f, age>=60").table.astype(float)
    assert covariance(table, inside, inside) == pytest.approx(7.0 * inside.sum())


@pytest.mark.parametrize("statistic", ["share", "count"])
@pytest.mark.parametrize("of", [{"sex": "female"}, {"sex": "male", "age": (20, 59)}], ids=json.dumps)
def test_a_product_is_answered_as_ask_answers_it(statistic: str, of: dict[str, Any]) -> None:
    typed = "all of sex=female" if len(of) == 1 else "all of sex=male, age=20..59"
    found, asked = dps.query(released(), typed, statistic=statistic), released().ask(statistic, of)  # type: ignore[call-overload]
    for one, other in ((found.value, asked.value), (found.low, asked.low), (found.high, asked.high)):
        assert one == pytest.approx(other, rel=1e-9)
    assert (found.kind, found.light) == (asked.kind, asked.light)
    assert found.sentences[-1:] == asked.sentences[-1:] or found.sentences[-1] in str(asked)


@pytest.mark.parametrize("text", TEXTS[:2])
def test_intervals_hold_of_the_people(text: str) -> None:
    """Invented people are known. At epsilon 50 an interval is far narrower than it is widened here, by five times its width."""
    made = released().made
    source: Any = synthesis.open_source(made.plan)
    query = written(made.domain, text)
    truth = source.counts([query.columns])[query.columns]
    share = float((query.table * truth).sum() / truth.sum())
    found = dps.query(released(), text)
    assert found.kind == "measured"
    assert isinstance(found.low, float)
    assert isinstance(found.high, float)
    assert 0 < found.high - found.low < 0.05
    assert abs(share - (found.low + found.high) / 2) <= 5 * (found.high - found.low)


@pytest.mark.parametrize("text", TEXTS)
def test_the_rows_are_counted_exactly(text: str) -> None:
    made = released().made
    codes = np.asarray(made.codes)
    found = answered(report.knowledge(made), written(made.domain, text))
    assert found.stated.rows == written(made.domain, text).met(made.domain, codes).sum() / len(codes)


@pytest.mark.parametrize("text", TEXTS[2:])
def test_where_no_table_has_the_columns_nothing_is_claimed(text: str) -> None:
    found = dps.query(released(), text)
    assert (found.kind, found.low, found.high, found.light) == ("guess", None, None, "unknown")
    assert "guess" in str(found)


def test_several_queries_have_an_answer_each() -> None:
    found = dps.query(released(), TEXTS)
    assert [one.group for one in found] == TEXTS
    assert list(found.frame["value"]) == [one.value for one in found]
    assert dps.query(released(), TEXTS[0]).value == found[0].value


def test_what_cannot_be_asked_is_refused() -> None:
    refused(dps.query, released(), "sex", saying="not a query")
    refused(dps.query, released(), [], saying="there is none")
    refused(dps.query, released(), [5], saying="neither a text nor a list")
    refused(dps.query, "release.zip", TEXTS[0], saying="not a release")
    refused(answers, released().made, TEXTS[:1], "mean", saying="statistic")


def test_the_command_says_what_python_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle, asked = tmp_path / "release.zip", tmp_path / "queries.txt"
    bundle.write_bytes(pack(released().made))
    asked.write_text(f"# two\n\n{TEXTS[1]}\n{TEXTS[2]}\n", encoding="utf-8")
    assert main(["queries", str(bundle), "--query", TEXTS[0], "--file", str(asked)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(one) for one in dps.query(released(), TEXTS[:3])]
    assert main(["queries", str(bundle), "--count", "--query", TEXTS[0]]) == 0
    assert capsys.readouterr().out.strip() == str(dps.query(released(), TEXTS[0], statistic="count"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive"])
def test_the_command_refuses_what_is_no_bundle(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tmp_path / "release.zip"
    bundle.write_bytes(content)
    assert main(["queries", str(bundle), "--query", TEXTS[0]]) != 0
    assert "bundle" in capsys.readouterr().err


def test_counts_and_shares_agree_about_the_rows() -> None:
    share, count = (answered(report.knowledge(released().made), written(released().made.domain, TEXTS[2]), of) for of in ("share", "count"))
    total = report.knowledge(released().made).total
    assert total is not None
    assert count.stated.rows == pytest.approx((share.stated.rows or 0.0) * total.value)
