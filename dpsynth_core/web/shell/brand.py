"""The product's name and marks. The name stands here once; the logo is drawn from it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

NAME = "DPSynth Studio"
TAGLINE = "Synthetic tables with a privacy guarantee"

_ASSETS = Path(__file__).resolve().parents[3] / "assets"
ICON = str(_ASSETS / "icon.svg")
STYLE = _ASSETS / "style.css"
DOOR = _ASSETS / "door"
_INK = {"light": "#16233a", "dark": "#eef2f8"}
_LETTER = 15.5
"""Average width of a letter of the word mark, in the units of its drawing."""


@cache
def logo(theme: str) -> str:
    """The word mark as SVG text, inked for a "light" or "dark" background."""
    template = (_ASSETS / "logo.svg").read_text(encoding="utf-8")
    words = len(NAME) * _LETTER
    values = {"name": NAME, "ink": _INK.get(theme, _INK["light"]), "words": f"{words:g}", "width": f"{words + 80:g}"}
    for key, value in values.items():
        template = template.replace("{" + key + "}", value)
    return template


@cache
def icon() -> str:
    """The mark as SVG text."""
    return (_ASSETS / "icon.svg").read_text(encoding="utf-8")


@cache
def script() -> str:
    """What neither theme nor style can do; see the files."""
    parts = [(_ASSETS / name).read_text(encoding="utf-8") for name in ("navigation.js", "pictures.js", "dialogs.js")]
    return f"<script>{''.join(parts)}</script>"
