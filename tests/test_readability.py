"""The Guide, its documents and the report are read once: short sentences with a verb, and no more words than they had."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import readability
from tests.readability import DOCUMENTS, GUIDE, ROOT

HIGHEST_GRADE = 9.0
TEXTS = [path for path in (*GUIDE, *DOCUMENTS) if path.name != "glossary.md"]
REFERENCES = ROOT / "README.md"
"""Its citation of papers is not a sentence."""


@pytest.mark.parametrize(
    ("text", "words", "syllables"),
    [("Noise is added to each cell.", 6, [1, 1, 2, 1, 1, 1]), ("The tables changed.", 3, [1, 2, 1]), ("1,000 people", 2, [1, 2])],
)
def test_words_and_syllables_are_counted_by_the_stated_rule(text: str, words: int, syllables: list[int]) -> None:
    assert readability.read([text]).words == words
    assert [readability.syllables(word) for word in text.rstrip(".").split()] == syllables


@pytest.mark.parametrize(
    ("sentence", "has_verb"),
    [
        ("Noise is added to each cell.", True),
        ("Lines: at least to at most.", False),
        ("The stronger the colour, the closer.", False),
        ("Count the rows.", True),
        ("The count of rows.", False),
    ],
)
def test_sentences_without_a_verb_are_found(sentence: str, has_verb: bool) -> None:
    assert readability.has_verb(sentence) is has_verb


def test_code_headings_and_tables_are_no_sentences() -> None:
    text = "# Title\n\nOne is here. Two are there.\n\n```sh\nrun this\n```\n\n    and this\n\n- **Lead.** Three are here.\n\n| a | b |\n"
    assert readability.of_markdown(text) == ["One is here.", "Two are there.", "Three are here."]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_is_read_at_the_ninth_grade_and_its_sentences_have_verbs(path: Path) -> None:
    measured = readability.read(readability.of_markdown(path.read_text(encoding="utf-8")))
    assert measured.grade <= HIGHEST_GRADE
    assert path == REFERENCES or measured.verbless == ()


def test_a_report_is_read_at_the_ninth_grade_and_its_sentences_have_verbs() -> None:
    measured = readability.read(readability.of_html(readability.report()))
    assert measured.grade <= HIGHEST_GRADE
    assert [sentence for sentence in measured.verbless if not sentence.startswith("dpsynth_core ")] == []  # the versions are a list
