"""What is proposed can be asked, is named as verdicts name it, and costs what it says."""

from __future__ import annotations

import math

import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.verdict import PUBLISH, Purpose, Verdict
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning import precision
from dpsynth_core.planning.plan import budgeted
from dpsynth_core.planning.proposals import GROUP, MANY_COLUMNS, cost, proposals, related, sentence
from dpsynth_core.planning.spec import BudgetSpec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary import blocks
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.domain import Domain

WIDE = Domain.from_json({f"q{number // 5}_{number % 5}": 2 + number % 4 for number in range(100)})
AIM = registry.get("aim")
SHARES = budgeted(AIM, BudgetSpec(epsilon=1.0, delta=1e-9, certificate=0.05))


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (1, ["single"]),
        (2, ["single", "pairs", "ranges"]),
        (3, ["single", "pairs", "ranges", "target", "triples"]),
        (MANY_COLUMNS - 1, ["single", "pairs", "ranges", "target", "triples"]),
        (MANY_COLUMNS, ["single", "pairs", "ranges", "target", "groups"]),
    ],
)
def test_what_can_be_studied_follows_from_the_number_of_columns(columns: int, names: list[str]) -> None:
    assert [proposal.name for proposal in proposals(WIDE.keep(WIDE.names[:columns]))] == names


def test_purposes_have_the_nouns_of_the_verdict() -> None:
    titles = {proposal.name: proposal.title for proposal in proposals(WIDE.keep(WIDE.names[:4]), "q0_1")}
    assert titles["single"] == "Single columns"
    assert titles["pairs"] == "Tables of two columns"
    assert titles["triples"] == "Tables of three columns"
    assert titles["target"] == "Tables with “q0_1”"
    said = [report.fit_for(judged(purpose))[0] for purpose in (Purpose(1, 1, 1), Purpose(1, 1, 2), Purpose(1, 1, 3))]
    said.append(report.fit_for(judged(Purpose(1, 1, name="q0_1")))[0])
    assert [line.partition(":")[0] for line in said] == [titles[name] for name in ("single", "pairs", "triples", "target")]


def judged(purpose: Purpose) -> Verdict:
    """A verdict about nothing but this purpose."""
    sizes, columns = ((purpose,), ()) if purpose.size else ((), (purpose,))
    return Verdict(PUBLISH, 1, 1, 1, (), (), (), sizes, columns, (), private=True)


def test_every_proposal_is_a_workload_that_fits() -> None:
    made = {proposal.name: workloads.from_json(WIDE, proposal.form) for proposal in proposals(WIDE, "q3_1")}
    assert len(made["pairs"].cliques) == math.comb(100, 2)
    assert len(made["target"].cliques) == math.comb(99, 2)
    assert all("q3_1" in clique for clique in made["target"].cliques)
    assert len(made["groups"].cliques) == 20 * math.comb(5, 3)
    assert all(cost(workload, AIM, SHARES, Unit()).forecast.fits for workload in made.values())


def test_what_is_too_large_for_a_table_is_not_proposed() -> None:
    large = Domain.from_json({f"c{number:02d}": 3000 for number in range(MANY_COLUMNS)})
    assert [proposal.name for proposal in proposals(large)] == ["single", "pairs", "ranges"]


def test_groups_follow_names_and_leave_no_column_out() -> None:
    names = ("age", "sex", *(f"q{n}" for n in range(20)), "income", "bmi_1", "bmi_2", "bmi_3", "last")
    groups = related(names)
    assert sorted(name for group in groups for name in group) == sorted(names)
    assert groups[0] == ("age", "sex")
    assert ("bmi_1", "bmi_2", "bmi_3") in groups
    assert max(map(len, groups)) <= GROUP


@pytest.mark.parametrize("k", [2, 3])
def test_the_cost_counts_tables_cells_and_noise(k: int) -> None:
    domain = WIDE.keep(WIDE.names[:40])
    workload = workloads.all_kway(domain, k)
    spent = cost(workload, AIM, SHARES, Unit())
    assert spent.tables == math.comb(40, k)
    assert spent.cells == sum(domain.cells(clique) for clique in workload.cliques)
    assert spent.noise == precision.half_width(SHARES.mechanism, Unit(), spent.tables)
    assert spent.noise_measured < spent.noise
    assert f"{spent.tables:,} tables" in sentence(spent)
    assert "all-2way" in sentence(spent)


def test_passes_over_the_records_are_counted_and_said_where_memory_needs_more_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = workloads.all_kway(WIDE.keep(WIDE.names[:30]), 2)
    once = cost(workload, AIM, SHARES, Unit())
    assert once.passes == 1
    assert "passes" not in sentence(once)
    monkeypatch.setattr(blocks, "TABLE_BYTES", 1 << 20)
    often, read = cost(workload, AIM, SHARES, Unit()), [*workload.cliques, *((name,) for name in workload.domain.names)]
    assert often.passes == len(blocks.slices(workload.domain, read, 1 << 20)) > 1
    assert f"counted in {often.passes} passes over the records" in sentence(often)
