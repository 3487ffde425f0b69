"""The ledger as a file for its auditors: every entry of every owner, and nothing that tells whether a table changed between two."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields

from dpsynth_core.foundation.documents import inert, parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store.chain import Entry, is_typed

_FIELD = "ledger export"


def to_json(chain: Sequence[Entry]) -> str:
    """Every field of every entry: what `read` and `chain.check_chain` take."""
    return json.dumps([asdict(entry) for entry in chain], indent=1)


def read(text: str) -> tuple[Entry, ...]:
    """The entries of a JSON export. Raises InputError if it is not one."""
    try:
        chain = tuple(Entry(**item) for item in parse_json(text, _FIELD))
    except TypeError as error:
        raise _no_export() from error
    if not all(is_typed(vars(entry).values()) for entry in chain):
        raise _no_export()
    return chain


def to_csv(chain: Sequence[Entry]) -> str:
    """For reading in a spreadsheet; text that a spreadsheet would take for a formula gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Entry))
    for entry in chain:
        writer.writerow(inert(value) if isinstance(value, str) else value for value in asdict(entry).values())
    return out.getvalue()


def _no_export() -> InputError:
    return InputError(_FIELD, "it is not a list of ledger entries", "use the JSON export of the ledger")
