"""What a small part of a large spec keeps for the mechanisms of the extension."""

from __future__ import annotations

from dpsynth_core.extensions.audit.mechanisms import MOST_COLUMNS, Configuration
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.audit.test_mechanisms import large


def test_the_column_that_a_rule_predicts_is_kept() -> None:
    domain = Domain.from_json(dict.fromkeys("abcdef", 2))
    mechanism = {"name": "learn", "settings": {"target": "e"}}
    configuration = Configuration.of(large(domain=domain.to_json(), workload={"kind": "all", "k": 2}, mechanism=mechanism))
    assert "e" in configuration.plan.domain
    assert len(configuration.plan.domain) == MOST_COLUMNS


def test_a_threshold_workload_keeps_its_threshold() -> None:
    spec = large(workload={"kind": "all", "k": 3, "threshold": 2}, mechanism={"name": "fem", "settings": {}})
    workload = Configuration.of(spec).plan.workload
    assert workload.threshold == 2
    assert min(map(len, workload.cliques)) >= 2
