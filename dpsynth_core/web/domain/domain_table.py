"""The domain as the table that the curator edits: one row per column of the file, texts as typed, complete or not.

A row is a dict of JSON values:

    column    name in the file;  use: False drops it;  kind: one of `kinds.registry.KINDS`
    values    categories as listed; labels: names to show instead, as many, or empty;  dtype: type of the released column
    lower, upper, bins     texts; bins holds the width of each ("10", for dates also "month"), a number of equal ones ("32 bins"), the
                           edges separated by commas, or nothing for the default; for kind "coded" the number of codes
    missing, other         whether empty values, and those outside, have a cell of their own (yes, unless the curator says otherwise)
    missing_as, other_as   {"as": label, "why": reason} of the cell that they count in instead, or None
    nearest                whether numbers beyond the bounds count in the nearest bin
    decimals  digits to release, or None;  options: what else its kind has, as domains write it, such as the precision of times
    note      what to mind, in our own words
    about     what the column is about, for people (`Attribute.label`)
    most      above 0: its values are to be learnt with noise and become so many cells at most
    guessed   whether bounds or kind were filled in from the name of the column alone, and nobody has confirmed them
    origin    where it came from, one of domain.ORIGINS, or nothing while nobody said anything about it

`attribute` turns a row into a domain attribute or says in one sentence what is wrong. Plain functions; no records are seen here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.guess import Guess
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.attribute import DEFAULT_MOST, Attribute, Recode, scale_of
from dpsynth_core.vocabulary.bins import default_edges, is_equal, width_of
from dpsynth_core.vocabulary.domain import DATA, LEARNT, ORIGINS, Column, Domain
from dpsynth_core.vocabulary.filled import Filled, filled
from dpsynth_core.vocabulary.kinds import hierarchies
from dpsynth_core.vocabulary.kinds.fillings import IDENTIFIER
from dpsynth_core.vocabulary.kinds.hierarchies import Hierarchy
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.numbers import plain_number
from dpsynth_core.vocabulary.kinds.registry import KINDS, of_form
from dpsynth_core.vocabulary.kinds.scale import Scale
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.usual import Role, UsualList, UsualRange, Writing

Row = dict[str, Any]

BLANK: Row = {
    "use": True,
    "kind": "categorical",
    "values": [],
    "labels": [],
    "dtype": "string",
    "lower": "",
    "upper": "",
    "bins": "",
    "missing": True,
    "other": True,
    "missing_as": None,
    "other_as": None,
    "nearest": False,
    "decimals": None,
    "options": {},
    "note": "",
    "about": "",
    "most": 0,
    "guessed": False,
    "origin": "",
}
_LEFT_OUT = {
    Role.IDENTIFIER: "Its name looks like an identifier: its values are left out. If it is none, use it and choose its kind.",
    Role.TEXT: "Its name looks like free text, which points at people: use it only if a codebook lists its values.",
}
_TELLS_APART = "It tells people apart: it is used to limit rows per person, and none of its values is released."
_NEW_NUMBERS, _NEW_CODES = "1", "P000001"
"""The first new identifier, until the curator writes another."""
_UNNAMED = ("column_1", "column_2")
"""What readers call a first column without a name; where a whole header is missing, there is the second one too."""
LISTED, BINNED = of_form(Form.LISTED), of_form(Form.BINNED)
_NOT_OF_THIS_TABLE = ("domain", "none of its columns is in the table", "check that it belongs to this table")
EDITABLE = ("use", "kind", "lower", "upper", "bins", "missing", "other")
MANY_VALUES = 1_000
_EQUALS = " = "
OWN, NEVER, NEAREST, COUNT_AS = "own", "never", "nearest", "as"
"""What happens to empty values and to those outside: a cell of their own; they cannot occur; the nearest bin; a cell that is named."""


def blank(columns: Iterable[str]) -> list[Row]:
    """A row for each column, with nothing said about it yet."""
    return [{"column": name, **BLANK, "values": [], "labels": []} for name in columns]


def fresh(name: str, declared: Mapping[str, Any] | None = None) -> Row:
    """The first row of a column: what its name, which is public, and the type that its file declares suggest.

    declared: an entry of `sources.labels.declared_domain`. Columns whose name promises an identifier or free text are left out.
    """
    (row,) = blank([name])
    kind = str(declared["kind"]) if declared and not declared.get("categories") and declared["kind"] != "categorical" else ""
    row |= {"kind": kind or "categorical", "about": str((declared or {}).get("label", ""))}
    role, suggestion = usual.role(name), usual.suggested(name)
    if role in _LEFT_OUT:
        numbered = _new_identifiers(kind == "integer") if role is Role.IDENTIFIER else {}
        return row | numbered | {"use": False, "note": _LEFT_OUT[role]}
    if isinstance(suggestion, UsualRange) and kind in ("", suggestion.kind):
        return row | with_range(suggestion) | {"guessed": True, "origin": "usual"}
    if isinstance(suggestion, UsualList) and not kind:
        return row | {"kind": suggestion.kind}
    if role is Role.DATE and not kind:
        return row | {"kind": "date"}
    if declared and declared.get("dtype") == "bool":
        return row | {"values": ["false", "true"], "dtype": "bool", "origin": "labels"}
    return row


def with_range(chosen: UsualRange) -> Row:
    """The part of a row that takes usual bounds."""
    return {"kind": chosen.kind, "lower": chosen.lower, "upper": chosen.upper, "bins": chosen.bins, "decimals": chosen.decimals}


def with_writing(chosen: UsualList, writing: Writing) -> Row:
    """The part of a row that takes a usual list, written so."""
    return {"kind": chosen.kind, "values": list(writing.values), "labels": list(writing.labels), "dtype": "string"}


def left_out(row: Row) -> Row:
    """The row of the column that tells people apart: its values are not released, and new identifiers only if the curator wants them."""
    return row | _new_identifiers(row["kind"] == "integer") | {"use": False, "note": _TELLS_APART}


def offers_identifiers(row: Row) -> bool:
    """Whether the column is left out and looks like one whose values tell people apart, so that rows could have new ones."""
    return not row["use"] and row["kind"] == IDENTIFIER.name


def _new_identifiers(are_numbers: bool) -> Row:
    """The part of a row that replaces the column by identifiers that are counted up."""
    return {"kind": IDENTIFIER.name, "options": {"pattern": _NEW_NUMBERS if are_numbers else _NEW_CODES}}


def not_planned(row: Row) -> Row:
    """The row of a column that came with a table, and that the plan made before it does not name."""
    return row | {"use": False, "note": "Your plan does not name it."}


def fitted(rows: Sequence[Row], columns: Sequence[str], declared: Sequence[Mapping[str, Any]] = ()) -> list[Row]:
    """The rows in the order of the table's columns: those of columns that are gone left out, fresh ones added for new columns.

    declared: what the file says of its columns.
    """
    by_column, types = {row["column"]: row for row in rows}, {entry["name"]: entry for entry in declared}
    first = {name: fresh(name, types.get(name)) for name in columns if name not in by_column}
    if _UNNAMED[0] in first and _UNNAMED[1] not in columns:
        first[_UNNAMED[0]] |= {"use": False, "note": "Its header is empty, as that of an index: use it only if it is none."}
    return [blank([name])[0] | by_column[name] if name in by_column else first[name] for name in columns]


def row_of(attribute: Column) -> Row:
    """The row that means this column."""
    if isinstance(attribute, Filled):
        stated = {"value" if attribute.is_constant else "pattern": attribute.text}
        entry: Row = {"kind": attribute.kind, "about": attribute.label, "dtype": attribute.dtype, "options": stated}
        return blank([attribute.name])[0] | {"use": True, "note": ""} | entry
    row = blank([attribute.name])[0] | {"use": True, "note": "", "kind": attribute.kind, "about": attribute.label} | _cells_of(attribute)
    if attribute.most:
        learnt = {"most": attribute.most, "missing": True, "other": True, "nearest": False}
        return row | learnt | {"options": _typed_options(attribute)}
    if attribute.is_coded:
        return row | {"bins": str(attribute.size)}
    if attribute.is_listed:
        listed = {"values": list(attribute.categories), "labels": list(attribute.labels), "dtype": attribute.dtype}
        return row | listed | {"options": _typed_options(attribute)}
    return row | {
        "lower": _number_text(attribute.scale.stated(attribute.lower)),
        "upper": _number_text(attribute.scale.stated(attribute.upper)),
        "bins": _bins_text(attribute),
        "decimals": attribute.decimals,
        "options": _typed_options(attribute),
    }


def attribute(row: Mapping[str, Any]) -> Attribute:
    """What a row means. Raises InputError naming the column."""
    declared = _declared(row)
    return replace(declared, label=row["about"].strip()) if row["about"].strip() else declared


def _declared(row: Mapping[str, Any]) -> Attribute:
    name, kind = row["column"], row["kind"]
    if row["most"]:
        precision = row["options"].get("precision", "") if KINDS[kind].precisions else ""
        return Attribute.unknown(name, kind, row["most"], precision, _grouping(row))
    if KINDS[kind].form is Form.CODED:
        return Attribute.coded(name, _whole(name, row["bins"], "the number of codes (under Bins)"))
    if kind in LISTED:
        if not row["values"] and not KINDS[kind].grouped:
            raise InputError(column_field(name), "its values are not listed yet", "list them, or choose where they come from")
        fields = _cells(row) | ({"dtype": row["dtype"]} if "dtype" in KINDS[kind].fields else {})
        return Attribute.listed(name, kind, row["values"], labels=row["labels"], hierarchy=_grouping(row), **fields)
    if not str(row["lower"]).strip() or not str(row["upper"]).strip():
        raise InputError(column_field(name), "its bounds are not set yet", "give the lowest and the highest value that count")
    return _binned(row)


def _grouping(row: Mapping[str, Any]) -> Hierarchy | None:
    return hierarchies.of_kind(row["column"], KINDS[row["kind"]], row["options"])


def _typed_options(attribute: Attribute) -> dict[str, str]:
    """What its kind has beside bounds and values, as people type it."""
    how = attribute.hierarchy or Hierarchy()
    groups = "\n".join(f"{beginning}{_EQUALS}{group}" for beginning, group in how.groups)
    stated = {"precision": attribute.precision, "level": how.level, "groups": groups, "digits": how.digits}
    return {key: str(value) for key, value in stated.items() if value}


def is_filled(row: Mapping[str, Any]) -> bool:
    """Whether the column has no cells: its rows get values that do not depend on any record."""
    return KINDS[row["kind"]].form is Form.FILLED


def column(row: Mapping[str, Any]) -> Column:
    """What a row means: an attribute, or a column that is filled. Raises InputError naming the column."""
    if not is_filled(row):
        return attribute(row)
    return replace(filled(row["column"], row["kind"], row["options"] | {"dtype": row["dtype"]}), label=row["about"].strip())


def domain_of(rows: Iterable[Row]) -> Domain:
    """The domain of the used rows, in their order. Raises InputError for the first that is wrong."""
    used = [row for row in rows if row["use"]]
    return Domain.of([column(row) for row in used], origin=origin_of(used))


def origin_of(rows: Iterable[Row]) -> str:
    """Where the used rows came from: of several origins the one that says least for them (`domain.ORIGINS`)."""
    there = {row["origin"] for row in rows if row["use"]}
    return next((origin for origin in ORIGINS if origin in there), "")


def with_origins(before: Sequence[Row], after: Sequence[Row], loaded: str = "") -> list[Row]:
    """The rows after a change, each with where it came from. loaded: where the change came from, "" for what the curator typed.

    A row that was read from the private table stays so however it is edited: what it says may still be what only the records could tell.
    Only another source takes its place, which brings a row of its own.
    """
    earlier = {row["column"]: row for row in before}
    return [row | {"origin": _origin(earlier.get(row["column"]), row, loaded)} for row in after]


def _origin(before: Row | None, row: Row, loaded: str) -> str:
    if row["most"]:
        return LEARNT
    if before is None:
        return str(row["origin"] or loaded)
    same = all(row[name] == before[name] for name in row if name not in ("use", "note", "origin", "guessed", "about"))
    if loaded and not row["origin"] and (before["origin"] or not same):
        return loaded
    if same or (not loaded and before["origin"] == DATA):
        return str(row["origin"])
    return loaded or "typed"


def problems(rows: Iterable[Row]) -> dict[str, InputError]:
    """What is wrong, by column, for used rows only."""
    errors: dict[str, InputError] = {}
    for row in rows:
        try:
            if row["use"]:
                column(row)
        except InputError as error:
            errors[row["column"]] = error
    return errors


def place_of_problem(row: Row) -> str:
    """The field under which the problem of a row belongs: "values", "bounds", "bins", "cells"; "" where there is none.

    Found by leaving out, one after the other, what could be wrong.
    """
    own_cells = row | treated("missing", OWN) | treated("other", OWN)
    places = (("", row), ("cells", own_cells), ("bins", own_cells | {"bins": ""} if row["kind"] in BINNED else own_cells))
    return next((place for place, simpler in places if _holds(simpler)), "values" if row["kind"] in LISTED else "bounds")


def is_untouched(row: Row) -> bool:
    """Whether nobody has said yet what the column holds: open, but not wrong."""
    return not any((row["values"], row["lower"], row["upper"], row["bins"], row["most"], row["options"]))


def _holds(row: Row) -> bool:
    return not problems([row | {"use": True}])


def cells(row: Row) -> int | None:
    """Number of cells of a row's attribute; None while it is not complete or not used."""
    try:
        return None if not row["use"] or is_filled(row) else attribute(row).size
    except InputError:
        return None


