"""GEM: a run as published against a literal re-writing of its loop, what a run is charged, and rows that follow the dependence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dpsynth_core.extensions.research.inference.generator.network import Generator
from dpsynth_core.extensions.research.inference.relaxed import relaxed_table
from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.steps import Finished, Measured, Unmoved
from dpsynth_core.privacy.events import Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.scores import WEIGHT_STEPS, Offered
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, SHORT, people, run

PAIRS = all_kway(DOMAIN, 2)
ROUNDS, LATENT, HIDDEN, BATCH, STEPS, RATE = 4, 3, 5, 12, 7, 0.02


@dataclass
class Overheard:
    """A kernel, and what its selections were asked about."""

    kernel: PrivacyKernel
    asked: list[Mapping[Clique, np.ndarray]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def select_offered_marginal(self, offered: Offered, eps: float, among: np.ndarray) -> Clique:
        assert among.all()
        assert set(offered.weights.tolist()) == {WEIGHT_STEPS}
        assert not offered.offsets.any()
        self.asked.append(dict(zip(offered.cliques, offered.tables, strict=True)))
        return self.kernel.select_offered_marginal(offered, eps, among)


def literal_answers(table: np.ndarray, clique: Clique) -> np.ndarray:
    """Means over the relaxed rows of products of their probabilities, cell by cell."""
    space, answers = OneHot(DOMAIN), np.zeros(DOMAIN.sizes(clique))
    for cell in np.ndindex(answers.shape):
        places = [space.starts[DOMAIN.position(name)] + code for name, code in zip(clique, cell, strict=True)]
        answers[cell] = np.mean([math.prod(float(table[place, n]) for place in places) for n in range(BATCH)])
    return answers


def literal_slope(table: np.ndarray, counted: Mapping[tuple[Clique, tuple[int, ...]], float]) -> np.ndarray:
    """The derivative in the table of ||gaps||_2 / their number, counted gap by counted gap."""
    space, slope = OneHot(DOMAIN), np.zeros(table.shape)
    norm = math.sqrt(math.fsum(gap**2 for gap in counted.values()))
    for (clique, cell), gap in counted.items():
        places = [space.starts[DOMAIN.position(name)] + code for name, code in zip(clique, cell, strict=True)]
        for n in range(BATCH):
            for place in places:
                others = math.prod(float(table[other, n]) for other in places if other != place)
                slope[place, n] += gap / (norm * len(counted)) * others / BATCH
    return slope


def literal_run(seed: int, total: float, measured: list[Measurement]) -> tuple[list[np.ndarray], np.ndarray]:
    """The authors' loop on what was measured: the tables at the beginning of each round, and the one of the running mean."""
    rng = np.random.default_rng(seed)
    generator = Generator.drawn(OneHot(DOMAIN), LATENT, BATCH, (HIDDEN, HIDDEN), rng)
    weights, tables, usual, mean = generator.initial(rng), [], None, None
    for t in range(1, ROUNDS + 1):
        tables.append(generator.forward(weights).table)
        target = {m.clique: np.clip(m.values / total, 0, 1) for m in measured[:t]}

        def gaps(table: np.ndarray, target: Mapping[Clique, np.ndarray] = target) -> dict[tuple[Clique, tuple[int, ...]], float]:
            answers = {clique: literal_answers(table, clique) for clique in target}
            return {(c, cell): answers[c][cell] - values[cell] for c, values in target.items() for cell in np.ndindex(values.shape)}

        largest = max(map(abs, gaps(tables[-1]).values()))
        usual = largest if usual is None else 0.5 * usual + 0.5 * largest
        first, second = np.zeros(len(weights)), np.zeros(len(weights))
        for step in range(STEPS):
            through = generator.forward(weights)
            counted = {place: gap for place, gap in gaps(through.table).items() if abs(gap) >= 0.5 * usual}
            if not counted:
                break
            g = generator.gradient(weights, through, literal_slope(through.table, counted).astype(np.float32)).astype(np.float64)
            first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
            rate = RATE * (1 + math.cos(math.pi * step / STEPS)) / 2
            moved = rate * (first / (1 - 0.9 ** (step + 1))) / (np.sqrt(second / (1 - 0.999 ** (step + 1))) + 1e-12)
            weights = (weights - moved).astype(np.float32)
        if t > ROUNDS / 2:
            mean = weights if mean is None else 0.9 * mean + 0.1 * weights
    assert mean is not None
    return tables, generator.forward(mean.astype(np.float32)).table


