"""A column as the curator edits it: a `Column` with texts as typed, complete or not, and what only the Domain page has. No records here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary import declared as declarations
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.bins import default_edges, is_equal, width_of
from dpsynth_core.vocabulary.column import LEARNT_FIELDS, Column
from dpsynth_core.vocabulary.filled import RowColumn
from dpsynth_core.vocabulary.kinds import hierarchies
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.numbers import plain_number
from dpsynth_core.vocabulary.kinds.registry import IDENTIFIER
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.usual import Role

OWN, NEVER, NEAREST, COUNT_AS = "own", "never", "nearest", "as"
"""The treatments of empty values and of values outside: a cell of their own, impossible, the nearest bin, or a named cell."""
NO_GROUPS: Mapping[str, Any] = {"bins": None, "width": None, "edges": None}
_NO_VALUES = {**NO_GROUPS, **dict.fromkeys(("categories", "labels", "dtype", "lower", "upper", "decimals"))}
_LEFT_OUT = {
    Role.IDENTIFIER: "The name looks like an identifier: its values are left out. Otherwise use the column and choose its kind.",
    Role.TEXT: "The name looks like free text, which points at people: use the column only if a codebook lists its values.",
}
_NEW_NUMBERS, _NEW_CODES = "1", "P000001"
"""The first new identifier until the curator writes another."""
_EQUALS = " = "
_NOTHING: tuple[Any, ...] = (None, "", [])


class ColumnDraft(Column):
    """A column as the curator edits it on the Domain page, complete or not.

    The fields lower, upper, size, bins, width, edges and the options of the kind may be texts as
    typed.

    Attributes:
        use: Whether the column is part of the release.
        note: A remark on the column in the program's own words.
        guessed: Whether only the column's name suggested kind or bounds, and the curator has not
            confirmed them.
        origin: One of `domain.ORIGINS`; "" while nothing is stated about the column.
        table: The name of the second of two linked tables, for its columns; "" for columns of the
            first.
    """

    use: bool = True
    note: str = ""
    guessed: bool = False
    origin: str = ""
    table: str = ""

    @classmethod
    def of(cls, column: RowColumn) -> Self:
        """Return the draft of a complete column, with its bins as a person would type them.

        Default bins are left empty; equal bins are given by their width if possible, otherwise by
        their number. The draft is used, without note and origin.
        """
        draft = super().of(column)
        return draft.changed(**{**NO_GROUPS, **_groups(column)}) if isinstance(column, Attribute) and column.edges else draft

    def changed(self, **fields: Any) -> Self:
        """Return a copy of the draft with these fields replaced. They are not checked."""
        return self.model_copy(update=fields)

    @property
    def is_listed(self) -> bool:
        """True for a column whose values are listed one by one."""
        return self.about.form is Form.LISTED

    @property
    def is_filled(self) -> bool:
        """True if rows get generated values that depend on no record, such as identifiers.

        Such a column has no cells and is not measured.
        """
        return self.about.form is Form.FILLED

    @property
    def is_untouched(self) -> bool:
        """True if nothing is stated about the column's values yet, so that it is open but not wrong."""
        kept = ("name", "kind", "label", "dtype", "labels", "other", "missing", "decimals")
        return all(getattr(self, field) in _NOTHING for field in Column.model_fields if field not in kept)

    @property
    def offers_identifiers(self) -> bool:
        """True if the column is left out and looks like an identifier, so that the rows could get new identifiers."""
        return not self.use and self.kind == IDENTIFIER.name

    def complete(self) -> RowColumn:
        """Return the finished column, also of a column that is not used. Fields that do not belong to its kind are ignored.

        Raises:
            InputError: A field is missing or not valid.
        """
        if self.is_listed and not (self.categories or self.most or self.about.grouped):
            raise InputError(column_field(self.name), "its values are not listed yet", "list them, or choose where they come from")
        own = self.about.fields
        fields = ("discover", "most", *(field for field in LEARNT_FIELDS if field in own)) if self.most else own
        stated = {field: value for field in fields if (value := getattr(self, field)) not in _NOTHING}
        if stated.get("other") == NEAREST and self.about.form is not Form.BINNED:  # said when it was of another kind
            stated["other"] = False
        if codes := [value for value in stated.pop("user_missing", ()) if value in stated.get("categories", ())]:
            stated["user_missing"] = codes  # of values that are still listed
        return Column.model_construct(name=self.name, kind=self.kind, label=self.label, **stated).complete()

    def attribute(self) -> Attribute:
        """Return the finished column, which must be a measured one, not a generated one (AssertionError).

        Raises:
            InputError: A field is missing or not valid.
        """
        made = self.complete()
        assert isinstance(made, Attribute)
        return made

    def problem(self) -> InputError | None:
        """Return the error of a used column that is not complete; None for any other column."""
        try:
            if self.use:
                self.complete()
        except InputError as error:
            return error
        return None

    def place_of_problem(self) -> str:
        """Return the field that is wrong: "values", "bounds", "bins" or "cells"; "" for a complete column.

        A column that is not used is checked as well. The possible causes are removed one after the other until the column
        is complete.
        """
        used = self.changed(use=True)
        own_cells = used.changed(missing=True, other=True)
        places = (("", used), ("cells", own_cells), ("bins", own_cells.changed(**NO_GROUPS)))
        return next((place for place, simpler in places if simpler.problem() is None), "values" if self.is_listed else "bounds")

    def cells(self) -> int | None:
        """Return the number of cells, with those for missing and other values.

        It is None if the column is not complete, not used, or has no cells because its values are generated.
        """
        return None if not self.use or self.is_filled or self.problem() else self.attribute().size

    def value_labels(self) -> tuple[str, ...]:
        """Return the labels of the cells in their order, without those for missing and other values.

        They are () while the column is not complete, and for generated values. Whether the column is used does
        not matter.
        """
        plain = self.changed(use=True, missing=True, other=True)
        if plain.is_filled or plain.problem():
            return ()
        made = plain.attribute()
        return made.cell_labels()[: made.values]

    def treatments(self, which: str) -> tuple[str, ...]:
        """Return the possible treatments of missing values or of values outside the domain, in the order of the page.

        Args:
            which: "missing" or "other".

        Returns:
            Some of `OWN`, `NEVER`, `NEAREST` (for values outside the bounds only) and `COUNT_AS`.
        """
        return (OWN, NEVER, *([NEAREST] if which == "other" and not self.is_listed else []), COUNT_AS)

    def treatment(self, which: str) -> str:
        """Return the chosen treatment of missing values or of values outside the domain.

        Args:
            which: "missing" or "other".

        Returns:
            One of `treatments(which)`.
        """
        stated = getattr(self, which)
        if isinstance(stated, Mapping):
            return COUNT_AS
        return NEAREST if stated == NEAREST and not self.is_listed else NEVER if stated is False else OWN

    def bins_text(self) -> str:
        """Return the bins as text; for a column of codes, the number of codes.

        The text is the width of the bins ("10", for dates also "month"), a number of equal bins
        ("32 bins"), their edges separated by commas, or "" for the default.
        """
        if self.about.form is Form.CODED:
            return self.text("size")
        if self.bins is not None:
            return f"{self.bins} bins"
        return ", ".join(map(_text, self.edges)) if self.edges else self.text("width")

    def read_bins(self, text: str) -> dict[str, Any]:
        """Return the fields of the column, by name, that a text in the form of `bins_text` states, for `changed`.

        The values are texts that are not checked; an empty text states the default bins.
        """
        entered = text.strip().lower()
        parts = [part.strip() for part in entered.split(",") if part.strip()]
        if self.about.form is Form.CODED:
            return {"size": entered or None}
        if entered.endswith("bins"):
            return {**NO_GROUPS, "bins": entered.removesuffix("bins").strip()}
        return {**NO_GROUPS, "edges": parts} if len(parts) > 1 else {**NO_GROUPS, "width": parts[0] if parts else None}

    def text(self, field: str) -> str:
        """Return the value of a field as a person would type it; "" without a value.

        A list becomes one line with spaces. A mapping from the beginnings of codes to groups has one line for
        each beginning.
        """
        stated = getattr(self, field)
        if isinstance(stated, Mapping):
            return "\n".join(f"{beginning}{_EQUALS}{group}" for beginning, group in stated.items())
        return " ".join(map(_text, stated)) if isinstance(stated, list) else _text(stated)

    def listed_text(self) -> str:
        """Return the categories one per line, each followed by a tab and its label if it has one; "" without categories."""
        values = list(map(str, self.categories or ()))
        labels = self.labels or [value if _EQUALS in value else "" for value in values]
        return "\n".join(f"{value}\t{label}" if label else value for value, label in zip(values, labels, strict=True))

    def with_values(self, values: Iterable[str]) -> Self:
        """Return a copy of the column with further listed values at the end; labels are kept.

        Values that are listed already and empty ones are not added. For a column of grouped codes, the groups of
        the values are added instead.
        """
        grouping = hierarchies.of_kind(self.name, self.about, self.to_json())
        before = list(self.categories or ())
        groups = values if grouping is None else [grouping.group(value) for value in values]
        more = [value for value in dict.fromkeys(groups) if value and value not in before]
        return self.changed(categories=[*before, *more], labels=[*self.labels, *more] if self.labels else None)

    def learning(self, most: int) -> Self:
        """Return a copy of the column with values to be learnt, without what was stated about its values.

        A kind that cannot be learnt becomes categorical.

        Args:
            most: The largest number of values; 0 stops the learning, and leaves the column without values.
        """
        forgotten = {option.field: None for option in self.about.options if not option.learnt}
        asked = {"discover": True, "most": most} if most else {"discover": None, "most": None}
        draft = self.changed(**_NO_VALUES | forgotten | {"missing": True, "other": True, "guessed": False} | asked)
        if not most or draft.changed(use=True).problem() is None:
            return draft
        return draft.changed(kind="categorical", **dict.fromkeys(option.field for option in self.about.options))

    def left_out(self) -> Self:
        """Return a copy of the column as a person column that is not used, so that none of its values is released.

        If the curator uses it after all, rows get new identifiers.
        """
        note = "This column tells people apart: it only limits rows per person, and its values are not released."
        return self.with_identifiers(self.kind == "integer").changed(use=False, note=note)

    def with_identifiers(self, are_numbers: bool) -> Self:
        """Return the column with generated identifiers as values: numbers, or codes such as P000001."""
        return self.changed(kind=IDENTIFIER.name, pattern=_NEW_NUMBERS if are_numbers else _NEW_CODES)


