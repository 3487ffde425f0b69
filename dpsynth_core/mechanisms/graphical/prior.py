"""The protocol of priors, which a fit uses in addition to its measurements, and the prior without a public table (see `public_prior`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.vocabulary.measurement import MarginalCounts, Measurement


class Prior(Protocol):
    """Knowledge about tables of several columns that a fit uses in addition to its measurements.

    Attributes:
        room: Share of the capacity that the model may take up however little of the budget is
            spent.
    """

    room: float

    @property
    def marginals(self) -> Sequence[MarginalCounts]:
        """The chosen public marginals in private counts with their variances, for a fit; empty without any."""

    def learn(self, measurement: Measurement, model: GraphicalModel, /) -> bool:
        """Compare a new private measurement with the prior, and drop the prior if it is contradicted.

        Args:
            measurement: The measurement.
            model: The model before the measurement.

        Returns:
            False if the prior was dropped, so that a fit must not start from that model.
        """

    def details(self) -> Mapping[str, float]:
        """Return public facts about the prior by name, for the report; {} without any."""


class NoPrior:
    """The prior without any knowledge."""

    room: float = 0.0
    marginals: Sequence[MarginalCounts] = ()

    def learn(self, _measurement: Measurement, _model: GraphicalModel, /) -> bool:
        """Return True, because nothing can be dropped."""
        return True

    def details(self) -> Mapping[str, float]:
        """Return an empty mapping."""
        return {}
