"""Draw more rows of a released model, or rows of a group of people, from published values alone and so without cost.

A release holds no model; it follows from the answers (`refit`). A certificate is about the released rows. For other rows it follows as
far as their tables agree with the released ones, and both are here to be compared (`errors_of`):

    an error of other rows is at most the error of the released ones, plus the distance of the two tables;
    within a group that is a share q of the released rows, half of the L1 distance of two tables of the group is at most e / q,
    where e is half of the L1 distance of the whole tables.

Proof of the second: with P and Q the true and the released shares, sum_G |P/P(G) - Q/Q(G)| <= (sum_G |P - Q| + |P(G) - Q(G)|) / Q(G),
and the cells outside of G add at least |P(G) - Q(G)| to the whole distance 2e.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import ROWS, Certificate
from dpsynth_core.claims.claim import AnswersEnd
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.foundation.visible import visible
from dpsynth_core.mechanisms.steps import RowModel
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.release import synthesis
from dpsynth_core.release.journal import Journal
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.rows import HeldRows, Rows, as_table
from dpsynth_core.release.transcript import check_paid, replaying
from dpsynth_core.sources.decoding import DrawnRows, filled, within
from dpsynth_core.statistics.distances import in_wrong_cell, percent
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts
from dpsynth_core.vocabulary.ranges import Chosen, reached_cells, spans_of, text_of
from dpsynth_core.vocabulary.rows import one_table, row_marginals
from dpsynth_core.vocabulary.zeros import parts_named

Codes = NDArray[np.integer]
Where = Mapping[str, Any]
"""By column, which values the people of a group may have, in the words of a rule (`zeros.parts_named`): one or several."""
Cells = Mapping[str, tuple[int, ...]]
Parts = Mapping[str, Chosen]
Found = TypeVar("Found", "DrawnRows", "_Valued")
EVERYBODY: Where = MappingProxyType({})
_AT_FIRST, _AT_ONCE = 25_000, 250_000
"""Rows that are drawn at a time in search of a group; a rare one is refused when the first two times are over."""
_MOST_DRAWN = 10_000_000
_NAMED = 8


@dataclass(frozen=True, eq=False)
class Refitted:
    """The model of a release, fitted again from its answers.

    Attributes:
        plan: The plan, with learnt values.
        model: The model.
        released: The first table of rows, drawn again.
        certificate: The measured errors of the released rows, or None.
        other: Whether the rows differ from the released ones, because of other libraries or another
            processor.
        known: Noisy counts of columns from before the mechanism (`Kernel.known`), which the model uses as well.
    """

    plan: Plan
    model: RowModel
    released: DrawnRows
    certificate: Certificate | None
    other: bool = False
    known: tuple[MarginalCounts, ...] = ()

    @cached_property
    def tables(self) -> dict[Clique, float]:
        """The 95 % error bound of each certified table of the released rows, as a share of people.

        The error is the share in a wrong cell, and each bound holds by itself. The dict is empty
        without a certificate of rows, or with a certificate that states no bounds.
        """
        stated = self.certificate
        if stated is None or stated.of != ROWS or stated.says_nothing:
            return {}
        return {one.attributes: min(1.0, one.bound95) for one in stated.marginals}


@dataclass(frozen=True, eq=False)
class Sample:
    """Further rows of a model.

    Attributes:
        rows: The rows as values.
        codes: The codes of the rows, shape (rows, columns of the model).
        errors: A sentence on what is known about the errors of their tables.
    """

    rows: Rows
    codes: Codes
    errors: str


def refit(release: Release, plan: Plan | None = None, on_event: Callable[[Progress], None] = lambda _: None) -> Refitted:
    """Return the model of a release, computed again from its answers without the private table.

    It takes about as long as the run took after its table was read. On the same machine and version
    it gives the model of the run again.

    Args:
        release: The release.
        plan: The feasible plan, with the public table where one was used; None for the plan of the
            release's own spec.
        on_event: Called with each line of the history.

    Raises:
        InputError: The release has no rows or two linked tables; its charges do not fit its answers; its answers
            end before the model does; or this version or machine asks other questions than the recorded ones.
        CapacityError: The plan does not fit this machine.
    """
    if release.row_seed is None:
        raise InputError("release", "it holds answers and no rows, so that it has no model to draw rows from", "ask its noisy tables")
    if release.plan.link is not None:
        what = extension.what_is_linked(release.spec.extensions)
        raise InputError("release", f"it holds {what}, of which no more rows can be drawn yet", "use those that it holds")
    plan = synthesis.feasible(Plan.of(release.spec)) if plan is None else plan
    check_paid(release.domain, plan.unit, release.transcript, release.charges)
    kernel, journal = replaying(plan.domain, plan.unit, plan.shares, release.transcript, release.charges), Journal(on_event)
    try:
        plan, kernel = synthesis.learnt(plan, kernel, journal)
        found, kernel = synthesis.looked_inside(plan, kernel, journal)
        model = cast(RowModel, synthesis.run_mechanism(plan, kernel, journal).model)
    except AnswersEnd:
        raise InputError("release", "its answers end before its model does", "download it again") from None
    again = synthesis.drawn(plan, model, synthesis.row_count(plan, release.total), release.row_seed, found)
    again = synthesis.weighed(plan, again, release.claims[WEIGHTED.name])
    other = (codes := one_table(release.codes)) is not None and not np.array_equal(codes, again.codes)
    return Refitted(plan, model, again, release.certificate, other, tuple(kernel.known))


def sample(fitted: Refitted, rows: int, where: Where = EVERYBODY, seed: int = 1) -> Sample:
    """Return further rows of the model, of all people or of a group of people.

    Rows are drawn of all people, and only the rows of the group are kept: a rare group takes many more draws.
    Identifiers continue after the identifiers of the released rows.

    Args:
        fitted: The model.
        rows: Number of rows.
        where: The values that people of the group may have, by column; by default everybody.
        seed: Seed; the same seed gives the same rows, another seed gives other rows.

    Raises:
        InputError: The number of rows is not a whole number from 1 to 20,000,000, a column or value of the group
            is unknown, the plan excludes the group, or the model has no people in it.
        CapacityError: The group is so rare that more than 10,000,000 rows would have to be drawn.
    """
    if not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        raise InputError("rows", f"{shown(rows)} rows cannot be drawn", f"give a whole number from 1 to {MAX_ROWS:,}")
    parts = parts_of(fitted.plan.domain, where)
    cells, cut = reached_cells(parts), {name: of for name, of in parts.items() if of.cut}
    if cut:
        return Sample(*_of_range(fitted, rows, parts, seed), _unknown_inside(fitted.plan.domain, cut))
    drawn = _of_group(fitted, rows, cells, seed) if cells else _drawn(fitted, rows, seed, 0)
    return Sample(drawn, drawn.codes, errors_of(fitted, cells, drawn.codes))


def complete(fitted: Refitted, known: Mapping[str, Codes], values: Mapping[str, pa.Array], seed: int = 1) -> Sample:
    """Draw a row of the model for each line of known cells, in the order of the lines.

    Identifiers continue after the identifiers of the released rows. Nothing is known of the errors of such rows.

    Args:
        fitted: The model.
        known: By column, the code of each line, shape (lines,); at least one column.
        values: By column, the known number of each line, of a type that rows may have. It replaces
            the number that is drawn within the cell, unless a rule compares the column with another
            one.
        seed: Seed; the same seed gives the same rows, another seed gives other rows.

    Raises:
        CapacityError: There are no lines or more than 20,000,000, or the cells of a line are so rare in the model
            that more than 10,000,000 rows would have to be drawn.
    """
    domain, cells = fitted.plan.domain, np.stack([known[name] for name in known], axis=1)
    if not 1 <= len(cells) <= MAX_ROWS:
        raise CapacityError("known", f"it has {len(cells):,} lines", f"give 1 to {MAX_ROWS:,}")
    groups, group_of, wanted = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    found: list[list[Codes]] = [[] for _ in groups]
    there, looked, number = np.zeros(len(groups), dtype=np.int64), 0, 0
    while (there < wanted).any():
        batch = _drawn(fitted, _AT_ONCE if number else _AT_FIRST, seed, number)
        looked, number = looked + batch.num_rows, number + 1
        own = batch.codes[:, [domain.position(name) for name in known]]
        every, of = np.unique(np.concatenate([groups, own]), axis=0, return_inverse=True)
        place = np.full(len(every), -1)
        place[of[: len(groups)]] = np.arange(len(groups))
        group = place[of[len(groups) :]]
        order = np.argsort(group, kind="stable")
        first = np.searchsorted(group[order], np.arange(len(groups) + 1))
        for one in np.flatnonzero(there < wanted):
            rows = order[first[one] : first[one + 1]][: wanted[one] - there[one]]
            found[one].append(batch.codes[rows])
            there[one] += len(rows)
        if looked >= _AT_ONCE and (rare := np.flatnonzero(wanted * (looked / _MOST_DRAWN) > there)).size:
            line = dict(zip(known, ((int(code),) for code in groups[rare[0]]), strict=True))
            problem = f"of {looked:,} rows that the model wrote, {there[rare[0]]:,} are in the group {_phrase(domain, line)}"
            raise CapacityError("known", f"{problem}, which {wanted[rare[0]]:,} lines name", "take known columns out, or lines")
    codes = np.empty((len(cells), len(domain)), dtype=batch.codes.dtype)
    codes[np.argsort(group_of.ravel(), kind="stable")] = np.concatenate([np.concatenate(some) for some in found])
    table, ordered = as_table(replace(batch, codes=codes)), {name for rule in domain.orders for name in (rule.first, rule.second)}
    for name in values.keys() - ordered:
        place_of = domain.column_names.index(name)
        table = table.set_column(place_of, name, values[name].cast(table.schema.field(place_of).type))
    return Sample(HeldRows(table), codes, "Nothing is known of how far rows with known values are off: errors were measured of all rows.")


def _drawn(fitted: Refitted, rows: int, seed: int, part: int) -> DrawnRows:
    """Draw rows of all people, whose identifiers continue after the identifiers of the released rows.

    Args:
        fitted: The model.
        rows: Number of rows.
        seed: Seed of the whole sample.
        part: Number of this batch in the sample; each batch has a random stream of its own.
    """
    state = np.random.SeedSequence((fitted.released.seed, seed, part)).generate_state(1, np.uint64)
    drawn = synthesis.drawn(fitted.plan, fitted.model, rows, int(state[0] >> np.uint64(1)), fitted.released.inside)
    return replace(drawn, domain=_behind(fitted))


def _behind(fitted: Refitted) -> Domain:
    """Return the model's domain, with identifiers that continue after the released rows' identifiers."""
    domain = fitted.plan.domain
    return replace(domain, filled=tuple(one.after(fitted.released.num_rows) for one in domain.filled))


def _of_group(fitted: Refitted, rows: int, cells: Cells, seed: int) -> DrawnRows:
    """Draw rows of all people until `rows` rows are in the group, and return these.

    Rejection gives the model's distribution within the group for every kind of model.

    Args:
        fitted: The model.
        rows: Number of rows.
        cells: By column, the codes that people of the group have.
        seed: Seed of the sample.
    """
    domain = fitted.plan.domain

    def kept(batch: DrawnRows) -> DrawnRows:
        return replace(batch, codes=batch.codes[_inside(domain, cells, batch.codes)])

    found = list(_searched(fitted, rows, seed, kept, _phrase(domain, cells)))
    return replace(found[-1], codes=np.concatenate([one.codes for one in found])[:rows])


def _of_range(fitted: Refitted, rows: int, parts: Parts, seed: int) -> tuple[HeldRows, Codes]:
    """Draw rows of all people with their values until `rows` rows lie in the group's ranges.

    Args:
        fitted: The model.
        rows: Number of rows.
        parts: By column, the chosen cells; ranges may cut cells, so that values decide.
        seed: Seed of the sample.

    Returns:
        The rows as values, and their codes.
    """
    domain, cells = fitted.plan.domain, reached_cells(parts)

    def kept(batch: DrawnRows) -> _Valued:
        near = replace(batch, codes=batch.codes[_inside(domain, cells, batch.codes)])
        table, inside = as_table(near), np.ones(near.num_rows, dtype=bool)
        for name, of in parts.items():
            if of.cut:
                inside &= within(domain[name], near.codes[:, domain.position(name)], table.column(name), of)
        return _Valued(table.filter(pa.array(inside)), near.codes[inside])

    found = list(_searched(fitted, rows, seed, kept, _range_phrase(domain, parts)))
    table, codes = pa.concat_tables([one.table for one in found])[:rows], np.concatenate([one.codes for one in found])[:rows]
    for place, column in enumerate(_behind(fitted).columns):  # keys are of the rows that are kept
        if not isinstance(column, Attribute):
            table = table.set_column(place, column.name, filled(column, rows))
    return HeldRows(table), codes


@dataclass(frozen=True, eq=False)
class _Valued:
    table: pa.Table
    codes: Codes


def _searched(fitted: Refitted, rows: int, seed: int, kept: Callable[[DrawnRows], Found], phrase: str) -> Iterator[Found]:
    """Yield batches of rows of the model, filtered by `kept`, until at least `rows` rows have been found.

    Args:
        fitted: The model.
        rows: Number of rows.
        seed: Seed of the sample.
        kept: Returns the rows of a batch that are in the group.
        phrase: The group in words, for errors.

    Raises:
        InputError: No row is in the group.
        CapacityError: The group is too rare for so many rows.
    """
    number, looked, found = 0, 0, 0
    while found < rows:
        batch = _drawn(fitted, _AT_ONCE if number else _AT_FIRST, seed, number)
        some = kept(batch)
        yield some
        number, looked, found = number + 1, looked + batch.num_rows, found + len(some.codes)
        if not found and looked >= _AT_ONCE:
            raise InputError("where", f"of {looked:,} rows that the model wrote, none is in the group {phrase}", "take a wider group")
        share = found / looked
        if looked >= _AT_ONCE and rows > (most := share * _MOST_DRAWN):
            problem = f"the group {phrase} is {percent(share)} of the model: {rows / share:,.0f} rows would be needed"
            raise CapacityError("where", problem, f"take a wider group, or at most {most:,.0f} rows")


def _unknown_inside(domain: Domain, cut: Parts) -> str:
    """Return sentences that say that the errors of a group whose ranges cut cells are unknown.

    Args:
        domain: The domain.
        cut: By column, the chosen ranges that cut cells.
    """
    names = " and ".join(f"{visible(name)} {text_of(domain[name], spans_of(domain[name], of))}" for name, of in cut.items())
    return (
        f"The group {names} cuts groups of values, and errors were measured of whole groups: nothing is known of how far this group is off."
        " Inside a group, values are spread as in the rows of the release."
    )


def _range_phrase(domain: Domain, parts: Parts) -> str:
    cut = [f"{shown(name)} {shown(text_of(domain[name], spans_of(domain[name], of)))}" for name, of in parts.items() if of.cut]
    rest = _phrase(domain, {name: of.cells for name, of in parts.items() if not of.cut})
    return " and ".join([*cut, rest] if rest else cut)


def parts_of(domain: Domain, where: Where) -> Parts:
    """Return by column the cells that a group of people may have, whole or cut by a range; empty for everybody.

    Args:
        domain: The domain.
        where: By column, a value, a range or several of these.

    Raises:
        InputError: A column or value is unknown, or the plan excludes the group.
    """
    for name in where:
        if name not in domain:
            raise InputError("where", f"{column_field(name)} is not in the model", f"use one of {_first(domain.names)}")
    parts = parts_named(domain.attributes, {name: list(_listed(values)) for name, values in where.items()}, "where") if where else {}
    clique = domain.clique(parts)
    impossible = domain.impossible_cells(clique)
    if impossible is not None and impossible[np.ix_(*(parts[name].cells for name in clique))].all():
        raise InputError("where", f"the plan says that {_phrase(domain, reached_cells(parts))} cannot be", "take another group")
    return parts


def _listed(values: Any) -> Iterable[Any]:
    return (values,) if isinstance(values, str) or not isinstance(values, Iterable) else values


def parse_where(domain: Domain, texts: Sequence[str], field: str = "where") -> Where:
    """Return the group of people that texts such as "region=north", "age=15..64" and "age>=66" describe.

    Several texts of one column mean any of these values; people of the group fit the texts of every column. A
    name or a value may contain "=". Without texts the group is everybody. Unknown columns and values are not
    refused here, but by `parts_of`.

    Args:
        domain: The domain.
        texts: The texts.
        field: Name of the texts in errors.

    Raises:
        InputError: A text is not of this form.
    """
    where: dict[str, list[str]] = {}
    for text in texts:
        parts = [(text[:i], text[i + 1 :]) for i, sign in enumerate(text) if sign == "="]
        signs = (i for i, sign in enumerate(text) if sign in "<>≤≥" and text[:i].rstrip() in domain)
        if not any(column in domain for column, _ in parts) and (sign := next(signs, None)) is not None:
            where.setdefault(text[:sign].rstrip(), []).append(text[sign:])
            continue
        if not parts:
            raise InputError(field, f"{shown(text)} is not COLUMN=VALUE", "write for example region=north")
        meant = next((part for part in parts if part[0] in domain and part[1] in domain[part[0]].cell_labels()), None)
        column, value = meant or next((part for part in reversed(parts) if part[0] in domain), parts[0])
        where.setdefault(column, []).append(value)
    return where


def errors_of(fitted: Refitted, cells: Cells, codes: Codes) -> str:
    """Return a sentence on the errors of the tables of further rows.

    They follow from the certificate of the released rows. Bounds in it hold with 95 % confidence,
    each by itself. Where the certificate says nothing of the group, the sentence says so. Names are not
    escaped, but a space replaces each invisible character.

    Args:
        fitted: The model, with the certificate of the released rows.
        cells: By column, the codes of the group; empty for all people.
        codes: Codes of the further rows, which are all in the group.
    """
    domain, bounds = fitted.plan.domain, {r: bound for r, bound in fitted.tables.items() if set(cells) <= set(r)}
    columns = " and ".join(map(visible, cells))
    if fitted.other:
        return "The model came out otherwise here than where the release was made: nothing is known of how far these rows are off."
    if not fitted.tables:
        return "No certificate says how far the released rows are off: nothing is known of these rows either."
    if not bounds:
        return f"Errors were measured of the released rows, and of no table with {columns}: nothing is known of how far this group is off."
    every = fitted.released.codes
    released = every[_inside(domain, cells, every)]
    if not len(released):
        return "Errors were measured of the released rows, none of which is in this group: nothing is known of how far it is off."
    share = len(released) / len(every)
    ours, theirs = (row_marginals(domain, some, list(bounds)) for some in (codes, released))
    apart = {r: in_wrong_cell(ours[r] / len(codes), theirs[r] / len(released)) for r in bounds}
    off = [min(1.0, bound / share + apart[r]) for r, bound in bounds.items()]
    best = "" if len(off) == 1 else f", and the best of them at most {percent(min(off))}"
    how = f"in the wrong cell{best}, with 95% confidence for each by itself"
    tables = "one table" if len(off) == 1 else f"{len(off):,} tables"
    if cells:
        return (
            f"Errors were measured of the released rows, {percent(share)} of which are in this group: within it, the {tables} with"
            f" {columns} have at most {percent(max(off))} of the group {how}, and of other tables nothing is known."
        )
    return (
        f"Errors were measured of the released rows, and the tables of these rows differ from theirs by at most"
        f" {percent(max(apart.values()))} of people: so the {tables} have at most {percent(max(off))} of people {how}."
    )


def _inside(domain: Domain, cells: Cells, codes: Codes) -> NDArray[np.bool_]:
    inside = np.ones(len(codes), dtype=bool)
    for name, chosen in cells.items():
        inside &= np.isin(codes[:, domain.position(name)], chosen)
    return inside


def _phrase(domain: Domain, cells: Cells) -> str:
    return " and ".join(f"{shown(name)} {' or '.join(shown(domain[name].cell_labels()[code]) for code in cells[name])}" for name in cells)


def _first(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")
