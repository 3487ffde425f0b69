"""Questions in the words of a program: values instead of numbers of cells, and answers that print themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from dpsynth_core import report
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.evaluation.questions import breakdown
from dpsynth_core.evaluation.questions.answer import Answer as Answered
from dpsynth_core.evaluation.questions.answer import Stated, answer
from dpsynth_core.evaluation.questions.breakdown import GUESS, Line
from dpsynth_core.evaluation.questions.known import Known, known_weighted
from dpsynth_core.evaluation.questions.light import UNKNOWN, light
from dpsynth_core.evaluation.questions.question import (
    AMONG,
    CELLS,
    COUNT,
    DIFFERENCE,
    MEAN,
    MEDIAN,
    SHARE,
    STATISTICS,
    TABLE,
    VERSUS,
    Question,
)
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.visible import listed, visible
from dpsynth_core.release.release import Release
from dpsynth_core.report import answers as words
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.link_words import HOUSEHOLDS, LinkWords
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.python_values import named_values
from dpsynth_core.vocabulary.ranges import Between, Chosen, bounds_text, range_in, reached_cells
from dpsynth_core.vocabulary.rows import Repeated
from dpsynth_core.vocabulary.zeros import parts_named

if TYPE_CHECKING:
    import pandas as pd

_CONDITION = "{} with "
"""How the column of a condition on members is called."""
_LATER = ", and later one with "
"""Between what a condition says of one member and of one after it."""
_OF = {
    SHARE: ("cells", "--of sex=f", '{"sex": "f"}'),
    MEAN: ("one column", "--of age", '"age"'),
    MEDIAN: ("one column", "--of age", '"age"'),
    DIFFERENCE: ("one column, or of cells", "--of age", '"age"'),
    TABLE: ("columns", "--of age --of sex", '["age", "sex"]'),
}
"""What a statistic is of, and how that is written on the command line and in Python."""
Rows: TypeAlias = "tuple[Mapping[str, Chosen], ...]"
"""Conditions on rows of one owner: each is met by a row after that of the one before it."""
Cells: TypeAlias = "Mapping[str, Any]"
"""By column a value, a list of values, (lowest, highest) of what has an order, where None means no limit, or None for what is missing.

A list names single values, and a tuple of two a range: [66, 99] are two ages, (66, 99) all from 66 to 99."""


@dataclass(frozen=True)
class Asked:
    """The arguments of `Release.ask`.

    For `ask_typed`, cells are texts COLUMN=VALUE, and `of` lists the columns of a statistic. Several texts of one column mean any of these
    values. For households, "some member " or "no member " before a text is a condition on the members, each met by a single member.

    Attributes:
        statistic: "count", "share", "mean", "median", "difference" or "table".
        of: What it is about: cells, a column for means and medians, or columns for tables.
        among: The group of people; None for everybody.
        versus: The other group of a difference.
        by: A column; there is an answer for each of its values.
        weighted: Whether people count by their survey weight.
    """

    statistic: str
    of: Cells | str | Sequence[str] | None = None
    among: Cells | Sequence[str] | None = None
    versus: Cells | Sequence[str] | None = None
    by: str | None = None
    weighted: bool = False


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
        value: The best estimate: a number of people, a share from 0 to 1, a mean in the column's unit,
            or for a median the label of a cell; None if unknown.
        low, high: Bounds of the true number with 95 % confidence, in the unit of `value`; None for a
            guess.
        kind: "measured" (from noisy counts), "bound" (from a table's error bound only) or "guess"
            (of the model, with an unknown error).
        light: How closely it is known, as in the app's colours: "closely", "roughly" or "unknown".
        group: For a breakdown or a table, the value or cell; otherwise "".
        sentences: The answer for people; empty within a breakdown or a table.
    """

    value: float | str | None
    low: float | str | None
    high: float | str | None
    kind: str
    light: str = UNKNOWN
    group: str = ""
    sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)


@dataclass(frozen=True)
class Answers(Sequence[Answer]):
    """One answer for each value of a column, or each cell of a table. Each interval holds with 95 % confidence by itself.

    Attributes:
        title: What all answers have in common, in sentences.
        each: The answers, in the order of the cells' codes.
    """

    title: str
    each: tuple[Answer, ...]

    def __getitem__(self, place: Any) -> Any:
        return self.each[place]

    def __len__(self) -> int:
        return len(self.each)

    @property
    def frame(self) -> pd.DataFrame:
        """The answers as a pandas frame with the columns group, value, low, high, kind and light."""
        import pandas as pd

        names = ("group", "value", "low", "high", "kind", "light")
        return pd.DataFrame([{name: getattr(one, name) for name in names} for one in self.each], columns=list(names))

    def __str__(self) -> str:
        return f"{self.title}\n{self.frame.to_string(index=False)}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.title)}</p>{self.frame.to_html(index=False)}"


