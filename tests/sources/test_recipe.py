"""ARCHITECTURE.md says how to add a source: done here, in a copy of the project, and what is said to follow from it follows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.recipes import check_suite, copied, entry, run

FILE = "sources/saved_codes.py"
CODE = '''"""Records that lie in a NumPy file, as cells of the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain


def open_saved(section: Mapping[str, Any], domain: Domain, _person: str | None, _rows: int) -> CodesSource:
    return CodesSource(domain, np.load(section["path"], allow_pickle=False))


def columns(section: Mapping[str, Any]) -> pa.Schema:
    try:
        shape = np.load(section["path"], mmap_mode="r", allow_pickle=False).shape
    except (OSError, ValueError):
        raise InputError("data.path", "it is not a table of codes", "save one with numpy.save") from None
    return pa.schema([(name, pa.int32()) for name in "abc"[: shape[1]]])
'''
EXAMPLE = '''

def _saved_codes(folder: Path) -> Example:
    path = folder / "codes.npy"
    np.save(path, codes())
    return Example({"path": str(path), "kind": "saved codes"}, THREE, codes())


EXAMPLES["saved codes"] = _saved_codes
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with one kind of table more."""
    copy = copied(tmp_path_factory.mktemp("project"))
    core = copy / "dpsynth_core"
    # 1. one file
    (core / FILE).write_text(CODE, encoding="utf-8")
    # 2. the registry
    before, imported = "KINDS: Mapping[str, TableKind] = {\n", "from dpsynth_core.sources import saved_codes\n\n"
    ours = f'{imported}{before}    "saved codes": TableKind("codes", saved_codes.open_saved, saved_codes.columns),\n'
    entry(core / "sources" / "registry.py", (before, ours))
    # 3. an example for the suite
    examples = copy / "tests" / "sources" / "examples.py"
    examples.write_text(examples.read_text(encoding="utf-8") + EXAMPLE, encoding="utf-8")
    return copy


def test_the_suite_of_sources_asks_it_what_it_asks_of_all(project: Path) -> None:
    check_suite(project, "saved or every_kind_has", "tests/sources/test_registry.py")


def test_a_spec_that_names_it_runs_from_the_command_line(project: Path) -> None:
    np.save(project / "people.npy", np.array([[0, 1], [1, 0], [1, 1]] * 50, dtype=np.int32))
    spec = {
        "population": "people",
        "data": {"path": "people.npy", "kind": "saved codes"},
        "domain": {"a": 2, "b": 2},
        "workload": {"kind": "all", "k": 2},
        "budget": {"epsilon": 1.0, "delta": 1e-9},
    }
    (project / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    run(project, "dpsynth_core", "run", "spec.json", "--out", "out")
    release = json.loads((project / "out" / "release.json").read_text(encoding="utf-8"))
    assert release["spec"]["data"]["kind"] == "saved codes"
    assert release["rows"]["count"] > 0
