"""A release of four simulated columns with a rule, made once for all tests here, and bundles that were tampered with."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from dpsynth_core.bundle import unpack, verdicts, verify
from dpsynth_core.bundle.reproduce import replayed
from dpsynth_core.foundation.content import Content
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import tables
from dpsynth_core.release.release import Release
from tests.bundle import pack
from tests.releases import run
from tests.specs import usual

DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": False},
        {"name": "health", "kind": "categorical", "categories": ["good"], "other": True, "missing": True},
        {"name": "marital_status", "kind": "categorical", "categories": ["single", "married", "widowed"], "other": True, "missing": False},
    ],
    "impossible": [{"never": {"age": ["0 to 19"], "marital_status": ["widowed"]}, "note": "nobody that young"}],
}


def spec(**fields: Any) -> Spec:
    return Spec.from_json(
        usual(
            {"kind": "demo"},
            DOMAIN,
            budget={"epsilon": 2.0, "delta": 1e-9, "certificate": 0.1},
            mechanism="aim",
            name="Trial",
            output={"rows": 400},
        )
        | fields
    )


@cache
def made() -> Release:
    return run(spec())


@cache
def packed() -> bytes:
    return pack.pack(made())


def verified(bundle: bytes, public: Path | None = None, on_check: Callable[[verdicts.Running], None] = lambda _: None) -> verdicts.Report:
    """What `confined.verified` says, without its processes."""
    on_check(verdicts.Running(verdicts.REPLAYED, 1, 1))
    read = unpack.read_bytes(bundle)
    report = verify.verify(read)
    if report.verdict == verdicts.INCONSISTENT:
        return report
    needed = {name: content for name, content in read.files.items() if name == "release.json" or tables.is_name(name)}
    first = {name: read.files[name] for name in (tables.FIRST,) if name in read.files}
    return report.replayed(_again(tuple(sorted((needed | first).items())), public))


@cache
def _again(needed: tuple[tuple[str, Content], ...], public: Path | None) -> verdicts.Check:
    """The mechanism runs once for bundles that differ in other files alone than release.json and the tables of rows."""
    files = dict(needed)
    return replayed(unpack.Bundle(files, json.loads(files["release.json"].read()), ""), public)


def at(*path: str | int, by: float | None = None, to: object = None) -> Callable[[Any], None]:
    """A change of one entry of a document: a number by a factor, or to something else, which may be a function of what it was."""

    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        was = document[path[-1]]
        document[path[-1]] = was * by if by is not None else to(was) if callable(to) else to

    return change


def failed(bundle: bytes, public: Path | None = None) -> list[str]:
    return [check.question for check in verified(bundle, public).checks if check.verdict == verdicts.FAILED]


def files(bundle: bytes | None = None) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(packed() if bundle is None else bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def unpacked(folder: Path) -> Path:
    for name, content in files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def repacked(change: Callable[[dict[str, bytes]], None], manifest: bool = True) -> bytes:
    """The bundle after a change of its files; with a manifest that says so."""
    held = files()
    change(held)
    return pack.sealed(held) if manifest else pack.zipped(held)


def edited(change: Callable[[dict[str, Any]], None], manifest: bool = True) -> bytes:
    """The bundle after a change of release.json."""

    def apply(held: dict[str, bytes]) -> None:
        document = json.loads(held["release.json"])
        change(document)
        held["release.json"] = json.dumps(document).encode()

    return repacked(apply, manifest)


def stating(release: Release, **changes: Any) -> Release:
    """The release with other claims, by name, and other fields."""
    claims = {name: changes.pop(name) for name in release.claims if name in changes}
    return replace(release, claims={**release.claims, **claims}, **changes)
