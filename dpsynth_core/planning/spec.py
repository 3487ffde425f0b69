"""The spec: the one plain document that says all about a release before it is made. Validation lives here, once.

The wizard edits it, the command line runs it, the ledger names its digest, the release contains it. It holds public facts only
and opens no data file. Every mistake becomes one InputError that names the field by its path, such as "budget.epsilon".
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from dpsynth_core.claims.models.specs import MAX_MODELS, ModelSpec
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.claims.weights import WeightSpec
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.documents import base_name, canonical_digest, check_path, is_uri, parse_json, read_document
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.planning.private_views import Look, ordered
from dpsynth_core.planning.unit_spec import Part, UnitSpec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources import standins
from dpsynth_core.sources.registry import KINDS, can_be_linked
from dpsynth_core.vocabulary.link import records_each

MAX_ROWS = 20_000_000
MAX_TABLES = 20
"""Of rows, drawn from one measurement. So many show well how much the drawing adds; each is held in memory."""
MAX_SOURCE = 300
"""Characters of the name of a publication."""
MAX_UNSTATED_ROWS = 1_000_000
"""Rows that are written at most where the spec states no number. The noisy number of records can be anything: at epsilon 1e-6 it is
millions for five hundred people. The limit is public and is applied to what was released, so it costs nothing; whoever has more records
states how many rows to write. Two linked tables have so many rows together (`most_unstated_rows`)."""
DEFAULT_CERTIFICATE = 0.05
"""Share of the budget that app and command line set aside for the certificate unless asked otherwise. A spec without the field has none."""
DEFAULT_DISCOVERY = 0.1
"""Share of the budget that learns what the domain does not say."""
DEFAULT_MEANS = 0.03
"""Likewise for the means of columns of numbers."""
DEFAULT_INSIDE = 0.1
"""Share of the budget that app and command line set aside for how numbers lie in their cells unless asked otherwise. A spec without the
field has none."""
DEMO = "demo"
"""`data.kind` of the simulated people that this project makes itself; it has no path."""
STANDIN = "standin"
"""`data.kind` of a table that is simulated over the declared domain (see `sources.simulated`); it has no path."""


_Document = TypeVar("_Document", bound=BaseModel)


class StandinSpec(Part):
    """A simulated table: how many rows, how strongly its columns depend on each other (0 to 1), and the seed that it is made from."""

    rows: int = Field(default=10_000, ge=1, le=standins.MAX_ROWS)
    strength: float = Field(default=0.5, ge=0.0, le=1.0)
    seed: int = Field(default=0, ge=0, lt=2**63)


def _usable_path(path: str) -> str:
    try:
        check_path(path, "path")
    except InputError as error:
        raise ValueError(f"{error.problem}; {error.remedy}") from None
    return path


def _one_of(kinds: Collection[str]) -> AfterValidator:
    """Return a validator that accepts one of these kinds."""

    def known(kind: str) -> str:
        if kind not in kinds:
            raise ValueError(f"use one of {', '.join(kinds)}")
        return kind

    return AfterValidator(known)


class TableSpec(Part):
    """The place of a table and its format (`sources.formats`), as the curator states it. None means the default.

    Attributes:
        missing_markers: Texts that count as missing.
        names: Names of the columns in a file without a header.
        skip: Number of lines above the header.
    """

    path: Annotated[str, AfterValidator(_usable_path)] = ""
    kind: Annotated[str, _one_of(KINDS)] = "csv"
    delimiter: str = ","
    encoding: str = "utf-8"
    quoting: Literal["lines", "none", "standard"] = "lines"
    missing_markers: tuple[str, ...] | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    time_format: str | None = None
    negative: str | None = None
    units: tuple[str, ...] | None = None
    same_text: Literal["exact", "look", "case"] | None = None
    names: tuple[str, ...] | None = None
    sheet: str | None = None
    skip: int | None = Field(default=None, ge=0)


if TYPE_CHECKING:
    EngineName = str
else:
    EngineName = Literal[tuple(extension.engines()) or None]


class DataSpec(TableSpec):
    """The private table.

    All parts but kind and base name may have been suggested by the file, so they stay on this machine (`Spec.published`).

    Attributes:
        standin: The invented people, for the kind "standin" only, which has no file.
        engine: None if this process counts a file or folder; else what does (`foundation.extension.Engine`), such as "dask".
        scheduler: Address of the cluster; None to start one on this machine.
        workers: Number of processes of a cluster on this machine.
        table: Table of a database, whose address is the path.
        query: Query of a database. Either table or query is given.
        timeout: Seconds that one statement of a database may take, None for the default.
    """

    standin: StandinSpec | None = None
    engine: EngineName | None = None
    scheduler: str | None = Field(default=None, pattern=r"^[a-z]+://[^@\s]+$", max_length=300)
    workers: int | None = Field(default=None, ge=1, le=10_000)
    table: str | None = Field(default=None, max_length=1000)
    query: str | None = Field(default=None, max_length=100_000)
    timeout: int | None = Field(default=None, ge=1, le=1_000_000)

    @property
    def simulated(self) -> bool:
        """True if the records are invented, so that no person's privacy is at stake."""
        return KINDS[self.kind].simulated

    @property
    def is_file(self) -> bool:
        """True if the data are a file or a folder of files."""
        return KINDS[self.kind].is_file

    @property
    def other_machine(self) -> bool:
        """True if reading connects to a machine that the document names: a server, a cluster or an object store."""
        return self.scheduler is not None or (is_uri(self.path) and not self.path.startswith(extension.local_addresses()))


