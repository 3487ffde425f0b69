"""Every kind's entry: complete, read back from its JSON, and refused in one sentence whatever its fields hold."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.dates import as_written_by_people
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import KINDS
from tests.tiers import examples

BASE: dict[str, dict[str, Any]] = {
    "categorical": {"categories": ["a", "b"], "labels": ["A", "B"], "dtype": "string"},
    "ordinal": {"categories": ["1", "2"], "dtype": "int64"},
    "hierarchical": {"level": 3, "categories": ["A00"], "digits": 5},
    "integer": {"lower": 0, "upper": 99, "width": 10},
    "numeric": {"lower": 0, "upper": 1, "bins": 4, "decimals": 2},
    "date": {"lower": "2024-01-01", "upper": "2024-12-31", "width": "month"},
    "timestamp": {"lower": "2024-01-01", "upper": "2024-12-31 12:00", "precision": "minute", "width": "6 hours"},
    "time": {"lower": "08:00", "upper": "17:59", "precision": "minute", "edges": ["12:00"]},
    "duration": {"lower": "00:00", "upper": "48:00", "precision": "minute", "width": "hour"},
    "constant": {"value": "x", "dtype": "string"},
    "identifier": {"pattern": "P001"},
    "coded": {"size": 4},
}
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18), 10**18),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["24:00", "9999-12-31", "0001-01-01", "month", "week", "second", "-99999:00", "1e400", "\ud7ff", "A = B\nB = C"]),
    st.lists(st.one_of(st.integers(), st.text(max_size=3), st.none()), max_size=3),
    st.dictionaries(st.text(max_size=3), st.one_of(st.text(max_size=3), st.integers()), max_size=3),
)


def read(kind: str, fields: dict[str, Any]) -> Domain:
    return Domain.from_json({"version": 1, "attributes": [{"name": "x", "kind": kind} | fields, {"name": "y", "kind": "coded", "size": 2}]})


def test_every_kind_is_here() -> None:
    assert set(BASE) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_people_are_told_is_complete(kind: str) -> None:
    entry = KINDS[kind]
    assert entry.title
    assert entry.help.endswith(".")
    assert (entry.scale is not None) == (entry.form is Form.BINNED)
    assert all(option.field in entry.fields and option.title and option.help for option in entry.options)
    assert entry.form is not Form.BINNED or all(entry.examples)


@pytest.mark.parametrize("kind", KINDS)
def test_json_reads_back_to_the_same_domain(kind: str) -> None:
    domain = read(kind, BASE[kind])
    assert Domain.from_json(domain.to_json()) == domain


@examples(400)
@given(st.data())
def test_whatever_a_field_holds_there_is_a_domain_or_a_sentence(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(KINDS)))
    field = data.draw(st.sampled_from([*KINDS[kind].fields, "discover", "most", "label"]))
    with suppress(InputError):
        domain = read(kind, BASE[kind] | {field: data.draw(JUNK)})
        assert Domain.from_json(domain.to_json()) == domain


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("31.12.2024", "2024-12-31"),
        ("03.04.2024", "2024-04-03"),
        ("12/31/2024", "2024-12-31"),
        ("31/12/2024", "2024-12-31"),
        ("04/04/2024", "2024-04-04"),
        ("03/04/2024", "03/04/2024"),
        ("3.4.2024 12:30", "2024-04-03 12:30"),
    ],
)
def test_a_day_is_read_where_its_order_is_certain(text: str, iso: str) -> None:
    assert as_written_by_people(text) == iso
