"""The product's name and marks. The name is defined here once; the logo is drawn from it."""

from __future__ import annotations

from functools import cache

from dpsynth_core.foundation.places import ASSETS

NAME = "DPSynth Studio"
TAGLINE = "Synthetic tables with a privacy guarantee"

ICON = str(ASSETS / "icon.svg")
STYLE = ASSETS / "style.css"
DOOR = ASSETS / "door"
_LETTER = 15.5
"""Average width of a letter of the word mark, in the units of its drawing."""


@cache
def logo() -> str:
    """Return the word mark as SVG text. Its ink follows the theme of the page that shows it, also when the theme changes."""
    template = (ASSETS / "logo.svg").read_text(encoding="utf-8")
    words = len(NAME) * _LETTER
    values = {"name": NAME, "words": f"{words:g}", "width": f"{words + 80:g}"}
    for key, value in values.items():
        template = template.replace("{" + key + "}", value)
    return template


@cache
def icon() -> str:
    """Return the small logo as SVG text, read once."""
    return (ASSETS / "icon.svg").read_text(encoding="utf-8")


@cache
def script() -> str:
    """Return the page's scripts for navigation, pictures and dialogs as one HTML element.

    They make effects for which Streamlit's theme and the style sheet have no setting.
    """
    parts = [(ASSETS / name).read_text(encoding="utf-8") for name in ("navigation.js", "pictures.js", "dialogs.js")]
    return f"<script>{''.join(parts)}</script>"
