"""How long each page takes to open for a table of many columns: in a script without a browser, and in Chromium.

    python -m benchmarks wide_pages                              # 300 columns, all pairs, --rounds 2
    python -m benchmarks wide_pages --columns 100 --mechanism mst

The table is invented. One project over it is ready to run; the pages Results and Trade-offs are those of another, which ran. Without a
browser: the seconds of one run of the page's script, in a session of its own, by the clock and, which a busy machine changes little, by
the processor. In Chromium: from the click in the sidebar until the page is drawn. The first visit of a page works out what later visits
find in a cache, so both are given. The goal is 3 s. Chromium is found as in `benchmarks/server.py`.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import record
from benchmarks.invented import Invented, sizes, write
from benchmarks.pages import WATCH
from benchmarks.server import chromium, released, serving
from benchmarks.table import ROOT
from benchmarks.wide import SIZES

GOAL_SECONDS = 3.0
PAGES = ("Data", "Domain", "Workload", "Budget", "Mechanism", "Results", "Trade-offs")
_LONGEST_MS = 180_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the pages, write the record and print its table."""
    parser = record.parser(__doc__, columns=300, rows=5_000, rounds=2, mechanism="independent")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        os.environ["DPSYNTH_HOME"] = str(Path(place) / "home")
        planned, finished = prepared(Path(place), options.columns, options.rows, options.mechanism)
        of_page = {page: finished if page in PAGES[-2:] else planned for page in PAGES}
        with admitted():
            scripts = {page: [script_seconds(page, of_page[page]) for _ in range(options.rounds)] for page in PAGES}
        with serving() as (url, _):
            browser = browser_seconds(url, planned, PAGES[:-2], options.rounds) | browser_seconds(url, finished, PAGES[-2:], options.rounds)
    kept: dict[str, Any] = {
        **record.machine(),
        **{name: getattr(options, name) for name in ("columns", "rows", "mechanism", "rounds")},
        "load": round(os.getloadavg()[0], 1),
        "script_seconds": {page: [round(seconds, 2) for seconds, _ in taken] for page, taken in scripts.items()},
        "processor_seconds": {page: [round(seconds, 2) for _, seconds in taken] for page, taken in scripts.items()},
        "browser_seconds": {page: [round(seconds, 2) for seconds in taken] for page, taken in browser.items()},
    }
    about = (
        f"Seconds to open a page for {kept['columns']} columns and all their pairs; the goal is {GOAL_SECONDS:g}. `python -m benchmarks"
        f" wide_pages`, {kept['day']}, {kept['cores']} cores, load {kept['load']} at the end."
    )
    kinds = {"script_seconds": "script", "processor_seconds": "processor of the script", "browser_seconds": "Chromium"}
    heads = ("page", *(f"{title}, {visit}" for title in kinds.values() for visit in ("first", "later")))
    rows = ((page, *(number for kind in kinds for number in _ends(kept[kind][page]))) for page in PAGES)
    record.write(options.results / "wide_pages", kept, [about, "", *record.table(heads, rows)])


def _ends(taken: Sequence[float]) -> tuple[float, float]:
    """Return the seconds of the first visit, and the median of the later ones (of all if there is only one)."""
    return taken[0], round(statistics.median(taken[1:] or taken), 2)


def prepared(folder: Path, columns: int, rows: int, mechanism: str) -> tuple[str, str]:
    """Return the ids of two projects over an invented table: one ready to run, one with a finished run.

    Args:
        folder: Where the table is written.
        columns: The number of columns.
        rows: The number of people, one row each.
        mechanism: The name of the mechanism of the run and of the draft.
    """
    from dpsynth_core.store import projects
    from dpsynth_core.store.home import LOCAL_OWNER
    from dpsynth_core.vocabulary.domain import Domain
    from dpsynth_core.web.domain.column_draft import ColumnDraft
    from dpsynth_core.web.shell import document

    table = Invented(f"wide-{columns}", rows, sizes(columns, SIZES[300], seed=columns), seed=columns)
    data, stated = write(table, folder)
    domain = Domain.from_json(json.loads(stated.read_text(encoding="utf-8")))
    draft: dict[str, Any] = document.new() | {
        "population": "Invented people",
        "data": {"path": str(data), "kind": "parquet"},
        "domain": domain.to_json(),
        "domain_origin": "codebook",
        "workload": {"kind": "all", "k": 2},
        "mechanism": {"name": mechanism, "settings": {}},
    }
    drawn = [ColumnDraft.of(column).to_json() for column in domain.columns]
    known = {"passed": ["data", "domain", "workload", "budget"], "source": "path", "label": data.name, "people": rows}
    draft["wizard"] |= known | {"columns": list(domain.names), "rows": drawn}
    return projects.create(LOCAL_OWNER, "Wide, planned", draft).id, released("Wide, finished", draft)


@contextmanager
def admitted() -> Iterator[None]:
    """Let scripts without a browser in, with the cookie of the person who runs the server, and open every page through the router."""
    from streamlit.runtime.context import ContextProxy
    from streamlit.runtime.pages_manager import PagesManager

    from dpsynth_core.web.shell.door.personal import Personal

    begin = PagesManager.__init__

    def routed(manager: PagesManager, *arguments: Any, **options: Any) -> None:
        PagesManager.uses_pages_directory = False
        begin(manager, *arguments, **options)

    door = Personal()
    cookies = property(lambda _: {door.cookie: door.pass_value})
    with patch.object(ContextProxy, "cookies", cookies), patch.object(PagesManager, "__init__", routed):
        yield


def script_seconds(page: str, project: str) -> tuple[float, float]:
    """Return the seconds by the clock and by the processor of one run of a page's script in a new session."""
    from streamlit.testing.v1 import AppTest

    from dpsynth_core.web.shell import steps

    name = next(step.name for step in (*steps.STEPS, *steps.ALWAYS) if step.title == page)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=_LONGEST_MS / 1000)
    app.query_params["project"] = project
    if name != steps.STEPS[0].name:
        app.switch_page(f"pages/{name}.py")
    began, busy = time.perf_counter(), time.process_time()
    app.run()
    took = time.perf_counter() - began, time.process_time() - busy
    locked = any("This step opens when" in str(one.value) for one in app.info)
    if app.exception or locked or page not in app.title[0].value:
        raise RuntimeError(f"{page} did not open: {[one.value for one in app.exception]}")
    return took


def browser_seconds(url: str, project: str, pages: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each visit by page, from the click in the sidebar until the page is drawn."""
    from dpsynth_core.store import access_token

    seconds: dict[str, list[float]] = {page: [] for page in pages}
    with chromium() as browser:
        window = browser.new_page(viewport={"width": 1280, "height": 720})
        window.set_default_timeout(_LONGEST_MS)
        window.goto(f"{url}/ledger?project={project}&token={access_token.load()}")
        window.wait_for_selector("h1")
        window.wait_for_timeout(2000)
        for _ in range(rounds):
            for page in pages:
                seconds[page].append(float(window.evaluate(WATCH.replace("TITLE", json.dumps(page)))) / 1000)
                window.wait_for_timeout(1500)
                if window.get_by_text("This step opens when").count():
                    raise RuntimeError(f"{page} is locked: it is not what was to be measured")
    return seconds
