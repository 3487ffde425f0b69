"""The shares and means that a release states of single columns, each with its interval, as the programs print them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsynth_core import report
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.breakdown import Line
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.evaluation.questions.question import MEAN, SHARE, Question, cell_values
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import FIRST, MEMBERS
from dpsynth_core.report.asking import weighted_knowledge
from dpsynth_core.vocabulary.attribute import Attribute

MOST_COLUMNS, MOST_CELLS = 30, 40
"""How many columns of a file of rows have statements, and cells of such a column at most: verify computes all of them again."""


@dataclass(frozen=True)
class Statement:
    """A released number about a column, in the unit of the statistic.

    Attributes:
        file: The file of rows that has the column.
        column: Name of the column.
        statistic: "share" of people in a cell, as a fraction, or "mean" in the column's unit.
        code: Code of the cell, from 0; None for a mean.
        value: The best estimate; None if the release gives none.
        low, high: Bounds of the true number with 95 % confidence; None for a guess.
        known: "measured", "bound" or "guess", as in the answers of `Release.ask`.
        weighted: Whether people count by their survey weight.
    """

    file: str
    column: str
    statistic: str
    code: int | None
    value: float | None
    low: float | None
    high: float | None
    known: str
    weighted: bool = False


def statements(release: Release) -> tuple[Statement, ...]:
    """Return the statements about single columns; () for a release that cannot answer questions.

    They equal the answers of `Release.ask`. Only the first 30 columns of a file have statements. A column of
    more than 40 cells has no shares, but may have a mean.
    """
    return tuple(_statements(release)) if report.can_answer(release) else ()


def has_mean(column: Attribute) -> bool:
    """Return whether the mean of a column has a meaning.

    It has one for numbers in bins (not dates, times or durations), and for ordinal columns whose categories are
    numbers without labels. It has none for categorical columns, even if their categories are numbers.
    """
    return cell_values(column) is not None and (column.is_number or (column.kind == "ordinal" and not column.labels))


def _statements(release: Release) -> Iterator[Statement]:
    link, weighted = release.plan.link, release.claims[WEIGHTED.name] is not None and release.weights is not None
    if link is None:
        sources = [(FIRST, report.knowledge(release), release.domain.names, False)]
        if weighted:
            sources.append((FIRST, weighted_knowledge(release), release.domain.names, True))
    else:
        sources = [
            (FIRST, report.households(release), link.households.names, False),
            (MEMBERS, report.knowledge(release), link.members.names, False),
        ]
        if weighted:
            sources.append((FIRST, weighted_knowledge(release, members=False), link.households.names, True))
            sources.append((MEMBERS, weighted_knowledge(release), link.members.names, True))
    for file, known, names, by_weight in sources:
        for name in names[:MOST_COLUMNS]:
            if name in known.domain:
                yield from _of_column(file, known, known.domain[name], by_weight)


def _of_column(file: str, known: Known, column: Attribute, weighted: bool) -> Iterator[Statement]:
    questions: list[tuple[int | None, Question]] = []
    if column.size <= MOST_CELLS:
        questions += [(code, Question(SHARE, cells={column.name: (code,)})) for code in range(column.size)]
    if has_mean(column):
        questions.append((None, Question(MEAN, column=column.name)))
    for code, question in questions:
        found = answer(known, question)
        stated = found.stated
        yield Statement(
            file, column.name, question.statistic, code, stated.value, stated.low, stated.high, Line(0, found).standing, weighted
        )