class MembersSpec(TableSpec):
    """The second of two linked tables: the members of households, whose key is the person column.

    Its cells have no line breaks: the guarantee rests on that assumption for one table alone.

    Attributes:
        domain: The domain JSON of its columns, without the key.
        rules: Rules that hold in every household (`vocabulary.link`).
    """

    quoting: Literal["lines", "none"] = "lines"
    kind: Annotated[str, _one_of([name for name in KINDS if any(can_be_linked(first, name) for first in KINDS)])] = "csv"
    domain: dict[str, Any]
    rules: list[dict[str, Any]] = Field(default_factory=list)


class PublicSpec(TableSpec):
    """A public table of the same columns.

    Attributes:
        path: Its file.
        kind: The kind of the file.
        sha256: SHA-256 of the file's content, "" if the content is not fixed.
    """

    path: Annotated[str, AfterValidator(_usable_path)] = Field(min_length=1)
    kind: Annotated[str, _one_of([name for name in KINDS if KINDS[name].is_file])] = "csv"
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")


class PublishedSpec(Part):
    """A table that was published about the same people (`vocabulary.published`).

    Attributes:
        columns: Its columns, of the domain.
        cells: For each cell, its label in each column and its number of people; cells that are left out had 0.
        source: Where it was published.
    """

    columns: tuple[str, ...]
    cells: tuple[tuple[str | int | float, ...], ...]
    source: str = Field(max_length=MAX_SOURCE)


def _known_share(name: str) -> str:
    if name not in {claim.name for claim in CLAIMS}:
        raise PydanticCustomError("extra_forbidden", "this entry is unknown")
    return name


def _known_settings(stated: dict[str, int | list[str]]) -> dict[str, int | list[str]]:
    known = extension.settings()
    if any(name not in known for name in stated):
        raise PydanticCustomError("extra_forbidden", "this entry is unknown")
    return {name: known[name].read(value) for name, value in stated.items()}


