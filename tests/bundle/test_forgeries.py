"""A bundle of this version ends consistent, whatever mechanism made it; no brand, sentence or field of it can be changed unseen."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks import forgeries
from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.reproduce import FREE, NeedsPublic, replayed, reproduce
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT, PARTLY, PASSED, REPLAYED, SKIPPED
from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Learner, UsesPublic
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.recovery import answers_only, carried_out, recover
from dpsynth_core.release.release import INTERRUPTED, Brand, Release
from dpsynth_core.release.spool import Kept
from dpsynth_core.sources import demo
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import at, run, spec, verified
from tests.releases import ended

THREE = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["female", "male"]},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 3},
        {"name": "household_size", "kind": "integer", "lower": 1, "upper": 8, "bins": 3},
    ],
}
NOWHERE_ELSE = {"other": "nearest", "missing": False}
BINARY = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 2, **NOWHERE_ELSE},
        {"name": "household_size", "kind": "integer", "lower": 1, "upper": 8, "bins": 2, **NOWHERE_ELSE},
    ],
}
SMALL: dict[str, dict[str, Any]] = {
    "rap": {"rounds": 2, "relaxed_rows": 50},
    "gem": {"rounds": 2, "batch": 50},
    "fem": {"rounds": 5, "records": 5},
    "sepfem": {"rounds": 5, "records": 5},
    "dualquery": {"rounds": 20},
    "dqrs": {"rounds": 20},
    "mwem": {"rounds": 3},
    "pmwpub": {"rounds": 3, "check_share": 0.2},
    "oraclequery": {"rounds": 5, "records": 5},
}
"""Settings of mechanisms that would take long with their own."""
LEARNERS = [name for name, one in registry.MECHANISMS.items() if isinstance(one, Learner)]
UNKNOWN_TOTAL = ("aim", "mst", "independent", "residual_planner", "fem", "mwem", "mixture")
"""Those that are run for the relation add-remove, the others for replace."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A public table of the same columns."""
    path = tmp_path_factory.mktemp("public") / "twin.csv"
    demo.simulate(rows=300, seed=8).to_csv(path, index=False)
    return path


@cache
def release_of(name: str, public: Path) -> Release:
    card = registry.get(name).card
    fields: dict[str, Any] = {
        "domain": BINARY if name in LEARNERS else THREE,
        "mechanism": {"name": name, "settings": SMALL.get(name, {})},
        "output": {"rows": 60 if card.makes_rows else None},
        "budget": {"epsilon": 2.0, "delta": 1e-9, "certificate": 0.1},
        "unit": {"relation": "add-remove" if name in UNKNOWN_TOTAL else "replace"},
    }
    if isinstance(registry.get(name), UsesPublic):
        fields["public"] = {"path": str(public)}
    return run(spec(**fields))


