"""docs/trusted-base.md says what must be right, counts it, and is right about what it imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import trusted

TESTS = Path(__file__).parent


def test_the_trusted_base_stays_within_its_limit() -> None:
    assert trusted.total() <= trusted.LIMIT


def test_what_is_trusted_imports_nothing_else() -> None:
    assert trusted.trespasses() == []


def test_each_door_is_used_and_is_not_trusted_too() -> None:
    used = set().union(*(trusted.imported(trusted.CORE / file) for file in trusted.BASE))
    assert set(trusted.DOORS) <= used
    assert not set(trusted.DOORS) & set(trusted.BASE)


@pytest.mark.parametrize("test", sorted({test for _, test in trusted.BASE.values()}))
def test_what_tries_to_break_it_is_there(test: str) -> None:
    assert (TESTS / test).exists()


def test_the_page_is_what_the_program_writes() -> None:
    assert trusted.PAGE.read_text(encoding="utf-8") == trusted.page(), f"write it anew: {trusted.COMMAND}"
