"""The product's name and marks. The name stands here once; the logo is drawn from it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

NAME = "DPSynth Studio"
TAGLINE = "Synthetic tables with a privacy guarantee"

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
ICON = str(_ASSETS / "icon.svg")

_INK = {"light": "#16233a", "dark": "#eef2f8"}


@cache
def logo(theme: str) -> str:
    """The word mark as SVG text, inked for a "light" or "dark" background."""
    template = (_ASSETS / "logo.svg").read_text(encoding="utf-8")
    return template.replace("{name}", NAME).replace("{ink}", _INK.get(theme, _INK["light"]))


# What the theme cannot say. Selectors are Streamlit's test ids and the keys of our own containers; if one disappears, only polish is lost.
STYLE = """<style>
.st-key-wizard_nav { padding-top: .15rem; }
[data-testid="stSidebarNavLink"] span { font-variant-numeric: tabular-nums; }
[data-testid="stMetricValue"] { font-variant-numeric: tabular-nums; }
</style>"""
