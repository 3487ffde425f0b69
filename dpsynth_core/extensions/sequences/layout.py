"""Persons and their rows, in order, as one table: each person divided evenly among the rows, each beside the rows before it.

A person of any number of rows is n = `records_each` records of that table. With k rows, each row is n / k equal records: the person's own
columns, k, the row's number (first, second, later), whether it is the last one that counts, the row, the row before and the one before
that. A person without rows is n records of an absent row. So a person has one weight in every table, and what one person changes is what
one person with n rows changes, as for pairs of members (Proposition 24): the records are made of that person's rows alone.

Public: domains, rules and a limit. It says how codes of two tables become records, and knows no table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.words import GAP, words
from dpsynth_core.foundation.errors import InputError, count_text
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.vocabulary import across
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.link import MOST, NUMBER, Codes, Link, with_absent
from dpsynth_core.vocabulary.link_words import LinkWords
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.zeros import StructuralZeros, as_shown

START, LAST = "row of the person", "last row"
"""The columns of a record with the row's number, and with whether it is the person's last row that counts."""
STARTS = ("first", "second", "later", "none")
"""The cells of `START`; the last one is for a person without rows."""
BACK = 2
"""How many rows before it a record has."""
NO_ROW = "no row"
"""The label of the cell for an absent row: that of a person without rows, or the one before a first row."""
_SECOND = " two"
_ORDERED = ("integer", "numeric", "date", "timestamp")
"""Kinds of columns whose cells never fall from a person's row to the next one, where they are the order."""
_MOST_ORDERED = 500
"""Cells of such a column, beyond which that is not stated as a rule."""
FILE_ORDER = "file order"
"""The text that stands for a column's name where rows have the order of their file."""
ANY, NUMBERS, DATES, TEXTS = "any", "number", "date", "text"
"""How texts of the order's column are read: each as what it is, as numbers, as dates and times, or as text."""

_READ = {ANY: "dates, times or numbers, each as what it is", NUMBERS: "numbers", DATES: "dates or times", TEXTS: "texts, by their letters"}


