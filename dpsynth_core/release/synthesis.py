"""The one way from a spec to a release: check, open the records, build the kernel, drive the mechanism, write rows.

Command line and worker both go through here, so that neither can do more or less than the other. The kernel is built here and
handed to the mechanism; nothing else of the records comes out.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.bounds import bounds
from dpsynth_core.evaluation.certificate import ANSWERS, ROWS, certify
from dpsynth_core.evaluation.comparison import Evidence
from dpsynth_core.evaluation.totals import known_total
from dpsynth_core.foundation import build
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.mechanisms.kernel import SealedKernel
from dpsynth_core.mechanisms.mechanism import Learner, UsesPublic
from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured, RowModel, Step
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import DEMO, STANDIN, Spec
from dpsynth_core.privacy.conversions import check_budget
from dpsynth_core.privacy.events import Approximate, Laplace, PerturbedMinimum
from dpsynth_core.privacy.events import Event as Charge
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import Noise, OpenDPNoise, SeededNoise
from dpsynth_core.privacy.unit import REPLACE
from dpsynth_core.release.release import UNCERTIFIED, Brand, Progress, Release
from dpsynth_core.release.spool import Spool, row_seed
from dpsynth_core.release.transcript import Answer, AnswersEnd, recording
from dpsynth_core.sources import demo, files, standin
from dpsynth_core.sources import public as public_tables
from dpsynth_core.sources import survey as surveys
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import decode
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.formats import STANDARD, TableFormat
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.sources.survey import Survey
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.public_table import PublicTable

LIBRARIES = ("numpy", "scipy", "opendp", "pyarrow", "pandas", "pydantic")

_UNMEASURED = "The run was interrupted before its errors were measured: there is no certificate, although a share of the budget was for it."

NOT_PRIVATE = "Not private: the noise came from a seeded generator, and whoever knows the seed can take it away. Do not publish this."


def plan(spec: Spec) -> Plan:
    """Check everything that can be checked before a budget is reserved; of the data, only the file's structure.

    Raises InputError naming the field, CapacityError for what would not fit the mechanism or this machine.
    """
    meant = Plan.of(spec)
    _check_data(spec, meant.domain)
    if spec.public is not None and not spec.data.simulated and public_tables.is_same_table(Path(spec.public.path), Path(spec.data.path)):
        raise InputError(public_tables.FIELD, "it is the private table itself", "choose a table that is public already, or none")
    return feasible(meant)


def plan_without_records(spec: Spec) -> Plan:
    """The same where the private table is not looked for: what a recipient of a release can make of its spec. Raises the same."""
    return feasible(Plan.of(spec))


def feasible(meant: Plan) -> Plan:
    """The plan with its public table, if it fits. Raises CapacityError where it does not, InputError as `informed`."""
    ready = informed(meant)
    if not ready.forecast.fits:
        raise CapacityError("mechanism", f"{ready.mechanism.card.title} cannot run this plan", ready.forecast.reason)
    return ready


def informed(meant: Plan) -> Plan:
    """The plan with the spec's public table, if its mechanism can use one. Raises InputError if the table does not fit the domain, or
    changed since the spec was sealed."""
    named = meant.spec.public
    if named is None or not isinstance(meant.mechanism, UsesPublic):
        return meant
    table = public_tables.read(Path(named.path), TableFormat.of(named.model_dump()), meant.domain)
    if named.sha256 not in ("", table.digest):
        raise InputError(public_tables.FIELD, "the file changed since it was chosen", "choose it again")
    return meant.with_public(table)


def noise_for(spec: Spec) -> Noise:
    """The operating system's randomness, or repeatable noise if the spec has a seed."""
    return OpenDPNoise() if spec.output.seed is None else SeededNoise(spec.output.seed)


def open_source(plan: Plan) -> MarginalSource:
    """The records that the spec names. From here on private data may be read: whoever keeps a ledger has charged it before."""
    spec = plan.spec
    if (made := spec.data.standin) is not None:
        return CodesSource(plan.domain, standin.simulate(plan.domain, made.rows, made.strength, made.seed))
    table = demo.simulate() if spec.data.kind == DEMO else Path(spec.data.path)
    return ArrowSource(plan.domain, table, table_format(spec), spec.unit.person_column, spec.unit.max_rows_per_person)


