"""Check that every file of rows holds the release's rows, and that bounds follow from them and the noisy tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpsynth_core.bundle.checks.opened import CsvRows, Opened
from dpsynth_core.claims.outcome import ROUNDED, Nothing, Open, expect, named, near, some
from dpsynth_core.evaluation.bounds import SUPPORTED, UNBOUNDED, bounds, of_everybody
from dpsynth_core.foundation import extension
from dpsynth_core.inference.publishing import most_off, rows_off
from dpsynth_core.release import document as releases
from dpsynth_core.release import tables
from dpsynth_core.release.release import INTERRUPTED
from dpsynth_core.release.statement import OFF
from dpsynth_core.release.synthesis import MOST_UNREACHABLE
from dpsynth_core.sources.decoding import disordered, strays
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import marginals_like
from dpsynth_core.vocabulary.rows import Repeated

NO_ROWS = "there are no rows, only answers"
_COMPARED_ROWS = 250_000
_PARQUET_BYTES = 16
"""Largest number of bytes of a value of synthetic.parquet, per character and cell of synthetic.csv."""


def rows_in_domain(opened: Opened) -> str:
    """Check that all tables of rows are there, with the stated number of rows and values of the domain only.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Nothing: The release has no rows, and none are due.
    """
    stated = opened.bundle.document["rows"]["count"]
    if opened.rows is None:
        expect(stated == 0, f"synthetic.csv is missing, but {stated:,} rows are stated")
        due = opened.plan.mechanism.card.makes_rows and not opened.release.branded(INTERRUPTED)
        expect(not due, "there are no rows, though the mechanism makes some")
        raise Nothing(NO_ROWS)
    told = opened.bundle.document["rows"]["tables"]
    expect(told == 1 + len(opened.further), f"{told:,} tables of rows are stated, and the plan asks for {1 + len(opened.further):,}")
    for rows in (opened.rows, *opened.further):
        number, stray_columns = 0, dict[str, None]()
        for batch in rows.checked():
            stray_columns |= dict.fromkeys(strays(rows.domain, batch, number))
            number += batch.num_rows
        expect(number == stated, f"{rows.name} has {number:,} rows, but {stated:,} are stated")
        expect(not stray_columns, f"values outside the domain in {some([*stray_columns])} of {rows.name}")
    each = f", in each of {told:,} tables" if told > 1 else ""
    if opened.members is not None:
        each = f", and {_members_in_domain(opened, opened.members):,} members of these"
    return f"{stated:,} rows{each}, every value one of its column's"


def _members_in_domain(opened: Opened, members: CsvRows) -> int:
    """Check the members and return their number.

    Raises:
        Wrong: Their number is not as stated, a key is not one of a household, or a value is outside
            its column's domain.
    """
    stated, owned = opened.bundle.document["rows"]["members"], replace(members.domain, filled=members.domain.filled[1:])  # without the key
    number, wrong = 0, dict[str, None]()
    for batch in members.checked():
        wrong |= dict.fromkeys(strays(owned, batch.select(owned.column_names), number))
        number += batch.num_rows
    expect(not wrong, f"values outside the domain in {some([*wrong])} of {members.name}")
    each = opened.plan.records_each
    expect(opened.bundle.document["rows"].get("records_each") == each, f"a row is {each:,} records of its tables, and that is not stated")
    expect(len(opened.owners) == stated, f"{members.name} has {len(opened.owners):,} rows, but {stated:,} are stated")
    return len(opened.owners)


def same_rows(opened: Opened) -> str:
    """Check that synthetic.parquet has the same rows and columns as synthetic.csv, and that files of extensions repeat rows as they are.

    The unpacked size of synthetic.parquet is limited to what these rows need, because Parquet can store a long text
    once and refer to it in every row.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Open: Another version of the program described the rows in synthetic.parquet in other words.
        Nothing: The release has no rows.
    """
    if opened.rows is None:
        raise Nothing(NO_ROWS)
    number, schema, packed = opened.rows.num_rows, opened.rows.schema, opened.bundle.files[releases.ROWS_PARQUET]
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    with packed.open() as stream:
        plain = pq.read_schema(stream)
    with packed.open() as stream, pq.ParquetFile(stream, read_dictionary=texts) as file:
        expect(file.metadata.num_rows == number, "synthetic.parquet has another number of rows")
        expect(plain.equals(schema), "synthetic.parquet has other columns than synthetic.csv")
        described = opened.release.about.described(schema, opened.rows.domain)
        ours_said = any(plain.equals(one, check_metadata=True) for one in (described, schema))  # older files say nothing
        expect(ours_said or opened.other_program, "synthetic.parquet does not say of itself and its columns what release.json says")
        unpacked = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
        most = _PARQUET_BYTES * (opened.rows.content.digest.size + number * len(schema)) + 2**20
        expect(unpacked <= most, "synthetic.parquet holds more than the rows of synthetic.csv")
        # with one thread, a packed file is gone through from its beginning to its end
        theirs = (pa.Table.from_batches([batch]) for batch in file.iter_batches(_COMPARED_ROWS, use_threads=False))
        for ours, other in _side_by_side(opened.rows.batches(), theirs):
            same = all(_same_column(a, b) for a, b in zip(other.columns, ours.columns, strict=True))
            expect(same, "synthetic.parquet has other rows than synthetic.csv")
    copies = _same_copies(opened)
    if not ours_said:
        raise Open("synthetic.parquet holds the rows of synthetic.csv; what another version wrote in it about them is not compared")
    repeated = f", and {some(copies)} their values" if copies else ""
    return f"synthetic.csv and synthetic.parquet hold the same rows{repeated}"


def _same_copies(opened: Opened) -> list[str]:
    """Check that files of extensions that repeat rows have their values, and return the names of these files.

    Values are compared and not bytes, so that any version can check what another one wrote.

    Raises:
        Wrong: A file is missing, or has other columns, values or rows.
    """
    names = list[str]()
    for path in (one.row_copies for one in extension.asked(opened.plan.spec.extensions) if one.row_copies):
        for name, ours in extension.load(path)(opened.with_rows).items():
            expect(name in opened.bundle.files, f"{name} is missing")
            theirs = CsvRows(tables.domain_of(opened.plan, name), opened.bundle.files[name], name)
            expect(theirs.num_rows == ours.num_rows, f"{name} has another number of rows than the files that it repeats")
            for mine, other in _side_by_side(ours.batches(), theirs.checked()):
                expect(mine.equals(other), f"{name} has other values than the files that it repeats")
            names.append(name)
    return names


def _side_by_side(ours: Iterator[pa.Table], theirs: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield pairs of tables with the same rows by position, from two sequences of batches.

    The batches of both sequences may have different lengths. The pairs end with the shorter
    sequence.
    """
    mine, other = next(ours, None), next(theirs, None)
    while mine is not None and other is not None:
        number = min(mine.num_rows, other.num_rows)
        yield mine.slice(0, number), other.slice(0, number)
        mine = mine.slice(number) if mine.num_rows > number else next(ours, None)
        other = other.slice(number) if other.num_rows > number else next(theirs, None)


