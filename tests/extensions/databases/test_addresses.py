"""The pattern in the manifest tells addresses of databases from paths of files, as the reader of addresses does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.databases import address
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from tests.tiers import examples

NONE = ("it is not the address of a database", "no database with such an address is known")


def is_known(text: str) -> bool:
    """Whether the reader knows the kind of database, also where it refuses the address."""
    try:
        address.read(text)
    except InputError as error:
        return error.problem not in NONE
    return True


PARTS = ("postgresql", "postgres", "DuckDB", "sqlite", "s3", "://", "/", ".duckdb", ".DB", ".sqlite3", ".csv", ".ddb", "a", ":", "\n")


@examples(200)
@given(parts=st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6))
def test_what_is_an_address_for_the_core_is_one_for_the_reader(parts: list[str]) -> None:
    text = "".join(parts)
    assert (extension.place_at(text) is not None) == is_known(text)


@pytest.mark.parametrize(
    ("text", "is_address"),
    [
        ("people.duckdb", True),
        ("/data/People.DB", True),
        ("SQLITE:///data/people", True),
        ("postgresql://host/people.csv", True),
        ("people.csv", False),
        ("s3://bucket/people.duckdb", False),
        ("demo", False),
        ("people.db/part.csv", False),
    ],
)
def test_addresses_of_databases_are_told_from_paths(text: str, is_address: bool) -> None:
    assert (extension.place_at(text) is not None) == is_address
    assert is_known(text) == is_address
