"""The statement about rows from protected tables, and the files of their bundle: rows, document, the given tables, and a page to read."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from dpsynth_core.bundle.remade import table_writers, text_writer
from dpsynth_core.extensions.rows_from import tables
from dpsynth_core.extensions.rows_from.fitting import Drawn
from dpsynth_core.extensions.rows_from.order import Order
from dpsynth_core.foundation.content import Writer
from dpsynth_core.foundation.documents import canonical_digest
from dpsynth_core.foundation.visible import escaped, listed, visible
from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.release import document as releases
from dpsynth_core.release.about import About
from dpsynth_core.release.synthesis import versions
from dpsynth_core.report.table_files import codebook
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.recoding import outside_rule

FORMAT, KIND = 1, "rows from tables"
DOCUMENT, README, BUNDLE, TABLE = "rows-from-tables.json", "README.md", "rows-from-tables.zip", "rows-from-tables"
NO_GUARANTEE = "No guarantee of this program: these rows protect people as far as the tables do that they were made from."
READ = "It opened these tables of counts and no table of records, added no noise, and charged no budget."
_LINE = 78
"""Bytes of a line in the notes of a file of rows."""


@dataclass(frozen=True)
class TablesAbout(About):
    """The description in files of rows from protected tables.

    Attributes:
        seal: SHA-256 of the order.
        said: The statement.
    """

    said: str = ""

    @classmethod
    def of_order(cls, order: Order) -> TablesAbout:
        """Return the description of the rows of an order."""
        return cls(digest(order), 0.0, 0.0, False, AboutSpec(), said=statement(order))

    @property
    @override
    def label(self) -> str:
        """The title of files: that the rows are synthetic, with the first 12 digits of the order's SHA-256."""
        return f"SYNTHETIC ROWS, order {self.seal[:12]}"

    @property
    @override
    def lines(self) -> tuple[str, ...]:
        """The lines of text that stand in files: what the rows are, the statement, and the order's SHA-256."""
        wide = max(len(letter.encode()) for letter in self.said)
        return (
            "ROWS FROM PROTECTED TABLES: nobody in them is a real person.",
            *textwrap.wrap(self.said, _LINE // wide),
            f"Order (SHA-256): {self.seal[:32]}",
            f"                 {self.seal[32:]}",
        )

    @property
    @override
    def facts(self) -> dict[str, Any]:
        """Facts about the rows as JSON values: synthetic, from_tables, order_sha256, records_opened (0) and budget_charged (0)."""
        return {"synthetic": True, "from_tables": True, "order_sha256": self.seal, "records_opened": 0, "budget_charged": 0}


def digest(order: Order) -> str:
    """Return the SHA-256 of an order as canonical JSON, in hexadecimal digits."""
    return canonical_digest(order.to_json())


def promise(order: Order) -> str:
    """Return what the giver of the tables promises, as a sentence; "" if it promises nothing."""
    if not order.promise:
        return ""
    return f"{visible(order.giver) or 'Whoever made the tables'} says of the tables: “{visible(order.promise)}” Nothing here checks that."


def statement(order: Order) -> str:
    """Return what holds of the rows of an order, in sentences."""
    return " ".join(sentence for sentence in (NO_GUARANTEE, READ, promise(order)) if sentence)


def notes(order: Order) -> Iterator[str]:
    """Yield what was noticed about the tables of an order, in sentences without Markdown; nothing if nothing was noticed.

    Of more than ten columns that are in no table, ten are named and the rest is counted.
    """
    totals = {str(one): one.total for one in order.tables if one.total is not None}
    low, high = min(totals.values(), default=0.0), max(totals.values(), default=0.0)
    if high > low:
        apart = (high - low) / order.people
        yield f"The totals of the tables differ by up to {apart:.2%}, from {low:,.0f} to {high:,.0f} people: each was read as shares."
    for one in order.tables:
        if one.suppressed:
            yield f"Suppressed counts of {one}: {one.suppressed:,}. The model fills these cells from the other counts."
        if follows := tables.following(one, order.tables, order.counted):
            yield (
                f"Suppressed counts of {one} that anybody can work out from the other tables by subtraction, up to rounding: at least "
                f"{follows:,}. Tell the giver."
            )
    if order.untold:
        names = listed([visible(name) for name in order.untold], 10)
        yield f"In no table, so that their values are drawn evenly and say nothing about people: {names}."


def closeness(files: Mapping[str, bytes]) -> str:
    """Return how closely the rows of a bundle follow its tables, as a sentence without Markdown.

    Args:
        files: The files of the bundle, of which the document (`DOCUMENT`) is read.
    """
    worst = max(json.loads(files[DOCUMENT])["tables"], key=lambda one: one["rows_differ"])
    return f"Rows in another cell than a table says: at most {worst['rows_differ']:.2%}, for {label(tuple(worst['columns']))}."


def to_json(order: Order, made: Drawn) -> dict[str, Any]:
    """Return the content of the document (`DOCUMENT`): all that the rows follow from, and no answer about any record.

    Args:
        order: The order.
        made: The rows of this order.
    """
    return {
        "format": FORMAT,
        "kind": KIND,
        "statement": statement(order),
        "order": order.to_json(),
        "order_sha256": digest(order),
        "records_opened": [],
        "charges": [],
        "people": order.people,
        "rows": order.rows,
        "tables": [
            {
                "columns": list(one.columns),
                "total": one.total,
                "suppressed": one.suppressed,
                "suppressed_that_follow": tables.following(one, order.tables, order.counted),
                "smallest_count_above_0": tables.smallest(one),
                "multiples_of": tables.multiple(one),
                "rows_differ": round(off, 6),
            }
            for one, off in zip(order.tables, made.differences, strict=True)
        ],
        "notes": list(notes(order)),
        "drawn_evenly": list(order.untold),
        "versions": versions(),
    }


def writers(order: Order, made: Drawn) -> dict[str, Writer]:
    """Return the files of the bundle but the manifest: by name, a function that writes the file.

    Args:
        order: The order.
        made: The rows of this order.
    """
    files = table_writers(TABLE, made.rows, order.domain, TablesAbout.of_order(order))
    return files | {name: text_writer(text) for name, text in _documents(order, made)}


def _documents(order: Order, made: Drawn) -> Iterator[tuple[str, str]]:
    yield DOCUMENT, releases.written(to_json(order, made)).decode()
    yield README, _readme(order, made)
    yield "domain.json", json.dumps(order.domain.to_json(), indent=1, ensure_ascii=False) + "\n"
    yield "codebook.csv", codebook(order.domain.attributes, order.domain, outside_rule, order.origin).decode()
    for number, one in enumerate(order.tables, start=1):
        yield f"tables/{number:03}.csv", releases.csv_bytes(one.lines(order.domain)).decode()


def _readme(order: Order, made: Drawn) -> str:
    """Return README.md; every text of the domain and of the giver in it is escaped."""
    lines = [
        "# ROWS FROM PROTECTED TABLES: no guarantee of this program",
        "",
        _plain(statement(order)),
        "",
        "## What is here",
        "",
        f"- {order.rows:,} rows: `{TABLE}.csv` and `{TABLE}.parquet`",
        "- `tables/`: the tables of counts that were given, in the order of the list below; an empty count was suppressed",
        "- `codebook.csv` and `domain.json`: every column with its values",
        f"- `{DOCUMENT}`: the order, from which the rows follow, and the seed",
        "",
        "## What is true of the rows",
        "",
        f"- They stand for {order.people:,.0f} people.",
        *(f"- {_plain(text)}" for text in _about_tables(order, made)),
        *(f"- {_plain(text)}" for text in notes(order)),
        f"- Where the columns and their values came from: {_plain(order.origin)}.",
        "",
        "## What is not",
        "",
        "- This program promises nothing about the people who were counted. It added no noise, and nothing bounds what somebody can learn.",
        "- It cannot check what the giver says. What the given tables tell about a person, these rows tell too.",
        "- Relations that no table has are those of the simplest model that fits the tables: draw no conclusion from them.",
        "- How far the giver's tables are off from the people, by rounding and suppression, is not known here.",
        "",
        "## How to check it",
        "",
        f"`python -m dpsynth_core verify {BUNDLE}` makes the rows again from `{DOCUMENT}` alone, in a process that can open no other file.",
        "",
    ]
    return "\n".join(lines)


def _about_tables(order: Order, made: Drawn) -> Iterator[str]:
    for one, off in zip(order.tables, made.differences, strict=True):
        least, step = tables.smallest(one), tables.multiple(one)
        known = f"its smallest count above 0 is {least:,.10g}" + (f", and all are multiples of {step:,}" if step > 1 else "")
        yield f"Table {one} ({one.counts.size:,} cells): {off:.2%} of the rows are in another cell than it says; {known}."


def _plain(text: str) -> str:
    """Return a text as one line, with every mark of Markdown escaped."""
    return escaped(" ".join(visible(text).split()))


def read_order(document: Mapping[str, Any]) -> Order:
    """Return the order that the document states.

    Raises:
        InputError: The order is not valid, or lacks the giver of its tables or the giver's promise.
        CapacityError: The domain, a table, or the model of all tables is too large.
        KeyError: The document states no order.
    """
    order = Order.of(document["order"])
    order.check_promised()
    return order