@dataclass(frozen=True)
class SequenceLink(Link):
    """The link of persons and their rows in order. Persons are the households of `Link`, and rows their members.

    Attributes:
        order: The column by which rows of a person are ordered; None for file order. It need not be in the domain.
        gap: The column of rows that holds the time since the person's row before; None without one. Its missing cell stands for "no
            row before".
        everybody: Whether each person has a row, because persons are known from their rows alone.
        read_as: How texts in the column of the order are read: `ANY`, `NUMBERS`, `DATES` or `TEXTS`.

    Raises:
        InputError: As `Link`, or a column has a name that the link needs, or the gap is no column of numbers with a cell for missing
            values.
    """

    order: str | None = None
    gap: str | None = None
    everybody: bool = False
    read_as: str = ANY

    def __post_init__(self) -> None:
        for name in self.made_names & {*self.households.names, *self.members.names}:
            problem = "the tables of rows in order have a column of this name that is worked out"
            raise InputError(column_field(name), problem, "rename it in the table and in its domain, such as with “_” for blanks")
        super().__post_init__()
        for name in self.members.names:
            if name.endswith(_SECOND) and name.removesuffix(_SECOND) in self.members:  # both have a column "... two before"
                raise InputError(column_field(name), "its name is that of another column with 'two' behind it", "rename it")
        if self.gap is not None:
            field = column_field(self.gap)
            if self.gap not in self.members:
                raise InputError("extensions.gap", f"the rows have no column {self.gap!r}", "name a column of their domain")
            column = self.members[self.gap]
            if not column.is_number or not column.missing:
                raise InputError(field, "it is the time since the row before, which a first row lacks", 'give numbers, and "missing": true')

    def with_rules(self, rules: Sequence[object]) -> SequenceLink:
        """Return the link with these rules, as JSON, in place of its own; they may name what the link makes.

        Raises:
            InputError: A rule is invalid, or counts rows.
            CapacityError: The table of a rule has too many cells.
        """
        named = {one.name: one for one in (*self.columns, *self.members)}  # a row's own columns without the cell for no row
        read, counted = across.read(rules, list(named.values()), self.members)
        if counted:
            raise InputError("members.rules", "rows in order have no rules about how many rows have a value", "leave it out")
        return replace(self, rules=tuple(_of_rows(as_shown(rule, named), self) for rule in read))

    @property
    def made_names(self) -> set[str]:
        """The names of columns that the link makes, which no column of a table may have."""
        return {NUMBER, START, LAST, *self.lags}

    @property
    def read_names(self) -> frozenset[str]:
        """The names of the columns that are read of the tables; the gap is reckoned from the order."""
        return super().read_names - {self.gap}

    @staticmethod
    def other(name: str) -> str:
        """Return the name of the column that holds a row's column for the person's row before."""
        return f"{name} before"

    @property
    def lags(self) -> dict[str, tuple[str, int]]:
        """The columns of rows before, each with the row's column and the number of rows between (1 or 2 back)."""
        one = {self.other(name): (name, 1) for name in self.members.names}
        return one | {f"{name} two before": (name, 2) for name in self.members.names if name != self.gap}

    @property
    def pairs(self) -> Iterator[Clique]:
        """The tables of a column of a row and a column of the row before, all ordered pairs; none if a person has one row."""
        return ((a, self.other(b)) for a, b in (product(self.members.names, repeat=2) if self.most > 1 else ()))

    @property
    def has_roots(self) -> bool:
        """Whether the source has sums of roots of these records."""
        return True

    @property
    def member_names(self) -> frozenset[str]:
        """The columns of a record that are of a row or of one before it."""
        return frozenset((*self.members.names, *self.lags))

    @property
    def described(self) -> tuple[Attribute, ...]:
        """The columns of a row that questions may name: its place, whether it is last, its own columns and those a row before."""
        placed, before = (self.domain[START], self.domain[LAST]), (lag for lag, (_, back) in self.lags.items() if back == 1)
        return (*placed, *self.members, *(self.domain[lag] for lag in before))

    def each(self, records: NDArray[np.integer]) -> Codes:
        """Return the codes of each row that `records` made: columns of its person first, then the columns `described`."""
        names = (*self.households.names, *(one.name for one in self.described))
        there = records[records[:, self.domain.position(NUMBER)] > 0]
        return there[:, [self.domain.position(name) for name in names]].astype(np.int32)

    @property
    def with_nobody(self) -> frozenset[str]:
        """The columns whose last cell is for an absent row; rows themselves are never absent if each person has one."""
        return frozenset(self.lags) if self.everybody else self.member_names

    @property
    def swapped(self) -> dict[str, str]:
        """Empty: a row and the row before cannot be exchanged."""
        return {}

    @property
    def stated(self) -> tuple[StructuralZeros, ...]:
        """The rules that somebody stated; the others of `domain` say how number, place and rows fit together."""
        return self.rules

    @property
    def again(self) -> dict[str, str]:
        """The columns of rows before, each with the name of the row's column that it repeats."""
        return {lag: name for lag, (name, _) in self.lags.items()}

    @cached_property
    def words(self) -> LinkWords:
        """The words of pages, files and errors for persons, rows and the columns that the link makes."""
        before = {lag: f"“{name}” of the person's row {('before', 'two before')[back - 1]}" for lag, (name, back) in self.lags.items()}
        made = {
            NUMBER: f"The number of rows of the person that count: the first {self.most} at most. A person with more has {self.most}.",
            START: "Whether the row is the person's first, second or a later one; “none” for a person without rows.",
            LAST: f"Whether it is the person's last row that counts: number {self.most} of a person with more than {self.most} rows.",
            **({self.gap: GAP} if self.gap is not None else {}),
            **{lag: f"{said}; “{self.domain[lag].cell_labels()[-1]}” where there is none." for lag, said in before.items()},
        }
        return words(self.order, self.everybody, made.items(), _READ[self.read_as])

    @property
    def columns(self) -> tuple[Attribute, ...]:
        """The columns that rules and tables may name: all of the domain without columns of the row two before."""
        names = {*(one for one in self.lags if self.lags[one][1] > 1)}
        return tuple(one for one in self.domain if one.name not in names)

    @cached_property
    def domain(self) -> Domain:
        """The domain of the records, with what cannot occur: number, place and last row fit, and first rows have none before them.

        Raises:
            InputError: The rules leave no possible record.
            CapacityError: There are too many columns, or the tables of the rules have too many cells.
        """
        place = (Attribute.coded(NUMBER, self.most + 1), Attribute.categorical(START, STARTS), Attribute.categorical(LAST, ("no", "yes")))
        rows = [one if self.everybody else with_absent(one, one.name, NO_ROW) for one in self.members]
        before = [with_absent(self.members[name], lag, NO_ROW) for lag, (name, _) in self.lags.items()]
        return Domain((*self.households, *place, *rows, *before), (*self._impossible(), *self.rules))

    def _impossible(self) -> Iterator[StructuralZeros]:
        seen = np.zeros((self.most + 1, len(STARTS), 2), dtype=bool)
        seen[0, -1, 1] = not self.everybody
        for size in range(1, self.most + 1):
            for place in range(size):
                seen[size, min(place, BACK), int(place == size - 1)] = True
        yield StructuralZeros((NUMBER, START, LAST), tuple(tuple((int(code),) for code in cell) for cell in np.argwhere(~seen)))
        for name in () if self.everybody else self.members.names:
            yield _present(name, self.members[name].size, (len(STARTS) - 1,))
        for lag, (name, back) in self.lags.items():
            yield _present(lag, self.members[name].size, (*range(back), len(STARTS) - 1))
        if self.gap is not None:
            column = self.members[self.gap]
            yield StructuralZeros((START, self.gap), (((0,), tuple(code for code in range(column.size) if code != column.missing_code)),))
        if (order := self.order) is not None and order in self.members and self.members[order].kind in _ORDERED:
            cells = range(1, self.members[order].values)
            if 0 < len(cells) < _MOST_ORDERED:
                yield StructuralZeros((order, self.other(order)), tuple((tuple(range(code)), (code,)) for code in cells))

    @property
    def times(self) -> NDArray[np.int64]:
        """Weights of a record by number of rows, shape (most + 1,), that let a row count as much as a person: the number of rows."""
        return np.arange(self.most + 1)

    def records(self, households: Codes, sizes: NDArray[np.int64], members: Codes) -> Iterator[tuple[int, NDArray[np.integer]]]:
        """Yield, for each number of rows, the rows with the rows before them as codes of `domain`.

        Args:
            households: Codes of the persons, shape (n, columns).
            sizes: Numbers of rows from 0 to `most`, shape (n,).
            members: Codes of the rows, in order, shape (n, most, columns); codes beyond a person's number are ignored.

        Yields:
            The number of equal records that each row stands for, and the codes, shape (rows, columns of `domain`): first rows of all
            persons, then second ones, and so on. Numbers of rows rise from 0; a number without persons is left out.
        """
        for size in range(self.most + 1):
            chosen = np.flatnonzero(sizes == size)
            if len(chosen):
                own, rows = households[chosen], members[chosen, :size]
                codes = [self.row(own, np.full(len(chosen), size), rows, place) for place in range(size)] or [self._nobody(own)]
                yield self.records_each // max(1, size), np.concatenate(codes).astype(self.narrow)

    def row(self, households: Codes, sizes: NDArray[np.int64], members: Codes, place: int) -> NDArray[np.int32]:
        """Return the records of one row of each of some persons, shape (n, columns of `domain`).

        Args:
            households: Codes of the persons, shape (n, columns).
            sizes: Their numbers of rows, more than `place`, shape (n,).
            members: Codes of their rows, in order, shape (n, at least `place` + 1, columns).
            place: Number of the row, from 0.
        """
        names = {name: number for number, name in enumerate(self.members.names)}
        before = [
            members[:, place - back, names[name]] if place >= back else np.full(len(households), self.members[name].size)
            for name, back in self.lags.values()
        ]
        start = np.full(len(households), min(place, BACK))
        return np.column_stack([households, sizes, start, place == sizes - 1, members[:, place], *before]).astype(np.int32)

    def _nobody(self, households: Codes) -> NDArray[np.int32]:
        absent = [*(one.size for one in self.members), *(self.members[name].size for name, _ in self.lags.values())]
        own = [0, len(STARTS) - 1, 1, *absent]
        return np.column_stack([households, np.broadcast_to(np.array(own), (len(households), len(own)))]).astype(np.int32)

    @staticmethod
    def blocks(size: int) -> tuple[int, int]:
        """Return how `records` arranges persons with `size` rows: a record a row, and one for a person without rows."""
        return max(1, size), 1


