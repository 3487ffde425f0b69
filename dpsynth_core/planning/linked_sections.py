"""The sections of a spec about two linked tables, which may be one table that is named as both (`foundation.extension.Layout`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.planning.plan import link_of
from dpsynth_core.planning.spec import TableSpec, can_be_both
from dpsynth_core.vocabulary.domain import Domain


def check(stated: Stated) -> None:
    """Check settings that are stated in a program or on the command line, before a spec is made of them.

    Args:
        stated: The spec's section `extensions`.

    Raises:
        InputError: A setting has another form, or is of a layout and stated without the setting that asks for it.
    """
    for name, setting in ((name, setting) for name, setting in extension.settings().items() if name in stated):
        try:
            setting.read(stated[name])
        except ValueError as error:
            raise InputError(f"extensions.{name}", str(error), "state it in this form") from None
    for one in extension.built_in():
        alone = [setting.name for setting in one.settings if setting.name in stated]
        for layout in one.layouts if alone and extension.layout(stated) is None else ():
            problem = f"it is of {layout.what}, and {layout.setting} is not stated"
            raise InputError(f"extensions.{alone[0]}", problem, f"state {layout.setting} too, or leave this out")


def of_two(
    first: Domain, second: Domain, table: Mapping[str, Any], most: int, rules: Sequence[Any], stated: Stated
) -> dict[str, dict[str, Any]]:
    """Return the sections `members`, `workload` and `mechanism` of a spec, by name.

    Args:
        first: The columns of the first table.
        second: The columns of the second table.
        table: The place and format of the second table.
        most: The largest number of its rows that count for a row of the first.
        rules: Rules that hold across both tables, as JSON.
        stated: The spec's section `extensions`.

    Raises:
        InputError: A rule is invalid, `most` is out of range, or the tables cannot be linked.
        CapacityError: The table of a rule has too many cells.
    """
    link = link_of(first, second, most, rules, stated)
    members = {**table, "domain": second.to_json(), "rules": list(rules)}
    own = {"name": registry.of_linked(extension.layout(stated))}
    return {"members": members, "workload": workload(link).to_json(), "mechanism": own}


def check_table(table: Mapping[str, Any], stated: Stated) -> None:
    """Check that a table can be named as both of two linked tables.

    Args:
        table: The section `data` of the spec.
        stated: The spec's section `extensions`, which asks for a layout.

    Raises:
        InputError: The layout is of two tables, or of others than this one.
    """
    layout, what = extension.layout(stated), extension.what_is_linked(stated)
    if layout is None or not layout.parts:
        raise InputError("members", f"{what} are two tables", "name the second one")
    if table.get("engine") is not None or not can_be_both(str(table["kind"])):
        raise InputError("data", f"{what} are read from files that this machine counts", "name a file, and no engine")
    if table.get("quoting") == "standard":
        raise InputError("data.quoting", f"of {what}, no cell has line breaks", "write the file without them, and leave this out")


def divided(domain: Domain, person: str | None, stated: Stated) -> tuple[Domain, Domain, list[Any]]:
    """Return the domains of both tables that one table is named as, and the rules of its domain as rules across both, as JSON.

    Args:
        domain: The columns of the table, with rules of its own.
        person: The column that identifies people.
        stated: The spec's section `extensions`, which asks for a layout of one table.

    Raises:
        InputError: A column cannot be used, or no person column is named.
    """
    layout, what = extension.layout(stated), extension.what_is_linked(stated)
    if person is None or layout is None:
        raise InputError("unit.person_column", f"{what} belong to somebody, and no column says to whom", "name the column of the person")
    divide: Callable[..., tuple[Domain, Domain, list[Any]]] = extension.load(layout.parts)
    return divide(domain, person, stated)


def of_one(
    domain: Domain, table: Mapping[str, Any], person: str | None, most: int, rules: Sequence[Any], stated: Stated
) -> dict[str, dict[str, Any]]:
    """Return the sections `domain`, `members`, `workload` and `mechanism` of a spec that names one table as both, by name.

    Args:
        domain: The columns of the table, with rules of its own.
        table: The section `data` of the spec.
        person: The column that identifies people.
        most: The largest number of rows of a person that count.
        rules: Further rules, as JSON.
        stated: The spec's section `extensions`, which asks for a layout.

    Raises:
        InputError: A column, a rule or `most` cannot be used, or the table cannot be linked with itself.
        CapacityError: The table of a rule has too many cells.
    """
    check_table(table, stated)
    first, second, own = divided(domain, person, stated)
    written = {name: value for name, value in table.items() if name in TableSpec.model_fields}
    return {"domain": first.to_json(), **of_two(first, second, written, most, [*own, *rules], stated)}
