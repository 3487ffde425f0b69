"""States of the pages Results, Compare, Ledger, Verify and Guide whose text is kept in `snapshots/`.

Runs have a seed, so that the same tables are good enough each time.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpsynth_core.web.results import quality_view
from tests.app.demo_project import finished_run, open_page, project
from tests.app.page_texts import State
from tests.bundle import pack
from tests.golden import goldens

_SEED: dict[str, Any] = {"output": {"rows": None, "seed": 7}}
_VIEWS = ("columns", "pairs", "rows", "downloads")
_CERTIFIED = {"budget": {"epsilon": 5.0, "delta": 1e-9, "certificate": 0.1}}
_TABS = {"ideas": "Ideas", "mechanisms": "Mechanisms", "reading": "Reading results", "limits": "Not protected", "glossary": "Glossary"}


def _results(_: Path, view: str, **fields: Any) -> AppTest:
    """Open the Results page of a finished run at a view, with every table shown."""
    place = project(**_SEED | fields)
    finished_run(place)
    app = open_page("results", place)
    app.session_state["results_view"] = view
    app.session_state[quality_view.EVERY_TABLE] = True
    return app.run()


def _empty(_: Path, page: str) -> AppTest:
    return open_page(page, project())


def _one_run(_: Path) -> AppTest:
    place = project(**_SEED)
    finished_run(place)
    return open_page("compare", place)


def _charged(_: Path) -> AppTest:
    place = project(**_SEED)
    finished_run(place)
    return open_page("ledger", place)


def _inconsistent(_: Path) -> AppTest:
    app = open_page("verify", project())
    app.file_uploader[0].set_value(("release.zip", pack.pack(goldens.kept("aim")), "application/zip"))
    return app.run()


def _guide(_: Path, tab: str) -> AppTest:
    app = open_page("guide", project())
    app.session_state["guide_tab"] = tab
    return app.run()


STATES: dict[str, State] = {
    "results-locked": partial(_empty, page="results"),
    "results-certified": partial(_results, view="tables", **_CERTIFIED),
    "results-without-a-certificate": partial(_results, view="tables"),
    "results-answers": partial(_results, view="tables", mechanism={"name": "gaussian", "settings": {}}),
    "results-withheld": partial(_results, view="downloads", criteria=[{"kind": "tables", "limit": 0.00001}]),
    **{f"results-{view}": partial(_results, view=view, **_CERTIFIED) for view in _VIEWS},
    "compare-empty": partial(_empty, page="compare"),
    "compare-one-run": _one_run,
    "ledger-empty": partial(_empty, page="ledger"),
    "ledger-charged": _charged,
    "verify-empty": partial(_empty, page="verify"),
    "verify-inconsistent": _inconsistent,
    **{f"guide-{name}": partial(_guide, tab=title) for name, title in _TABS.items()},
}
