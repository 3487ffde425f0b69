"""Pictures of errors reach what they must show, and set bounds against the best there is."""

from __future__ import annotations

import pandas as pd
import pytest

from dpsynth_core.evaluation.against_bounds import AGAINST, SERIES, against, drawable, reach

NOTHING = dict.fromkeys((*SERIES, "limit"), float("nan"))


def frame(**known: float) -> pd.DataFrame:
    return pd.DataFrame([{**NOTHING, **known}])


@pytest.mark.parametrize(
    ("known", "least", "most"),
    [
        ({}, 0.1, 0.11),
        ({"error": 0.2, "limit": 0.3, "bound": 0.4}, 0.4, 0.42),
        ({"limit": 0.4, "gaussian": 0.5}, 0.5, 0.53),
        ({"limit": 0.4, "gaussian": 0.9, "paper": 1.0}, 0.4, 0.42),
        ({"limit": 1.0, "paper": 1.0}, 1.0, 1.0),
    ],
)
def test_the_scale_ends_beyond_errors_and_bounds_and_not_far_beyond(known: dict[str, float], least: float, most: float) -> None:
    assert least <= reach(frame(**known), 0.1) <= most


def test_bounds_are_set_against_true_errors_then_measured_ones_then_baselines() -> None:
    known = {"bound": 0.3}
    assert against(frame(**known)) is None
    for name in reversed(AGAINST):
        known[name] = 0.1
        assert against(frame(**known)) == name
    assert against(frame(**known | {"bound": float("nan")})) is None


def test_a_release_of_which_nothing_is_known_has_no_picture() -> None:
    assert not drawable(frame())
    assert drawable(frame(gaussian=0.1))