def test_a_run_as_published_is_the_loop_of_the_authors_program() -> None:
    """Training is in single precision, and Adam divides by gradients of any size: so a thousandth of a share, after 28 steps of 0.02."""
    small = {"rounds": ROUNDS, "latent": LATENT, "hidden": HIDDEN, "batch": BATCH, "train_steps": STEPS, "rate": RATE}
    mechanism: Any = configured(get("gem"), {"preset": "paper", **small})
    mechanism = replace(mechanism, rules=replace(mechanism.rules, last_steps=STEPS))
    kernel = Overheard(PrivacyKernel(people(), Unit("replace"), 0.05, SeededNoise(7)), [])
    steps = list(mechanism.steps(kernel, PAIRS))
    finished, measured = steps[-1], [step.measurement for step in steps if isinstance(step, Measured)]
    seed = PrivacyKernel(people(), Unit("replace"), 0.05, SeededNoise(7)).seed()
    tables, last = literal_run(seed, 4000.0, measured)
    for number, (answers, table) in enumerate(zip(kernel.asked, tables, strict=True)):
        before = {m.clique for m in measured[:number]}
        assert set(answers) == set(PAIRS.cliques) - before
        for clique, counts in answers.items():
            assert counts / 4000 == pytest.approx(literal_answers(table, clique), abs=1e-3)
    assert isinstance(finished, Finished)
    assert isinstance(finished.model, Unmoved)
    for clique in PAIRS.cliques:
        assert finished.model.marginal(clique) / 4000 == pytest.approx(literal_answers(last, clique), abs=1e-3)
    assert np.abs(tables[0] - tables[-1]).max() > 0.05  # the network has moved


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_rounds_are_charged_as_planned(relation: str) -> None:
    done = run("gem", PAIRS, 1.0, relation, **SHORT["gem"])
    planned = dict(get("gem").split(PAIRS, done.kernel.unit.total_is_public))
    first, *later = done.kernel.events
    assert first.rho == pytest.approx(planned[SINGLE], rel=1e-6)
    assert sum(e.rho for e in later if isinstance(e, Selection)) == pytest.approx(planned[CHOOSING], rel=1e-6)
    assert sum(e.rho for e in later if not isinstance(e, Selection)) == pytest.approx(planned[CHOSEN], rel=1e-6)
    eps = {round(event.eps, 9) for event in later if isinstance(event, Selection)}
    assert len(eps) == 1  # every round costs the same


def test_scores_take_off_the_noise_of_the_cells() -> None:
    done = run("gem", PAIRS, 1.0, **SHORT["gem"])
    for record in done.finished.selections:
        cells = DOMAIN.possible_cells(record.measurement.clique)
        assert record.chosen.offset == pytest.approx(HALF_NORMAL * record.measurement.sigma * cells)
        assert record.chosen.weight == PAIRS.aim_weights()[record.measurement.clique]


def test_rows_follow_the_dependence_of_columns() -> None:
    """With so large a budget that noise is nothing: b follows a in four of five people (`runs.people`)."""
    done = run("gem", PAIRS, 100.0)
    rows = done.finished.model.rows(4000, PAIRS.weights, np.random.default_rng(1))  # type: ignore[attr-defined]
    true = done.source.rows
    for a, b in ((0, 1), (0, 2), (1, 3)):
        counts = [np.histogram2d(codes[:, a], codes[:, b], bins=(range(7), range(7)))[0] for codes in (true, rows)]
        assert np.abs(counts[0] - counts[1]).sum() / len(true) < 0.02


def test_the_same_seed_makes_the_same_rows() -> None:
    runs = [run("gem", PAIRS, 0.05, **SHORT["gem"]) for _ in range(2)]
    first, second = (one.finished.model.rows(100, PAIRS.weights, np.random.default_rng(1)) for one in runs)  # type: ignore[attr-defined]
    assert (first == second).all()


def test_all_products_of_a_run_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of float32 are rounded by how many there are, and whoever repeats a release has one."""
    seen: dict[str, set[int]] = {"passes": set(), "answers": set()}

    def watched(kind: str, call: Any) -> Any:
        def counted(*given: Any) -> Any:
            seen[kind].add(max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"))
            return call(*given)

        return counted

    monkeypatch.setattr(Generator, "forward", watched("passes", Generator.forward))
    monkeypatch.setattr(relaxed_table, "marginal", watched("answers", relaxed_table.marginal))
    with threadpool_limits(limits=2, user_api="blas"):
        done = run("gem", PAIRS, 1.0, **SHORT["gem"])
        assert seen == {"passes": {1}, "answers": {1}}
        seen["answers"].clear()
        done.finished.model.rows(50, PAIRS.weights, np.random.default_rng(1))  # type: ignore[attr-defined]
    assert seen["answers"] == {1}
