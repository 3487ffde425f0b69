"""What makes an engine: asked of each in turn, of tables of every kind of column.

An engine counts the same integers as one stream over the same records on this machine, so that a seeded release is the same byte for byte;
neighbouring tables change its counts by one person; and where it fails there is a charge and no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release import synthesis
from dpsynth_core.sources.decoding import decode
from dpsynth_core.sources.source import CellSource, MarginalSource, RecordSource, ValueSource, counted
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor
from dpsynth_core.vocabulary.tally import Tally
from tests.bundle import pack
from tests.refusals import refused
from tests.sources.engines import ENGINES, Engine, one_stream
from tests.specs import usual
from tests.tiers import examples
from tests.vocabulary.test_kinds import BASE

PEOPLE = Domain((Attribute.categorical("sex", ["f", "m"], other=True, missing=True), Attribute.integer("age", 0, 3, missing=True)))
SEXES, AGES, NAMES = ["f", "m", "x", "", "NA", None], [0, 1, 2, 3, 4, -1, None], ["ann", "bob", " ann ", "cid", "", "NA", None]
COUNTED = [name for name, kind in KINDS.items() if kind.form is not Form.FILLED]
SHORTER = {"timestamp": {"lower": "2024-02-15", "upper": "2024-03-13 12:00"}}
"""What leaves a kind few enough cells for the records that are drawn to be in all of them."""
LISTED_OUTSIDE, NOT_NUMBERS = ["", " ", "NA", "?", "zebra", " a ", "A", "1.0"], ["", " ", "NA", "-", "seven", "1e3", "-5", " 2 ", "0x10"]


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]


def every_marginal(source: MarginalSource) -> dict[tuple[str, ...], np.ndarray]:
    """Of one column, of two, and of the last three."""
    names = source.domain.names
    return source.counts([(), *((name,) for name in names), *combinations(names, 2), *([names[-3:]] if len(names) > 2 else [])])


def assert_same_integers(folder: Path, engine: Engine, records: pa.Table, domain: Domain, person: str | None = None, rows: int = 1) -> None:
    for name in ("one", "other"):
        (folder / name).mkdir(exist_ok=True)
    expected = every_marginal(one_stream(folder / "one", records, domain, person, rows))
    other = engine.open(folder / "other", records, Domain(domain.attributes[-1:]), person, rows)
    source = cast(CellSource, cast(ValueSource, other).over(domain))
    counts = every_marginal(source)
    assert list(counts) == list(expected)
    for clique, table in expected.items():
        assert counts[clique].dtype == np.int64
        assert np.array_equal(counts[clique], table), clique
    several = domain.names[-3:]
    cells = source.occupied(several)
    assert np.array_equal(cells.codes, np.argwhere(expected[several]))
    assert np.array_equal(cells.records, expected[several][expected[several] > 0])


def people(seed: int, rows: int) -> pa.Table:
    """Records of few persons, with whatever may stand in their cells."""
    rng = np.random.default_rng(seed)

    def drawn(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[i] for i in rng.integers(0, len(values), rows)], kind)

    unused = pa.array(rng.random(rows))
    return pa.table({"unused": unused, "age": drawn(AGES, pa.int64()), "who": drawn(NAMES, pa.string()), "sex": drawn(SEXES, pa.string())})


@pytest.mark.parametrize("as_text", [False, True], ids=["typed", "text"])
def test_every_kind_of_column_counts_the_same(engine: Engine, tmp_path: Path, as_text: bool) -> None:
    """Values of every cell, nulls, and in a column of text also what is not a value, or one outside."""
    rng, attributes, columns = np.random.default_rng(0), list[Attribute](), dict[str, pa.Array]()
    row = Attribute.coded("row", 3)
    for kind in COUNTED:
        fields = {"name": kind, "kind": kind} | BASE[kind] | SHORTER.get(kind, {})
        attribute = Domain.from_json({"version": 1, "attributes": [fields]})[kind].unfolded()
        codes = np.stack([np.arange(120) % attribute.size, rng.integers(0, 3, 120)], axis=1).astype(np.int32)
        records = decode(Domain((attribute, row)), codes, rng)
        columns |= {kind: records[kind], "row": records["row"]}
        if as_text:
            outside = NOT_NUMBERS if KINDS[kind].form is Form.BINNED else LISTED_OUTSIDE
            columns[kind] = pa.array([*records[kind].cast(pa.string()).to_pylist()[: 120 - len(outside)], *outside], pa.string())
        attributes.append(attribute)
    assert_same_integers(tmp_path, engine, pa.table(columns), Domain((*attributes, row)))


def test_every_spelling_of_a_boolean_counts_the_same(engine: Engine, tmp_path: Path) -> None:
    truth = Attribute.categorical("truth", ["false", "true"], dtype="bool", other=True, missing=True)
    spelled = ["t", "f", "T", "Y", "n", "N", "yes", "No", " true ", "FALSE", "1", "0", "x", "", "on", None]
    records = pa.table({"truth": pa.array(spelled, pa.string())})
    assert_same_integers(tmp_path, engine, records, Domain((truth,)))


@examples(5, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 60))
def test_missing_values_and_those_outside_count_the_same(engine: Engine, tmp_path: Path, seed: int, rows: int) -> None:
    assert_same_integers(tmp_path, engine, people(seed, rows), PEOPLE)


def test_a_table_without_records_counts_as_zeros(engine: Engine, tmp_path: Path) -> None:
    assert_same_integers(tmp_path, engine, people(0, 0), PEOPLE)


def test_counting_in_slices_gives_the_same_integers_in_little_memory(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In passes of 200 bytes each, where one table that has all of these marginals needs 640."""
    domain = Domain((*PEOPLE, Attribute.categorical("who", ["ann", "bob"], other=True, missing=True)))
    source, cliques = engine.open(tmp_path, people(3, 40), domain, None, 1), [(), ("who",), *combinations(domain.names, 2)]
    whole, asked = source.counts(cliques), list[list[Clique]]()
    plain = source.counts
    monkeypatch.setattr(source, "counts", lambda part: asked.append(list(part)) or plain(part))
    sliced = counted(source, cliques, 200)
    assert len(asked) > 1
    assert all(Tally(domain, part).nbytes <= 200 for part in asked)
    assert sliced.keys() == whole.keys()
    assert all(np.array_equal(sliced[clique], whole[clique]) for clique in cliques)


