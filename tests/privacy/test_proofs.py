"""Propositions have numbers: the code names those that docs/proofs.md has, each is used, and the tests that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.additions import is_gone

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


TEXTS = dict(zip(NUMBERS, re.split(r"^### ", PROOFS, flags=re.MULTILINE)[1:], strict=True))
GONE = {number for number, text in TEXTS.items() if any(is_gone(test) for test in re.findall(r"`(tests/[\w/]+\.py)", text))}
"""Propositions that an extension may have been the last to name, now that it was deleted."""


def test_the_code_names_every_proposition_and_no_other() -> None:
    assert set(NUMBERS) - GONE <= NAMED <= set(NUMBERS)


def test_each_proposition_says_what_tries_to_break_it() -> None:
    for number, text in TEXTS.items():
        assert re.search(r"Tried to break by:\s+`tests/", text), number


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", PROOFS))))
def test_the_tests_that_it_names_are_there(named: str) -> None:
    path, _, function = named.partition("::")
    if is_gone(path):
        pytest.skip("its extension was deleted")
    assert f"def {function}" in (ROOT / path).read_text(encoding="utf-8")
