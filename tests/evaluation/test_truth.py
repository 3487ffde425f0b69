"""True counts are exact, and cannot be published."""

from __future__ import annotations

import numpy as np

from dpsynth_core.evaluation.truth import true_counts
from dpsynth_core.foundation.errors import ZoneError
from dpsynth_core.foundation.zones import Zone, combine, publishable, released
from dpsynth_core.statistics.distances import marginal_errors
from dpsynth_core.vocabulary.domain import Domain
from tests.privacy.tables import table
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 2, "b": 2})
SOURCE = table(DOMAIN, [(0, 0), (0, 1), (1, 1), (1, 1)])


def test_true_counts_are_the_exact_marginals() -> None:
    assert true_counts(SOURCE, [("a",), ("a", "b")]).value[("a", "b")].tolist() == [[1, 1], [0, 2]]


def test_true_counts_and_all_that_is_computed_from_them_stay_on_the_curators_screen() -> None:
    truth = true_counts(SOURCE, [("a",)])
    errors = combine(marginal_errors, truth, released({("a",): np.array([3.0, 1.0])}))
    assert errors.value == {("a",): 0.25}
    for zoned in (truth, errors):
        assert zoned.zone is Zone.CURATOR
        refused(publishable, zoned, "true counts", kind=ZoneError)
