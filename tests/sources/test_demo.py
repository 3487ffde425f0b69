"""The demo table: the same from the same seed, inside its domain, with gaps and with dependence that can be seen."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources import demo_households as demo
from dpsynth_core.sources import outside
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.registry import LINKED_DEMO, can_be_linked
from dpsynth_core.vocabulary.link import NUMBER, Link
from tests.refusals import refused


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return simulate()


def test_the_same_seed_gives_the_same_people(people: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(simulate(), people)
    assert not simulate(seed=8).equals(people)


def test_it_has_fifty_thousand_people_in_twelve_columns_of_the_domain(people: pd.DataFrame) -> None:
    assert len(people) == 50_000
    assert tuple(people.columns) == demo_domain().names
    assert len(demo_domain()) == 12
    assert len(simulate(rows=10)) == 10


def test_it_takes_less_than_a_second() -> None:
    start = time.process_time()
    simulate()
    assert time.process_time() - start < 1.0


def test_every_value_is_in_the_domain(people: pd.DataFrame) -> None:
    for attribute in demo_domain():
        present = people[attribute.name].dropna()
        if attribute.is_number:
            assert present.between(attribute.lower, attribute.upper).all()
        else:
            assert set(present) == set(attribute.categories)
        assert attribute.missing == people[attribute.name].isna().any()


def test_the_domain_codes_every_person_and_nearly_every_cell_is_used(people: pd.DataFrame) -> None:
    domain = demo_domain()
    batch = next(opened(people, TableFormat()).batches(domain.names))
    for name, codes in encode(domain, batch, TableFormat().notation).items():
        assert len(np.unique(codes)) == domain[name].size


def information(table: np.ndarray) -> float:
    """Mutual information of a two-way table, in nats."""
    p = table / table.sum()
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float((p[p > 0] * np.log(p[p > 0] / independent[p > 0])).sum())


def test_every_column_depends_on_another_one_visibly(people: pd.DataFrame) -> None:
    domain = demo_domain()
    counts = ArrowSource(domain, people).counts([*combinations(domain.names, 2)])
    for name in domain.names:
        # independent columns with a and b cells show (a - 1)(b - 1) / (2 n) on average: here at most 17 * 16 / 100,000 = 0.003
        assert max(information(table) for clique, table in counts.items() if name in clique) > 0.02


def test_the_dependences_are_those_that_are_promised(people: pd.DataFrame) -> None:
    by_education = people.groupby("education")["income"].mean()
    assert by_education["master or more"] > 1.5 * by_education["primary"]
    by_sex = people.groupby("sex")["income"].mean()
    assert by_sex["male"] > 1.1 * by_sex["female"]
    assert (people.loc[people["age"] > 70, "employment"] == "retired").mean() > 0.9
    no_work = ~people["employment"].isin(["employed", "self-employed"])
    assert (people.loc[no_work, "weekly_hours"] == 0).all()
    assert set(people.loc[no_work, "occupation"].dropna()) == {"none"}


MOST = 6


def spec(**members: str) -> Spec:
    first, second = demo.domains()
    return Spec.from_json({
        "version": 1, "population": "Simulated households", "data": {"kind": LINKED_DEMO[0]}, "domain": first.to_json(),
        "members": {"kind": LINKED_DEMO[1], "domain": second.to_json(), **members},
        "unit": {"person_column": demo.KEY, "max_rows_per_person": MOST}, "budget": {"epsilon": 1.0, "delta": 1e-9},
        "workload": workload(Link(first, second, MOST)).to_json(), "mechanism": {"name": "households"},
    })  # fmt: skip


@pytest.mark.parametrize("place", [0, 1])
def test_every_value_has_a_cell(place: int) -> None:
    fits = outside.fit(demo.domains()[place], demo.simulate()[place], TableFormat()).value
    assert not any(one.outside or one.recoded for one in fits)


def test_keys_hold_and_all_members_count() -> None:
    homes, people = demo.simulate()
    assert homes[demo.KEY].is_unique
    assert people[demo.KEY].isin(homes[demo.KEY]).all()
    plan = synthesis.plan(spec())
    sizes = synthesis.open_source(plan).counts([(NUMBER,)])[(NUMBER,)] // plan.records_each
    assert (sizes * range(MOST + 1)).sum() == len(people)
    assert sizes.sum() == demo.ROWS


def test_invented_tables_go_with_each_other_alone() -> None:
    """Members from a file would be real people in a release that says that it is about nobody."""
    assert can_be_linked("csv", "parquet")
    assert not can_be_linked("csv", LINKED_DEMO[1])
    assert not can_be_linked("demo", "demo")
    refused(Plan.of, spec(kind="csv", path="people.csv"), saying="are read from files")


def test_a_second_file_has_to_be_named() -> None:
    stated = spec().model_dump(mode="json")
    stated["data"] |= {"kind": "csv", "path": "homes.csv"}
    stated["members"] |= {"kind": "csv"}
    refused(Plan.of, Spec.from_json(stated), saying="no file is named")
