"""What a recipient can check of a release without the private table: one verdict for each question, and what cannot be checked at all.

Everything is computed again from the bundle: hashes, the budget, the sum of the charges, the noise of every table, every row against the
domain, the bounds, the arithmetic of the certificate, and all files from release.json. Nothing in a bundle is trusted to be well formed.
What takes a mechanism to compute is left open here; `replay` runs it again, and `confined` does both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import dropwhile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpsynth_core import report
from dpsynth_core.bundle.pack import MANIFEST, contents
from dpsynth_core.bundle.passive import active_part
from dpsynth_core.bundle.reproduce import other_versions
from dpsynth_core.bundle.rounding import NUMBERS, PROGRAMS, alike, contradictions
from dpsynth_core.bundle.unpack import DAMAGE, Bundle, parsed, plan_of
from dpsynth_core.criteria.models import ModelCriterion
from dpsynth_core.criteria.registry import measured as measured_criteria
from dpsynth_core.evaluation import columns_alone
from dpsynth_core.evaluation.bounds import SUPPORTED, UNBOUNDED, bounds
from dpsynth_core.evaluation.certificate import ANSWERS, ROWS, Certificate, Largest, state
from dpsynth_core.evaluation.columns_alone import ColumnsAlone
from dpsynth_core.evaluation.comparison import Evidence
from dpsynth_core.evaluation.distances import IN_WRONG_CELL
from dpsynth_core.evaluation.models import training, usefulness
from dpsynth_core.evaluation.models.usefulness import Trained
from dpsynth_core.evaluation.totals import Total, known_total
from dpsynth_core.foundation.arrow_times import holds_times
from dpsynth_core.foundation.content import Content, digest_written, held
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import is_reason
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.mechanisms.weights import public_check
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.events import Gaussian, delta_of
from dpsynth_core.privacy.thresholds import threshold
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis, tables
from dpsynth_core.release.document import usefulness_json
from dpsynth_core.release.journal import Journal
from dpsynth_core.release.release import INTERRUPTED, UNCERTIFIED, UNDECIDED_CRITERIA, UNTESTED, Release
from dpsynth_core.release.statement import (
    NOT_PRIVATE,
    brands,
    certificate_brands,
    criteria_brands,
    interrupted_brand,
    models_brands,
    statement,
)
from dpsynth_core.release.times import Stopwatch
from dpsynth_core.release.transcript import RecordedAnswer, check_paid, replaying
from dpsynth_core.report.explore import EXPLORE, is_framed
from dpsynth_core.sources.codec import arrow_type, disordered, encode, strays, typed
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import marginals_like
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.keys import PUBLIC
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique, Measurement, Residual

PASSED, FAILED, SKIPPED, ABSENT = "passed", "failed", "not checked", "nothing to check"
SOUND, PARTLY, UNSOUND = "sound", "sound as far as checked", "not sound"
REPLAYED = "Does all of it follow from the answers?"
_BOUNDS, _CERTIFICATE, _DECIDED = "Do the bounds follow?", "Does the certificate add up?", "Are the criteria decided rightly?"
_NO_ROWS = "there are no rows, only answers"
_OTHER_COLUMNS = "the columns of synthetic.csv are not those of the domain"
_PAGES = (".html", ".htm", ".xhtml", ".svg", ".xml")
_PROMISE = re.compile(r"\([^()]*\)-differential")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_BLOCK_BYTES = 2**22
"""Of synthetic.csv that are read at a time; no row is longer."""
_COMPARED_ROWS = 250_000
_PARQUET_BYTES = 16
"""A value of synthetic.parquet takes no more bytes than that, for each character and each cell of synthetic.csv."""
_NEAR = 1e-9
"""Relative difference that rounding on another machine may make."""

_LONGEST = 2000
"""Characters of one text that are passed on."""
_DAMAGE = (*DAMAGE, pa.ArrowException)

CANNOT = (
    "Nobody can check from outside that the table was what the release says, that its noise was drawn as stated, or that one person owns "
    "no more rows than stated; nor when, with which versions and on which processor it was made, what the ledger said, and why a run was "
    "interrupted. And whoever invents answers can make a whole release of them: compare the SHA-256 of the bundle with what the publisher "
    "announced."
)


@dataclass(frozen=True)
class Check:
    """question: what was looked at. verdict: PASSED, FAILED, SKIPPED or ABSENT. detail: a sentence without full stop; texts in it are
    hostile."""

    question: str
    verdict: str
    detail: str


@dataclass(frozen=True)
class Summary:
    """What the release says of itself: its brands, its guarantee in words, and pairs of name and text. All of it is hostile text."""

    warnings: tuple[str, ...]
    statement: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Report:
    """sha256: of the ZIP, "" for a folder. summary: None where release.json is damaged."""

    checks: tuple[Check, ...]
    sha256: str
    summary: Summary | None

    @property
    def verdict(self) -> str:
        """UNSOUND where a check failed; PARTLY where something that the release states could not be checked; otherwise SOUND."""
        if any(check.verdict == FAILED for check in self.checks):
            return UNSOUND
        return PARTLY if self.unchecked else SOUND

    def replayed(self, again: Check) -> Report:
        """The same with the answer to the question REPLAYED. If the mechanism comes to the same, so do the numbers that follow from it."""
        return replace(self, checks=tuple(_settled(check, again) for check in self.checks))

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The questions that stay open."""
        return tuple(check.question for check in self.checks if check.verdict == SKIPPED)


