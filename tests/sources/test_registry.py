"""What every source of counts does, whatever its engine: asked of each kind of table in turn."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.registry import KINDS
from dpsynth_core.vocabulary.marginals import project
from tests.refusals import refused
from tests.sources.examples import EXAMPLES, Example
from tests.specs import usual


@pytest.fixture(params=sorted(KINDS))
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Example:
    return EXAMPLES[request.param](tmp_path)


def spec(example: Example, **fields: object) -> Spec:
    return Spec.from_json(
        usual(dict(example.section), example.domain.to_json(), epsilon=2.0, delta=1e-6, mechanism="independent", output={"seed": 1})
        | fields
    )


def test_every_kind_has_an_example() -> None:
    assert EXAMPLES.keys() == KINDS.keys()


def test_marginals_agree_with_each_other_and_with_the_number_of_rows(example: Example) -> None:
    source = synthesis.open_source(Plan.of(spec(example)))
    names = source.domain.names
    cliques = [(), *((name,) for name in names), *combinations(names, 2), names]
    counts = source.counts(cliques)
    for clique in cliques:
        assert counts[clique].shape == source.domain.sizes(clique)
        assert counts[clique].dtype == np.int64
        assert np.array_equal(counts[clique], project(counts[names], names, clique))
    assert counts[()] > 0
    cells = source.occupied(names)  # type: ignore[attr-defined]
    assert np.array_equal(cells.codes, np.argwhere(counts[names]))
    assert np.array_equal(cells.records, counts[names][counts[names] > 0])


def test_counts_are_those_of_the_records(example: Example) -> None:
    if example.codes is None:
        pytest.skip("nobody knows the records of simulated tables but the source itself")
    source, names = synthesis.open_source(Plan.of(spec(example))), example.domain.names
    assert np.array_equal(source.counts([names])[names], CodesSource(example.domain, example.codes).counts([names])[names])


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_release_is_made_and_a_seed_repeats_it(example: Example, relation: str) -> None:
    plan = synthesis.plan(spec(example, unit={"relation": relation}))
    first, second = (
        synthesis.synthesize(plan, synthesis.open_source(plan), synthesis.noise_for(plan.spec), lambda _: None) for _ in range(2)
    )
    assert first.codes is not None
    assert second.codes is not None
    assert np.array_equal(first.codes, second.codes)
    assert plan.spec.data.simulated == ("simulated" in {brand.code for brand in first.brands})


def test_a_column_that_is_not_there_is_refused_before_anything_is_charged(example: Example) -> None:
    if KINDS[str(example.section["kind"])].columns is None:
        pytest.skip("it has the columns of the domain")
    wrong = spec(example, domain={"nowhere": 2, "neither": 3})
    refused(synthesis.plan, wrong, saying="nowhere")


def test_an_unknown_kind_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match=r"use one of csv, .*parquet, .*demo") as refused:
        Spec.from_json({"population": "people", "data": {"kind": "tape"}, "domain": {"a": 2}, "workload": {}, "budget": {}})
    assert refused.value.field == "data.kind"
