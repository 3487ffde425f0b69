"""ARCHITECTURE.md says how to add a mechanism: done here, in a copy of the project, and what is said to follow from it follows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.additions import listed
from tests.recipes import check_suite, copied, entry, run

FILE = "mechanisms/graphical/repeated.py"
CODE = '''"""Repeated: measure every column several times; the rows have no dependence between columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.mechanisms.mechanism import SINGLE, Card, Forecast, Split
from dpsynth_core.mechanisms.parameters import whole
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Repeated:
    card: ClassVar[Card] = Card(
        name="repeated",
        title="Repeated columns",
        summary="Measures every column several times.",
        paper="None",
        privacy="Measures each column with rounded Gaussian noise; the costs add up.",
        accountant=ZCDP,
    )
    times: int = whole(2, least=1, most=10, text="How often each column is measured.")

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        return Forecast(fits=True, seconds=1.0 + 1e-4 * len(workload.domain) * self.times, memory_mb=150.0)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        return ((SINGLE, 1.0),)

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        columns = rounds.columns_of(kernel.domain) * self.times
        sigma = rounds.sigma_for(kernel.rho_total / len(columns), kernel.unit.marginal_l2)
        measurements = yield from rounds.measure(kernel, 0, columns, sigma)
        model = models.fit(kernel, measurements)
        yield rounds.fitted(kernel, 0, "product of the columns")
        yield Finished(model, model.total, {"sigma": sigma})
'''

SUITE = (
    "tests/mechanisms/test_registry.py",
    "tests/mechanisms/test_zeros.py",
    "tests/mechanisms/test_isolation.py",
    "tests/planning/test_planning.py",
    "tests/web/test_document.py",
    "tests/release/test_transcript.py",
    "tests/bundle/test_forgeries.py",
    *listed("ALL_MECHANISMS"),
    "tests/app/test_mechanism_page.py",
)
"""Where tests go through all mechanisms, or through all files."""
CHOSEN = "repeated or has_a_card"
"""The tests of the new one, and the Mechanism page, which shows a card of each."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with one mechanism more."""
    copy = copied(tmp_path_factory.mktemp("project"))
    core = copy / "dpsynth_core"
    # 1. one file
    (core / FILE).write_text(CODE, encoding="utf-8")
    # 2. the registry: its name, purpose and import path
    before = '    extension.Offer("aim_public", '
    added = '    extension.Offer("repeated", "default", f"{_GRAPHICAL}.repeated:Repeated"),\n'
    entry(core / "mechanisms" / "registry.py", (before, added + before))
    return copy


def test_the_command_line_offers_it_with_its_parameters(project: Path) -> None:
    listed = run(project, "dpsynth_core", "mechanisms").stdout
    described = next(entry for entry in json.loads(listed) if entry["name"] == "repeated")
    assert described["purpose"] == "default"
    assert [(parameter["name"], parameter["kind"], parameter["default"]) for parameter in described["parameters"]] == [("times", "int", 2)]


@pytest.mark.slow  # a session of pytest over ten files
def test_the_tests_of_all_mechanisms_try_it_and_the_wizard_shows_it(project: Path) -> None:
    check_suite(project, CHOSEN, *SUITE)


def test_it_makes_a_release(project: Path) -> None:
    (project / "people.csv").write_text("a,b\n" + "0,1\n1,0\n1,1\n" * 50, encoding="utf-8")
    (project / "domain.json").write_text(json.dumps({"a": 2, "b": 2}), encoding="utf-8")
    plan = ("--domain", "domain.json", "--workload", "all-2way", "--epsilon", "1", "--delta", "1e-9")
    run(project, "dpsynth_core", "synthesize", "people.csv", *plan, "--mechanism", "repeated", "--set", "times=3", "--out", "out")
    release = json.loads((project / "out" / "release.json").read_text(encoding="utf-8"))
    assert release["details"]["settings"] == {"times": 3}
    assert len(release["measurements"]) == 3 * 2
    with (project / "out" / "synthetic.csv").open(encoding="utf-8", newline="") as rows:
        assert next(csv.reader(rows)) == ["a", "b"]
