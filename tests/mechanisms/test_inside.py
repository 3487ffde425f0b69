"""How numbers lie in their cells: where they stand out of the noise, and even where they do not, within the budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.mechanisms.discovery import inside
from dpsynth_core.mechanisms.discovery.inside import Found
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.vocabulary.attribute import Attribute, Recode
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import of_several_values

PEOPLE = 20_000
GAIN = Attribute.integer("gain", 0, 99_999, width=5000, missing=True)
AGE = Attribute.integer("age", 0, 99, width=10)
PRICE = Attribute.numeric("price", 0.0, 10.0, bins=4, other=True)


def table() -> pd.DataFrame:
    """Gain: nine of ten have none, one of a hundred the most, the others from 1 to 9,999. Age and price: even."""
    rng = np.random.default_rng(5)
    kind = rng.random(PEOPLE)
    gain = np.where(kind < 0.9, 0, np.where(kind < 0.99, rng.integers(1, 10_000, PEOPLE), 99_999)).astype(object)
    gain[:500] = None
    return pd.DataFrame({"gain": gain, "age": rng.integers(0, 100, PEOPLE), "price": rng.uniform(0, 10, PEOPLE)})


TABLE = table()


def looked(
    columns: tuple[Attribute, ...], rho: float, seed: int = 0, rows: pd.DataFrame = TABLE
) -> tuple[PrivacyKernel, tuple[Found, ...]]:
    kernel = PrivacyKernel(ArrowSource(Domain(columns), rows), Unit(), rho, SeededNoise(seed))
    return kernel, inside.look(kernel, columns)


def test_heaps_and_empty_ranges_are_found() -> None:
    """Noise of gain's second look is about 13 people, seed 0: 17,500 have no gain, and 200 the most."""
    _, (gain, *_) = looked((GAIN, AGE, PRICE), 0.005)
    parts = gain.inside.of(GAIN)
    zeros, top = parts.shares[0], parts.shares[-1]
    true = (TABLE["gain"] == 0).sum() / (TABLE["gain"] < 5000).sum()
    assert zeros == pytest.approx(true, abs=0.01)
    assert parts.edges[-2:].tolist() == [99_999, 100_000]
    assert top > 0.8
    assert gain.counts is not None
    assert float(np.abs(gain.counts.values[3:19]).max()) < 60  # nobody is there


def test_the_mean_of_cells_is_near_the_truth() -> None:
    _, found = looked((GAIN, AGE, PRICE), 0.005, seed=1)
    for attribute, one in zip((GAIN, AGE, PRICE), found, strict=True):
        values = TABLE[attribute.name].dropna().astype(float)
        counts = np.histogram(values, np.array(attribute.edges, dtype=float))[0]
        mean = float(one.inside.of(attribute).means @ counts / counts.sum())
        assert mean == pytest.approx(values.mean(), rel=0.03)


def test_what_is_even_stays_even() -> None:
    """An even spread is refuted by chance at three deviations: of the few cuts that could be made, hardly any is, in any of five seeds."""
    found = [one for seed in range(5) for one in looked((AGE, PRICE), 0.002, seed)[1]]
    cuts = sum(len(one.inside.parts) - len(attribute.edges) for one, attribute in zip(found, (AGE, PRICE) * 5, strict=True))
    assert cuts < 10


def test_all_of_the_budget_is_spent_and_no_more() -> None:
    kernel, _ = looked((GAIN, AGE, PRICE), 0.003)
    assert 0.003 * (1 - 1e-8) < kernel.rho_spent <= 0.003
    assert len(kernel.events) == 6


def test_what_it_says_of_the_cells_is_as_good_as_it_claims() -> None:
    """Errors in stated deviations, over all cells of all columns and 20 seeds: their mean square is 1 where deviations are right. Cells
    that hold nobody lower it, of which more is believed than their noise says, and so do those put together, whose doubt is wider."""
    squares = list[float]()
    for seed in range(20):
        for attribute, one in zip((GAIN, AGE, PRICE), looked((GAIN, AGE, PRICE), 0.003, seed)[1], strict=True):
            assert one.counts is not None
            counts = ArrowSource(Domain((attribute,)), TABLE).counts([(attribute.name,)])[(attribute.name,)]
            squares += ((one.counts.values - counts) ** 2 / one.counts.variances).tolist()
    assert len(squares) > 700
    assert 0.3 < float(np.mean(squares)) < 1.2


def test_values_that_count_in_another_cell_do_not_shape_it() -> None:
    """Missing ages count as 0 to 9 by the curator's word. Their 15,000 are no heap of newborns."""
    rows = TABLE.assign(age=TABLE["age"].astype(object).where(np.arange(PEOPLE) >= 15_000))
    recoded = Attribute.integer("age", 0, 99, width=10, missing_as=Recode("0 to 9", "as the form says"))
    _, (found,) = looked((recoded,), 0.003, rows=rows)
    assert found.counts is None
    assert found.inside.of(recoded).means[0] == pytest.approx(4.5, abs=1.5)


def test_only_columns_with_something_inside_are_looked_at() -> None:
    single, listed = Attribute.integer("n", 1, 16), Attribute.categorical("c", ["a"], missing=True)
    wide, unknown = Attribute.integer("w", 0, 1000), Attribute.unknown("u", "integer", 8)
    assert of_several_values((single, listed, wide, PRICE, unknown)) == (wide, PRICE, unknown)
