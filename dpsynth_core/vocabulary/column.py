"""The partial description of one column, in the JSON of domains: the one description for people, files and codebooks.

What a file says of itself, a codebook, the usual lists, the draft on the Domain page and a domain's JSON are a `Column` with more or fewer
fields. `Column.complete` makes the attribute once the description is complete; `Column.of` is the inverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.vocabulary.attribute import DEFAULT_MOST, Attribute, Recode
from dpsynth_core.vocabulary.kinds import hierarchies
from dpsynth_core.vocabulary.kinds.kind import LARGEST_EXACT, Form, Kind, is_number
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.names import column_field

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.filled import RowColumn

_NOTHING_FOUND = {"categories": [], "dtype": "string", "other": True, "missing": True}
"""What is written of a column whose values were learnt when there were none that enough people share."""
_OF_EVERY_KIND = ("name", "kind", "label", "to_do")
LEARNT_FIELDS = ("precision", "level", "digits")
"""Of a column whose values are to be learnt, where its kind has them."""


class Column(BaseModel):
    """The partial description of a column of any kind; unset fields and None are unknown.

    `Kind.fields` lists the fields of each kind.

    Attributes:
        name: Name of the column.
        kind: Name of its kind.
        label: Description for people.
        discover, most: Whether its values are to be learnt, and with how many cells at most; of numbers,
            `other` then says where those beyond the learnt bounds count.
        size: Number of codes.
        value, pattern, dtype: For columns that are filled in.
        level, groups, digits: For codes in groups (`Hierarchy`).
        categories, labels, dtype, user_missing: For listed values.
        lower, upper, precision, decimals: For numbers and times, with one of bins, width and edges.
        own_cells: Numbers or times with a cell each.
        other, missing: true for a cell of its own, false if such values do not occur, {"as": label,
            "why": reason} if they count in another cell; other also "nearest".
        to_do: A task for a person who knows the table; "" if the description is finished.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    kind: str
    discover: Any = None
    most: Any = None
    size: Any = None
    value: Any = None
    pattern: Any = None
    level: Any = None
    groups: Any = None
    digits: Any = None
    categories: list[str | bool | int | float] | None = None
    dtype: str | None = None
    labels: list[str | bool | int | float] | None = None
    user_missing: list[str | bool | int | float] | None = None
    lower: Any = None
    upper: Any = None
    precision: str | None = None
    bins: Any = None
    width: Any = None
    edges: list[Any] | None = None
    own_cells: Any = None
    other: Any = None
    missing: Any = None
    decimals: Any = None
    label: str = ""
    to_do: str = ""

    @classmethod
    def from_json(cls, obj: object) -> Self:
        """Return the column that a JSON object describes; whether the fields go together is checked by `complete`.

        Raises:
            InputError: It is no JSON object, or an entry is unknown or of the wrong type.
        """
        if not isinstance(obj, Mapping):
            raise InputError("domain.attributes", "an entry is not a JSON object", 'write {"name": ..., "kind": ...} for each column')
        try:
            return cls.model_validate(dict(obj))
        except ValidationError as error:
            raise _as_input_error(obj, error) from None

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are set, in a fixed order; a field that was set to None is in it as None."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}

    @property
    def about(self) -> Kind:
        """The entry of the column's kind in the registry of kinds (`kinds.registry`).

        Raises:
            InputError: The kind is unknown.
        """
        if self.kind not in KINDS:
            raise InputError(column_field(self.name), "kind is not known", f"use one of {', '.join(KINDS)}")
        return KINDS[self.kind]

    @classmethod
    def of(cls, column: RowColumn) -> Self:
        """Return the complete description of a column, as `from_json` reads it.

        Fields with a default are stated, because defaults may change and a domain may not. Empty ones, such as labels, are
        left out.
        """
        fields: dict[str, Any]
        if isinstance(column, Attribute):
            fields = _of_attribute(column)
        else:
            fields = {"value": column.text, "dtype": column.dtype} if column.is_constant else {"pattern": column.text}
        fields |= {"label": column.label} if column.label else {}
        return cls.model_construct(name=column.name, kind=column.kind, **fields)

    def complete(self) -> RowColumn:
        """Return the column that the description states, an attribute or a column that is filled in.

        Missing and undeclared values get a cell each unless the description states otherwise. If the values are to be learnt,
        numbers beyond the learnt bounds count in the nearest bin unless `other` is true.

        Raises:
            InputError: The description is not finished ("to_do" is not empty), or a field is missing,
                wrong, or does not go with the kind.
        """
        if self.to_do:
            problem = "it is not finished: the domain was made from labels alone"
            raise InputError(column_field(self.name), problem, f'{self.to_do[:200]}; then remove its "to_do"')
        if not self.name.strip():
            raise InputError("domain.attributes", "a column has no name", "give every column a name")
        stated = {field: value for field, value in self.to_json().items() if value is not None and field not in _OF_EVERY_KIND}
        made = self._to_learn(stated) if "discover" in stated else self._made(stated)
        return replace(made, label=self.label.strip()) if self.label.strip() else made

    def _to_learn(self, stated: Mapping[str, Any]) -> Attribute:
        if stated["discover"] is not True:
            raise InputError(column_field(self.name), "'discover' is not true", "write true, or leave it out and list the values")
        binned = self.about.form is Form.BINNED
        allowed = {"discover", "most", *(field for field in LEARNT_FIELDS if field in self.about.fields), *(["other"] if binned else [])}
        self._check(stated, allowed, "'discover'", "leave one of them out")
        if (beyond := stated.get("other", "nearest")) not in (True, "nearest"):
            problem = "'other' is neither true nor \"nearest\", although its values are to be learnt"
            raise InputError(column_field(self.name), problem, 'write true (numbers beyond the bounds get a cell) or "nearest"')
        grouping, most = hierarchies.of_kind(self.name, self.about, stated), stated.get("most", DEFAULT_MOST)
        return Attribute.unknown(self.name, self.kind, most, stated.get("precision", ""), grouping, beyond is True)

    def _made(self, stated: dict[str, Any]) -> RowColumn:
        fields, form = self.about.fields, self.about.form
        self._check(stated, fields, f"kind {self.kind}", f"use {', '.join(fields)}")
        if form is Form.FILLED:
            from dpsynth_core.vocabulary.filled import filled  # loaded for constants and identifiers alone

            return filled(self.name, self.kind, stated)
        if form is Form.CODED:
            return Attribute.coded(self.name, stated.get("size", 0))
        grouping = hierarchies.of_kind(self.name, self.about, stated)
        said = {field: value for field, value in stated.items() if field not in ("level", "groups", "digits")}
        if said == {field: value for field, value in _NOTHING_FOUND.items() if field in fields}:
            return Attribute(self.name, self.kind, other=True, missing=True, hierarchy=grouping)
        said |= self._cell("other") | self._cell("missing")
        if "dtype" in fields and "dtype" not in said:
            said["dtype"] = dtype_of(said.get("categories", ()))
        if form is Form.LISTED:
            return Attribute.listed(self.name, self.kind, said.pop("categories", ()), hierarchy=grouping, **said)
        return Attribute.binned(self.name, self.kind, said.pop("lower", None), said.pop("upper", None), **said)

    def _check(self, stated: Mapping[str, Any], allowed: Any, what: str, remedy: str) -> None:
        if (strange := next((field for field in stated if field not in allowed), None)) is not None:
            raise _does_not_go(self.name, strange, what, remedy)

    def _cell(self, which: str) -> dict[str, Any]:
        """Return the treatment of missing or other values as arguments of `Attribute`.

        By default such values have a cell of their own.

        Args:
            which: "missing" or "other".

        Raises:
            InputError: The entry is not one of the treatments.
        """
        binned = which == "other" and self.about.form is Form.BINNED
        match getattr(self, which):
            case None | True:
                return {which: True}
            case False:
                return {which: False}
            case {"as": str(label), "why": str(why), **more} if not more:
                return {which: False, f"{which}_as": Recode(label, why)}
            case "nearest" if binned:
                return {"other": False, "nearest": True}
        nearest = ' or "nearest"' if binned else ""
        remedy = f'write true (a cell of its own), false (cannot occur){nearest} or {{"as": value, "why": reason}}'
        raise InputError(column_field(self.name), f"'{which}' is not true or false", remedy)


