"""ARCHITECTURE.md says how to add a kind of file: done here in a copy of the project, by an extension of one folder."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from tests.recipes import copied, entry, run

MANIFEST = '''"""Files of ORC."""

from dpsynth_core.foundation.extension import Deferred, Extension, FileKind, RowFormat

EXTENSION = Extension(
    summary="Files of ORC.",
    file_kinds=(
        FileKind(
            "orc",
            title="ORC",
            label="ORC",
            endings=(".orc",),
            reader="dpsynth_core.extensions.orc_files.orc_file",
            begins=rb"ORC(?:$|.*[\\x00-\\x08])",
            declares="types",
            in_stores=False,
        ),
    ),
    row_formats=(
        RowFormat("orc", ".orc", "application/orc", "ORC", "For Hive.", Deferred("dpsynth_core.extensions.orc_files.orc_file:write")),
    ),
)
'''
READER = '''"""Files of ORC as record batches."""

from pyarrow import orc

from dpsynth_core.release.rows import as_table


def names(path, _form):
    return tuple(orc.ORCFile(str(path)).schema.names)


def schema(path, _form):
    return orc.ORCFile(str(path)).schema


def batches(path, _form, columns, rows):
    table = orc.ORCFile(str(path)).read(columns=list(columns))
    yield from table.select(list(columns)).to_batches(rows)


def write(rows, _domain, stream, _about):
    orc.write_table(as_table(rows), stream)
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with one extension more."""
    copy = copied(tmp_path_factory.mktemp("project"))
    extensions = copy / "dpsynth_core" / "extensions"
    (extensions / "orc_files").mkdir()
    (extensions / "orc_files" / "__init__.py").write_text(MANIFEST, encoding="utf-8")
    (extensions / "orc_files" / "orc_file.py").write_text(READER, encoding="utf-8")
    entry(extensions / "__init__.py", ("BUILT_IN: tuple[str, ...] = (", 'BUILT_IN: tuple[str, ...] = ("orc_files",'))
    orc.write_table(pa.table({"age": [1, 2, 3, 4] * 50, "sex": ["f", "m"] * 100}), copy / "people.orc")
    return copy


def test_its_files_are_known_by_ending_and_beginning_and_become_rows_of_the_same_kind(project: Path) -> None:
    columns = [{"name": "age", "kind": "integer", "lower": 0, "upper": 9}, {"name": "sex", "kind": "categorical", "categories": ["f", "m"]}]
    (project / "domain.json").write_text(json.dumps({"version": 1, "attributes": columns}), encoding="utf-8")
    (project / "people").write_bytes((project / "people.orc").read_bytes())
    for name in ("people.orc", "people"):
        asked = ("--domain", "domain.json", "--epsilon", "1", "--workload", "all-2way", "--format", "csv,orc")
        run(project, "dpsynth_core", "synthesize", name, *asked, "--out", f"out-{name}")
        release = json.loads((project / f"out-{name}" / "release.json").read_text(encoding="utf-8"))
        assert release["spec"]["data"]["kind"] == "orc"
        assert orc.read_table(project / f"out-{name}" / "synthetic.orc").num_rows == release["rows"]["count"] > 0
