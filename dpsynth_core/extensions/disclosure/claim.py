"""The claim: for how many people the released rows name a value of theirs, rightly and wrongly, on a share of the budget of its own.

A lookup made of released rows is a public function of a record. A person for whom a value is named rightly is not one for whom it is named
wrongly: the two counts of a question are cells of one marginal, and cost what one count costs where a person is added or removed
(`measure_named`, Proposition 32). The number of people for whom any value is named is their sum, whose noise has sqrt(2) times the
deviation. Where the number of people is noisy, intervals are Fieller's (`statistics.intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Final
from dpsynth_core.claims.models.stated import Share
from dpsynth_core.extensions.disclosure import SETTING
from dpsynth_core.extensions.disclosure.lookup import predictor
from dpsynth_core.extensions.disclosure.of_rows import OfRows
from dpsynth_core.extensions.disclosure.operations import measure_named
from dpsynth_core.extensions.disclosure.questions import UNSAID, Question, in_words, questions
from dpsynth_core.extensions.disclosure.shares import interval, limits, share_of
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.totals import Total, measured_total
from dpsynth_core.vocabulary.rows import one_table

if TYPE_CHECKING:
    from dpsynth_core.planning.plan import Plan


@dataclass(frozen=True)
class Disclosed:
    """The answer to one question. Shares are of the people, from 0 to 1, each with its interval of 95 % confidence.

    Attributes:
        target: The column that somebody looks for.
        keys: The columns that they know of a person.
        rightly: People for whom the rows name their own value of the target.
        wrongly: People for whom the rows name another value.
        named: People for whom the rows name a value.
        right_people: Measured number of people for whom their own value is named; noise can take it below 0 or above the total.
        wrong_people: Measured number of people for whom another value is named.
    """

    target: str
    keys: tuple[str, ...]
    rightly: Share
    wrongly: Share
    named: Share
    right_people: float
    wrong_people: float


@dataclass(frozen=True)
class Disclosure:
    """The statement of a release about disclosure.

    Attributes:
        questions: The answer to each question of the spec, in order.
        sigma: Standard deviation of the noise of each count, in people, before rounding.
        total: Number of people.
        total_measured: Whether that number was measured for this claim.
    """

    questions: tuple[Disclosed, ...]
    sigma: float
    total: Total
    total_measured: bool


class Disclosing(OfRows[Disclosure]):
    """The number of people for whom the rows name a value, rightly and wrongly, to somebody who knows other values of theirs."""

    name = SETTING
    part = "disclosure"
    setting = SETTING
    share = BudgetShare(default=0.02, least=0.001, most=0.4, otherwise="leave the questions about disclosure out")
    purpose = "measuring for how many people the rows name a value"
    unmeasured = (
        "The run was interrupted before it was measured for how many people the rows name a value. A share of the budget was for that."
    )
    subject = "for how many people the rows name a value"
    question = "Does it follow for how many people the rows name a value?"
    title = "What could somebody learn about me from these rows?"
    noun = "disclosure"
    reading = (
        "Somebody who knows some values of a person can look for rows with the same values. The rows name a further value if all such rows "
        "agree on it. They may name it rightly because it is so for most people like this person. For how many people that is so was "
        "counted with noise, on a share of the budget of its own, so that it may be published. The intervals hold with 95% confidence, "
        "each by itself. Values are groups of this release, such as a range of ages. This is an example of one attack, and an average over "
        "people. The limit of every attack on a person follows from epsilon."
    )
    form = TypeAdapter(Disclosure | None)

    @override
    def check(self, plan: Asked) -> None:
        """Check that a plan with questions about disclosure can have them.

        Raises:
            InputError: A question is not about columns of the plan, or its release has no rows, linked tables or several tables of rows.
        """
        if self.asked(plan):
            from dpsynth_core.extensions.disclosure.planned import check  # which knows plans, as this file must not

            check(cast("Plan", plan))

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Disclosure | None:  # type: ignore[override]
        """Measure the counts with the kernel's remaining budget; None without rows of a single table.

        Args:
            plan: The plan.
            kernel: The kernel with the claim's share of the budget.
            final: The released tables and rows.
        """
        if (codes := one_table(final.released.codes)) is None:
            return None
        asked, measured = _asked(plan), final.counted is None
        total = final.counted or measured_total(kernel)
        made = [predictor(plan.domain, codes, question) for question in asked]
        sigma = kernel.unit.marginals_l2(len(made)) / math.sqrt(2 * kernel.rho_left)
        return state(asked, measure_named(cast(Any, kernel), made, sigma), sigma, total, measured)

    @override
    def answers(self, plan: Asked, stated: Disclosure | None) -> int:
        """Return the number of kernel answers that were measured for it: the counts, and the number of people if it was not known."""
        return 0 if stated is None else 1 + stated.total_measured

    @override
    def clause(self, stated: Disclosure) -> str:
        """Return what was checked about a statement that follows."""
        number = len(stated.questions)
        counted = "the lookup, the shares and intervals" if number == 1 else f"{number} lookups, their shares and intervals"
        return f"{counted} follow from the rows and from what was measured"

    @override
    def heading(self, stated: Disclosure | None) -> str:
        """Return the heading, with the known columns if they are the same for all questions."""
        keys = {one.keys for one in stated.questions} if stated is not None else set()
        return f"What could somebody learn who knows my {in_words(*keys)}?" if len(keys) == 1 else self.title

    @override
    def sentences(self, plan: Asked, stated: Disclosure | None, final: Final) -> list[str]:
        """Return a text for each question, and one that compares the largest share with what epsilon allows; [] if not measured."""
        if stated is None:
            return []
        who = "records" if plan.unit.max_rows_per_person > 1 else "people"
        most = max(one.rightly.value for one in stated.questions)
        return [*(_sentence(one, who) for one in stated.questions), *limits(cast("Plan", plan), most, who)]


def _asked(plan: Asked) -> tuple[Question, ...]:
    return questions(cast("Plan", plan).spec.extensions, plan.domain)


def state(asked: Sequence[Question], noisy: NDArray[np.float64], sigma: float, total: Total, total_measured: bool) -> Disclosure:
    """Return what follows from noisy counts.

    Args:
        asked: The questions.
        noisy: For each question, the numbers of people for whom a value is named rightly and wrongly, shape (questions, 2).
        sigma: Standard deviation of the noise of each count, in people, before rounding.
        total: Number of people.
        total_measured: Whether that number was measured for this claim.
    """
    found = []
    for one, (right, wrong) in zip(asked, noisy.tolist(), strict=True):
        rightly, wrongly, either = (share_of(count, noises, sigma, total) for count, noises in ((right, 1), (wrong, 1), (right + wrong, 2)))
        found.append(Disclosed(one.target, one.keys, rightly, wrongly, either, right, wrong))
    return Disclosure(tuple(found), sigma, total, total_measured)


def _sentence(one: Disclosed, who: str) -> str:
    known = f"To somebody who knows {in_words(one.keys)} of a person, the rows"
    if max(one.rightly.high95 - one.rightly.low95, one.wrongly.high95 - one.wrongly.low95) >= UNSAID:
        return f"{known} may name {one.target}. The noise is too large to say for how many {who}."
    return f"{known} name {one.target}, and rightly, for {interval(one.rightly)} of the {who}, wrongly for {interval(one.wrongly)}."


DISCLOSURE = Disclosing()
