"""What is worked out once for a domain is told of no other one."""

from __future__ import annotations

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.budget.budget_view import _told


def test_domains_that_python_hashes_alike_are_told_apart() -> None:
    """hash(-1) == hash(-2)."""
    column = {"name": "t", "kind": "numeric", "upper": 9, "bins": 1}
    low, lower = (Domain.from_json({"version": 1, "attributes": [{**column, "lower": low}]}) for low in (-1, -2))
    assert hash(low) == hash(lower)
    assert _told(low, (("t",),), 1000) != _told(lower, (("t",),), 1000)
