"""The ledger for auditors: a summary with its length, its head, every account and every problem; and an export of every entry.

Neither shows whether a table changed between two runs.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace

from dpsynth_core.foundation.documents import inert, parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import balance, chain, sealed_fingerprints, verified_books
from dpsynth_core.store.balance import Spent
from dpsynth_core.store.chain import Entry, Verification
from dpsynth_core.store.database import reading
from dpsynth_core.store.faults import BooksLost

PAGE = 500
"""Number of entries that a page shows at once."""
LEAST_DIGITS = 16
"""Smallest number of characters of a hash that an auditor must have noted."""


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    Attributes:
        lines: The summary, in plain text.
        problem: What is wrong, or "".
        entries: Entries of the checked chain; empty if the ledger cannot be read.
    """

    lines: tuple[str, ...]
    problem: str
    entries: tuple[Entry, ...] = ()

    def holding(self, noted: str) -> Audit:
        """Return the audit, with a problem if no entry's hash begins with the hash that an auditor noted.

        It stands behind a problem that the audit has already. A hash of fewer than 16 characters is always a problem. This audit is not
        changed.

        Args:
            noted: The hash, or at least its first `LEAST_DIGITS` (16) characters; case and spaces around it do not count.
        """
        wanted = noted.strip().lower()
        held = len(wanted) >= LEAST_DIGITS and any(entry.hash.startswith(wanted) for entry in self.entries)
        missing = f"no entry has the hash {noted.strip()[:64]!r} that was noted"
        return self if held else replace(self, problem="; ".join(filter(None, (self.problem, missing))))


def audit() -> Audit:
    """Audit the ledger of this data directory: its chain, its accounts and the key of its fingerprints.

    Every entry is checked, and a checkpoint of the result may be written. What is wrong is in `Audit.problem`; a
    ledger that is lost or damaged gives an audit without lines and entries, and no error.

    Raises:
        StoreFault: The disk or the database cannot be used at present, such as a locked one.
    """
    try:
        verified, entries = verified_books.verify(), chain.entries()
        lines = [*_summary(verified), *(() if verified.problem else map(_account, balance.spent_by_all()))]
        problem = verified.problem or ("" if sealed_fingerprints.key_is_sound() else sealed_fingerprints.LOST)
    except BooksLost as error:
        return Audit((), error.problem)
    return Audit(tuple(lines), problem, entries)


def audit_export(entries: Sequence[Entry]) -> Audit:
    """Audit the entries of an export: their chain alone. It cannot show that the newest entries were cut off.

    Args:
        entries: The entries, oldest first.
    """
    verified = chain.check_chain(entries)
    return Audit(tuple(_summary(verified)), verified.problem, tuple(entries))


def newest_entries(populations: Sequence[str], page: int = 1) -> tuple[int, tuple[Entry, ...]]:
    """Return some entries, newest first, as stored, without a check that the chain is whole.

    Args:
        populations: The names of the populations whose entries are returned; empty for all entries.
        page: The number of the page, from 1; a page has `PAGE` (500) entries.

    Returns:
        The number of all these entries, and the entries of the page; () behind the last page.

    Raises:
        BooksLost: The table has rows that are not entries.
    """
    where = f"WHERE population IN ({', '.join('?' for _ in populations)})" if populations else ""
    chosen = f"WHERE number IN (SELECT number FROM ledger {where} ORDER BY number DESC LIMIT ? OFFSET ?)"
    with reading() as db:
        (count,) = db.execute(f"SELECT COUNT(*) FROM ledger {where}", tuple(populations)).fetchone()
        return int(count), chain.entries_in(db, chosen, *populations, PAGE, PAGE * (page - 1))[::-1]


def clock_sentence(verified: Verification) -> str:
    """Return a sentence about entries that are dated before their predecessors, or "" without such entries.

    It gives the number of the first such entry, and counts the others.
    """
    if not verified.set_back:
        return ""
    several = f" (and {len(verified.set_back) - 1:,} more like it)" if len(verified.set_back) > 1 else ""
    return f"entry {verified.set_back[0]:,} is dated before the entry before it{several}: the clock of this machine was set back"


def _summary(verified: Verification) -> list[str]:
    restored = [f"accepted by hand: {verified.restored:,} times"] if verified.restored else []
    clock = [f"note: {sentence}"] if (sentence := clock_sentence(verified)) else []
    return [f"entries: {verified.head.number:,}", f"head: {verified.head}", *restored, *clock]


def _account(spent: Spent) -> str:
    unit = f", for {spent.unit.words}" if spent.unit is not None else ""
    return (
        f"population {spent.population!r}: epsilon {spent.epsilon:.4g} of {spent.cap_epsilon:g} at delta {spent.cap_delta:g},"
        f" charged by {spent.releases:,} run{'s' * (spent.releases != 1)}{unit}"
    )


def to_json(entries: Sequence[Entry]) -> str:
    """Return every field of every entry as the text of a JSON list, in order, which `read` reads."""
    return json.dumps([asdict(entry) for entry in entries], indent=1)


def read(text: str) -> tuple[Entry, ...]:
    """Return the entries of a JSON export, in its order, without a check that the chain is whole.

    Raises:
        InputError: The text is not a list of ledger entries.
    """
    with suppress(TypeError):
        entries = tuple(Entry(**item) for item in parse_json(text, "ledger export"))
        if all(chain.is_typed(vars(entry).values()) for entry in entries):
            return entries
    raise InputError("ledger export", "it is not a list of ledger entries", "use the JSON export of the ledger")


def to_csv(entries: Sequence[Entry]) -> str:
    """Return the entries as CSV text for a spreadsheet, with a header line and the entries in order.

    Text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Entry))
    for entry in entries:
        writer.writerow(inert(value) if isinstance(value, str) else value for value in asdict(entry).values())
    return out.getvalue()
