"""What the form of a sweep offers."""

from __future__ import annotations

from dpsynth_core.extensions.tradeoffs import sweep_form
from dpsynth_core.mechanisms import registry
from tests.web.drafts import complete
from tests.web.test_history import PAPER, TITLE


def test_the_plan_s_own_mechanism_is_offered_to_trials_as_it_is_set() -> None:
    titles = sweep_form.titles(complete() | {"mechanism": PAPER})
    assert titles == {name: TITLE if name == "mst" else registry.get(name).card.title for name in titles}
    assert "mst" in titles
