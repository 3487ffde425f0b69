"""The report of a release as one HTML page: no script, no external file, no unescaped text. The frame around it is page.html."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from dpsynth_core.domain import Domain
from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.release import Release
from dpsynth_core.report.facts import NOT_PROTECTED, READING, facts, first, sample_reading, sentence

_FRAME = Path(__file__).with_name("page.html")
_TABLES_SHOWN = 200
_HEADS = ("Table", "Cells", "Support", "Measured error", "At most", "All at once", "Known beforehand", "Columns alone", "Noisy answers")


def html(release: Release, headline: Headline, table: pd.DataFrame) -> str:
    """The report as one page without scripts, external files or unescaped text. table: as `quality.marginal_table` makes it."""
    title = f"Synthetic data: {release.spec['name']}"
    return Template(_FRAME.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        badge="" if release.private else '<p class="alarm">NOT PRIVATE: made with predictable noise. Do not publish.</p>',
        claim=escape(sample_reading(headline)),
        sentence=escape(sentence(headline)),
        statement=escape(release.statement),
        brands=_html_list("warnings", [brand.sentence for brand in release.brands]) if release.brands else "<p>None.</p>",
        facts=_html_pairs(facts(release)),
        tables=_html_tables(table),
        columns=_html_columns(release.domain),
        reading=_html_list("reading", READING),
        limits=_html_list("limits", NOT_PROTECTED),
        versions=escape(", ".join(f"{name} {number}" for name, number in release.versions.items())),
    )


def _html_list(css: str, items: Sequence[str]) -> str:
    return f'<ul class="{css}">' + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _html_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return "<table>" + "".join(f'<tr><th scope="row">{escape(key)}</th><td>{escape(value)}</td></tr>' for key, value in pairs) + "</table>"


def _html_tables(table: pd.DataFrame) -> str:
    shown = table.head(_TABLES_SHOWN)
    scale = float(shown["limit"].fillna(0.0).max()) or 1.0
    head = "".join(f"<th>{name}</th>" for name in _HEADS)
    body = "".join(_html_table_row(row, scale) for row in shown.itertuples())
    more = f"<p>{len(table) - len(shown):,} further tables are in errors.csv.</p>" if len(table) > len(shown) else ""
    return f"<table class=wide><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _html_table_row(row: Any, scale: float) -> str:
    cells = (
        f"<td>{escape(row.marginal)}</td>",
        f"<td class=n>{row.cells:,}</td>",
        f"<td>{escape(row.support)}</td>",
        f"<td class=n>{_number(row.error, '.1%')}</td>",
        f"<td>{_bar(row.limit, scale)}</td>",
        f"<td class=n>{_number(row.together, '.1%')}</td>",
        f"<td class=n>{_number(row.bound, '.1%')}</td>",
        f"<td class=n>{_number(row.independent, '.1%')}</td>",
        f"<td class=n>{_number(row.gaussian, '.1%')}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _bar(value: float, scale: float) -> str:
    if math.isnan(value):
        return "–"
    return f'<span class="bar"><i style="width:{100 * min(1.0, value / scale):.1f}%"></i></span> {value:.1%}'


def _html_columns(domain: Domain) -> str:
    head = "<tr><th>Column</th><th>Kind</th><th>Cells</th><th>First cells</th></tr>"
    body = "".join(
        f"<tr><td>{escape(a.name)}</td><td>{escape(a.kind)}</td><td class=n>{a.size:,}</td><td>{escape(first(a.cell_labels()))}</td></tr>"
        for a in domain
    )
    return f"<table class=wide><thead>{head}</thead><tbody>{body}</tbody></table>"


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
