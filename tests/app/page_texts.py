"""The text of a page as it is kept in `snapshots/`: one line for each heading, label, help, option and message, in the order of the page.

    python -m pytest -q tests/app/test_page_texts.py --write-snapshots

writes every snapshot again; `-k NAME` chooses some. Read the difference like code: it is what a reader of the page sees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpsynth_core.charts.theme import LONG_TITLE
from dpsynth_core.store.home import now

State = Callable[[Path], AppTest]
"""A function that opens a page in one state; it may keep files in the folder that it gets."""
SNAPSHOTS = Path(__file__).with_name("snapshots")

_SILENT = {"html", "table", "imgs", "space", "divider"}
_AREAS = ("main", "event", "unknown")
"""The page, its dialog, and the bar at the bottom."""
_ICON = re.compile(r":\w+\[:material/\w+:\]\s*|:material/\w+:\s*")
_ESCAPE = re.compile(r"\\(?=[^a-zA-Z0-9\s])|\u2060")
_CHANGING = (
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HASH"),
    (re.compile(r"\bIt took [^.]*\."), "It took TIME."),
    (re.compile(r": .* so far, about .* left\."), ": TIME so far, about TIME left."),
    (re.compile(r"\bAbout [^·*\n]* · (?:\d+ at a time · )?"), "About TIME · "),
)


def page_text(app: AppTest, folder: Path) -> str:
    """Return the text of the page and its dialog.

    Args:
        folder: Its path is replaced, since it differs from test to test.
    """
    return _text(app, _AREAS, folder)


def sidebar_text(app: AppTest, folder: Path) -> str:
    """Return the text of the sidebar and of a dialog that it opened."""
    return _text(app, ("sidebar", "event"), folder)


def _text(app: AppTest, areas: tuple[str, ...], folder: Path) -> str:
    blocks = [block for block in app._tree.children.values() if block.type in areas]
    text = "\n".join(line for block in blocks for line in _lines(block)).replace(str(folder), "FOLDER") + "\n"
    for changing, name in _CHANGING:
        text = changing.sub(name, text)
    return text.replace(now()[:10], "TODAY")


def _lines(node: Any) -> Iterator[str]:
    if not hasattr(node, "children"):
        if node.type == "dataframe":
            yield f"table: {' | '.join(_headings(node))}"
        elif node.type not in _SILENT:
            yield from _element(node.type, node.proto)
        return
    part = node.proto
    if part is not None and (name := getattr(part, "label", "") or getattr(part, "title", "")):
        yield f"{node.type}: {_plain(name)}"
        yield from _help(part)
    elif node.type in ("popover", "dialog"):
        inner = getattr(part, node.type)
        yield f"{node.type}: {_plain(getattr(inner, 'label', '') or getattr(inner, 'title', ''))}"
        yield from _help(inner)
    for child in node.children.values():
        yield from _lines(child)


def _element(kind: str, proto: Any) -> Iterator[str]:
    if kind == "vega_lite_chart":
        yield from (f"chart: {_plain(title)}" for title in _titles(json.loads(proto.spec)))
        return
    label, body = getattr(proto, "label", ""), getattr(proto, "body", "")
    yield f"{kind}: {_plain(' | '.join(text for text in (label, body) if text))}"
    if placeholder := getattr(proto, "placeholder", ""):
        yield f"  placeholder: {_plain(placeholder)}"
    if typed := getattr(proto, "value", ""):
        yield from [f"  value: {_plain(typed)}"] if isinstance(typed, str) else []
    yield from _help(proto)
    options = [_plain(option if isinstance(option, str) else option.content) for option in getattr(proto, "options", ())]
    if options and kind != "select_slider":
        yield f"  options: {' | '.join(options)}"
    yield from (f"  caption: {_plain(caption)}" for caption in getattr(proto, "captions", ()) if caption)


def _headings(table: Any) -> Iterator[str]:
    """Yield the titles of a table's columns with their help."""
    configured = json.loads(table.proto.columns or "{}")
    for name in table.value.columns:
        stated = configured.get(name) or {}
        help = f" ({stated['help']})" if stated.get("help") else ""
        yield _plain(f"{stated.get('label') or name}{help}")


def _help(proto: Any) -> Iterator[str]:
    if text := getattr(proto, "help", ""):
        yield f"  help: {_plain(text)}"


def _titles(spec: Any) -> Iterator[str]:
    """Yield the titles in a chart's specification, of the chart, its axes and its tooltips, each once."""
    found: dict[str, None] = {}

    def visit(part: Any) -> None:
        if isinstance(part, dict):
            title = part.get("title")
            text = title.get("text") if isinstance(title, dict) else title
            if isinstance(text, dict):  # lines for a phone, and for a wide screen
                text = next(param["value"] for param in part["params"] if param["name"] == LONG_TITLE)
            for one in text if isinstance(text, list) else [text]:
                if isinstance(one, str) and one:
                    found[one] = None
            for name, value in part.items():
                if name not in ("config", "datasets"):
                    visit(value)
        elif isinstance(part, list):
            for value in part:
                visit(value)

    visit(spec)
    return iter(found)


def _plain(text: str) -> str:
    """Return Markdown without icons and escapes, on one line."""
    return " ".join(_ESCAPE.sub("", _ICON.sub("", text)).split())
