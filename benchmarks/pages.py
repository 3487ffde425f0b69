"""How long it takes to switch pages, as a user of the demo sees it: from the click until the page is drawn, in Chromium.

    python -m benchmarks pages                     # every page, each from its neighbour, --rounds 3

Beside it the processor time of the server, which a busy machine changes little. A server of its own with a project over part of the demo,
two finished runs and a finished sweep. The first visit of each page, which makes its charts, is told apart. Chromium: the file named by
CHROMIUM, else /usr/bin/chromium, else Playwright's own (a development package).
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.server import chromium, cpu_ms, demo_draft, serving

GOAL_MS = 300
PAGES = ("Data", "Domain", "Workload", "Budget", "Mechanism", "Results", "Trade-offs", "Compare", "Ledger", "Guide")
COLUMNS = ("age", "sex", "region", "education", "health", "commute")
WATCH = """() => new Promise(done => {
  const app = document.querySelector('[data-testid="stApp"]'), start = performance.now();
  const link = [...document.querySelectorAll('[data-testid="stSidebarNavLink"]')].find(a => a.textContent.includes(TITLE));
  const look = () => {  // the page before has another title; a script may be done before the next frame, so that nobody sees it run
    const state = app.getAttribute('data-test-script-state'), title = document.querySelector('h1');
    if (state !== 'running' && title && title.textContent.includes(TITLE)) done(performance.now() - start);
    else requestAnimationFrame(look);
  };
  link.click(); look();
})"""


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(__doc__, rounds=3).parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        os.environ["DPSYNTH_HOME"] = str(Path(place) / "home")
        project = _prepared()
        with serving() as (url, pid):
            seconds_by_page = _switches(url, pid, project, options.rounds)
    kept: dict[str, Any] = {
        **record.machine(),
        "load": round(os.getloadavg()[0], 1),
        "rounds": options.rounds,
        "milliseconds": {page: _summary(switches) for page, switches in seconds_by_page.items()},
    }
    about = (
        f"From the click until the page is drawn, in milliseconds; the goal is {GOAL_MS}. `python -m benchmarks pages`, {kept['day']},"
        f" {kept['cores']} cores, load {kept['load']} at the end, {options.rounds} visits of each page."
    )
    heads = ("page", "first visit", "processor time of the server", "later visits, median", "at worst", "processor time of the server")
    rows = ((page, *times.values()) for page, times in kept["milliseconds"].items())
    record.write(options.results / "pages", kept, [about, "", *record.table(heads, rows)])


def _summary(switches: Sequence[tuple[float, float]]) -> dict[str, int]:
    """Of (wall clock, processor time of the server) of each switch, in milliseconds; the first one by itself."""
    first, *later = switches
    took, busy = zip(*later, strict=True)
    median, cpu = (round(statistics.median(values)) for values in (took, busy))
    one, one_cpu = map(round, first)
    return {"first": one, "first_server_cpu": one_cpu, "median": median, "worst": round(max(took)), "server_cpu": cpu}


def _prepared() -> str:
    """A project over part of the demo, with two finished runs and a finished sweep; its id."""
    from dpsynth_core.extensions.tradeoffs import sweep_form, sweeps
    from dpsynth_core.sources import demo
    from dpsynth_core.store import dispatch, projects, runs
    from dpsynth_core.store.home import LOCAL_OWNER
    from dpsynth_core.web.domain.column_draft import ColumnDraft
    from dpsynth_core.web.shell import document

    draft = demo_draft(COLUMNS, workload={"kind": "all", "k": 3}, mechanism={"name": "mst", "settings": {}})
    rows = list(map(ColumnDraft.of, demo.demo_domain().keep(COLUMNS).columns))
    draft["wizard"] |= {"rows": [row.to_json() for row in rows], "tradeoffs": {"mechanisms": ["mst", "independent"], "repeats": 1}}
    project = projects.create(LOCAL_OWNER, "Demo", draft).id
    sweep = sweeps.submit(LOCAL_OWNER, project, sweep_form.sweep_of(draft, "Demo"))
    made = [runs.submit(LOCAL_OWNER, project, document.spec(draft, "Demo")) for _ in range(2)]
    while sweeps.get(LOCAL_OWNER, sweep).active or any(runs.get(LOCAL_OWNER, run).active for run in made):
        time.sleep(0.2)
        dispatch.pump()
    return project


def _switches(url: str, pid: int, project: str, rounds: int) -> Mapping[str, list[tuple[float, float]]]:
    """Milliseconds of each switch, by page."""
    from dpsynth_core.store import access_token

    seconds_by_page: dict[str, list[tuple[float, float]]] = {page: [] for page in PAGES}
    with chromium() as browser:
        window = browser.new_page(viewport={"width": 1280, "height": 720})
        window.goto(f"{url}/ledger?project={project}&token={access_token.load()}")
        window.wait_for_selector("h1")
        window.wait_for_timeout(2000)
        for _ in range(rounds + 1):
            for page in PAGES:
                before = cpu_ms(pid)
                took = window.evaluate(WATCH.replace("TITLE", json.dumps(page)))
                busy = cpu_ms(pid) - before
                window.wait_for_timeout(1200)  # charts are drawn after the page, and must not slow the next switch down
                if window.get_by_text("This step opens when").count():
                    raise RuntimeError(f"{page} is locked: it is not what was to be measured")
                seconds_by_page[page].append((float(took), busy))
    return seconds_by_page
