"""A page that only can be read is told from one that runs or loads something, however it is hidden."""

from __future__ import annotations

import pytest

from dpsynth_core.bundle.passive import active_part
from tests.bundle.bundles import files

PAGE = '<!doctype html>\n<html><head><title>x</title><style>p { color: red; }</style></head><body><p class="a">{}</p></body></html>'


def test_our_own_report_can_only_be_read() -> None:
    assert active_part(files()["report.html"]) == ""


@pytest.mark.parametrize("text", ["onset = 3", "javascript: a language", "5 &lt; 6", "a > b", 'say "on"', "src=x"])
def test_words_are_only_words(text: str) -> None:
    assert active_part(PAGE.replace("{}", text).encode()) == ""


@pytest.mark.parametrize(
    "part",
    [
        "<script>alert(1)</script>",
        "<SCRIPT SRC=x>",
        "<script/x>",
        "<svg/onload=alert(1)>",
        '<svg onload="x">',
        '<p title=">" onclick="x">',
        '<p title="a"onclick="x">',
        "<p onclick=x>",
        "<p\tonclick\n=\n'x'>",
        '<a href="javascript:alert(1)">',
        '<a href="https://a.example">',
        '<img src="https://a.example/x.png">',
        '<link rel="stylesheet" href="x.css">',
        '<iframe src="x">',
        '<object data="x">',
        '<form action="https://a.example">',
        '<base href="https://a.example">',
        '<meta http-equiv="refresh" content="0;url=https://a.example">',
        "<style>@import 'https://a.example';</style>",
        "<style>p { background: url(https://a.example) }</style>",
        r"<style>p { background: \75rl(https://a.example) }</style>",
        '<p style="background: url(x)">',
        "<!-- a comment --><p>",
        "<![CDATA[<p>]]>",
        "<",
        "<p",
        '<p class="<script>">',
        '<svg><use xlink:href="https://a.example#x">',
    ],
)
def test_what_runs_or_loads_something_is_named(part: str) -> None:
    assert active_part(PAGE.replace("{}", part).encode()) != ""


@pytest.mark.parametrize("content", [b"\xff\xfe<\0p\0", PAGE.encode("utf-16"), PAGE.encode() + b"\0"])
def test_other_encodings_are_no_pages(content: bytes) -> None:
    assert active_part(content) != ""
