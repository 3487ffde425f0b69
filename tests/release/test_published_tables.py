"""A release that keeps to published tables, from files and options to the bundle: what it measures, what it says, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.bundle.unpack import Bundle, read
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.inference.publishing import rows_off
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning import leaks
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.release import recovery, synthesis
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import listed
from tests.bundle.pack import pack
from tests.refusals import refused
from tests.releases import check_sound, ended, found, packed, run
from tests.specs import usual

QUESTION = "Do the rows keep to published tables?"
KEEPING = [name for name, one in registry.MECHANISMS.items() if one.card.keeps_published]
NO_SPARE = {"other": False, "missing": False}
COLUMNS = [
    {"name": "sex", "kind": "categorical", "categories": ["f", "m"], **NO_SPARE},
    {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 20, "other": "nearest", "missing": False},
    {"name": "zone", "kind": "categorical", "categories": ["n", "s", "w"], **NO_SPARE},
    {"name": "work", "kind": "categorical", "categories": ["no", "part", "full"], **NO_SPARE},
]
DOMAIN = {"version": 1, "attributes": COLUMNS}
ZONES = {"columns": ["zone"], "cells": [["n", 500], ["s", 300], ["w", 200]], "source": "Yearbook"}
SEXES = {"columns": ["sex"], "cells": [["f", 11], ["m", 9]], "source": "Yearbook"}
WORK_BY_SEX = {
    "columns": ["work", "sex"],
    "cells": [["no", "f", 4], ["no", "m", 2], ["part", "f", 3], ["part", "m", 1], ["full", "f", 4], ["full", "m", 6]],
    "source": "Census 2021, table 4",
}
_LABELS = Domain.from_json(DOMAIN)["age"].cell_labels()
AGES = {
    "columns": ["age"],
    "cells": [[label, 5 + place] for place, label in enumerate(_LABELS)],
    "source": "Yearbook",
}


def stated(*tables: Mapping[str, Any], **more: Any) -> Spec:
    people = {"kind": "standin", "standin": {"rows": 900}}
    return Spec.from_json(usual(people, DOMAIN, published_tables=list(tables), **more))


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("mechanism", KEEPING)
@pytest.mark.parametrize("tables", [[ZONES], [WORK_BY_SEX, ZONES], [SEXES, ZONES, AGES]], ids=["one", "crossed", "most"])
def test_nothing_is_measured_of_them_and_rows_keep_to_them(mechanism: str, relation: str, tables: list[dict[str, Any]]) -> None:
    release = run(stated(*tables, mechanism=mechanism, unit={"relation": relation}), SeededNoise(5))
    known = [set(one["columns"]) for one in tables]
    assert not [m.clique for m in release.measurements if m.clique and any(set(m.clique) <= columns for columns in known)]
    assert release.rho_spent == pytest.approx(release.rho)  # all of the budget is for the rest
    assert max(rows_off(release.domain, np.asarray(release.codes))) < 1


@pytest.mark.parametrize("mechanism", ["aim", "mst", *listed("KEEP_PUBLISHED")])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_where_all_columns_are_published_pairs_get_everything(mechanism: str, relation: str) -> None:
    release = run(stated(WORK_BY_SEX, ZONES, AGES, mechanism=mechanism, unit={"relation": relation}), SeededNoise(6))
    assert {len(m.clique) for m in release.measurements} == {2} | ({0} if relation == "add-remove" else set())
    assert release.rho_spent == pytest.approx(release.rho)
    assert max(rows_off(release.domain, np.asarray(release.codes))) < 1
    assert release.total == pytest.approx(900, abs=0 if relation == "replace" else 400)  # six deviations of the noise of a count or more


def test_what_cannot_keep_to_them_says_so_and_so_does_what_has_nothing_to_measure() -> None:
    for name in registry.MECHANISMS.keys() - set(KEEPING):
        plan = Plan.of(stated(ZONES, mechanism=name))
        assert "does not keep to published tables; use AIM" in plan.forecast.reason
    saying = "published tables have all that is asked for"
    refused(synthesis.plan, stated(ZONES, WORK_BY_SEX, SEXES, AGES, workload={"kind": "all", "k": 1}), kind=CapacityError, saying=saying)
    saying = "every column is published"
    refused(synthesis.plan, stated(ZONES, WORK_BY_SEX, AGES, mechanism="independent"), kind=CapacityError, saying=saying)


def test_a_model_that_they_make_too_large_is_refused_before_anything_is_spent() -> None:
    crossed = {"columns": ["a", "b"], "cells": [[str(code), str(code), 1] for code in range(120)], "source": "x"}
    small = {"name": "aim", "settings": {"max_size_mb": 0.1}}
    spec = usual({"kind": "standin", "standin": {}}, {"a": 120, "b": 120, "c": 2}, mechanism=small, published_tables=[crossed])
    saying = "and the published tables alone are larger"  # 14,400 cells of eight bytes
    refused(synthesis.plan, Spec.from_json(spec), kind=CapacityError, saying=saying)


def crossed(one: str, other: str, values: str, diagonal: int) -> dict[str, Any]:
    cells = [[i, j, diagonal if i == j else 1] for i in values for j in values]
    return {"columns": [one, other], "cells": cells, "source": "x"}


def test_where_published_pairs_join_all_columns_the_others_get_everything() -> None:
    people, three = {"kind": "standin", "standin": {"rows": 900}}, {"a": 3, "b": 3, "c": 3}
    joined = [crossed("a", "b", "012", 3), crossed("b", "c", "012", 3)]
    release = run(Spec.from_json(usual(people, three, mechanism="mst", published_tables=joined)), SeededNoise(2))
    assert {m.clique for m in release.measurements} == {("a", "c"), ()}
    assert release.rho_spent == pytest.approx(release.rho)
    pairs = usual(people, three, mechanism="mst", workload={"kind": "all", "k": 3}, published_tables=[*joined, crossed("a", "c", "012", 3)])
    refused(synthesis.plan, Spec.from_json(pairs), kind=CapacityError, saying="published tables have every pair")


def test_where_no_other_table_fits_or_groups_leave_no_room_nothing_is_left_unspent() -> None:
    values = [str(code) for code in range(120)]
    wide = {"columns": ["a", "b"], "cells": [[code, code, 1] for code in values], "source": "x"}
    rest = {"columns": ["c"], "cells": [["0", 1], ["1", 2]], "source": "x"}
    people = {"kind": "standin", "standin": {"rows": 900}}

    def asked(name: str, mb: float | None, *tables: dict[str, Any]) -> Spec:
        mechanism = {"name": name, "settings": {} if mb is None else {"max_size_mb": mb}}
        return Spec.from_json(usual(people, {"a": 120, "b": 120, "c": 2}, mechanism=mechanism, published_tables=tables))

    refused(synthesis.plan, asked("aim", 0.11, wide, rest), kind=CapacityError, saying="larger than the model's capacity")
    release = run(asked("aim", 0.12, wide, rest), SeededNoise(2))
    assert release.rho_spent == pytest.approx(release.rho)
    assert not release.branded("interrupted")


def test_a_joint_model_that_is_too_large_is_refused_by_independent_too() -> None:
    cells, pairs = [[str(v), str(v), 1] for v in range(30)], [(i, j) for i in range(6) for j in range(i)]
    chain = [{"columns": [f"c{i}", f"c{j}"], "cells": cells, "source": "x"} for i, j in pairs]
    spec = usual({"kind": "standin", "standin": {}}, {f"c{i}": 30 for i in range(7)}, mechanism="independent", published_tables=chain)
    refused(synthesis.plan, Spec.from_json(spec), kind=CapacityError, saying="is too large; give fewer or smaller ones")


@pytest.mark.parametrize("mechanism", KEEPING)
def test_tables_that_contradict_the_people_make_no_model_vanish(mechanism: str, tmp_path: Path) -> None:
    """After the charge nothing may fail. Of the pairs that they have most are in cells where the table has nobody."""
    rng = np.random.default_rng(7)
    sizes, b = dict(zip("abcdef", (2, 8, 5, 6, 3, 4), strict=True)), rng.integers(0, 8, 2000)
    c, d = (b + rng.integers(0, 2, 2000)) % 5, (b // 2 + rng.integers(0, 3, 2000)) % 6
    people = {"a": b % 2, "b": b, "c": c, "d": d, "e": b % 3, "f": b // 2}
    pd.DataFrame(people).to_csv(tmp_path / "people.csv", index=False)
    of = {("a", "b"): lambda i, j: max(0, i + j - 2), ("c", "d"): lambda i, j: max(0, 3 - abs(i - j))}
    tables = [
        {"columns": [p, q], "cells": [[str(i), str(j), of[p, q](i, j)] for i in range(sizes[p]) for j in range(sizes[q])], "source": "x"}
        for p, q in of
    ]
    domain = {name: [str(value) for value in range(size)] for name, size in sizes.items()}
    columns = [{"name": name, "kind": "categorical", "categories": values, **NO_SPARE} for name, values in domain.items()]
    data = {"kind": "csv", "path": str(tmp_path / "people.csv")}
    for epsilon in (0.1, 1.0, 3.0):
        more = {"mechanism": mechanism, "published_tables": tables, "budget": {"epsilon": epsilon, "delta": 1e-9}}
        release = run(Spec.from_json(usual(data, {"version": 1, "attributes": columns}, **more)), SeededNoise(1))
        assert max(rows_off(release.domain, np.asarray(release.codes))) < 1


def test_their_fields_are_named_where_something_is_wrong() -> None:
    assert refused(stated, ZONES | {"cells": "many"}).field == "published_tables.0.cells"
    assert refused(Plan.of, stated(SEXES, ZONES | {"columns": ["nowhere"]})).field == "published_tables.1.columns"
    assert refused(Plan.of, stated(SEXES, ZONES | {"source": ""})).field == "published_tables.1.source"
    other = SEXES | {"cells": [["f", 1], ["m", 3]]}
    assert refused(Plan.of, stated(SEXES, other), saying="other cells than sex .“Yearbook”").field == "published_tables.1.cells"
    never = {**DOMAIN, "impossible": [{"never": {"sex": ["f"], "work": ["full"]}}]}
    impossible = Spec.from_json(stated(WORK_BY_SEX).model_dump(mode="json") | {"domain": never})
    assert refused(Plan.of, impossible, saying="calls impossible").field == "published_tables.0.cells"
    learnt = [{"name": "zone", "kind": "categorical", "discover": True}, *COLUMNS[:2]]
    asked = Spec.from_json(usual({"kind": "csv", "path": "people.csv"}, DOMAIN | {"attributes": learnt}, published_tables=[ZONES]))
    assert refused(Plan.of, asked, saying="to be learnt").field == "published_tables.0.columns"


def test_tables_that_only_together_cannot_hold_are_refused_before_anything_is_spent() -> None:
    """Of each alone the rule leaves enough: 70% are women, and half work full time, whom it lets be men alone."""
    never = DOMAIN | {"impossible": [{"never": {"sex": ["f"], "work": ["full"]}}]}
    sexes = SEXES | {"cells": [["f", 70], ["m", 30]]}
    work = {"columns": ["work"], "cells": [["no", 20], ["part", 30], ["full", 50]], "source": "x"}
    people = {"kind": "standin", "standin": {"rows": 900}}
    both = Spec.from_json(usual(people, never, published_tables=[sexes, work]))
    assert Plan.of(both).forecast.fits
    assert refused(synthesis.plan, both, saying="leave .* of the people or more in a wrong cell").field == "published_tables"
    tight = Spec.from_json(usual(people, never, published_tables=[SEXES | {"cells": [["f", 50], ["m", 50]]}, work]))
    release = run(tight, SeededNoise(3))
    assert max(rows_off(release.domain, np.asarray(release.codes))) < 10  # raking gets there slowly


def test_where_rows_are_not_people_they_are_refused() -> None:
    people = {"kind": "csv", "path": "people.csv"}
    several = usual(people, DOMAIN, unit={"person_column": "id", "max_rows_per_person": 2}, published_tables=[ZONES])
    assert refused(Plan.of, Spec.from_json(several), saying="one row for each").field == "unit.max_rows_per_person"
    weighed = usual(people, DOMAIN, weight={"column": "age"}, published_tables=[ZONES])
    assert refused(Plan.of, Spec.from_json(weighed), saying="count people").field == "weight"
    assert refused(Plan.of, stated(*[ZONES] * 101), saying="101 are too many").field == "published_tables"
    assert refused(stated, ZONES | {"source": "x" * 301}).field == "published_tables.0.source"


def test_two_linked_tables_refuse_them() -> None:
    people = {"kind": "csv", "path": "homes.csv"}
    unit = {"person_column": "id", "max_rows_per_person": 2}
    members = {"path": "members.csv", "domain": {"version": 1, "attributes": [COLUMNS[1]]}}
    homes = DOMAIN | {"attributes": COLUMNS[2:3]}
    spec = Spec.from_json(usual(people, homes, unit=unit, members=members, mechanism="households", published_tables=[ZONES]))
    assert refused(Plan.of, spec, saying="two linked tables do not go with it yet").field == "published_tables"


def test_a_plan_without_them_has_the_digest_that_it_had() -> None:
    assert "published_tables" not in stated().published()
    assert stated(ZONES).published()["published_tables"][0]["source"] == "Yearbook"
    assert stated(ZONES).digest() != stated(ZONES | {"source": "Another one"}).digest()
    assert [leak.code for leak in leaks.find(stated(ZONES), 0) if "published" in leak.code] == ["assumed-published"]


def test_a_bundle_is_sound_says_where_they_are_from_and_shows_what_is_tampered_with() -> None:
    release = run(stated(WORK_BY_SEX, ZONES, output={"tables": 2}, budget={"epsilon": 1.0, "delta": 1e-9, "certificate": 0.1}))
    bundle = packed(release)
    check_sound(bundle, QUESTION)
    for place in ("report.html", "DATA_CARD.md", *listed("STATING_SOURCES")):
        text = _text(bundle, place)
        assert "Census 2021, table 4" in text
        assert "aken as published" in text
    assert "the budget did not measure it: sex × work" in _text(bundle, "report.html")
    assert re.search(r"its published share of the rows, to within 0(\.\d+)? rows", _text(bundle, "report.html"))
    forged = release.spec.model_dump(mode="json")
    forged["published_tables"][1]["cells"][0][1] = 700  # in place of 500
    other = replace(release, plan=Plan.of(Spec.from_json(forged)))  # with a digest that fits
    assert found(other)[QUESTION] == "failed"
    assert found(replace(release, details=release.details | {"published_rows_off": 0.25}))[QUESTION] == "failed"


def test_rows_that_do_not_keep_to_them_are_seen_whatever_is_said_of_them() -> None:
    """Who writes all of a release anew can state any distance. With a rule rows may be off: then nobody can say by how much."""

    def forged(spec: Spec) -> str:
        release = run(spec)
        codes = np.array(release.codes)
        codes[:, release.domain.position("zone")] = 0
        said = release.details | {"published_rows_off": max(rows_off(release.domain, codes))}
        values = replace(release.values, codes=codes)  # type: ignore[type-var,arg-type]
        return found(replace(release, codes=codes, values=values, details=said))[QUESTION]

    assert forged(stated(ZONES, mechanism="independent")) == "failed"
    never = DOMAIN | {"impossible": [{"never": {"sex": ["f"], "work": ["full"]}}]}
    people = {"kind": "standin", "standin": {"rows": 900}}
    assert forged(Spec.from_json(usual(people, never, mechanism="independent", published_tables=[ZONES]))) == "not checked"


def test_an_interrupted_run_is_finished_with_them() -> None:
    release = run(stated(WORK_BY_SEX, ZONES))
    again = recovery.recover(ended(release, release.transcript), lambda _: None)
    assert np.array_equal(np.asarray(again.codes), np.asarray(release.codes))
    short = recovery.recover(ended(release, release.transcript[:2]), lambda _: None)
    assert short.codes is None
    assert "assumed-published" in [brand.code for brand in short.brands]
    assert pack(short)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    people = {"sex": rng.choice(["f", "m"], 800), "age": rng.integers(0, 100, 800), "zone": rng.choice(list("nsw"), 800)}
    pd.DataFrame(people).to_csv("people.csv", index=False)
    Path("domain.json").write_text(json.dumps(DOMAIN | {"attributes": COLUMNS[:3]}))
    years = pd.DataFrame({"count": 100 + np.arange(200), "age": np.repeat(np.arange(100), 2), "sex": ["m", "f"] * 100})
    years.to_csv("ages.csv", index=False)
    return tmp_path


def released(*more: str) -> int:
    options = ["synthesize", "people.csv", "--domain", "domain.json", "--out", "out", "--epsilon", "1", "--workload", "all-2way"]
    return cli.main([*options, *more])


def test_the_command_line_reads_them_adds_up_years_and_can_be_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert released("--published", "ages.csv", "--published-from", "Census 2021, table 4") == 0
    rows = pd.read_csv(folder / "out" / "synthetic.csv")
    wanted = pd.read_csv(folder / "ages.csv").groupby(["sex", "age"])["count"].sum()
    wanted.index = pd.MultiIndex.from_arrays([wanted.index.get_level_values(0), wanted.index.get_level_values(1) // 5])
    shares = wanted.groupby(level=[0, 1]).sum() / wanted.sum()
    counts = rows.groupby(["sex", rows["age"] // 5]).size().reindex(shares.index, fill_value=0)
    assert np.abs(counts - shares * len(rows)).max() < 1
    bundle = read(folder / "out" / "release.zip")
    check_sound(bundle, QUESTION)
    assert "the budget did not measure it, except how numbers lie within its cells: sex × age" in _text(bundle, "report.html")
    assert cli.main(["verify", "out/release.zip"]) == 0
    assert cli.main(["reproduce", "out/release.zip", "--out", "again"]) == 0
    assert "each cell of 1 published tables has its share of the rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("age,sex\n1,f\n", "it has no column 'count'"),
        ("age,colour,count\n1,red,2\n", "'colour' has no values in the domain"),
        ("sex,count\nf,2\nm,3\nx,4\n", "column 'sex' has no value 'x'"),
        ("sex,count\nf,2\nm,3\n,4\n", "a value of its column 'sex' is missing"),
        ("sex,count\nf,2\nm,many\n", "something else than a number"),
        ("sex,count\nf,2\nm,-3\n", "-3.0 is not a number of people"),
        ("sex,count\nf,2\n", "'m' of 'sex' is missing from the table"),
        ("count\n2\n", "names no column"),
        ("", "--published 1: the file is empty"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], text: str, saying: str) -> None:
    Path("wrong.csv").write_text(text)
    assert released("--published", "wrong.csv", "--published-from", "x") == 2
    assert saying in capsys.readouterr().err
    assert not (folder / "out").exists()


@pytest.mark.usefixtures("folder")
def test_each_needs_a_word_on_where_it_was_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert released("--published", "ages.csv") == 2
    assert "--published-from" in capsys.readouterr().err
    assert released("--published", "ages.csv", "--published-from", "  ") == 2
    assert "where the table was published" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_program_gives_a_path_or_a_frame() -> None:
    zones = pd.DataFrame({"zone": list("nsw"), "count": [5, 3, 2]})
    given = dps.plan("people.csv", "domain.json", epsilon=1, tables=2, published=[("ages.csv", "Census 2021"), (zones, "Yearbook")])
    assert [table.columns for table in given.sealed.domain.published] == [("sex", "age"), ("zone",)]
    assert given.sealed.domain.published[1].shares.tolist() == [0.5, 0.3, 0.2]
    for wrong in (["ages.csv"], zones, np.array([1]), {"a": 1}, (zones, "Yearbook")):
        refused(dps.plan, "people.csv", "domain.json", epsilon=1, published=wrong, saying="not a list of tables with where")
    counts, complexes = zones.set_index("zone")["count"], zones.assign(count=[1j, 2, 3])
    for table in (counts, counts[::-1], pa.Table.from_pandas(zones)):
        labelled = dps.plan("people.csv", "domain.json", epsilon=1, tables=2, published=[(table, "Yearbook")])
        assert labelled.sealed.domain.published[0].shares.tolist() == [0.5, 0.3, 0.2]
    unnamed = counts.rename_axis(None)
    for table, where in ((zones, None), (None, "x"), (unnamed, "x"), ({}, "x"), (complexes, "x"), ("nowhere.csv", "x")):
        assert refused(dps.plan, "people.csv", "domain.json", epsilon=1, published=[(table, where)]).field == "published 1"


def _text(bundle: Bundle, name: str) -> str:
    with bundle.files[name].open() as stream:
        return stream.read().decode()