def _same_column(theirs: pa.ChunkedArray, ours: pa.ChunkedArray) -> bool:
    """Return whether two columns are equal.

    Args:
        theirs: A column of synthetic.parquet, with texts as a dictionary. It is written out in full
            only if it then has as many bytes as `ours`.
        ours: The column of synthetic.csv.
    """
    if not pa.types.is_dictionary(theirs.type):
        return bool(theirs.equals(ours))
    lengths = [pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in theirs.chunks]
    written_out = sum(pc.sum(chunk).as_py() or 0 for chunk in lengths)
    return written_out == (pc.sum(pc.binary_length(ours)).as_py() or 0) and bool(theirs.cast(ours.type).equals(ours))


def possible_rows(opened: Opened) -> str:
    """Check that no row breaks a rule of the domain or of the link between two tables.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Nothing: There are no rules, or no rows.
    """
    zeros, orders = opened.release.domain.zeros, opened.release.domain.orders
    link = opened.plan.link
    numbers = () if link is None else link.numbers
    if not zeros and not orders and not numbers:
        raise Nothing("no combination was declared impossible")
    if opened.codes is None:
        raise Nothing(NO_ROWS)
    _check_possible(opened.release.domain, opened.codes)
    if zeros:
        for rows in opened.further:  # their codes are gone before those of the next are made
            _check_possible(opened.release.domain, rows.codes())
    if orders and opened.rows is not None:
        for rows in (opened.rows, *opened.further):
            broken = sum(disordered(opened.release.domain, batch) for batch in rows.batches())
            expect(not broken, f"{broken:,} rows of {rows.name} break an order of columns")
    if link is not None and opened.rows is not None and opened.members is not None:
        sizes, members = link.slots(opened.rows.num_rows, opened.owners, opened.members.codes())
        for rule in numbers:
            broken = int((rule.broken(sizes, members[:, :, link.members.position(rule.column)]) > 0).sum())
            expect(not broken, f"{broken:,} households have too many or too few members with a value of {named((rule.column,))}")
    return f"no row has any of the impossible combinations ({len(opened.release.domain.impossible) + len(numbers):,} rules)"


