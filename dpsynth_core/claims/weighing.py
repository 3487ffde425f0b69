"""Survey weights: rows that stand for more or fewer people than others, and how far off their weighted tables are.

One column of the domain holds the weight of each record, from 0 to L, its upper bound; what is above counts as L, and what is below, or
missing, as 0. Weights count in whole steps, of which L has `STEPS` at most. The kernel counts each record as often as its weight has steps
(Proposition 26), so that all that is measured of people can be measured of weighted people. The column itself is one like any other: rows
have values in it.

Half of the share measures the weighted table of each other column. From these follows one more column of the rows, the calibrated weight.
It starts as the mean weight of the row's cell and is raked until the rows have the tables that are believed: those that they had, moved
towards the measured ones as far as noise does not explain the difference; or public totals that the curator states (`statistics.raking`).
That is made of what is released. The other half measures how far the calibrated rows are off, as a certificate does, in steps of weights,
also in tables of several columns that the plan names.

In two linked tables the column belongs to the households, and the members of a household share its weight. Their columns have tables of
their own, in which each record of pairs counts as often as its household has members too, so that each member counts whole; a household
then changes them by L times the members that count. One weight for each household meets the tables of both (`statistics.raking`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpsynth_core.claims.certificate import ROWS, certify
from dpsynth_core.claims.claim import Asked, Final
from dpsynth_core.claims.weights import NUMBERS, Measured, Weighted, WeightedTable, WeightSpec
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.distances import percent
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.raking import Codes, Floats, Integers, believed, nearest_table, raked, tilted
from dpsynth_core.statistics.totals import Total, known_total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside, behind, middles
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.link_words import HOUSEHOLDS
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.released import combined
from dpsynth_core.vocabulary.released import counted as tallied
from dpsynth_core.vocabulary.rows import Repeated, one_table

STEPS = 1000
LINKED_STEPS, _MOST_RECORDS = 250, 2**18
"""The same of two linked tables, in which a household is up to 2,520 records; and how many it is at most with all of its steps."""
_MOST_COUNT = 2**36
"""That a certificate is measured of: of more, it is measured in coarser steps (Proposition 7)."""
NEAREST = 'let values outside count in the nearest group: "other": "nearest" in the domain'
_CALIBRATING = 0.5
_MET_CLOSELY = 1e-3
_MOST_CELLS = 40_000_000
"""Of all tables that are counted, of eight bytes each; with sums and products a few times as much is held."""
_MOST_PEOPLE = 1e12
_DIGITS = 6
_NAMED = 8


@dataclass(frozen=True)
class Group:
    """The units of weighted tables, rows or members, and their tables.

    Attributes:
        columns: All columns of the units, in the order of the domain.
        singles: Columns whose own tables are measured and calibrated to.
        tables: Tables of several columns, whose errors are measured.
    """

    columns: tuple[Attribute, ...]
    singles: tuple[Attribute, ...]
    tables: tuple[Clique, ...]

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The columns of every table, single columns first."""
        return *((one.name,) for one in self.singles), *self.tables

    def sizes(self, clique: Clique) -> tuple[int, ...]:
        """Return the number of cells along each axis of a table, in the order of the group's columns."""
        return tuple(one.size for one in self.columns if one.name in clique)


@dataclass(frozen=True, eq=False)
class Counted:
    """A group with its units' codes.

    Attributes:
        group: The group.
        codes: Codes of its columns, shape (n, columns).
        owners: The row whose weight each unit has, shape (n,); None for rows.
    """

    group: Group
    codes: Codes
    owners: Integers | None = None

    def cells(self, name: str) -> Codes:
        """Return the code of a column in each unit (a row, or a member), shape (n,)."""
        return self.codes[:, [one.name for one in self.group.columns].index(name)]

    def table(self, clique: Clique, weights: Floats) -> Floats:
        """Return a weighted table: the sum of the units' weights in each cell, with one axis per column.

        Args:
            clique: The columns of the table.
            weights: Weight of each row, shape (rows,).
        """
        each = weights if self.owners is None else weights[self.owners]
        return tallied([self.cells(name) for name in clique], self.group.sizes(clique), each)


