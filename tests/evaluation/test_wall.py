"""The wall: bars are what was released, areas are people, the columns that stand out come first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsynth_core.evaluation import wall
from dpsynth_core.evaluation.bounds import SUPPORTED, Bound
from dpsynth_core.evaluation.quality import Statements, pair_map
from dpsynth_core.evaluation.standing import GOOD, ODD, POOR, UNKNOWN, Standing, standings
from dpsynth_core.foundation.zones import Zone, curator_only, released
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.workload import hand_picked

EXTRA = {"other": True, "missing": True}
DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.numeric("money", 0.0, 100.0, edges=[0, 10, 20, 100], **EXTRA),
        Attribute.categorical("empty", ["x", "y"], **EXTRA),
        Attribute.categorical("strange", ["x", "y"], **EXTRA),
        Attribute.categorical("many", [f"v{i}" for i in range(60)], **EXTRA),
    )
)
RNG = np.random.default_rng(3)
ROWS = 4000
CODES = np.column_stack(
    [
        RNG.integers(0, 2, ROWS),
        RNG.integers(0, 3, ROWS),
        np.full(ROWS, 3),
        np.where(RNG.random(ROWS) < 0.7, 2, RNG.integers(0, 2, ROWS)),
        RNG.integers(0, 60, ROWS),
    ]
).astype(np.int32)
MEASURED = ("money", "empty", "strange")


def counts(name: str) -> np.ndarray:
    return np.bincount(CODES[:, DOMAIN.position(name)], minlength=DOMAIN[name].size).astype(float)


def evidence(codes: np.ndarray | None = CODES) -> Evidence:
    return Evidence(DOMAIN, codes, [Measurement((name,), counts(name), 5.0) for name in MEASURED], float(ROWS))


def statements(**limits: float) -> Statements:
    workload = hand_picked(DOMAIN, {(name,): 1.0 for name in DOMAIN.names})
    known: dict[tuple[str, ...], Bound] = {(name,): Bound(SUPPORTED, 1.0, limits.get(name, 0.01)) for name in DOMAIN.names}
    return Statements(evidence(), workload, known, None, "aim", 0.5, Unit())


def test_the_heights_and_areas_of_a_picture_are_the_released_counts() -> None:
    frame = wall.bars(released(evidence()), DOMAIN.names)
    assert frame.zone is Zone.RELEASED
    for name, bars in frame.value.groupby("column"):
        assert bars["count"].sum() == pytest.approx(ROWS)
        assert bars["height"].max() == pytest.approx(1)
        assert bars[["left", "right", "height"]].to_numpy().min() >= 0
        assert bars[["left", "right", "height"]].to_numpy().max() <= 1 + 1e-9
        assert len(bars) <= wall.BARS_SHOWN
        assert bars["high"].notna().all() == (name in MEASURED)
    money = frame.value[(frame.value["column"] == "money") & ~frame.value["outside"].astype(bool)]
    areas = money["height"] * (money["right"] - money["left"])
    assert (areas / areas.sum()).to_numpy() == pytest.approx(money["count"].to_numpy() / money["count"].sum())


def test_bars_of_categories_run_from_the_largest_down_and_other_and_missing_come_last() -> None:
    bars = wall.bars(released(evidence()), ["strange"]).value.sort_values("left")
    assert bars["outside"].tolist() == [False, False, True, True]
    assert bars["cell"].tolist()[2:] == ["other", "missing"]
    assert bars["count"].tolist()[:2] == sorted(bars["count"].tolist()[:2], reverse=True)


def test_without_rows_the_bars_are_the_noisy_counts_and_unmeasured_columns_have_none() -> None:
    bars = wall.bars(released(evidence(None)), DOMAIN.names).value
    assert set(bars["column"]) == set(MEASURED)
    assert bars[bars["column"] == "money"]["count"].tolist() == counts("money").tolist()


def test_a_picture_is_as_restricted_as_what_it_shows() -> None:
    assert wall.bars(curator_only(evidence()), ["sex"]).zone is Zone.CURATOR


def test_columns_that_stand_out_come_first_and_say_why() -> None:
    found = standings(statements(many=0.4, sex=0.01))
    assert [one.column for one in found] == ["empty", "strange", "sex", "money", "many"]
    assert found[0] == Standing("empty", ODD, "all missing", found[0].limit)
    assert found[1].kind == ODD
    assert found[1].why == f"{counts('strange')[2] / ROWS:.0%} other"
    assert [one.kind for one in found[2:]] == [GOOD, GOOD, UNKNOWN]


def test_no_pair_with_an_unread_column_is_drawn_as_known() -> None:
    pairs = pair_map(released(replace(statements(), workload=hand_picked(DOMAIN, {("sex", "money", "empty"): 1.0})))).value
    with_empty = pairs[(pairs["row"] == "empty") | (pairs["column"] == "empty")]
    assert with_empty["limit"].isna().all()
    assert set(with_empty["basis"]) == {"not read"}


def test_a_mean_that_is_surely_off_stands_out() -> None:
    found = standings(statements(), off=["money"])
    assert {one.column: one.kind for one in found}["money"] == POOR
    assert [one.kind for one in found][:3] == [ODD, ODD, POOR]


def test_a_column_without_any_value_learnt_stands_out() -> None:
    nothing = Attribute("nothing", "categorical", (), other=True, missing=True)
    domain = Domain((DOMAIN["sex"], nothing))
    codes = np.column_stack([CODES[:, 0], np.zeros(ROWS, dtype=np.int32)])
    whole = Measurement(("nothing",), np.array([float(ROWS), 0.0]), 5.0)
    workload = hand_picked(domain, {("sex",): 1.0, ("nothing",): 1.0})
    stated = replace(statements(), evidence=Evidence(domain, codes, [whole], float(ROWS)), workload=workload)
    stated = replace(stated, bounds={(name,): Bound(SUPPORTED, 1.0, 0.01) for name in domain.names})
    assert standings(stated)[0] == Standing("nothing", ODD, "all other", standings(stated)[0].limit)
