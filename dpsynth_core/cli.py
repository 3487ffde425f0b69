"""The command line: make a release without the app, from options or from a spec. Tools are built on it, so it keeps its word.

Files: DIR/synthetic.csv, DIR/release.json, and both with all else that is published in DIR/release.zip. stderr: one line per round,
warnings, and for bad input exactly one line. Exit codes: 0 done, 1 the run itself failed, 2 bad input (nothing was read and nothing
charged), 130 interrupted. What a run was charged that ended early stays charged, and what it measured is kept: `recover` finishes its
release without spending again. For whoever gets a bundle: `verify` prints one line per check and ends with 0 (sound), 1 (not) or 4 (sound
as far as checked); `reproduce` writes the rows again and ends with 0 (the same) or 1. `audit` runs the program on invented people and ends
with 0 (nothing found) or 3 (a promise is broken). 5: what was found could not be printed to the end.
The ledger is used only with --population, and then as the app does; `ledger` checks it (0 whole, 1 not), exports and restores it.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import ChargedError, InputError
from dpsynth_core.foundation.interrupts import INTERRUPTED

if TYPE_CHECKING:  # each command imports what it needs, so that --help and mistakes answer at once
    from dpsynth_core.audit.report import Audited
    from dpsynth_core.bundle.confined import Limits
    from dpsynth_core.planning.plan import Plan
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.privacy.noise import Noise
    from dpsynth_core.release.release import Progress, Release
    from dpsynth_core.sources.formats import TableFormat
    from dpsynth_core.store.chain import Entry
    from dpsynth_core.vocabulary.domain import Domain
    from dpsynth_core.vocabulary.workload import Workload

BAD_INPUT, FAILED, VIOLATED, UNCHECKED, UNPRINTED = 2, 1, 3, 4, 5

BUNDLE = "release.zip"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    try:
        options = _parser().parse_args(arguments)
        return options.command(options) or 0
    except ChargedError as error:
        _say(f"error: {error}; no release was written, and what was charged stays charged")
        return FAILED
    except InputError as error:
        _say(f"error: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        _say("error: interrupted; no release was written")
        return INTERRUPTED
    except _Unprinted:
        _say("error: the result could not be printed to the end")
        return UNPRINTED
    except Exception as error:
        _say(f"error: the run failed with {type(error).__name__}; no release was written")  # its text could quote a record
        if os.environ.get("DPSYNTH_DEBUG"):
            raise
        return FAILED


def parse_workload(text: str, domain: Domain) -> Workload:
    """all-3way | target:COLUMN:3 | threshold:1-of-3:all | threshold:1-of-3:target:COLUMN | FILE.json (the workload's own JSON).

    Raises InputError.
    """
    from dpsynth_core.planning.spec import read_json
    from dpsynth_core.vocabulary import workload as workloads

    kind, _, rest = text.partition("-" if text.startswith("all-") else ":")
    if kind == "all" and rest.endswith("way") and rest[:-3].isdigit():
        return workloads.all_kway(domain, int(rest[:-3]))
    if kind == "target":
        column, _, k = rest.rpartition(":")
        if column and k.isdigit():
            return workloads.target(domain, column, int(k))
    elif kind == "threshold":
        least, _, of = rest.partition("-of-")
        k, _, what = of.partition(":")
        if least.isdigit() and k.isdigit() and (what == "all" or what.startswith("target:")):
            whole = f"all-{k}way" if what == "all" else f"{what}:{k}"
            return parse_workload(whole, domain).asking(int(least))
    elif text.endswith(".json") or Path(text).is_file():
        return workloads.from_json(domain, read_json(Path(text), "--workload"))
    forms = "use all-2way, all-3way, target:COLUMN:3, threshold:1-of-3:all or a JSON file"
    raise InputError("--workload", f"{text!r} is not a workload", forms)


def _synthesize(options: argparse.Namespace) -> None:
    from dpsynth_core.mechanisms import registry
    from dpsynth_core.planning.spec import UNNAMED, Spec
    from dpsynth_core.sources.files import column_names
    from dpsynth_core.vocabulary.domain import load_domain

    form = _stated_format(options)
    domain = load_domain(options.domain).ordered_like(column_names(options.data, form))
    mechanism = registry.get(options.mechanism)
    spec = {
        "name": options.data.stem or "release",
        "population": UNNAMED if options.population is None else options.population,
        "data": form.section(options.data),
        "unit": {
            "relation": options.relation,
            "person_column": options.person_column,
            "max_rows_per_person": _number(options.max_rows_per_person),
        },
        **({} if options.public is None else {"public": _public_table(options.public)}),
        "domain": domain.to_json(),
        "workload": parse_workload(options.workload, domain).to_json(),
        "budget": {name: _number(getattr(options, name)) for name in ("epsilon", "delta", "certificate")},
        "mechanism": {"name": options.mechanism, "settings": registry.settings(mechanism, _settings(options.set))},
        "output": {"rows": _number(options.rows), "seed": _number(options.seed)},
    }
    _release(Spec.from_json(spec), options.out, options.population, _assumed(options, form))


def _stated_format(options: argparse.Namespace) -> TableFormat:
    """How the table is written: as stated, and where nothing is, as its first bytes suggest."""
    from dpsynth_core.sources.files import sniff
    from dpsynth_core.sources.formats import DEFAULT_MISSING, DELIMITERS, LINES

    named = {name: sign for sign, name in DELIMITERS.items()} | {r"\t": "\t"}
    found = sniff(options.data, options.encoding, named.get(options.delimiter, options.delimiter))
    if found.kind != "csv" and (given := next((o for o in ("encoding", "delimiter", "quoting") if getattr(options, o) is not None), "")):
        raise InputError(f"--{given}", "the table is no text file", "leave it out")
    missing = DEFAULT_MISSING if options.missing is None else frozenset(options.missing)
    return replace(found, quoting=options.quoting or LINES, missing_markers=missing)


def _assumed(options: argparse.Namespace, form: TableFormat) -> str:
    """What was not stated of how the table is written, in words; nothing if all was."""
    from dpsynth_core.sources.formats import DELIMITERS

    markers = ", ".join(repr(marker) for marker in sorted(form.missing_markers))
    words = {
        "encoding": f"encoding {form.encoding}",
        "delimiter": f"fields separated by {DELIMITERS.get(form.delimiter, repr(form.delimiter))}",
        "quoting": "quotes end with their line",
        "missing": f"missing is written {markers}",
    }
    open_ones = [name for name in words if getattr(options, name) is None and (form.kind == "csv" or name == "missing")]
    return f"{', '.join(words[name] for name in open_ones)} (state it: {' '.join('--' + name for name in open_ones)})" if open_ones else ""


def _public_table(path: Path) -> dict[str, Any]:
    """The spec's section about a public table: how the file is written, and its content's digest."""
    from dpsynth_core.sources.files import sniff
    from dpsynth_core.sources.public import digest

    form = sniff(path)
    return form.section(path) | {"sha256": digest(path)}


def _run(options: argparse.Namespace) -> None:
    from dpsynth_core.planning.spec import load_spec

    spec = load_spec(options.spec)
    if options.population is not None:
        spec = spec.model_copy(update={"population": options.population})
    _release(spec, options.out, options.population)


def _mechanisms(_: argparse.Namespace) -> None:
    from dpsynth_core.mechanisms import registry

    _print(json.dumps(registry.describe(), indent=1))


def _verify(options: argparse.Namespace) -> int:
    from dpsynth_core.bundle import confined, verify

    report = confined.verified(options.bundle, _limits(options))
    for check in report.checks:
        _tell(f"{check.verdict}: {check.question} {check.detail}")
    _tell(f"note: {verify.CANNOT}")
    if report.sha256:
        _tell(f"SHA-256 of the bundle: {report.sha256}")
    conclusions = {
        verify.SOUND: "sound: nothing that can be checked is wrong",
        verify.PARTLY: f"sound as far as checked; not checked: {' '.join(report.unchecked)}",
        verify.UNSOUND: "NOT SOUND: do not rely on this release",
    }
    _tell(conclusions[report.verdict])
    return {verify.SOUND: 0, verify.PARTLY: UNCHECKED, verify.UNSOUND: FAILED}[report.verdict]


def _limits(options: argparse.Namespace) -> Limits:
    from dpsynth_core.bundle.confined import Limits

    given = {name: _number(getattr(options, name)) for name in ("megabytes", "seconds") if getattr(options, name) is not None}
    for name, value in given.items():
        if not isinstance(value, int) or not 1 <= value <= 10**6:
            option = "--memory" if name == "megabytes" else "--seconds"
            raise InputError(option, f"{str(value)[:40]!r} cannot be used", "give a whole number from 1 to 1000000")
    return Limits(**given)


def _reproduce(options: argparse.Namespace) -> int:
    from dpsynth_core.bundle import confined, reproduce, unpack
    from dpsynth_core.release import document as releases

    confined.verified(options.bundle, _limits(options))  # what is too much for it is not opened here
    bundle = unpack.read(options.bundle)
    _check_writable(options.out)
    found = reproduce.reproduce(bundle, _show, options.public)
    releases.write_rows(found.made, options.out)
    if found.identical:
        _say(f"done: rows, bounds and certificate are the published ones to the last bit, written to {options.out}")
        return 0
    why = f" (other versions here: {', '.join(found.versions)})" if found.versions else ""
    _say(f"done, but not the same: {', '.join(found.different)}{why}, written to {options.out}")
    return FAILED


def _ledger_check(options: argparse.Namespace) -> int:
    from dpsynth_core.store import auditing

    found = auditing.audit_export(_export(options.export)) if options.export else auditing.audit()
    if not found.problem and options.head:
        found = found.holding(options.head)
    for line in found.lines:
        _tell(line)
    _tell(
        f"NOT WHOLE: {found.problem}" if found.problem else "whole: every entry follows from the one before, and none is missing at the end"
    )
    return FAILED if found.problem else 0


def _ledger_export(options: argparse.Namespace) -> None:
    from dpsynth_core.store import chain, exports

    write = exports.to_csv if options.format == "csv" else exports.to_json
    _print(write(chain.entries()))


def _ledger_restore(options: argparse.Namespace) -> None:
    from dpsynth_core.store import home, restoring

    head = restoring.restore(home.LOCAL_OWNER, options.reason, _export(options.export) if options.export else ())
    _say(f"done: the ledger goes on from entry {head.number}; releases will say that it was accepted by hand")
    _tell(f"head: {head}")


def _export(path: Path) -> tuple[Entry, ...]:
    from dpsynth_core.store import exports

    try:
        if not path.is_file():  # a pipe could be waited for in vain
            raise FileNotFoundError
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        raise InputError("EXPORT", f"the file {str(path)!r} cannot be read", "check its path and permissions") from None
    return exports.read(text)


def _audit(options: argparse.Namespace) -> int:
    from dpsynth_core.audit import report
    from dpsynth_core.privacy.noise import OpenDPNoise

    audited = []
    for one in _audits(options, OpenDPNoise()):
        audited.append(one)
        for line in one.lines():
            _tell(line)
    _tell(report.CANNOT)
    _tell(report.conclusion(audited))
    return VIOLATED if any(one.broken for one in audited) else 0


def _audits(options: argparse.Namespace, noise: Noise) -> Iterator[Audited]:
    """The audit that the options ask for, one pair of tables after the other. Raises InputError."""
    from dpsynth_core.audit import mechanisms, report
    from dpsynth_core.planning.spec import load_spec

    draws = _number(options.draws)
    if not isinstance(draws, int) or not report.FEWEST_DRAWS <= draws <= report.MOST_DRAWS:
        wanted = f"give a whole number from {report.FEWEST_DRAWS} to {report.MOST_DRAWS}"
        raise InputError("--draws", f"{options.draws[:40]!r} cannot be used", wanted)
    if options.mechanism is None and (options.set or any(getattr(options, name) is not None for name in _OF_A_MECHANISM)):
        raise InputError("command line", "budget, unit and settings go with --mechanism", "leave them out, or name a mechanism")
    if options.operations:
        yield from report.of_operations(noise, draws)
        return
    if options.spec is not None:
        spec = load_spec(options.spec)
    else:
        if options.epsilon is None:
            raise InputError("--epsilon", "it is missing", "add it")
        budget = {"epsilon": _number(options.epsilon), "delta": _number(options.delta or "1e-9")}
        rows = _number(options.rows_per_person or "1")
        unit = {"relation": options.relation or "add-remove", "max_rows_per_person": rows, "person_column": "person"}
        spec = mechanisms.invented_spec(options.mechanism, budget, unit, _settings(options.set))
    configuration, shown = mechanisms.Configuration.of(spec), 0
    for sentence in configuration.left_out:
        _say(f"note: {sentence}")

    def show(share: float) -> None:
        nonlocal shown
        if int(10 * share) > shown:
            shown = int(10 * share)
            _say(f"{shown * 10} % of the runs are done")

    yield from report.of_mechanism(configuration, noise, draws, show)


_OF_A_MECHANISM = ("epsilon", "delta", "relation", "rows_per_person")


def _release(spec: Spec, out: Path, population: str | None, assumed: str = "") -> None:
    """Check everything, charge if asked to, make the release and write it. assumed: how the table is written, as far as nobody said."""
    from dpsynth_core.release import spool, synthesis

    if population is not None:
        from dpsynth_core.store import ledger

        ledger.check_name(population)
    plan = synthesis.plan(spec)
    _check_out(out)
    spool.check_room(plan, out, "--out")
    findings = synthesis.survey(plan).value.sentences()
    if assumed:
        _say(f"assumed, for your eyes only: {assumed}")
    for finding in findings:
        _say(f"warning, for your eyes only: {finding}")
    interrupts.defer()  # from the charge to the last file
    if population is None:
        _make(plan, out, _spool_beside(out), "", lambda: None)
        return
    from dpsynth_core.store import charging, home, spools

    spool.check_room(plan, home.home(), "DPSYNTH_HOME")
    charging.charged(
        plan, lambda run, touch: _make(plan, out, spools.spool_file(run), run, touch), lambda line: _say(f"warning: {line}")
    )


def _make(plan: Plan, out: Path, path: Path, run: str, touch: Callable[[], None]) -> None:
    """Make the release of a plan and write it; what was measured is kept at `path` until that is done. run: "" if nothing is charged."""
    from dpsynth_core.release import synthesis
    from dpsynth_core.release.spool import Spool
    from dpsynth_core.release.statement import NOT_PRIVATE

    noise = synthesis.noise_for(plan.spec)
    if not noise.private:
        _say(f"warning: {NOT_PRIVATE}")
    try:
        spool = Spool(path, run, plan, noise.private)
    except FileExistsError:
        raise InputError("--out", f"{str(path)!r} holds a run that was interrupted", "recover it, or delete that file") from None
    try:
        interrupts.check()
        touch()
    except BaseException:
        spool.discard()
        raise
    try:
        made = synthesis.synthesize(plan, synthesis.open_source(plan), noise, _show, spool)
        interrupts.check()
        _write(replace(made, ledger=_cited(run)), out)
    except BaseException as error:
        spool.close()
        if not spool.answers:
            spool.discard()
        else:
            _say(f"kept: {spool.answers:,} answers; nothing is spent again by: python -m dpsynth_core recover {run or path} --out DIR")
        if isinstance(error, InputError):
            raise ChargedError(error.field, error.problem, error.remedy) from error
        raise
    spool.discard()


def _recover(options: argparse.Namespace) -> None:
    """Finish the release of an interrupted run. Reads no record and charges nothing."""
    from dpsynth_core.release import recovery, spool

    path = _spool_of(options.run, options.out)
    kept = spool.read(path)
    _check_out(options.out)
    interrupts.defer()
    made = recovery.recover(kept, _show, options.answers)
    interrupts.check()
    _write(replace(made, ledger=_cited(kept.run)), options.out)
    if not kept.run:
        path.unlink()
        return
    from dpsynth_core.store import spools

    spools.settle(kept.run)


def _spool_of(run: str | None, out: Path) -> Path:
    """The spool that is meant: a file, a run in DPSYNTH_HOME, the one beside --out, or the only one there is. Raises InputError."""
    for path in (_spool_beside(out),) if run is None else (Path(run),):
        if path.is_file():
            return path
    from dpsynth_core.store import spools

    there = spools.unfinished()
    if run is not None and run in there:
        return spools.spool_file(run)
    if run is None and len(there) == 1:
        return spools.spool_file(there[0])
    remedy = f"name one of these runs: {', '.join(there)}" if there else "there is none in DPSYNTH_HOME, and none beside --out"
    raise InputError("RUN", "it is not clear which interrupted run is meant", remedy)


def _spool_beside(out: Path) -> Path:
    """Where a run that nobody charges keeps what it measured: beside the folder, which may be lost, or in it where that cannot be."""
    whole = out.resolve()
    return whole.with_name(f"{whole.name}.interrupted") if os.access(whole.parent, os.W_OK) else whole / "release.interrupted"


def _cited(run: str) -> dict[str, Any]:
    """What the release says of the ledger. A ledger that was lost meanwhile is no reason to lose the release too."""
    if not run:
        return {}
    from dpsynth_core.store import ledger

    try:
        cited = ledger.citation(run)
    except (LookupError, InputError):
        _say("warning: the ledger does not know this run, and the release does not cite it")
        return {}
    _say(f"ledger: entry {cited['entry']}, hash {cited['hash']}")
    return cited


def _write(made: Release, out: Path) -> None:
    """Write all files of a release and say what came out."""
    from dpsynth_core.bundle.pack import pack
    from dpsynth_core.foundation.private_files import private_file
    from dpsynth_core.release import document as releases

    try:
        out.mkdir(parents=True, exist_ok=True)
        releases.write(made, out)
        with private_file(out / BUNDLE) as stream:
            stream.write(pack(made))
    except OSError as error:
        raise InputError("--out", f"{str(out)!r} cannot be written ({error.strerror})", "recover the release to another folder") from error
    for brand in made.brands:
        _say(f"note: {brand.sentence}")
    rows = "answers only" if made.codes is None else f"{made.rows} rows"
    if made.certificate is not None:
        certificate, sure = made.certificate, "with 95 % confidence"
        tables = f"{len(certificate.marginals)} marginals"
        _say(f"certificate: mean error {certificate.mean_error:.4f} over {tables}, at most {certificate.mean_bound95:.4f} {sure}")
        _say(f"certificate: largest error of a single share {certificate.max_error:.4f}, at most {certificate.max_bound95:.4f} {sure}")
    _say(f"done: {rows}, rho {made.rho_spent:.4g} of {made.rho:.4g} spent, {_took(made)}written to {out}")


def _took(made: Release) -> str:
    """Nothing where the release may not say."""
    return f"{made.timings['total']:.1f} s, " if made.timings else ""


def _show(progress: Progress) -> None:
    """One line for each marginal measured and each phase; fits are not news. A signal ends the run here."""
    interrupts.check()
    spent = f"rho {progress.rho_spent:.4g}, {progress.done:.0%} done, {progress.seconds:.1f} s"
    if progress.kind == "measured":
        what = " x ".join(progress.attributes) or "the number of records"
        _say(f"round {progress.round}: measured {what}, sigma {progress.sigma:.3g}, {spent}")
    elif progress.kind == "phase":
        _say(f"{progress.message}, {progress.seconds:.1f} s")


def _say(line: str) -> None:
    """To stderr, without the control characters that a column name may hold."""
    print(_printable(line), file=sys.stderr, flush=True)


def _tell(line: str) -> None:
    """The same to stdout: what was asked for."""
    _print(_printable(line))


class _Unprinted(Exception):
    """stdout takes no more: a full disk, or a reader that went away."""


def _print(text: str) -> None:
    """To stdout, whatever characters it can show. Raises _Unprinted, so that no exit code is taken for a result."""
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        print(text, flush=True)
    except OSError:
        with suppress(OSError, ValueError):  # what Python would try to write once more when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise _Unprinted from None


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in line)


def _number(text: str | None) -> Any:
    """A whole number or float if it reads as one; otherwise the text, which the spec refuses with the name of the field."""
    for read in (int, float):
        try:
            return None if text is None else read(text)
        except ValueError:
            continue
    return text


def _settings(pairs: Sequence[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or name.strip() in settings:
            raise InputError("--set", f"{pair!r} is not one name=value, or the name was given before", "write --set name=value")
        settings[name.strip()] = value.strip()
    return settings


def _check_out(out: Path) -> None:
    """Before anything is charged: nothing stands in the way of the files of a release. Raises InputError."""
    _check_writable(out)
    for name in ("synthetic.csv", "release.json", BUNDLE):
        if (out / name).is_dir():
            raise InputError("--out", f"{str(out / name)!r} is a folder", "remove it, or name another folder")


def _check_writable(out: Path) -> None:
    """The folder can be made, and files in it too. Raises InputError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError:
        raise InputError("--out", f"no files can be written in {str(out)!r}", "name a folder that you may write to") from None


class _Parser(argparse.ArgumentParser):
    """Mistakes on the command line are InputErrors like all others: one line, no usage text."""

    def error(self, message: str) -> NoReturn:
        raise InputError("command line", message, f"see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m dpsynth_core", description="Synthetic tables under differential privacy.", allow_abbrev=False)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    make = commands.add_parser("synthesize", help="make a release from options", allow_abbrev=False)
    make.add_argument("data", metavar="DATA", type=Path, help="CSV or Parquet file, or a folder of them")
    make.add_argument("--domain", metavar="DOMAIN.json", type=Path, required=True, help="columns and their values")
    public = "a public table of the same columns, for mechanisms that can use one"
    make.add_argument("--public", metavar="FILE", type=Path, help=public)
    workload = "all-3way | all-2way | target:COLUMN:3 | threshold:1-of-3:all | threshold:1-of-3:target:COLUMN | FILE.json"
    make.add_argument("--workload", default="all-3way", help=f"{workload} (default: %(default)s)")
    make.add_argument("--mechanism", default="aim", help="see the command mechanisms (default: %(default)s)")
    make.add_argument("--epsilon", required=True)
    make.add_argument("--delta", default="1e-9", help="default: %(default)s")
    certificate = "share of the budget that measures the errors of the result; 0 for none (default: %(default)s)"
    make.add_argument("--certificate", metavar="SHARE", default="0.05", help=certificate)
    make.add_argument("--relation", default="add-remove", help="add-remove | replace (default: %(default)s)")
    make.add_argument("--person-column", metavar="NAME", help="column that tells people apart; default: one row is one person")
    make.add_argument("--max-rows-per-person", metavar="M", default="1", help="further ones are not used (default: %(default)s)")
    make.add_argument("--encoding", help="how the table is written, such as utf-8 or cp1252 (default: as its first bytes suggest)")
    make.add_argument("--delimiter", help="comma | semicolon | tab | bar, or the character itself (default: as its first bytes suggest)")
    quoting = "lines: quotes end with their line (default) | none | standard: quoted cells may contain line breaks, in a well-formed file"
    make.add_argument("--quoting", choices=("lines", "none", "standard"), help=quoting)
    make.add_argument("--missing", metavar="TEXT", action="append", help="counts as missing; may be repeated (default: the usual ones)")
    make.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the mechanism; may be repeated")
    make.add_argument("--rows", metavar="N", help="how many rows to write (default: the noisy or public number of records)")
    make.add_argument("--seed", metavar="S", help="repeatable noise; marks the release not private")
    make.set_defaults(command=_synthesize)

    run = commands.add_parser("run", help="make a release from a spec", allow_abbrev=False)
    run.add_argument("spec", metavar="SPEC.json", type=Path, help="a relative data path in it starts from its folder")
    run.set_defaults(command=_run)

    for command in (make, run):
        command.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for rows, release.json and release.zip")
        command.add_argument("--population", metavar="NAME", help="charge the ledger in DPSYNTH_HOME for these people")

    rest = commands.add_parser("recover", help="finish the release of an interrupted run, without spending again", allow_abbrev=False)
    rest.add_argument("run", metavar="RUN", nargs="?", help="what the interrupted run named; default: the one beside DIR, or the only one")
    rest.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for rows, release.json and release.zip")
    rest.add_argument("--answers", action="store_true", help="write the noisy tables alone, also where rows could be made")
    rest.set_defaults(command=_recover)

    check = commands.add_parser("verify", help="check what a release bundle says, from the bundle alone", allow_abbrev=False)
    check.set_defaults(command=_verify)
    again = commands.add_parser("reproduce", help="make the rows of a release bundle again, from the bundle alone", allow_abbrev=False)
    again.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for synthetic.csv and synthetic.parquet")
    again.add_argument("--public", metavar="FILE", type=Path, help="the public table, if the release used one; nothing else is opened")
    again.set_defaults(command=_reproduce)
    for command in (check, again):
        command.add_argument("bundle", metavar="BUNDLE", type=Path, help="release.zip, or the folder it was unpacked into")
        command.add_argument("--memory", metavar="MB", dest="megabytes", help="that checking the bundle may take (default: 1024)")
        command.add_argument("--seconds", metavar="N", help="of work that checking the bundle may take (default: 30)")

    audit = commands.add_parser("audit", help="try to tell invented neighbouring tables apart by what is released", allow_abbrev=False)
    what = audit.add_mutually_exclusive_group(required=True)
    what.add_argument("--mechanism", metavar="NAME", help="on three columns of two values; see the command mechanisms")
    what.add_argument("--spec", metavar="SPEC.json", type=Path, help="a spec's mechanism, settings, unit and budget; its data stay closed")
    what.add_argument("--operations", action="store_true", help="every operation of the privacy kernel, for every unit of privacy")
    audit.add_argument("--epsilon", help="the larger, the more a number of draws shows")
    audit.add_argument("--delta", help="default: 1e-9")
    audit.add_argument("--relation", help="add-remove | replace (default: add-remove)")
    audit.add_argument("--rows-per-person", metavar="M", help="default: 1")
    audit.add_argument("--draws", metavar="N", default="1000", help="runs on either table (default: %(default)s)")
    audit.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the mechanism; may be repeated")
    audit.set_defaults(command=_audit)

    _ledger_parser(commands.add_parser("ledger", help="check, export or restore the ledger in DPSYNTH_HOME", allow_abbrev=False))
    show = commands.add_parser("mechanisms", help="print the mechanisms and their parameters as JSON", allow_abbrev=False)
    show.set_defaults(command=_mechanisms)
    return parser


def _ledger_parser(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check", help="is the ledger whole, and what is charged? ends with 0 if it is, 1 if not", allow_abbrev=False
    )
    check.add_argument("--head", metavar="HASH", help="the hash of an entry that was noted elsewhere; at least 16 of its characters")
    check.set_defaults(command=_ledger_check)
    export = commands.add_parser("export", help="print every entry", allow_abbrev=False)
    export.add_argument("--format", choices=("json", "csv"), default="json", help="default: %(default)s, which `ledger check` reads")
    export.set_defaults(command=_ledger_export)
    restore = commands.add_parser("restore", help="accept a ledger that is not whole, with a reason, as it is", allow_abbrev=False)
    restore.add_argument("--reason", metavar="TEXT", required=True, help="why it may go on; kept in the ledger")
    restore.set_defaults(command=_ledger_restore)
    for command, what in ((check, "check this JSON export instead"), (restore, "a JSON export with entries that the ledger has lost")):
        command.add_argument("export", metavar="EXPORT", type=Path, nargs="?", help=what)
