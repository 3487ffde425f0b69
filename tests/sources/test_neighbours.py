"""Neighbours are files: whatever one person's lines hold, the coded records change by that person's at most.

Every test writes a file without somebody's lines, one with them, and one with others in their place, and compares the multisets of coded
records. This is the condition under which the sensitivities of `privacy.unit` speak about files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.sources import lines, opening
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.check_records import check_records
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import kind_of
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.additions import listed
from tests.refusals import refused
from tests.sources import default_road
from tests.sources.neighbouring import family
from tests.sources.written import WRITERS
from tests.tiers import examples

DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m", "\u00e9"], other=True, missing=True),
        Attribute.integer("age", 0, 5, missing=True),
        Attribute.categorical("ward", ["a", "b"]),
    )
)
HEADER = b"note,sex,age,ward"
HONEST = [b"x,f,1,a", b'"quoted, text",m,2,b', b"\xc3\xa9,\xc3\xa9,3,a", b'say ""hi"",f,4,b', b"x,m,,a", b'"a ""b""",f,0,"b"']
CELLS = {
    "quote": b'"',
    "opening quote": b'"abc',
    "closing quote": b'abc"',
    "quote inside": b'5" pipe',
    "two quotes": b'""',
    "three quotes": b'"""',
    "delimiter": b"a,b",
    "delimiters": b",,,,,,",
    "carriage return": b"a\rb",
    "carriage returns": b"\r\r",
    "line separator": "a\u2028b".encode(),
    "next line": b"a\xc2\x85b",
    "form feed": b"\f\v",
    "zero": b"a\0b",
    "end of file": b"\x1a",
    "backslash": b"a\\",
    "no utf-8": b"\xff\xfe",
    "half a character": b"\xe2\x82",
    "half a character before a quote": b'"\xe2\x82"',
    "lone surrogate": b"\xed\xa0\x80",
    "byte order mark": b"\xef\xbb\xbf",
    "formula": b"=1+1",
    "formulas": b'@x,"=HYPERLINK(""http://x"")"',
    "missing": b"NA",
    "empty": b"",
    "spaces": b" \t ",
    "long": b"y" * 3000,
    "too long": b"z" * 5000,
}
NOTES = {name: cell + b",f,1,a" for name, cell in CELLS.items()}
LINES = {
    **{f"{name} as note": line for name, line in NOTES.items()},
    **{f"{name} as value": b"x,f," + cell + b",b" for name, cell in CELLS.items()},
    **{f"{name} alone": cell for name, cell in CELLS.items()},
}

Records = np.ndarray


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks for each file. That a block's size makes no difference is tested on its own."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 150)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 4000)


def coded(source: Path, form: TableFormat, person: str | None = None, limit: int = 1) -> Records:
    """The multiset of coded records, as counts of all cells of the domain."""
    return ArrowSource(DOMAIN, source, form, person, limit).counts([DOMAIN.names])[DOMAIN.names].ravel()


def written(path: Path, written_lines: Sequence[bytes], encoding: str = "utf-8", end: bytes = b"\n") -> Path:
    """A file with these lines. The texts are recoded, where they are text; bytes that are none are kept as they are."""

    def recoded(text: bytes) -> bytes:
        return text if encoding == "utf-8" else text.decode("utf-8", "surrogateescape").encode(encoding, "surrogatepass")

    path.write_bytes(b"".join(recoded(line) + recoded(end) for line in written_lines))
    return path


def assert_one_record_more(less: Records, more: Records) -> None:
    assert (more - less).min() >= 0
    assert (more - less).sum() == 1


def assert_one_record_changed(first: Records, second: Records) -> None:
    assert first.sum() == second.sum()
    assert np.abs(first - second).sum() <= 2