def counted(plan: Asked, codes: Codes | Repeated) -> tuple[Counted, ...]:
    """Return the groups of weighted tables with their codes: the rows, as the only group.

    For two linked tables they are the households (in the order of `Link.split`) and the members.

    Args:
        plan: The plan, with a weight.
        codes: Codes of the rows, shape (rows, attributes of the domain); for two linked tables, of the pairs.
    """
    return _counted(plan, *_apart(plan, codes))


def _apart(plan: Asked, codes: Codes | Repeated) -> tuple[Codes, Integers, Codes]:
    """Return the codes of the rows, the row of each member, and the codes of the members.

    For one table there are no members. For two linked tables the rows are the households.
    """
    if plan.link is not None and isinstance(codes, Repeated):
        return plan.link.split(codes.codes)
    rows = one_table(codes)
    assert rows is not None
    return rows, np.empty(0, np.int64), rows[:0]


def _counted(plan: Asked, rows: Codes, owners: Integers, members: Codes) -> tuple[Counted, ...]:
    groups, weight = _groups(plan.domain, plan.weight, plan.link), plan.domain.position(plan.weight.column)
    first = Counted(groups[0], np.delete(rows, weight, axis=1))
    if plan.link is None:
        return (first,)
    return first, Counted(groups[1], np.column_stack([first.codes[owners], members[:, len(plan.link.households) :]]), owners)


def _groups(domain: Domain, weight: WeightSpec, link: Link | None) -> tuple[Group, ...]:
    """Return the group of rows and, for two linked tables, the group of members.

    Members have the columns of their household, too.
    """
    rows = domain.attributes if link is None else (*link.households, domain[NUMBER])
    members = () if link is None else link.members.attributes
    own = tuple(one for one in rows if one.name != weight.column)
    whole = (*own, *members)

    def tables(columns: tuple[Attribute, ...], of_members: bool) -> tuple[Clique, ...]:
        named = [table for table in weight.tables if of_members == any(one.name in table for one in members)]
        return tuple(dict.fromkeys(tuple(one.name for one in columns if one.name in table) for table in named))

    first = Group(own, own, tables(own, False))
    return (first,) if link is None else (first, Group(whole, members, tables(whole, True)))


def as_weight(domain: Domain, name: str) -> Domain:
    """Return the domain in which weights beyond the bounds of their column count in its nearest bin.

    Args:
        domain: The domain.
        name: The column of weights.

    Raises:
        InputError: The column holds no numbers, or its values are still to be learnt.
    """
    column = domain[name]
    if column.kind not in NUMBERS:
        raise InputError(column_field(name), "it holds no numbers that could be weights", "name a column of numbers as the weight")
    if column.most:
        raise InputError(column_field(name), "its values are to be learnt", "state its bounds, which follow from the design of the survey")
    clipped = replace(column, other=False, other_as=None, nearest=True)
    return replace(domain, attributes=tuple(clipped if one.name == name else one for one in domain))


def start(column: Attribute, inside: Mapping[str, Inside]) -> Floats:
    """Return the weight before calibration for each cell of the weight column, shape (size,).

    It is the mean number of the cell, at least 0, and 0 for a cell without numbers.

    Args:
        column: The weight column.
        inside: Measured histograms by column.
    """
    means = behind(inside[column.name].of(column).means, column) if column.name in inside else middles(column)
    return np.maximum(np.nan_to_num(means), 0.0)


