"""Structural zeros: combinations of values that cannot occur, from public knowledge (AIM paper, appendix D).

"Infants are not married" is one: no record, real or synthetic, may hold it, so the models of this project give it probability zero. Like
the rest of a domain they are public: they never come from the private table, and private records that contradict them are counted as
they are, silently. Knows the attributes and no record.

JSON, one object a rule, with values named by cell label, by category, or by a range such as "0..15" that cuts no cell (`ranges`):

    {"never": {"age": ["0..15"], "marital": ["married", "divorced"]}}                     a forbidden combination
    {"if": {"relationship": "husband"}, "then": {"sex": ["male"]}}                         the only values possible then
    {"column": "education", "determines": "years", "values": {"bachelor": "13", ...}}      a functional dependency
    {"columns": ["age", "marital"], "cells": [["0 to 15", "married"], ...]}                single cells
    {"column": "admission", "at_most": "discharge"}                                        an order of columns; "below" if never equal

each with an optional "note", a sentence for people.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from datetime import date, time, timedelta
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import CapacityError, InputError, count_text, shown
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.order import FIELD, Order, implied, order
from dpsynth_core.vocabulary.order import sentence as order_sentence
from dpsynth_core.vocabulary.ranges import Between, Chosen, Spans, check_whole, chosen, edges_at, has_ranges, range_in, reached_cells
from dpsynth_core.vocabulary.recoding import other_is_missing

Codes = tuple[int, ...]
Box = tuple[Codes, ...]
"""A set of codes for each attribute, ascending: every combination of them."""
Cells = NDArray[np.bool_]

MAX_CELLS = 1_000_000
"""Cells of the table over one rule's columns; every model stores a table of that size."""
MAX_TOGETHER = 10_000_000
"""Cells of a table over columns that several rules tie together (80 MB, the usual capacity of a model)."""
MAX_OF_ALL = 100_000_000
"""Cells of the tables of all rules: a byte each, gone through once."""
MAX_NOTE = 500
_SHOWN_VALUES = 4


@dataclass(frozen=True)
class StructuralZeros:
    """A rule: the cells of all its boxes cannot occur.

    A box is a set of codes for each column, and stands for every combination of these codes. `checked` checks the
    codes when the rule becomes part of a domain.

    Attributes:
        attributes: The columns, in domain order; each box has one entry per column.
        boxes: The boxes, each a tuple with the ascending codes of each column, counted from 0.
        target: The column of the conclusion, if the rule is "if ... then target must be ..."; else
            "".
        note: A sentence for people, or "".
        order: The order of the rule's two columns, if it is one; its boxes are the cells without
            ordered values, perhaps empty.

    Raises:
        InputError: It names fewer than two columns or one twice, or forbids nothing.
        ValueError: Boxes or the target do not fit the columns.
    """

    attributes: Clique
    boxes: tuple[Box, ...]
    target: str = ""
    note: str = ""
    order: Order | None = None

    def __post_init__(self) -> None:
        if len(set(self.attributes)) < len(self.attributes):
            raise InputError(FIELD, "a column is named twice", "name each column once")
        if len(self.attributes) < 2:
            raise InputError(FIELD, "it names fewer than two columns", "name two or more, or take the value out of its column")
        if (not self.boxes and self.order is None) or any(not codes for box in self.boxes for codes in box):
            raise InputError(FIELD, "it forbids nothing", "name at least one combination")
        if any(len(box) != len(self.attributes) for box in self.boxes):
            raise ValueError("a box needs one set of codes per attribute")
        if self.target and (self.target not in self.attributes or (len(self.boxes) > 1 and len(self.attributes) > 2)):
            raise ValueError("a rule about a column has one box, or depends on one other column")

    def ordered(self, names: Sequence[str]) -> StructuralZeros:
        """Return the same rule with its columns, and the codes of each box, in another order.

        Args:
            names: Names of columns in the new order, with all columns of the rule.

        Raises:
            ValueError: A column of the rule is not among the names.
        """
        order = sorted(range(len(self.attributes)), key=lambda i: names.index(self.attributes[i]))
        boxes = tuple(sorted(tuple(box[i] for i in order) for box in self.boxes))
        return replace(self, attributes=tuple(self.attributes[i] for i in order), boxes=boxes)

    def cells(self, sizes: Sequence[int]) -> Cells:
        """Return a table that is True in the cells of the rule's boxes, one axis per column of the rule.

        Cells that only an order of columns excludes (`order`) are not marked.

        Args:
            sizes: Number of cells of each column of the rule.
        """
        table = np.zeros(sizes, dtype=bool)
        for box in self.boxes:
            table[np.ix_(*box)] = True
        return table


