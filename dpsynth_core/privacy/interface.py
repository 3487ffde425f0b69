"""The interface of the privacy kernel: for mechanisms, their only view of the private table; and for the code that drives a run.

Mechanisms are written against `Kernel`, never against a source or the class that implements it (`privacy.kernel`). The kernel charges
before it answers, so the privacy proof of a mechanism is that it calls nothing else. Questions, answers and charges are described with each
operation (`privacy.operations`); operations of extensions are called with a kernel as their first argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Self

from dpsynth_core.privacy import operations
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.meter import Meter
from dpsynth_core.privacy.operation import Asked
from dpsynth_core.privacy.registry import find
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Integers
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts


class Kernel(ABC):
    """A mechanism's only view of the private table: questions that are answered within a budget.

    rho_total, rho_spent and rho_left are rho of the accountant in force. Each question is a method
    (`privacy.operations`); it is charged first, and raises BudgetExceeded without reading a count
    if too little is left.

    Args:
        public: Public facts of the table.
        meter: The budget.
        known: Answers about single columns that were released before the mechanism began, in this
            domain's cells; their use is free.
    """

    def __init__(self, public: Asked, meter: Meter, known: Sequence[MarginalCounts] = ()) -> None:
        self.__public, self.__meter, self.__known = public, meter, tuple(known)

    @property
    def domain(self) -> Domain:
        """The columns and cells in which this kernel counts records."""
        return self.__public.domain

    @property
    def unit(self) -> Unit:
        """The unit of privacy: the neighbouring relation and the rows per person, which give every sensitivity."""
        return self.__public.unit

    @property
    def known(self) -> tuple[MarginalCounts, ...]:
        """Released noisy counts of single columns, in this domain's cells; () without such counts.

        They were released before the mechanism began, and their use is free.
        """
        return self.__known

    @property
    def rho_total(self) -> float:
        """The total budget of this kernel, spent or not, as rho of its accountant (mu^2 / 2 under GDP).

        It is a relative 2^-30 below the sealed budget, so that rounding in a mechanism is not refused.
        """
        return self.__meter.rho_total

    @property
    def rho_spent(self) -> float:
        """The part of the budget that has been charged, as rho."""
        return self.__meter.rho_spent

    @property
    def rho_left(self) -> float:
        """The part of the budget that is left, as rho, at least 0."""
        return self.__meter.rho_left

    @property
    def delta_total(self) -> float:
        """The delta reserved for steps whose guarantee may fail with a small probability.

        It is 0 unless the mechanism asked for it.
        """
        return self.__meter.delta_total

    @property
    def selection_price(self) -> float:
        """The rho of one selection at eps = 1 under the accountant in force; at another eps, eps^2 times that."""
        return self.__meter.selection_price

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of all charges so far, in order; () before the first."""
        return self.__meter.events

    def part(self, rho: float) -> Self:
        """Return a kernel over the same table whose budget is `rho` of this kernel's budget.

        Its charges are charged to this kernel too, so that neither budget can be exceeded. No rho is
        reserved: other charges may use up this kernel's budget first. The call is free.

        Args:
            rho: Budget of the part, as rho of the accountant in force.

        Raises:
            ValueError: rho is not a positive number.
        """
        stage = copy(self)
        stage.__meter = self.__meter.part(rho)
        return stage

    @abstractmethod
    def grouped(self, groups: Sequence[Groups]) -> Self:
        """Return a kernel over the same table and budget, with groups of values as further columns. Free.

        Args:
            groups: The groups, each with a name of its own, which cliques may then have.

        Raises:
            InputError: The domain lacks the column of some groups, has another number of cells in it, or has a
                column of their name already; or groups times cells of a column are more than a million.
            CapacityError: The tables that tie groups to their columns have too many cells together.
        """

    @abstractmethod
    def prepare(self, cliques: Collection[Clique]) -> None:
        """Read marginals in one pass over the table, for later questions. Free, because nothing is answered.

        Args:
            cliques: The columns of each marginal.

        Raises:
            ValueError: A clique is empty or not in domain order.
            InputError: A name is not in the domain.
        """

    @abstractmethod
    def _ask(self, operation: str, *arguments: object, **options: object) -> object:
        """Charge an operation, then return its answer.

        Args:
            operation: Name of the operation.
            arguments: Arguments of the operation, after `Asked`.
            options: Arguments of the operation by name.

        Raises:
            BudgetExceeded: The operation costs more than what is left; no count was read.
            ValueError: The operation refuses its arguments; nothing is charged.
        """

    if not TYPE_CHECKING:  # an operation that no class names is an extension's, which is called by its function

        def __getattr__(self, name: str) -> Callable[..., object]:
            if name.startswith("_") or find(name) is None:
                raise AttributeError(name)
            return partial(self._ask, name)

    @property
    def _public(self) -> Asked:
        return self.__public

    def _charge(self, event: Event) -> None:
        self.__meter.charge(event)

    def _turned(self, public: Asked, known: Sequence[MarginalCounts]) -> Self:
        """Return a kernel with the same budget and other public facts and known answers."""
        other = copy(self)
        other.__public, other.__known = public, tuple(known)
        return other

    seed = operations.seed
    residual_l2 = operations.residual_l2
    measure_marginals = operations.measure_marginals
    measure_residual = operations.measure_residual
    measure_roots = operations.measure_roots
    measure_total = operations.measure_total
    measure_errors = operations.measure_errors
    measure_ranked_error = operations.measure_ranked_error
    measure_largest_error = operations.measure_largest_error
    measure_largest_range = operations.measure_largest_range
    measure_sum = operations.measure_sum
    select_offered_marginal = operations.select_offered_marginal


