"""The one way from a spec to a release: check, open the records, build the kernel, drive the mechanism, write rows.

Command line and worker both go through here, so that neither can do more or less than the other. The kernel is built here and
handed to the mechanism; nothing else of the records comes out. Words for readers are in `release.statement`.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.claim import AnswersEnd, Claim, Final
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.claims.weights import Weighted
from dpsynth_core.evaluation.bounds import Bound, bounds, of_everybody
from dpsynth_core.evaluation.misfit import MISFITS, UNSEEN, misfits, unseen
from dpsynth_core.foundation import build, extension
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.zones import Zoned, combine, curator_only
from dpsynth_core.inference.estimation import unreachable
from dpsynth_core.inference.rows import in_random_order
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.mechanisms.steps import Finished, RowModel
from dpsynth_core.planning import machine
from dpsynth_core.planning.plan import INSIDE, LEARNING, Plan
from dpsynth_core.planning.spec import PublicSpec, Spec, TableSpec
from dpsynth_core.privacy.events import Event as Charge
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.view import Noise
from dpsynth_core.release import linked, tables, transcript
from dpsynth_core.release.journal import Journal
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.rows import Rows
from dpsynth_core.release.spool import Spool
from dpsynth_core.release.statement import (
    OFF,
    brands,
    misfit_sentence,
    public_details,
    row_policy,
    statement,
    unmeasured_brands,
    unseen_sentence,
)
from dpsynth_core.release.times import Stopwatch
from dpsynth_core.release.transcript import Given, Keep, RecordedAnswer, recording
from dpsynth_core.sources import readable
from dpsynth_core.sources.decoding import DrawnRows, as_written
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.registry import KINDS, open_linked, sheet_with
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.inside import Inside, of_several_values
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import no_column
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.released import of_columns
from dpsynth_core.vocabulary.rows import Repeated

if TYPE_CHECKING:  # loaded for two tables, and for looks at records
    from dpsynth_core.mechanisms.graphical.households import HouseholdModel
    from dpsynth_core.sources.check_records import RecordsCheck
    from dpsynth_core.sources.first_records import Remark

_HAVE = ("the data have", "the table of members has", "the third table has")
MOST_UNREACHABLE = 0.01
"""The share of the people that published tables may leave in a wrong cell: what is reached slowly is not told from what never is."""
_version = cache(version)  # it is read from a file each time
LIBRARIES = ("numpy", "scipy", "opendp", "pyarrow", "pandas", "pydantic")
_WIDTHS = ("X86_V2", "X86_V3", "X86_V4", "SVE")
"""NumPy's names for vectors of 128, 256 and 512 bits, and for those of any width."""


def plan(spec: Spec) -> Plan:
    """Check everything that can be checked before a budget is reserved, and return the feasible plan.

    Of a private table only the structure is read. If there is a public table, it is read whole, and its file is
    compared with the private table's file.

    Raises:
        InputError: A field of the spec is invalid, a table lacks a column or has one of a wrong type, or the
            public table is the private one.
        CapacityError: The plan would not fit the mechanism or this machine.
    """
    draft = Plan.stated(spec)
    for have, (table, domain, names) in zip(_HAVE, _tables(draft), strict=False):
        _check_columns(table, domain, names, spec, have)
    if spec.public and spec.data.is_file:
        _check_public(spec.public, spec.data)
    for setting in map(extension.settings().__getitem__, spec.extensions):
        extension.load(setting.check)(draft)
    return feasible(draft)


def _tables(plan: Plan) -> list[tuple[TableSpec, Domain, tuple[str, ...]]]:
    """Return the section of each private table, the domain of its rows, and the columns that are read beside the person column."""
    tables: list[tuple[TableSpec, Domain, tuple[str, ...]]] = [(plan.spec.data, plan.row_domain, plan.row_domain.names)]
    if plan.spec.members is not None:
        read = extension.second_columns(plan.member_domain.names, plan.spec.extensions)
        tables.append((plan.spec.members, plan.member_domain, read))
        tables += extension.further_tables(plan.spec)
    return tables


