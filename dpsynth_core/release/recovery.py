"""A release from a spool, without the private table and without further charges.

A complete transcript gives the whole release, as the run would have written it. If the run ended within the mechanism, a model is missing.
Then the measurements that were made are released as noisy tables without rows, and the release states this.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from dpsynth_core.claims.claim import AnswersEnd
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.release.journal import Journal
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.spool import Kept
from dpsynth_core.release.statement import brands, interrupted_brand, public_details, statement
from dpsynth_core.release.transcript import check_paid, replaying
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.grouped_domain import with_groups
from dpsynth_core.vocabulary.measurement import Measurement

_ROUNDING = 1e-6
"""Largest part of a budget that rounding of its shares and charges may leave unspent."""


def recover(kept: Kept, on_event: Callable[[Progress], None], answers: bool = False) -> Release:
    """Return the release of an interrupted run from its spool, without the private table and without charges.

    Args:
        kept: The content of the spool.
        on_event: Called with each line of the history.
        answers: Whether only the noisy tables are released, even if the answers suffice to make
            rows.

    Returns:
        The release with its rows if the answers suffice; otherwise the noisy tables without rows.

    Raises:
        InputError: No table was measured, this version asks other questions than the run did, or answers and
            charges are inconsistent.
        CapacityError: The plan does not fit this machine.
    """
    plan = synthesis.feasible(Plan.of(kept.spec))
    return answers_only(plan, kept) if answers else carried_out(plan, kept, on_event)


def suffices(kept: Kept) -> bool:
    """Return whether the answers cost all that the plan sets aside for anything but claims, so that rows follow from them.

    A mechanism may end with less. Then only running it again shows whether its answers suffice, and
    the result is False.
    """
    shares = Plan.of(kept.spec).shares
    before_claims = shares.rho - sum(shares.of(claim.name) for claim in CLAIMS)
    return float(sum(map(shares.accountant.cost, kept.paid), Fraction())) >= before_claims * (1 - _ROUNDING)


def carried_out(plan: Plan, kept: Kept, on_event: Callable[[Progress], None]) -> Release:
    """Return the release of a plan whose mechanism is run again on the recorded answers.

    If the answers end before the mechanism does, the release has the noisy tables without rows. If they end
    later, while claims are measured, it states these claims as not measured.

    Args:
        plan: The feasible plan.
        kept: The content of the spool.
        on_event: Called with each line of the history.

    Raises:
        InputError: No table was measured, this version asks other questions than the run did, or answers and
            charges are inconsistent.
    """
    kernel = replaying(plan.domain, plan.unit, plan.shares, kept.answers, kept.paid)
    try:
        return synthesis.carry_out(plan, kernel, kept.private, on_event)
    except AnswersEnd:
        return answers_only(plan, kept)


def answers_only(plan: Plan, kept: Kept) -> Release:
    """Return a release without rows, which has the noisy tables among the recorded answers.

    Args:
        plan: The feasible plan.
        kept: The content of the spool.

    Raises:
        InputError: No table was measured, or the recorded answers or charges are inconsistent.
    """
    answers, paid = kept.answers, kept.paid
    with suppress(AnswersEnd):  # it ended while values were learnt: then no table was measured
        kernel = replaying(plan.domain, plan.unit, plan.shares, answers, paid)
        plan, _ = synthesis.learnt(plan, kernel, Journal())
    measurements = tuple(table for answer in answers for table in answer.tables if isinstance(table, Measurement))
    if not any(measurement.clique for measurement in measurements):
        raise InputError("run", "it had measured no table yet", "nothing of it can be kept")
    check_paid(plan.domain, plan.unit, answers, paid)
    if any(one.values.shape != with_groups(plan.domain, one.groups).sizes(one.clique) for one in measurements):
        raise InputError("run", "a noisy table has other cells than its columns", "what it kept is damaged")
    counted = (float(answer.value) for answer in answers if answer.operation == "measure_total")
    total = known_total(measurements, next(counted, None) if plan.unit.total_is_public else None)
    records = total.value if total else 1.0
    spent = float(sum(map(plan.shares.accountant.cost, paid), Fraction()))
    details = {"settings": plan.settings} | public_details(plan.public)
    history, charges, so_far = list[Progress](), iter(paid), Fraction()
    for answer in answers:
        so_far += sum((plan.shares.accountant.cost(next(charges)) for _ in range(answer.charges)), Fraction())
        history += [Progress.measured(table, float(so_far)) for table in answer.tables if isinstance(table, Measurement)]
    return Release(
        plan=plan,
        codes=None,
        values=None,
        total=records,
        measurements=measurements,
        history=tuple(history),
        charges=paid,
        rho=plan.shares.rho,
        rho_spent=spent,
        private=kept.private,
        statement=statement(plan, spent, kept.private),
        brands=(*brands(plan, records, kept.private, details), interrupted_brand(len(measurements), answers)),
        row_policy="no rows: noisy tables alone",
        details=details,
        versions=synthesis.versions(),
        created=synthesis.today(),
        bounds={},
        claims={claim.name: claim.absent(plan) for claim in CLAIMS},
        row_seed=None,
        transcript=answers,
    )
