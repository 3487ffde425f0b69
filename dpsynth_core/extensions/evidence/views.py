"""Parts of pages: the limits of attacks on Budget, and the sections of the report on Results."""

from __future__ import annotations

from dataclasses import replace

from dpsynth_core.extensions.evidence.ceilings import ceilings
from dpsynth_core.extensions.evidence.sections import (
    CEILINGS_READING,
    ceiling_lines,
    ceilings_section,
    yardsticks_section,
)
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.report.section import Section
from dpsynth_core.web.budget.budget_view import can_be_divided
from dpsynth_core.web.results.claims_view import fold
from dpsynth_core.web.results.open_runs import OpenRun
from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.session import Current

LIMITS, SCORES = "Attacks", "Other programs’ scores"
"""Titles of the expanders, in few words, because pages show them at first sight."""


def results(opened: OpenRun) -> None:
    """Draw the section on scores and then that on limits of attacks, each in an expander, as far as the release has them."""
    for section in yardsticks_section(opened.release):
        fold(replace(section, title=SCORES))
    for section in ceilings_section(opened.release):
        fold(replace(section, title=LIMITS))


def budget(project: Current) -> None:
    """Draw the limits of attacks under the budget of the draft; nothing while the budget is not valid."""
    if not can_be_divided(document.problem(project.draft, "budget")):
        return
    shares = document.shares(project.draft)
    limits = ceilings(shares.accountant, shares.rho, shares.slack)
    lines = ceiling_lines(limits, UnitSpec.model_validate(project.draft["unit"]), document.who(project.draft))
    fold(Section("ceilings", LIMITS, CEILINGS_READING, lines))