def _check_columns(table: TableSpec, domain: Domain, names: Sequence[str], spec: Spec, have: str) -> None:
    """Check that a table has its columns and the person column, of types that can hold the values of its domain.

    Only the header and the types are read, not the values.

    Args:
        table: The section of the spec on the table.
        domain: The domain of its rows.
        names: The columns of the table that are read.
        spec: The spec.
        have: Beginning of the error's sentence.

    Raises:
        InputError: A column is missing or of a wrong type.
    """
    kind, section, person = KINDS[table.kind], table.model_dump(), spec.unit.person_column
    if kind.columns is None:
        return
    types, stated = kind.columns(section), {} if table is spec.data else spec.extensions
    columns = frozenset(types.names)
    if person is not None and person not in columns:
        raise no_column(person, have, types.names, "unit.person_column", sheet_with(section, person))
    for name in names:
        if name not in columns:
            raise extension.lacking(name, types.names, stated) or no_column(name, have, types.names, sheet=sheet_with(section, name))
    for name in columns & {*domain.names}.difference(names):
        raise InputError(column_field(name), "the table has such a column, and its values are worked out", "give it another name")
    readable.check(domain, types, person, TableFormat.of(section).notation)


def _check_public(public: PublicSpec, data: TableSpec) -> None:
    """Raise InputError if the public table is the private one."""
    from dpsynth_core.sources.locations import located  # loaded where a public table is given
    from dpsynth_core.sources.public import FIELD, is_same_table

    if is_same_table(located(public.path), located(data.path)):
        raise InputError(FIELD, "it is the private table itself", "choose a table that is public already, or none")


def feasible(draft: Plan) -> Plan:
    """Return the plan, completed by its public table, if mechanism and machine can carry it out.

    Raises:
        CapacityError: The mechanism cannot run the plan, or it needs too much memory or time here.
        InputError: The public table cannot be read or does not fit, or the published tables contradict each
            other or the rules.
    """
    ready = informed(draft)
    if not ready.forecast.fits:
        raise CapacityError("mechanism", f"{ready.mechanism.card.title} cannot run this plan", ready.forecast.reason)
    machine.check(ready)
    if ready.domain.published and (off := unreachable(ready.domain)) > MOST_UNREACHABLE:
        from dpsynth_core.vocabulary.published import FIELD  # loaded for published tables alone

        problem = f"together, and with what is impossible, they leave {off:.1%} of the people or more in a wrong cell of one of them"
        raise InputError(FIELD, problem, "correct one of them or a rule, or leave it out")
    return ready


def informed(draft: Plan) -> Plan:
    """Return the plan with the spec's public table read, if there is one and its mechanism can use it; else the plan itself.

    Raises:
        InputError: The table cannot be read, does not fit the domain, or changed since the spec was sealed.
    """
    if draft.spec.public is None or not isinstance(draft.mechanism, UsesPublic):
        return draft
    return draft.with_public(public_table(draft.spec.public, draft.domain))


def public_table(section: PublicSpec, domain: Domain) -> PublicTable:
    """Read the public table of a spec.

    Args:
        section: The section of the spec on the public table.
        domain: The domain of the private table.

    Raises:
        InputError: The file cannot be read, does not fit the domain, or has another digest than the spec states.
        CapacityError: Its rows times the columns of the domain exceed 500 million.
    """
    from dpsynth_core.sources import public as public_tables  # loaded where a public table is given
    from dpsynth_core.sources.locations import located

    table = public_tables.read(located(section.path), TableFormat.of(section.model_dump()), domain)
    if section.sha256 not in ("", table.digest):
        raise InputError(public_tables.FIELD, "the file changed since it was chosen", "choose it again")
    return table


def noise_for(spec: Spec) -> Noise:
    """Return the source of noise: the operating system's, or repeatable noise if the spec has a seed."""
    if spec.output.seed is None:
        return OpenDPNoise()
    from dpsynth_core.privacy.seeded_noise import SeededNoise  # loaded for repeatable noise alone

    return SeededNoise(spec.output.seed)


