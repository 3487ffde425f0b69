"""What changed between two releases: corrections as their papers define them, the noise or bounds of both, and rare false changes."""

from __future__ import annotations

import csv
import io
import math
from functools import cache
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import changes as benchmark
from dpsynth_core.claims.certificate import table_bounds
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.extensions.repeated import changes, changes_report
from dpsynth_core.extensions.repeated.changes import (
    BH,
    BOUNDED,
    BOUNDS,
    HOLM,
    NOISE,
    Compared,
    Table,
    _measured,
    benjamini_hochberg,
    compare,
    holm,
)
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Measurement
from tests.golden import goldens
from tests.refusals import refused
from tests.report.explorable import HOSTILE, hostile

P_VALUES = st.lists(st.floats(0, 1), max_size=12).map(np.array)
DOMAIN = Domain((Attribute.categorical("sex", ["f", "m"], other=False, missing=False), Attribute.coded("region", 4)))
BOTH = ("sex", "region")
PEOPLE = np.array([[400.0, 900.0, 30.0, 700.0], [500.0, 800.0, 20.0, 650.0]])
FEW = 0.001
"""How often a right program may fail a statistical test."""


@given(P_VALUES, st.floats(0.001, 0.5))
def test_holm_lists_what_its_steps_list(p: np.ndarray, level: float) -> None:
    """Holm (1979): reject the smallest p-values as long as the k-th is at most level / (m - k + 1)."""
    listed = set[int]()
    for step, place in enumerate(np.argsort(p, kind="stable")):
        if p[place] * (len(p) - step) > level:
            break
        listed.add(int(place))
    assert {int(one) for one in np.flatnonzero(holm(p) <= level)} == listed


@given(P_VALUES, st.floats(0.001, 0.5))
def test_benjamini_hochberg_lists_up_to_the_last_below_the_line(p: np.ndarray, level: float) -> None:
    """Benjamini and Hochberg (1995): the largest k with the k-th smallest p-value at most k level / m."""
    ordered = np.sort(p)
    below = [k for k in range(1, len(p) + 1) if ordered[k - 1] * len(p) / k <= level]
    assert int((benjamini_hochberg(p) <= level).sum()) == max(below, default=0)


def noisy(table: np.ndarray, rng: np.random.Generator, sigma: float) -> Known:
    tables = (Measurement(BOTH, table + rng.normal(0, sigma, table.shape), sigma),)
    return Known(DOMAIN, None, tables, known_total(tables, None), {})


def listed(before: np.ndarray, after: np.ndarray, rng: np.random.Generator, sizes: tuple[float, float] | None = None) -> list[Table]:
    return _measured(noisy(before, rng, 6.0), noisy(after, rng, 9.0), [BOTH, ("sex",), ("region",)], HOLM, 0.05, sizes)


def test_p_values_of_what_did_not_change_are_uniform() -> None:
    """Of 1,000 pairs with noise of two sizes, the p-value of one cell, by Kolmogorov and Smirnov."""
    seed = 20261130
    rng = np.random.default_rng(seed)
    for columns, codes in ((BOTH, (0, 1)), (("sex",), (1,))):
        found = [
            cell.p
            for _ in range(1000)
            for t in listed(PEOPLE, PEOPLE, rng)
            if t.columns == columns
            for cell in t.cells
            if cell.codes == codes
        ]
        assert scipy.stats.kstest(found, "uniform").pvalue > FEW, f"{columns}, seed {seed}"


