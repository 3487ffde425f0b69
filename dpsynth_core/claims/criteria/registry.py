"""Every kind of criterion, one entry each, and the list of criteria in a spec: **a new kind is one file and one entry**.

Entries are import paths: a kind is loaded when a spec names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from typing_extensions import TypeIs

from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.foundation.extension import OnDemand
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.vocabulary.zeros import check_ranges

if TYPE_CHECKING:
    from dpsynth_core.claims.criteria.criterion import Criterion, MeasuredCriterion, Published
    from dpsynth_core.claims.criteria.models import ModelCriterion

MOST = 50
"""Largest number of criteria of one release. Each has an equal part of the budget, so that with more none could be decided."""
MAX_CELLS, MAX_TOGETHER = 1_000_000, 20_000_000
"""Largest number of cells of a table that is counted for criteria alone, and of all such tables of a release, each counted once."""

AnyCriterion: TypeAlias = "MeasuredCriterion | ModelCriterion"

_HERE = "dpsynth_core.claims.criteria"
_MEASURED = {
    "tables": f"{_HERE}.tables:TablesWithin",
    "subgroup": f"{_HERE}.tables:SubgroupWithin",
    "ranges": f"{_HERE}.ranges:RangesWithin",
    "share": f"{_HERE}.statistics:Share",
    "mean": f"{_HERE}.statistics:Mean",
    **extension.criteria(),
}
_OF_MODELS = {"model": f"{_HERE}.models:ModelRight", "model-gain": f"{_HERE}.models:ModelGain"}
KINDS: OnDemand[type[AnyCriterion]] = OnDemand(_MEASURED | _OF_MODELS)
"""Kinds of criteria by name: those that the kernel measures, then those that models decide."""


def read_criteria(listed: Sequence[object], workload: Workload, answered: bool, link: Link | None = None) -> tuple[AnyCriterion, ...]:
    """Return the criteria of a spec, in order; () for an empty list.

    Args:
        listed: The JSON of each criterion.
        workload: The workload.
        answered: Whether answers to the workload's tables are published instead of rows.
        link: The link of two tables whose pairs the workload is over; None for one table.

    Raises:
        InputError: An entry is not valid, there are more than 50 (`MOST`), or, with `answered`, no table of the
            workload has all columns of a criterion. The error names the entry's place (from 0), such as
            "criteria.0.limit".
        CapacityError: The criteria need a table of more than 1,000,000 cells (`MAX_CELLS`) beside the workload's,
            or such tables of more than 20,000,000 cells together.
    """
    if len(listed) > MOST:
        raise InputError(f"criteria.{MOST}", f"there are more than {MOST}", "keep those that matter most")
    criteria = list[AnyCriterion]()
    for number, obj in enumerate(listed):
        if not isinstance(obj, Mapping):
            raise InputError(f"criteria.{number}", "it is not a JSON object", 'write for example {"kind": "tables", "limit": 0.05}')
        kind = obj.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise InputError(f"criteria.{number}.kind", f"{shown(kind)} is not a kind of criterion", f"use one of {', '.join(KINDS)}")
        one = KINDS[kind].read(obj, workload, f"criteria.{number}")
        criteria.append(one if link is None else _linked(one, obj, link, workload.domain, f"criteria.{number}"))
    counted = dict[Clique, int]()
    for number, criterion in enumerate(criteria):
        alone = tables_alone([criterion], workload)
        _check_tables(alone, workload, answered, f"criteria.{number}")
        counted |= alone
        if sum(counted.values()) > MAX_TOGETHER:
            problem = f"it and those before it need tables of more than {MAX_TOGETHER:,} cells together"
            raise CapacityError(f"criteria.{number}", problem, "state fewer, or about fewer columns or columns with fewer cells")
    return tuple(criteria)


def check_stated(listed: Sequence[object], domain: Domain) -> None:
    """Check that no range in a criterion of a new plan covers only a part of a cell.

    In a sealed plan such a range means the cells that it covers whole.

    Args:
        listed: The JSON of each criterion.
        domain: The domain.

    Raises:
        InputError: A range covers only a part of a cell. The error names the nearest valid ranges.
    """
    for number, criterion in enumerate(listed):
        check_ranges(criterion, domain.attributes, f"criteria.{number}")


def _linked(one: AnyCriterion, obj: Mapping[str, Any], link: Link, domain: Domain, field: str) -> AnyCriterion:
    """Return a criterion for two linked tables.

    Args:
        one: The criterion.
        obj: Its JSON.
        link: The link of the tables.
        domain: The domain of the pairs.
        field: Place of the criterion in the spec, for errors.

    Raises:
        InputError: Its group is of members, which its kind does not support, or it decides nothing.
    """
    part = None if one.of_members else next((part for part in ("among", "where") if set(obj.get(part) or ()) & link.member_names), None)
    if part is not None:
        problem = f"it is of {link.words.members}, {link.words.which} only shares and means count"
        raise InputError(f"{field}.{part}", problem, "name columns of the first table, or state a share or a mean")
    return one.linked(link, domain, field)


def tables_alone(criteria: Sequence[Criterion], workload: Workload) -> dict[Clique, int]:
    """Return the tables that the kernel must count for criteria but not for the workload.

    Returns:
        The number of cells of each table, by clique; {} if the workload's tables suffice.
    """
    asked = set(workload.cliques)
    return {clique: workload.domain.cells(clique) for one in criteria for clique in one.needs(workload) if clique not in asked}


def _check_tables(tables: Mapping[Clique, int], workload: Workload, answered: bool, field: str) -> None:
    if any(cells > MAX_CELLS for cells in tables.values()):
        problem = f"it needs a table of more than {MAX_CELLS:,} cells"
        raise CapacityError(field, problem, "name fewer columns, or columns with fewer cells")
    if answered and not all(any(set(clique) <= set(table) for table in workload.cliques) for clique in tables):
        problem = "the mechanism publishes answers to the workload's tables, and none of them has all of its columns"
        raise InputError(field, problem, "add such a table to the workload, or choose a mechanism that makes rows")


def by_models(one: Criterion) -> TypeIs[ModelCriterion]:
    """Return whether models decide a criterion; if not, the kernel measures it."""
    return one.kind in _OF_MODELS


def measured(criteria: Iterable[AnyCriterion]) -> list[MeasuredCriterion]:
    """Return the criteria that the kernel measures, in order."""
    return [one for one in criteria if not by_models(one)]


def of_models(criteria: Iterable[AnyCriterion]) -> dict[str, ModelCriterion]:
    """Return the criteria on models by their places in a spec (from 0), such as "criteria.0"; {} without such criteria."""
    return {f"criteria.{number}": one for number, one in enumerate(criteria) if by_models(one)}


def need_models(listed: Sequence[object]) -> list[bool]:
    """Return, for each entry of a spec's list, whether models decide it; False for an entry that is not valid."""
    return [isinstance(one, Mapping) and one.get("kind") in tuple(_OF_MODELS) for one in listed]


def decide(kernel: SealedKernel, criteria: Sequence[MeasuredCriterion], published: Published) -> Iterable[Decided]:
    """Measure each criterion with an equal part of the kernel's remaining budget, in order.

    Each is yielded with its interval at once, before the next one is measured.

    Args:
        kernel: The kernel, which is charged.
        criteria: The criteria, at least one.
        published: The published tables and the number of records.

    Raises:
        AnswersEnd: The kernel repeats an interrupted run, which ended before an answer.
    """
    rho = kernel.rho_left / len(criteria)
    for criterion in criteria:
        yield Decided(criterion, criterion.measure(kernel.part(rho), published))
