"""How Sphinx makes the site from the Markdown of the repository: `make docs`.

Pages are plain Markdown and stay where they are. What is only of the site is here: the navigation, which is made from the links of the
contents pages, and the theme.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

project = "DPSynth Studio"
author = "the authors of DPSynth Studio"
html_title = project
root_doc = "README"
extensions = ["myst_parser"]
include_patterns = ["*.md", "docs/**.md", "assets/guide/*.md", "benchmarks/README.md", "benchmarks/results/*.md"]
exclude_patterns = [".*", "build", "tests", "dpsynth_core", "test-artifacts"]
nitpicky = True
linkcheck_ignore = [r"https?://(localhost|127\.0\.0\.1)"]
linkcheck_anchors = False  # pages that scripts build
highlight_language = "none"
myst_heading_anchors = 4

html_theme = "pydata_sphinx_theme"
html_favicon = html_logo = "../assets/icon.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # they are fetched, which a browser does not do from a disk
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"README": []}
html_theme_options = {
    "logo": {"text": project},
    "navbar_end": ["theme-switcher"],
    "primary_sidebar_end": [],
    "show_toc_level": 2,
    "footer_start": [],
    "footer_end": [],
}


def _add_navigation(_: object, page: str, source: list[str]) -> None:
    """A contents page leads to the first page that each of its list items and rows links to, in their order."""
    if page.startswith("benchmarks/results/"):
        source[0] = f"---\norphan: true\n---\n\n# Results of {Path(page).name}\n\n{source[0]}"
    elif Path(page).name == "README" and (below := re.findall(r"^[-|] .*?\]\((?!https?:)([^)#]+\.md)\)", source[0], flags=re.MULTILINE)):
        source[0] += "\n".join(["", "```{toctree}", ":hidden:", "", *dict.fromkeys(below), "```", ""])


def _add_index(app: Any, _: object) -> None:
    """Browsers and servers open `index.html`."""
    if (Path(app.outdir) / f"{root_doc}.html").exists():
        shutil.copyfile(Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Any) -> None:
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _add_index)
