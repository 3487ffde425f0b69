"""Propositions have numbers: the code names those that docs/proofs.md has, each is used, and the tests that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOFS = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
NUMBERS = [int(number) for number in re.findall(r"^### Proposition (\d+): \S", PROOFS, flags=re.MULTILINE)]
NAMED = {
    int(number)
    for path in (ROOT / "dpsynth_core").rglob("*.py")
    for number in re.findall(r"\b(?<!, )Propositions? (\d+)\b(?!\.\d)", path.read_text(encoding="utf-8"))
}


def test_propositions_are_numbered_in_order() -> None:
    assert list(range(1, len(NUMBERS) + 1)) == NUMBERS


def test_the_code_names_every_proposition_and_no_other() -> None:
    assert set(NUMBERS) == NAMED


def test_each_proposition_says_what_tries_to_break_it() -> None:
    for number, text in zip(NUMBERS, re.split(r"^### ", PROOFS, flags=re.MULTILINE)[1:], strict=True):
        assert re.search(r"Tried to break by:\s+`tests/", text), number


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", PROOFS))))
def test_the_tests_that_it_names_are_there(named: str) -> None:
    path, _, function = named.partition("::")
    assert f"def {function}" in (ROOT / path).read_text(encoding="utf-8")
