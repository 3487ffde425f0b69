"""The tutorials as notebooks: what a test types in the lessons is what their cells hold, in order."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from docs import notebooks
from tests.docs.test_tutorials import lessons, steps

FILES = notebooks.files()
SHELL = "%%bash\n"


@pytest.mark.parametrize("name", FILES)
def test_the_notebooks_are_those_of_the_lessons(name: str) -> None:
    assert (notebooks.TUTORIALS / name).read_text(encoding="utf-8") == FILES[name], f"write it anew: {notebooks.COMMAND}"


def test_every_lesson_is_a_notebook_and_nothing_else_is() -> None:
    assert {path.name for path in notebooks.TUTORIALS.glob("*.ipynb")} == {f"{lesson.stem}.ipynb" for lesson in lessons()}


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.stem)
def test_cells_of_code_are_what_the_lessons_let_type(lesson: Path) -> None:
    cells = [cell for cell in json.loads(FILES[f"{lesson.stem}.ipynb"])["cells"] if cell["cell_type"] == "code"]
    code = ["".join(cell["source"]) + "\n" for cell in cells]
    python = [text for text in code if not text.startswith(SHELL)]
    assert [text.removeprefix(SHELL) for text in code if text.startswith(SHELL)] == [typed for typed, _ in steps(lesson, "sh")]
    assert python == [typed for typed, _ in steps(lesson, "python")]
    for text in python:
        ast.parse(text)


def test_no_text_of_a_page_is_lost_and_cells_have_names_of_their_own() -> None:
    page = "# A\n\nwords\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nmore\n\n```text\nalone\n```\n"
    cells = json.loads(notebooks.notebook(page))["cells"]
    assert [("".join(cell["source"]), cell["cell_type"]) for cell in cells] == [
        ("# A\n\nwords", "markdown"),
        ("print(1)", "code"),
        ("more", "markdown"),
        ("```text\nalone\n```", "markdown"),
    ]
    assert cells[1]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["1"]}]
    assert len({cell["id"] for cell in cells}) == len(cells)
