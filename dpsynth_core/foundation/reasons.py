"""Reasons that a person gives in writing: one rule for all of them, of what counts as a sentence.

A reason is published or kept for auditors, and what it is asked for gives people away or lets something go on that should not. One letter
typed to get past the question is none.
"""

from __future__ import annotations

import re
import unicodedata

from dpsynth_core.foundation.errors import InputError

FEWEST_WORDS = 3
MAX_REASON = 10_000
"""Characters of one that is published."""
_WORD = re.compile(r"\w+")


def is_reason(text: object) -> bool:
    """Whether a text has at least three different words. A word has two different letters or digits at least; of a script that writes
    no spaces (wide characters), every character counts as one."""
    return isinstance(text, str) and len(_words(text)) >= FEWEST_WORDS


def check_reason(field: str, text: object, what: str) -> None:
    """Raises InputError for a text that is no reason. what: what has to be explained, as in "write why ..."."""
    if not is_reason(text):
        problem = "it is too short for a reason" if str(text).strip() else "there is no reason"
        raise InputError(field, problem, f"write {what}, in a sentence: at least {FEWEST_WORDS} different words")
    if "\0" in str(text):
        raise InputError(field, "it has the character NUL, which not every database keeps", "write it without")


def is_one_paragraph(text: object) -> bool:
    """Whether a text can stand in a published document: not long, one paragraph, and no character that is not seen, among them those that
    turn the direction of what follows."""
    return isinstance(text, str) and len(text) <= MAX_REASON and text.isprintable()


def _words(text: str) -> set[str]:
    words: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        wide = {letter for letter in word if unicodedata.east_asian_width(letter) == "W"}
        words |= wide
        if not wide and len(set(word)) > 1:
            words.add(word)
    return words
