"""Forged bundles: every field of release.json and every file of a release changed, alone and in pairs, and what `verify` says of each.

A forger has this program. So a field is changed in three manners: *alone*, with a new manifest; *copied*, with all other files written
anew from the changed release.json; and *rerun*, with everything made anew by the mechanism on the published answers. Each with the
versions as they are, with another NumPy named, and with another version of this program named. No forgery may be called consistent but of
a field in UNSEEN, which is what SECURITY.md lists.

    python -m benchmarks forgeries                     every change of every field (an hour)
    python -m benchmarks forgeries --cases 300 --seed 7
"""

from __future__ import annotations

import copy
import io
import json
import random
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks import record
from benchmarks.table import released
from dpsynth_core.bundle import pack, unpack, verify
from dpsynth_core.bundle.reproduce import feasible, repeated, replayed
from dpsynth_core.bundle.verdicts import CONSISTENT, INCONSISTENT, PARTLY
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation.content import Content, in_memory
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.graphical.households import Households, workload
from dpsynth_core.planning.plan import INSIDE, LEARNING
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import HeldRows
from dpsynth_core.release.statement import brands, statement, unmeasured_brands
from dpsynth_core.sources import demo
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.rows import one_table

Path_ = tuple[str | int, ...]
Document = dict[str, Any]

UNSEEN = (
    "created", "versions", "ledger", "despite", "transcript", "measurements", "spec.name", "spec.population", "spec.data", "spec.domain",
    "spec.domain_origin", "spec.domain_justification", "spec.looks", "spec.other_copies", "spec.unit.person_column", "spec.criteria",
    "spec.budget.reason", "spec.workload", "spec.output.rows", "spec.output.tables", "spec.published_tables", "spec.weight.totals",
    "spec.weight.tables", "spec.members.path", "spec.members.kind", "spec.members.domain",
)
"""Fields of release.json whose forgery cannot be seen in the bundle alone. A field stands for all that is in it, but for SEEN."""
SEEN = ("ledger.population", "ledger.unit")
OTHERS = {"ours": {}, "numpy": {"numpy": "1.0"}, "program": {"dpsynth_core": "0.0.9+12345678"}}
"""Versions that a forger names."""
MANNERS = ("alone", "copied", "rerun")
Forged = tuple[bytes, tuple[str, ...]]
"""A bundle, and the fields of it that are forged: the mechanism, run again, may put one right."""
Make = Callable[[], Forged | None]
REFUSED = "refused"
_LONG = 4
"""Of a longer list of numbers, the first, the last and one between are changed."""
_CHOICES: Mapping[str, Sequence[Any]] = {
    "created": ("2020-01-01",),
    "domain_origin": ("codebook", "public", "unstated"),
    "domain_justification": ("", "the pilot study had the same values"),
    "looks": ([], ["rows"]),
    "person_column": (None, "person", "sex"),
    "relation": ("replace", "add-remove"),
    "importance": ("should", "must"),
    "limit": (0.0001, 0.9),
    "tolerance": (0.001, 0.9),
    "other_copies": ("", "There are none."),
    "despite": ("It is only a little more.",),
    "quoting": ("standard", "lines"),
    "rows": (10, None),
    "tables": (1, 3),
    "max_rows_per_person": (1, 5),
    "kind": ("parquet", "demo", "mean", "all"),
    "reason": ("", "The table is old and nearly public, and we need this much."),
}


@dataclass(frozen=True)
class Case:
    """One forgery. fields: what of release.json is changed, or the file."""

    base: str
    fields: tuple[str, ...]
    manner: str
    versions: str
    change: str
    make: Make


