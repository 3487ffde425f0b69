"""What a file of rows says of itself, because files travel without their bundle: that nobody in it is real, and where its record is."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.planning.spec import Spec


@dataclass(frozen=True)
class About:
    """seal: digest of the plan, which release.json and the ledger name too. protects: whether its noise hides anybody's records.
    stated: what the curator says of licence, creators and the like."""

    seal: str
    epsilon: float
    delta: float
    protects: bool
    stated: AboutSpec

    @classmethod
    def of(cls, spec: Spec) -> About:
        return cls(spec.digest(), spec.budget.epsilon, spec.budget.delta, spec.protects, spec.about or AboutSpec())

    @property
    def label(self) -> str:
        """For places of 40 characters, which are all that SAS transport files have."""
        return f"SYNTHETIC ROWS, plan {self.seal[:12]}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Each of 80 characters at most, as notes of SPSS are."""
        promise = f"epsilon {self.epsilon:g}, delta {self.delta:g}" if self.protects else "none; of invented people, or with known noise"
        return (
            "These rows are synthetic: nobody in them is a real person.",
            "Do not link them to records of people, and decide about no person by them.",
            f"Differential privacy: {promise}.",
            f"Plan (SHA-256): {self.seal[:32]}",
            f"                {self.seal[32:]}",
            "How far off they are is in release.json of their bundle.",
            *(line for name, text in self.stated.facts() for line in textwrap.wrap(f"{name}: {text}", 80)),
        )