def open_source(plan: Plan) -> MarginalSource:
    """Return the records that the plan's spec names, as a source of counts; without people whom the release leaves out.

    This call and the source may read private data: a caller with a ledger must charge it first.

    Raises:
        InputError: The table cannot be opened, or does not fit the plan.
    """
    if plan.link is None or plan.spec.members is None:
        source = open_everybody(plan)
        for those_counted in map(extension.load, extension.records(plan.spec.extensions)):
            source = those_counted(plan, source)
        return source
    if plan.spec.data.standin is not None:
        from dpsynth_core.release import linked_stand_in  # loaded for invented households alone

        return linked_stand_in.opened(plan.link, plan.spec.data.standin)
    key = str(plan.spec.unit.person_column)
    layout = extension.layout(plan.spec.extensions)
    return open_linked(plan.link, *(table.model_dump() for table, _, _ in _tables(plan)), key=key, layout=layout)


def open_everybody(plan: Plan) -> MarginalSource:
    """Return the records of everybody in the one table that the plan's spec names, as a source of counts.

    This call and the source may read private data: a caller with a ledger must charge it first.

    Raises:
        InputError: The table cannot be opened, or does not fit the plan.
    """
    return _records(plan.spec, plan.domain)


def _records(spec: Spec, domain: Domain) -> MarginalSource:
    data, unit = spec.data, spec.unit
    return KINDS[data.kind].open(data.model_dump(), domain, unit.person_column, unit.max_rows_per_person)


def survey(plan: Plan) -> Zoned[tuple[RecordsCheck, ...]]:
    """Return which parts of each table cannot be read as the spec says, for the curator before the charge.

    All used columns are read once. Otherwise a run would fail after its charge.

    Returns:
        One check per table, the table of members last; tables of kinds that have no such check, such as
        simulated ones, are left out.

    Raises:
        InputError: A table cannot be read to its end.
    """
    looks = [(KINDS[table.kind].survey, table.model_dump(), names) for table, _, names in _tables(plan)]
    found = [look(section, names, plan.spec.unit.person_column) for look, section, names in looks if look is not None]
    return combine(lambda *checks: checks, *found) if found else curator_only(())


def not_understood(plan: Plan) -> Zoned[tuple[Remark, ...]]:
    """Return a remark on each column with many values that are not understood, for the curator before the charge.

    The first 1,000 records of each table are read, without noise. Tables on a cluster and simulated tables are
    not examined; () if there is nothing to remark.

    Raises:
        InputError: A table cannot be read.
    """
    found = []
    for table, domain, names in _tables(plan):
        section, own = table.model_dump(), [one for one in domain if one.name in names]
        if (source := KINDS[table.kind].source) is not None and section.get("engine") is None and own:
            from dpsynth_core.sources import first_records  # loaded for tables of records alone

            found.append(first_records.look(Domain(tuple(own)), source(section), TableFormat.of(section)))
    return combine(lambda *remarks: tuple(chain.from_iterable(remarks)), *found) if found else curator_only(())


def recoded(plan: Plan) -> Zoned[tuple[str, ...]]:
    """Return sentences on values of the table that would count as other values, for the curator before the charge.

    They state exact numbers of values. They need one pass over the columns that lack a cell for missing
    or undeclared values; () if no column does. Simulated and linked tables are not examined.

    Raises:
        InputError: The table cannot be read.
    """
    open_ones = [attribute for attribute in plan.domain if attribute.size < attribute.unfolded().size]
    if plan.spec.data.simulated or plan.link is not None or not open_ones:
        return curator_only(())
    from dpsynth_core.sources.outside import missing_label, outside_label  # loaded for tables of records alone

    unfolded = Domain(tuple(attribute.unfolded() for attribute in open_ones))
    counts = _records(plan.spec, unfolded).counts([(attribute.name,) for attribute in open_ones])
    lines = list[str]()
    for attribute in open_ones:
        outside, missing = counts[(attribute.name,)][-2:]  # the last two cells of the unfolded attribute are for those
        kinds = ((outside, "are outside the declared ones", outside_label(attribute)), (missing, "are missing", missing_label(attribute)))
        for number, kind, label in kinds:
            if number and label:
                lines.append(f"{number:,} values of {column_field(attribute.name)} {kind} and count as {label!r}")
    return curator_only(tuple(lines))


