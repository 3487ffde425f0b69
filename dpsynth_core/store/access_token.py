"""The token that admits the person who runs the wizard.

It is random and lies beside what it protects, in a file that only its owner can read. It stays the
same when the server starts again: a restart must not close the tabs that are open, and a new token
would protect nothing, because an account that can read this file can read the tables beside it. To
make the old one worthless, delete the file and start the server again.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import made_once
from dpsynth_core.store import home

NAME = "token"
DIGITS = 48
"""Hexadecimal: 192 random bits, which cannot be guessed, and one double click selects them."""
_OTHERS = 0o077
_REMEDY = "delete the file and start again; a new token is made"


def place() -> Path:
    """Return the path of the file `token` in this data directory, whether it exists or not."""
    return home.home() / NAME


def load() -> str:
    """Return the token of this data directory, 48 hexadecimal digits; the first call makes its file.

    Raises:
        InputError: Other accounts of this machine can read the file, or it holds something else than a token.
        OSError: The file cannot be written or read.
    """
    path = place()
    if not path.exists():
        with made_once(path) as candidate:
            candidate.write_text(secrets.token_hex(DIGITS // 2), encoding="ascii")
    if path.stat().st_mode & _OTHERS:
        raise InputError(NAME, f"the file {path} is open to other accounts of this machine", _REMEDY)
    text = path.read_bytes()[: DIGITS + 2].decode("latin-1").strip()
    if not re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", text):
        raise InputError(NAME, f"the file {path} does not hold a token", _REMEDY)
    return text
