"""Work on a bundle in a process with limits (`confined`).

In these functions, `place` is the path of a ZIP or folder, or the bytes of a ZIP, and `public` the path of the public table, or "".
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from queue import Queue
from typing import Any, BinaryIO, cast

from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.checks.opened import damaged, release_with_rows
from dpsynth_core.bundle.reproduce import published, refitted, replayed, reproduce
from dpsynth_core.bundle.unpack import DAMAGE, Bundle
from dpsynth_core.bundle.verdicts import INCONSISTENT, Running
from dpsynth_core.bundle.verify import checking, verify
from dpsynth_core.foundation import build, extension
from dpsynth_core.foundation.content import PART_BYTES, Digest, Sink, Writer
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.release import document as releases
from dpsynth_core.release import row_files, sampling, tables
from dpsynth_core.release.about import About
from dpsynth_core.release.release import Progress
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.report import asking, change

_END = object()


def verified(place: str | bytes) -> Iterator[dict[str, Any]]:
    """Yield {"running": fields of `Running`} before each check, and the fields of a `Report` last.

    A bundle that is not a release has the checks of its own kind.

    Raises:
        InputError: The bundle cannot be read.
    """
    bundle = unpack.read_any_bytes(place) if isinstance(place, bytes) else unpack.read_any(Path(place))
    for said in (checking if bundle.kind is None else extension.load(bundle.kind.check))(bundle):
        yield {"running": asdict(said)} if isinstance(said, Running) else asdict(said)


def repeated(place: str | bytes, public: str) -> Iterator[dict[str, Any]]:
    """Run the mechanism again, and yield the fields of the `Check` that `reproduce.replayed` returns.

    Raises:
        InputError: The bundle cannot be read or is not a release, or the public table cannot be used.
    """
    yield asdict(replayed(_read(place), _path(public)))


def reproduced(place: str | bytes, public: str) -> Iterator[Any]:
    """Run the mechanism again, and yield messages for `confined`.

    They are {"step": ...} for each step of the run, then {"file": name} before the bytes of each
    file of rows, and last {"different": ..., "versions": ...}.

    Raises:
        InputError: The bundle cannot be read, or its mechanism cannot be run again (`reproduce.reproduce`).
    """
    yield from _said(partial(_reproduce, _read(place), _path(public)))


def sampled(place: str | bytes, public: str, rows: int, where: list[str], seed: int, form: str, file: str) -> Iterator[Any]:
    """Draw rows from the bundle's model, and yield messages for `confined`.

    They are {"step": ...} for each step of the fit, then {"file": form} before the bytes of the
    file of rows, and last {"errors": ..., "beside": ...}: a sentence about the rows' known errors,
    and the texts of further files. These are by the end of their names, each of which is `file`
    followed by this end.

    Args:
        place: The bundle.
        public: Path of the public table, or "".
        rows: Number of rows.
        where: Conditions COLUMN=VALUE on the rows; everybody if empty.
        seed: Seed of the draw.
        form: A format of `row_formats.FORMATS`.
        file: Name that the file of rows will have.

    Raises:
        InputError: The bundle cannot be read, or its model cannot be fitted or has no such rows.
    """
    yield from _said(partial(_sample, _read(place), _path(public), rows, where, seed, form, file))


def compared(before: str, after: str, form: str) -> Iterator[Any]:
    """Yield the summary of the changes between two releases, a list of lines, then the report's bytes.

    Args:
        before: Path of the earlier bundle.
        after: Path of the later bundle.
        form: Format of the report: "html" or "md".

    Raises:
        InputError: A bundle cannot be read, or is not a release.
    """
    first, second = published(_read(before)), published(_read(after))
    found = change.changed(first, second)
    yield change.summary(first, second, found)
    yield (change.html if form == "html" else change.markdown)(first, second, found).encode()


def asked(place: str | bytes, typed: dict[str, Any]) -> Iterator[str]:
    """Yield the answer to a typed question line by line.

    Args:
        place: The bundle.
        typed: The fields of `Asked`.

    Raises:
        InputError: The question cannot be answered, or the bundle is damaged. A failure is
            attributed to damage only if `verify` finds the bundle inconsistent.
    """
    bundle = _read(place)
    try:
        answer = str(asking.ask_typed(release_with_rows(bundle), asking.Asked(**typed)))
    except InputError:
        raise
    except DAMAGE:
        if verify(bundle).verdict != INCONSISTENT:
            raise
        raise damaged() from None
    yield from answer.splitlines()


def planned(place: str | bytes) -> Iterator[dict[str, Any]]:
    """Yield the fields of the bundle's spec. No code of another package is loaded.

    Raises:
        InputError: The spec cannot be read (`unpack.plan_of`).
    """
    yield unpack.plan_of(_read(place), package="").spec.model_dump(mode="json")


def _said(work: Callable[[Callable[[Any], None]], None]) -> Iterator[Any]:
    """Run `work` in a thread, and yield everything that it passes to its callback, in order."""
    said = Queue[Any](maxsize=1)

    def say_all() -> None:
        try:
            work(said.put)
        finally:
            said.put(_END)

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(say_all)
        yield from iter(said.get, _END)
        done.result()


def _reproduce(bundle: Bundle, public: Path | None, say: Callable[[Any], None]) -> None:
    def step(progress: Progress) -> None:
        say({"step": progress.to_json()})

    again = reproduce(bundle, step, public)
    for name, write in releases.row_writers(again.made).items():
        content = _say_file(say, name, write)
        domain = tables.domain_of(again.made.plan, name)
        for beside, text in extension.beside(name, content, domain, again.made.about).items():
            _say_file(say, beside, partial(_write_bytes, text))
    say({"different": again.different, "versions": again.versions})


def _sample(
    bundle: Bundle, public: Path | None, rows: int, where: list[str], seed: int, form: str, file: str, say: Callable[[Any], None]
) -> None:
    fitted = refitted(bundle, lambda progress: say({"step": progress.to_json()}), public)
    domain, about = fitted.plan.domain, About.of(fitted.plan.spec, program=build.identity())
    row_files.check(domain, about, [form])
    sample = sampling.sample(fitted, rows, sampling.parse_where(domain, where), seed)
    content = _say_file(say, form, lambda stream: FORMATS[form].write(sample.rows, domain, stream, about))
    beside = {name.removeprefix(file): text.decode() for name, text in extension.beside(file, content, domain, about).items()}
    say({"errors": sample.errors, "beside": beside})


def _say_file(say: Callable[[Any], None], name: str, write: Writer) -> Digest:
    """Say a file's name and its bytes, and return their digest."""
    hashed = sha256()

    def said(part: Any) -> None:
        hashed.update(part)
        say(bytes(part))

    say({"file": name})
    stream = io.BufferedWriter(sink := Sink(said), PART_BYTES)
    write(cast(BinaryIO, stream))
    stream.flush()
    stream.detach()
    return Digest(sink.size, hashed.hexdigest())


def _write_bytes(text: bytes, stream: BinaryIO) -> None:
    stream.write(text)


def _read(place: str | bytes) -> Bundle:
    return unpack.read_bytes(place) if isinstance(place, bytes) else unpack.read(Path(place))


def _path(public: str) -> Path | None:
    return Path(public) if public else None
