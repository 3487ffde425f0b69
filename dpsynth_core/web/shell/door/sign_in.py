"""The door of a server with several users: they sign in with an OpenID Connect provider, through Streamlit's own routes.

Streamlit runs the protocol and stores the identity of the visitor in a signed cookie. It lets strangers in as well and leaves it to the
script to send them away. This door reads the same cookie before anything is served. It trusts the provider's statement for an hour: an
account that is withdrawn there is locked out here after an hour at the latest. No header of a request states an identity.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from streamlit import auth_util
from streamlit.errors import StreamlitAuthError
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.store.roles import EVERY, SIGNED_IN_SECONDS, Role
from dpsynth_core.web.shell.door import address, page

SECTION = "auth"
_OWN_SECTION, _PEOPLE, _GROUPS, _ROLES = "dpsynth", "people", "groups", "roles"
_CALLBACK = "oauth2callback"
_SECRET_LENGTH = 32
_OWNER_DIGITS = 32
_SKEW_SECONDS = 300
"""The provider's clock may be ahead of this server's by this much."""
_GROUP = "group:"


@dataclass(frozen=True)
class SignIn:
    """The door of a server with several people, who sign in with an OpenID Connect provider.

    The owner id is derived from the issuer and the subject of the sign-in.

    Attributes:
        public_origin: The server's origin for browsers, scheme://host[:port].
        people: Who may enter: e-mail addresses, @domain or group:NAME; everybody whom the provider
            knows if empty.
        groups: The name of the claim that lists a person's groups.
        given: The people with each role, named as in `people`; if empty, everybody has every role.
    """

    public_origin: str
    people: frozenset[str] = frozenset()
    groups: str = "groups"
    given: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    one_person: ClassVar[bool] = False

    @property
    def strangers_may(self) -> frozenset[str]:
        """The paths that are open without signing in."""
        return frozenset(address.path(name) for name in ("auth/login", "auth/logout", _CALLBACK))

    def owner(self, cookies: Mapping[str, str]) -> str:
        """Return the owner id of a visitor who has signed in within the hour and may enter; otherwise "".

        The id is 32 hexadecimal digits. Who has no role may not enter.
        """
        claims = self.claims(cookies)
        if not _lasts(claims) or not self._may_enter(claims):
            return ""
        return hashlib.sha256(f"{claims['iss']} {claims['sub']}".encode()).hexdigest()[:_OWNER_DIGITS]

    def name(self, cookies: Mapping[str, str]) -> str:
        """Return the visitor's e-mail address if the provider verified it, and otherwise another name.

        In other names "@" is replaced, so that they cannot pass for an address. The name is hostile text; it is
        "" without a sign-in.
        """
        claims = self.claims(cookies)
        checked = claims.get("email_verified") is True and claims.get("email")
        return str(checked or str(claims.get("name") or claims.get("sub", "")).replace("@", " at "))  # else it passes for an address

    def origin(self, host: str) -> str:  # noqa: ARG002 - behind a proxy the host is not what browsers see
        """Return the public origin, for any host."""
        return self.public_origin

    def entry(self, request: Request) -> Response | None:
        """Begin to sign in: redirect to Streamlit's login route with the proof of origin that it requires.

        Returns:
            The redirect; None for other requests, and for the redirected one.
        """
        if request.scope["path"] != address.path("auth/login") or "provider" in request.query_params:
            return None
        fresh = urlencode({"provider": auth_util.encode_provider_token("default")})
        return RedirectResponse(f"{address.path('auth/login')}?{fresh}", status_code=303, headers=page.NOT_KEPT)

    def refusal(self, request: Request) -> Response:
        """Return the page, with status 403, that asks a stranger to sign in.

        A visitor who has signed in but may not enter gets a page that says so.
        """
        claims = self.claims(request.cookies)
        if claims and _lasts(claims):
            return page.not_invited(self.name(request.cookies), address.path("auth/logout"))
        return page.ask_to_sign_in(address.path("auth/login"))

    def claims(self, cookies: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the provider's claims about a visitor, from the signed cookie, by the claims' names.

        They are {} without a sign-in and for a cookie of another server. They are given also if the
        sign-in has expired or the visitor may not enter: `owner` decides on access.
        """
        signed = starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
        try:
            claims = json.loads(signed or b"{}")
        except ValueError:
            return {}
        named = all(isinstance(claims.get(key), str) and claims[key] for key in ("iss", "sub"))
        return claims if named and claims.get("is_logged_in") is True and claims.get("origin") == self.public_origin else {}

    def seconds_left(self, cookies: Mapping[str, str]) -> float:
        """Return the seconds until the visitor has to sign in again, an hour after the last sign-in.

        The number is negative if the hour is over. The visitor must have signed in; otherwise KeyError is raised.
        """
        return float(self.claims(cookies)["iat"]) + SIGNED_IN_SECONDS - time.time()

    def signed_in(self, cookies: Mapping[str, str]) -> str:
        """Return the provider's time of the sign-in, in UTC, as ISO 8601 with milliseconds.

        The visitor must have signed in; otherwise KeyError is raised.
        """
        return datetime.fromtimestamp(float(self.claims(cookies)["iat"]), UTC).isoformat(timespec="milliseconds")

    def _may_enter(self, claims: Mapping[str, Any]) -> bool:
        known = bool(claims) and (not self.people or bool(self._known_as(claims) & self.people))
        return known and bool(self._roles(claims))

    def roles(self, cookies: Mapping[str, str]) -> frozenset[Role]:
        """Return the roles that the server gives to a visitor: every role if it assigns none to anybody.

        The result is empty for a visitor without a role, who may not enter.
        """
        return self._roles(self.claims(cookies))

    def _roles(self, claims: Mapping[str, Any]) -> frozenset[Role]:
        return frozenset(role for role, people in self.given.items() if self._known_as(claims) & people) if self.given else EVERY

    def _known_as(self, claims: Mapping[str, Any]) -> frozenset[str]:
        """Return the names by which lists of people can name a person.

        They are group:NAME for each group, and the e-mail address and @domain if the provider
        verified it.
        """
        groups = claims.get(self.groups)
        named = {f"{_GROUP}{group}".lower() for group in groups if isinstance(group, str)} if isinstance(groups, list) else set()
        email = str(claims.get("email", "")).lower()
        checked = claims.get("email_verified") is True and "@" in email and not email.startswith(_GROUP)
        return frozenset(named | ({email, email[email.rfind("@") :]} if checked else set()))


