"""What the documents about checks and reviews name is there: every file, and every test by its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHECKS = ROOT / "docs" / "expert-checks.md"
REVIEWS = ROOT / "docs" / "reviews.md"
VERDICTS = {"pass", "pass with a condition", "not"}
FINDINGS = [
    *(f"P{number}" for number in range(1, 10)),
    *(f"P10{letter}" for letter in "abcde"),
    *(f"R{number}" for number in range(1, 17)),
    *(f"S{number}" for number in range(1, 8)),
    *(f"T{number}" for number in range(1, 9)),
]


def rows(document: Path) -> list[list[str]]:
    """The cells of every row of every table whose first cell is a number or a letter with a number."""
    lines = document.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if re.match(r"\| [A-Z]?\d+[a-z]? \|", line)]
    return [[cell.strip(" |") for cell in row] for row in cells]


def quoted(document: Path) -> list[str]:
    """Everything between backticks, once."""
    return sorted(set(re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8"))))


def nodes_in(text: str) -> list[str]:
    return re.findall(r"`(tests/[\w/]+\.py::\w+)`", text)


def test_every_check_is_there_once_with_a_verdict_a_place_and_a_test() -> None:
    listed = rows(CHECKS)
    assert [row[0] for row in listed] == [str(number) for number in range(1, 35)]
    for number, check, verdict, place, shown in listed:
        assert check, number
        assert verdict in VERDICTS, number
        assert "`" in place, number
        assert nodes_in(shown) or verdict == "not", number


def test_every_check_that_does_not_simply_pass_says_why() -> None:
    text = CHECKS.read_text(encoding="utf-8")
    open_checks = {row[0] for row in rows(CHECKS) if row[2] != "pass"}
    explained = re.findall(r"^- \*\*(\d+)\*\*: \S.{20,}", text, flags=re.MULTILINE)
    assert sorted(explained, key=int) == sorted(open_checks, key=int)


def test_every_finding_is_there_once_with_a_test_or_a_reason() -> None:
    listed = rows(REVIEWS)
    assert sorted(row[0] for row in listed) == sorted(FINDINGS)
    for number, before, shown in listed:
        assert len(before) > 20, number
        assert nodes_in(shown) or re.match(r"No test: \S.{20,}", shown), number


@pytest.mark.parametrize("node", sorted({*nodes_in(CHECKS.read_text(encoding="utf-8")), *nodes_in(REVIEWS.read_text(encoding="utf-8"))}))
def test_a_named_test_exists(node: str) -> None:
    path, _, name = node.partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("document", [CHECKS, REVIEWS], ids=lambda path: path.name)
def test_a_named_file_exists(document: Path) -> None:
    """Files of the program as ARCHITECTURE.md writes them (`privacy/kernel.py`), all others from the root."""
    named = [name for name in quoted(document) if re.fullmatch(r"[\w./-]+\.(py|md|toml|json)|\.importlinter|Dockerfile|Makefile", name)]
    assert named
    assert [name for name in named if not (ROOT / name).exists() and not (ROOT / "dpsynth_core" / name).exists()] == []
