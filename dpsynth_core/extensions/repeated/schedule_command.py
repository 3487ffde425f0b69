"""`schedule`: the budget of each release of a table that is published again and again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dpsynth_core.cli.options import Commands, add_command, number, whole
from dpsynth_core.cli.terminal import print_message, print_result
from dpsynth_core.foundation.errors import InputError, shown

if TYPE_CHECKING:
    from dpsynth_core.planning.plan import Plan


def add(commands: Commands) -> None:
    """Declare the command `schedule`."""
    about = "plan the budget of each release of a table that is published again and again; nothing is read or charged"
    parser = add_command(commands, "schedule", _schedule, about)
    parser.add_argument("--every", metavar="WORD", required=True, help="how often it is published: month, quarter, half-year or year")
    parser.add_argument("--years", metavar="N", default="1", help="number of years (default: %(default)s)")
    parser.add_argument("--epsilon", metavar="E", required=True, help="epsilon of each year, or of all years together")
    parser.add_argument("--per", metavar="WORD", default="year", help="what epsilon is for: each year, or the whole (default: %(default)s)")
    who = "who is in each release: the same people, or new people who are in no other release (default: %(default)s)"
    parser.add_argument("--who", metavar="WORD", default="same", help=who)
    parser.add_argument("--delta", metavar="D", help="delta of all releases together (default: the plan's, or 1e-9)")
    planned = "the plan of a release (SPEC.json, release.zip or its folder): its accountant is used, and its error is forecast"
    parser.add_argument("--plan", metavar="PLAN", type=Path, help=planned)
    parser.add_argument("--people", metavar="N", help="about how many people are in a release, if that is public; for the forecast")
    counted = "the population in the ledger, whose earlier charges count (default: the plan's)"
    parser.add_argument("--population", metavar="NAME", help=counted)
    parser.add_argument("--set-cap", dest="set_cap", action="store_true", help="set the population's cap to the schedule's")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why the cap changes; kept in the ledger")


def _schedule(options: argparse.Namespace) -> None:
    from dpsynth_core.extensions.repeated.planned import error_text, fits, forecast, planned, set_cap
    from dpsynth_core.extensions.repeated.schedule import TITLES, Wanted, text_table
    from dpsynth_core.planning.defaults import DELTA
    from dpsynth_core.planning.unit_spec import UNNAMED
    from dpsynth_core.store.home import LOCAL_OWNER

    plan = None if options.plan is None else _plan(options.plan)
    people = None if options.people is None else _whole(options.people, "--people")
    usual = DELTA if plan is None else plan.spec.budget.delta
    delta = usual if options.delta is None else _number(options.delta, "--delta")
    wanted = Wanted(options.every, _whole(options.years, "--years"), _number(options.epsilon, "--epsilon"), options.per, options.who, delta)
    population = options.population or (None if plan is None or plan.spec.population == UNNAMED else plan.spec.population)
    if options.set_cap and population is None:
        raise InputError("--set-cap", "no population is named", "name it with --population")
    found = planned(wanted, plan, population)
    error = None if plan is None else forecast(found, plan, people)
    titles, rows = [*TITLES], [[*row] for row in found.rows]
    if error is not None:
        titles.append("Expected error")
        rows = [[*row, error_text(error)] for row in rows]
    for line in (*text_table([titles, *rows]), *found.sentences):
        print_result(line)
    if error is not None:
        print_result("The expected error is the share of people in a wrong cell, on average over the tables of the plan.")
    elif plan is not None:
        print_message("note: no error is forecast; say with --people about how many people are in a release")
    if population is not None and not options.set_cap:
        print_result(fits(found, population))
    if options.set_cap and population is not None:
        set_cap(LOCAL_OWNER, found, population, options.reason)
        print_message(f"done: the cap of {shown(population)} is epsilon {found.cap:g}, delta {found.delta:g}")


def _plan(path: Path) -> Plan:
    from dpsynth_core.bundle import confined
    from dpsynth_core.planning.plan import Plan
    from dpsynth_core.planning.spec import load_spec

    return Plan.of(load_spec(path) if path.suffix == ".json" else confined.planned(path))


def _number(text: str, option: str) -> float:
    value = number(text)
    if not isinstance(value, int | float):
        raise InputError(option, f"{shown(text)} is not a number", "give one such as 1, or 1e-9 for delta")
    return float(value)


def _whole(text: str, option: str) -> int:
    value = whole(text)
    if not value:
        raise InputError(option, f"{shown(text)} cannot be used", "give a whole number above 0")
    return value
