"""The choice on the page Budget to leave people out."""

from __future__ import annotations

from dpsynth_core.extensions.holdout import SETTING
from dpsynth_core.extensions.holdout.coin import check
from dpsynth_core.web.shell import additions, document
from dpsynth_core.web.shell.session import Current

PROPOSED = 5
"""Per cent of the people that the page proposes to leave out."""
ASKED = f"Leave {PROPOSED} % of the people out, by a coin"
READING = (
    "Attacks on the rows can then be compared with attacks on people who took no part. The rows are made from the others, and errors are "
    "measured against everybody, so they are a little larger. It is worth it from 20,000 people on."
)


def budget(project: Current) -> None:
    """Draw the box that leaves people out, and why the plan cannot have it, if it cannot.

    Nothing is drawn without a person column, or for linked tables, unless the draft states the setting already
    (`additions.box`).

    Args:
        project: The open project.
    """
    stated = SETTING in project.draft.get("extensions", {})
    names_people = project.draft.get("unit", {}).get("person_column") is not None and not document.is_linked(project.draft)
    if stated or names_people:
        additions.box(project, SETTING, PROPOSED, ASKED, READING, check)
