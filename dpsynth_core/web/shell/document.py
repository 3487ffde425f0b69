"""The draft of a release: a spec that may still be incomplete, plus the wizard's own notes under "wizard".

Keys as in `spec.Spec` (population, data, members, published_tables, unit, domain, domain_origin, domain_justification, other_copies,
about, workload, criteria, budget, models, mechanism, output, extensions), each once it is known. `wizard` holds what only pages need:

    passed    names of the steps left through Continue
    source    "upload" | "path" | "demo" | "plan" | the kind of a place of an extension
    label     the table's name on screen
    columns   the table's column names
    declared  types and labels that the table's file declares for its columns (`sources.labels`)
    doubts    the open questions about the file format (`sources.detect_notation.Doubt`)
    stated    the fields of the file format that the curator stated
    KIND      what an extension keeps of its part of the Data page, for each kind of place (`extension.Place`)
    planned   the columns of a plan that was made before there was a table; source is then "plan" until a table is chosen
    comparison  "made" or "declined": whether the table is compared with the domain, as the curator decided
    several   whether a person may own several rows
    left_out  how many rows exceed the limit, by the curator's statement
    cap       {"epsilon", "delta"} for a population that the ledger does not know yet
    recommended  the mechanism that was taken because it is recommended; None once somebody chose a mechanism
    learning_epsilon  epsilon of a run that only learns values, as entered on the Domain page
    people    the approximate number of people, as far as publicly known or learnt with noise, or None
    rows      the columns of the domain page (`web.domain.column_draft.ColumnDraft`) in JSON
    members   {"source", "label", "columns", "declared", "doubts", "stated", "place"} of a second table; place begins its fields' keys
    typed     texts that could not be read as a value, by field path, so that nothing typed is lost

Plain functions over that dict; nothing here reads records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dpsynth_core.claims.criteria.registry import AnyCriterion, check_stated, of_models, read_criteria
from dpsynth_core.claims.models import targets as predicted
from dpsynth_core.claims.models.specs import ModelSpec
from dpsynth_core.claims.models.targets import Target
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.documents import base_name
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import check_reason, is_reason
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.discovery.learning import Portion
from dpsynth_core.mechanisms.graphical import households
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.planning import about_spec, linked_sections, weakness
from dpsynth_core.planning import plan as plans
from dpsynth_core.planning import proposals as proposed
from dpsynth_core.planning.defaults import DELTA
from dpsynth_core.planning.plan import Plan, Shares, budgeted, looked_into
from dpsynth_core.planning.private_views import Look
from dpsynth_core.planning.proposals import Cost, Proposal
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, DEFAULT_INSIDE, DEFAULT_MEANS, DEMO, BudgetSpec, PublishedSpec, Spec
from dpsynth_core.privacy import budget as budgets
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.detect_notation import Doubt
from dpsynth_core.sources.formats import usual_markers
from dpsynth_core.sources.registry import KINDS, can_be_linked
from dpsynth_core.store import accounts, ledger
from dpsynth_core.vocabulary import published
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import DATA, Domain, column_field
from dpsynth_core.vocabulary.link import MOST, Link
from dpsynth_core.vocabulary.workload import Workload

Draft = dict[str, Any]

CRITERION = "criterion"
"""The pages' word for a criterion."""
DEFAULT_BUDGET = {"epsilon": 1.0, "delta": DELTA, "certificate": DEFAULT_CERTIFICATE, "inside": DEFAULT_INSIDE, "means": DEFAULT_MEANS}
_LATER = {"path": "chosen-later", "kind": "csv"}
"""Stands for the table in a plan that is shown before a table is chosen; it is never sealed."""
BY_DOMAIN: dict[str, Any] = {"hash_funcs": {Domain: lambda domain: json.dumps(domain.to_json())}}
"""Caches by domain use its JSON as key: Python's hashes of different values can be equal, as for -1 and -2."""
DEFAULT_CAP = dict(zip(("epsilon", "delta"), accounts.DEFAULT_CAP, strict=True))


def new() -> Draft:
    """Return the draft of a new project: defaults that depend on no data, without table, domain and workload."""
    return {
        "unit": {"relation": "add-remove", "person_column": None, "max_rows_per_person": 1},
        "budget": dict(DEFAULT_BUDGET),
        "mechanism": {"name": "aim", "settings": {}},
        "output": {"rows": None, "seed": None},
        "wizard": {"passed": [], "several": False, "cap": dict(DEFAULT_CAP), "people": None, "typed": {}},
    }


