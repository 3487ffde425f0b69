"""Divide people by ranges that may cut cells, into those surely inside and those perhaps inside, with an assumed share of the latter.

A release tells how many people are in a cell, and not where in the cell they are, so all people of a cut cell may be in the range, or
none. The estimate takes the share that a measured histogram of the cell gives (`vocabulary.inside`), or else an even spread. Columns are
taken to be independent within cells. Every bound holds for all possible divisions:

- a count is least without the people of cut cells, and largest with all these people;
- a share is least with the perhaps that do not count and without those that do, and largest the other way round;
- a mean is least with the perhaps whose number is below some threshold, and largest with those above one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpsynth_core.evaluation.questions.evidence import Product, Sum, times
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.evaluation.questions.question import CELLS, Cells, Question, Vector, indicator
from dpsynth_core.vocabulary.ranges import Part, Spans, common, part

_THRESHOLDS = 64
"""Of the bounds of a mean; numbers between two thresholds count as one of them, which makes bounds wider."""


@dataclass(frozen=True)
class Cut:
    """A cell of which a range covers only a part.

    Attributes:
        column: The column.
        code: The code of the cell.
        spans: The values asked for within the cell.
        part: The share of the cell's people assumed to have these values, and their mean.
    """

    column: str
    code: int
    spans: Spans
    part: Part


@dataclass(frozen=True, eq=False)
class Group:
    """A group of people, as a product of one vector over the cells for each of its columns.

    Attributes:
        least: 1 for cells all of whose people are surely in the group, else 0.
        most: 1 for cells with people who are surely or perhaps in the group, else 0.
        likely: The share of each cell's people who are assumed to be in the group.
    """

    least: Product
    most: Product
    likely: Product

    @property
    def is_cut(self) -> bool:
        """True if a range cuts cells of the group, so that `least` and `most` differ."""
        return self.least is not self.most


def cut_cells(known: Known, question: Question, role: str) -> list[Cut]:
    """Return the cells that the ranges of one group of a question cut, in the order of the domain's columns.

    Args:
        known: The released values.
        question: The question.
        role: The group: AMONG, CELLS or VERSUS.
    """
    named, cuts = getattr(question, role), question.cut.get(role, {})
    return [
        Cut(column, code, spans, part(known.domain[column], code, spans, known.inside.get(column)))
        for column in known.domain.names
        for code, spans in cuts.get(column, {}).items()
        if code in named.get(column, ())
    ]


def group(known: Known, question: Question, role: str) -> Group:
    """Return one group of a question as vectors over the cells of its columns.

    Args:
        known: The released values, which give the parts of cut cells.
        question: The question.
        role: The group: AMONG, CELLS or VERSUS.
    """
    named: Cells = getattr(question, role)
    most = {column: indicator(known.domain[column], codes) for column, codes in named.items()}
    cut = cut_cells(known, question, role)
    if not cut:
        return Group(most, most, most)
    least, likely = ({column: vector.copy() for column, vector in most.items()} for _ in range(2))
    for one in cut:
        least[one.column][one.code], likely[one.column][one.code] = 0.0, one.part.share
    return Group(least, most, likely)


def counted_in(known: Known, question: Question, role: str) -> Group:
    """Return the question's cells CELLS as a group, with parts of cut cells relative to the people of another group.

    A range of CELLS may cut a cell that the other group cuts too. Then, of the group's people in
    that cell, those with values in both ranges count.

    Args:
        known: The released values.
        question: The question about a share.
        role: The group whose share is asked: AMONG or VERSUS.
    """
    whole, cells = group(known, question, role), group(known, question, CELLS)
    cuts, of_group = question.cut.get(CELLS, {}), question.cut.get(role, {})
    both_name = [column for column in of_group if column in question.cells]
    shared = [(column, code) for column in both_name for code in of_group[column] if code in question.cells[column]]
    if not shared:
        return cells
    least, most, likely = ({c: v.copy() for c, v in vectors.items()} for vectors in (cells.least, cells.most, cells.likely))
    for column, code in shared:
        spans = of_group[column][code]
        both = common(spans, cuts.get(column, {}).get(code, spans))
        share = whole.likely[column][code]
        least[column][code], most[column][code] = float(both == spans), float(bool(both))
        inside = part(known.domain[column], code, both, known.inside.get(column)).share if both else 0.0
        likely[column][code] = min(1.0, inside / share) if share > 0 else float(both == spans)
    return Group(least, most, likely)


def values_in(known: Known, question: Question, role: str) -> Vector:
    """Return the number that represents each cell of the question's column, shape (cells,); NaN for cells without numbers.

    For a cell that a range of the group cuts, it is the mean of the numbers in that range.

    Args:
        known: The released values.
        question: A question whose column has numbers.
        role: The group: AMONG, CELLS or VERSUS.
    """
    values = known.values(question.column)
    assert values is not None, "the question was checked"
    values = values.copy()
    for one in cut_cells(known, question, role):
        if one.column == question.column:
            values[one.code] = one.part.mean
    return values


@dataclass(frozen=True, eq=False)
class Ratio:
    """A mean over a group, as a quotient of two sums over cells (v and g in `evidence`).

    Attributes:
        v: The numerator.
        g: The denominator.
    """

    v: Sum
    g: Sum


def shares(inside: Group, whole: Group) -> tuple[Ratio, Ratio, Ratio]:
    """Return the smallest, the largest and the likely share of a group that is in the question's cells.

    Args:
        inside: The question's cells, as `counted_in` returns them.
        whole: The group.
    """
    least, most, likely = times(whole.least, inside.least), times(whole.most, inside.most), times(whole.likely, inside.likely)
    not_counted = [(1.0, whole.most), (-1.0, times(whole.most, inside.least))]
    surely_not = [(1.0, whole.least), (-1.0, times(whole.least, inside.most))]
    lowest, highest = Ratio([(1.0, least)], [(1.0, least), *not_counted]), Ratio([(1.0, most)], [(1.0, most), *surely_not])
    if all((vector >= whole.most.get(name, 1.0)).all() for name, vector in inside.least.items()):
        lowest = Ratio([(1.0, whole.most)], [(1.0, whole.most)])  # whoever is in the group counts
    if not all(vector.any() for vector in most.values()):
        highest = Ratio([(1.0, most)], [(1.0, whole.most)])  # nobody counts
    return lowest, highest, Ratio([(1.0, likely)], [(1.0, whole.likely)])


@dataclass(frozen=True, eq=False)
class Weighed:
    """One choice of the people perhaps in a group for whom a mean is computed.

    Attributes:
        values: The number that represents each cell for people surely in the group.
        others: The number that represents each cell for people perhaps in it.
        taken: 1 for cells whose people perhaps in the group are included, else 0.
    """

    values: Vector
    others: Vector
    taken: Vector


def extremes(values: Vector, perhaps: Vector, lowest: bool) -> Iterator[Weighed]:
    """Yield choices of the people perhaps in a group, of which one gives a bound of the smallest (or largest) possible mean.

    Args:
        values: The number that represents each cell of the column, NaN for cells without one.
        perhaps: Above 0 for cells with people who are perhaps in the group.
        lowest: Whether the smallest mean is wanted.
    """
    there = np.isfinite(values) & (perhaps > 0)
    steps = np.unique(values[there])
    if len(steps) > _THRESHOLDS:
        steps = steps[np.linspace(0, len(steps) - 1, _THRESHOLDS).round().astype(int)]
    others = values.copy()
    if len(steps):
        side = np.searchsorted(steps, values[there], side="right") - 1 if lowest else np.searchsorted(steps, values[there], side="left")
        others[there] = steps[side]
    yield Weighed(values, others, np.zeros_like(values))
    for step in steps:
        yield Weighed(values, others, (there & (others <= step if lowest else others >= step)).astype(np.float64))
