"""Sets of rows in a bundle are made again by whoever has it, and a forged set is found."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsynth_core as dps
from dpsynth_core.bundle.reproduce import reproduce
from dpsynth_core.bundle.unpack import read_bytes
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT
from dpsynth_core.bundle.verify import verify
from dpsynth_core.cli import main
from dpsynth_core.extensions.intervals.pooling import pool
from dpsynth_core.extensions.intervals.rowfiles import PROGRAM
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from tests.bundle import pack
from tests.bundle.bundles import DOMAIN, verified
from tests.patience import SECONDS
from tests.refusals import refused
from tests.releases import run
from tests.specs import usual

QUESTION = "Do report, cards and tables agree?"
NAMES = ["plausible-1.csv", "plausible-2.csv"]


needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")


def spec(**fields: Any) -> Spec:
    plain = usual({"kind": "demo"}, DOMAIN, mechanism="mst", epsilon=2.0, output={"rows": 300})
    return Spec.from_json(plain | {"extensions": {"plausible": 2}} | fields)


@cache
def contents() -> dict[str, bytes]:
    return pack.contents(run(spec()))


def test_a_bundle_holds_the_sets_that_its_plan_asks_for_and_the_program_that_combines_them() -> None:
    ours = {name for name in contents() if (name.startswith("plausible") and name.endswith(".csv")) or name == PROGRAM}
    assert ours == {*NAMES, PROGRAM}
    for name in NAMES:
        header, *rows = csv.reader(io.StringIO(contents()[name].decode()))
        assert header == ["sex", "age", "health", "marital_status"]
        assert len(rows) == 300
    assert contents()[NAMES[0]] != contents()[NAMES[1]]
    assert not {*NAMES, PROGRAM} & pack.contents(run(spec(extensions={}))).keys()


def test_a_recipient_finds_nothing_wrong_and_makes_the_same_sets_again() -> None:
    bundle = read_bytes(pack.sealed(contents()))
    report = verified(pack.sealed(contents()))
    assert report.verdict == CONSISTENT, [check for check in report.checks if check.verdict == FAILED]
    assert reproduce(bundle).different == ()


def test_a_forged_program_is_found() -> None:
    files = contents() | {PROGRAM: contents()[PROGRAM].replace(b"1 + 1 / m", b"1 + 0 / m")}
    assert files[PROGRAM] != contents()[PROGRAM]
    assert verify(read_bytes(pack.sealed(files))).verdict == INCONSISTENT


@pytest.mark.parametrize("forge", ["a value", "another set", "a missing set"])
def test_a_forged_set_is_found(forge: str) -> None:
    files = dict(contents())
    if forge == "a value":
        first, rest = files[NAMES[1]].split(b"\n", 1)
        sex, after = rest.split(b",", 1)
        files[NAMES[1]] = first + b"\n" + (b"male" if sex == b"female" else b"female") + b"," + after
    elif forge == "another set":
        files[NAMES[1]] = files[NAMES[0]]
    else:
        del files[NAMES[1]]
    bundle = read_bytes(pack.sealed(files))
    report = verify(bundle)
    assert report.verdict == INCONSISTENT
    assert [check.question for check in report.checks if check.verdict == FAILED] == [QUESTION]
    assert "rows" in reproduce(bundle).different


def test_a_forged_number_of_sets_is_found() -> None:
    files = dict(contents())
    files["release.json"] = files["release.json"].replace(b'"plausible": 2', b'"plausible": 3')
    assert verify(read_bytes(pack.sealed(files))).verdict == INCONSISTENT


def test_the_report_says_what_may_be_tested() -> None:
    report = contents()["report.html"].decode()
    assert "Standard errors of analyses" in report
    assert "6 pairs of columns, 3 were measured over all their cells" in report
    assert "Standard errors of analyses" not in pack.contents(run(spec(extensions={})))["report.html"].decode()


@pytest.mark.parametrize(
    ("fields", "saying"),
    [
        ({"extensions": {"plausible": 1}}, "from 2 to 200"),
        ({"extensions": {"plausible": 201}}, "from 2 to 200"),
        ({"extensions": {"possible": 5}}, "this entry is unknown"),
        ({"extensions": {"plausible": "many"}}, "extensions"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(fields: dict[str, Any], saying: str) -> None:
    refused(spec, saying=saying, **fields)


@pytest.mark.parametrize(
    ("fields", "saying"),
    [
        ({"mechanism": {"name": "residual_planner"}, "output": {}}, "nobody has tried"),
        ({"output": {"rows": 1_000_000}, "extensions": {"plausible": 100}}, "more than 20,000,000 rows"),
    ],
)
def test_a_plan_without_such_sets_is_refused_before_anything_is_spent(fields: dict[str, Any], saying: str) -> None:
    error = refused(synthesis.plan, spec(**fields), saying=saying)
    assert error.field == "plausible"


def test_command_line_and_programs_ask_for_sets(tmp_path: Path) -> None:
    domain = tmp_path / "domain.json"
    domain.write_text(json.dumps(DOMAIN), encoding="utf-8")
    given = ["--domain", str(domain), "--epsilon", "2", "--workload", "all-2way", "--rows", "200", "--population", "X"]
    assert main(["synthesize", "demo", *given, "--mechanism", "mst", "--plausible", "2", "--out", str(tmp_path / "out")]) == 0
    assert {*NAMES} < {path.name for path in (tmp_path / "out").iterdir()}
    options: dict[str, Any] = {"plausible": 2}
    plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=2, tables=1, mechanism="independent", **options)
    release = plan.run(progress=False)
    assert release.verify().verdict == CONSISTENT


ALONE = """
import sys
from tests.extensions.intervals.test_rowfiles import pack, run, spec
pack.contents(run(spec(extensions={})))
print(*sorted(name for name in sys.modules if name.startswith("dpsynth_core.extensions.intervals.")))
"""


@pytest.mark.slow  # a fresh interpreter
def test_a_release_that_asks_for_no_sets_loads_nothing_of_the_extension() -> None:
    """Beside what this file imports itself."""
    from_here = {"pooling", "rowfiles", "allowed", "noise", "tilting", "sets", "explained"}
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert {name.rpartition(".")[2] for name in done.stdout.split()} <= from_here


def in_r(folder: Path, *code: str) -> list[str]:
    """What R prints, in a folder with the sets and pool.R."""
    for name in (*NAMES, PROGRAM):
        (folder / name).write_bytes(contents()[name])
    done = subprocess.run(["Rscript", "-e", "\n".join(code)], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_r
def test_pool_r_combines_results_as_this_program_does(tmp_path: Path) -> None:
    people, table, models = in_r(
        tmp_path,
        'source("pool.R"); sets <- read_sets()',
        "x <- sapply(sets, function(r) mean(r$age)); v <- sapply(sets, function(r) var(r$age) / nrow(r))",
        'for (of in c("population", "table")) cat(sprintf("%.12g", unlist(pool(x, v, of)[1, ])), "\\n")',
        "m <- pool_models(lapply(sets, function(r) lm(age ~ sex, data = r))); cat(nrow(m), all(is.finite(as.matrix(m))))",
    )
    ages = [np.array([float(row["age"]) for row in csv.DictReader(io.StringIO(contents()[name].decode()))]) for name in NAMES]
    for of, line in (("population", people), ("table", table)):
        found = pool([one.mean() for one in ages], [one.var(ddof=1) / len(one) for one in ages], of)
        ours = [found.value[0], found.low[0], found.high[0], np.sqrt(found.variance[0]), found.degrees[0]]
        assert [float(text) for text in line.split()] == pytest.approx(ours, rel=1e-9)
    assert models == "2 TRUE"


@needs_r
def test_one_file_of_all_sets_has_the_same_rows_and_set_zero_is_empty(tmp_path: Path) -> None:
    code = 'source("pool.R"); sets <- read_sets(); write_long(); cat(isTRUE(all.equal(read_long(), sets, check.attributes = FALSE)))'
    assert in_r(tmp_path, code) == ["TRUE"]
    with (tmp_path / "plausible-long.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["mi_set", "mi_id", "sex", "age", "health", "marital_status"]
    assert [(row[0], row[1]) for row in rows] == [(str(m), str(n)) for m in range(3) for n in range(1, 301)]
    assert {tuple(row[2:]) for row in rows if row[0] == "0"} == {("", "", "", "")}
    for number, name in enumerate(NAMES, start=1):
        _, *own = csv.reader(io.StringIO(contents()[name].decode()))
        assert [row[2:] for row in rows if row[0] == str(number)] == own


@needs_r
def test_sets_have_the_same_levels_where_one_lacks_a_value(tmp_path: Path) -> None:
    code = 'source("pool.R"); sets <- split_sets(list(data.frame(x = factor(c("a", "b"))), data.frame(x = factor(c("a", "a")))))'
    assert in_r(tmp_path, code, "cat(sapply(sets, function(rows) nlevels(rows$x)))") == ["2 2"]


@needs_r
def test_mitools_combines_the_sets_as_pool_r_does(tmp_path: Path) -> None:
    if in_r(tmp_path, 'cat(requireNamespace("mitools", quietly = TRUE))') != ["TRUE"]:
        pytest.skip("mitools is not installed")
    ours, theirs = in_r(
        tmp_path,
        'source("pool.R"); write_long(); sets <- read_long()',
        "ours <- pool_models(lapply(sets, function(r) lm(age ~ sex, data = r)))",
        "theirs <- summary(mitools::MIcombine(with(mitools::imputationList(sets), lm(age ~ sex))))",
        'cat(sprintf("%.12g", c(ours$value, ours$error)), "\\n"); cat(sprintf("%.12g", c(theirs$results, theirs$se)), "\\n")',
    )[-2:]
    assert [float(text) for text in ours.split()] == pytest.approx([float(text) for text in theirs.split()], rel=1e-9)
