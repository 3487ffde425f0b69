"""Answers to questions as sentences. The page explore.html says them with the same words, which it gets from `PHRASES`.

Names of columns and cells are hostile text: the page that shows a sentence escapes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from types import MappingProxyType

from dpsynth_core.evaluation.questions.answer import COUNTED, LIMITED, STATED, Answer
from dpsynth_core.evaluation.questions.breakdown import BOUND, GUESS, MEASURED
from dpsynth_core.evaluation.questions.groups import Cut
from dpsynth_core.evaluation.questions.known import INFERRED, RANGED
from dpsynth_core.evaluation.questions.light import CLOSELY, ROUGHLY, UNKNOWN
from dpsynth_core.evaluation.questions.question import (
    AMONG,
    CELLS,
    COUNT,
    DIFFERENCE,
    MEAN,
    MEDIAN,
    SHARE,
    TABLE,
    VERSUS,
    Cells,
    Cuts,
    Question,
    cell_values,
    half_width,
)
from dpsynth_core.foundation.visible import visible
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.digits import digits, rounded
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.link_words import LinkWords
from dpsynth_core.vocabulary.ranges import Chosen, cut_to, spans_of, text_of

CELLS_NAMED = 6
NOTHING_CUT: Cuts = MappingProxyType({})

PHRASES: Mapping[str, str] = {
    "everybody": "everybody",
    "people": "people with {cells}",
    COUNT: "{value} {group}.",
    "count of everybody": "{value} people in all.",
    SHARE: "{value} of {group} have {cells}.",
    MEAN: "The mean of {column} is {value} for {group}.",
    MEDIAN: "The median of {column} is {value} for {group}.",
    "difference of means": "The mean of {column} for {group} minus that for {versus} is {value}.",
    "difference of shares": "The share with {cells} of {group} minus that of {versus} is {value}.",
    TABLE: "The table divides {group} over {columns}. The group is {value} of all people.",
    "nobody": "No synthetic row is in this group, and the release says nothing else about it.",
    "rows": "In the synthetic rows: {rows}.",
    "interval": "The true number is between {low} and {high}, with 95% confidence.",
    "same": "The true number is {low}, with 95% confidence.",
    "groups": "The true number is in the groups from “{low}” to “{high}”, with 95% confidence.",
    "intervals": "Each cell's interval holds with 95% confidence for that cell.",
    "open": "The release does not say how large this number is. It may be anything between {low} and {high}.",
    "disagree": "The noisy counts and the synthetic rows disagree. One in twenty intervals is wrong by chance. Treat the number as unknown "
    "within this interval, which covers both.",
    COUNTED: "Known from noisy counts of these columns.",
    LIMITED: "Known from the measured error of the table {table}. This holds for every group in it at once, and is often far too wide.",
    INFERRED: "Known because the mechanism preferred others to the table {table}. This holds for every group in it, but is often too wide.",
    RANGED: "Known from the measured largest error of a range: this holds for every range at once.",
    f"both {RANGED}": "Known from noisy counts of these columns and from the measured largest error of a range.",
    STATED: "Known from a measurement of this mean of its own, and from noisy counts as far as they are precise. Nothing is assumed of how "
    "values lie in their cells. Without a number: not counted.",
    "both": "Known from noisy counts of these columns and from the measured error of the table {table}.",
    "guess": "This is the model's guess. It was not measured, and the release does not say how far off it is.",
    "middles": "Every value counts as the middle of its cell, which is at most {half} away from it. Without a number: not counted.",
    "means": "Every value counts as the mean of its cell as measured among all people. Noise in that mean, and how values of this group "
    "lie in a cell, are not in the interval. Without a number: not counted.",
    "numbers": "People without a number in this column are not counted.",
    "absent": "This page does not hold these columns together. Ask synthetic.csv.",
    "cut": "The range {range} cuts {cells} of {column}: the estimate takes {share} of the people of {each}, {assumed}, and the interval "
    "goes from none to all of them.",
    "cut members": "Of members in a group that a range cuts, the share is counted that an even spread of values in it would have.",
    "beyond": "Values of {column} beyond {bounds} count as “{other}”, and are not in the range.",
    "even": "as an even spread of values in it would have",
    "measured inside": "as measured inside",
    "few": "Only {rows} synthetic rows are in this group.",
    "count by": "This counts {group} by {by}.",
    "share by": "This is the share of {group} with {cells}, by {by}.",
    "mean by": "This is the mean of {column} for {group}, by {by}.",
    "median by": "This is the median of {column} for {group}, by {by}.",
    "lines": "Each line's interval holds with 95% confidence for that line, not for all lines together.",
    f"{MEASURED} line": "measured",
    f"{BOUND} line": "bound",
    f"{GUESS} line": "the model's guess, not measured",
    "disagree line": "measured, and the rows disagree",
    "worst": "{value} is likely to be furthest off for its size: the release says {people}, the true number is {low} to {high}.",
    "worst for sure": "{value} is furthest off for its size: the release says {people}, the true number is {low} to {high}.",
    "worst of": "All intervals of the subgroups hold together with 95% confidence. Subgroups of less than {least} are not looked at.",
    f"{CLOSELY} light": "Known closely",
    f"{ROUGHLY} light": "Known roughly",
    f"{UNKNOWN} light": "Not known",
    "whole": "over 100%",
    "worst none": "The release does not say how far any subgroup is off.",
}
FEW = 30
"""Groups with fewer rows are said to be small."""


def of_households(words: LinkWords) -> dict[str, str]:
    """Return the phrases where those who are counted own rows of the second of two linked tables.

    Args:
        words: How they are called.
    """
    return _about(words.everybody, words.households)


def of_members(words: LinkWords) -> dict[str, str]:
    """Return the phrases where those who are counted are rows of the second of two linked tables.

    Of them, tables with the number of members say something.

    Args:
        words: How they are called.
    """
    about = _about(words.all_counted, words.counted)
    return {key: text.replace("table {table}", f"table {NUMBER} × {{table}}") for key, text in about.items()}


def _about(everybody: str, people: str) -> dict[str, str]:
    """Return the phrases with other words for everybody and for people."""
    spoken = {"everybody": everybody, "people": people, "People": people.capitalize()}
    return {key: reduce(lambda said, word: said.replace(word, spoken[word]), spoken, text) for key, text in PHRASES.items()}


def _group_phrase(domain: Domain, cells: Cells, phrases: Mapping[str, str] = PHRASES, cut: Cuts = NOTHING_CUT) -> str:
    return phrases["people"].format(cells=cells_phrase(domain, cells, cut)) if cells else phrases["everybody"]


def cells_phrase(domain: Domain, cells: Cells, cut: Cuts = NOTHING_CUT) -> str:
    """Return cells in words, such as 'sex “f” and age “20–39” or “40–59”'; "" without cells.

    Columns come in the order of the domain, each with at most 6 labels (`CELLS_NAMED`) and the number of others.

    Args:
        domain: The domain of the columns.
        cells: Cell codes by column.
        cut: The values asked for in cells that also hold other values. A column with such cells is
            described by its range of values instead of labels.
    """
    parts = []
    for name in domain.clique(cells):
        if cut.get(name):
            parts.append(f"{visible(name)} {_range_phrase(domain, name, cells, cut)}")
            continue
        labels, more = domain[name].cell_labels(), len(cells[name]) - CELLS_NAMED
        named = " or ".join(f"“{visible(labels[code])}”" for code in cells[name][:CELLS_NAMED])
        parts.append(f"{visible(name)} {named}" + (f" or {more} more" if more > 0 else ""))
    return " and ".join(parts)


def _range_phrase(domain: Domain, name: str, cells: Cells, cut: Cuts) -> str:
    attribute = domain[name]
    texts = text_of(attribute, spans_of(attribute, Chosen(cells[name], cut[name]))).split(" or ")
    behind = [attribute.cell_labels()[code] for code in cells[name] if code >= attribute.values]
    return " or ".join(f"“{visible(text)}”" for text in (*texts, *behind))


def cell_text(domain: Domain, question: Question, name: str, code: int) -> str:
    """Return the name of one cell of a breakdown or a table: its label.

    If the group AMONG asks only for some of the cell's values, the name lists these values instead.

    Args:
        domain: The domain of the columns.
        question: The question.
        name: The column.
        code: The cell's code in the column.
    """
    spans = question.cut.get(AMONG, NOTHING_CUT).get(name, {}).get(code)
    return domain[name].cell_labels()[code] if spans is None else text_of(domain[name], spans)


def cut_sentences(domain: Domain, question: Question, cut: Sequence[Cut]) -> list[str]:
    """Return a sentence for each column with a cell that a range of the question cuts; empty without such cells.

    Each states the range, the cells, and which share of their people is counted and why. Of more than six cells
    of a column, six are named and the others are counted.

    Args:
        domain: The domain of the columns.
        question: The question.
        cut: The cut cells and the share assumed for each.
    """
    lines = []
    for name in dict.fromkeys(one.column for one in cut):
        labels, of_column = domain[name].cell_labels(), {one.code: one for one in cut if one.column == name}
        cuts = next(cuts for role in (AMONG, CELLS, VERSUS) if (cuts := question.cut.get(role, {})).get(name))
        role = next(role for role in (AMONG, CELLS, VERSUS) if question.cut.get(role) is cuts)
        named = [f"“{visible(labels[code])}”" for code in of_column][:CELLS_NAMED]
        more = len(of_column) - len(named)
        shares = [f"{rounded(100 * one.part.share, 0)}%" for one in of_column.values()][:CELLS_NAMED]
        measured = all(one.part.measured for one in of_column.values())
        groups = " and ".join([*named, f"{more} more"] if more else named)
        lines.append(
            PHRASES["cut"].format(
                range=_range_phrase(domain, name, getattr(question, role), cuts),
                cells=f"the group {groups}" if len(of_column) == 1 else f"the groups {groups}",
                column=visible(name),
                share=" and ".join(shares),
                each="it" if len(of_column) == 1 else "each",
                assumed=PHRASES["measured inside" if measured else "even"],
            )
        )
    return lines


def decimals(attribute: Attribute) -> int:
    """Return the number of digits after the point with which means of a column are written.

    The largest absolute cell value then has at least four significant digits; the number is between 0 and
    9.
    """
    values = cell_values(attribute)
    return 0 if values is None else digits(values)


def mean_of(attribute: Attribute) -> str:
    """Return a column in the words of a question about its mean: its name, with the bounds that its values were cut to."""
    cut = cut_to(attribute)
    return f"{visible(attribute.name)}, {cut}," if cut else visible(attribute.name)


def _column(domain: Domain, question: Question) -> str:
    if not question.column or question.statistic == MEDIAN:
        return visible(question.column)
    return mean_of(domain[question.column])


def number(domain: Domain, question: Question, value: float) -> str:
    """Return the value of a statistic as text, rounded as its question needs it.

    Counts become whole numbers, shares percentages, differences of shares percentage points, and
    medians labels.

    Args:
        domain: The domain of the columns.
        question: The question.
        value: The value: a number of people, a share from 0 to 1, a mean in the column's unit, or a
            cell code for a median.
    """
    if question.statistic == COUNT:
        return rounded(value, 0)
    if question.statistic == MEDIAN:
        return visible(domain[question.column].cell_labels()[int(value)])
    if question.column:
        return rounded(value, decimals(domain[question.column]))
    return rounded(100 * value, 1) + (" points" if question.statistic == DIFFERENCE else "%")


def sentences(domain: Domain, question: Question, answer: Answer, phrases: Mapping[str, str] = PHRASES) -> list[str]:
    """Return the answer in sentences.

    They state the estimate, the synthetic rows' value if it differs, the interval, the evidence, and cautions. For
    a cross table they state the group's share and not the cells. Names are not escaped, and beyond six labels of
    a column the others are counted.

    Args:
        domain: The domain of the columns.
        question: The question.
        answer: The answer.
        phrases: The wording for people, households or members.
    """
    stated = answer.stated
    lines = [phrases["nobody"] if stated.value is None else _first(domain, question, number(domain, question, stated.value), phrases)]
    if stated.value is not None and stated.rows is not None and question.statistic != TABLE:
        value, rows = (number(domain, question, one) for one in (stated.value, stated.rows))
        lines += [PHRASES["rows"].format(rows=rows)] if rows != value else []
    if question.statistic == TABLE:
        lines += [PHRASES["intervals"]] if answer.evidence else []
    elif stated.low is not None and stated.high is not None:
        low, high = (number(domain, question, end) for end in (stated.low, stated.high))
        shares = question.statistic == SHARE or (question.statistic == DIFFERENCE and not question.column)
        everything = shares and stated.high >= 1 and stated.low <= (0 if question.statistic == SHARE else -1)
        lines.append(PHRASES["open" if everything else _ends_kind(question, low, high)].format(low=low, high=high))
        if stated.disagree:
            lines.append(PHRASES["disagree"])
    lines += cut_sentences(domain, question, answer.cut)
    lines.append(evidence_sentence(answer, phrases))
    if answer.standing:
        half, places = half_width(domain[question.column]), decimals(domain[question.column])
        lines.append(phrases[answer.standing].format(half=rounded(half, places)))
    if answer.rows is not None and 0 < answer.rows < FEW:
        lines.append(PHRASES["few"].format(rows=answer.rows))
    return lines


def _ends_kind(question: Question, low: str, high: str) -> str:
    """Return the key of the sentence about an interval from `low` to `high`, as texts; for a median, these are names of cells."""
    return "same" if low == high else "groups" if question.statistic == MEDIAN else "interval"


def _first(domain: Domain, question: Question, value: str, phrases: Mapping[str, str]) -> str:
    kind = question.statistic
    if kind == COUNT and not question.among:
        kind = "count of everybody"
    elif kind == DIFFERENCE:
        kind = "difference of means" if question.column else "difference of shares"
    return phrases[kind].format(
        value=value,
        group=_group_phrase(domain, question.among, phrases, question.cut.get(AMONG, NOTHING_CUT)),
        versus=_group_phrase(domain, question.versus, phrases, question.cut.get(VERSUS, NOTHING_CUT)),
        cells=cells_phrase(domain, question.cells, question.cut.get(CELLS, NOTHING_CUT)),
        column=_column(domain, question),
        columns=visible(" × ".join(question.columns)),
    )


def evidence_sentence(answer: Answer, phrases: Mapping[str, str] = PHRASES) -> str:
    """Return the sentence that names the evidence of an answer.

    It may name a table. Names are not escaped, but a space replaces each invisible character.

    Args:
        answer: The answer.
        phrases: By evidence, the sentence with a place for the table.
    """
    if not answer.evidence:
        return phrases["guess"]
    key = "both" if len(answer.evidence) == 2 else answer.evidence[0]
    if answer.support == RANGED and LIMITED in answer.evidence:
        key = RANGED if key == LIMITED else f"both {RANGED}"
    key = INFERRED if key == LIMITED and answer.support == INFERRED else key
    return phrases[key].format(table=visible(" × ".join(answer.table)) or "of all people")


def breakdown_sentences(
    domain: Domain, question: Question, by: str, phrases: Mapping[str, str] = PHRASES, cut: Sequence[Cut] = ()
) -> list[str]:
    """Return sentences that explain a breakdown: the statistic, its cut cells, and its intervals.

    Args:
        domain: The domain of the columns.
        question: The question without the breakdown.
        by: The column whose values the answers are for.
        phrases: The wording for people, households or members.
        cut: The cells that ranges cut in any line of the breakdown.
    """
    first = phrases[f"{question.statistic} by"].format(
        by=visible(by),
        group=_group_phrase(domain, question.among, phrases, question.cut.get(AMONG, NOTHING_CUT)),
        cells=cells_phrase(domain, question.cells, question.cut.get(CELLS, NOTHING_CUT)),
        column=_column(domain, question),
    )
    return [first, *cut_sentences(domain, question, cut), PHRASES["lines"]]
