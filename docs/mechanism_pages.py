"""One page for each mechanism in docs/reference/mechanisms/, from its card: what it is for, its paper, what a run is charged, an example
that a test runs, its parameters. `docs.generate` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docs.markdown import code, table
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Learner, Mechanism, UsesPublic
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway

_TABLES = '"age": (16, 95), "sex": ["female", "male"], "region": ["capital", "coast", "highlands", "north", "south"]'
_TWO_VALUES = """
    "sex": {"kind": "categorical", "categories": ["female"], "other": True, "missing": False},
    "marital_status": {"kind": "categorical", "categories": ["married"], "other": True, "missing": False},
    "health": {"kind": "categorical", "categories": ["good"], "other": True, "missing": False},
"""
_PYTHON = """import dpsynth_core as dps

columns = {%s}
plan = dps.plan("demo", columns, epsilon=1, tables=2, mechanism="%s")
release = plan.run()
print(release)"""
_WITH_PUBLIC = """python -m dpsynth_core synthesize people.csv --domain domain.json --public public.csv --mechanism %s \\
  --workload all-2way --epsilon 1 --out release"""
_SIZES = {"age": 82, "sex": 4, "region": 7}
"""Of the example's columns, with their cells for what is missing or not listed."""


def index() -> Iterator[str]:
    for purpose in registry.PURPOSES:
        yield from (f"## {purpose.title}", "", purpose.sentence, "")
        yield from (f"- [{one.card.title}]({one.card.name}.md): {one.card.summary}" for one in map(registry.get, purpose.mechanisms))
        yield ""


def pages() -> dict[str, tuple[str, Iterator[str]]]:
    described = {entry["name"]: entry for entry in registry.describe()}
    return {
        f"{one.card.name}.md": (one.card.title, _page(one, described[one.card.name])) for one in registry.MECHANISMS.values()
    }


def example(mechanism: Mechanism) -> tuple[str, str]:
    """Its language and itself."""
    name = mechanism.card.name
    if isinstance(mechanism, UsesPublic) and not mechanism.forecast(all_kway(_domain(), 2), 0.1).fits:
        return "sh", _WITH_PUBLIC % name
    return "python", _PYTHON % (_TWO_VALUES if isinstance(mechanism, Learner) else _TABLES, name)


def _page(mechanism: Mechanism, entry: Mapping[str, Any]) -> Iterator[str]:
    purpose = registry.purpose(entry["name"])
    yield from (entry["summary"], "", f"Name in specs and commands: `{entry['name']}`. Paper: {entry['paper']}.", "")
    rows = "It writes rows." if entry["makes_rows"] else "It gives noisy tables or a rule, and no rows."
    yield from ("## When to use it", "", f"{purpose.title}: {purpose.sentence} {rows}", "")
    yield from ("## What it costs", "", f"{entry['privacy']} Accounted in {entry['accountant']}.", "")
    if not isinstance(mechanism, Learner):
        stages = mechanism.split(all_kway(_domain(), 2), False)
        yield from ("Of all pairs of columns with 82, 4 and 7 values, its part of the budget goes to:", "")
        yield from table(("stage", "share"), [[stage, f"{share:.1%}"] for stage, share in stages])
    language, text = example(mechanism)
    yield from ("## Example", "", f"```{language}", text, "```", "")
    if entry["differences"]:
        yield from ("## Where it differs from its paper", "", *(f"- {difference}" for difference in entry["differences"]), "")
    printed = entry["as_published"] or {"settings": {}, "chosen": []}
    rows_of = [
        [code(one["name"]), code(one["default"]), code(printed["settings"].get(one["name"])), _limits(one), one["help"]]
        for one in entry["parameters"]
    ]
    if rows_of:
        yield from ("## Parameters", "")
        yield from table(("parameter", "default", "`preset=paper`", "values", "meaning"), rows_of)
    if printed["chosen"]:
        yield from ("Left open by the paper, or kept, with `preset=paper`:", "", *(f"- {one}" for one in printed["chosen"]), "")


def _domain() -> Domain:
    return Domain(tuple(Attribute.categorical(name, [str(code) for code in range(size)]) for name, size in _SIZES.items()))


def _limits(parameter: Mapping[str, Any]) -> str:
    return ", ".join(map(str, parameter["options"])) or f"{parameter['low']} to {parameter['high']}"
