"""The files of a table: a single file, or the files of a folder in order. Only names of files are used here."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Self, TypeVar
from urllib.parse import unquote

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources.file_kinds import COMPRESSED, FILE_KINDS, KNOWN
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.locations import Location, Remote, inner, located

MAX_FILES = 20_000
"""Files and folders inside a folder that is one table."""


@dataclass(frozen=True)
class Files:
    """The files of a table, in the order of their paths (`table_files`).

    Attributes:
        files: The files.
        folder: The folder that contains them; None for a single file.
        form: The format of the files.
    """

    files: tuple[Location, ...]
    folder: Location | None
    form: TableFormat

    @classmethod
    def of(cls, path: str | os.PathLike[str], form: TableFormat) -> Self:
        """Return the table file or files at a path.

        Args:
            path: A file, or a folder whose table files are one table; a path or the URI of an object store.
            form: The format of the files.

        Raises:
            InputError: No table is found at the path (`table_files` lists the cases).
            CapacityError: A folder holds more than 20,000 files and folders.
        """
        place = located(path).absolute()
        return cls(tuple(table_files(place)), place if place.is_dir() else None, form)

    @property
    def size(self) -> int:
        """The number of bytes of all files together, as they are stored (packed files packed).

        Raises:
            OSError: A file is gone or cannot be reached.
        """
        return sum(file.stat().st_size for file in self.files)

    def to_json(self) -> list[Any]:
        """Return paths, folder and format as a JSON list, to send them to another process (`from_json` reads it)."""
        return [list(map(str, self.files)), self.folder and str(self.folder), self.form.section("")]

    @classmethod
    def from_json(cls, obj: list[Any]) -> Self:
        """Return the files from the JSON that `to_json` returned."""
        files, folder, form = obj
        return cls(tuple(map(located, files)), folder and located(folder), TableFormat.of(form))


def kind_of(path: Location) -> str | None:
    """Return the kind of table that the ending of a file's name shows; None without a known ending.

    The file is not opened. Text files may have a further ending for their packing, such as .csv.gz.
    """
    name = path.name.lower()
    packed = next((ending for ending in COMPRESSED if name.endswith(ending)), "")
    kinds = (kind for kind in FILE_KINDS.values() if kind.is_text or not packed)
    return next((kind.name for kind in kinds if name.removesuffix(packed).endswith(kind.endings)), None)


def table_files(path: str | os.PathLike[str]) -> list[Location]:
    """Return a list of the file itself, or of the table files of a folder in order of their paths.

    The path may also be the URI of an object store. Hidden files and files without the ending of a table are
    ignored (`left_out`).

    Raises:
        InputError: There is nothing to read, the path is neither a file nor a folder, or a folder
            holds tables of several kinds, links to nothing or to folders, or the same file twice by
            links. Such files would be left out without notice, or their people would be counted
            twice. It is raised too if an object store does not let the place be read, or the URI is refused.
        CapacityError: A folder holds more than 20,000 files and folders (`MAX_FILES`).
    """
    place = located(path)
    if isinstance(place, Remote):
        return _remote_files(place)
    if os.path.isfile(place):  # unlike Path's methods, these take any text
        if not os.path.getsize(place):  # some files of the system are called empty, and are waited for in vain
            raise InputError("data", "the file is empty", "choose a file with a header line and rows")
        return [place]
    if not os.path.isdir(place):
        if os.path.lexists(place):
            raise InputError("data", "the path is neither a file nor a folder", "copy the table into a file")
        raise InputError("data", "there is no such file or folder", "check the path")
    tables = _of_one_kind(place, sorted(_inside(place)))
    same = Counter((status.st_dev, status.st_ino) for status in (path.stat() for path in tables))
    if any(count > 1 for count in same.values()):
        raise InputError("data", "the folder holds links to one and the same file", "keep each file once, or everybody in it counts twice")
    return list(tables)


def left_out(place: Location) -> int:
    """Return the number of visible files of a folder, at any depth, whose names lack the ending of a table.

    Raises:
        InputError: A folder cannot be read, or an entry is a link to a folder or to nothing.
        CapacityError: The folder holds more than 20,000 files and folders.
        OSError: The folder is in an object store that cannot be reached.
    """
    return sum(kind_of(file) is None for file in (place.inside() if isinstance(place, Remote) else _inside(place)))


def partition(place: Location, file: Location) -> tuple[str, ...]:
    """Return the column names in the folder names between `place` and a file below it; () if no folder has one.

    For data/sex=f/part.parquet below data, it is ("sex",).
    """
    within = PurePosixPath(inner(file)).relative_to(inner(place)).parent.parts
    return tuple(unquote(part.partition("=")[0]) for part in within if "=" in part)


def _remote_files(place: Remote) -> list[Location]:
    """Return the table files at a place in an object store.

    Raises:
        InputError: As in `table_files`.
        CapacityError: The folder has more than `MAX_FILES` files.
    """
    try:
        if place.is_file():
            if not place.stat().st_size:
                raise InputError("data", "the file is empty", "choose a file with a header line and rows")
            return [_readable_there(place)]
        if not place.is_dir():
            raise InputError("data", "there is no such file or folder", "check the address")
        inside = sorted(islice(place.inside(), MAX_FILES + 1))
    except OSError:
        remedy = "check address, region and permissions; credentials come from the environment or the usual files"
        raise InputError("data", "the object store does not let it be read", remedy) from None
    if len(inside) > MAX_FILES:
        raise CapacityError("data", f"the folder holds more than {MAX_FILES:,} files", "choose a folder that holds one table")
    return [_readable_there(file) for file in _of_one_kind(place, inside)]


def _readable_there(file: Remote) -> Remote:
    """Return the file if its kind can be read from an object store.

    Raises InputError for kinds that are read from this machine only.
    """
    if (kind := kind_of(file)) is not None and not FILE_KINDS[kind].in_stores:
        raise InputError("data", "files of this kind are read from this machine only", "copy it here, or save it as Parquet")
    return file


_File = TypeVar("_File", bound=Location)


def _of_one_kind(place: Location, inside: Sequence[_File]) -> list[_File]:
    """Return the table files among the files of a folder.

    Raises:
        InputError: The folder holds no table or several kinds of tables, or has unusable folder
            names like column=value.
    """
    tables = [file for file in inside if kind_of(file) is not None]
    kinds = sorted({str(kind_of(file)) for file in tables})
    if not kinds:
        raise InputError("data", "the folder holds no table", f"give a folder of files that are {KNOWN}")
    if len(kinds) > 1:
        raise InputError("data", f"the folder holds files of several kinds ({', '.join(kinds)})", "keep the files of one table in a folder")
    columns = {partition(place, file) for file in tables}
    if not FILE_KINDS[kinds[0]].as_dataset and columns != {()}:
        problem = "folders with names such as column=value are read of Parquet files alone"
        raise InputError("data", problem, "save the table as Parquet, or give the files the column and rename the folders")
    if len({tuple(sorted(names)) for names in columns}) > 1:
        problem = "some of its files are in folders with names such as column=value, and others not in the same ones"
        raise InputError("data", problem, "move every file into such folders of the same columns")
    return tables


def _inside(place: Path) -> Iterator[Path]:
    """Yield the files of a folder, at any depth, that are not hidden.

    Raises:
        CapacityError: There are more than `MAX_FILES` files and folders.
        InputError: A folder cannot be read, or an entry is a link to a folder or to nothing.
    """
    seen = 0
    for folder, folders, names in os.walk(place, onerror=_refuse_folder):
        folders[:] = [name for name in folders if not _hidden(name)]
        visible = [name for name in names if not _hidden(name)]  # as in an object store, hidden ones do not count
        seen += len(folders) + len(visible)
        if seen > MAX_FILES:
            raise CapacityError("data", f"the folder holds more than {MAX_FILES:,} files", "choose a folder that holds one table")
        if any(os.path.islink(os.path.join(folder, name)) for name in folders):
            raise InputError("data", "the folder holds a link to a folder, which is not followed", "give that folder, or copy its files")
        for file in (Path(folder, name) for name in visible):
            if not os.path.isfile(file):
                raise InputError("data", "the folder holds a link that leads nowhere, or another entry that is not a file", "remove it")
            yield file


def _refuse_folder(_: OSError) -> None:
    raise InputError("data", "a folder in it cannot be read", "check its permissions") from None


def _hidden(name: str) -> bool:
    """Return whether a name begins with a dot or underscore."""
    return name.startswith((".", "_"))