def check_neighbours(read: Callable[[Sequence[bytes]], Records], before: Sequence[bytes], line: bytes, other: bytes) -> None:
    """Add, remove and change one line, at the beginning, in the middle and at the end."""
    without = read(before)
    assert without.sum() == len(before)
    for at in (0, len(before) // 2, len(before)):
        with_it = read([*before[:at], line, *before[at:]])
        assert_one_record_more(without, with_it)
        assert_one_record_changed(with_it, read([*before[:at], other, *before[at:]]))


@pytest.mark.parametrize("quoting", ["lines", "none"])
@pytest.mark.parametrize("line", LINES)
def test_whatever_a_line_of_a_csv_holds_it_is_one_record(tmp_path: Path, quoting: str, line: str) -> None:
    form = TableFormat(quoting=quoting)
    before = [*HONEST, LINES["opening quote as note"], b"", *HONEST]

    def read(body: Sequence[bytes]) -> Records:
        return coded(written(tmp_path / "a.csv", [HEADER, *body]), form)

    check_neighbours(read, before, LINES[line], LINES["quote as value"])


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
@pytest.mark.parametrize("line", [line for line in NOTES if "carriage" not in line])
def test_whatever_the_line_end_a_line_is_one_record(tmp_path: Path, end: bytes, line: str) -> None:
    def read(body: Sequence[bytes]) -> Records:
        return coded(written(tmp_path / "a.csv", [HEADER, *body], end=end), TableFormat())

    check_neighbours(read, HONEST, NOTES[line], b'"')


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("line", NOTES)
def test_a_line_of_wide_characters_is_one_record(tmp_path: Path, encoding: str, line: str) -> None:
    def read(body: Sequence[bytes]) -> Records:
        return coded(written(tmp_path / "a.csv", [HEADER, *body], encoding), TableFormat(encoding=encoding))

    check_neighbours(read, HONEST, NOTES[line], b'"')


@pytest.mark.parametrize("cell", [cell for name, cell in CELLS.items() if "long" not in name] + [b"a\nb", b'"\n"\r\n,'])
def test_whatever_a_quoted_cell_of_a_well_formed_file_holds_it_is_one_record(tmp_path: Path, cell: bytes) -> None:
    """The quoting "standard" assumes that a person's record is well formed."""
    quoted = b'"' + cell.replace(b'"', b'""') + b'"'
    before = [line for line in HONEST if not line.startswith(b"say")]

    def read(body: Sequence[bytes]) -> Records:
        path = written(tmp_path / "a.csv", [HEADER, *body])
        opening.opened(path, TableFormat(quoting="standard")).check()
        return coded(path, TableFormat(quoting="standard"))

    check_neighbours(read, before, quoted + b",f,1,a", b"x,m,1,a")
    check_neighbours(read, before, b"x,f," + quoted + b",a", b"x,m,1,a")


@pytest.fixture
def in_this_process() -> Iterator[None]:
    """Binary files are read here. That the process between changes nothing is shown once for each kind (`test_confined`)."""
    with default_road.in_this_process():
        yield


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_whatever_a_row_of_a_parquet_file_holds_it_is_one_record(tmp_path: Path, cell: str, dictionary: bool) -> None:
    def read(body: Sequence[bytes]) -> Records:
        text = pa.array(body, pa.binary()).view(pa.string())
        table = pa.table({"sex": text, "age": text, "ward": text})
        pq.write_table(table, tmp_path / "a.parquet", row_group_size=3, use_dictionary=dictionary)
        return coded(tmp_path / "a.parquet", TableFormat("parquet"))

    check_neighbours(read, [b"f", b"1", b"m", b"a"], CELLS[cell], b"f")


SOME_CELLS = [CELLS[name] for name in ("quote", "carriage return", "zero", "formula", "missing", "long")]


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("cell", [*SOME_CELLS, None, "1e400"])
@pytest.mark.parametrize("ending", [".feather", ".jsonl", ".csv.gz", *listed("CELL_BY_CELL")])
def test_whatever_a_row_of_any_other_file_holds_it_is_one_record(tmp_path: Path, ending: str, cell: bytes | str | None) -> None:
    """In every column, which others fill with values of the domain."""
    text = cell.decode("latin-1").replace("\0", "").replace("\x1a", "") if isinstance(cell, bytes) else cell
    text = text if text is None or ending not in listed("SHORT_TEXTS") else text[:200]

    def read(body: Sequence[str | None]) -> Records:
        values = pa.array(body, pa.string())
        path = tmp_path / f"a{ending}"
        WRITERS[ending](pa.table({"mark": ["x"] * len(body), "sex": values, "age": values, "ward": values}), path)
        return coded(path, TableFormat(str(kind_of(path))))

    check_neighbours(read, ["f", "1", "m", "a"], text, "f")


ODD_JSON = [b'{"sex": "f"', b"", b"[1, 2]", b"7", b'{"sex": {"a": 1}}', b"\xff", b'{"sex": "\\ud800"}', b"[" * 3000, b"NaN"]


@pytest.mark.parametrize("line", ODD_JSON)
def test_whatever_a_json_line_holds_it_is_one_record(tmp_path: Path, line: bytes) -> None:
    body = [b'{"sex": "f", "age": 1, "ward": "a"}', b'{"ward": "b", "sex": "m"}', b'{"sex": null, "age": 3.0, "ward": "a"}']

    def read(units_drawn: Sequence[bytes]) -> Records:
        return coded(written(tmp_path / "a.jsonl", [body[0], *units_drawn]), TableFormat("jsonl")) - one

    one = coded(written(tmp_path / "a.jsonl", body[:1]), TableFormat("jsonl"))
    check_neighbours(read, body[1:], line, b'{"age": 5}')


@pytest.mark.parametrize("line", NOTES)
def test_whatever_a_line_of_a_folder_holds_it_is_one_record(tmp_path: Path, line: str) -> None:
    def read(body: Sequence[bytes]) -> Records:
        for number in range(3):
            written(tmp_path / f"{number}.csv", [HEADER, *body[number::3]])
        return coded(tmp_path, TableFormat())

    check_neighbours(read, [*HONEST, *HONEST], NOTES[line], b'"')


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("line", NOTES)
def test_a_persons_lines_are_at_most_as_many_records_as_a_person_may_have(tmp_path: Path, line: str, limit: int) -> None:
    """Lines that name the person and lines that name nobody, in any number; what others wrote is malformed here and there as well."""
    everybody = [b"p%d," % (i % 4) + honest for i, honest in enumerate([*HONEST, *HONEST, b'"', *HONEST])]
    everybody[5:5] = [b"", b'"', b"NA,x,f,1,a"]
    mine = [b"me," + NOTES[line], NOTES[line], b"me," + CELLS[line], b" me ,x,m,1,a", b",x,f,1,a", b'"me', b"", b"NA,x,f,2,a"]

    def read(*my_lines: bytes) -> Records:
        body = list(everybody)
        for number, my_line in enumerate(my_lines):
            body.insert(3 * number, my_line)
        return coded(written(tmp_path / "a.csv", [b"id," + HEADER, *body]), TableFormat(), "id", limit)

    # a line of delimiters alone may name somebody of its own: that is another person then
    mine = [my_line for my_line in mine if my_line.split(b",")[0].strip(b' "\t\r') in (b"", b"me", b"NA") or my_line.count(b",") != 4]
    without = read()
    for count in range(len(mine) + 1):
        with_them = read(*mine[:count])
        assert (with_them - without).min() >= 0
        assert (with_them - without).sum() <= limit
        others = read(*reversed(mine[count:]))
        assert np.abs(with_them - others).sum() <= 2 * limit


# Random files


@pytest.mark.parametrize("seed", range(4))
def test_random_neighbours_differ_by_the_records_of_one_person(seed: int) -> None:
    """10,000 pairs and more. `python -m benchmarks neighbours` tries others."""
    families = [family(seed, number) for number in range(46)]
    assert sum(one.pairs for one in families) >= 2500
    assert not [f"seed {seed}, family {number}: {wrong}" for number, one in enumerate(families) for wrong in one.wrong]


HEADLESS = {
    "csv": (TableFormat(names=("sex", "age", "ward")), [b"f,1,a", b"m,2,b", b"f,3,a"], b"a\rb,1,a"),
    "jsonl": (TableFormat("jsonl"), [b'{"sex": "f", "age": 1, "ward": "a"}'] * 3, b'{"sex":\r"m", "age": 2, "ward": "b"}'),
}


@pytest.mark.parametrize("kind", HEADLESS)
def test_what_the_first_record_of_a_file_without_a_header_holds_ends_no_other_line(tmp_path: Path, kind: str) -> None:
    """A lone CR at the end of a header says how lines end; in a record it says nothing."""
    form, body, line = HEADLESS[kind]
    check_neighbours(lambda units_drawn: coded(written(tmp_path / f"a.{kind}", units_drawn), form), body, line, body[0])


def test_a_file_without_a_header_says_its_byte_order_before_its_first_record(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", ["\ufefff,1,a".encode(), b"m,2,b"], "utf-16-be")
    form = TableFormat(encoding="utf-16", names=("sex", "age", "ward"))
    assert coded(path, form).sum() == 2
    written(path, [b"f,1,a", b"m,2,b"], "utf-16-le")
    refused(opening.opened(path, form).check, saying="utf-16-le or utf-16-be")


@pytest.mark.parametrize("quoting", ["lines", "none", "standard"])
def test_a_byte_order_mark_at_the_start_of_a_line_is_no_part_of_it_wherever_blocks_begin(tmp_path: Path, quoting: str) -> None:
    mark, form = b"\xef\xbb\xbf", TableFormat(quoting=quoting)
    path = written(tmp_path / "a.csv", [mark + b"sex,age,ward", *[mark + b"f,1,a", mark + mark + b"m,2,b"] * 100])
    table = pa.Table.from_batches(opening.opened(path, form).batches(["sex"]))
    assert table["sex"].to_pylist() == ["f", "m"] * 100

def any_line(encoding: str) -> st.SearchStrategy[bytes]:
    """Any bytes (or code units) but a line end; the ones with a meaning often."""
    if encoding.startswith("utf-16"):
        order = "little" if encoding.endswith("le") else "big"
        units = st.sampled_from([ord(c) for c in '",;\r\0fm1a\ufeff']) | st.integers(0, 0xFFFF).filter(lambda unit: unit != 10)
        return st.lists(units, max_size=30).map(lambda units_drawn: b"".join(unit.to_bytes(2, order) for unit in units_drawn))
    byte = st.sampled_from(b'",;\r\0fm1a\xe2\x82\xff ') | st.integers(0, 255).filter(lambda byte: byte != 10)
    return st.lists(byte, max_size=30).map(bytes)


@examples(150, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(data=st.data(), encoding=st.sampled_from(["utf-8", "cp1252", "gbk", "shift_jis", "utf-16-le", "utf-16-be"]))
def test_files_of_random_bytes_have_a_record_for_each_line(tmp_path: Path, data: st.DataObject, encoding: str) -> None:
    form = TableFormat(encoding=encoding, quoting=data.draw(st.sampled_from(["lines", "none"])))
    body = data.draw(st.lists(any_line(encoding), max_size=8))
    line, other = data.draw(any_line(encoding)), data.draw(any_line(encoding))
    at = data.draw(st.integers(0, len(body)))
    header, end = HEADER.decode().encode(encoding), "\n".encode(encoding)

    def read(units_drawn: Sequence[bytes]) -> Records:
        (tmp_path / "a.csv").write_bytes(end.join([header, *units_drawn, b""]))
        return coded(tmp_path / "a.csv", form)

    without, with_it = read(body), read([*body[:at], line, *body[at:]])
    assert without.sum() == len(body)
    assert_one_record_more(without, with_it)
    assert_one_record_changed(with_it, read([*body[:at], other, *body[at:]]))


@examples(150, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(data=st.data())
def test_random_damage_to_a_line_changes_one_record(tmp_path: Path, data: st.DataObject) -> None:
    """A real-looking file in which some bytes of one line are hit."""
    body = [HONEST[i] for i in data.draw(st.lists(st.integers(0, len(HONEST) - 1), min_size=1, max_size=12))]
    at = data.draw(st.integers(0, len(body) - 1))
    hit = bytearray(body[at])
    for _ in range(data.draw(st.integers(1, 4))):
        hit[data.draw(st.integers(0, len(hit) - 1))] = data.draw(st.sampled_from(b'",\r\0\xff') | st.integers(11, 255))
    whole = coded(written(tmp_path / "a.csv", [HEADER, *body]), TableFormat())
    damaged = coded(written(tmp_path / "a.csv", [HEADER, *body[:at], bytes(hit), *body[at + 1 :]]), TableFormat())
    assert_one_record_changed(whole, damaged)


# What the curator sees


def test_the_survey_counts_what_cannot_be_read(tmp_path: Path) -> None:
    body = [b"p1,x,f,1,a", b"p2,x,f,1", b"", b'p3,"x,f,1,a', b"NA,x,f,1,a", b"p4,\xff\xff,f,1,a"]
    path = written(tmp_path / "a.csv", [b"id," + HEADER, *body])
    units_drawn = check_records(opening.opened(path, TableFormat()), DOMAIN.names, "id").value
    assert (units_drawn.malformed, units_drawn.blank, units_drawn.damaged, units_drawn.unnamed) == (3, 1, 2, 4)
    assert len(units_drawn.sentences()) == 3
    assert check_records(opening.opened(written(path, [HEADER, *HONEST]), TableFormat()), DOMAIN.names).value.sentences() == ()
