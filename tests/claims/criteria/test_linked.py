"""Criteria about two linked tables: each member counts once, whatever the size of the household; and each household."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsynth_core.claims.criteria.criterion import Published
from dpsynth_core.claims.criteria.outcomes import MET
from dpsynth_core.claims.criteria.registry import decide
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.intervals import Noisy
from dpsynth_core.vocabulary.link import NUMBER
from tests.claims.test_weighted_linked import MOST, PEOPLE, ROWS, source, spec
from tests.privacy.tables import GlassNoise
from tests.refusals import refused


def plan(**entries: Any) -> Plan:
    budget = {"epsilon": 8.0, "delta": 1e-9, "criteria": 0.1}
    return Plan.of(spec(Path(), weight=None, budget=budget, criteria=({"kind": "share", "tolerance": 0.2} | entries,)))


def shares(of: dict[str, int], among: dict[str, int]) -> tuple[float, float]:
    """Of the people, and of the rows: of members where sex or age are named, else of households."""
    households, owners, members = plan(of={"region": ["0"]}).link.split(ROWS.codes)  # type: ignore[union-attr]
    rows = {"region": households[owners, 0], "sex": members[:, 2], "age": members[:, 3], "members": households[owners, 2]}
    counted = [(region, own[:MOST]) for region, _, own in PEOPLE]
    listed = [(region, sex, age, len(own)) for region, own in counted for sex, age in own]
    people = dict(zip(("region", "sex", "age", "members"), np.array(listed).T, strict=True))
    if not {"sex", "age"} & {*of, *among}:
        rows = {"region": households[:, 0], "members": households[:, 2]}
        people = {"region": np.array([one for one, _ in counted]), "members": np.array([len(own) for _, own in counted])}
    found = []
    for table in (people, rows):
        group = np.all([table[name] == cell for name, cell in among.items()] or [np.ones(len(table["region"]), bool)], axis=0)
        found.append(float(np.all([table[name][group] == cell for name, cell in of.items()], axis=0).mean()))
    return found[0], found[1]


@pytest.mark.parametrize(
    ("of", "among", "who"),
    [
        ({"sex": 1}, {}, "members"),
        ({"age": 3}, {"region": 1}, "members"),
        ({"region": 1}, {"age": 0}, "members"),
        ({"sex": 0, "age": 2}, {"members": 2}, "members"),
        ({"members": 3}, {"region": 0}, "households"),
        ({"region": 1}, {}, "households"),
    ],
)
def test_a_share_is_of_members_who_count_once_or_of_households(of: dict[str, int], among: dict[str, int], who: str) -> None:
    """Without noise, what is measured is the difference of the shares; and with noise it costs what it is charged."""
    said = {part: {name: [str(cell)] for name, cell in cells.items()} for part, cells in (("of", of), ("among", among)) if cells}
    sealed = plan(**said)
    (one,) = sealed.criteria
    assert one.sentence(sealed.domain).startswith(f"the share of {who} with")
    evidence = Evidence(sealed.domain, ROWS, (), float(len(PEOPLE) * sealed.records_each))
    published = Published(sealed.workload, evidence.published, Noisy(evidence.total, 0.0))
    true, made = shares(of, among)
    for noise in (GlassNoise(), SeededNoise(1)):
        kernel = PrivacyKernel(source(PEOPLE, MOST), sealed.unit, 1e4, noise)
        (decided,) = decide(kernel, [one], published)  # type: ignore[list-item]
        assert decided.interval is not None
        assert decided.interval.error == pytest.approx(abs(true - made), abs=1e-4 if isinstance(noise, GlassNoise) else 5e-3)
        assert decided.outcome == MET
        assert kernel.rho_spent <= 1e4
        assert len(kernel.events) == one.answers(sealed.workload)  # type: ignore[union-attr]


def test_pairs_of_members_are_named_as_such() -> None:
    (one,) = plan(of={"sex": ["0"], "sex of another": ["1"]}).criteria
    assert one.sentence(plan(of={"sex": ["0"]}).domain).startswith("the share of pairs of members (each household counts once) with")


@pytest.mark.parametrize(
    ("entries", "saying"),
    [
        ({"of": {"sex": ["0", "1"]}}, "everybody of the group is in it"),
        ({"of": {"sex": ["nobody"]}}, "no member can be in it"),
        ({"of": {"sex": ["1"]}, "among": {NUMBER: ["0"]}}, "no member can be in it"),
        ({"of": {"age": ["1"]}, "among": {"sex": ["nobody"]}}, "no member can be in it"),
        ({"of": {NUMBER: ["1", "2", "3"]}, "among": {"sex": ["1"]}}, "everybody of the group is in it"),
        ({"of": {"sex": ["0"]}, "among": {"sex": ["0", "nobody"]}}, "everybody of the group is in it"),
        ({"kind": "subgroup", "where": {"age": ["1"]}, "limit": 0.1}, "only shares and means count"),
    ],
)
def test_what_holds_whatever_the_table_holds_is_refused(entries: dict[str, Any], saying: str) -> None:
    whole = entries if "kind" in entries else {"kind": "share", "tolerance": 0.2} | entries
    budget = {"epsilon": 8.0, "delta": 1e-9, "criteria": 0.1}
    refused(Plan.of, spec(Path(), weight=None, budget=budget, criteria=(whole,)), saying=saying)