def _check_possible(domain: Domain, rows: NDArray[np.integer] | Repeated) -> None:
    """Raise Wrong if a row has an impossible combination of values.

    Args:
        domain: The domain with its impossible cells.
        rows: Cell codes, shape (rows, attributes).
    """
    codes = rows.codes if isinstance(rows, Repeated) else rows
    for clique, impossible in domain.zeros.items():
        cells = tuple(codes[:, domain.position(name)] for name in clique)
        broken = int(impossible[cells].sum())
        expect(not broken, f"{broken:,} rows have an impossible combination of {named(clique)}")


def published_rows(opened: Opened) -> str:
    """Check that the rows have the shares of the published tables.

    The largest difference, in rows, must be as stated and not larger than rounding to whole rows
    explains.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Open: A cell differs, and whether it has to is not known.
        Nothing: No table was published of the same people, or the release has no rows.
    """
    domain = opened.release.domain
    if not domain.published or opened.codes is None:
        raise Nothing(NO_ROWS if domain.published else "no table was published of the same people")
    tables = (opened.codes, *(rows.codes() for rows in opened.further))
    every = [rows_off(domain, codes) for codes in tables if not isinstance(codes, Repeated)]
    off, rows = max(map(max, every)), len(opened.codes)
    expect(near(opened.release.details.get(OFF, -1.0), off), f"a cell of a published table is off by {off:,.3g} rows, and not as stated")
    limits = most_off(domain, rows)
    for offs in every:
        for table, distance, most in zip(domain.published, offs, limits, strict=True):
            problem = f"a cell of {named(table.columns)} is off by {distance:,.3g} rows, and at most {most:,.3g} can be"
            expect(distance <= most + ROUNDED, problem)
    if math.inf in limits and off > len(limits) + MOST_UNREACHABLE * rows:
        raise Open(f"a cell of a published table is off by {off:,.3g} of {rows:,} rows, and whether it has to be is not known")
    return f"each cell of {len(domain.published):,} published tables has its share of the rows, to {off:,.3g} rows"


def near_tables(opened: Opened) -> str:
    """Return how far the rows are from the noisy tables, as multiples of the noise.

    This is information and never fails: no distance is impossible.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Nothing: The release has no rows, or no noisy tables.
    """
    if opened.codes is None or not opened.release.measurements:
        raise Nothing("there are no rows, or no noisy tables")
    people = max(1.0, opened.release.total) / len(opened.codes)
    rows = marginals_like(opened.release.domain, opened.codes, opened.release.measurements)
    pairs = zip(rows, opened.release.measurements, strict=True)
    ratios = [float(np.sqrt(np.mean((counts * people - m.values) ** 2))) / m.deviation for counts, m in pairs]
    return f"half of the tables agree within {np.median(ratios):.2g} times their noise, all within {max(ratios):.2g} times"


def bounds_follow(opened: Opened) -> str:
    """Check that the error bounds, and which tables are called good, follow from rows and noisy tables.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Open: Some bounds depend on what the mechanism selected, which only shows when it runs again.
        Nothing: The release states no bounds.
    """
    release = opened.release
    judged = releases.named_tables(opened.with_rows)  # of a column, rows may tell whether its values were understood
    expect(judged == opened.written("verdict"), "it calls other tables good or not than bounds and certificate do")
    if opened.final.known is None or opened.interrupted:
        expect(not release.bounds, "the bounds have nothing to stand on")
        raise Nothing("no bounds are stated")
    published, known = opened.final.tables, opened.final.known
    counted = partial(bounds, release.domain, published, known, release.tables_of_columns, rows=opened.rows is not None)
    recomputed = of_everybody(counted, published, known, opened.plan.coins)
    expect(release.bounds.keys() == recomputed.keys(), "they are about other tables than the published ones")
    checked = 0
    for clique, stated in release.bounds.items():
        computed = recomputed[clique]
        expect((stated.support == SUPPORTED) == (computed.support == SUPPORTED), f"{named(clique)} is not {stated.support}")
        if stated.support == UNBOUNDED:
            expect(math.isinf(stated.paper) and math.isinf(stated.tight), f"{named(clique)} has a bound that nothing gives")
        elif stated.support != SUPPORTED:
            continue  # what it depends on is only known when the mechanism runs again
        else:
            for ours, theirs in ((computed.paper, stated.paper), (computed.tight, stated.tight)):
                expect(near(theirs, ours), f"{named(clique)}: stated {theirs:.6g}, computed {ours:.6g}")
        checked += 1
    if not release.bounds:
        raise Nothing("no table is published that a bound could be about")
    if len(release.bounds) == checked:
        return f"{checked:,} bounds follow from rows and noisy tables"
    raise Open(f"{checked:,} of {len(release.bounds):,} bounds follow from rows and noisy tables, the others from what was selected")
