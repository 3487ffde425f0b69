"""A quantile of two linked tables counts households, not members."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsynth_core.claims.criteria.criterion import Published
from dpsynth_core.claims.criteria.registry import decide
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.intervals import Noisy
from tests.claims.test_weighted_linked import MOST, PEOPLE, ROWS, source, spec
from tests.privacy.tables import GlassNoise
from tests.refusals import refused


def test_a_quantile_counts_households() -> None:
    """Without noise: so many households more than half have a weight below the lower edge, or above the upper one."""
    budget = {"epsilon": 8.0, "delta": 1e-9, "criteria": 0.1}
    asked = {"kind": "quantile", "column": "w", "tolerance": 2.0}
    sealed = Plan.of(spec(Path(), weight=None, budget=budget, criteria=(asked,)))
    evidence = Evidence(sealed.domain, ROWS, (), float(len(PEOPLE) * sealed.records_each))
    kernel = PrivacyKernel(source(PEOPLE, MOST), sealed.unit, 1e4, GlassNoise())
    (decided,) = decide(kernel, sealed.criteria, Published(sealed.workload, evidence.published, Noisy(evidence.total, 0.0)))  # type: ignore[arg-type]
    assert decided.interval is not None
    assert abs(decided.interval.error) <= len(PEOPLE)
    below = sum(min(w, 8.0) < 2.0 for _, w, _ in PEOPLE)
    assert decided.interval.error == pytest.approx(max(below, sum(w >= 4.0 for _, w, _ in PEOPLE)) - len(PEOPLE) / 2, abs=1)
    assert "households" in decided.criterion.finding(decided.interval)
    told = decided.criterion.margin(sealed.unit, 1e4, sealed.workload, float(len(PEOPLE)))
    assert told == pytest.approx(decided.interval.at_most - decided.interval.error)


def test_a_quantile_of_a_group_of_members_is_refused() -> None:
    asked = {"kind": "quantile", "column": "w", "tolerance": 2.0, "among": {"sex": ["1"]}}
    budget = {"epsilon": 8.0, "delta": 1e-9, "criteria": 0.1}
    refused(Plan.of, spec(Path(), weight=None, budget=budget, criteria=(asked,)), saying="only shares and means count")
