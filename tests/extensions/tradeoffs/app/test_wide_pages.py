"""The page Trade-offs over a table of many columns."""

from __future__ import annotations

import pytest

from dpsynth_core.extensions.tradeoffs import trial
from dpsynth_core.extensions.tradeoffs.sweep import EPSILONS, MECHANISMS
from dpsynth_core.extensions.tradeoffs.trial import Expected
from dpsynth_core.mechanisms.mechanism import Forecast
from tests.app.demo_project import open_page
from tests.app.test_wide_pages import wide


def test_what_trials_of_many_tables_need_is_worked_out_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []
    needs = Expected({(name, None, epsilon, 2_775): Forecast(True, 1.0, 1.0) for name in MECHANISMS for epsilon in EPSILONS}, {})
    monkeypatch.setattr(trial, "expected", lambda sweep: planned.append(sweep) or needs)
    app = open_page("tradeoffs", wide(workload={"kind": "all", "k": 2}))
    assert not planned
    assert "sweep_start" not in [button.key for button in app.button]
    app.button(key="sweep_check").click().run()
    assert len(planned) == 1
    assert app.button(key="sweep_start").label.startswith("Start")
