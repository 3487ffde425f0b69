"""The column of survey weights in a spec, and what a release states of weighted tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, cast

from pydantic import BaseModel, ConfigDict, Field

from dpsynth_core.claims.certificate import Certificate
from dpsynth_core.statistics.totals import Total

NUMBERS = ("integer", "numeric")
USUAL_SHARE = 0.05
"""Of the budget, where a column is named as the weight and nothing else is said."""
_MOST_TABLES = 50


class WeightSpec(BaseModel):
    """The column of survey weights, and the weighted tables that are asked for.

    Attributes:
        column: The column whose numbers are the weights of the records, or of the households.
        totals: By column and cell, public totals that the weights are calibrated to instead of measured ones. Of two linked tables, columns
            of households count households and columns of members count members.
        tables: Tables of several columns, whose weighted errors are measured too. A table with a column of members counts members.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    column: str = Field(max_length=1000)
    totals: dict[str, dict[str, float]] = Field(default_factory=dict)
    tables: list[list[str]] = Field(default_factory=list, max_length=_MOST_TABLES)


@dataclass(frozen=True)
class WeightedTable:
    """The measured weighted table of a column.

    Attributes:
        column: The column.
        measured: Noisy total weight of the people in each cell, in steps (`Measured.step`).
    """

    column: str
    measured: tuple[float, ...]


@dataclass(frozen=True)
class Measured:
    """The weighted tables of single columns, as measured.

    Attributes:
        step: The weight that a count of 1 stands for.
        total: The sum of all weights in steps, estimated from the tables.
        sigma: Standard deviation of the noise in a cell of the tables, in steps.
        tables: One table per column.
        members: The tables of members, for two linked tables; the other attributes are then about households.
        believed: The sum, in steps, that the calibrated weights get: the mean of the measured sum and of the rows' own sum, weighted by
            precision. None in releases of older versions, which took the measured sum.
    """

    step: float
    total: Total
    sigma: float
    tables: tuple[WeightedTable, ...]
    members: Measured | None = None
    believed: float | None = None

    @property
    def parts(self) -> tuple[Self, ...]:
        """The tables of rows or households first, then the tables of members for two linked tables."""
        return (self,) if self.members is None else (self, cast(Self, self.members))


@dataclass(frozen=True, kw_only=True)
class Weighted(Measured):
    """The measured weighted tables, and the errors of the calibrated rows.

    Attributes:
        rows: Sum of the calibrated weights.
        certificate: Errors of the weighted tables of the calibrated rows: of each other column, and of the tables that the plan names. Its
            counts are steps instead of people.
        members: Tables and errors of the members, for two linked tables.
    """

    rows: float
    certificate: Certificate
    members: Weighted | None = None