def consistent(release: Release, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The bundle of a forger who changes release.json and then writes every other file anew from it."""
    held = pack.contents(release)
    document = json.loads(held["release.json"])
    change(document)
    with suppress(Exception):  # what cannot be read again leaves the other files as they are
        held = pack.contents(releases.from_json(document, release.codes, release.values))
    if json.loads(held["release.json"]) != document:
        held["release.json"] = json.dumps(document).encode()
    return pack.sealed(held)


TOGETHER: dict[str, Callable[[dict[str, Any]], object]] = {
    "one kept back": lambda answer: answer["given"]["list"].pop(),
    "one too many": lambda answer: answer["given"]["list"].append(answer["given"]["list"][0]),
    "in another order": lambda answer: answer["given"]["list"].reverse(),
    "fewer asked for": lambda answer: answer["asked"].pop(0),
    "more asked for": lambda answer: answer["asked"].insert(0, answer["asked"][0]),
    "with less noise": lambda answer: answer["asked"].append(answer["asked"].pop() / 2),
    "with no noise stated": lambda answer: answer["asked"].pop(),
    "with two noise levels": lambda answer: answer["asked"].insert(-1, answer["asked"][-1] / 50),
    "as a tuple": lambda answer: answer.update(given={"tuple": answer["given"]["list"]}),
    "of what is free": lambda answer: answer.update(operation="seed", charges=0),
}


@pytest.mark.parametrize("change", TOGETHER.values(), ids=list(TOGETHER))
def test_tables_that_were_measured_together_are_those_that_were_asked_for_and_paid(
    change: Callable[[dict[str, Any]], object], twin: Path
) -> None:
    def forge(document: dict[str, Any]) -> None:
        change(next(answer for answer in document["transcript"] if answer["operation"] == "measure_marginals"))

    report = verified(consistent(release_of("mst", twin), forge), twin)
    assert "Was the stated noise paid for?" in [check.question for check in report.checks if check.verdict == FAILED]


@pytest.mark.parametrize("name", ["aim", "independent", "residual_planner"])
def test_columns_may_have_the_names_of_what_stands_in_a_transcript_beside_a_question(name: str, tmp_path: Path) -> None:
    names, rng = ("about", "among", "weighted"), random.Random(5)
    rows = [",".join(str(rng.randrange(2)) for _ in names) for _ in range(200)]
    (tmp_path / "table.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    fields: dict[str, Any] = {"data": {"kind": "csv", "path": str(tmp_path / "table.csv")}, "domain": dict.fromkeys(names, 2)}
    fields["output"] = {"rows": 200 if registry.get(name).card.makes_rows else None}
    release = run(spec(mechanism={"name": name}, **fields))
    report = verified(pack.pack(release))
    assert [(check.question, check.detail) for check in report.checks if check.verdict in (FAILED, SKIPPED)] == []
    assert recover(Kept("", release.spec, True, release.transcript, release.charges), lambda _: None).charges == release.charges


@pytest.mark.parametrize("name", list(registry.MECHANISMS))
def test_a_bundle_of_this_version_is_consistent_with_nothing_left_open(name: str, twin: Path) -> None:
    bundle = pack.pack(release_of(name, twin))
    report = verified(bundle, twin)
    assert [(check.question, check.detail) for check in report.checks if check.verdict in (FAILED, SKIPPED)] == []
    assert report.verdict == CONSISTENT
    if isinstance(registry.get(name), UsesPublic):
        without = verified(bundle)
        assert without.verdict == PARTLY
        assert REPLAYED in without.unchecked


def other(value: Any) -> Any:
    """Something else of the same type, as near as it may be."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * (1 + 1e-6) if value else 1e-6
    if isinstance(value, str):
        return f"{value} x"
    return {"x": 1} if isinstance(value, dict) else [1]


INPUTS = {"spec", "spec_sha256", "charges", "transcript"}
"""What the mechanism is run again on, with the noisy tables of its answers and the seed of the rows."""


@pytest.mark.parametrize("name", ["aim", "residual_planner", "aim_public", *listed("REPRODUCED")])
def test_every_part_of_a_release_comes_out_again(name: str, twin: Path) -> None:
    """So whatever is changed, removed or added in one of them alone differs from what its answers come to."""
    release = release_of(name, twin)
    document = json.loads(releases.document(release))
    ours = reproduce(unpack.read_bytes(pack.pack(release)), public=twin).made
    again = json.loads(releases.document(ours))
    assert {part for part in document if document[part] == again.get(part)} == document.keys()
    assert document.keys() - FREE - INPUTS == {
        "format",
        "private",
        "statement",
        "brands",
        "budget",
        "rows",
        "certificate",
        "verdict",
        "bounds",
        "measurements",
        "history",
        "details",
        "despite",
        "criteria",
        "inside",
        "means",
        "ranges",
        "usefulness",
        "weighted",
    }


FORGED_PARTS = [
    ("statement",),
    ("brands", 0, "sentence"),
    ("brands", 0, "code"),
    ("private",),
    ("format",),
    ("spec", "budget", "epsilon"),
    ("spec", "name"),
    ("spec_sha256",),
    ("budget", "epsilon"),
    ("budget", "rho"),
    ("budget", "rho_spent"),
    ("charges", 0, "rho"),
    ("rows", "count"),
    ("rows", "policy"),
    ("rows", "estimated_total"),
    ("rows", "seed"),
    ("certificate", "mean_error"),
    ("certificate", "marginals", 0, "error"),
    ("verdict", "limit"),
    ("verdict", "good"),
    ("bounds", 0, "bound95"),
    ("bounds", 0, "support"),
    ("measurements", 0, "sigma"),
    ("measurements", 0, "values", 0),
    ("transcript", 0, "operation"),
    ("transcript", 0, "charges"),
    ("history", 0, "message"),
    ("history", -1, "rho_spent"),
    ("details", "settings"),
]


@pytest.mark.parametrize("path", FORGED_PARTS, ids=lambda path: ".".join(map(str, path)))
def test_a_forger_who_writes_all_files_anew_is_seen(path: tuple[Any, ...], twin: Path) -> None:
    try:
        report = verified(consistent(release_of("mst", twin), at(*path, to=other)))
    except InputError:  # it is refused as no bundle at all
        return
    assert report.verdict == INCONSISTENT, [(check.question, check.detail) for check in report.checks]


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Release]:
    return forgeries.bases(tmp_path_factory.mktemp("forged"))


