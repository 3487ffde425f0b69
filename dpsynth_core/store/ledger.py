"""The privacy ledger: every charge against every population, append-only and hash-chained, one chain an owner.

A population is the group of people whose total privacy loss is capped. Its first entry opens it with a cap (epsilon, delta);
later entries change the cap, reserve budget for a run, mark that the run touched private data, or return a reservation that
never did. Nothing is ever altered: the triggers of `database` refuse it, and `verify` finds what was changed around them. A chain
cannot show that its newest entries were cut off; a release names the hash of its own reservation, which then is missing.

Composition: rho adds up, and the cap in rho is the largest that gives (epsilon, delta). Each charge names what its rho is counted in; if
all of them are GDP's, so is their sum, and otherwise it is zCDP's, which holds for them all (`privacy.accountant`). Runs with steps that
keep their promise except with a probability of their own (`spec.Shares.delta`) add those up as well, and the cap's rho is for what they
leave of its delta (approximate zCDP: Bun & Steinke 2016, section 8). Runs under both relations are combined for replace-one, where an
add-remove charge counts four times: replacing is one removal and one addition, and k-fold neighbours cost k^2 rho (Bun & Steinke 2016,
Proposition 1.9); their own delta counts 1 + e^epsilon times, epsilon = sqrt(2 rho).

This module never sees data; budgets, names and fingerprints only.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from typing import NamedTuple

from dpsynth_core.errors import InputError
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant, common, named
from dpsynth_core.privacy.accounting import check_budget
from dpsynth_core.spec import Spec
from dpsynth_core.store.database import GENESIS, reading, transaction
from dpsynth_core.store.home import now

DEFAULT_CAP = (10.0, 1e-9)
"""(epsilon, delta) of a population whose curator chose no cap."""

_SLACK = 1e-9
"""Relative slack when comparing sums of rho with the cap: ten tenths of a budget must fit it."""


_LATER = {"own_delta": 0.0, "accountant": ZCDP.name}
"""Fields that older entries do not have, and what they would say."""


class CapExceeded(InputError):
    """The population's cap leaves less than the run asks for; nothing was reserved."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. `hash` covers every other field; `previous` is the hash of entry number - 1 of the same owner.

    own_delta: of steps that need one of their own, signed like rho. accountant: what rho is counted in. Where they are 0 and zCDP they are
    not part of the hash, as in older entries.

    kind: "population" | "cap" (epsilon, delta: the cap) | "reserve" | "touch" | "return" (rho signed; epsilon, delta: the run's).
    spec: digest of the sealed spec. fingerprint: keyed hash of the data file.
    """

    owner: str
    number: int
    at: str
    population: str
    kind: str
    run: str = ""
    spec: str = ""
    relation: str = ""
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    fingerprint: str = ""
    note: str = ""
    own_delta: float = 0.0
    accountant: str = ZCDP.name
    previous: str = GENESIS
    hash: str = ""

    def digest(self) -> str:
        """What `hash` must be."""
        unsaid = {"hash", *(key for key, plain in _LATER.items() if getattr(self, key) == plain)}
        content = {key: value for key, value in asdict(self).items() if key not in unsaid}
        return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Charge:
    """What a run wants from a population."""

    population: str
    run: str
    spec: str
    relation: str
    rho: float
    epsilon: float
    delta: float
    fingerprint: str
    note: str = ""
    own_delta: float = 0.0
    accountant: str = ZCDP.name


@dataclass(frozen=True)
class Spent:
    """The account of one population. epsilon: of everything charged, at the cap's delta; remaining_epsilon: of one more release
    that takes all of `remaining_rho`, at the same delta. accountant: what the rho here are counted in."""

    population: str
    cap_epsilon: float
    cap_delta: float
    cap_rho: float
    rho: float
    epsilon: float
    remaining_rho: float
    remaining_epsilon: float
    relations: tuple[str, ...]
    releases: int
    accountant: Accountant

    @property
    def delta(self) -> float:
        return self.cap_delta


@dataclass(frozen=True)
class Verification:
    """Whether a chain is whole. head: hash of its last entry, worth noting elsewhere. problem: "" or what is wrong and where."""

    entries: int
    head: str
    problem: str

    @property
    def ok(self) -> bool:
        return not self.problem


def open_population(owner: str, name: str, cap: tuple[float, float] = DEFAULT_CAP, note: str = "") -> None:
    """Name a population and cap it. Raises InputError if it exists or the cap is not a budget."""
    with transaction() as db:
        if _cap(db, owner, name):
            raise InputError(f"population {name!r}", "it exists already", "choose another name, or change its cap")
        _open(db, owner, name, cap, note)


def change_cap(owner: str, name: str, cap: tuple[float, float], note: str) -> None:
    """Append a new cap; also one below what is spent, which then allows no further run. Raises InputError without a reason in `note`."""
    check_budget(*cap)
    if not note.strip():
        raise InputError("reason", "a change of the cap needs one", "write why the cap changes; it is kept in the ledger")
    with transaction() as db:
        if not _cap(db, owner, name):
            raise InputError(f"population {name!r}", "it does not exist", "open it first")
        append(db, Entry(owner, 0, "", name, "cap", epsilon=float(cap[0]), delta=float(cap[1]), note=note))


def populations(owner: str) -> tuple[str, ...]:
    """Names of the owner's populations, in the order in which they were opened."""
    with reading() as db:
        rows = db.execute("SELECT population FROM ledger WHERE owner = ? AND kind = 'population' ORDER BY number", (owner,))
        return tuple(row[0] for row in rows)


def spent(owner: str, population: str, following: Accountant = GDP) -> Spent:
    """The account of a population; of one that nobody opened yet, an empty account with the default cap.

    following: the accountant of the release that would come next. Where it is zCDP's, all has to be counted so.
    """
    with reading() as db:
        return _account(db, owner, population, following)


def entries(owner: str) -> tuple[Entry, ...]:
    """All entries of the owner, oldest first."""
    with reading() as db:
        columns = ", ".join(field.name for field in fields(Entry))
        return tuple(Entry(*row) for row in db.execute(f"SELECT {columns} FROM ledger WHERE owner = ? ORDER BY number", (owner,)))


def same_file_elsewhere(owner: str, fingerprint: str, population: str) -> tuple[str, ...]:
    """Other populations of the owner against which the same data file was charged: a reason for a warning."""
    with reading() as db:
        rows = db.execute(
            "SELECT DISTINCT population FROM ledger AS e WHERE owner = ? AND fingerprint = ? AND population != ? AND kind = 'reserve'"
            " AND NOT EXISTS (SELECT 1 FROM ledger WHERE run = e.run AND kind = 'return') ORDER BY population",
            (owner, fingerprint, population),
        )
        return tuple(row[0] for row in rows)


def verify(owner: str) -> Verification:
    """Recompute the owner's whole chain."""
    return check_chain(entries(owner))


def check_chain(chain: Sequence[Entry]) -> Verification:
    """Check numbers, links and hashes of entries, oldest first; works on an export as well."""
    previous = GENESIS
    for number, entry in enumerate(chain, start=1):
        if entry.number != number:
            return Verification(len(chain), previous, f"entry {number} is missing")
        if entry.previous != previous:
            return Verification(len(chain), previous, f"entry {number} does not follow entry {number - 1}")
        if entry.hash != entry.digest():
            return Verification(len(chain), previous, f"entry {number} was altered")
        previous = entry.hash
    return Verification(len(chain), previous, "")


def export_json(owner: str) -> str:
    """Every entry with every field: what `read_export` and `check_chain` take."""
    return json.dumps([asdict(entry) for entry in entries(owner)], indent=1)


def read_export(text: str) -> tuple[Entry, ...]:
    """The entries of an export. Raises InputError if it is not one."""
    try:
        return tuple(Entry(**item) for item in json.loads(text))
    except (ValueError, TypeError) as error:
        raise InputError("ledger export", "it is not a list of ledger entries", "use the JSON export of the ledger page") from error


def export_csv(owner: str) -> str:
    """The ledger for reading in a spreadsheet; text that a spreadsheet would take for a formula gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Entry))
    for entry in entries(owner):
        writer.writerow(_harmless(value) for value in asdict(entry).values())
    return out.getvalue()


def charge_of(spec: Spec, run: str, rho: float, fingerprint: str) -> Charge:
    """What a run of `spec` costs its population."""
    budget = spec.budget
    *_, own, accountant = spec.shares()
    about = (spec.population, run, spec.digest(), spec.unit.relation, rho, budget.epsilon, budget.delta, fingerprint, spec.name)
    return Charge(*about, own, accountant.name)


def reserve(db: sqlite3.Connection, owner: str, charge: Charge) -> Entry:
    """Charge a run to its population, opening it with the default cap if need be. `db` is in a transaction that also starts the run.

    Raises CapExceeded when the cap does not allow it.
    """
    if not _cap(db, owner, charge.population):
        _open(db, owner, charge.population, DEFAULT_CAP, "opened by its first run, with the default cap")
    account = _account(db, owner, charge.population)
    charges = [*_charges(db, owner, charge.population), _Standing(charge.relation, charge.rho, charge.own_delta, charge.accountant)]
    after, left, accountant = _combined(charges), account.cap_delta - _own_delta(charges), _counted_in(charges)
    if left <= 0:
        raise CapExceeded(
            f"population {charge.population!r}",
            f"this run has steps that need a delta of their own, which would use up the cap's {account.cap_delta:g}",
            "choose a learner without one, lower the run's delta, or raise the cap's on the ledger page and give the reason there",
        )
    if after > accountant.rho_from(account.cap_epsilon, left) * (1 + _SLACK):
        raise CapExceeded(
            f"population {charge.population!r}",
            f"this run would bring its privacy loss to epsilon {accountant.epsilon_from(after, left):.4g},"
            f" above its cap of {account.cap_epsilon:g} (delta {account.cap_delta:g})",
            "lower epsilon, or raise the cap on the ledger page and give the reason there",
        )
    return append(db, Entry(owner, 0, "", kind="reserve", **asdict(charge)))


def touch(db: sqlite3.Connection, owner: str, run: str) -> None:
    """Record that the run is about to read private data: from here on its charge is final."""
    reserved = _reservation(db, owner, run)
    append(db, replace(reserved, kind="touch", rho=0.0, own_delta=0.0, note=""))


def give_back(db: sqlite3.Connection, owner: str, run: str, why: str) -> None:
    """Return the reservation of a run that never touched data. The database refuses it for one that did."""
    reserved = _reservation(db, owner, run)
    append(db, replace(reserved, kind="return", rho=-reserved.rho, own_delta=-reserved.own_delta, note=why))


def reservation(owner: str, run: str) -> Entry:
    """The entry that charged a run. Raises LookupError if there is none."""
    with reading() as db:
        return _reservation(db, owner, run)


def citation(owner: str, run: str) -> dict[str, str | int | float]:
    """What a release says of the ledger: its own entry, and what its population has lost in all so far, this run included."""
    with reading() as db:
        entry = _reservation(db, owner, run)
        account = _account(db, owner, entry.population)
    return {
        "population": entry.population,
        "entry": entry.number,
        "hash": entry.hash,
        "population_rho": account.rho,
        "population_epsilon": account.epsilon,
        "population_delta": account.cap_delta,
        "population_releases": account.releases,
    }


def append(db: sqlite3.Connection, entry: Entry) -> Entry:
    """Number, date, link and hash an entry and write it at the end of its owner's chain, inside the transaction of `db`."""
    last = db.execute("SELECT number, hash FROM ledger WHERE owner = ? ORDER BY number DESC LIMIT 1", (entry.owner,)).fetchone()
    number, previous = (last["number"], last["hash"]) if last else (0, GENESIS)
    linked = replace(entry, number=number + 1, at=now(), previous=previous)
    sealed = replace(linked, hash=linked.digest())
    marks = ", ".join("?" for _ in fields(Entry))
    db.execute(f"INSERT INTO ledger ({', '.join(field.name for field in fields(Entry))}) VALUES ({marks})", tuple(asdict(sealed).values()))
    return sealed


def _open(db: sqlite3.Connection, owner: str, name: str, cap: tuple[float, float], note: str) -> None:
    check_budget(*cap)
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise InputError("population", "it is empty, too long or has control characters", "say in a few words whose records these are")
    append(db, Entry(owner, 0, "", name, "population", epsilon=float(cap[0]), delta=float(cap[1]), note=note))


def _cap(db: sqlite3.Connection, owner: str, population: str) -> tuple[float, float] | None:
    row = db.execute(
        "SELECT epsilon, delta FROM ledger WHERE owner = ? AND population = ? AND kind IN ('population', 'cap')"
        " ORDER BY number DESC LIMIT 1",
        (owner, population),
    ).fetchone()
    return (row["epsilon"], row["delta"]) if row else None


class _Standing(NamedTuple):
    """What a reservation, or with both numbers negative its return, charges."""

    relation: str
    rho: float
    own_delta: float
    accountant: str


def _charges(db: sqlite3.Connection, owner: str, population: str) -> list[_Standing]:
    """Of every reservation and return; a returned one appears twice, with both signs."""
    rows = db.execute(
        "SELECT relation, rho, own_delta, accountant FROM ledger WHERE owner = ? AND population = ? AND kind IN ('reserve', 'return')",
        (owner, population),
    )
    return [_Standing(*row) for row in rows]


def _counted_in(charges: Iterable[_Standing], following: Sequence[Accountant] = ()) -> Accountant:
    """What charges that stand add up in, and runs that follow. GDP's may be counted in zCDP, but not the other way round."""
    standing: Counter[str] = Counter()
    for charge in charges:
        standing[charge.accountant] += 1 if charge.rho > 0 else -1
    return common([*map(named, standing.elements()), *following])


def _combined(charges: Iterable[_Standing]) -> float:
    """Total rho under one relation: the common one, or replace-one when both occur (see the module's first paragraph)."""
    total = _totals(charges)
    return total["replace"] + 4 * total["add-remove"] if total["replace"] > 0 else total["add-remove"]


def _own_delta(charges: Sequence[_Standing]) -> float:
    """Total delta of steps that need one of their own, under the same relation as `_combined`."""
    both = _totals(charges)["replace"] > 0
    twice = [1 + math.exp(math.sqrt(2 * abs(c.rho))) if both and c.relation == "add-remove" else 1.0 for c in charges]
    return max(0.0, math.fsum(c.own_delta * times for c, times in zip(charges, twice, strict=True)))


def _totals(charges: Iterable[_Standing]) -> dict[str, float]:
    standing = list(charges)
    return {relation: math.fsum(c.rho for c in standing if c.relation == relation) for relation in ("add-remove", "replace")}


def _account(db: sqlite3.Connection, owner: str, population: str, following: Accountant = GDP) -> Spent:
    epsilon, delta = _cap(db, owner, population) or DEFAULT_CAP
    charges = _charges(db, owner, population)
    usable = max(delta - _own_delta(charges), _SLACK * delta)
    accountant = _counted_in(charges, [following])
    cap_rho, rho = accountant.rho_from(epsilon, usable), _combined(charges)
    left = max(cap_rho - rho, 0.0)
    standing = {relation for relation, total in _totals(charges).items() if total > 0}
    return Spent(
        population=population,
        cap_epsilon=epsilon,
        cap_delta=delta,
        cap_rho=cap_rho,
        rho=rho,
        epsilon=accountant.epsilon_from(rho, usable) if rho > 0 else 0.0,
        remaining_rho=left,
        remaining_epsilon=following.epsilon_from(left, usable) if left > cap_rho * _SLACK else 0.0,
        relations=tuple(sorted(standing)),
        releases=sum(1 if charge.rho > 0 else -1 for charge in charges),
        accountant=accountant,
    )


def _reservation(db: sqlite3.Connection, owner: str, run: str) -> Entry:
    columns = ", ".join(field.name for field in fields(Entry))
    row = db.execute(f"SELECT {columns} FROM ledger WHERE owner = ? AND run = ? AND kind = 'reserve'", (owner, run)).fetchone()
    if row is None:
        raise LookupError("the run has no reservation")
    return Entry(*row)


def _harmless(value: str | float | int) -> str | float | int:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