def bases(folder: Path) -> dict[str, Release]:
    """Small releases that together have everything that a release can say."""
    people = folder / "people.csv"
    frame = demo.simulate(rows=300, seed=8)
    frame.insert(0, "person", [number * 2 // 3 for number in range(len(frame))])
    frame.to_csv(people, index=False)
    columns = [
        {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 3, "other": "nearest", "missing": False},
        {"name": "health", "kind": "categorical", "discover": True, "most": 4},
    ]
    whole: Document = {
        "name": "Trial",
        "population": "people",
        "data": {"kind": "csv", "path": str(people), "quoting": "standard"},
        "unit": {"relation": "add-remove", "person_column": "person", "max_rows_per_person": 2},
        "domain": {"version": 1, "attributes": columns, "impossible": [{"never": {"age": ["0 to 32"], "sex": ["male"]}, "note": "none"}]},
        "domain_origin": "data",
        "domain_justification": "the pilot study of last year had the same published values",
        "other_copies": "The ministry published a table of ages last year.",
        "looks": ["rows", "truth"],
        "workload": {"kind": "all", "k": 2},
        "criteria": [
            {"kind": "tables", "limit": 0.0001},
            {"kind": "share", "of": {"sex": "female"}, "tolerance": 0.2, "importance": "should"},
        ],
        "budget": {"epsilon": 12.0, "delta": 1e-6, "certificate": 0.1, "reason": "The people agreed to it in writing, each of them."},
        "mechanism": {"name": "independent"},
        "output": {"rows": 40, "tables": 2},
    }
    plain = {
        "domain": {"version": 1, "attributes": columns[:2]},
        "data": {"kind": "demo"},
        "population": "people",
        "workload": {"kind": "all", "k": 2},
        "budget": {"epsilon": 2.0, "delta": 1e-6},
        "output": {"rows": 40},
    }
    specs: dict[str, Document] = {
        "whole": whole,
        "uncertified": plain | {"mechanism": {"name": "mst"}},
        "models": plain | {"mechanism": {"name": "independent"}, "models": [{"column": "sex"}], "unit": {"relation": "replace"}},
        "answers": plain | {"mechanism": {"name": "gaussian"}, "output": {}},
    }
    specs |= _of_weights_and_tables(folder)
    made = {name: released(synthesis.plan(Spec.from_json(obj))) for name, obj in specs.items()}
    cited = {"population": "people", "entry": 1, "hash": "0" * 64, "unit": made["whole"].spec.unit.model_dump()}
    ledger = cited | {"cap": {"epsilon": 20.0, "delta": 1e-5}, "earlier_caps": [], "restored": 0}
    made["whole"] = replace(made["whole"], ledger=ledger, despite="The limit was a typing error, as everybody can see.")
    return made


def _of_weights_and_tables(folder: Path) -> dict[str, Document]:
    """Return plans with survey weights, with published tables, and with two linked tables that have weights, by name."""
    drawn = np.random.default_rng(3)
    people, households, members = (folder / f"{name}.csv" for name in ("weighted", "households", "members"))
    frame = pd.DataFrame({"sex": drawn.choice(["f", "m"], 400), "age": drawn.integers(0, 100, 400), "w": drawn.integers(1, 6, 400)})
    frame.assign(region=drawn.choice(["n", "s"], 400)).to_csv(people, index=False)
    homes = pd.DataFrame({"k": range(150), "region": drawn.choice(["n", "s"], 150), "w": drawn.integers(1, 5, 150)})
    homes.to_csv(households, index=False)
    pd.DataFrame({"k": drawn.integers(0, 150, 300), "sex": drawn.choice(["f", "m"], 300)}).to_csv(members, index=False)

    def listed(name: str, values: str) -> Document:
        return {"name": name, "kind": "categorical", "categories": list(values), "other": False, "missing": False}

    def counted(name: str, upper: int, bins: int) -> Document:
        return {"name": name, "kind": "integer", "lower": 0, "upper": upper, "bins": bins, "other": "nearest", "missing": False}

    columns = [listed("sex", "fm"), counted("age", 99, 4), listed("region", "ns"), counted("w", 5, 3)]
    budget = {"epsilon": 8.0, "delta": 1e-6, "certificate": 0.1}
    one: Document = {
        "population": "people",
        "data": {"kind": "csv", "path": str(people)},
        "domain": {"version": 1, "attributes": columns},
        "workload": {"kind": "all", "k": 2},
        "criteria": [{"kind": "tables", "limit": 0.2}],
        "budget": budget | {"inside": 0.05, "means": 0.1, "ranges": 0.1},
        "mechanism": {"name": "independent"},
        "output": {"rows": 60},
    }
    of_homes = {"version": 1, "attributes": [listed("region", "ns"), counted("w", 4, 2)]}
    of_members = {"version": 1, "attributes": [listed("sex", "fm")]}
    linked = {
        "population": "people",
        "data": {"kind": "csv", "path": str(households)},
        "members": {"kind": "csv", "path": str(members), "domain": of_members, "rules": []},
        "unit": {"relation": "add-remove", "person_column": "k", "max_rows_per_person": 3},
        "domain": of_homes,
        "weight": {"column": "w"},
        "workload": workload(Link.ruled(Domain.from_json(of_homes), Domain.from_json(of_members), 3, [])).to_json(),
        "budget": budget | {"weighted": 0.1},
        "mechanism": {"name": Households.card.name},
        "output": {"rows": 30},
    }
    weight = {"column": "w", "totals": {"region": {"n": 700.0, "s": 500.0}}, "tables": [["sex", "region"]]}
    published = {"columns": ["sex"], "cells": [["f", 210], ["m", 190]], "source": "Census 2021, table 1"}
    return {
        "weighted": one | {"weight": weight, "budget": one["budget"] | {"weighted": 0.1}},
        "published": one | {"published_tables": [published]},
        "linked": linked,
    }


def cases(name: str, release: Release, rng: random.Random) -> Iterator[Case]:
    """Every change of every field and file of one release."""
    files = packed(release)
    document = json.loads(files[releases.DOCUMENT])
    for path in _places(document):
        for change, value in changes(document, path, rng):
            for manner in MANNERS:
                for versions in OTHERS:
                    make = _made(release, files, [(path, value)], manner, versions)
                    yield Case(name, (_named(path),), manner, versions, change, make)
    for file in files:
        for change, content in _of_file(file, files[file]):
            for versions in OTHERS:
                yield Case(name, (file,), "alone", versions, change, _with_file(release, file, content, versions))
    for number in range(1 + len(release.further)):
        for versions in OTHERS:
            yield Case(name, ("rows",), "copied", versions, f"two rows of table {number + 1} swapped", _swapped(release, number, versions))


def pairs(name: str, release: Release, rng: random.Random, count: int) -> Iterator[Case]:
    """So many random pairs of changes of release.json."""
    files = packed(release)
    document = json.loads(files[releases.DOCUMENT])
    places = list(_places(document))
    for _ in range(count):
        both = [(path, *rng.choice(list(changes(document, path, rng)) or [("left out", _GONE)])) for path in rng.sample(places, 2)]
        manner, versions = rng.choice(MANNERS), rng.choice(list(OTHERS))
        make = _made(release, files, [(path, value) for path, _, value in both], manner, versions)
        yield Case(name, tuple(_named(path) for path, *_ in both), manner, versions, " and ".join(change for _, change, _ in both), make)


def verdict(case: Case) -> tuple[str, tuple[str, ...]] | None:
    """What is said of the forgery, REFUSED where it is taken for no bundle, and what is forged in it; None where that is nothing."""
    forged = case.make()
    return None if forged is None else (said_of(forged[0]), forged[1])


def said_of(bundle: bytes) -> str:
    """The verdict on a bundle, without processes of its own."""
    try:
        read = unpack.read_bytes(bundle)
        report = verify.verify(read)
        return report.verdict if report.verdict == INCONSISTENT else report.replayed(replayed(read)).verdict
    except InputError:
        return REFUSED


def wrongly(judged: tuple[str, tuple[str, ...]] | None) -> bool:
    """Whether a forgery was called consistent that SECURITY.md does not list."""
    return judged is not None and judged[0] == CONSISTENT and not all(map(unseen, judged[1]))


def unseen(field: str) -> str:
    """The entry of UNSEEN that stands for a field, "" where there is none."""
    return "" if field.startswith(SEEN) else next((listed for listed in UNSEEN if field == listed or field.startswith(f"{listed}.")), "")


# What is changed

_GONE = object()


def paths(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The places of all fields: leaves, and what holds them but the document itself."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths(part, (*path, key))
    elif isinstance(value, list):
        numbers = len(value) > _LONG and all(isinstance(part, int | float) for part in value)
        for place in sorted({0, len(value) // 2, len(value) - 1}) if numbers else range(len(value)):
            yield from paths(value[place], (*path, place))


def _places(document: Document) -> Iterator[Path_]:
    """Those of fields that say something: a share of the budget for what the plan does not ask for is taken by nothing."""
    idle = [("spec", "budget", name) for name in (LEARNING, INSIDE, *(claim.name for claim in CLAIMS)) if not _takes(document, name)]
    return (path for path in paths(document) if path not in idle)


def _takes(document: Document, share: str) -> bool:
    """Whether the plan would take a share of this name, if it stated one."""
    spec = document["spec"]
    return releases.plan_of({**document, "spec": {**spec, "budget": {**spec["budget"], share: 0.01}}}).shares.of(share) > 0


def changes(document: Document, path: Path_, rng: random.Random) -> Iterator[tuple[str, Any]]:
    """Other values for a field, each with a word for it."""
    value = _at(document, path)
    yield from ((word, other) for word, other in _values(value, path, rng) if other is _GONE or other != value)


def _values(value: Any, path: Path_, rng: random.Random) -> Iterator[tuple[str, Any]]:
    """Values to put in a field's place, some of them perhaps its own: half of 0, a list that is shuffled into itself."""
    if not isinstance(value, dict) or len(path) == 1:  # of others, the parts are left out one by one
        yield "left out", _GONE
    yield from ((f"{choice!r}", choice) for choice in _CHOICES.get(str(path[-1]), ()))
    if isinstance(value, bool):
        yield "the opposite", not value
    elif isinstance(value, int):
        yield "one more", value + 1
        yield "half", value // 2
    elif isinstance(value, float):
        yield "a little more", value * 1.01 if value else 0.01
        yield "a tenth", value / 10 if value else 1e-6
    elif isinstance(value, str):
        yield "a word more", f"{value} x"
    elif isinstance(value, list) and value:
        yield "one twice", [*value, value[-1]]
        yield "shuffled", rng.sample(value, len(value))
    elif isinstance(value, dict):
        yield "an entry more", value | {"checked": "by everybody"}


def _at(document: Any, path: Path_) -> Any:
    for step in path:
        document = document[step]
    return document


def _changed(document: Document, path: Path_, value: Any) -> None:
    with suppress(KeyError, IndexError, TypeError):  # another change took the place away
        *before, last = path
        holder = _at(document, tuple(before))
        if value is _GONE:
            del holder[last]
        else:
            holder[last] = copy.deepcopy(value)


def _holds(document: Document, path: Path_, value: Any) -> bool:
    """Whether a field is still as it was forged."""
    try:
        return bool(_at(document, path) == value)
    except (KeyError, IndexError, TypeError):
        return value is _GONE


def _named(path: Path_) -> str:
    return ".".join("*" if isinstance(step, int) else step for step in path)


# How it is written


def packed(release: Release) -> dict[str, bytes]:
    """All files of a bundle."""
    out = io.BytesIO()
    pack.pack(release, out, Path(tempfile.gettempdir()))
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(files: Mapping[str, bytes], manifest: bool = True) -> bytes:
    members: dict[str, Content] = {name: in_memory(content) for name, content in files.items() if not (manifest and name == pack.MANIFEST)}
    if manifest:
        members[pack.MANIFEST] = in_memory(pack.manifest({name: content.digest for name, content in members.items()}))
    out = io.BytesIO()
    pack.zipped(members, out)
    return out.getvalue()


def _made(release: Release, files: Mapping[str, bytes], changed: Sequence[tuple[Path_, Any]], manner: str, versions: str) -> Make:
    def make() -> Forged | None:
        document = json.loads(files[releases.DOCUMENT])
        document["versions"].update(OTHERS[versions])
        honest = releases.written(document)
        for path, value in changed:
            _changed(document, path, value)
        if releases.written(document) == honest:
            return None
        forged: Mapping[str, bytes] | None = {**files, releases.DOCUMENT: releases.written(document)}
        if manner != "alone":
            forged = (_rerun if manner == "rerun" else _copied)(release, document)
        if forged is None:
            return None
        written = json.loads(forged[releases.DOCUMENT])
        left = tuple(_named(path) for path, value in changed if _holds(written, path, value))
        return (_zipped(forged), left) if left and forged[releases.DOCUMENT] != honest else None

    return make


def _copied(release: Release, document: Document) -> dict[str, bytes] | None:
    """All other files anew from a document: of another plan, with the words that it calls for. None where it cannot be read."""
    with suppress(Exception):
        made = releases.from_json(document, release.codes, release.values, release.further, release.members)
        if document["spec"] != json.loads(releases.written({"spec": release.spec.published()}))["spec"]:
            said = brands(made.plan, made.total, made.private, made.details)
            more = unmeasured_brands(made.plan, made.claims)
            words = statement(made.plan, made.rho_spent, made.private)
            return packed(replace(made, brands=(*said, *more), statement=words))
        written = packed(made)
        return written | {releases.DOCUMENT: releases.written(document)}
    return None


def _rerun(_release: Release, document: Document) -> dict[str, bytes] | None:
    """All of it anew by the mechanism. None where that cannot be done."""
    with suppress(Exception):
        bundle = unpack.Bundle({releases.DOCUMENT: in_memory(releases.written(document))}, document, "")
        return packed(repeated(bundle, feasible(bundle, None)).made)
    return None


def _with_file(release: Release, file: str, content: bytes | None, versions: str) -> Make:
    def make() -> Forged | None:
        files = packed(replace(release, versions={**release.versions, **OTHERS[versions]}))
        if content is None:
            del files[file]
        else:
            files[file] = content
        return _zipped(files, manifest=file != pack.MANIFEST), (file,)

    return make


def _of_file(file: str, content: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Changes of a file itself, as its bytes."""
    yield "left out", None
    yield "a line more", content + b"\nEvery row is a verified person: epsilon is 0.01.\n"
    if file == pack.MANIFEST:
        yield "an entry more", content.replace(b"{", b'{"checked": true,', 1)
    if not file.endswith((".parquet", ".zip")):
        digits = [found.start() for found in re.finditer(rb"(?<![\w.])[1-8]", content)]  # the first of a number: no rounding makes another
        for place in sorted({digits[0], digits[len(digits) // 2], digits[-1]}) if digits else ():
            yield f"another digit at {place}", content[:place] + bytes([content[place] + 1]) + content[place + 1 :]
        middle = content.find(b" ", len(content) // 2)
        yield "a word in the middle", content[:middle] + b" verified " + content[middle:]
    if file.endswith(".html"):
        yield "a comment", content.replace(b"</body>", b"<!-- epsilon 0.01 --></body>")
        yield "a hidden text", content.replace(b"<p>", b'<p title="epsilon 0.01">', 1)
    if file.endswith(".ipynb"):
        yield "a command", content.replace(b'"source": [\n', b'"source": [\n    "import os; os.system(\'x\')\\n",\n', 2)


def _swapped(release: Release, number: int, versions: str) -> Make:
    """Two rows that differ change places in one table of the rows."""

    def make() -> Forged | None:
        if release.codes is None:
            return None
        tables = [pa.concat_tables(rows.batches()) for rows in (release.values, *release.further) if rows is not None]
        table = tables[number]
        rows = table.to_pylist()
        other = next(place for place in range(1, len(rows)) if rows[place] != rows[0])
        order = [other, *range(1, other), 0, *range(other + 1, len(rows))]
        tables[number] = table.take(order)
        codes = one_table(release.codes)
        codes = codes[order] if number == 0 and codes is not None else codes
        first, *further = map(HeldRows, tables)
        named = {**release.versions, **OTHERS[versions]}
        return _zipped(packed(replace(release, codes=codes, values=first, further=tuple(further), versions=named))), ("rows",)

    return make


def main(arguments: Sequence[str] | None = None) -> int:
    parser = record.options(__doc__, pairs=400, seed=random.SystemRandom().randrange(10**6))
    parser.add_argument("--cases", type=int, help="random ones of all (default: all)")
    options = parser.parse_args(arguments)
    rng, found, shown, wrong = random.Random(options.seed), Counter[tuple[str, str]](), Counter[str](), 0
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        made = bases(Path(folder))
        for name, release in made.items():
            print(f"{name}, as it was made: {said_of(_zipped(packed(release)))}", flush=True)
        every = [case for name, release in made.items() for case in cases(name, release, rng)]
        chosen = every if options.cases is None else rng.sample(every, min(options.cases, len(every)))
        chosen += [case for name, release in made.items() for case in pairs(name, release, rng, options.pairs // len(made))]
        for case in chosen:
            judged = verdict(case)
            if judged is None:
                continue
            said, forged = judged
            found[case.versions, said] += 1
            if wrongly(judged):
                wrong += 1
                print(f"WRONGLY CONSISTENT: {case.base}: {forged}, {case.change}, {case.manner}, {case.versions}", flush=True)
            elif said == CONSISTENT:
                shown.update(map(unseen, forged))
    ends = (CONSISTENT, PARTLY, INCONSISTENT, REFUSED)
    counts = {versions: [found[versions, said] for said in ends] for versions in OTHERS}
    rows = [(versions, *(f"{count:,}" for count in (sum(some), *some))) for versions, some in counts.items()]
    print("\n".join(record.table(("versions named", "forged", *ends), rows)))
    print("consistent, as SECURITY.md lists:", ", ".join(f"{field} {shown[field]}" for field in UNSEEN))
    print(f"wrongly called consistent: {wrong}")
    return 1 if wrong else 0
