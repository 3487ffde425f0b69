"""Packing of a release into a ZIP. The same release gives the same bytes, so that its hash can be announced.

Everything passes the gate of `zones`: if the release or a part holds a curator-only value, nothing is packed.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from dpsynth_core import report
from dpsynth_core.foundation import build, extension
from dpsynth_core.foundation.content import PART_BYTES, Content, Digest, in_memory, stored, written_aside
from dpsynth_core.foundation.errors import InputError, ZoneError
from dpsynth_core.foundation.zones import Zone, Zoned, combine, public, publishable, released
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release
from dpsynth_core.report.croissant import data_card

if TYPE_CHECKING:
    from dpsynth_core.bundle.signature import Signer

FORMAT = 1
MANIFEST, CARD, SCRIPT = "MANIFEST.json", "data_card.json", "reproduce.py"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PLAIN = frozenset({str, int, float, bool, type(None), np.ndarray})
LARGE, FAST = 1_000_000, 4
"""Bytes above which a file is packed at zlib level FAST: in a fifth of the time, a twentieth to an eighth larger."""

_SCRIPT = '''"""Make the synthetic rows again from the noisy answers in release.json; no private data are needed, and no network.

    python reproduce.py DIR        (with DPSynth Studio's folder as the current one or in PYTHONPATH, and its requirements installed)

The same versions (release.json, "versions") on the same kind of processor give the same file, byte for byte.
"""

import sys
from pathlib import Path

try:
    from dpsynth_core.cli import main
except ImportError as error:
    sys.exit(f"{error}: run this from the folder of DPSynth Studio, or set PYTHONPATH to it")

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(["reproduce", str(Path(__file__).resolve().parent), "--out", sys.argv[1]]))
'''


def pack(release: Release, stream: BinaryIO, folder: Path, written: Mapping[str, Path] | None = None, signer: Signer | None = None) -> None:
    """Write the bundle of a release as a ZIP.

    Args:
        release: The release.
        stream: Receives the ZIP; it stays open.
        folder: A folder on a disk with room for the rows. They are written there to unnamed
            temporary files first, because the manifest with their hashes comes before them in the
            ZIP.
        written: Paths of files that exist already (release.json and files of rows), by their names
            in the bundle. They are read instead of written again. None if no file exists.
        signer: Signer of the installation that made the release; None leaves the bundle unsigned.

    Raises:
        ZoneError: The release or a part of the bundle holds a curator-only value; nothing was written to the stream.
        OSError: The disk is full, or a file or the stream cannot be read or written; the ZIP may be incomplete.
    """
    _refuse_curator_only(release, "the release")
    with ExitStack() as asides:
        rows = {name: stored(path) for name, path in (written or {}).items()}
        document = rows.pop(releases.DOCUMENT).read() if releases.DOCUMENT in rows else None
        for name, write in releases.row_writers(release).items():
            if name not in rows:
                rows[name] = asides.enter_context(written_aside(write, folder))
        parts = _contents(release, {name: content.digest for name, content in rows.items()}, document)
        if signer is not None:
            from dpsynth_core.bundle.signature import SIGNATURE, signed  # loaded where a ledger was charged alone

            parts[SIGNATURE] = signed(signer, parts[MANIFEST], release.spec.digest(), release.ledger)
        zipped(rows | {name: in_memory(content) for name, content in parts.items()}, stream)


def contents(release: Release, rows: Mapping[str, Digest]) -> dict[str, bytes]:
    """Return the contents of the bundle's files by name, without the files of rows and a signature; the manifest is last.

    Args:
        release: The release.
        rows: Size and SHA-256 of each file of rows, by name, which the manifest lists too.

    Raises:
        ZoneError: The release or a part of the bundle holds a curator-only value.
    """
    _refuse_curator_only(release, "the release")
    return _contents(release, rows)


def _contents(release: Release, rows: Mapping[str, Digest], document: bytes | None = None) -> dict[str, bytes]:
    """Return the contents of the bundle's files by name, without the files of rows.

    `document` is release.json if it was written before; otherwise it is written.
    """
    parts = {releases.DOCUMENT: released(document or releases.document(release))} | report.parts(release)
    parts[SCRIPT] = public(_SCRIPT.encode())
    files = {name: publishable(part, name) for name, part in parts.items()}
    files[CARD] = publishable(combine(lambda judged: data_card(release, judged.headline, rows), report.quality_of(release)), CARD)
    for path in (one.files for one in extension.asked(release.spec.extensions) if one.files):
        files |= {name: publishable(part, name) for name, part in extension.load(path)(release, rows).items()}
    return files | {MANIFEST: manifest({**rows, **{name: in_memory(content).digest for name, content in files.items()}})}


def manifest(files: Mapping[str, Digest]) -> bytes:
    """Return the content of MANIFEST.json, which lists size in bytes and SHA-256 of the files, sorted by name.

    Args:
        files: Size and SHA-256 of each file, by name.
    """
    listed = {name: {"sha256": digest.sha256, "bytes": digest.size} for name, digest in sorted(files.items())}
    return (json.dumps({"format": FORMAT, "made_by": f"dpsynth_core {build.identity()}", "files": listed}, indent=1) + "\n").encode()


def zipped(files: Mapping[str, Content], stream: BinaryIO) -> None:
    """Write a ZIP of the files, with the report first, and with fixed dates and permissions.

    It uses the ZIP64 form only for files that need it.

    Args:
        files: Contents of the files, by name.
        stream: Receives the ZIP; it stays open.

    Raises:
        OSError: The stream cannot be written, or a file not read; the ZIP is then incomplete.
    """
    archive = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED)
    try:
        for name in sorted(files, key=lambda name: (name != report.REPORT, "/" in name, name)):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.compress_type, info.external_attr = 3, zipfile.ZIP_DEFLATED, 0o644 << 16
            info.file_size = files[name].digest.size
            info._compresslevel = FAST if info.file_size > LARGE else None  # type: ignore[attr-defined]  # Python has no other way
            with files[name].open() as source, archive.open(info, "w") as target:
                shutil.copyfileobj(source, target, PART_BYTES)
        archive.close()
    except BaseException:
        archive.fp = None  # else it would write its end, now or when it is collected, and say of that why it cannot
        raise


def checked_name(name: str) -> str:
    """Return the name unchanged if it is a plain relative file name.

    Raises:
        InputError: It has other characters than ASCII letters, digits, dots, dashes, underscores and slashes, or a part
            between slashes that does not begin with a letter or digit, such as "..", which would lead outside of the
            bundle.
    """
    if not _NAME.fullmatch(name):
        raise InputError("bundle", f"{name[:80]!r} is not a plain file name", "use letters, digits, dot, dash and underscore")
    return name


def _refuse_curator_only(value: Any, what: str) -> None:
    """Raise ZoneError if a value holds a curator-only value at any depth.

    Values of unknown types are not searched: writing them fails later.

    Args:
        value: A dataclass, a mapping, a sequence or a set, nested in any way.
        what: The name of the value in the error.
    """
    if type(value) in _PLAIN:
        return
    if isinstance(value, Zoned):
        if value.zone is Zone.CURATOR:
            raise ZoneError(f"{what} is curator-only and cannot be part of a release")
        _refuse_curator_only(value.value, what)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _refuse_curator_only(getattr(value, field.name), field.name)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            _refuse_curator_only(key, what)
            _refuse_curator_only(part, what)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            if type(part) not in _PLAIN:  # as most are
                _refuse_curator_only(part, what)
