"""Does a plan that was accepted ever fail after its charge?

    python -m benchmarks started --plans 2000 --seed 1

Each plan is drawn at random: a small table, columns of every kind with values listed or to be learnt, rules of every form over bounds that
make them binding, vacuous or impossible, workloads, criteria, models, weights, shares, mechanisms and settings. A plan is either refused by
`dps.plan`, before anything is charged, or it runs to a bundle that verifies. Everything else is listed with the options that repeat it.
"""

from __future__ import annotations

import argparse
import collections
import random
import tempfile
import time
import traceback
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

import dpsynth_core as dps
from dpsynth_core.bundle import verdicts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry

Column = dict[str, Any]

QUICK: dict[str, dict[str, Any]] = {
    "fem": {"rounds": 2, "records": 2, "solve_seconds": 0.05},
    "sepfem": {"rounds": 2, "records": 2, "solve_seconds": 0.05},
    "dualquery": {"rounds": 2, "samples": 2, "solve_seconds": 0.05},
    "dqrs": {"rounds": 2, "samples": 2, "solve_seconds": 0.05},
    "oraclequery": {"rounds": 2, "records": 2},
    "rap": {"relaxed_rows": 20, "rounds": 2},
    "gem": {"batch": 20, "rounds": 2},
    "mwem": {"rounds": 2},
    "aim": {"rounds_per_attribute": 2, "max_size_mb": 1},
}
"""Settings with which a mechanism ends in a second."""
SKIPPED = ("pmwpub", "mixture", "aim_public")
"""Mechanisms that need a public table, which `dps.plan` does not take."""


def _texts(rng: random.Random, rows: int) -> tuple[list[Any], Column]:
    known = [f"v{i}" for i in range(rng.choice([1, 2, 3, 6, 40]))]
    values: list[Any] = [rng.choice([*known, *known, "strange", ""]) for _ in range(rows)]
    listed = {"kind": "categorical", "categories": known}
    return values, rng.choice([listed, listed, {"kind": "categorical", "discover": True}])


def _whole(rng: random.Random, rows: int) -> tuple[list[Any], Column]:
    low = rng.choice([0, -5, 1900, 10**9])
    high = low + rng.choice([1, 4, 100, 10_000])
    values: list[Any] = [rng.choice([rng.randint(low, high), None, high + 7]) for _ in range(rows)]
    listed = {"kind": "integer", "lower": low, "upper": high, "bins": rng.choice([1, 2, 5])}
    return values, rng.choice([listed, listed, {"kind": "integer", "discover": True}])


def _decimal(rng: random.Random, rows: int) -> tuple[list[Any], Column]:
    low = rng.choice([0.0, -1.5, 1e-9])
    high = low + rng.choice([1e-6, 1.0, 1e6])
    values: list[Any] = [rng.choice([rng.uniform(low, high), None, low]) for _ in range(rows)]
    listed = {"kind": "numeric", "lower": low, "upper": high, "bins": rng.choice([1, 3, 8])}
    return values, rng.choice([listed, listed, {"kind": "numeric", "discover": True}])


def _day(rng: random.Random, rows: int) -> tuple[list[Any], Column]:
    first = date(rng.choice([1950, 2000, 2022]), 1, 1)
    days = rng.choice([30, 400, 9000])
    values: list[Any] = [rng.choice([first + timedelta(rng.randint(0, days)), None]) for _ in range(rows)]
    listed = {"kind": "date", "lower": str(first), "upper": str(first + timedelta(days)), "bins": rng.choice([1, 4, 8])}
    return values, rng.choice([listed, listed, {"kind": "date", "discover": True}])


def _moment(rng: random.Random, rows: int) -> tuple[list[Any], Column]:
    first = datetime(rng.choice([2000, 2023]), 1, 1)
    values: list[Any] = [first + timedelta(minutes=rng.randint(0, 500_000)) for _ in range(rows)]
    upper = (first + timedelta(days=400)).date()
    listed = {"kind": "timestamp", "lower": str(first.date()), "upper": str(upper), "precision": "minute", "bins": 4}
    return values, rng.choice([listed, {"kind": "timestamp", "discover": True, "precision": "minute"}])


