"""A text file as lines: every line in UTF-8, ended by LF, for any encoding and line ends of the file.

The map is one line to one line, so that what one line holds cannot change another. A line ends with LF; CRs before it belong to the line
end, as the CRs at the end of the file do, and any other CR is read as a space. Where there is a header and it ends with a lone CR, that
ends all lines, and LF is read as a space: the header is about no person. (CR LF is one line end, so no first line of such a file begins
with LF.) The last line may lack its line end. Nothing else ends a line, and no line is left out: empty lines are lines too, wherever they
are.

Byte order marks at the start of a line do not belong to the line, be it the first or any other: a line reads the same wherever it stands,
and files that were put together from marked files are read correctly. The first mark also gives the byte order of "utf-16" and "utf-32"; a
file without a header, whose first line is a record, has to have it there.

Bytes that the encoding does not know become U+FFFD where they stand. That they cannot take a line end with them is a property of the
encodings below (tested over all short sequences), and the reason why others are refused. UTF-16 and UTF-32 are read in code units: files
are neighbours as sequences of code units, and a file that is not a whole number of code units is refused (`files.check`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import packed
from dpsynth_core.sources.locations import Location

BLOCK_BYTES = 16 << 20
MAX_LINE_BYTES = 16 << 20
"""A longer line is read as an empty one. At least `size`, for pieces of lines."""
DAMAGED = "\ufffd".encode()
_MARK = codecs.BOM_UTF8
_RETURNS = re.compile(rb"(?<!\r)\r+\n")
_MARKED_LINE = re.compile(rb"^(?:\xef\xbb\xbf)+", re.MULTILINE)

_HEAD_BYTES = 1 << 20

_WIDE = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
_MARKS = {  # byte order marks, the longer ones first
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_UNMARKED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings that leave it to the byte order mark; what they mean without one."""
_SINGLE_BYTE = (
    *("ascii", "koi8-r", "koi8-u", "mac-roman", "cp437", "cp850", "cp852", "cp855", "cp858", "cp866"),
    *(f"cp{page}" for page in range(1250, 1259)),
    *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
)
_DOUBLE_BYTE = ("gbk", "big5", "shift_jis", "cp932", "cp949")
ENCODINGS = frozenset({"utf-8", "utf-8-sig", *_UNMARKED, *_WIDE, *_SINGLE_BYTE, *_DOUBLE_BYTE})


def known_encoding(name: str) -> str:
    """Return the canonical name of an encoding, such as "iso8859-1" for "latin-1".

    Raises:
        InputError: The name is not an encoding, or one in which damaged bytes could reach into
            another line.
    """
    try:
        usual = codecs.lookup(name).name
    except (LookupError, ValueError):
        usual = ""
    if usual not in ENCODINGS:
        remedy = "use utf-8, cp1252, latin-1, utf-16 or another of one or two bytes, or save the table as UTF-8"
        raise InputError("data.encoding", "it is not a text encoding that can be read line by line", remedy)
    return usual