class _Wrong(Exception):
    """A check failed; the text says how."""


class _Open(Exception):
    """A check cannot be made; the text says why."""


class _Nothing(Exception):
    """The release states nothing that the check could be about; the text says what is not there."""


def verify(bundle: Bundle) -> Report:
    """Make every check. Raises InputError where release.json is no document that could be checked."""
    plan = plan_of(bundle)
    opened: list[_Opened] = []

    def read() -> str:
        opened.append(_Opened(bundle, releases.from_json(bundle.document)))
        return f"a release of {plan.mechanism.card.title} with {len(opened[0].release.charges):,} charges"

    first = [_judged("Are the files unchanged?", lambda: _files(bundle)), _judged("Is release.json complete?", read)]
    others = [_judged(question, partial(check, opened[0])) for question, check in _CHECKS.items()] if opened else []
    checks = (*first, *others, Check(REPLAYED, SKIPPED, "the mechanism was not run again"))
    return Report(checks, bundle.sha256, _summary(opened[0].whole) if opened else None)


def _settled(check: Check, again: Check) -> Check:
    if check.question == again.question:
        return again
    if again.verdict == PASSED and check.verdict == SKIPPED and check.question in (_BOUNDS, _CERTIFICATE, _DECIDED):
        return Check(check.question, PASSED, "the mechanism, run again, comes to the same")
    return check


def _summary(release: Release) -> Summary | None:
    try:
        stated = (*report.verdict_facts(release), *report.model_facts(release), *report.facts(release))
        facts = tuple((name, text[:_LONGEST]) for name, text in stated)
        return Summary(tuple(brand.sentence[:_LONGEST] for brand in release.brands), release.statement[:_LONGEST], facts)
    except _DAMAGE:
        return None


def _judged(question: str, check: Callable[[], str]) -> Check:
    """Raises MemoryError: what was too large was not checked."""
    try:
        return Check(question, PASSED, check()[:_LONGEST])
    except _Open as reason:
        return Check(question, SKIPPED, str(reason)[:_LONGEST])
    except _Nothing as reason:
        return Check(question, ABSENT, str(reason)[:_LONGEST])
    except (_Wrong, InputError) as wrong:
        return Check(question, FAILED, str(wrong)[:_LONGEST])
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except _DAMAGE:
        return Check(question, FAILED, "what it is about is missing or damaged")


@contextmanager
def _tabular(name: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, ValueError):
        raise _Wrong(f"{name} is no table of these columns") from None


@dataclass(frozen=True, eq=False)
class CsvRows:
    """A CSV of rows, read with the domain's types a batch at a time. What is no table of these columns is wrong."""

    domain: Domain
    content: Content
    name: str = releases.ROWS_CSV

    @cached_property
    def num_rows(self) -> int:
        with _tabular(self.name):
            return sum(batch.num_rows for batch in self._read())

    @cached_property
    def schema(self) -> pa.Schema:
        return next(self.batches()).schema

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        with _tabular(self.name):
            for batch in self._read():
                table = typed(self.domain, batch)
                yield table if columns is None else table.select(columns)

    def _read(self) -> Iterator[pa.Table]:
        kinds = {a.name: pa.string() if holds_times(arrow_type(a)) else arrow_type(a) for a in self.domain.columns}
        options = pcsv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)
        places, lines = pcsv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False), pcsv.ParseOptions(newlines_in_values=True)
        with self.content.open() as stream, pcsv.open_csv(stream, places, lines, options) as reader:
            empty = True
            for batch in reader:
                empty = False
                yield pa.Table.from_batches([batch])
            if empty:
                yield reader.schema.empty_table()


@dataclass(frozen=True, eq=False)
class _Opened:
    """A bundle and its release, without rows; `codes` and `rows` are read from synthetic.csv when they are needed."""

    bundle: Bundle
    release: Release

    @property
    def plan(self) -> Plan:
        return self.release.plan

    @cached_property
    def other_versions(self) -> list[str]:
        """What the release was made with and is another version here."""
        return other_versions(self.release.versions)

    @property
    def other_program(self) -> bool:
        """Whether another version of this program wrote the texts."""
        return "dpsynth_core" in self.other_versions

    @cached_property
    def rows(self) -> CsvRows | None:
        """synthetic.csv; None where the release has no rows."""
        content = self.bundle.files.get(releases.ROWS_CSV)
        return None if content is None else CsvRows(self.release.domain, content)

    @cached_property
    def further(self) -> tuple[CsvRows, ...]:
        """The tables of rows beside the first. What the plan asks for and is missing is wrong."""
        names = [tables.name(number) for number in range(2, (self.plan.spec.output.tables if self.rows else 1) + 1)]
        missing = [name for name in names if name not in self.bundle.files]
        _expect(not missing, f"{_some(missing)} is missing, but {len(names) + 1:,} tables of rows are stated")
        return tuple(CsvRows(self.release.domain, self.bundle.files[name], name) for name in names)

    @cached_property
    def codes(self) -> NDArray[np.integer] | None:
        """The rows as cells of the domain, in as few bytes as number these: all that is held of all rows."""
        return None if self.rows is None else _codes(self.release.domain, self.rows)

    @cached_property
    def whole(self) -> Release:
        """The release with its rows, if they can be read."""
        try:
            return replace(self.release, codes=self.codes, values=self.rows, further=self.further)
        except _Wrong:
            return self.release

    @property
    def evidence(self) -> Evidence:
        """What was released, with the rows."""
        return Evidence(self.release.domain, self.codes, self.release.tables_of_columns, self.release.total)

    @cached_property
    def published(self) -> dict[Clique, NDArray[np.float64]]:
        """The workload's marginals of the rows or, where there are none, of the noisy tables, as fractions."""
        if self.codes is None:
            tables = self.plan.workload.cliques if self.plan.mechanism.card.publishes_tables else _cliques(self.release.tables_of_columns)
            return self.evidence.published(tables)
        return self.evidence.published(self.plan.workload.cliques)

    @property
    def for_criteria(self) -> Iterator[tuple[RecordedAnswer, ...]]:
        """The last answers, those that decided the criteria. Where the run ended while one was measured, nobody wrote down how many of its
        answers there are: then with each number that there can be."""
        release, workload = self.release, self.plan.workload
        measured_people = bool(release.certificate is None and self.total is None and measured_criteria(self.plan.criteria))
        answers = [criterion.answers(workload) for criterion in measured_criteria(self.plan.criteria)]
        measured = sum(one.interval is not None for one in release.criteria if not isinstance(one.criterion, ModelCriterion))
        for more in range(answers[measured] if measured < len(answers) else 1):
            count = measured_people + sum(answers[:measured]) + more
            yield release.transcript[max(0, len(release.transcript) - count) :]

    @cached_property
    def total(self) -> Total | None:
        """The number of records as far as it is known."""
        return known_total(self.release.tables_of_columns, self.release.total if self.plan.unit.total_is_public else None)


