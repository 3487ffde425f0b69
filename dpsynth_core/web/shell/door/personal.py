"""The door of a server with one user: a visitor with the token counts as the person who runs it.

The first visit brings the token in the address. The visitor gets a cookie for it and is redirected to the same address without the token,
so that the token stays in no address bar, and in no link that is passed on. The cookie is derived from the token: it lasts as long as the
token does, over restarts of the server, until the browser is closed.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpsynth_core.store import access_token, home
from dpsynth_core.web.shell.door import address, page

PARAMETER = "token"


@dataclass(frozen=True)
class Personal:
    """The door of a server for one person, whose owner id is `home.LOCAL_OWNER`, as on the command line.

    Attributes:
        token: The secret that lets the person in.
        scheme: "http" or "https".

    Raises:
        InputError: The token cannot be used.
    """

    token: str = field(default_factory=access_token.load, repr=False)
    scheme: str = field(default_factory=address.scheme)
    one_person: ClassVar[bool] = True
    strangers_may: ClassVar[frozenset[str]] = frozenset()

    @property
    def cookie(self) -> str:
        """The name of the cookie, which depends on the token.

        Cookies do not distinguish ports: with a fixed name, a second wizard on this machine would
        overwrite the cookie.
        """
        return f"dpsynth_{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    @property
    def pass_value(self) -> str:
        """The cookie's value, which does not reveal the token."""
        return hmac.new(self.token.encode(), b"browser", "sha256").hexdigest()

    def owner(self, cookies: Mapping[str, str]) -> str:
        """Return the owner id of a visitor with the cookie; "" for a stranger.

        Args:
            cookies: The visitor's cookies, by name.
        """
        return home.LOCAL_OWNER if _same(cookies.get(self.cookie, ""), self.pass_value) else ""

    def seconds_left(self, cookies: Mapping[str, str]) -> float | None:  # noqa: ARG002 - until the token is another
        """Return None: a visit lasts until the token changes."""
        return None

    def name(self, cookies: Mapping[str, str]) -> str:  # noqa: ARG002 - the one person knows
        """Return "": the only person needs no name."""
        return ""

    def origin(self, host: str) -> str:
        """Return the origin of the server under the host that the browser used."""
        return f"{self.scheme}://{host}"

    def entry(self, request: Request) -> Response | None:
        """Admit a visitor who brings the token in the address.

        Returns:
            A redirect to the same address without the token, with the cookie if the token is right;
                None for a request without a token or that is neither GET nor HEAD, and for a stranger with a
                wrong token.
        """
        query = _query(request)
        offered = [value for name, value in query if name == PARAMETER]
        if request.method not in ("GET", "HEAD") or not offered:
            return None
        text = offered[-1]  # what was pasted: the token, or the whole address that contains it
        pasted = dict(parse_qsl(urlsplit(text.strip()).query)) if "?" in text else {}
        right = _same(unquote_plus(pasted.get(PARAMETER, text)).strip(), self.token)
        if not right and not self.owner(request.cookies):
            return None
        # a path such as //example.org would lead to another server, so it begins with one slash
        path = "/" + request.scope.get("raw_path", b"/").decode("latin-1").lstrip("/\\")
        kept = urlencode([(name, value) for name, value in query if name != PARAMETER])
        answer = RedirectResponse(f"{path}?{kept}" if kept else path, status_code=303, headers=page.NOT_KEPT)
        if right:
            answer.set_cookie(self.cookie, self.pass_value, httponly=True, samesite="strict", secure=self.scheme == "https")
        return answer

    def refusal(self, request: Request) -> Response:
        """Return the page, with status 403, for a browser that was not let in.

        The page asks for the token, and says so if a wrong one was given. A browser that followed a link from another
        site did not send its cookie: it gets another page instead, which loads the same address again from this
        server, so that the cookie is sent.
        """
        if request.headers.get("sec-fetch-site") == "cross-site":
            return page.ask_again()
        query = _query(request)
        keep = [(name, value) for name, value in query if name != PARAMETER]
        return page.ask_for_token(PARAMETER, keep, wrong=len(keep) < len(query))


def opening(url: str, token: str) -> str:
    """Return the address of the app with the token, which lets the person in.

    Args:
        url: The address of the app, without a slash at its end.
        token: The secret token.
    """
    return f"{url}/?{PARAMETER}={token}"


def _same(offered: str, right: str) -> bool:
    """Return whether two texts are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(offered.encode("utf-8", "surrogatepass"), right.encode())


def _query(request: Request) -> list[tuple[str, str]]:
    return parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
