"""Addresses that the server gave to the pages of one person, for files in memory and for uploads; a request of another person is refused.

Streamlit serves such an address to everybody who names it: a download's address is the hash of its content, an upload's address has
the number of a session. A link that was passed on, or the hash of guessed content, must open nothing.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator

from starlette.types import Message, Send

PLACES = ("media", "_stcore/upload_file")
"""The routes of such files, below the path of the server."""
# A message states the length of an address, and no sign ends it: what is found may go on with letters of the next field (`may_ask`).
_PATTERNS = [re.compile(rb"/(" + place.encode() + rb"/[\w./-]+)") for place in PLACES]
_MOST = 50_000
"""Number of addresses that are remembered; who opens an older one is refused, and gets a new one with the page."""


class Given:
    """The newest 50,000 addresses in the messages of websockets, by owner.

    Only the server's event loop uses it, so it needs no lock.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def noting(self, owner: str, send: Send) -> Send:
        """Return an ASGI `send` for a websocket that remembers the file addresses in its messages, and passes them on.

        Args:
            owner: The owner id of the person whose page receives the messages.
            send: The server's own `send`.
        """

        async def noted(message: Message) -> None:
            for name in _named(message.get("bytes") or b""):
                self._known[owner, name] = None
                self._known.move_to_end((owner, name))
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
            await send(message)

        return noted

    def may_ask(self, owner: str, name: str) -> bool:
        """Return whether an owner may request a path.

        It is True for a path outside `PLACES`, and for one that the server gave to this owner's pages; False
        also if the address is forgotten because 50,000 newer ones followed.

        Args:
            owner: The owner id.
            name: The path without the server's base path, such as "media/…".
        """
        if not name.startswith(tuple(f"{place}/" for place in PLACES)):
            return True
        return any(own == owner and known.startswith(name) for own, known in self._known)


def _named(content: bytes) -> Iterator[str]:
    return (found[1].decode() for pattern in _PATTERNS for found in pattern.finditer(content))
