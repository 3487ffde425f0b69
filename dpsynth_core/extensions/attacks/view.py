"""Attacks on the page Results, for the curator alone: they read the private table, and count as a look at it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from dpsynth_core.extensions.attacks import rehearsing
from dpsynth_core.extensions.attacks.comparing import MOST, Beside, compared
from dpsynth_core.extensions.attacks.controls import Control
from dpsynth_core.extensions.attacks.measures import People, Roles
from dpsynth_core.extensions.attacks.outcomes import ABOVE, NOTHING, Ceiling
from dpsynth_core.extensions.attacks.roles import proposed
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.zones import Zoned, combine, released
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy import meaning
from dpsynth_core.release.release import Release
from dpsynth_core.store.folders import project_folder
from dpsynth_core.vocabulary.rows import one_table
from dpsynth_core.web.results.claims_view import obstacle
from dpsynth_core.web.results.open_runs import OpenRun, may_look
from dpsynth_core.web.shell import curator, frame, refusals
from dpsynth_core.web.shell.numbers import duration
from dpsynth_core.web.shell.text import literal, one_line

TITLE = "Try attacks"
SWITCH = "Attack the rows with the exact records (curator-only)"
HELP = "This reads the private table. Later releases of this project state that you saw exact values. The result is in no download."
READING = (
    "An attack that works on people of the table may work as well on people who never were in it. So each is tried on both. Its outcome "
    "says whether the difference is more than chance, and more than epsilon allows. There is no grade."
)
LEFT_OUT, HALF = "People in a file", "A random half"
_WAYS = {
    LEFT_OUT: "The file has people like those of the table who did not take part. It has the same columns and is written in the same way.",
    HALF: "The plan is run again on a random half of at most 40,000 people, drawn at random, and their other half is left out. Nothing of "
    "this run is kept or published. The outcome is about the plan and this program, and not about the rows of this release.",
}
_SURE = (
    "Differences are in points, with 95% confidence. In 1,000 comparisons, chance alone leads to “seen” in at most one, and a sound "
    "program to “more than epsilon allows” in at most one. This holds if both groups differ only by who took part, and if an attack works "
    "on one person independently of others. “Nothing seen” does not mean that nothing is there: these differences cannot be excluded."
)
_BROKEN = (
    "An attack works better than epsilon allows. If the people left out are like those of the table, this program has a defect. Do not "
    "publish this release, and report the defect as SECURITY.md says. Give no numbers from this screen."
)
_MOST_SECONDS = 300.0
"""Longest expected time of a rehearsal, which the page waits for."""
_LONGEST_READ = 3600.0
"""Seconds after which nobody reads an uploaded file any more."""


def results(opened: OpenRun) -> None:
    """Draw the switch and, where it is on, the choices and then the attacks; nothing for a release without rows.

    Where the rows cannot be attacked here, a sentence on the reason replaces the switch (`refusal`). Switching it
    on, and confirming the first time, records a look at the private table, which later releases state. The
    attacks are on at most 20,000 people of a group: of those whom the release left out by a coin, of an uploaded
    file, which is on the disk while it is read, or of a run of the plan on half of at most 40,000 people, if this is
    expected to take at most 300 seconds. Nothing is charged, and no result is stored.
    """
    if opened.release.codes is None:
        return
    with st.expander(TITLE, icon=":material/swords:", key="attacks"):
        st.caption(READING)
        if why := refusal(opened.release):
            st.caption(f":material/info: {why}")
        elif st.toggle(SWITCH, key="attacks_curator", help=HELP) and may_look(opened, "attacks"):
            _choices(opened)


def refusal(release: Release) -> str:
    """Return a sentence on why the rows of a release cannot be attacked here; "" if they can.

    They cannot if the noise is predictable, if a person may own several rows, if there is one column only, or
    if a cluster counts the table.
    """
    if not release.private:
        return "The noise of this release is predictable, so epsilon limits nothing."
    if release.plan.link is not None:
        return "Attacks are on rows of one table. What two linked tables say of somebody is one unit, and no attack on it is built."
    if release.spec.unit.max_rows_per_person > 1:
        return "Attacks need one row for each person, and here a person may have several."
    if len(release.domain) < 2:
        return "Attacks need two columns or more."
    return obstacle(release.spec.data)


def _choices(opened: OpenRun) -> None:
    """Draw what the attacker knows and looks for, and with whom people of the table are compared; the attacks once they are asked for."""
    names = list(opened.release.domain.names)
    keys, target = proposed(opened.release.domain)
    look: dict[str, Any] = {"format_func": one_line}
    known = st.multiselect("Columns that an attacker knows", names, list(keys), key="attacks_keys", **look)
    wanted = str(st.selectbox("Column that they look for", names, names.index(target), key="attacks_target", **look))
    controls: dict[str, Control] = {
        part.CONTROL.title: part.CONTROL for part in extension.parts("attacks") if part.CONTROL.are_there(opened.run.spec)
    }
    ways = [*controls, *([LEFT_OUT] if opened.run.spec.data.is_file else []), HALF]
    way = str(st.segmented_control("Compare with", ways, key="attacks_way", default=ways[0], required=True))
    st.caption(controls[way].reading if way in controls else _WAYS[way])
    place = opened.release.domain.position
    roles = Roles(tuple(map(place, (name for name in known if name != wanted))), place(wanted))
    if not roles.keys:
        st.info("Choose a column that the attacker knows, and that is not the one they look for.")
    elif way in controls:
        _against_control(opened, roles, controls[way])
    elif way == HALF:
        _rehearsal(opened, roles)
    else:
        _against_file(opened, roles)


@refusals.explained()
def _rehearsal(opened: OpenRun, roles: Roles) -> None:
    plan = rehearsing.plan(opened.run.spec)
    if (seconds := plan.forecast.seconds) > _MOST_SECONDS:
        st.caption(f":material/info: A run of this plan takes about {duration(seconds)}, which is too long for this page.")
    elif st.button(f"Run on a random half (about {duration(seconds)})", key="attacks_rehearse", icon=":material/visibility_lock:"):
        with st.spinner("Running and attacking …"):
            records = curator.records(opened.run.spec, opened.release.domain, 2 * MOST)
            people = combine(partial(rehearsing.rehearsed, plan), records)
            _shown(combine(lambda both: compared(both, roles, ceiling_of(plan, plan.shares.rho)), people))


@refusals.explained()
def _against_control(opened: OpenRun, roles: Roles, control: Control) -> None:
    if st.button("Attack", key="attacks_control", icon=":material/visibility_lock:"):
        with st.spinner("Attacking …"):
            _attacked(opened, roles, control.records(opened.run.spec, opened.release.domain, MOST))


@refusals.explained()
def _against_file(opened: OpenRun, roles: Roles) -> None:
    with st.form("attacks_form", clear_on_submit=True):  # so that the file does not stay in this server's memory
        file = st.file_uploader("File of people who did not take part", key="attacks_file")
        asked = st.form_submit_button("Attack", icon=":material/visibility_lock:")
    if not asked:
        return
    if file is None:
        st.info("Choose a file first.")
        return
    with st.spinner("Attacking …"):
        _attacked(opened, roles, _read(opened, file.getvalue()))


def _attacked(opened: OpenRun, roles: Roles, outside: Zoned[Any]) -> None:
    """Attack the rows of the open release, and draw what is found.

    Args:
        opened: The open run.
        roles: What the attacker knows and looks for.
        outside: Records of people who took no part, as codes, shape (people, columns).
    """
    release = opened.release
    inside = curator.records(opened.run.spec, release.domain, MOST)
    rows = released(np.asarray(one_table(release.codes)))
    sizes = tuple(attribute.size for attribute in release.domain)
    ceiling = ceiling_of(release.plan, release.rho)
    _shown(combine(lambda *groups: compared(People(sizes, *groups), roles, ceiling), inside, outside, rows))


def _read(opened: OpenRun, content: bytes) -> Zoned[Any]:
    """Return the records of a file that is written as the table is, as codes, shape (records, columns).

    The file is on the disk only while it is read, in the project's folder, which its owner alone can read. If the
    process is killed meanwhile, the next attack of the project after an hour deletes it.

    Args:
        opened: The open run.
        content: The bytes of the file.

    Raises:
        InputError: It is not such a table.
    """
    spec, folder = opened.run.spec, project_folder(opened.run.project)
    _tidy(folder)
    with tempfile.TemporaryDirectory(prefix="left-out-", dir=folder) as place:
        path = Path(place) / "people"
        path.write_bytes(content)
        data = spec.data.model_copy(update={"path": str(path)})
        return curator.records(spec.model_copy(update={"data": data}), opened.release.domain, MOST)


def _tidy(folder: Path) -> None:
    """Delete what killed processes left an hour ago or more. What is younger may be what another window reads now."""
    for left in folder.glob("left-out-*"):
        with suppress(OSError):  # another window deletes its own
            if time.time() - left.stat().st_mtime > _LONGEST_READ:
                shutil.rmtree(left, ignore_errors=True)


def ceiling_of(plan: Plan, rho: float) -> Ceiling:
    """Return the function from shares of other people to the largest shares of people of the table on whom an attack can work.

    The shares are fractions in arrays, one for each share of others on whom the attack works.

    Args:
        plan: The plan, which has the accountant and the slack.
        rho: The rho that was spent.
    """
    return partial(_power, plan, rho)


def _power(plan: Plan, rho: float, rates: Any) -> Any:
    return meaning.power(plan.shares.accountant, rho, rates, plan.shares.slack)


def _shown(found: Zoned[Sequence[Beside]]) -> None:
    with frame.watermark(found.zone, "attacks"):
        if any(one.outcome == ABOVE for one in found.value):
            st.error(_BROKEN, icon=":material/report:")
        st.markdown(table(found.value))
        for sentence in remarks(found.value):
            st.caption(literal(sentence, 1000))
        st.caption(_SURE)


_HEAD = ("Attack works on", "in the table", "left out", "difference", "allowed", "if rows were a copy", "outcome")


def table(found: Sequence[Beside]) -> str:
    """Return the attacks as a table in Markdown, which has no download as other tables on pages have.

    Shares are in per cent, and differences in points.
    """
    lines = [
        (
            literal(one.attack),
            f"{one.inside.share:.1%}",
            f"{one.outside.share:.1%}",
            f"{100 * one.low:+.1f} to {100 * one.high:+.1f}".replace(" ", "\N{NO-BREAK SPACE}"),
            f"{one.allowed:.1%}",
            f"{one.copy.share:.1%}",
            f"**{one.outcome}**",
        )
        for one in found
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in (_HEAD, ("---",) * len(_HEAD), *lines))


def remarks(found: Sequence[Beside]) -> list[str]:
    """Return sentences beside the table: on the numbers of people, on attacks without power, and on unlike groups.

    The first sentence is always there. The second names attacks that do not even find a copy of the table; the
    third names attacks that work better on people left out, who are then unlike the people of the table.

    Args:
        found: The attacks, at least one.
    """
    sizes = f"{found[0].inside.people:,} people of the table and {found[0].outside.people:,} left out were compared."
    found_no_copy = [one.attack for one in found if one.of_copy == NOTHING]
    better_outside = [one.attack for one in found if one.outcome != NOTHING and one.inside.share < one.outside.share]
    remarks = [sizes]
    if found_no_copy:
        remarks.append(f"These attacks do not even find a copy of these people, and say nothing here: {'; '.join(found_no_copy)}.")
    if better_outside:
        remarks.append(f"People left out are unlike those of the table, as these attacks work better on them: {'; '.join(better_outside)}.")
    return remarks
