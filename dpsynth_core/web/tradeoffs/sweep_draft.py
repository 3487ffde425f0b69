"""What the open project would try on the Trade-offs page: from the draft's notes to a sweep. Plain functions over the draft.

The notes are under wizard.tradeoffs: table, rows, strength (a number, or `RANGE`), mechanisms, epsilons, repeats, sizes (parts of the
workload); each has a default that depends on public facts only. A stand-in needs no private table, so neither the file nor a population
has to be named for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism, UsesPublic
from dpsynth_core.planning.plan import budgeted
from dpsynth_core.planning.spec import STANDIN, Spec
from dpsynth_core.sources import simulated
from dpsynth_core.tradeoffs.sweep import PRIVATE, PUBLIC, Sweep
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.numbers import positive

NOTES = "wizard.tradeoffs"
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
MECHANISMS = ("aim", "mst", "independent")
REPEATS = 3
RANGE, STRENGTHS = "range", (0.25, 0.5, 0.75)
"""From weakly to strongly related columns: the choice, and what is tried then. Nobody knows which of them the private table is like."""
ROWS, MOST_ROWS = 10_000, 50_000
"""Of a stand-in unless the curator says otherwise: as many as people are declared, but a sweep should not take all day."""
MAX_EPSILONS = 12
ALL, PARTS = "all", "parts"
SHARES = {ALL: (1.0,), PARTS: (0.1, 0.25, 0.5, 1.0)}
"""Parts of the workload that are asked for."""


def note(draft: Mapping[str, Any], name: str) -> Any:
    """A choice on the Trade-offs page, or its default; None for a text that cannot be used."""
    people, chosen = document.people(draft), document.wizard(draft).get("tradeoffs", {})
    defaults = {
        "table": STANDIN,
        "rows": min(people or ROWS, MOST_ROWS),
        "strength": RANGE,
        "mechanisms": list(MECHANISMS),
        "epsilons": list(EPSILONS),
        "repeats": 1 if chosen.get("table", STANDIN) == STANDIN and chosen.get("strength", RANGE) == RANGE else REPEATS,
        "sizes": ALL,
    }
    return chosen.get(name, defaults[name])


def tables(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """On which tables this project could try something. The simulated people are no one's secret."""
    if project_table.is_simulated(draft):
        return (STANDIN, PUBLIC)
    return (STANDIN, *([PUBLIC] if draft.get("public") else []), *([PRIVATE] if draft.get("data") else []))


def chosen_table(draft: Mapping[str, Any]) -> str:
    """The one to try on: a stand-in where the one that was chosen is gone."""
    return str(note(draft, "table")) if note(draft, "table") in tables(draft) else STANDIN


def offered(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """Mechanisms that answer tables and, without a public table to learn from, do not need one. The draft has a workload and a budget."""
    workload, budget = document.workload(draft), document.budget(draft)
    informed = chosen_table(draft) == PRIVATE and bool(draft.get("public"))

    def can(mechanism: Mechanism) -> bool:
        if not mechanism.card.publishes_tables:
            return False
        if informed or not isinstance(mechanism, UsesPublic):
            return True
        return registry.forecast(mechanism, workload, budgeted(mechanism, budget).mechanism).fits

    return tuple(name for name, mechanism in registry.MECHANISMS.items() if can(mechanism))


def titles(draft: Mapping[str, Any]) -> dict[str, str]:
    """By name, what the `offered` mechanisms are called; the plan's own as it is set."""
    own = document.mechanism(draft)
    return {name: own.card.title if name == own.card.name else registry.get(name).card.title for name in offered(draft)}


def problem(draft: Mapping[str, Any]) -> tuple[str, InputError] | None:
    """The first step that has to be finished before anything can be tried, and what is wrong there."""
    for step in ("domain", "workload", "budget"):
        check = {"domain": document.domain, "workload": document.workload, "budget": document.shares}[step]
        try:
            check(draft)
        except InputError as error:
            return step, error
    return None


def sweep(draft: Mapping[str, Any], name: str) -> Sweep:
    """What Start would try. Raises InputError for the first thing that is missing or wrong."""
    for field in ("rows", "epsilons"):
        if note(draft, field) is None:
            raise InputError(field, "what is typed there cannot be used", "correct it")
    table = chosen_table(draft)
    every = len(document.workload(draft).cliques)
    sizes = sorted({max(1, math.ceil(share * every)) for share in SHARES[note(draft, "sizes")]})
    mechanisms = [mechanism for mechanism in offered(draft) if mechanism in note(draft, "mechanisms")]
    base, epsilons, repeats = _base(draft, name, table), tuple(sorted(note(draft, "epsilons"))), int(note(draft, "repeats"))
    strengths = STRENGTHS if table == STANDIN and note(draft, "strength") == RANGE else ()
    return Sweep(base, table, tuple(mechanisms), epsilons, tuple(sizes), repeats, strengths)


def _base(draft: Mapping[str, Any], name: str, table: str) -> Spec:
    if table == PRIVATE:
        return document.spec(draft, name)
    fields = {key: value for key, value in draft.items() if key not in ("wizard", "public", "data", "domain_origin", "output")}
    fields["population"] = str(fields.get("population", "")).strip() or "stand-in"
    if table == STANDIN:
        strength = note(draft, "strength")
        one = STRENGTHS[len(STRENGTHS) // 2] if strength == RANGE else strength
        fields["data"] = {"kind": STANDIN, "standin": {"rows": note(draft, "rows"), "strength": one}}
    elif project_table.is_simulated(draft):
        fields["data"] = draft["data"]
    else:
        fields["data"] = {key: value for key, value in draft["public"].items() if key != "sha256"}
    return Spec.from_json({"version": 1, "name": name} | fields)


def read_epsilons(text: str) -> list[float]:
    """Several values of epsilon, separated by spaces, semicolons or commas. Raises InputError, also for 1,5: one number or two?"""
    words = [part for word in text.replace(";", " ").replace(", ", " ").split() for part in _parted(word)]
    epsilons = sorted({positive(word, "values of ε", "0.1 1 10") for word in words})
    if not 1 <= len(epsilons) <= MAX_EPSILONS:
        raise InputError("values of ε", f"{len(epsilons)} are given", f"give 1 to {MAX_EPSILONS}, such as 0.1 1 10")
    return epsilons


def _parted(word: str) -> list[str]:
    """A word without spaces as the numbers that it may hold; 0,5 is one, with a decimal comma."""
    if word.startswith("0,") or "," not in word:
        return [word]
    if word.count(",") == 1 and "." not in word:
        raise InputError("values of ε", f"“{word[:40]}” may be one number or two", "separate values by spaces, such as 0.5 1.5")
    return [part for part in word.split(",") if part]


def read_rows(text: str) -> int:
    """Rows of a stand-in. Raises InputError."""
    digits = text.replace(",", "").replace(" ", "")
    if not digits.isascii() or not digits.isdigit():
        raise InputError("rows", "that is not a whole number", "write one such as 10000")
    simulated.check(int(digits), STRENGTHS[0])
    return int(digits)


def shown_epsilons(values: Sequence[float]) -> str:
    return "  ".join(f"{value:g}" for value in values)