def synthesize(
    plan: Plan,
    source: MarginalSource,
    noise: Noise,
    on_event: Callable[[Progress], None],
    spool: Spool | None = None,
    stopwatch: Stopwatch | None = None,
) -> Release:
    """Run the mechanism on the records and return the release.

    If an error ends the run after a charge whose answer is not in the spool, the spool becomes read-only.

    Args:
        plan: The feasible plan.
        source: The records.
        noise: The source of noise.
        on_event: Called with each line of the history as it happens; it may raise to stop the run.
        spool: Stores each answer of the kernel before it is used, after the answers of an
            interrupted run that is continued; None to store nothing.
        stopwatch: Records durations for the curator, which are not part of the release.
    """
    shares = plan.shares
    kernel = PrivacyKernel(source, plan.unit, shares.rho, noise, shares.delta, shares.accountant)
    if spool is None:
        return carry_out(plan, kernel, noise.private, on_event, stopwatch)
    try:
        return carry_out(plan, kernel, noise.private, on_event, stopwatch, spool.keep, spool.given)
    except Exception:
        if len(kernel.events) > spool.paid:  # what ended the run may have been the answer itself, which nobody may ask for again
            spool.close_for_good()
        raise


def carry_out(
    plan: Plan,
    kernel: SealedKernel,
    private: bool,
    on_event: Callable[[Progress], None],
    stopwatch: Stopwatch | None = None,
    keep: Keep | None = None,
    given: Given = ((), ()),
) -> Release:
    """Return the release that follows from the answers of a kernel.

    The kernel answers from the private table, or repeats recorded answers (`transcript.replaying`). If these end
    while claims are measured, the release states these claims as not measured.

    Args:
        plan: The feasible plan.
        kernel: The kernel.
        private: Whether the noise is private, which repeatable noise is not.
        on_event: Called with each line of the history.
        stopwatch: Records durations.
        keep: Takes each answer and its charges before the answer is used.
        given: The recorded answers and charges of a run that is continued.

    Raises:
        AnswersEnd: The recorded answers end before the mechanism does.
        InputError: A recorded answer is to another question, or was not charged as the kernel charges it.
    """
    answers: list[RecordedAnswer] = []

    def kept(answer: RecordedAnswer, paid: Sequence[Charge]) -> None:
        if keep is not None:
            keep(answer, paid)
        answers.append(answer)

    created, journal = today(), Journal(on_event, stopwatch)
    plan, kernel = learnt(plan, recording(kernel, kept, given), journal)
    found, kernel = looked_inside(plan, kernel, journal)
    finished = run_mechanism(plan, kernel, journal)
    one_table = plan.mechanism.card.makes_rows and plan.link is None  # models of linked tables count members, not records
    measured = of_columns(journal.measurements) if one_table else ()
    if unfitted := misfits(plan.domain, finished.model, measured, finished.total):
        journal.announce(f"warning: {misfit_sentence(unfitted)}", kernel.rho_spent, done=1.0)
    if unmeasured := unseen(plan.domain, finished.model, measured):
        journal.announce(f"warning: {unseen_sentence(unmeasured)}", kernel.rho_spent, done=1.0)
    row_seed = transcript.row_seed(answers) if plan.spec.output.seed is None else plan.spec.output.seed
    rows = _write_rows(plan, finished, found, row_seed, kernel.rho_spent, journal)
    codes = rows.codes
    claims: dict[str, Any] = {}
    final = Final.of(plan, codes, of_columns(journal.measurements), float(finished.total), claims, found)
    stated_bounds: Mapping[Clique, Bound] = {}
    with journal.phase("bounds"):
        if final.known is not None:
            from_mechanism = (final.released.measurements, finished.selections, finished.considered)
            counted = partial(bounds, plan.domain, final.tables, final.known, *from_mechanism, rows=codes is not None)
            stated_bounds = of_everybody(counted, final.tables, final.known, plan.coins)
    for ask in map(extension.load, extension.questions(plan.spec.extensions)):
        with suppress(AnswersEnd):  # the replayed run was interrupted here
            ask(plan, kernel, () if given[0] else tuple(answers))
    everybody = _of_everybody(plan, kernel, journal)
    for claim in CLAIMS:
        claims[claim.name] = _measured(claim, plan, everybody if claim.of_everybody else kernel, final, journal)
    details = {**finished.details, "settings": plan.settings} | public_details(plan.public)
    drawn_rows = [table for table in (rows.values, *rows.further) if isinstance(table, DrawnRows) and plan.domain.published]
    details |= ({MISFITS: unfitted} if unfitted else {}) | ({UNSEEN: unmeasured} if unmeasured else {})
    if drawn_rows:
        from dpsynth_core.inference.publishing import rows_off  # loaded for published tables alone

        details[OFF] = max(max(rows_off(plan.domain, table.codes)) for table in drawn_rows)
    rows = _weighed(plan, rows, claims[WEIGHTED.name])
    return Release(
        plan=plan,
        codes=codes,
        values=rows.values,
        further=rows.further,
        members=rows.members,
        total=float(finished.total),
        measurements=tuple(journal.measurements),
        history=tuple(journal.history),
        charges=tuple(kernel.events),
        inside=found,
        rho=plan.shares.rho,
        rho_spent=kernel.rho_spent,
        private=private,
        statement=statement(plan, kernel.rho_spent, private),
        brands=(*brands(plan, float(finished.total / plan.records_each), private, details), *unmeasured_brands(plan, claims)),
        row_policy=row_policy(plan, float(finished.total / plan.records_each)),
        row_seed=row_seed if codes is not None else None,
        details=details,
        bounds=stated_bounds,
        claims=claims,
        versions=versions(_libraries(plan)),
        created=created,
        transcript=tuple(answers),
    ).knowing(final)


