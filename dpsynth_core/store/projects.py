"""Projects: the drafts that the wizard edits, with their uploads. Each belongs to one owner, who may share it with others (`sharing`).

A draft is any JSON object; it is saved whole, in one transaction. Pages and `spec` interpret it;
this module only compares its domain with the former one, because looks depend on that.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

from dpsynth_core.foundation import settings
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.private_files import private_directory, private_file, sync
from dpsynth_core.planning.private_views import Look
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import audit_actions, dispatch, recorded_views, roles, sharing, spools
from dpsynth_core.store.connection import Connection, Row
from dpsynth_core.store.database import connect, reading, transaction
from dpsynth_core.store.faults import BooksLost, explained
from dpsynth_core.store.folders import new_id, project_folder
from dpsynth_core.store.home import LOCAL_OWNER, home, now
from dpsynth_core.store.roles import Act
from dpsynth_core.store.tables import REACHED, owned

MAX_DRAFT_BYTES = 64 << 20
MAX_UPLOAD_BYTES = 1 << 30
"""Largest size of a file sent through the browser; larger data is named by its path."""
QUOTA_GB = 10
"""Largest total size of undeleted uploads of a person who signed in, unless `DPSYNTH_UPLOADS_GB` sets another."""

Shelf = Literal["uploads", "members", "public"]
SHELVES: tuple[Shelf, ...] = ("uploads", "members", "public")
"""Folders for the private table, a second table that belongs to it, and public uploads, so that no file can replace one of another kind."""

_ERASED = ".erased"
"""Ending of a file beside the folder of a deleted project. It names the project's jobs and is deleted last."""
_CHUNK = 1 << 20
_DOMAIN = "domain"
T = TypeVar("T")


@dataclass(frozen=True)
class Project:
    """A project.

    Attributes:
        id: Identifier.
        owner: Id of its owner.
        name: Its name (hostile text).
        draft: The draft as JSON.
        revision: Number of saves, from 0; saving on top of an older revision raises StaleDraft.
        created: Time, UTC in ISO 8601.
        updated: Time of the last change, UTC in ISO 8601.
    """

    id: str
    owner: str
    name: str
    draft: Mapping[str, Any]
    revision: int
    created: str
    updated: str


class StaleDraft(InputError):
    """The draft was changed in another browser tab since it was loaded."""


def list(owner: str) -> tuple[Project, ...]:
    """Return the projects that the person owns or shares, last changed first; () without any."""
    with reading() as db:
        rows = db.execute(f"SELECT * FROM projects WHERE id IN {REACHED} ORDER BY updated DESC, id", (owner, owner))
        return tuple(_project(row) for row in rows)


def create(owner: str, name: str, draft: Mapping[str, Any] | None = None, looked: Iterable[Look] = ()) -> Project:
    """Create a project and return it.

    Args:
        owner: The person who creates it.
        name: Its name, 1 to 200 printable characters; spaces around it are removed.
        draft: Its draft, empty by default; at most 64 MiB as JSON.
        looked: Looks taken in the project that the draft was copied from.

    Raises:
        InputError: The name or the draft cannot be used, or the person may not prepare releases.
    """
    project = Project(new_id(), owner, _checked_name(name), {}, 0, now(), now())
    text = _draft_text(draft or {})
    with transaction() as db:
        roles.check(db, owner, Act.PREPARE)
        db.execute(
            "INSERT INTO projects (id, owner, name, draft, revision, created, updated) VALUES (?, ?, ?, ?, 0, ?, ?)",
            (project.id, owner, project.name, text, project.created, project.updated),
        )
        for look in looked:
            recorded_views.add(db, project.id, look)
    private_directory(project_folder(project.id))
    return load(owner, project.id)


def load(owner: str, project: str) -> Project:
    """Return a project.

    Raises:
        InputError: It does not exist among the projects that the person owns or shares.
    """
    with reading() as db:
        return _project(owned(db, "project", owner, project))


