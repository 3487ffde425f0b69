"""The release card: one SVG picture with what a decision maker asks first, for the top of the report and to pass on by itself.

From public and released values alone. Names in it are hostile text, and are escaped. Colours come from the report's page; a picture that
stands alone has a style of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap

from dpsynth_core.claims.means import MEANS
from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.evaluation.verdict import PARTLY, PUBLISH, Verdict
from dpsynth_core.foundation.visible import shortened
from dpsynth_core.release.release import Release
from dpsynth_core.report import words
from dpsynth_core.report.column import column_in_short
from dpsynth_core.report.facts import amount, learnt
from dpsynth_core.report.svg import drawn, written
from dpsynth_core.report.verdict import ruling
from dpsynth_core.statistics.distances import percent
from dpsynth_core.statistics.totals import known_total

WIDTH = 760
_LETTERS, _NAME, _COLUMN, _RULING_LINES, _MEANS = 100, 44, 24, 2, 2
"""Letters of a line, of the name and of a column's name; the most lines of the verdict, and the most means."""
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1b2430}.ground{fill:#fff;stroke:#c9d0d9}.name{font-size:20px;font-weight:600}"
    ".big{font-size:26px;font-weight:600}.quiet{fill:#566172;font-size:12px}.ruling{font-weight:600}"
    ".yes{fill:#2f7fc4}.partly{fill:#566172}.no{fill:#b3261e}"
)
"""Colours and letters of a picture that stands alone; page.html has the same classes with its own colours."""
_BESIDE = {PUBLISH: "yes", PARTLY: "partly"}


def release_card(release: Release, headline: Headline, verdict: Verdict | None, *, alone: bool = False) -> str:
    """Return the card of a release as an SVG element.

    It has the name, the number of people, epsilon and delta in words, the mechanism, the verdict, the mean error with its bound, at most
    two measured means, the date, and the first digits of the plan's SHA-256. Long names and verdicts are shortened.

    Args:
        release: The release.
        headline: The headline of its quality.
        verdict: The verdict; None for a release of a learnt rule.
        alone: Whether the picture is a file of its own, with its own colours.
    """
    parts, left = [f'<rect class="side {_side(release, verdict)}" width="6" height="HEIGHT"/>'], 28
    parts.append(_text(left, 36, shortened(release.spec.name, _NAME), "name"))
    described = [(number, wrap(what, 36)) for number, what in _numbers(release, headline)]
    for place, (number, what) in enumerate(described):
        x = left + place * 244
        parts.append(_text(x, 80, number, "big"))
        parts += [_text(x, 100 + 16 * line, part, "quiet") for line, part in enumerate(what)]
    y, lines = 122 + 16 * max(len(what) for _, what in described), list(_lines(release, verdict))
    for line, style in lines:
        parts.append(_text(left, y, line, style))
        y += 20
    parts.append(_text(left, y + 6, f"Made on {release.created} · plan {release.seal[:12]} (SHA-256)", "quiet"))
    height = y + 24
    parts[0] = parts[0].replace("HEIGHT", f"{height}")
    ground = f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}"/>'
    said = [f"{number}: {what}" for number, what in _numbers(release, headline)] + [line for line, _ in lines]
    picture = drawn(WIDTH, height, f"{release.spec.name}. {' '.join(said)}", [ground, *parts])
    if not alone:
        return picture.replace("<svg ", '<svg class="release-card" ', 1)
    picture = picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return picture.replace(ground, f"<style>{_STYLE}</style>{ground}", 1)


def _side(release: Release, verdict: Verdict | None) -> str:
    """Return the class of the coloured edge: yes, partly or no; "partly" without a verdict."""
    if not release.private:
        return "no"
    return "partly" if verdict is None else _BESIDE.get(verdict.kind, "no")


def _numbers(release: Release, headline: Headline) -> list[tuple[str, str]]:
    """Return the three large numbers, each with its description: people, protection, error."""
    return [_people(release), _protection(release), _error(release, headline)]


def _people(release: Release) -> tuple[str, str]:
    each, who = release.plan.records_each, _who(release)
    total = known_total(release.tables_of_columns, release.total if release.plan.unit.total_is_public else None)
    if total is None:
        return "?", f"{who}: their number was not measured"
    doubt = f" ± {total.doubt(0.95) / each:,.0f} (95% confidence)" if total.sigma else ""
    return f"{total.value / each:,.0f}", f"{who}{doubt}"


def _who(release: Release) -> str:
    """Return the word for what is counted: people, those of linked tables who count once, or records."""
    return release.plan.who if release.plan.link is not None or release.spec.unit.max_rows_per_person == 1 else "records"


def _protection(release: Release) -> tuple[str, str]:
    if not release.private:
        return "Not private", "made with predictable noise: do not publish"
    budget = release.spec.budget
    return f"ε {budget.epsilon:g}", f"guesses about a person are right at most {words.odds(release).guess:.0%}; {_delta(budget.delta)}"


def _delta(delta: float) -> str:
    """Return delta in words: the probability that the promise of epsilon fails."""
    return f"the promise fails with probability {delta:.2g} at most (δ)" if delta > 0 else "the promise never fails"


def _error(release: Release, headline: Headline) -> tuple[str, str]:
    group = f"of {_who(release)} in a wrong group on average"
    if headline.certified and not math.isnan(headline.mean):
        return percent(headline.mean), f"{group}: {percent(headline.mean_low)} to {percent(headline.mean_limit)}, with 95% confidence"
    if headline.bounded and not math.isnan(headline.mean_limit):
        return f"≤ {percent(headline.mean_limit)}", f"{group}, as noisy tables bound it; no certificate was made"
    return "?", "the error of the tables is not known"


def _lines(release: Release, verdict: Verdict | None) -> Iterator[tuple[str, str]]:
    """Yield the lines below the numbers, each with its class: the verdict, what was made, the measured means."""
    told = learnt(release) if verdict is None else ruling(verdict, 3)
    every = wrap(told, _LETTERS)
    shown = every[:_RULING_LINES]
    if len(every) > len(shown):
        shown[-1] = shortened(shown[-1] + " …", _LETTERS)
    yield from ((line, "ruling") for line in shown)
    yield from ((line, "") for line in wrap(f"{amount(release)}, made by {release.plan.mechanism.card.title}.", _LETTERS))
    for one in (release.claims.get(MEANS.name) or ())[:_MEANS]:
        if told := column_in_short(release, one.column).partition(". ")[0]:
            mean = wrap(f"{shortened(one.column, _COLUMN)}: {told[0].lower()}{told[1:]}.", _LETTERS)
            yield from ((line, "") for line in mean)


def _text(x: float, y: float, text: str, style: str) -> str:
    plain = written(x, y, text)
    return plain.replace("<text ", f'<text class="{style}" ', 1) if style else plain
