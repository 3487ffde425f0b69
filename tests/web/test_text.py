"""Hostile text: nothing of it is left that Markdown, or Streamlit's additions to it, would act upon."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dpsynth_core.web.shell import text

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](http://evil.example/a.png)",
    "**bold** _em_ `code` ~~no~~",
    "$E=mc^2$ and $$x$$",
    ":red[danger] :material/lock: :smile: :blue-badge[x]",
    "# heading",
    "- item",
    "1. item",
    "a | b\n--|--\n1 | 2",
    "https://evil.example www.evil.example me@evil.example",
    "&lt;b&gt; &amp;",
    "``` fence",
    "line one\n\nline two\u2028three\u202egnihtemos",
    '=HYPERLINK("http://evil.example")',
]
markdown = MarkdownIt("gfm-like", {"linkify": False})


def rendered(source: str) -> str:
    """Visible text of a one-paragraph document; fails if anything but text (or one code span) comes out."""
    tokens = markdown.parse(source)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], tokens
    assert {child.type for child in tokens[1].children or ()} <= {"text", "text_special", "code_inline"}
    return "".join(child.content for child in tokens[1].children or ())


@pytest.mark.parametrize("hostile", HOSTILE)
def test_literal_text_means_only_itself(hostile: str) -> None:
    assert rendered("x " + text.literal(hostile)).replace("\u2060", "") == "x " + text.one_line(hostile, 400)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_code_span_shows_exactly_the_text(hostile: str) -> None:
    assert rendered("x " + text.code(hostile, 400)).replace("\u2060", "") == "x " + text.one_line(hostile, 400)
    assert ":material/" not in text.code(hostile)


@given(st.text(min_size=1, max_size=60))
def test_any_text_survives_both_ways(anything: str) -> None:
    line = text.one_line(anything, 400)
    assert rendered("x " + text.literal(anything) + " y").replace("\u2060", "").split() == f"x {line} y".split()
    if line:
        assert rendered("x " + text.code(anything, 400)).removeprefix("x ").strip() == line


@given(st.text(max_size=60))
def test_no_directive_short_code_or_bare_address_is_left(anything: str) -> None:
    written = text.literal(anything)
    assert not re.search(r"(?<!\\)[:$\[<@]", written)
    assert not re.search(r":[A-Za-z0-9_+-]", written)  # a word joiner stands between


def test_one_line_has_no_breaks_controls_or_direction_marks() -> None:
    assert text.one_line("a\nb\tc\u202ed\u200be\x00f") == "a b c d e f"


def test_long_texts_are_shortened() -> None:
    assert len(text.one_line("x" * 500)) == 80
    assert text.names(tuple("abcdefg"), 2).endswith("and 5 more")


@given(st.text(max_size=60))
def test_a_file_name_has_only_letters_digits_and_hyphens(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text.file_stem(name))


def test_a_file_name_reads_like_the_project() -> None:
    assert text.file_stem("Hôpital: séjours 2025/26") == "hopital-sejours-2025-26"
    assert text.file_stem("../../etc/passwd") == "etc-passwd"
    assert text.file_stem("病院") == "release"