def save(owner: str, project: str, draft: Mapping[str, Any], revision: int | None = None) -> Project:
    """Replace the draft of a project, and return the project, whose revision is one higher.

    If the domain changes after it was compared with the records, this is recorded as a look.

    Args:
        owner: The person who saves.
        project: Id of the project.
        draft: The new draft.
        revision: The revision that was edited, or None to save over any.

    Raises:
        StaleDraft: The stored revision is another one; nothing changes.
        InputError: The draft cannot be used, or the person may not change the project.
        CapacityError: The draft is larger than 64 MiB as JSON.
    """
    text = _draft_text(draft)
    with transaction() as db:
        roles.check(db, owner, Act.PREPARE)
        stored = owned(db, "project", owner, project)
        if revision is not None and stored["revision"] != revision:
            raise StaleDraft("project", "it was changed in another tab", "reload this page to continue from the newest state")
        if _domains(json.loads(stored["draft"])) != _domains(draft):
            recorded_views.changed(db, project)
        db.execute("UPDATE projects SET draft = ?, revision = revision + 1, updated = ? WHERE id = ?", (text, now(), project))
        return _project(owned(db, "project", owner, project))


def rename(owner: str, project: str, name: str) -> Project:
    """Give a project another name, and return the project.

    Args:
        owner: The person who renames it.
        project: Id of the project.
        name: The new name, 1 to 200 printable characters; spaces around it are removed.

    Raises:
        InputError: The name cannot be used, or the person may not change the project.
    """
    with transaction() as db:
        roles.check(db, owner, Act.PREPARE)
        owned(db, "project", owner, project)
        db.execute("UPDATE projects SET name = ?, updated = ? WHERE id = ?", (_checked_name(name), now(), project))
        return _project(owned(db, "project", owner, project))


def delete(owner: str, project: str) -> None:
    """Delete a project with its draft, uploads, jobs and results; active runs are stopped first. Ledger entries stay.

    Args:
        owner: The person who deletes: the owner, or an administrator if the owner has left.
        project: Id of the project.

    Raises:
        InputError: The person may not delete it.
    """
    with reading() as db:
        sharing.check_settles(db, owner, project)
    gone = False
    while not gone:  # a run may be submitted before the project is locked
        for job in dispatch.jobs_of(project):
            dispatch.stop(job)
        with transaction() as db:
            left = sharing.check_settles(db, owner, project)
            gone = erase(db, owner, project, ", of a person who has left" * left)
    remove_erased()


def erase(db: Connection, who: str, project: str, why: str = "") -> bool:
    """Delete the rows of a project unless one of its jobs is under way, and return whether they were deleted.

    `remove_erased` deletes its files later. For a person who signed in, the deletion is noted in the ledger
    if that is whole. The rights of `who` are not checked.

    Args:
        db: Connection of the transaction.
        who: The person whom the ledger names for the deletion.
        project: Id of the project.
        why: Reason in the ledger.
    """
    of_project = db.execute("SELECT id, state FROM jobs WHERE project = ?", (project,)).fetchall()
    if any(job["state"] in ("active", "stopping") for job in of_project):
        return False
    with private_file(private_directory(home() / "projects") / f"{project}{_ERASED}") as stream:
        stream.write(" ".join(job["id"] for job in of_project).encode())
    with suppress(BooksLost):  # that the books are damaged keeps nobody from deleting
        audit_actions.record(db, who, audit_actions.DELETE, f"project {project}{why}")
    db.execute("DELETE FROM jobs WHERE project = ?", (project,))
    db.execute("DELETE FROM projects WHERE id = ?", (project,))
    return True


def remove_erased() -> None:
    """Delete the files of all erased projects, including projects whose deletion was interrupted.

    Files are deleted only for projects that `erase` marked: a project without a row in the database
    may also mean that the database was lost.
    """
    with reading() as db:
        kept = {row["id"] for row in db.execute("SELECT id FROM projects")}
    for mark in (path for path in (home() / "projects").glob(f"*{_ERASED}") if path.stem not in kept):
        with suppress(FileNotFoundError):  # another process was first
            for job in mark.read_text().split():
                spools.spool_file(job).unlink(missing_ok=True)
            shutil.rmtree(project_folder(mark.stem), ignore_errors=True)
            if not project_folder(mark.stem).exists():
                for place in (mark.parent, home() / "spools"):  # else they may be back after a power cut, and no mark of them
                    sync(private_directory(place))
                mark.unlink()
    forget_deleted()


