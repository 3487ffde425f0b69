"""Pages are driven here in Chromium, as in `tests/browser`."""

from tests.browser.conftest import browser, page, profile, server

__all__ = ["browser", "page", "profile", "server"]
