"""A column of which nothing is understood: said on the Domain page before it is passed, and in the headline of the Results page."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.domain import domain_table
from dpsynth_core.web.domain.column_draft import blank
from tests.app.demo_project import draft, finished_run, project
from tests.browser.conftest import Server, opened, settled

pytestmark = pytest.mark.browser


def spelled_otherwise() -> str:
    """A project with an uploaded table that writes F and M where its domain says f and m, and a finished run of it."""
    rng, people = np.random.default_rng(4), 4_000
    table = pd.DataFrame({name: rng.choice(list(values), people) for name, values in {"smoker": "yn", "work": "abc", "sex": "FM"}.items()})
    rows = [blank(name).changed(categories=list(values)) for name, values in {"smoker": "yn", "work": "abc", "sex": "fm"}.items()]
    domain = domain_table.domain_of(rows)
    assert isinstance(domain, Domain)
    fields = draft(domain=domain.to_json(), domain_origin="codebook")
    fields["wizard"] |= {"columns": list(table), "source": "upload", "label": "people.csv", "rows": [row.to_json() for row in rows]}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "people.csv", io.BytesIO(table.to_csv(index=False).encode()))
    projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), "kind": "csv"}})
    assert finished_run(place).state == "done"
    return place


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_column_that_is_not_understood_is_said_before_and_after(page: Page, server: Server, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        place = spelled_otherwise()
    opened(page, server, f"/domain?project={place}")
    expect(page.get_by_text("no value of the first 1,000 records is in its list")).to_be_visible()
    page.get_by_role("button", name="Go on without").click()
    settled(page)
    going_on = page.get_by_role("button", name="Continue")
    expect(going_on).to_be_disabled()
    page.get_by_text("I know. Go on with these columns.").click()
    settled(page)
    expect(going_on).to_be_enabled()
    opened(page, server, f"/results?project={place}")
    expect(page.get_by_text("Column “sex” was not read").first).to_be_visible()
    expect(page.get_by_text("a larger budget would not help").first).to_be_visible()
    expect(page.get_by_text("What would help?")).to_have_count(0)
    expect(page.get_by_text("Publish for tables of up to two columns.")).to_have_count(0)
