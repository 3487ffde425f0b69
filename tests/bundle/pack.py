"""Bundles as bytes, which tests can change: what `dpsynth_core.bundle.pack` writes into streams."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dpsynth_core.bundle import pack as packing
from dpsynth_core.bundle.pack import CARD, MANIFEST
from dpsynth_core.bundle.signature import SIGNATURE
from dpsynth_core.foundation.content import Writer, in_memory
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release

__all__ = ["CARD", "MANIFEST", "contents", "manifest", "pack", "sealed", "written", "zipped"]


def written(write: Writer) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def pack(release: Release) -> bytes:
    return written(lambda stream: packing.pack(release, stream, Path(tempfile.gettempdir())))


def contents(release: Release) -> dict[str, bytes]:
    """All files of the bundle, the manifest last."""
    rows = {name: written(write) for name, write in releases.row_writers(release).items()}
    return rows | packing.contents(release, {name: in_memory(content).digest for name, content in rows.items()})


def manifest(files: Mapping[str, bytes]) -> bytes:
    return packing.manifest({name: in_memory(content).digest for name, content in files.items()})


def zipped(files: Mapping[str, bytes]) -> bytes:
    return written(lambda stream: packing.zipped({name: in_memory(content) for name, content in files.items()}, stream))


def sealed(files: Mapping[str, bytes]) -> bytes:
    """The bundle of these files, with a manifest that agrees with them and without a signature, as a careful forger would write it."""
    covered = {name: content for name, content in files.items() if name not in (MANIFEST, SIGNATURE)}
    return zipped(covered | {MANIFEST: manifest(covered)})
