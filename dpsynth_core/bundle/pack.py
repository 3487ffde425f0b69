"""What a bundle holds, and the ZIP of it: the same release gives the same bytes, so that its hash can be announced.

Everything goes through the gate of `zones`: a curator-only value anywhere, in the release or in a part, and nothing is packed.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

from dpsynth_core import report
from dpsynth_core.foundation import build
from dpsynth_core.foundation.errors import InputError, ZoneError
from dpsynth_core.foundation.zones import Zone, Zoned, combine, public, publishable, released
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release
from dpsynth_core.report.croissant import data_card

FORMAT = 1
MANIFEST, CARD, SCRIPT = "MANIFEST.json", "data_card.json", "reproduce.py"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_EPOCH = (1980, 1, 1, 0, 0, 0)

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


def pack(release: Release, further: Mapping[str, Zoned[bytes]] | None = None) -> bytes:
    """The bundle as a ZIP. further: more parts, by file name. Raises ZoneError for anything curator-only, before anything is packed."""
    return zipped(contents(release, further))


def contents(release: Release, further: Mapping[str, Zoned[bytes]] | None = None) -> dict[str, bytes]:
    """The files of the bundle by name, the manifest last."""
    _refuse_curator_only(release, "the release")
    parts = {name: released(content) for name, content in releases.files(release).items()} | report.parts(release)
    parts[SCRIPT] = public(_SCRIPT.encode())
    for name, part in (further or {}).items():
        if name in parts or name in (CARD, MANIFEST):
            raise ValueError(f"{name} is written by the release itself")
        parts[checked_name(name)] = part
    files = {name: publishable(part, name) for name, part in parts.items()}
    files[CARD] = publishable(combine(lambda judged: data_card(release, judged.headline, files), report.quality_of(release)), CARD)
    return files | {MANIFEST: manifest(files)}


def manifest(files: Mapping[str, bytes]) -> bytes:
    """SHA-256 and size of every file."""
    listed = {name: {"sha256": sha256(content).hexdigest(), "bytes": len(content)} for name, content in sorted(files.items())}
    return (json.dumps({"format": FORMAT, "made_by": f"dpsynth_core {build.identity()}", "files": listed}, indent=1) + "\n").encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A ZIP of the files, the report first, with fixed dates and permissions."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files, key=lambda name: (name != report.REPORT, "/" in name, name)):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.compress_type, info.external_attr = 3, zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, files[name])
    return out.getvalue()


def checked_name(name: str) -> str:
    """A plain relative file name. Raises InputError for anything that could lead elsewhere."""
    if not _NAME.fullmatch(name):
        raise InputError("bundle", f"{name[:80]!r} is not a plain file name", "use letters, digits, dot, dash and underscore")
    return name


def _refuse_curator_only(value: Any, what: str) -> None:
    """That nothing tagged curator-only is in any field, at any depth. Values of unknown types are refused when they are written."""
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
            _refuse_curator_only(part, what)
