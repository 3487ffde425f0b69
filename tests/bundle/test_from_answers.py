"""Every file of a bundle follows from the plan and the kernel's answers: without the records, the same bytes come out.

A release is made from a table, with all that extensions may ask of it. It is made again from its answers alone, by the plan of another
table with other people in it. A file that held anything exact, such as a count, a statistic, a row or a coin, would differ.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.release.transcript import replaying
from tests.additions import added
from tests.bundle.invented_people import ALONE, COLUMNS, NAMED, TO_LEARN, people
from tests.bundle.pack import pack

FLAT = {"size": ["1", "2", "3"], "district": ["east", "west"]}
ONE_ROW = {"epsilon": 4.0, "tables": 2, "person": "person", "rows_per_person": 1}


def everything(seed: int) -> dps.Plan:
    """A plan with all that may be asked of one table: what the core has, and the options of each extension."""
    options: dict[str, Any] = {
        **{"means": 0.05, "ranges": 0.05, "inside": 0.05, "certificate": 0.1, "models": ["income"]},
        "criteria": [{"kind": "mean", "column": "age", "tolerance": 5.0}],
    }
    for module in added("everything_asked"):
        options |= getattr(module, "OPTIONS", {})
    return dps.plan(people(seed), COLUMNS, **ONE_ROW, **options)


def linked(seed: int) -> dps.Plan:
    rng = np.random.default_rng(seed)
    homes = pd.DataFrame(
        {"home": np.arange(2_000), "size": rng.choice([*FLAT["size"]], 2_000), "district": rng.choice(["east", "west"], 2_000)}
    )
    owners = np.repeat(homes["home"], homes["size"].astype(int))
    members = pd.DataFrame({"home": owners, "sex": rng.choice(["f", "m"], len(owners)), "adult": rng.choice(["no", "yes"], len(owners))})
    columns = {"sex": ["f", "m"], "adult": ["no", "yes"]}
    return dps.plan(homes, FLAT, epsilon=4, person="home", rows_per_person=3, members=(members, columns))


CASES: dict[str, Callable[[int], dps.Plan]] = {
    "one table": everything,
    "learnt values": lambda seed: dps.plan(people(seed), TO_LEARN, **ONE_ROW, row_tables=2),
    "linked tables": linked,
}
for module in added("everything_asked"):
    CASES |= getattr(module, "CASES", {})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def of_answers(release: Release, other: Plan) -> Release:
    """The release that a plan of other people makes of these answers, without any records."""
    kernel = replaying(other.domain, other.unit, other.shares, release.transcript, release.charges)
    return synthesis.carry_out(other, kernel, release.private, lambda _: None)


def files(release: Release) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(pack(release))) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def differing(release: Release, other: Plan) -> set[str]:
    here, there = files(release), files(of_answers(release, other))
    assert here.keys() == there.keys()
    return {name for name, content in here.items() if content != there[name]}


@pytest.mark.parametrize("case", CASES)
def test_every_file_follows_from_the_answers(case: str) -> None:
    release = CASES[case](1).run(progress=False).made
    assert differing(release, CASES[case](2).sealed) == set()


def exact(kernel: Any) -> int:
    """The exact number of records of a kernel that has some, past the name mangling of recorder and kernel."""
    with suppress(AttributeError):
        return int(kernel._Recorder__kernel._PrivacyKernel__view.total()[0])
    return 0


def in_details(plan: Plan, kernel: Any, journal: Any) -> Any:
    finished = _run(plan, kernel, journal)
    return replace(finished, details={**finished.details, "people": exact(kernel)})


def in_history(plan: Plan, kernel: Any, journal: Any) -> Any:
    journal.announce(f"{exact(kernel):,} people were read")
    return _run(plan, kernel, journal)


def in_total(plan: Plan, kernel: Any, journal: Any) -> Any:
    finished = _run(plan, kernel, journal)
    return replace(finished, total=float(exact(kernel) or finished.total))


_run = synthesis.run_mechanism


@pytest.mark.parametrize("leak", [in_details, in_history, in_total])
def test_an_exact_number_in_any_part_of_a_release_is_found(leak: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "run_mechanism", leak)
    release = linked(1).run(progress=False).made
    assert "release.json" in differing(release, linked(2).sealed)


def written(folder: Path) -> Mapping[str, bytes]:
    """All files below a folder, and what is packed in them."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name, content in list(found.items()):
        if is_zipfile(io.BytesIO(content)):
            with ZipFile(io.BytesIO(content)) as packed:
                found |= {f"{name}/{inner}": packed.read(inner) for inner in packed.namelist()}
    return found


@pytest.mark.parametrize("case", ["one table", "learnt values"])
def test_no_file_that_a_run_leaves_names_a_person_or_holds_an_exact_mean(case: str, home: Path) -> None:
    table = people(1)
    release = CASES[case](1).run(progress=False)
    release.save(home / "release.zip")
    means = [f"{table[name].mean():.9g}"[:9] for name in ("age", "income")]
    known = [NAMED.encode(), ALONE.encode(), *map(str.encode, means)]
    found = written(home)
    assert any(name.endswith("release.zip/report.html") for name in found)
    assert {name for name, content in found.items() if any(one in content for one in known)} == set()