def shown_codes(column: Attribute | None, codes: Codes) -> Codes:
    """Return the codes, and the code of undeclared values if written rows show such values as missing.

    That code is added only if the code for missing values is among `codes`. Otherwise `codes` is returned.

    Args:
        column: The column of the codes; None to return them unchanged.
        codes: Codes of cells, counted from 0, ascending.
    """
    if column is None or not other_is_missing(column) or column.missing_code not in codes:
        return codes
    return tuple(sorted({*codes, cast(int, column.other_code)}))


def as_shown(rule: StructuralZeros, by_name: Mapping[str, Attribute]) -> StructuralZeros:
    """Return the rule for rows as they are written: in columns that are not text, they show undeclared values as empty.

    Where a missing value of such a column is impossible, an undeclared one is impossible too, because both are empty in
    rows. A rule that this does not concern is returned unchanged.

    Args:
        rule: The rule.
        by_name: The attributes by name; columns that are not in it keep their codes.
    """
    names = rule.attributes
    boxes = tuple(tuple(shown_codes(by_name.get(name), codes) for name, codes in zip(names, box, strict=True)) for box in rule.boxes)
    return rule if boxes == rule.boxes else replace(rule, boxes=boxes)


def boxes_of(table: Cells) -> tuple[Box, ...]:
    """Return the True cells of a table of two columns as boxes, () without any.

    Codes of the first column with the same cells share a box.

    Args:
        table: A mask, shape (size of the first column, size of the second).
    """
    rows: dict[Codes, list[int]] = {}
    for code, forbidden in enumerate(table):
        if forbidden.any():
            rows.setdefault(tuple(np.flatnonzero(forbidden).tolist()), []).append(code)
    return tuple((tuple(codes), forbidden) for forbidden, codes in rows.items())


def numbered(position: int) -> str:
    """Return the name of a rule in errors, such as "impossible combination 1" for position 0.

    Args:
        position: Its place in the list of rules, counted from 0.
    """
    return f"{FIELD} {position + 1}"


def checked(zeros: Sequence[StructuralZeros], attributes: Sequence[Attribute]) -> dict[Clique, Cells]:
    """Check the rules of a domain and return, by clique, a table that is True in the impossible cells.

    Rules about the same columns share a table, with an axis per column in domain order. Pairs of columns that
    only follow from several orders have tables too. Without rules the result is empty.

    Args:
        zeros: The rules, each with its columns in domain order.
        attributes: The columns of the domain.

    Raises:
        InputError: A column or code does not exist, values of a column are to be learnt, a rule forbids every cell
            of its columns, orders form a circle, or the rules together leave no possible row.
        CapacityError: The columns of a rule have more than a million cells together, columns that several rules tie
            together more than 10 million, or the tables of all rules more than 100 million.
    """
    by_name = {a.name: a for a in attributes}
    tables: dict[Clique, Cells] = {}
    looked_at = 0
    for i, rule in enumerate(zeros):
        sizes = _sizes(rule.attributes, by_name, numbered(i))
        looked_at += math.prod(sizes)
        if looked_at > MAX_OF_ALL:
            problem = f"the tables of the rules up to it have more than {MAX_OF_ALL:,} cells"
            raise CapacityError(numbered(i), problem, "put rules about the same columns together, or remove some")
        if any(not 0 <= code < size for box in rule.boxes for codes, size in zip(box, sizes, strict=True) for code in codes):
            raise InputError(numbered(i), "a value is not one of its column", "correct it, or remove the rule")
        rule = as_shown(rule, by_name)
        table = rule.cells(sizes) | tables.get(rule.attributes, np.zeros((), dtype=bool))
        if table.all():
            raise InputError(numbered(i), "it leaves no combination of its columns possible", "forbid less, or drop a column")
        tables[rule.attributes] = table
    _add_orders(tables, [rule.order for rule in zeros if rule.order is not None], attributes)
    tables = {clique: table for clique, table in tables.items() if table.any()}  # an order may decide no cell
    for _ in eliminated(tables, {a.name: a.size for a in attributes}):
        pass  # each step checks that some row is still possible
    return tables


