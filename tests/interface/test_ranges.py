"""Ranges of values in `ask`, `sample`, rules and criteria, of tables of one kind and of linked ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.report.asking import Answer, Asked, ask_typed
from tests.refusals import refused

COLUMNS: dict[str, Any] = {
    "age": {"kind": "integer", "lower": 0, "upper": 99, "width": 10, "missing": False, "other": False},
    "sex": ["f", "m"],
    "day": {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "month"},
}


def table(people: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, people), unit="D")
    return pd.DataFrame(
        {"age": np.clip(rng.normal(45, 20, people), 0, 99).astype(int), "sex": rng.choice(["f", "m"], people), "day": day}
    )


def holds(answer: Any, true: int) -> bool:
    """Whether the interval of an answer has the true number."""
    return bool(answer.low <= true <= answer.high)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dps.Release]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))
        yield dps.plan(table(), COLUMNS, epsilon=5, tables=2, people=3000, mechanism="independent").run(progress=False)


@pytest.mark.parametrize("said", [(15, 64), "15..64", [(15, 39), (40, 64)], pd.Interval(15, 65, closed="left"), (np.int64(15), 64.0)])
def test_the_range_that_is_asked_for_is_answered(release: dps.Release, said: Any) -> None:
    answer = release.ask("count", {"age": said})
    assert isinstance(answer, Answer)
    true = int(table().age.between(15, 64).sum())
    assert holds(answer, true)
    assert answer.light == "roughly"
    assert "3,000" not in str(answer)
    assert "people with age “15 to 64”" in str(answer)
    assert "cuts the groups “10 to 19” and “60 to 69” of age" in str(answer)


def test_a_list_names_values_and_a_tuple_a_range(release: dps.Release) -> None:
    assert "age “66” or “90 to 99”" in str(release.ask("count", {"age": [66, "90 to 99"]}))
    assert "age “66 to 99”" in str(release.ask("count", {"age": (66, 99)}))
    assert "age “66 to 99”" in str(release.ask("count", {"age": (66, None)}))


def test_ends_may_be_values_of_the_rows(release: dps.Release) -> None:
    low, high = release.rows.day.min(), release.rows.day.max()
    assert release.ask("count", {"day": (low, high)}).value == pytest.approx(3000, abs=60)
    told = release.ask("count", {"day": (np.datetime64("2024-01-15"), np.datetime64("2024-03-15"))})
    assert holds(told, table().day.between("2024-01-15", "2024-03-15").sum())


def test_a_range_within_a_breakdown_is_that_of_each_line(release: dps.Release) -> None:
    lines = release.ask("count", by="sex", among={"age": (15, 64)})
    true = table()[table().age.between(15, 64)].sex.value_counts()
    assert all(holds(line, true.get(line.group, 0)) for line in lines)
    of_age = release.ask("count", by="age", among={"age": (15, 64)})
    assert next(line.group for line in of_age) == "15 to 19"
    assert len(of_age) == 6


def test_an_open_range_says_that_values_beyond_the_bounds_are_not_in_it(release: dps.Release) -> None:
    assert "beyond 2024-01-01 to 2024-12-31 count as “other”" in str(release.ask("count", {"day": (pd.Timestamp("2024-06-01"), None)}))
    assert "beyond 2024-01-01 to 2024-12-31 count as “other”" in str(ask_typed(release.made, Asked("count", of=["day=2024-06-01.."])))
    assert "beyond" not in str(release.ask("count", {"age": (60, None)}))
    assert "beyond" not in str(release.ask("count", {"day": (pd.Timestamp("2024-06-01"), pd.Timestamp("2024-08-31"))}))


def test_unknown_statistics_and_columns_named_twice_are_refused(release: dps.Release) -> None:
    usable = "use count, share, mean, median, difference or table"
    refused(release.ask, "quantile", "age", saying=f"the statistic 'quantile' is not known; {usable}")
    refused(release.ask, "count", {"age": (15, 64)}, among={"age": (0, 20)}, saying="named there and in among")
    refused(release.ask, "count", {"age": [66, float("nan")]}, saying="nan is not a value")


@pytest.mark.parametrize("texts", [["age=15..64"], ["age>=15"], ["age>14", "sex=f"], ["age=..64"]])
def test_ranges_are_typed(release: dps.Release, texts: list[str]) -> None:
    answer = ask_typed(release.made, Asked("count", of=texts))
    ages = table().age
    true = (ages >= (15 if ".." not in texts[0] or "15" in texts[0] else 0)) & (ages <= (64 if "64" in texts[0] else 99))
    if len(texts) > 1:
        true &= table().sex == "f"
    assert holds(answer, true.sum())


@pytest.mark.parametrize("low_high", [(15, 64), (12, 17), (66, None)])
def test_rows_of_a_range_have_values_in_it_as_the_model_spreads_them(release: dps.Release, low_high: tuple[int, int | None]) -> None:
    """Beside rows of everybody: shares of sex are those of the rows in the range, to 4 deviations."""
    low, high = low_high
    drawn = dps.sample(release, 2000, {"age": low_high})
    ages = drawn.rows.age
    assert ages.min() >= low
    assert ages.max() <= (99 if high is None else high)
    assert len(ages) == 2000
    everybody = dps.sample(release, 20_000, seed=5).rows
    inside = everybody[everybody.age.between(low, 99 if high is None else high)]
    assert ages.mean() == pytest.approx(inside.age.mean(), abs=4 * inside.age.std() * (1 / 2000 + 1 / len(inside)) ** 0.5)
    assert "nothing is known of how far this group is off" in drawn.errors


def test_rows_of_a_range_keep_orders_of_columns_and_have_keys_from_the_first() -> None:
    columns: dict[str, Any] = {
        "id": {"kind": "identifier", "pattern": "P01"},
        "start": {"kind": "integer", "lower": 0, "upper": 99, "width": 25, "missing": False, "other": False},
        "end": {"kind": "integer", "lower": 0, "upper": 99, "width": 25, "missing": False, "other": False},
    }
    rng = np.random.default_rng(2)
    start = rng.integers(0, 99, 2000)
    frame = pd.DataFrame({"id": range(2000), "start": start, "end": np.minimum(99, start + rng.integers(0, 30, 2000))})
    domain = {
        "version": 1,
        "attributes": [{"name": name, **said} for name, said in columns.items()],
        "impossible": [{"column": "start", "at_most": "end"}],
    }
    made = dps.plan(frame, domain, epsilon=5, tables=2, mechanism="mst").run(progress=False)
    rows = dps.sample(made, 400, {"end": (30, 60), "start": (20, None)}).rows
    assert rows.end.between(30, 60).all()
    assert (rows.start >= 20).all()
    assert (rows.start <= rows.end).all()
    assert rows.id.is_unique


def test_plans_refuse_rules_and_criteria_that_cut_groups() -> None:
    domain = {
        "version": 1,
        "attributes": [{"name": "age", **COLUMNS["age"]}, {"name": "sex", "kind": "categorical", "categories": ["f", "m"]}],
    }
    rule = {"impossible": [{"never": {"age": "0..14", "sex": "m"}}]}
    refused(dps.plan, table(), {**domain, **rule}, epsilon=1, saying="cuts the group '10 to 19'")
    criterion = {"kind": "share", "of": {"sex": "f"}, "among": {"age": "15..64"}, "tolerance": 0.05}
    error: InputError = refused(dps.plan, table(), domain, epsilon=1, criteria=[criterion], saying="name 20 to 59, or 10 to 69")
    assert error.field == "criteria.0"
