"""Mechanisms cannot reach private records: neither by what is loaded with them, nor by what their code names.

Three proofs that fail independently: a fresh interpreter that loads every mechanism module, a walk over the import statements of all
modules they can reach, and a look for the ways around an import statement. The import contracts in `.importlinter` are the fourth.
"""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import dpsynth_core
from dpsynth_core.extensions import BUILT_IN
from dpsynth_core.mechanisms.registry import MECHANISMS

CORE = Path(dpsynth_core.__file__).parent
ROOT = CORE.parent
ROOMS = ("mechanisms", *(f"extensions.{name}.mechanisms" for name in BUILT_IN))
FOLDERS = {f"dpsynth_core.{room}.": CORE / room.replace(".", "/") for room in ROOMS}
MODULES = tuple(sorted(module.name for name, folder in FOLDERS.items() for module in pkgutil.walk_packages([str(folder)], name)))
OFF_LIMITS = (
    "dpsynth_core.sources",
    "dpsynth_core.privacy.kernel",
    "dpsynth_core.privacy.counts",
    "dpsynth_core.privacy.noise",
    "dpsynth_core.evaluation",
    "dpsynth_core.store",
    "dpsynth_core.release.synthesis",
    "dpsynth_core.web",
    "opendp",
    "pyarrow",
    "pandas",
    "streamlit",
)
"""Where records, counts, noise or ways to them live."""
WAYS_AROUND = {
    *("open", "exec", "eval", "compile", "getattr", "vars", "globals", "__import__", "__builtins__"),
    *("builtins", "importlib", "inspect", "gc", "ctypes", "sys", "os", "io", "pathlib", "pickle", "subprocess"),
}
"""Names that no mechanism needs and that an import statement does not show."""


def off_limits(name: str) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in OFF_LIMITS)


def path_of(module: str) -> Path | None:
    stem = ROOT.joinpath(*module.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.exists()), None)


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Every module that an import statement anywhere in the tree may load: `from a import b` may load a and a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "the project imports absolutely"
            yield from (str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names))


@cache
def named_by(module: str) -> tuple[str, ...]:
    """What a module of ours imports; nothing for others, which are not read."""
    path = path_of(module)
    return tuple(imported_names(ast.parse(path.read_text(encoding="utf-8")))) if path else ()


def reachable(start: str) -> dict[str, str]:
    """Modules named by `start` or by any module of ours it names, each with the module that names it."""
    reached, todo = {start: start}, [start]
    while todo:
        name = todo.pop()
        for target in named_by(name):
            if target not in reached:
                reached[target] = name
                todo.append(target)
    return reached


def test_there_are_mechanisms_to_check() -> None:
    assert {f"dpsynth_core.mechanisms.{name}" for name in ("graphical.aim", "answers.gaussian", "graphical.independent")} <= set(MODULES)
    assert {type(mechanism).__module__ for mechanism in MECHANISMS.values()} <= set(MODULES)


def test_a_fresh_interpreter_that_loads_every_mechanism_holds_no_way_to_records() -> None:
    script = f"import importlib, sys\nfor name in {MODULES!r}: importlib.import_module(name)\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    loaded = done.stdout.split()
    assert set(MODULES) <= set(loaded)
    assert [name for name in loaded if off_limits(name)] == []


@pytest.mark.parametrize("module", MODULES)
def test_no_import_statement_leads_from_a_mechanism_to_records(module: str) -> None:
    assert [f"{by} imports {name}" for name, by in reachable(module).items() if off_limits(name)] == []


@pytest.mark.parametrize("module", MODULES)
def test_no_mechanism_uses_a_way_around_the_import_statement(module: str) -> None:
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {part for name in imported_names(tree) for part in name.split(".")}
    assert names & WAYS_AROUND == set()


@pytest.mark.parametrize("module", MODULES)
def test_no_mechanism_names_the_kernel_s_private_attributes(module: str) -> None:
    text = path_of(module).read_text(encoding="utf-8")
    assert "_PrivacyKernel" not in text
    assert "_Kernel__" not in text
    attributes = {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
    assert attributes & {"__dict__", "__class__", "__globals__", "__closure__", "__self__", "__subclasses__"} == set()
    assert attributes & {"_ask", "_charge", "_public", "_turned", "_view"} == set()


def test_the_walk_finds_the_records_from_where_they_are_in_reach() -> None:
    assert any(off_limits(name) for name in reachable("dpsynth_core.privacy.kernel") if name != "dpsynth_core.privacy.kernel")
    assert any(off_limits(name) for name in reachable("dpsynth_core.evaluation.truth") if name != "dpsynth_core.evaluation.truth")
