"""A home of its own for every test, as for the other doors of Python programs."""

from tests.interface.conftest import home

__all__ = ["home"]