def learnt(plan: Plan, kernel: SealedKernel, journal: Journal) -> tuple[Plan, SealedKernel]:
    """Learn the values of columns without listed values, with the plan's share for learning.

    If all values are listed, plan and kernel are returned unchanged.

    Args:
        plan: The plan. It assumed the largest number of values that each column may get, so that
            its check of capacity still holds.
        kernel: The kernel; the plan's share for learning is charged to it.
        journal: The history of the run.

    Returns:
        The plan with the learnt values, which are public from here on; and a kernel that counts in
        them and has their noisy counts (`Kernel.known`).
    """
    if not plan.domain.unknown:
        return plan, kernel
    from dpsynth_core.mechanisms.discovery.learning import learn  # loaded for values to be learnt alone

    journal.announce("learning the values of columns that nobody listed")
    with journal.phase("discover"):
        columns = tuple(learn(kernel.part(plan.shares.of(LEARNING)), plan.portions))
    completed = plan.completed(learnt.column for learnt in columns)
    return completed, kernel.over(completed.domain, [learnt.counts for learnt in columns])


def looked_inside(plan: Plan, kernel: SealedKernel, journal: Journal) -> tuple[Mapping[str, Inside], SealedKernel]:
    """Measure how numbers are distributed within their cells.

    Args:
        plan: The plan.
        kernel: The kernel; the plan's share for this measurement is spent.
        journal: The history of the run.

    Returns:
        The distributions by column, empty if the plan has no such share; and a kernel that also
        knows the counts of cells that were measured with them.
    """
    if not (rho := plan.shares.of(INSIDE)) or not (columns := of_several_values(plan.domain.attributes)):
        return {}, kernel
    from dpsynth_core.mechanisms.discovery import inside  # loaded for wide cells of numbers alone

    journal.announce("measuring how numbers lie in their cells")
    with journal.phase("inside"):
        found = inside.look(kernel.part(rho), columns)
    known = [*kernel.known, *(one.counts for one in found if one.counts is not None)]
    return {one.column: one.inside for one in found}, kernel.over(plan.domain, known)


def run_mechanism(plan: Plan, kernel: SealedKernel, journal: Journal) -> Finished:
    """Run the plan's mechanism to its end, record its steps, and return the last step.

    The time before each step is added to the phase of the step's kind.

    Args:
        plan: The plan.
        kernel: The kernel; the mechanism can spend its own share only.
        journal: The history of the run.

    Raises:
        RuntimeError: The mechanism ended without a `Finished` step.
    """
    # sealed: a mechanism cannot spend the shares of others
    stage = kernel.part(plan.shares.mechanism) if plan.shares.aside else kernel
    journal.announce("counting the marginals of the workload")
    with journal.phase("read"):
        needed = [clique for claim in CLAIMS for clique in claim.needs(plan)]
        kernel.prepare(list(dict.fromkeys([*plan.workload.cliques, *((name,) for name in plan.domain.names), *needed])))
    for step in journal.booked(plan.mechanism.steps(stage, plan.workload)):
        if isinstance(step, Finished):
            journal.finish(kernel.rho_spent)
            return step
        journal.record(step)
    raise RuntimeError("the mechanism ended without a result")