def survey(plan: Plan) -> Zoned[Survey]:
    """What in the table cannot be read as the spec says, for the curator's eyes before anything is charged. Reads all of the columns in
    use once. Raises InputError if they cannot be read to the end; a run would then fail after its charge."""
    return surveys.survey(Path(plan.spec.data.path), table_format(plan.spec), plan.domain.names, plan.spec.unit.person_column)


def table_format(spec: Spec) -> TableFormat:
    """How the spec says that its file is written."""
    return TableFormat.of(spec.data.model_dump())


def synthesize(
    plan: Plan, source: MarginalSource, noise: Noise, on_event: Callable[[Progress], None], spool: Spool | None = None
) -> Release:
    """Run the mechanism against the records and make the release. on_event hears of each step as it happens and may raise to stop.

    spool: where each answer of the kernel is kept before anybody acts on it; None for a release that nobody pays for or misses.
    """
    answers: list[Answer] = []

    def keep(answer: Answer, paid: Sequence[Charge]) -> None:
        if spool is not None:
            spool.keep(answer, paid)
        answers.append(answer)

    shares = plan.shares
    kernel = recording(PrivacyKernel(source, plan.unit, shares.rho, noise, shares.delta, shares.accountant), keep)
    made = carry_out(plan, kernel, noise.private, spool.row_seed if spool else row_seed(plan.spec), on_event)
    return replace(made, transcript=tuple(answers))


