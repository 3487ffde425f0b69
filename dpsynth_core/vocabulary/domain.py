"""The domain: the columns of the release in order, each with its public set of cells, and the combinations that cannot occur.

A domain knows nothing of any record. It is typed by the curator, or read from our JSON, from the benchmark form {"age": 32} of already
coded data, or from a codebook table. Every mistake in those is an InputError that names the column and the remedy.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.documents import read_document
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.bins import column_field, day_of, equal_edges
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.zeros import Cells, StructuralZeros, checked
from dpsynth_core.vocabulary.zeros import from_json as zeros_from_json
from dpsynth_core.vocabulary.zeros import to_json as zeros_json

__all__ = ["Attribute", "Domain", "column_field", "domain_from_codebook", "load_domain", "outside_rule", "parse_domain"]

VERSION = 1
_FIELDS = {
    "categorical": ("categories", "dtype", "other", "missing", "labels"),
    "ordinal": ("categories", "dtype", "other", "missing", "labels"),
    "integer": ("lower", "upper", "bins", "edges", "missing"),
    "numeric": ("lower", "upper", "bins", "edges", "missing", "decimals"),
    "date": ("lower", "upper", "bins", "edges", "missing"),
    "coded": ("size",),
}
_NUMBERS: dict[str, Callable[..., Attribute]] = {"integer": Attribute.integer, "numeric": Attribute.numeric, "date": Attribute.day}


@dataclass(frozen=True)
class Domain:
    """Attributes in the order of the released columns. impossible: rules about combinations that cannot occur (see `zeros`)."""

    attributes: tuple[Attribute, ...]
    impossible: tuple[StructuralZeros, ...] = ()

    def __post_init__(self) -> None:
        if not self.attributes:
            raise InputError("domain", "it has no columns", "keep at least one column")
        seen: set[str] = set()
        for attribute in self.attributes:
            if attribute.name in seen:
                raise InputError(column_field(attribute.name), "the name is used twice", "rename or drop one of the columns")
            seen.add(attribute.name)
        rules = (rule.ordered(self.names) if seen.issuperset(rule.attributes) else rule for rule in self.impossible)
        object.__setattr__(self, "impossible", tuple(rules))
        checked(self.impossible, self.attributes)

    @cached_property
    def zeros(self) -> dict[Clique, Cells]:
        """The impossible cells: for each set of attributes with rules, a table of its shape that is True where no record can be."""
        return checked(self.impossible, self.attributes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.position(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._position

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def position(self, name: str) -> int:
        """Index of a column. InputError if there is none of that name."""
        if name not in self._position:
            raise InputError(column_field(str(name)), "it is not in the domain", "check the spelling, or add it to the domain")
        return self._position[name]

    def clique(self, names: Iterable[str]) -> Clique:
        """The canonical form of a set of columns: domain order. InputError for unknown or repeated names."""
        positions = [self.position(name) for name in names]
        ordered = sorted(set(positions))
        if len(ordered) < len(positions):
            repeated = next(p for p in ordered if positions.count(p) > 1)
            raise InputError(column_field(self.names[repeated]), "it is named twice in one marginal", "name each column once")
        return tuple(self.names[p] for p in ordered)

    def sizes(self, clique: Iterable[str]) -> tuple[int, ...]:
        """Shape of a marginal's table."""
        return tuple(self[name].size for name in clique)

    def cells(self, clique: Iterable[str]) -> int:
        """Number of cells of a marginal; 1 for the empty clique. Exact however large."""
        return math.prod(self.sizes(clique))

    def possible_cells(self, clique: Clique) -> int:
        """Number of cells that the rules inside a marginal leave possible: those whose noise a model that knows the rules can take in."""
        if clique not in self._possible_cells:
            impossible = self.impossible_cells(clique)
            self._possible_cells[clique] = self.cells(clique) - (0 if impossible is None else int(impossible.sum()))
        return self._possible_cells[clique]

    def impossible_cells(self, clique: Clique) -> Cells | None:
        """The cells that the rules inside a marginal leave no record for, True in a table of its shape; None without such a rule."""
        inside = {zeros: table for zeros, table in self.zeros.items() if set(zeros) <= set(clique)}
        if not inside:
            return None
        impossible = np.zeros(self.sizes(clique), dtype=bool)
        for zeros, table in inside.items():
            impossible |= table.reshape([self[name].size if name in zeros else 1 for name in clique])
        return impossible

    def cleared(self, clique: Clique, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """A marginal with 0 in the impossible cells, whose values can only be noise."""
        impossible = self.impossible_cells(clique)
        return table if impossible is None else np.where(impossible, 0.0, table)

    @cached_property
    def _possible_cells(self) -> dict[Clique, int]:
        return {}

    def keep(self, names: Collection[str]) -> Domain:
        """The same domain with only these columns, order unchanged, and the rules that speak of no other."""
        kept = set(self.clique(names))
        return Domain(
            tuple(a for a in self.attributes if a.name in kept), tuple(rule for rule in self.impossible if kept.issuperset(rule.attributes))
        )

    def ordered_like(self, columns: Sequence[str]) -> Domain:
        """The same attributes in the order of a file's columns; those that the file lacks come last."""
        place = {name: i for i, name in enumerate(columns)}
        return Domain(tuple(sorted(self.attributes, key=lambda a: place.get(a.name, len(place)))), self.impossible)

    def to_json(self) -> dict[str, Any]:
        """Our JSON form; `from_json` reads it back to an equal domain."""
        obj: dict[str, Any] = {"version": VERSION, "attributes": [_attribute_json(a) for a in self.attributes]}
        by_name = {a.name: a for a in self.attributes}
        return obj | ({"impossible": [zeros_json(rule, by_name) for rule in self.impossible]} if self.impossible else {})

    @classmethod
    def from_json(cls, obj: object) -> Domain:
        """Read our form {"version": 1, "attributes": [...]} or the benchmark form {"age": 32, ...}."""
        if not isinstance(obj, Mapping) or not obj:
            raise InputError("domain", "it is not a JSON object with columns", 'give {"version": 1, "attributes": [...]} or {"age": 32}')
        entries = obj.get("attributes")
        if not isinstance(entries, list):
            if "attributes" in obj and "version" in obj and not isinstance(entries, int):
                raise InputError("domain.attributes", "it is not a list", "list one object per column")
            return cls(tuple(Attribute.coded(str(name), size) for name, size in obj.items()))
        if obj.get("version", VERSION) != VERSION:
            raise InputError("domain.version", "this version is not known", f"use version {VERSION}")
        rules = obj.get("impossible", [])
        if not isinstance(rules, list):
            raise InputError("domain.impossible", "it is not a list", "list one rule per object")
        attributes = tuple(_attribute_from_json(item) for item in entries)
        return cls(attributes, tuple(zeros_from_json(rule, attributes, i) for i, rule in enumerate(rules)))


def _attribute_json(attribute: Attribute) -> dict[str, Any]:
    obj: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    if attribute.kind == "coded":
        return obj | {"size": attribute.size}
    if not attribute.is_number:
        obj |= {"categories": list(attribute.categories), "dtype": attribute.dtype, "other": attribute.other}
        obj |= {"labels": list(attribute.labels)} if attribute.labels else {}
        return obj | {"missing": attribute.missing}
    bins = len(attribute.edges) - 1
    if attribute.edges == equal_edges(attribute.name, attribute.kind, attribute.lower, attribute.upper, bins):
        cut: dict[str, Any] = {"bins": bins}
    else:
        cut = {"edges": [day_of(e).isoformat() if attribute.kind == "date" else e for e in attribute.edges]}
    obj |= {"lower": _bound_json(attribute.lower), "upper": _bound_json(attribute.upper)} | cut | {"missing": attribute.missing}
    return obj if attribute.decimals is None else obj | {"decimals": attribute.decimals}


def _bound_json(bound: Any) -> Any:
    return bound.isoformat() if isinstance(bound, date) else bound


def _attribute_from_json(obj: object) -> Attribute:
    if not isinstance(obj, Mapping):
        raise InputError("domain.attributes", "an entry is not a JSON object", 'write {"name": ..., "kind": ...} for each column')
    name, kind = obj.get("name"), obj.get("kind")
    if not isinstance(name, str) or not name.strip():
        raise InputError("domain.attributes", "a column has no name", "give every column a name")
    if kind not in _FIELDS:
        raise InputError(column_field(name), "kind is not known", f"use one of {', '.join(_FIELDS)}")
    fields = {key: value for key, value in obj.items() if key not in ("name", "kind")}
    unknown = [str(key) for key in fields if key not in _FIELDS[kind]]
    if unknown:
        raise InputError(column_field(name), f"'{unknown[0]}' does not go with kind {kind}", f"use {', '.join(_FIELDS[kind])}")
    for key in ("other", "missing"):
        if not isinstance(fields.get(key, False), bool):
            raise InputError(column_field(name), f"'{key}' is not true or false", "write true or false")
    for key in ("categories", "labels", "edges"):
        if not isinstance(fields.get(key, []), list):
            raise InputError(column_field(name), f"'{key}' is not a list", "give a list")
    return _construct(name, kind, fields)


def _construct(name: str, kind: str, fields: dict[str, Any]) -> Attribute:
    if kind == "coded":
        return Attribute.coded(name, fields.get("size", 0))
    if kind in ("categorical", "ordinal"):
        return Attribute.categorical(name, fields.pop("categories", ()), ordered=kind == "ordinal", **fields)
    lower, upper = fields.pop("lower", None), fields.pop("upper", None)
    return _NUMBERS[kind](name, lower, upper, **fields)


def parse_domain(text: str) -> Domain:
    """A domain from the text of a file: JSON (either form) or a codebook CSV with a header column,value[,label]."""
    body = text.lstrip("\ufeff \t\r\n")
    if not body:
        raise InputError("domain", "the file is empty", "give a domain JSON or a codebook CSV")
    if body[0] in "{[":
        try:
            return Domain.from_json(json.loads(body, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats))
        except (json.JSONDecodeError, RecursionError):
            raise InputError("domain", "the file is not valid JSON", "check commas, quotes and brackets") from None
    delimiter = max(",;\t", key=body.splitlines()[0].count)
    rows = csv.DictReader(body.splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True)
    try:
        return domain_from_codebook([{k: v for k, v in row.items() if isinstance(k, str)} for row in rows])
    except csv.Error:
        raise InputError("domain", "the codebook cannot be read as CSV", "save it as CSV with the header column,value") from None


def load_domain(path: str | Path) -> Domain:
    """`parse_domain` of a file."""
    return parse_domain(read_document(Path(path), "domain"))


def domain_from_codebook(table: Iterable[Mapping[str, str | None]]) -> Domain:
    """A domain from rows with the keys column, value and optionally label; columns keep the order of their first row.

    Each row lists one value of one column. A blank value switches on the missing cell, `*` the cell for unlisted values.
    A single value such as 17..90, 0.0..99.5 or 2020-01-01..2024-12-31 gives bounds: integer, numeric or date.
    """
    columns: dict[str, list[tuple[str, str]]] = {}
    for row in table:
        cells = {str(key).strip().lower(): str(value or "").strip() for key, value in row.items()}
        if "column" not in cells or "value" not in cells:
            raise InputError("domain", "the codebook lacks the columns 'column' and 'value'", "use the header column,value[,label]")
        if not cells["column"]:
            raise InputError("domain", "a row of the codebook names no column", "fill in the first field of every row")
        columns.setdefault(cells["column"], []).append((cells["value"], cells.get("label", "")))
    return Domain(tuple(_from_codebook_rows(name, rows) for name, rows in columns.items()))


def _from_codebook_rows(name: str, rows: list[tuple[str, str]]) -> Attribute:
    missing = any(not value for value, _ in rows)
    other = any(value == "*" for value, _ in rows)
    categories = [(value, label) for value, label in rows if value not in ("", "*")]
    if len(categories) == 1 and ".." in categories[0][0] and not other:
        low, high = categories[0][0].split("..", 1)
        return _from_range(name, low.strip(), high.strip(), missing)
    labels = [label or value for value, label in categories] if any(label for _, label in categories) else []
    return Attribute.categorical(name, [value for value, _ in categories], labels=labels, other=other, missing=missing)


def _from_range(name: str, low: str, high: str, missing: bool) -> Attribute:
    parsers: dict[str, Callable[[str], Any]] = {"integer": int, "numeric": float}
    for kind, parse in parsers.items():
        try:
            bounds = parse(low), parse(high)
        except ValueError:
            continue
        return _NUMBERS[kind](name, *bounds, missing=missing)
    return Attribute.day(name, low, high, missing=missing)


def _refuse_constant(_: str) -> None:
    raise InputError("domain", "it contains NaN or Infinity", "use finite numbers")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        repeated = next(n for i, n in enumerate(names) if n in names[:i])
        raise InputError(column_field(repeated), "the name is used twice", "rename or drop one of the two")
    return dict(pairs)


def outside_rule(attribute: Attribute) -> str:
    """One or two sentences for the curator: what happens to values outside the declared ones. Never an error."""
    labels = attribute.cell_labels()
    empty = f"Empty values go to '{labels[attribute.code_for_missing]}'."
    if attribute.kind == "coded":
        return f"Codes below 0 count as 0, above {attribute.upper} as {attribute.upper}. {empty}"
    if attribute.is_number:
        thing = "date" if attribute.kind == "date" else "number"
        clamp = f"Values below {attribute.lower} or above {attribute.upper} go to the nearest bin."
        return f"{clamp} Text that is not a {thing} counts as empty. {empty}"
    return f"Values not listed go to '{labels[attribute.code_for_unlisted]}'. {empty}"
