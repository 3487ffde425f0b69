"""The privacy kernel: the one place that sees private counts (a protected kernel in the sense of EKTELO, Zhang et al. 2018).

Everything that a mechanism learns about the table comes from `_ask`, which charges the meter before the operation gets the counts. Each
operation states its sensitivity and has a price (`privacy.operations`). A mechanism that only calls operations is private by composition.

Counts and source sit in name-mangled attributes. Python cannot hide them from hostile code, and does not have to, because mechanisms are
ours: import rules and tests make sure that they know only `privacy.interface.Kernel`. For a mechanism of another package this is unknown,
and its release says so.

Not protected: how long an operation takes and how much memory it needs. So no release has times (`release.times`). This matters most where
an oracle is asked about records (`research.privacy.rspm`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Self, cast

import numpy as np

from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.privacy.counts import Counts
from dpsynth_core.privacy.group import Group
from dpsynth_core.privacy.grouped import Grouped
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.meter import Meter
from dpsynth_core.privacy.operation import Asked
from dpsynth_core.privacy.registry import find
from dpsynth_core.privacy.unit import MOST_TIMES, Unit
from dpsynth_core.privacy.view import Integers, Noise, View
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import with_groups
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts
from dpsynth_core.vocabulary.regrouping import by_name


class PrivacyKernel(SealedKernel):
    """A kernel over a counting source, with a budget fixed at construction.

    Args:
        source: The counting source.
        unit: The unit of privacy.
        rho: The budget, as rho of `accountant`.
        noise: The source of noise.
        delta: Reserved for steps whose guarantee may fail with a small probability (see `meter`).
        accountant: The accountant of the costs.
    """

    def __init__(
        self, source: MarginalSource, unit: Unit, rho: float, noise: Noise, delta: float = 0.0, accountant: Accountant = ZCDP
    ) -> None:
        self.__view = Counts(source, noise)
        super().__init__(_public(self.__view, unit, {}), Meter(rho, delta=delta, accountant=accountant))

    def _ask(self, operation: str, *arguments: object, **options: object) -> object:
        """Charge an operation's cost, then return its answer from the exact counts.

        A free operation gets noise and no counts.

        Args:
            operation: Name of the operation.
            arguments: Arguments of the operation, after `Asked`.
            options: Arguments of the operation by name.

        Raises:
            ValueError: The question is invalid; nothing is charged.
            BudgetExceeded: The cost exceeds the budget; nothing is charged.
            AttributeError: The operation is not registered.
        """
        known = find(operation)
        if known is None:
            raise AttributeError(operation)
        event, answer = known.asked(self._public, *arguments, **options)
        if event is None:
            return answer(cast(View, _Blind(self.__view.noise)))
        self._charge(event)
        return answer(self.__view)

    def over(self, domain: Domain, known: Sequence[MarginalCounts] = ()) -> Self:
        """Return a kernel over the same table and budget, which counts in the cells of another public domain. Free.

        Args:
            domain: The other domain.
            known: Released answers about single columns in its cells.

        Raises:
            ValueError: The source holds codes and not values, as after `among`, `weighted` or `grouped`.
        """
        return self.__counting(self.__view.over(domain), self.unit, {}, known)

    def everybody(self) -> Self:
        """Return a kernel with the same budget over the records of everybody, where this one counts some persons alone. Free.

        Neighbouring tables are neighbours in everybody's records too, so sensitivities stay (Proposition 30). No
        answers are known. After `among`, `weighted` or `grouped` the records stay the same.
        """
        return self.__counting(self.__view.everybody(), self.unit, {}, ())

    def among(self, cells: Mapping[str, tuple[int, ...]]) -> Self:
        """Return a kernel with the same budget over the records that have one of these codes in each named column. Free.

        The chosen records of a person are some of the person's records (`privacy.group`). So
        sensitivities stay, except that the number of the records is never public. `known` still has
        counts of all records.

        Args:
            cells: By column, the codes (from 0) of which a record must have one. A code that the column lacks
                matches no record.

        Raises:
            InputError: A column is not in the domain.
        """
        inside = {name: np.isin(np.arange(self.domain[name].size), codes).astype(np.int64) for name, codes in cells.items()}
        source = Group(self.domain, self.__view.tables, inside)
        return self.__counting(source, self.unit.counted(1), self._public.groups, self.known)

    def weighted(self, column: str, times: Integers) -> Self:
        """Return a kernel with the same budget in which records count several times, or not at all. Free.

        Sensitivities are multiplied by the largest number of times, as if each person owned more records by
        that factor (`Unit.counted`). The total is never public, and no answers are known.

        Args:
            column: Name of the column whose code decides how often a record counts; a wrong name is refused
                only when records are counted.
            times: How many times, by code; clipped to 0 .. `MOST_TIMES` and truncated to whole
                numbers.

        Raises:
            InputError: No code counts.
        """
        whole = np.clip(times, 0, MOST_TIMES).astype(np.int64)
        source = Group(self.domain, self.__view.tables, {column: whole})
        return self.__counting(source, self.unit.counted(int(whole.max())), self._public.groups, ())

    def grouped(self, groups: Sequence[Groups]) -> Self:
        """Return a kernel over the same table and budget, with groups of values as further columns. Free.

        A record is in one group of each column of groups (`privacy.grouped`), so sensitivities
        stay. `known` is kept.

        Args:
            groups: The groups, each with a name of its own, which cliques may then have.

        Raises:
            InputError: The domain lacks the column of some groups, has another number of cells in it, or has a
                column of their name already; or groups times cells of a column are more than a million.
            CapacityError: The tables that tie groups to their columns have too many cells together.
        """
        roots = self.__view.roots if "roots" in self._public.offers else None
        source = Grouped(with_groups(self.domain, groups), self.domain, self.__view.tables, by_name(groups), roots)
        return self.__counting(source, self.unit, {**self._public.groups, **by_name(groups)}, self.known)

    def __counting(self, source: MarginalSource, unit: Unit, groups: Mapping[str, Groups], known: Sequence[MarginalCounts]) -> Self:
        """Return a kernel with the same budget and noise over another source, with an empty cache.

        Args:
            source: The source that counts records.
            unit: The unit of privacy for this source.
            groups: Groups of values that the source knows, by name.
            known: Released answers about single columns.
        """
        view = Counts(source, self.__view.noise)
        other = self._turned(_public(view, unit, groups), known)
        other.__view = view
        return other

    def prepare(self, cliques: Collection[Clique]) -> None:
        """Read and cache these marginals in one pass over the source. Free, because nothing is answered.

        Raises:
            ValueError: A clique is empty or not in domain order.
            InputError: A name is not in the domain.
        """
        for clique in cliques:
            self._public.shape(clique)
        self.__view.prepare(cliques)

    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Count and cache columns in public cells in one pass, for later calls of `measure_cells`. Free.

        Args:
            cells: The columns with the cells to count in, which need not be cells of the domain.

        Raises:
            ValueError: The source holds codes and not values.
        """
        self.__view.prepare_cells(cells)


class _Blind:
    """A view with noise and without counts, for free operations."""

    def __init__(self, noise: Noise) -> None:
        self.noise = noise


def _public(view: Counts, unit: Unit, groups: Mapping[str, Groups]) -> Asked:
    return Asked(unit, view.domain, groups=groups, offers=view.offers, rows=partial(_public_rows, unit, view))


def _public_rows(unit: Unit, view: View) -> int:
    """Return the number of rows, where the neighbouring relation makes it public.

    Raises:
        ValueError: The number of rows is private.
    """
    if not unit.total_is_public:
        raise ValueError("the number of rows is private")
    return int(view.total()[0])
