"""What a mechanism is: its card, what a run will need, how it divides its budget, and its steps."""

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

    name: as specs and the command line have it. accountant: what its runs are accounted in, GDP if nearly all of the budget goes to
    Gaussian noise (`privacy.accountant`). title, summary, paper, privacy: sentences for cards and reports. makes_rows: or answers only.
    takes_thresholds: whether the workload may ask "at least t of these columns" (`Workload.threshold`). keeps_published: whether it takes
    published tables as known (`vocabulary.published`). publishes_tables: whether it answers the workload; one that does not has no use for
    a certificate of its errors. differences: what is not as its paper prints it, or was chosen where the paper leaves it open, one sentence
    each. package: whose it is; "" for ours."""

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
    """The card of the same mechanism as its paper prints it. chosen: what was chosen where the paper leaves it open, and what cannot be as
    printed, one sentence each. changes: of its other fields."""
    return replace(card, title=f"{card.title} (as published)", differences=chosen, **changes)


@dataclass(frozen=True)
class Forecast:
    """What a run is expected to need, from public inputs only. fits: False means it is refused, with `reason`."""

    fits: bool
    seconds: float
    memory_mb: float
    reason: str = ""


SINGLE, DEPENDENCE, CHOOSING = "single columns", "how much columns depend (at most)", "choosing what to ask"
CHOSEN, ASKED, COUNTING, CHECKING = "chosen tables", "tables asked for", "number of records", "checking the public table"
"""What parts of a budget go to, as people are told."""

Split = tuple[tuple[str, float], ...]
"""Stages of a run in order, each with its share of the budget; the shares add up to 1."""


def split_by_size(shares: Mapping[Clique, float]) -> Split:
    """The stages of a run that measures each table once, from each one's share of the budget."""
    sizes = {COUNTING: {0}, SINGLE: {1}, ASKED: {len(clique) for clique in shares} - {0, 1}}
    stages = ((stage, math.fsum(share for clique, share in shares.items() if len(clique) in wanted)) for stage, wanted in sizes.items())
    return tuple((stage, share) for stage, share in stages if share > 0)


class Mechanism(Parametrised, Protocol):
    """A frozen dataclass whose fields are its parameters (`parameters`), and perhaps a public table."""

    @property
    def card(self) -> Card: ...

    def forecast(self, workload: Workload, rho: float, /) -> Forecast:
        """What a run with these parameters and a budget of rho will need."""

    def split(self, workload: Workload, total_is_public: bool, /) -> Split:
        """How a run divides its budget as planned; an adaptive mechanism may move some of it from one stage to another."""

    def steps(self, kernel: Kernel, workload: Workload, /) -> Iterator[Step]:
        """Run: one step after the other, the last is Finished."""


@runtime_checkable
class Adaptive(Protocol):
    """A mechanism that goes on for longer the more it can learn: what it needs depends on how many people there are."""

    def forecast_for(self, workload: Workload, rho: float, people: float, /) -> Forecast:
        """As `Mechanism.forecast`, for so many people. Where one person changes counts by more than one, for as many fewer."""


@runtime_checkable
class Learner(Protocol):
    """A mechanism that has an oracle look at private records: the kernel's learn_... operations and select_rule."""

    def needs_delta(self) -> bool:
        """Whether steps of it keep their promise except with a small probability: half of the delta is then set aside for them."""

    def obstacle(self, domain: Domain, rho: float, delta: float, unit: Unit, /) -> str:
        """Why it cannot run with this budget and unit, as its Forecast has it; "" if it can. delta: what is set aside."""


@runtime_checkable
class Conditional(Protocol):
    """A mechanism whose guarantee may hang on something that the code cannot check."""

    def condition(self, domain: Domain, /) -> str:
        """What it hangs on with its parameters, as full sentences for the release; "" where it hangs on nothing."""


@runtime_checkable
class Timed(Protocol):
    """A mechanism whose searches for records end after a time: on a busier machine, one may end elsewhere than it did."""

    solve_seconds: float


@runtime_checkable
class UsesPublic(Protocol):
    """A mechanism that can use a public table. One that needs it says in its forecast that it does not fit without."""

    def informed_by(self, public: PublicTable) -> Mechanism:
        """The same mechanism, knowing this table."""
