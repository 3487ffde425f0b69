"""ARCHITECTURE.md says how to delete an extension: done here, in a copy of the project, and the rest works as before."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpsynth_core.extensions import BUILT_IN
from tests.patience import SECONDS
from tests.recipes import ROOT, check_suite, copied, deleted, run

pytestmark = pytest.mark.slow  # programs and tests of a copy of the project
BESIDE = (
    *("docs", "requirements.txt", "requirements-dev.txt", "SECURITY.md", "CITATION.cff", "LICENSE"),
    *(".github", "Dockerfile", "compose.yaml"),
)
SUITE = (
    "tests/extensions/test_extensions.py",
    "tests/mechanisms/test_registry.py",
    "tests/mechanisms/test_isolation.py",
    "tests/mechanisms/test_published.py",
    "tests/privacy/test_kernel.py",
    "tests/privacy/test_prices.py",
    "tests/privacy/test_proofs.py",
    "tests/golden/test_golden.py",
)
"""What goes through all mechanisms, operations and files, and makes releases."""
PAGES = """
from pathlib import Path
from unittest.mock import patch
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.pages_manager import PagesManager
from tests.app.conftest import _cookies, _without_legacy_pages
from tests.app.demo_project import every_card, finished_run, open_page, project
from dpsynth_core.web.shell import steps
patch.object(PagesManager, "__init__", _without_legacy_pages).start()
patch.object(ContextProxy, "cookies", property(_cookies)).start()
place = project()
assert finished_run(place).state == "done"
pages = [page.stem for page in sorted(Path("pages").glob("[a-z]*.py"))]
for page in pages:
    assert not open_page(page, place).exception, page
print(len(pages), every_card(place).count("####"))
"""


@pytest.fixture(scope="module", params=BUILT_IN)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project without one of its extensions."""
    copy = copied(tmp_path_factory.mktemp("project"), *BESIDE)
    deleted(copy, request.param)
    return copy


def asked(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A program in the copy, however it ends."""
    environment = os.environ | {"PYTHONPATH": str(project), "DPSYNTH_HOME": str(project / "home")}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_nothing_of_the_program_names_it(project: Path) -> None:
    (gone,) = {path.name for path in (ROOT / "dpsynth_core" / "extensions").iterdir() if path.name in BUILT_IN} - {
        path.name for path in (project / "dpsynth_core" / "extensions").iterdir()
    }
    files = [*(project / "dpsynth_core").rglob("*.py"), *(project / "tests").rglob("*.py"), *(project / "benchmarks").glob("*.py")]
    assert [file for file in files if f"extensions.{gone}" in file.read_text(encoding="utf-8")] == []
    assert f"extensions.{gone}" not in (project / ".importlinter").read_text(encoding="utf-8")


def test_the_command_line_is_there_and_the_first_example_makes_a_release(project: Path) -> None:
    assert "synthesize" in run(project, "dpsynth_core", "--help").stdout
    readme = (project / "README.md").read_text(encoding="utf-8")
    example = next(text for text in re.findall(r"```sh\n(.*?)```", readme, flags=re.DOTALL) if "synthesize demo" in text)
    done = asked(project, "sh", "-eu", "-c", example.replace(".venv/bin/python", sys.executable))
    assert done.returncode == 0, done.stderr
    assert (project / "release" / "synthetic.csv").exists()


def test_every_page_opens(project: Path) -> None:
    done = asked(project, sys.executable, "-c", PAGES)
    assert done.returncode == 0, done.stderr[-3000:]
    pages, cards = map(int, done.stdout.splitlines()[-1].split())
    assert pages == len(list((project / "pages").glob("[a-z]*.py")))
    assert cards > 0


def test_the_import_rules_hold(project: Path) -> None:
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = asked(project, sys.executable, "-c", lint, "--no-logo", "--no-cache")
    assert done.returncode == 0, done.stdout


def test_benchmarks_are_listed_and_documents_are_written_anew(project: Path) -> None:
    assert "journeys" in asked(project, sys.executable, "-m", "benchmarks", "--help").stderr
    for program in ("docs.generate", "docs.trusted"):
        run(project, program)
    check_suite(project, "generates or program_writes", "tests/test_documents.py")


def test_all_tests_can_be_collected(project: Path) -> None:
    done = asked(project, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "error" not in done.stdout.splitlines()[-1]


def test_what_goes_through_all_that_is_there_passes(project: Path) -> None:
    done = asked(project, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tier", "check", *SUITE)
    assert done.returncode == 0, done.stdout[-3000:]
