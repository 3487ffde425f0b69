"""The project's public table as the pages see it: taking one in, letting it go, and how it differs from the domain.

All of it may be shown: the curator says that it is public. The one look at the private table compares files byte by byte, so that the same
table is not taken for both; only whether they are the same is kept, as a refusal.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import demo, files, guess, public
from dpsynth_core.sources.detect import detect_without_doubt
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import Guess
from dpsynth_core.sources.public import FIELD, Differences
from dpsynth_core.store import projects
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell.document import Draft

SHELF: projects.Shelf = "public"
TWIN_ROWS, TWIN_SEED, TWIN = 5_000, 8, "simulated-twin.csv"


@dataclass(frozen=True)
class PublicFile:
    """section: the draft's "public". columns: of the file."""

    section: dict[str, Any]
    columns: tuple[str, ...]


def from_upload(owner: str, project: str, name: str, content: BinaryIO, draft: Draft) -> PublicFile:
    """Keep an uploaded file as the project's public table, in place of an earlier one. Raises InputError and keeps nothing where it is no
    table, or is the private table itself."""

    def look_at(path: Path) -> PublicFile:
        form = detect_without_doubt(path, "public table")
        table = files.opened(path, form)
        table.check()
        _check_not_private(path, draft)
        return PublicFile(form.section(path) | {"sha256": public.digest(path)}, table.column_names())

    return projects.replace_upload(owner, project, name, content, look_at, SHELF)


def twin(owner: str, project: str, draft: Draft) -> PublicFile:
    """Other simulated people, to try public data with."""
    content = demo.simulate(rows=TWIN_ROWS, seed=TWIN_SEED).to_csv(index=False).encode()
    return from_upload(owner, project, TWIN, io.BytesIO(content), draft)


def adopt(draft: Draft, file: PublicFile) -> None:
    draft["public"] = file.section
    draft.setdefault("wizard", {})["public_columns"] = list(file.columns)


def disown(draft: Draft) -> None:
    draft.pop("public", None)
    draft.get("wizard", {}).pop("public_columns", None)


def label(section: dict[str, Any]) -> str:
    """What to call it on screen: hostile text."""
    return Path(section["path"]).name


def differences(section: dict[str, Any], domain: Domain) -> Differences:
    """How it differs from a domain. Raises InputError if the file is gone or cannot be read."""
    return public.compare(Path(section["path"]), TableFormat.of(section), domain)


def of_headers(ours: tuple[str, ...], theirs: tuple[str, ...]) -> Differences:
    """What can be said before there is a domain: which columns only one of the two tables has."""
    missing, extra = (tuple(n for n in one if n not in other) for one, other in ((ours, theirs), (theirs, ours)))
    return Differences(missing, extra, {}, rows=2)


def look(section: dict[str, Any]) -> tuple[Guess, ...]:
    """What its columns look like: a domain that costs nothing."""
    return guess.propose(section["path"], TableFormat.of(section), is_public=True).value


def _check_not_private(path: Path, draft: Draft) -> None:
    private = "" if project_table.is_database(draft) else draft.get("data", {}).get("path")
    if private and Path(private).exists() and public.is_same_table(path, Path(private)):
        raise InputError(FIELD, "this is the private table itself; it was not kept here", "choose a table that is public already, or none")