def _add_orders(tables: dict[Clique, Cells], rules: Sequence[Order], attributes: Sequence[Attribute]) -> None:
    """Add to `tables` the impossible cells of all orders of columns.

    Orders that follow from others (a <= b, b <= c) are added too.

    Raises:
        InputError: No combination of two columns is left possible.
    """
    by_name = {a.name: a for a in attributes}
    for rule in implied(rules):
        _sizes((rule.first, rule.second), by_name, "impossible combinations")
        cells = rule.impossible(by_name[rule.first], by_name[rule.second])
        clique = tuple(a.name for a in attributes if a.name in (rule.first, rule.second))
        cells = cells if clique[0] == rule.first else cells.T
        table = cells | tables.get(clique, np.zeros((), dtype=bool))
        if table.all():
            raise InputError("impossible combinations", "the orders of columns leave no combination possible", "remove one of them")
        tables[clique] = table


def _sizes(columns: Iterable[str], by_name: Mapping[str, Attribute], field: str) -> tuple[int, ...]:
    for name in columns:
        if name not in by_name:
            raise InputError(field, f"{column_field(name)} is not in the domain", "check the spelling, or leave it out")
        if by_name[name].most:
            raise InputError(field, f"the values of {column_field(name)} are to be learnt", "list its values, or leave the rule out")
    sizes = tuple(by_name[name].size for name in columns)
    if math.prod(sizes) > MAX_CELLS:
        problem = f"its columns have {count_text(math.prod(sizes))} cells together"
        raise CapacityError(field, problem, f"name fewer columns or use fewer values: at most {MAX_CELLS:,} cells")
    return sizes


def eliminated(tables: Mapping[Clique, Cells], sizes: Mapping[str, int]) -> Iterator[tuple[str, Clique, Cells]]:
    """Eliminate the columns that have impossible cells one by one, as in a junction tree.

    The column with the smallest table comes next, and nothing is yielded without tables.

    Args:
        tables: For each clique, a table that is True in impossible cells.
        sizes: Number of cells of each column.

    Yields:
        The eliminated column; the clique of all columns that share a table with it at that step,
        itself included, sorted by name; and a table over this clique that is True where the columns
        eliminated before leave a possible row.

    Raises:
        InputError: No row is possible.
        CapacityError: The columns tied together at a step have more than 10 million cells.
    """
    pool = [(clique, ~table) for clique, table in tables.items()]
    left = {name for clique, _ in pool for name in clique}
    around = {name: _around(name, pool) for name in left}
    while left:
        name = min(left, key=lambda n: (math.prod(sizes[m] for m in around[n]), n))
        columns = around[name]
        if math.prod(sizes[m] for m in columns) > MAX_TOGETHER:
            raise CapacityError("impossible combinations", "too many columns are tied together", "remove rules, or use fewer values")
        bucket = [entry for entry in pool if name in entry[0]]
        pool = [entry for entry in pool if name not in entry[0]]
        possible = np.ones([sizes[m] for m in columns], dtype=bool)
        for clique, table in bucket:
            order = [clique.index(m) for m in columns if m in clique]
            possible &= table.transpose(order).reshape([sizes[m] if m in clique else 1 for m in columns])
        rest: Cells = np.asarray(possible.any(axis=columns.index(name)))
        if not rest.any():
            raise InputError("impossible combinations", "together they leave no possible row", "remove one of the rules")
        yield name, columns, possible
        pool.append((tuple(m for m in columns if m != name), rest))
        left.discard(name)
        around |= {m: _around(m, pool) for m in columns if m != name}


