"""All groups of cases: importing their modules registers them."""

from __future__ import annotations

from tests.hostile import bundles, commands, degenerate, documents, other_files, tables
from tests.hostile.attempts import GROUPS

__all__ = ["GROUPS", "bundles", "commands", "degenerate", "documents", "other_files", "tables"]