def ask(made: Release, asked: Asked) -> Answer | Answers:
    """Answer a question from a release, with numbers and sentences (`Release.ask`).

    For two linked tables the question is about members if it names a column of members, else about households.

    Returns:
        `Answers` for a table or with a column `by`, otherwise an `Answer`.

    Raises:
        InputError: The release cannot answer the question; a part of the question is missing, unknown or does not fit
            the statistic; or weights are asked for that the release does not have.
    """
    if not report.can_answer(made):
        raise InputError("ask", "this release holds nothing that could answer", "look at its verdict")
    phrases, notes = words.PHRASES if made.plan.link is None else words.of_members(made.plan.link.words), list[str]()
    counting = [] if made.plan.link is None else _counting(made.plan.link, asked)
    if made.plan.link is not None and not _of_members(made.plan.link, asked):
        known, asked, notes = _of_households(made, made.plan.link, asked)
        phrases = words.of_households(made.plan.link.words)
        if asked.of == NUMBER:  # which every household has
            phrases = {**phrases, "numbers": made.plan.link.words.beyond.format(most=made.plan.link.most)}
    else:
        known = weighted_knowledge(made) if asked.weighted else report.knowledge(made)
    domain, question = known.domain, _question(known.domain, asked)
    notes += [*_beyond_bounds(domain, asked), *counting, *filter(None, [extension.whom(made.spec.extensions)])]
    if (by := asked.by) is not None:
        _known(domain, "by", by)
        lines = breakdown.breakdown(known, question, by)
        cut = {(one.column, one.code): one for line in lines for one in line.answer.cut}
        title = _spoken(domain, [*words.breakdown_sentences(domain, question, by, phrases, tuple(cut.values())), *notes], made.plan.link)
        each = []
        for line in lines:
            group = replace(question, among={**question.among, by: (line.code,)})
            text = words.cell_text(domain, question, by, line.code)
            each.append(_said(known, group, line.answer.stated, line.standing, text))
        return Answers(title, tuple(each))
    found = answer(known, question)
    standing = Line(0, found).standing
    if question.statistic != TABLE:
        sentences = [*words.sentences(domain, question, found, phrases), *notes]
        return _said(known, question, found.stated, standing, "", tuple(_spoken(domain, [one], made.plan.link) for one in sentences))
    table = _table(known, question, found, standing, phrases)
    return replace(table, title=_spoken(domain, [table.title, *notes], made.plan.link))


def ask_typed(made: Release, typed: Asked) -> Answer | Answers:
    """Answer a question whose cells are texts "COLUMN=VALUE", as typed on the command line.

    Returns:
        `Answers` for a table or with a column `by`, otherwise an `Answer`.

    Raises:
        InputError: A text is not of this form, or the release cannot answer the question (`ask`).
    """
    of: Any = typed.of or ()
    named = len(of) == 1 and of[0] in {one.name for one in _columns(made)}
    if typed.statistic in (MEAN, MEDIAN) or (typed.statistic == DIFFERENCE and named):
        of = of[0] if len(of) == 1 else None
    elif typed.statistic != TABLE:
        of = _cells_typed(made, of, "of")
    among, versus = _cells_typed(made, typed.among or (), "among"), _cells_typed(made, typed.versus or (), "versus")
    return ask(made, replace(typed, of=of, among=among, versus=versus))


def _columns(made: Release) -> tuple[Attribute, ...]:
    return made.domain.attributes if made.plan.link is None else made.plan.link.columns


def _cells_typed(made: Release, texts: Any, field: str) -> Cells:
    from dpsynth_core.release.sampling import parse_where  # loaded for what is typed alone

    if (link := made.plan.link) is None:
        return parse_where(made.domain, texts, field)
    keys = _keys(link.words)
    of_members = {word: [text.removeprefix(f"{word} ") for text in texts if text.startswith(f"{word} ")] for word in keys}
    own = parse_where(Domain(_columns(made)), [text for text in texts if not text.startswith(tuple(f"{word} " for word in keys))], field)
    return {**own, **{word: parse_where(link.members, said, field) for word, said in of_members.items() if said}}