class BudgetSpec(Part):
    """The budget and its division.

    Further fields are the shares of rho for claims, by their names (`claims.registry`), where the spec asks for the claim. Shares are
    fractions.

    Attributes:
        epsilon: Epsilon of the release.
        delta: Delta of the release.
        discovery: Share of rho to learn open columns, where there are any.
        inside: Share of rho to measure the distribution of numbers within cells, from which rows are drawn; only for rows, and for cells of
            more than one value.
        reason: The reason for an epsilon above 10 (`planning.weakness`).
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Annotated[str, AfterValidator(_known_share)], float] = Field(init=False)

    epsilon: float
    delta: float
    reason: str = Field(default="", max_length=10_000)
    discovery: float = DEFAULT_DISCOVERY
    inside: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _with_shares(cls, given: object) -> object:
        """Return the budget with the default of each share that is not stated."""
        return {claim.name: claim.share.default for claim in CLAIMS} | given if isinstance(given, dict) else given

    def share(self, name: str) -> float:
        """Return the share of rho for the claim `name`, from 0 to 1; the claim's default if the spec states none.

        Raises:
            KeyError: No claim has this name.
        """
        return self.__pydantic_extra__[name]


class MechanismSpec(Part):
    """The mechanism.

    Attributes:
        name: Its name in the registry.
        settings: Parameters by name; those with the default of the registry may be left out.
    """

    name: str = "aim"
    settings: dict[str, float | int | bool | str] = Field(default={})


class OutputSpec(Part):
    """The rows to write.

    Attributes:
        rows: Number of rows, None for the noisy (or public) total.
        tables: Number of tables, each of `rows` rows, to draw from the one measurement.
        seed: Seed of repeatable noise, which is not private.
    """

    rows: int | None = Field(default=None, ge=1, le=MAX_ROWS)
    tables: int = Field(default=1, ge=1, le=MAX_TABLES)
    seed: int | None = Field(default=None, ge=0, lt=2**63)


class Spec(Part):
    """The plan of a release.

    Attributes:
        domain: Domain JSON.
        domain_origin: Origin of the domain as the curator states it, beside that in the domain's own document (`planning.domain_origin`);
            "data" (the private file itself) brands the release.
        domain_justification: The reason that some origins need.
        members: A second table, whose rows belong to rows of the first (`vocabulary.link`); the unit says how many rows of a person count.
        public: A table that the curator declares public; mechanisms may use it at no cost.
        published_tables: Tables of the same people that the curator declares public; the rows keep to them.
        other_copies: Other publications about the same people, in the curator's words; "" if the question was not answered.
        looks: Views of the private table without noise before the plan was sealed (`planning.private_views`); None if not recorded.
        about: Metadata for deposits and citations; a spec without it is published without that part, as in earlier versions.
        criteria: Conditions that the release is judged by, fixed before the run (`claims.criteria.registry`).
        weight: The column of survey weights, if there is one (`claims.weights`).
        models: Columns to predict by models that are trained on the synthetic rows and measured on the people (`evaluation.models`).
        extensions: Settings of extensions by name (`foundation.extension.Setting`).
    """

    version: Literal[1] = 1
    name: str = Field(default="release", min_length=1, max_length=200)
    population: str = Field(min_length=1, max_length=200)
    data: DataSpec
    members: MembersSpec | None = None
    public: PublicSpec | None = None
    published_tables: tuple[PublishedSpec, ...] = ()
    unit: UnitSpec = UnitSpec()
    domain: dict[str, Any]
    domain_origin: Literal["unstated", "typed", "usual", "learnt", "codebook", "public", "labels", "data"] = "unstated"
    domain_justification: str = Field(default="", max_length=10_000)
    other_copies: str = Field(default="", max_length=10_000)
    looks: Annotated[tuple[Look, ...], AfterValidator(ordered)] | None = None
    about: AboutSpec | None = None
    workload: dict[str, Any]
    criteria: tuple[dict[str, Any], ...] = ()
    models: tuple[ModelSpec, ...] = Field(default=(), max_length=MAX_MODELS)
    weight: WeightSpec | None = None
    budget: BudgetSpec
    mechanism: MechanismSpec = MechanismSpec()
    output: OutputSpec = OutputSpec()
    extensions: Annotated[dict[str, int | list[str]], AfterValidator(_known_settings)] = Field(default={})

    @classmethod
    def from_json(cls, obj: object) -> Spec:
        """Return the spec in a parsed JSON document after checking its form; `planning.plan` checks its meaning.

        Raises:
            InputError: A field is wrong; the first wrong one is named.
        """
        return _read(cls, obj, "spec")

    def privacy_unit(self) -> Unit:
        """Return the unit of privacy with its sensitivities.

        For two linked tables it counts the records of pairs into which a household is divided
        (`vocabulary.link`).

        Raises:
            InputError: The number of rows per person is out of range.
        """
        if self.members is not None:
            return Unit(self.unit.relation, records_each(self.unit.max_rows_per_person), rows_may_not_count=True)
        may_not_count = self.unit.person_column is not None or KINDS[self.data.kind].skips_rows
        return Unit(self.unit.relation, self.unit.max_rows_per_person, may_not_count)

    def published(self) -> dict[str, Any]:
        """Return the document as it may leave this machine, as JSON values.

        Paths are reduced to base names, and of the private file only the kind is kept: its format
        is known from looking at it. One person's letters may decide the format, and a hash of so
        few possibilities hides nothing, so neither the document nor its digest contain it. The
        whole document is sealed with the run, on this machine. Only the quoting "standard" is
        published: no file suggests it, and the guarantee rests on it.
        """
        obj: dict[str, Any] = json.loads(self.model_dump_json())
        obj["data"] = {"path": KINDS[self.data.kind].base_name(self.data.path), "kind": self.data.kind}
        if self.data.quoting == "standard":
            obj["data"]["quoting"] = self.data.quoting
        if self.data.standin is not None:
            obj["data"]["standin"] = self.data.standin.model_dump()
        if self.about is None:
            del obj["about"]
        if self.weight is None:
            del obj["weight"]
        if not self.extensions:
            del obj["extensions"]
        if not self.published_tables:
            del obj["published_tables"]
        if not self.budget.share(WEIGHTED.name):
            del obj["budget"][WEIGHTED.name]
        for claim in CLAIMS:
            if not claim.is_mentioned(self.extensions):
                del obj["budget"][claim.name]
        del obj["members"]
        if (of := self.members) is not None:
            obj["members"] = of.model_dump(include={"kind", "domain", "rules"}) | {"path": KINDS[of.kind].base_name(of.path)}
        if self.public is not None:
            obj["public"]["path"] = base_name(self.public.path)
        return obj

    @property
    def reading(self) -> list[dict[str, Any]]:
        """The options for reading each private table (the first, then the second), without its path.

        Neither the digest nor the published files contain them.
        """
        fields = TableSpec.model_fields.keys() - {"path"}
        return [table.model_dump(include=fields) for table in (self.data, self.members) if table is not None]

    @property
    def protects(self) -> bool:
        """True if the run protects anyone: the people are real and the noise is not predictable from a seed."""
        return not self.data.simulated and self.output.seed is None

    @property
    def can_be_linked(self) -> bool:
        """True if there are two tables, of kinds that can be linked."""
        return self.members is not None and can_be_linked(self.data.kind, self.members.kind)

    @property
    def learns(self) -> bool:
        """True if values of a column of the first table are to be learnt with noise."""
        columns = self.domain.get("attributes")
        return isinstance(columns, list) and any(isinstance(column, dict) and "discover" in column for column in columns)

    @property
    def claims(self) -> dict[str, Any]:
        """The parts of the document that claims are about, by name; claims find here what they are to measure."""
        named = ("criteria", "models", "members", "domain", "weight", "extensions")
        return {name: getattr(self, name) for name in named}

    def digest(self) -> str:
        """Return the SHA-256 of the published document as hexadecimal digits, which a reader of the release can check."""
        return canonical_digest(self.published())


def can_be_both(kind: str) -> bool:
    """Return whether a table of a kind may be named as both of two linked tables.

    Raises:
        KeyError: The kind is unknown.
    """
    return kind in extension.demos() or (not KINDS[kind].simulated and can_be_linked(kind, kind))


def most_unstated_rows(members: int = 0) -> int:
    """Return the largest number of rows that are written where a spec states none: 1,000,000 for one table.

    Args:
        members: For two linked tables, the most members of a household. The result is then a number of households: if each has this
            number of members, both tables have at most 1,000,000 rows together (`MAX_UNSTATED_ROWS`).
    """
    return max(1, MAX_UNSTATED_ROWS // (1 + members))


def load_spec(path: Path) -> Spec:
    """Read a spec from a JSON file.

    Relative paths of the tables `data`, `members` and `public` start at the file's folder, and "~" is
    expanded; addresses of places that are not files stay as they are.

    Args:
        path: The file.

    Raises:
        InputError: The file cannot be read or is not JSON, or a field is wrong.
    """
    obj = parse_json(read_document(path, "spec"), "spec")
    for part in ("data", "members", "public"):
        if isinstance(obj, dict) and isinstance(table := obj.get(part), dict) and isinstance(name := table.get("path"), str) and name:
            check_path(name, f"{part}.path")
            if is_uri(name):
                continue
            obj = {**obj, part: {**table, "path": str(path.parent / Path(name).expanduser())}}
    return Spec.from_json(obj)


def stated_table(section: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return the entries of a spec's section about a table that somebody stated, converted to their types.

    Entries that are null are left out.

    Args:
        section: The section, as parsed JSON.
        field: Name of the section, with which the fields of errors begin.

    Raises:
        InputError: An entry is unknown or of another type.
    """
    try:
        return _read(DataSpec, dict(section), field).model_dump(exclude_unset=True, exclude_none=True)
    except InputError as error:
        raise error if error.field == field else InputError(f"{field}.{error.field}", error.problem, error.remedy) from None