def forget_deleted() -> None:
    """Push deletions through SQLite's write-ahead log, so that the old pages are overwritten on disk and not only unlinked.

    Raises:
        StoreFault: The disk or the database refuses.
    """
    with explained(), closing(connect()) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def upload(
    owner: str, project: str, name: str, content: BinaryIO | Iterable[bytes], limit: int = MAX_UPLOAD_BYTES, shelf: Shelf = "uploads"
) -> Path:
    """Store a file under the project, in place of a file of the same name, and return its path.

    The last part of the path is `name` without folders and unseen characters, shortened; "upload" if nothing is left.

    Args:
        owner: The person who sends it.
        project: Id of the project.
        name: Name of the file.
        content: The file's bytes.
        limit: Largest size in bytes, 1 GiB by default.
        shelf: The folder: for the private table, its second table, or public files.

    Raises:
        CapacityError: The file is larger than `limit`, or than what the project's owner may still send: 10 GB in all
            projects together, or what `DPSYNTH_UPLOADS_GB` says; without that, the local user may send any. Nothing
            is kept.
        InputError: The person may not prepare releases, or has no such project.
        OSError: The disk refuses.
    """
    with reading() as db:
        roles.check(db, owner, Act.PREPARE)
        whose = owned(db, "project", owner, project)["owner"]
        of_whom = [row["id"] for row in db.execute("SELECT id FROM projects WHERE owner = ?", (whose,))]
    target = private_directory(project_folder(project) / shelf) / _safe_name(name)
    left, size = _left(whose, of_whom, target), 0
    with private_file(target) as stream:
        for chunk in iter(lambda: content.read(_CHUNK), b"") if hasattr(content, "read") else content:
            size += len(chunk)
            if size > limit:
                raise CapacityError("file", f"it is larger than {limit >> 20} MB", "name a file on the server by its path instead")
            if size > left:
                raise CapacityError(
                    "file", "with it, all that was sent is larger than one person may keep here", "delete what is not needed"
                )
            stream.write(chunk)
    return target


def _left(owner: str, projects: Iterable[str], but: Path) -> float:
    """Return how many bytes a person may still send; infinite for the local user unless `DPSYNTH_UPLOADS_GB` is set.

    Args:
        owner: The person who owns the projects.
        projects: Ids of all projects of the person.
        but: Path of a file that is replaced, and not counted.
    """
    most = settings.number(settings.UPLOADS_GB)
    if owner == LOCAL_OWNER and most is None:
        return math.inf
    places = (project_folder(project) / shelf for project in projects for shelf in SHELVES)
    kept = sum(path.stat().st_size for place in places if place.is_dir() for path in place.iterdir() if path != but)
    return (most or QUOTA_GB) * 1e9 - kept


def uploads(owner: str, project: str, shelf: Shelf = "uploads") -> tuple[Path, ...]:
    """Return the paths of the uploaded files on a shelf of a project, sorted by name; () without any.

    Args:
        owner: The person.
        project: Id of the project.
        shelf: The folder: for the private table, its second table, or public files.

    Raises:
        InputError: The person has no such project.
    """
    load(owner, project)
    directory = project_folder(project) / shelf
    return tuple(sorted(path for path in directory.glob("*") if not path.name.startswith("."))) if directory.exists() else ()


def replace_upload(owner: str, project: str, name: str, content: BinaryIO, look_at: Callable[[Path], T], shelf: Shelf = "uploads") -> T:
    """Store a file under the project, delete all other files of its shelf, and return the result of `look_at`.

    If the file is refused, the shelf is as it was, also where it had a file of the same name.

    Args:
        owner: The person who sends it.
        project: Id of the project.
        name: Name of the file.
        content: The file's bytes.
        look_at: Called with the path of the file before others are deleted; raises InputError for a
            file that is refused.
        shelf: The folder: for the private table, its second table, or public files.

    Raises:
        InputError: `look_at` refuses the file, or the person may not prepare releases or has no such project.
        CapacityError: The file is larger than 1 GiB, or than what the project's owner may still send.
    """
    load(owner, project)
    with _put_back(project_folder(project) / shelf / _safe_name(name)):
        path = upload(owner, project, name, content, shelf=shelf)
        seen = look_at(path)
    remove_uploads(owner, project, but=path, shelf=shelf)
    return seen


