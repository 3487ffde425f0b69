"""Runs of a mechanism on a small invented table, for the tests of all mechanisms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsynth_core.mechanisms.mechanism import Mechanism, UsesPublic
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload
from tests.privacy.tables import ArraySource

SHORT: dict[str, dict[str, float]] = {
    "rap": {"relaxed_rows": 100},
    "gem": {"rounds": 4, "batch": 50},
    "fem": {"rounds": 20, "records": 20},
    "sepfem": {"rounds": 20, "records": 20},
}
"""Settings with which runs end in a second, for tests that are not about how good their rows are."""

DOMAIN = Domain.from_json({"a": 4, "b": 3, "c": 6, "d": 2})


@dataclass(frozen=True)
class Run:
    kernel: PrivacyKernel
    source: ArraySource
    events: tuple[Step, ...]

    @property
    def finished(self) -> Finished:
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last


def people(rows: int = 4000, seed: int = 40) -> ArraySource:
    """Invented people: b follows a, c is skewed, d is rare."""
    rng = np.random.default_rng(seed)
    a = rng.choice(4, rows, p=[0.5, 0.25, 0.15, 0.1])
    b = np.where(rng.random(rows) < 0.8, a % 3, rng.integers(0, 3, rows))
    c = np.minimum(rng.geometric(0.5, rows) - 1, 5)
    return ArraySource(DOMAIN, np.stack([a, b, c, rng.random(rows) < 0.05], axis=1).astype(np.int32))


def ready(name: str, domain: Domain = DOMAIN) -> Mechanism:
    """The mechanism; with a public table that holds every record once, if it uses one."""
    mechanism = get(name)
    if not isinstance(mechanism, UsesPublic):
        return mechanism
    sizes = domain.sizes(domain.names)
    return mechanism.informed_by(PublicTable(domain, np.argwhere(np.ones(sizes)).astype(np.int32), "everyone.csv", "0" * 64))


def run(
    name: str, workload: Workload, rho: float, relation: str = "add-remove", rows: int = 1, seed: int = 41, **given: Any
) -> Run:
    """A whole run; `given` replaces parameters, also by values too small for real tables."""
    return run_on(people(), name, workload, rho, relation, rows, seed, **given)


def run_on(
    source: ArraySource,
    name: str,
    workload: Workload,
    rho: float,
    relation: str = "add-remove",
    rows: int = 1,
    seed: int = 41,
    **given: Any,
) -> Run:
    """The same of another table."""
    kernel = PrivacyKernel(source, Unit(relation, rows), rho, SeededNoise(seed))
    return Run(kernel, source, tuple(replace(ready(name, source.domain), **given).steps(kernel, workload)))
