"""Documents: domains, workloads, and specs with any of their fields swapped."""

from __future__ import annotations

import random
from pathlib import Path

from tests.additions import listed
from tests.hostile import people, values
from tests.hostile.attempts import ANY, BAD, Attempt, of_group


@of_group("domains")
def spoiled_domain(rng: random.Random, place: Path) -> Attempt:
    """Any value of a domain swapped."""
    document = people.domain() | {"impossible": [{"never": {"age": "0..24", "sex": ["f"]}, "note": "n"}]}
    for _ in range(rng.choice([1, 1, 2])):
        document = values.spoiled(rng, document, rng.choice(list(values.paths(document))))
        if not isinstance(document, dict):
            break
        if "@raw" not in (text := values.encode(document)):
            (place / "domain.json").write_text(text)
        if any(isinstance(value, values.Raw) for value in _leaves(document)):
            break
    (place / "domain.json").write_text(values.encode(document))
    return Attempt(people.synthesize(), charges=True)


def _leaves(obj: object) -> list[object]:
    if isinstance(obj, dict):
        return [leaf for value in obj.values() for leaf in _leaves(value)]
    return [leaf for value in obj for leaf in _leaves(value)] if isinstance(obj, list) else [obj]


@of_group("domains")
def attributes(rng: random.Random, place: Path) -> Attempt:
    """One attribute of every kind with fields of wrong kinds and sizes."""
    kind = rng.choice(["categorical", "ordinal", "integer", "numeric", "date", "coded", "fancy"])
    good = {
        "integer": {"lower": 0, "upper": 9},
        "numeric": {"lower": 0, "upper": 9},
        "coded": {"size": 3},
        "date": {"lower": "2024-01-01", "upper": "2024-02-01"},
    }.get(kind, {"categories": ["a", "b"]})
    fields = ["lower", "upper", "bins", "edges", "missing", "decimals", "categories", "dtype", "other", "labels", "size", "name", "kind"]
    entry = {"name": "age", "kind": kind, **good}
    for field in rng.sample(fields, rng.choice([1, 1, 2])):
        entry[field] = values.any_value(rng)
    (place / "domain.json").write_text(values.encode({"version": 1, "attributes": [entry]}))
    return Attempt(people.synthesize(), charges=True)


@of_group("domains")
def sizes(rng: random.Random, place: Path) -> Attempt:
    """Lists of a hundred thousand and more: categories, edges, codes, columns, one of them there twice."""
    many = rng.choice([100_001, 200_000])
    categories = [f"v{i}" for i in range(many)]
    entries = rng.choice(
        [
            [{"name": "sex", "kind": "categorical", "categories": [*categories[:90_000], "v7"]}],
            [{"name": "sex", "kind": "categorical", "categories": categories}],
            [{"name": "sex", "kind": "categorical", "categories": ["f", "m"], "labels": categories}],
            [{"name": "pay", "kind": "numeric", "lower": 0, "upper": many, "edges": [i + 0.5 * (0 < i < many) for i in range(many + 1)]}],
            [{"name": "pay", "kind": "numeric", "lower": 0, "upper": many, "edges": []}],
            [{"name": "age", "kind": "integer", "lower": 0, "upper": many, "bins": many}],
            [{"name": "age", "kind": "coded", "size": many}],
            [{"name": f"c{i}", "kind": "coded", "size": 2} for i in range(50_000)],
            [{"name": "age", "kind": "coded", "size": 2}] * 50_000,
        ]
    )
    (place / "domain.json").write_text(values.encode({"version": 1, "attributes": entries}))
    return Attempt(people.synthesize(), BAD, charges=True)