def test_impossible_combinations_are_counted_where_they_are(engine: Engine, tmp_path: Path) -> None:
    zeros = Domain.from_json(PEOPLE.to_json() | {"zeros": [{"sex": ["f"], "age": [0, 1]}]})
    source = engine.open(tmp_path, pa.table({"sex": ["f", "m"], "age": [0, 0]}), zeros, None, 1)
    assert source.counts([("sex", "age")])[("sex", "age")][:2, 0].tolist() == [1, 1]


@examples(5, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 60), limit=st.integers(1, 4))
def test_the_rows_of_a_person_that_count_are_the_same(engine: Engine, tmp_path: Path, seed: int, rows: int, limit: int) -> None:
    records = people(seed, rows)
    if not engine.ordered:  # which of them count is up to the engine, how many is not
        records = records.set_column(1, "age", pa.array([1] * rows)).set_column(3, "sex", pa.array(["f"] * rows))
    assert_same_integers(tmp_path, engine, records, PEOPLE, "who", limit)


@examples(3, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 25), limit=st.integers(1, 3))
def test_neighbours_differ_by_one_person(engine: Engine, tmp_path: Path, seed: int, rows: int, limit: int) -> None:
    """Without the records of somebody, and with others in their place: of a person, or of nobody."""
    records = people(seed, rows)
    names = np.array([str(name or "").strip() for name in records["who"].to_pylist()])
    kept = records.filter(pa.array(names != "ann"))
    other = pa.concat_tables([kept.slice(0, 5), people(seed + 1, 6).set_column(2, "who", pa.array(["dora", None] * 3)), kept.slice(5)])

    def counted(name: str, table: pa.Table) -> np.ndarray:
        (tmp_path / name).mkdir(exist_ok=True)
        return engine.open(tmp_path / name, table, PEOPLE, "who", limit).counts([PEOPLE.names])[PEOPLE.names]

    without, all_records, replaced = counted("without", kept), counted("all", records), counted("replaced", other)
    for larger in (all_records, replaced):
        assert (larger - without).min() >= 0
        assert (larger - without).sum() <= limit
    assert np.abs(all_records - replaced).sum() <= 2 * limit


