"""The shell in scikit-learn's manner."""

from __future__ import annotations

import pandas as pd
from sklearn.base import clone

import dpsynth_core as dps
from dpsynth_core.store import balance
from tests.refusals import refused

COLUMNS = {"age": (0, 9), "sex": ["f", "m"]}
PEOPLE = pd.DataFrame({"age": list(range(10)) * 40, "sex": ["f", "m"] * 200})


def synthesizer() -> dps.Synthesizer:
    return dps.Synthesizer(COLUMNS, epsilon=3, tables=2, population="people", options={"mechanism": "independent"})


def test_one_fit_is_charged_and_a_second_one_is_refused() -> None:
    fitted = synthesizer().fit(PEOPLE)
    spent = balance.spent("people").rho
    refused(fitted.fit, PEOPLE, saying="each fit is charged")
    assert balance.spent("people").rho == spent > 0
    assert fitted.sample().equals(fitted.release_.rows)
    assert len(fitted.sample(20)) == 20
    refused(fitted.sample, 0)
    assert set(fitted.sample(where={"sex": "f"})["sex"]) == {"f"}


def test_scikit_learn_takes_it_for_an_estimator() -> None:
    first = synthesizer().fit(PEOPLE)
    second = clone(first)
    assert second.get_params() == first.get_params()
    refused(second.sample, saying="nothing was fitted")
    assert second.set_params(epsilon=2).epsilon == 2
    refused(first.set_params, epsilon=2, saying="fitted already")
    refused(second.set_params, seed=2, saying="no such parameter")
