"""Reading of what users name: text documents (domains, workloads, specs), the JSON in them, and paths.

Only regular files of a limited size are read, because a pipe or device may never end; and JSON without values that no field could hold.
"""

from __future__ import annotations

import io
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from dpsynth_core.foundation.errors import InputError, shown

MAX_BYTES = 100_000_000
MAX_DIGITS = 40
"""Largest number of digits of a whole number. The longest that any field takes has 19."""
MAX_PATH = 4096
"""Largest number of characters of a path, as on most systems."""


def read_document(path: Path, field: str) -> str:
    """Return the text of a UTF-8 file of at most MAX_BYTES (100 MB); "" for an empty file.

    A byte order mark is left out, and line ends become line feeds.

    Args:
        path: The file.
        field: The field of errors.

    Raises:
        InputError: The file is missing, too large, unreadable or not UTF-8.
    """
    check_path(str(path), field)
    try:
        if not path.is_file():
            raise FileNotFoundError
        if (size := path.stat().st_size) > MAX_BYTES:
            raise InputError(field, f"the file has more than {MAX_BYTES / 1e6:,.0f} MB", "is it the right file?")
        if not size:  # some files of the system are called empty, and are waited for in vain
            return ""
        return decoded(path.read_bytes(), field)
    except OSError:
        raise InputError(field, f"the file {shown(path)} cannot be read", "check its path and permissions") from None


def decoded(content: bytes, field: str) -> str:
    """Return the bytes of a UTF-8 file as text, without a byte order mark and with line feeds as line ends.

    Args:
        content: The bytes.
        field: Name of the file in messages.

    Raises:
        InputError: The bytes are not UTF-8.
    """
    try:
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except UnicodeDecodeError:
        raise InputError(field, "the file is not UTF-8 text", "save it as UTF-8") from None


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON: keys of objects are sorted, no spaces, ASCII. Equal values have equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def canonical_digest(value: Any) -> str:
    """Return the SHA-256 of a value as canonical JSON, in hexadecimal digits."""
    return sha256(canonical(value)).hexdigest()


def parse_json(text: str, field: str) -> Any:
    """Return the value of a JSON text.

    Args:
        text: The text.
        field: Name of the text in messages.

    Raises:
        InputError: The text is invalid JSON, repeats an entry of an object, or holds a value that
            no field takes: NaN, Infinity, a whole number of more than 40 digits, half a character. The message
            quotes nothing of the text.
    """

    def refuse(problem: str) -> NoReturn:
        raise InputError(field, problem, "use finite numbers")

    def whole(digits: str) -> int:
        return int(digits) if len(digits) <= MAX_DIGITS else refuse(f"a number has more than {MAX_DIGITS} digits")

    def entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        named = dict(pairs)
        if len(named) < len(pairs):
            # It is not named: a user who gives the table by mistake should not find a piece of it in a log.
            raise InputError(field, "an entry is there twice in one object", "remove one of the two")
        return named

    def constant(_: str) -> NoReturn:
        refuse("it contains NaN or Infinity")

    try:
        content = json.loads(text, parse_int=whole, parse_constant=constant, object_pairs_hook=entries)
        if "\\u" in text:
            json.dumps(content, ensure_ascii=False).encode()
    except InputError:
        raise
    except UnicodeEncodeError:
        raise InputError(field, "a text in it holds half a character", "remove the lone surrogate, such as \\ud800") from None
    except (ValueError, RecursionError):
        raise InputError(field, "it is not valid JSON", "check commas, quotes and brackets") from None
    return content


def check_path(path: str, field: str) -> None:
    """Check that a path or URI can be opened at all; such paths would otherwise raise various errors.

    Only the addresses of object stores (`STORES`) are searched for credentials; others, such as postgresql://,
    are not.

    Args:
        path: The path or URI. It may be of a file that does not exist.
        field: Name of the path in messages.

    Raises:
        InputError: The path holds a NUL character, is too long, or names an unknown home directory; or the
            address of a store holds credentials, or options other than region, endpoint_override and scheme.
    """
    if "\0" in path:
        raise InputError(field, "the path contains a NUL character", "check the path")
    if len(path) > MAX_PATH:
        raise InputError(field, f"the path has more than {MAX_PATH:,} characters", "check the path")
    if path.partition("://")[0].lower() in STORES:
        _check_uri(path, field)
    if path.startswith("~"):
        try:
            Path(path).expanduser()
        except RuntimeError:
            raise InputError(field, f"there is no home directory for {shown(path)}", "write the whole path") from None


STORES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""Beginnings of addresses of object stores and cluster file systems."""


def is_uri(path: str) -> bool:
    """Return whether the path names a place on another machine, such as s3://bucket/table.parquet; False for file://."""
    return "://" in path and not path.startswith("file://")


def base_name(path: str) -> str:
    """Return the last part of a path or URI, the only part that releases publish; options behind "?" of a URI are left out."""
    return Path(path.partition("?")[0] if is_uri(path) else path).name


def _check_uri(uri: str, field: str) -> None:
    """Check that a URI of a store holds no credentials.

    Raises:
        InputError: It does. The message does not quote the URI.
    """
    place, _, options = uri.partition("?")
    authority = place.partition("://")[2].partition("/")[0]
    account = place.startswith(("abfs://", "abfss://")) and ":" not in authority  # container@account, without a password
    named = {option.partition("=")[0] for option in options.split("&") if option}
    if ("@" in authority and not account) or named - _URI_OPTIONS or "@" in unquote(options):
        remedy = "leave it out, and give credentials in the environment or the usual files"
        raise InputError(field, "the address holds a user name, a password or a key", remedy)


_URI_OPTIONS = {"region", "endpoint_override", "scheme"}

FORMULA = "\\A([=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])"
"""Beginnings of a text that a spreadsheet would run as a formula, also in full width; an apostrophe in front prevents it."""


def inert(text: str) -> str:
    """Return a text that a spreadsheet does not run as a formula, with an apostrophe in front if needed."""
    return re.sub(FORMULA, r"'\1", text)
