"""A CSV file as records: every line below the header is exactly one record, with any content.

The lines about one person are this person's lines, so the map from the file to its records must not let one line change the record of
another, nor whether it counts. Hence:

- A record is a line (`sources.lines`). Quotes end with their line. - A line that cannot be divided into the header's columns (a wrong
number of fields, a quote that is not closed, an empty line, an overlong line) is malformed: a record whose cells are all missing. It is
neither left out nor joined to another. - Every record depends on its own line and the header alone: both ways of reading below, and any cut
into blocks, give the same (tested).

So a file with one person's line added, removed or changed has one record more, fewer or changed. `quoting` gives the meaning of a quote:

- "lines": a cell that begins with a quote goes on to the next single quote, or to the end of the line, which makes the line malformed.
  Quotes elsewhere are ordinary characters. - "none": quotes are ordinary characters everywhere. - "standard": cells may contain line breaks
  (RFC 4180): an LF ends a record if the number of quotes before it is even. The proof above then needs an assumption: a quote stands only
  around a cell, or twice for one inside the cell, and no record has very many lines. `files.check` looks at the whole file before anything
  is charged and refuses it unless the assumption holds. A record with too many or too few fields is malformed: here, too, one record of
  missing cells, however many lines it has.

The fast way is Arrow's parser over whole blocks. It is taken where it finds as many rows as there are records: each of its rows ends
with a line end, so that each row then has exactly one line. Where it does not, the malformed records are found by regular
expressions (RE2, linear time), emptied, and the rest is parsed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import lines, packed
from dpsynth_core.sources.formats import LINES, NONE, STANDARD, TableFormat
from dpsynth_core.sources.locations import Location, located
from dpsynth_core.sources.parts import Part, Piece
from dpsynth_core.vocabulary.names import told_apart, trimmed

MAX_RECORD_BYTES = 64 << 20
"""The largest size of a record over several lines."""

_HEAD_BYTES = 1 << 16
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Block:
    """Some consecutive whole records of a CSV file.

    Attributes:
        text: The records in UTF-8, each ended by LF; the last one of a file may lack it if a quote
            is still open.
        form: The format of the file.
        names: The names of the columns.
    """

    text: bytes
    form: TableFormat
    names: tuple[str, ...]

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The byte position in `text` of each record's last byte, counted from 0, ascending."""
        ends = _ends(self.text, self.form.quoting)
        return ends if len(ends) and ends[-1] == len(self.text) - 1 else np.append(ends, len(self.text) - 1)

    def batch(self, columns: Sequence[str]) -> pa.RecordBatch:
        """Return these columns of all records as dictionary-encoded text, one row for each record.

        A malformed record has empty texts in all cells.

        Raises:
            AssertionError: The two ways of reading contradict each other, which no text should cause.
        """
        batch = None if self._ambiguous else self._parsed(self.text, columns)
        if batch is None:
            blanked = pc.if_else(pa.array(self._rejected()), self._empty_record, self._records)
            batch = self._parsed(blanked.buffers()[2].to_pybytes(), columns)
        if batch is None:
            raise AssertionError("what is well formed and what can be parsed are not the same")
        return batch

    def malformed(self) -> NDArray[np.bool_]:
        """Return which records are malformed, shape (records,).

        A record is malformed if it does not have exactly one value for each column, or if it breaks
        the rules of quotes.
        """
        if not self._ambiguous and self._parsed(self.text, self.names[:1]) is not None:
            return self._blank if len(self.names) > 1 else np.zeros(len(self.ends), dtype=bool)  # all else was parsed
        return self._rejected()

    def _rejected(self) -> NDArray[np.bool_]:
        """Return which records are malformed, by looking at every delimiter and quote.

        By the strict rules, an opening quote stands after a delimiter, a line end or the quote that
        it repeats, and a closing quote before one of these. A record that keeps the strict rules is
        well formed for every `quoting`. With the quoting "lines", the few others are checked by
        regular expressions.
        """
        characters, width = np.frombuffer(self.text, dtype=np.uint8), len(self.names)
        delimiters = np.flatnonzero(characters == ord(self.form.delimiter))
        if self.form.quoting == NONE or b'"' not in self.text:
            return (self._per_record(delimiters) != width - 1) | (self._blank & (width > 1))
        odd, odd_before, strict = self._quotes
        outside = odd[delimiters] == np.repeat(odd_before, self._per_record(delimiters))
        rejected = ~strict | (self._per_record(delimiters[outside]) != width - 1) | (self._blank & (width > 1))
        if self.form.quoting == LINES and not strict.all():
            rejected[~strict] = self._rejected_by_grammar(~strict)
        return rejected

    @cached_property
    def _quotes(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Three masks about quotes.

        Returns:
            Whether the number of quotes up to and including each character is odd; whether the
            number of quotes before each record is odd; and whether each record keeps the strict
            rules (`_rejected`).
        """
        characters = np.frombuffer(self.text, dtype=np.uint8)
        quotes = np.flatnonzero(characters == ord('"'))
        odd = np.bitwise_xor.accumulate(characters == ord('"'))
        odd_before = np.append(False, odd[self.ends[:-1]])
        record = np.repeat(np.arange(len(self.ends)), self._per_record(quotes))
        opens = odd[quotes] != odd_before[record]
        neighbour = characters[np.where(opens, np.maximum(quotes - 1, 0), np.minimum(quotes + 1, len(characters) - 1))]
        strict = self._per_record(quotes) % 2 == 0
        strict[record[~(self._beside_quotes[neighbour] | (quotes == 0))]] = False
        return odd, odd_before, strict

    def _rejected_by_grammar(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of the chosen lines are malformed by the rules of the quoting "lines".

        These allow quotes inside text that does not begin with a quote.

        Args:
            chosen: The lines to check, a mask over all records.

        Returns:
            A mask over the chosen lines.
        """
        records, grammar = self._records.filter(pa.array(chosen)), _Grammar.of(self.form.delimiter)
        fields = pc.count_substring(pc.replace_substring_regex(records, grammar.quoted, r"\1"), self.form.delimiter)
        good = pc.and_(pc.match_substring_regex(records, grammar.record), pc.equal(fields, len(self.names) - 1))
        return pc.invert(good).to_numpy(zero_copy_only=False)

    @property
    def _beside_quotes(self) -> NDArray[np.bool_]:
        """Mask over the 256 bytes: those that may stand next to a quoted cell, outside its quotes."""
        allowed = np.zeros(256, dtype=bool)
        allowed[[ord(self.form.delimiter), ord("\n"), ord('"')]] = True
        return allowed

    def _per_record(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of these ascending byte positions in each record."""
        return np.diff(np.searchsorted(places, self.ends), prepend=0)

    @property
    def _blank(self) -> NDArray[np.bool_]:
        """Mask over the records: empty lines."""
        return np.diff(self.ends, prepend=-1) == 1

    @property
    def blank(self) -> int:
        """The number of records that are empty lines."""
        return int(np.count_nonzero(self._blank))

    @property
    def longest(self) -> int:
        """The largest number of lines of a record, at least 1; above 1 only with the quoting "standard"."""
        lines_before = np.searchsorted(np.flatnonzero(np.frombuffer(self.text, dtype=np.uint8) == ord("\n")), self.ends)
        return int(np.diff(lines_before, prepend=-1).max(initial=1))

    @property
    def misquoted(self) -> bool:
        """True if some record breaks the strict rules of quotes, or leaves a quote open.

        By these rules a quote stands only around a whole cell, or twice for one quote inside such a cell.
        """
        return b'"' in self.text and not self._quotes[2].all()

    @property
    def _ambiguous(self) -> bool:
        """True if Arrow's parse could have the right number of records, but other ones.

        It is then not used before malformed records are emptied. This needs the quoting "standard"
        and a quote.
        """
        return self.form.quoting == STANDARD and b'"' in self.text

    @property
    def _empty_record(self) -> bytes:
        """A record of empty cells: one delimiter fewer than columns, then LF."""
        return self.form.delimiter.encode() * (len(self.names) - 1) + b"\n"

    @property
    def _records(self) -> pa.BinaryArray:
        """Each record with its line end, without a copy of the text."""
        offsets = np.zeros(len(self.ends) + 1, dtype=np.int32)
        offsets[1:] = self.ends + 1
        return pa.BinaryArray.from_buffers(pa.binary(), len(self.ends), [None, pa.py_buffer(offsets), pa.py_buffer(self.text)])

    def _parsed(self, text: bytes, columns: Sequence[str]) -> pa.RecordBatch | None:
        """Return Arrow's parse of these columns; None unless it has one row for each record.

        Every row of Arrow ends at a line end, but the end of the text may cut off the last row
        inside a quote. So the last record is checked separately.
        """
        positions = {name: str(number) for number, name in enumerate(self.names)}
        quotes = False if self.form.quoting == NONE else '"'
        try:
            table = pacsv.read_csv(
                pa.BufferReader(text),
                read_options=pacsv.ReadOptions(
                    column_names=[str(i) for i in range(len(self.names))],
                    block_size=len(text) + 1,
                    use_threads=len(text) > _HEAD_BYTES,  # of less they cost more than they save
                ),
                parse_options=pacsv.ParseOptions(
                    delimiter=self.form.delimiter,
                    quote_char=quotes,
                    newlines_in_values=self.form.quoting == STANDARD,
                    ignore_empty_lines=False,
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types=dict.fromkeys(positions.values(), _TEXT),
                    include_columns=[positions[name] for name in columns],
                    strings_can_be_null=False,
                    check_utf8=False,  # `lines` has seen to it
                ),
            )
        except pa.ArrowInvalid:  # the fields of some row are too many or too few
            return None
        if table.num_rows != self._count or not self._last_is_closed(text):
            return None
        (batch,) = table.rename_columns(list(columns)).to_batches()
        return batch

    def _last_is_closed(self, text: bytes) -> bool:
        """Return whether the last record closes its quotes; always True unless quoting is "lines".

        Args:
            text: Whole records.
        """
        last = text[text.rfind(b"\n", 0, -1) + 1 :]
        if self.form.quoting != LINES or b'"' not in last:
            return True
        return not Block(last, self.form, self.names)._rejected()[0]

    @cached_property
    def _count(self) -> int:
        """The number of rows that Arrow must find so that its parse is used: one for each record."""
        if self.form.quoting == STANDARD:
            return len(self.ends)
        return int(np.count_nonzero(np.frombuffer(self.text, dtype=np.uint8) == ord("\n")))


class _Grammar(NamedTuple):
    """Regular expressions for one line of a CSV file with the quoting "lines".

    Attributes:
        record: Matches a well-formed line with its line end.
        quoted: Matches a quoted cell; its first group is the delimiter before the cell.
    """

    record: str
    quoted: str

    @classmethod
    @lru_cache
    def of(cls, delimiter: str) -> _Grammar:
        """Return the expressions for lines whose fields are separated by this delimiter."""
        mark = f"\\x{{{ord(delimiter):02x}}}"
        field = rf'(?:"(?:[^"\n]|"")*"(?:[^"{mark}\n][^{mark}\n]*)?|[^"{mark}\n][^{mark}\n]*|)'
        return cls(rf"\A{field}(?:{mark}{field})*\n\z", rf'(\A|{mark})"(?:[^"]|"")*"')


def writing(path: Location, form: TableFormat) -> lines.Writing:
    """Return the encoding and line ends of a file.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding is unknown or leaves the byte order open.
    """
    return lines.Writing.of(path, form.encoding, headed=not form.names)


def header(path: Location, form: TableFormat) -> tuple[str, ...]:
    """Return the trimmed cells of the header, or the stated names; () for a file without text.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding is unknown or leaves the byte order open, or quotes of the header do not close.
    """
    return next((names for names, _ in _texts(Piece(str(path)), form, _HEAD_BYTES)), ())


def head(path: Location, form: TableFormat) -> Block | None:
    """Return the first records of a file, from about 64 kB; None for a file without records.

    Raises:
        OSError: The file cannot be read.
        InputError: The file is not a table in this format.
    """
    return next((Block(text, form, told_apart(names)) for names, text in _texts(Piece(str(path)), form, _HEAD_BYTES) if text), None)


def cuts(path: Location, form: TableFormat, every: int) -> list[int]:
    """Return ascending byte positions at which lines begin below the header, at least `every` bytes apart.

    The file can be divided there. [] for a small or packed file, and for the quoting "standard", whose
    records are not lines.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding is unknown or leaves the byte order open.
    """
    if form.quoting == STANDARD or packed.is_packed(path):
        return []
    places = lines.cuts(path, writing(path, form), every)
    while places and (form.skip or not form.names) and not any(_texts(Piece(str(path), 0, places[0]), form)):
        del places[0]
    return places


def blocks(part: Part, form: TableFormat) -> Iterator[Block]:
    """Yield all records of a part in blocks, in file order; small pieces share a block.

    Args:
        part: Pieces of files that have the same header.
        form: The format of the files.

    Raises:
        OSError: A file cannot be opened or read.
        InputError: A file is not a table in its format.
    """
    gathered: list[bytes] = []
    names: tuple[str, ...] = ()
    for piece in part:
        for written, text in _texts(piece, form):
            names = told_apart(written)
            gathered.append(text)
            if sum(map(len, gathered)) >= lines.BLOCK_BYTES // 2:
                yield Block(b"".join(gathered), form, names)
                gathered = []
    if text := b"".join(gathered):
        yield Block(text, form, names)


def batches(part: Part, form: TableFormat, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all records of a part, in file order, as dictionary-encoded text.

    The next block is parsed in another thread while the caller works on this one. Cells of a malformed record are
    empty texts.

    Raises:
        OSError: A file cannot be opened or read.
        InputError: A file is not a table in its format.
    """
    with ThreadPoolExecutor(1) as ahead:
        coming: Future[pa.RecordBatch] | None = None
        for block in blocks(part, form):
            following = ahead.submit(block.batch, columns)
            if coming is not None:
                yield coming.result()
            coming = following
        if coming is not None:
            yield coming.result()


def _texts(piece: Piece, form: TableFormat, size: int | None = None) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Yield pairs of the header cells and the text of some whole records of a piece.

    The same header cells come with each text; the first text may be empty.

    Args:
        piece: The piece of a file.
        form: The format of the file.
        size: The approximate bytes of a text; `lines.BLOCK_BYTES` by default.
    """
    names = header(located(piece.file), form) if piece.begin and not form.names else form.names
    for record, text in _below_header(piece, form, size):
        names = names or cells(record, form)
        yield names, text


def _below_header(piece: Piece, form: TableFormat, size: int | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield pairs of the header as written and the text of some whole records below it.

    The header is the first record with text after the `skip` records with text that are left out.
    It is "" if the names are stated in place of a header line, or if the piece does not begin the
    file. The first text may be empty.
    """
    path, record = located(piece.file), ""
    above = 0 if piece.begin else form.skip + (not form.names)
    for text in _whole_records(lines.blocks(path, writing(path, form), size, piece.begin, piece.end), form):
        below = text
        while above:
            start, end = _first_text(below, form)
            if not end:
                break
            above -= 1
            if not above and not form.names:
                record = below[start:end].decode().removesuffix("\n")
            below = below[end:]
        else:
            yield record, below


def header_text(path: Location, form: TableFormat) -> str:
    """Return the header line as written, without its line end; "" without a header.

    Raises:
        OSError: The file cannot be read.
        InputError: The file is not a table in this format.
    """
    return next((record for record, _ in _below_header(Piece(str(path)), form, _HEAD_BYTES)), "")


def cells(record: str, form: TableFormat) -> tuple[str, ...]:
    """Return the trimmed cells of a header, in order.

    Args:
        record: The header line.
        form: The format, whose delimiter and quoting count.

    Raises:
        InputError: Quotes do not close.
    """
    if form.quoting == NONE:
        texts = record.split(form.delimiter)
    else:
        try:
            (texts,) = csv.reader(io.StringIO(record, newline=""), delimiter=form.delimiter)
        except (csv.Error, ValueError):
            raise InputError("data", "the header cannot be read", "check quotes and delimiter of its first line") from None
    return tuple(map(trimmed, texts))


def _first_text(block: bytes, form: TableFormat) -> tuple[int, int]:
    """Return begin and end, in bytes, of the first record with any text; (0, 0) without one."""
    start = 0
    for end in _ends(block, form.quoting):
        if block[start : end + 1].strip():
            return start, int(end) + 1
        start = int(end) + 1
    return 0, 0


def _whole_records(blocks: Iterator[bytes], form: TableFormat) -> Iterator[bytes]:
    """Yield blocks of whole records from blocks of lines; they differ with quoting "standard".

    The end of the file closes a quote that is still open.

    Raises:
        InputError: A record has more than `MAX_RECORD_BYTES`.
    """
    if form.quoting != STANDARD:
        yield from blocks
        return
    carried = b""
    for block in blocks:
        carried += block
        ends = _ends(carried, STANDARD)
        if len(ends):
            cut = int(ends[-1]) + 1
            yield carried[:cut]
            carried = carried[cut:]
        if len(carried) > MAX_RECORD_BYTES:
            raise InputError("data.quoting", "a quoted cell goes on for ever", 'use the quoting "lines", or correct the quotes of the file')
    if carried:
        yield carried


def _ends(block: bytes, quoting: str) -> NDArray[np.int64]:
    """Return the byte positions of the LFs that end records.

    For the quoting "standard", an LF ends a record if the number of quotes before it is even, so
    `block` has to begin with a record.
    """
    characters = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    if quoting == STANDARD and b'"' in block:
        before = np.searchsorted(np.flatnonzero(characters == ord('"')), ends)
        ends = ends[before % 2 == 0]
    return ends
