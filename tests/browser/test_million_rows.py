"""A million rows through the wizard, from the upload to the download, while the server's own memory stays within a limit."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LONG_MS, Server, decline_comparison, download, new_project, opened, seal_and_run, settled, use_table
from tests.browser.test_release_end_to_end import go_to_mechanism
from tests.web.test_large_uploads import memory_mb

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a run over a million rows

ROWS = 1_000_000
SIZES = {"age": 90, "sex": 2, "region": 12, "work": 6, "health": 5, "home": 4}
MOST_MB = 1000
"""Of the server's process: it has 250 MB with all pages open, and an upload is in memory until it is stored."""


def test_a_million_rows_come_through_the_wizard(page: Page, start_server: object, tmp_path: Path) -> None:
    server: Server = start_server()  # type: ignore[operator]
    rng = np.random.default_rng(0)
    table = pa.table({name: np.char.add("v", rng.integers(0, size, ROWS).astype(str)) for name, size in SIZES.items()})
    arrow_csv.write_csv(table, tmp_path / "people.csv")
    domain = {name: {"kind": "categorical", "categories": [f"v{code}" for code in range(size)]} for name, size in SIZES.items()}
    (tmp_path / "domain.json").write_text(json.dumps({"version": 1, "attributes": [{"name": name} | one for name, one in domain.items()]}))

    new_project(opened(page, server), "A million")
    use_table(page, tmp_path / "people.csv", len(SIZES), "People of a country")
    page.get_by_role("button", name="Load a codebook").click()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "domain.json")
    expect(page.get_by_text(f"{len(SIZES)} of {len(SIZES)} columns used")).to_be_visible()
    settled(page)
    decline_comparison(page)
    go_to_mechanism(page, "Tables of two columns")
    seal_and_run(page)
    expect(page.get_by_role("link", name="See the results")).to_be_visible(timeout=4 * LONG_MS)
    page.get_by_role("link", name="See the results").click()
    expect(page.get_by_text("May this be published?").first).to_be_visible(timeout=LONG_MS)
    page.get_by_text("Downloads", exact=True).click()
    with zipfile.ZipFile(io.BytesIO(download(page, "bundle"))) as bundle:
        rows = arrow_csv.read_csv(io.BytesIO(bundle.read("synthetic.csv")))
    assert rows.num_rows == pytest.approx(ROWS, rel=0.001)  # under add-remove the number is noisy
    assert rows.column_names == list(SIZES)
    assert memory_mb(server, "VmHWM") < MOST_MB
