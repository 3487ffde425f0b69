"""The ledger for programs on other machines: the requests that a person's token allows.

- `reserve`: charge a run to its population. The same charge sent again counts once until it is
  touched, because an answer may be lost on the way.
- `touch`: the run is about to read records, so that its charge is final. It is answered once.
- `return`: give back the charge of a run that was not touched.
- `cite`: return what a release of the run states of the ledger.
- `account`: return what is left of a population's cap.

Only `return` and `cite` are still answered when the person's sign-in counts no longer, because they
cost nothing and reveal nothing new.

All that is sent is public: a plan's digest, price and unit, the population's name, a keyed hash of
the table. The server must trust what a program says it spends, as it must trust what the program
publishes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.privacy.accountant import named
from dpsynth_core.privacy.budget import check_budget
from dpsynth_core.store import approvals, balance, chain, ledger, roles, rules, tokens, verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.ledger import Charge
from dpsynth_core.store.ledger_books import Books
from dpsynth_core.store.roles import Act
from dpsynth_core.store.times import DAY, age

FORGOTTEN_SECONDS = DAY
"""What was reserved and not touched for so long is given back: its program was killed before it read anything, and may not touch it now."""
_RUN, _DIGEST, _TABLES = map(re.compile, (r"[0-9a-f]{16}", r"[0-9a-f]{64}", r"[0-9a-f]{64}( [0-9a-f]{64}(( [0-9a-f]{64}){2})?)?"))
_CHARGE = TypeAdapter(Charge)
_MACHINES = 1e-9
"""By how much two machines may differ in what the same plan costs."""
_TOUCHED = InputError("run", "it began to read records before, and one charge is for one run", "start it again, which is charged anew")
_OTHER = InputError("request", "this server does not know it", "use the version of the program that the office's server has")


def answer(token: str, act: str, asked: Any) -> dict[str, Any]:
    """Return the JSON answer to a program's request.

    The same charge sent again counts once, until it is touched. The person must have signed in within the last hour,
    except for "return" and "cite".

    Args:
        token: The person's token.
        act: The kind of request: "reserve", "touch", "return", "cite" or "account".
        asked: The request as JSON.

    Returns:
        For "reserve" the number of the ledger's "entry"; for "cite" the digest of the plan as "spec", and what a
        release states as "cited"; for "account" what is "left" (`balance.Left`), None if the population is not open;
        {} for the others.

    Raises:
        InputError: The request is refused (NotAdmitted, CapExceeded, UnitDiffers, StoreFault and
            others); nothing was changed.
    """
    if act not in ("reserve", "account", *_ACTS) or not isinstance(asked, dict):
        raise _OTHER
    with reading() as db:  # who has no token never holds the lock
        owner = tokens.owner_of(db, token)
        roles.check(db, owner, Act.RUN)
        if act not in ("return", "cite"):
            roles.check_present(db, owner)
    if act == "account":
        return _account(asked)
    with transaction() as db:
        if act == "reserve":
            return _reserve(db, owner, asked)
        run = asked.get("run")
        entries = chain.entries_in(db, chain.OF_RUN, run) if isinstance(run, str) else ()
        charge = next((entry for entry in entries if entry.kind == "reserve" and entry.curator == owner), None)
        if charge is None or run in _jobs_here(db):
            raise InputError("run", "the ledger has no charge of yours for it", "reserve its budget first")
        return _ACTS[act](db, {entry.kind for entry in entries}, charge)


def _reserve(db: Connection, owner: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Charge a run, and return the number of its ledger entry; the same charge sent again returns the entry of the first.

    Raises:
        InputError: Another charge has this run's id, the run was touched already, or the charge is
            refused.
    """
    books = verified_books.unverified(db)
    charge = _read(asked, books)
    of_run = chain.entries_in(db, chain.OF_RUN, charge.run)
    for entry in of_run:
        if entry.kind == "reserve":
            stated = ledger.entry_of(owner, charge)
            if entry != replace(stated, number=entry.number, at=entry.at, previous=entry.previous, hash=entry.hash):
                raise InputError("run", "there is another one of this name", "start it again")
            if any(other.kind == "touch" for other in of_run):
                raise _TOUCHED
            return {"entry": entry.number}
    _free_forgotten(db, books)
    return {"entry": ledger.reserve(db, owner, charge).number}


