"""The rules of the house that no import contract can say, and nineteen breaks of rules, each of which something must notice."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ("web", "charts", "cli", "report")
BUDGET = {"epsilon", "delta", "rho"}
LENGTH = ast.Mult, ast.Div, ast.FloorDiv, ast.Pow


def parsed(root: Path, *places: str) -> Iterator[tuple[str, ast.Module]]:
    for place in places:
        for path in sorted((root / place).rglob("*.py")) if (root / place).is_dir() else [root / place]:
            yield path.relative_to(root).as_posix(), tree_of(path.read_text(encoding="utf-8"))


@cache
def tree_of(text: str) -> ast.Module:
    return ast.parse(text)


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def pages_reach(root: Path) -> list[str]:
    """Pages and app.py use the rooms of screens and the foundation, nothing behind them."""
    allowed = ("dpsynth_core.web", "dpsynth_core.foundation")
    return [
        f"{file} imports {name}"
        for file, tree in parsed(root, "pages", "app.py")
        for name in imported(tree)
        if name.startswith("dpsynth_core") and not name.startswith(allowed)
    ]


def said(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def is_budget_arithmetic(node: ast.AST) -> bool:
    """Products, quotients and powers of epsilon or delta, and of rho with a number: shares of rho are for people to look at."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, LENGTH):
        return False
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if said(one) in BUDGET and (said(one) != "rho" or isinstance(node.op, ast.Pow) or isinstance(other, ast.Constant)):
            return True
    return False


def budgets_worked_out(root: Path) -> list[str]:
    """A budget is worked out in `privacy` and `planning.plan`, never on a screen."""
    places = [f"dpsynth_core/{room}" for room in SCREENS] + ["pages"]
    return [f"{file}:{node.lineno}" for file, tree in parsed(root, *places) for node in ast.walk(tree) if is_budget_arithmetic(node)]


def specs_by_key(root: Path) -> list[str]:
    """A spec is a `Spec`: it is read by key where it is checked and where it is read from a document, nowhere else."""
    readers = {"dpsynth_core/bundle/checks/charges.py", "dpsynth_core/bundle/unpack.py", "dpsynth_core/release/document.py"}
    readers |= {"dpsynth_core/release/spool.py", "dpsynth_core/store/approvals.py", "dpsynth_core/store/runs.py"}
    found = []
    for file, tree in parsed(root, "dpsynth_core", "pages", "app.py"):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Subscript) or file in readers:
                continue
            by_key = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            if by_key and (said(node.value) == "spec" or ast.unparse(node.slice) == "'spec'"):
                found.append(f"{file}:{node.lineno}")
    return found


def types_given_up(root: Path) -> list[str]:
    """What crosses the seam between mechanisms and the kernel has a type. Settings of mechanisms are of any type, and checked by hand."""
    places = ("dpsynth_core/privacy", "dpsynth_core/mechanisms", "dpsynth_core/release/synthesis.py")
    allowed = {"changes", "default", "_field", "_question", "_digests"}
    found = []
    for file, tree in parsed(root, *places):
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef):
                continue
            given = [*node.args.args, *node.args.kwonlyargs, *filter(None, (node.args.vararg, node.args.kwarg))]
            untyped = [arg.arg for arg in given if isinstance(arg.annotation, ast.Name) and arg.annotation.id == "Any"]
            if isinstance(node.returns, ast.Name) and node.returns.id == "Any":
                untyped.append(node.name)
            found += [f"{file}:{node.lineno} {name}" for name in untyped if name not in allowed]
    return found


