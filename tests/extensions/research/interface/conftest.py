"""A home of its own for every test, as in `tests/interface`."""

from tests.interface.conftest import home

__all__ = ["home"]
