"""Private trials of learners, some of which take a delta of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpsynth_core.extensions.tradeoffs import sweeps
from dpsynth_core.extensions.tradeoffs.sweep import Sweep
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.conversions import epsilon_from
from dpsynth_core.store import balance, ledger
from dpsynth_core.store.accounts import CapExceeded

Make = Callable[..., Spec]


def learner_sweep(make_spec: Make, delta: float, repeats: int) -> Sweep:
    settings = {"learner": "gaussian", "rounds": 2, "records": 2}
    chosen = {"name": "oraclequery", "settings": settings}
    base = make_spec(domain={"a": 2, "b": 2, "c": 2}, mechanism=chosen, budget={"epsilon": 1.0, "delta": delta})
    return Sweep(base, "private", ("oraclequery", "independent"), (0.5, 1.0), (3,), repeats)


def test_a_learner_that_takes_its_own_delta_in_private_trials_is_charged_that_delta(
    make_spec: Make, project: str, no_workers: list[str]
) -> None:
    tried = learner_sweep(make_spec, 1e-10, repeats=3)
    sweep = sweeps.submit("ann", project, tried)
    assert len(no_workers) > 0
    charge = ledger.reservation(sweep)
    assert charge.own_delta == pytest.approx(6 * 0.5e-10)
    assert charge.rho == pytest.approx(3 * sum(ZCDP.rho_from(e, 0.5e-10) + GDP.rho_from(e, 1e-10) for e in (0.5, 1.0)))
    assert (charge.epsilon, charge.delta) == pytest.approx((epsilon_from(charge.rho, 1e-10), 4e-10))
    left = 1e-9 - charge.own_delta
    assert balance.spent("people").epsilon == pytest.approx(epsilon_from(charge.rho, left))


def test_trials_whose_own_deltas_would_use_up_the_cap_are_refused_and_nothing_is_charged(make_spec: Make, project: str) -> None:
    with pytest.raises(CapExceeded, match=r"delta of their own, which would use up the cap's 1e-09; choose a learner without one"):
        sweeps.submit("ann", project, learner_sweep(make_spec, 1e-9, repeats=1))
    assert sweeps.list("ann", project) == ()
    assert balance.spent("people").rho == 0