def _account(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is left of a population's cap under "left", None if the population is not open.

    Raises:
        InputError: The request is malformed.
    """
    population, accountant = asked.get("population"), asked.get("accountant")
    if not isinstance(population, str) or not isinstance(accountant, str):
        raise _OTHER
    try:
        left = balance.left(population, named(accountant))
    except KeyError:
        raise _OTHER from None
    return {"left": left and vars(left)}


def _read(asked: Mapping[str, Any], books: Books) -> Charge:
    """Return the charge that a request states, after checking each of its fields.

    Raises:
        InputError: The request is malformed, breaks a house rule, or its rho is not what its
            epsilon and delta cost.
    """
    try:
        charge = _CHARGE.validate_json(json.dumps(asked), strict=True)
        accountant = named(charge.accountant)
    except (ValidationError, ValueError, KeyError):
        raise _OTHER from None
    check_budget(charge.epsilon, charge.delta)
    rules.check_price(rules.in_force(books), charge.epsilon, charge.delta, charge.unit.person_column)
    ledger.check_name(charge.population)
    amounts = math.isfinite(charge.rho) and charge.rho > 0 and 0 <= charge.own_delta < charge.delta
    amounts = amounts and math.copysign(1, charge.own_delta) > 0  # no database keeps another zero
    texts = all(len(text) <= 200 and text.isprintable() for text in (charge.note, charge.unit.person_column or ""))
    if not (amounts and texts and _TABLES.fullmatch(charge.fingerprint) and _RUN.fullmatch(charge.run) and _DIGEST.fullmatch(charge.spec)):
        raise _OTHER
    if not math.isclose(charge.rho, accountant.rho_from(charge.epsilon, charge.delta - charge.own_delta), rel_tol=_MACHINES):
        raise InputError("rho", "it is not what the stated epsilon and delta cost", "use the version of the program that the server has")
    return charge


def _jobs_here(db: Connection) -> set[str]:
    """Return the ids of this server's own jobs.

    Programs on other machines may not touch, give back or cite the charges of these jobs.
    """
    return {row["id"] for row in db.execute("SELECT id FROM jobs")}


def _free_forgotten(db: Connection, books: Books) -> None:
    """Give back the charges of other machines' runs that were not touched within `FORGOTTEN_SECONDS`.

    Charges from before a restored ledger stay, because what was read before is unknown.
    """
    here, restored = _jobs_here(db), max(books.restored, default=0)  # what was read before, nobody knows
    for entry in books.reserved.values():
        if entry.number > restored and entry.run not in here and age(entry.at) > FORGOTTEN_SECONDS:
            ledger.give_back(db, entry.run, "a program elsewhere never read a record for it")


def _touch(db: Connection, done: Set[str], charge: Entry) -> dict[str, Any]:
    """Make a charge final; the answer is empty.

    Raises:
        InputError: The charge was given back or touched before, or the plan needs an approval
            first.
    """
    if "return" in done:
        raise InputError("run", "its budget was given back meanwhile", "start it again")
    if "touch" in done:
        raise _TOUCHED
    approvals.check(db, charge.run, approvals.PLAN)
    ledger.touch(db, charge.run)
    return {}


def _return(db: Connection, done: Set[str], charge: Entry) -> dict[str, Any]:
    """Give back a charge that was not touched; the answer is empty. A charge given back before stays so.

    Raises:
        InputError: The charge was touched.
    """
    if "touch" in done:
        raise InputError("run", "it may have read records, so that it stays charged", "make its release")
    if "return" not in done:
        ledger.give_back(db, charge.run, "it ended before any record was read")
    return {}


def _cite(db: Connection, done: Set[str], charge: Entry) -> dict[str, Any]:  # noqa: ARG001
    """Return the digest of the charged plan under "spec", and what a release states of the ledger under "cited".

    Raises:
        InputError: The charge was not touched.
    """
    if "touch" not in done:
        raise InputError("run", "by the ledger it read no record", "reserve its budget and touch it before it reads")
    return {"spec": charge.spec, "cited": balance.citation(charge.run)}


_ACTS: Mapping[str, Callable[[Connection, Set[str], Entry], dict[str, Any]]] = {
    "touch": _touch,
    "return": _return,
    "cite": _cite,
}
