"""The one directory that holds everything the tool keeps.

It has the database, the head of the ledger, the key of the fingerprints, uploads and run results.

How files are written there is in `private_files`. This module knows nothing of what is inside them.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from dpsynth_core.foundation.documents import check_path
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import private_directory

LOCAL_OWNER = "local"
"""The owner of everything without sign-in: the single user of this machine, in the app and on the command line."""


def home() -> Path:
    """Return the directory DPSYNTH_HOME, or ~/.dpsynth, created if needed.

    Raises:
        InputError: It cannot be created.
    """
    configured = os.environ.get("DPSYNTH_HOME")
    if configured:
        check_path(configured, "DPSYNTH_HOME")
    root = Path(configured).expanduser() if configured else Path.home() / ".dpsynth"
    try:
        return private_directory(root)
    except OSError as error:
        raise InputError("DPSYNTH_HOME", "the directory cannot be created", "name a directory that you may write to") from error


def key_file() -> Path:
    """Return the path of the secret key of the fingerprints."""
    return home() / "fingerprint.key"


def now() -> str:
    """Return the current time as the store writes it: UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
