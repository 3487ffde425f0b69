"""Dummy rows are even, keep every rule, take over published shares, and come out the same again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from dpsynth_core.extensions.dummy.drawing import RARE, Drawn, drawn, shares
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.inference.publishing import impossible_rows
from dpsynth_core.release.rows import as_table
from dpsynth_core.sources.decoding import DrawnRows, disordered, strays
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.released import of_codes
from tests.domains import domains
from tests.extensions.dummy.orders import AGES, DOMAIN, LINKED, PUBLISHED, linked, order
from tests.refusals import refused
from tests.tiers import examples


def codes(made: Drawn) -> np.ndarray:
    assert isinstance(made.rows, DrawnRows)
    return np.asarray(made.rows.codes)


def tables(made: Drawn) -> list[pa.Table]:
    return [as_table(rows) for rows in (made.rows, made.members) if rows is not None]


@pytest.mark.parametrize("make", [order, linked])
def test_an_order_gives_the_same_rows_and_another_seed_others(make: object) -> None:
    assert callable(make)
    once, twice, other = (tables(drawn(make(seed=seed))) for seed in (1, 1, 2))
    assert all(map(pa.Table.equals, once, twice))
    assert not all(map(pa.Table.equals, once, other))


@examples(50)
@given(domains())
def test_every_cell_has_its_share_up_to_one_row_and_every_value_is_one_of_its_column(domain: Domain) -> None:
    made = drawn(Order.of({"domain": domain.to_json(), "rows": 101, "seed": 3}))
    asked = codes(made)
    for attribute, column in zip(domain, asked.T, strict=True):
        expected, held = 101 * shares(attribute), np.bincount(column, minlength=attribute.size)
        if attribute.other_code is not None and attribute.missing_code is not None and attribute.dtype != "string":
            expected[attribute.missing_code] += expected[attribute.other_code]  # both are empty in rows
            expected[attribute.other_code] = 0.0
        assert np.abs(held - expected).max() <= 2, attribute
    assert strays(domain, tables(made)[0]) == []


def test_missing_and_unlisted_values_are_rare_and_values_are_even() -> None:
    (table,) = tables(drawn(order(rows=10_000)))
    age = table.column("age")
    assert age.null_count == pytest.approx(RARE * 10_000, abs=1)
    bins = np.bincount(np.asarray(age.drop_null()) // 10)
    assert bins == pytest.approx(np.full(10, 980), abs=1)


def test_rules_hold_in_every_row_and_decimals_are_those_stated() -> None:
    made = drawn(order(rows=2_000))
    domain, (table,) = Domain.stated(DOMAIN), tables(made)
    assert not impossible_rows(domain, codes(made)).any()
    assert disordered(domain, table) == 0
    frame = table.to_pandas()
    assert frame.loc[frame["job"] == "no", "hours"].isna().all()
    assert frame["hours"].notna().any()
    hours = frame["hours"].dropna()
    assert (hours == hours.round(1)).all()
    assert (hours != hours.round(0)).any()
    assert {-8, 1, 2, 3} == set(frame["health"].dropna().astype(int))


def test_the_shares_of_a_published_table_are_taken_over_up_to_rounding() -> None:
    placed = order(rows=1_000, published_tables=PUBLISHED)
    made = drawn(placed)
    wanted = np.array([count for _, count in AGES] + [0]) / sum(count for _, count in AGES)
    held = of_codes(placed.domain, codes(made), ("age",))
    assert np.abs(held - 1_000 * wanted).max() < 1
    assert max(made.off) < 1


def test_two_linked_tables_keep_their_rules_and_every_member_has_a_household() -> None:
    placed = linked(rows=500)
    homes, members = (table.to_pandas() for table in tables(drawn(placed)))
    assert homes["home"].tolist() == list(range(1, 501))
    assert set(members["home"]) <= set(homes["home"])
    sizes = members.groupby("home").size()
    assert sizes.max() <= 4
    assert sizes.nunique() > 1
    heads, partners = ((members["role"] == role).groupby(members["home"]).sum() for role in ("head", "partner"))
    assert (heads == 1).all()
    assert partners.max() == 1
    assert members.loc[members["role"] == "head", "age"].min() >= 10


def test_rules_that_no_household_keeps_are_refused() -> None:
    rules = [{"members_with": {"role": [role]}, "exactly": 2} for role in ("head", "partner", "child")]
    second = LINKED["members"] | {"rules": rules, "most": 5}
    refused(Order.of, LINKED | {"members": second, "rows": 10, "seed": 1}, saying="members.rules")


@pytest.mark.parametrize(
    ("parts", "saying"),
    [
        ({"rows": 0}, "rows: 0 cannot be used"),
        ({"rows": 10**7}, "rows: 10000000 cannot be used"),
        ({"rows": True}, "rows: True cannot be used"),
        ({"seed": -1}, "seed: -1 cannot be used"),
        ({"epsilon": 1}, "its entry 'epsilon' is unknown"),
        ({"domain": DOMAIN | {"origin": "data"}}, "were read from the private table"),
        ({"domain": {"version": 1, "attributes": [{"name": "a", "kind": "categorical", "discover": True}]}}, "are to be learnt"),
        ({"published_tables": [{"columns": ["age"]}]}, "published_tables.0: it is not a table"),
        ({"published_tables": PUBLISHED * 101}, "at most 100 tables"),
        ({"members": LINKED["members"], "published_tables": PUBLISHED}, "two linked tables do not go with it yet"),
        ({"members": {"domain": LINKED["members"]["domain"]}}, "two linked tables need a key"),
        ({"members": 1}, "members: it is not a JSON object"),
    ],
)
def test_what_cannot_be_made_is_refused_with_its_field(parts: dict[str, object], saying: str) -> None:
    with pytest.raises((InputError, CapacityError), match=saying.replace("(", r"\(")):
        order(**parts)  # type: ignore[arg-type]
