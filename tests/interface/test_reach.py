"""Python can say all that the command line can."""

from __future__ import annotations

import inspect
from argparse import _SubParsersAction
from pathlib import Path

import dpsynth_core as dps
from dpsynth_core.cli import command_line
from dpsynth_core.foundation import extension
from dpsynth_core.interface.plan import Options
from dpsynth_core.planning.defaults import DELTA
from tests.refusals import refused

COLUMNS = {"sex": ["female", "male"], "age": (16, 95)}
SAID = {
    "data": "data", "--domain": "columns", "--epsilon": "epsilon", "--workload": "tables", "--population": "population",
    "--mechanism": "mechanism", "--set": "settings", "--delta": "delta", "--epsilon-reason": "epsilon_reason",
    "--certificate": "certificate", "--criteria": "criteria", "--criteria-share": "criteria_share", "--model": "models",
    "--models-share": "models_share", "--ranges-share": "ranges", "--discovery": "discovery", "--inside": "inside", "--means": "means",
    "--weight": "weight", "--weight-totals": "weight_totals", "--weight-tables": "weight_tables", "--weighted": "weighted",
    "--relation": "relation", "--person-column": "person", "--key": "person", "--max-rows-per-person": "rows_per_person",
    "--max-members": "rows_per_person", "--members": "members", "--members-domain": "members", "--rules": "rules", "--public": "public",
    "--published": "published", "--published-from": "published", "--domain-origin": "domain_origin", "--origin-reason": "origin_reason",
    "--other-copies": "other_copies", "--about": "about", "--looked": "looked", "--rows": "rows", "--tables": "row_tables",
    "--seed": "seed",
}  # fmt: skip
"""Options of `synthesize` and the parameters of `plan` that say the same."""
ELSEWHERE = {"--help", "--out", "--format", "--private-notes"}
"""What the command line needs to write files and to print, for which Python has methods."""
FORM = {"--engine", *(f"--{entry.name}" for engine in extension.engines().values() for entry in engine.entries)}
"""Fields of `form`, as are the options that every command about a table has."""


def test_every_option_of_the_command_line_is_a_parameter_in_python() -> None:
    commands = next(action for action in command_line.parser()._actions if isinstance(action, _SubParsersAction))
    actions = [action for action in commands.choices["synthesize"]._actions if action.dest not in _of_tables()]
    names = {(action.option_strings or [action.dest])[-1] for action in actions} - ELSEWHERE - FORM
    added = {f"--{name.replace('_', '-')}" for name in (*extension.settings(), *extension.shares())}  # one name in both
    assert names - {name for name in names if name.startswith("--members-")} - added == SAID.keys() - {"--members-domain"}
    assert added <= names
    assert set(SAID.values()) <= set(Options.__optional_keys__) | set(inspect.signature(dps.plan).parameters)


def _of_tables() -> set[str]:
    """Return the names of the options about the format of a table, which `form` has in Python."""
    commands = next(action for action in command_line.parser()._actions if isinstance(action, _SubParsersAction))
    return {action.dest for action in commands.choices["domain"]._actions if action.dest not in ("help", "out", "data")}


def test_shares_models_with_tolerance_and_a_public_table_are_said(tmp_path: Path) -> None:
    public = tmp_path / "census.csv"
    public.write_text("sex,age\nfemale,20\nmale,40\n" * 20, encoding="utf-8")
    stated = {"criteria_share": 0.07, "models": ["sex", {"column": "age", "tolerance": 5}], "models_share": 0.03, "seed": 4}
    plan = dps.plan("demo", COLUMNS, epsilon=1, mechanism="aim_public", public=public, **stated)  # type: ignore[arg-type]
    spec = plan.sealed.spec
    assert spec.public is not None
    assert len(spec.public.sha256) == 64
    assert [spec.budget.share(name) for name in ("criteria", "models")] == [0.07, 0.03]
    assert [(one.column, one.tolerance) for one in spec.models] == [("sex", None), ("age", 5)]
    assert (spec.output.seed, spec.budget.delta) == (4, DELTA)
    refused(dps.plan, "demo", COLUMNS, epsilon=1, public=[1], saying="is not a path")


def test_several_tables_of_rows_are_drawn() -> None:
    release = dps.plan("demo", COLUMNS, epsilon=1, tables=1, mechanism="independent", rows=50, row_tables=3).run(progress=False)
    assert [len(table) for table in release.row_tables] == [50, 50, 50]
    assert release.row_tables[0] is release.rows
    assert not release.row_tables[1].equals(release.rows)
