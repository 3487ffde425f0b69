"""`next`: the plan of a release for next year's table, with its changes and the remaining budget.

Of the records only the first ones are read, and only on a terminal or with --private-notes, to list what the plan no longer understands.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli import table_options
from dpsynth_core.cli.options import PRIVATE_NOTES, Commands, add_command, write_new
from dpsynth_core.cli.release_commands import table_of
from dpsynth_core.cli.table_options import PEOPLE, TABLES, place
from dpsynth_core.cli.terminal import print_message, print_result
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError, shown

if TYPE_CHECKING:
    from dpsynth_core.planning.plan import Plan
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.vocabulary.domain import Domain


def add(commands: Commands) -> None:
    """Declare the command `next`."""
    about = "the plan of a release for a new table of the same columns: what changed, and what is left of the budget"
    parser = add_command(commands, "next", _next, about)
    parser.add_argument("plan", metavar="PLAN", type=Path, help="release.zip or the folder it was unpacked into, or a SPEC.json")
    parser.add_argument("data", metavar="DATA", type=place, help=f"the new table: {TABLES}; or {PEOPLE}")
    parser.add_argument("--out", metavar="SPEC.json", type=Path, required=True, help="the new spec, for `run`; must not be there yet")
    table_options.add_table_options(parser)
    private = "name the columns of the new table's first records that are not understood, for the curator alone, even without a terminal"
    parser.add_argument(PRIVATE_NOTES, dest="private_notes", action="store_true", help=private)


def _next(options: argparse.Namespace) -> None:
    from dpsynth_core.foundation.documents import is_uri
    from dpsynth_core.planning import renewal
    from dpsynth_core.planning.plan import Plan
    from dpsynth_core.release import synthesis

    before = _plan(options.plan)
    if before.members is not None and not extension.is_of_one(before.extensions):
        raise InputError("PLAN", "it is of two linked tables, and this command has one new table", "name the new tables in its spec")
    name, section, columns, _ = table_of(options)
    if (path := section.get("path")) and not is_uri(str(path)):
        section = {**section, "path": os.path.abspath(path)}  # a relative one would start from the folder of the spec
    plan = Plan.stated(renewal.renewed(before, section, name))
    domain, unreleased = _columns(plan)
    changed = renewal.changes(domain, columns, _declared(options), unreleased)
    for sentence in (*changed.sentences, *_budget(plan)):
        print_result(sentence)
    if changed.missing:
        raise InputError("DATA", f"it lacks columns of the plan: {', '.join(map(shown, changed.missing[:8]))}", "name them as before")
    write_new("--out", options.out, plan.spec.model_dump(mode="json"))
    if options.private_notes or sys.stderr.isatty():
        for remark in synthesis.not_understood(plan).value:
            print_message(f"warning, for your eyes only: {remark.sentence}")
    if reasons := renewal.given_reasons(plan.spec):
        print_message(f"note: these were written about the former table; read them again: {', '.join(reasons)}")
    print_message(f"done: the same plan for {shown(name)}, written to {options.out}; nothing was charged")


def _columns(plan: Plan) -> tuple[Domain, tuple[str, ...]]:
    """Return the columns that a plan reads of its one table: those that are released, and the names of the others."""
    from dpsynth_core.vocabulary.domain import Domain

    person = () if plan.spec.unit.person_column is None else (plan.spec.unit.person_column,)
    if plan.link is None:
        return plan.domain, person
    read = extension.second_columns(plan.link.members.names, plan.spec.extensions)
    rows = [one for one in plan.link.members if one.name in read]
    return Domain((*plan.link.households, *rows)), (*person, *(name for name in read if name not in plan.link.members))


def _plan(path: Path) -> Spec:
    from dpsynth_core.bundle import confined
    from dpsynth_core.planning.spec import load_spec

    if path.suffix == ".json":
        return load_spec(path)
    return confined.planned(path)


def _declared(options: argparse.Namespace) -> dict[str, list[str]]:
    """Return the categories that the table's own metadata declare, by column.

    The dict is empty for files without such metadata, such as CSV, for tables that are not files and for
    simulated people.
    """
    from dpsynth_core.sources.files import declared_domain

    if table_options.is_demo(options) or table_options.place_of(options) is not None:
        return {}
    form = table_options.stated_format(options)
    if not form.file_kind.declares:  # says nothing of itself but in its records
        return {}
    columns: list[dict[str, Any]] = declared_domain(options.data, form)["attributes"]
    return {column["name"]: column["categories"] for column in columns if column.get("categories")}


def _budget(plan: Any) -> list[str]:
    from dpsynth_core.planning.unit_spec import UNNAMED
    from dpsynth_core.store import balance, charging, remote_ledger

    spec = plan.spec
    left = None if spec.population == UNNAMED else charging.left(spec.population, plan.shares.accountant)
    if left is None:
        whose = "The office's ledger" if remote_ledger.configured() else "The ledger on this machine"
        return [f"{whose} has no account of these people: nothing is known of what earlier releases about them spent."]
    times = balance.times_more(left.rho, plan.shares.rho)
    enough = f"fits {times:,} more times" if times else "does not fit"
    cap = f"Of epsilon {left.cap_epsilon:g} for “{spec.population}”, {left.epsilon:.3g} is left"
    return [f"{cap}; this plan takes {spec.budget.epsilon:g} and {enough}."]
