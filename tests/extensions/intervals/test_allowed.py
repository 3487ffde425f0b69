"""Releases whose intervals nobody has tried are refused with a sentence and a remedy."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dpsynth_core.extensions.intervals.allowed import check_plan
from dpsynth_core.mechanisms import registry
from tests.extensions.intervals.releases import released
from tests.refusals import refused

TRIED = ("aim", "mst", "independent")


@pytest.mark.parametrize("name", [name for name in registry.MECHANISMS if name not in TRIED])
def test_other_mechanisms_are_refused_by_their_title(name: str) -> None:
    mechanism = registry.get(name)
    error = refused(check_plan, replace(released().plan, mechanism=mechanism), "release", saying="nobody has tried")
    assert mechanism.card.title in error.problem
    assert "AIM, MST or Independent" in error.remedy


@pytest.mark.parametrize("name", TRIED)
def test_mechanisms_that_were_tried_are_not_refused(name: str) -> None:
    check_plan(released(name).plan, "release")


@pytest.mark.parametrize(("part", "saying"), [("weight", "survey weights"), ("link", "linked tables")])
def test_weights_and_linked_tables_are_refused(part: str, saying: str) -> None:
    own = released().plan
    plan: Any = SimpleNamespace(link=None, weight=None, mechanism=own.mechanism, spec=own.spec)
    check_plan(plan, "release")
    setattr(plan, part, object())
    assert refused(check_plan, plan, "release", saying=saying).remedy
