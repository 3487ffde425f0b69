"""Identity of the running program: its version and a hash of its sources, because two checkouts can have the same version.

Every file of the package counts that numbers and published files follow from, data as well as code; a word on a page of the app does not.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

import dpsynth_core

KINDS = (".py", ".html", ".css", ".js", ".json", ".txt")
"""Endings of the package's own files; editors and Python make others."""

BESIDE = ("charts", "cli", "interface", "studio", "web")
"""Rooms that present results of other rooms, and the wheel's copy of the app (`places`)."""


@cache
def identity() -> str:
    """Return the version and the first 8 hexadecimal digits of a hash of the sources, such as 0.1.0+3f2a9c01.

    All files of the package count but those that present results, such as charts, pages and the command line
    (`BESIDE`). Equal sources have the same identity, wherever they are installed. The sources are read at the first
    call.
    """
    package, digest = Path(dpsynth_core.__file__).parent, sha256()
    for path in sorted(package.rglob("*"), key=lambda path: path.relative_to(package).as_posix()):
        if path.suffix in KINDS and path.relative_to(package).parts[0] not in BESIDE:
            digest.update(f"{path.relative_to(package).as_posix()}\0".encode() + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return f"{dpsynth_core.__version__}+{digest.hexdigest()[:8]}"
