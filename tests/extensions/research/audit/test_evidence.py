"""What the charges of the extension's operations promise."""

from __future__ import annotations

from dpsynth_core.extensions.audit.evidence import Accounted, Bounded, of_charges
from dpsynth_core.extensions.research.privacy.events import Approximate, Laplace, PermuteAndFlip
from dpsynth_core.privacy.accountant import ZCDP


def test_charges_promise_what_their_proofs_say() -> None:
    assert [claim.claimed for claim in of_charges([Laplace(2.0, 1.0), PermuteAndFlip(1.0)])][-1] == 1.5
    zcdp, dp = of_charges([Approximate(1.0, 0.01)])
    assert zcdp == Accounted(ZCDP, 0.5, 0.01)
    assert dp == Bounded(1.0, 0.01)
