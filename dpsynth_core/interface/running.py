"""Carry out a plan, or finish what an interrupted run kept, and say on a terminal or in a notebook how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakSet

from dpsynth_core.foundation import interrupts, threads
from dpsynth_core.foundation.causes import explained_imports
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.foreign import package_of
from dpsynth_core.foundation.visible import visible
from dpsynth_core.interface.frames import Back, Given, frame_of
from dpsynth_core.interface.release import Release, opened
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import making, spool
from dpsynth_core.release import release as releases
from dpsynth_core.release.release import Progress
from dpsynth_core.store import in_process, saved_releases, spools
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.in_process import Told

_DRAWN: WeakSet[Given] = WeakSet()
"""The tables of plans that were run in this process without a population."""


@explained_imports()
def run(plan: Plan, table: Given, charged: bool, progress: bool, again: bool) -> Release:
    """Carry out a plan, or return its earlier release for the same table (`Plan.run`).

    Args:
        plan: The sealed plan.
        table: The table that the plan is for.
        charged: Whether the plan names a population, whose ledger account is charged.
        progress: Whether to show a progress bar.
        again: Whether to spend again for another release, even if the ledger shows an earlier one.

    Returns:
        The release, which is stored in DPSYNTH_HOME.

    Raises:
        InputError: The run cannot begin; nothing is spent.
        ChargedError: The run failed after records were read; the charge stays spent.
    """
    if charged:
        from dpsynth_core.store import ledger, signing  # loaded where a ledger is charged alone

        ledger.check_name(plan.spec.population)
        signing.check()
    if not charged and plan.spec.protects:
        if table in _DRAWN and not again:
            costs = "without a population no ledger adds up what both cost the same people"
            print(f"note: this plan was run before, and this draws another release; {costs}", file=sys.stderr)
        _DRAWN.add(table)
    if not charged or again:
        return _run(plan, table, charged, progress, again)
    with saved_releases.one_at_a_time(plan):
        if (path := saved_releases.earlier(plan)) is None:
            return _run(plan, table, charged, progress, again)
    _privately("note", "this plan was carried out on this table before; here is that release, and nothing is spent")
    return opened(path, table.back, package_of(plan.spec.mechanism.name))


def _run(plan: Plan, table: Given, charged: bool, progress: bool, anew: bool) -> Release:
    spools.check_room(plan)
    for finding in making.findings(plan).value:  # and what cannot be read to its end is refused while that costs nothing
        _privately("warning", finding)
    place = None if charged else spools.spool_file(new_id())
    return _kept(table.back, progress, lambda told, hand_over: in_process.make(plan, place, told, hand_over, anew=anew))


def _kept(back: Back, progress: bool, work: Callable[[Told, Callable[[releases.Release, Any], None]], object]) -> Release:
    """Return the release that `work` makes, after it was stored in DPSYNTH_HOME.

    Args:
        back: The conversion of the release's rows for the caller.
        progress: Whether to show a progress bar.
        work: Called with the callbacks of the run and with a function to which it must pass the
            finished release.
    """
    made: list[Release] = []
    with _working(progress) as told:
        work(told, lambda one, _: made.append(Release(one, saved_releases.keep(one, told.note), back)))
    return made[0]


def recover(run: str | None = None, *, answers: bool = False, progress: bool = True) -> Release:
    """Finish the release of an interrupted run. Reads no record and spends nothing.

    The release is stored in DPSYNTH_HOME. Its rows are always a pandas frame.

    Args:
        run: The name that was printed when the run was interrupted; by default the only interrupted run.
        answers: Return the noisy tables only, even if rows could be made.
        progress: Whether to show a progress bar, in a notebook or on a terminal.

    Returns:
        The release; without rows if not everything was measured, or if `answers` is asked for.

    Raises:
        InputError: If no stored run fits, or if it stored nothing that a release could be made of.

    Examples:
        >>> import dpsynth_core as dps
        >>> dps.recover("0123456789abcdef")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        dpsynth_core.foundation.errors.InputError: run: it is not clear which interrupted run is meant; ...
    """
    there = spools.unfinished()
    if run not in there if run is not None else len(there) != 1:
        remedy = f"name one of these: {', '.join(there)}" if there else "there is no interrupted run in DPSYNTH_HOME"
        raise InputError("run", "it is not clear which interrupted run is meant", remedy)
    place = spools.spool_file(run or there[0])
    return _kept(frame_of, progress, lambda told, hand_over: in_process.finish(spool.read(place), place, told, answers, hand_over))


def _privately(what: str, line: str) -> None:
    """Print a line to stderr only if that is a notebook or a terminal.

    The line depends on records, so it must not reach a log.

    Args:
        what: The kind of line, such as "warning".
        line: The text.
    """
    if _is_notebook():
        print(f"{what}, for your eyes only (clear this output before you share the notebook): {line}", file=sys.stderr)
    elif sys.stderr.isatty():
        print(f"{what}, for your eyes only: {line}", file=sys.stderr)


@contextmanager
def _working(progress: bool) -> Iterator[Told]:
    """Set up a run in the `with` block, and yield its callbacks.

    Within the block Ctrl-C takes effect at the end of a step, linear algebra uses one thread, and a
    progress bar is shown if `progress`.
    """
    bar = _bar() if progress else None

    def step(progress: Progress) -> None:
        interrupts.check()
        if bar is not None and progress.kind in ("measured", "phase"):
            what = " x ".join(progress.attributes) or "the number of records"
            bar(f"{progress.done:4.0%}  {progress.message or f'measured {what}'}")

    def note(line: str) -> None:
        if line.startswith(("warning", "note")):
            print(line, file=sys.stderr)

    def interrupted(answers: int, run: str, goes_on: bool) -> None:
        again = "what was charged stays charged, and run() goes on from there" if goes_on else "it cannot go on"
        recover = f"; recover({Path(run).stem!r}) makes of them what it can, and spends nothing" if answers else ""
        print(f"kept: {answers:,} answers; {again}{recover}", file=sys.stderr)

    with interrupts.deferring(), threads.one_thread():
        try:
            yield Told(lambda: None, note, partial(_privately, "warning"), step, interrupted)
        finally:
            if bar is not None:
                bar("")


def _is_notebook() -> bool:
    return "IPython" in sys.modules and hasattr(sys.modules["IPython"].get_ipython(), "kernel")


def _bar() -> Callable[[str], None] | None:
    """Return a function that shows a line in place of the previous one; "" clears it.

    Returns:
        The function; None if stderr is neither a notebook nor a terminal.
    """
    if _is_notebook():
        display = import_module("IPython.display").display
        handle = display({"text/plain": ""}, raw=True, display_id=True)
        return lambda line: handle.update({"text/plain": line}, raw=True)
    if not sys.stderr.isatty():
        return None
    return lambda line: print(f"\r\033[K{visible(line)[:120]}", end="", file=sys.stderr, flush=True)
