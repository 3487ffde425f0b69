"""AIM for households and their members: what is believed of a table that is measured more than once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.inference.estimation import one_each
from dpsynth_core.inference.households import classes, kinds
from dpsynth_core.inference.roots import UNKNOWN, Roots, of_members
from dpsynth_core.mechanisms.graphical import households, linked_rounds
from dpsynth_core.mechanisms.graphical.models import Choice, Selections
from dpsynth_core.mechanisms.steps import Candidate, Finished, Measured
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.release.transcript import RecordedAnswer, check_paid, recording, replaying
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, Clique, Measurement
from dpsynth_core.vocabulary.regrouping import parent, regrouped
from tests.claims.test_weighted_linked import HOUSEHOLDS, MEMBERS, MOST, source, spec, survey
from tests.refusals import refused

Floats = NDArray[np.float64]
OF_TWO = [("sex", "sex of another", "members (classes)"), ("age", "sex of another", "members (classes)")]


def test_a_table_that_is_measured_again_is_seen_from_before_it_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its measurements count as one, beside the answer of a model that had seen none of them. With this seed 6 of 17 were measured
    before."""
    seen, shrunk = list[tuple[Floats, Floats]](), households.shrunk

    def watched(values: Floats, expected: Floats, sigma: float) -> Floats:
        seen.append((values, expected))
        return shrunk(values, expected, sigma)

    monkeypatch.setattr(households, "shrunk", watched)
    monkeypatch.setattr(households, "WIDE", math.inf)  # of all tables counts are measured
    monkeypatch.setattr(households, "WIDE_PAIRS", math.inf)
    plan = Plan.of(spec(Path(), weight=None, budget={"epsilon": 6.0, "delta": 1e-9}))
    kernel = PrivacyKernel(source(survey(2000), MOST), plan.unit, plan.shares.rho, SeededNoise(3), 0.0, plan.shares.accountant)
    measured = [step.measurement for step in plan.mechanism.steps(kernel, plan.workload) if isinstance(step, Measured)]
    assert plan.link is not None
    alike = {plan.link.alike(name) for name in plan.link.members.names}
    tables = [one for one in measured if len(one.clique) > 1 and not alike & set(one.clique)]
    earlier, again = defaultdict[tuple[str, ...], list[int]](list), 0
    for place, (one, (values, expected)) in enumerate(zip(tables, seen, strict=True)):
        if before := earlier[one.clique]:
            again += 1
            assert (expected == seen[before[0]][1]).all()
        earlier[one.clique].append(place)
        if not set(one.clique) & set(map(plan.link.other, plan.link.members.names)):  # of two members, tables are made symmetric
            (together,) = one_each(tables[i] for i in earlier[one.clique])
            assert values == pytest.approx(together.values)
    assert again > 5


@pytest.mark.parametrize(("most", "off"), [(2, 1e-3), (3, 0.02)])
@pytest.mark.parametrize("clique", [("sex", "age"), ("members", "sex"), *OF_TWO], ids=" x ".join)
def test_counts_that_follow_from_sums_of_roots_are_those_of_the_table(clique: Clique, most: int, off: float) -> None:
    """Of a model that knows the table, without noise: with two members at most exactly, up to rounding of each root, for pairs say how
    many are alike. Of more, up to chance: the members of these households are alike independently of each other."""
    link, table = Link(HOUSEHOLDS, MEMBERS, most), source(survey(2000), most)
    inside, known, sizes = of_members(link, clique), Known(table), {classes(link).name: classes(link)}
    sums = Roots(link, classes(link), clique, table.roots(clique, sizes)[inside] / ROOT_STEPS, 1.0)
    over = parent(link.domain, clique, sizes)
    every = regrouped(table.counts([over])[over], over, clique, sizes)
    follows = sums.counts(known, known)
    said = follows.variances < UNKNOWN
    assert np.abs(follows.values - every)[said].sum() <= off * every[said].sum()
    assert every[inside].sum() == pytest.approx(follows.values[inside].sum())
    assert said[inside].all()


