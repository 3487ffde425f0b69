"""docs/reference/ is what the program says of itself, as it is now; the figures are those of the records."""

from __future__ import annotations

import pytest

from docs import figures, generate, schemas


def test_the_reference_is_what_the_program_generates() -> None:
    """Fails for every mechanism, parameter, option, field, kind or event that was added, changed or removed since."""
    made = generate.pages()
    stored = {path.relative_to(generate.FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in generate.FOLDER.rglob("*.md")}
    stale = sorted(name for name in made.keys() | stored.keys() if made.get(name) != stored.get(name))
    assert stale == [], f"write docs/reference anew: {generate.COMMAND}"


@pytest.mark.parametrize("name", figures.FIGURES)
def test_the_figures_are_drawn_from_what_was_recorded(name: str) -> None:
    stored = (figures.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert stored == figures.drawn(figures.FIGURES[name]), f"draw them anew: {figures.COMMAND}"
    assert all(title in stored for title in figures.FIGURES[name].lines.values())


def test_the_schemas_are_those_that_the_program_generates() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in generate.SCHEMAS.glob("*")}
    assert stored == schemas.files(), f"write docs/reference anew: {generate.COMMAND}"