def _of_attribute(attribute: Attribute) -> dict[str, Any]:
    how, precision = attribute.hierarchy, {"precision": attribute.precision} if attribute.precision else {}
    grouping = {} if how is None else {"level": how.level, "groups": dict(how.groups), "digits": how.digits}
    grouping = {field: value for field, value in grouping.items() if value}
    if attribute.most:
        return {"discover": True, "most": attribute.most} | precision | grouping | ({"other": True} if attribute.other else {})
    if attribute.is_coded:
        return {"size": attribute.size}
    cells = {
        "other": "nearest" if attribute.nearest else _cell_json(attribute.other, attribute.other_as),
        "missing": _cell_json(attribute.missing, attribute.missing_as),
    }
    if attribute.is_listed:
        by_table = how is not None and how.groups and how.names == attribute.categories
        listed = {} if by_table else {"categories": list(attribute.categories)}
        dtype = {"dtype": attribute.dtype} if "dtype" in attribute.about.fields else {}
        texts = {"labels": list(attribute.labels), "user_missing": list(attribute.user_missing)}
        return grouping | listed | dtype | {field: listed for field, listed in texts.items() if listed} | cells
    bounds = {"lower": attribute.scale.stated(attribute.lower), "upper": attribute.scale.stated(attribute.upper)}
    decimals = {} if attribute.decimals is None else {"decimals": attribute.decimals}
    return bounds | precision | attribute.stated_bins() | cells | decimals


