"""Tables in the other formats: JSON lines, packed text, Feather, workbooks, SPSS, Stata, SAS."""

from __future__ import annotations

import gzip
import random
import tempfile
from functools import cache
from pathlib import Path

import pyarrow as pa

from tests.additions import listed
from tests.hostile import bombs, people, values
from tests.hostile.attempts import BAD, Attempt, of_group
from tests.sources.written import WRITERS

_ENDINGS = sorted(WRITERS)
_HEAVY = (".parquet", *listed("HEAVY"))
"""Bombs that are refused when they have filled all the memory that they may take."""


@cache
def _written(ending: str) -> bytes:
    """A good file of a kind; made once, because some writers take long."""
    rows = people.rows(random.Random(3), 40)
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(people.HEADER)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"people{ending}"
        WRITERS[ending](table, path)
        return path.read_bytes()


@of_group("formats")
def damaged(rng: random.Random, place: Path) -> Attempt:
    """A good file with damaged bytes, its end cut off, or under the name of another kind."""
    ending = rng.choice(_ENDINGS)
    content = bytearray(_written(ending))
    for _ in range(rng.choice([0, 1, 3, 30])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        del content[rng.randrange(len(content)) :]
    name = f"people{ending if rng.random() < 0.8 else rng.choice(_ENDINGS)}"
    (place / name).write_bytes(content)
    return Attempt(people.synthesize(name, person_column=rng.choice([None, "name"])), charges=True)


@of_group("formats")
def json_lines(rng: random.Random, place: Path) -> Attempt:
    """Lines of JSON of which some are none, or say something else."""
    lines = [values.encode(dict(zip(people.HEADER, row, strict=True))) for row in people.rows(rng)]
    for _ in range(rng.randint(1, 8)):
        record = dict(zip(people.HEADER, people.rows(rng, 3)[2], strict=True)) | {
            rng.choice([*people.HEADER, "more"]): values.any_value(rng)
        }
        odd = rng.choice(["", "null", "[]", "{", "9" * 5000, "[" * 5000, values.encode(values.any_value(rng)), values.encode(record)])
        lines.insert(rng.randint(0, len(lines)), odd)
    (place / "people.jsonl").write_text("\n".join(lines), errors="replace")
    return Attempt(people.synthesize("people.jsonl", person_column=rng.choice([None, "name"])), charges=True)


@of_group("formats")
def few_bytes_for_many(rng: random.Random, place: Path) -> Attempt:
    """Packed files that unpack to far more, and packed garbage."""
    text = people.text(rng).encode()
    content = rng.choice(
        [
            gzip.compress(text + b"\0" * 5_000_000, 9),
            gzip.compress(text + b"p,1,f,1,2020-01-01\n" * 50_000, 9),
            gzip.compress(text + b"x" * 5_000_000, 9),
            gzip.compress(gzip.compress(text)),
            gzip.compress(text)[:-9],
            gzip.compress(text) + b"garbage",
            gzip.compress(b""),
        ]
    )
    (place / "people.csv.gz").write_bytes(content)
    return Attempt(people.synthesize("people.csv.gz", quoting=rng.choice([None, "standard"])), charges=True)


@of_group("formats")
def exploding(rng: random.Random, place: Path) -> Attempt:
    """Small files that take gigabytes, or make the library that reads them fall over."""
    (ending,) = rng.choices(list(bombs.BOMBS), [1 if ending in _HEAVY else 5 for ending in bombs.BOMBS])
    name = f"people{ending}"
    (place / name).write_bytes(bombs.BOMBS[ending](people.HEADER))
    return Attempt(people.synthesize(name), codes=BAD, charges=True)
