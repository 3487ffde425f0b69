"""Which door this server has. There are two, and never both: sign-in where it is set up, else the token of the person who runs it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from dpsynth_core.web.shell.door import address, sign_in
from dpsynth_core.web.shell.door.personal import Personal


class Door(Protocol):
    """What a door decides."""

    @property
    def one_person(self) -> bool:
        """Whether every visitor who is admitted is the person who runs the server."""

    @property
    def strangers_may(self) -> frozenset[str]:
        """Paths that a stranger may ask for, in order to come in."""

    def owner(self, cookies: Mapping[str, str]) -> str:
        """Owner id of the visitor who sent these cookies; "" for a stranger."""

    def name(self, cookies: Mapping[str, str]) -> str:
        """What to call a visitor who signed in (hostile text); "" without sign-in."""

    def origin(self, host: str) -> str:
        """The origin, scheme://host[:port], that pages of this server have for a browser that asked for `host`."""

    def entry(self, request: Request) -> Response | None:
        """The answer to somebody who is coming in; None for every other request."""

    def refusal(self, request: Request) -> Response:
        """The page for a stranger, which says how to come in."""


@functools.cache
def chosen() -> Door:
    """The door of this process. Raises InputError if it cannot be shut: then nothing may be served."""
    door: Door = sign_in.from_secrets() if sign_in.wanted() else Personal()
    address.answer_to(door.origin(""))
    return door
