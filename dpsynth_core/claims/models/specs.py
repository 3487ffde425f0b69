"""A column that models are to predict, as a spec names it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

MAX_MODELS = 20
"""Largest number of columns to predict."""


class ModelSpec(BaseModel):
    """A column that models are to predict.

    Attributes:
        column: The column.
        tolerance: Allowed distance of a guessed number, in the column's unit. None means a tenth of the column's range, or the median width
            of its bins if that is larger.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    column: str = Field(max_length=1000)
    tolerance: float | None = Field(default=None, gt=0)
