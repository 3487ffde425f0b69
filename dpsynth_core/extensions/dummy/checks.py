"""The checks of a bundle of dummy rows: that it is one, and that its rows follow from its document alone, which are made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from dpsynth_core.bundle.checks import files
from dpsynth_core.bundle.pack import MANIFEST
from dpsynth_core.bundle.reproduce import other_versions
from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verdicts import SIGNED, Check, Report, Running, Summary
from dpsynth_core.bundle.verify import judged
from dpsynth_core.claims.outcome import Nothing, Open, expect, some
from dpsynth_core.extensions.dummy import document
from dpsynth_core.extensions.dummy.document import DOCUMENT
from dpsynth_core.extensions.dummy.drawing import Drawn, drawn
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.foundation.content import digest_written

UNSEEN_IN_SHORT = "No check shows who made it, or where the codebook came from. These rows say nothing about people."
UNSEEN = (
    "These are dummy rows and no release: they carry no guarantee about a table, because none was opened. Relations in them are invented, "
    "so draw no conclusion from them. No check can show who made the bundle, or where the codebook and the published tables in it came "
    "from; they are its maker's word."
)


def checking(bundle: Bundle) -> Iterator[Running | Report]:
    """Make the checks of a bundle of dummy rows one by one: yield each before it runs, and the report last."""
    orders: list[tuple[Order, Drawn]] = []

    def read() -> str:
        order = document.stated_order(bundle.document)
        orders.append((order, drawn(order)))
        return f"an order for {order.rows:,} rows of {len(order.domain.columns):,} columns"

    first = dict[str, Callable[[], str]]({"Are the files unchanged?": partial(files.unchanged, bundle), SIGNED: _signed})
    first["Is dummy.json complete?"] = read
    then: Mapping[str, Callable[[Bundle, Order, Drawn], str]] = {
        "Does it say that it is not a release?": _labelled,
        "Do the rows follow from the codebook alone?": _follows,
    }
    checks = list[Check]()
    for number, (question, check) in enumerate(first.items(), start=1):
        yield Running(question, number, len(first) + len(then))
        checks.append(judged(question, check))
    for number, (question, made) in enumerate(then.items() if orders else (), start=len(first) + 1):
        yield Running(question, number, len(first) + len(then))
        checks.append(judged(question, partial(made, bundle, *orders[0])))
    shown = _summary(*orders[0]) if orders else None
    yield Report(tuple(checks), bundle.sha256, shown, kind="dummy rows", open_facts=UNSEEN, open_in_short=UNSEEN_IN_SHORT)


def _signed() -> str:
    raise Nothing("dummy rows are not signed: nothing ties them to anybody")


def _labelled(bundle: Bundle, order: Order, made: Drawn) -> str:
    """Check that dummy.json says what dummy rows are, and holds no answer about records and no charge.

    Raises:
        Wrong: It does not.
        Open: Another version wrote it in other words.
    """
    ours, theirs = document.to_json(order, made), dict(bundle.document)
    expect(theirs.get("kind") == document.KIND, "it does not say that it holds dummy rows")
    empty = all(theirs.get(name) == [] for name in ("records_opened", "charges"))
    expect(empty and theirs.keys() == ours.keys(), "it holds more than dummy rows have, which no budget covers")
    different = sorted(name for name in ours if name != "versions" and ours[name] != theirs[name])
    if different and _others(bundle):
        raise Open(f"{some(different)}: written by another version")
    expect(not different, f"it does not say what dummy rows say: {some(different)}")
    return "it says so, and holds no answer about records and no charge"


def _follows(bundle: Bundle, order: Order, made: Drawn) -> str:
    """Write all files again from the order, and compare them with the bundle's.

    Raises:
        Wrong: A file differs.
        Open: Other versions of the program or of libraries made the bundle.
    """
    ours = {name: digest_written(write) for name, write in document.writers(order, made).items()}
    theirs = {name: content.digest for name, content in bundle.files.items() if name != MANIFEST}
    different = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if different and (others := _others(bundle)):
        raise Open(f"{some(different)}: made with other versions of {some(others)}")
    expect(not different, f"they are not what {DOCUMENT} makes: {some(different)}")
    return f"{len(ours):,} files, made again from {DOCUMENT} without any other file, are the same"


def _others(bundle: Bundle) -> list[str]:
    stated = bundle.document.get("versions")
    return other_versions(stated if isinstance(stated, Mapping) else {})


def _summary(order: Order, made: Drawn) -> Summary:
    """Return what the bundle is, in this program's words."""
    statement = document.statement(order)
    number = f"{order.rows:,}" if made.members is None else f"{order.rows:,}, and {made.members.num_rows:,} of the second table"
    facts = (
        ("Rows", number),
        ("Columns", f"{len(order.row_domain.columns):,}"),
        ("Where the columns and their values came from", order.origin),
        ("Published tables", f"{len(order.domain.published):,}"),
    )
    brief = (("What it is", "dummy rows, to write code with"), ("What was charged", "nothing: no table of records was opened"), *facts[:1])
    return Summary((statement,), statement, facts, brief)
