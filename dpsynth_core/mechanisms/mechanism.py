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
        accountant: Accountant of its runs, GDP if nearly all of the budget goes to Gaussian noise (`privacy.accountant`).
        summary: Sentences for cards and reports.
        paper: Its paper.
        privacy: Its proof of privacy in a sentence.
        makes_rows: Whether it makes rows; otherwise answers only.
        takes_thresholds: Whether the workload may ask "at least t of these columns" (`Workload.threshold`).
        keeps_published: Whether it takes published tables as known (`vocabulary.published`).
        publishes_tables: Whether it answers the workload. If not, a certificate of its errors has no use.
        differences: Differences from its paper, and choices where the paper leaves them open, one sentence each.
        package: Its package; "" for ours.
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
    """Return the card of the same mechanism as its paper prints it.

    Args:
        card: The card.
        *chosen: Choices where the paper leaves them open, and parts that cannot be as printed, one sentence each.
        **changes: Changes of other fields.
    """
    return replace(card, title=f"{card.title} (as published)", differences=chosen, **changes)


@dataclass(frozen=True)
class Forecast:
    """The expected needs of a run, from public inputs only. `fits` is False if the run is refused, for `reason`."""

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
    """Return the stages of a run that measures each table once, from each table's share of the budget."""
    sizes = {COUNTING: {0}, SINGLE: {1}, ASKED: {len(clique) for clique in shares} - {0, 1}}
    stages = ((stage, math.fsum(share for clique, share in shares.items() if len(clique) in wanted)) for stage, wanted in sizes.items())
    return tuple((stage, share) for stage, share in stages if share > 0)


class Mechanism(Parametrised, Protocol):
    """A frozen dataclass whose fields are its parameters (`parameters`), and perhaps a public table."""

    @property
    def card(self) -> Card:
        """The description that people choose the mechanism by."""

    def forecast(self, workload: Workload, rho: float, /) -> Forecast:
        """Forecast a run with these parameters and a budget of rho."""

    def split(self, workload: Workload, total_is_public: bool, /) -> Split:
        """Return the planned division of the budget; an adaptive mechanism may move part between stages."""

    def steps(self, kernel: Kernel, workload: Workload, /) -> Iterator[Step]:
        """Run the mechanism, step by step; the last step is Finished."""


@runtime_checkable
class Adaptive(Protocol):
    """A mechanism that runs longer the more it can learn, so that its needs depend on the number of people."""

    def forecast_for(self, workload: Workload, rho: float, people: float, /) -> Forecast:
        """Forecast a run for a number of people, divided by the counts that one person changes."""


@runtime_checkable
class Learner(Protocol):
    """A mechanism whose oracle sees private records, through the kernel's learn_... operations and select_rule."""

    def needs_delta(self) -> bool:
        """Return whether some of its steps keep their promise except with a small probability; half of the delta is then reserved for them.
        """

    def obstacle(self, domain: Domain, rho: float, delta: float, unit: Unit, /) -> str:
        """Return why it cannot run with this budget, reserved delta and unit, as in its Forecast, or ""."""


@runtime_checkable
class Conditional(Protocol):
    """A mechanism whose guarantee may depend on a condition that the code cannot check."""

    def condition(self, domain: Domain, /) -> str:
        """Return that condition for its parameters, as full sentences for the release, or ""."""


@runtime_checkable
class Timed(Protocol):
    """A mechanism whose searches for records end after a time; on a busier machine one may end elsewhere."""

    solve_seconds: float


@runtime_checkable
class UsesPublic(Protocol):
    """A mechanism that can use a public table. If it needs one, its forecast without a table does not fit."""

    def informed_by(self, public: PublicTable) -> Mechanism:
        """Return the mechanism with this public table."""
