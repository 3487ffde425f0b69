"""What changed between two releases of the extension's mechanisms."""

from __future__ import annotations

from dpsynth_core.report import change
from tests.golden import goldens
from tests.refusals import refused


def test_releases_of_other_columns_and_rules_are_refused() -> None:
    one = goldens.kept("aim")
    refused(change.changed, one, goldens.kept("oraclequery"), saying="no column with the same values in common")
    refused(change.changed, goldens.kept("learn"), goldens.kept("learn"), saying="it is a rule")
