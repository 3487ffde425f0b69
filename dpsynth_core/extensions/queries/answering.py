"""Exact answers of a release to written queries, with an interval where one is known.

The share of the released rows that meet a query is exact. What is known of the people is what the release says of a table that contains the
query's columns: by its noisy counts, and by the limit of its error. A query is a set of cells of this table, so that the noise of its sum
follows from the noise of the table's orthogonal parts (`evaluation.questions.evidence` has the case of products of vectors). Where a plan
named the query and RAP measured it, its noisy count is in the transcript, and is used if its noise is smaller. Otherwise the answer is a
guess, and there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dpsynth_core import report
from dpsynth_core.evaluation.combination import Combined
from dpsynth_core.evaluation.questions.answer import COUNTED, LIMITED, Stated
from dpsynth_core.evaluation.questions.answer import Answer as Answered
from dpsynth_core.evaluation.questions.breakdown import Line
from dpsynth_core.evaluation.questions.evidence import Estimated, Interval, agreeing, moved, within
from dpsynth_core.evaluation.questions.known import ALPHA, LIMIT_ALPHA, Known
from dpsynth_core.evaluation.questions.light import light
from dpsynth_core.evaluation.questions.question import COUNT, SHARE, Question
from dpsynth_core.extensions.queries.written import Written, queries
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.visible import visible
from dpsynth_core.privacy.scores import SUM_STEPS
from dpsynth_core.release.release import Release
from dpsynth_core.report import answers as words
from dpsynth_core.report.asking import Answer, Answers
from dpsynth_core.statistics.intervals import Noisy
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique, subsets

MOST_CELLS = 1_000_000
"""Cells of a table that is looked at cell by cell."""
STATISTICS = (SHARE, COUNT)


def answers(made: Release, texts: Sequence[str], statistic: str = SHARE) -> Answers:
    """Return an answer for each query, in order; each interval holds with 95 % confidence by itself.

    Args:
        made: The release.
        texts: The queries, at least one.
        statistic: "share" or "count".

    Raises:
        InputError: A query is not valid, the statistic is unknown, or the release is of two linked tables or holds nothing that could
            answer.
        CapacityError: The columns of a query have more than a million cells together.
    """
    if statistic not in STATISTICS:
        raise InputError("statistic", f"{shown(statistic)} is not known for queries", "use share or count")
    if made.plan.link is not None:
        raise InputError("query", "two linked tables do not go with it yet", "use ask, which has conditions on members")
    if not report.can_answer(made):
        raise InputError("query", "this release holds nothing that could answer", "look at its verdict")
    known = report.knowledge(made)
    asked = queries(known.domain, texts)
    note = extension.whom(made.spec.extensions)
    title = "" if len(asked) == 1 else "Each interval holds with 95% confidence for its query."
    each = (_answer(known, one, statistic, measured(made, one), note) for one in asked)
    return Answers(" ".join(filter(None, [title, note])), tuple(each))


def measured(made: Release, query: Written) -> Noisy | None:
    """Return the number of people who meet a query as the kernel measured it, with the deviation of its noise; None if it did not.

    Args:
        made: The release.
        query: The query.
    """
    digest = sha256((query.table.astype("<i8") * SUM_STEPS).tobytes()).hexdigest()
    for one in made.transcript:
        if one.operation == "measure_sum" and (*one.arguments[:3], *one.arguments[4:]) == (query.columns, 0.0, 1.0, (digest,)):
            return Noisy(float(one.value), math.sqrt(float(one.arguments[3]) ** 2 + ROUNDING))
    return None


def _answer(known: Known, query: Written, statistic: str, direct: Noisy | None, note: str) -> Answer:
    found = answered(known, query, statistic, direct)
    question, stated = Question(statistic), found.stated
    told = [_first(known, query, statistic, stated)]
    if stated.low is not None and stated.high is not None:
        low, high = (words.number(known.domain, question, end) for end in (stated.low, stated.high))
        nothing = statistic == SHARE and stated.low <= 0 and stated.high >= 1
        told.append(words.PHRASES["open" if nothing else "same" if low == high else "interval"].format(low=low, high=high))
        told += [words.PHRASES["disagree"]] if stated.disagree else []
    told += [words.evidence_sentence(found)]
    if found.rows is not None and 0 < found.rows < words.FEW:
        told.append(words.PHRASES["few"].format(rows=found.rows))
    closely = light(known, question, stated)
    told += [note] if note else []
    return Answer(stated.value, stated.low, stated.high, Line(0, found).standing, closely, visible(query.text), tuple(told))


def _first(known: Known, query: Written, statistic: str, stated: Stated) -> str:
    if stated.value is None:
        return words.PHRASES["nobody"]
    value, rows = (None if one is None else words.number(known.domain, Question(statistic), one) for one in (stated.value, stated.rows))
    who = "of everybody meet" if statistic == SHARE else "people meet"
    beside = "" if rows is None or rows == value else f" {words.PHRASES['rows'].format(rows=rows)}"
    return f"{value} {who} “{visible(query.text)}”.{beside}"


def answered(known: Known, query: Written, statistic: str = SHARE, direct: Noisy | None = None) -> Answered:
    """Return the answer to a query from what is known, with the evidence that it rests on.

    Args:
        known: The released values.
        query: The query.
        statistic: "share" of all people, or "count" of people.
        direct: The measured number of people who meet it; None if it was not measured itself.
    """
    clique = query.columns
    ways = _ways(known, query, direct)
    table = known.cover(clique)
    limit = None if table is None or (ways and known.limits[table].beside >= 1) else known.limits[table]
    z = normal(1 - (ALPHA if limit is None else ALPHA - LIMIT_ALPHA) / 2)
    met = None if known.codes is None else int(query.met(known.domain, known.codes).sum())
    rows = None if met is None else met / known.size
    counted = limited = estimate = None
    if ways:
        counted, estimate = _of_counts(known, statistic, min(ways, key=lambda one: one.above_above), z)
    if limit is not None and rows is not None:
        limited = moved(np.array([0.0, 1.0]), np.array([1 - rows, rows]), limit.beside if ways else limit.alone)
    if statistic == COUNT:
        total = known.total
        if limited is not None:
            most = 0.0 if total is None else total.value
            limited = None if total is None else (max(0.0, most - known.doubt) * limited[0], (most + known.doubt) * limited[1])
        rows = None if rows is None or total is None else rows * total.value
    evidence = tuple(name for name, there in ((COUNTED, counted), (LIMITED, limited)) if there is not None)
    of_limit = (limit.support, table or ()) if limit is not None and limited is not None else ("", ())
    return Answered(_stated(rows, counted, limited, estimate), evidence, *of_limit, met)


def _ways(known: Known, query: Written, direct: Noisy | None) -> list[Estimated]:
    """Return the query's number of people over that of everybody, by the noisy counts of its table and by its own; [] without either.

    Args:
        known: The released values.
        query: The query.
        direct: The measured number of people who meet it, or None.
    """
    ways = list[Estimated]()
    table = known.estimate(query.columns) if known.domain.cells(query.columns) <= MOST_CELLS else None
    if table is not None:
        inside, everybody = query.table.astype(np.float64), np.ones(query.table.shape)
        moments = (covariance(table, *pair) for pair in ((inside, inside), (inside, everybody), (everybody, everybody)))
        ways.append(Estimated(float((inside * table.values).sum()), float(table.values.sum()), *moments))
    if direct is not None and known.total is not None:
        ways.append(Estimated(direct.value, known.total.value, direct.sigma**2, 0.0, known.total.sigma**2))
    return ways


def _of_counts(known: Known, statistic: str, found: Estimated, z: float) -> tuple[Interval, float | None]:
    """Return the interval by noisy counts, and the estimate; None where noise does not exclude that there is nobody at all."""
    if statistic == COUNT:
        most = math.inf if known.total is None or known.total.sigma else known.total.value
        reach = z * math.sqrt(max(0.0, found.above_above))
        return within((found.above - reach, found.above + reach), 0.0, most), min(max(0.0, found.above), most)
    interval = found.interval(z)
    unknown = math.isnan(found.value) or math.isinf(interval[0])
    return within(interval, 0.0, 1.0), None if unknown else min(max(found.value, 0.0), 1.0)


def covariance(table: Combined, f: NDArray[np.float64], g: NDArray[np.float64]) -> float:
    """Return the covariance of the noise of two weighted sums over a noisy table, in records squared.

    It is the sum over the table's orthogonal parts q of their variance times the inner product of the projections of f and g on q. For the
    projections on functions of some columns A alone, which are means along the other columns, the inner product is m_A; so on part q it
    is the sum over A within q of (-1)^|q - A| m_A.

    Args:
        table: The table.
        f: Weight of each cell, in the table's shape.
        g: Other such weights.
    """
    inner = dict[Clique, float]()
    for part in subsets(table.clique):
        others = tuple(axis for axis, name in enumerate(table.clique) if name not in part)
        cells = math.prod(f.shape[axis] for axis in others)
        inner[part] = float((f.sum(axis=others) * g.sum(axis=others)).sum()) / cells

    def on(part: Clique) -> float:
        return math.fsum((-1) ** (len(part) - len(one)) * inner[one] for one in subsets(part))

    return math.fsum(variance * on(part) for part, variance in table.variances.items())


def _stated(rows: float | None, counted: Interval | None, limited: Interval | None, estimate: float | None) -> Stated:
    """Return the estimate with the interval that all evidence together gives, widened to the rows where it excludes them."""
    value = rows if estimate is None else estimate
    if counted is None and limited is None:
        return Stated(value, None, None, rows)
    low, high = agreeing(counted, limited) if counted and limited else counted or limited or (0.0, 0.0)
    value = None if value is None else min(max(value, low), high)
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    if rows is None or low - slack <= rows <= high + slack:
        return Stated(value, low, high, rows)
    return Stated(value, min(low, rows), max(high, rows), rows, disagree=True)
