"""What a download costs the server in memory: a large release, taken away by two browsers one after the other.

    python -m benchmarks downloads --rows 1000000 10000000

Independent writes so many rows over half of the simulated people's twelve columns. Then Chromium, with a new window for each download,
clicks on the bundle and on the rows as CSV. Told are the server's resident set before, its largest meanwhile, and what is left once the
window is closed; and its processor seconds. Needs Linux and the development packages.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.pages import COLUMNS
from benchmarks.server import chromium, cpu_ms, demo_draft, forget_peak, memory_mb, released, serving

FILES, VISITS = ("bundle", "csv"), 2
_AT_ONCE_MS = 600_000
_SETTLED_SECONDS = 5.0
_FAST = {"name": "independent", "settings": {}}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, rows=[1_000_000, 10_000_000], label="now")
    parser.add_argument("--place", type=Path, help="folder on whose disk all of it is (default: where temporary files are)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        os.environ["DPSYNTH_HOME"] = str(Path(place) / "home")
        os.environ["TMPDIR"] = place
        taken: list[dict[str, Any]] = []
        for rows in options.rows:  # one server for each size of release
            draft = demo_draft(COLUMNS, workload={"kind": "all", "k": 2}, mechanism=_FAST, output={"rows": rows, "seed": None})
            project = released(f"{rows} rows", draft)
            with serving() as (url, pid), chromium() as browser:
                for file, visit in product(FILES, range(VISITS)):
                    taken.append({"rows": rows, "file": file, "visit": visit + 1, **_download(browser, url, pid, project, file)})
    kept = options.results / "downloads"
    records = record.instead(record.earlier(kept), {**record.machine(), "label": options.label, "downloads": taken}, "label")
    record.write(kept, records, _lines(records))


def _download(browser: Any, url: str, pid: int, project: str, file: str) -> dict[str, float]:
    from dpsynth_core.store import access_token

    context = browser.new_context(accept_downloads=True)
    window = context.new_page()
    window.set_default_timeout(_AT_ONCE_MS)
    window.goto(f"{url}/results?project={project}&view=downloads&token={access_token.load()}")
    if file != "bundle":
        window.get_by_text("Single files", exact=True).click()
    button = window.locator(f".st-key-offer_{file}").locator("a, button").first
    button.wait_for()
    time.sleep(_SETTLED_SECONDS)
    before, cpu = memory_mb(pid, "VmRSS"), cpu_ms(pid)
    forget_peak(pid)
    with window.expect_download() as download:
        button.click()
    size = Path(download.value.path()).stat().st_size
    peak, cpu = memory_mb(pid, "VmHWM"), cpu_ms(pid) - cpu
    context.close()
    time.sleep(_SETTLED_SECONDS)
    after = memory_mb(pid, "VmRSS")
    numbers = {"mb": size / 1e6, "before_mb": before, "peak_mb": peak, "after_mb": after, "cpu_seconds": cpu / 1000}
    return {name: round(number, 1) for name, number in numbers.items()}


def _lines(records: Sequence[dict[str, Any]]) -> list[str]:
    heads = ("rows", "file", "its MB", "browser", "MB before", "at most", "afterwards", "processor seconds")
    lines = ["Resident memory of the server around downloads, by `python -m benchmarks downloads`.", ""]
    for kept in records:
        rows = []
        for one in kept["downloads"]:
            memory = (f"{one[name]:,.0f}" for name in ("before_mb", "peak_mb", "after_mb"))
            rows.append([f"{one['rows']:,}", one["file"], f"{one['mb']:,.0f}", one["visit"], *memory, f"{one['cpu_seconds']:.1f}"])
        lines += [f"**{kept['label']}**: {kept['day']}, {kept['cores']} cores, revision {kept['versions']['revision']}.", ""]
        lines += [*record.table(heads, rows), ""]
    return lines