def dtype_of(values: Iterable[object]) -> str:
    """Return the default type of listed values: "bool", "int64", "float64" or "string".

    It is "bool" if all are truth values, "int64" if all are integers, "float64" if all are finite numbers, and
    "string" for anything else, for no values, and for a number so large that float64 may not hold it exactly
    (2^53 or more in absolute value).
    """
    every = list(values)
    if every and all(isinstance(value, bool) for value in every):
        return "bool"
    if not every or any(isinstance(value, bool) or not is_number(value) for value in every):
        return "string"
    if any(abs(value) >= LARGEST_EXACT for value in every):  # type: ignore[arg-type]
        return "string"
    return "int64" if all(isinstance(value, int) for value in every) else "float64"


def _cell_json(own_cell: bool, recode: Recode | None) -> Any:
    return own_cell if recode is None else {"as": recode.label, "why": recode.why}


def _does_not_go(name: str, field: str, what: str, remedy: str) -> InputError:
    return InputError(column_field(name), f"{shown(field)} does not go with {what}", remedy)


def _as_input_error(obj: Mapping[Any, Any], error: ValidationError) -> InputError:
    """Return the first complaint of a ValidationError as an InputError in our words."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    (field, *inside), name, kind = first["loc"], obj.get("name"), str(obj.get("kind"))
    if not isinstance(name, str) or not name.strip():
        return InputError("domain.attributes", "a column has no name", "give every column a name")
    if field == "kind" or kind not in KINDS:
        return InputError(column_field(name), "kind is not known", f"use one of {', '.join(KINDS)}")
    if first["type"] == "extra_forbidden":
        return _does_not_go(name, str(field), f"kind {kind}", f"use {', '.join(KINDS[kind].fields)}")
    if inside and field in ("categories", "labels", "user_missing") and isinstance(obj[field], list):
        return InputError(column_field(name), f"one of its {field} is not a text", "write texts")
    wanted = "list" if field in ("categories", "labels", "user_missing", "edges") else "text"
    return InputError(column_field(name), f"'{field}' is not a {wanted}", f"give a {wanted}")
