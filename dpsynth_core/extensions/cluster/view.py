"""The address of a Dask scheduler on the Data page."""

from __future__ import annotations

import re

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.web.shell import fields

_ADDRESS_HELP = (
    "Write one such as tls://scheduler:8786. If you leave it empty, processes on this machine count, and end with the run. Workers read "
    "the table by the same path or address, and need this version of the program. A person who can connect to the scheduler can read "
    "counts: use your own."
)


def settings() -> None:
    """Draw the field for the address of a scheduler, stored in the draft."""
    fields.number("Address of its scheduler", "data.scheduler", address, lambda known: known or "", help=_ADDRESS_HELP)


def address(text: str) -> str | None:
    """Return the typed address of a Dask scheduler, without spaces around it; None for an empty text.

    Raises:
        InputError: It does not begin with tcp://, tls://, ws:// or wss://, or it has an "@" or a space.
    """
    if not text.strip():
        return None
    if not re.fullmatch(r"(tcp|tls|ws|wss)://[^@\s]+", text.strip()):
        raise InputError("data.scheduler", "this is not the address of a Dask scheduler", "write an address such as tls://scheduler:8786")
    return text.strip()
