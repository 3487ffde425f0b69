"""A plan: what a release will cost and give, before anything is read of the records but the structure of their table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, cast

from dpsynth_core.claims.ranges import USUAL_SHARE
from dpsynth_core.claims.weights import USUAL_SHARE as WEIGHTED_SHARE
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.causes import explained_imports
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.interface import columns as domains
from dpsynth_core.interface import shown as words
from dpsynth_core.interface.columns import Columns
from dpsynth_core.interface.frames import Given, given
from dpsynth_core.interface.given_values import plain
from dpsynth_core.planning import leaks
from dpsynth_core.planning.defaults import DELTA
from dpsynth_core.planning.expected_verdict import Facts, Power, expected
from dpsynth_core.planning.leaks import Leak
from dpsynth_core.planning.plan import Plan as Sealed
from dpsynth_core.planning.private_views import stated
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, DEFAULT_INSIDE, DEFAULT_MEANS, Spec
from dpsynth_core.planning.unit_spec import UNNAMED
from dpsynth_core.privacy.budget import check_delta
from dpsynth_core.release import making, synthesis
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.names import column_field

if TYPE_CHECKING:
    from dpsynth_core.interface.release import Release
    from dpsynth_core.mechanisms.mechanism import Forecast

Tables: TypeAlias = "int | Sequence[Sequence[str]] | Mapping[str, Any]"
"""How many columns each table has of which the counts must come out right (all such tables); those tables; or a workload in JSON."""


_WEIGHT = {"column": "weight", "totals": "weight_totals", "tables": "weight_tables"}
_TABLES = ("published", "members", "weight_totals")
"""Options that hold tables, which are read by their labels and columns."""
_SHARES = {"discovery": "discovery", "criteria_share": "criteria", "models_share": "models", **extension.shares()}
"""Names in a spec of the shares that are left to its defaults unless they are given."""
_ALL_TRIPLES = 3
_MOST_PEOPLE = 10**12
"""That a forecast is made for."""


class Options(TypedDict, total=False):
    """The further options of `plan`. Each is a field of a spec; the reference of specs has the details.

    Args:
        name: Name of the release; by default the file's name.
        delta: Probability that the guarantee fails; 1e-9 by default.
        mechanism, settings: Name of the mechanism, and its parameters.
        person: The column that identifies people.
        rows_per_person: How many rows of each person count; with two linked tables, how many members of a household
            count.
        members: The second of two linked tables, as a table or a path, with its columns: ``(persons, {"age": (0,
            99)})``. For a path, a third entry states the file format, as in form. person is then the key of both
            tables.
        rules: Statements that hold in every household.
        public: The path of a file with a public table of the same columns, for mechanisms that use one.
        published: Tables that were published about the same people, each a path or a table of counts with labels, with
            the place of publication: ``[("ages.csv", "Census 2021")]``.
        relation: The neighbouring relation, "add-remove" (the default) or "replace".
        people: Approximate number of people, if it is public. It is used for the forecast, and to check that delta
            times people is below 1.
        rows: Number of rows to write.
        row_tables: Number of tables of rows to draw from the one measurement; 1 unless given (`Release.row_tables`).
        seed: Repeatable noise, for tests; the release is marked as not private.
        certificate, discovery, inside, means, ranges, weighted: Shares of the budget.
        criteria_share, models_share: Shares of the budget that decide criteria and measure models.
        weight: The column of survey weights; its upper bound is the largest weight that counts. Use the design weight,
            which depends on no other record.
        weight_totals: Public totals to which the weights of the rows are calibrated: for each column ``{value:
            number}``, or a Series.
        weight_tables: Tables of several columns whose weighted errors are measured too.
        criteria: Quality criteria, fixed beforehand.
        models: Columns that models are to predict; ``{"column": "income", "tolerance": 500}`` says how near is right.
        epsilon_reason, domain_origin, origin_reason, other_copies, looked: Statements of the release about its origin;
            looked is ``["nothing"]`` if the data were not looked at.
        about: ``{"licence": "CC-BY-4.0", "creators": ["Statistics Office"]}``; further entries are contact, citation,
            period and place.
        form: Format of the file (of the first of two linked tables), or the table or query of a database.
    """

    name: str
    delta: float
    mechanism: str
    settings: Mapping[str, float | int | bool | str]
    person: str | None
    public: str | os.PathLike[str] | None
    published: Sequence[tuple[Any, str]]
    rows_per_person: int
    members: tuple[Any, Columns] | tuple[Any, Columns, Mapping[str, Any]]
    rules: Sequence[Mapping[str, Any]]
    relation: str
    people: int | None
    rows: int | None
    row_tables: int
    seed: int | None
    certificate: float
    discovery: float
    inside: float
    means: float
    ranges: float
    weight: str | None
    weight_totals: Mapping[str, Any]
    weight_tables: Sequence[Sequence[str]]
    weighted: float
    criteria: Sequence[Mapping[str, Any]]
    criteria_share: float
    models: str | Sequence[str | Mapping[str, Any]]
    models_share: float
    epsilon_reason: str
    domain_origin: str
    origin_reason: str
    other_copies: str
    looked: Sequence[str] | None
    about: Mapping[str, Any] | None
    form: Mapping[str, Any]


@explained_imports()
def plan(
    data: Any, columns: Columns, *, epsilon: float, tables: Tables | None = None, population: str | None = None, **options: Unpack[Options]
) -> Plan:
    """Plan a release. Nothing is spent or stored; of the records, only the notation of the first ones is looked at.

    A Python warning is issued if a table says of itself that its rows are not of people.

    Args:
        data: A pandas, Polars or Arrow table, a DuckDB relation, the path of a file or of a folder of files, the
            address of a database, or ``"demo"`` for simulated people.
        columns: What each column may contain, from public knowledge and not from the data: ``(0, 99)``, ``["f", "m"]``,
            ``discover()``, or a column of a domain in JSON. A whole domain or the path of a domain is accepted too.
        epsilon: Privacy parameter: one person changes the odds of any output by at most the factor e^epsilon.
        tables: Number of columns k, if the counts of all tables of k columns must be accurate (of all columns, if there
            are fewer than k); or a list of tables, each a list of columns; or a workload in JSON. None stands for 3. Leave it
            out for two linked tables (the option ``members``) and for rows in order, whose tables are fixed.
        population: Name of the people in the data. Their ledger account in DPSYNTH_HOME is charged when the plan runs;
            without a name, no account is charged.
        **options: See `Options`.

    Returns:
        The plan, whose `run` makes the release.

    Raises:
        InputError: If an argument is invalid, or the table or a package that it needs is missing; with the field, the
            problem and the remedy.

    Examples:
        >>> import dpsynth_core as dps
        >>> dps.plan("demo", {"age": (16, 95), "sex": ["female", "male"]}, epsilon=1, tables=2)
        Plan: 1 table of up to 2 columns, AIM, epsilon 1, delta 1e-09, charged to no ledger
    """
    known = Options.__optional_keys__ | extension.settings().keys() | extension.shares().keys()
    if unknown := set(options) - known:
        raise InputError(min(unknown), "there is no such option", f"use {', '.join(sorted(known))}")
    options = cast(Options, {name: value if name in _TABLES else plain(value) for name, value in options.items()})
    people: Any = options.get("people")
    if people is not None and not (issubclass(type(people), Real) and people is not True and 1 <= people <= _MOST_PEOPLE):
        raise InputError("people", f"{shown(people)} is not a number of people", "say about how many there are, or leave it out")
    table, domain = replace(given(data, options.get("form", {})), second=_second(options)), domains.domain(columns)
    if (weight := options.get("weight")) is not None:
        from dpsynth_core.claims.weighing import as_weight  # loaded where a column is the weight

        domain = as_weight(domain, weight)
    for sentence in extension.recognised(data, *([] if table.second is None else [options["members"][0]])):
        warnings.warn(sentence, stacklevel=3)  # of whoever called this decorated function
    spec = Spec.from_json(_document(table, domain, plain(epsilon), plain(tables), population, options))
    if people is not None:
        check_delta(spec.budget.delta, people)
    return Plan(synthesis.plan(spec), table, people)


def _document(
    table: Given, domain: Domain, epsilon: float, tables: Tables | None, population: str | None, options: Options
) -> dict[str, Any]:
    """Return the spec of a release as a document, from the arguments of `plan`."""
    looked, models, linked = options.get("looked"), options.get("models", ()), _linked(domain, table, tables, options)
    asked = linked.get("workload") or _workload(domain, _ALL_TRIPLES if tables is None else tables)
    usual = linked["mechanism"]["name"] if linked else "aim"
    inside, means = (0.0, 0.0) if linked else (DEFAULT_INSIDE, DEFAULT_MEANS)
    members = Domain.from_json(linked["members"]["domain"]).attributes if linked else ()
    number = (Attribute.coded(NUMBER, options["rows_per_person"] + 1),) if linked else ()
    weight = _weight(options, {one.name: one for one in (*domain, *number, *members)})
    return {
        "name": options.get("name", table.name),
        "population": UNNAMED if population is None else population,
        "data": table.section,
        "unit": {
            "relation": options.get("relation", "add-remove"),
            "person_column": options.get("person"),
            "max_rows_per_person": options.get("rows_per_person", 1),
        },
        **({"published_tables": published_sections(options["published"], domain)} if options.get("published") is not None else {}),
        **_public(options.get("public")),
        "other_copies": options.get("other_copies", ""),
        "about": options.get("about"),
        "looks": stated([looked] if isinstance(looked, str) else looked, "looked"),
        "domain_origin": options.get("domain_origin", "unstated"),
        "domain_justification": options.get("origin_reason", ""),
        "domain": domain.to_json(),
        **linked,
        "workload": asked,
        "budget": {
            "epsilon": epsilon,
            "delta": options.get("delta", DELTA),
            "certificate": options.get("certificate", DEFAULT_CERTIFICATE),
            "ranges": options.get("ranges", USUAL_SHARE if asked.get("kind") == "ranges" else 0.0),
            "reason": options.get("epsilon_reason", ""),
            "inside": options.get("inside", inside),
            "means": options.get("means", means),
            "weighted": options.get("weighted", WEIGHTED_SHARE if options.get("weight") else 0.0),
            **{name: options[option] for option, name in _SHARES.items() if option in options},  # type: ignore[literal-required]
        },
        "weight": None if options.get("weight") is None else weight,
        "criteria": options.get("criteria", ()),
        "models": [one if isinstance(one, Mapping) else {"column": one} for one in ([models] if isinstance(models, str) else models or ())],
        "mechanism": {"name": options.get("mechanism", usual), "settings": options.get("settings", {})},
        "output": {"rows": options.get("rows"), "tables": options.get("row_tables", 1), "seed": options.get("seed")},
        "extensions": _settings(options),
    }


def _public(table: Any) -> dict[str, Any]:
    """Return the entry of a spec that names a public table; {} if `table` is None.

    Raises:
        InputError: `table` is not the path of a readable file.
    """
    if table is None:
        return {}
    if not isinstance(table, str | os.PathLike):
        raise InputError("public", f"{shown(table)} is not a path", "save the public table as a file and give its path")
    from dpsynth_core.sources.public import section  # loaded where there is a public table

    return {"public": section(Path(table))}


def published_sections(tables: Any, domain: Domain) -> list[dict[str, Any]]:
    """Return the sections of a spec about tables that were published, one for each table and in order.

    Args:
        tables: A list of pairs: a table with labels, or its path, and the place of publication.
        domain: The domain.

    Raises:
        InputError: They are no such pairs, or a table does not fit the domain.
    """
    from dpsynth_core.interface import labelled  # loads pandas
    from dpsynth_core.sources.published import section  # loaded where a table was published

    if not isinstance(tables, Sequence) or not all(isinstance(one, tuple | list) and len(one) == 2 for one in tables):
        raise InputError("published", "it is not a list of tables with where each was published", 'give [("ages.csv", "Census 2021")]')
    sections = []
    for number, (table, where) in enumerate(tables, start=1):
        field = f"published {number}"
        if not isinstance(where, str):
            raise InputError(field, f"{shown(where)} is not a text", 'give a table and where it was published: ("ages.csv", "Census 2021")')
        source = table if isinstance(table, str | os.PathLike) else labelled.lines(table, (), field)
        if source is None:
            problem = f"{shown(table)} is not a path, and no table whose labels say which columns it is over"
            raise InputError(field, problem, 'give a table and where it was published: ("ages.csv", "Census 2021")')
        sections.append(section(source, domain, where, field))
    return sections


def _weight(options: Options, columns: Mapping[str, Attribute]) -> dict[str, Any]:
    """Return the spec's section about the weight, with the options that are given.

    Totals that are a table with labels are converted to numbers by cell label.

    Args:
        options: The options of `plan`.
        columns: The columns that can have totals, by name.
    """
    given = {name: options[option] for name, option in _WEIGHT.items() if option in options}  # type: ignore[literal-required]
    if isinstance(totals := given.get("totals"), Mapping):
        given["totals"] = {str(name): _totals(columns.get(str(name)), table) for name, table in totals.items()}
    return given


def _totals(column: Attribute | None, table: Any) -> Any:
    """Return the weight totals of a column by cell label.

    Args:
        column: The column; None if the domain lacks it.
        table: {value: number}, or a table with labels.

    Returns:
        A dict; `table` unchanged for a column that is missing or to be learnt, which the spec
        refuses by name.

    Raises:
        InputError: The table has no labels.
    """
    if column is None or column.most:
        return table  # which the spec refuses by name
    from dpsynth_core.interface import labelled  # loads pandas

    field = f"weight.totals, {column_field(column.name)}"
    found = labelled.counts(table, Domain((column,)), [column.name], field)
    if found is None:
        raise InputError(field, f"{shown(table)} has no labels", "give {value: number}, or a pandas Series with values as its index")
    return {column.cell_labels()[code]: number for (code,), number in found.cells.items()}


def _second(options: Options) -> Given | None:
    """Return the second of two linked tables; None if the options name only one table.

    Raises:
        InputError: The option `members` is not valid, or the table cannot be read.
    """
    if (second := options.get("members")) is None:
        return None
    if not isinstance(second, tuple) or len(second) not in (2, 3):
        raise InputError("members", "it is not a table with columns", 'give both: (persons, {"age": (0, 99)})')
    if not isinstance(form := second[2] if len(second) == 3 else {}, Mapping):
        raise InputError("members", "its third part does not say how the file is written", 'give entries such as {"encoding": "cp1252"}')
    found = given(second[0], form, "members")
    try:
        if found.held is not None:
            found.held.check()
    except InputError as error:
        raise InputError("members" if error.field == "data" else f"members, {error.field}", error.problem, error.remedy) from None
    return found


def _linked(domain: Domain, table: Given, tables: Any, options: Options) -> dict[str, Any]:
    """Return the sections of a spec that differ for two linked tables, which may be one table that is named as both; {} for one table.

    Args:
        domain: The domain of the first table.
        table: The first table, with the second one, if there are two.
        tables: The argument of `plan`, which must be None.
        options: The options of `plan`.

    Raises:
        InputError: An option is missing or does not go with linked tables, or rules are given for one table.
    """
    rules, stated = options.get("rules") or (), _settings(options)
    if stated:
        from dpsynth_core.planning import linked_sections

        linked_sections.check(stated)
    layout, what = extension.layout(stated), extension.what_is_linked(stated)
    if table.second is None and layout is None:
        if rules:
            raise InputError("rules", "they are of two linked tables", "name the second with members, or state rules in a domain")
        return {}
    from dpsynth_core.planning import linked_sections  # loaded for two tables alone

    if tables is not None:
        raise InputError("tables", f"{what} have tables of their own, of two columns", "leave it out")
    if alone := [name for name in ("inside", "means", "ranges", "discovery") if options.get(name)]:
        raise InputError(alone[0], f"{what} do not go with it yet", "leave it out")
    if type(most := options.get("rows_per_person")) is not int:
        whose = "members of a household" if layout is None else "rows of a person"
        raise InputError("rows_per_person", f"it does not say how many {whose} count", "give a number from 1 to 10")
    if table.second is None:
        return linked_sections.of_one(domain, table.section, options.get("person"), most, rules, stated)
    members = domains.domain(options["members"][1])
    return linked_sections.of_two(domain, members, table.second.section, most, rules, stated)


def _settings(options: Options) -> dict[str, Any]:
    """Return the settings of extensions among the options, by name; a text alone is a list of one."""
    return {name: [one] if isinstance(one, str) else one for name, one in options.items() if name in extension.settings()}


def _workload(domain: Domain, tables: Any) -> dict[str, Any]:
    if issubclass(type(tables), Integral):
        return {"kind": "all", "k": tables if tables is True else min(int(tables), len(domain))}
    if isinstance(tables, Mapping):
        return dict(tables)
    named = isinstance(tables, Sequence) and not isinstance(tables, str)
    if not named or not all(isinstance(one, Sequence) and not isinstance(one, str) for one in tables):
        raise InputError("tables", f"{shown(tables)} names no tables", 'give a number of columns, or [["age", "sex"], ["region"]]')
    return {"kind": "marginals", "marginals": [{"attributes": list(one), "weight": 1.0} for one in tables]}


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """A plan of a release, with its cost and its expected quality.

    `run` makes the release. Print the plan, or end a notebook cell with it, to read a summary.
    """

    sealed: Sealed
    _given: Given
    _people: int | None = None

    @property
    def spec(self) -> dict[str, Any]:
        """The spec as a document in its published form, without paths."""
        return self.sealed.spec.published()

    @property
    def digest(self) -> str:
        """The SHA-256 of `spec`, which is the plan's seal."""
        return self.sealed.spec.digest()

    @property
    def domain(self) -> dict[str, Any]:
        """The domain as a document."""
        return self.sealed.domain.to_json()

    @property
    def population(self) -> str | None:
        """The population whose ledger account is charged; None if no account is charged."""
        return None if self.sealed.spec.population == UNNAMED else self.sealed.spec.population

    @property
    def forecast(self) -> Forecast:
        """The expected needs of the run: `seconds` of the processor, and `memory_mb`, the largest memory in megabytes.

        `fits` is False if the run would be refused; `reason` then says why.
        """
        return self.sealed.forecast

    @cached_property
    def leaks(self) -> tuple[Leak, ...]:
        """The disclosures that the privacy charge does not cover, the most severe first; () without such disclosures.

        Each has `severity`, `title`, `why` and `fix`. With a population, its ledger account is read,
        which raises StoreFault if the ledger cannot be used.
        """
        releases = 0
        if self.population is not None:
            from dpsynth_core.store import charging

            left = charging.left(self.population, self.sealed.shares.accountant)
            releases = left.releases if left else 0
        return leaks.find(self.sealed.spec, releases, condition=self.sealed.condition)

    @property
    def expected(self) -> Power | None:
        """The expected number of tables whose error will be shown to be small enough, with a range.

        It is None if the number of people is unknown, or the mechanism publishes no tables.
        """
        standin = self.sealed.spec.data.standin
        people = self._people or (standin.rows if standin else None)
        if not people or not self.sealed.mechanism.card.publishes_tables:
            return None
        return expected(self.sealed, Facts(people))

    @explained_imports()
    def survey(self) -> Zoned[tuple[str, ...]]:
        """Return sentences about values of the table that read oddly or would count as something else.

        Nothing is charged. All records are read, but some of the checks leave out simulated people, linked tables
        and tables on a cluster, or look at the first 1,000 records only. The findings are exact, and so for the
        curator only: `.value` holds them. They are () if nothing reads oddly.

        Raises:
            InputError: The table cannot be read to its end.
        """
        return making.findings(self.sealed)

    def run(self, *, progress: bool = True, again: bool = False) -> Release:
        """Make the release. From the first record read, its cost is spent, even if the run is interrupted or fails.

        The release is stored in DPSYNTH_HOME. If the plan names a population and the ledger shows that
        this plan was already run on this very table, that earlier release is returned and nothing is spent;
        a run that was interrupted or killed continues from its last answer. A plan without a population
        makes another release at each call, with a note on stderr; `recover` finishes an interrupted run.

        Warnings for the curator are printed to stderr, in a notebook or on a terminal only.

        Args:
            progress: Show a progress bar, in a notebook or on a terminal.
            again: Spend once more, for another release of the same plan.

        Returns:
            The new release, or the earlier one.

        Raises:
            InputError: Nothing was read, and nothing is spent.
            ChargedError: An `InputError` after records were read: no release is made, and the charge stays spent.
        """
        from dpsynth_core.interface import running

        return running.run(self.sealed, self._given, self.population is not None, progress, again)

    def __repr__(self) -> str:
        return words.plan_line(self.sealed)

    def __str__(self) -> str:
        return words.plan_text(self.sealed, self.leaks, self.expected)

    def _repr_html_(self) -> str:
        return words.plan_html(self.sealed, self.leaks, self.expected)
