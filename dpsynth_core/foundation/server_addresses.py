"""Addresses of database servers: what one may state besides its place, and that it holds no password. Nothing is opened here.

An address is written into specs, seen in lists of processes and kept in the history of a shell, so it never holds a secret.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from dpsynth_core.foundation.errors import InputError

POSTGRESQL = ("postgres", "postgresql")
"""Schemes of addresses of PostgreSQL servers."""
_OPTIONS = ("service", "sslmode", "sslrootcert")
"""Options that an address of PostgreSQL may state besides the place; all of them are public."""


def refuse_secrets(text: str, field: str, remedy: str) -> None:
    """Check that an address of a database server has no password, and no option but service, sslmode and sslrootcert.

    Args:
        text: The address, with its scheme.
        field: Field of the error.
        remedy: What to do about an address that cannot be read.

    Raises:
        InputError: It has a password, another option or a part behind "#", or cannot be read. The message does not
            repeat the address.
    """
    if re.search("//[^@]*:.*@", text, flags=re.DOTALL):  # before a user's name no other part has a colon
        from_elsewhere = "leave it out: it is taken from PGPASSWORD, from .pgpass or from a service file"
        raise InputError(field, "the address contains a password", from_elsewhere)
    try:
        parts = urlsplit(text)
        options = parse_qsl(parts.query, keep_blank_values=True)
        stated = [name.lower() for name, _ in options]
        _ = parts.port
    except ValueError:
        raise InputError(field, "it cannot be read as an address", remedy) from None
    hidden = any(sign in value for _, value in options for sign in ";&=@")  # an option in the value of another
    if parts.fragment or hidden or any(name not in _OPTIONS for name in stated):
        raise InputError(field, "the address states more than a place", f"leave out all but {', '.join(_OPTIONS)}")