def with_domain(rows: Sequence[Row], domain: Domain) -> list[Row]:
    """The rows as a given domain says; columns that it does not name are dropped. Raises InputError if none of its names fit."""
    return _replaced(rows, {column.name: row_of(column) | {"origin": domain.origin} for column in domain.columns}, _NOT_OF_THIS_TABLE)


def with_declared(rows: Sequence[Row], declared: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows as a codebook says that may leave columns open; columns that it does not name are dropped. Raises InputError if none of its
    names fit."""
    open_ones = {entry["name"]: fresh(entry["name"], entry) for entry in declared if "to_do" in entry}
    complete = {one.name: row_of(one) | {"origin": "codebook"} for one in labelled_columns(declared)}
    return _replaced(rows, open_ones | complete, _NOT_OF_THIS_TABLE)


def _replaced(rows: Sequence[Row], given: Mapping[str, Row], misfit: tuple[str, str, str]) -> list[Row]:
    """The given rows in place of those of the same columns; other columns are dropped. Raises InputError(*misfit) if no name fits."""
    if not any(row["column"] in given for row in rows):
        raise InputError(*misfit)
    return [given.get(row["column"], {**row, "use": False}) for row in rows]


def with_columns(rows: Sequence[Row], domain: Domain) -> list[Row]:
    """The rows as a domain of some of the columns says; the others stay as they are. Raises InputError if none of its names fit."""
    given = {column.name: column for column in domain.columns}
    if not any(row["column"] in given for row in rows):
        raise InputError("pasted lines", "none of the columns that they name is in the table", "write the names as the table does")
    return [row_of(given[row["column"]]) | {"origin": "codebook"} if row["column"] in given else row for row in rows]


def with_labels(rows: Sequence[Row], declared: Sequence[Mapping[str, Any]], only: str = "") -> list[Row]:
    """The rows with what the file itself says of the columns whose values it labels. only: the one column that is meant, if any."""
    labelled = {a.name: a for a in labelled_columns(declared) if only in ("", a.name)}
    return [row_of(labelled[row["column"]]) | {"origin": "labels"} if row["column"] in labelled else row for row in rows]


def labelled_columns(declared: Sequence[Mapping[str, Any]]) -> tuple[Attribute, ...]:
    """The columns whose values the file labels."""
    entries = [dict(entry) for entry in declared if "to_do" not in entry]
    return Domain.from_json({"version": 1, "attributes": entries}).attributes if entries else ()


def to_learn(rows: Sequence[Row]) -> list[Row]:
    """The rows, of which those that are open and used have their values learnt."""
    open_ones = problems(rows)
    return [row | learning(row, DEFAULT_MOST) if row["column"] in open_ones else row for row in rows]


def learning(row: Row, most: int) -> Row:
    """The part of a row that lets its values be learnt, as the nearest kind for which that can be done; most: 0 to stop that. What was said
    of its values is forgotten."""
    nothing_said = {name: BLANK[name] for name in ("values", "labels", "dtype", "lower", "upper", "bins", "decimals")}
    of_kind = {option.field for option in KINDS[row["kind"]].options if option.learnt}
    options = {"options": {field: entry for field, entry in row["options"].items() if field in of_kind}}
    change = nothing_said | options | treated("missing", OWN) | treated("other", OWN) | {"most": most, "guessed": False}
    return change if not most or _holds(row | change) else change | {"kind": "categorical", "options": {}}


def listed_text(row: Row) -> str:
    """The categories one per line, each with its label after a tab if it has one."""
    labels = row["labels"] or [value if _EQUALS in value else "" for value in row["values"]]
    return "\n".join(f"{value}\t{label}" if label else value for value, label in zip(row["values"], labels, strict=True))


def read_listed(text: str) -> dict[str, list[str]]:
    """`values` and `labels` of a text with one category per line, followed by its label, if it has one, after a tab or an equals sign.
    Blank lines are left out."""
    pairs = [line.split("\t" if "\t" in line else _EQUALS, 1) for line in text.splitlines() if line.strip()]
    values = [pair[0].strip() for pair in pairs]
    labels = [(pair[1].strip() if len(pair) > 1 else "") or value for pair, value in zip(pairs, values, strict=True)]
    return {"values": values, "labels": labels if labels != values else []}


def grid(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as the table on screen: what can be edited there, the number of cells, and what to say about each column."""
    errors = problems(rows)
    frame = pd.DataFrame([{name: row[name] for name in ("column", *EDITABLE)} for row in rows])
    frame["cells"] = pd.array([cells(row) for row in rows], dtype="Int64")
    frame["values"] = [_remark(row, errors.get(row["column"])) for row in rows]
    return frame[["use", "column", "kind", "cells", "values", "lower", "upper", "bins", "missing", "other"]]


def edited(rows: Sequence[Row], changes: Mapping[int, Mapping[str, Any]]) -> list[Row]:
    """The rows after what the curator changed in `grid`, by position. An emptied text cell means an empty text."""
    result = [dict(row) for row in rows]
    for position, values in changes.items():
        for name, new in values.items():
            if name in EDITABLE and int(position) < len(result):
                result[int(position)] |= _edit(result[int(position)], name, new)
    return result


def _edit(row: Row, name: str, new: Any) -> Row:
    """What changes in a row when the curator enters something in one cell of the grid."""
    cell = ("" if new is None else str(new)) if name in ("lower", "upper", "bins") else new
    if cell == row[name]:
        return {}
    change = treated(name, OWN if cell else NEVER) if name in ("missing", "other") else {name: cell}
    return change | {"note": "", "guessed": False}


def with_values(row: Row, values: Iterable[str]) -> Row:
    """The row with more listed values at the end, of codes in groups their groups; its labels are kept."""
    grouping = _grouping(row)
    groups = values if grouping is None else [grouping.group(value) for value in values]
    more = [value for value in dict.fromkeys(groups) if value and value not in row["values"]]
    labels = [*row["labels"], *more] if row["labels"] else []
    return row | {"values": [*row["values"], *more], "labels": labels}


def from_guesses(guesses: Iterable[Guess]) -> list[Row]:
    """Rows as proposed; columns that had better be left out are, with the reason."""
    rows = []
    for guess in guesses:
        row = blank([guess.name])[0] if guess.attribute is None else row_of(guess.attribute)
        numbered = _new_identifiers(guess.attribute is not None) if guess.identifies else {}
        rows.append(row | numbered | {"use": not guess.drop and guess.attribute is not None, "note": guess.advice})
    return rows


def with_guesses(rows: Sequence[Row], guesses: Iterable[Guess]) -> list[Row]:
    """The rows as another table of the same columns looks like; columns that it lacks are dropped. Raises InputError if none fits."""
    misfit = ("public table", "it has none of the columns of your table", "choose one with the same column names")
    return _replaced(rows, {row["column"]: row for row in from_guesses(guesses)}, misfit)


def with_guess(rows: Sequence[Row], guesses: Iterable[Guess], column: str) -> list[Row]:
    """The rows, of which one is as the table looks like."""
    proposed = {row["column"]: row for row in from_guesses(guesses)}
    return [proposed[column] if row["column"] == column and column in proposed else row for row in rows]


def _remark(row: Row, problem: InputError | None) -> str:
    if not row["use"]:
        return f"left out. {row['note']}".strip()
    if problem is not None:
        return f"⚠ {problem.problem}"
    if len(row["values"]) > MANY_VALUES and row["kind"] in LISTED:
        return "⚠ very many values: names or ids identify people, leave them out"
    if row["note"]:
        return f"⚠ {row['note']}"
    return ", ".join(row["labels"] or row["values"])[:200] if row["kind"] in LISTED else ""


def _binned(row: Mapping[str, Any]) -> Attribute:
    name, kind = row["column"], row["kind"]
    options = {key: value for key, value in row["options"].items() if key in KINDS[kind].fields}
    scale = scale_of(name, kind, options.get("precision", ""))
    lower, upper = (_bound(name, scale, str(row[end])) for end in ("lower", "upper"))
    cells = options | _bins(name, scale, str(row["bins"])) | _cells(row) | {"nearest": row["nearest"]}
    decimals = {"decimals": row["decimals"]} if "decimals" in KINDS[kind].fields else {}
    return Attribute.binned(name, kind, lower, upper, **decimals, **cells)


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """What happens to empty values and to those outside, as arguments."""
    stated: dict[str, Any] = {"missing": row["missing"], "other": row["other"]}
    for name in ("missing_as", "other_as"):
        stated[name] = None if row[name] is None else Recode(row[name]["as"], row[name]["why"])
    return stated


def _cells_of(attribute: Attribute) -> Row:
    row: Row = {"missing": attribute.missing, "other": attribute.other, "nearest": attribute.nearest}
    for name, recode in (("missing_as", attribute.missing_as), ("other_as", attribute.other_as)):
        row[name] = None if recode is None else {"as": recode.label, "why": recode.why}
    return row


def treated(which: str, choice: str, label: str = "", why: str = "") -> Row:
    """The part of a row that says what happens to values. which: "missing" or "other"; choice: one of `treatments`."""
    recode = {"as": label, "why": why} if choice == COUNT_AS else None
    changed: Row = {which: choice == OWN, f"{which}_as": recode}
    return changed | ({"nearest": choice == NEAREST} if which == "other" else {})


def treatment(row: Row, which: str) -> str:
    """Which of `treatments` a row has chosen."""
    if row[f"{which}_as"] is not None:
        return COUNT_AS
    return OWN if row[which] else NEAREST if which == "other" and row["nearest"] else NEVER


def treatments(row: Row, which: str) -> tuple[str, ...]:
    """What may happen to empty values, or to those outside."""
    return (OWN, NEVER, *([NEAREST] if which == "other" and row["kind"] not in LISTED else []), COUNT_AS)


def value_labels(row: Row) -> tuple[str, ...]:
    """The labels of a row's values, without other cells; none while the row is not complete."""
    try:
        if is_filled(row):
            return ()
        declared = attribute(row | {"missing_as": None, "other_as": None})
    except InputError:
        return ()
    return declared.cell_labels()[: declared.values]


def _bins_text(attribute: Attribute) -> str:
    """What to type for the bins of an attribute; `_bins` reads it."""
    scale, lower, upper, edges = attribute.scale, attribute.lower, attribute.upper, attribute.edges
    if edges == default_edges(attribute.name, scale, lower, upper):
        return ""
    if (width := width_of(scale, lower, upper, edges)) is not None:
        return width if isinstance(width, str) else _number_text(width)
    if is_equal(attribute.name, scale, lower, upper, edges):
        return f"{len(edges) - 1} bins"
    return ", ".join(_edge_text(attribute, edge) for edge in edges)


def _bins(name: str, scale: Scale, text: str) -> dict[str, Any]:
    """Bins as arguments."""
    entered = text.strip().lower()
    parts = [part.strip() for part in entered.split(",") if part.strip()]
    if not parts:
        return {}
    if entered.endswith("bins"):
        return {"bins": _whole(name, entered.removesuffix("bins"), "the number of bins")}
    if len(parts) > 1:
        return {"edges": [_bound(name, scale, part) for part in parts]}
    if scale.widths and (not entered[0].isdigit() or entered in scale.widths):
        return {"width": _named_width(scale, entered)}
    return {"width": _whole(name, entered, "the width of its bins") if scale.whole else _bound(name, scale, entered)}


def _named_width(scale: Scale, entered: str) -> Any:
    """A width as people say it: "hours" are hours, and a week of dates is seven days."""
    single = entered.removesuffix("s")
    if single in scale.widths and entered not in scale.widths:
        return single
    return 7 if entered in ("week", "weeks") and entered not in scale.widths else entered


def _bound(name: str, scale: Scale, text: str) -> Any:
    """A bound or an edge; dates stay text, which Attribute.day reads."""
    entered = text.strip()
    try:
        return scale.entered(entered)
    except ValueError:
        wanted = f"whole {scale.noun}" if scale.whole else scale.noun
        remedy = "correct the bounds or the bins"
        if "," in entered and scale.axis == "number":
            remedy = "write a decimal point, and no thousands separators"
        raise InputError(column_field(name), f"“{entered[:40]}” is not a {wanted}", remedy) from None


def _whole(name: str, text: Any, what: str) -> int:
    try:
        return int(str(text).strip())
    except ValueError:
        raise InputError(column_field(name), f"{what} is not a whole number", "correct it") from None


def _number_text(bound: Any) -> str:
    return plain_number(bound) if isinstance(bound, float) else str(bound)


def _edge_text(attribute: Attribute, edge: float) -> str:
    """An edge as typed: the last one of whole values names the upper bound, which it includes."""
    scale = attribute.scale
    last = scale.whole and edge == attribute.edges[-1]
    return _number_text(scale.stated_edge(edge - 1 if last else edge))