def _codes(rng: random.Random, rows: int) -> tuple[list[Any], Column]:
    values: list[Any] = [f"{rng.choice('ABC')}{rng.randint(0, 20):02}" for _ in range(rows)]
    level = rng.choice([1, 2, 3])
    listed = {"kind": "hierarchical", "level": level, "categories": sorted({code[:level] for code in ("A00", "A01", "B02", "C11")})}
    return values, rng.choice([listed, {"kind": "hierarchical", "level": rng.choice([1, 3]), "discover": True}])


def _same(rng: random.Random, rows: int) -> tuple[list[Any], Column]:
    return [None for _ in range(rows)], {"kind": "constant", "value": rng.choice(["x", "y"])}


_KINDS = (_texts, _texts, _whole, _whole, _decimal, _day, _day, _moment, _codes, _same)
_ORDERED = ("integer", "numeric", "date", "timestamp")


def _some_value(rng: random.Random, column: Column) -> Any:
    if "categories" in column:
        return rng.choice([*column["categories"], "other", "missing"])
    if "lower" in column:
        return rng.choice([f"{column['lower']}..", f"..{column['upper']}", f"{column['lower']}..{column['upper']}", "missing", "other"])
    return rng.choice(["a", "other", "missing", "0..5"])


def _rule(rng: random.Random, columns: list[Column]) -> dict[str, Any]:
    one, two = rng.sample(columns, 2)
    values = lambda column: [_some_value(rng, column) for _ in range(rng.randint(1, 3))]  # noqa: E731
    ordered = [column for column in columns if column["kind"] in _ORDERED]
    form = rng.choice(["never", "if", "cells", "determines", "order", "order", "order"])
    if form == "order" and len(ordered) > 1:
        low, high = rng.sample(ordered, 2)
        return {"column": low["name"], rng.choice(["at_most", "below"]): high["name"]}
    if form == "if":
        return {"if": {one["name"]: values(one)}, "then": {two["name"]: values(two)}}
    if form == "cells":
        return {"columns": [one["name"], two["name"]], "cells": [[_some_value(rng, one), _some_value(rng, two)]]}
    if form == "determines":
        return {"column": one["name"], "determines": two["name"], "values": {str(_some_value(rng, one)): _some_value(rng, two)}}
    return {"never": {one["name"]: values(one), two["name"]: values(two)}}


def _criterion(rng: random.Random, columns: list[Column]) -> dict[str, Any]:
    one, two = rng.choice(columns), rng.choice(columns)
    return rng.choice(
        [
            {"kind": "tables", "limit": 0.1},
            {"kind": "ranges", "column": one["name"], "limit": 0.05},
            {"kind": "share", "of": {one["name"]: [_some_value(rng, one)]}, "tolerance": 0.05},
            {"kind": "mean", "column": one["name"], "among": {two["name"]: [_some_value(rng, two)]}, "tolerance": 1.0},
            {"kind": "quantile", "column": one["name"], "p": 0.5, "tolerance": 5},
            {"kind": "regression", "outcome": one["name"], "on": two["name"], "tolerance": 50},
            {"kind": "regression-sign", "outcome": one["name"], "on": two["name"]},
            {"kind": "subgroup", "where": {one["name"]: [_some_value(rng, one)]}, "limit": 0.2},
        ]
    )


