"""Docstrings that a reader of the field understands at first reading: checks for the habits that made them hard to read.

A docstring is listed if it begins with a word that hides its subject ("Of the tables"), contains a phrase whose noun is missing ("those of
it"), or lists parameters in running prose. Not every listed docstring is a bad one, so a small share is allowed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted([*(ROOT / "dpsynth_core").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"])
MOST_LISTED = 0.01

FIRST_WORD = re.compile(
    r"(?:Again|Also|And|As|But|By|Else|For|From|How|If|In|Likewise|No|Not|Of|Or|So many|Such|That|The same|Those|To|What|Where|Whether"
    r"|Which|Who|Whose|With)\b"
)
MISSING_NOUN = re.compile(
    r"\b(?:is none|are none|is no [a-z]+|whoever|whatever|nobody|of it|of them|that of|those of|so is|than is|as it (?:has|is)"
    r"|what is said|is said to be|is told|are told)\b"
)
PARAMETER_IN_PROSE = re.compile(r"(?:^|(?<=[.\n] )|(?<=\n))[a-z_]{2,}(?:, [a-z_]+)*: [^.\n]{3,}\.")


def is_listed(text: str) -> bool:
    """Return whether a docstring shows one of the habits."""
    return bool(FIRST_WORD.match(text) or MISSING_NOUN.search(text) or len(PARAMETER_IN_PROSE.findall(text)) > 1)


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("Of the tables those that are small.", True),
        ("Return the tables; None if there is no table of them.", True),
        ("Return the table.\n\nrows: per person. sigma: of a cell.", True),
        ("Whether the table is small.", True),
        ("The same for members.", True),
        ("Return the noisy counts of a marginal.\n\nArgs:\n    clique: The columns.\n    rho: The budget.", False),
        ("Nothing is read.", False),
    ],
)
def test_the_checks_list_what_they_are_meant_to_list(text: str, listed: bool) -> None:
    assert is_listed(text) is listed


def test_nearly_all_docstrings_are_plain() -> None:
    every = [place for path in FILES for place in docstrings(path)]
    listed = [place for place, text in every if is_listed(text)]
    assert len(listed) <= MOST_LISTED * len(every), "\n".join([f"{len(listed)} of {len(every)} docstrings are listed:", *listed])


PAGES = sorted((ROOT / "tests").glob("**/app/snapshots/*.txt"))
RIDDLE = re.compile(r"\b(?:is none|what is said|is said to be|is told|are told|would do by itself)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_page_speaks_in_riddles(path: Path) -> None:
    assert not [line for line in path.read_text(encoding="utf-8").splitlines() if RIDDLE.search(line)]
