"""Tables in object stores: read as they are from disk, from a real server that speaks S3; credentials stay where they belong."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer

from dpsynth_core.cli import command_line
from dpsynth_core.foundation import confined
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import DataSpec, Spec, load_spec
from dpsynth_core.sources import locations, opening
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import table_files
from dpsynth_core.sources.locations import Remote, located
from dpsynth_core.sources.parts import Sizes
from dpsynth_core.store import fingerprints
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import listed
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 3, "b": 4})
MANY = Sizes(bytes=700, rows=80, divided=0)
RNG = np.random.default_rng(0)
PEOPLE = pa.table({"a": RNG.integers(0, 3, 200), "b": RNG.integers(0, 4, 200), "who": RNG.integers(0, 60, 200)})
SECRETS = ("s3://key:secret@people/t.csv", "s3://people/t.csv?access_key=key&secret_key=secret", "gs://secret@people/t.csv")


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A bucket of a server in this process: one table in every format, and in folders."""
    folder = tmp_path_factory.mktemp("tables")
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = f"127.0.0.1:{server.get_host_and_port()[1]}"
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{address}",
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "canary-key",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            environment.setenv(name, value)
        environment.setattr(confined, "_STARTER", confined._Starter())  # one that knows of the server
        locations._store.cache_clear()
        locations._opened.cache_clear()
        store = pafs.S3FileSystem(endpoint_override=address, scheme="http", allow_bucket_creation=True)
        store.create_dir("people")
        for key, content in written(folder).items():
            with store.open_output_stream(f"people/{key}", compression=None) as stream:
                stream.write(content)
        yield "s3://people"
    server.stop()
    locations._store.cache_clear()
    locations._opened.cache_clear()


def written(folder: Path) -> dict[str, bytes]:
    """Names of objects with what they hold."""
    csv = PEOPLE.to_pandas().to_csv(index=False).encode()
    lines = "".join(json.dumps(row) + "\n" for row in PEOPLE.to_pylist()).encode()
    pq.write_table(PEOPLE, folder / "t.parquet", row_group_size=20)
    feather.write_feather(PEOPLE, folder / "t.feather")
    with pa.output_stream(folder / "t.csv.gz", compression="gzip") as stream:
        stream.write(csv)
    single = {name: (folder / name).read_bytes() for name in ("t.parquet", "t.feather", "t.csv.gz")}
    halves = {f"folder/part {i}.csv": PEOPLE.slice(100 * i, 100).to_pandas().to_csv(index=False).encode() for i in (0, 1)}
    pq.write_table(PEOPLE.drop_columns(["a"]).filter(pa.array(PEOPLE["a"].to_numpy() == 1)), folder / "one.parquet")
    hive = {"hive/a=1/x.parquet": (folder / "one.parquet").read_bytes(), "hive/_hidden/x.csv": b"no\n"}
    others = {f"book{ending}": b"PK" for ending in listed("ONLY_HERE")}
    return {"t.csv": csv, "t.jsonl": lines, "empty.csv": b"", **others, **single, **halves, **hive}


@pytest.fixture(scope="module")
def expected() -> Any:
    return ArrowSource(DOMAIN, PEOPLE.to_pandas(), person_column="who", max_rows_per_person=2).counts([("a", "b")])[("a", "b")]


NAMES = ["t.csv", "t.csv.gz", "t.jsonl", "t.parquet", "t.feather", "folder", "folder/"]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_in_a_store_counts_as_on_disk(bucket: str, expected: np.ndarray, name: str) -> None:
    uri = f"{bucket}/{name}"
    form = default_format(uri)
    opening.opened(uri, form).check()
    counts = ArrowSource(DOMAIN, uri, form, "who", 2, MANY).counts([("a", "b")])
    assert np.array_equal(counts[("a", "b")], expected)


def test_names_of_folders_are_columns_there_too(bucket: str) -> None:
    source = ArrowSource(DOMAIN, f"{bucket}/hive", TableFormat("parquet"))
    counts = source.counts([("a",)])[("a",)]
    assert counts.tolist() == [0, int((PEOPLE["a"].to_numpy() == 1).sum()), 0]
    assert [str(file) for file in table_files(f"{bucket}/hive")] == [f"{bucket}/hive/a%3D1/x.parquet"]


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("s3://people/nothing.csv", "there is no such file or folder"),
        ("s3://people/empty.csv", "the file is empty"),
        *((f"s3://people/book{ending}", "files of this kind are read from this machine only") for ending in listed("ONLY_HERE")),
        ("tape://people/t.csv", "this is not the address of a known object store"),
    ],
)
@pytest.mark.usefixtures("bucket")
def test_what_is_not_there_is_a_sentence(uri: str, problem: str) -> None:
    refused(table_files, uri, saying=problem)


@pytest.mark.parametrize("uri", SECRETS)
def test_credentials_in_an_address_are_refused_and_repeated_nowhere(uri: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    error = refused(located, uri, saying="holds a user name, a password or a key")
    with pytest.raises(InputError) as in_spec:
        Spec.from_json({"population": "p", "data": {"path": uri}, "domain": {"a": 2}, "workload": {}, "budget": {"epsilon": 1, "delta": 0}})
    assert in_spec.value.field == "data.path"
    out = ["--domain", str(tmp_path / "d.json"), "--epsilon", "1", "--out", str(tmp_path / "out")]
    assert command_line.main(["synthesize", uri, *out]) != 0
    said = capsys.readouterr()
    assert "secret" not in f"{error}{in_spec.value}{said.out}{said.err}"


def test_a_release_of_a_table_in_a_store_names_the_base_name_alone(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    (tmp_path / "domain.json").write_text('{"a": 3, "b": 4}')
    wanted = ["--domain", str(tmp_path / "domain.json"), "--workload", "all-2way", "--mechanism", "independent", "--epsilon", "1"]
    assert command_line.main(["synthesize", f"{bucket}/t.parquet", *wanted, "--population", "p", "--out", str(tmp_path / "out")]) == 0
    released = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert json.loads((tmp_path / "out" / "release.json").read_bytes())["spec"]["data"] == {"path": "t.parquet", "kind": "parquet"}
    assert b"s3://" not in released
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"canary-key" not in kept


def test_the_same_content_has_the_same_fingerprint_wherever_it_is(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    (tmp_path / "copy.csv").write_bytes(written(tmp_path)["t.csv"])
    there, here = (fingerprints.of_data(DataSpec(path=path)) for path in (f"{bucket}/t.csv", str(tmp_path / "copy.csv")))
    assert there == here
    assert fingerprints.of_data(DataSpec(path=f"{bucket}/folder")) != here


def test_an_address_in_a_spec_is_not_taken_for_a_relative_path(tmp_path: Path) -> None:
    spec = {"population": "p", "data": {"path": "s3://people/t.csv?region=eu-west-1"}, "domain": {"a": 2}, "workload": {}}
    (tmp_path / "spec.json").write_text(json.dumps(spec | {"budget": {"epsilon": 1, "delta": 0}}))
    loaded = load_spec(tmp_path / "spec.json")
    assert loaded.data.path == "s3://people/t.csv?region=eu-west-1"
    assert loaded.published()["data"]["path"] == "t.csv"


def test_a_location_is_a_path_or_remote(tmp_path: Path) -> None:
    assert located(f"file://{tmp_path}/a%20b.csv") == tmp_path / "a b.csv"
    assert located("a.csv") == Path("a.csv")
    assert isinstance(located("abfs://container@account.dfs.core.windows.net/t.csv"), Remote)