def completed(draft: Mapping[str, Any]) -> Draft:
    """Return a copy of the draft with a default for each missing field that pages rely on.

    A damaged or older draft thus still opens. A stored budget that has no certificate gets none,
    because that is the curator's choice.
    """
    fresh = new()
    fresh["budget"] = {name: fresh["budget"][name] for name in ("epsilon", "delta")} if draft.get("budget") else fresh["budget"]
    whole = {**draft, **{name: {**default, **(draft.get(name) or {})} for name, default in fresh.items()}}
    if data := draft.get("data"):
        kind = data.get("kind", "csv")
        whole["data"] = {"kind": kind, "path": "", **({} if kind == DEMO else {"missing_markers": sorted(usual_markers(kind))}), **data}
        about = {"source": "path", "label": base_name(str(data.get("path", ""))), "columns": [], "declared": []}
        whole["wizard"] = about | whole["wizard"]
    if "members" in whole:
        table = {"place": "members:", "source": "path", "label": "second table", "columns": [], "declared": []}
        whole["members"] = {"domain": None} | (whole["members"] or {})
        whole["wizard"]["members"] = table | whole["wizard"].get("members", {})
    return whole


def wizard(draft: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the wizard's notes of a draft, which are not part of the spec; an empty mapping without notes."""
    return draft.get("wizard", {})


def passed(draft: Mapping[str, Any]) -> list[str]:
    """Return the names of the steps that were left through Continue, in the order in which they were left."""
    return list(wizard(draft).get("passed", []))


def people(draft: Mapping[str, Any]) -> int | None:
    """Return the approximate number of people, or None if it is not known.

    The curator states it, or a run that learnt values released it with noise. It is never counted in
    the table.
    """
    return wizard(draft).get("people")


def cap(draft: Mapping[str, Any]) -> tuple[float, float]:
    """Return the largest total (epsilon, delta) with which a new population's ledger account is opened.

    It is the wizard's default until the curator enters another. An entry is None while its text is not valid.
    """
    chosen = wizard(draft).get("cap", DEFAULT_CAP)
    return chosen["epsilon"], chosen["delta"]


def unit(draft: Mapping[str, Any]) -> Unit:
    """Return the unit of privacy by which pages state noise.

    For two linked tables it is a household, which counts once in every table.

    Raises:
        InputError: The number of rows per person is not valid.
    """
    asked, kind = draft["unit"], KINDS[draft.get("data", {}).get("kind", "csv")]
    if is_linked(draft):
        return Unit(asked["relation"], rows_may_not_count=True)
    return Unit(asked["relation"], asked["max_rows_per_person"], asked["person_column"] is not None or kind.skips_rows)


def domain_zone(draft: Mapping[str, Any]) -> Zone:
    """Return the zone of the domain.

    It is curator-only if the domain was read from private records and the curator gave no reason
    why that is harmless; otherwise public.
    """
    unexplained = draft.get("domain_origin") == DATA and not is_reason(draft.get("domain_justification", ""))
    return Zone.CURATOR if unexplained else Zone.PUBLIC


def columns(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the column names of the table in its order, known from its header.

    If no table is chosen, they are the columns that were planned first; () without a plan.
    """
    return tuple(wizard(draft).get("columns", ()))


def has_second(draft: Mapping[str, Any]) -> bool:
    """Return whether the draft has a second table."""
    return "members" in draft


def is_linked(draft: Mapping[str, Any]) -> bool:
    """Return whether the draft is of two linked tables: it has a second one, or an extension counts its table as two."""
    return has_second(draft) or extension.layout(stated(draft)) is not None


def stated(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of extensions that the draft states, as in the spec's section `extensions`."""
    return draft.get("extensions") or {}


def made_columns(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of columns that no table has, because an extension reckons them from others."""
    return extension.made_columns(stated(draft))


def state_setting(draft: Draft, name: str, value: int | list[str]) -> None:
    """Store a setting of an extension in a draft; 0 and [] take it away, and the section `extensions` with its last setting.

    Args:
        draft: The draft, which is changed.
        name: The setting's name.
        value: The setting's value.
    """
    stated = {other: kept for other, kept in draft.pop("extensions", {}).items() if other != name}
    if stated := stated | ({name: value} if value else {}):
        draft["extensions"] = stated


def forget_layout(draft: Draft) -> None:
    """Take away, from a draft, the settings of extensions that count a table or two in a way of their own."""
    for name in extension.of_layouts():
        state_setting(draft, name, 0)


IMPOSSIBLE = "impossible"
"""Where a domain, and the wizard's notes, keep rules about impossible combinations."""


def kept_rules(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a new list of the draft's rules about impossible combinations; [] if it has none.

    For two linked tables these are the rules stored with the second table, which may concern both.
    """
    return list(draft["members"].get("rules", ())) if has_second(draft) else first_rules(draft)


def first_rules(draft: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a new list of the rules that were stated of the first table; [] without any."""
    noted = wizard(draft).get(IMPOSSIBLE)
    return list((draft.get("domain") or {}).get(IMPOSSIBLE, []) if noted is None else noted)


def second(draft: Mapping[str, Any]) -> Draft:
    """Return the second table as a draft, for functions that take a draft of one table.

    Its parts are the draft's own objects: changing one draft changes the other.

    Raises:
        KeyError: The draft has no second table.
    """
    return {"data": draft["members"], "unit": draft["unit"], "wizard": draft["wizard"]["members"]}


def tables(draft: Draft) -> tuple[Draft, ...]:
    """Return a draft for each table: the draft itself, and the second table if there is one."""
    return (draft, second(draft)) if has_second(draft) else (draft,)


def every_column(draft: Draft) -> dict[str, Draft]:
    """Return for each column, by its name, the draft of the table that has it; the first table's if both have it.

    Columns that no table has (`made_columns`) are the last table's, behind all others.
    """
    there: dict[str, Draft] = {}
    for table in tables(draft):
        there |= {name: table for name in columns(table) if name not in there}
    return there | {name: tables(draft)[-1] for name in made_columns(draft) if name not in there}


def doubts(draft: Mapping[str, Any], stated: Mapping[str, Any] | None = None) -> tuple[Doubt, ...]:
    """Return the open questions about the file format, in the order in which they are asked; () if none is open.

    Args:
        draft: The draft of one table.
        stated: Fields of the format that are answered now. A question is closed if one of its
            fields is answered; a question that suggests a format, if all its fields are.
    """
    kept = (Doubt(question, tuple(map(tuple, answers)), *more) for question, answers, *more in wizard(draft).get("doubts", ()))
    said = (stated or {}).keys()
    return tuple(one for one in kept if not (one.fields <= said if one.is_suggestion else one.fields & said))


def note_doubts(draft: Draft, open_ones: Sequence[Doubt]) -> None:
    """Store the open questions about the file format in the notes of a draft, in place of earlier ones.

    Args:
        draft: The draft of one table, which is changed.
        open_ones: The questions.
    """
    listed = [[one.question, [[label, dict(fields)] for label, fields in one.answers], one.is_suggestion] for one in open_ones]
    draft.setdefault("wizard", {})["doubts"] = listed


def domains(draft: Mapping[str, Any]) -> tuple[Domain, ...]:
    """Return the domain of each table: the first, then the second if there is one.

    Raises:
        InputError: A domain is missing or wrong.
    """
    written = [draft.get("domain"), *([draft["members"].get("domain")] if has_second(draft) else [])]
    if not all(written):
        raise InputError("domain", "the domain is not complete yet", "finish the Domain page")
    return tuple(_domain(_key(one)) for one in written)


def read_domains(draft: Mapping[str, Any]) -> tuple[Domain, ...]:
    """Return the domain of each table as `domains` does, without rules, and without columns that no table has.

    Raises:
        InputError: A domain is missing or wrong.
    """
    made = made_columns(draft)
    plain = domains(draft) if not made else (replace(one, impossible=()) for one in domains(draft))
    return tuple(one.keep([name for name in one.names if name not in made]) if made else one for one in plain)


def domain(draft: Mapping[str, Any]) -> Domain:
    """Return the domain of the workload, with the published tables; for two linked tables, the domain of pairs of rows.

    Raises:
        InputError: The domain or a published table is missing or wrong.
    """
    if is_linked(draft):
        return link(draft).domain
    domains(draft)
    return _with_published(_key(draft["domain"]), _key(draft.get(published.FIELD) or []))


def link(draft: Mapping[str, Any], rules: Sequence[Any] | None = None) -> Link:
    """Return the link between the draft's two tables, which may be one table that an extension counts as two.

    Args:
        draft: The draft, of two linked tables.
        rules: Rules that hold in every household, instead of the draft's own, which may be wrong.

    Raises:
        InputError: A domain is missing or wrong, the largest number of members is not valid, the
            rules contradict the domains, or one table cannot be counted as two.
    """
    domains(draft)
    most, person, own = draft["unit"]["max_rows_per_person"], draft["unit"]["person_column"], extension.of_layouts()
    _check_typed({"members of each": most})
    ruled = _key(kept_rules(draft) if rules is None else rules)
    asked = _key({name: said for name, said in stated(draft).items() if name in own})
    if not has_second(draft):
        return _link_of_one(_key(draft["domain"]), person, most, ruled, asked)
    return _link(_key(draft["domain"]), _key(draft["members"]["domain"]), most, ruled, asked)


def who(draft: Mapping[str, Any]) -> str:
    """Return the word for those who count once: people, or households of two linked tables.

    Raises:
        InputError: Of two linked tables, a domain, the number of members or a rule is missing or wrong.
    """
    return link(draft).words.households if is_linked(draft) else "people"


def decided(draft: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the draft with the choices that two linked tables fix; a draft of one table unchanged.

    Mechanism and workload are fixed, and the budget has no shares for measurements of one table.
    The draft itself keeps the choices for one table, for when the second is removed.

    Raises:
        InputError: Of two linked tables, a domain, the number of members or a rule is missing or wrong.
    """
    if not is_linked(draft):
        return draft
    budget = {name: share for name, share in draft["budget"].items() if name not in ("ranges", "discovery")} | {"inside": 0.0, "means": 0.0}
    name = registry.of_linked(extension.layout(stated(draft)))
    own = {"workload": workload(draft).to_json(), "mechanism": {"name": name, "settings": {}}}
    if not has_second(draft):
        unit, table, rules = draft["unit"], draft.get("data") or _LATER, kept_rules(draft)
        parts = _domain(_key(draft["domain"])), table, unit["person_column"], unit["max_rows_per_person"]
        own |= {name: part for name, part in linked_sections.of_one(*parts, rules, stated(draft)).items() if name not in own}
    return {**draft, **own, "budget": budget}


def workload(draft: Mapping[str, Any]) -> Workload:
    """Return the workload; for two linked tables the fixed one, with tables of households, members and pairs of members.

    Raises:
        InputError: The workload or the domain is missing or wrong, or they do not fit each other.
    """
    if is_linked(draft):
        return _all_kinds(link(draft))
    if not draft.get("workload"):
        raise InputError("workload", "you have not chosen any tables of counts yet", "finish the Workload page")
    domains(draft)
    more = draft.get(published.FIELD) or [], draft.get("extensions") or {}
    return _asked(_key(draft["domain"]), _key(draft["workload"]), *map(_key, more))


def criteria(draft: Mapping[str, Any]) -> tuple[AnyCriterion, ...]:
    """Return the criteria for the rows, in the order of the page; () if the draft has none.

    Raises:
        InputError: A criterion is wrong or incomplete (the error names its number on the page, from 1), or
            the workload is not complete.
    """
    listed = draft.get("criteria", ())
    if not listed:
        return ()
    tables, answered = workload(draft), not mechanism(draft).card.makes_rows
    with _numbered():
        found = read_criteria(listed, tables, answered, link(draft) if is_linked(draft) else None)
        check_stated(listed, tables.domain)
        return found


@contextmanager
def _numbered() -> Iterator[None]:
    """Change an InputError of the block so that it names a criterion by its number on the page."""
    try:
        yield
    except InputError as error:
        if not error.field.startswith("criteria."):
            raise
        number = int(error.field.split(".")[1]) + 1  # of "criteria.0.limit"
        raise InputError(f"{CRITERION} {number}", error.problem, error.remedy) from None


def targets(draft: Mapping[str, Any]) -> tuple[Target, ...]:
    """Return the columns that models will predict, because the plan or a criterion asks for them; () if none is asked.

    Raises:
        InputError: A criterion is wrong, or a column cannot be predicted.
    """
    about_models, asked = of_models(criteria(draft)), [ModelSpec(**one) for one in draft.get("models", ())]
    if not (asked or about_models):
        return ()
    with _numbered():
        return predicted.targets(domain(draft), asked, about_models)


def proposals(draft: Mapping[str, Any]) -> tuple[Proposal, ...]:
    """Return the purposes that the page Workload offers, each with a workload.

    The draft must have a domain and a workload.
    """
    kept = wizard(draft).get("workloads", {}).get("target", {})
    return _proposals(_key(draft["domain"]), draft["workload"].get("column") or kept.get("column"))


def cost(draft: Mapping[str, Any], *, read: bool = True) -> Cost | InputError:
    """Return the expected noise and running time of the workload with the present mechanism and budget.

    The draft must have a domain and a workload. Noise is in people, time in seconds.

    Args:
        draft: The draft.
        read: Whether to work out the passes over the records (`proposals.cost`); otherwise they are 1.

    Returns:
        The cost; if budget, mechanism or workload is not valid, the InputError with the reason, which is
        not raised.
    """
    try:
        stated = _key(draft["domain"]), _key(draft["workload"]), _key(draft["mechanism"])
        return _cost(*stated, shares(draft), unit(draft), people(draft), read)
    except InputError as error:
        return error


def mechanism(draft: Mapping[str, Any]) -> Mechanism:
    """Return the chosen mechanism with its settings; for two linked tables their only mechanism.

    Raises:
        InputError: The mechanism is unknown, its settings are not valid, or the two tables are not complete.
    """
    if is_linked(draft):
        return registry.linked(link(draft), extension.layout(stated(draft)))
    return registry.configured(registry.get(draft["mechanism"]["name"]), draft["mechanism"]["settings"])


def budget(draft: Mapping[str, Any]) -> BudgetSpec:
    """Return the budget as the draft states it.

    Raises:
        InputError: Epsilon or delta is not valid. The shares are checked by `shares`.
    """
    stated = draft.get("budget", {})
    budgets.check_budget(stated.get("epsilon"), stated.get("delta"))
    return BudgetSpec(**stated)


def needs_reason(draft: Mapping[str, Any]) -> bool:
    """Return whether the curator has to give a written reason for an epsilon above 10 (`WEAK_EPSILON`).

    Simulated data and releases with repeatable noise need none; without epsilon or table it is False.
    """
    epsilon, kind = draft["budget"].get("epsilon"), draft.get("data", {}).get("kind")
    real = kind in KINDS and not KINDS[kind].simulated and draft["output"]["seed"] is None
    return real and epsilon is not None and weakness.is_weak(epsilon)


def shares(draft: Mapping[str, Any], other: Mechanism | None = None) -> Shares:
    """Return how the sealed plan will divide the budget between its measurements, in rho.

    Args:
        draft: The draft. Without a domain, no share for learning values or numbers inside cells is counted.
        other: A mechanism in place of the chosen one.

    Raises:
        InputError: The budget or a share is not valid, or the domain or mechanism is wrong.
    """
    chosen = other or mechanism(draft)
    if not draft.get("domain"):
        return budgeted(chosen, budget(draft), document=draft)
    draft = decided(draft)
    data, columns = draft.get("data") or {}, domain(draft)
    into = looked_into(chosen, columns, data.get("kind", "csv"))
    return budgeted(chosen, budget(draft), columns.unknown, draft, into)


def portions(draft: Mapping[str, Any], unknown: Sequence[Attribute]) -> tuple[Portion, ...]:
    """Return the noise (in records) and delta with which each column in `unknown` is learnt, in their order.

    The budget's share for learning is divided between these columns alone. () if `unknown` is empty, but the
    draft is checked then as well.

    Raises:
        InputError: The budget, its shares, the unit, or the mechanism with its settings cannot be used, or the
            two linked tables are not complete.
    """
    stated = budget(draft)
    divided = budgeted(mechanism(draft), stated, unknown, draft)
    return plans.portions(unknown, unit(draft), divided, stated)


def plan(draft: Mapping[str, Any], name: str, looks: tuple[Look, ...] | None = None) -> Plan:
    """Return the plan of a complete draft, checked as a new plan. Only the table may still be missing.

    Args:
        draft: The draft.
        name: The name of the release.
        looks: The views of private values that the project has taken (`store.recorded_views`); None if
            they are not known.

    Raises:
        InputError: The first missing or wrong field.
    """
    with_table = draft if draft.get("data") else {**draft, "data": _LATER}
    return _stated_plan(spec(with_table, name, looks).model_dump_json())


def spec(draft: Mapping[str, Any], name: str, looks: tuple[Look, ...] | None = None) -> Spec:
    """Return the spec of a complete draft.

    Args:
        draft: The draft.
        name: The name of the release.
        looks: The views of private values that the project has taken (`store.recorded_views`), never
            taken from the draft itself; None if they are not known.

    Raises:
        InputError: The first missing or wrong field, also if no table is chosen.
    """
    for step in _CHECKS:
        if (error := problem(draft, step)) is not None:
            raise error
    if not draft.get("data"):
        raise InputError("data", "you have not chosen a table yet", "choose it on the Data page; everything else is decided")
    stated = {key: value for key, value in decided(draft).items() if key != "wizard"}
    if not needs_reason(draft):  # one that was written for a larger epsilon
        stated["budget"] = {key: value for key, value in stated["budget"].items() if key != "reason"}
    return Spec.from_json({"version": 1, "name": name} | stated | {"looks": looks})


def problem(draft: Mapping[str, Any], step: str) -> InputError | None:
    """Return the error of a preparation step that is not complete; None if it is complete.

    Args:
        draft: The draft.
        step: "data", "domain", "workload" or "budget"; another name raises KeyError.
    """
    try:
        _CHECKS[step](draft)
    except InputError as error:
        return error
    return None


def _check_data(draft: Mapping[str, Any]) -> None:
    if not columns(draft) or not (draft.get("data") or wizard(draft).get("planned")):
        raise InputError("data", "you have not chosen a table yet", "upload or name one, take simulated people, or begin with a codebook")
    if any(map(doubts, tables(dict(draft)))):
        raise InputError("table", "the file can be read in more than one way", "answer the question above")
    person = draft["unit"]["person_column"]
    if has_second(draft):
        if not all(person in columns(table) for table in (draft, second(draft))):
            raise InputError("key", "no column is chosen", "choose the column that links the rows of both tables")
        _check_typed({"members of each": draft["unit"]["max_rows_per_person"]})
        if not can_be_linked(draft["data"]["kind"], draft["members"]["kind"]) or draft["data"].get("engine"):
            raise InputError("second table", "two linked tables must be files that this machine counts", "remove it, or choose a file")
    if wizard(draft).get("several") and person not in columns(draft):
        raise InputError("person column", "no column is chosen", "choose the column that tells people apart")
    if draft["unit"]["max_rows_per_person"] is None and "unit.max_rows_per_person" not in wizard(draft).get("typed", {}):
        raise InputError("most rows per person", "no number is given", "say how many rows of a person may count")
    _check_typed({"rows of each person": draft["unit"]["max_rows_per_person"], "limit ε": cap(draft)[0], "limit δ": cap(draft)[1]})
    _check_layout(draft)
    unit(draft)
    ledger.check_name(str(draft.get("population", "")))
    budgets.check_budget(*cap(draft))
    typed = wizard(draft).get("typed", {})
    if "wizard.people" in typed:
        raise InputError("number of people", "this is not a number", "correct it, or leave it empty")
    about_spec.read(typed.get("about", ""), "licence and citation")


def _check_layout(draft: Mapping[str, Any]) -> None:
    """Raise InputError if an extension cannot count the tables in the way that the draft states."""
    said = stated(draft)
    if (layout := extension.layout(said)) is None:
        return
    what, most, least = extension.what_is_linked(said), draft["unit"]["max_rows_per_person"], layout.least
    if not has_second(draft):
        linked_sections.check_table(draft.get("data") or _LATER, said)
    if not least <= most <= MOST:
        raise InputError("most rows per person", f"{most:,} is out of range for {what}", f"give a number from {least} to {MOST}")
    for name in extension.second_columns((), said):
        if name not in columns(tables(dict(draft))[-1]):
            problem = f"the table of {what} has no such column"
            raise InputError(column_field(name), problem, "choose another column, or the table that has it")


def _check_domain(draft: Mapping[str, Any]) -> None:
    for table, stated in zip(tables(dict(draft)), domains(draft), strict=True):
        plans.check_person(stated, draft["unit"]["person_column"])
        for name in stated.names:
            if name not in (*columns(table), *made_columns(draft)):
                raise InputError(column_field(name), "the table has no such column", "drop the column, or choose the table that has it")
    domain(draft)
    if domain_zone(draft) is Zone.CURATOR:
        check_reason("justification", draft.get("domain_justification", ""), "why this domain, read from the private table, is harmless")


def _check_budget(draft: Mapping[str, Any]) -> None:
    _check_typed({"ε": draft["budget"].get("epsilon"), "δ": draft["budget"].get("delta")})
    if (declared := people(draft)) is not None:
        budgets.check_delta(draft["budget"]["delta"], declared)
    if needs_reason(draft):
        weakness.check(budget(draft))
    shares(draft)
    targets(draft)


def _check_typed(numbers: Mapping[str, Any]) -> None:
    """Raise InputError if a number is None.

    None means that the text typed for the number is not valid; the page shows the reason next to
    the field.

    Args:
        numbers: The numbers by their names on the page.
    """
    for name, number in numbers.items():
        if number is None:
            raise InputError(name, "this value cannot be used", "correct the value")


_CHECKS = {"data": _check_data, "domain": _check_domain, "workload": workload, "budget": _check_budget}


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@lru_cache(maxsize=64)
def plan_of(text: str) -> Plan:
    """Return the plan of a spec in JSON, cached.

    Unlike `plan`, it accepts the spec of an earlier run, without the checks for new plans.

    Raises:
        InputError: The spec is not valid.
    """
    return Plan.of(Spec.from_json(json.loads(text)))


@lru_cache(maxsize=64)
def _stated_plan(text: str) -> Plan:
    """Return the plan of a spec in JSON, cached, with all checks of a new plan (`Plan.stated`).

    Raises:
        InputError: The spec is not valid.
    """
    return Plan.stated(Spec.from_json(json.loads(text)))


@lru_cache(maxsize=128)
def _domain(text: str) -> Domain:
    return Domain.from_json(json.loads(text))


@lru_cache(maxsize=16)
def _with_published(text: str, tables_text: str) -> Domain:
    try:
        sections = [PublishedSpec.model_validate_json(json.dumps(one)) for one in json.loads(tables_text)]
    except ValueError:  # pydantic, of a draft that was kept
        raise InputError(published.FIELD, "one entry is not a published table", "delete the entry, and add it again") from None
    return plans.with_published(_domain(text), sections)


@lru_cache(maxsize=16)
def _link(first_text: str, second_text: str, most: int, rules_text: str, stated_text: str) -> Link:
    return plans.ruled(plans.link_of(_domain(first_text), _domain(second_text), most, (), json.loads(stated_text)), json.loads(rules_text))


@lru_cache(maxsize=16)
def _link_of_one(text: str, person: str | None, most: int, rules_text: str, stated_text: str) -> Link:
    said = json.loads(stated_text)
    first, second, own = linked_sections.divided(_domain(text), person, said)
    return plans.ruled(plans.link_of(first, second, most, (), said), [*own, *json.loads(rules_text)])


@lru_cache(maxsize=16)
def _all_kinds(link: Link) -> Workload:
    return replace(households.workload(link), domain=plans.askable(link))


@lru_cache(maxsize=64)
def _workload(domain_text: str, text: str) -> Workload:
    return workloads.from_json(_domain(domain_text), json.loads(text))


@lru_cache(maxsize=64)
def _asked(domain_text: str, text: str, tables_text: str, extensions_text: str) -> Workload:
    asked = replace(_workload(domain_text, text), domain=_with_published(domain_text, tables_text))
    return plans.measuring_first(asked, json.loads(extensions_text), asked.domain)


@lru_cache(maxsize=32)
def _proposals(domain_text: str, column: str | None) -> tuple[Proposal, ...]:
    return proposed.proposals(_domain(domain_text), column)


@lru_cache(maxsize=64)
def _cost(domain_text: str, text: str, mechanism_text: str, divided: Shares, whose: Unit, known: int | None, read: bool) -> Cost:
    chosen = mechanism({"mechanism": json.loads(mechanism_text)})
    return proposed.cost(_workload(domain_text, text), chosen, divided, whose, known, read=read)
