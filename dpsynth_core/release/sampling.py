"""More rows of a released model, or rows of a group of people: from what was published alone, so that they cost nothing.

A release holds no model; it follows from the answers (`refit`). What a certificate says is about the released rows. Of others it follows
as far as their tables are from those, which both are here to be compared (`errors_of`):

    an error of other rows is at most the error of the released ones, plus the distance of the two tables;
    within a group that is a share q of the released rows, half of the L1 distance of two tables of the group is at most e / q,
    where e is that of the whole tables.

The second: with P and Q the true and the released shares, sum_G |P/P(G) - Q/Q(G)| <= (sum_G |P - Q| + |P(G) - Q(G)|) / Q(G), and what is
outside of G adds at least |P(G) - Q(G)| to the whole distance 2e.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import ROWS, Certificate
from dpsynth_core.claims.claim import AnswersEnd
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.foundation.visible import visible
from dpsynth_core.mechanisms.steps import RowModel
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.release import synthesis
from dpsynth_core.release.journal import Journal
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.transcript import check_paid, replaying
from dpsynth_core.sources.decoding import DrawnRows
from dpsynth_core.statistics.distances import in_wrong_cell, percent
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import one_table, row_marginals

Codes = NDArray[np.integer]
Where = Mapping[str, str | Iterable[str]]
"""Columns, and which of their values (the names of their cells, such as “0 to 24”) the people of a group may have."""
Cells = Mapping[str, tuple[int, ...]]
EVERYBODY: Where = MappingProxyType({})
_AT_FIRST, _AT_ONCE = 25_000, 250_000
"""Rows that are drawn at a time in search of a group; a rare one is refused when the first two times are over."""
_MOST_DRAWN = 10_000_000
_NAMED = 8


@dataclass(frozen=True, eq=False)
class Refitted:
    """The model of a release. released: its first table of rows. other: whether it came out otherwise than where the release was made, with
    other versions of the libraries or on another processor."""

    plan: Plan
    model: RowModel
    released: DrawnRows
    certificate: Certificate | None
    other: bool = False

    @cached_property
    def tables(self) -> dict[Clique, float]:
        """The bound of each certified table of the released rows, as a share of people; none where the certificate says nothing."""
        stated = self.certificate
        if stated is None or stated.of != ROWS or stated.says_nothing:
            return {}
        return {one.attributes: min(1.0, one.bound95) for one in stated.marginals}


@dataclass(frozen=True, eq=False)
class Sample:
    """rows: as values, and as `rows.codes`. errors: what is known of how far their tables are off, in a sentence."""

    rows: DrawnRows
    errors: str


def refit(release: Release, plan: Plan | None = None, on_event: Callable[[Progress], None] = lambda _: None) -> Refitted:
    """The model of a release, from its answers: it takes as long as the run took without its table.

    plan: the feasible one, with the public table where one was used; that of the release's own spec unless given. Raises InputError for a
    release without rows, and where this version or machine comes to ask something else than was answered.
    """
    if release.row_seed is None:
        raise InputError("release", "it holds answers and no rows, so that it has no model to draw rows from", "ask its noisy tables")
    if release.plan.link is not None:
        raise InputError("release", "it holds two linked tables, of which no more rows can be drawn yet", "use those that it holds")
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
    return Refitted(plan, model, again, release.certificate, other)


def sample(fitted: Refitted, rows: int, where: Where = EVERYBODY, seed: int = 1) -> Sample:
    """So many rows of the model, of everybody or of a group. seed: another one gives other rows, the same one the same.

    Raises InputError for a group that the plan excludes or that the model has nobody in, CapacityError for more rows than can be drawn.
    """
    if not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        raise InputError("rows", f"{shown(rows)} rows cannot be drawn", f"give a whole number from 1 to {MAX_ROWS:,}")
    cells = cells_of(fitted.plan.domain, where)
    drawn = _of_group(fitted, rows, cells, seed) if cells else _drawn(fitted, rows, seed, 0)
    return Sample(drawn, errors_of(fitted, cells, drawn.codes))


def _drawn(fitted: Refitted, rows: int, seed: int, part: int) -> DrawnRows:
    state = np.random.SeedSequence((fitted.released.seed, seed, part)).generate_state(1, np.uint64)
    return synthesis.drawn(fitted.plan, fitted.model, rows, int(state[0] >> np.uint64(1)), fitted.released.inside)


def _of_group(fitted: Refitted, rows: int, cells: Cells, seed: int) -> DrawnRows:
    """Rows of everybody, of which those in the group are kept: whatever the model, they are what it says of the group."""
    domain, kept, looked, found = fitted.plan.domain, list[Codes](), 0, 0
    while found < rows:
        batch = _drawn(fitted, _AT_ONCE if kept else _AT_FIRST, seed, len(kept))
        kept.append(batch.codes[_inside(domain, cells, batch.codes)])
        looked, found = looked + batch.num_rows, found + len(kept[-1])
        if not found and looked >= _AT_ONCE:
            problem = f"of {looked:,} rows that the model wrote, none is in the group {_phrase(domain, cells)}"
            raise InputError("where", problem, "take a wider group")
        share = found / looked
        if looked >= _AT_ONCE and rows > (most := share * _MOST_DRAWN):
            problem = f"the group {_phrase(domain, cells)} is {percent(share)} of the model: {rows / share:,.0f} rows would be needed"
            raise CapacityError("where", problem, f"take a wider group, or at most {most:,.0f} rows")
    return replace(batch, codes=np.concatenate(kept)[:rows])


def cells_of(domain: Domain, where: Where) -> Cells:
    """The cells of a group. Raises InputError, by name, for a column or a value that there is not, and for what the plan excludes."""
    cells: dict[str, tuple[int, ...]] = {}
    for name, values in where.items():
        if name not in domain:
            raise InputError("where", f"{column_field(name)} is not in the model", f"use one of {_first(domain.names)}")
        labels = domain[name].cell_labels()
        wanted = (values,) if isinstance(values, str) else tuple(values)
        if not wanted or (strange := next((value for value in wanted if value not in labels), None)) is not None:
            problem = f"it has no value {shown(strange)}" if wanted else "no value of it is named"
            raise InputError(column_field(name), problem, f"use one of {_first(labels)}")
        cells[name] = tuple(sorted({labels.index(value) for value in wanted}))
    clique = domain.clique(cells)
    impossible = domain.impossible_cells(clique)
    if impossible is not None and impossible[np.ix_(*(cells[name] for name in clique))].all():
        raise InputError("where", f"the plan says that {_phrase(domain, cells)} cannot be", "take another group")
    return cells


def parse_where(domain: Domain, texts: Sequence[str], field: str = "where") -> Where:
    """COLUMN=VALUE, each; of one column several are any of them. A name or a value may have "=" in it. Raises InputError, which calls them
    `field`."""
    where: dict[str, list[str]] = {}
    for text in texts:
        parts = [(text[:i], text[i + 1 :]) for i, sign in enumerate(text) if sign == "="]
        if not parts:
            raise InputError(field, f"{shown(text)} is not COLUMN=VALUE", "write for example region=north")
        meant = next((part for part in parts if part[0] in domain and part[1] in domain[part[0]].cell_labels()), None)
        column, value = meant or next((part for part in reversed(parts) if part[0] in domain), parts[0])
        where.setdefault(column, []).append(value)
    return where


def errors_of(fitted: Refitted, cells: Cells, codes: Codes) -> str:
    """What follows from the certificate for the tables of other rows, in one sentence. codes: of those rows, all of them in the group."""
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