def blank(name: str) -> ColumnDraft:
    """Return a new categorical column without values."""
    return ColumnDraft(name=name, kind="categorical")


def fresh(name: str, declared: Column | None = None) -> ColumnDraft:
    """Return a new column with the kind and values that its public name suggests or its file declares.

    No record is read. A column whose name looks like an identifier or free text is not used. Values or
    bounds that file or name only suggest are marked as guessed, until the curator confirms them.

    Args:
        name: The name of the column.
        declared: What the file declares; None for nothing.
    """
    listed = declared is not None and bool(declared.categories)
    kind = declared.kind if declared and not listed else "categorical"
    draft = blank(name).changed(kind=kind, label=declared.label if declared else "")
    role = usual.role(name)
    if role in _LEFT_OUT:
        draft = draft.with_identifiers(kind == "integer") if role is Role.IDENTIFIER else draft
        return draft.changed(use=False, note=_LEFT_OUT[role])
    if declared and listed and declared.to_do:
        known = {field: value for field, value in declared.to_json().items() if field not in ("name", "to_do")}
        return draft.changed(**known, guessed=True, origin="labels", note=declared.to_do)
    guess = declarations.from_name(Column(name=name, kind=kind, to_do="all"))
    if not guess.to_do:
        return draft.changed(**guess.to_json(), guessed=True, origin="usual")
    if declared and declared.dtype == "bool" and guess.kind == "categorical" and usual.suggested(name) is None:
        return draft.changed(categories=["false", "true"], dtype="bool", origin="labels")
    return draft.changed(kind=guess.kind)


