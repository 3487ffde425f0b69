"""Pages are driven here as in `tests/app`."""

from __future__ import annotations

from tests.app.conftest import no_components, no_failures, owner, router

__all__ = ["no_components", "no_failures", "owner", "router"]