def _keys(said: LinkWords) -> tuple[str, ...]:
    """Return the keys of a question that are no columns but conditions on members."""
    return tuple(filter(None, (said.some, said.none, said.later)))


def _of_households(made: Release, link: Link, asked: Asked) -> tuple[Known, Asked, list[str]]:
    """Return what is needed to answer a question about households.

    Each condition that some member or no member must meet becomes a column of its own, with the
    values SOME and NONE.

    Returns:
        The known values of households, with these columns; the question with cells of these
        columns; and sentences to add to the answer.

    Raises:
        InputError: The conditions contradict each other, name no cells, or there are no rows.
    """
    from dpsynth_core.evaluation.questions import linked  # loaded for two tables alone

    wanted, said_of = dict[str, Rows](), link.words

    def name_of(rows: Rows) -> str:
        """Return the name of the column for a condition on members.

        Conditions whose names would be equal are numbered: labels that two cells share make such
        names.
        """
        cells = [words.cells_phrase(link.members, reached_cells(one), _cut(one)) for one in rows]
        name = phrase = f"{_CONDITION.format(said_of.members)}{_LATER.join(cells)}"
        while wanted.setdefault(name, rows) != rows:
            name = f"{phrase} ({len(wanted) + 1})"
        return name

    def told(said: Any) -> Any:
        if not isinstance(said, Mapping):
            return said
        own = {name: cells for name, cells in said.items() if name not in _keys(said_of)}
        later, listed_rows = said.get(said_of.later), said.get(said_of.some, [])
        if later is not None and (not listed_rows or isinstance(listed_rows, list)):
            raise InputError(said_of.later, f"it is after one “{said_of.some}”", f"state that with “{said_of.some}”")
        for word, value in ((said_of.some, linked.SOME), (said_of.none, linked.NONE)):
            of = said.get(word, [])
            for one in of if isinstance(of, list) else [of]:
                rows = [parts(link.members, one, word)]
                if word == said_of.some and later is not None:
                    rows.append(parts(link.members, later, said_of.later))
                name = name_of(tuple(rows))
                if own.setdefault(name, value) != value:
                    raise InputError(said_of.none, f"it excludes what “{said_of.some}” asks for", "leave one of them out")
        return own

    asked = replace(asked, of=told(asked.of), among=told(asked.among), versus=told(asked.versus))
    known = weighted_knowledge(made, members=False) if asked.weighted else report.households(made)
    if not wanted:
        return known, asked, []
    if not isinstance(made.codes, Repeated) or not all(map(all, wanted.values())):
        problem, some = f"it does not say which {said_of.members}, or there are no rows to count them in", said_of.some
        raise InputError(some, problem, f"""write for example --of '{some} sex=f', or of={{"{some}": {{"sex": "f"}}}} in Python""")
    cut = any(of.cut for rows in wanted.values() for cells in rows for of in cells.values())
    notes = [words.PHRASES["cut members"].replace("members", said_of.members)] if cut else []
    return linked.with_members(known, link, made.codes, wanted), asked, notes


def _spoken(domain: Domain, sentences: Sequence[str], link: Link | None) -> str:
    """Join sentences, with conditions on members in plain words.

    The sentences contain such a condition as a value of a column that exists for the question only.
    """
    text = " ".join(sentences)
    said_of = HOUSEHOLDS if link is None else link.words
    begin = _CONDITION.format(said_of.members)
    if not (conditions := [one for one in domain if one.name.startswith(begin)]):
        return text
    from dpsynth_core.evaluation.questions import linked  # loaded for two tables alone

    for name in (one.name for one in conditions if one.categories == (linked.NONE, linked.SOME)):
        for value, said in ((linked.SOME, said_of.some), (linked.NONE, said_of.none)):
            text = text.replace(f"{visible(name)} “{value}”", visible(f"{said} with {name.removeprefix(begin)}"))
    return text


