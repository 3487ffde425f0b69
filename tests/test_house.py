"""The house itself: what the documents say is there, the import rules hold and can fail, the locks match what was asked for."""

from __future__ import annotations

import ast
import csv
import json
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dpsynth_core.foundation.causes import EXTRAS
from dpsynth_core.sources.demo import demo_domain
from tests.additions import added, listed
from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "dpsynth_core"
README = (ROOT / "README.md").read_text(encoding="utf-8")
LOCKS = ("requirements.txt", "requirements-dev.txt")
PEER_LOCK = "benchmarks/dpmm.txt"
OURS_AND_STANDARD = {"dpsynth_core", "pages", "tests", "benchmarks", "docs", "app"} | set(sys.stdlib_module_names)


def asked_for(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line.strip() and not line.startswith(("#", "-"))]


def locked(name: str) -> dict[str, list[Requirement]]:
    """Pinned requirements by canonical name; a package may be pinned once per environment marker."""
    pins: dict[str, list[Requirement]] = {}
    for line in re.findall(r"^[A-Za-z0-9][^\\#\n]*", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE):
        pin = Requirement(line.strip())
        pins.setdefault(canonicalize_name(pin.name), []).append(pin)
    return pins


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)


def lint_imports(tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return run(sys.executable, "-c", lint, "--no-logo", "--no-cache", *options, cwd=tree)


# What the documents say


@pytest.mark.parametrize("package", [requirement.name for requirement in asked_for("requirements.in")])
def test_every_runtime_dependency_has_its_reason(package: str) -> None:
    """A comment of its own, in the line above."""
    text = (ROOT / "requirements.in").read_text(encoding="utf-8")
    assert re.search(rf"^# \w.{{10,}}\.\n{re.escape(package)}[\[=]", text, flags=re.MULTILINE)


def imported_by(*paths: Path) -> set[str]:
    """Canonical names of the packages that these files import, without ours and Python's."""
    names = {
        "dateutil": "python-dateutil",
        "markdown_it": "markdown-it-py",
        "opt_einsum": "opt-einsum",
        "sklearn": "scikit-learn",
        "yaml": "pyyaml",
    }
    imported: set[str] = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    return {canonicalize_name(names.get(name, name)) for name in imported - OURS_AND_STANDARD}


def names_asked_for(name: str) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in asked_for(name)}


