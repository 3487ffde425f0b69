"""The site of the documentation, as `make docs` builds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def built(place: Path) -> tuple[Path, str]:
    """The folder of the site, and what Sphinx had to say. A warning fails."""
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--conf-dir", "docs"]
    command += ["--doctree-dir", str(place / "doctrees"), ".", str(place / "site")]
    made = subprocess.run(command, cwd=ROOT, env={**os.environ, "LC_ALL": "C.UTF-8"}, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return place / "site", made.stderr
