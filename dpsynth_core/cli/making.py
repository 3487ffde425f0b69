"""Making a release on the command line, from a plan to its files: check, charge, make, write, and report the results.

Commands import this module, and all that it needs, when a release is made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

from dpsynth_core.bundle.pack import pack
from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.cli.options import PRIVATE_NOTES, check_writable
from dpsynth_core.cli.terminal import print_message
from dpsynth_core.foundation import extension, interrupts
from dpsynth_core.foundation.content import stored
from dpsynth_core.foundation.documents import parse_json, read_document
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.foundation.locks import lock
from dpsynth_core.foundation.private_files import lasting_directory, private_file, remove_partial
from dpsynth_core.foundation.visible import listed
from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.planning import expected_verdict, leaks, precision, proposals
from dpsynth_core.planning.discovery import sentences
from dpsynth_core.planning.leaks import Severity
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import MAX_ROWS, Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import making, row_files, spool, synthesis, tables, times
from dpsynth_core.release.about import About
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.release.times import Times
from dpsynth_core.report import verdict_facts
from dpsynth_core.store import in_process, ledger, signing
from dpsynth_core.store.in_process import Told

BUNDLE = "release.zip"
_LONGEST_NAME = 255
"""Bytes, on most file systems."""


def release(
    spec: Spec,
    out: Path,
    population: str | None,
    formats: Sequence[str],
    assumed: str,
    unstated: Sequence[str],
    notes: bool,
    then: Callable[[Release], None] = lambda _: None,
) -> None:
    """Check a plan, charge the ledger if a population is named, make the release and write its files.

    Notes, progress and results are printed to stderr. From the charge on, a signal such as Ctrl-C
    takes effect at the end of a step. Without a population, measurements are stored beside `out`
    until the files are written (`spool_beside`).

    Args:
        spec: The spec of the release.
        out: The folder of --out.
        population: The population to charge; None charges no ledger.
        formats: Formats of the rows.
        assumed: The assumed parts of the table's format, in words; "" if all were stated.
        unstated: Columns that do not state how missing and unlisted values count.
        notes: Whether notes for the curator only are printed even if stderr is not a terminal.
        then: Called with the release once its files are written.

    Raises:
        InputError: The plan, the table or the folder cannot be used; nothing was charged.
        CapacityError: The plan does not fit the mechanism, a format or this machine; nothing was
            charged.
        ChargedError: The run failed after its charge, which stays.
    """
    if population is not None:
        ledger.check_name(population)
        signing.check()
    plan = synthesis.plan(spec)
    shown_here = notes or sys.stderr.isatty()  # what says something of single records without noise must not stay in a log

    def write(made: Release, taken: Zoned[Times]) -> None:
        write_files(made, out, taken, formats, ours=True)
        then(made)
        if shown_here:
            took = f"for your eyes only: it took {taken.value['phases']['total']:.1f} s"
            print_message(f"{took}; {times.TIMES} there has more and is not for publication")

    def own() -> str | None:
        goes_on = None if population is None else in_process.interrupted(plan)
        return None if goes_on is None else in_process.entry_hash(goes_on, spec)

    with alone_in(out, formats, own):
        check_formats(plan, formats)
        spool.check_room(plan, out, "--out")
        lines = _notes(plan, assumed, unstated, shown_here)
        added = (sentence for path in extension.forecasts(plan.spec.extensions) for sentence in extension.load(path)(plan))
        for sentence in (*sentences(plan), *precision.models_sentences(plan), *added):
            print_message(sentence)
        if len(plan.workload.cliques) >= proposals.MANY_TABLES:
            print_message(f"note: {proposals.sentence(proposals.cost(plan.workload, plan.mechanism, plan.shares, plan.unit))}")
        interrupts.defer()  # from the charge to the last file
        in_process.make(plan, None if population is not None else spool_beside(out), told(plan, lines, shown_here), write, "--out")


@contextmanager
def alone_in(out: Path, formats: Sequence[str], own: Callable[[], str | None]) -> Iterator[None]:
    """Lock the folder of --out for one run, after a check that the files of a release can be written.

    The check comes before any charge, and makes the folder if it is missing. Within the block no other run
    writes there, unless the file system has no locks for folders. A release that was charged is not replaced,
    and half-written files of a killed run are removed.

    Args:
        out: The folder of --out.
        formats: Formats of the rows.
        own: Returns the hash of the ledger's entry of an interrupted run that goes on: its own
            release may be there without some of its files. It returns None for another run, and is
            called only if there is a charged release.

    Raises:
        InputError: The folder cannot be written, another run holds it, or it has another release
            that was charged.
    """
    check_writable(out)
    descriptor = os.open(out, os.O_RDONLY)
    try:
        try:  # until the descriptor is closed, or this process ends
            lock(descriptor, wait=False)
        except BlockingIOError:
            raise InputError("--out", f"another run writes in {shown(out)}", "name another folder, or wait for its end") from None
        except OSError:  # the file system has no locks for folders
            pass
        rows = (f"{table}.{name}" for table in ("synthetic", "members") for name in {"csv", *formats})
        for name in (*rows, "release.json", "times.json", BUNDLE):
            if (out / name).is_dir():
                raise InputError("--out", f"{shown(out / name)} is a folder", "remove it, or name another folder")
        _check_charged(out / "release.json", own)
        remove_partial(out)
        yield
    finally:
        os.close(descriptor)


def _check_charged(document: Path, own: Callable[[], str | None]) -> None:
    """Raise InputError if the folder holds a release that was charged, so that no new one replaces what was paid for.

    Args:
        document: The path of the folder's release.json, which may be missing.
        own: As in `alone_in`.
    """
    cited: dict[str, Any] = {}
    with suppress(InputError, AttributeError):  # it is not a release
        cited = parse_json(read_document(document, "--out"), "--out").get("ledger") or {}
    if (charged := cited.get("population")) is not None and ((hash_of_own := own()) is None or cited.get("hash") != hash_of_own):
        problem = f"it holds a release that was charged to the population {shown(charged)}"
        raise InputError("--out", problem, "name another folder, or move that release")


def _notes(plan: Plan, assumed: str, unstated: Sequence[str], shown_here: bool) -> list[str]:
    """Return the lines that the curator should read before the charge.

    Args:
        plan: The plan.
        assumed: The assumed parts of the table's format, in words.
        unstated: Columns that do not state how missing and unlisted values count.
        shown_here: Whether to include notes that depend on records; if not, one fixed line replaces
            them, so that the output does not disclose whether there are any.
    """
    lines = [f"assumed, for your eyes only: {assumed}"] if assumed else []
    chosen = [table.path for table in (plan.spec.data, plan.spec.members) if table is not None and table.path]
    lines += [f"warning, for your eyes only: {finding}" for finding in making.findings(plan).value]
    if not shown_here:  # one line whether there are some or not
        unsaid = "what was assumed of the table and found in it without noise, and how long the run took, is said on a terminal alone"
        lines = [f"note: {unsaid}, or with {PRIVATE_NOTES}"]
    lines += [f"warning: {sentence}" for sentence in extension.recognised(*chosen)]
    if unstated:
        cells = f"values that are missing or not declared get cells of their own in {listed(list(map(repr, unstated)), 5)}"
        lines.append(f'note: {cells} (state it: "missing" and "other" in the domain)')
    found = leaks.find(plan.spec, releases=0, condition=plan.condition)
    lines += [f"warning: {leak.title}. {leak.why} {leak.fix}" for leak in found if leak.severity > Severity.NOTE]
    budget = precision.budget_sentence(plan.mechanism, plan.workload, plan.shares, plan.unit.total_is_public)
    lines.append(f"budget, as planned: {budget}")
    if plan.mechanism.card.publishes_tables:
        lines.append(f"note: {expected_verdict.small_groups_sentence(plan)}")
    if plan.mechanism.card.makes_rows:
        lines += [f"note: {sentence}" for sentence in precision.distance_sentences(plan.row_domain)]
    if plan.link is not None and not plan.shares.of(CERTIFICATE.name):
        lines.append(f"note: {precision.without_certificate(plan.link)}")
    return lines


def told(plan: Plan, lines: Sequence[str] = (), privately: bool = False) -> Told:
    """Return the callbacks of a run, which print to stderr.

    Args:
        plan: The plan.
        lines: Notes for the curator, printed right before the first record is read.
        privately: Whether messages that depend on single records are printed too.
    """

    def begins() -> None:
        for line in lines:
            print_message(line)

    def kept(answers: int, name: str, goes_on: bool) -> None:
        again = "what was charged stays charged, and the same command goes on from there" if goes_on else "it cannot go on"
        recover = f"; nothing is spent again by: python -m dpsynth_core recover {name} --out DIR" if answers else ""
        print_message(f"kept: {answers:,} answers; {again}{recover}")

    def warn(line: str) -> None:
        if privately:
            print_message(f"warning, for your eyes only: {line}")

    return Told(begins, print_message, warn, partial(_show, each=plan.records_each), kept)


def spool_beside(out: Path) -> Path:
    """Return the path where a run without a ledger stores its measurements.

    The file is next to the folder of --out, which may be deleted after an interruption. It is
    inside the folder if the parent cannot be written or the name is too long.
    """
    whole = out.resolve()
    beside = f"{whole.name}.interrupted"
    named = len(os.fsencode(beside)) <= _LONGEST_NAME
    return whole.with_name(beside) if named and os.access(whole.parent, os.W_OK) else whole / "release.interrupted"


def check_formats(plan: Plan, formats: Sequence[str]) -> None:
    """Check that every format can hold the rows of a plan, before anything is charged.

    It prints a note about values that a format holds in an unexpected way. Plans without rows pass.

    Raises:
        InputError: A column does not fit a format.
        CapacityError: There are more rows than a format can hold.
    """
    if not plan.mechanism.card.makes_rows:
        return
    rows = (plan.spec.output.rows or plan.most_unstated_rows) * (1 if plan.link is None else plan.link.most)
    for form in (FORMATS[name] for name in formats):
        if rows > form.most_rows:
            asked = f"{rows:,} are asked for" if plan.link is None else f"the second table may have {rows:,}"
            problem = f"files for {form.title} are made of at most {form.most_rows:,} rows, and {asked}"
            unlimited = ", ".join(name for name, other in FORMATS.items() if other.most_rows >= MAX_ROWS)
            raise CapacityError("--format", problem, f"use {unlimited}, or ask for fewer rows")
    for domain in (plan.row_domain, *(() if plan.link is None else (plan.member_domain,))):
        row_files.check(domain, About.of(plan.spec), dict.fromkeys((*formats, *releases.ROW_FORMATS)))
        for sentence in chain.from_iterable(FORMATS[name].notes(domain) for name in formats):
            print_message(f"note: {sentence} Use parquet if programs have to read them as days.")


def write_files(made: Release, out: Path, taken: Zoned[Times] | None, formats: Sequence[str], ours: bool) -> None:
    """Write all files of a release and its bundle, and print the results to stderr.

    Files of the same names are replaced. A further format whose library fails is left out with a warning,
    because the bundle has the rows.

    Args:
        made: The release.
        out: The folder of --out.
        taken: The durations of the run, written to times.json, which is not published. None for a recovered
            run: a times.json that is there is removed.
        formats: Formats of the rows.
        ours: Whether this installation made the release, so that its key may sign the bundle.

    Raises:
        InputError: The folder cannot be written.
    """
    try:
        lasting_directory(out)
        written = _write_packed_rows(made, out, formats)
        releases.write_document(made, out)
        written[releases.DOCUMENT] = out / releases.DOCUMENT
        signer = in_process.signer_of(made, print_message) if ours else None
        with private_file(out / BUNDLE) as stream:
            pack(made, stream, out, written=written, signer=signer)
        times.write(taken, out)
        further = _write_further_rows(made, out, formats)
        _write_beside(made, [path for path in (*written.values(), *further) if path.name != releases.DOCUMENT])
    except OSError as error:
        raise InputError("--out", f"{shown(out)} cannot be written ({error.strerror})", "recover the release to another folder") from error
    for brand in made.brands:
        print_message(f"note: {brand.sentence}")
    link = made.plan.link
    rows = "answers only" if made.codes is None else f"{made.rows} {'rows' if link is None else link.words.made}"
    if made.further:
        rows = f"{1 + len(made.further)} tables of {rows}"
        print_message(f"tables: {tables.explained(1 + len(made.further))}")
    if link is not None:
        members = None if made.members is None else made.members.num_rows
        print_message(f"{link.words.title.lower()}: {tables.explained_members(members, made.plan.records_each, link.words)}")
    for claim in CLAIMS:
        for line in claim.sentences(made.plan, made.claims[claim.name], made.final):
            print_message(f"{claim.noun}: {line}")
    for fact, text in verdict_facts(made)[:1]:
        print_message(f"{fact.lower()}: {text}")
    print_message(f"done: {rows}, rho {made.rho_spent:.4g} of {made.rho:.4g} spent, written to {out}")


def _write_packed_rows(made: Release, out: Path, formats: Sequence[str]) -> dict[str, Path]:
    """Write the files of rows that are also in the bundle, and return their paths by name.

    They are further tables, members, and the first table in each requested format that the bundle
    contains.
    """
    packed: dict[str, Path] = {}
    for file, write in releases.row_writers(made).items():
        if tables.is_name(file) or file in {f"synthetic{FORMATS[name].ending}" for name in formats}:
            with private_file(out / file) as stream:
                write(stream)
            packed[file] = out / file
    return packed


def _write_beside(made: Release, files: Sequence[Path]) -> None:
    """Write what extensions have beside files of rows, in their folder."""
    members = Path(tables.MEMBERS).stem
    for path in files:  # of which further formats are not names of files of a bundle
        domain = tables.domain_of(made.plan, tables.MEMBERS if path.stem == members else path.name)
        for name, text in extension.beside(path.name, stored(path).digest, domain, made.about).items():
            with private_file(path.with_name(name)) as stream:
                stream.write(text)


def _write_further_rows(made: Release, out: Path, formats: Sequence[str]) -> list[Path]:
    """Write the rows in the formats that the bundle does not contain, and return the paths of the files.

    The bundle is already written at this point, so a format whose library fails only gives a
    warning.

    Raises:
        OSError: A file cannot be written.
    """
    kept = [("synthetic", made.values, made.plan.row_domain)]
    if made.members is not None:
        kept.append(("members", made.members, made.plan.member_domain))
    packed, written = releases.row_writers(made), list[Path]()
    for (table, rows, domain), name in product(kept, formats):
        file = f"{table}{FORMATS[name].ending}"
        if rows is None or file in packed:
            continue
        try:
            with private_file(out / file) as stream:
                FORMATS[name].write(rows, domain, stream, made.about)
            written.append(out / file)
        except OSError:  # such as a full disk: the same command makes the file once there is room
            raise
        except Exception as error:  # noqa: BLE001
            why = f"{error.problem}; {error.remedy}" if isinstance(error, CapacityError) else "its library failed; use another format"
            print_message(f"warning: {file} was not written: {why}; {BUNDLE} has the rows")
    return written


def _show(progress: Progress, each: int = 1) -> None:
    """Print a line for a measured marginal or a phase. A signal received before ends the run here.

    Args:
        progress: The step of the run.
        each: Number of records per row, by which sigma is divided.
    """
    interrupts.check()
    spent = f"rho {progress.rho_spent:.4g}, {progress.done:.0%} done"
    if progress.kind == "measured":
        what = " x ".join(progress.attributes) or "the number of records"
        print_message(f"round {progress.round}: measured {what}, sigma {progress.sigma / each:.3g}, {spent}")
    elif progress.kind == "phase":
        print_message(progress.message)
