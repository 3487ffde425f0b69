"""The place of a file or folder: a path on this machine, or a URI of an object store that Arrow can open (s3, gs, abfs, hdfs).

A `Remote` has the methods of a path that reading needs. Credentials come from the environment or the usual files; `check_path` refuses a
URI that contains credentials.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.fs as pafs

from dpsynth_core.foundation.documents import STORES, check_path, is_uri
from dpsynth_core.foundation.errors import InputError


class Status(NamedTuple):
    """The size and age of a file.

    Attributes:
        st_size: Size in bytes.
        st_mtime: Time of the last change in seconds since 1970; 0 if the store does not report it.
    """

    st_size: int
    st_mtime: float = 0.0


@dataclass(frozen=True, order=True)
class Remote(os.PathLike[str]):
    """A file or folder in an object store, by a URI without credentials; it acts like a path."""

    uri: str

    def __str__(self) -> str:
        return self.uri

    def __fspath__(self) -> str:
        return self.uri

    @property
    def name(self) -> str:
        """The last part of the path.

        Raises:
            InputError: The object store cannot be opened.
        """
        return PurePosixPath(self.inner).name

    @property
    def filesystem(self) -> pafs.FileSystem:
        """The object store as Arrow's file system; places in one store share it.

        Raises:
            InputError: The object store cannot be opened.
        """
        return _opened(self.uri)[0]

    @property
    def inner(self) -> str:
        """The path of the file or folder inside the store.

        Raises:
            InputError: The object store cannot be opened.
        """
        return _opened(self.uri)[1]

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the file for reading in binary mode.

        Args:
            mode: "rb".

        Raises:
            OSError: The file cannot be opened.
            ValueError: Another mode is asked for.
        """
        if mode != "rb":
            raise ValueError("it can only be read")
        return cast(BinaryIO, self.filesystem.open_input_file(self.inner))

    def stat(self) -> Status:
        """Return the size of the file, in bytes, and the time of its last change, in seconds since 1970.

        Raises:
            FileNotFoundError: The file is missing.
            OSError: The store cannot be reached.
            InputError: The store cannot be opened.
        """
        info = self._info()
        if info.type == pafs.FileType.NotFound:
            raise FileNotFoundError
        return Status(info.size or 0, info.mtime_ns / 1e9 if info.mtime_ns else 0.0)

    def is_file(self) -> bool:
        """Return whether there is a file at this place.

        Raises:
            OSError: The store cannot be reached.
            InputError: The store cannot be opened.
        """
        return bool(self._info().type == pafs.FileType.File)

    def is_dir(self) -> bool:
        """Return whether there is a folder at this place.

        Raises:
            OSError: The store cannot be reached.
            InputError: The store cannot be opened.
        """
        return bool(self._info().type == pafs.FileType.Directory)

    def absolute(self) -> Remote:
        """Return the place itself, because a URI is always absolute."""
        return self

    def inside(self) -> Iterator[Remote]:
        """Yield the files of a folder, at any depth, in the order of the store.

        Files are left out if their name, or the name of a folder above them, begins with a dot or
        underscore.

        Raises:
            OSError: The folder is missing, or the store cannot be reached.
            InputError: The store cannot be opened.
        """
        plain, _, options = self.uri.partition("?")
        for info in self.filesystem.get_file_info(pafs.FileSelector(self.inner, recursive=True)):
            below = PurePosixPath(info.path).relative_to(self.inner)
            if info.type == pafs.FileType.File and not any(part.startswith((".", "_")) for part in below.parts):
                yield Remote(f"{plain.rstrip('/')}/{quote(str(below))}{'?' * bool(options)}{options}")

    def _info(self) -> pafs.FileInfo:
        return self.filesystem.get_file_info(self.inner)


Location = Path | Remote


def located(place: str | os.PathLike[str]) -> Location:
    """Return the place that a path or URI names. No file is looked at.

    A path, a `Remote` and a file:// address are not checked.

    Raises:
        InputError: The URI is not of a known object store (`STORES`), is too long, or holds credentials, or options
            other than region, endpoint_override and scheme.
    """
    if isinstance(place, Path | Remote):
        return place
    text = os.fspath(place)
    if text.startswith("file://"):
        return Path(unquote(text.removeprefix("file://")))
    if not is_uri(text):
        return Path(text)
    if text.partition("://")[0].lower() not in STORES:
        raise InputError("data.path", "this is not the address of a known object store", f"use {', '.join(f'{s}://' for s in STORES)}")
    check_path(text, "data.path")
    return Remote(text)


def together(places: Sequence[Location]) -> tuple[pafs.FileSystem | None, list[str]]:
    """Return the file system of the files of one table, and the paths of the files in it, in order.

    The file system is None for files on this machine, and for no files.

    Args:
        places: The files, all on this machine or all in one store.

    Raises:
        InputError: The object store cannot be opened.
    """
    filesystem = places[0].filesystem if places and isinstance(places[0], Remote) else None
    return filesystem, [inner(place) for place in places]


def inner(place: Location) -> str:
    """Return the path of a place in its own file system, without the address of an object store.

    Raises:
        InputError: The object store cannot be opened.
    """
    return place.inner if isinstance(place, Remote) else str(place)


@lru_cache(maxsize=10_000)
def _opened(uri: str) -> tuple[pafs.FileSystem, str]:
    """Return the file system of an object store's URI, and the path in it without an ending slash."""
    scheme, _, rest = uri.partition("://")
    where, slash, inner = rest.partition("?")[0].partition("/")
    options = rest.partition("?")[2]
    store = _store(f"{scheme}://{where}/{'?' * bool(options)}{options}")
    return store[0], f"{store[1].rstrip('/')}{slash}{unquote(inner)}".rstrip("/")


@lru_cache(maxsize=64)
def _store(uri: str) -> tuple[pafs.FileSystem, str]:
    """Return the file system of an object store, and the path that its own URI names.

    Raises:
        InputError: The object store cannot be opened.
    """
    try:
        store: tuple[pafs.FileSystem, str] = pafs.FileSystem.from_uri(uri)
    except (pa.ArrowException, OSError, ValueError):
        remedy = "check its parts, and give credentials in the environment or the usual files"
        raise InputError("data.path", "the object store cannot be opened", remedy) from None
    return store
