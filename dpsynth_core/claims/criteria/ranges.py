"""The criterion "of every range of a column, from 30 to 45 say, the share of people in it is as the release has it, within a limit".

The largest |M - T p| over all ranges is measured once, M being the people in one, T what is taken for their number N and p the share of
the rows. It is off from N times the largest error by |T - N| p at most, as an L1 distance of shares is by |T - N| times their sum: twice
the one is measured as the other is, where sums of shares are 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from typing_extensions import override

from dpsynth_core.claims.criteria.conditions import known_column
from dpsynth_core.claims.criteria.criterion import OFF_BY, UNKNOWN, Entries, Entry, Field, MeasuredCriterion, Published, positive
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.rounds import sigma_for
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.error_bounds import largest
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import FEWEST_IN_ORDER, Workload


@dataclass(frozen=True)
class RangesWithin(MeasuredCriterion):
    """A criterion on every range of a column, e.g. {"kind": "ranges", "column": "age", "limit": 0.02}.

    Attributes:
        column: A column of numbers, dates or ordered categories.
        limit: Largest error, as a share of people, a fraction.
    """

    kind: ClassVar[str] = "ranges"
    title: ClassVar[str] = "Every range of a column, such as ages from 30 to 45"
    form: ClassVar[tuple[Field, ...]] = (Field("limit", OFF_BY, Entry.PERCENT, 0.02), Field("column", "Column", Entry.NUMBER))
    unit_of_error: ClassVar[str] = "of the people"

    column: str
    limit: float

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Place of the criterion in the spec, with which the fields of errors begin.

        Raises:
            InputError: The column is missing, unknown, still to be learnt or has fewer than 3 cells in an order, the
                limit is not above 0 and below 1, importance or name cannot be used, or another entry is stated.
        """
        common, name = cls.common(entries, field), entries.get("column")
        remedy = "name a column of numbers, of dates or of categories in an order"
        if name is None:
            raise InputError(f"{field}.column", "no column is named", remedy)
        column = known_column(name, workload.domain, f"{field}.column", remedy)
        if workload.domain[column].ordered < FEWEST_IN_ORDER:
            raise InputError(f"{field}.column", f"fewer than {FEWEST_IN_ORDER} cells of {column_field(column)} are in an order", remedy)
        return cls(*common, column, positive(entries, "limit", field, 1.0))

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the words "the share of people in every range of COLUMN", unescaped."""
        return f"the share of people in every range of {self.column}"

    @override
    def clique(self, domain: Domain) -> Clique:
        """Return the clique of the column alone."""
        return (self.column,)

    @override
    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Measure the largest error of a range with the kernel's whole remaining budget.

        Returns:
            The error, a share of people, with its bounds of 95 % confidence each; `UNKNOWN` if the column is not
            published. The budget is spent even then.
        """
        clique = self.clique(kernel.domain)
        shares = published.table(clique)
        records = np.zeros(kernel.domain.sizes(clique)) if shares is None else shares * published.people.value
        sigma = sigma_for(kernel.rho_left, kernel.unit.query_l1)
        noisy = kernel.measure_largest_range({clique: records}, clique, sigma)
        return UNKNOWN if shares is None else largest([2 * noisy], 2 * sigma, published.people, 2.0)

    @override
    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """Return by how much the upper bound is expected to exceed the measured error, as a share of people.

        Args:
            unit: The unit of privacy.
            rho: The criterion's part of the budget, in rho.
            workload: The workload; not used.
            people: A public or declared number of people.
        """
        sure = CONFIDENCE if unit.total_is_public else (1 + CONFIDENCE) / 2
        return normal(sure) * sigma_for(rho, unit.query_l1) / people