def _codes(domain: Domain, rows: CsvRows) -> NDArray[np.integer]:
    """Shape (rows, attributes of the domain)."""
    narrow: np.dtype[Any] = np.min_scalar_type(max((attribute.size for attribute in domain), default=0))
    codes, start = np.empty((rows.num_rows, len(domain)), narrow), 0
    for batch in rows.batches():
        _expect(batch.column_names == list(domain.column_names), _OTHER_COLUMNS)
        encoded = encode(domain, batch, Notation(frozenset()))
        for place, name in enumerate(domain.names):
            codes[start : start + batch.num_rows, place] = encoded[name]
        start += batch.num_rows
    return codes


def _files(bundle: Bundle) -> str:
    files = bundle.files
    if MANIFEST not in files:
        raise _Wrong("there is no MANIFEST.json")
    listed = parsed(MANIFEST, files[MANIFEST])["files"]
    odd = sorted((listed.keys() ^ files.keys()) - {MANIFEST})
    _expect(not odd, f"listed or there, but not both: {_some(odd)}")
    changed = [name for name, entry in sorted(listed.items()) if files[name].digest.sha256 != entry["sha256"]]
    _expect(not changed, f"changed since the bundle was made: {_some(changed)}")
    return f"{len(listed):,} files have the SHA-256 that MANIFEST.json states"


def _spec(opened: _Opened) -> str:
    digest = opened.plan.spec.digest()
    _expect(digest == opened.bundle.document["spec_sha256"], "the spec is not the one whose SHA-256 the release names")
    same = parsed("spec.json", opened.bundle.files["spec.json"]) == opened.bundle.document["spec"]
    _expect(same, "spec.json is another spec")
    return f"the plan is the sealed one, SHA-256 {digest[:16]}…"


def _budget(opened: _Opened) -> str:
    budget, stated, rho = opened.plan.spec.budget, opened.bundle.document["budget"], opened.release.rho
    accountant = opened.plan.shares.accountant
    wanted = {"epsilon": budget.epsilon, "delta": budget.delta, "relation": opened.plan.unit.relation, "accountant": accountant.name}
    _expect(all(stated[name] == value for name, value in wanted.items()), "the stated budget is not the plan's")
    _expect(stated["max_rows_per_person"] == opened.plan.unit.max_rows_per_person, "the stated unit of privacy is not the plan's")
    own_delta = float(sum(map(delta_of, opened.release.charges)))  # of steps that keep their promise except with a probability of their own
    _expect(own_delta < budget.delta, f"steps with a delta of their own need {own_delta:.6g}, not less than δ = {budget.delta:g}")
    allowed = accountant.rho_from(budget.epsilon, budget.delta - own_delta)
    stated_as = f"ε = {budget.epsilon:g}, δ = {budget.delta:g} under {accountant.name}"
    _expect(0 < rho <= allowed * (1 + _NEAR), f"ρ = {rho:.6g} is more than {stated_as} allow: {allowed:.6g}")
    implied = accountant.epsilon_from(rho, budget.delta - own_delta)
    return f"ρ = {rho:.6g} under {accountant.name} implies ε = {implied:.6g} at δ = {budget.delta:g}, as stated"


def _charged(opened: _Opened) -> str:
    release, stated_charges = opened.release, opened.bundle.document["charges"]
    costs = [opened.plan.shares.accountant.cost(event) for event in release.charges]
    for event, cost, stated in zip(release.charges, map(float, costs), stated_charges, strict=True):
        _expect(_near(cost, stated["rho"]), f"a {type(event).__name__} is charged {stated['rho']:.6g}, but costs {cost:.6g}")
    spent = sum(costs, Fraction())
    _expect(spent <= Fraction(release.rho), f"the charges add up to {float(spent):.6g}, more than ρ = {release.rho:.6g}")
    _expect(_near(float(spent), release.rho_spent), f"the charges add up to {float(spent):.6g}, not to {release.rho_spent:.6g}")
    return f"{len(release.charges):,} operations cost ρ = {float(spent):.6g} together, within {release.rho:.6g}"