def _around(name: str, pool: Sequence[tuple[Clique, Cells]]) -> Clique:
    return tuple(sorted({m for clique, _ in pool if name in clique for m in clique}))


def values_in_words(attribute: Attribute, codes: Iterable[int]) -> str:
    """Return the cells with these codes in words, such as “0 to 17” or “missing”; unescaped, "" without codes.

    Neighbouring bins are joined; beyond four values only the number of further ones is stated.
    """
    return _either(_spans(attribute, _labels(attribute, codes)))


def from_json(obj: object, attributes: Sequence[Attribute], position: int = 0) -> StructuralZeros:
    """Return the rule that JSON states; a range in it counts as the cells that it covers whole.

    Args:
        obj: The JSON value, in one of the forms that this file's first lines list.
        attributes: The columns of the domain.
        position: Place of the rule in its list, counted from 0, for errors.

    Raises:
        InputError: It is not a rule about these columns, a range covers no whole cell, or its note is longer than 500
            characters.
        CapacityError: The table of its columns has more than a million cells.
    """
    field = numbered(position)
    form = next((form for form in _FORMS if isinstance(obj, Mapping) and form in obj), None)
    if not isinstance(obj, Mapping) or form is None:
        forms = "; ".join(", ".join(entries) for entries, _ in _FORMS.values())
        raise InputError(field, "it is not a rule", f"give an object with the entries of one form: {forms}")
    entries, read = _FORMS[form]
    unknown = [str(key) for key in obj if key not in (*entries, "note")]
    if unknown or not all(key in obj for key in entries):
        wanted = ", ".join(entries)
        named = f" ({shown(unknown[0])})" if unknown else ""
        raise InputError(field, f"its entries are not {wanted}{named}", f"give {wanted} and a note")
    note = obj.get("note", "")
    if not isinstance(note, str) or len(note) > MAX_NOTE:
        raise InputError(field, "its note is not a short text", f"write at most {MAX_NOTE} characters")
    by_name = {a.name: a for a in attributes}
    try:
        return replace(read(obj, _Reader(by_name, field)), note=note).ordered(tuple(by_name))
    except InputError as error:
        raise type(error)(field if error.field == FIELD else error.field, error.problem, error.remedy) from None


def parts_named(attributes: Iterable[Attribute], said: object, field: str) -> dict[str, Chosen]:
    """Return, by column, the cells that contain named values, even if a range covers only a part of a cell.

    Args:
        attributes: The columns that may be named.
        said: By column, a value or a list of values; each a text, number, date, time or
            `ranges.Between`.
        field: Name of `said` in errors.

    Raises:
        InputError: `said` names no column or no value of a column, a column or a value is not known, a range is
            not valid, or values of a column are to be learnt.
        CapacityError: The columns have more than a million cells together.
    """
    return _Reader({a.name: a for a in attributes}, field).parts(said)


def cells_named(attributes: Iterable[Attribute], said: object, field: str) -> dict[str, Codes]:
    """Return, by column, the codes of the cells of named values, ascending; a range must cover whole cells.

    Args:
        attributes: The columns that may be named.
        said: By column, a value or a list of values; each a text, number, date, time or `ranges.Between`.
        field: Name of `said` in errors.

    Raises:
        InputError: `said` names no column or no value of a column, a column or a value is not known, a range is
            not valid or covers only a part of a cell, or values of a column are to be learnt.
        CapacityError: The columns have more than a million cells together.
    """
    by_name = {a.name: a for a in attributes}
    parts = parts_named(by_name.values(), said, field)
    for name, of in parts.items():
        check_whole(by_name[name], of, field)
    return reached_cells(parts)


