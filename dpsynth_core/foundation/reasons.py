"""Reasons that people give in writing, and one rule for what counts as a sentence.

A reason is published or kept for auditors. It is asked for before an act that reveals facts about people, or that continues against a
warning, so one typed letter does not suffice.
"""

from __future__ import annotations

import re
import unicodedata

from dpsynth_core.foundation.errors import InputError

FEWEST_WORDS = 3
MAX_REASON = 10_000
"""Largest number of characters of a published reason."""
_WORD = re.compile(r"\w+")


def is_reason(text: object) -> bool:
    """Return whether a text has at least three different words.

    A word has at least two different letters or digits; in a script without spaces (wide characters), every character counts as a word.
    """
    return isinstance(text, str) and len(_words(text)) >= FEWEST_WORDS


def check_reason(field: str, text: object, what: str) -> None:
    """Check that a text qualifies as a reason (`is_reason`) and can be stored.

    Args:
        field: Name of the field in messages.
        text: The text.
        what: What the reason has to explain, as in "write why ...".

    Raises:
        InputError: The text is too short, or has a NUL character.
    """
    if not is_reason(text):
        problem = "the reason is too short" if str(text).strip() else "you have not given a reason"
        raise InputError(field, problem, f"write {what}, in a sentence: at least {FEWEST_WORDS} different words")
    if "\0" in str(text):
        raise InputError(field, "it has the character NUL, which not every database keeps", "write it without")


def is_one_paragraph(text: object) -> bool:
    """Return whether a text can be a paragraph of a published document.

    It has at most 10,000 characters (`MAX_REASON`), and no line breaks or other invisible characters, such as
    bidirectional marks.
    """
    return isinstance(text, str) and len(text) <= MAX_REASON and text.isprintable()


def _words(text: str) -> set[str]:
    words: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        wide = {letter for letter in word if unicodedata.east_asian_width(letter) == "W"}
        words |= wide
        if not wide and len(set(word)) > 1:
            words.add(word)
    return words
