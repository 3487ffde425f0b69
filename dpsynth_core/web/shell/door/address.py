"""The address of this server, from its own settings alone.

No header of a request decides anything here: anybody who reaches the port can write the headers of a proxy (X-Forwarded-*).
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from streamlit import config
from streamlit.url_util import make_url_path

from dpsynth_core.foundation.errors import InputError

VARIABLE = "DPSYNTH_URL"
"""Environment variable: the address that browsers use if it is not the listening address, behind a proxy or for a container."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")
_STANDARD_PORTS = {"http": 80, "https": 443}
_NO_ADDRESS = ("this is not the address of a server", "write it like https://studio.example.org")


def only_this_machine() -> bool:
    """Return whether the server listens on an address that only this machine can reach."""
    return config.get_option("server.address") in LOOPBACK


def for_one_person() -> bool:
    """Return whether only browsers on this machine reach the server.

    `DPSYNTH_URL` decides if it is set, as for a container; otherwise the listening address does.

    Raises:
        InputError: `DPSYNTH_URL` is not an address.
    """
    url = configured()
    return urlsplit(url).hostname in LOOPBACK if url else only_this_machine()


def scheme() -> str:
    """Return the scheme by which browsers reach the server, "https" or "http".

    `DPSYNTH_URL` states it; if the variable is not set, it is "https" where the server has a certificate.

    Raises:
        InputError: `DPSYNTH_URL` is not an address.
    """
    return urlsplit(configured()).scheme or ("https" if config.get_option("server.sslCertFile") else "http")


def configured() -> str:
    """Return the origin in the environment variable `DPSYNTH_URL`; "" if it is not set.

    Raises:
        InputError: The variable is not an address.
    """
    text = os.environ.get(VARIABLE, "")
    return origin_of(text, VARIABLE) if text else ""


def origin_of(url: str, field: str) -> str:
    """Return the origin scheme://host[:port] of a URL, without the scheme's standard port.

    Raises:
        InputError: The text is not an http or https address, or names a user; the error is about `field`.
    """
    try:
        parts = urlsplit(url)
        port, standard = parts.port, _STANDARD_PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise InputError(field, *_NO_ADDRESS) from None
    if not parts.hostname or parts.username is not None:
        raise InputError(field, *_NO_ADDRESS)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, standard) else "")


def url() -> str:
    """Return the address of the app to open in a browser, without a slash at its end.

    Raises:
        InputError: `DPSYNTH_URL` is set and not an address.
    """
    host = config.get_option("server.address") or ""
    host = "localhost" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    base = configured() or origin_of(f"{scheme()}://{host}:{config.get_option('server.port')}", "server.address")
    return base + path("").rstrip("/")


def answer_to(origin: str) -> None:
    """Add the host of `origin` to the host names for which this server answers requests (a Streamlit setting).

    Without it Streamlit refuses requests that browsers send to that name. Nothing changes if the origin has
    no host, or the host is listed.
    """
    names, host = list(config.get_option("server.allowedHosts")), urlsplit(origin).hostname
    if host and host not in names:
        config.set_option("server.allowedHosts", [*names, host])


def path(name: str) -> str:
    """Return the path of one of the server's own routes, such as `_stcore/health`, below the server's base path."""
    return make_url_path(config.get_option("server.baseUrlPath") or "", name)
