"""The content of a file is read and hashed part by part, and what is kept aside is nobody else's and leaves nothing behind."""

from __future__ import annotations

import io
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import pytest

from dpsynth_core.foundation.content import PART_BYTES, Digest, digest_of, digest_written, in_memory, stored, written_aside

TEXT = b"some rows\n" * 300_000  # more than one part
DIGEST = Digest(len(TEXT), sha256(TEXT).hexdigest())


def write(stream: BinaryIO) -> None:
    for start in range(0, len(TEXT), 70_000):
        stream.write(TEXT[start : start + 70_000])


def test_the_digest_is_the_same_wherever_the_content_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(TEXT)
    assert len(TEXT) > 2 * PART_BYTES
    assert digest_of(io.BytesIO(TEXT)) == digest_written(write) == in_memory(TEXT).digest == stored(tmp_path / "file").digest == DIGEST
    with written_aside(write, tmp_path) as aside:
        assert aside == in_memory(TEXT)
        assert aside.read() == aside.read() == TEXT
    assert in_memory(TEXT[:-1]) != in_memory(TEXT)


def test_what_is_kept_aside_has_no_name_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    with written_aside(write, tmp_path) as aside:
        assert list(tmp_path.iterdir()) == []
        with aside.open() as stream:
            kept = os.fstat(stream.fileno())
    assert (kept.st_nlink, stat.S_IMODE(kept.st_mode), kept.st_dev) == (0, 0o600, tmp_path.stat().st_dev)


def test_nothing_is_left_of_what_could_not_be_written(tmp_path: Path) -> None:
    def fail(stream: BinaryIO) -> None:
        stream.write(TEXT)
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"), written_aside(fail, tmp_path):
        raise AssertionError("it was not written")
    assert list(tmp_path.iterdir()) == []
