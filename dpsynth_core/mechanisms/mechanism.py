"""What a mechanism is: its card, what a run will need, how it divides its budget, and its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.parameters import Parameter
from dpsynth_core.mechanisms.steps import Step
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Forecast:
    """What a run is expected to need, from public inputs only. fits: False means it is refused, with `reason`."""

    fits: bool
    seconds: float
    memory_mb: float
    reason: str = ""


SINGLE, CHOOSING, CHOSEN, ASKED, COUNTING, CHECKING = (
    "single columns",
    "choosing what to ask",
    "chosen tables",
    "tables asked for",
    "number of records",
    "checking the public table",
)
"""What parts of a budget go to, as people are told."""

Split = tuple[tuple[str, float], ...]
"""Stages of a run in order, each with its share of the budget; the shares add up to 1."""


class Mechanism(Protocol):
    """name: registry key. title, summary, paper, privacy: sentences for cards and reports.

    makes_rows: or answers only. takes_thresholds: whether the workload may ask "at least t of these columns" (`Workload.threshold`).
    accountant: what its runs are accounted in, GDP if nearly all of the budget goes to Gaussian noise (`privacy.accountant`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    privacy: ClassVar[str]
    makes_rows: ClassVar[bool]
    takes_thresholds: ClassVar[bool]
    accountant: ClassVar[Accountant]
    parameters: ClassVar[Sequence[Parameter]]

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast: ...

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:
        """How a run divides its budget as planned; an adaptive mechanism may move some of it between the last stages."""

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Step]:
        """Run. settings: complete and validated (see registry.settings). Yields events; the last is Finished."""


@runtime_checkable
class Learner(Protocol):
    """A mechanism that has an oracle look at private records: the kernel's learn_... operations and select_rule.

    publishes_tables: whether it answers the workload; one that does not has no use for a certificate of its errors.
    """

    publishes_tables: ClassVar[bool]

    def needs_delta(self, settings: Mapping[str, Any]) -> bool:
        """Whether steps of it keep their promise except with a small probability: half of the delta is then set aside for them."""

    def obstacle(self, domain: Domain, rho: float, delta: float, relation: str, rows_per_person: int, settings: Mapping[str, Any]) -> str:
        """Why it cannot run with this unit and budget, as its Forecast has it; "" if it can. delta: what is set aside."""


@runtime_checkable
class Conditional(Protocol):
    """A mechanism whose guarantee may hang on something that the code cannot check."""

    def condition(self, domain: Domain, settings: Mapping[str, Any]) -> str:
        """What it hangs on with these settings, as full sentences for the release; "" where it hangs on nothing."""


@runtime_checkable
class UsesPublic(Protocol):
    """A mechanism that can use a public table. One that needs it says in its forecast that it does not fit without."""

    def informed_by(self, public: PublicTable) -> Mechanism:
        """The same mechanism, knowing this table."""
