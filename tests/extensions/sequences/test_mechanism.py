"""AIM for rows of a person in order: what it is charged, and what tables of rows say of the rows before."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences import mechanism
from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink
from dpsynth_core.extensions.sequences.mechanism import SequenceModel, Sequences, Shift
from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.mechanisms.mechanism import ASKED, SINGLE
from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Codes
from dpsynth_core.vocabulary.measurement import MarginalCounts
from dpsynth_core.vocabulary.workload import Workload

PERSONS, ROWS, MOST = Domain.from_json({"sex": 2, "region": 3}), Domain.from_json({"ward": 3, "length": 4}), 4
GAP = Domain((*ROWS, Attribute.numeric("days", 0.0, 9.0, bins=3, missing=True)))
LINKS = [
    SequenceLink(PERSONS, ROWS, MOST),
    SequenceLink(PERSONS, ROWS, MOST, everybody=True),
    SequenceLink(PERSONS, GAP, MOST, order="day", gap="days", everybody=True),
]


def people(link: SequenceLink, n: int) -> tuple[Codes, NDArray[np.int64], Codes]:
    """Persons whose next ward is mostly the one after the ward before, and longer for one sex."""
    rng = np.random.default_rng(5)
    persons = rng.integers(0, (2, 3), (n, 2)).astype(np.int32)
    sizes = rng.integers(int(link.everybody), MOST + 1, n)
    rows = np.zeros((n, MOST, len(link.members)), dtype=np.int32)
    for place in range(MOST):
        ward = rng.integers(0, 3, n) if place == 0 else np.where(rng.random(n) < 0.8, rows[:, place - 1, 0] + 1, rows[:, place - 1, 0]) % 3
        rows[:, place, 0], rows[:, place, 1] = ward, np.minimum(3, ward + persons[:, 0] * rng.integers(0, 2, n))
        if link.gap is not None:
            column = link.members[link.gap]
            rows[:, place, 2] = column.size - 1 if place == 0 else ward % (column.size - 1)
    return persons, sizes, rows


def kernel(link: SequenceLink, n: int, epsilon: float) -> PrivacyKernel:
    unit = Unit(max_rows_per_person=link.records_each, rows_may_not_count=True)
    table = LinkedSource.of_codes(link, *people(link, n))
    return PrivacyKernel(table, unit, GDP.rho_from(epsilon, 1e-9), SeededNoise(3), 0.0, GDP)


def run(link: SequenceLink, n: int, epsilon: float) -> tuple[SequenceModel, PrivacyKernel, list[Measured]]:
    charged, measured = kernel(link, n, epsilon), list[Measured]()
    for step in Sequences(link).steps(charged, workload(link)):
        if isinstance(step, Measured):
            measured.append(step)
    assert isinstance(step, Finished)
    assert isinstance(step.model, SequenceModel)
    return step.model, charged, measured


@pytest.mark.parametrize("link", LINKS, ids=["two files", "one file", "gaps"])
def test_a_run_spends_its_budget_and_no_more(link: SequenceLink) -> None:
    _, charged, measured = run(link, 500, 1.0)
    assert charged.rho_spent == pytest.approx(charged.rho_total, rel=1e-9)
    assert charged.rho_spent <= charged.rho_total * (1 + 1e-12)
    assert [one.rho_spent for one in measured] == sorted(one.rho_spent for one in measured)


@pytest.mark.parametrize("back", [1, 2])
@pytest.mark.parametrize("link", LINKS, ids=["two files", "one file", "gaps"])
def test_what_tables_say_of_the_row_before_is_true(link: SequenceLink, back: int) -> None:
    """Without noise, in each cell that something is said of; and of all cells but those of nobody something is said."""
    table, shift = LinkedSource.of_codes(link, *people(link, 300)), Shift(link, link.domain, back)
    mine = link.members.names
    asked = [(name,) for name in mine] + [*combinations(mine, 2), *product((*link.households.names, NUMBER), mine)]
    asked += [(a, link.other(b)) for a, b in product(mine, repeat=2)]
    said = 0
    for clique in map(link.domain.clique, asked):
        by_last = shift.by_last(clique)
        counts = table.counts([by_last])[by_last].astype(np.float64)
        for told in shift.told(MarginalCounts(by_last, counts, np.ones(counts.shape))):
            true, known = table.counts([told.clique])[told.clique], np.isfinite(told.variances)
            assert (told.values == true)[known].all()
            cells = np.indices(true.shape)
            nobody = [cells[axis] == link.domain[name].size - 1 for axis, name in enumerate(told.clique) if name in link.lags]
            assert (known == ~np.any(nobody, axis=0)).all()
            said += 1
    assert said >= len(mine) * (len(mine) + 1) // 2


@pytest.mark.parametrize("link", LINKS, ids=["two files", "one file", "gaps"])
def test_much_budget_gives_the_transitions(link: SequenceLink) -> None:
    """Of 4,000 persons at epsilon 1000: each table of a row and the row before is within 1 % of the records."""
    model, _, _ = run(link, 4000, 1000.0)
    table = LinkedSource.of_codes(link, *people(link, 4000))
    for clique in map(link.domain.clique, link.pairs):
        true = table.counts([clique])[clique]
        assert np.abs(model.marginal(clique) - true).sum() / 2 <= 0.01 * true.sum()


def test_two_rows_before_are_told_where_noise_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what was released: a model of much budget has their columns, and one of little has not."""
    much, little = (run(LINKS[1], 500, epsilon)[0].model.domain for epsilon in (1000.0, 0.1))
    two = [lag for lag, (_, back) in LINKS[1].lags.items() if back > 1]
    assert set(two) <= set(much.names)
    assert set(little.names) == set(LINKS[1].domain.names) - set(two)
    monkeypatch.setattr(mechanism, "TWO_BELOW", 0.0)
    assert run(LINKS[1], 500, 1000.0)[0].model.domain == little