@pytest.mark.parametrize("clique", [("sex", "age"), ("members", "sex"), ("region", "sex", "age")], ids=" x ".join)
def test_noise_that_leaves_nothing_of_a_sum_does_not_grow(clique: Clique) -> None:
    """And who is nobody in one column is nobody in all of them."""
    link, table = Link(HOUSEHOLDS, MEMBERS, MOST), source(survey(2000), MOST)
    every, inside, known = table.counts([clique])[clique], of_members(link, clique), Known(table)
    noise = np.random.default_rng(1).normal(0.0, float(every.sum()), every[inside].shape)
    counts = Roots(link, classes(link), clique, noise - noise.mean(), float(every.sum())).counts(known, known).values
    assert np.abs(counts).max() <= np.abs(noise - noise.mean()).max() + every.sum()
    assert counts[inside].sum() == pytest.approx(every[inside].sum())
    counts[inside] = 0
    assert not counts.any()


@dataclass(frozen=True, eq=False)
class Known:
    """A model that is the table itself."""

    table: LinkedSource
    times: float = 1.0

    def marginal(self, clique: Clique) -> Floats:
        return self.times * self.table.counts([clique])[clique].astype(np.float64)

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        raise NotImplementedError


def test_wide_tables_of_a_member_are_measured_as_sums_of_roots() -> None:
    """As often as a table is chosen again, while it is wide; in a transcript they are arrays, which are charged as a table is."""
    plan = Plan.of(spec(Path(), weight=None, budget={"epsilon": 1.0, "delta": 1e-9}))
    kept = list[RecordedAnswer]()
    kernel = PrivacyKernel(source(survey(2000), MOST), plan.unit, plan.shares.rho, SeededNoise(3), 0.0, plan.shares.accountant)
    recorder = recording(kernel, lambda answer, _: kept.append(answer))
    last = [*plan.mechanism.steps(recorder, plan.workload)][-1]
    sums = [answer for answer in kept if answer.operation == "measure_roots"]
    assert sums
    assert all(isinstance(answer.value, np.ndarray) and answer.charges == 1 for answer in sums)
    again = replaying(kernel.domain, plan.unit, plan.shares, kept, kernel.events)
    repeated = [*plan.mechanism.steps(again, plan.workload)][-1]
    assert isinstance(last, Finished)
    assert isinstance(repeated, Finished)
    clique = sums[0].arguments[0]
    assert (last.model.marginal(clique) == repeated.model.marginal(clique)).all()
    cheaper = [replace(a, arguments=(*a.arguments[:-1], 2 * a.arguments[-1])) if a is sums[0] else a for a in kept]
    refused(check_paid, kernel.domain, plan.unit, cheaper, kernel.events, saying="charged")


OTHER = "sex of another", "age of another"
WORKLOADS = [
    [("sex", "age", OTHER[0]), ("sex", "age")],
    [("sex", "age", *OTHER), ("sex", OTHER[1])],
    [("members", "sex", OTHER[1]), ("sex", "age")],
    [OTHER, ("sex", OTHER[0])],
    [("members", OTHER[1]), ("region", "sex", "age")],
    [("region", "sex"), ("region",), ("sex",), OTHER[:1], ("members",)],
]


