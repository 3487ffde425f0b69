"""The process that checks or repeats one bundle for `confined`: it limits itself before it reads anything, and answers on stdout."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.confined import REPLAY, VERIFY, Task
from dpsynth_core.bundle.replay import replayed
from dpsynth_core.bundle.reproduce import reproduce
from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verify import verify
from dpsynth_core.foundation import confinement
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.confinement import TOO_MUCH
from dpsynth_core.foundation.content import PART_BYTES
from dpsynth_core.foundation.errors import InputError, OracleError
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Progress


def main(task: Task) -> int:
    """0 with an answer on stdout, TOO_MUCH where memory did not do."""
    content = sys.stdin.buffer.read(task.size)
    confinement.end_with(sys.stdin.fileno())
    confinement.limit(task.limits)
    out = sys.stdout.buffer
    try:
        _work(task, unpack.read(Path(task.place)) if task.place else unpack.read_bytes(content), out)
    except OracleError as failed:
        _say(out, {"unsolved": [failed.problem, failed.remedy]})
    except InputError as refused:
        _say(out, {"refused": [refused.field, refused.problem, refused.remedy]})
    except (MemoryError, RecursionError):
        return TOO_MUCH
    except Exception as error:  # noqa: BLE001 (named to the parent, never shown with its text)
        if (cause := cause_of(error)) is None:
            _say(out, {"failed": type(error).__name__})  # its text could quote the bundle
        else:
            _say(out, {"refused": [cause.field, cause.problem, cause.remedy]})
    return 0


def _work(task: Task, bundle: Bundle, out: BinaryIO) -> None:
    public = Path(task.public) if task.public else None
    if task.kind == VERIFY:
        _say(out, {"report": asdict(verify(bundle))})
    elif task.kind == REPLAY:
        _say(out, {"check": asdict(replayed(bundle, public))})
    else:
        _reproduce(bundle, public, out, task.limits.megabytes * 2**20)


def _reproduce(bundle: Bundle, public: Path | None, out: BinaryIO, most: int) -> None:
    """most: bytes of rows that may be written. Raises MemoryError beyond that, as beyond the memory."""

    def step(progress: Progress) -> None:
        _say(out, {"step": progress.to_json()})

    again = reproduce(bundle, step, public)
    parts = _Parts(out, most)
    for name, write in releases.row_writers(again.made).items():
        parts.name = name
        stream = io.BufferedWriter(parts, PART_BYTES)
        write(stream)
        stream.flush()
        stream.detach()
    _say(out, {"different": again.different, "versions": again.versions})


class _Parts(io.RawIOBase):
    """Passes on the parts of files, each after a line that says of which and how long it is."""

    name = ""

    def __init__(self, out: BinaryIO, most: int) -> None:
        self._out, self._left = out, most

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        size = memoryview(part).nbytes
        self._left -= size
        if self._left < 0:
            raise MemoryError
        _say(self._out, {"part": [self.name, size]})
        self._out.write(part)
        return size


def _say(out: BinaryIO, answer_text: Mapping[str, Any]) -> None:
    out.write(json.dumps(answer_text).encode() + b"\n")
    out.flush()


if __name__ == "__main__":
    sys.exit(main(Task.from_json(sys.argv[1])))
