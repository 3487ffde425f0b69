"""What the extension adds to lists in tests of the core (`tests.additions.listed`)."""

PAGES = ("tradeoffs",)
"""Pages that are open at any time."""
OPENERS = ("extensions.tradeoffs",)
"""Rooms that may open a table of records."""
SEE_TRUTH = ("extensions.tradeoffs",)
"""Rooms that compute true counts, which no file holds."""
