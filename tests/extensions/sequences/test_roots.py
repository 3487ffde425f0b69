"""What sums of roots of rows say of counts, and what numbers of rows say of first, second and last rows."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.sequences import roots
from dpsynth_core.extensions.sequences.drawing import records_of
from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink
from dpsynth_core.extensions.sequences.roots import Drawn, counts_of, places_of
from dpsynth_core.inference.estimation import estimate
from dpsynth_core.inference.roots import of_members
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, Clique, Measurement
from tests.extensions.sequences.test_mechanism import LINKS, people

TABLES = [
    ("ward", "length"), ("sex", LAST, "ward"), (NUMBER, LAST, "ward"), ("region", LAST, "length"),
    ("ward", "ward before"), (LAST, "ward", "length before"), ("ward", "ward two before"),
]  # fmt: skip


def table(link: SequenceLink, n: int, clique: Clique) -> np.ndarray:
    return LinkedSource.of_codes(link, *people(link, n)).counts([clique])[clique].astype(np.float64)


@pytest.mark.parametrize("link", LINKS, ids=["two files", "one file", "gaps"])
def test_numbers_of_rows_say_how_many_rows_are_first_and_last(link: SequenceLink) -> None:
    said = places_of(link, Measurement((NUMBER,), table(link, 500, (NUMBER,)), 1.0))
    assert said.values == pytest.approx(table(link, 500, (NUMBER, START, LAST)), abs=1e-6)
    assert (said.values[~np.isfinite(said.variances)] == 0).all()


@pytest.mark.parametrize("names", TABLES)
@pytest.mark.parametrize("link", LINKS, ids=["two files", "one file", "gaps"])
def test_roots_of_the_drawn_persons_give_their_counts(link: SequenceLink, names: Clique, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell by cell, where no row is absent; of the others nothing is said."""
    monkeypatch.setattr(roots, "FEW", 1e-9)
    clique, (persons, sizes, rows) = link.domain.clique(names), people(link, 500)
    source, drawn = LinkedSource.of_codes(link, persons, sizes, rows), Drawn(link, records_of(link, persons, sizes, rows), sizes)
    inside, true = of_members(link, clique), source.counts([clique])[clique]
    noisy = Measurement(clique, source.roots(clique, {})[inside] / ROOT_STEPS, 1.0)
    number = Measurement((NUMBER,), source.counts([(NUMBER,)])[NUMBER,].astype(np.float64), 1.0)
    said = counts_of(link, noisy, drawn, estimate(link.domain, [], float(true.sum())), number)
    assert said.values[inside] == pytest.approx(true[inside], rel=1e-2, abs=1.0)
    known = np.zeros(true.shape, dtype=bool)
    known[inside] = True
    assert (np.isfinite(said.variances) == known).all()


def test_noisy_roots_leave_the_number_of_records_that_numbers_of_rows_say() -> None:
    link, clique = LINKS[1], (NUMBER, LAST, "ward")
    persons, sizes, rows = people(link, 500)
    source, drawn = LinkedSource.of_codes(link, persons, sizes, rows), Drawn(link, records_of(link, persons, sizes, rows), sizes)
    values = source.roots(clique, {}) / ROOT_STEPS + np.random.default_rng(1).normal(0, 500, link.domain.sizes(clique))
    number = Measurement((NUMBER,), source.counts([(NUMBER,)])[NUMBER,].astype(np.float64), 1.0)
    model = estimate(link.domain, [number], float(number.values.sum()))
    said = counts_of(link, Measurement(clique, values, 500.0), drawn, model, number)
    assert said.values.sum(2) == pytest.approx(table(link, 500, (NUMBER, START, LAST)).sum(1), abs=1e-3)
