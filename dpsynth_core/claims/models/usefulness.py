"""The claim about models: how often models trained on synthetic rows are right about the people, on a share of the budget.

`measuring` trains and measures them, and is loaded where a plan asks for models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.models.stated import Usefulness
from dpsynth_core.claims.outcome import Nothing, alike, expect, some
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.vocabulary.rows import one_table


class Models(Claim[tuple[Usefulness, ...]]):
    """The accuracy of models trained on the synthetic rows, for each column that a plan names."""

    name = "models"
    part = "usefulness"
    of_everybody = True
    share = BudgetShare(default=0.02, least=0.001, most=0.4, otherwise="ask for no models")
    purpose = "measuring how often models are right"
    announced = "training models on the synthetic rows, and measuring how often they are right"
    unmeasured = "The run was interrupted before it was measured how often models are right, although a share of the budget was for it."
    question = "Does it follow how often models are right?"
    title = "What is a model worth that is trained on these rows?"
    noun = "models"
    reading = (
        "Each model was trained on synthetic rows alone, as anybody can train it, and then asked about every person of the private table. "
        "How often it was right was counted with noise, on a share of the budget of its own, so that it may be published. The intervals "
        "hold with 95% confidence, each by itself. A guess at a number counts as right only if no value of the person's bin is further "
        "from it than is said: of a bin twice as wide as that its very middle is right alone, of a wider one and of missing and other "
        "values nothing is."
    )
    libraries = ("scikit-learn",)
    form = TypeAdapter(tuple[Usefulness, ...])

    @override
    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        """Return whether the spec names columns to predict."""
        return bool(document.get("models"))

    @override
    def absent(self, plan: Asked) -> tuple[Usefulness, ...]:
        """Return (), for no models."""
        return ()

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> tuple[Usefulness, ...]:
        """Train the models and measure them with the kernel's remaining budget; () without rows of a single table.

        Args:
            plan: The plan, with the columns to predict.
            kernel: The kernel with the share for models.
            final: The released tables and rows.
        """
        if (codes := one_table(final.released.codes)) is None:
            return ()
        from dpsynth_core.claims.models import measuring  # loaded where a plan asks for models

        return measuring.measure(kernel, plan.domain, codes.astype(np.int32, copy=False), plan.targets, final.people(kernel))

    def follows(self, received: Received, stated: tuple[Usefulness, ...]) -> str:
        """Compute the shares again from the noisy counts; return a clause if they are as stated.

        Models are not trained again, so it stays open here whether these models follow from the
        rows.

        Raises:
            Wrong: A share does not follow, or models are missing, or were not measured.
            Nothing: No models were asked for, or the run ended before them.
        """
        targets = received.plan.targets
        own = received.answers[: len(received.answers) - received.of_extensions]  # which may ask for the same
        answers = [answer for answer in own if answer.operation == "measure_right"]
        if not stated:
            ended = received.interrupted or received.branded(self.brand)
            expect(not targets or ended, "the plan asks for models, and nothing is said of any")
            expect(not answers or received.interrupted, "it was measured how often models are right, and nothing is said of it")
            raise Nothing("no models were asked for" if not targets else "the run was interrupted before it was measured")
        expect(len(answers) == 1, "nothing was measured that it could follow from")
        from dpsynth_core.claims.models import measuring  # loaded where models were measured

        recomputed = measuring.again(received, stated, answers[0])
        different = [a.column for a, b in zip(recomputed, stated, strict=True) if not alike(asdict(a), asdict(b))]
        expect(not different, f"what is said of {some(different)} does not follow from what was measured")
        followed = f"{len(stated):,} models' shares and intervals follow from what was measured"
        return f"{followed}; that these are the models, from running all again"

    @override
    def sentences(self, plan: Asked, stated: tuple[Usefulness, ...], final: Final) -> list[str]:
        """Return the sentences that state the claim, one text for each column in order, unescaped; [] without models."""
        if not stated:
            return []
        from dpsynth_core.claims.models import measuring  # loaded where models were measured

        return measuring.sentences(plan, stated, final)


MODELS = Models()