def _read(kind: type[_Document], obj: object, field: str) -> _Document:
    """Return a JSON value as a validated document of this kind.

    Args:
        kind: The class of the document.
        obj: The parsed JSON.
        field: Name of the whole document in errors.

    Raises:
        InputError: It is not JSON, or a field is wrong.
    """
    try:
        text = json.dumps(obj, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        raise InputError(field, "it is not JSON", "use texts, numbers, true/false, lists and objects") from None
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise _as_input_error(error) from None


_REMEDIES: Mapping[str, tuple[str, str]] = {
    "missing": ("it is missing", "add it"),
    "extra_forbidden": ("this entry is unknown", "remove it, or check the spelling"),
    "finite_number": ("it is not a finite number", "give a number"),
    "model_type": ("it is not a JSON object", "give an object"),
    "dict_type": ("it is not a JSON object", "give an object"),
}


def _as_input_error(error: ValidationError) -> InputError:
    """Return the first complaint of pydantic as an InputError, in our words where pydantic's are about Python."""
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "spec"
    if first["type"] in _REMEDIES:
        return InputError(field, *_REMEDIES[first["type"]])
    text = first["msg"].removeprefix("Value error, ")  # of a ValueError of ours
    message = text[0].lower() + text[1:]
    given = first["input"]
    what = "the address" if isinstance(given, str) and "://" in given else shown(given)  # it may hold a password
    return InputError(field, f"{what} cannot be used", message)