def test_every_imported_package_was_asked_for() -> None:
    program = imported_by(*CORE.rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py")
    # starlette and uvicorn come with streamlit, whose own middleware is written in their types; pydantic_core with pydantic.
    assert program <= names_asked_for("requirements.in") | {"starlette", "uvicorn", "pydantic-core"}


def test_every_package_that_tests_and_benchmarks_import_was_asked_for() -> None:
    measuring = imported_by(*(ROOT / "benchmarks").glob("*.py")) - names_asked_for("benchmarks/dpmm.in")
    # server.py drives the browser that the tests drive; office.py speaks as a browser does, with what comes with streamlit; fuzz.py says
    # how to install Atheris, which nothing else takes
    assert measuring <= names_asked_for("requirements.in") | {"playwright", "websockets", "atheris"}
    tests = list((ROOT / "tests").rglob("*.py"))
    beside = {path.stem for path in tests}  # test folders without an __init__ import the file beside them by its name alone
    assert imported_by(*tests) - {canonicalize_name(name) for name in beside} <= (
        names_asked_for("requirements.in") | names_asked_for("requirements-dev.in") | {"starlette", "uvicorn", "websockets"}
    )


def test_every_make_target_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)\b(?=[ `\n])", "\n".join(re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)))) <= targets


# The readme's examples


@pytest.mark.parametrize(
    ("block", "out", "columns"), [(0, "release", list(demo_domain().names)), (1, "release-of-three", ["age", "sex", "region"])]
)
def test_the_readme_examples_make_a_release_that_is_worth_reading(block: int, out: str, columns: list[str], tmp_path: Path) -> None:
    examples = [example for example in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL) if "synthesize demo" in example]
    script = examples[block].replace(".venv/bin/python", sys.executable)
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "DPSYNTH_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    done = run("sh", "-eu", "-c", script, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    with (tmp_path / out / "synthetic.csv").open(encoding="utf-8", newline="") as rows:
        assert next(csv.reader(rows)) == columns
    certificate = json.loads((tmp_path / out / "release.json").read_text(encoding="utf-8"))["certificate"]
    assert 0 <= certificate["mean_bound95"] < 0.1  # of 2 at worst


# Who may import whom


def test_import_rules_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


def rooms(within: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> list[str]:
    """Every folder of the core as a dotted name: those in `within` (all, where it is empty) that are not in `without`."""
    folders = [path.parent.relative_to(CORE.parent).as_posix().replace("/", ".") for path in CORE.glob("*/**/__init__.py")]

    def inside(room: str, places: tuple[str, ...]) -> bool:
        return any(room == f"dpsynth_core.{place}" or room.startswith(f"dpsynth_core.{place}.") for place in places)

    return sorted(room for room in folders if (not within or inside(room, within)) and not inside(room, without))


OUT_OF_REACH = ("dpsynth_core.sources.arrow", "dpsynth_core.evaluation.truth", "dpsynth_core.store.home", "pyarrow", "pandas", "opendp")
ASKING = ("mechanisms", "inference", *listed("ASKING"))
OPENERS = ("store", "cli", "interface", "web", *listed("OPENERS"))
"""Rooms that may open a table of records; so may three files: the kernel, `evaluation.truth` and `release.synthesis`."""


@pytest.mark.parametrize(
    ("contract", "imported", "trespassers"),
    [
        ("layers", "dpsynth_core.web", rooms(without=("web", "extensions"))),
        ("layers", "dpsynth_core.store", rooms(without=("web", "store", "cli", "interface", "charts", "extensions"))),
        ("layers", "dpsynth_core.mechanisms", rooms(within=("privacy", "inference", "sources", "vocabulary", "foundation"))),
        *[(contract, name, rooms(within, without)) for module in added("import_rules") for contract, name, within, without in module.RULES],
        *[("mechanisms", imported, rooms(within=ASKING)) for imported in OUT_OF_REACH],
        ("kernel", "dpsynth_core.privacy.kernel", rooms(without=("privacy", *listed("BUILDS_KERNELS")))),
        ("counts", "dpsynth_core.privacy.counts", rooms(without=("privacy",))),
        ("records", "dpsynth_core.sources.arrow", rooms(without=("sources", *OPENERS))),
        ("truth", "dpsynth_core.evaluation.truth", rooms(without=("evaluation", "web", *listed("SEE_TRUTH")))),
        ("costs", "dpsynth_core.sources.arrow", rooms(within=("privacy",))),
        ("costs", "pandas", rooms(within=("privacy",))),
        ("noise", "opendp", rooms()),
        ("learning", "sklearn", rooms()),
        ("screens", "streamlit", rooms(without=("web",))),
        ("screens", "altair", rooms(without=("charts",))),
    ],
)
def test_every_import_rule_notices_a_new_file_in_every_room(contract: str, imported: str, trespassers: list[str], tmp_path: Path) -> None:
    shutil.copytree(CORE, tmp_path / CORE.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    for room in trespassers:
        (tmp_path / room.replace(".", "/") / "trespasser.py").write_text(f"import {imported}\n", encoding="utf-8")
    done = lint_imports(tmp_path, "--contract", contract)
    assert done.returncode != 0
    report = re.sub(r"\s+", " ", done.stdout)
    assert [room for room in trespassers if f"{room}.trespasser" not in report] == []


def test_the_import_rules_notice_a_room_that_they_do_not_name(tmp_path: Path) -> None:
    shutil.copytree(CORE, tmp_path / CORE.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    (tmp_path / CORE.name / "attic.py").write_text("", encoding="utf-8")
    done = lint_imports(tmp_path, "--contract", "layers")
    assert done.returncode != 0
    assert "attic" in done.stdout


def test_style_is_clean() -> None:
    done = run(sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", ".")
    assert done.returncode == 0, done.stdout


# Locks


@pytest.mark.parametrize(
    ("wanted", "lock"),
    [
        ("requirements.in", LOCKS[0]),
        ("requirements.in", LOCKS[1]),
        ("requirements-dev.in", LOCKS[1]),
        ("benchmarks/dpmm.in", PEER_LOCK),
    ],
)
def test_lock_pins_everything_that_was_asked_for(wanted: str, lock: str) -> None:
    pins = locked(lock)
    for requirement in asked_for(wanted):
        versions = [next(iter(pin.specifier)).version for pin in pins[canonicalize_name(requirement.name)]]
        assert all(requirement.specifier.contains(version) for version in versions), requirement.name


@pytest.mark.parametrize("lock", [*LOCKS, PEER_LOCK])
def test_every_pin_is_exact_and_hashed(lock: str) -> None:
    entries = re.split(r"\n(?=[A-Za-z0-9])", (ROOT / lock).read_text(encoding="utf-8"))[1:]
    assert entries
    for entry in entries:
        assert "==" in entry.splitlines()[0]
        assert "--hash=sha256:" in entry


@pytest.mark.parametrize("lock", [*LOCKS, PEER_LOCK])
def test_lock_names_no_place_to_download_from(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index-url|--find-links|file:|^/", text, flags=re.MULTILINE)


def test_what_is_tested_is_what_ships() -> None:
    shipped, tested = locked(LOCKS[0]), locked(LOCKS[1])
    assert {name: [str(pin.specifier) for pin in pins] for name, pins in shipped.items()} == {
        name: [str(pin.specifier) for pin in tested[name]] for name in shipped
    }


# The wheel


def of_the_wheel() -> dict[str, list[Requirement]]:
    """What each extra asks for, the core as ""."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {"": project["dependencies"]} | {name: of for name, of in project["optional-dependencies"].items() if name != "all"}
    return {name: [Requirement(one) for one in of] for name, of in listed.items()}


def test_the_wheel_asks_for_what_is_tested_each_package_once() -> None:
    wanted = [requirement for of in of_the_wheel().values() for requirement in of]
    assert sorted(canonicalize_name(one.name) for one in wanted) == sorted(names_asked_for("requirements.in"))
    pins = locked(LOCKS[0])
    for requirement in wanted:
        assert all(requirement.specifier.contains(next(iter(pin.specifier)).version) for pin in pins[canonicalize_name(requirement.name)])


def test_what_is_missing_is_in_the_extra_that_its_error_names() -> None:
    of = {canonicalize_name(one.name): extra for extra, listed in of_the_wheel().items() for one in listed}
    names = {"python_calamine": "python-calamine", "sklearn": "scikit-learn", "yaml": "pyyaml"}
    told = {canonicalize_name(names.get(package, package)): extra for extra, packages in EXTRAS.items() for package in packages}
    assert told == {package: extra for package, extra in of.items() if extra}


# Scripts and container


@pytest.mark.parametrize("script", [".ci/run", ".ci/debian-install", ".ci/chromium", ".ci/postgresql", ".ci/r"])
def test_scripts_are_executable_and_parse(script: str) -> None:
    path = ROOT / script
    assert path.stat().st_mode & stat.S_IXUSR
    shell = path.read_text(encoding="utf-8").splitlines()[0].split()[-1].rsplit("/", 1)[-1]
    assert run(shell, "-n", str(path)).returncode == 0


def test_container_runs_as_an_ordinary_user_and_takes_only_the_program() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users == ["studio"]
    assert not any("PYTHONDONTWRITEBYTECODE" in line or "--no-compile" in line for line in lines)
    (compiled,) = [number for number, line in enumerate(lines) if line.startswith("RUN python -m compileall")]
    assert lines.index("COPY . ./") < compiled < lines.index("USER studio")
    assert re.fullmatch(r"FROM python:3\.11\.\d+-slim-\w+@sha256:[0-9a-f]{64}", next(line for line in lines if line.startswith("FROM")))
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert let_in <= {"app.py", "pages", "dpsynth_core", "assets", ".streamlit", "LICENSE", "requirements.txt"}


def test_settings_agree_on_the_oldest_python() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["requires-python"] == ">=3.11"
    assert settings["tool"]["ruff"]["target-version"] == "py311"
    assert settings["tool"]["mypy"]["python_version"] == "3.11"