def _noise(opened: _Opened) -> str:
    """Every answer of the kernel stands in the transcript: it was charged as the kernel charges it, and has the noise that was paid for."""
    _expect(opened.release.transcript, "the release has no transcript, so nothing shows what was paid for")
    check_paid(opened.release.domain, opened.plan.unit, opened.release.transcript, opened.release.charges)
    measured, groups = set(), dict[str, Groups]()
    for answer in opened.release.transcript:
        noisy = answer.value
        if isinstance(noisy, Measurement):
            _expect(noisy.is_rounded_normal, f"the noise of the table {_named(noisy.clique)} is not of the kind that the kernel adds")
            same = all(groups.setdefault(one.name, one) == one for one in noisy.groups)
            _expect(same, f"the groups of the table {_named(noisy.clique)} are not the same everywhere")
        if isinstance(noisy, Measurement | Residual):
            measured.add(id(noisy))
            as_asked = noisy.clique == answer.arguments[0] and _near(noisy.sigma, answer.arguments[1])
            _expect(as_asked, f"the table {_named(noisy.clique)} was not paid for with the noise it states, ± {noisy.sigma:.4g}")
    direct = [m for m in opened.release.measurements if m.spread is None and m.clique]
    unpaid = [m for m in direct if id(m) not in measured]
    if unpaid and any(type(event) is Gaussian for event in opened.release.charges) and measured:
        raise _Wrong(f"no charge belongs to the table {_named(unpaid[0].clique)}")
    return f"{len(opened.release.transcript):,} answers were paid for, {len(measured):,} noisy tables with the noise that they state"


def _learnt(opened: _Opened) -> str:
    """Columns whose values were learnt: learnt again from the published answers."""
    release, plan = opened.release, Plan.of(opened.plan.spec)
    if not plan.portions:
        raise _Nothing("all values were declared")
    kernel = replaying(plan.domain, plan.unit, plan.shares, release.transcript, release.charges)
    completed, _ = synthesis.learnt(plan, kernel, Journal(lambda _: None, Stopwatch()))
    _expect(completed.domain == release.domain, "values of a column are not those that follow from what was measured")
    rows = plan.unit.max_rows_per_person
    for answer in release.transcript:
        if answer.operation == "discover_values":
            least = threshold(answer.arguments[1], answer.arguments[2], rows)
            hidden = all(count >= least for text, count in answer.value.items() if text not in PUBLIC)
            _expect(hidden, f"values of {_named(answer.arguments[0])} are published that too few people share")
    return f"the values of {len(plan.portions):,} columns follow from noisy counts, and every text was shared by enough"


def _random(opened: _Opened) -> str:
    _expect(opened.release.private and opened.plan.spec.output.seed is None, "the noise was predictable: this release is not private")
    return "the operating system's randomness, by the release's own word"


def _rows(opened: _Opened) -> str:
    stated = opened.bundle.document["rows"]["count"]
    if opened.rows is None:
        _expect(stated == 0, f"synthetic.csv is missing, but {stated:,} rows are stated")
        due = opened.plan.mechanism.card.makes_rows and not opened.release.branded(INTERRUPTED)
        _expect(not due, "there are no rows, though the mechanism makes some")
        raise _Nothing(_NO_ROWS)
    told = opened.bundle.document["rows"].get("tables", 1)
    _expect(told == 1 + len(opened.further), f"{told:,} tables of rows are stated, and the plan asks for {1 + len(opened.further):,}")
    for rows in (opened.rows, *opened.further):
        _check_rows(rows, stated)
    each = f", in each of {told:,} tables" if told > 1 else ""
    return f"{stated:,} rows{each}, every value one of its column's"


def _check_rows(rows: CsvRows, stated: int) -> None:
    """That a table has the domain's columns and values, and as many rows as are stated."""
    number, stray_columns = 0, dict[str, None]()
    for batch in rows.batches():
        _expect(batch.column_names == list(rows.domain.column_names), f"the columns of {rows.name} are not those of the domain")
        stray_columns |= dict.fromkeys(strays(rows.domain, batch, number))
        number += batch.num_rows
    _expect(number == stated, f"{rows.name} has {number:,} rows, but {stated:,} are stated")
    _expect(not stray_columns, f"values outside the domain in {_some([*stray_columns])} of {rows.name}")


def _parquet(opened: _Opened) -> str:
    """Nothing is unpacked beyond what the rows of synthetic.csv need: a text may stand in the file once and be named in every row."""
    if opened.rows is None:
        raise _Nothing(_NO_ROWS)
    number, schema, packed = opened.rows.num_rows, opened.rows.schema, opened.bundle.files[releases.ROWS_PARQUET]
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    with packed.open() as stream:
        plain = pq.read_schema(stream)
    with packed.open() as stream, pq.ParquetFile(stream, read_dictionary=texts) as file:
        _expect(file.metadata.num_rows == number, "synthetic.parquet has another number of rows")
        _expect(plain.equals(schema), "synthetic.parquet has other columns than synthetic.csv")
        unpacked = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
        most = _PARQUET_BYTES * (opened.rows.content.digest.size + number * len(schema)) + 2**20
        _expect(unpacked <= most, "synthetic.parquet holds more than the rows of synthetic.csv")
        # with one thread, a packed file is gone through from its beginning to its end
        theirs = (pa.Table.from_batches([batch]) for batch in file.iter_batches(_COMPARED_ROWS, use_threads=False))
        for ours, other in _side_by_side(opened.rows.batches(), theirs):
            same = all(_same_column(a, b) for a, b in zip(other.columns, ours.columns, strict=True))
            _expect(same, "synthetic.parquet has other rows than synthetic.csv")
    return "synthetic.csv and synthetic.parquet hold the same rows"


