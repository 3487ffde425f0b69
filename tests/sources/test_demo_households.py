"""Invented households and members: two tables whose keys hold, in their domains, which go with each other and with no file."""

from __future__ import annotations

import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources import demo_households as demo
from dpsynth_core.sources import outside
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.registry import LINKED_DEMO, can_be_linked
from dpsynth_core.vocabulary.link import NUMBER, Link

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
    with pytest.raises(InputError, match="both are files"):
        Plan.of(spec(kind="csv", path="people.csv"))


def test_a_second_file_has_to_be_named() -> None:
    stated = spec().model_dump(mode="json")
    stated["data"] |= {"kind": "csv", "path": "homes.csv"}
    stated["members"] |= {"kind": "csv"}
    with pytest.raises(InputError, match="no file is named"):
        Plan.of(Spec.from_json(stated))
