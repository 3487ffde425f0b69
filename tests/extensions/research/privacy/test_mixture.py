"""The best-mixture error: bounds enclose the exact minimum, and one person moves what is released by no more than is charged."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog

from dpsynth_core.extensions.research.privacy import best_mixture
from dpsynth_core.extensions.research.privacy.events import Laplace
from dpsynth_core.extensions.research.privacy.groups import QueryCounts
from dpsynth_core.extensions.research.vocabulary.queries import Incidence, QueryClass
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import FALSE_ALARM, ArraySource, GlassNoise, p_value
from tests.privacy.test_sensitivity import DOMAIN, UNITS, People, kernel_and_glass, neighbours, tables
from tests.refusals import refused
from tests.tiers import examples

WIDE = Domain.from_json({"a": 4, "b": 3, "c": 5, "d": 2})
PAIRS = QueryClass.of(all_kway(WIDE, 2))
EITHER = QueryClass.of(all_kway(WIDE, 2).asking(1))
SUPPORT = np.array([[0, 0], [1, 1], [1, 2]], dtype=np.int32)
CELLS = QueryClass.of(all_kway(DOMAIN, 2))


def people(rows: int, seed: int, lean: float) -> np.ndarray:
    """Rows whose columns follow each other; `lean` shifts the first column."""
    rng = np.random.default_rng(seed)
    a = rng.choice(4, rows, p=np.array([0.4, 0.3, 0.2, 0.1]) * (1 - lean) + lean * np.array([0, 0, 0, 1]))
    b = np.where(rng.random(rows) < 0.7, a % 3, rng.integers(0, 3, rows))
    return np.column_stack([a, b, np.minimum(rng.geometric(0.5, rows) - 1, 4), (a + rng.integers(0, 2, rows)) % 2]).astype(np.int32)


def exact(queries: QueryClass, private: np.ndarray, support: np.ndarray, records: float) -> float:
    """The linear program written out in full: every query, every row."""
    wanted = queries.counts(row_marginals(queries.domain, private, queries.cliques)) / records
    satisfied = np.array([queries.query(number).of(support) for number in range(queries.size)], dtype=float)
    slack = np.ones((queries.size, 1))
    above, below = np.hstack([-satisfied, -slack]), np.hstack([satisfied, -slack])
    sums = np.append(np.ones(len(support)), 0.0)[None]
    done = linprog(1 - sums[0], np.vstack([above, below]), np.concatenate([-wanted, wanted]), sums, [1.0], method="highs-ds")
    return float(done.fun) * records


@pytest.mark.parametrize("queries", [PAIRS, EITHER], ids=["cells", "thresholds"])
@pytest.mark.parametrize(("lean", "rows"), [(0.0, 40), (0.5, 40), (0.0, 6), (1.0, 30)])
@pytest.mark.parametrize("descents", [best_mixture.DESCENTS, 1])
def test_the_bounds_enclose_the_exact_minimum(
    queries: QueryClass, lean: float, rows: int, descents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(best_mixture, "DESCENTS", descents)  # one step leaves all the work to the cutting planes
    monkeypatch.setattr(best_mixture, "CUTS", 10)
    private, public = people(3_000, 1, 0.0), people(rows, 2, lean)
    support, counts = np.unique(public, axis=0, return_counts=True)
    tally = QueryCounts.of(queries, row_marginals(WIDE, private, queries.cliques))
    bounds = best_mixture.bracket(tally, Incidence(queries, support), counts / rows, 3_000.0, 1.0)
    assert bounds is not None
    low, high = bounds
    truth = max(1.0, exact(queries, private, support, 3_000.0))
    assert high - low <= 0.9 * best_mixture.gap(3_000.0)
    assert low - 0.01 <= truth <= high + 0.01


def test_a_better_table_than_the_floor_is_not_told_from_the_floor() -> None:
    private = people(3_000, 1, 0.0)
    support, counts = np.unique(private, axis=0, return_counts=True)
    tally = QueryCounts.of(PAIRS, row_marginals(WIDE, private, PAIRS.cliques))
    assert best_mixture.bracket(tally, Incidence(PAIRS, support), counts / 3_000, 3_000.0, 30.0) == (30.0, 30.0)


def released(people: People, unit: Unit, records: float) -> tuple[float, Laplace]:
    """What Laplace noise was added to, in counts, and the charge."""
    kernel, glass = kernel_and_glass(people, unit)
    kernel.best_mixture_error(CELLS, SUPPORT, np.full(3, 1 / 3), records, 0.25, 1.0)
    event = kernel.events[-1]
    assert isinstance(event, Laplace)
    return float(glass.seen[-1][0][0]) / COUNT_STEPS, event


@UNITS
def test_no_neighbour_moves_it_further_than_it_is_charged_for(unit: Unit) -> None:
    @given(tables(unit))
    @examples(8)
    def check(people: People) -> None:
        here, event = released(people, unit, 4.0)
        assert event.l1 == unit.max_rows_per_person + best_mixture.gap(4.0)
        assert all(abs(here - released(other, unit, 4.0)[0]) <= event.l1 for other in neighbours(people, unit))

    check()


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(81)], ids=["opendp", "seeded"])
def test_it_is_released_with_laplace_noise_of_the_scale_on_its_grid(noise: OpenDPNoise | SeededNoise) -> None:
    source = ArraySource(WIDE, people(300, 1, 0.0))
    kernel, glass = PrivacyKernel(source, Unit(), 1e12, noise), GlassNoise()
    support = people(20, 2, 0.0)
    asked = (PAIRS, support, np.full(20, 0.05), 300.0, 10.0, 2.0 / COUNT_STEPS)
    PrivacyKernel(source, Unit(), 1e12, glass).best_mixture_error(*asked)
    drawn = np.array([round(kernel.best_mixture_error(*asked) * COUNT_STEPS) for _ in range(400)])
    mass = lambda x: np.exp(-np.abs(x) / 2.0)  # noqa: E731
    assert p_value(drawn - glass.seen[-1][0][0], mass, 40) > FALSE_ALARM


def test_bounds_that_do_not_meet_are_an_answer_that_is_charged_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The linear program is not solved; the same for every table."""
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: SimpleNamespace(success=False))
    monkeypatch.setattr(best_mixture, "DESCENTS", 1)
    for seed in (1, 2):
        kernel = PrivacyKernel(ArraySource(WIDE, people(3_000, seed, 0.0)), Unit(), 1e12, GlassNoise())
        assert kernel.best_mixture_error(PAIRS, people(20, 2, 0.6), np.full(20, 0.05), 3_000.0, 1.0, 1.0) is None
        assert [type(event) for event in kernel.events] == [Laplace]


def test_it_is_charged_before_anything_is_read() -> None:
    source = ArraySource(WIDE, people(300, 1, 0.0))
    kernel = PrivacyKernel(source, Unit(), 1e-9, GlassNoise())
    with pytest.raises(Exception, match="would cost"):
        kernel.best_mixture_error(PAIRS, people(20, 2, 0.0), np.full(20, 0.05), 300.0, 10.0, 1.0)
    assert source.passes == []


@pytest.mark.parametrize("bad", [{"records": 0.5}, {"floor": 0.0}, {"start": np.zeros(20)}, {"start": np.ones(3)}])
def test_what_cannot_be_proved_is_refused_before_it_is_charged(bad: dict[str, object]) -> None:
    kernel = PrivacyKernel(ArraySource(WIDE, people(30, 1, 0.0)), Unit(), 1.0, GlassNoise())
    asked = {"start": np.full(20, 0.05), "records": 300.0, "floor": 10.0} | bad
    refused(kernel.best_mixture_error, PAIRS, people(20, 2, 0.0), scale=1.0, **asked, kind=ValueError, saying="best mixture")
    assert kernel.events == ()