@pytest.mark.parametrize("sampled", [False, True])
def test_a_false_change_is_listed_as_rarely_as_said_and_a_true_one_is_found(sampled: bool) -> None:
    """With sampling, both tables are drawn from one large population; the level is 5 % of 400 comparisons."""
    seed = 20261131
    rng = np.random.default_rng(seed)
    shares, number = (PEOPLE / PEOPLE.sum()).ravel(), int(PEOPLE.sum())
    moved = PEOPLE * np.array([[1.0, 0.7, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])

    def drawn(table: np.ndarray) -> np.ndarray:
        return rng.multinomial(number, (table / table.sum()).ravel()).reshape(PEOPLE.shape).astype(float) if sampled else table

    sizes = (float(number), float(number)) if sampled else None
    wrong = found = 0
    for _ in range(400):
        wrong += any(cell.changed for table in listed(drawn(PEOPLE), drawn(PEOPLE), rng, sizes) for cell in table.cells)
        changed = {(t.columns, cell.codes) for t in listed(drawn(PEOPLE), drawn(moved), rng, sizes) for cell in t.cells if cell.changed}
        found += (BOTH, (0, 1)) in changed
    assert len(shares) == 8
    assert wrong <= scipy.stats.binom.ppf(1 - FEW, 400, 0.05), f"{wrong} of 400, seed {seed}"
    assert found >= 380, f"{found} of 400, seed {seed}"


def test_a_change_of_the_named_size_is_found_as_often_as_said() -> None:
    seed = 20261132
    rng = np.random.default_rng(seed)
    (table, *_) = listed(PEOPLE, PEOPLE, rng)
    after = PEOPLE.copy()
    after[0, 1] += table.found * PEOPLE.sum()
    after[1, 1] -= table.found * PEOPLE.sum()
    found = sum(next(cell.changed for cell in listed(PEOPLE, after, rng)[0].cells if cell.codes == (0, 1)) for _ in range(300))
    assert found >= scipy.stats.binom.ppf(FEW, 300, 0.8), f"{found} of 300, seed {seed}"


UNEVEN = np.array([[2800.0, 300.0, 60.0, 200.0], [240.0, 200.0, 40.0, 160.0]])


@pytest.mark.parametrize("way", [-1, 1])
def test_a_change_of_the_named_size_is_found_as_often_as_said_in_every_cell(way: int) -> None:
    """One cell has a share of 0.7; what it gains or loses the others lose or gain in equal parts."""
    seed = 20261133
    rng = np.random.default_rng(seed)
    for table in listed(UNEVEN, UNEVEN, rng):
        for one in table.cells:
            axes = one.codes if table.columns == BOTH else (*one.codes, 0) if table.columns == ("sex",) else (0, *one.codes)
            moved = np.full(UNEVEN.shape, 0.0)
            rest = np.ones(UNEVEN.shape, dtype=bool)
            rest[tuple(code if name in table.columns else slice(None) for name, code in zip(BOTH, axes, strict=True))] = False
            moved[axes], moved[rest] = 1.0, -1 / rest.sum()
            after = UNEVEN + way * table.found * UNEVEN.sum() * moved
            tables = ([t for t in listed(UNEVEN, after, rng) if t.columns == table.columns] for _ in range(200))
            found = sum(cell.changed for [t] in tables for cell in t.cells if cell.codes == one.codes)
            assert found >= scipy.stats.binom.ppf(FEW, 200, 0.8), f"{table.columns} {one.codes}: {found} of 200, seed {seed}"


@pytest.mark.parametrize("effect", [1.0, 5.0])
def test_a_change_of_the_named_size_is_found_as_often_as_said_from_bounds_and_samples(
    effect: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows hide as much of the change as their bounds allow, and both tables are samples of 2,000 people."""
    seed, bound, number = 20261134, 0.01, 2000 / effect
    rng, shares = np.random.default_rng(seed), np.array([0.45, 0.3, 0.2, 0.05])
    monkeypatch.setattr(changes, "_limits", lambda *_: {("region",): bound})

    def table(before: np.ndarray, after: np.ndarray) -> Table:
        pair = [
            SimpleNamespace(domain=DOMAIN, statements=SimpleNamespace(published=lambda _, one=one: {("region",): one}))
            for one in (before, after)
        ]
        (found,) = changes._bounded(*pair, [("region",)], (number, number))  # type: ignore[arg-type]
        return found

    size = table(shares, shares).found
    for code in range(4):
        after = shares * (1 - shares[code] - size) / (1 - shares[code])
        after[code] = shares[code] + size
        found = 0
        for _ in range(400):
            drawn = [rng.multinomial(round(number), one) / round(number) for one in (shares, after)]
            found += table(drawn[0] + bound * (np.arange(4) == code), drawn[1] - bound * (np.arange(4) == code)).cells[code].changed
        assert found >= scipy.stats.binom.ppf(FEW, 400, 0.8), f"{code}: {found} of 400, seed {seed}"


@cache
def pair(world: str = "moved", mechanism: str = "independent", seed: int = 3, certificate: float = 0.05) -> tuple:
    return benchmark.pair_of_releases(world, mechanism, 1.0, seed, certificate)


def test_of_tables_that_were_not_measured_the_bounds_add() -> None:
    before, after = pair()
    found = compare(before, after)
    bounded = [table for table in found.tables if table.basis == BOUNDS]
    assert {table.columns for table in bounded} == set(before.plan.workload.cliques)
    assert all(len(table.columns) == 1 for table in found.tables if table.basis == NOISE)
    for table in bounded:
        rows = [release.statements.published([table.columns])[table.columns] for release in (before, after)]
        alone, joint = (
            sum(table_bounds(release.certificate, 1 - level)[table.columns] for release in (before, after))
            for level in (0.025, BOUNDED / 2 / len(bounded))
        )
        for cell in table.cells:
            change = rows[1][cell.codes] - rows[0][cell.codes]
            assert cell.low == pytest.approx(max(-1.0, change - alone))
            assert cell.high == pytest.approx(min(1.0, change + alone))
            assert cell.changed == (abs(change) > joint)
            assert math.isnan(cell.p)


def test_without_certificates_nothing_is_said_of_tables_that_were_not_measured() -> None:
    found = compare(*pair(certificate=0.0))
    assert {table.basis for table in found.tables} == {NOISE}
    assert set(found.silent) == {r for r in pair()[0].plan.workload.cliques if len(r) > 1}
    assert any("whose errors are not bounded" in line for line in changes_report.unsaid(found))


@pytest.mark.parametrize("mechanism", ["independent", "mst"])
def test_of_the_same_people_few_pairs_list_a_change_and_a_move_is_found(mechanism: str) -> None:
    """30 pairs of releases as `benchmarks changes` makes them; the level is 5 %."""
    seeds = range(900, 930)
    same = [benchmark.measured("same", mechanism, 1.0, seed) for seed in seeds]
    wrong = sum(one["any_false_holm"] for one in same)
    assert wrong <= scipy.stats.binom.ppf(1 - FEW, len(same), 0.05), (wrong, seeds)
    moved = [benchmark.measured("moved", mechanism, 1.0, seed) for seed in seeds[:5]]
    assert sum(one["found"] for one in moved) >= 0.9 * sum(one["clear"] for one in moved) > 0


def test_a_release_is_the_same_as_itself_and_other_choices_are_refused() -> None:
    one = goldens.kept("aim")
    for correction in (HOLM, BH):
        found = compare(one, one, correction, 1.0)
        assert found.cells
        assert not found.changed
        assert any("is shown to have changed" in line for line in changes_report.summary(one, one, found))
    refused(compare, one, one, "bonferroni", saying="correction: 'bonferroni' is unknown")
    refused(compare, one, one, HOLM, 0.5, saying="sampling: 0.5 is not a number from 1 to 100")
    refused(compare, one, goldens.like("aim", domain=goldens.BINARY), saying="no column with the same values in common")


def test_sampling_makes_every_interval_wider_and_every_size_larger() -> None:
    before, after = pair()
    bare, sampled, clustered = (compare(before, after, HOLM, effect) for effect in (None, 1.0, 4.0))
    for one, two, three in zip(bare.tables, sampled.tables, clustered.tables, strict=True):
        widths = [[cell.high - cell.low for cell in table.cells] for table in (one, two, three)]
        assert all(a < b < c or b == c == 2 for a, b, c in zip(*widths, strict=True))
        assert one.found < two.found < three.found or three.found == 1


def reported(found: Compared, before: object, after: object) -> tuple[str, list[dict[str, str]]]:
    page = changes_report.html(before, after, found)  # type: ignore[arg-type]
    return page, list(csv.DictReader(io.StringIO(changes_report.to_csv(before.domain, found))))  # type: ignore[attr-defined]


def test_page_and_table_say_the_same_cells() -> None:
    before, after = pair()
    found = compare(before, after)
    page, lines = reported(found, before, after)
    assert len(lines) == found.cells
    assert sum(line["changed"] == "yes" for line in lines) == len(found.changed) > 0
    for table, cell in found.changed:
        for word in changes_report.texts(before.domain, table, cell):
            assert word in unescape(page)
    for line in (*changes_report.summary(before, after, found), *changes_report.unsaid(found), *changes_report.reading(found)):
        assert line in unescape(page)
    assert "<script" not in page
    assert "src=" not in page


def test_names_that_mean_harm_are_text_in_page_and_table() -> None:
    one = hostile()
    page, lines = reported(compare(one, one), one, one)
    assert HOSTILE not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert not any(value[:1] in "=+-@" for line in lines for value in (line["table"], line["cell"]) if value)