def _lasts(claims: Mapping[str, Any]) -> bool:
    """Return whether the claims were made less than an hour ago."""
    said = claims.get("iat")
    return isinstance(said, int | float) and not isinstance(said, bool) and -_SKEW_SECONDS <= time.time() - said < SIGNED_IN_SECONDS


def wanted() -> bool:
    """Return whether secrets.toml has a section [auth], which sets sign-in up.

    Raises:
        InputError: The file cannot be read; it may have the section.
    """
    try:
        secrets_singleton._parse()
    except FileNotFoundError as error:  # Streamlit's error for a missing file and for a broken one
        if getattr(error, "error_id", "") == "no-secrets-found":
            return False
        raise InputError("secrets.toml", "the file cannot be read", "correct it, or remove it for a wizard with one user") from None
    return SECTION in secrets_singleton


def from_secrets() -> SignIn:
    """Return the door that secrets.toml describes in [auth] and [dpsynth].

    Raises:
        InputError: A section is not complete or not valid, or would not protect: a short cookie
            secret, or an address without https.
    """
    try:
        auth_util.validate_auth_credentials("default")
    except StreamlitAuthError as error:
        raise InputError(f"secrets.toml, [{SECTION}]", " ".join(str(error).split()).rstrip("."), "complete the section") from None
    section = auth_util.get_secrets_auth_section()
    if not isinstance(section["cookie_secret"], str):
        raise InputError(f"secrets.toml, [{SECTION}] cookie_secret", "it is not a text", "write it in quotes")
    if len(section["cookie_secret"]) < _SECRET_LENGTH:
        problem = f"it has fewer than {_SECRET_LENGTH} characters, and who guesses it is anybody"
        raise InputError(f"secrets.toml, [{SECTION}] cookie_secret", problem, "make one with: openssl rand -hex 32")
    redirect = auth_util.get_redirect_uri(section) or ""
    place = f"secrets.toml, [{SECTION}] redirect_uri"
    parts = urlsplit(redirect)
    if not redirect.endswith(f"/{_CALLBACK}"):
        raise InputError(place, f"it does not end in /{_CALLBACK}", f"write it like https://studio.example.org/{_CALLBACK}")
    if parts.scheme != "https" and parts.hostname not in address.LOOPBACK:
        raise InputError(place, "without https anybody on the way reads the tables and takes the cookie", "put the server behind https")
    origin = address.origin_of(redirect, place)
    own = secrets_singleton.get(_OWN_SECTION, {})
    if not isinstance(own, Mapping):
        raise InputError(f"secrets.toml, {_OWN_SECTION}", "it is not a section", f"write [{_OWN_SECTION}] on a line of its own")
    claim = own.get(_GROUPS, SignIn.groups)
    if not isinstance(claim, str) or not claim:
        raise InputError(f"secrets.toml, [{_OWN_SECTION}] {_GROUPS}", "this is not the name of a claim", 'write "groups"')
    given, place = own.get(_ROLES, {}), f"secrets.toml, [{_OWN_SECTION}.{_ROLES}]"
    if not isinstance(given, Mapping):
        raise InputError(place, "it is not a section", f"write [{_OWN_SECTION}.{_ROLES}] on a line of its own")
    if unknown := sorted(set(given) - set(Role)):
        raise InputError(place, f"{shown(unknown[0])} is not a role", f"take of {', '.join(Role)}")
    roles = {Role(name): _listed(people, f"{place} {name}") for name, people in given.items()}
    return SignIn(origin, _listed(own.get(_PEOPLE, []), f"secrets.toml, [{_OWN_SECTION}] {_PEOPLE}"), claim, roles)


def _listed(people: Any, place: str) -> frozenset[str]:
    """Return a list of people from secrets.toml, in lower case.

    Raises:
        InputError: It is not a list of e-mail addresses, @domains and groups; the error is about
            `place`.
    """
    if not isinstance(people, list) or not all(isinstance(one, str) and ("@" in one or one.strip().startswith(_GROUP)) for one in people):
        problem, remedy = "this is not a list of e-mail addresses and groups", 'write ["ann@example.org", "@example.org", "group:curators"]'
        raise InputError(place, problem, remedy)
    return frozenset(one.strip().lower() for one in people)
