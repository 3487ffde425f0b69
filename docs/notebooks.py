"""Writes the tutorials as notebooks, beside their pages: `python -m docs.notebooks`. A test compares them with what is there.

A cell of code is what a lesson lets its reader type, which a test types; below it stands what the lesson shows. All other text is a cell of
text. Commands of a shell are cells of `%%bash`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

TUTORIALS = Path(__file__).resolve().parent / "tutorials"
COMMAND = "python -m docs.notebooks"
_BLOCK = re.compile(r"^```(sh|python|text)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_MAGIC = {"sh": "%%bash\n", "python": ""}


def files() -> dict[str, str]:
    """Return the text of each notebook by its file name."""
    lessons = sorted(path for path in TUTORIALS.glob("*.md") if path.name != "README.md")
    return {f"{path.stem}.ipynb": notebook(path.read_text(encoding="utf-8")) for path in lessons}


def notebook(page: str) -> str:
    """Return a page in Markdown as a notebook, in the form 4.5 of Jupyter."""
    cells = [{"id": _name(place, cell), **cell} for place, cell in enumerate(_cells(page))]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def _cells(page: str) -> Iterator[dict[str, Any]]:
    """Yield text and code in the order of the page. The first block of text after code is what the code prints, as in the tests."""
    pieces = list(_pieces(page))
    shown = set(_shown(pieces))
    for place, (kind, text) in enumerate(pieces):
        if place in shown:
            continue
        if kind not in _MAGIC:
            yield {"cell_type": "markdown", "metadata": {}, "source": _lines(text if kind == "prose" else f"```text\n{text}```\n")}
            continue
        output = pieces[place + 1][1] if place + 1 in shown else ""
        yield {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": _lines(output)}] if output else [],
            "source": _lines(_MAGIC[kind] + text),
        }


def _shown(pieces: list[tuple[str, str]]) -> Iterator[int]:
    """Yield the places of blocks of text that stand right behind code."""
    for place in range(1, len(pieces)):
        if pieces[place][0] == "text" and pieces[place - 1][0] in _MAGIC:
            yield place


def _pieces(page: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text), where kind is "prose" or the language of a block, without empty prose."""
    end = 0
    for block in _BLOCK.finditer(page):
        if prose := page[end : block.start()].strip():
            yield "prose", prose
        yield block[1], block[2]
        end = block.end()
    if prose := page[end:].strip():
        yield "prose", prose


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").splitlines(keepends=True)


def _name(place: int, cell: dict[str, Any]) -> str:
    """A name that stays the same while the cell and its place do."""
    return sha256(f"{place} {cell['source']}".encode()).hexdigest()[:12]


def main() -> None:
    for name, text in files().items():
        (TUTORIALS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
