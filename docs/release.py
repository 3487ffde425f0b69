"""Makes what is published of a version: `python -m docs.release`, or `make release`, in build/release.

    the wheel          with `make wheel`
    sbom.cdx.json      what a whole installation consists of: the lock file, as CycloneDX 1.6
    SHA256SUMS         of both

It refuses a version whose changes are not written down, and files that were changed since the last commit. Then it says what is left to
do by a person: to tag, to build the image, to publish.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "release"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+?))?(?: \\)?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def version() -> str:
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "dpsynth_core" / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def problems(number: str, changelog: str, changed: str) -> Iterator[str]:
    """Why a version cannot be released, in sentences. changed: what `git status --porcelain` says."""
    heading = re.search(rf"^## {re.escape(number)}(?![\w.])(.*)$", changelog, re.MULTILINE)
    if heading is None:
        yield f"CHANGELOG.md has no section {number!r}: write down what users notice."
    elif not re.fullmatch(r" \(\d{4}-\d{2}-\d{2}\)", heading[1]):
        yield f"CHANGELOG.md has {heading[0]!r}: put the date there, as in '## {number} (2026-12-31)'."
    if changed.strip():
        yield "There are changes that are not committed: commit them, or put them aside."


def sbom(number: str, lock: str, made: str) -> dict[str, Any]:
    """CycloneDX 1.6 of the program and of every package that its lock file pins. made: when, as an ISO time."""
    components = list[dict[str, Any]]()
    for block in re.split(r"\n(?=[A-Za-z0-9])", lock):
        if (pinned := _PIN.match(block.partition("\n")[0])) is None:
            continue
        name, which, marker = pinned.groups()
        reference = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{which}"
        about = [{"name": "marker", "value": marker}] if marker else []
        page = f"https://pypi.org/project/{name}/{which}/"
        hashes = ([{"alg": "SHA-256", "content": content}] for content in _HASH.findall(block))  # of one file for each platform
        files = [{"type": "distribution", "url": page, "hashes": one} for one in hashes]
        library = {"type": "library", "name": name, "version": which, "purl": reference, "bom-ref": reference, "externalReferences": files}
        components.append(library | ({"properties": about} if about else {}))
    ours = f"pkg:pypi/dpsynth-studio@{number}"
    program = {"type": "application", "name": "dpsynth-studio", "version": number, "purl": ours, "bom-ref": ours}
    licence = {"licenses": [{"license": {"id": "Apache-2.0"}}]}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": made, "component": program | licence},
        "components": components,
        "dependencies": [{"ref": ours, "dependsOn": [component["bom-ref"] for component in components]}],
    }


def sums(files: list[Path]) -> str:
    """As `sha256sum --check` reads them."""
    return "".join(f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(files))


def main() -> int:
    number, changelog = version(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if found := [*problems(number, changelog, _git("status", "--porcelain"))]:
        print(*found, sep="\n", file=sys.stderr)
        return 1
    commit, made = _git("rev-parse", "HEAD").strip(), datetime.now(UTC).isoformat(timespec="seconds")
    subprocess.run(["make", "wheel"], cwd=ROOT, check=True)
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    shutil.copy(wheel, PLACE)
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (PLACE / "sbom.cdx.json").write_text(json.dumps(sbom(number, lock, made), indent=1) + "\n", encoding="utf-8")
    (PLACE / "SHA256SUMS").write_text(sums([*PLACE.iterdir()]), encoding="utf-8")
    image = f"docker build --build-arg VERSION={number} --build-arg REVISION={commit} --tag dpsynth-studio:{number} ."
    print(f"In {PLACE.relative_to(ROOT)}:", *(f"  {file.name}" for file in sorted(PLACE.iterdir())), sep="\n")
    left = f"git tag --sign v{number} {commit}", f"git push origin v{number}", image, "publish the files, and the image by its digest"
    print("What is left, after `make test-all` has passed:", *(f"  {one}" for one in left), sep="\n")
    return 0


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
