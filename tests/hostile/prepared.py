"""What several cases start from, made once in a process: a release as a bundle, its spool, and a home with books."""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path
from unittest.mock import patch

from dpsynth_core import cli
from dpsynth_core.release.spool import Spool
from tests.hostile import people


@cache
def _made() -> Path:
    """A folder with a home, a bundle, and what the run kept until it was complete."""
    place = Path(tempfile.mkdtemp(prefix="hostile-prepared-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    people.write(random.Random(1), place)
    spec = people.spec() | {"mechanism": {"name": "aim"}, "workload": {"kind": "all", "k": 2}}
    (place / "spec.json").write_text(json.dumps(spec))
    before = Path.cwd()

    def keep(spool: Spool) -> None:
        shutil.copy(spool.path, place / "kept")
        discard(spool)

    discard = Spool.discard
    with patch.dict(os.environ, {"DPSYNTH_HOME": str(place / "home")}), patch.object(Spool, "discard", keep):
        os.chdir(place)
        try:
            assert cli.main(["run", "spec.json", "--out", "out", "--population", "people"]) == 0
            from dpsynth_core.store import auditing, chain

            (place / "home" / "export.json").write_text(auditing.to_json(chain.entries()))
        finally:
            os.chdir(before)
    return place


def bundle() -> bytes:
    return (_made() / "out" / "release.zip").read_bytes()


def spool() -> list[str]:
    """Its lines, without their checksums; charged to nobody."""
    first, *others = (line.partition("\t")[0] for line in (_made() / "kept").read_text().splitlines())
    return [json.dumps(json.loads(first) | {"run": ""}), *others]


def home_with_books() -> Path:
    """With one release charged, and `export.json` of its ledger."""
    return _made() / "home"
