"""Python programs have here the home that they have in `tests/interface`."""

from tests.interface.conftest import home

__all__ = ["home"]
