"""Audits of whole mechanisms on two neighbouring tables of invented people, in the configuration of a spec.

The audit examines all answers of the kernel; rows, tables and rules are computed from them alone. The guesses at the losses of a run's
answers add up (`losses`). A spec that is too large to be run a thousand times is audited on a small part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.extensions.audit.cases import DOMAIN, Kernels
from dpsynth_core.extensions.audit.evidence import Accounted, Bounded, Draw, Finding, from_draws, held_out
from dpsynth_core.extensions.audit.found import Found
from dpsynth_core.extensions.audit.losses import OPERATIONS, Losses
from dpsynth_core.extensions.audit.neighbours import InventedTable, Neighbours
from dpsynth_core.foundation.errors import CapacityError, OracleError
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.registry import everything
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload, all_kway, hand_picked

MOST_COLUMNS, MOST_VALUES = 3, 4
"""Largest numbers of columns and of values per column in the domain of an audited mechanism."""
FAILED = "the oracle failed"


@dataclass(frozen=True, eq=False)
class Configuration:
    """A mechanism as a plan runs it.

    Attributes:
        plan: The plan, over a domain small enough for many runs.
        left_out: Sentences on the parts of the spec that are not audited.
    """

    plan: Plan
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: Spec) -> Configuration:
        """Return the configuration of a spec, over a small part of its domain: 3 columns with 4 values each at most.

        A domain that is small enough is kept whole. Criteria and models are left out, and their budget goes to the
        mechanism. No file is opened: a mechanism that would use a public table gets an invented one.

        Raises:
            InputError: The spec makes no valid plan.
            CapacityError: The mechanism cannot run.
        """
        asked = Plan.of(spec)
        domain, workload, left_out = _small(asked)
        less = {"domain": domain.to_json(), "workload": workload.to_json(), "criteria": (), "models": ()}
        less |= {} if domain is asked.domain else {"published_tables": ()}
        plan = Plan.of(spec.model_copy(update=less))
        if isinstance(plan.mechanism, UsesPublic) and spec.public is not None:
            records = np.argwhere(np.ones(domain.sizes(domain.names))).astype(np.int32)  # every possible one, once
            plan = plan.with_public(PublicTable(domain, records, "invented", "0" * 64))
            left_out += ("An invented public table stands in for the spec's.",)
        if not plan.forecast.fits:
            raise CapacityError("mechanism", f"{plan.mechanism.card.title} cannot run this plan", plan.forecast.reason)
        if plan.shares.of(CERTIFICATE.name):
            left_out += ("The certificate's part of the budget is not looked at.",)
        claimed = [what for what in ("criteria", "models") if getattr(spec, what)]
        left_out += tuple(f"The {what} are not looked at; their part of the budget goes to the mechanism." for what in claimed)
        return cls(plan, left_out)

    @property
    def claims(self) -> tuple[Accounted, Bounded]:
        """The promises of the mechanism: its share of rho in the accountant, and the spec's (epsilon, delta)."""
        shares, budget = self.plan.shares, self.plan.spec.budget
        return Accounted(shares.accountant, shares.mechanism, shares.delta), Bounded(budget.epsilon, budget.delta)

    def run(self, table: InventedTable, noise: Noise, losses: Losses, kernels: Kernels = PrivacyKernel) -> Draw:
        """Run the mechanism once on a table, and return its answers as one `Draw`: the sum of their guessed losses, and a label.

        The label is the tuple of the answers' labels, None without any, and FAILED if the mechanism's oracle
        gave up.

        Args:
            table: One of the two neighbouring tables.
            noise: The source of noise.
            losses: Guesses at the losses of single answers.
            kernels: Builds the kernel.
        """
        plan, shares = self.plan, self.plan.shares
        witness = Witness(kernels(table, plan.unit, shares.mechanism, noise, shares.delta, shares.accountant), losses)
        try:
            for _ in plan.mechanism.steps(cast(Kernel, witness), plan.workload):
                pass
        except OracleError:
            return Draw(witness.loss, FAILED)
        return Draw(witness.loss, tuple(witness.labels) or None)


