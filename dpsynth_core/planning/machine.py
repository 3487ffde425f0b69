"""The check that a plan fits this machine and a reasonable time, from public facts and free memory alone, before anything is charged.

Mechanisms forecast themselves (`Mechanism.forecast`); this module adds what every release needs for its tables, criteria, models and rows.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from dpsynth_core.foundation import settings
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.mechanisms.parameters import parameters
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import MAX_UNSTATED_ROWS

try:
    import resource
except ModuleNotFoundError:  # Windows does not say what is free either
    _LIMITS = False
else:
    _LIMITS = True

MEGABYTE = 1e6
BYTES_PER_CELL = 40
"""Bytes per cell of a table of the workload: counts, shares, bounds, and its part of the release's documents."""
BYTES_PER_CRITERION_CELL = 32
"""Bytes per cell of a table counted for criteria alone: counts, and the release's statements while it is measured."""
BYTES_PER_VALUE = 20
"""Bytes per value of a row: its code, and the memory to draw and order it. Values are drawn and written in batches."""
_COPIES_OF_PAIRS = 2
"""Copies of the codes of the pairs of members of a row of two linked tables, one record each with its number of repetitions."""
LEAST_MB = 2000
"""Memory that any run may take beyond its forecast: batches of records, threads, models in training."""
MEMORY_SHARE = 0.7
"""Share of a machine's memory that all simultaneous work may use, by forecast."""
MAX_DAYS = 7
_SECONDS_PER_VALUE = 2e-6


def check(plan: Plan) -> None:
    """Check that a run of the plan fits into the free memory of this machine and takes at most 7 days (`MAX_DAYS`).

    Memory is not checked where the system does not report what is free. Rows whose number is not stated are not
    counted.

    Raises:
        CapacityError: It does not; the error names what to change.
    """
    rows_mb, tables_mb, criteria_mb = _megabytes(plan)
    needed, free = rows_mb + tables_mb + criteria_mb, free_mb()
    if free is not None and needed > free:
        problem = f"it may need {needed:,.0f} MB{left_out(plan)}, and {free:,.0f} MB are free here"
        mostly_criteria = criteria_mb > max(rows_mb, tables_mb)
        remedy = "state fewer criteria, or about fewer cells" if mostly_criteria else _remedy(plan, rows_mb > tables_mb)
        raise CapacityError("memory", problem, f"{remedy}, or use a machine with more memory")
    if (days := _seconds(plan) / 86_400) > MAX_DAYS:
        remedy = "ask for fewer models" if _training(plan) > plan.forecast.seconds else _remedy(plan, False)
        raise CapacityError("time", f"it would take about {days:,.0f} days", remedy)


def most_mb(plan: Plan) -> float:
    """Return the memory limit of a run in MB: twice its forecast, plus 2,000 (`LEAST_MB`).

    Where the spec states no number of rows, the forecast counts the largest number that is written, 1,000,000.
    """
    unstated = MAX_UNSTATED_ROWS * len(plan.domain) * _bytes_per_value(plan) / MEGABYTE if left_out(plan) else 0.0
    return 2 * (needed_mb(plan) + unstated) + LEAST_MB


def most_seconds(plan: Plan) -> float:
    """Return the limit of a run's processor time in seconds: one hour plus ten times the forecast.

    The environment variable `DPSYNTH_RUN_HOURS`, a whole number of hours, replaces it.

    Raises:
        InputError: The variable is not a whole number of hours.
    """
    hours = settings.number(settings.RUN_HOURS)
    return 3600.0 * hours if hours is not None else 3600 + 10 * _seconds(plan)


def needed_mb(plan: Plan) -> float:
    """Return the forecast memory of a run in MB: for rows, for the mechanism or the workload's tables, and for criteria.

    Of mechanism and tables the larger counts. A single table of rows whose number is not stated counts as 0.
    """
    return sum(_megabytes(plan))


def _seconds(plan: Plan) -> float:
    """Return the forecast time of a run in seconds: the mechanism, the rows and the models."""
    return plan.forecast.seconds + values(plan) * _SECONDS_PER_VALUE + _training(plan)


