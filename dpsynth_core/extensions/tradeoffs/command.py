"""`tradeoffs`: a plan with several mechanisms, budgets and values of a setting, tried on invented people."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli.options import Commands, add_command, check_writable, number, whole
from dpsynth_core.cli.terminal import print_message, print_result
from dpsynth_core.foundation.errors import InputError, shown

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.extensions.tradeoffs.sweep import Sweep, Swept
    from dpsynth_core.extensions.tradeoffs.trial import Outcome
    from dpsynth_core.foundation.zones import Zoned
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.vocabulary.domain import Domain


def add(commands: Commands) -> None:
    """Declare the command `tradeoffs` and its options."""
    about = "try a plan with several mechanisms and budgets on invented people: errors, time and memory; opens no table, charges nothing"
    parser = add_command(commands, "tradeoffs", _tradeoffs, about)
    parser.add_argument("spec", metavar="SPEC.json", type=Path, help="the plan; its data stay closed")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for trials.csv, curves.csv and tables.csv")
    parser.add_argument("--mechanisms", metavar="LIST", help="names, separated by commas (default: aim,mst,independent)")
    parser.add_argument("--epsilons", metavar="LIST", help="of the whole plan, separated by commas (default: 0.1,0.3,1,3,10)")
    parser.add_argument("--repeats", metavar="N", default="1", help="of each setting, with other noise (default: %(default)s)")
    parser.add_argument("--rows", metavar="N", default="10000", help="invented people, or households (default: %(default)s)")
    how = "how strongly their columns depend on each other, 0 to 1 (default: weak, medium and strong: 0.25, 0.5, 0.75)"
    parser.add_argument("--strength", metavar="SHARE", help=how)
    vary = "a setting of one of the mechanisms, each of whose values is tried, such as aim.max_size_mb=1,10,80"
    parser.add_argument("--vary", metavar="MECHANISM.NAME=LIST", help=vary)
    learnt = "of an earlier release: its learnt values are taken where the plan is to learn them (default: about eight invented ones)"
    parser.add_argument("--learnt", metavar="release.json", type=Path, help=learnt)
    parser.add_argument("--limit", metavar="PERCENT", default="10", help="of people in the wrong group, good enough (default: %(default)s)")


def _tradeoffs(options: argparse.Namespace) -> None:
    from dpsynth_core.extensions.tradeoffs import curves, trial
    from dpsynth_core.extensions.tradeoffs.trial import Trials
    from dpsynth_core.planning.spec import load_spec

    limit = number(options.limit)
    if not isinstance(limit, int | float) or not 0 < limit <= 100:
        raise InputError("--limit", f"{shown(options.limit)} is not a share of people in percent", "give a number from 0 to 100")
    sweep = _sweep(options, load_spec(options.spec))
    expected = trial.checked(sweep)
    check_writable(options.out)
    _announce(sweep, sum(expected.seconds[point.setting] for point in sweep.points))
    trials, outcomes, tenths = Trials(sweep), dict[int, Any](), 0
    for point in sweep.points:
        outcomes[point.number] = trials.run(point.number)
        if (done := 10 * len(outcomes) // len(sweep.points)) > tenths:
            tenths = done
            print_message(f"{len(outcomes)} of {len(sweep.points)} trials are done")
    _write(options.out, sweep, outcomes)
    bands = curves.bands(curves.outcomes(sweep, outcomes), curves.MEAN)
    for title, crossing in curves.crossings(bands, limit / 100, sweep.sizes[-1]).value.items():
        print_result(curves.crossing_words(title, crossing, limit))
    print_message(f"done: trials.csv, curves.csv and tables.csv are in {options.out}; nothing was charged")


def _announce(sweep: Sweep, seconds: float) -> None:
    if sweep.invented:
        names = ", ".join(shown(name) for name in sweep.invented[:8])
        print_message(f"note: the values of {names} are invented, because the plan is to learn them; with more values errors are larger")
    print_message(f"{len(sweep.points)} trials, about {seconds:,.0f} s together")


def _sweep(options: argparse.Namespace, plan: Spec) -> Sweep:
    """Return the sweep that the options ask for.

    Args:
        options: The options of the command.
        plan: The plan.

    Raises:
        InputError: An option is unusable, or the plan cannot be tried.
    """
    from dpsynth_core.extensions.tradeoffs import values
    from dpsynth_core.extensions.tradeoffs.sweep import EPSILONS, MECHANISMS, STANDIN, STRENGTHS, Sweep, on_stand_in
    from dpsynth_core.mechanisms.registry import LINKED
    from dpsynth_core.planning.plan import Plan
    from dpsynth_core.vocabulary.domain import Domain

    rows, repeats = whole(options.rows), whole(options.repeats)
    if rows is None or repeats is None:
        raise InputError("--rows" if rows is None else "--repeats", "it is not a whole number", "give one, such as 1000")
    strengths = STRENGTHS if options.strength is None else _numbers("--strength", options.strength)
    usual = MECHANISMS if plan.members is None else (LINKED.name,)
    names = usual if options.mechanisms is None else tuple(name.strip() for name in options.mechanisms.split(","))
    epsilons = EPSILONS if options.epsilons is None else tuple(sorted(_numbers("--epsilons", options.epsilons)))
    made = Plan.of(plan)  # of its own table, where values may be learnt
    base = on_stand_in(plan, rows, strengths[len(strengths) // 2])
    known, invented = values.in_place(Domain.from_json(plan.domain), _learnt(options.learnt)) if plan.learns else (None, ())
    in_place = None if known is None else known.to_json()
    sizes = (len(made.workload.cliques),)
    return Sweep(base, STANDIN, names, epsilons, sizes, repeats, strengths, _swept(options.vary), in_place, invented)


def _swept(text: str | None) -> Swept | None:
    """Return the setting that `--vary` names, with its values; None without the option. Raises InputError if it is not of its form."""
    from dpsynth_core.extensions.tradeoffs.sweep import Swept

    if text is None:
        return None
    setting, equals, listed = text.partition("=")
    mechanism, dot, name = setting.strip().rpartition(".")
    if not (equals and dot and mechanism and name):
        raise InputError("--vary", f"{shown(text)} is not MECHANISM.NAME=LIST", "write it as in aim.max_size_mb=1,10,80")
    return Swept(mechanism, name, _numbers("--vary", listed))


def _numbers(option: str, text: str) -> tuple[float, ...]:
    """Return the numbers in a text, which are separated by commas.

    Raises:
        InputError: An entry is not a number; the error names `option`.
    """
    read = [number(word.strip()) for word in text.split(",")]
    if not all(isinstance(value, int | float) for value in read):
        raise InputError(option, f"{shown(text)} is not a list of numbers", "separate numbers by commas, such as 0.1,1,10")
    return tuple(map(float, read))


def _learnt(path: Path | None) -> Domain | None:
    """Return the domain that a release states, with the values that it learnt; None without a release.

    Raises:
        InputError: The file is not a release.json.
    """
    from dpsynth_core.foundation.documents import parse_json, read_document
    from dpsynth_core.vocabulary.domain import Domain

    if path is None:
        return None
    obj = parse_json(read_document(path, "--learnt"), "--learnt")
    if not isinstance(obj, dict) or not isinstance(obj.get("domain"), dict):
        raise InputError("--learnt", "it states no domain", "name the release.json of an earlier release")
    return Domain.from_json(obj["domain"])


def _write(folder: Path, sweep: Sweep, outcomes: dict[int, Outcome]) -> None:
    """Write the errors of every trial, of every setting, and of every table at every setting as CSV.

    Args:
        folder: The folder; it can be written to.
        sweep: The sweep, which is on a table that is not private.
        outcomes: The outcome of every trial, by its number.
    """
    from dpsynth_core.extensions.tradeoffs import curves
    from dpsynth_core.foundation.zones import publishable
    from dpsynth_core.release.document import frame_csv

    trials = curves.outcomes(sweep, outcomes)
    tables = curves.of_every_setting(sweep, outcomes, sweep.sizes[-1])
    files: Sequence[tuple[str, Zoned[pd.DataFrame]]] = (
        ("trials.csv", trials), ("curves.csv", curves.bands(trials, curves.MEAN)), ("tables.csv", tables)
    )
    for name, frame in files:
        (folder / name).write_bytes(frame_csv(publishable(frame, name)))