def read_listed(text: str) -> dict[str, Any]:
    """Return the fields `categories` and `labels`, by name, from a text with one category per line.

    A label follows its category after a tab or " = ". Blank lines are skipped; a category without a label is
    its own label; `labels` is None if no label differs from its category.
    """
    pairs = [line.split("\t" if "\t" in line else _EQUALS, 1) for line in text.splitlines() if line.strip()]
    values = [pair[0].strip() for pair in pairs]
    labels = [(pair[1].strip() if len(pair) > 1 else "") or value for pair, value in zip(pairs, values, strict=True)]
    return {"categories": values, "labels": labels if labels != values else None}


def treated(choice: str, label: str = "", why: str = "") -> Any:
    """Return the value of the field `missing` or `other` for a treatment.

    Args:
        choice: One of `ColumnDraft.treatments`; another text raises KeyError.
        label: The cell in which the values are counted, for `COUNT_AS`.
        why: The published reason, for `COUNT_AS`.

    Returns:
        True for `OWN`, False for `NEVER`, `NEAREST` itself, and {"as": label, "why": why} for `COUNT_AS`.
    """
    return {OWN: True, NEVER: False, NEAREST: NEAREST, COUNT_AS: {"as": label, "why": why}}[choice]


def _groups(attribute: Attribute) -> dict[str, Any]:
    scale, lower, upper, edges = attribute.scale, attribute.lower, attribute.upper, attribute.edges
    if edges == default_edges(attribute.name, scale, lower, upper):
        return {}
    if (width := width_of(scale, lower, upper, edges)) is not None:
        return {"width": width}
    if is_equal(attribute.name, scale, lower, upper, edges):
        return {"bins": len(edges) - 1}
    shown = [*edges[:-1], edges[-1] - scale.whole]  # the last one of whole values names the upper bound, which it includes
    return {"edges": [scale.stated_edge(edge) for edge in shown]}


def _text(stated: Any) -> str:
    return "" if stated is None else plain_number(stated) if isinstance(stated, float) else str(stated)
