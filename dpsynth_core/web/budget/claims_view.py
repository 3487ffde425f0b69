"""What is measured about the rows, on the Budget page: the card of each claim, and its share of the budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.claims.claim import Claim
from dpsynth_core.claims.criteria.deciding import CRITERIA
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.plan import Shares
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.budget import budget_view, criteria_view, models_view
from dpsynth_core.web.shell import fields, frame
from dpsynth_core.web.shell.session import Current

Card = Callable[[Current, Workload, Unit, Shares], None]
CARDS: Mapping[str, Card] = {
    CERTIFICATE.name: lambda project, workload, unit, shares: budget_view.certificate(project, workload, unit, shares.of(CERTIFICATE.name)),
    CRITERIA.name: criteria_view.criteria,
    MODELS.name: lambda project, _workload, unit, _shares: models_view.card(project, unit),
}
"""By name of the claim, in the order of the page. A claim that has none gets a card with its share alone."""


def cards(project: Current, workload: Workload, unit: Unit, shares: Shares) -> None:
    for card in CARDS.values():
        card(project, workload, unit, shares)
    for claim in CLAIMS:
        if claim.name not in CARDS:
            _share(claim)


def _share(claim: Claim[Any]) -> None:
    with frame.card(claim.title, Zone.PUBLIC, claim.reading):
        usual = (claim.share.default, 0.02, 0.05, 0.1)
        fields.share(f"Share of the budget for {claim.purpose}", f"budget.{claim.name}", usual, claim.share.default)
