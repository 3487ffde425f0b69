"""ARCHITECTURE.md says how to add a claim, a criterion and a part of the report: done here, in a copy of the project."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.cli.making import BUNDLE
from tests.recipes import check_suite, copied, entry, run

CLAIM = '''"""The number of records, counted once more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.outcome import Nothing, expect, near
from dpsynth_core.privacy.interface import SealedKernel


@dataclass(frozen=True)
class Recount:
    records: float
    sigma: float


class Recounted(Claim[Recount]):
    """The number of records, once more."""

    name = part = noun = "recount"
    share = BudgetShare(default=0.0, least=0.001, most=0.4, otherwise="0 for none")
    purpose = announced = "counting the records once more"
    unmeasured = "The run was interrupted before the records were counted once more."
    question = "Is the recount as measured?"
    title = "How many records were counted once more?"
    form = TypeAdapter(Recount | None)

    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Recount:
        sigma = plan.unit.marginal_l2 / math.sqrt(2 * kernel.rho_left)
        return Recount(kernel.measure_total(sigma), sigma)

    def follows(self, received: Received, stated: Recount | None) -> str:
        if stated is None:
            raise Nothing("the records were not counted once more")
        last = received.answers[-1]
        expect(last.operation == "measure_total" and near(last.value, stated.records), "it is not what was measured")
        return "the recount is what was measured"

    def sentences(self, plan: Asked, stated: Recount | None, final: Final) -> list[str]:
        return [] if stated is None else [f"About {stated.records:,.0f} records."]


RECOUNT = Recounted()
'''
CRITERION = '''"""The criterion "a rate of people is as the release has it"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpsynth_core.claims.criteria.criterion import AMONG, OFF_BY, Entry, Field
from dpsynth_core.claims.criteria.statistics import Share
from dpsynth_core.vocabulary.domain import Domain


@dataclass(frozen=True)
class Rate(Share):
    """A share under another name."""

    kind: ClassVar[str] = "rate"
    title: ClassVar[str] = "A rate of people"
    form: ClassVar[tuple[Field, ...]] = (
        Field("tolerance", OFF_BY, Entry.PERCENT, 0.03),
        Field("of", "Rate of those with", Entry.PEOPLE),
        AMONG,
    )

    def sentence(self, domain: Domain) -> str:
        return f"the rate of people with {self.of.sentence(domain)}"
'''
PART = '''"""Whom to ask."""

from __future__ import annotations

from collections.abc import Iterator

from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section


def contact(release: Release) -> Iterator[Section]:
    yield Section("contact", "Whom to ask about it", "", [f"The makers of {release.spec.name}."])
'''
PANEL = '''
from tests.app.demo_project import field, open_page, project, stored


def test_the_wizard_draws_its_form_and_the_share_of_the_recount():
    place = project()
    app = open_page("budget", place)
    app.button(key=f"{place}:criterion_add").click().run()
    field(app, "selectbox", "It is about").set_value("rate").run()
    assert not app.exception
    assert field(app, "multiselect", "Rate of those with").value == []
    assert stored(place)["criteria"] == [{"kind": "rate", "importance": "must", "tolerance": 0.03}]
    assert any("How many records were counted once more?" in element.value for element in app.subheader)
'''
SPEC: dict[str, Any] = {
    "population": "people",
    "data": {"path": "people.csv"},
    "domain": {"a": 2, "b": 2},
    "workload": {"kind": "all", "k": 2},
    "mechanism": {"name": "independent"},
    "criteria": [{"kind": "rate", "of": {"a": [1]}, "tolerance": 0.5}],
    "budget": {"epsilon": 5.0, "delta": 1e-9, "recount": 0.2},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a claim, a criterion and a part of the report more: one file and one entry each."""
    copy = copied(tmp_path_factory.mktemp("project"))
    core = copy / "dpsynth_core"
    (core / "claims" / "recount.py").write_text(CLAIM, encoding="utf-8")
    entry(
        core / "claims" / "registry.py",
        ("usefulness import MODELS\n", "usefulness import MODELS\nfrom dpsynth_core.claims.recount import RECOUNT\n"),
        ("(CERTIFICATE, MODELS, CRITERIA, RANGES, MEANS, WEIGHTED)", "(CERTIFICATE, MODELS, CRITERIA, RANGES, MEANS, WEIGHTED, RECOUNT)"),
    )
    (core / "claims" / "criteria" / "rate.py").write_text(CRITERION, encoding="utf-8")
    entry(
        core / "claims" / "criteria" / "registry.py",
        ('statistics:Mean",\n', 'statistics:Mean",\n    "rate": f"{_HERE}.rate:Rate",\n'),
    )
    (core / "report" / "contact.py").write_text(PART, encoding="utf-8")
    entry(
        core / "report" / "sections.py",
        ("from dpsynth_core.report.section", "from dpsynth_core.report.contact import contact\nfrom dpsynth_core.report.section"),
        ("= (claimed,)", "= (claimed, contact)"),
    )
    (copy / "people.csv").write_text("a,b\n" + "0,1\n1,0\n1,1\n" * 50, encoding="utf-8")
    (copy / "spec.json").write_text(json.dumps(SPEC), encoding="utf-8")
    return copy


@pytest.fixture(scope="module")
def bundle(project: Path) -> Path:
    done = run(project, "dpsynth_core", "run", "spec.json", "--out", "out")
    assert "recount: About" in done.stderr + done.stdout
    return project / "out" / BUNDLE


def test_all_three_are_in_the_release_its_report_and_its_card(project: Path, bundle: Path) -> None:
    release = json.loads((project / "out" / "release.json").read_text(encoding="utf-8"))
    assert release["recount"]["records"] == pytest.approx(150, abs=10 * release["recount"]["sigma"])
    assert release["criteria"][0]["outcome"] == "met"
    with zipfile.ZipFile(bundle) as files:
        texts = [files.read(name).decode() for name in ("report.html", "DATA_CARD.md")]
    for text in texts:
        for words in ("How many records were counted once more?", "the rate of people with", "Whom to ask about it"):
            assert words.lower() in text.lower()


def test_a_recipient_checks_them(project: Path, bundle: Path) -> None:
    assert "the recount is what was measured" in run(project, "dpsynth_core", "verify", str(bundle)).stdout


@pytest.mark.slow  # a session of pytest
def test_the_tests_of_all_claims_and_criteria_try_them(project: Path) -> None:
    (project / "tests" / "app" / "test_drawn.py").write_text(PANEL, encoding="utf-8")
    check_suite(project, "recount or draws_its_form or their_own", "tests/claims/test_registry.py", "tests/app/test_drawn.py")
