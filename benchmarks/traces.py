"""What a process did to files, in order, as `failing_calls.c` writes it down."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

HEAD = struct.Struct("8sQqQQQ")


@dataclass(frozen=True)
class Step:
    """what: w(rite), t(runcate), s(ync), c(reate), r(ename), l(ink), u(nlink), m(ake folder), d(elete folder)."""

    what: str
    inode: int
    place: int
    content: bytes
    one: str
    other: str

    @property
    def keeps(self) -> bool:
        """Whether a line of a spool is on disk from then on."""
        return self.what == "s" and "/spools/" in self.one and self.one.endswith(".jsonl")


def steps(trace: Path) -> list[Step]:
    content, at, read = trace.read_bytes(), 0, list[Step]()
    while at < len(content):
        what, inode, place, length, one, other = HEAD.unpack_from(content, at)
        at += HEAD.size
        parts = []
        for size in (one, other, length):
            parts.append(content[at : at + size])
            at += size
        read.append(Step(what[:1].decode(), inode, place, parts[2], parts[0].decode(), parts[1].decode()))
    return read


def answers(trace: list[Step]) -> int:
    """Of a run, that are on disk for good: the first line of a spool is its plan."""
    return max(0, sum(step.keeps for step in trace) - 1)
