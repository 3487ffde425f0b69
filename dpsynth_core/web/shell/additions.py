"""Pages and parts of pages that extensions draw, at the places that a page has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.web.shell import document, fields, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, literal


def draw(place: str, subject: Any) -> None:
    """Draw what extensions have for a place of a page, in the order of the extensions; without any, draw nothing.

    Args:
        place: One of `extension.PLACES`.
        subject: The argument of the extensions' functions: the open run for "results" and "downloads", a pair of
            the open project and the name of the page for "sidebar", a pair of it and its plan for "plan", a pair of a
            bundle's bytes and their SHA-256 for "verify", and the open project for all other places.
    """
    for path in extension.views(place):
        extension.load(path)(subject)


def page(name: str) -> None:
    """Draw a page of an extension; nothing if no extension has a page of this name.

    Args:
        name: Name of the page.
    """
    for one in extension.pages():
        if one.name == name:
            extension.load(one.draw)()


def box(project: Current, name: str, wanted: int, label: str, reading: str, check: Callable[[Plan], None]) -> None:
    """Draw a box that asks for a setting, and why the plan cannot have it, if it cannot.

    A click stores the setting in the draft. A value that the draft states already is kept until the box is cleared.

    Args:
        project: The open project.
        name: The setting's name.
        wanted: The value that the box stores.
        label: The label of the box.
        reading: Sentences below it.
        check: Raises InputError if a plan cannot have the setting.
    """
    stated = name in project.draft.get("extensions", {})
    fields.linked(name, stated, lambda asked: _state(name, wanted if asked else 0), st.checkbox, label)
    st.caption(reading)
    if stated:
        try:
            check(document.plan(project.draft, project.name))
        except InputError as error:
            st.caption(f":material/block: {literal(error.problem, WHOLE)}. To mend it: {literal(error.remedy, WHOLE)}.")


@session.edits
def _state(draft: Draft, name: str, value: int) -> None:
    document.state_setting(draft, name, value)
