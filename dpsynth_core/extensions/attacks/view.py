"""Attacks on a release, and on a plan before it runs, for the curator alone: they read the private table, and count as a look at it."""

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
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy import meaning
from dpsynth_core.store.folders import project_folder
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import one_table
from dpsynth_core.web.results.claims_view import obstacle
from dpsynth_core.web.results.open_runs import OpenRun, may_look
from dpsynth_core.web.shell import curator, frame, looks, refusals
from dpsynth_core.web.shell.numbers import duration
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal, one_line

TITLE, FIRST = "Try attacks", "Try attacks first"
SWITCH = "Attack the rows with the exact records (curator-only)"
REHEARSE = "Rehearse this plan with the exact records (curator-only)"
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
_REHEARSED = (
    "The plan is run on a random half of at most 40,000 people, and their other half is left out. Nothing of this run is charged, kept or "
    "published, and your own run has other noise."
)
_SURE = (
    "Differences are in points, with 95% confidence. In 1,000 comparisons, chance alone leads to “seen” in at most one, and a sound "
    "program to “more than epsilon allows” in at most one. This holds if both groups differ only by who took part, and if an attack works "
    "on one person independently of others. “Nothing seen” does not mean that nothing is there: these differences cannot be excluded."
)
_BROKEN = (
    "An attack works better than epsilon allows. If the people left out are like those of the table, this program has a defect. Publish "
    "nothing, and report the defect as SECURITY.md says. Give no numbers from this screen."
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
        if why := refusal(opened.release.plan, opened.release.private):
            st.caption(f":material/info: {why}")
        elif st.toggle(SWITCH, key="attacks_curator", help=HELP) and may_look(opened, "attacks"):
            _choices(opened)


def before_the_run(subject: tuple[Current, Plan]) -> None:
    """Draw a rehearsal of a plan that has not run, in an expander whose content is drawn once it is open.

    Nothing is drawn before a table is chosen, or for a mechanism without rows. The attacks are on a run of the plan on
    half of at most 40,000 people. Nothing is charged, and nothing is stored but the look at the private table, which
    the release of the plan states.

    Args:
        subject: The open project, and its complete plan.
    """
    project, plan = subject
    if "data" not in project.draft or not plan.mechanism.card.makes_rows:
        return
    part = st.expander(FIRST, icon=":material/swords:", key="attacks_first", on_change="rerun")
    if not part.open:
        return
    with part:
        st.caption(f"{READING} {_REHEARSED}")
        if why := refusal(plan, plan.spec.output.seed is None):
            st.caption(f":material/info: {why}")
        elif st.toggle(REHEARSE, key="attacks_first_curator", help=HELP):
            may_look = looks.allowed(project.id, plan.spec.data.simulated, "attacks_first_look")
            if may_look and (roles := _roles(plan.domain, "attacks_first")) is not None:
                _rehearsal(plan.spec, plan.domain, roles, "attacks_first")


def refusal(plan: Plan, private: bool) -> str:
    """Return a sentence on why the rows of a plan cannot be attacked here; "" if they can.

    They cannot if the noise is predictable, if a person may own several rows, if there is one column only, or
    if a cluster counts the table.

    Args:
        plan: The plan, of a release or before it runs.
        private: Whether the noise is private.
    """
    if not private:
        return "The noise is predictable, so epsilon limits nothing."
    if plan.link is not None:
        return "Attacks are on rows of one table. What two linked tables say of somebody is one unit, and no attack on it is built."
    if plan.spec.unit.max_rows_per_person > 1:
        return "Attacks need one row for each person, and here a person may have several."
    if len(plan.domain) < 2:
        return "Attacks need two columns or more."
    return obstacle(plan.spec.data)


def _roles(domain: Domain, key: str) -> Roles | None:
    """Draw what the attacker knows and looks for, and return it; None, with a sentence, if they know nothing else.

    Args:
        domain: The domain of the rows.
        key: How the keys of the widgets begin.
    """
    names = list(domain.names)
    keys, target = proposed(domain)
    look: dict[str, Any] = {"format_func": one_line}
    known = st.multiselect("Columns that an attacker knows", names, list(keys), key=f"{key}_keys", **look)
    wanted = str(st.selectbox("Column that they look for", names, names.index(target), key=f"{key}_target", **look))
    roles = Roles(tuple(domain.position(name) for name in known if name != wanted), domain.position(wanted))
    if not roles.keys:
        st.info("Choose a column that the attacker knows, and that is not the one they look for.")
        return None
    return roles


def _choices(opened: OpenRun) -> None:
    """Draw what the attacker knows, and with whom people of the table are compared; the attacks once they are asked for."""
    roles = _roles(opened.release.domain, "attacks")
    controls: dict[str, Control] = {
        part.CONTROL.title: part.CONTROL for part in extension.parts("attacks") if part.CONTROL.are_there(opened.run.spec)
    }
    ways = [*controls, *([LEFT_OUT] if opened.run.spec.data.is_file else []), HALF]
    way = str(st.segmented_control("Compare with", ways, key="attacks_way", default=ways[0], required=True))
    st.caption(controls[way].reading if way in controls else _WAYS[way])
    if roles is None:
        return
    if way in controls:
        _against_control(opened, roles, controls[way])
    elif way == HALF:
        _rehearsal(opened.run.spec, opened.release.domain, roles, "attacks")
    else:
        _against_file(opened, roles)


@refusals.explained()
def _rehearsal(spec: Spec, domain: Domain, roles: Roles, key: str) -> None:
    """Draw the button that rehearses a plan, and what the attacks found once it is clicked.

    Args:
        spec: The spec of the plan.
        domain: The domain of the rows, with learnt values.
        roles: What the attacker knows and looks for.
        key: How the key of the button begins.
    """
    plan = rehearsing.plan(spec)
    if (seconds := plan.forecast.seconds) > _MOST_SECONDS:
        st.caption(f":material/info: A run of this plan takes about {duration(seconds)}, which is too long for this page.")
    elif st.button(f"Run on a random half (about {duration(seconds)})", key=f"{key}_rehearse", icon=":material/visibility_lock:"):
        with st.spinner("Running and attacking …"):
            records = curator.records(spec, domain, 2 * MOST)
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