def carry_out(plan: Plan, kernel: SealedKernel, private: bool, row_seed: int, on_event: Callable[[Progress], None]) -> Release:
    """Everything that follows from the answers of a kernel: the private table's, or `transcript.replaying`, which repeats them. The release
    has no transcript yet. private: whether nobody can repeat the noise. row_seed: of the randomness of rows, which protects nobody."""
    clock = _Clock()
    history: list[Progress] = []

    def tell(progress: Progress) -> None:
        history.append(progress)
        on_event(progress)

    # sealed: a mechanism cannot spend the certificate's share
    stage = kernel.part(plan.shares.mechanism) if plan.shares.certificate else kernel
    tell(Progress("phase", clock.elapsed(), message="counting the marginals of the workload"))
    with clock.phase("read"):
        kernel.prepare([*plan.workload.cliques, *((name,) for name in plan.domain.names)])

    finished = _drive(plan.mechanism.steps(stage, plan.workload), clock, tell)
    tell(Progress("finished", clock.elapsed(), rho_spent=kernel.rho_spent, done=1.0, message="the model is final"))
    measurements = tuple(step.measurement for step in history if step.measurement is not None)

    codes = table = None
    if plan.mechanism.card.makes_rows:
        count = plan.spec.output.rows or max(1, round(finished.total))
        tell(Progress("phase", clock.elapsed(), rho_spent=kernel.rho_spent, done=1.0, message="writing synthetic rows"))
        rng = np.random.default_rng(row_seed)
        with clock.phase("rows"):
            codes = cast(RowModel, finished.model).rows(count, plan.workload.weights, rng)
        with clock.phase("decode"):
            table = decode(plan.domain, codes, rng)

    published = _published(plan, finished, measurements, codes)
    total = known_total(measurements, finished.total if plan.unit.total_is_public else None)
    with clock.phase("bounds"):
        released = (measurements, finished.selections, finished.considered)
        stated_bounds = bounds(plan.domain, published, total, *released, rows=codes is not None) if total else {}
    certificate, unmeasured = None, []
    if plan.shares.certificate:
        tell(Progress("phase", clock.elapsed(), rho_spent=kernel.rho_spent, done=1.0, message="measuring the errors of what is published"))
        with clock.phase("certificate"):
            of, stage = ROWS if codes is not None else ANSWERS, kernel.part(plan.shares.certificate)
            try:
                certificate = certify(stage, published, total, of, plan.workload.threshold)
            except AnswersEnd:  # of a run that was interrupted here
                unmeasured = [Brand(UNCERTIFIED, _UNMEASURED)]

    made = Release(
        plan=plan,
        codes=codes,
        table=table,
        total=float(finished.total),
        measurements=measurements,
        history=tuple(history),
        charges=tuple(kernel.events),
        rho=plan.shares.rho,
        rho_spent=kernel.rho_spent,
        private=private,
        statement=statement(plan, kernel.rho_spent, private),
        brands=(*brands(plan, float(finished.total), private), *_readings(finished), *unmeasured),
        row_policy=_row_policy(plan),
        row_seed=row_seed if codes is not None else None,
        details={**finished.details, "settings": dict(plan.settings)} | _public_details(plan.public),
        timings=clock.timings(),
        bounds=stated_bounds,
        certificate=certificate,
        versions=versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return _without_times(made) if any(isinstance(event, PerturbedMinimum | Approximate | Laplace) for event in kernel.events) else made


def _without_times(made: Release) -> Release:
    """An oracle or a linear program that saw private records takes as long as they make it take: not to be published."""
    return replace(made, timings={}, history=tuple(replace(step, seconds=0.0) for step in made.history))


def _published(
    plan: Plan, finished: Finished, measurements: Sequence[Measurement], codes: NDArray[np.int32] | None
) -> dict[Clique, NDArray[np.float64]]:
    """What is published of each marginal of the workload, as fractions; where a rule is published and the workload is not, of what was
    measured beside it. Answers are the model's: a public table that stands in is no measurement."""
    answers_tables = plan.mechanism.card.publishes_tables
    if codes is None and answers_tables:
        return {r: finished.model.marginal(r) / finished.total for r in plan.workload.cliques}
    cliques = plan.workload.cliques if answers_tables else [m.clique for m in measurements if m.clique]
    return Evidence(plan.domain, codes, measurements, finished.total).published(cliques)


def versions() -> dict[str, str]:
    """Of this program, Python and the libraries that numbers depend on."""
    return {"dpsynth_core": build.identity(), "python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


class _Clock:
    """Wall seconds since the beginning, and per phase."""

    def __init__(self) -> None:
        self._start = self._mark = time.perf_counter()
        self._phases: dict[str, float] = {}

    def elapsed(self) -> float:
        return round(time.perf_counter() - self._start, 3)

    def timings(self) -> dict[str, float]:
        return {**{name: round(seconds, 3) for name, seconds in self._phases.items()}, "total": self.elapsed()}

    def restart(self) -> None:
        self._mark = time.perf_counter()

    def book(self, phase: str) -> None:
        """The time since the last mark belongs to `phase`."""
        now = time.perf_counter()
        self._phases[phase] = self._phases.get(phase, 0.0) + now - self._mark
        self._mark = now

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.restart()
        yield
        self.book(name)


_PHASE_OF_EVENT = {Measured: "measure", Fitted: "fit", Finished: "finish"}


def _drive(steps: Iterator[Step], clock: _Clock, tell: Callable[[Progress], None]) -> Finished:
    """Take the mechanism's events one by one; the time before an event is booked to what it reports."""
    clock.restart()
    for event in steps:
        clock.book(_PHASE_OF_EVENT[type(event)])
        if isinstance(event, Finished):
            return event
        tell(_progress(event, clock.elapsed()))
        clock.restart()
    raise RuntimeError("the mechanism ended without a result")


def _progress(event: Measured | Fitted, seconds: float) -> Progress:
    if isinstance(event, Fitted):
        return Progress("fitted", seconds, event.round, rho_spent=event.rho_spent, done=event.done, message=event.message)
    taken = event.measurement
    return Progress(
        "measured", seconds, event.round, taken.clique, taken.sigma, event.rho_spent, event.done, spread=taken.spread, measurement=taken
    )


def _check_data(spec: Spec, domain: Domain) -> None:
    """That the file is a table with these columns. Looks at the header and the shape of the first lines, not at what they say."""
    if spec.data.kind == STANDIN:
        return  # has the columns of the domain
    if spec.data.kind == DEMO:
        columns: tuple[str, ...] = tuple(map(str, demo.simulate(rows=1).columns))
    else:
        files.check(Path(spec.data.path), table_format(spec), limit_bytes=sys.maxsize)
        columns = files.column_names(Path(spec.data.path), table_format(spec))
    person = spec.unit.person_column
    if person is not None and person not in columns:
        raise InputError("unit.person_column", f"the data have no column {person!r}", "choose one of the file's columns")
    if person is not None and not spec.data.simulated:
        files.check_person_column(Path(spec.data.path), table_format(spec), person)
    for name in domain.names:
        if name not in columns:
            raise InputError(f"column {name!r}", "the data have no column of this name", "drop it from the domain, or correct its name")
        if name == person:
            raise InputError(f"column {name!r}", "it tells people apart and cannot be released", "drop it from the domain")


def statement(plan: Plan, rho_spent: float, private: bool) -> str:
    """The guarantee in words: relation, unit, epsilon, delta, rho, accountant."""
    unit, spec, accountant = plan.unit, plan.spec, plan.shares.accountant
    m = unit.max_rows_per_person
    if spec.unit.person_column is None:
        who = "a person owns one row; someone with several rows in the table is protected for each row, not for all together"
    else:
        rows = "one row" if m == 1 else f"{m} rows"
        who = f"a person is a value of the column {spec.unit.person_column!r} and owns at most {rows}, further ones are not used"
    change = "replacing what one person owns, so that the number of rows is public" if unit.total_is_public else (
        "replacing what one person owns" if unit.relation == REPLACE else "adding or removing one person"
    )
    certificate = plan.shares.certificate
    kept = f", of which rho = {certificate:.6g} was kept for measuring the errors of the result," if certificate else ""
    promise = (
        f"Neighbouring tables differ by {change} ({unit.relation}); {who}. {plan.mechanism.card.title} had a budget of"
        f" {accountant.stated(plan.shares.rho)}{kept} under {accountant.title} and spent {rho_spent:.6g} of rho; the budget implies"
        f" ({spec.budget.epsilon:g}, {spec.budget.delta:g})-differential privacy (accountant: {accountant.name}, {accountant.conversion})."
        f"{_own_delta(plan)}{f' {plan.condition}' if plan.condition else ''}"
    )
    return promise if private else f"{NOT_PRIVATE} Made with real noise, this would hold: {promise}"


def _own_delta(plan: Plan) -> str:
    """What a reader of the guarantee has to know of a delta that was set aside."""
    if not plan.shares.delta:
        return ""
    return (
        f" Half of delta, {plan.shares.delta:g}, was set aside for steps that are differentially private except with a probability of"
        " their own; the guarantee is approximate zCDP (Bun and Steinke 2016, section 8)."
    )


def brands(plan: Plan, total: float, private: bool) -> Iterator[Brand]:
    """What a reader must know; every sentence is built from public and released values."""
    spec = plan.spec
    if not private:
        yield Brand("not-private", NOT_PRIVATE)
    if spec.data.simulated:
        yield Brand("simulated", "The records are invented people made by this program; the release says nothing about anyone.")
    if spec.domain_origin == "data":
        warning = "The domain was read from the private data, which no budget covers. The curator's reason: "
        yield Brand("domain-from-data", warning + spec.domain_justification.strip())
    if spec.data.quoting == STANDARD:
        yield Brand("assumed-well-formed", _ASSUMED_WELL_FORMED)
    if plan.public is not None:
        yield Brand("assumed-public", _assumed_public(plan.public))
    if condition := plan.condition:
        yield Brand("conditional", f"The guarantee has a condition. {condition}")
    for warning in check_budget(spec.budget.epsilon, spec.budget.delta, public_n=max(1, round(total))):  # total is public or noisy
        yield Brand("budget", warning)
    if not plan.mechanism.card.makes_rows:
        given = "a rule" if isinstance(plan.mechanism, Learner) else "noisy marginals"
        yield Brand("answers-only", f"{plan.mechanism.card.title} gives {given} and no rows.")


def _readings(finished: Finished) -> Iterator[Brand]:
    """What a check of the public table said, if there was one."""
    if (reading := finished.details.get("best_mixture")) is not None:
        verdict = "unchecked" if reading["error"] is None else "poor" if reading["poor"] else "checked"
        yield Brand(f"public-table-{verdict}", reading["sentence"])


def _public_details(public: PublicTable | None) -> dict[str, Any]:
    """What the release says about the public table, if one was used."""
    return {} if public is None else {"public_table": {"name": public.name, "sha256": public.digest, "rows": public.rows}}


_ASSUMED_WELL_FORMED = (
    "Cells of the table may contain line breaks, as the curator states. So one person's protection assumes that the file is well formed:"
    " that every quote in it opens, closes or stands for a quote of a cell."
)


def _assumed_public(public: PublicTable) -> str:
    return (
        f"The table {public.name!r} ({public.rows:,} rows, SHA-256 {public.digest[:16]}) was used as public: nothing here protects the"
        " people in it. That it may be used so is the curator's word."
    )


def _row_policy(plan: Plan) -> str:
    if not plan.mechanism.card.makes_rows:
        return "no rows: this mechanism gives answers only"
    if plan.spec.output.rows is not None:
        return "as many rows as the spec asks for"
    return "the number of records, which is public" if plan.unit.total_is_public else "the noisy estimate of the number of records"
