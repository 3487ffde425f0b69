"""Reading of a bundle from an untrusted source: nothing is written to disk or run, and sizes are limited before anything is read.

Every file is read once to its end, part by part, for its hash; afterwards it is opened in place, so that rows may be many.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from dpsynth_core.bundle.pack import MANIFEST, checked_name
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.content import Content, digest_of, stored
from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.foundation.extension import BundleKind
from dpsynth_core.foundation.foreign import Missing, package_of
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document as releases

PACKED = "release.zip"
"""File name of a bundle in the folder that a run writes."""
MAX_FILES = 50_000
MAX_BYTES = 2**36
"""Largest unpacked size of all files together."""
MAX_HELD_BYTES = 2**31
"""Largest size of a file other than the rows, which is read into memory."""
MAX_JSON_BYTES = 200 * 2**20
"""Largest size of a JSON file, which takes many times that in memory. A thousand columns with all pairs asked for take 160 MB."""
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""Exceptions that reading a malformed document raises."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FIELD = "bundle"
_REMEDY = "if you trust that package, name it (`dps.open(path, package=...)`)"


@dataclass(frozen=True, eq=False)
class Bundle:
    """A bundle that was read, but not checked.

    Attributes:
        files: Contents of its files by name.
        document: The parsed release.json, or the document of another kind.
        sha256: SHA-256 of the ZIP; "" for a folder.
        kind: The kind of a bundle that is not a release; None for a release.
    """

    files: Mapping[str, Content]
    document: Mapping[str, Any]
    sha256: str
    kind: BundleKind | None = None

    def released(self) -> Bundle:
        """Return the bundle unchanged.

        Raises:
            InputError: It is not a release.
        """
        if self.kind is not None:
            raise InputError(_FIELD, f"it is not a release, but holds {self.kind.title}", "check it with `verify`, or give a release.zip")
        return self


def read(place: Path, limit: int = MAX_BYTES) -> Bundle:
    """Read a release from a ZIP, or from the folder that it was unpacked into, without checking it.

    Args:
        place: The ZIP or folder. The folder in which a run wrote release.zip is refused.
        limit: Largest size of all files together, unpacked, in bytes; 64 GiB by default.

    Raises:
        InputError: It is not a bundle of a release, is damaged, has a format that is unknown here, or cannot be read.
        CapacityError: It is larger, has more than 50,000 files, a JSON file above 200 MiB, or another file than
            rows above 2 GiB.
    """
    return read_any(place, limit).released()


def read_any(place: Path, limit: int = MAX_BYTES) -> Bundle:
    """Read a bundle of any kind from a ZIP, or from the folder that it was unpacked into, without checking it.

    Args:
        place: The ZIP or folder. The folder in which a run wrote release.zip is refused.
        limit: Largest size of all files together, unpacked, in bytes; 64 GiB by default.

    Raises:
        InputError: It is not a bundle, is damaged, has a format that is unknown here, or cannot be read.
        CapacityError: It is larger, has more than 50,000 files, a JSON file above 200 MiB, or another file than
            rows above 2 GiB.
    """
    try:
        if place.is_dir():
            if (place / PACKED).is_file() and not (place / MANIFEST).is_file():
                problem = f"the folder {str(place)!r} is what a run wrote, and its bundle is a file in it"
                raise InputError(_FIELD, problem, f"give {str(place / PACKED)!r}")
            return _bundle(_from_folder(place, limit), "")
        if place.exists() and not place.is_file():  # a pipe or device could be read for ever
            raise InputError(_FIELD, f"{str(place)!r} is not a file", "give the release.zip that was published")
        size = place.stat().st_size
        if size > limit:
            raise _too_large(limit)
        return _from_zip(place if size else io.BytesIO(), limit)  # some files of the system are called empty, and are waited for in vain
    except InputError:
        raise
    except (OSError, ValueError):
        raise InputError(_FIELD, f"the file {str(place)!r} cannot be read", "check its path and permissions") from None


def read_bytes(content: bytes, limit: int = MAX_BYTES) -> Bundle:
    """Read a release from the bytes of a ZIP, without checking it.

    Args:
        content: The ZIP.
        limit: Largest size of all files together, unpacked, in bytes; 64 GiB by default.

    Raises:
        InputError: It is not a bundle of a release.
        CapacityError: It is larger, has more than 50,000 files, a JSON file above 200 MiB, or another file than
            rows above 2 GiB.
    """
    return read_any_bytes(content, limit).released()


def read_any_bytes(content: bytes, limit: int = MAX_BYTES) -> Bundle:
    """Read a bundle of any kind from the bytes of a ZIP, without checking it.

    Args:
        content: The ZIP.
        limit: Largest size of all files together, unpacked, in bytes; 64 GiB by default.

    Raises:
        InputError: It is not a bundle.
        CapacityError: It is larger, has more than 50,000 files, a JSON file above 200 MiB, or another file than
            rows above 2 GiB.
    """
    return _from_zip(io.BytesIO(content), limit)


def _from_zip(place: Path | BinaryIO, limit: int) -> Bundle:
    """Read a bundle from a ZIP.

    Every file is unpacked once, for its digest. The archive stays open for later reads, so a stream
    must not be closed while the bundle is in use.

    Args:
        place: The ZIP, as a path or a stream.
        limit: Largest size of all files together, unpacked, in bytes.

    Raises:
        InputError: It is not a bundle, or it is damaged.
        CapacityError: It has too many or too large files.
        PermissionError: The file may not be read.
    """
    try:
        archive = zipfile.ZipFile(place)
        _check_entries(archive.infolist(), limit)
        files = dict[str, Content]()
        for info in archive.infolist():  # no more is read of it than the archive states, and what is damaged is an error here and now
            if info.is_dir():
                continue
            opened = cast("partial[BinaryIO]", partial(archive.open, info))
            with opened() as stream:
                files[info.filename] = Content(digest_of(stream), opened)
        whole = cast(BinaryIO, archive.fp)
        whole.seek(0)
        digest = digest_of(whole).sha256
    except (InputError, PermissionError):
        raise
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, zlib.error):
        raise InputError(_FIELD, "it is not a whole ZIP file", "download it again, or give release.zip and no file of rows alone") from None
    return _bundle(files, digest)


def _check_entries(entries: list[zipfile.ZipInfo], limit: int) -> None:
    """Check the list of files in a ZIP before anything is unpacked.

    Number and sizes are limited, names must be plain and unique, and all must be ordinary files.
    Empty entries for folders, which repacking adds, are allowed.

    Raises:
        InputError: An entry is of another kind.
        CapacityError: There are too many or too large files.
    """
    if len(entries) > MAX_FILES:
        raise CapacityError(_FIELD, f"it holds more than {MAX_FILES:,} files", "this is not a bundle of ours")
    if sum(info.file_size for info in entries) > limit:
        raise _too_large(limit)
    for info in entries:
        checked_name(info.filename.removesuffix("/"))
        _check_size(info.filename, info.file_size)
        kind = info.external_attr >> 28
        if info.flag_bits & 1 or info.compress_type not in _METHODS or kind not in (0, 4 if info.is_dir() else 8):
            raise InputError(_FIELD, f"{info.filename[:80]!r} is encrypted, a link or packed oddly", "this is not a bundle of ours")
        if info.is_dir() and (info.file_size or info.compress_size):
            raise InputError(_FIELD, f"its folder {info.filename[:80]!r} has content of its own", "this is not a bundle of ours")
    names = [info.filename for info in entries]
    if len(set(names)) < len(names):
        raise InputError(_FIELD, "it holds two files of one name", "this is not a bundle of ours")


def _check_size(name: str, size: int) -> None:
    if name.endswith(".json") and size > MAX_JSON_BYTES:
        raise CapacityError(_FIELD, f"its {name[-80:]} is larger than {MAX_JSON_BYTES / 2**20:,.0f} MB", "this is not a bundle of ours")
    if not releases.holds_rows(name) and size > MAX_HELD_BYTES:
        raise CapacityError(_FIELD, f"its {name[-80:]} is larger than {MAX_HELD_BYTES / 2**20:,.0f} MB", "this is not a bundle of ours")


def _from_folder(place: Path, limit: int) -> dict[str, Content]:
    files: dict[str, Content] = {}
    if not any((place / name).is_file() for name in (releases.DOCUMENT, *extension.bundle_kinds())):
        return files  # no bundle, however much there is in it
    left = limit
    for path in _ordinary_files(place):
        name, size = path.relative_to(place).as_posix(), path.stat().st_size
        _check_size(checked_name(name), size)
        left -= size
        if len(files) >= MAX_FILES or left < 0:
            raise _too_large(limit)
        files[name] = stored(path)
    return dict(sorted(files.items()))


def _ordinary_files(place: Path) -> Iterator[Path]:
    """Yield the files below a folder, one folder after the other.

    The first file is thus looked at before a large tree is listed. Raises InputError for a link, a
    pipe or a device.
    """
    for folder, folders, names in os.walk(place):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_symlink():
                raise InputError(_FIELD, "the folder holds a link", "unpack the ZIP again")
            if not (path.is_file() or path.is_dir()):
                raise InputError(_FIELD, "the folder holds a pipe or a device", "unpack the ZIP again")
        yield from (Path(folder, name) for name in names)


def plan_of(bundle: Bundle, package: str | None = None) -> Plan:
    """Return the plan of the bundle's spec.

    Args:
        bundle: The bundle.
        package: The one other package whose mechanism may be loaded, "" to load code of none; None
            to load any, which only a process with limits may do, because that code runs.

    Raises:
        InputError: The spec cannot be read, or states a path instead of a file name.
        Missing: Its mechanism belongs to a package that is not installed or may not be loaded; this
            is an InputError too.
    """
    try:
        spec = Spec.from_json(bundle.document["spec"])
        of = package_of(spec.mechanism.name)
        if of and package not in (of, None):
            raise Missing(_FIELD, f"its mechanism is code of the package {shown(of)}, which would run in this process", _REMEDY)
        plan = Plan.of(spec)
    except Missing:
        raise
    except InputError as error:
        raise InputError(_FIELD, f"its spec cannot be read ({error})", "use the version of the program that made it") from None
    except DAMAGE:
        raise InputError(_FIELD, f"its {releases.DOCUMENT} is damaged", "download it again") from None
    for named in (spec.data.path, None if spec.public is None else spec.public.path):
        if named and Path(named).name != named:
            raise InputError(_FIELD, "its spec names a file by its path", "a published spec never does: do not use this bundle")
    return plan


def _bundle(files: Mapping[str, Content], digest: str) -> Bundle:
    kinds = extension.bundle_kinds()
    name = next((name for name in (releases.DOCUMENT, *kinds) if name in files), None)
    if name is None:
        raise InputError(_FIELD, f"it holds no {releases.DOCUMENT}", "give the release.zip that was published")
    document = parsed(name, files[name])
    if not isinstance(document, dict) or document.get("format") != releases.FORMAT:
        raise InputError(_FIELD, "its format is unknown", "use the version of the program that made it")
    if name not in kinds:
        releases.check_age(document, _FIELD)
    return Bundle(files, document, digest, kinds.get(name))


def parsed(name: str, content: Content) -> Any:
    """Return the JSON value of a file of a bundle.

    Args:
        name: Name of the file, for the error.
        content: Content of the file.

    Raises:
        InputError: The file is not JSON, or programs could read it differently: it repeats a name
            in an object, or has NaN, a whole number of more than 40 digits, or half a character.
    """
    try:
        return parse_json(content.read().decode("utf-8"), _FIELD)
    except UnicodeDecodeError:
        raise InputError(_FIELD, f"its {name} is not JSON", "download it again") from None
    except InputError as error:
        raise InputError(_FIELD, f"its {name} cannot be read: {error.problem}", "download it again") from None


def _too_large(limit: int) -> CapacityError:
    return CapacityError(_FIELD, f"it is larger than {limit / 2**20:,.0f} MB", "check it from the command line, or on a larger machine")
