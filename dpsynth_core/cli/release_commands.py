"""`synthesize`, `run` and `recover`: a release from options, from a spec, or from what an interrupted run has kept."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli import table_options
from dpsynth_core.cli.options import Commands, add_charging, add_command, add_connection, add_setting, number, settings, whole
from dpsynth_core.cli.table_options import DEMO, PEOPLE, TABLES, demo_domain, place
from dpsynth_core.foundation import extension, interrupts
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning.defaults import DELTA
from dpsynth_core.planning.private_views import LOOKS, NOTHING, stated
from dpsynth_core.release.row_formats import FORMATS, chosen

if TYPE_CHECKING:
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.vocabulary.domain import Domain
    from dpsynth_core.vocabulary.workload import Workload


ALL_TRIPLES = "all-3way"
_USUAL = "aim"
_OF_NUMBERS = {"inside": "0.1", "means": "0.03"}
"""Usual shares of the budget for columns of numbers of one table."""
_ORIGINS = ("typed", "usual", "learnt", "codebook", "public", "labels", "data")
"""Those of `vocabulary.domain`, which --help does not wait for."""


def add(commands: Commands) -> None:
    """Declare the commands that make releases: synthesize, run and recover."""
    make = add_command(commands, "synthesize", _synthesize, "make a release from options")
    make.add_argument("data", metavar="DATA", type=place, help=f"{TABLES}; or {PEOPLE}")
    make.add_argument("--domain", metavar="DOMAIN.json", type=Path, help="columns and their values; needed, but for the simulated people")
    origin = "where the columns and their values came from (default: what DOMAIN.json says, else not stated); data needs a reason"
    make.add_argument("--domain-origin", choices=_ORIGINS, help=origin)
    reason = "why that is harmless, or why it is not what DOMAIN.json says of itself; a sentence, published with the release"
    make.add_argument("--origin-reason", metavar="TEXT", default="", help=reason)
    public = "a public table of the same columns, for mechanisms that can use one"
    make.add_argument("--public", metavar="FILE", type=Path, help=public)
    known = "a table that was published about the same people: columns of the domain, and their counts in the column count; may be repeated"
    make.add_argument("--published", metavar="FILE", type=Path, action="append", default=[], help=known)
    where = "where that was published, in a few words; once for each --published, in their order"
    make.add_argument("--published-from", metavar="TEXT", action="append", default=[], help=where)
    drawn, ranges = "random:3:COUNT:SEED | skewed:3:SEED", "ranges:all | ranges:a,b"
    workload = f"all-3way | all-2way | target:COLUMN:3 | {drawn} | threshold:1-of-3:all | {ranges} | weights:a,b:2;c:1 | FILE"
    make.add_argument("--workload", help=f"{workload} (default: {ALL_TRIPLES})")
    make.add_argument("--mechanism", help=f"see the command mechanisms (default: {_USUAL})")
    make.add_argument("--epsilon", required=True, help="by how much one person may move the odds: at most by the factor e^EPSILON")
    make.add_argument("--delta", default=f"{DELTA:g}", help="probability that this fails (default: %(default)s)")
    weak = "why an epsilon above 10 is right for these people; a sentence, published with the release"
    make.add_argument("--epsilon-reason", metavar="TEXT", default="", help=weak)
    certificate = "share of the budget that measures the errors of the result; 0 for none (default: %(default)s)"
    make.add_argument("--certificate", metavar="SHARE", default="0.05", help=certificate)
    criteria = "conditions that the result is judged by, fixed beforehand: a JSON list (docs/guide/criteria.md); published with the release"
    make.add_argument("--criteria", metavar="FILE.json", type=Path, help=criteria)
    deciding = "share of the budget that decides the criteria, if there are any (default: %(default)s)"
    make.add_argument("--criteria-share", metavar="SHARE", default="0.05", help=deciding)
    predicted = "column for models trained on the synthetic rows, whose accuracy on the people is measured; may be repeated"
    near = "of a number, COLUMN=TOLERANCE says how near is right (default: a tenth of its range)"
    make.add_argument("--model", metavar="COLUMN", action="append", default=[], help=f"{predicted}; {near}")
    tested = "share of the budget that measures how often models are right, where --model names some (default: %(default)s)"
    make.add_argument("--models-share", metavar="SHARE", default="0.02", help=tested)
    ranged = "share of the budget that measures the largest error of a range (default: 0.02 where --workload asks for ranges, else 0)"
    make.add_argument("--ranges-share", metavar="SHARE", help=ranged)
    discovery = 'share of the budget that learns the values of columns for which the domain says "discover" (default: %(default)s)'
    make.add_argument("--discovery", metavar="SHARE", default="0.1", help=discovery)
    inside = "share of the budget that measures how numbers lie in their bins, from which rows draw; 0 for none (default: %(default)s)"
    make.add_argument("--inside", metavar="SHARE", default=_OF_NUMBERS["inside"], help=inside)
    means = "share of the budget that measures the means of columns of numbers; 0 for none (default: %(default)s)"
    make.add_argument("--means", metavar="SHARE", default=_OF_NUMBERS["means"], help=means)
    weight = "column of the survey weights: the design weight, which depends on no other record; its upper bound is the largest that counts"
    make.add_argument("--weight", metavar="COLUMN", help=weight)
    totals = 'public totals that the weights of the rows are calibrated to: {"COLUMN": {"VALUE": PEOPLE}}, every value of a column'
    make.add_argument("--weight-totals", metavar="FILE.json", type=Path, help=totals)
    several = "tables of several columns, such as 'region,age;region,sex', whose weighted errors are measured beside those of single ones"
    make.add_argument("--weight-tables", metavar="LIST", default="", help=several)
    weighted = "share of the budget that measures weighted tables, where --weight names a column (default: %(default)s)"
    make.add_argument("--weighted", metavar="SHARE", default="0.05", help=weighted)
    make.add_argument("--relation", default="add-remove", help="add-remove | replace (default: %(default)s)")
    make.add_argument("--person-column", metavar="NAME", help="column that tells people apart; default: one row is one person")
    make.add_argument("--max-rows-per-person", metavar="M", default="1", help="further ones are not used (default: %(default)s)")
    second = "a second table, such as the members of households, whose rows have the key of a row of DATA: two linked tables are written"
    make.add_argument("--members", metavar="FILE", type=Path, help=second)
    table_options.add_members_options(make)
    make.add_argument("--members-domain", metavar="DOMAIN.json", type=Path, help="of the second table: its columns without the key")
    make.add_argument("--key", metavar="NAME", help="of two linked tables: the column of both that says whose a row is")
    held = "of two linked tables, or with --order: what holds in every household, or for every person and in every row, a list of rules"
    make.add_argument("--rules", metavar="RULES.json", type=Path, help=held)
    make.add_argument("--max-members", metavar="M", help="of two linked tables: further rows of a key are not used; from 1 to 10")
    copies = "what else is published about the same people, in your words; published with the release"
    make.add_argument("--other-copies", metavar="TEXT", default="", help=copies)
    said = "licence=CC-BY-4.0, creator=NAME, contact=, citation=, period=2024/2025 or place=, published with the release; may be repeated"
    make.add_argument("--about", metavar="WHAT=TEXT", action="append", default=[], help=said)
    looked = f"what you saw of the table without noise before you decided all this; may be repeated. {NOTHING} | {' | '.join(LOOKS)}"
    make.add_argument("--looked", metavar="WHAT", choices=(NOTHING, *LOOKS), action="append", help=f"{looked} (default: not stated)")
    table_options.add_table_options(make)
    add_setting(make)
    make.add_argument("--rows", metavar="N", help="how many rows to write (default: the noisy or public number of records)")
    make.add_argument("--tables", metavar="M", default="1", help="how many tables of rows to draw from the one measurement (default: 1)")
    for one in extension.settings().values():
        action = "append" if isinstance(one, extension.Texts) else "store"
        make.add_argument(f"--{one.name.replace('_', '-')}", metavar=one.metavar, help=one.help, action=action)
    for option, name in extension.shares().items():
        share = f"share of the budget for --{name}, where that is given"
        make.add_argument(f"--{option.replace('_', '-')}", metavar="SHARE", help=share)
    make.add_argument("--seed", metavar="S", help="repeatable noise; marks the release not private")

    run = add_command(commands, "run", _run, "make a release from a spec")
    run.add_argument("spec", metavar="SPEC.json", type=Path, help="a relative data path in it starts from its folder")
    add_connection(run)

    recover = add_command(commands, "recover", _recover, "finish the release of an interrupted run, without spending again")
    recover.add_argument(
        "run", metavar="RUN", nargs="?", help="what the interrupted run named; default: the one beside DIR, or the only one"
    )
    folder = "folder for rows, release.json and release.zip; times.json there is for the curator only, not for publication"
    for parser in (make, run, recover):
        parser.add_argument("--out", metavar="DIR", type=Path, required=True, help=folder)
        kinds = f"of the rows: {', '.join(FORMATS)}, separated by commas (default: %(default)s)"
        parser.add_argument("--format", metavar="LIST", default="csv", help=kinds)
    for parser in (make, run):
        add_charging(parser)
    recover.add_argument("--answers", action="store_true", help="write the noisy tables alone, also where rows could be made")


def _synthesize(options: argparse.Namespace) -> None:
    from dpsynth_core.foundation import extension
    from dpsynth_core.sources import confined

    demo = table_options.is_demo(options)
    if not demo and extension.place_at(str(options.data)) is None:
        confined.prepare(options.data)  # while the rest is imported
    from dpsynth_core.claims.ranges import USUAL_SHARE
    from dpsynth_core.claims.weighing import as_weight
    from dpsynth_core.cli import making
    from dpsynth_core.foundation.documents import parse_json, read_document
    from dpsynth_core.mechanisms import registry
    from dpsynth_core.planning import about_spec
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.planning.unit_spec import UNNAMED
    from dpsynth_core.sources import public
    from dpsynth_core.vocabulary.codebook import parse_domain, unstated_columns

    formats = chosen(options.format)
    name, section, columns, assumed = table_of(options)
    if options.domain is None and not demo:
        raise InputError("--domain", "it is missing", "name a file that says what the columns may contain; the command domain begins one")
    declared = json.dumps(demo_domain()) if options.domain is None else read_document(options.domain, "domain")
    domain = parse_domain(declared).ordered_like(columns)
    mechanism, ranged = options.mechanism or _USUAL, options.ranges_share
    weight = _weight(options)
    domain = as_weight(domain, weight["column"]) if weight else domain
    linked = _linked(options, domain, section)
    workload = None if linked else parse_workload(options.workload or ALL_TRIPLES, domain)
    rows = number(options.max_rows_per_person)
    spec: dict[str, Any] = {
        "name": name,
        "population": UNNAMED if options.population is None else options.population,
        "data": section,
        "unit": {"relation": options.relation, "person_column": options.person_column, "max_rows_per_person": rows},
        **({} if options.public is None else {"public": public.section(options.public)}),
        **({"published_tables": _published(options, domain)} if options.published or options.published_from else {}),
        "other_copies": options.other_copies,
        "looks": stated(options.looked, "--looked"),
        "about": about_spec.read("\n".join(options.about), "--about"),
        "domain_origin": options.domain_origin or "unstated",
        "domain_justification": options.origin_reason,
        "domain": domain.to_json(),
        **({} if workload is None else {"workload": workload.to_json()}),
        "budget": {
            **{name: number(getattr(options, name)) for name in ("epsilon", "delta", "certificate", "discovery")},
            **{name: 0.0 if linked else number(getattr(options, name)) for name in _OF_NUMBERS},
            "criteria": number(options.criteria_share),
            "models": number(options.models_share),
            "weighted": number(options.weighted) if weight else 0.0,
            "ranges": number(ranged) if ranged is not None else USUAL_SHARE if workload and workload.ranges else 0.0,
            **{name: number(share) for option, name in extension.shares().items() if (share := getattr(options, option)) is not None},
            "reason": options.epsilon_reason,
        },
        **({"weight": weight} if weight else {}),
        "criteria": [] if options.criteria is None else parse_json(read_document(options.criteria, "--criteria"), "--criteria"),
        "models": [_model(text, domain) for text in options.model],
        "mechanism": {"name": mechanism, "settings": registry.settings(registry.get(mechanism), settings(options.set))},
        "output": {"rows": number(options.rows), "tables": number(options.tables), "seed": number(options.seed)},
        "extensions": _stated(options),
    } | linked
    sealed, unstated = Spec.from_json(spec), unstated_columns(declared)
    if options.members_domain is not None:
        unstated += unstated_columns(read_document(options.members_domain, "--members-domain"))
    making.release(sealed, options.out, options.population, formats, assumed, unstated, options.private_notes)


def _weight(options: argparse.Namespace) -> dict[str, Any]:
    """Return the spec's section about survey weights; {} if no column is the weight.

    Raises:
        InputError: Totals or tables of weights are stated without --weight, a file cannot be read, or the layout of
            two linked tables has no weights.
    """
    from dpsynth_core.foundation.documents import parse_json, read_document
    from dpsynth_core.vocabulary.workload import names_in

    if options.weight is None:
        for option, stated in (("--weight-totals", options.weight_totals), ("--weight-tables", options.weight_tables)):
            if stated:
                raise InputError(option, "no column is the weight", "name it with --weight, or leave this out")
        return {}
    if extension.layout(extensions := _stated(options)) is not None:
        raise InputError("--weight", f"{extension.what_is_linked(extensions)} do not go with it yet", "leave it out")
    tables = [names_in(table) for table in options.weight_tables.split(";") if table]
    totals = "{}" if options.weight_totals is None else read_document(options.weight_totals, "--weight-totals")
    return {"column": options.weight, "totals": parse_json(totals, "--weight-totals"), "tables": tables}


def _linked(options: argparse.Namespace, domain: Domain, section: dict[str, Any]) -> dict[str, Any]:
    """Return the spec's sections that differ for two linked tables, which may be one table named as both; {} for one table.

    Args:
        options: The options of `synthesize`.
        domain: The domain of the first table.
        section: The spec's section `data`.

    Returns:
        The sections members, unit, workload and mechanism, and domain for one table that is named as both.

    Raises:
        InputError: An option about a second table is missing, or stated without --members; or an
            option does not go with linked tables.
    """
    if extensions := _stated(options):
        from dpsynth_core.planning import linked_sections

        linked_sections.check(extensions)
    layout, what = extension.layout(extensions), extension.what_is_linked(extensions)
    stated = {"--members-domain": options.members_domain, "--key": options.key, "--max-members": options.max_members}
    for option, value in stated.items():
        if (value is None) != (options.members is None):
            remedy = f"state --members and {option} together, or neither"
            raise InputError(option, "it goes with a second table, and a second table goes with it", remedy)
    if options.members is None:
        table_options.refuse_members_options(options)
        if layout is None and options.rules is not None:
            raise InputError("--rules", "it is of two linked tables", "state rules about one table in its domain")
        if layout is None:
            return {}
    of_persons = {"--person-column": options.person_column, "--max-rows-per-person": options.max_rows_per_person != "1"}
    one_table = {"--public": options.public, "--model": options.model} | ({} if options.members is None else of_persons)
    one_table |= {"--published": options.published, "--ranges-share": options.ranges_share not in (None, "0")}
    one_table |= {f"--{name}": getattr(options, name) not in (usual, "0") for name, usual in _OF_NUMBERS.items()}
    one_table |= {"--set": options.set}
    own = {"tables": ("--workload", options.workload), "a mechanism": ("--mechanism", options.mechanism)}
    for said, (option, value) in own.items():
        if value is not None:
            raise InputError(option, f"{what} have {said} of their own", "leave it out")
    for option in (option for option, value in one_table.items() if value):
        raise InputError(option, f"{what} do not go with it yet", "leave it out")
    from dpsynth_core.foundation.documents import parse_json, read_document
    from dpsynth_core.planning import linked_sections
    from dpsynth_core.vocabulary.codebook import parse_domain

    rules = [] if options.rules is None else parse_json(read_document(options.rules, "--rules"), "--rules")
    if not isinstance(rules, list):
        raise InputError("--rules", "it is not a list", "write the rules between square brackets")
    if options.members is None:
        most = _most("--max-rows-per-person", options.max_rows_per_person)
        unit = {"relation": options.relation, "person_column": options.person_column, "max_rows_per_person": most}
        return linked_sections.of_one(domain, section, options.person_column, most, rules, extensions) | {"unit": unit}
    members = parse_domain(read_document(options.members_domain, "--members-domain"))
    most = _most("--max-members", options.max_members)
    table = table_options.stated_format(options, table_options.MEMBERS).section(options.members)
    unit = {"relation": options.relation, "person_column": options.key, "max_rows_per_person": most}
    return linked_sections.of_two(domain, members, table, most, rules, extensions) | {"unit": unit}


def _most(option: str, text: Any) -> int:
    """Return the number of rows that count, as an option states it. Raises InputError if it is no whole number."""
    if (most := whole(str(text))) is None:
        raise InputError(option, f"{shown(text)} is not a whole number", "give a number from 1 to 10")
    return most


def table_of(options: argparse.Namespace) -> tuple[str, dict[str, Any], tuple[str, ...], str]:
    """Return facts about the table that the options name, from its header and its first records.

    Returns:
        A name for the release; the spec's data section; the column names in order; and the assumed
        parts of the table's format, in words, "" for simulated people and for tables that are not files.

    Raises:
        InputError: The table cannot be read with these options.
    """
    if table_options.is_demo(options):
        return "Simulated people", {"kind": DEMO}, tuple(column["name"] for column in demo_domain()["attributes"]), ""
    if (there := table_options.place_of(options)) is not None:
        from dpsynth_core.sources import registry

        section = table_options.placed_section(options, there)
        name = section.get("table") or Path(registry.KINDS[there.kind].base_name(section["path"])).stem or "release"
        return name, section, registry.placed(section).names, ""
    from dpsynth_core.foundation.documents import base_name
    from dpsynth_core.sources.opening import opened

    form = table_options.stated_format(options)
    section = form.section(options.data) | table_options.stated_engine(options)
    stem = "".join(sign if sign.isprintable() else "_" for sign in Path(base_name(str(options.data))).stem)
    return stem.strip() or "release", section, opened(options.data, form).column_names(), table_options.assumed(options, form)


def _model(text: str, domain: Domain) -> dict[str, Any]:
    """Return the spec's entry about a model from COLUMN or COLUMN=TOLERANCE.

    A column's name may contain "=": a text that is the name of a column is taken as the name.
    """
    column, equals, tolerance = text.rpartition("=")
    if text in domain or not equals:
        return {"column": text}
    return {"column": column, "tolerance": number(tolerance)}


def parse_workload(text: str, domain: Domain) -> Workload:
    """Parse a workload.

    The forms are all-3way | target:COLUMN:3 | random:3:COUNT:SEED | skewed:3[:COUNT]:SEED |
    threshold:1-of-3:all | threshold:1-of-3:target:COLUMN | ranges:all | ranges:a,b |
    weights:a,b:2;c:1 | FILE (the workload's own JSON, or lines of `columns: weight`). Other numbers
    may stand in place of 1, 2 and 3. Without COUNT, skewed draws 256 tables (`PAPER_DRAWS`).

    Args:
        text: The workload in one of these forms; a file is read.
        domain: The columns.

    Raises:
        InputError: The form or a column is unknown, or the file cannot be read.
        CapacityError: There are too many tables, or one is too large.
    """
    from dpsynth_core.foundation.documents import read_document
    from dpsynth_core.vocabulary import workload as workloads
    from dpsynth_core.vocabulary.drawn_marginals import PAPER_DRAWS, RANDOM, SKEWED, Draw

    kind, _, rest = text.partition("-" if text.startswith("all-") else ":")
    if kind == "all" and rest.endswith("way") and (k := whole(rest[:-3])) is not None:
        return workloads.all_kway(domain, k)
    if kind == "target":
        column, _, size = rest.rpartition(":")
        if column and (k := whole(size)) is not None:
            return workloads.target(domain, column, k)
    elif kind == "threshold":
        least, _, of = rest.partition("-of-")
        size, _, what = of.partition(":")
        if (t := whole(least)) is not None and whole(size) is not None and (what == "all" or what.startswith("target:")):
            return parse_workload(f"all-{size}way" if what == "all" else f"{what}:{size}", domain).asking(t)
    elif kind in (RANDOM, SKEWED):
        numbers = [whole(part) for part in rest.split(":")]
        if kind == SKEWED and len(numbers) == 2:
            numbers.insert(1, PAPER_DRAWS)
        if len(numbers) == 3 and None not in numbers:
            return workloads.drawn(domain, Draw(kind, *numbers))  # type: ignore[arg-type]  # none of them is None
    elif kind == "ranges" and rest:
        return workloads.ranges(domain, () if rest == "all" else workloads.names_in(rest))
    elif kind == "weights":
        return workloads.from_lines(domain, rest.replace(";", "\n"))
    elif text.endswith((".json", ".txt")) or os.path.isfile(text):
        return workloads.from_document(domain, text, read_document(Path(text), "--workload"))
    forms = "all-2way, all-3way, target:COLUMN:3, random:3:64:SEED, skewed:3:SEED, threshold:1-of-3:all, ranges:all, weights:a,b:2;c:1"
    raise InputError("--workload", f"{shown(text)} is not a workload", f"use {forms} or a file")


def _published(options: argparse.Namespace, domain: Domain) -> list[dict[str, Any]]:
    """Return the spec's sections about the tables of --published.

    Raises:
        InputError: --published-from is not stated once per table, or a table does not fit the
            domain.
    """
    from dpsynth_core.sources.published import section

    if len(options.published) != len(options.published_from):
        problem = "it does not say of each published table where it was published"
        raise InputError("--published-from", problem, "state it once for each --published, in their order")
    stated = zip(options.published, options.published_from, strict=True)
    return [section(path, domain, where, f"--published {number}") for number, (path, where) in enumerate(stated, start=1)]


def stated_spec(options: argparse.Namespace) -> Spec:
    """Return the spec that a command names; a population that the options name replaces the spec's own.

    Raises:
        InputError: The spec cannot be read, or it names another machine and the options do not say `--connect`.
    """
    from dpsynth_core.planning.spec import load_spec

    spec = load_spec(options.spec)
    if spec.data.other_machine and not options.connect:
        problem = "it names another machine, which would be given credentials or could run programs here"
        raise InputError("data", problem, "add --connect if you wrote it or trust that machine")
    return spec if options.population is None else spec.model_copy(update={"population": options.population})


def _run(options: argparse.Namespace) -> None:
    from dpsynth_core.cli import making
    from dpsynth_core.vocabulary.codebook import without_statement

    spec = stated_spec(options)
    unstated = without_statement(spec.domain) + (() if spec.members is None else without_statement(spec.members.domain))
    making.release(spec, options.out, options.population, chosen(options.format), "", unstated, options.private_notes)


def _stated(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of extensions that the options state, by name."""
    given = {name: getattr(options, name) for name in extension.settings()}
    return {name: value if isinstance(value, list) else number(value) for name, value in given.items() if value is not None}


def _recover(options: argparse.Namespace) -> None:
    """Finish the release of an interrupted run. Reads no record and charges nothing."""
    from dpsynth_core.cli import making
    from dpsynth_core.planning.plan import Plan
    from dpsynth_core.release import spool
    from dpsynth_core.store import in_process

    path = _spool_of(options.run, options.out)
    kept = spool.read(path)
    formats = chosen(options.format)
    with making.alone_in(options.out, formats, lambda: in_process.entry_hash(kept.run, kept.spec) if kept.run else None):
        interrupts.defer()
        hear = making.told(Plan.of(kept.spec))
        in_process.finish(kept, path, hear, options.answers, lambda made, ours: making.write_files(made, options.out, None, formats, ours))


def _spool_of(run: str | None, out: Path) -> Path:
    """Return the file with the stored measurements of an interrupted run.

    Args:
        run: A path, or the name of a run in DPSYNTH_HOME. If None: the file next to `out`, or else
            the only interrupted run in DPSYNTH_HOME.
        out: The folder of --out.

    Raises:
        InputError: No run fits, or several do.
    """
    from dpsynth_core.cli import making
    from dpsynth_core.store import spools

    path = making.spool_beside(out) if run is None else Path(run)
    if os.path.isfile(path):  # unlike Path's, it takes any text
        return path
    there = spools.unfinished()
    if run is not None and run in there:
        return spools.spool_file(run)
    if run is None and len(there) == 1:
        return spools.spool_file(there[0])
    remedy = f"name one of these runs: {', '.join(there)}" if there else "there is no interrupted run in DPSYNTH_HOME or beside --out"
    raise InputError("RUN", "it is not clear which interrupted run is meant", remedy)
