"""Options, paths, recovery and the ledger's commands."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
from pathlib import Path
from zlib import crc32

from tests.additions import added
from tests.hostile import people, values
from tests.hostile.attempts import ANY, BAD, Attempt, of_group
from tests.hostile.prepared import home_with_books, spool

_NUMBERS = (
    "0",
    "-1",
    "1e-6",
    "1e-300",
    "1e308",
    "1e999",
    "nan",
    "inf",
    "",
    " 1",
    "1,5",
    "²",
    "٣",
    "0x1",
    "1_0",
    "9" * 40,
    "9" * 5000,
    "true",
    "[]",
    "1e-9",
)


@of_group("options")
def numbers(rng: random.Random, _place: Path) -> Attempt:
    """Every number of a release as anything else."""
    options = ["epsilon", "delta", "certificate", "models_share", "ranges_share", "rows", "seed", "max_rows_per_person"]
    given = {option: rng.choice(_NUMBERS) for option in rng.sample(options, rng.choice([1, 1, 2]))}
    return Attempt(people.synthesize(**given), charges=True)


@of_group("options")
def words(rng: random.Random, _place: Path) -> Attempt:
    """Every word as anything else."""
    options = ["mechanism", "relation", "person_column", "encoding", "delimiter", "quoting", "missing", "set", "population", "model"]
    odd = [text for text in values.TEXTS if "\x00" not in text] + [
        "\udcff",
        "rounds=1",
        "=",
        "a=b=c",
        "max_size_mb=nan",
        "not in the ledger",
        "aim",
        "replace",
    ]
    given = {option: rng.choice(odd) for option in rng.sample(options, rng.choice([1, 1, 2]))}
    return Attempt(people.synthesize(**given), charges=given.get("population") is None)


@of_group("options")
def settings(rng: random.Random, _place: Path) -> Attempt:
    """Parameters of mechanisms at the ends of their range and beyond, without a run that takes long."""
    name, knobs = rng.choice(
        [
            ("aim", ["max_size_mb", "rounds_per_attribute", "reserve_rounds", "measure_share"]),
            ("mst", ["max_size_mb"]),
            *((name, knobs) for module in added("hostile_settings") for name, knobs in module.KNOBS.items()),
            ("independent", ["rounds"]),
        ]
    )
    value = rng.choice([*_NUMBERS, "4096", "0.1", "1", "0.99", "100"])
    return Attempt(people.synthesize(mechanism=name, set=f"{rng.choice(knobs)}={value}", workload="all-2way"), charges=True, seconds=60)


@of_group("options")
def markers(rng: random.Random, _place: Path) -> Attempt:
    """Missing markers, up to thousands of them."""
    odd = ["", " ", "f", "NA", "-9", "1e400", "nan", "x" * 5000, "\ufeff"]
    texts = [rng.choice(odd) for _ in range(3)] + [str(number) for number in range(rng.choice([0, 500, 5000]))]
    return Attempt((*people.synthesize(), *(part for text in texts for part in ("--missing", text))), charges=True)


@of_group("options")
def command_lines(rng: random.Random, _place: Path) -> Attempt:
    """Commands without what they need, with what they do not know, and options that are there twice."""
    parts = list(people.synthesize())
    for _ in range(rng.randint(1, 3)):
        change = rng.randrange(3)
        if change == 0:
            del parts[rng.randrange(len(parts))]
        elif change == 1:
            parts.insert(
                rng.randrange(len(parts) + 1),
                rng.choice(["--no-such", "-x", "--", "", "--out=", "--epsilon=2", "@people.csv", "x" * 9000, "verify"]),
            )
        else:
            parts[rng.randrange(len(parts))] = rng.choice(values.TEXTS).replace("\x00", "")
        parts = parts or ["x"]
    if "verify" in parts[:1] or "audit" in parts[:1]:
        parts[0] = "x"
    return Attempt(tuple(parts), frozenset({0, 1, 2}) if "--answers" in parts else ANY)


def _strange(rng: random.Random, place: Path) -> str:
    """The name of something that is not an ordinary file, or of nothing."""
    kind = rng.randrange(13)
    name = place / "strange"
    if kind == 0:
        os.mkfifo(name)
    elif kind == 1:
        name.mkdir()
    elif kind == 2:
        here = os.getcwd()
        os.chdir(place)  # the name of a socket may not be long
        try:
            socket.socket(socket.AF_UNIX).bind("strange")
        finally:
            os.chdir(here)
    elif kind == 3:
        name.symlink_to(rng.choice(["/dev/zero", "/dev/full", "/nowhere", "strange", "/proc/self/mem"]))
    elif kind == 4:
        name.write_bytes(rng.choice([b"", b"\xff\xfe\x00", b"\0" * 10_000, b"{" * 10_000, b"x" * 1_000_000]))
    elif kind == 5:
        return rng.choice(["/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/proc/kmsg", "/proc/kmsg", "/proc/self/environ", "/"])
    elif kind == 6:
        return rng.choice(
            ["a\x00b", "x" * 300, "x" * 5000, "y/" * 3000, "", ".", "..", "~nosuchuser/x", "~", "\udcff", "nowhere", "nowhere/at/all", "\n"]
        )
    elif kind == 7:
        with name.open("wb") as stream:
            stream.truncate(200_000_000_000)  # sparse
    else:
        return "nowhere"
    return "strange"


@of_group("paths")
def strange_files(rng: random.Random, place: Path) -> Attempt:
    """FIFOs, devices, sockets, folders, links and nonsense for every option that takes a file."""
    strange = _strange(rng, place)
    inside = "nowhere" if strange.startswith("/") else strange  # nothing is ever written outside of the case's folder
    release = people.synthesize()
    arguments = rng.choice(
        [
            people.synthesize(strange),
            people.synthesize(domain=strange),
            people.synthesize(workload=strange),
            people.synthesize(public=strange, mechanism="aim_public"),
            people.synthesize(out=inside),
            ("run", strange, "--out", "out"),
            ("recover", strange, "--out", "out"),
            ("verify", strange),
            ("reproduce", strange, "--out", "out"),
            ("sample", strange, "--rows", "5", "--output", "more.csv"),
            ("compare", strange, strange, "--report", "changed.html"),
            ("ask", strange, "count"),
            ("next", strange, "people.csv", "--out", "next.json"),
            ("ledger", "check", strange),
            ("ledger", "restore", "--reason", "the disk failed", strange),
            ("audit", "--spec", strange),
            release,
        ]
    )
    variable = rng.choice(["DPSYNTH_LEDGER_HEAD", "DPSYNTH_HOME"])
    environment = {variable: inside} if rng.random() < 0.3 and inside.isprintable() else {}
    usable = frozenset({0, 2})
    return Attempt(arguments, usable, environment=environment)


@of_group("paths")
def paths_in_a_spec(rng: random.Random, place: Path) -> Attempt:
    """The same for the tables that a spec names."""
    document = people.spec()
    strange = _strange(rng, place)
    if rng.random() < 0.7:
        document["data"]["path"] = strange
    else:
        document |= {"public": {"path": strange}, "mechanism": {"name": "aim_public"}}
    (place / "spec.json").write_text(json.dumps(document))
    return Attempt(("run", "spec.json", "--out", "out", "--population", "people"), charges=True)


@of_group("paths")
def places_to_write(rng: random.Random, place: Path) -> Attempt:
    """--out that is in the way of itself."""
    out = place / "out"
    change = rng.randrange(5)
    if change == 0:
        (out / rng.choice(["release.json", "synthetic.csv", "release.zip"])).mkdir(parents=True)
    elif change == 1:
        out.write_text("a file")
    elif change == 2:
        out.symlink_to(rng.choice(["/dev/null", "/nowhere/x", "out", "/proc"]))
    elif change == 3:
        (place / "out.interrupted").write_text("kept")
    else:
        (place / "release.json").write_text("{}")
    return Attempt(people.synthesize(population=None) if change == 3 else people.synthesize(), charges=change != 3)


@of_group("recover")
def spoiled_spool(rng: random.Random, place: Path) -> Attempt:
    """What a run of a version without checksums kept, with a line swapped, spoiled, cut or gone."""
    lines = spool()
    at = rng.randrange(len(lines))
    change = rng.randrange(6)
    if change == 0:
        del lines[at]
    elif change == 1:
        lines.append(lines[at])
    elif change == 2:
        lines[at] = lines[at][: rng.randrange(len(lines[at]))]
    elif change == 3:
        lines[at] = rng.choice(
            ["null", "[]", "{}", "9" * 5000, "[" * 5000, '{"answer": {}, "paid": []}', '{"answer": null, "paid": [null]}']
        )
    else:
        at = 0 if change == 4 else at
        document = json.loads(lines[at])
        lines[at] = values.encode(values.spoiled(rng, document, rng.choice(list(values.paths(document)))))
    (place / "kept").write_text("\n".join(lines) + "\n", errors="replace")
    flags = ["--answers"] if rng.random() < 0.5 else []
    return Attempt(("recover", "kept", "--out", "out", *flags), replays=True)


@of_group("recover")
def bytes_of_a_spool(rng: random.Random, place: Path) -> Attempt:
    content = bytearray(b"".join(b"%b\t%08x\n" % (line, crc32(line)) for line in map(str.encode, spool())))
    for _ in range(rng.choice([1, 5, 50])):
        content[rng.randrange(len(content))] = rng.randrange(256)
    (place / "out.interrupted").write_bytes(content)
    return Attempt(("recover", "--out", "out"), replays=True)


@of_group("ledger")
def commands(rng: random.Random, place: Path) -> Attempt:
    """The ledger's commands with odd arguments, on books that are whole."""
    shutil.copytree(home_with_books(), place / "books")
    odd = rng.choice([*values.TEXTS, "x" * 16, "0" * 64, "0" * 15]).replace("\x00", "")
    arguments = rng.choice(
        [
            ("ledger", "check", "--head", odd),
            ("ledger", "restore", "--reason", odd),
            ("ledger", "export", "--format", odd),
            ("ledger", odd),
            ("ledger", "check", odd),
            ("ledger", "check"),
            ("ledger", "export"),
            ("ledger",),
        ]
    )
    return Attempt(arguments, frozenset({0, 1, 2}), environment={"DPSYNTH_HOME": str(place / "books")})


