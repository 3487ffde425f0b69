"""Reads what a user names: text documents (domains, workloads, specs), the JSON in them, and paths. Only regular files of a sane size,
because a pipe or device may never end; and JSON without what no field of ours could hold.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from dpsynth_core.foundation.errors import InputError, shown

MAX_BYTES = 100_000_000
MAX_DIGITS = 40
"""Of a whole number. The longest that any field takes has 19."""
MAX_PATH = 4096
"""Characters of a path, as most systems have it."""


def read_document(path: Path, field: str) -> str:
    """The text of a UTF-8 file of at most MAX_BYTES, for messages called `field`. Raises InputError."""
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
    """The text of a UTF-8 file, for messages called `field`, with one kind of line end. Raises InputError."""
    try:
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except UnicodeDecodeError:
        raise InputError(field, "the file is not UTF-8 text", "save it as UTF-8") from None


def parse_json(text: str, field: str) -> Any:
    """What a JSON text says, for messages called `field`. InputError for other texts, for an entry that is there twice, and for numbers
    that no field takes: NaN, Infinity and those of very many digits."""

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
    """InputError for a path that no system could open, which would be an error of another kind each time."""
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
"""Object stores and file systems of clusters, as addresses of them begin."""


def is_uri(path: str) -> bool:
    """Whether it names something on another machine, such as s3://bucket/table.parquet."""
    return "://" in path and not path.startswith("file://")


def base_name(path: str) -> str:
    """The last part of a path or URI: all that is published of it."""
    return Path(path.partition("?")[0] if is_uri(path) else path).name


def _check_uri(uri: str, field: str) -> None:
    """InputError for one with credentials, whose text then is in no message."""
    place, _, options = uri.partition("?")
    authority = place.partition("://")[2].partition("/")[0]
    account = place.startswith(("abfs://", "abfss://")) and ":" not in authority  # container@account, without a password
    named = {option.partition("=")[0] for option in options.split("&") if option}
    if ("@" in authority and not account) or named - _URI_OPTIONS or "@" in unquote(options):
        remedy = "leave it out, and give credentials in the environment or the usual files"
        raise InputError(field, "the address holds a user name, a password or a key", remedy)


_URI_OPTIONS = {"region", "endpoint_override", "scheme"}

FORMULA = r"\A([=+\-@\t\r])"
"""What a text begins with that a spreadsheet would run; an apostrophe before it stops that."""


def inert(text: str) -> str:
    """The text for a cell of a spreadsheet."""
    return re.sub(FORMULA, r"'\1", text)
