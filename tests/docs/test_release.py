"""A release by one command: what it refuses, and what it writes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import dpsynth_core
from docs import release

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changelog", "changed", "said"),
    [
        ("# Changes\n\n## 1.2.3 (2026-12-31)\n", "", None),
        ("# Changes\n\n## 1.2.3 (unreleased)\n", "", "put the date there"),
        ("# Changes\n\n## 1.2.30 (2026-12-31)\n\n## 1x2.3 (2026-12-31)\n", "", "no section '1.2.3'"),
        ("# Changes\n\n## 1.2.3 (2026-12-31)\n", " M README.md\n", "not committed"),
    ],
)
def test_a_version_is_released_with_its_changes_written_down_and_committed(changelog: str, changed: str, said: str | None) -> None:
    found = [*release.problems("1.2.3", changelog, changed)]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_the_bill_of_materials_names_every_package_of_the_lock_with_its_files() -> None:
    made = release.sbom("1.2.3", LOCK, "2026-12-31T00:00:00+00:00")
    pinned = dict(re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\\n]+)", LOCK, flags=re.MULTILINE))
    assert {one["name"]: one["version"] for one in made["components"]} == pinned
    assert len(pinned) > 60
    hashes = [one["content"] for component in made["components"] for file in component["externalReferences"] for one in file["hashes"]]
    assert len(hashes) == LOCK.count("--hash=sha256:")
    assert all(component["externalReferences"] for component in made["components"])
    references = [component["bom-ref"] for component in made["components"]]
    assert len(set(references)) == len(references) == len(made["dependencies"][0]["dependsOn"])
    assert "pkg:pypi/opt-einsum@" in " ".join(references)
    assert made["metadata"]["component"]["version"] == "1.2.3"


def test_the_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    for name in ("b.whl", "a.json"):
        (tmp_path / name).write_text(name)
    (tmp_path / "SHA256SUMS").write_text(release.sums([*tmp_path.iterdir()]))
    assert subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "b.whl").write_text("other")
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_the_version_is_the_one_of_the_package() -> None:
    assert release.version() == dpsynth_core.__version__


def test_the_image_says_what_it_is() -> None:
    named = re.findall(r"org\.opencontainers\.image\.(\w+)=", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert set(named) == {"description", "licenses", "revision", "title", "version"}
