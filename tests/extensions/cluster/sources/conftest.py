"""An object store with tables, as in `tests/sources/test_locations.py`."""

from tests.sources.test_locations import bucket, expected

__all__ = ["bucket", "expected"]