def _side_by_side(ours: Iterator[pa.Table], theirs: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The same rows of both, as many at a time as both have in one batch."""
    mine, other = next(ours, None), next(theirs, None)
    while mine is not None and other is not None:
        number = min(mine.num_rows, other.num_rows)
        yield mine.slice(0, number), other.slice(0, number)
        mine = mine.slice(number) if mine.num_rows > number else next(ours, None)
        other = other.slice(number) if other.num_rows > number else next(theirs, None)


def _same_column(theirs: pa.ChunkedArray, ours: pa.ChunkedArray) -> bool:
    """theirs: a column of texts is dictionaries and numbers, and is written out only if that makes it as long as ours."""
    if not pa.types.is_dictionary(theirs.type):
        return bool(theirs.equals(ours))
    lengths = [pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in theirs.chunks]
    written_out = sum(pc.sum(chunk).as_py() or 0 for chunk in lengths)
    return written_out == (pc.sum(pc.binary_length(ours)).as_py() or 0) and bool(theirs.cast(ours.type).equals(ours))


def _zeros(opened: _Opened) -> str:
    zeros, orders = opened.release.domain.zeros, opened.release.domain.orders
    if not zeros and not orders:
        raise _Nothing("no combination was declared impossible")
    if opened.codes is None:
        raise _Nothing(_NO_ROWS)
    _check_possible(opened.release.domain, opened.codes)
    if zeros:
        for rows in opened.further:  # their codes are gone before those of the next are made
            _check_possible(opened.release.domain, _codes(opened.release.domain, rows))
    if orders and opened.rows is not None:
        for rows in (opened.rows, *opened.further):
            broken = sum(disordered(opened.release.domain, batch) for batch in rows.batches())
            _expect(not broken, f"{broken:,} rows of {rows.name} break an order of columns")
    return f"no row has any of the impossible combinations ({len(opened.release.domain.impossible):,} rules)"


def _check_possible(domain: Domain, codes: NDArray[np.integer]) -> None:
    """That no row of a table has a combination of values that cannot occur. codes: shape (rows, attributes)."""
    for clique, impossible in domain.zeros.items():
        cells = tuple(codes[:, domain.position(name)] for name in clique)
        broken = int(impossible[cells].sum())
        _expect(not broken, f"{broken:,} rows have an impossible combination of {_named(clique)}")


def _bounds(opened: _Opened) -> str:
    release = opened.release
    if opened.total is None or release.branded(INTERRUPTED):
        _expect(not release.bounds, "the bounds have nothing to stand on")
        raise _Nothing("no bounds are stated")
    recomputed = bounds(release.domain, opened.published, opened.total, release.tables_of_columns, rows=opened.rows is not None)
    _expect(release.bounds.keys() == recomputed.keys(), "they are about other tables than the published ones")
    checked = 0
    for clique, stated in release.bounds.items():
        computed = recomputed[clique]
        _expect((stated.support == SUPPORTED) == (computed.support == SUPPORTED), f"{_named(clique)} is not {stated.support}")
        if stated.support == UNBOUNDED:
            _expect(math.isinf(stated.paper) and math.isinf(stated.tight), f"{_named(clique)} has a bound that nothing gives")
        elif stated.support != SUPPORTED:
            continue  # what it depends on is only known when the mechanism runs again
        else:
            for ours, theirs in ((computed.paper, stated.paper), (computed.tight, stated.tight)):
                _expect(_near(theirs, ours), f"{_named(clique)}: stated {theirs:.6g}, computed {ours:.6g}")
        checked += 1
    if not release.bounds:
        raise _Nothing("no table is published that a bound could be about")
    if len(release.bounds) == checked:
        return f"{checked:,} bounds follow from rows and noisy tables"
    raise _Open(f"{checked:,} of {len(release.bounds):,} bounds follow from rows and noisy tables, the others from what was selected")


def _certificate(opened: _Opened) -> str:
    certificate, charges = opened.release.certificate, opened.release.charges
    if certificate is None:
        if opened.release.branded(INTERRUPTED) or opened.release.branded(UNCERTIFIED):
            raise _Nothing("the run was interrupted before it was measured")
        _expect(opened.plan.shares.certificate == 0, "the plan has a certificate, the release has none")
        raise _Nothing("no certificate was made")
    l2, share = opened.plan.unit.errors_l2(len(certificate.marginals)), opened.plan.shares.certificate
    paid = [e for e in charges if type(e) is Gaussian and _near(e.sigma, certificate.sigma) and _near(e.l2, l2)]
    _expect(paid, "its noise is not what was paid for")
    _expect(certificate.rho <= share * (1 + _NEAR), "it cost more than its share")
    if opened.total is not None:
        _expect(_near(certificate.total.value, opened.total.value), "it counts errors in fractions of another number of records")
    _expect(certificate.of == (ANSWERS if opened.rows is None else ROWS), "it is about something else than what is published")
    workload = set(opened.published)
    _expect({one.attributes for one in certificate.marginals} == workload, "it is about other tables than the workload's")
    noisy = {one.attributes: one.error / IN_WRONG_CELL * certificate.total.value for one in certificate.marginals}
    released = {clique: opened.published[clique] for clique in noisy}
    measured = certificate.total, certificate.sigma, certificate.rho, certificate.of, _largest(opened, certificate)
    recomputed = state(noisy, released, *measured, _columns_alone(opened, certificate, released))
    stated = asdict(certificate)
    different = sorted(name for name, value in asdict(recomputed).items() if not alike(value, stated[name]))
    _expect(not different, f"its numbers do not follow from its errors: {_some(different)}")
    return f"{len(noisy):,} measured errors, their bounds and their mean follow from each other"


def _usefulness(opened: _Opened) -> str:
    """How often models are right: from the noisy counts. That these very models follow from the rows is seen when all of it runs again."""
    release, targets = opened.release, opened.plan.targets
    if not release.usefulness:
        ended = release.branded(INTERRUPTED) or release.branded(UNTESTED)
        _expect(not targets or ended, "the plan asks for models, and nothing is said of any")
        measured = any(answer.operation == "measure_right" for answer in release.transcript)
        _expect(not measured or release.branded(INTERRUPTED), "it was measured how often models are right, and nothing is said of it")
        raise _Nothing("no models were asked for" if not targets else "the run was interrupted before it was measured")
    answers = [answer for answer in release.transcript if answer.operation == "measure_right"]
    _expect(len(answers) == 1, "nothing was measured that it could follow from")
    if opened.codes is None:
        raise _Wrong("there are no rows that models could be trained on")
    total = _people(opened)
    digests = {(one.column, one.model): one.sha256 for one in release.usefulness}
    trained = [
        Trained(
            target,
            {name: digests[target.column, name] for name in training.names(target)},
            training.majority(release.domain, opened.codes.astype(np.int32), target).guess,
        )
        for target in targets
    ]
    recomputed = [usefulness_json(one) for one in usefulness.state(trained, answers[0].value, float(answers[0].arguments[0]), total)]
    stated = [usefulness_json(one) for one in release.usefulness]
    pairs = zip(recomputed, stated, strict=True)
    different = [one["column"] for one, other in pairs if one.keys() != other.keys() or not alike(one, other)]
    _expect(not different, f"what is said of {_some(different)} does not follow from what was measured")
    return f"{len(stated):,} models' shares and intervals follow from what was measured; that these are the models, from running all again"


def _people(opened: _Opened) -> Total:
    """The number of records that shares are of: as it is known, or as it was measured for them alone."""
    if opened.release.certificate is not None:
        return opened.release.certificate.total
    if opened.total is not None:
        return opened.total
    answers = opened.release.transcript
    before = answers[[answer.operation for answer in answers].index("measure_right") - 1]
    _expect(before.operation == "measure_total", "nothing says how many records there are")
    return Total(max(1.0, float(before.value)), math.sqrt(float(before.arguments[0]) ** 2 + ROUNDING))


def _largest(opened: _Opened, certificate: Certificate) -> Largest:
    """The largest error as it was measured."""
    paid = any(type(e) is Gaussian and _near(e.sigma, certificate.max_sigma) for e in opened.release.charges)
    _expect(paid, "its noise is not what was paid for")
    return Largest(certificate.max_error * certificate.total.value, certificate.max_sigma, opened.plan.workload.threshold)


def _columns_alone(opened: _Opened, certificate: Certificate, released: Mapping[Clique, NDArray[np.float64]]) -> ColumnsAlone | None:
    """The yardstick, from its measured errors. Earlier versions made certificates without one."""
    stated, sigma = certificate.columns, opened.plan.columns_sigma
    operations = [answer.operation for answer in opened.release.transcript]
    ended = operations.index("measure_largest_error")  # with that a certificate ends; criteria follow
    asked = [answer for answer in opened.release.transcript[:ended] if answer.operation == "measure_errors"]
    answers = list(dropwhile(lambda answer: not _near(answer.arguments[0], certificate.sigma), asked))  # a mechanism may have asked before
    if stated is None:
        _expect(len(answers) == 1, "its yardstick is missing")
        return None
    columns = None if sigma is None else columns_alone.of(opened.evidence, sigma, released)
    if columns is None:
        raise _Wrong("it has a yardstick that cannot be measured in such a release")
    _expect(len(answers) == 2 and _near(answers[1].arguments[0], stated.sigma), "its yardstick is not what was paid for")
    noisy = answers[1].value
    return columns.stated(math.fsum(noisy.values()) / len(noisy), stated.sigma, released, certificate.total)


def _criteria(opened: _Opened) -> str:
    """Decided once more, from the published answers of the kernel and what is published."""
    release, plan = opened.release, opened.plan
    _expect(not release.despite or release.needs_reason, "it has a reason to be published all the same, and needs none")
    _expect(not release.despite or is_reason(release.despite), "what it gives as a reason to be published all the same is none")
    if not plan.criteria:
        raise _Nothing("no criteria were fixed")
    unmeasured = sum(one.interval is None for one in release.criteria)
    if unmeasured == len(release.criteria) and release.branded(INTERRUPTED):
        raise _Nothing("the run was interrupted before they were measured")
    _expect(not unmeasured or release.branded(UNDECIDED_CRITERIA), "the release does not say what became of all its criteria")
    different = min((_decided_otherwise(opened, answers) for answers in opened.for_criteria), key=len)
    _expect(not different, f"not decided by what was measured: number {_some(different)}")
    if unmeasured:
        _expect(not _has_unused(opened), "what was measured of those that it calls not measured is among its answers")
        raise _Open(f"whether the run ended before {unmeasured:,} of them were measured is seen when it runs again")
    outcomes = Counter(one.outcome for one in release.criteria)
    return ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items()) + ": as follows from what was measured"


def _has_unused(opened: _Opened) -> bool:
    """Whether more answers follow those about models, or else the certificate, than the criteria that are decided and a part of the next
    one ask for. Where there are neither, only running again tells."""
    plan, operations = opened.plan, [answer.operation for answer in opened.release.transcript]
    last = "measure_right" if plan.targets else "measure_largest_error"  # the first of these, for a criterion may ask for it too
    if last not in operations or not (plan.targets or plan.shares.certificate):
        return False
    return len(operations) - operations.index(last) - 1 > max(map(len, opened.for_criteria))


def _decided_otherwise(opened: _Opened, answers: Sequence[RecordedAnswer]) -> list[str]:
    """The numbers of the criteria that these answers, the last ones, do not decide as stated."""
    release, plan = opened.release, opened.plan
    charges = release.charges[len(release.charges) - sum(answer.charges for answer in answers) :]
    kernel = replaying(plan.domain, plan.unit, plan.shares, answers, charges)
    total = opened.total if release.certificate is None else release.certificate.total
    try:
        recomputed = synthesis.decided(plan, kernel, total, opened.evidence, release.usefulness)
    except InputError:  # they were given to other questions
        return [str(number + 1) for number, one in enumerate(release.criteria) if one.interval is not None]
    again, stated = releases.to_json(replace(release, criteria=recomputed))["criteria"], opened.bundle.document["criteria"]
    return [str(number + 1) for number, (a, b) in enumerate(zip(again, stated, strict=True)) if not (alike(a, b) and alike(b, a))]


def _distances(opened: _Opened) -> str:
    """How far the rows are from the noisy tables; a number to look at, for no distance is impossible."""
    if opened.codes is None or not opened.release.measurements:
        raise _Nothing("there are no rows, or no noisy tables")
    people = max(1.0, opened.release.total) / len(opened.codes)
    rows = marginals_like(opened.release.domain, opened.codes, opened.release.measurements)
    pairs = zip(rows, opened.release.measurements, strict=True)
    ratios = [float(np.sqrt(np.mean((counts * people - m.values) ** 2))) / m.deviation for counts, m in pairs]
    return f"half of the tables agree within {np.median(ratios):.2g} times their noise, all within {max(ratios):.2g} times"


def _statement(opened: _Opened) -> str:
    """The numbers of the promise are compared whatever made the release, its words where they must be ours."""
    stated, plan = opened.release.statement, opened.plan
    planned = statement(plan, opened.release.rho_spent, opened.release.private)
    if stated == planned:
        return "the guarantee in words is the one of the plan"
    promised = f"({plan.spec.budget.epsilon:g}, {plan.spec.budget.delta:g})-differential"
    others = [words for words in _PROMISE.findall(stated) if words != promised]
    _expect(promised in stated and not others, "it promises another ε and δ than the plan")
    _expect(stated.startswith(NOT_PRIVATE) != opened.release.private, "whether the release is private is said wrongly")
    _expect(_numbers(planned) <= _numbers(stated), "it names other numbers than the plan")
    _expect(opened.other_program, "it says something else")
    raise _Open("its numbers are the plan's, but another version may have worded it: read it with care")


def _brands(opened: _Opened) -> str:
    """The same of the warnings: none may be missing. Whether a run was interrupted is seen when the mechanism runs again."""
    _check_public_table(opened)
    _check_reading(opened)
    release, stated = opened.release, list(opened.release.brands)
    planned = list(brands(opened.plan, release.total, release.private, release.details))
    if release.branded(INTERRUPTED):
        planned.append(interrupted_brand(len(release.measurements)))
    else:
        planned.extend(certificate_brands(opened.plan, release.certificate))
        planned.extend(models_brands(opened.plan, release.usefulness))
        planned.extend(criteria_brands(opened.plan, release.criteria))
    if stated == planned:
        return f"{len(stated):,} warnings follow from the plan and the answers"
    missing = Counter(brand.code for brand in planned) - Counter(brand.code for brand in stated)
    _expect(not missing, f"a warning is missing: {_some(sorted(missing))}")
    silent = [brand.code for brand in planned if not any(_numbers(brand.sentence) <= _numbers(b.sentence) for b in stated)]
    _expect(not silent, f"a warning names other numbers: {_some(silent)}")
    _expect(opened.other_program, "they say something else")
    raise _Open("none is missing, but another version may have worded them: read them with care")


def _check_public_table(opened: _Opened) -> None:
    """That the release names the public table of its plan, for it was taken to be public: a warning depends on that."""
    section, named = opened.plan.spec.public, opened.release.details.get("public_table")
    if not isinstance(opened.plan.mechanism, UsesPublic):
        _expect(named is None, "it names a public table, but its mechanism uses none")
        return
    if section is None:
        raise _Wrong("its mechanism needs a public table, and the plan has none")
    same = named is not None and named["name"] == Path(section.path).name and section.sha256 in ("", named["sha256"])
    _expect(same, "it does not name the public table of its plan")


def _check_reading(opened: _Opened) -> None:
    """That what it says of its public table is what the kernel answered."""
    answers = [answer for answer in opened.release.transcript if answer.operation == "best_mixture_error"]
    stated = opened.release.details.get("best_mixture")
    if not answers:
        _expect(stated is None, "a check of the public table is stated that was not made")
        return
    total, _, scale = answers[0].arguments
    wanted = public_check.reading(answers[0].value, total, scale).to_json()
    _expect(stated is not None and alike(wanted, stated), "the check of the public table says something else")


def _ledger(opened: _Opened) -> str:
    """What can be compared: whose records, and the unit of privacy."""
    cited, spec = opened.release.ledger, opened.plan.spec
    if not cited:
        raise _Nothing("no ledger was charged")
    same = cited["population"] == spec.population and cited["unit"] == spec.unit.model_dump()
    _expect(same, "the charge that it names is for other people, or another unit of privacy")
    return f"entry {cited['entry']:,} of the ledger is for the plan's people and unit of privacy"


def _passive(opened: _Opened) -> str:
    """Whatever version wrote them: pages of ours never load anything, and one alone runs something, a script that is ours."""
    pages = [name for name in sorted(opened.bundle.files) if name.lower().endswith(_PAGES)]
    for name in pages:
        content = opened.bundle.files[name].read()
        if name == EXPLORE:
            _expect(is_framed(content), f"{name} runs another script than this program writes: do not open it")
        else:
            problem = active_part(content)
            _expect(not problem, f"{name[:60]} holds {problem}: do not open it")
    if (notebook := opened.bundle.files.get(report.NOTEBOOK)) is not None:
        shown = any(cell.get("outputs") or cell.get("attachments") for cell in parsed(report.NOTEBOOK, notebook)["cells"])
        _expect(not shown, f"{report.NOTEBOOK} shows outputs or attachments, of which this program writes none: do not open it")
        texts = ["".join(cell["source"]) for cell in parsed(report.NOTEBOOK, notebook)["cells"] if cell["cell_type"] != "code"]
        _expect(not any(map(_LOADING.search, texts)), f"{report.NOTEBOOK} has a text that may load something: do not open it")
    asking = f"; {EXPLORE} runs the script of this program alone" if EXPLORE in pages else ""
    return f"{len(pages):,} pages load nothing from elsewhere{asking}"


_LOADING = re.compile(r"!\[|(?:^|[^\\])(?:\\\\)*<[A-Za-z/!?]", re.MULTILINE)
"""Of Markdown: an image, or HTML. This program escapes both marks in what people wrote, and writes neither itself."""


def _copies(opened: _Opened) -> str:
    """All files once more from release.json and the rows."""
    release = replace(opened.release, codes=opened.codes, values=opened.rows, further=opened.further)
    rows = {name: digest_written(write) for name, write in releases.row_writers(release).items()}
    parts = contents(release, rows)
    rewritten = rows | {name: held(content).digest for name, content in parts.items() if name != MANIFEST}
    theirs = opened.bundle.files
    different = sorted(name for name, digest in rewritten.items() if name not in theirs or theirs[name].digest != digest)
    strangers = sorted(theirs.keys() - rewritten.keys() - {MANIFEST})
    if different and not opened.other_program:
        wrong = contradictions(release, theirs, parts, different) if opened.other_versions else different
        _expect(not wrong, f"they do not say what release.json says: {_some(wrong)}")
        different = [name for name in different if name not in NUMBERS]
    if different:
        why = f"made with other versions of {_some(opened.other_versions)}, which may write it differently"
        if runs := [name for name in different if name in PROGRAMS]:
            why += f"; read {' and '.join(runs)} before you run it"
        raise _Open(f"{_some([*different, *strangers], 10)}: {why}")
    if strangers:
        raise _Open(f"{_some(strangers, 10)}: no part of a release as this program writes it")
    return f"{len(rewritten) + 1:,} files say what release.json says"


_CHECKS: Mapping[str, Callable[[_Opened], str]] = {
    "Is the plan the sealed one?": _spec,
    "Does ρ imply ε and δ?": _budget,
    "Do the charges stay within ρ?": _charged,
    "Was the stated noise paid for?": _noise,
    "Do learnt values follow?": _learnt,
    "Is the noise private?": _random,
    "Do the rows keep to the domain?": _rows,
    "Do both tables of rows agree?": _parquet,
    "Are impossible combinations absent?": _zeros,
    _BOUNDS: _bounds,
    _CERTIFICATE: _certificate,
    _DECIDED: _criteria,
    "Does it follow how often models are right?": _usefulness,
    "Are the rows near the noisy tables?": _distances,
    "Is the guarantee stated as planned?": _statement,
    "Are all warnings there?": _brands,
    "Does the ledger's entry fit the plan?": _ledger,
    "Are its pages safe to open?": _passive,
    "Do report, cards and tables agree?": _copies,
}


def _expect(holds: object, otherwise: str) -> None:
    if not holds:
        raise _Wrong(otherwise)


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_NEAR, abs_tol=1e-12)


def _numbers(text: str) -> Counter[str]:
    """The numbers in a text, each as often as it stands there."""
    return Counter(_NUMBER.findall(text))


def _cliques(measurements: Iterable[Measurement]) -> list[Clique]:
    return [measurement.clique for measurement in measurements if measurement.clique]


def _named(clique: Clique) -> str:
    return " × ".join(clique) or "the number of records"


def _some(names: list[str], most: int = 3) -> str:
    return ", ".join(name[:60] for name in names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
