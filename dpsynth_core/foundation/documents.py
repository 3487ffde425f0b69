"""Reads text documents that a user names: domains, workloads, specs. Only regular files, because a pipe or device may never end."""

from __future__ import annotations

from pathlib import Path

from dpsynth_core.foundation.errors import InputError

MAX_BYTES = 100_000_000


def read_document(path: Path, field: str) -> str:
    """The text of a UTF-8 file of at most MAX_BYTES, for messages called `field`. Raises InputError."""
    try:
        if not path.is_file():
            raise FileNotFoundError
        if path.stat().st_size > MAX_BYTES:
            raise InputError(field, f"the file has more than {MAX_BYTES / 1e6:,.0f} MB", "is it the right file?")
        return path.read_text(encoding="utf-8-sig")
    except OSError:
        raise InputError(field, f"the file {str(path)[:200]!r} cannot be read", "check its path and permissions") from None
    except UnicodeDecodeError:
        raise InputError(field, "the file is not UTF-8 text", "save it as UTF-8") from None
