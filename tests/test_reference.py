"""docs/reference/ is what the program says of itself, as it is now."""

from __future__ import annotations

from docs import generate


def test_the_reference_is_what_the_program_generates() -> None:
    """Fails for every mechanism, parameter, option, field, kind or event that was added, changed or removed since."""
    made = generate.pages()
    stored = {path.name: path.read_text(encoding="utf-8") for path in generate.FOLDER.glob("*.md")}
    stale = sorted(name for name in made.keys() | stored.keys() if made.get(name) != stored.get(name))
    assert stale == [], f"write docs/reference anew: {generate.COMMAND}"
