"""A client of an office's ledger (`ledger_api`), in place of the ledger in DPSYNTH_HOME, for the command line and Python programs.

`DPSYNTH_LEDGER` is the address of the office's server, and `DPSYNTH_LEDGER_TOKEN` the person's token. No redirect is followed: the token
goes to that server alone.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.store.balance import Left
from dpsynth_core.store.faults import OFFICE, StoreFault
from dpsynth_core.store.ledger import Charge, PlanDiffers

_TOKEN = "DPSYNTH_LEDGER_TOKEN"
_PLACE = "books"
_SECONDS, _MOST_BYTES = 30, 1 << 20
_NO_ANSWER, _LOOK = "the office's server does not answer, or not as one", "check the address and the network, and try again"
_LEFT = TypeAdapter(Left)
_HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Office:
    """The ledger on an office's server.

    Every method raises InputError with the server's own words if it refuses, and StoreFault if it
    cannot be asked.

    Attributes:
        url: Address of the server.
        token: The person's token.
    """

    url: str
    token: str = field(repr=False)

    def reserve(self, charge: Charge) -> None:
        """Charge a run to its population, once even if it is sent twice.

        Raises:
            InputError: The server refuses; nothing is charged.
            StoreFault: The server does not answer, so that the charge may stand.
        """
        self._ask("reserve", {**vars(charge), "unit": charge.unit.model_dump()})

    def touch(self, run: str) -> None:
        """Record that a run is about to read private data: from here on its charge is final.

        Args:
            run: Id of the run.

        Raises:
            InputError: The server refuses, such as for a run that was touched before.
            StoreFault: The server does not answer.
        """
        self._ask("touch", {"run": run})

    def give_back(self, run: str) -> None:
        """Return the reservation of a run that never touched data; a reservation that was given back before stays so.

        Args:
            run: Id of the run.

        Raises:
            InputError: The server refuses, such as for a run that was touched.
            StoreFault: The server does not answer.
        """
        self._ask("return", {"run": run})

    def cite(self, run: str, plan: str) -> dict[str, Any]:
        """Return what a release states of the ledger for a run (`balance.citation`).

        Args:
            run: Id of the run.
            plan: Digest of its plan.

        Raises:
            PlanDiffers: The run was charged for a plan with another digest.
            StoreFault: The server does not know the run or cannot be asked.
        """
        try:
            told = self._ask("cite", {"run": run})
        except InputError as error:
            raise StoreFault(error.field, error.problem, error.remedy) from error
        if told.get("spec") != plan:
            raise PlanDiffers("plan", "it is another one than the office's ledger was charged for", "put back what the run kept")
        if not isinstance(cited := told.get("cited"), dict):
            raise StoreFault(OFFICE, _NO_ANSWER, _LOOK)
        return cited

    def left(self, population: str, following: Accountant) -> Left | None:
        """Return the rest of a population's cap; None if the population is not open.

        Args:
            population: Name of the population.
            following: Accountant of the release that would come next.

        Raises:
            InputError: The server refuses the request.
            StoreFault: The server does not answer, or not with an account.
        """
        told = self._ask("account", {"population": population, "accountant": following.name})
        try:
            return None if told["left"] is None else _LEFT.validate_python(told["left"])
        except (KeyError, ValidationError):
            raise StoreFault(OFFICE, _NO_ANSWER, _LOOK) from None

    def _ask(self, act: str, asked: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the server and return its JSON answer; {} if it is not an object.

        Args:
            act: The act of `ledger_api`.
            asked: The request as JSON.

        Raises:
            InputError: The server refuses the request; the error has the server's words.
            StoreFault: The server does not answer, or not with JSON.
        """
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/{_PLACE}/{act}", json.dumps(asked).encode(), headers, method="POST")
        try:
            with _opener.open(request, timeout=_SECONDS) as stream:
                told = json.loads(stream.read(_MOST_BYTES))
        except urllib.error.HTTPError as refused:
            raise _refusal(refused) from None
        except (OSError, ValueError, http.client.HTTPException):
            raise StoreFault(OFFICE, _NO_ANSWER, _LOOK) from None
        return told if isinstance(told, dict) else {}


def configured() -> Office | None:
    """Return the office whose ledger is charged, or None to charge the ledger in DPSYNTH_HOME.

    Raises:
        InputError: The address is not encrypted (https), or the token is missing.
    """
    url = os.environ.get(OFFICE, "").rstrip("/")
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _HERE):
        raise InputError(OFFICE, "the address does not begin with https://", "write it like https://studio.example.org")
    token = os.environ.get(_TOKEN, "").strip()
    if not token.isascii() or not token.isprintable() or not token:
        raise InputError(_TOKEN, "the file has no token", "make one on the Ledger page of the office's server")
    return Office(url, token)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _refusal(refused: urllib.error.HTTPError) -> InputError:
    """Return a refusal as an error in the server's words.

    An answer that is not the server's own, such as a proxy's page, becomes a StoreFault.
    """
    try:
        told = json.loads(refused.read(_MOST_BYTES))
        parts = [str(told[name]) for name in ("field", "problem", "remedy")]
    except (OSError, ValueError, KeyError, TypeError):
        return StoreFault(OFFICE, f"the server there answered {refused.code}, and not as an office's", "check the address")
    return StoreFault(*parts) if refused.code >= 500 else InputError(*parts)
