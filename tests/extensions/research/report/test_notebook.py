"""The notebook of a rule."""

from __future__ import annotations

from dpsynth_core import report
from dpsynth_core.report.notebook import notebook
from tests.bundle import pack
from tests.golden import goldens


def test_a_rule_has_it_too() -> None:
    """That every other bundle has it, with the same bytes each time, is pinned with the golden releases."""
    made = goldens.kept("learn")
    assert pack.contents(made)[report.NOTEBOOK] == notebook(made).value
