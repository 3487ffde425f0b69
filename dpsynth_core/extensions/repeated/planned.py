"""A schedule for a plan and a population: what was spent so far, the error that each release should have, and the cap in the ledger."""

from __future__ import annotations

import math
from dataclasses import replace

from dpsynth_core.extensions.repeated.schedule import NEW, SAME, Costs, Schedule, Wanted
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning import alternatives, epsilon_curve
from dpsynth_core.planning.epsilon_curve import Bought
from dpsynth_core.planning.expected_verdict import Facts
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.unit_spec import UNNAMED
from dpsynth_core.privacy.accountant import ZCDP, Accountant, in_force
from dpsynth_core.store import ledger, remote_ledger, verified_books
from dpsynth_core.store.accounts import Account


def planned(wanted: Wanted, plan: Plan | None, population: str | None) -> Schedule:
    """Return the schedule that is wanted, under the accountant of the plan and of what the population was charged so far.

    Args:
        wanted: What is asked for.
        plan: The plan of a release; None for zCDP and no steps with a delta of their own.
        population: Name of the population, whose earlier charges count; None for no account. An office's ledger says nothing of
            earlier charges.

    Raises:
        InputError: A value is unknown or out of range, a release would get less epsilon than it must have,
            nothing is left of delta, or the plan cannot have this delta.
        BooksLost: The ledger is not whole.
    """
    wanted.check()
    card = ZCDP if plan is None else plan.mechanism.card.accountant
    own = 0.0 if plan is None else _with_delta(plan, wanted.delta).shares.delta
    account = _account(population)

    def under(charged: Accountant) -> Schedule:
        common = (account if wanted.who == SAME else Account()).counted_in(charged)
        return Schedule.of(wanted, Costs(common, charged, own, account.rho, account.own_delta))

    found = under(card)
    # A run is charged by the accountant that covers its own epsilon, which is smaller than that of all runs together.
    return found if in_force(card, found.each, wanted.delta - own) is card else under(ZCDP)


def forecast(schedule: Schedule, plan: Plan, people: int | None) -> Bought | None:
    """Return the error that a release of the schedule should have, with its likely range, from public facts alone.

    Args:
        schedule: The schedule.
        plan: The plan of the releases.
        people: Approximate public number of people in a release; None if it is not known.

    Returns:
        The mean error of the workload's tables, as a share of people in a wrong cell; None if the number of
        people is unknown, the mechanism publishes no tables, or no trial was made of such a plan.
    """
    standin = plan.spec.data.standin
    number = people or (standin.rows if standin else None)
    if (
        not number
        or not plan.mechanism.card.publishes_tables
        or (plan.link is not None and alternatives.linked_error(plan, number) is None)
    ):
        return None
    found = epsilon_curve.bought(_with_delta(plan, schedule.delta), Facts(number), schedule.each)
    return None if math.isnan(found.error) else found


def error_text(found: Bought) -> str:
    """Return an expected error with its likely range, in per cent of the people."""
    return f"{found.error:.2%} ({found.low:.2%} to {found.high:.2%})"


def fits(schedule: Schedule, population: str) -> str:
    """Return a sentence that says whether the present cap of a population is enough for the schedule.

    Raises:
        BooksLost: The ledger is not whole.
    """
    if remote_ledger.configured() is not None:
        return "The office's ledger counts these people: ask the office whether its cap allows the schedule."
    name, account = f"“{population}”", _account(population)
    if account.cap is None:
        return f"The ledger has no account of {name} yet."
    has = f"The cap of {name} is epsilon {account.cap.epsilon:g}, delta {account.cap.delta:g}"
    if schedule.wanted.who == NEW and account.charges:
        return f"{has}. It was charged before: name a new population for new people."
    return f"{has}: {'enough' if schedule.allowed_by(*account.cap) else 'not enough'} for the schedule."


def has_cap(schedule: Schedule, population: str) -> bool:
    """Return whether a population has exactly the epsilon and delta of the schedule's cap in the ledger here.

    It has not if the population is not open, or if an office's ledger is in use.

    Raises:
        BooksLost: The ledger is not whole.
    """
    account = _account(population)
    return account.cap is not None and tuple(account.cap) == (schedule.cap, schedule.delta)


def set_cap(owner: str, schedule: Schedule, population: str, reason: str) -> None:
    """Set the cap of a population to the cap of the schedule; open the population if it is not open.

    Args:
        owner: The person who sets it; their role must allow it.
        schedule: The schedule.
        population: Name of the population.
        reason: The reason, which the ledger keeps. A population that is not open needs none; by default the ledger
            then keeps a sentence about the schedule.

    Raises:
        InputError: The office's ledger is in use; the name cannot be used; the reason has fewer than three
            different words, or cannot be used; the role does not allow it; or the schedule is for new people and
            the population was charged before.
        BooksLost: The ledger is not whole.
    """
    if remote_ledger.configured() is not None:
        raise InputError("population", "its cap is in the office's ledger", "ask the office to set it to the schedule's")
    cap = schedule.cap, schedule.delta
    if _account(population).cap is None:
        each = f"a schedule of {schedule.number:,} releases, one every {schedule.wanted.every}"
        ledger.open_population(owner, population, cap, reason.strip() or each)
    elif schedule.wanted.who == NEW and _account(population).charges:
        problem = f"{shown(population)} was charged before, and the schedule is for new people"
        raise InputError("population", problem, "name a population for the people of the next release")
    else:
        ledger.change_cap(owner, population, cap, reason)


def _account(population: str | None) -> Account:
    if population is None or population == UNNAMED or remote_ledger.configured() is not None:
        return Account()
    books = verified_books.read()
    return books.account(population) if population in books.populations else Account()


def _with_delta(plan: Plan, delta: float) -> Plan:
    """Return the plan with another delta.

    Raises:
        InputError: The plan cannot have this delta.
    """
    if delta == plan.spec.budget.delta:
        return plan
    budget = plan.spec.budget.model_copy(update={"delta": delta})
    changed = plan.spec.model_copy(update={"budget": budget})
    return replace(plan, spec=changed, shares=plan.divided(plan.mechanism, budget))
