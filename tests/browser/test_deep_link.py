"""A fresh server answers every address through app.py: no page runs around the router, its headers or its locks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, opened

pytestmark = pytest.mark.browser


def test_deep_links_into_a_fresh_server_go_through_the_router(page: Page, start_server: Callable[..., Server]) -> None:
    fresh = start_server()
    for name in ("budget", "results"):
        opened(page, fresh, f"/{name}")
        expect(page.get_by_role("heading", level=1)).to_have_text(name.capitalize())
        expect(page.get_by_text("This step opens when the steps before it are done")).to_be_visible()
        expect(page.get_by_test_id("stSidebarNavLink").filter(has_text="Ledger")).to_be_visible()
        expect(page.get_by_label("Project").first).to_be_visible()
        page.get_by_role("link", name="Go on with Data").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Data")


def test_the_first_step_has_an_address_of_its_own_too(page: Page, server: Server) -> None:
    opened(page, server, "/data")
    expect(page.get_by_role("heading", level=1)).to_have_text("Data")
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_test_id("stSidebarNavLink").filter(has_text="Data")).to_have_count(1)


def test_a_page_file_served_on_its_own_refuses(page: Page, start_server: Callable[..., Server]) -> None:
    page.goto(start_server(script="pages/ledger.py").url)
    expect(page.get_by_text("This page can only be opened through the wizard.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(0)


def test_nothing_is_fetched_from_another_host(page: Page, server: Server) -> None:
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]) if request.url.startswith("http") else None)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)
    opened(page, server)
    assert hosts == {server.url.split("/")[2]}
    assert complaints == []
