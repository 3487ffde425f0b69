"""The settings about events: where their table is, and whether a plan can have them."""

from __future__ import annotations

import os

from dpsynth_core.extensions.sequences import one_table
from dpsynth_core.extensions.sequences.events.layout import EventsLink
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec, TableSpec
from dpsynth_core.vocabulary.domain import Domain

_OTHERS = ("event_key", "event_column", "most_events")


def columns(names: tuple[str, ...], stated: Stated) -> tuple[str, ...]:
    """Return the columns of the table of rows that are read beside the key: the columns of rows in order, and the key of rows.

    Args:
        names: The columns of its domain, which may have columns of events.
        stated: The spec's section `extensions`.
    """
    read = one_table.columns(tuple(name for name in names if name not in _texts(stated, "event_column")), stated)
    return (*read, *(name for name in _texts(stated, "event_key") if name not in read))


def further(spec: Spec) -> list[tuple[TableSpec, Domain, tuple[str, ...]]]:
    """Return the table of events: its section, the domain of its rows, and the columns that are read beside the key of persons.

    It is a file in the folder of the table of rows, in the same format.

    Args:
        spec: A spec with a table of events.

    Raises:
        InputError: The table of rows is in no file, the file of events is missing, or a column of events is not in its domain.
    """
    rows, (file,) = spec.members, _texts(spec.extensions, "events")
    assert rows is not None
    if rows.kind == "memory" or not rows.path or spec.data.simulated:
        raise InputError("extensions.events", "a table of events is a file beside that of rows, which is in no file", "write all as files")
    path = os.path.join(os.path.dirname(rows.path), file)
    if "://" not in path and not os.path.exists(path):
        raise InputError("extensions.events", "there is no such file beside that of the second table", "put it there, or correct its name")
    domain = Domain.from_json(rows.domain).keep(_texts(spec.extensions, "event_column"))
    return [(rows.model_copy(update={"path": path}), domain, (*domain.names, *_texts(spec.extensions, "event_key")))]


def _texts(stated: Stated, name: str) -> list[str]:
    texts = stated.get(name)
    return texts if isinstance(texts, list) else []


def check(plan: Plan) -> None:
    """Check that the settings about events fit each other and the plan.

    Args:
        plan: A plan whose spec states `events` or another setting about events.

    Raises:
        InputError: One is stated without what it needs, or the plan has parts that do not go with events.
    """
    stated = plan.spec.extensions
    if not isinstance(plan.link, EventsLink):
        name = next(name for name in ("events", *_OTHERS) if name in stated)
        raise InputError(f"extensions.{name}", "it is of a third table, and none is named", "name its file as events, or leave this out")
    if "order" not in stated:
        remedy = 'state the column of their order, or "file order"'
        raise InputError("extensions.order", "events are of rows of a person in order, and no order is stated", remedy)
    if plan.spec.criteria:
        raise InputError("criteria", "a table of events does not go with it yet", "leave it out")
