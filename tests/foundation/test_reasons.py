"""One rule for every reason: a few words, not a keystroke."""

from __future__ import annotations

import pytest

from dpsynth_core.foundation.reasons import check_reason, is_reason
from tests.refusals import refused

SHORT = ["", "   ", "x", "xxxxxxxxxxxxxxxx", "aaa bbb ccc ddd", "why why why why", "- - - -", "not now", "1 2 3 4", None, 7]


@pytest.mark.parametrize("text", SHORT)
def test_a_keystroke_is_no_reason(text: object) -> None:
    assert not is_reason(text)
    refused(check_reason, "reason", text, "why", saying="at least 3 different words")


@pytest.mark.parametrize(
    "text",
    [
        "the disk failed",
        "Öffentliches Formular seit 1990",
        "这是公开的表格",
        "公開されている調査票です",
        "категории из опубликованной анкеты",
    ],
)
def test_a_few_words_of_any_script_are_a_reason(text: str) -> None:
    assert is_reason(text)
    check_reason("reason", text, "why")


def test_the_error_tells_an_empty_field_from_a_short_one() -> None:
    empty = refused(check_reason, "--reason", " ", "why the books may go on")
    assert str(empty) == "--reason: you have not given a reason; write why the books may go on, in a sentence: at least 3 different words"
    refused(check_reason, "--reason", "x", "why", saying="reason is too short")


def test_a_reason_has_no_character_that_a_database_may_not_keep() -> None:
    refused(check_reason, "reason", "the board knows\0 of it", "why", saying="the character NUL")
