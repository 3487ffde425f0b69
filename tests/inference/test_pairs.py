"""All pairs of a model in one sweep are what it answers one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.inference import model as models
from dpsynth_core.inference import pairs
from dpsynth_core.inference.estimation import estimate
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.rows import row_marginals

SIZES = (2, 3, 4, 2, 5, 3, 2, 4, 3, 2)
NAMES = tuple("abcdefghij")
SHAPES = {
    "nothing but columns": [],
    "a chain": [tuple(NAMES[i : i + 2]) for i in range(9)],
    "a star": [("a", name) for name in NAMES[1:]],
    "two trees": [("a", "b"), ("b", "c"), ("a", "d"), ("f", "g"), ("g", "h"), ("g", "i")],
    "a ring": [*(tuple(NAMES[i : i + 2]) for i in range(9)), ("a", "j")],
    "triples with wide separators": [("a", "b", "c"), ("b", "c", "d"), ("c", "d", "e"), ("a", "c", "f"), ("d", "e", "g"), ("e", "g", "h")],
    "a grid": [("a", "b"), ("b", "c"), ("d", "e"), ("e", "f"), ("a", "d"), ("b", "e"), ("c", "f"), ("f", "i"), ("c", "j")],
}


def _model(cliques: list[Clique], folded: bool) -> GraphicalModel:
    """A model of random measurements; folded: its rare values are one value."""
    domain = Domain.from_json(dict(zip(NAMES, SIZES, strict=True)))
    rng = np.random.default_rng(len(cliques))
    measured = [Measurement(r, rng.gamma(0.5, 100.0, domain.sizes(r)), 5.0) for r in [*((name,) for name in NAMES), *cliques]]
    folding = Folding.of(domain, measured, 8.0) if folded else None
    return estimate(domain, measured, 1000.0, folding=folding)


@pytest.mark.parametrize("folded", [False, True], ids=["plain", "folded"])
@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_together_are_what_each_is_alone(shape: str, folded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MANY_PAIRS", 1)
    model = _model(SHAPES[shape], folded)
    every = list(combinations(NAMES, 2))
    answers, swept = model.marginals(every), model._swept(every)
    assert swept is not None
    assert swept.known[0, 1], "the sweep answers, not the fallback"
    for pair, answer in answers.items():
        np.testing.assert_allclose(answer, model.marginal(pair), rtol=1e-9, atol=1e-9)


def test_what_does_not_travel_is_answered_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MANY_PAIRS", 1)
    monkeypatch.setattr(pairs, "TABLE_CELLS", 30)
    monkeypatch.setattr(pairs, "NODE_CELLS", 4)
    model = _model(SHAPES["triples with wide separators"], False)
    every = list(combinations(NAMES, 2))
    swept = model._swept(every)
    assert swept is not None
    assert 0 < swept.known[np.triu_indices(len(NAMES), 1)].sum() < len(every)
    for pair, answer in model.marginals(every).items():
        np.testing.assert_allclose(answer, model.marginal(pair), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("folded", [False, True], ids=["plain", "folded"])
def test_rows_follow_what_the_sweep_answers_as_closely(folded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model, every = _model(SHAPES["a grid"], folded), list(combinations(NAMES, 2))

    def distance() -> float:
        counts = row_marginals(model.domain, model.rows(1000, dict.fromkeys(every, 1.0), np.random.default_rng(0)), every)
        return sum(float(np.abs(counts[pair] - model.marginal(pair)).sum()) for pair in every)

    alone = distance()
    monkeypatch.setattr(models, "MANY_PAIRS", 1)
    assert distance() == pytest.approx(alone, rel=0.05)  # the same targets to the last digits, which may decide a tie
