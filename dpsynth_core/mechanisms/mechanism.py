"""The interface of mechanisms: the card, the forecast of a run, the split of the budget, and the steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from dpsynth_core.mechanisms.parameters import Parametrised
from dpsynth_core.mechanisms.steps import Step
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Card:
    """Facts about a mechanism that hold for all its parameters.

    Attributes:
        name: Name in specs and on the command line.
        title: Title for people.
        accountant: Accountant of its runs, GDP if nearly all of the budget goes to Gaussian noise
            (`privacy.accountant`).
        summary: Sentences for cards and reports.
        paper: Citation of its paper.
        privacy: Its proof of privacy in a sentence.
        makes_rows: Whether it makes rows; otherwise it gives answers only.
        takes_thresholds: Whether the workload may ask "at least t of these columns"
            (`Workload.threshold`).
        keeps_published: Whether it takes published tables as known (`vocabulary.published`).
        publishes_tables: Whether it answers the workload. If not, a certificate of its errors has
            no use.
        differences: Differences from its paper, and choices where the paper leaves them open, one
            sentence each.
        package: Name of the package that it comes from; "" for this program's own mechanisms.
    """

    name: str
    title: str
    accountant: Accountant
    summary: str
    paper: str
    privacy: str
    makes_rows: bool = True
    takes_thresholds: bool = False
    keeps_published: bool = False
    publishes_tables: bool = True
    differences: tuple[str, ...] = ()
    package: str = ""


def printed(card: Card, *chosen: str, **changes: Any) -> Card:
    """Return the card of the preset that follows a mechanism's paper to the letter.

    Args:
        card: The card of the mechanism.
        *chosen: Choices that the paper leaves open and parts that cannot be as printed, one
            sentence each; they replace `differences`.
        **changes: Values of further fields.
    """
    return replace(card, title=f"{card.title} (as published)", differences=chosen, **changes)


@dataclass(frozen=True)
class Forecast:
    """The expected needs of a run, from public inputs only.

    Attributes:
        fits: Whether the run is possible; False refuses it.
        seconds: Expected processor seconds.
        memory_mb: Expected largest memory in MB.
        reason: Why the run is refused, and what to do instead; "" if it is not refused.
    """

    fits: bool
    seconds: float
    memory_mb: float
    reason: str = ""


SINGLE, DEPENDENCE, CHOOSING = "single columns", "how much columns depend (at most)", "choosing what to ask"
CHOSEN, ASKED, COUNTING, CHECKING = "chosen tables", "tables asked for", "number of records", "checking the public table"
AT_LEAST, LEFT = f"{SINGLE} (at least)", f"{CHOSEN} (at most)"
"""Parts of a budget, named for people; the last two where single columns may take more of what is planned for chosen tables."""

Split = tuple[tuple[str, float], ...]
"""Stages of a run in order, each with its share of the budget; the shares add up to 1."""


def split_by_size(shares: Mapping[Clique, float]) -> Split:
    """Return the stages of a run that measures each table once: the count, single columns, and larger tables.

    Args:
        shares: Share of the budget for each table, by clique; the empty clique is the number of
            records.

    Returns:
        Each stage with the sum of its tables' shares, in this order; a stage with a sum of 0 is left out.
    """
    sizes = {COUNTING: {0}, SINGLE: {1}, ASKED: {len(clique) for clique in shares} - {0, 1}}
    stages = ((stage, math.fsum(share for clique, share in shares.items() if len(clique) in wanted)) for stage, wanted in sizes.items())
    return tuple((stage, share) for stage, share in stages if share > 0)


class Mechanism(Parametrised, Protocol):
    """A frozen dataclass whose fields are its parameters (`parameters`), and perhaps a public table."""

    @property
    def card(self) -> Card:
        """The card: the facts by which people choose the mechanism."""

    def forecast(self, workload: Workload, rho: float, /) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run with these parameters, or why it is refused.

        Args:
            workload: The tables that are asked for.
            rho: The budget, in rho.
        """

    def split(self, workload: Workload, total_is_public: bool, /) -> Split:
        """Return the planned division of the budget among stages, in order, as shares that add up to 1.

        An adaptive mechanism may move part of the budget between stages during a run.

        Args:
            workload: The tables that are asked for.
            total_is_public: Whether the number of records is public, so that counting costs
                nothing.
        """

    def steps(self, kernel: Kernel, workload: Workload, /) -> Iterator[Step]:
        """Run the mechanism and yield its steps, of which the last is `Finished`; the caller may stop at any step.

        Args:
            kernel: The only access to the private table; the mechanism may spend its whole budget.
            workload: The tables that are asked for.
        """


@runtime_checkable
class Adaptive(Protocol):
    """A mechanism that runs longer the more it can learn, so that its needs depend on the number of people."""

    def forecast_for(self, workload: Workload, rho: float, people: float, /) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for a number of people, or why it is refused.

        Args:
            workload: The tables that are asked for.
            rho: The budget, in rho.
            people: Number of people divided by the number of counts that one person changes.
        """


@runtime_checkable
class Learner(Protocol):
    """A mechanism whose oracle sees private records, through the kernel's learn_... operations and select_rule."""

    def needs_delta(self) -> bool:
        """Return whether a guarantee of some of its steps may fail with a small probability.

        Half of delta is then reserved for these steps.
        """

    def obstacle(self, domain: Domain, rho: float, delta: float, unit: Unit, /) -> str:
        """Return in words why the mechanism cannot run with this budget, and what to do instead; "" if it can.

        Args:
            domain: The domain.
            rho: The budget, in rho.
            delta: The reserved part of delta.
            unit: The unit of privacy.
        """


@runtime_checkable
class Conditional(Protocol):
    """A mechanism whose guarantee may depend on a condition that the code cannot check."""

    def condition(self, domain: Domain, /) -> str:
        """Return the condition of the guarantee in full sentences for the release; "" without a condition."""


@runtime_checkable
class Timed(Protocol):
    """A mechanism whose searches for records end after a time; on a busier machine one may end elsewhere.

    Attributes:
        solve_seconds: The time limit of a search, in seconds.
    """

    solve_seconds: float


@runtime_checkable
class UsesPublic(Protocol):
    """A mechanism that can use a public table. If it needs a table, its forecast without one is a refusal."""

    def informed_by(self, public: PublicTable) -> Mechanism:
        """Return a copy of the mechanism that uses this public table."""
