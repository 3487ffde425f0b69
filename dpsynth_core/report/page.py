"""The report of a release as one HTML page: no script, no external file, no unescaped text. The frame around it is page.html."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from dpsynth_core.evaluation.against_bounds import against, known
from dpsynth_core.evaluation.quality import Headline, within
from dpsynth_core.evaluation.standing import standings
from dpsynth_core.evaluation.verdict import Verdict
from dpsynth_core.evaluation.wall import bars
from dpsynth_core.foundation.zones import released
from dpsynth_core.privacy import meaning
from dpsynth_core.release.release import Release
from dpsynth_core.report import errors_svg, heat_svg, wall_svg, words
from dpsynth_core.report import svg as drawing
from dpsynth_core.report.facts import EACH, PICKED, facts, first, on_trials
from dpsynth_core.report.first_page import Part, first_page
from dpsynth_core.report.release_card import release_card
from dpsynth_core.report.section import Section
from dpsynth_core.report.sections import sections
from dpsynth_core.report.svg import escape
from dpsynth_core.report.verdict import TRIALS, comparison, despite, fit_for, reasons, unfit_for
from dpsynth_core.report.warnings import warnings as warned
from dpsynth_core.statistics.distances import percent
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.recoding import outside_rule

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.vocabulary.filled import RowColumn

_FRAME = Path(__file__).with_name("page.html")
_TABLES_SHOWN = 200
_LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2)
_ROUGH = 0.1
"""Tables that may be further off are named as doubtful, so many of them: `_NAMED`."""
_NAMED = 6
_MAPPED = 60
"""Columns that a map of pairs has room for."""
_ERRORS_CAPTION = (
    "These tables may have the largest errors. A bar goes from the least to the largest share of people in the wrong group (95% each). "
    "Noisy answers are the errors expected of simpler mechanisms on the same budget. A sign with a number lies beyond the scale."
)
_BOUNDS_CAPTION = " AIM's bounds follow from the noisy tables alone, as its paper prints them and sharpened."
_ALONE_CAPTION = " Columns alone show what single columns miss without noise. They follow from the rows and are as uncertain (thin line)."
_NEAR_CAPTION = (
    "A point is a table, with AIM's bound over its error. A line goes from the least to the largest error. Shaded bounds are below the "
    "best estimate."
)
_BETTER_CAPTION = (
    "A point is a table with AIM's bound. Shaded bounds are better than what is expected of noisy answers, with 95% confidence."
)
_MAP_CAPTION = (
    "A square is a pair of columns, or one column on the diagonal. It shows the largest share of people in the wrong group, with 95% "
    "confidence. A stronger colour is a smaller error. The release does not bound the error of a dotted square."
)
_WALL_CAPTION = (
    "A bar shows how many people have a value; bars of numbers show people by width. A line shows where the true number is with 95% "
    "confidence, where it was counted with noise. ✓ means good enough, ✕ not, ? not known."
)
_NONE_ODD = "No column looks odd."
_WHY = "\n<h2>Why this verdict?</h2>\n<p>{}</p>"
_TEXTS = ("Table", "How known")
_HEADS = (
    *("Table", "Cells", "How known", "Best estimate", "At most", "All at once", "Known beforehand"),
    *("Noisy answers", "Best noisy answers"),
)


def html(release: Release, headline: Headline, table: pd.DataFrame, pairs: pd.DataFrame, verdict: Verdict | None) -> str:
    """Return the report as one page without scripts, external files or unescaped text.

    It lists the first 200 tables and draws the first 60 columns; the map of pairs is drawn for 2 to 60 columns.

    Args:
        release: The release.
        headline: The headline of its quality.
        table: The frame of `quality.marginal_table`.
        pairs: The frame of `quality.pair_map`.
        verdict: The verdict; None for a release of a learnt rule.
    """
    odds, shares = words.odds(release), release.plan.shares
    parts = ((part.title, part.reading, _html_list(part.name, part.lines) + _maps(part)) for part in sections(release))
    told = "".join(f'<tr><th scope="row">{escape(key)}</th><td>{escape(value)}</td></tr>' for key, value in facts(release))
    warnings = _html_list("warnings", said := warned(release))
    return Template(_FRAME.read_text(encoding="utf-8")).substitute(
        title=escape(f"Synthetic data: {release.spec.name}"),
        badge="" if release.private else '<p class="alarm">NOT PRIVATE: made with predictable noise. Do not publish.</p>',
        card=release_card(release, headline, verdict),
        first="".join(map(_html_part, first_page(release, headline, verdict))),
        wall="" if verdict is None else _wall(release, verdict),
        why="" if verdict is None else _WHY.format(escape(" ".join(filter(None, _why(release, verdict))))),
        despite="" if verdict is None or not verdict.despite else f"\n<p>{escape(despite(verdict))}</p>",
        sections="".join(f"\n<h2>{title}</h2><p>{escape(reading)}</p>{lines}" for title, reading, lines in parts),
        warnings=f"<h2>Warnings</h2>{warnings}" if said else "",
        protected=_html_list("protected", words.protected(release)),
        symbols="".join(f"<p>{escape(line)}</p>" for line in words.symbols(release)),
        tradeoff=drawing.tradeoff(*meaning.tradeoff(shares.accountant, release.rho, shares.slack), [(0.01, odds.at_1), (0.1, odds.at_10)]),
        accountant=escape(shares.accountant.name),
        statement=escape(release.statement),
        trusted=escape(_trusted(release, table)),
        noise=escape(words.noise(release)),
        charts=_charts(table, pairs),
        assumptions=_html_list("assumptions", words.assumptions(release)),
        uses=_html_list("uses", [*([] if verdict is None else fit_for(verdict)), *words.USES]),
        misuses=_html_list("misuses", [*([] if verdict is None else unfit_for(verdict)), *words.MISUSES]),
        reading=_html_list("reading", words.READING),
        limits=_html_list("limits", words.not_protected(release)),
        checks=_html_list("checks", words.CHECKS),
        facts=f"<table>{told}</table>",
        tables=_html_tables(table),
        columns=_html_columns(release.described, {} if release.plan.link is None else release.plan.link.words.columns),
        versions=escape(", ".join(f"{name} {number}" for name, number in release.versions.items())),
    )


def _why(release: Release, verdict: Verdict) -> tuple[str, str, str]:
    """Return the sentences on a verdict: reasons, the comparison with simpler ways, and how often the rule was wrong in trials."""
    return reasons(verdict), comparison(verdict), on_trials(release, TRIALS) if verdict.bounded else ""


def _html_part(part: Part) -> str:
    lead = f'<p class="claim">{escape(part.lead)}</p>' if part.lead else ""
    return f"\n<h2>{part.title}</h2>\n<div>{lead}{f'<p>{escape(part.text)}</p>' if part.text else ''}</div>"


def _wall(release: Release, verdict: Verdict) -> str:
    """Return the columns as small pictures, those that stand out first; at most `wall_svg.MOST_DRAWN` are drawn."""
    every = standings(release.statements, verdict.off)
    shown = every[: wall_svg.MOST_DRAWN]
    pictures = wall_svg.wall(bars(released(release.statements.evidence), [one.column for one in shown]).value, shown)
    odd = sum(one.stands_out for one in every)
    counted = f"{odd:,} of the {len(every):,} columns {'looks' if odd == 1 else 'look'} odd." if odd else _NONE_ODD
    more = f" {len(every) - len(shown):,} further columns are not drawn." if len(every) > len(shown) else ""
    return f"\n<h2>What do the columns look like?</h2>\n<p>{counted} {_WALL_CAPTION}{more}</p>{pictures}"


def _trusted(release: Release, table: pd.DataFrame) -> str:
    """Return sentences on how many tables are within each of `_LIMITS`, and on the doubtful ones.

    Tables whose error may be above `_ROUGH` are doubtful; the first `_NAMED` are named, unescaped.
    If no table has a bound, the only sentences say so.

    Args:
        release: The release.
        table: The frame of `quality.marginal_table`.
    """
    if table["limit"].isna().all():
        return "The release does not bound the error of any table. Take all of them as guesses."
    counts = [(limit, int(within(table, limit).sum())) for limit in _LIMITS]
    near = ", ".join(f"{count:,} at most {percent(limit)}" for limit, count in counts)
    poor = table[~(table["limit"] <= _ROUGH)]
    named, more = ", ".join(poor["marginal"].head(_NAMED)), len(poor) - _NAMED
    doubtful = f"These give a rough picture at best: {named}" + (f", and {more:,} more (see Every table)." if more > 0 else ".")
    if poor.empty:
        doubtful = f"No table is off by more than {percent(_ROUGH)}."
    lead = f"Of {len(table):,} tables asked for, so many have this share of people in the wrong group: {near}."
    return " ".join(filter(None, (lead, EACH, on_trials(release, PICKED), doubtful)))


def _charts(table: pd.DataFrame, pairs: pd.DataFrame) -> str:
    if table["limit"].isna().all():
        return ""
    caption = _ERRORS_CAPTION + _BOUNDS_CAPTION * known(table, "bound") + _ALONE_CAPTION * known(table, "independent")
    figures = [(errors_svg.against_bounds(table), caption)]
    if other := against(table):
        figures.append((errors_svg.bound_against_error(table), _NEAR_CAPTION if other == "error" else _BETTER_CAPTION))
    if 1 < pairs["row"].nunique() <= _MAPPED:
        figures.append((drawing.pair_map(pairs), _MAP_CAPTION))
    return "".join(f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>" for svg, caption in figures)


def _maps(section: Section) -> str:
    figures = ((one.title, heat_svg.heat_map(one), one.caption) for one in section.maps)
    return "".join(f"<h3>{escape(name)}</h3><figure>{svg}<figcaption>{escape(said)}</figcaption></figure>" for name, svg, said in figures)


def _html_list(css: str, items: Iterable[str]) -> str:
    return f'<ul class="{css}">' + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _html_tables(table: pd.DataFrame) -> str:
    listed_rows = table.head(_TABLES_SHOWN)
    head = "".join(f'<th scope="col"{"" if name in _TEXTS else " class=n"}>{name}</th>' for name in _HEADS)
    row: Any
    body = ""
    for row in listed_rows.itertuples():
        shares = (row.error, row.limit, row.together, row.bound, row.gaussian, row.residuals)
        numbers = "".join(f"<td class=n>{'–' if math.isnan(share) else format(share, '.1%')}</td>" for share in shares)
        body += f"<tr><td>{escape(row.marginal)}</td><td class=n>{row.cells:,}</td><td class=s>{escape(row.support)}</td>{numbers}</tr>"
    more = f"<p>{len(table) - len(listed_rows):,} further tables are in errors.csv.</p>" if len(table) > len(listed_rows) else ""
    return f"<table class=wide><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _html_columns(domain: Domain, told: Mapping[str, str]) -> str:
    """Return the list of columns.

    Args:
        domain: The columns.
        told: For some columns, by name, what to say in place of how values outside them count.
    """
    head = "<tr><th>Column</th><th>Kind</th><th>Cells</th><th>First cells</th><th>Values outside</th></tr>"
    described: list[tuple[RowColumn, str, str, str]] = [
        (a, f"{a.size:,}", first(a.cell_labels()), told.get(a.name) or outside_rule(a)) for a in domain
    ]
    described += [(one, "–", "", one.in_words()) for one in domain.filled]
    body = ""
    for one, size, cells, outside in described:
        about = f"<br><small>{escape(one.label)}</small>" if one.label else ""
        body += f"<tr><td>{escape(one.name)}{about}</td><td class=s>{escape(one.kind)}</td><td class=n>{size}</td>"
        body += f"<td>{escape(cells)}</td><td>{escape(outside)}</td></tr>"
    return f"<table class=wide><thead>{head}</thead><tbody>{body}</tbody></table>"
