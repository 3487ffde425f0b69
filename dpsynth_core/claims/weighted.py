"""The claim about weighted tables: rows that stand for more or fewer people than others, and how far off their weighted tables are.

`weighing` measures it, and is loaded where a plan names a column of survey weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.outcome import Nothing, Open, alike, expect
from dpsynth_core.claims.weights import USUAL_SHARE, Weighted
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.interface import SealedKernel


class WeightsMeasured(Claim[Weighted]):
    """The measured distance between the weighted tables of the rows and of the people."""

    name = part = noun = "weighted"
    share = BudgetShare(default=0.0, least=0.001, most=0.4, otherwise="name no column as the weight")
    purpose = "measuring weighted tables"
    unmeasured = "The run was interrupted before weighted tables were measured: the weights of the rows are not calibrated."
    question = "Do weighted tables and weights follow?"
    title = "How far off are weighted tables?"
    reading = (
        "Each row counts as its calibrated weight. Weighted tables of single columns were measured with noise, on a share of the budget "
        "of its own, and the weights of the rows were calibrated to them. Then the share of the weighted people in a wrong cell "
        "was measured. Each bound holds with 95% confidence, by itself. Of weighted tables of several columns only those are measured that "
        "the plan names."
    )
    form = TypeAdapter(Weighted | None)

    @override
    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        """Return whether the spec names a weight and the mechanism makes rows."""
        return document.get("weight") is not None and mechanism.card.makes_rows

    @override
    def check(self, plan: Asked) -> None:
        """Check that a plan with a weight has a share for it, and that column, tables and public totals fit the domain.

        A plan without a weight passes.

        Raises:
            InputError: The share is missing, or the column, a table or a total cannot be used.
            CapacityError: The weighted tables have too many cells.
        """
        if (weight := plan.weight) is None:
            return
        if not self.asked(plan):
            remedy = f"state a share, such as {USUAL_SHARE:g}, and a mechanism that makes rows; or name no weight"
            problem = "a column is named as the weight, and no share of the budget measures its tables"
            raise InputError(f"budget.{self.name}", problem, remedy)
        from dpsynth_core.claims import weighing  # loaded where a column is the weight

        weighing.check(plan.domain, weight, plan.link)

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Weighted | None:  # type: ignore[override]
        """Measure weighted tables and their errors with the kernel's whole remaining budget; None if there are no rows.

        Args:
            plan: The plan, with a weight.
            kernel: The kernel with the share for weighted tables.
            final: The released tables and rows.
        """
        codes = final.released.codes
        if codes is None:
            return None
        from dpsynth_core.claims import weighing  # loaded where a column is the weight

        return weighing.measure(plan, kernel, codes, final.inside, final.released)

    @staticmethod
    def _measure_as_before(plan: Asked, kernel: SealedKernel, final: Final) -> Weighted | None:
        """Measure as older versions did, without the `believed` sum of weights, to check their releases."""
        codes = final.released.codes
        if codes is None:
            return None
        from dpsynth_core.claims import weighing  # loaded where a column is the weight

        return weighing.measure(plan, kernel, codes, final.inside)

    def answers(self, plan: Asked, stated: Weighted | None) -> int:  # noqa: ARG002
        """Return the number of kernel answers that the measurement `stated` took; 0 for None.

        Each part (the rows, or households and members) took one answer for each table of a single column, two for its
        errors, and one for each group of tables.

        Args:
            plan: Not used.
            stated: The measurement; None if nothing was measured.
        """
        return 0 if stated is None else sum(len(one.tables) + 2 + len(one.certificate.most) for one in stated.parts)

    @override
    def follows(self, received: Received, stated: Weighted | None) -> str:
        """Measure the claim again from stored noisy answers; return a clause if it is as stated.

        Raises:
            Wrong: The weighted tables are missing, are not what was measured, or were measured of other rows.
            Open: They differ, but other versions made the release.
            Nothing: No weighted tables were asked for, or the run ended before them.
        """
        if stated is None:
            excused = received.interrupted or received.branded(self.brand)
            expect(excused or not self.asked(received.plan), "the plan asks for them, and they are missing")
            raise Nothing("no weighted tables were measured")
        again = self.again(received, self.took(received, stated), self._measure_as_before if stated.believed is None else None)
        if again is None or not alike(asdict(again), asdict(stated)):
            expect(received.other_versions, "they are not what was measured, or not of these rows")
            raise Open("whether they follow is seen where the versions are those that it names")
        columns = sum(len(one.tables) for one in stated.parts)
        return f"the weighted tables of {columns:,} columns and the weights of the rows follow from what was measured"

    @override
    def sentences(self, plan: Asked, stated: Weighted | None, final: Final) -> list[str]:
        """Return the sentences that state the claim, unescaped; [] if it was not measured.

        At most eight tables of people, of households and of members each are named; the others are counted.
        """
        if stated is None:
            return []
        from dpsynth_core.claims import weighing  # loaded where a column is the weight

        return weighing.sentences(plan, stated, final)


def assumed(plan: Asked) -> str:
    """Return a sentence with the assumptions about the weight that cannot be checked; "" if the plan has no weight."""
    if plan.weight is None:
        return ""
    whose = "record depends on it"
    if (link := plan.link) is not None:
        whose = f"{link.words.household} depends on it and its {link.words.members}"
    return f"The weight “{plan.weight.column}” of a {whose} alone, as a design weight does."


WEIGHTED = WeightsMeasured()