def unseeded(root: Path) -> list[str]:
    """Randomness of Python's own comes from a generator with a seed, never from the state that all share."""
    found = []
    for file, tree in parsed(root, "dpsynth_core", "pages", "app.py"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and said(node.func.value) == "random":
                if isinstance(node.func.value, ast.Name) and node.func.attr not in ("Random", "SystemRandom"):
                    found.append(f"{file}:{node.lineno}")
            elif isinstance(node, ast.ImportFrom) and node.module == "random":
                found += [f"{file}:{node.lineno}" for alias in node.names if alias.name not in ("Random", "SystemRandom")]
    return found


def private_names(root: Path) -> list[str]:
    """What begins with an underscore is used in its own file alone."""
    found = []
    for file, tree in parsed(root, "dpsynth_core", "pages", "app.py", "benchmarks"):
        modules = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dpsynth_core"):
                names = [alias.name for alias in node.names]
                found += [f"{file}:{node.lineno} {name}" for name in names if name.startswith("_")]
                modules |= {alias.asname or alias.name for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr) and said(node.value) in modules:
                found.append(f"{file}:{node.lineno} {node.attr}")
    return found


def rooms_without_a_word(root: Path) -> list[str]:
    """ARCHITECTURE.md has a sentence on every room."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = sorted(path.parent.name for path in (root / "dpsynth_core").glob("*/__init__.py"))
    return [room for room in rooms if f"`{room}" not in text]


def acts_for_another(root: Path) -> list[str]:
    """A page acts for who looks at it, never for who started the run or sweep that it shows."""
    places = ("dpsynth_core/web", "pages", "app.py")
    every = ((file, node) for file, tree in parsed(root, *places) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return [f"{file}:{node.lineno}" for file, node in every if node.attr == "owner" and said(node.value) in ("run", "stored")]


_ALL = (acts_for_another, pages_reach, budgets_worked_out, specs_by_key, types_given_up, unseeded, private_names, rooms_without_a_word)
FENCES: dict[str, Callable[[Path], list[str]]] = {fence.__name__: fence for fence in _ALL}


@pytest.mark.parametrize("fence", FENCES)
def test_the_house_keeps_its_rules(fence: str) -> None:
    assert FENCES[fence](ROOT) == []


# Nineteen rules broken on purpose


@dataclass(frozen=True)
class Break:
    """A line that is added to the end of a file of the core or to a page, and who must notice: a contract of imports, a rule of style, a
    test, or a fence above."""

    file: str
    code: str
    noticed_by: str


BREAKS = {
    "Streamlit below the screens": Break("release/spool.py", "import streamlit", "import:screens"),
    "a mechanism imports the kernel": Break("mechanisms/steps.py", "import dpsynth_core.privacy.kernel", "import:mechanisms"),
    "a report counts the private table": Break("report/page.py", "import dpsynth_core.evaluation.truth", "import:truth"),
    "two files import each other": Break("foundation/errors.py", "import dpsynth_core.foundation.reasons", "import:cycles"),
    "a way around the import statement": Break(
        "mechanisms/rounds.py", "import importlib\n\nimportlib.import_module('dpsynth_core.privacy.kernel')", "test:isolation"
    ),
    "the kernel's private attributes": Break(
        "mechanisms/rounds.py", "def peek(kernel: object) -> object:\n    return kernel._PrivacyKernel__source", "test:isolation"
    ),
    "a room that ARCHITECTURE.md does not know": Break("attic/__init__.py", "", "rooms_without_a_word"),
    "a loose file at the top of the core": Break("attic.py", "", "import:layers"),
    "a page opens the kernel": Break("../pages/data.py", "from dpsynth_core.privacy import kernel", "pages_reach"),
    "the program imports its benchmarks": Break("report/page.py", "import benchmarks.compare", "import:outside"),
    "global randomness": Break("mechanisms/rounds.py", "import numpy as np\n\nnp.random.normal()", "style:NPY002"),
    "a database opened on a page": Break("web/shell/text.py", "import sqlite3", "import:sqlite"),
    "a spec read by key": Break("web/shell/text.py", "def e(release):\n    return release['spec']", "specs_by_key"),
    "a second budget arithmetic": Break("web/shell/text.py", "def r(epsilon):\n    return epsilon**2 / 2", "budgets_worked_out"),
    "a function of fourteen arguments": Break("report/page.py", f"def f({','.join('abcdefghijklmn')}): ...", "style:PLR0913"),
    "a page acts for who started a run": Break("web/shell/text.py", "def w(run):\n    return run.owner", "acts_for_another"),
    "any type at the seam": Break("privacy/meter.py", "def carry(kernel: Any) -> Any:\n    return kernel", "types_given_up"),
    "a swallowed exception": Break(
        "report/page.py", "def q() -> str:\n    try:\n        return ''\n    except Exception:\n        return ''", "style:BLE001"
    ),
    "a private name of another room": Break(
        "report/page.py", "from dpsynth_core.privacy import conversions\n\nconversions._softplus(1.0)", "private_names"
    ),
}


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as it is, with its rules and the test of mechanisms."""
    place = tmp_path_factory.mktemp("house")
    for name in ("dpsynth_core", "pages", "tests/mechanisms"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".importlinter", "pyproject.toml", "ARCHITECTURE.md", "app.py"):
        shutil.copy(ROOT / name, place)
    (place / "benchmarks").mkdir()
    return place


def noticed(place: Path, broken: Break) -> bool:
    kind, _, name = broken.noticed_by.partition(":")
    if kind == "import":
        lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
        done = run(sys.executable, "-c", lint, "--no-logo", "--no-cache", "--contract", name, cwd=place)
        return done.returncode != 0 and Path(broken.file).stem in done.stdout
    if kind == "style":
        file = f"dpsynth_core/{broken.file}"
        return run(sys.executable, "-m", "ruff", "check", "--no-cache", "--select", name, file, cwd=place).returncode != 0
    if kind == "test":
        test = f"tests/mechanisms/test_{name}.py"
        only = Path(broken.file).stem
        done = run(sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-k", only, "--noconftest", test, cwd=place)
        return done.returncode == 1
    return FENCES[kind](place) != []


def test_there_are_nineteen_breaks() -> None:
    assert len(BREAKS) == 19


@pytest.mark.parametrize("rule", BREAKS)
def test_a_broken_rule_is_noticed(rule: str, copy: Path) -> None:
    broken = BREAKS[rule]
    path = copy / "dpsynth_core" / broken.file
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text(f"{before or ''}\n\n{broken.code}\n", encoding="utf-8")
        assert noticed(copy, broken)
    finally:
        if before is None:
            path.unlink()
            if path.name == "__init__.py":
                path.parent.rmdir()
        else:
            path.write_text(before, encoding="utf-8")