@dataclass(frozen=True, eq=False)
class _Written:
    """The rows of a release, in fields that are named as in `Release`."""

    codes: NDArray[np.integer] | Repeated | None = None
    values: Rows | None = None
    further: tuple[Rows, ...] = ()
    members: Rows | None = None


def _write_rows(plan: Plan, finished: Finished, found: Mapping[str, Inside], row_seed: int, rho_spent: float, journal: Journal) -> _Written:
    """Return the tables of synthetic rows that the spec asks for; empty for mechanisms that only answer.

    Codes are drawn now, values whenever they are iterated over.

    Args:
        plan: The plan.
        finished: The last step of the mechanism, with its model.
        found: Distribution of numbers within their cells, by column.
        row_seed: Seed of the rows.
        rho_spent: Budget spent so far, in rho, for the journal.
        journal: The history of the run.
    """
    if not plan.mechanism.card.makes_rows:
        return _Written()
    count = row_count(plan, finished.total)
    journal.announce("writing synthetic rows", rho_spent, done=1.0)
    with journal.phase("rows"):
        if plan.link is not None:
            return _write_linked(plan, plan.link, cast("HouseholdModel", finished.model), count, row_seed)
        seeds = (tables.seed(row_seed, number) for number in range(1, plan.spec.output.tables + 1))
        first, *further = (drawn(plan, cast(RowModel, finished.model), count, seed, found) for seed in seeds)
        return _Written(first.codes, first, tuple(further))


def row_count(plan: Plan, total: float) -> int:
    """Return the number of rows of a table: stated in the spec, or else the estimated number of people, at least 1.

    Args:
        plan: The plan.
        total: Estimated number of records. The number of people is capped at `most_unstated_rows` of the plan.
    """
    return plan.spec.output.rows or min(max(1, round(total / plan.records_each)), plan.most_unstated_rows)


def drawn(plan: Plan, model: RowModel, count: int, seed: int, found: Mapping[str, Inside]) -> DrawnRows:
    """Return rows of a model in random order; their values are drawn when they are iterated over.

    Args:
        plan: The plan.
        model: The final model.
        count: Number of rows.
        seed: Seed of the rows; the same model and seed give the same rows.
        found: Distribution of numbers within their cells, by column.
    """
    rng = np.random.default_rng(seed)
    codes = in_random_order(as_written(plan.domain, model.rows(count, plan.workload.weights, rng)), rng)
    return DrawnRows(plan.domain, codes, rng.bit_generator.state, seed, found)


def weighed(plan: Plan, rows: DrawnRows, stated: Weighted | None) -> DrawnRows:
    """Return the rows with calibrated survey weights as a column; unchanged if the plan has no weight column.

    Args:
        plan: The plan.
        rows: The rows.
        stated: The noisy weighted tables to which weights are calibrated; None if none were measured.
    """
    if plan.weight is None:
        return rows
    from dpsynth_core.claims.weighing import calibrated  # both are loaded for weights alone
    from dpsynth_core.vocabulary.filled import Calibrated

    weights = calibrated(plan, rows.codes, rows.inside, stated)
    return replace(rows, domain=plan.weighed(Calibrated.of_column(plan.weight.column, lambda: weights)))


