"""A column of which nothing was understood: said before the charge, never good after it, whatever the cause and the mechanism."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core import report
from dpsynth_core.evaluation.verdict import PUBLISH
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Learner, UsesPublic
from dpsynth_core.report.words import assumptions

PEOPLE = 3_000
COLUMNS = {"town": ["u", "v"], "age": {"kind": "integer", "lower": 0, "upper": 99, "width": 20}}
RNG = np.random.default_rng(7)
OTHERS = {"town": RNG.choice(["u", "v"], PEOPLE), "age": RNG.integers(0, 100, PEOPLE)}
COIN = RNG.random(PEOPLE) < 0.4
DAY = {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "quarter"}

CAUSES: dict[str, tuple[Any, Any]] = {
    "capital letters": (np.where(COIN, "F", "M"), ["f", "m"]),
    "codes with zeros": (np.where(COIN, "1", "2"), ["01", "02"]),
    "all missing": ([None] * PEOPLE, ["f", "m"]),
    "nineteen of twenty other": (np.where(np.arange(PEOPLE) % 25 == 0, "f", "town"), ["f", "m"]),
    "one group of another list": (["z"] * PEOPLE, ["f", "m"]),
    "beyond its bounds": (np.where(COIN, 2_000, 3_000), {"kind": "integer", "lower": 0, "upper": 99, "width": 50}),
    "dates day first": ([f"{day % 28 + 1:02d}/03/2024" for day in range(PEOPLE)], DAY),
    "words for numbers": (np.where(COIN, "ten", "more than $5"), {"kind": "numeric", "lower": 0.0, "upper": 9.0, "bins": 3}),
}


def planned(values: Any, said: Any, **options: Any) -> dps.Plan:
    table = pd.DataFrame({**OTHERS, "x": values})
    return dps.plan(table, {**COLUMNS, "x": said}, **({"epsilon": 4, "tables": 2, "people": PEOPLE, "mechanism": "independent"} | options))


def check_named(made: dps.Release) -> None:
    """x is in the headline or the release is withheld, no table with it is good, and nobody is told to spend more for it."""
    assert [(one.column, one.is_sure) for one in made.made.statements.unread] == [("x", True)]
    assert "Column “x” was not read" in made.verdict
    assert any("“x” was not read" in warning and "would not help" in warning for warning in made.warnings)
    headline = made.verdict.partition("Column “x”")[0]
    assert "Do not publish" in headline or "ot for what needs “x”" in headline
    judged = report.quality_of(made.made).value.verdict
    assert judged is not None
    assert judged.kind != PUBLISH
    assert not any("x" in name.split(" × ") for name in judged.good)
    assert {"Anything that uses “x”, which was not read.", "Tables with “x”: 0 of 2 are good enough."} <= set(report.unfit_for(judged))


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_is_said_before_the_charge_and_named_after_it(cause: str) -> None:
    plan = planned(*CAUSES[cause])
    (said,) = [sentence for sentence in plan.survey().value if "column 'x'" in sentence]
    assert "the first 1,000 records" in said
    check_named(plan.run(progress=False))


CLOSED = {"other": False, "missing": False}
SPELLED_OTHERWISE: dict[str, tuple[Any, dict[str, Any]]] = {
    "capital letters": (np.where(COIN, "F", "M"), {"kind": "categorical", "categories": ["f", "m"]}),
    "words for numbers": (np.where(COIN, "ten", "more than $5"), {"kind": "numeric", "lower": 0.0, "upper": 9.0, "bins": 3}),
    "dates day first": ([f"{day % 28 + 1:02d}/03/2024" for day in range(PEOPLE)], DAY),
    "levels of a code": (np.where(COIN, "X1", "Y2"), {"kind": "hierarchical", "level": 1, "categories": ["A", "B"]}),
}


@pytest.mark.parametrize("cause", SPELLED_OTHERWISE)
def test_a_column_without_a_cell_for_others_that_looks_like_one_value_is_not_called_good(cause: str) -> None:
    values, said = SPELLED_OTHERWISE[cause]
    made = planned(values, said | CLOSED).run(progress=False)
    (found,) = made.made.statements.unread
    assert (found.column, found.is_sure, bool(found.shared_with)) == ("x", True, True)
    judged = report.quality_of(made.made).value.verdict
    assert judged is not None
    assert judged.kind != PUBLISH
    assert not any("x" in name.split(" × ") for name in judged.good)
    assert "Column “x” may not have been read: nearly all of its values count as" in made.verdict
    assert any("as values outside its list do" in warning for warning in made.warnings)
    assert "Anything that uses “x”, which may not have been read." in report.unfit_for(judged)


def test_a_rare_value_of_a_closed_list_is_called_good_and_the_rule_is_stated() -> None:
    flag = {"kind": "categorical", "categories": ["no", "yes"]} | CLOSED
    made = planned(np.where(np.arange(PEOPLE) % 50 == 0, "yes", "no"), flag).run(progress=False)
    judged = report.quality_of(made.made).value.verdict
    assert judged is not None
    assert judged.kind == PUBLISH
    assert any("no released count shows how many do: “x” as “no”." in sentence for sentence in assumptions(made.made))
    assert "no released count shows how many do" in report.card(made.made, report.quality_of(made.made).value.headline, judged)


def test_numbers_in_the_first_group_are_called_good_where_its_parts_show_them() -> None:
    amount = {"kind": "integer", "lower": 0, "upper": 99_999, "bins": 10} | CLOSED
    assert planned(RNG.integers(2_000, 9_999, PEOPLE), amount, inside=0.1).run(progress=False).made.statements.unread == ()
    (found,) = planned(["ten"] * PEOPLE, amount, inside=0.1).run(progress=False).made.statements.unread
    assert found.shared_with == "0 to 9999"


def test_a_run_says_it_on_a_terminal_and_never_in_a_log(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(*CAUSES["capital letters"])
    plan.run(progress=False)
    assert "is in its list" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    plan.run(progress=False, again=True)
    assert "warning, for your eyes only: column 'x': no value of the first 1,000 records is in its list." in capsys.readouterr().err


WITHOUT_ROWS_ABOUT_COLUMNS = {name for name, one in registry.MECHANISMS.items() if isinstance(one, Learner | UsesPublic)} | {"oraclequery"}


@pytest.mark.parametrize("mechanism", sorted(set(registry.MECHANISMS) - WITHOUT_ROWS_ABOUT_COLUMNS))
def test_every_mechanism_tells(mechanism: str) -> None:
    """Some measure the column, some only pairs, some answer queries: then the rows say it, with the error bound of a table.

    At epsilon 4 the noise hides it from DualQuery in 9 of 238 runs, at 8 in none of 168.
    """
    values, said = CAUSES["capital letters"]
    plan = dps.plan(
        pd.DataFrame({"town": OTHERS["town"], "x": values, "y": np.where(COIN, "a", "b")}),
        {"town": ["u", "v"], "x": said, "y": ["a", "b"]},
        epsilon=8,
        tables=2,
        mechanism=mechanism,
        people=PEOPLE,
    )
    check_named(plan.run(progress=False))


def test_learnt_values_and_bounds_that_hold_nothing_are_not_read() -> None:
    """Values that no two people share, so that none is learnt; and texts where numbers are to be learnt."""
    unique = planned([f"v{number}" for number in range(PEOPLE)], dps.discover(most=8))
    check_named(unique.run(progress=False))
    words = planned(np.where(COIN, "$25000 or more", "less than $100"), dps.discover("numeric", most=8))
    assert "column 'x': no value of the first 1,000 records can be read as a number." in words.survey().value
    check_named(words.run(progress=False))


def test_a_sparse_answer_is_read() -> None:
    """A quarter, or three in a hundred, answer, as of a question that few are asked: that is no mistake of the curator."""
    for few in (4, 33):
        made = planned(np.where(np.arange(PEOPLE) % few == 0, np.where(COIN, "f", "m"), None), ["f", "m"]).run(progress=False)
        assert made.made.statements.unread == ()


def test_the_columns_of_members_are_named_once(tmp_path: Path) -> None:
    households = pd.DataFrame({"id": range(1_000), "tenure": np.where(np.arange(1_000) % 3, "own", "rent")})
    members = pd.DataFrame({"id": np.repeat(np.arange(1_000), 2), "x": np.tile(["F", "M"], 1_000)}).assign(work=np.tile(list("ynny"), 500))
    households.to_csv(tmp_path / "h.csv", index=False)
    members.to_csv(tmp_path / "m.csv", index=False)
    said = (tmp_path / "m.csv", {"x": ["f", "m"], "work": ["y", "n"]})
    plan = dps.plan(tmp_path / "h.csv", {"tenure": ["own", "rent"]}, epsilon=10, person="id", rows_per_person=2, members=said, people=1_000)
    assert any("column 'x': no value of the first 1,000 records is in its list" in sentence for sentence in plan.survey().value)
    made = plan.run(progress=False)
    assert [one.column for one in made.made.statements.unread] == ["x"]
    assert made.made.statements.silent == {"x", "x of another"}
    (warning,) = [warning for warning in made.warnings if "was not read" in warning]
    assert warning.count("was not read") == warning.count("“x”") == 1


def test_a_part_that_is_not_declared_is_said_by_the_release() -> None:
    """As where next month's data have a plan that this month's list lacks."""
    made = planned(np.where(np.arange(PEOPLE) % 3 == 0, "new", "old"), ["old", "older"]).run(progress=False)
    assert made.made.statements.unread == ()
    (warning,) = [warning for warning in made.warnings if "not declared" in warning]
    assert "33% of “x”" in warning or "34% of “x”" in warning


def test_the_short_form_can_say_that_everybody_has_a_value() -> None:
    plan = planned(np.where(COIN, "f", "m"), {"values": ["f", "m"], "missing": False, "other": False})
    (x,) = [column for column in plan.domain["attributes"] if column["name"] == "x"]
    assert (x["categories"], x["missing"], x["other"]) == (["f", "m"], False, False)
    assert set(plan.run(progress=False).rows["x"]) == {"f", "m"}
