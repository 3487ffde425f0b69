"""The pictures of the documentation: the Results page over a release of the demo, as a browser draws it.

    python -m benchmarks pictures                      # writes docs/pictures/

Chromium: the file named by CHROMIUM, else /usr/bin/chromium, else Playwright's own (a development package).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import record
from benchmarks.server import chromium, demo_draft, released, serving
from benchmarks.table import ROOT

COLUMNS = ("age", "sex", "region", "education", "employment", "income", "health", "commute")
WINDOW = {"width": 1280, "height": 2600}
"""High enough for the whole page, of which each picture is a part."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.options(__doc__, out=ROOT / "docs" / "pictures").parse_args(arguments)
    options.out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.environ["DPSYNTH_HOME"] = str(Path(place) / "home")
        project = released("Demo release", demo_draft(COLUMNS, workload={"kind": "all", "k": 3}))
        with serving() as (url, _):
            for name, picture in _taken(f"{url}/results?project={project}"):
                (options.out / f"{name}.png").write_bytes(picture)
                print(f"{name}.png: {len(picture):,} bytes")


def _taken(address: str) -> Iterator[tuple[str, bytes]]:
    """Name and PNG of each picture."""
    from dpsynth_core.store import access_token

    with chromium() as browser:
        window = browser.new_page(viewport=WINDOW)
        window.goto(f"{address}&token={access_token.load()}")
        charts = window.locator('[data-testid="stVegaLiteChart"] svg.marks')
        charts.first.wait_for()
        window.locator("summary").filter(has_text="Every table").click()
        charts.nth(2).wait_for()
        window.mouse.move(0, 0)
        window.wait_for_timeout(2000)  # whatever still moves until it is in place
        top = window.get_by_text("Which tables can I trust?").bounding_box()["y"] - 20
        for name, clip in {
            "results": {"x": 0, "y": 0, "width": 1280, "height": 990},
            "errors": {"x": 300, "y": top, "width": 960, "height": 800},
        }.items():
            yield name, window.screenshot(clip=clip)
