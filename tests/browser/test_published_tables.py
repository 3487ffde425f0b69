"""A published table in a real browser: uploaded with where it is from, there after a reload, and kept by the rows."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from dpsynth_core.inference.publishing import rows_off
from dpsynth_core.store import runs
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import finished_run
from tests.browser.conftest import Server, fill, in_project, settled, simulated

pytestmark = pytest.mark.browser


def test_a_published_table_is_kept_by_every_row(page: Page, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "sexes.csv"
    table.write_text("sex,count\nfemale,3000\nmale,1000\n")
    in_project(page, server, "Published", "domain", simulated(workload={"kind": "all", "k": 1}))
    page.get_by_text("Published tables of these people").click()
    expect(page.get_by_text("never published are private")).to_be_visible()
    fill(page, "Where was it published?", "Census 2021, table 4")
    settled(page)
    page.locator("input[type=file]").last.set_input_files(table)
    expect(page.get_by_text("(Census 2021, table 4)")).to_be_visible()
    settled(page)
    page.reload()
    expect(page.get_by_text("(Census 2021, table 4)")).to_be_visible()
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    made = runs.release(LOCAL_OWNER, finished_run(parse_qs(urlsplit(page.url).query)["project"][0]).id)
    (off,) = rows_off(made.domain, np.asarray(made.codes))
    assert off < 1
