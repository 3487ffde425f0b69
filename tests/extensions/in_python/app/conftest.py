"""Pages are driven here as in `tests/app`."""

from tests.app.conftest import home, no_components, no_failures, owner, router

__all__ = ["home", "no_components", "no_failures", "owner", "router"]
