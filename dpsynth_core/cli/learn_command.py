"""`learn`: a run that only learns the values of columns, and the plan of the release with the values that were found."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli.options import Commands, add_charging, add_command, add_connection, number, write_new
from dpsynth_core.cli.release_commands import stated_spec
from dpsynth_core.cli.terminal import print_message, print_result
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError, shown

if TYPE_CHECKING:
    from dpsynth_core.evaluation.learnt_columns import LearntColumn
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.release.release import Release
    from dpsynth_core.vocabulary.attribute import Attribute

PLAN = "plan.json"
"""Name of the plan in the folder of --out. It names the table's path, so it is not in the bundle."""


def add(commands: Commands) -> None:
    """Declare the command `learn`."""
    about = "learn the values of columns for a charge of their own, say what was found, and write the plan of the release with them"
    parser = add_command(commands, "learn", _learn, about)
    parser.add_argument("spec", metavar="SPEC.json", type=Path, help='the plan of the release, some of whose columns say "discover"')
    parser.add_argument("--epsilon", metavar="EPSILON", help="of this run, charged on top of the plan's (default: 0.3 of the plan's)")
    parser.add_argument("--columns", metavar="LIST", help='columns to learn, separated by commas (default: all that say "discover")')
    folder = f"folder for the release of this run and for {PLAN}, the plan with the learnt values; no {PLAN} may be there yet"
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help=folder)
    add_connection(parser)
    add_charging(parser)


def _learn(options: argparse.Namespace) -> None:
    from dpsynth_core.cli import making
    from dpsynth_core.planning.learning_plan import learning_spec

    planned = stated_spec(options)
    if planned.members is not None:
        problem = f"{extension.what_is_linked(planned.extensions)} have no values that are learnt in a run of their own"
        raise InputError("SPEC.json", problem, "learn them of a spec of one table without that, and list them here")
    if (options.out / PLAN).exists():
        raise InputError("--out", f"{PLAN} is there already", "name another folder, or move that file")
    spec = learning_spec(planned.model_dump(mode="json"), planned.name, _columns(planned, options.columns), _epsilon(options, planned))
    write = partial(_write, planned, options.out / PLAN)
    making.release(spec, options.out, options.population, ("csv",), "", (), options.private_notes, write)


def _write(planned: Spec, path: Path, made: Release) -> None:
    """Print what was found of each column, and write the plan with the learnt values.

    Args:
        planned: The plan of the release.
        path: The file of the new plan; it does not exist.
        made: The release of the run that learnt the values.
    """
    from dpsynth_core import report
    from dpsynth_core.evaluation.learnt_columns import learnt_columns

    found = learnt_columns(report.evidence(made).value)
    for column in found:
        print_result(_found(column))
    write_new("--out", path, _completed(planned, found))
    print_message("note: the rows of this run are not for analyses; its verdict is about them")
    print_message(f"done: the plan with the values of {sum(one.is_learnt for one in found)} columns is {path}, for `run`")


def _columns(planned: Spec, listed: str | None) -> list[Attribute]:
    """Return the columns to learn.

    Args:
        planned: The plan of the release.
        listed: The option `--columns`.

    Raises:
        InputError: The option names a column that the plan does not leave open.
    """
    from dpsynth_core.vocabulary.domain import Domain

    unknown = Domain.from_json(planned.domain).unknown
    if listed is None:
        return list(unknown)
    names = [name.strip() for name in listed.split(",")]
    for name in names:
        if name not in {column.name for column in unknown}:
            raise InputError("--columns", f'{shown(name)} is not a column of the plan with "discover"', "name columns with open values")
    return [column for column in unknown if column.name in names]


def _epsilon(options: argparse.Namespace, planned: Spec) -> Any:
    """Return epsilon of the run as stated; the spec refuses a text that is not a number."""
    from dpsynth_core.planning.learning_plan import usual_epsilon

    return usual_epsilon(planned.budget.epsilon) if options.epsilon is None else number(options.epsilon)


def _found(column: LearntColumn) -> str:
    """Return a line on what was found of a column."""
    one, name = column.attribute, shown(column.attribute.name)
    if one.is_number and one.values > 1:
        what = f"{one.scale.stated(one.lower)} to {one.scale.stated(one.upper)} in {one.values} bins"
    else:
        what = "1 value" if one.values == 1 else f"{one.values:,} values"
    share = "" if column.outside is None else f"; {column.outside.words} of the people have another value"
    if not column.is_learnt:
        remedy = "Learn it again as another kind or with a larger epsilon, list its values, or leave it out."
        return f"{name}: not learnt ({what}{share}). {remedy}"
    return f"{name}: {what}{share}" + (". Look at this column before you go on." if column.is_doubtful else "")


def _completed(planned: Spec, found: tuple[LearntColumn, ...]) -> dict[str, Any]:
    """Return the plan as JSON, in which each learnt column has its values.

    Numbers beyond the learnt bounds count in the nearest bin, and missing values have a cell of their own, as in the wizard. Columns that
    were not learnt stay open. An origin that the plan states of its other columns stays.
    """
    from dpsynth_core.planning.domain_origin import UNSTATED, of_document
    from dpsynth_core.vocabulary.domain import LEARNT, Domain

    learnt = {one.attribute.name: _as_planned(one.attribute) for one in found if one.is_learnt}
    domain = Domain.from_json(planned.domain).to_json()
    attributes = [learnt.get(one["name"], one) for one in domain["attributes"]]
    silent = planned.domain_origin == UNSTATED and of_document(planned) in ("", LEARNT)
    origin = {"domain_origin": LEARNT} if silent and learnt else {}
    return planned.model_dump(mode="json") | {"domain": domain | {"attributes": attributes}} | origin


def _as_planned(attribute: Attribute) -> dict[str, Any]:
    from dpsynth_core.vocabulary.domain import Domain

    (stated,) = Domain((attribute,)).to_json()["attributes"]
    return {**stated, "missing": True} | ({"other": False} if attribute.is_number else {})