@of_group("domains")
def rules(rng: random.Random, place: Path) -> Attempt:
    """Impossible combinations in any form, and too many of them."""
    forms = [
        {"never": {"age": "0..24", "sex": ["f"]}},
        {"if": {"sex": "f"}, "then": {"age": ["0 to 24"]}},
        {"column": "sex", "determines": "age", "values": {"f": "0 to 24", "m": ["0 to 24", "25 to 49"]}},
        {"columns": ["sex", "age"], "cells": [["f", "0 to 24"], ["m", "25 to 49"]]},
    ]
    rule = rng.choice(forms)
    for _ in range(rng.choice([0, 1, 1, 2])):
        rule = values.spoiled(rng, rule, rng.choice([p for p in values.paths(rule) if p]))
        if any(isinstance(value, values.Raw) for value in _leaves(rule)):
            break
    repeats = rng.choice([1, 1, 1, 3000])
    (place / "domain.json").write_text(values.encode(people.domain() | {"impossible": [rule] * repeats}))
    return Attempt(people.synthesize(workload="all-2way"), charges=True)


@of_group("domains")
def codebooks(rng: random.Random, place: Path) -> Attempt:
    """Codebooks, and texts that are nearly JSON."""
    lines = ["column,value,label", "sex,f,x", "sex,m,y", "age,0..99,", "age,,"]
    for _ in range(rng.randint(0, 5)):
        lines.insert(
            rng.randint(0, len(lines)),
            rng.choice(
                [
                    "",
                    ",",
                    "sex",
                    "sex,f",
                    '"',
                    "age,..",
                    "age,1..",
                    "age," + "9" * 5000 + "..1",
                    "a,1..2,3,4",
                    "sex,*",
                    "day,2020-01-01..x",
                    "\x00,\x00",
                    "pay,nan..inf",
                    "pay,1e308..-1e308",
                ]
            ),
        )
    text = "\n".join(lines)
    odd = [
        "{",
        "[",
        "{}",
        "[]",
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"age": 1e999}',
        '{"age": ' + "9" * 5000 + "}",
        '{"a": 2, "a": 3}',
        "\x00",
        "\ufeff",
    ]
    (place / "domain.json").write_text(rng.choice([text, text, text, rng.choice(odd)]))
    return Attempt(people.synthesize(), charges=True)


@of_group("workloads")
def stated(rng: random.Random, _place: Path) -> Attempt:
    """--workload as text."""
    number = rng.choice(["0", "1", "2", "4", "5", "²", "٣", "-1", "1.5", "9" * 30, "9" * 5000, "", " 1", "1e9"])
    forms = [
        "all-{}way",
        "target:age:{}",
        "target::{}",
        "threshold:{}-of-2:all",
        "threshold:1-of-{}:all",
        "threshold:1-of-{}:target:age",
        "all-{}",
        "ranges:age,{}",
        "ranges:{}",
        "{}",
        "target:nobody:{}",
        "threshold:{}-of-{}:target:age:age",
        "threshold:" * 50 + "{}",
    ]
    text = rng.choice(
        [rng.choice(forms).replace("{}", number), rng.choice(values.TEXTS), rng.choice(["x.json", ".", "/dev/zero", "people.csv"])]
    )
    return Attempt(people.synthesize(workload=text), charges=True)


@of_group("workloads")
def written(rng: random.Random, place: Path) -> Attempt:
    """--workload as a document, any value swapped."""
    good = rng.choice(
        [
            {"kind": "all", "k": 2},
            {"kind": "target", "column": "age", "k": 2, "threshold": 1},
            {"kind": "ranges", "columns": ["age", "pay"]},
            {"kind": "marginals", "marginals": [{"attributes": ["age", "sex"], "weight": 2.0}, {"attributes": ["pay"], "weight": 0.5}]},
        ]
    )
    (place / "workload.json").write_text(values.encode(values.spoiled(rng, good, rng.choice(list(values.paths(good))))))
    return Attempt(people.synthesize(workload="workload.json"), charges=True)


@of_group("workloads")
def weights(rng: random.Random, place: Path) -> Attempt:
    """Weights at and beyond what floats can add."""
    odd = [1e308, 5e-324, 1e-9, 1e9, 1e-300, values.Raw("1" + "0" * 400), values.Raw("1e999"), 0, -1, True, "1", None, 1]
    marginals = [{"attributes": names, "weight": rng.choice(odd)} for names in (["age"], ["sex"], ["age", "sex"])]
    (place / "workload.json").write_text(values.encode({"kind": "marginals", "marginals": marginals}))
    return Attempt(people.synthesize(workload="workload.json", mechanism=rng.choice(["independent", "gaussian", "aim"])), charges=True)