@of_group("ledger")
def spoiled_export(rng: random.Random, place: Path) -> Attempt:
    """An export with any value swapped, checked or restored from."""
    shutil.copytree(home_with_books(), place / "books")
    document = json.loads((place / "books" / "export.json").read_text())
    path = rng.choice(list(values.paths(document)))
    (place / "export.json").write_text(values.encode(values.spoiled(rng, document, path)))
    command = rng.choice([("ledger", "check"), ("ledger", "restore", "--reason", "lost")])
    return Attempt((*command, "export.json"), frozenset({0, 1, 2}), environment={"DPSYNTH_HOME": str(place / "books")})


@of_group("ledger")
def damaged_home(rng: random.Random, place: Path) -> Attempt:
    """A release with books that are damaged: nothing may be charged to them."""
    shutil.copytree(home_with_books(), place / "books")
    file = place / "books" / rng.choice(["dpsynth.sqlite", "ledger.head", "fingerprint.key"])
    change = rng.randrange(5)
    if change == 0:
        file.unlink()
    elif change == 1:
        file.write_bytes(b"")
    elif change == 2:
        file.write_bytes(
            rng.choice([b"x", b"{}", b"[]", b"null", b"SQLite format 3\0" + b"\0" * 5000, b'{"number": "1", "hash": 2}', b"9" * 5000])
        )
    elif change == 3:
        file.unlink()
        file.mkdir()
    else:
        content = bytearray(file.read_bytes())
        for _ in range(20):
            content[rng.randrange(len(content))] = rng.randrange(256)
        file.write_bytes(content)
    arguments = rng.choice([people.synthesize(), ("ledger", "check"), ("ledger", "export")])
    codes = BAD | {1} if arguments[0] == "ledger" else BAD
    if change == 4 or file.name == "fingerprint.key" or arguments[:2] == ("ledger", "export"):
        codes = codes | {0}
    return Attempt(arguments, codes, environment={"DPSYNTH_HOME": str(place / "books")})
