"""The pages before the first page: plain HTML that loads nothing more, because the server gives a stranger nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from string import Template

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from dpsynth_core.web.shell import brand

OTHER_PAGE = "Refused: this request was made by a page of another server.\n"
NO_ROOM = "Refused: this server has no memory for a file of this size now. Try again later, or name a file of its own disk.\n"
NOT_GIVEN = "Refused: no page of yours was given this address. Open the page again.\n"
_STRANGER = "Refused: open the wizard in a browser first.\n"
NOT_KEPT = {"cache-control": "no-store"}
_HEADERS = {
    **NOT_KEPT,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}
_WRONG = '<p class="alert" id="wrong" role="alert">This is not the token of this server. A new one may have been made since.</p>'
_INVALID = 'aria-invalid="true" aria-describedby="wrong"'


def for_stranger(request: Request, refusal: Callable[[Request], Response]) -> Response:
    """Return the answer to a stranger, with status 403: the page of `refusal` for a browser, one line of text for programs.

    A request counts as a browser's if it accepts text/html.
    """
    if "text/html" in request.headers.get("accept", ""):
        return refusal(request)
    return PlainTextResponse(_STRANGER, 403, NOT_KEPT)


def ask_for_token(parameter: str, keep: Sequence[tuple[str, str]], wrong: bool) -> Response:
    """Return the page, with status 403, that has a field for the token of the person who runs the server.

    Args:
        parameter: The name of the field, which becomes the query's parameter.
        keep: The other parameters of the query, which are sent again.
        wrong: Whether a wrong token was given; the page then says so.
    """
    hidden = "".join(f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in keep)
    values = {"parameter": escape(parameter), "hidden": hidden, "alert": _WRONG if wrong else "", "state": _INVALID if wrong else ""}
    return _page("Open with your token", _part("token.html").substitute(values))


def ask_to_sign_in(login: str) -> Response:
    """Return the page, with status 403, that has a link to sign in.

    Args:
        login: The address of the link.
    """
    return _page("Sign in", _part("sign_in.html").substitute(login=escape(login)))


def not_invited(who: str, logout: str) -> Response:
    """Return the page, with status 403, for a person who has signed in with the provider but may not enter.

    Args:
        who: The person's name (hostile text).
        logout: The address of the link to sign out.
    """
    return _page("Not on the list", _part("not_invited.html").substitute(who=escape(who), logout=escape(logout)))


def wrong_name(_: Request) -> Response:
    """Return the page, with status 403, for a request that names a host which is not this server's own."""
    return _page("Another name", _part("wrong_name.html").template)


def ask_again() -> Response:
    """Return a page, with status 403, that reloads its own address at once.

    The second request comes from a page of this server, so that the browser sends its cookie.
    """
    return _page("One moment", _part("again.html").template, head='<meta http-equiv="refresh" content="0">')


def _page(title: str, body: str, head: str = "") -> Response:
    values = {"title": title, "name": brand.NAME, "tagline": brand.TAGLINE, "icon": brand.icon(), "head": head, "body": body}
    return HTMLResponse(_part("frame.html").substitute(values), 403, _HEADERS)


@cache
def _part(name: str) -> Template:
    return Template((brand.DOOR / name).read_text(encoding="utf-8"))