def test_transitions_of_one_column_are_chosen_by_more_than_is_asked() -> None:
    link = LINKS[1]
    shift, asked = Shift(link, link.domain, 2), workload(link)
    tables = Sequences(link).candidates(shift, asked)
    same, other = (link.domain.clique((name, "ward before", LAST)) for name in ("ward", "length"))
    assert tables[same] == pytest.approx(mechanism.OF_SAME * tables[other])
    assert tables[link.domain.clique(("ward", "ward two before"))] == pytest.approx(mechanism.OF_TWO * tables[other])
    by_number = [weight for clique, weight in tables.items() if START in clique]
    assert len(by_number) == len(link.members)
    assert set(tables) >= {shift.by_last(clique) for clique in asked.cliques}


def test_a_run_that_is_asked_for_nothing_of_rows_measures_only_persons_after_single_columns() -> None:
    link = LINKS[1]
    asked = Workload(link.domain, {("sex", "region"): 1.0})
    charged = kernel(link, 500, 1.0)
    measured = [step.measurement.clique for step in Sequences(link).steps(charged, asked) if isinstance(step, Measured)]
    assert set(measured[5:]) == {("sex", "region")}


@pytest.mark.parametrize("link", LINKS, ids=["two files", "one file", "gaps"])
def test_drawn_persons_have_rows_of_the_domain_in_order(link: SequenceLink) -> None:
    model, _, _ = run(link, 500, 10.0)
    made = model.tables(400, np.random.default_rng(1))
    records = np.concatenate(
        [codes for _, codes in link.records(made.households.astype(np.int32), made.sizes, made.members.astype(np.int32))]
    )
    for clique, impossible in link.domain.zeros.items():
        assert not impossible[tuple(records[:, link.domain.position(name)] for name in clique)].any()


@pytest.mark.parametrize("link", LINKS)
def test_what_is_spent_before_rounds_is_what_the_split_says(link: SequenceLink) -> None:
    spent = {step.message: step.done for step in Sequences(link).steps(kernel(link, 3000, 4.0), workload(link)) if isinstance(step, Fitted)}
    planned = dict(Sequences(link).split(workload(link), False))
    assert spent["first model from single columns"] == pytest.approx(planned[SINGLE])
    assert spent["numbers of rows"] == pytest.approx(planned[SINGLE] + planned[ASKED])


def test_the_split_is_whole_and_the_card_says_whose_records_these_are() -> None:
    sequences = Sequences(LINKS[1])
    asked = workload(LINKS[1])
    assert sum(share for _, share in sequences.split(asked, False)) == pytest.approx(1.0)
    assert sequences.forecast(asked, 0.1).fits
    assert sequences.forecast_for(asked, 0.1, 1e6).seconds > sequences.forecast(asked, 0.1).seconds
    assert (sequences.card.name, sequences.card.accountant) == ("sequences", GDP)
    assert "A person with all rows" in sequences.card.privacy