class Witness:
    """A kernel that records its answers' privacy losses. It has all attributes of the kernel that it is made of.

    Attributes:
        loss: The sum of the guessed losses so far.
        labels: The labels of answers so far, in order.
    """

    def __init__(self, kernel: PrivacyKernel, losses: Losses) -> None:
        self.__kernel, self.__losses = kernel, losses
        self.loss = 0.0
        self.labels: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.__kernel, name)
        return partial(self.__watched, name, attribute) if name in OPERATIONS else attribute

    def __watched(self, name: str, operation: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        bound = everything()[name].signature.bind(*arguments, **options)
        bound.apply_defaults()
        answer = operation(*arguments, **options)
        seen = self.__losses.of(name, bound.arguments)(answer)
        self.loss += seen.loss
        self.labels += [seen.label] * (seen.label is not None)
        return answer


def examine(
    configuration: Configuration,
    neighbours: Neighbours,
    noise: Noise,
    draws: int,
    level: float,
    on_draw: Callable[[], None] = lambda: None,
    kernels: Kernels = PrivacyKernel,
) -> tuple[list[Finding], Found]:
    """Test every claim against runs on either table, and estimate the trade-off curve of the best known test.

    Args:
        configuration: The mechanism.
        neighbours: The two tables.
        noise: The source of noise.
        draws: Number of runs on each table.
        level: Error probability of each claim (`evidence.from_draws`).
        on_draw: Called after every run.
        kernels: Builds the kernels.

    Returns:
        One finding per claim (the accountant's rho, then epsilon and delta), and the curve, of the draws that did not choose
        its test.
    """
    losses, sides = Losses(neighbours), (list[Draw](), list[Draw]())
    for _ in range(draws):
        for side, table in zip(sides, neighbours.tables, strict=True):
            side.append(configuration.run(table, noise, losses, kernels))
            on_draw()
    accounted, bounded = configuration.claims
    return [from_draws(claim, sides, level) for claim in (accounted, bounded)], Found.of(accounted, *held_out(sides))


def invented_spec(mechanism: str, budget: Mapping[str, Any], unit: Mapping[str, Any], settings: Mapping[str, Any]) -> Spec:
    """Return a spec over three columns of two values, with all pairs of columns as workload; no file is opened.

    Args:
        mechanism: Name of the mechanism.
        budget: The section `budget` of the spec.
        unit: The section `unit` of the spec.
        settings: Parameters of the mechanism.

    Raises:
        InputError: The mechanism is unknown, or a part of the spec is not valid.
    """
    public = {"path": "invented"} if isinstance(registry.get(mechanism), UsesPublic) else None
    table = {"population": "invented people", "data": {"kind": "demo"}, "public": public, "domain": DOMAIN.to_json()}
    asked = {"workload": {"kind": "all", "k": 2}, "mechanism": {"name": mechanism, "settings": dict(settings)}}
    return Spec.from_json({**table, **asked, "budget": budget, "unit": unit})


def _small(plan: Plan) -> tuple[Domain, Workload, tuple[str, ...]]:
    """Return domain and workload of a plan if they are small, and otherwise a small part.

    The small part has at most `MOST_COLUMNS` columns with at most `MOST_VALUES` values each.

    Returns:
        The domain, the workload, and sentences on what was left out.
    """
    domain, workload = plan.domain, plan.workload
    if not domain.unknown and len(domain) <= MOST_COLUMNS and all(attribute.size <= MOST_VALUES for attribute in domain):
        return domain, workload, ()
    chosen = [value for value in plan.settings.values() if isinstance(value, str) and value in domain]  # a rule's target
    heaviest = max(workload.cliques, key=lambda clique: workload.weights[clique])
    kept = domain.clique(list(dict.fromkeys([*chosen, *heaviest, *domain.names]))[:MOST_COLUMNS])
    small = Domain.from_json({name: min(domain[name].size, MOST_VALUES) for name in kept})
    least, weights = workload.threshold or 1, dict[Sequence[str], float]()
    for clique, weight in workload.weights.items():
        rest = tuple(name for name in clique if name in kept)
        if len(rest) >= least:
            weights[rest] = weights.get(rest, 0.0) + weight
    chosen_workload = hand_picked(small, weights) if weights else all_kway(small, min(least, len(small)))
    sentence = (
        f"Of the spec's {len(domain)} columns, {', '.join(kept)} were kept, with at most {MOST_VALUES} values each: mechanism, settings, "
        "unit and budget are the spec's, the domain is not. What only shows with more columns was not looked at."
    )
    without = {"Impossible combinations": domain.zeros, "Published tables": domain.published}
    left_out = (sentence, *(f"{what} were left out." for what, some in without.items() if some))
    return small, chosen_workload.asking(workload.threshold), left_out
