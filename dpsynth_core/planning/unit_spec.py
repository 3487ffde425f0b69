"""Whose privacy a release protects, and whose account it is charged to: what the ledger knows of a spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dpsynth_core.privacy.unit import REPLACE

UNNAMED = "not in the ledger"
"""Population of a release that no ledger was charged for."""


class Part(BaseModel):
    """A part of a spec: frozen, strict, and without fields of other names."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """None: a spec names a path and people, and may be printed by a notebook or with a traceback that others read."""
        return ()


class UnitSpec(Part):
    """Whose privacy: which tables are neighbours, and how many rows one person owns."""

    relation: Literal["add-remove", "replace"] = "add-remove"
    person_column: str | None = None
    max_rows_per_person: int = Field(default=1, ge=1, le=1_000_000)

    @property
    def words(self) -> str:
        """What is protected, for people: as in "this protects ..."."""
        change = "replaced" if self.relation == REPLACE else "added or removed"
        if self.person_column is None:
            return f"one row, {change}"
        rows = f"{self.max_rows_per_person:,} row{'s' * (self.max_rows_per_person != 1)}"
        return f"one person of column {self.person_column!r} with at most {rows}, {change}"
