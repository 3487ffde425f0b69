"""Sections of report and data card: the limits of attacks, and how close the rows are in measures that other programs use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dpsynth_core.extensions.evidence.ceilings import Ceiling
from dpsynth_core.extensions.evidence.files import ceilings_of
from dpsynth_core.extensions.evidence.yardsticks import Range, Score, Yardsticks, yardsticks
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.unit import REPLACE
from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section

CEILINGS_TITLE = "What is the most that taking part can change?"
CEILINGS_READING = (
    "An attack may also work on people who do not take part: it guesses their values from what is true of many. Each line thinks of the "
    "same people twice: left out of the table, and in it. No attack was tried: the lines are ceilings for every attack, whatever the "
    "attacker knows."
)
YARDSTICKS_TITLE = "How close are the rows, as other programs measure it?"
YARDSTICKS_READING = (
    "SDMetrics, SDNist and MOSTLY AI print a mean over tables of 1 minus the total variation distance. Here it was measured on the cells "
    "of this release. Those programs group numbers in their own way, so they would print other digits."
)
ADDED_UP = "These limits are of this release alone. Several releases about the same people tell an attacker more."
COMPARED = (
    "This compares errors, not protection: a sample would show real rows. The rows' tables stand for the private ones in this comparison. "
    "The interval allows for the differences that were seen on tables of other people, where the stated share was mostly 0.9 to 1.2 times "
    "the true one."
)
_NAMES = {
    1: "SDMetrics calls this TVComplement, and MOSTLY AI univariate accuracy.",
    2: "SDMetrics calls this ContingencySimilarity, SDNist k-marginal ({thousandths:,} of 1,000), and MOSTLY AI bivariate accuracy.",
    3: "MOSTLY AI calls this trivariate accuracy.",
}


def ceilings_section(release: Release) -> Iterator[Section]:
    """Yield the section on the limits of attacks; nothing for a release with predictable noise, which limits no attack."""
    if limits := ceilings_of(release):
        yield Section("ceilings", CEILINGS_TITLE, CEILINGS_READING, [*ceiling_lines(limits, release.spec.unit, release.plan.who), ADDED_UP])


def ceiling_lines(limits: Sequence[Ceiling], unit: UnitSpec, who: str) -> list[str]:
    """Return a sentence for each ceiling. Its limit is rounded up.

    Args:
        limits: The ceilings.
        unit: The unit of privacy.
        who: The word for those whom the unit protects.
    """
    without, taking = "they do not take part", "they do"
    if unit.relation == REPLACE:
        without, taking = "other rows stand in place of theirs", "their own rows are used"
    return [_line(one, who, without, taking) for one in limits]


def _line(one: Ceiling, who: str, without: str, taking: str) -> str:
    of = 100 if one.without >= 0.01 else 1000
    most = math.ceil(round(10 * of * one.most, 6)) / 10  # up, but not for the rounding of a whole number
    return f"What works on {of * one.without:g} in {of:,} {who} if {without} works on at most {most:,.1f} in {of:,} if {taking}."


def yardsticks_section(release: Release) -> Iterator[Section]:
    """Yield the section on scores and the sample; nothing without yardsticks, such as for a release without a certificate."""
    if (stated := yardsticks(release)) is not None:
        who = "records" if release.spec.unit.max_rows_per_person > 1 else "people"
        yield Section("yardsticks", YARDSTICKS_TITLE, YARDSTICKS_READING, yardstick_lines(stated, who))


def yardstick_lines(stated: Yardsticks, who: str) -> list[str]:
    """Return a sentence for each score, one for the sample, and one on how to read that.

    Args:
        stated: The yardsticks.
        who: Whom tables count: people or records.
    """
    return [*(_score(one, who) for one in stated.scores), _sample(stated, who), COMPARED]


def _score(one: Score, who: str) -> str:
    tables = "the single columns" if one.columns == 1 else f"the tables of {one.columns} columns"
    thousandths = round(1000 * one.closeness.estimate)
    named = f" {_NAMES[one.columns].format(thousandths=thousandths)}" if one.columns in _NAMES else ""
    return (
        f"On average over {tables} ({one.tables:,}), {_range(one.closeness)} of the {who} are in the right group, with 95% confidence."
        f"{named} A second sample of as many {who} is expected to reach about {_range(one.second_sample)} beside the first."
    )


def _sample(stated: Yardsticks, who: str) -> str:
    tables = "table" if stated.tables == 1 else f"{stated.tables:,} tables"
    return (
        f"Over the {tables}, the rows are off by as much on average as a random sample of about {_range(stated.sample)} of the {who}, "
        "drawn without replacement."
    )


def _range(one: Range) -> str:
    decimals = 2 if one.high - one.low <= 0.002 else 1  # so that the ends differ
    return f"{one.estimate:.{decimals}%} ({one.low:.{decimals}%} to {one.high:.{decimals}%})"
