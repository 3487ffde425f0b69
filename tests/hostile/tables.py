"""Tables: what a CSV holds, how its columns are called, folders of files, and Parquet."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hostile import people, values
from tests.hostile.attempts import ANY, BAD, DONE, FAILED, Attempt, of_group

# What a CSV holds


@of_group("content")
def cells(rng: random.Random, place: Path) -> Attempt:
    """Odd texts in random cells."""
    odd = [
        '"',
        '""',
        '"a',
        'a"b',
        "'",
        "\x00",
        "\r",
        "\x0b",
        "\x85",
        "\u2028",
        "1e400",
        "-1e400",
        "nan",
        "-0",
        "0x10",
        "1_000",
        "١٢",
        "2020-02-30",
        "9999-99-99",
        "=cmd|'/c calc'!A1",
        "<img src=x>",
        "\ufffd",
        "\ufeff",
        "," * 20,
        "x" * 70_000,
        "\\",
        "\\N",
    ]
    table = people.rows(rng)
    for _ in range(rng.randint(1, 30)):
        rng.choice(table)[rng.randrange(5)] = rng.choice(odd)
    lines = [",".join(row) for row in [list(people.HEADER), *table]]
    (place / "people.csv").write_bytes("\n".join(lines).encode())
    return Attempt(people.synthesize(quoting=rng.choice([None, "lines", "none", "standard"])), charges=True)


@of_group("content")
def encodings(rng: random.Random, place: Path) -> Attempt:
    """Written in one encoding, read as another."""
    written = rng.choice(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "utf-7", "cp500", "shift_jis"])
    stated = rng.choice(
        [
            None,
            written,
            "utf-8",
            "utf-16",
            "utf-16-be",
            "ascii",
            "idna",
            "undefined",
            "punycode",
            "rot13",
            "hex",
            "zlib",
            "x" * 3000,
            "utf\x008",
            "",
            "mbcs",
            "unicode_escape",
            "big5",
            "koi8-r",
        ]
    )
    text = people.text(rng, end=rng.choice(["\n", "\r\n", "\r", "\n\r"]))
    (place / "people.csv").write_bytes(text.encode(written) + rng.choice([b"", b"\xff", b"\x81\x00", b"\xd8\x00\xd8"]))
    return Attempt(people.synthesize(encoding=stated), charges=True)


@of_group("content")
def bytes_at_random(rng: random.Random, place: Path) -> Attempt:
    """Some bytes flipped, cut off, repeated or put in."""
    content = bytearray(people.text(rng, delimiter=rng.choice(",;\t|")).encode())
    for _ in range(rng.choice([1, 3, 20, 200])):
        content[rng.randrange(len(content))] = rng.randrange(256)
    if rng.random() < 0.3:
        del content[rng.randrange(len(content)) :]
    if rng.random() < 0.2:
        content[:0] = rng.choice([b"PAR1\0", b"PK\x03\x04", b"\xef\xbb\xbf\xef\xbb\xbf", b"\0" * 100, b"\n" * 1000, b'"', b"%PDF-", b"{\n"])
    (place / "people.csv").write_bytes(content)
    return Attempt(people.synthesize(quoting=rng.choice([None, "standard", "none"])), charges=True)


@of_group("content")
def not_a_table(rng: random.Random, place: Path) -> Attempt:
    """Files of another kind, and tables without what a table needs."""
    name = ",".join(people.HEADER)
    content = rng.choice(
        [
            b"",
            b"\n",
            b"\n" * 5000,
            b"\0" * 5000,
            name.encode(),
            f"{name}\n".encode(),
            gzip.compress(people.text(rng).encode()),
            b"PAR1PAR1",
            b"\x7fELF",
            b"<html><body>",
            json.dumps(people.domain()).encode(),
            os.urandom(0) + rng.randbytes(3000),
            b"name\n" * 100,
            f"{name}\n{name}\n".encode() * 3,
        ]
    )
    (place / "people.csv").write_bytes(content)
    return Attempt(people.synthesize(), charges=True)


@of_group("content")
def long_lines(rng: random.Random, place: Path) -> Attempt:
    """Lines, cells and quotes of any length."""
    piece = rng.choice(["x", "1", '"', ",", "\r", " ", "\x00", '"\n', "é"])
    long = piece * rng.choice([1000, 100_000, 1_000_000])
    good = people.text(rng)
    content = rng.choice([good + long, long + "\n" + good, good + long + "\n" + good, good.replace("p3", long, 1)])
    (place / "people.csv").write_bytes(content.encode())
    return Attempt(people.synthesize(quoting=rng.choice([None, "standard", "none"])), charges=True)


@of_group("content")
def swapped_files(rng: random.Random, place: Path) -> Attempt:
    """The sensitive table where a document is wanted: nothing of it may be quoted."""
    if rng.random() < 0.5:
        shape = rng.choice(["[{}]", "{{{}}}", "{}"])
        pairs = [f'"{row[0]}": "{row[2]}"' for row in people.rows(rng)]
        (place / "table.json").write_text(shape.format(", ".join(pairs) + ", " + pairs[2]))
    else:
        (place / "table.json").write_text(people.text(rng, delimiter=rng.choice(",;\t")))
    arguments = rng.choice(
        [
            people.synthesize(domain="table.json"),
            people.synthesize(workload="table.json"),
            ("run", "table.json", "--out", "out"),
            ("verify", "table.json"),
            ("ledger", "check", "table.json"),
            ("recover", "table.json", "--out", "out"),
            ("audit", "--spec", "table.json"),
        ]
    )
    return Attempt(arguments, BAD)


# How columns are called


@of_group("columns")
def names(rng: random.Random, place: Path) -> Attempt:
    """Odd names in header and domain, sometimes the same in both."""
    odd = [name for name in values.TEXTS if "\n" not in name and "\x00" not in name]
    chosen = [rng.choice([*odd, name, name]) for name in people.HEADER]
    quoted = ['"' + name.replace('"', '""') + '"' if rng.random() < 0.5 else name for name in chosen]
    body = people.text(rng).split("\n", 1)[1]
    (place / "people.csv").write_bytes((",".join(quoted) + "\n" + body).encode())
    domain = people.domain()
    for attribute, name in zip(domain["attributes"], chosen[1:], strict=True):
        attribute["name"] = name if rng.random() < 0.8 else rng.choice([f" {name}", f"\ufeff{name}", name.upper(), name + "\x00"])
    (place / "domain.json").write_text(json.dumps(domain))
    return Attempt(people.synthesize(person_column=rng.choice([None, chosen[0], chosen[1], "nobody", ""])), charges=True)


@of_group("columns")
def many_columns(rng: random.Random, place: Path) -> Attempt:
    """A header of up to a hundred thousand names; of the domain the usual ones."""
    extra = rng.choice([10, 1000, 20_000, 100_000])
    header = [*people.HEADER, *(f"c{i}" for i in range(extra - 1)), rng.choice(["last", "age", "c0", ""])]
    lines = [",".join(header)] + [",".join(row + ["0"] * extra) for row in people.rows(rng, 6)]
    (place / "people.csv").write_text("\n".join(lines))
    return Attempt(people.synthesize(), charges=True, seconds=40)


@of_group("columns")
def many_in_use(rng: random.Random, place: Path) -> Attempt:
    """A domain of very many columns."""
    count = rng.choice([1001, 20_000, 100_000])
    (place / "people.csv").write_text(",".join(f"c{i}" for i in range(count)) + "\n" + ",".join("1" * count) + "\n")
    (place / "domain.json").write_text(json.dumps({f"c{i}": 2 for i in range(count)}))
    return Attempt(people.synthesize(workload=rng.choice(["all-1way", "all-2way", f"all-{count}way"])), BAD, charges=True, seconds=40)


# Folders


@of_group("folders")
def mixed_folder(rng: random.Random, place: Path) -> Attempt:
    """Files of one table, and among them one that is none of it."""
    folder = place / "table"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.csv").write_text(people.text(rng))
    odd = folder / rng.choice(["9.csv", "deeper/9.csv", "0.CSV", ".hidden.csv", "notes.txt", "x.parquet"])
    odd.parent.mkdir(exist_ok=True)
    change = rng.randrange(9)
    other = people.text(rng)
    if change == 0:
        odd.symlink_to(folder / "1.csv")
    elif change == 1:
        odd.hardlink_to(folder / "1.csv")
    elif change == 2:
        os.mkfifo(odd)
    elif change == 3:
        odd.symlink_to(rng.choice(["/dev/zero", "/nowhere", str(folder), str(odd)]))
    else:
        header, body = other.split("\n", 1)
        headers = [
            header,
            header.replace("name", "who"),
            header.replace("age,sex", "sex,age"),
            header + ",more",
            "age,sex",
            "",
            header.upper(),
        ]
        odd.write_text(rng.choice(headers) + "\n" + rng.choice([body, "", rng.choice(values.TEXTS)]))
    return Attempt(people.synthesize("table"), charges=True)


@of_group("folders")
def parquet_folder(rng: random.Random, place: Path) -> Attempt:
    """Parquet files that do not go together."""
    folder = place / "table"
    for number in range(2):
        part = folder / rng.choice([".", "sex=f", "sex=m", "age=1", "=", "x=y=z"])
        part.mkdir(parents=True, exist_ok=True)
        table = _typed(rng)
        if rng.random() < 0.5:
            table = table.drop_columns([rng.choice(table.column_names)])
        if rng.random() < 0.2:
            table = table.rename_columns([rng.choice([name, f" {name}", name.upper()]) for name in table.column_names])
        pq.write_table(table, part / f"{number}.parquet")
    if rng.random() < 0.3:
        (folder / "9.parquet").write_bytes(rng.choice([b"", b"PAR1", b"PAR1" * 10, rng.randbytes(500)]))
    return Attempt(people.synthesize("table"), charges=True)


@of_group("folders")
def many_files(rng: random.Random, place: Path) -> Attempt:
    """Hundreds of files, or folders without any."""
    folder = place / "table"
    folder.mkdir()
    for number in range(rng.choice([0, 1, 300])):
        (folder / f"{number}.csv").write_text("name,age,sex,pay,day\n" + ",".join(people.rows(rng, 1)[0]) + "\n")
    return Attempt(people.synthesize("table"), charges=True)


# Parquet


def _typed(rng: random.Random, count: int = 30) -> pa.Table:
    table = people.rows(rng, count)
    return pa.table(
        {
            "name": [row[0] for row in table],
            "age": [int(row[1]) for row in table],
            "sex": [row[2] for row in table],
            "pay": [float(row[3]) for row in table],
            "day": [row[4] for row in table],
        }
    )


@of_group("parquet")
def types(rng: random.Random, place: Path) -> Attempt:
    """Columns of every type that Arrow has."""
    count = 30
    numbers = [rng.choice([None, 0, 1, 5, 60]) for _ in range(count)]
    texts = [rng.choice([None, "f", "m", people.CANARIES[0]]) for _ in range(count)]

    def column() -> pa.Array:
        kind = rng.choice(
            [
                pa.int8(),
                pa.uint64(),
                pa.float16(),
                pa.float64(),
                pa.bool_(),
                pa.decimal128(25, 2),
                pa.decimal256(60, 2),
                pa.date32(),
                pa.date64(),
                pa.time64("us"),
                pa.timestamp("s"),
                pa.timestamp("ns", "Europe/Berlin"),
                pa.timestamp("us", "Nowhere/Land"),
                pa.timestamp("ms", "+25:99"),
                pa.duration("s"),
                pa.string(),
                pa.large_string(),
                pa.binary(),
                pa.binary(3),
                pa.null(),
                pa.list_(pa.int64()),
                pa.struct([("a", pa.string())]),
                pa.map_(pa.string(), pa.int64()),
                pa.dictionary(pa.int32(), pa.string()),
                pa.list_(pa.list_(pa.string())),
            ]
        )
        return _array(rng, kind, numbers, texts)

    pq.write_table(pa.table({name: column() for name in people.HEADER}), place / "people.parquet")
    return Attempt(people.synthesize("people.parquet", person_column=rng.choice([None, "name", "age"])), charges=True)


def _array(rng: random.Random, kind: pa.DataType, numbers: list[Any], texts: list[Any]) -> pa.Array:
    if pa.types.is_list(kind):
        inner = texts if pa.types.is_string(kind.value_type) else [None] * len(numbers)
        return pa.array([None if value is None else [value] for value in inner]) if inner is texts else pa.nulls(len(numbers), kind)
    if pa.types.is_struct(kind):
        return pa.array([{"a": value} for value in texts], kind)
    if pa.types.is_map(kind):
        return pa.array([None if value is None else [(value, 1)] for value in texts], kind)
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.array(texts, pa.string()).cast(kind)
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.array([None if value is None else rng.randbytes(3) for value in texts], kind)
    if pa.types.is_null(kind):
        return pa.nulls(len(numbers))
    if pa.types.is_boolean(kind):
        return pa.array([None if value is None else value > 0 for value in numbers])
    if pa.types.is_float16(kind):
        return pa.array([None if value is None else float(value) for value in numbers], pa.float32()).cast(kind)
    if pa.types.is_date(kind):
        return pa.array(numbers, pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    return pa.array(numbers, pa.int64()).cast(kind)


@of_group("parquet")
def flipped_bits(rng: random.Random, place: Path) -> Attempt:
    """A good file with damaged bytes, or its end cut off."""
    whole = place / "people.parquet"
    pq.write_table(_typed(rng, 200), whole, compression=rng.choice(["none", "snappy", "zstd", "gzip"]), row_group_size=50)
    content = bytearray(whole.read_bytes())
    low = rng.choice([0, len(content) - 1500])
    for _ in range(rng.choice([1, 2, 10, 100])):
        content[rng.randrange(max(0, low), len(content))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        del content[rng.randrange(len(content)) :]
    whole.write_bytes(content)
    return Attempt(people.synthesize("people.parquet", person_column=rng.choice([None, "name"])), charges=True)


@of_group("parquet")
def large_values(rng: random.Random, place: Path) -> Attempt:
    """Few bytes of file, many of content."""
    table = _typed(rng, rng.choice([1, 500]))
    long = pa.array([rng.choice(["x" * 100_000, "y"]) for _ in range(table.num_rows)])
    name = rng.choice(table.column_names)
    table = table.set_column(table.column_names.index(name), name, long)
    pq.write_table(table, place / "people.parquet", compression="zstd")
    return Attempt(people.synthesize("people.parquet"), ANY, charges=True)


# Tables that change after the charge

AFTER_THE_CHARGE = frozenset({DONE, FAILED})
"""Whatever was read before, the charge is made; the run ends well or says that the charge stays."""


@of_group("midway")
def changed_after_the_charge(rng: random.Random, place: Path) -> Attempt:
    """Cut off, emptied, removed, damaged or replaced by something else."""
    name = rng.choice(["people.csv", "people.parquet", "table"])
    file = place / name
    if name == "people.parquet":
        pq.write_table(_typed(rng, 200), file, row_group_size=50)
    if name == "table":
        file.mkdir()
        for number in range(3):
            (file / f"{number}.csv").write_text(people.text(rng))
        file = file / "1.csv"
    content, other = bytearray(file.read_bytes()), people.text(rng).replace("age", "wage")
    cut, damage = rng.randrange(len(content)), [(rng.randrange(len(content)), rng.randrange(256)) for _ in range(50)]

    def damaged() -> None:
        for at, byte in damage:
            content[at] = byte
        file.write_bytes(content)

    changes = [
        file.unlink,
        damaged,
        lambda: file.write_bytes(b""),
        lambda: file.write_bytes(content[:cut]),
        lambda: file.write_text(other),
        lambda: (file.unlink(), file.mkdir()),
        lambda: (file.unlink(), os.mkfifo(file)),
        lambda: (file.unlink(), file.symlink_to("/dev/zero")),
    ]
    change = rng.choice(changes)
    person = rng.choice([None, "name"])
    return Attempt(people.synthesize(name, person_column=person), AFTER_THE_CHARGE, charges=True, meanwhile=lambda: (change(), None)[1])
