"""The quickstarts of docs/databases.md work as they are typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests import postgres

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "databases.md").read_text(encoding="utf-8")


def commands(title: str) -> str:
    match = re.search(rf"^## {title}\n.*?```sh\n(.*?)```", TEXT, flags=re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


@pytest.mark.parametrize("title", ["DuckDB", "PostgreSQL"])
def test_commands_make_releases(title: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if title == "PostgreSQL":
        server = urlsplit(postgres.address())
        environment |= {"PGHOST": unquote(server.netloc.partition("@")[2]), "PGUSER": "tester", "PGDATABASE": "postgres"}
        domain = next(line for line in commands("DuckDB").splitlines() if line.startswith("echo"))
        subprocess.run(["sh", "-e", "-c", domain], check=True, cwd=tmp_path)
    subprocess.run(["sh", "-e", "-c", commands(title)], check=True, cwd=tmp_path, env=environment, capture_output=True)
    for name in re.findall(r"--out (\S+)", commands(title)):
        assert (tmp_path / name / "synthetic.csv").is_file()
