"""What reads tables, documents and bundles of strangers, each as a function of bytes: for the corpus beside this file, and for
`python -m benchmarks fuzz`, which looks for bytes that break a promise."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dpsynth_core.bundle import unpack, verify
from dpsynth_core.claims.criteria.registry import read_criteria
from dpsynth_core.extensions import BUILT_IN
from dpsynth_core.foundation import confinement
from dpsynth_core.foundation.documents import decoded, parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document, spool
from dpsynth_core.sources import confined, reading_work
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.files import FileTable
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.codebook import parse_domain, pasted_domain
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import EXTENSIONS, listed
from tests.bundle.bundles import repacked

_PLACES = (Path(__file__).parent / "corpus", *(EXTENSIONS / name / "hostile" / "corpus" for name in BUILT_IN))
CORPUS = {folder.name: folder for place in _PLACES if place.exists() for folder in place.iterdir()}
"""By reader the folder of the files that fuzzing begins with."""
TABLES = (".csv", ".csv.gz", ".csv.zst", ".jsonl", ".parquet", ".feather", *listed("TABLES"))
LEAST_SECONDS, SECONDS_PER_MB = 2.0, 10.0
"""Of this process's processor time; what works in another one has limits of its own."""
_PAIR = workloads.all_kway(Domain.from_json({"age": 5, "sex": 2}), 2)
_TOO_MUCH = (MemoryError, RecursionError)
"""In a process with limits, what has its own sentence."""


def _table(ending: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{ending}")
        path.write_bytes(content)
        table = FileTable.of(path, default_format(path))
        table.check()
        table.described()
        for _ in table.batches(table.column_names()):
            pass


def _domain(content: bytes) -> None:
    for read in (parse_domain, pasted_domain):
        try:
            read(decoded(content, "domain"))
        except InputError:
            continue


def _spec(content: bytes) -> None:
    Plan.of(Spec.from_json(parse_json(decoded(content, "spec"), "spec")))


def _criteria(content: bytes) -> None:
    listed = parse_json(decoded(content, "criteria"), "criteria")
    if isinstance(listed, list):
        read_criteria(listed, _PAIR, True)


def _transcript(content: bytes) -> None:
    """As a run keeps it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        path.write_bytes(content)
        spool.read(path)


def _document(content: bytes) -> None:
    """A bundle whose release.json says this, and whose manifest says so."""
    _bundle(repacked(lambda held: held.update({document.DOCUMENT: content})))


def _bundle(content: bytes) -> None:
    try:
        verify.verify(unpack.read_bytes(content))
    except _TOO_MUCH:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {
    **{ending.removeprefix("."): partial(_table, ending) for ending in TABLES},
    **{"domain": _domain, "ddi": _domain, "spec": _spec, "criteria": _criteria, "transcript": _transcript},
    **{"document": _document, "bundle": _bundle},
}


@contextmanager
def unconfined() -> Iterator[None]:
    """What works in a process of its own works in this one: a hundred times as often, and a fuzzer sees which of our code it reaches. What
    fails then breaks no promise yet: C may do anything there."""

    @contextmanager
    def work(_kind: str, _mapped: int, _places: object, which: str, *arguments: Any) -> Iterator[Iterator[Any]]:
        answers = getattr(reading_work, which)(*arguments)
        yield (one if isinstance(one, bytes) else json.loads(json.dumps(one)) for one in answers)

    with patch.object(confined, "_work", work), patch.object(confinement, "limit_seconds", lambda _: None):
        yield


def broken(target: str, content: bytes) -> str:
    """Which promise these bytes break; "" for none."""
    began = time.process_time()
    try:
        TARGETS[target](content)
    except InputError:
        pass
    except Exception as error:  # noqa: BLE001 (what is promised is an answer, or an InputError)
        return f"{type(error).__name__}: {str(error)[:200]}"
    took, most = time.process_time() - began, max(LEAST_SECONDS, SECONDS_PER_MB * len(content) / 1e6)
    return f"it takes {took:.1f} s of processor time for {len(content):,} bytes" if took > most else ""
