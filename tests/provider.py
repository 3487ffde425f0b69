"""An OpenID Connect provider on this machine, which believes whoever it is told to believe: enough of it for Streamlit's client."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT, SECRET = "studio", "s" * 40


class Provider:
    """person: the claims of whoever signs in next."""

    def __init__(self) -> None:
        self.person: Mapping[str, Any] = {}
        self.nonces: dict[str, str] = {}
        self.url = ""

    def discovery(self) -> dict[str, Any]:
        places = {name: f"{self.url}/{place}" for name, place in _PLACES.items()}
        return {"issuer": self.url, "id_token_signing_alg_values_supported": ["HS256"], **places}

    def id_token(self, code: str) -> str:
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": self.nonces.pop(code), **self.person}
        signed = ".".join(_encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "kid": "1"}, claims))
        return f"{signed}.{_encoded(hmac.new(SECRET.encode(), signed.encode(), hashlib.sha256).digest())}"


_PLACES = {
    "authorization_endpoint": "authorize",
    "token_endpoint": "token",
    "jwks_uri": "keys",
    "end_session_endpoint": "logout",
}


def secrets(provider: Provider, port: int, people: str = "") -> str:
    """secrets.toml for a server at `port` of this machine whose people sign in there."""
    section = {
        "redirect_uri": f"http://localhost:{port}/oauth2callback",
        "cookie_secret": "c" * 40,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "server_metadata_url": f"{provider.url}/.well-known/openid-configuration",
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in section.items()]
    return "\n".join(["[auth]", *lines, "[dpsynth]", f"people = [{people}]", ""])


@contextmanager
def providing() -> Iterator[Provider]:
    """A provider until the end of the block."""
    provider = Provider()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            match urlsplit(self.path).path:
                case "/.well-known/openid-configuration":
                    self._json(provider.discovery())
                case "/keys":
                    self._json({"keys": [{"kty": "oct", "kid": "1", "alg": "HS256", "k": _encoded(SECRET.encode())}]})
                case "/authorize":
                    code = f"code{len(provider.nonces)}{time.monotonic_ns()}"
                    provider.nonces[code] = asked["nonce"]
                    self._go(asked["redirect_uri"] + "?" + urlencode({"code": code, "state": asked["state"]}))
                case "/logout":
                    self._go(asked["post_logout_redirect_uri"])
                case _:
                    self.send_error(404)

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            token = provider.id_token(form["code"][0])
            self._json({"access_token": "a", "token_type": "Bearer", "expires_in": 600, "id_token": token})

        def _json(self, value: Mapping[str, Any]) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def _go(self, place: str) -> None:
            self.send_response(302)
            self.send_header("location", place)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing: a test prints no requests."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
