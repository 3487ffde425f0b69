"""The privacy kernel as others see it: mechanisms their only view of the private table, and what drives a run.

Mechanisms are written against `Kernel`, never against a source or the class that implements it (`privacy.kernel`). The kernel charges
before it answers, so the privacy proof of a mechanism is that it calls nothing else. What is asked, answered and charged stands with each
operation (`privacy.operations`); the wing's operations are called with a kernel as their first argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from dpsynth_core.privacy import operations
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts


class Kernel(ABC):
    """What a mechanism may do. rho_total, rho_spent, rho_left: its budget, under the accountant in force."""

    @property
    @abstractmethod
    def domain(self) -> Domain: ...

    @property
    @abstractmethod
    def unit(self) -> Unit:
        """Which tables are neighbours, and with it every sensitivity."""

    @property
    @abstractmethod
    def known(self) -> tuple[MarginalCounts, ...]:
        """What was answered of single columns before the mechanism began, and is released anyway: in this domain's cells, and free."""

    @property
    @abstractmethod
    def rho_total(self) -> float: ...

    @property
    @abstractmethod
    def rho_spent(self) -> float: ...

    @property
    @abstractmethod
    def rho_left(self) -> float: ...

    @property
    @abstractmethod
    def delta_total(self) -> float:
        """What was set aside for steps that keep their promise except with a small probability; 0 unless the mechanism asked for it."""

    @property
    @abstractmethod
    def selection_price(self) -> float:
        """rho of one selection at eps = 1 under the accountant in force; at eps it is eps^2 times that."""

    @abstractmethod
    def _ask(self, operation: str, *arguments: Any, **options: Any) -> Any:
        """The answer of an operation, after its charge."""

    @abstractmethod
    def grouped(self, groups: Sequence[Groups]) -> Self:
        """A kernel over the same table with these groups of values as further columns of its domain, with the same budget. Free."""

    @abstractmethod
    def prepare(self, cliques: Collection[Clique]) -> None:
        """Read the marginals that will be needed in one pass. Answers nothing and so costs nothing."""

    seed = operations.seed
    residual_l2 = operations.residual_l2
    measure_marginal = operations.measure_marginal
    measure_residual = operations.measure_residual
    measure_total = operations.measure_total
    measure_errors = operations.measure_errors
    measure_largest_error = operations.measure_largest_error
    measure_sum = operations.measure_sum
    select_worst_marginal = operations.select_worst_marginal


class SealedKernel(Kernel):
    """What drives a run holds: the same operations and more, divided into sealed parts, and the list of what they were charged."""

    @property
    @abstractmethod
    def events(self) -> tuple[Event, ...]:
        """Every charge so far, in order."""

    @abstractmethod
    def part(self, rho: float) -> SealedKernel:
        """A kernel over the same table with `rho` of this one's budget; whoever holds it can spend no more. Free."""

    @abstractmethod
    def over(self, domain: Domain, known: Sequence[MarginalCounts] = ()) -> SealedKernel:
        """A kernel over the same table in the cells of another public domain, with the same budget: in any domain a record is in one cell
        of each marginal. known: what is released of it. Free."""

    @abstractmethod
    def among(self, cells: Mapping[str, tuple[int, ...]]) -> SealedKernel:
        """A kernel over those records alone that are in these public cells of columns, with the same budget. Free."""

    @abstractmethod
    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Count these columns in these public cells in one pass, for `measure_cells`. Answers nothing and so costs nothing."""

    measure_cells = operations.measure_cells
    discover_values = operations.discover_values
    measure_right = operations.measure_right
