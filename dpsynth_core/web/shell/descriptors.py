"""The number of files that the server may have open: a browser tab takes four, so that the usual limit of 1,024 ends at some 250 tabs."""

from __future__ import annotations

import resource

PER_TAB, OWN, TABS = 4, 256, 1_000
"""Open files of a tab, of the server itself with its database, and the number of tabs that should fit."""
_ENOUGH = 65_536


def make_room() -> str:
    """Raise this process's limit of open files, to at most 65,536 and as far as the system allows.

    Returns:
        A sentence with the number of browser tabs that fit, if fewer than 1,000 (`TABS`) do; otherwise "".
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return ""
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    fit = max(0, (max(soft, wanted) - OWN) // PER_TAB)
    return "" if fit >= TABS else f"The system's limit of open files leaves room for {fit:,} browser tabs (ulimit -n: {hard:,})."
