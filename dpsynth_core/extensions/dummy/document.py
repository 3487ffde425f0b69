"""The statement about dummy rows, and the files of their bundle: rows, document, codebook and a page to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from dpsynth_core.bundle.remade import table_writers, text_writer
from dpsynth_core.extensions.dummy.drawing import Drawn
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.foundation.content import Writer
from dpsynth_core.foundation.documents import canonical_digest
from dpsynth_core.foundation.visible import escaped, visible
from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.release import document as releases
from dpsynth_core.release.about import About
from dpsynth_core.release.synthesis import versions
from dpsynth_core.report.table_files import codebook
from dpsynth_core.vocabulary.recoding import outside_rule

FORMAT, KIND = 1, "dummy"
DOCUMENT, README, BUNDLE = "dummy.json", "README.md", "dummy.zip"
TABLE, MEMBERS = "dummy", "dummy-members"
"""Beginnings of the names of files of rows, which say what the rows are."""
STATEMENT = (
    "These are dummy rows, invented from a codebook alone: nobody in them is a real person. No table of records was opened and no privacy"
    " budget was charged. Relations between columns are invented: write code with these rows, and draw no conclusion from them."
)
_PUBLISHED = " The shares of published tables, which the codebook's giver names, were taken over."


@dataclass(frozen=True)
class DummyAbout(About):
    """The description in files of dummy rows.

    Attributes:
        seal: SHA-256 of the order, in hexadecimal digits.
    """

    @classmethod
    def of_order(cls, order: Order) -> DummyAbout:
        """Return the description of the rows of an order."""
        return cls(digest(order), 0.0, 0.0, False, AboutSpec())

    @property
    @override
    def label(self) -> str:
        """The title of files: that the rows are dummy rows, with the first 12 digits of the order's SHA-256."""
        return f"DUMMY ROWS, order {self.seal[:12]}"

    @property
    @override
    def lines(self) -> tuple[str, ...]:
        """The lines of text that stand in files: what the rows are, and the order's SHA-256."""
        return (
            "DUMMY ROWS, invented from a codebook alone: nobody in them is a real person.",
            "No table of records was opened, and no privacy budget was charged.",
            "Relations between columns are invented: write code with these rows,",
            "and draw no conclusion from them.",
            f"Order (SHA-256): {self.seal[:32]}",
            f"                 {self.seal[32:]}",
        )

    @property
    @override
    def facts(self) -> dict[str, Any]:
        """Facts about the rows as JSON values: synthetic, dummy, order_sha256, records_opened (0) and budget_charged (0)."""
        return {"synthetic": True, "dummy": True, "order_sha256": self.seal, "records_opened": 0, "budget_charged": 0}


def digest(order: Order) -> str:
    """Return the SHA-256 of an order as canonical JSON, in hexadecimal digits."""
    return canonical_digest(order.to_json())


def statement(order: Order) -> str:
    """Return the statement about the rows of an order, in sentences, to be passed on with them."""
    return STATEMENT + (_PUBLISHED if order.domain.published else "")


def to_json(order: Order, made: Drawn) -> dict[str, Any]:
    """Return the content of dummy.json: all that the rows follow from, and no answer about any record.

    Args:
        order: The order.
        made: The rows of the order.
    """
    return {
        "format": FORMAT,
        "kind": KIND,
        "statement": statement(order),
        "order": order.to_json(),
        "order_sha256": digest(order),
        "records_opened": [],
        "charges": [],
        "members": None if made.members is None else made.members.num_rows,
        "published_off": list(made.off),
        "versions": versions(),
    }


def writers(order: Order, made: Drawn) -> dict[str, Writer]:
    """Return, by the name of each file of the bundle but the manifest, a function that writes the file.

    Args:
        order: The order.
        made: The rows of the order.
    """
    about = DummyAbout.of_order(order)
    files = table_writers(TABLE, made.rows, order.row_domain, about)
    if made.members is not None:
        files |= table_writers(MEMBERS, made.members, order.member_domain, about)
    return files | {file: text_writer(text) for file, text in _documents(order, made)}


def _documents(order: Order, made: Drawn) -> Iterator[tuple[str, str]]:
    yield DOCUMENT, releases.written(to_json(order, made)).decode()
    yield README, _readme(order, made)
    domains = [("", order.domain if order.link is None else order.link.households)]
    if order.link is not None:
        domains.append(("members-", order.link.members))
    for prefix, domain in domains:
        yield f"{prefix}domain.json", json.dumps(domain.to_json(), indent=1, ensure_ascii=False) + "\n"
        yield f"{prefix}codebook.csv", codebook(domain.attributes, domain, outside_rule, order.origin).decode()


def _readme(order: Order, made: Drawn) -> str:
    """Return README.md; every text of the domain in it is escaped."""
    number = f"{made.rows.num_rows:,} rows"
    if made.members is not None:
        number += f", and {made.members.num_rows:,} rows of the second table, which refer to them by the column {_plain(order.key)}"
    kept = len(order.domain.impossible) if order.link is None else len(order.link.rules) + len(order.link.numbers)
    lines = [
        "# DUMMY ROWS: for code, not for conclusions",
        "",
        statement(order),
        "",
        "## What is here",
        "",
        f"- {number}: `dummy.csv` and `dummy.parquet`" + ("" if made.members is None else ", `dummy-members.csv` and `.parquet`"),
        "- `codebook.csv` and `domain.json`: every column with its values",
        "- `dummy.json`: the order, from which the rows follow, and the seed",
        "",
        "## What is true of the rows",
        "",
        f"- Where the columns and their values came from: {_plain(order.origin)}.",
        "- Columns, types, labels, decimals and forms of dates are those of a release of the same plan, so that code runs on both.",
        f"- Every value is one that its column may have. Rules that hold in every row: {kept:,}.",
        "- Where no rule says otherwise, values are equally frequent; missing and unlisted ones are in 2 % of the rows each.",
        *(_plain_item(f"The shares of {table} hold, up to {off:,.3g} rows a cell.") for table, off in _published(order, made)),
        "",
        "## What is not",
        "",
        "- Every other frequency, and every relation between columns, is invented. A mean, a model or a test on these rows says nothing.",
        "- What the codebook itself says of people is not protected by anything here; it is as public as its giver made it.",
        "",
        "## How to check it",
        "",
        "`python -m dpsynth_core verify dummy.zip` makes the rows again from `dummy.json` alone, in a process that can open no other file.",
        "",
    ]
    return "\n".join(lines)


def _published(order: Order, made: Drawn) -> list[tuple[str, float]]:
    return list(zip(map(str, order.domain.published), made.off, strict=True))


def _plain_item(text: str) -> str:
    return f"- {_plain(text)}"


def _plain(text: str) -> str:
    """Return a text as one line, with every mark of Markdown escaped."""
    return escaped(" ".join(visible(text).split()))


def stated_order(document: Mapping[str, Any]) -> Order:
    """Return the order that dummy.json states.

    Args:
        document: The parsed document.

    Raises:
        InputError: It is not a valid order.
        CapacityError: The domain is too large.
        KeyError: The document states no order.
    """
    return Order.of(document["order"])
