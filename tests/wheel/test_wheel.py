"""What `pip install` gives somebody who has no checkout: built, installed in an empty environment, and used as the README says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.additions import added
from tests.patience import SECONDS
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NOT_SOURCES = (".*", "__pycache__", "build", "dist", "test-artifacts", "tests", "benchmarks", "docs", "*.egg-info")
SHIPPED = ("app.py", "pages/data.py", "assets/style.css", "assets/guide/limits.md", ".streamlit/config.toml")


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """With nothing of this environment but where packages come from."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_", "UV_"))}
    whole = {**kept, "PATH": "/usr/bin:/bin", "HOME": str(cwd), "DPSYNTH_HOME": str(cwd / "home"), **environment}
    return subprocess.run([str(part) for part in command], cwd=cwd, env=whole, capture_output=True, text=True, timeout=900, check=False)


def fetched(done: subprocess.CompletedProcess[str]) -> None:
    """Skip where pip's index has not what is not a part of this program; any other failure is one."""
    if "No matching distribution found for" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "sources", ignore=shutil.ignore_patterns(*NOT_SOURCES))
    shutil.copytree(ROOT / ".streamlit", folder / "sources" / ".streamlit")
    fetched(run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, folder / "sources", cwd=folder))  # by setuptools
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The programs of an environment with the core and nothing else."""
    place = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", place / "venv", cwd=place).returncode == 0
    done = run(place / "venv/bin/python", "-m", "pip", "install", "--only-binary", ":all:", wheel, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    yield place / "venv/bin"
    shutil.rmtree(place)  # a gigabyte


pytestmark = pytest.mark.slow  # pip installs what the program needs, 700 MB of it


def test_the_wheel_holds_the_app_and_no_name_but_ours(wheel: Path) -> None:
    assert wheel.stat().st_size < 2.45e6  # docs/guide/python.md says 2.4 MB
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"dpsynth_core"}
    assert {f"dpsynth_core/studio/{name}" for name in SHIPPED} <= set(names)
    assert not [name for name in names if name.endswith(("setup.py", "conftest.py", "requirements.txt", "secrets.toml", ".pyc"))]
    code = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpsynth_core").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert code <= set(names)


def test_the_lines_of_the_readme_make_a_release(installed: Path, tmp_path: Path) -> None:
    (lines,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    (tmp_path / "first.py").write_text(lines, encoding="utf-8")
    done = run(installed / "python", "first.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "release.zip").exists()
    report = run(installed / "dpsynth-studio", "verify", "release.zip", cwd=tmp_path)
    assert "consistent: nothing that can be checked is wrong" in report.stdout
    code = "import sys, dpsynth_core; print(dpsynth_core.__file__)"
    assert str(ROOT) not in run(installed / "python", "-c", code, cwd=tmp_path).stdout


def test_the_oldest_versions_that_are_allowed_make_the_same_release(wheel: Path, tmp_path: Path) -> None:
    """Each direct dependency at its lower bound in pyproject.toml, in an environment of its own."""
    uv = Path(sys.executable).with_name("uv")
    fetched(run(uv, "venv", "--python", sys.executable, tmp_path / "venv", cwd=tmp_path))
    python = tmp_path / "venv/bin/python"
    lowest = ("--resolution", "lowest-direct", "--python", sys.executable, "--output-file", "lowest.txt")
    fetched(run(uv, "pip", "compile", *lowest, ROOT / "pyproject.toml", cwd=tmp_path))
    fetched(run(uv, "pip", "install", "--python", python, "--only-binary", ":all:", "--requirement", "lowest.txt", cwd=tmp_path))
    fetched(run(uv, "pip", "install", "--python", python, "--no-deps", wheel, cwd=tmp_path))
    (lines,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    done = run(python, "-c", lines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "consistent"
    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    there = run(uv, "pip", "freeze", "--python", python, cwd=tmp_path).stdout.lower().replace("-", "_")
    for name, least in (bound.lower().split(">=") for bound in bounds):
        assert re.search(rf"^{name}=={re.escape(least)}(\.\d+)*$", there, re.MULTILINE), name  # the first of its line may be withdrawn


POLARS = """
import dpsynth_core as dps, polars as pl
people = pl.DataFrame({"age": [20, None, 40] * 200, "sex": ["f", "m", "f"] * 200}, schema_overrides={"sex": pl.Categorical})
release = dps.plan(people, {"age": (0, 99), "sex": ["f", "m"]}, epsilon=8, tables=2, mechanism="independent").run()
assert isinstance(release.rows, pl.DataFrame), type(release.rows)
assert release.rows["age"].dtype == pl.Int64
assert 100 < release.rows["age"].null_count() < 300  # 200, with noise of ten or so
assert release.ask("share", of={"sex": "f"}).value > 0.5
try:
    dps.plan(people.lazy(), {"age": (0, 99)}, epsilon=1)
except dps.InputError as error:
    assert "collect a lazy frame first" in str(error)
else:
    raise AssertionError
"""


def test_polars_comes_in_and_goes_out(installed: Path, tmp_path: Path) -> None:
    fetched(run(installed / "python", "-m", "pip", "install", "--only-binary", ":all:", "polars", cwd=tmp_path))
    done = run(installed / "python", "-c", POLARS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_command_is_the_command_line_and_names_what_is_missing(installed: Path, tmp_path: Path) -> None:
    asked = ("--mechanism", "independent", "--workload", "all-2way", "--epsilon", "1", "--out", "out")
    done = run(installed / "dpsynth-studio", "synthesize", "demo", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/release.json").read_text(encoding="utf-8"))["rows"]["count"] > 40_000
    alone = run(installed / "dpsynth-studio", cwd=tmp_path)
    assert alone.returncode == 2
    assert 'pip install "dpsynth-studio[studio]"' in alone.stderr
    for module in added("tables_of_a_wheel"):
        table = module.write(tmp_path)
        read = run(installed / "dpsynth-studio", "domain", table.name, "--out", "domain.json", cwd=tmp_path)
        assert 'pip install "dpsynth-studio[formats]"' in read.stderr


def test_the_app_starts_from_the_wheel(installed: Path, wheel: Path, tmp_path: Path) -> None:
    done = run(installed / "python", "-m", "pip", "install", "--only-binary", ":all:", f"{wheel}[studio]", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    port = free_port()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "DPSYNTH_HOME": str(tmp_path / "home")}
    command = [str(installed / "dpsynth-studio"), "studio", "--no-browser", "--port", str(port)]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log) as server:
        try:
            assert answers(f"http://127.0.0.1:{port}/_stcore/health"), (tmp_path / "log").read_text()
        finally:
            server.terminate()
    assert "token" in (tmp_path / "log").read_text()  # our own settings were read, and our door is there


def answers(address: str) -> bool:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            time.sleep(0.2)
    return False
