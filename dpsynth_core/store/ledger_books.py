"""The books: what the ledger's entries add up to, computed entry by entry, so that new entries are added to the sums of earlier ones.

`after` adds entries to books. It checks nothing: entries are checked first (`chain.check_chain`, `verified_books`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpsynth_core.store.accounts import Account, Cap
from dpsynth_core.store.chain import SECOND, Entry
from dpsynth_core.store.ledger_head import EMPTY, Head


@dataclass(frozen=True)
class Books:
    """The sums of the entries of a ledger.

    Attributes:
        head: Number and hash of the last entry.
        at: Date and time of the last entry, or "".
        accounts: The account of each population, in the order of their first entries.
        reserved: The reservation of each run that neither touched private data nor was given back.
        rules: Number and digest of each entry that put house rules in force, oldest first.
        restored: Numbers of the entries by which a person accepted a ledger that was not whole.
        set_back: Numbers of entries that are dated before their predecessors.
        checked: When all entries and the whole database were last checked and whole; "" if they were not.
    """

    head: Head = EMPTY
    at: str = ""
    accounts: Mapping[str, Account] = field(default_factory=dict)
    reserved: Mapping[str, Entry] = field(default_factory=dict)
    rules: tuple[tuple[int, str], ...] = ()
    restored: tuple[int, ...] = ()
    set_back: tuple[int, ...] = ()
    checked: str = ""

    def account(self, population: str) -> Account:
        """Return the account of a population; an empty one if the ledger does not name it."""
        return self.accounts.get(population, Account())

    @property
    def populations(self) -> tuple[str, ...]:
        """Names of all populations that were opened, in the order in which they were opened; () before the first."""
        return tuple(name for name, account in self.accounts.items() if account.caps)

    def to_json(self) -> dict[str, Any]:
        """Return the books as a JSON object, which `from_json` reads."""
        accounts = {
            name: [
                [[number, *cap] for number, cap in one.caps], one.rho.as_integer_ratio(), one.own_delta.as_integer_ratio(),
                [*one.units.items()], one.accountants, one.first, one.demand,
            ]
            for name, one in self.accounts.items()
        }  # fmt: skip
        reserved = [astuple(entry) for entry in self.reserved.values()]
        return {**vars(self), "head": vars(self.head), "accounts": accounts, "reserved": reserved}

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Books:
        """Return the books that `to_json` wrote."""
        accounts = {
            name: Account(
                tuple((number, Cap(*cap)) for number, *cap in caps), Fraction(*rho), Fraction(*own_delta),
                {(unit[0], unit[1], unit[2]): many for unit, many in units}, accountants, first, demand,
            )
            for name, (caps, rho, own_delta, units, accountants, first, demand) in stated["accounts"].items()
        }  # fmt: skip
        reserved = {entry.run: entry for entry in (Entry(*values) for values in stated["reserved"])}
        rules = tuple((number, digest) for number, digest in stated["rules"])
        lists = {"rules": rules, "restored": tuple(stated["restored"]), "set_back": tuple(stated["set_back"])}
        return cls(**{**stated, **lists, "head": Head(**stated["head"]), "accounts": accounts, "reserved": reserved})


def after(books: Books, entries: Iterable[Entry]) -> Books:
    """Return the books after these entries, in the order of their numbers.

    A return takes back what the run's reservation charged; where that is missing, or the run
    touched private data, nothing is taken back.
    """
    accounts, reserved, head, at = dict(books.accounts), dict(books.reserved), books.head, books.at
    added: dict[str, list[Any]] = {"rules": [*books.rules], "restored": [*books.restored], "set_back": [*books.set_back]}
    for entry in entries:
        account = accounts.get(entry.population, Account())
        if entry.kind in ("population", "cap"):
            accounts[entry.population] = replace(account, caps=(*account.caps, (entry.number, Cap(entry.epsilon, entry.delta))))
        elif entry.kind == "reserve":
            accounts[entry.population] = account.changed_by(entry, 1)
            reserved.setdefault(entry.run, entry)
        elif entry.kind in ("touch", "return"):
            charge = reserved.pop(entry.run, None)
            if entry.kind == "return" and charge is not None:
                accounts[charge.population] = accounts[charge.population].changed_by(charge, -1)
        elif entry.kind == "demand":
            accounts[entry.population] = replace(account, demand=entry.note)
        elif entry.kind == "rules":
            added["rules"].append((entry.number, entry.spec))
        elif entry.kind == "restore":
            added["restored"].append(entry.number)
        if entry.at[:SECOND] < at[:SECOND]:
            added["set_back"].append(entry.number)
        head, at = Head(entry.number, entry.hash), entry.at
    return Books(head, at, accounts, reserved, **{name: tuple(several) for name, several in added.items()}, checked=books.checked)