def drawn(rng: random.Random) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Return a table, its domain in JSON, and the arguments of `dps.plan`."""
    rows = rng.choice([1, 20, 300, 300])
    table, columns = dict[str, list[Any]](), list[Column]()
    for number in range(rng.randint(1, 5)):
        values, column = rng.choice(_KINDS)(rng, rows)
        name = rng.choice([f"c{number}", f"a column {number}", f"{number}"])
        fixed = column["kind"] == "constant" or "discover" in column
        flags = {} if fixed else {flag: rng.random() < 0.5 for flag in ("missing", "other") if rng.random() < 0.3}
        table[name] = values
        columns.append({"name": name, **column, **flags})
    document: dict[str, Any] = {"version": 1, "attributes": columns[:]}
    columns = [column for column in columns if column["kind"] != "constant"] or columns
    if len(columns) > 1 and rng.random() < 0.6:
        closed = [column for column in columns if "discover" not in column]
        if len(closed) > 1 or rng.random() < 0.1:
            about = closed if len(closed) > 1 else columns
            document["impossible"] = [_rule(rng, about) for _ in range(rng.randint(1, 3))]
    further = _further(rng, frame := pd.DataFrame(table), document["attributes"])
    name = rng.choice([one for one in registry.MECHANISMS if one not in SKIPPED] + ["aim"] * 8 + ["mst", "independent"] * 3)
    single = [[one["name"]] for one in columns]
    given: dict[str, Any] = {
        **_budget(rng),
        "tables": rng.choice([1, 2, 2, 3, {"kind": "ranges"}, {"kind": "ranges", "columns": [columns[-1]["name"]]}, single]),
        **further,
        "mechanism": name,
        "settings": QUICK.get(name, {}),
    }
    optional: dict[str, list[Any]] = {
        "certificate": [0, 0.05], "inside": [0, 0.1], "means": [0, 0.05], "ranges": [0, 0.05], "discovery": [0.05, 0.1, 0.3],
        "rows": [1, 50], "relation": ["add-remove", "replace"], "people": [rows, 10_000], "models": [[columns[-1]["name"]]],
        "looked": [["nothing"]],
    }  # fmt: skip
    for option, values in optional.items():
        if rng.random() < (0.06 if option in ("models", "weight", "rows", "ranges") else 0.2):
            given[option] = rng.choice(values)
    if rng.random() < 0.3:
        known = [column for column in columns if "discover" not in column] or columns
        given["criteria"] = [_criterion(rng, known) for _ in range(rng.randint(1, 3))]
    return frame, document, given


def _linked(rng: random.Random) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Return two linked tables, as `drawn` returns one."""
    homes, members = rng.choice([0, 3, 60]), rng.randint(1, 4)
    table = {"home": [f"h{i}" for i in range(homes)]}
    columns: list[Column] = []
    persons: dict[str, list[Any]] = {"home": [home for home in table["home"] for _ in range(rng.randint(0, members + 1))]}
    listed: list[Column] = []
    for number in range(rng.randint(1, 3)):
        for into, described in ((table, columns), (persons, listed)):
            values, column = rng.choice([_texts, _whole, _decimal, _day])(rng, len(into["home"]))
            if "discover" in column:
                column = {"kind": "categorical", "categories": ["v0", "v1"]}
            name = f"{'h' if into is table else 'p'}{number}"
            into[name] = values
            described.append({"name": name, **column})
    rules: list[dict[str, Any]] = []
    first = listed[0]
    if rng.random() < 0.5:
        bound = rng.choice(["at_most", "at_least", "exactly"])
        rules.append({"members_with": {first["name"]: [_some_value(rng, first)]}, bound: rng.choice([0, 1, 2, 9])})
    if rng.random() < 0.3:
        rules.append({"never": {first["name"]: [_some_value(rng, first)], columns[0]["name"]: [_some_value(rng, columns[0])]}})
    if rng.random() < 0.3:
        another = f"{first['name']} of another"
        rules.append({"never": {first["name"]: [_some_value(rng, first)], another: [_some_value(rng, first)]}})
    given: dict[str, Any] = {
        **_budget(rng),
        "person": "home",
        "rows_per_person": members,
        "members": (pd.DataFrame(persons), {"version": 1, "attributes": listed}),
        "rules": rules,
        "rows": rng.choice([None, 1, 30]),
        "certificate": rng.choice([0, 0.05]),
    }
    return pd.DataFrame(table), {"version": 1, "attributes": columns}, given