def blocks(path: Location, writing: Writing, size: int | None = None, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield the normalised lines of a file (`Writing.normalised`) in blocks of whole lines.

    A line of more than 16 MiB (`MAX_LINE_BYTES`) is read as an empty one.

    Args:
        path: The file.
        writing: How the lines are written.
        size: The approximate bytes of a block; 16 MiB by default.
        begin: The byte position of the first line, 0 or one of `cuts`.
        end: The byte position at which to end, one of `cuts`; None for the end of the file.

    Raises:
        OSError: The file cannot be read.
        CapacityError: A packed file unpacks to more than 200 times its size and 64 MiB.
    """
    with packed.opened(path) as stream:
        if begin:
            stream.seek(begin)
        wanted = stream if end is None else _Until(stream, end - begin)
        for piece in _whole_lines(wanted, writing, size or BLOCK_BYTES):
            yield writing.normalised(piece)


def cuts(path: Location, writing: Writing, every: int) -> list[int]:
    """Return ascending byte positions at which lines begin, at least `every` bytes apart; 0 is left out.

    The result is [] for a file of at most `every` bytes. The file must not be packed.

    Raises:
        OSError: The file cannot be read.
    """
    size = path.stat().st_size
    places: list[int] = []
    with path.open("rb") as stream:
        while (target := (places[-1] if places else 0) + every) < size:
            place = _line_after(stream, writing, target - target % writing.unit)
            if place is None or place >= size:
                break
            places.append(place)
    return places


def _line_after(stream: BinaryIO, writing: Writing, place: int) -> int | None:
    """Return the byte position after the first line end at or after `place`.

    None without a further line end.
    """
    stream.seek(place)
    while raw := stream.read(_HEAD_BYTES):
        if (end := writing.first_end(raw)) >= 0:
            return place + end + writing.unit
        place += len(raw)
    return None


class _Until:
    """A stream that ends after `left` further bytes."""

    def __init__(self, stream: BinaryIO, left: int) -> None:
        self._stream, self._left = stream, left

    def read(self, size: int) -> bytes:
        piece = self._stream.read(min(size, self._left))
        self._left -= len(piece)
        return piece


@dataclass(frozen=True)
class Writing:
    """The encoding and line ends of a text file.

    Attributes:
        encoding: The encoding, with a fixed byte order.
        unit: The number of bytes of a code unit.
        line_end: LF, or CR if a lone CR ends the lines.
    """

    encoding: str
    unit: int
    line_end: str

    @classmethod
    def of(cls, path: Location, encoding: str, headed: bool) -> Writing:
        """Return how the lines of a file are written.

        Without a header the first line is a record, and its content has no influence on the result.

        Args:
            path: The file.
            encoding: The stated encoding.
            headed: Whether the first line is a header, which shows the line end.

        Raises:
            OSError: The file cannot be read.
            InputError: The encoding is not known, or leaves the byte order open.
        """
        usual = known_encoding(encoding).removesuffix("-sig")
        with packed.opened(path) as stream:
            head = stream.read(_HEAD_BYTES)
        if usual in _UNMARKED:
            meant = next((meant for mark, meant in _MARKS.items() if head.startswith(mark) and meant.startswith(usual)), "")
            if not meant and not headed:
                remedy = f"say {usual}-le or {usual}-be"
                raise InputError("data.encoding", "the file has neither a byte order mark nor a header", remedy)
            usual = meant or _UNMARKED[usual]
        return cls(usual, _WIDE.get(usual, 1), _header_end(head.decode(usual, "replace")) if headed else "\n")

    @property
    def end_bytes(self) -> bytes:
        """The bytes of `line_end` (LF or CR, never CRLF) in the file's encoding: `unit` bytes."""
        return self.line_end.encode(self.encoding)

    def whole_units(self, raw: bytes) -> int:
        """Return the number of bytes in the whole code units at the beginning of `raw`."""
        return len(raw) // self.unit * self.unit

    def first_end(self, raw: bytes) -> int:
        """Return the byte position, from 0, at which the first line end in `raw` begins; -1 without a line end."""
        if self.unit == 1:
            return raw.find(self.end_bytes)
        ends = self._wide_ends(raw)
        return int(ends[0]) if len(ends) else -1

    def last_end(self, raw: bytes) -> int:
        """Return the byte position at which the last line end in `raw` begins; -1 without a line end.

        A line end is `line_end` alone, also in CRLF, where it is the LF. Line ends within quotes count too.

        Args:
            raw: Bytes that begin at a whole code unit.
        """
        if self.unit == 1:
            return raw.rfind(self.end_bytes)
        ends = self._wide_ends(raw)
        return int(ends[-1]) if len(ends) else -1

    def _wide_ends(self, raw: bytes) -> NDArray[np.int64]:
        """Return the byte position at which each line end begins, for code units of 2 or 4 bytes.

        Only `line_end` counts. An incomplete code unit at the end of `raw` is ignored.
        """
        order = "<" if self.encoding.endswith("le") else ">"
        units = np.frombuffer(raw, dtype=f"{order}u{self.unit}", count=self.whole_units(raw) // self.unit)
        return np.flatnonzero(units == ord(self.line_end)) * self.unit

    def normalised(self, raw: bytes) -> bytes:
        """Return whole lines in UTF-8, each ended by LF; only the last may lack it, as in `raw`.

        Any other CR or LF is replaced by a space, byte order marks at the beginning of lines
        are removed, and bytes that the encoding does not know become U+FFFD.

        Args:
            raw: The bytes of whole lines, as in the file.
        """
        text = self._utf8(raw)
        if self.line_end == "\r":
            text = text.replace(b"\n", b" ").replace(b"\r", b"\n")
        elif b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
            text = (_RETURNS.sub(b"\n", text) if b"\r\n" in text else text).replace(b"\r", b" ")
        return _MARKED_LINE.sub(b"", text) if _MARK in text else text

    def _utf8(self, raw: bytes) -> bytes:
        if self.unit == 1 and raw.isascii():
            return raw
        if self.encoding == "utf-8":
            try:
                raw.decode()
            except UnicodeDecodeError:
                return raw.decode(errors="replace").encode()
            return raw
        return raw.decode(self.encoding, "replace").encode()


def _header_end(text: str) -> str:
    """Return the line end that a header shows: CR if a lone CR ends the first line, else LF."""
    ends = [at for at in (text.find("\r"), text.find("\n")) if at >= 0]
    lone = bool(ends) and text[min(ends)] == "\r" and text[min(ends) + 1 : min(ends) + 2] not in ("\n", "")
    return "\r" if lone else "\n"


def _whole_lines(stream: BinaryIO | _Until, writing: Writing, size: int) -> Iterator[bytes]:
    """Yield the bytes of a stream in pieces that end with a line end.

    A line of more than `MAX_LINE_BYTES` is read as an empty line. Only the first line of a piece
    can be so long, because the other lines were read in one chunk of `size` bytes.
    """
    carried, too_long = b"", False
    while chunk := stream.read(size):
        carried += chunk
        last = writing.last_end(carried)
        if last < 0:
            if len(carried) > MAX_LINE_BYTES:
                carried, too_long = carried[writing.whole_units(carried) :], True
            continue
        whole, carried = carried[: last + writing.unit], carried[last + writing.unit :]
        first = writing.first_end(whole)
        if too_long or first > MAX_LINE_BYTES:
            whole, too_long = whole[first:], False
        yield whole
    if carried or too_long:
        yield (b"" if too_long else carried[: writing.whole_units(carried)]) + writing.end_bytes