GUESSES = [
    Predictor("sex", Additive(np.array([1, 0, 0, 0]), {"age": np.eye(5, 4, dtype=np.int64) * 3}), Largest(np.arange(4))),
    Predictor("age", Additive(np.array([0, 1, 0, 0, 0]), {}), Largest(np.arange(5))),
]


@pytest.mark.parametrize("name", sorted({*ENGINES} - {"this machine"}))
@examples(2, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 40), limit=st.integers(1, 3))
def test_predictors_are_right_about_the_same_records(name: str, tmp_path: Path, seed: int, rows: int, limit: int) -> None:
    """As many as one stream has; and somebody's records change each number by theirs at most."""

    def right(part: str, engine: Engine | None, table: pa.Table) -> np.ndarray:
        (tmp_path / part).mkdir(exist_ok=True)
        opened = one_stream if engine is None else engine.open
        return cast(RecordSource, opened(tmp_path / part, table, PEOPLE, "who", limit)).right(GUESSES)

    if not ENGINES[name].ordered:  # which of them count is up to the engine
        limit = 40
    records = people(seed, rows)
    names = np.array([str(who or "").strip() for who in records["who"].to_pylist()])
    kept = records.filter(pa.array(names != "ann"))
    whole, without = (right(part, ENGINES[name], table) for part, table in (("whole", records), ("without", kept)))
    assert whole.tolist() == right("one", None, records).tolist()
    assert (whole - without).min() >= 0
    assert (whole - without).max() <= limit


def test_a_record_more_is_one_more_count(engine: Engine, tmp_path: Path) -> None:
    records = people(3, 12)
    for at in (1, 7):
        (tmp_path / f"less {at}").mkdir()
        (tmp_path / f"more {at}").mkdir()
        fewer = pa.concat_tables([records.slice(0, at), records.slice(at + 1)])
        less, more = (
            engine.open(tmp_path / f"{name} {at}", table, PEOPLE, None, 1).counts([PEOPLE.names])[PEOPLE.names]
            for name, table in (("less", fewer), ("more", records))
        )
        assert (more - less).min() == 0
        assert (more - less).sum() == 1


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_seeded_release_is_the_same_byte_for_byte(engine: Engine, tmp_path: Path, relation: str) -> None:
    spec = Spec.from_json(
        usual(
            {"path": "records.parquet", "kind": "parquet"}, PEOPLE.to_json(), epsilon=2.0, delta=1e-6, mechanism="independent",
            unit={"relation": relation, "person_column": "who", "max_rows_per_person": 60}, output={"seed": 1, "rows": 20},
        )
    )
    plan, made = Plan.of(spec), []
    for name, opened in (("one", one_stream), ("other", engine.open)):
        (tmp_path / name).mkdir()
        source = opened(tmp_path / name, people(5, 60), PEOPLE, "who", 60)
        release = synthesis.synthesize(plan, source, synthesis.noise_for(spec), lambda _: None)
        made.append(pack.contents(replace(release, created="2024-01-01")))
    assert made[0] == made[1]


def test_a_failure_while_counting_ends_charged_and_without_a_count(engine: Engine, tmp_path: Path) -> None:
    source = engine.open(tmp_path, people(1, 5000), PEOPLE, None, 1)
    engine.damage(tmp_path)
    kernel = PrivacyKernel(source, Unit("add-remove"), 1.0, SeededNoise(0))
    for spent in (0.5, 1.0):  # nor is anything left of the first attempt
        refused(kernel.measure_marginals, [("sex",)], 1.0)
        assert kernel.rho_spent == pytest.approx(spent)
