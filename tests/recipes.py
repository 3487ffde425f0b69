"""A copy of the project in which the recipes of ARCHITECTURE.md are followed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("dpsynth_core", "pages", "tests", "benchmarks", "assets", ".streamlit", "app.py", "pyproject.toml", ".importlinter")
DOCUMENTS = ("ARCHITECTURE.md", "README.md", "CHANGELOG.md", "requirements.in", "requirements-dev.in")


def copied(to: Path, *more: str) -> Path:
    """Everything that tests of a new file need, and more, in an empty folder."""
    for name in (*COPIED, *DOCUMENTS, *more):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, to / name)
    return to


def deleted(project: Path, name: str) -> None:
    """Delete an extension as ARCHITECTURE.md says: its folders and what names it. What is generated stays as it was."""
    module = f"dpsynth_core.extensions.{name}"
    for page in import_module(module).EXTENSION.pages:
        (project / "pages" / f"{page.name}.py").unlink()
    for folder in ("dpsynth_core", "tests"):
        shutil.rmtree(project / folder / "extensions" / name)
    built_in = project / "dpsynth_core" / "extensions" / "__init__.py"
    listed = re.search(r"^BUILT_IN[^=]* = \(([^)]*)\)$", built_in.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert listed is not None
    others = [one for one in re.findall(r'"(\w+)"', listed[1]) if one != name]
    entry(built_in, (listed[0], f"BUILT_IN: tuple[str, ...] = {tuple(others)!r}"))
    gone = [module, *_without_parts(project, name)]
    rules = project / ".importlinter"
    contracts = re.split(r"^(?=(?:#.*\n)*\[importlinter:)", rules.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kept = [one for one in contracts if not re.search(rf"^\[importlinter:contract:{name}(_\w+)?\]$", one, flags=re.MULTILINE)]
    rules.write_text(re.sub(rf"^.*\b({'|'.join(map(re.escape, gone))})\b.*\n", "", "".join(kept), flags=re.MULTILINE), encoding="utf-8")
    types = project / "dpsynth_core" / "__init__.pyi"
    imported = re.compile(rf"^from {re.escape(module)}\b.*\n", flags=re.MULTILINE)
    types.write_text(imported.sub("", types.read_text(encoding="utf-8")), encoding="utf-8")
    for file in _importing(project / "benchmarks", module):
        file.unlink()


def _without_parts(project: Path, name: str) -> list[str]:
    """Delete the parts that other extensions hold for one, and their tests with it, and return the modules of the parts."""
    gone, pair = [], re.compile(rf'\("{name}", "([\w.]+)"\),?')
    for manifest in (project / "dpsynth_core" / "extensions").glob("*/__init__.py"):
        text = manifest.read_text(encoding="utf-8")
        for part in pair.findall(text):
            (project / f"{part.replace('.', '/')}.py").unlink()
            gone.append(part)
        manifest.write_text(pair.sub("", text), encoding="utf-8")
    for tests in (project / "tests" / "extensions").glob(f"*/{name}"):
        shutil.rmtree(tests)
    return gone


def _importing(folder: Path, module: str) -> list[Path]:
    """The files that import it, or one that does."""
    texts = {file: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}
    found = [file for file, text in texts.items() if f"from {module}" in text]
    for file in found:
        one = rf"^from benchmarks(\.{file.stem} import| import .*\b{file.stem}\b)"
        found += [other for other, text in texts.items() if other not in found and re.search(one, text, flags=re.MULTILINE)]
    return found


def entry(file: Path, *changes: tuple[str, str]) -> None:
    """Put new text in the place of old, of which there is one."""
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (file, old)
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A module of the copy as a program, which ends well. What one program compiles, the next need not compile again."""
    environment = os.environ | {"PYTHONPATH": str(project), "DPSYNTH_HOME": str(project / "home")}
    done = subprocess.run([sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr)
    return done


def check_suite(project: Path, chosen: str, *suite: str) -> None:
    """The tests of these files that are chosen pass in the copy, and each file has some."""
    done = run(project, "pytest", "-q", "-p", "no:cacheprovider", "-rA", "-k", chosen, *suite)
    for module in suite:
        assert f"PASSED {module}" in done.stdout, module