@of_group("workloads")
def large(rng: random.Random, place: Path) -> Attempt:
    """Marginals that are too many or too large."""
    count = rng.choice([50, 300, 900])
    (place / "people.csv").write_text(",".join(f"c{i}" for i in range(count)) + "\n" + ",".join("1" * count) + "\n")
    (place / "domain.json").write_text(values.encode({f"c{i}": 1000 for i in range(count)}))
    names = [f"c{i}" for i in range(count)]
    document = rng.choice(
        [
            {"kind": "all", "k": 5},
            {"kind": "all", "k": count},
            {"kind": "target", "column": "c1", "k": 4},
            {"kind": "marginals", "marginals": [{"attributes": names}]},
            {"kind": "marginals", "marginals": [{"attributes": names[:3]}] * 100_000},
            {"kind": "marginals", "marginals": [{"attributes": ["c1"] * 500_000}]},
        ]
    )
    (place / "workload.json").write_text(values.encode(document))
    return Attempt(people.synthesize(workload="workload.json"), BAD, charges=True)


@of_group("specs")
def swapped_field(rng: random.Random, place: Path) -> Attempt:
    """Any value of a spec swapped, gone, there twice or joined by one that nobody knows."""
    document = people.spec()
    (place / "spec.json").write_text(values.encode(values.spoiled(rng, document, rng.choice(list(values.paths(document))))))
    return Attempt(("run", "spec.json", "--out", "out", "--population", "people"), charges=True)


@of_group("specs")
def other_kinds(rng: random.Random, place: Path) -> Attempt:
    """Sections that go with other kinds of tables, and public tables of any shape."""
    document = people.spec()
    document["data"] = rng.choice(
        [{"kind": "standin", "standin": {"rows": 50, "strength": 0.5, "seed": 1}}, {"kind": "demo"}, document["data"]]
    )
    document["public"] = {
        "path": rng.choice(["people.csv", "public.csv", "nowhere", ".", "/dev/zero", "a\x00b"]),
        "sha256": rng.choice(["", "0" * 64]),
    }
    document["mechanism"] = {"name": rng.choice(["aim_public", "independent", *listed("HOSTILE_PUBLIC")])}
    (place / "public.csv").write_text(people.text(rng, count=rng.choice([1, 60])))
    path = rng.choice(list(values.paths(document)))
    if rng.random() < 0.7:
        document = values.spoiled(rng, document, path)
    (place / "spec.json").write_text(values.encode(document))
    return Attempt(("run", "spec.json", "--out", "out", "--population", "people"), charges=True)


@of_group("specs")
def shares_together(rng: random.Random, place: Path) -> Attempt:
    """All four shares of the budget, each within its own range: together they may be more than there is."""
    document = people.spec()
    document["domain"]["attributes"][1] = {"name": "sex", "kind": "categorical", "discover": True}
    document["workload"] = {"kind": "all", "k": 1}
    document["criteria"], document["models"] = [{"kind": "tables", "limit": 0.1}], [{"column": "age"}]
    most = {"certificate": 0.5, "discovery": 0.4, "criteria": 0.4, "models": 0.4}
    stated = {share: round(rng.uniform(0.4, 1) * limit, 3) for share, limit in most.items()}
    document["budget"] |= stated
    (place / "spec.json").write_text(values.encode(document))
    codes = BAD if sum(stated.values()) > 0.901 else ANY
    return Attempt(("run", "spec.json", "--out", "out", "--population", "people"), codes, charges=True)


@of_group("specs")
def of_an_audit(rng: random.Random, place: Path) -> Attempt:
    """A spoiled spec to audit; without drawing much."""
    document = people.spec()
    wrong = rng.choice([("budget",), ("mechanism", "name"), ("domain",), ("workload",), ("unit",)])
    at = document
    for key in wrong[:-1]:
        at = at[key]
    at[wrong[-1]] = rng.choice([None, 1, [], "x" * 20_000, values.Raw("9" * 5000)])
    (place / "spec.json").write_text(values.encode(document))
    return Attempt(("audit", "--spec", "spec.json", "--draws", rng.choice(["20", "x", "-1", "9" * 5000])), BAD)
