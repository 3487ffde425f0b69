"""The product's name and marks. The name stands here once; the logo is drawn from it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

NAME = "DPSynth Studio"
TAGLINE = "Synthetic tables with a privacy guarantee"

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
ICON = str(_ASSETS / "icon.svg")

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


# What the theme cannot say. Selectors are Streamlit's test ids and the keys of our own containers; if one disappears, only polish is lost.
STYLE = """<style>
.stMainBlockContainer { padding-left: 2.25rem; padding-right: 2.25rem; }
[data-testid="stBottomBlockContainer"] { padding: .6rem 2.25rem .9rem; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; }
  [data-testid="stBottomBlockContainer"] { padding: .5rem 1rem .6rem; }
}
[data-testid="stMetricValue"], [data-testid="stSidebarNavLink"] { font-variant-numeric: tabular-nums; }
.st-key-zone_curator { position: relative; }
.st-key-zone_curator::after {
  content: "CURATOR-ONLY · NOT PRIVATE"; position: absolute; inset: 0; z-index: 5; pointer-events: none; overflow: hidden;
  display: flex; align-items: center; justify-content: center; transform: rotate(-8deg);
  font-weight: 700; font-size: 1.5rem; letter-spacing: .08em; white-space: nowrap; color: #d55e00; opacity: .32;
}
</style>"""
