"""Sweeps have a home of their own here, as in `tests/store`."""

from tests.store.conftest import driver, everybody_may, home, make_spec, no_workers, project, pytest_generate_tests, table

__all__ = ["driver", "everybody_may", "home", "make_spec", "no_workers", "project", "pytest_generate_tests", "table"]
