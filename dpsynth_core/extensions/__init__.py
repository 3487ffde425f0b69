"""Built-in extensions: features that the core does not import, each in a folder that can be deleted (`foundation.extension`)."""

BUILT_IN: tuple[str, ...] = (
    "archives", "attacks", "audit", "cluster", "criteria", "databases", "disclosure", "dummy", "evidence", "holdout", "in_python",
    "intervals", "marks", "noise_check", "programs", "queries", "repeated", "research", "rows_from", "sequences",
    "survey_files", "tradeoffs",
)
"""Folders of the extensions. How to delete one is in ARCHITECTURE.md, and `tests/extensions/test_deletion.py` does it."""