def _budget(rng: random.Random) -> dict[str, Any]:
    """Return epsilon, from the least that is allowed to the most, with the reason that a large one needs."""
    reason = "invented people, about whom nobody can learn anything"
    return {"epsilon": rng.choice([1e-6, 0.001, 0.1, 1, 1, 10, 1000]), "epsilon_reason": reason}


def _further(rng: random.Random, table: pd.DataFrame, columns: list[Column]) -> dict[str, Any]:
    """Return options about published tables, weights and persons; their columns are added to `table` and `columns`."""
    known = [column for column in columns if "categories" in column and column["kind"] == "categorical"]
    given: dict[str, Any] = {}
    if known and rng.random() < 0.15:
        one = rng.choice(known)
        counts = pd.Series({value: rng.choice([0, 5, 300]) for value in [*one["categories"], "other", "missing"]}, name="people")
        given["published"] = [(counts.rename_axis(one["name"]), "Census 2021")]
    if known and rng.random() < 0.15:
        one = rng.choice(known)
        table["weight"] = [rng.choice([0.0, 1.0, 2.5, 9.0]) for _ in range(len(table))]
        columns.append({"name": "weight", "kind": "numeric", "lower": 0, "upper": rng.choice([3, 9]), "bins": 3})
        totals = {value: rng.choice([0, 50, 900]) for value in [*one["categories"], "other", "missing"]}
        given |= {"weight": "weight", **({"weight_totals": {one["name"]: totals}} if rng.random() < 0.5 else {})}
    if rng.random() < 0.15:
        table["whose"] = [f"p{rng.randint(0, 9)}" for _ in range(len(table))]
        given |= {"person": "whose", "rows_per_person": rng.choice([1, 3])}
    return given


def case(seed: int, number: int) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Return the plan of this number as `drawn` does: of one table, or of two linked ones."""
    rng = random.Random(f"{seed} {number}")
    return _linked(rng) if rng.random() < 0.12 else drawn(rng)


def outcome(seed: int, number: int) -> tuple[str, str]:
    """Plan and run the plan of this number. Return "refused", "ran" or "FAILED", and the reason."""
    table, document, given = case(seed, number)
    try:
        plan = dps.plan(table, document, **given)
        str(plan)
    except InputError as refusal:
        return "refused", f"{refusal.field}: {refusal.problem}"[:110]
    except Exception:  # noqa: BLE001 (any other error is a finding)
        return "FAILED", "before the charge: " + traceback.format_exc(limit=-3)
    try:
        release = plan.run(progress=False)
        with tempfile.TemporaryDirectory() as folder:
            release.save(Path(folder) / "release.zip")
        wrong = [check for check in release.verify().checks if check.verdict == verdicts.FAILED]
    except Exception:  # noqa: BLE001 (every error here comes after the charge)
        return "FAILED", traceback.format_exc(limit=-3)
    if wrong:
        return "FAILED", "it does not verify: " + "; ".join(f"{check.question} {check.detail}" for check in wrong)
    return "ran", given.get("mechanism", "households")


def main() -> None:
    """Try the plans, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counted: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    began = time.perf_counter()
    for number in range(options.first, options.first + options.plans):
        try:
            what, why = outcome(options.seed, number)
        except KeyboardInterrupt:  # what became of the plans before is still printed
            break
        counted[what][why if what != "FAILED" else why.strip().splitlines()[-1][:160]] += 1
        if what == "FAILED":
            print(f"--seed {options.seed} --first {number} --plans 1\n{why}", flush=True)
    for what, reasons in counted.items():
        print(f"{what}: {sum(reasons.values())}")
        for reason, times in reasons.most_common(12):
            print(f"  {times:5} {reason}")
    print(f"{sum(map(collections.Counter.total, counted.values()))} plans in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