def calibrated(plan: Asked, codes: Codes | Repeated, inside: Mapping[str, Inside], stated: Measured | None) -> Floats:
    """Return the calibrated weight of each row, or of each household of two linked tables, shape (rows,).

    Rows are in the order of `counted`; weights are rounded to 6 digits after the point. They are made of
    released values alone. If no row has a weight above 0, all stay 0.

    Args:
        plan: The plan, with a weight.
        codes: Codes of the rows.
        inside: Measured histograms by column.
        stated: The measured weighted tables; None leaves the weights uncalibrated.
    """
    assert plan.weight is not None
    column, (rows, owners, members) = plan.domain[plan.weight.column], _apart(plan, codes)
    base = start(column, inside)[rows[:, plan.domain.position(column.name)]]
    if stated is None or not base.any():
        return base.round(_DIGITS)
    every = _counted(plan, rows, owners, members)
    targets = _targets(plan.weight.totals, every, stated, base)
    cells, sums = [], []
    for one, wanted in zip(every, targets, strict=True):
        cells += [(one.cells(name), one.owners) for name in wanted]
        sums += list(wanted.values())
    return raked([codes for codes, _ in cells], base, sums, [owners for _, owners in cells]).round(_DIGITS)


def _targets(
    totals: Mapping[str, Mapping[str, float]], every: Sequence[Counted], stated: Measured, base: Floats
) -> list[dict[str, Floats]]:
    """Return the weighted tables that the calibrated rows shall have, by column, for rows and then for members.

    A column's table is its public totals; without these its measured table, drawn towards the rows'
    own table as far as noise explains the difference.

    Args:
        totals: Public totals by column and cell.
        every: The groups.
        stated: The measured weighted tables.
        base: Weights before calibration.
    """
    targets = list[dict[str, Floats]]()
    for one, measured in zip(every, stated.parts, strict=True):
        columns = {column.name: column for column in one.group.singles}
        sums = {name: _listed(columns[name], cells) for name, cells in totals.items() if name in columns}
        sum_believed = measured.total.value if measured.believed is None else measured.believed
        whole = float(next(iter(sums.values())).sum()) if sums else sum_believed * measured.step
        if targets:  # how many members there are follows from how many households have how many
            number = targets[0][NUMBER]
            made = max(measured.step, float(number @ np.arange(len(number))))
            if not sums:
                whole = made
            elif any(column.name in totals for column in every[0].group.singles):
                targets[0][NUMBER] = tilted(number, whole)
            else:  # there are as many more households as members, and not larger ones
                targets[0] = {name: table * (whole / made) for name, table in targets[0].items()}
        for told in measured.tables:
            rows = one.table((told.column,), base)
            expected = believed(rows * (measured.total.value / (rows.sum() or 1.0)), np.array(told.measured), measured.sigma)
            sums.setdefault(told.column, nearest_table(expected * (whole / measured.total.value), whole))
        targets.append(sums)
    return targets


def _listed(column: Attribute, cells: Mapping[str, float]) -> Floats:
    return np.array([cells[label] for label in column.cell_labels()])


def _in_steps(column: Attribute, most: int = STEPS) -> tuple[Attribute, Integers, float]:
    """Return a column of weights in cells of one step each, the number of steps of each cell, and the step.

    Args:
        column: The column of weights.
        most: Largest number of steps of a weight.

    Returns:
        The column; the number of steps that a weight in each cell counts as; and the weight of a
        step.
    """
    low, end = column.edges[0], column.edges[-1]
    largest = end - column.scale.whole
    step = 1.0 if column.scale.whole and largest <= most else largest / most
    between = (np.arange(most) + 0.5) * step
    edges = np.union1d([low, end], np.ceil(between) if column.scale.whole else between)
    cells = replace(column, edges=tuple(edges[(low <= edges) & (edges <= end)].tolist()))
    return cells, np.rint(np.nan_to_num(middles(cells)) / step).astype(np.int64), step


