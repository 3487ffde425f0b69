"""A release in short, for the people who decide about it: the first page of the report, and four lines for the page Verify.

Plain text from public and released values; the names in it are hostile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.evaluation.verdict import LIMIT, Verdict
from dpsynth_core.foundation.visible import shortened
from dpsynth_core.planning.unit_spec import UNNAMED
from dpsynth_core.release.release import Release
from dpsynth_core.release.statement import NOT_PRIVATE
from dpsynth_core.report import words
from dpsynth_core.report.facts import amount, byline, counted, goodness, learnt, sentence
from dpsynth_core.report.verdict import line, ruling
from dpsynth_core.report.warnings import warnings
from dpsynth_core.statistics.totals import known_total

MOST_WORDS = 300
_NAME, _TABLE, _NAMED = 24, 36, 3
"""Characters of a name of a column and of a table, and how many purposes are named; the detail has all of them in full."""
_ENOUGH = "A table is good enough if at most {limit:.0%} of the {who} are counted in the wrong group."
_RULE = "This release is a rule, not a table. Its quality was measured, and it has no verdict on tables."
_INVENTED = "The rows are invented. No row is a real person. Any likeness is chance."
_COUNTS = "It holds noisy counts and no rows."
REASON = "It is published all the same. The curator gives a reason below."


@dataclass(frozen=True)
class Part:
    """A question with its answer.

    Attributes:
        title: The question.
        text: The answer.
        lead: The part of the answer to read first, or "".
    """

    title: str
    text: str
    lead: str = ""


def first_page(release: Release, headline: Headline, verdict: Verdict | None) -> list[Part]:
    """Return the first page of the report, for decision makers, in at most 300 words (`MOST_WORDS`).

    Long names are shortened.

    Args:
        release: The release.
        headline: The headline of its quality.
        verdict: The verdict; None for a release of a learnt rule.
    """
    what = f"{byline(release)} {_INVENTED if release.rows else _COUNTS} {counted(release.spec)}".strip()
    headline = replace(headline, worst_table=shortened(headline.worst_table, _TABLE))
    return [
        Part("What is this?", what, learnt(release)),
        Part("May it be published, and for what?", " ".join(_ruled(release, verdict)), _ruling(verdict)),
        Part("How far off is it?", goodness(release.details["rule"]) if learnt(release) else sentence(headline)),
        Part("How are people protected?", f"{words.protection(release)} {_protected(release)}"),
        Part("What must it not be used for?", _misuses(verdict)),
    ]


def lines(release: Release, verdict: Verdict | None) -> list[tuple[str, str]]:
    """Return a release in four pairs of name and text: About, Protection, Tables, Made.

    `verdict` is None for a release of a learnt rule; the text of Tables is then the rule.
    """
    holds = learnt(release) if verdict is None else " ".join([*map(line, verdict.sizes), _ENOUGH.format(limit=LIMIT, who=verdict.who)])
    made = f"{release.plan.mechanism.card.title} made it on {release.created}."
    return [("About", _people(release)), ("Protection", _protected(release)), ("Tables", holds), ("Made", made)]


def _people(release: Release) -> str:
    """Return the (noisy) number of people with its 95 % margin, the population, and the published rows."""
    unit, population, each = release.spec.unit, release.spec.population, release.plan.records_each
    total = known_total(release.tables_of_columns, release.total if release.plan.unit.total_is_public else None)
    doubt = "" if total is None or not total.sigma else f" ± {total.doubt(0.95) / each:,.0f} (95%)"
    who = f"records, at most {unit.max_rows_per_person:,} of a person" if unit.max_rows_per_person > 1 else "people"
    if release.plan.link is not None:
        who = release.plan.who
    named = "" if population == UNNAMED else f" (“{population}”)"
    count = "An unknown number of" if total is None else f"{total.value / each:,.0f}{doubt}"
    return f"{count} {who}{named}; {amount(release)}."


def _ruling(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    columns = tuple(replace(one, name=shortened(one.name, _NAME)) for one in verdict.columns)
    means = tuple((shortened(name, _NAME), near) for name, near in verdict.means)
    unread = tuple(replace(one, column=shortened(one.column, _NAME)) for one in verdict.unread)
    return ruling(replace(verdict, columns=columns, means=means, unread=unread), _NAMED)


def _ruled(release: Release, verdict: Verdict | None) -> Iterator[str]:
    if verdict is None:
        yield _RULE
    else:
        yield from map(line, verdict.sizes)
        yield _ENOUGH.format(limit=LIMIT, who=verdict.who)
    if verdict is not None and verdict.despite:
        yield REASON
    if count := len(warnings(release)):
        yield "Read its warning below first." if count == 1 else f"Read its {count:,} warnings below first."


def _protected(release: Release) -> str:
    if not release.private:
        return NOT_PRIVATE
    budget = release.spec.budget
    return f"{words.guess(release)} This is differential privacy with ε\u00a0=\u00a0{budget.epsilon:g}, δ\u00a0=\u00a0{budget.delta:g}."


def _misuses(verdict: Verdict | None) -> str:
    poor = ["Tables that are not good enough"] if verdict is not None and verdict.within < verdict.tables else []
    first, *others = [*poor, *(text.partition(":")[0] for text in words.MISUSES)]
    return f"Do not use it for {'; '.join(text[0].lower() + text[1:] for text in (first, *others))}."