def linked(households: Domain, members: Domain, most: int, rules: Sequence[object], stated: Stated) -> SequenceLink:
    """Return the link that a spec asks for.

    Args:
        households: Columns of the persons.
        members: Columns of the rows.
        most: Largest number of rows of a person that count, from 1 to 10.
        rules: Combinations that cannot occur, as JSON; they may name the number of rows, the row's place and whether it is the last.
        stated: The spec's section `extensions`.

    Raises:
        InputError: A rule is invalid or counts members, or the tables cannot be linked so (`SequenceLink`).
        CapacityError: The table of a rule has too many cells.
    """
    if most > MOST:
        problem = f"of a person in order, at most {MOST} rows count, the first ones, and it says {count_text(most)}"
        raise InputError("unit.max_rows_per_person", problem, f"give a number up to {MOST}; later rows are then not in the release")
    for name in (one for one in ("event_key", "event_column", "most_events") if one in stated and "events" not in stated):
        raise InputError(f"extensions.{name}", "it is of a third table, and none is named", "name its file as events, or leave this out")
    order, gap = _one(stated, "order"), _one(stated, "gap")
    new: Mapping[str, object] = {"order": None if order == FILE_ORDER else order, "gap": gap, "everybody": "constant" in stated}
    new = {**new, "read_as": _one(stated, "order_as") or ANY}
    return SequenceLink(households, members, most, **new).with_rules(rules)  # type: ignore[arg-type]


