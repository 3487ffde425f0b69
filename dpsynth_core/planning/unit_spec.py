"""The unit of privacy and the charged population: the parts of a spec that the ledger knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dpsynth_core.privacy.unit import REPLACE

UNNAMED = "not in the ledger"
"""Population of a release that was charged to no ledger."""


class Part(BaseModel):
    """A part of a spec: frozen, strict, and without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show no field: a spec names a path and people, and notebooks and tracebacks are read by others."""
        return ()


class UnitSpec(Part):
    """The unit of privacy: the neighbouring relation, and how many rows one person owns."""

    relation: Literal["add-remove", "replace"] = "add-remove"
    person_column: str | None = None
    max_rows_per_person: int = Field(default=1, ge=1, le=1_000_000)

    @property
    def words(self) -> str:
        """The protected unit in words, such as "one row, added or removed"."""
        change = "replaced" if self.relation == REPLACE else "added or removed"
        if self.person_column is None:
            return f"one row, {change}"
        rows = f"{self.max_rows_per_person:,} row{'s' * (self.max_rows_per_person != 1)}"
        return f"one person of column {self.person_column!r} with at most {rows}, {change}"