def _training(plan: Plan) -> float:
    """Return the forecast time to train the plan's models, in seconds."""
    if not plan.targets:
        return 0.0
    from dpsynth_core.claims.models import training_time  # loaded where models are asked for

    return training_time.training_seconds(plan.targets, len(plan.domain), plan.spec.output.rows)


def _megabytes(plan: Plan) -> tuple[float, float, float]:
    """Return the forecast memory in MB as (rows, mechanism and tables of the workload, tables of criteria alone)."""
    tables_mb = max(plan.forecast.memory_mb, plan.workload.cells * BYTES_PER_CELL / MEGABYTE)
    return values(plan) * _bytes_per_value(plan) / MEGABYTE, tables_mb, _criteria_cells(plan) * BYTES_PER_CRITERION_CELL / MEGABYTE


def _criteria_cells(plan: Plan) -> int:
    """Return the number of cells of the tables that are counted for criteria alone."""
    if not plan.criteria:
        return 0
    from dpsynth_core.claims.criteria.registry import tables_alone  # loaded where a plan has criteria

    return sum(tables_alone(plan.criteria, plan.workload).values())


def _bytes_per_value(plan: Plan) -> int:
    """Return the forecast memory in bytes of one value of a row."""
    code = 1 if max(attribute.size for attribute in plan.domain) < 256 else 2
    return BYTES_PER_VALUE + (_COPIES_OF_PAIRS * code * max(2, plan.link.most * (plan.link.most - 1)) if plan.link else 0)


def free_mb() -> float | None:
    """Return the memory in MB that this process has or can still get, or None if the system does not report it.

    It is limited by the machine, a container's control group, and a limit on address space, against
    which reserved space counts as well.
    """
    if not _LIMITS:
        return None
    reserved, held, left = 0, 0, list[float]()
    with suppress(OSError, ValueError, IndexError):
        reserved, held = (int(pages) * resource.getpagesize() for pages in Path("/proc/self/statm").read_text().split()[:2])
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        left.append(next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")))
    with suppress(OSError, ValueError):  # the limit is a word where there is none
        group = Path("/sys/fs/cgroup")
        left.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        left.append(limit - reserved)
    return (min(left) + held) / MEGABYTE if left else None


def all_mb() -> float | None:
    """Return the memory in MB of the machine or of a container's control group, or None if the system does not report it."""
    there = list[float]()
    with suppress(OSError, ValueError, IndexError):
        there.append(1024 * int(Path("/proc/meminfo").read_text().split()[1]))
    with suppress(OSError, ValueError):
        there.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(there) / MEGABYTE if there else None


def values(plan: Plan) -> int:
    """Return the number of values (rows times columns) of the rows to make, for a forecast of memory and time.

    If the spec states no number of rows, their number is noisy and capped. Then a single table
    counts as 0, and several tables, which are in memory together, as the cap each.
    """
    output = plan.spec.output
    unstated = MAX_UNSTATED_ROWS if output.tables > 1 else 0
    return (output.rows or unstated) * output.tables * len(plan.domain)


def left_out(plan: Plan) -> str:
    """Return the end of a sentence that says that a forecast does not count the rows; "" if it does.

    Without a stated number of rows, `values` counts a single table as 0, so that the forecast is
    too low.
    """
    output = plan.spec.output
    uncounted = plan.mechanism.card.makes_rows and output.rows is None and output.tables == 1
    return " besides the rows, whose number is not stated" if uncounted else ""


def _remedy(plan: Plan, rows: bool) -> str:
    """Return advice on how to need less memory or time.

    Args:
        plan: The plan.
        rows: Whether the rows need most; otherwise the tables do.
    """
    output = plan.spec.output
    if rows and output.rows is None:
        most = f"state the number of rows (output.rows), of which {output.tables} tables have up to {MAX_UNSTATED_ROWS:,} each otherwise"
        return f"{most}, or ask for fewer tables of rows (output.tables)"
    if rows:
        return "ask for fewer rows" + (f", or let fewer {plan.link.words.members} count (unit.max_rows_per_person)" if plan.link else "")
    names = {parameter.name for parameter in parameters(plan.mechanism)}
    knob = next((name for name in ("max_size_mb", "relaxed_rows", "rounds", "records") if name in names), None)
    return "use fewer or smaller tables" + (f", or a smaller {knob}" if knob else "")