def test_the_bundles_that_are_forged_are_consistent_as_they_are(bases: dict[str, Release]) -> None:
    """One of them with three tables of rows, a ledger's entry, learnt values, criteria and every warning that a curator can cause."""
    for release in bases.values():
        assert verified(pack.pack(release)).verdict == CONSISTENT
    assert {brand.code for brand in bases["whole"].brands} >= {"domain-from-data", "after-looking", "assumed-well-formed", "budget"}


def test_security_md_lists_what_no_check_can_see() -> None:
    text = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    _, section = text.split("What no check of a bundle can see is exactly this")
    listed = re.findall(r"`([a-z_.]+)`", section.split("\n\n")[1])
    assert sorted(listed) == sorted(forgeries.UNSEEN)
    assert {field for field in FREE if field not in listed} == set()


@pytest.mark.parametrize("entry", forgeries.UNSEEN)
def test_every_entry_of_the_list_is_really_unseen(entry: str, bases: dict[str, Release]) -> None:
    """Whoever forges it and writes all else anew is called consistent. Were one seen, the list would be too long."""
    rng = random.Random(1)
    tried = (
        case
        for name, release in bases.items()
        for case in forgeries.cases(name, release, rng)
        if forgeries.unseen(case.fields[0]) == entry and case.versions == "ours" and case.manner == "rerun"
    )
    assert any((judged := forgeries.verdict(case)) is not None and judged[0] == CONSISTENT for case in tried)


