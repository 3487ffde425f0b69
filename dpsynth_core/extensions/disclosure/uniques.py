"""The claim: how many people are alone with some values in the table, where exactly one released row has the same values (RepU).

These are the replicated uniques of synthpop (Raab, Nowok and Dibben 2024): the number of combinations of values that exactly one record and
exactly one released row have. Which combinations one row has is public, so that only those of the records are counted, with noise
(`measure_alone`, Proposition 31). A person who is replaced can change this number by 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Final
from dpsynth_core.claims.models.stated import Share
from dpsynth_core.extensions.disclosure import UNIQUES
from dpsynth_core.extensions.disclosure.of_rows import OfRows
from dpsynth_core.extensions.disclosure.operations import measure_alone
from dpsynth_core.extensions.disclosure.questions import FEWEST_ALONE, UNSAID, in_words, key_lists
from dpsynth_core.extensions.disclosure.shares import interval, limits, share_of
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.totals import Total, measured_total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import one_table, row_marginals

if TYPE_CHECKING:
    from dpsynth_core.planning.plan import Plan

_SURE = 1 - 1e-6
"""Confidence with which a noisy number of people must be below 50,000."""


@dataclass(frozen=True)
class Alone:
    """The answer about one list of columns.

    Attributes:
        keys: The columns.
        share: Share of the people who are alone with their values of them, where exactly one row has the same values, from 0 to 1.
        people: Measured number of these people, which noise can take below 0.
    """

    keys: tuple[str, ...]
    share: Share
    people: float


@dataclass(frozen=True)
class Uniques:
    """The statement of a release about replicated uniques.

    Attributes:
        alone: The answer about each list of columns of the spec, in order; () if there are fewer than 50,000 people, and then nothing
            was measured.
        sigma: Standard deviation of the noise of each number, in people, before rounding; 0 if nothing was measured.
        total: Number of people.
        total_measured: Whether that number was measured for this claim.
    """

    alone: tuple[Alone, ...]
    sigma: float
    total: Total
    total_measured: bool


class Replicated(OfRows[Uniques]):
    """The number of people who are alone with some of their values, where exactly one row has the same values."""

    name = UNIQUES
    part = UNIQUES
    setting = UNIQUES
    share = BudgetShare(default=0.02, least=0.001, most=0.4, otherwise="leave the question about uniques out")
    purpose = "measuring how many people are alone with values that exactly one row has"
    unmeasured = (
        "The run was interrupted before it was measured how many people are alone with values that exactly one row has. "
        "A share of the budget was for that."
    )
    subject = "how many people are alone with values that exactly one row has"
    question = "Does it follow how many people are alone with values that exactly one row has?"
    title = "Does a row look like the only person who has these values?"
    noun = "uniques"
    reading = (
        "Somebody who knows that a person is the only one with some values, such as age, sex and region, can look for a row with the same "
        "values. If exactly one row has them, it may look like this person. A model made the rows, and its other values need not be "
        "theirs. How many people are alone in this way (RepU, replicated uniques) was counted with noise, on a share of the budget of "
        "its own, so that it may be published. The intervals hold with 95% confidence, each by itself. Values are groups of this release, "
        "such as a range of ages. Such a share says nothing without the one for people who do not take part, whose least size follows "
        "from epsilon."
    )
    form = TypeAdapter(Uniques | None)

    @override
    def check(self, plan: Asked) -> None:
        """Check that a plan with a question about uniques can have it.

        Raises:
            InputError: A column is not in the plan, a public number of people is below 50,000, or the release has no rows, linked tables or
                several tables of rows.
        """
        if self.asked(plan):
            from dpsynth_core.extensions.disclosure.planned import check_uniques  # which knows plans, as this file must not

            check_uniques(cast("Plan", plan))

    @override
    def needs(self, plan: Asked) -> list[Clique]:
        """Return the tables that are counted, so that all are read in one pass."""
        return [plan.domain.clique(keys) for keys in _asked(plan)] if self.asked(plan) else []

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Uniques | None:  # type: ignore[override]
        """Measure the numbers with the kernel's remaining budget; None without rows of a single table.

        Nothing is measured, and nothing charged for it, where the number of people that the release states is below 50,000 by more than
        its noise.

        Args:
            plan: The plan.
            kernel: The kernel with the claim's share of the budget.
            final: The released tables and rows.
        """
        if (codes := one_table(final.released.codes)) is None:
            return None
        measured = final.counted is None
        total = final.counted or measured_total(kernel)
        if total.value + total.doubt(_SURE) < FEWEST_ALONE:
            return Uniques((), 0.0, total, measured)
        cells = {plan.domain.clique(keys): single(plan.domain, codes, keys) for keys in _asked(plan)}
        sigma = kernel.unit.errors_l2(len(cells)) / math.sqrt(2 * kernel.rho_left)
        noisy = dict(zip(cells, measure_alone(cast(Any, kernel), cells, sigma).tolist(), strict=True))
        people = [(keys, noisy[plan.domain.clique(keys)]) for keys in _asked(plan)]
        alone = tuple(Alone(keys, share_of(number, 1, sigma, total), number) for keys, number in people)
        return Uniques(alone, sigma, total, measured)

    @override
    def answers(self, plan: Asked, stated: Uniques | None) -> int:
        """Return the number of kernel answers that were measured for it: the numbers, and that of people if it was not known."""
        return 0 if stated is None else bool(stated.alone) + stated.total_measured

    @override
    def clause(self, stated: Uniques) -> str:
        """Return what was checked about a statement that follows."""
        if not stated.alone:
            return f"there are fewer than {FEWEST_ALONE:,} people, and so nothing was measured"
        return "the combinations of values that one row has, and the shares and intervals, follow from the rows and from what was measured"

    @override
    def sentences(self, plan: Asked, stated: Uniques | None, final: Final) -> list[str]:
        """Return a text for each list of columns, and one that compares the largest share with what epsilon allows; [] if not measured."""
        if stated is None:
            return []
        if not stated.alone:
            return [f"It was not measured, because there are fewer than {FEWEST_ALONE:,} people: noise would hide the answer."]
        who = "records" if plan.unit.max_rows_per_person > 1 else "people"
        most = max(one.share.value for one in stated.alone)
        return [*(_sentence(one, who) for one in stated.alone), *limits(cast("Plan", plan), most, who)]


def single(domain: Domain, codes: NDArray[np.integer], keys: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which combinations of values exactly one row has, shaped like the marginal of the keys in the domain's order.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        keys: The columns.
    """
    clique = domain.clique(keys)
    return row_marginals(domain, codes, [clique])[clique] == 1


def _asked(plan: Asked) -> tuple[tuple[str, ...], ...]:
    return key_lists(cast("Plan", plan).spec.extensions, plan.domain)


def _sentence(one: Alone, who: str) -> str:
    if one.share.high95 - one.share.low95 >= UNSAID:
        return f"The noise is too large to say how many {who} are alone with their {in_words(one.keys)} where one row has the same values."
    known = in_words(one.keys)
    return f"{interval(one.share)} of the {who} are alone with their {known} in the table, where exactly one row has the same values."


REPLICATED = Replicated()