def _of_members(link: Link, asked: Asked) -> bool:
    """Return whether a question about linked tables is about members; otherwise it is about households.

    It is about members if it names a column of the members' table, or one that the link has of a member (`Link.described`).

    Raises:
        InputError: The question is about pairs of members, or names columns of members together
            with a number of members or a condition on members.
    """
    names, described = _names(asked), {one.name for one in link.described}
    if others := sorted(names & set(link.again) - described):
        raise InputError(f"column {others[0]!r}", link.words.two, link.words.elsewhere)
    if (own := sorted(names & {NUMBER, *_keys(link.words)})) and names & described:
        problem = f"it is of {link.words.households}, and other columns are of their {link.words.members}"
        raise InputError(f"column {own[0]!r}", problem, f"leave it out, or {link.words.elsewhere}")
    return bool(names & described)


def _names(asked: Asked) -> set[str]:
    """Return the names of columns and the conditions on members that a question names, known or not."""
    of = asked.of if isinstance(asked.of, Iterable) and not isinstance(asked.of, str) else [asked.of]
    return {str(name) for name in (*of, *(asked.among or ()), *(asked.versus or ()), asked.by)}


def _counting(link: Link, asked: Asked) -> list[str]:
    """Return sentences on the members that a question leaves out because only so many of a household count.

    The result is empty for a question that depends neither on members nor on their number.
    """
    names, mean_said = _names(asked), asked.of == NUMBER and asked.statistic in (MEAN, DIFFERENCE) and asked.by is None
    said = [link.words.counting] if names & {*(one.name for one in link.described), *_keys(link.words)} else []
    return [one.format(most=link.most) for one in [*said, *([link.words.beyond] if NUMBER in names and not mean_said else [])]]


def weighted_knowledge(made: Release, members: bool = True) -> Known:
    """Return the known values of a release, counted by survey weight.

    Args:
        made: The release.
        members: For two linked tables, True for values about members, each with the weight of its
            household (if the release has statements on weighted members), and False for values
            about households. Without effect for one table.

    Raises:
        InputError: The release has no rows with weights, or measured no weighted tables.
    """
    stated, codes = made.claims[WEIGHTED.name], made.codes
    if stated is None or codes is None or made.weights is None:
        raise InputError("weighted", "this release measured no weighted tables", "leave it out, or name a weight in the plan")
    if made.plan.link is None or not isinstance(codes, Repeated):
        assert not isinstance(codes, Repeated)
        return known_weighted(made.domain, codes, made.weights, stated)
    from dpsynth_core.evaluation.questions import linked  # loaded for two tables alone

    return linked.weighted(made.plan.link, codes, made.weights, stated, members)


def _table(known: Known, question: Question, found: Answered, standing: str, phrases: Mapping[str, str]) -> Answers:
    domain = known.domain
    labels = ([words.cell_text(domain, question, name, code) for code in range(domain[name].size)] for name in question.columns)
    groups = product(*labels)
    share = Question(SHARE)
    each = (
        _said(known, share, stated, GUESS if stated.low is None else standing, " × ".join(group))
        for stated, group in zip(found.cells, groups, strict=True)
    )
    return Answers(" ".join(words.sentences(domain, question, found, phrases)), tuple(each))


def _said(known: Known, question: Question, stated: Stated, kind: str, group: str, sentences: tuple[str, ...] = ()) -> Answer:
    labels = known.domain[question.column].cell_labels() if question.statistic == MEDIAN else ()

    def told(number: float | None) -> float | str | None:
        return labels[int(number)] if labels and number is not None else number

    closely = light(known, question, stated)
    return Answer(told(stated.value), told(stated.low), told(stated.high), kind, closely, visible(group), sentences)