def _steps(column: Attribute, link: Link | None) -> tuple[Attribute, Integers, float]:
    """Return the weight column in steps (`_in_steps`), with fewer steps for two linked tables.

    A household is several records there, and sums must stay exact.

    Args:
        column: The column of weights.
        link: The link of two tables; None for one table.
    """
    return _in_steps(column, STEPS if link is None else min(LINKED_STEPS, _MOST_RECORDS // link.records_each))


def _view(plan: Asked, fine: SealedKernel, times: Integers, of_members: bool) -> SealedKernel:
    """Return the kernel over rows, or over members, that count as often as their weight has steps.

    Members have the weight of their household (Proposition 26).

    Args:
        plan: The plan.
        fine: The kernel over records whose weight column has the cells of `_steps`.
        times: Number of steps of each of these cells.
        of_members: Whether members count, for two linked tables.
    """
    rows, link = fine.weighted(plan.weight.column, times), plan.link
    if link is None or not of_members:
        return rows
    one = link.members.attributes[0]
    return rows.weighted(NUMBER, link.times).among({one.name: tuple(range(one.size))})


def measure(
    plan: Asked, kernel: SealedKernel, codes: Codes | Repeated, inside: Mapping[str, Inside], released: Evidence | None = None
) -> Weighted:
    """Measure weighted tables, calibrate the weights of the rows, and measure the errors of the weighted rows.

    All of the kernel's remaining rho is spent, the same amount on each table.

    Args:
        plan: The plan, with a weight.
        kernel: The kernel over the records.
        codes: Codes of the rows.
        inside: Measured histograms by column.
        released: The noisy tables and the number of records; without them `believed` stays None.
    """
    every, (column, times, step) = counted(plan, codes), _steps(plan.domain[plan.weight.column], plan.link)
    fine = kernel.over(Domain(tuple(column if one.name == column.name else one for one in plan.domain)))
    number = sum(len(one.group.cliques) for one in every)
    parts = list(enumerate(fine.part(kernel.rho_left * (len(one.group.cliques) / number)) for one in every))
    stated: Measured | None = None
    for place, part in reversed(parts):
        stated = _measured(every[place].group, _view(plan, part, times, place > 0), step / plan.records_each, stated)
    assert stated is not None
    if released is not None:
        stated = replace(stated, believed=_sum_believed(plan, stated, codes, inside, released.per(plan.records_each)))
    weights, finished = calibrated(plan, codes, inside, stated), None
    for place, part in reversed(parts):
        one, told = every[place], stated.parts[place]
        coarse = math.ceil(told.total.value / _MOST_COUNT)  # as what was released says, so that its sums are exact
        view = _view(plan, part, np.rint(times / coarse).astype(np.int64), place > 0)
        tables = {r: _padded(table, view.domain.sizes(r)) for r, table in shares(one, weights).items()}
        certificate = certify(view, tables, Total(told.total.value / coarse, told.total.sigma / coarse), ROWS)
        rows = float(one.table(one.group.cliques[0], weights).sum())
        finished = Weighted(**vars(told) | {"members": finished}, rows=rows, certificate=certificate)
    assert finished is not None
    return finished


def _sum_believed(plan: Asked, measured: Measured, codes: Codes | Repeated, inside: Mapping[str, Inside], released: Evidence) -> float:
    """Return the sum of weights, in steps, that calibrated weights get.

    It is the mean of the measured sum and the rows' own sum, weighted by precision. The mechanism
    measures the column of weights with the others, where a person changes one cell by 1. In
    weighted tables a person changes a cell by the largest weight, so that the rows' own sum is
    often more precise.

    Args:
        plan: The plan.
        measured: The measured weighted tables.
        codes: Codes of the rows.
        inside: Measured histograms by column.
        released: The noisy tables and the number of records.
    """
    column = plan.domain[plan.weight.column]
    single = combined(released.measurements, (column.name,))
    if single is None:
        return measured.total.value
    each, rows = start(column, inside), _apart(plan, codes)[0][:, plan.domain.position(column.name)]
    shares = np.bincount(rows, minlength=column.size) / len(rows)
    own = released.total * float(shares @ each)
    noise = single.deviation**2 * float((each**2)[shares > 0].sum())  # cells that rows are not in were cut off at 0
    astray = max(0.0, (own - float(single.values @ each)) ** 2 - single.deviation**2 * float((each**2).sum()))
    widths = np.zeros(column.size) if column.name in inside else _widths(column)
    within = (released.total * float(shares @ widths)) ** 2 / 12
    precisions = measured.step**2 / max(noise + astray + within, measured.step**2), 1 / measured.total.sigma**2
    return float(np.average([own / measured.step, measured.total.value], weights=precisions))


def _widths(column: Attribute) -> Floats:
    """Return the width of each cell (largest minus smallest number), shape (size,); 0 for cells without numbers."""
    return np.nan_to_num(behind(np.diff(column.edges) - column.scale.whole, column))


def _measured(of: Group, kernel: SealedKernel, step: float, members: Measured | None) -> Measured:
    """Measure the weighted table of each single column of a group, with half of the kernel's remaining rho.

    A further cell for missing members is cut off.

    Args:
        of: The group.
        kernel: The kernel over the group (`_view`).
        step: The weight of a step, an attribute of the result.
        members: The tables of members, an attribute of the result; None without.
    """
    cliques: list[Clique] = [(one.name,) for one in of.singles]
    kernel.prepare(of.cliques)
    sigma = kernel.unit.marginal_l2 * math.sqrt(len(cliques) / (2 * _CALIBRATING * kernel.rho_left))
    measured = [table for clique in cliques for table in kernel.measure_marginals([clique], sigma)]  # one by one, as `answers` counts
    tables = [replace(table, values=table.values[: one.size]) for table, one in zip(measured, of.singles, strict=True)]
    total = known_total(tables, None)
    assert total is not None
    return Measured(step, total, sigma, tuple(WeightedTable(one.clique[0], tuple(one.values.tolist())) for one in tables), members)


def _padded(table: Floats, sizes: Sequence[int]) -> Floats:
    """Return the table extended to `sizes` by cells of weight 0, which stand for missing members."""
    return np.pad(table, [(0, size - own) for size, own in zip(sizes, table.shape, strict=True)])


def shares(of: Counted, weights: Floats) -> dict[Clique, Floats]:
    """Return the weighted tables of a group by clique, as shares that add up to 1.

    If every weight is 0, all rows count alike.

    Args:
        of: The group with its codes.
        weights: Weight of each row, shape (rows,).
    """
    even = weights if weights.any() else np.ones_like(weights)
    tables = {clique: of.table(clique, even) for clique in of.group.cliques}
    return {clique: table / (table.sum() or 1.0) for clique, table in tables.items()}


def sentences(plan: Asked, stated: Weighted, final: Final) -> list[str]:
    """Return the sentences that state the claim about weighted tables, unescaped.

    At most eight tables of people, of households and of members each are named, the largest bounds first. The
    others are counted.

    Args:
        plan: The plan, with a weight.
        stated: The measured tables and errors.
        final: The final parts of the release, with rows.
    """
    column, step = plan.domain[plan.weight.column], stated.step * plan.records_each
    words = HOUSEHOLDS if plan.link is None else plan.link.words
    names = ["people"] if stated.members is None else [words.households, words.members]
    said = [
        f"The calibrated weights of the rows add up to {stated.rows:,.0f}, and those of the {names[0]} to {_reach(stated)}."
        f" Weights above {column.edges[-1] - column.scale.whole:g} count as that, smaller than 0 and missing ones as 0, and each in"
        f" whole steps of {step:g}."
    ]
    if (members := stated.members) is not None:
        made = f"the rows of {names[1]} add up to {members.rows:,.0f}, and the {names[1]} to {_reach(members)}"
        said.append(f"A {words.member} weighs what its {words.household} weighs: {made}.")
    if public := list(plan.weight.totals):
        off = max(_missed(plan, final, stated).values())
        how = f"they are off by {percent(off)} of the people at most" if off >= _MET_CLOSELY else "they meet them"
        said.append(f"The rows were calibrated to public totals of {', '.join(public)}, as the curator stated them: {how}.")
    return said + [_worst(one, who) for one, who in zip(stated.parts, names, strict=True)]


def _reach(stated: Measured) -> str:
    """Return the measured total weight and its 95% margin as text, such as "1,000 as measured, ± 20 with 95% confidence"."""
    doubt = normal(0.975) * stated.step * stated.total.sigma
    return f"{stated.step * stated.total.value:,.0f} as measured, ± {doubt:,.0f} with 95% confidence"


def _worst(stated: Weighted, who: str) -> str:
    """Return a sentence with the errors of weighted tables, the largest bound first.

    Bounds hold with 95 % confidence, each by itself. At most `_NAMED` tables are named, unescaped.
    If noise hides all errors, the sentence says so.

    Args:
        stated: The errors.
        who: The word for the units, such as "people".
    """
    if stated.certificate.says_nothing:
        return f"Noise hides how far weighted tables of {who} are off: nothing is known of their errors."
    worst = sorted(stated.certificate.marginals, key=lambda one: -one.bound95)
    named = [f"{' × '.join(one.attributes)} {percent(one.likely)}, {percent(one.bound95)} at most" for one in worst[:_NAMED]]
    more = f"; less in the {len(worst) - _NAMED:,} others" if len(worst) > _NAMED else ""
    return f"Weighted {who} in a wrong cell of a table, with 95% confidence each: {'; '.join(named)}{more}."


def _missed(plan: Asked, final: Final, stated: Measured) -> dict[str, float]:
    """Return how far the calibrated rows are off public totals, for each column with such totals.

    It is the largest error of a cell, as a share of the sum of all totals of the column.

    Args:
        plan: The plan.
        final: The final parts of the release.
        stated: The measured weighted tables.
    """
    assert plan.weight is not None
    codes, missed = final.released.codes, dict[str, float]()
    assert codes is not None
    weights = calibrated(plan, codes, final.inside, stated)
    for one in counted(plan, codes):
        for column in (column for column in one.group.singles if column.name in plan.weight.totals):
            wanted = _listed(column, plan.weight.totals[column.name])
            missed[column.name] = float(np.abs(one.table((column.name,), weights) - wanted).max() / wanted.sum())
    return missed


def check(domain: Domain, weight: WeightSpec, link: Link | None = None) -> None:
    """Check that a column can be the weight, and that tables and public totals fit the domain.

    The column must hold numbers from 0 to a positive bound, as which larger weights count, and there must be another
    column. Of two linked tables it must be a column of the first.

    Args:
        domain: The domain.
        weight: The spec of the weight.
        link: The link of two tables; None for one table.

    Raises:
        InputError: The column cannot be the weight; a table names fewer than two columns, an unknown one or the
            weight; or public totals lack a cell, name an unknown one, are not from 0 to 1e12, are all 0 or
            contradict each other.
        CapacityError: The tables have more than 40,000,000 cells, times steps of the weight.
    """
    column = domain[weight.column]
    if link is not None and column.name not in link.households:
        problem = "the column is not in the first table, and a household's weight counts for its members"
        raise InputError(column_field(column.name), problem, "name a column of the households as the weight")
    if as_weight(domain, weight.column)[weight.column] != column:
        raise InputError(column_field(column.name), "weights beyond its bounds do not count as the bound", NEAREST)
    if column.lower != 0 or column.upper <= 0 or column.missing_as is not None:
        problem = "weights begin at 0, as which smaller and missing ones count"
        raise InputError(column_field(column.name), problem, "give it a lower bound of 0, and a cell for missing ones or none")
    _check_tables(weight, {one.name for one in domain} if link is None else {*link.households.names, NUMBER, *link.members.names})
    groups = _groups(domain, weight, link)
    if not groups[0].singles:
        raise InputError("weight.column", "the domain has no other column", "name a column whose weighted table is to be measured")
    cells = [sum(math.prod(group.sizes(clique)) for clique in group.cliques) for group in groups[:1]]
    for group in groups[1:]:  # in the tables that are counted for members nobody has a cell
        beside = domain[NUMBER].size * domain[group.singles[0].name].size
        cells.append(beside * sum(math.prod(domain.sizes(clique)) for clique in group.cliques))
    if (many := _steps(column, link)[0].size * sum(cells)) > _MOST_CELLS:
        problem = f"the other columns by steps of the weight have {many:,} cells, and {_MOST_CELLS:,} can be counted"
        raise CapacityError("weight.column", problem, "group values of columns, or leave columns or weighted tables out")
    sums = [_check_totals({one.name: one for one in group.singles}, weight) for group in groups]
    if link is not None and all(sums) and sums[1] > link.most * sums[0]:
        problem = f"of {sums[0]:,.0f} households at most {link.most} members each count, and the totals of members are of {sums[1]:,.0f}"
        raise InputError("weight.totals", problem, "give totals of the same people")
    if unknown := sorted(weight.totals.keys() - {one.name for group in groups for one in group.singles}):
        raise InputError(f"weight.totals, {column_field(unknown[0])}", "it has no totals: it is the weight, or no column", "leave it out")
    if link is not None and NUMBER in weight.totals:
        _check_members(groups[1].singles, weight)


def _check_tables(weight: WeightSpec, columns: Collection[str]) -> None:
    """Check that each table names two columns or more, which are known and not the weight.

    Args:
        weight: The spec of the weight.
        columns: The columns that tables may name, with the weight.

    Raises:
        InputError: A table does not.
    """
    for number, table in enumerate(weight.tables):
        for name in table:
            if name not in columns or name == weight.column:
                raise InputError(f"weight.tables.{number}", f"{shown(name)} is the weight, or no column", "name other columns")
        if len(set(table)) < 2:
            remedy = "name two or more; single columns are measured anyway"
            raise InputError(f"weight.tables.{number}", "it has fewer than two columns", remedy)


def _check_totals(columns: Mapping[str, Attribute], weight: WeightSpec) -> float:
    """Return the sum of the public totals of a column, which all columns share; 0 without totals.

    Args:
        columns: The columns whose totals are checked, by name.
        weight: The spec of the weight.

    Raises:
        InputError: Totals miss a cell or name an unknown one, a total is out of range, or the sums
            of two columns differ.
    """
    sums = dict[str, float]()
    for name, cells in weight.totals.items():
        if name not in columns:
            continue
        field = f"weight.totals, {column_field(name)}"
        if columns[name].most:
            raise InputError(field, "it has no totals: its values are to be learnt", "leave it out")
        labels = columns[name].cell_labels()
        wrong = next((label for label in (*cells, *labels) if label not in labels or label not in cells), None)
        if wrong is not None:
            remedy = f"give a total for each of {', '.join(labels[:_NAMED])}"
            raise InputError(field, f"{shown(wrong)} is not in the totals, or is not a cell", remedy)
        if not 0 <= min(cells.values()) <= max(cells.values()) <= _MOST_PEOPLE or not any(cells.values()):
            raise InputError(field, f"a total is not between 0 and {_MOST_PEOPLE:.0e}, or all are 0", "give numbers of people")
        sums[name] = math.fsum(cells.values())
    _check_same(list(sums.values()))
    return max(sums.values(), default=0.0)


def _check_members(members: Sequence[Attribute], weight: WeightSpec) -> None:
    """Check that totals of households by size and totals of members imply the same number of members.

    Raises:
        InputError: They do not.
    """
    whole = math.fsum(int(number) * households for number, households in weight.totals[NUMBER].items())
    _check_same([whole, *(math.fsum(weight.totals[one.name].values()) for one in members if one.name in weight.totals)])


def _check_same(sums: Sequence[float]) -> None:
    if sums and max(sums) - min(sums) > 1e-6 * max(sums):
        problem = "the totals of different columns add up to different numbers of people"
        raise InputError("weight.totals", problem, "give totals of the same people")