def cells_sealed(attributes: Iterable[Attribute], said: object, field: str) -> dict[str, Codes]:
    """Return, by column, the codes of the cells of named values, ascending, without cells that a range covers in part.

    Old sealed plans have such ranges; new plans refuse them (`check_ranges`).

    Args:
        attributes: The columns that may be named.
        said: By column, a value or a list of values; each a text, number, date, time or `ranges.Between`.
        field: Name of `said` in errors.

    Raises:
        InputError: `said` names no column or no value of a column, a column or a value is not known, a range is
            not valid or covers no whole cell, or values of a column are to be learnt.
        CapacityError: The columns have more than a million cells together.
    """
    return _Reader({a.name: a for a in attributes}, field).sides(said)


def check_ranges(said: object, attributes: Iterable[Attribute], field: str) -> None:
    """Check that no range in a rule or criterion covers only a part of a cell.

    Args:
        said: The JSON of the rule or criterion. Parts of an unknown form, and values that cannot be read, are skipped.
        attributes: The columns of the domain.
        field: Name of `said` in errors.

    Raises:
        InputError: A range covers only a part of a cell. The error names the nearest valid ranges.
    """
    for attribute, found in _ranges_in(said, attributes, field):
        check_whole(attribute, found, field)


def edges_at_ranges(said: object, attributes: Iterable[Attribute]) -> dict[str, list[Any]]:
    """Return, by column, bin edges at which the ranges in a rule begin and end.

    With these edges no range covers only a part of a bin. They are the inner edges of the column's bins, in the
    form of a domain. Columns whose present edges suffice are left out.

    Args:
        said: The rule as JSON; values that cannot be read are skipped.
        attributes: The columns of the domain.
    """
    cut = dict[str, dict[int, Spans]]()
    by_name = {a.name: a for a in attributes}
    for attribute, found in _ranges_in(said, by_name.values(), ""):
        for code, spans in found.cut.items():
            of_column = cut.setdefault(attribute.name, {})
            of_column[code] = (*of_column.get(code, ()), *spans)
    return {name: edges_at(by_name[name], of) for name, of in cut.items()}


def _ranges_in(said: object, attributes: Iterable[Attribute], field: str) -> Iterator[tuple[Attribute, Chosen]]:
    """Yield (column, cells) for each readable value of an ordered column in the JSON of a rule or criterion.

    Other values are skipped.
    """
    by_name = {a.name: a for a in attributes if has_ranges(a)}
    read = _Reader(by_name, field)
    for name, values in _named_in(said, by_name):
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                try:
                    found = read.chosen(name, value)
                except InputError:
                    continue
                yield by_name[name], found