def _weighed(plan: Plan, rows: _Written, stated: Weighted | None) -> _Written:
    """Return all tables of rows with calibrated survey weights, if the plan has a weight column."""
    if plan.weight is None or not isinstance(rows.values, DrawnRows):
        return rows
    if not isinstance(rows.members, linked.MemberRows) or rows.codes is None:
        return replace(rows, values=weighed(plan, rows.values, stated))
    from dpsynth_core.claims.weighing import calibrated  # both are loaded for weights alone
    from dpsynth_core.vocabulary.filled import Calibrated

    own, theirs = linked.in_order(calibrated(plan, rows.codes, rows.values.inside, stated), rows.members.owners)
    households = plan.weighed(Calibrated.of_column(plan.weight.column, lambda: own))
    members = plan.weighed_members(Calibrated.of_column(plan.weight.column, lambda: theirs))
    drawn = replace(cast(DrawnRows, rows.members.drawn), domain=members)
    return replace(rows, values=replace(rows.values, domain=households), members=replace(rows.members, drawn=drawn))


def _write_linked(plan: Plan, link: Link, model: HouseholdModel, count: int, seed: int) -> _Written:
    """Return `count` synthetic households with their members, households in random order.

    Args:
        plan: The plan.
        link: The link of the two tables.
        model: The final model.
        count: Number of households.
        seed: Seed of the rows.
    """
    rng, for_members = np.random.default_rng(seed), np.random.default_rng((seed, 1))
    made = model.tables(count, rng).reordered(rng.permutation(count))
    owners, listed = made.listed()
    households, members = (
        as_written(table, codes.astype(np.int32)) for table, codes in ((link.households, made.households), (link.carried, listed))
    )
    rows = DrawnRows(plan.row_domain, households, rng.bit_generator.state, seed)
    theirs = DrawnRows(plan.member_domain, members[:, : len(link.members)], for_members.bit_generator.state, seed)
    key = plan.row_domain.column_names[0]
    return _Written(linked.pairs(link, households, owners, members), rows, members=linked.MemberRows(theirs, owners, key))


def _of_everybody(plan: Plan, kernel: SealedKernel, journal: Journal) -> SealedKernel:
    """Return the kernel for claims about everybody, with their tables counted; `kernel` itself if the mechanism counts everybody.

    Args:
        plan: The plan.
        kernel: The kernel of the run.
        journal: The history of the run.
    """
    asking = [claim for claim in CLAIMS if claim.of_everybody and claim.asked(plan)]
    if plan.coins is None or not asking:
        return kernel
    everybody = kernel.everybody()
    with journal.phase("read"):
        needed = [clique for claim in asking for clique in claim.needs(plan)]
        everybody.prepare(list(dict.fromkeys([*plan.workload.cliques, *needed])))
    return everybody


def _measured(claim: Claim[Any], plan: Plan, kernel: SealedKernel, final: Final, journal: Journal) -> object:
    if claim.asked(plan):
        journal.announce(claim.announced or claim.purpose, kernel.rho_spent, done=1.0)
        with journal.phase(claim.name), suppress(AnswersEnd):  # the replayed run was interrupted here
            return claim.measure(plan, claim.stage(plan, kernel), final)
    return claim.absent(plan)


def today() -> str:
    """Return today's date in UTC as ISO 8601, the only time that a release states.

    The hour would reveal how long the records took to read.
    """
    return datetime.now(UTC).date().isoformat()


def _libraries(plan: Plan) -> list[str]:
    """Return the names of libraries on which this plan's numbers depend, in addition to `LIBRARIES`."""
    package = plan.mechanism.card.package
    return [library for claim in CLAIMS if claim.asked(plan) for library in claim.libraries] + [package] * bool(package)


def versions(more: Sequence[str] = ()) -> dict[str, str]:
    """Return the versions on which numbers depend to the last bit, by name.

    The names are "dpsynth_core", "python", names of libraries, and "processor" for the kind of processor.

    Args:
        more: Names of libraries that not every release depends on.
    """
    libraries = {name: _version(name) for name in (*LIBRARIES, *more)}
    return {"dpsynth_core": build.identity(), "python": platform.python_version(), **libraries, "processor": _processor()}


@cache
def _processor() -> str:
    """Return the processor's family and the widest vectors of NumPy, which decide how sums are rounded.

    More details would identify the machine.
    """
    vectors = np.show_config(mode="dicts")["SIMD Extensions"]
    widths = [name for name in (*vectors["baseline"], *vectors.get("found", ())) if name in _WIDTHS]
    return " ".join((platform.machine(), *widths[-1:]))