class SealedKernel(Kernel):
    """The kernel of the code that drives a run: it may also ask over other domains and over part of the records."""

    @abstractmethod
    def over(self, domain: Domain, known: Sequence[MarginalCounts] = ()) -> Self:
        """Return a kernel over the same table and budget, which counts in the cells of another public domain. Free.

        In any domain a record is in one cell of each marginal, so that sensitivities stay.

        Args:
            domain: The other domain.
            known: Released answers about single columns in its cells.

        Raises:
            ValueError: The source holds codes and not values, as after `among`, `weighted` or `grouped`.
        """

    @abstractmethod
    def everybody(self) -> Self:
        """Return a kernel over everybody's records with the same budget, where this one counts some persons alone. Free.

        No answers are known. After `among`, `weighted` or `grouped` the records stay the same.
        """

    @abstractmethod
    def among(self, cells: Mapping[str, tuple[int, ...]]) -> Self:
        """Return a kernel with the same budget over the records that lie in public cells of some columns. Free.

        The number of these records is not public. `known` still has counts of all records.

        Args:
            cells: By column, the codes (from 0) of which a record must have one.

        Raises:
            InputError: A column is not in the domain.
        """

    @abstractmethod
    def weighted(self, column: str, times: Integers) -> Self:
        """Return a kernel over the same table and budget in which a record counts as often as its code says. Free.

        The number of records is then not public, no answers are known, and sensitivities are multiplied by
        the largest number of times.

        Args:
            column: Name of the column whose codes decide.
            times: How often a record with each code counts: public whole numbers from 0 to
                `unit.MOST_TIMES`, shape (size of the column,).

        Raises:
            InputError: No code counts.
        """

    @abstractmethod
    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Count columns in public cells in one pass, for later calls of `measure_cells`. Free: nothing is answered.

        Args:
            cells: The columns with the cells to count in, which need not be cells of the domain.

        Raises:
            ValueError: The source holds codes and not values.
        """

    measure_cells = operations.measure_cells
    discover_values = operations.discover_values
    measure_right = operations.measure_right