def _named_in(said: object, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield (column, value or list of values) for each column of `names` in the JSON of a rule or criterion."""
    if not isinstance(said, Mapping):
        return
    if {"column", "determines", "values"} <= set(said) and isinstance(said["values"], Mapping):
        yield from ((str(said["column"]), value) for value in said["values"] if said["column"] in names)
        yield from ((str(said["determines"]), value) for value in said["values"].values() if said["determines"] in names)
        return
    if {"columns", "cells"} <= set(said) and isinstance(said["columns"], list) and isinstance(said["cells"], list):
        for cell in said["cells"]:
            pairs = zip(said["columns"], cell, strict=False) if isinstance(cell, list) else ()
            yield from ((str(name), value) for name, value in pairs if name in names)
        return
    for sides in said.values():
        if isinstance(sides, Mapping):
            yield from ((str(name), value) for name, value in sides.items() if name in names)


@dataclass(frozen=True)
class _Reader:
    by_name: Mapping[str, Attribute]
    field: str
    places: dict[str, Mapping[str, int]] = dataclass_field(default_factory=dict)
    """Of each column, code by cell label and by category, as `_places` finds them."""

    def sides(self, obj: Any) -> dict[str, Codes]:
        self._check_sides(obj)
        return {str(name): self.codes(str(name), values) for name, values in obj.items()}

    def parts(self, obj: Any) -> dict[str, Chosen]:
        self._check_sides(obj)
        return {str(name): self.chosen(str(name), values) for name, values in obj.items()}

    def _check_sides(self, obj: Any) -> None:
        if not isinstance(obj, Mapping) or not obj:
            raise InputError(self.field, "it does not say which columns", "name one or more, each with its values")
        self.table(obj)

    def table(self, columns: Iterable[Any]) -> tuple[int, ...]:
        return _sizes([str(name) for name in columns], self.by_name, self.field)

    def codes(self, name: str, values: Any) -> Codes:
        """Return the codes, ascending, of a value or list of values; of a range, the cells that it covers whole.

        Raises:
            InputError: The list is empty, a value is unknown, or a range covers no whole cell.
        """
        items = values if isinstance(values, list) else [values]
        if not items:
            raise InputError(self.field, f"no value of {column_field(name)} is named", "name at least one")
        codes = set[int]()
        for item in items:
            found = self.chosen(name, item)
            if found.cut and not found.whole_cells:
                check_whole(self.by_name[name], found, self.field)
            codes.update(found.whole_cells)
        return tuple(sorted(codes))

    def chosen(self, name: str, values: Any) -> Chosen:
        """Return the cells that a value or list of values selects, and those that a range covers in part.

        Raises:
            InputError: The list is empty, a value is unknown, or a range is not valid.
        """
        attribute, codes, ranges = self.by_name[name], set[int](), list[Between]()
        for value in values if isinstance(values, list) else [values]:
            one = self._one(name, value)
            if isinstance(one, Between):
                ranges.append(one)
            else:
                codes.add(one)
        if not codes and not ranges:
            raise InputError(self.field, f"no value of {column_field(name)} is named", "name at least one")
        of = chosen(attribute, ranges)
        return Chosen(tuple(sorted({*codes, *of.cells})), {code: spans for code, spans in of.cut.items() if code not in codes})

    def but(self, name: str, codes: Codes) -> Codes:
        chosen = frozenset(codes)
        others = tuple(code for code in range(self.by_name[name].size) if code not in chosen)
        if not others:
            raise InputError(self.field, f"every value of {column_field(name)} is allowed, so it forbids nothing", "leave values out")
        return others

    def _places(self, name: str) -> Mapping[str, int]:
        if name not in self.places:
            attribute = self.by_name[name]
            labels = {label: code for code, label in enumerate(attribute.cell_labels())}
            self.places[name] = {category: code for code, category in enumerate(attribute.categories)} | labels
        return self.places[name]

    def _one(self, name: str, value: Any) -> int | Between:
        """Return the code of the cell with this label or category, or the range that the value states.

        A number, date or time without such a label is a range of that single value.

        Raises:
            InputError: It is neither.
        """
        attribute = self.by_name[name]
        if isinstance(value, Between):
            return value
        if not isinstance(value, str | int | float | bool | date | time | timedelta):
            raise InputError(self.field, f"a value of {column_field(name)} is not a text", "name values as the domain does")
        text = str(value).lower() if isinstance(value, bool) else str(value).strip()
        if (code := self._places(name).get(text)) is not None:
            return code
        said = range_in(text) if isinstance(value, str) else None
        if said is not None and has_ranges(attribute):
            return said
        if attribute.is_number and has_ranges(attribute) and not isinstance(value, bool) and _is_value(attribute, value):
            return Between(value, value)
        labels = attribute.cell_labels()
        such = f", such as {', '.join(map(shown, labels[:_SHOWN_VALUES]))}" if attribute.is_listed else ""
        inside = "; a range is written as 20..39, 20.. or ..39" if attribute.is_number else such
        raise InputError(self.field, f"{column_field(name)} has no value {shown(text)}", f"use the values of the domain{inside}")


def _is_value(attribute: Attribute, value: Any) -> bool:
    """Return whether a column of numbers, dates or times can have this value."""
    try:
        number = attribute.scale.number(attribute.scale.typed("", value))
    except InputError:
        return False
    return isinstance(number, int | float) and attribute.edges[0] <= number <= attribute.edges[-1] - attribute.scale.whole


def _never(obj: Mapping[str, Any], read: _Reader) -> StructuralZeros:
    sides = read.sides(obj["never"])
    return StructuralZeros(tuple(sides), (tuple(sides.values()),))


def _implication(obj: Mapping[str, Any], read: _Reader) -> StructuralZeros:
    premises, then = read.sides(obj["if"]), read.sides(obj["then"])
    if len(then) != 1:
        raise InputError(read.field, "“then” names more than one column", "write one rule for each")
    ((target, allowed),) = then.items()
    read.table((*premises, target))
    return StructuralZeros((*premises, target), ((*premises.values(), read.but(target, allowed)),), target)


def _dependency(obj: Mapping[str, Any], read: _Reader) -> StructuralZeros:
    column, target, values = str(obj["column"]), str(obj["determines"]), obj["values"]
    read.table((column, target))
    if not isinstance(values, Mapping) or not values:
        raise InputError(read.field, "“values” is not a table", 'write {"value": "the value it determines", ...}')
    boxes: dict[int, Box] = {}
    for value, allowed in values.items():
        for code in read.codes(column, value):
            if code in boxes:
                raise InputError(read.field, f"a value of {column_field(column)} is named twice", "name it once")
            boxes[code] = ((code,), read.but(target, read.codes(target, allowed)))
    return StructuralZeros((column, target), tuple(boxes[code] for code in sorted(boxes)), target)


def _listed_cells(obj: Mapping[str, Any], read: _Reader) -> StructuralZeros:
    columns, cells = obj["columns"], obj["cells"]
    if not isinstance(columns, list) or not isinstance(cells, list):
        raise InputError(read.field, "“columns” or “cells” is not a list", "list the columns, and one list of values per cell")
    read.table(columns)
    if any(not isinstance(cell, list) or len(cell) != len(columns) for cell in cells):
        raise InputError(read.field, "a cell has not one value per column", "name the values in the order of the columns")
    forbidden: set[Codes] = set()
    listed = 0
    for cell in cells:
        sides = [read.codes(str(name), value) for name, value in zip(columns, cell, strict=True)]
        listed += math.prod(map(len, sides))
        if listed > MAX_CELLS:
            raise CapacityError(read.field, f"it lists more than {MAX_CELLS:,} combinations", "list each once, or use “never”")
        forbidden.update(itertools.product(*sides))
    return StructuralZeros(tuple(map(str, columns)), tuple(tuple((code,) for code in codes) for codes in sorted(forbidden)))


def _order(obj: Mapping[str, Any], read: _Reader) -> StructuralZeros:
    strict = "below" in obj
    first, second = str(obj["column"]), str(obj["below" if strict else "at_most"])
    if first == second:
        raise InputError(read.field, "it compares a column with itself", "name two columns")
    read.table((first, second))
    rule = order(read.by_name[first], read.by_name[second], strict, read.field)
    return StructuralZeros((first, second), boxes_of(rule.impossible(read.by_name[first], read.by_name[second])), order=rule)


_FORMS = {
    "never": (("never",), _never),
    "if": (("if", "then"), _implication),
    "determines": (("column", "determines", "values"), _dependency),
    "cells": (("columns", "cells"), _listed_cells),
    "at_most": (("column", "at_most"), _order),
    "below": (("column", "below"), _order),
}
"""By the entry that tells a form: all its entries, and what reads it."""


def to_json(zeros: StructuralZeros, attributes: Mapping[str, Attribute]) -> dict[str, Any]:
    """Return the rule as JSON, in one of the forms that `from_json` reads; values are named by cell labels.

    A rule with several boxes and no target is written as single cells.

    Args:
        zeros: The rule.
        attributes: The columns by name.
    """
    note = {"note": zeros.note} if zeros.note else {}
    if zeros.order is not None:
        return {"column": zeros.order.first, "below" if zeros.order.gap else "at_most": zeros.order.second} | note
    named = [{name: _labels(attributes[name], codes) for name, codes in zip(zeros.attributes, box, strict=True)} for box in zeros.boxes]
    if zeros.target and len(zeros.boxes) == 1:
        premises = {name: values for name, values in named[0].items() if name != zeros.target}
        return {"if": premises, "then": {zeros.target: _others(attributes[zeros.target], named[0])}} | note
    if zeros.target:
        (column,) = (name for name in zeros.attributes if name != zeros.target)
        values = {box[column][0]: _others(attributes[zeros.target], box) for box in named}
        return {"column": column, "determines": zeros.target, "values": values} | note
    if len(zeros.boxes) == 1:
        return {"never": named[0]} | note
    cells = [list(cell) for box in named for cell in itertools.product(*box.values())]
    return {"columns": list(zeros.attributes), "cells": cells} | note


def _labels(attribute: Attribute, codes: Iterable[int]) -> list[str]:
    labels = attribute.cell_labels()
    return [labels[code] for code in codes]


def _others(attribute: Attribute, box: Mapping[str, Sequence[str]]) -> list[str]:
    named = frozenset(box[attribute.name])
    return [label for label in attribute.cell_labels() if label not in named]


def sentence(zeros: StructuralZeros, attributes: Mapping[str, Attribute]) -> str:
    """Return the rule as an English sentence; names and labels in it are not escaped.

    The sentence may be shorter than the rule. Of more than four values of a column it quotes four and counts the rest.
    Of listed cells, and of the values of a column that determines another, it only states the number. The note is left
    out.

    Args:
        zeros: The rule.
        attributes: The columns by name.
    """
    if zeros.order is not None:
        return order_sentence(zeros.order, attributes)
    obj = to_json(zeros, attributes)
    if "if" in obj:
        premises = " and ".join(f"{name} is {_either(_spans(attributes[name], values))}" for name, values in obj["if"].items())
        ((target, allowed),) = obj["then"].items()
        return f"If {premises}, then {target} must be {_either(_spans(attributes[target], allowed))}."
    if "determines" in obj:
        return f"{obj['column']} determines {obj['determines']} ({_count(len(obj['values']), 'value')})."
    if "never" in obj:
        sides = {name: _spans(attributes[name], values) for name, values in obj["never"].items()}
        shortest_first = sorted(sides, key=lambda name: len(sides[name]))
        return " never goes with ".join(f"{name} {_either(sides[name])}" for name in shortest_first) + "."
    return f"{_count(len(obj['cells']), 'combination')} of {', '.join(zeros.attributes)} cannot occur."


def _either(values: Sequence[str]) -> str:
    quoted = [f"“{value}”" for value in values[:_SHOWN_VALUES]]
    if len(values) > _SHOWN_VALUES:
        quoted.append(f"{len(values) - _SHOWN_VALUES} more")
    return " or ".join(quoted)


def _spans(attribute: Attribute, values: Sequence[str]) -> Sequence[str]:
    """Return the labels, with neighbouring bins joined: "0 to 15" and "16 to 17" become "0 to 17"."""
    if not attribute.is_number:
        return values
    labels, between = attribute.cell_labels(), " to " if attribute.scale.whole else ","
    runs: list[list[int]] = []
    for code in (labels.index(value) for value in values):
        if runs and code == runs[-1][-1] + 1 and code < attribute.values:
            runs[-1].append(code)
        else:
            runs.append([code])
    ends = [(labels[run[0]], labels[run[-1]]) for run in runs]
    return [a if a == b else a.split(between)[0] + between + b.split(between)[-1] for a, b in ends]


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
