"""The Guide's texts, for the page itself and for wherever else one of them is needed."""

from __future__ import annotations

from pathlib import Path

_TEXTS = Path(__file__).resolve().parents[3] / "assets" / "guide"

LEARNING = "learning"
"""What is special about mechanisms whose privacy needs a solver's proof; also the name of their purpose in the registry."""


def text(name: str) -> str:
    """One of our texts, as Markdown."""
    return (_TEXTS / f"{name}.md").read_text(encoding="utf-8")