@contextmanager
def _put_back(path: Path) -> Iterator[None]:
    """Restore the file at `path`, or its absence, if the block raises InputError."""
    aside = path.with_name(f".{path.name[:60]}.{secrets.token_hex(4)}.partial")  # deleted at the next start if this process is killed
    if path.exists():
        os.link(path, aside)
    try:
        yield
    except InputError:
        if aside.exists():
            aside.replace(path)
        else:
            path.unlink(missing_ok=True)
        raise
    finally:
        aside.unlink(missing_ok=True)


def remove_uploads(owner: str, project: str, but: Path | None = None, shelf: Shelf = "uploads") -> None:
    """Delete the uploaded files on a shelf of a project, except `but`.

    Args:
        owner: The person who deletes.
        project: Id of the project.
        but: Path of a file that is kept; None to delete all.
        shelf: The folder: for the private table, its second table, or public files.

    Raises:
        InputError: The person has no such project.
    """
    for path in uploads(owner, project, shelf):
        if path != but:
            path.unlink(missing_ok=True)


def check_reach(owner: str, project: str, spec: Spec) -> None:
    """Check that a spec names no file inside the tool's own directory except uploads of this very project.

    Each of the private, second and public tables must be on a shelf for its use; the private one may be a public upload, and the second
    table may be the private one.

    Raises:
        InputError: It names another such file, or the person has no such project.
    """
    load(owner, project)
    members, public = (table.path if table else "" for table in (spec.members, spec.public))
    second = ("uploads", "public") if members == spec.data.path else ("members",)
    private = (("data.path", spec.data.path, ("uploads", "public")), ("members.path", members, second))
    for field, path, shelves in (*private, ("public.path", public, ("public",))):
        place = Path(path).resolve()
        allowed = any(place.is_relative_to((project_folder(project) / shelf).resolve()) for shelf in shelves)
        if path and place.is_relative_to(home().resolve()) and not allowed:
            raise InputError(field, "there is no such file or folder", "upload the table again, or correct its path")


def _domains(draft: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the domains of a draft's first and second table, as JSON; None where a domain is missing."""
    return draft.get(_DOMAIN), (draft.get("members") or {}).get(_DOMAIN)


def _project(row: Row) -> Project:
    return Project(row["id"], row["owner"], row["name"], json.loads(row["draft"]), row["revision"], row["created"], row["updated"])


def _draft_text(draft: Mapping[str, Any]) -> str:
    """Return the draft as JSON text.

    Raises:
        InputError: It is not JSON. CapacityError if it is larger than `MAX_DRAFT_BYTES`.
    """
    try:
        text = json.dumps(draft, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError("draft", "it holds something that is not JSON", "use texts, numbers, true/false, lists and objects") from error
    if len(text) > MAX_DRAFT_BYTES:
        raise CapacityError("draft", f"it is larger than {MAX_DRAFT_BYTES >> 20} MB", "drop columns with very many categories")
    return text


def _checked_name(name: str) -> str:
    """Return the name without spaces around it.

    Raises:
        InputError: It is empty, too long or has control characters.
    """
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise InputError("project name", "it is empty, too long or has control characters", "give a short name")
    return name


def _safe_name(name: str) -> str:
    """Return the last part of a file name from a browser, without anything that could leave the folder or hide the file."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    cleaned = "".join(c for c in last if c.isprintable()).lstrip(". ").strip()
    stem, dot, suffix = cleaned.rpartition(".")
    stem, suffix = (stem, suffix) if dot else (cleaned, "")
    return f"{stem[:80]}{dot}{suffix[:20]}" if stem else "upload"
