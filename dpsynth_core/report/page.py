"""The report of a release as one HTML page: no script, no external file, no unescaped text. The frame around it is page.html."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.evaluation.verdict import Verdict
from dpsynth_core.privacy import meaning
from dpsynth_core.release.release import Release
from dpsynth_core.report import svg as drawing
from dpsynth_core.report import words
from dpsynth_core.report.facts import byline, facts, first, sample_reading, sentence
from dpsynth_core.report.noun import counted
from dpsynth_core.report.rule import learnt
from dpsynth_core.report.sections import sections
from dpsynth_core.report.svg import escape
from dpsynth_core.report.verdict import comparison, despite, fit_for, reasons, ruling, unfit_for
from dpsynth_core.statistics.distances import percent
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.filled import RowColumn
from dpsynth_core.vocabulary.recoding import outside_rule

_FRAME = Path(__file__).with_name("page.html")
_TABLES_SHOWN = 200
_LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2)
_ROUGH = 0.1
"""Tables that may be further off are named as doubtful, so many of them: `_NAMED`."""
_NAMED = 6
_MAPPED = 60
"""Columns that a map of pairs has room for."""
_BARS_CAPTION = (
    "The tables that may be furthest off. Bar: the error that was measured, where it was. Line: what the true error is at most, with 95% "
    "confidence. An error is the share of people who are counted in the wrong group."
)
_MAP_CAPTION = (
    "Every pair of columns, each column alone on the diagonal: the share of people in the wrong group, at most, with 95% confidence. The "
    "stronger the colour, the closer. Dotted: nothing that was released says how far off it is."
)
_TEXTS = ("Table", "How known")
_HEADS = (
    *("Table", "Cells", "How known", "Measured error", "At most", "All at once", "Known beforehand"),
    *("Noisy answers", "Best noisy answers"),
)


def html(release: Release, headline: Headline, table: pd.DataFrame, pairs: pd.DataFrame, verdict: Verdict | None) -> str:
    """The report as one page without scripts, external files or unescaped text. table, pairs: as `quality.marginal_table` and
    `quality.pair_map` make them. verdict: None for a rule."""
    title = f"Synthetic data: {release.spec.name}"
    return Template(_FRAME.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        badge="" if release.private else '<p class="alarm">NOT PRIVATE: made with predictable noise. Do not publish.</p>',
        byline=escape(f"{byline(release)} {counted(release.spec.unit)}".strip()),
        claim=escape(learnt(release) if verdict is None else ruling(verdict)),
        why="" if verdict is None else escape(f"{reasons(verdict)} {comparison(verdict)}".strip()),
        despite="" if verdict is None or not verdict.despite else f"\n<p>{escape(despite(verdict))}</p>",
        sentence=escape(f"{sentence(headline)} {sample_reading(headline)}".strip()),
        sections=_sections(release),
        warnings=_warnings([brand.sentence for brand in release.brands]),
        protected=_html_list("protected", words.protected(release)),
        symbols="".join(f"<p>{escape(line)}</p>" for line in words.symbols(release)),
        tradeoff=_tradeoff(release),
        accountant=escape(release.plan.shares.accountant.name),
        statement=escape(release.statement),
        trusted=escape(_trusted(table)),
        noise=escape(words.noise(release)),
        charts=_charts(table, pairs),
        assumptions=_html_list("assumptions", words.assumptions(release)),
        uses=_html_list("uses", [*([] if verdict is None else fit_for(verdict)), *words.USES]),
        misuses=_html_list("misuses", [*([] if verdict is None else unfit_for(verdict)), *words.MISUSES]),
        reading=_html_list("reading", words.READING),
        limits=_html_list("limits", words.NOT_PROTECTED),
        checks=_html_list("checks", words.checks()),
        facts=_html_pairs(facts(release)),
        tables=_html_tables(table),
        columns=_html_columns(release.domain),
        versions=escape(", ".join(f"{name} {number}" for name, number in release.versions.items())),
    )


def _warnings(sentences: Sequence[str]) -> str:
    return f"<h2>Warnings</h2>{_html_list('warnings', sentences)}" if sentences else ""


def _sections(release: Release) -> str:
    parts = ((part.title, part.reading, _html_list(part.name, part.lines)) for part in sections(release))
    return "".join(f"\n<h2>{title}</h2><p>{escape(reading)}</p>{lines}" for title, reading, lines in parts)


def _tradeoff(release: Release) -> str:
    odds = words.odds(release)
    shares = release.plan.shares
    curve = meaning.tradeoff(shares.accountant, release.rho, shares.slack)
    return drawing.tradeoff(*curve, [(0.01, odds.at_1), (0.1, odds.at_10)])


def _trusted(table: pd.DataFrame) -> str:
    """How many tables keep to each of a few limits; the strictest first."""
    if table["limit"].isna().all():
        return "Nothing that was released says how far any table is off. Take all of them for guesses."
    counts = [(limit, int((table["limit"] <= limit).sum())) for limit in _LIMITS]
    within = ", ".join(f"{count:,} within {percent(limit)}" for limit, count in counts)
    return f"Of {len(table):,} tables asked for, with 95% confidence for each: {within} of people in the wrong group. {_doubtful(table)}"


def _doubtful(table: pd.DataFrame) -> str:
    """By name, the tables that are fit for a rough picture at best, the worst first."""
    poor = table[~(table["limit"] <= _ROUGH)]
    if poor.empty:
        return f"None is further off than {percent(_ROUGH)}."
    named, more = ", ".join(poor["marginal"].head(_NAMED)), len(poor) - _NAMED
    return f"Take these for a rough picture at best: {named}" + (f", and {more:,} more (see Every table)." if more > 0 else ".")


def _charts(table: pd.DataFrame, pairs: pd.DataFrame) -> str:
    if table["limit"].isna().all():
        return ""
    figures = [(drawing.bars(table), _BARS_CAPTION)]
    if 1 < pairs["row"].nunique() <= _MAPPED:
        figures.append((drawing.pair_map(pairs), _MAP_CAPTION))
    return "".join(f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>" for svg, caption in figures)


def _html_list(css: str, items: Sequence[str]) -> str:
    return f'<ul class="{css}">' + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _html_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return "<table>" + "".join(f'<tr><th scope="row">{escape(key)}</th><td>{escape(value)}</td></tr>' for key, value in pairs) + "</table>"


def _html_tables(table: pd.DataFrame) -> str:
    listed_rows = table.head(_TABLES_SHOWN)
    head = "".join(f'<th scope="col"{"" if name in _TEXTS else " class=n"}>{name}</th>' for name in _HEADS)
    body = "".join(_html_table_row(row) for row in listed_rows.itertuples())
    more = f"<p>{len(table) - len(listed_rows):,} further tables are in errors.csv.</p>" if len(table) > len(listed_rows) else ""
    return f"<table class=wide><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _html_table_row(row: Any) -> str:
    cells = (
        f"<td>{escape(row.marginal)}</td>",
        f"<td class=n>{row.cells:,}</td>",
        f"<td class=s>{escape(row.support)}</td>",
        f"<td class=n>{_number(row.error, '.1%')}</td>",
        f"<td class=n>{_number(row.limit, '.1%')}</td>",
        f"<td class=n>{_number(row.together, '.1%')}</td>",
        f"<td class=n>{_number(row.bound, '.1%')}</td>",
        f"<td class=n>{_number(row.gaussian, '.1%')}</td>",
        f"<td class=n>{_number(row.residuals, '.1%')}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _about(attribute: RowColumn) -> str:
    return f"<br><small>{escape(attribute.label)}</small>" if attribute.label else ""


def _html_columns(domain: Domain) -> str:
    head = "<tr><th>Column</th><th>Kind</th><th>Cells</th><th>First cells</th><th>Values outside</th></tr>"
    body = "".join(
        f"<tr><td>{escape(a.name)}{_about(a)}</td><td class=s>{escape(a.kind)}</td><td class=n>{a.size:,}</td>"
        f"<td>{escape(first(a.cell_labels()))}</td><td>{escape(outside_rule(a))}</td></tr>"
        for a in domain
    )
    body += "".join(
        f"<tr><td>{escape(one.name)}{_about(one)}</td><td class=s>{escape(one.kind)}</td><td class=n>–</td>"
        f"<td></td><td>{escape(one.in_words())}</td></tr>"
        for one in domain.filled
    )
    return f"<table class=wide><thead>{head}</thead><tbody>{body}</tbody></table>"


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