@pytest.mark.parametrize("tables", WORKLOADS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_tables_of_any_columns_of_two_members_are_measured(tables: list[Clique], seed: int) -> None:
    """Of some that is counts, though they are wide."""
    asked = {"kind": "marginals", "marginals": [{"attributes": [*table], "weight": 1.0} for table in tables]}
    plan = Plan.of(spec(Path(), weight=None, budget={"epsilon": 0.2, "delta": 1e-9}, workload=asked))
    kernel = PrivacyKernel(source(survey(300), MOST), plan.unit, plan.shares.rho, SeededNoise(seed), 0.0, plan.shares.accountant)
    last = [*plan.mechanism.steps(kernel, plan.workload)][-1]
    assert isinstance(last, Finished)
    assert all(np.isfinite(last.model.marginal(table)).all() for table in plan.workload.cliques)


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_size_are_as_fine_as_households_are_many(seed: int) -> None:
    """Of every way to divide sizes that keeps couples from families and each class large enough, the one that begins classes first."""
    link = replace(Link(HOUSEHOLDS, MEMBERS, MOST), most=9)
    held = np.random.default_rng(seed).dirichlet(np.ones(10))
    assert len(set(classes(link, households._starts(held, 0.0)).places)) == 9
    assert households._starts(held, 0.6) == [2, 3]
    for few in (0.05, 0.1, 0.2):
        ways = [(2, 3, *more) for n in range(7) for more in combinations(range(4, 10), n)]
        large = [way for way in ways if len(way) == 2 or all(part.sum() >= few for part in np.split(held, way)[2:])]
        assert tuple(households._starts(held, few)) == min(large, key=lambda way: (*way, math.inf))


def test_rounds_follow_the_noise_within_limits() -> None:
    """As many as ever at the usual noise, twice as many at less than a tenth of it, half at more than ten times."""
    assert linked_rounds.rounds_of(linked_rounds.USUAL) == linked_rounds.ROUNDS[1]
    assert linked_rounds.rounds_of(linked_rounds.USUAL / 2 ** (1 / linked_rounds.FASTER)) == 2 * linked_rounds.ROUNDS[1]
    assert linked_rounds.rounds_of(linked_rounds.USUAL * 2 ** (1 / linked_rounds.FASTER)) == linked_rounds.ROUNDS[1] / 2
    assert (linked_rounds.rounds_of(1e-300), linked_rounds.rounds_of(1e300)) == (linked_rounds.ROUNDS[2], linked_rounds.ROUNDS[0])


def test_smaller_noise_buys_more_tables_and_finer_classes() -> None:
    tables, places = list[int](), list[int]()
    for epsilon in (0.1, 1.0, 10.0):
        plan = Plan.of(spec(Path(), most=4, weight=None, budget={"epsilon": epsilon, "delta": 1e-9}))
        kernel = PrivacyKernel(source(survey(3000), 4), plan.unit, plan.shares.rho, SeededNoise(1), 0.0, plan.shares.accountant)
        seen = [step.measurement for step in plan.mechanism.steps(kernel, plan.workload) if isinstance(step, Measured)]
        tables.append(len(seen))
        places.append(max((one.values.shape[one.clique.index(OF_TWO[0][2])] for one in seen if OF_TWO[0][2] in one.clique), default=0))
    assert tables[0] < tables[1] < tables[2]
    assert places[2] == 4 > places[0]


def test_a_table_of_three_columns_weighs_less_than_its_pairs() -> None:
    """However few such tables there are."""
    link = Link(HOUSEHOLDS, MEMBERS, MOST)
    asked = {clique: 1.0 + place for place, clique in enumerate(kinds(link))}
    three = households.Households(link)._of_three(link.domain, asked)
    assert set(three) == {link.domain.clique((one, "sex", "age")) for one in HOUSEHOLDS.names}
    for (one, *two), weight in three.items():
        assert weight < max(asked[link.domain.clique(pair)] for pair in (two, (one, two[0]), (one, two[1])))


def test_a_table_that_no_model_holds_is_refused_before_anything_is_charged() -> None:
    asked = {"kind": "marginals", "marginals": [{"attributes": ["region", "sex", OTHER[1]], "weight": 1.0}]}
    problem = refused(Plan.of, spec(Path(), weight=None, workload=asked), saying="region x sex x age of another is of the household")
    assert problem.field == "workload"


def test_a_selection_after_which_no_counts_are_measured_bounds_none_of_its_candidates() -> None:
    """Nor does an earlier one, which is then not the last in which they were candidates."""
    candidate, record = Candidate(1.0, 0.0, np.zeros(2, dtype=np.float32)), Selections()
    choice = Choice(("a",), 1.0, 1.0, 2, candidate, {("a",): candidate, ("b",): candidate})
    record.add(choice, Measurement(("a",), np.zeros(2), 1.0))
    record.pass_over(replace(choice, seen={("b",): candidate}))
    assert list(record.considered) == [("a",)]
    assert len(record.selections) == 1
