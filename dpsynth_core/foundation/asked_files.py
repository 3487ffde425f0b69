"""Files at paths that a person named: an error names the option or argument with the path, and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.private_files import private_file


@contextmanager
def asked_file(path: Path, field: str) -> Iterator[BinaryIO]:
    """Yield a stream to a new file that replaces `path` when the block ends, as `private_file` does.

    If the block raises, `path` stays unchanged. Missing folders are not created: a path may have a typing error.

    Args:
        path: The path that was asked for.
        field: Name of the option or argument that names the path, such as "--report".

    Raises:
        InputError: There is a folder or a device at the path, its folder is missing, or the file cannot be written, such as
            on a full disk. Any OSError that the block raises becomes this error too.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError(field, f"{shown(path)} is a folder or a device", "name a file")
        with private_file(path) as stream:
            yield stream
    except OSError as error:
        remedy = "name a file in a folder that exists and where you may write, on a disk with room"
        raise InputError(field, f"{shown(path)} cannot be written ({error.strerror})", remedy) from None
