"""Pages are driven here in Chromium, as in `tests/browser`."""

from tests.browser.conftest import browser, page, profile, released, server, start_server

__all__ = ["browser", "page", "profile", "released", "server", "start_server"]