def _question(domain: Domain, asked: Asked) -> Question:
    """Return a question in cell codes from one in values.

    Raises:
        InputError: The statistic, a column or a value is unknown, or a part of the question is
            missing or does not go with the statistic.
    """
    if asked.statistic not in STATISTICS:
        usable = f"{', '.join(STATISTICS[:-1])} or {STATISTICS[-1]}"
        raise InputError("statistic", f"the statistic {shown(asked.statistic)} is not known", f"use {usable}")
    among_parts, versus_parts = parts(domain, asked.among, "among"), parts(domain, asked.versus, "versus")
    among, versus, of = reached_cells(among_parts), reached_cells(versus_parts), asked.of
    cut = {AMONG: _cut(among_parts), VERSUS: _cut(versus_parts)}
    nothing = of is None or (isinstance(of, Sized) and not len(of))  # an Index has no truth value
    if versus and asked.statistic != DIFFERENCE:
        raise InputError("versus", f"there is another group in a difference alone, and a {asked.statistic} is asked for", "leave it out")
    if asked.statistic == DIFFERENCE and not (among and versus):
        both = """--among sex=f --versus sex=m, or among={"sex": "f"}, versus={"sex": "m"} in Python"""
        raise InputError("versus" if among else "among", "a difference is between two groups", f"name both: {both}")
    alone = asked.statistic in (MEAN, MEDIAN)
    if asked.statistic in _OF and (nothing or (alone and not isinstance(of, str))):
        what, typed, written = _OF[asked.statistic]
        problem = f"it does not name what a {asked.statistic} is of: {what}"
        raise InputError("of", problem, f"write for example {typed}, or of={written} in Python")
    if asked.statistic == TABLE:
        columns = [of] if isinstance(of, str) or not isinstance(of, Iterable) else of
        return Question(TABLE, among=among, columns=_known(domain, "of", *map(str, columns)), cut=cut)
    if alone or (asked.statistic == DIFFERENCE and isinstance(of, str)):
        return Question(asked.statistic, among=among, versus=versus, column=_known(domain, "of", str(of))[0], cut=cut)
    of_parts = parts(domain, of, "of")
    if asked.statistic == COUNT:
        if twice := sorted(set(among_parts) & set(of_parts)):
            raise InputError("of", f"{column_field(twice[0])} is named there and in among", "name it once")
        named_in_all = {**among_parts, **of_parts}
        return Question(COUNT, among=reached_cells(named_in_all), cut={AMONG: _cut(named_in_all)})
    return Question(asked.statistic, among=among, versus=versus, cells=reached_cells(of_parts), cut={**cut, CELLS: _cut(of_parts)})


def _beyond_bounds(domain: Domain, asked: Asked) -> list[str]:
    """Return a sentence for each numeric column asked for by a range with an open end.

    It warns that the range leaves out values beyond the column's bounds, if these have a cell of
    their own.
    """
    ranges = (
        (name, one if isinstance(one, Between) else range_in(one) if isinstance(one, str) else None)
        for said in (asked.of, asked.among, asked.versus)
        if isinstance(said, Mapping)
        for name, values in named(domain, said, "of").items()
        for one in values
    )
    is_open = dict.fromkeys(name for name, one in ranges if one is not None and None in (one.low, one.high))
    sentences = list[str]()
    for column in map(domain.__getitem__, is_open):
        if column.is_number and (code := column.other_code) is not None:
            other = visible(column.cell_labels()[code])
            sentences.append(words.PHRASES["beyond"].format(column=visible(column.name), bounds=bounds_text(column), other=other))
    return sentences


def _cut(of: Mapping[str, Chosen]) -> dict[str, Any]:
    return {name: one.cut for name, one in of.items() if one.cut}


def _known(domain: Domain, field: str, *names: str) -> tuple[str, ...]:
    """Return the names unchanged. Raises InputError if the domain lacks one of the columns."""
    for name in names:
        if name not in domain:
            raise InputError(field, f"there is no column {shown(name)}", f"name one of {listed(list(map(shown, domain.names)), 10)}")
    return names


def parts(domain: Domain, said: Cells | str | Sequence[str] | None, field: str) -> Mapping[str, Chosen]:
    """Return the cells asked for by column, each column with the cells that are asked for only in part.

    Args:
        domain: The domain of the columns.
        said: By column a value, a list of values or a range (`Cells`); None or an empty value gives {}.
        field: The name of the argument in errors.

    Raises:
        InputError: `said` is not a mapping, or a column or a value is unknown.
    """
    values = named(domain, said, field)
    return parts_named(domain.attributes, values, field) if values else {}


def named(domain: Domain, said: Cells | str | Sequence[str] | None, field: str) -> dict[str, list[Any]]:
    """Return the values asked for as a list for each column.

    Columns that the domain lacks are kept, with their value unchanged.

    Args:
        domain: The domain of the columns.
        said: By column a value, a list of values or a range (`Cells`); None or an empty value gives {}.
        field: The name of the argument in errors.

    Raises:
        InputError: `said` is not a mapping, or a value has a type that no column has.
    """
    if said is None or (isinstance(said, Sized) and not len(said)):
        return {}
    if not isinstance(said, Mapping):
        raise InputError(field, "it does not say which cells", f'write for example {field}={{"sex": "f"}}')
    columns = {str(name): value for name, value in said.items()}
    return {name: named_values(domain[name], value) if name in domain else [value] for name, value in columns.items()}
