"""The section of report and data card on the people who were left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from dpsynth_core.extensions.holdout import SETTING
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section

TITLE = "Who was left out?"
READING = "A coin decided for each person, independently of everybody else, and of what the person's rows say."


def sections(release: Release) -> Iterator[Section]:
    """Yield the one section on people who were left out of a release."""
    yield Section("holdout", TITLE, READING, lines(cast(int, release.spec.extensions[SETTING])))


def whom(stated: Stated) -> str:
    """Return a sentence on whom all numbers of a release are about, and how to estimate numbers of everybody.

    Args:
        stated: The spec's section `extensions`, which leaves people out.
    """
    percent = cast(int, stated[SETTING])
    return (
        f"Answers, tables and numbers of people are about those who were not left out: a coin left each person out with a probability of "
        f"{percent} %. Divide numbers of people or records by {(100 - percent) / 100:.2f} to estimate those of everybody. Errors of tables "
        "and their bounds, criteria and the worth of models are about everybody."
    )


def lines(percent: int) -> list[str]:
    """Return sentences on who was left out, and on whom the numbers of the release are about.

    Args:
        percent: Probability, in per cent, with which each person was left out.
    """
    return [
        f"Each person was left out with a probability of {percent} %, with all of their rows. Who it was is not published.",
        "Rows are made from the people who were not left out. Tables, means, answers, values that rows name and numbers of people are "
        f"about them: divide numbers of people by {(100 - percent) / 100:.2f} to estimate those of everybody.",
        "Errors are about everybody, also those who were left out. The certificate, the criteria, the worth of models and errors of ranges "
        "were measured on everybody. The bounds allow for the coin.",
        "Whoever made the release can compare attacks on its rows with attacks on the people who were left out.",
    ]