def test_no_other_forgery_is_called_consistent(bases: dict[str, Release]) -> None:
    """Some of what `benchmarks.forgeries` tries, others each time: fields and files, ours and other versions named, alone and in pairs."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    for name, release in bases.items():
        some = rng.sample(list(forgeries.cases(name, release, rng)), 6)
        for case in (*some, *forgeries.pairs(name, release, rng, 3)):
            assert not forgeries.wrongly(forgeries.verdict(case)), (f"seed {seed}", case)


def test_who_seals_other_words_about_the_same_columns_is_not_seen(twin: Path) -> None:
    """The name of a plan and of a file enter no computation; the digest of the bundle shows that another one was published."""
    release = release_of("independent", twin)
    plan = release.spec.model_copy(update={"name": "Another trial"})
    assert verified(pack.pack(replace(release, plan=replace(release.plan, spec=plan)))).verdict == CONSISTENT


def test_a_charge_for_other_people_is_seen(twin: Path) -> None:
    unit = spec().unit.model_dump()
    cited = {
        "population": "others",
        "entry": 1,
        "hash": "x",
        "unit": unit,
        "cap": {"epsilon": 10.0, "delta": 1e-9},
        "earlier_caps": [],
        "restored": 0,
    }
    assert verified(pack.pack(replace(release_of("independent", twin), ledger=cited))).verdict == INCONSISTENT


# Brands


SEXES = {"columns": ["sex"], "cells": [["female", 51], ["male", 49]], "source": "a census"}
SEXES_ROUNDED = SEXES | {"cells": [["female", 5105], ["male", 4895]]}
ALONE: dict[str, Any] = {"domain": THREE, "mechanism": {"name": "independent"}, "output": {"rows": 60}}


def of_people(folder: Path) -> Release:
    """Of a file that is said to be well-formed."""
    demo.simulate(rows=200, seed=9).to_csv(folder / "people.csv", index=False)
    return run(spec(**ALONE, data={"kind": "csv", "path": str(folder / "people.csv"), "quoting": "standard"}))


CHECKED = ("conditional", "public-table")
"""Brands of a check of the public table."""
BRANDED: dict[str, Callable[[Path, Path], Release]] = {
    "simulated": lambda public, _: release_of("independent", public),
    "answers-only": lambda public, _: release_of("gaussian", public),
    "assumed-public": lambda public, _: release_of("aim_public", public),
    "assumed-published": lambda *_: run(spec(**ALONE, published_tables=[SEXES])),
    "published-off": lambda *_: run(spec(**ALONE | {"output": {"rows": 10_000}}, published_tables=[SEXES, SEXES_ROUNDED])),
    "budget": lambda *_: run(spec(**ALONE, budget={"epsilon": 20.0, "delta": 1e-9})),
    "domain-from-data": lambda *_: run(spec(**ALONE, domain_origin="data", domain_justification="a form that anybody can read")),
    "assumed-well-formed": lambda _, folder: of_people(folder),
    "not-private": lambda *_: run(spec(**ALONE | {"output": {"rows": 60, "seed": 3}})),
    INTERRUPTED: lambda public, _: interrupted("mst", public, 4),
    CERTIFICATE.brand: lambda public, _: uncertified(public),
}
"""By brand, a release with it, from a public table and a folder for a table of its own."""
BRANDED |= {code: lambda public, _, name=name: release_of(name, public) for name in listed("PUBLIC_CHECKS") for code in CHECKED}


def interrupted(name: str, public: Path, answers: int | None) -> Release:
    """What is kept of the release if its run ended after so many answers; None: right before its rows were written."""
    whole = release_of(name, public)
    return answers_only(whole.plan, ended(whole, whole.transcript[:answers]))


def uncertified(public: Path) -> Release:
    whole = release_of("independent", public)
    held = [answer for answer in whole.transcript if answer.operation not in ("measure_errors", "measure_largest_error")]
    return carried_out(whole.plan, ended(whole, held), lambda _: None)


@pytest.mark.parametrize("code", BRANDED)
def test_no_brand_can_be_removed_or_reworded(code: str, twin: Path, tmp_path: Path) -> None:
    """Neither by itself nor with the details that it is computed from; whether or not the public table is at hand."""
    release = BRANDED[code](twin, tmp_path)
    number = next(i for i, brand in enumerate(release.brands) if brand.code.startswith(code))
    tables = (twin, None) if release.plan.spec.public else (None,)
    whole = [verified(pack.pack(release), public).verdict for public in tables]
    assert whole == [INCONSISTENT] if code == "not-private" else whole == [CONSISTENT, PARTLY][: len(tables)]

    def without_details(document: dict[str, Any]) -> None:
        del document["brands"][number]
        for name in ("public_table", "best_mixture"):
            document["details"].pop(name, None)

    def reworded(document: dict[str, Any]) -> None:
        document["brands"][number]["sentence"] += " All is well."

    for change in (lambda document: document["brands"].pop(number), without_details, reworded):
        for public in tables:
            assert verified(consistent(release, change), public).verdict == INCONSISTENT


@pytest.mark.parametrize("name", ["independent", "gaussian", "aim_public"])
@pytest.mark.parametrize("code", [INTERRUPTED, CERTIFICATE.brand, "simulated", "fine"])
def test_no_brand_can_be_added(name: str, code: str, twin: Path) -> None:
    release = release_of(name, twin)
    added = replace(release, brands=(*release.brands, Brand(code, "It is only a little less.")))
    assert verified(pack.pack(added)).verdict == INCONSISTENT


def test_another_public_table_is_seen(twin: Path, tmp_path: Path) -> None:
    bundle = unpack.read_bytes(pack.pack(release_of("aim_public", twin)))
    with pytest.raises(NeedsPublic):
        reproduce(bundle)
    another = tmp_path / "other.csv"
    demo.simulate(rows=300, seed=9).to_csv(another, index=False)
    assert replayed(bundle, another).verdict == FAILED
    renamed = tmp_path / "renamed.csv"
    renamed.write_bytes(twin.read_bytes())
    assert replayed(bundle, renamed).verdict == PASSED


# Releases of runs that ended early


def test_the_answers_of_an_interrupted_run_are_the_first_that_its_mechanism_asks_for(twin: Path) -> None:
    report = verified(pack.pack(interrupted("mst", twin, 3)))
    assert report.verdict == CONSISTENT
    assert "are the first ones that the mechanism asks for" in {c.question: c.detail for c in report.checks}[REPLAYED]


def test_a_reader_learns_that_more_could_be_made_of_the_answers(twin: Path) -> None:
    report = verified(pack.pack(interrupted("mst", twin, None)))
    assert report.verdict == CONSISTENT
    assert "all that the mechanism asks for" in {c.question: c.detail for c in report.checks}[REPLAYED]


@pytest.mark.parametrize("name", ["mst", "gaussian"])
def test_an_interrupted_run_cannot_leave_an_answer_or_a_table_out(name: str, twin: Path) -> None:
    release = interrupted(name, twin, 5)
    unpaid = [i for i, answer in enumerate(release.transcript) if not answer.charges]
    first = next(i for i in range(len(release.transcript) - 1) if i not in unpaid)
    spared = sum(answer.charges for answer in release.transcript[:first])
    less = replace(
        release,
        transcript=(*release.transcript[:first], *release.transcript[first + 1 :]),
        charges=(*release.charges[:spared], *release.charges[spared + 1 :]),
    )
    again = answers_only(release.plan, Kept("", release.spec, True, less.transcript, less.charges))
    assert verified(pack.pack(again)).verdict == INCONSISTENT
    fewer = replace(release, measurements=release.measurements[:-1])
    assert verified(pack.pack(fewer)).verdict == INCONSISTENT


def test_rows_cannot_be_withheld_in_the_name_of_an_interruption(twin: Path) -> None:
    """The release as it was, without its rows and with the brand: bounds and certificate are about rows that nobody sees."""
    release = release_of("mst", twin)
    sentence = interrupted("mst", twin, None).brands[-1]
    held = replace(release, codes=None, values=None, row_seed=None, brands=(*release.brands, sentence))
    assert verified(pack.pack(held)).verdict == INCONSISTENT


def test_an_interrupted_release_may_not_pass_for_a_whole_one(twin: Path) -> None:
    """Of a mechanism that only answers: nothing but the brand shows that tables are missing."""
    release = interrupted("gaussian", twin, 3)
    passed_off = replace(release, brands=tuple(brand for brand in release.brands if brand.code != INTERRUPTED))
    assert verified(pack.pack(passed_off)).verdict == INCONSISTENT


def test_versions_of_today_are_those_that_the_numbers_depend_on() -> None:
    assert synthesis.versions().keys() == {"dpsynth_core", "python", "processor", *synthesis.LIBRARIES}
