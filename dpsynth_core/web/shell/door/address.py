"""Where this server is reached, from its own settings alone. No header of a request decides anything here: what proxies report
(X-Forwarded-*) can be written by anybody who reaches the port."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from streamlit import config
from streamlit.url_util import make_url_path

from dpsynth_core.foundation.errors import InputError

VARIABLE = "DPSYNTH_URL"
"""The address that browsers use, where it is not the one that the server listens on: behind a proxy, or published from a container."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")
_STANDARD_PORTS = {"http": 80, "https": 443}
_NO_ADDRESS = ("this is not the address of a server", "write it like https://studio.example.org")


def only_this_machine() -> bool:
    """Whether the server listens where this machine alone can reach it."""
    return config.get_option("server.address") in LOOPBACK


def for_one_person() -> bool:
    """Whether browsers reach the server at this machine alone: by `DPSYNTH_URL`, as of a container, or else because it listens there."""
    url = configured()
    return urlsplit(url).hostname in LOOPBACK if url else only_this_machine()


def scheme() -> str:
    """How browsers reach the server: "https" or "http"."""
    return urlsplit(configured()).scheme or ("https" if config.get_option("server.sslCertFile") else "http")


def configured() -> str:
    """The origin in `DPSYNTH_URL`, or "". Raises InputError if it is not an address."""
    text = os.environ.get(VARIABLE, "")
    return origin_of(text, VARIABLE) if text else ""


def origin_of(url: str, field: str) -> str:
    """scheme://host[:port] of a URL as browsers write it. Raises InputError about `field` if it is not one."""
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
    """What to open in a browser, without a slash at its end."""
    host = config.get_option("server.address") or ""
    host = "localhost" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    base = configured() or origin_of(f"{scheme()}://{host}:{config.get_option('server.port')}", "server.address")
    return base + path("").rstrip("/")


def answer_to(origin: str) -> None:
    """Let the server answer to the name in `origin`, beside those in `server.allowedHosts`."""
    names, host = list(config.get_option("server.allowedHosts")), urlsplit(origin).hostname
    if host and host not in names:
        config.set_option("server.allowedHosts", [*names, host])


def path(name: str) -> str:
    """The path of one of the server's own routes, such as `_stcore/health`."""
    return make_url_path(config.get_option("server.baseUrlPath") or "", name)