def _of_rows(rule: StructuralZeros, link: SequenceLink) -> StructuralZeros:
    """Return a rule that does not bind persons without rows if it is of rows.

    One that names a row's own column never does: its cells are values, and an absent row has none. One that names only places, last rows
    or rows before gets the number of rows, so that it is of persons with rows.
    """
    names = {*rule.attributes}
    if link.everybody or names & {*link.members.names} or not names & {START, LAST, *link.lags}:
        return rule
    some = tuple(range(1, link.most + 1))
    if NUMBER not in names:
        return replace(rule, attributes=(*rule.attributes, NUMBER), boxes=tuple((*box, some) for box in rule.boxes))
    place = rule.attributes.index(NUMBER)
    kept = [(*box[:place], tuple(code for code in box[place] if code), *box[place + 1 :]) for box in rule.boxes]
    return replace(rule, boxes=tuple(box for box in kept if box[place]))


def _one(stated: Stated, name: str) -> str | None:
    texts = stated.get(name)
    return texts[0] if isinstance(texts, list) else None


def _present(name: str, nobody: int, absent: tuple[int, ...]) -> StructuralZeros:
    """Return the rule that a column has its last cell (code `nobody`, no row) exactly where `START` has a code in `absent`."""
    others = tuple(code for code in range(len(STARTS)) if code not in absent)
    boxes = ((absent, tuple(range(nobody))), (others, (nobody,)))
    return StructuralZeros((START, name), boxes)
