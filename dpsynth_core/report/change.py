"""The changes between two releases, as one page without script or network and as Markdown, both with the same lines.

Names of columns and values are hostile text, escaped for each format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from dpsynth_core.evaluation.change import Change, Shift, change
from dpsynth_core.evaluation.questions.known import Known, known
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.visible import listed, visible
from dpsynth_core.release.release import Release
from dpsynth_core.report.answers import cells_phrase
from dpsynth_core.report.card import plain
from dpsynth_core.report.facts import counted, learnt
from dpsynth_core.report.svg import escape
from dpsynth_core.report.warnings import warnings
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.domain import Domain

TITLES = ("Share of the people", "Before", "After", "Change", "At least", "At most")
_STYLE = Path(__file__).with_name("explore") / "page.css"
_HEAD = Template(
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<style>${style}</style>"
)
_NAMED, _SHOWN = 8, 500
READING = (
    "Change is after less before, in points of a hundred. Its interval counts the noise of both releases, and no more: not mistakes in "
    "either table, and not that other people are in it by chance.",
    "All intervals hold together with 95% confidence: in 5 of 100 such comparisons at most is any true change outside of its interval, "
    "however many there are. Where 0 is in the interval, no change is shown; that is not to say that there was none.",
)


def changed(before: Release, after: Release) -> Change:
    """Return the differences between the shares of cells in the noisy tables of two releases.

    The tables are the single columns and the tables of both workloads, as far as both releases measured them and
    their columns are the same.

    Args:
        before: The earlier release.
        after: The later release, from which the earlier is subtracted.

    Raises:
        InputError: They have no column with the same values in common, or a release is a learnt
            rule.
    """
    if learnt(before) or learnt(after):
        raise InputError("release", "it is a rule, and holds no table that could be compared", "choose releases of tables")
    tables = [*((name,) for name in before.domain.names), *before.plan.workload.cliques, *after.plan.workload.cliques]
    found = change(_known(before), _known(after), tables, (before.plan.records_each, after.plan.records_each))
    if len(found.columns) == len({*before.domain.names, *after.domain.names}):
        raise InputError("release", "the two have no column with the same values in common", "choose releases of the same columns")
    return found


def _known(release: Release) -> Known:
    total = known_total(release.tables_of_columns, release.total if release.plan.unit.total_is_public else None)
    return known(release.domain, None, release.tables_of_columns, total, {}, None)


def summary(before: Release, after: Release, found: Change) -> list[str]:
    """Return the sentences on top of a comparison, without repetitions, with unescaped names.

    They state the numbers of people, how many shares changed, which tables and columns are not
    compared and why, and the warnings of both releases. Of more than eight tables or columns, eight are named
    and the others are counted.

    Args:
        before: The earlier release.
        after: The later release.
        found: The result of `changed`.
    """
    lines = []
    if (people := found.people) is not None:
        change_of = f"{people.low:+,.0f} to {people.high:+,.0f}, with 95% confidence"
        lines.append(f"About {people.before:,.0f} people before, {people.after:,.0f} after: a change of {change_of}.")
    shares = f"{len(found.shifts):,} shares in {found.tables:,} tables that both releases measured"
    if not found.shifts:
        lines.append("No table was measured by both releases: nothing is known of what changed.")
    elif found.sure:
        surely = "is sure to have changed" if len(found.sure) == 1 else "are sure to have changed"
        lines.append(f"Of {shares}, {len(found.sure):,} {surely}.")
    else:
        lines.append(f"Of {shares}, none is shown to have changed: what differs may all be noise.")
    if found.unmeasured:
        why = "for not both releases measured them, and what rows alone say has no known noise"
        lines.append(f"Not compared, {why}: {_some(map(' × '.join, found.unmeasured))}.")
    if found.left:
        lines.append(f"Not compared, for they have too many cells: {_some(map(' × '.join, found.left))}.")
    if found.columns:
        lines.append(f"Not compared, for they are in one release alone or have other values: {_some(found.columns)}.")
    lines += sorted({note for release in (before, after) if (note := counted(release.spec))})
    for release in (before, after):
        lines += [f"{_name(release)}: {warning}" for warning in warnings(release)]
    return list(dict.fromkeys(lines))


def texts(domain: Domain, shift: Shift) -> list[str]:
    """Return one line of a comparison as texts, with unescaped names and labels.

    Args:
        domain: The columns of the table.
        shift: The change of one cell.

    Returns:
        Six texts: the cell, its share before, its share after (percentages), their difference, and
        the lower and upper end of the difference's interval (percentage points).
    """
    cells = {name: (code,) for name, code in zip(shift.table, shift.codes, strict=True)}
    points = (f"{100 * number:+.1f}" for number in (shift.after - shift.before, shift.low, shift.high))
    return [cells_phrase(domain, cells), f"{shift.before:.1%}", f"{shift.after:.1%}", *("0.0" if float(p) == 0 else p for p in points)]


def parts(found: Change, domain: Domain) -> list[tuple[str, list[list[str]]]]:
    """Return the tables of the comparison, each as a title and lines of texts.

    The first lists the shares that surely changed, the second at most 500 others. Empty ones
    are left out.
    """
    rest = [shift for shift in found.shifts if not shift.sure]
    cut = f"No change is shown{f' (the first {_SHOWN:,} of {len(rest):,})' if len(rest) > _SHOWN else ''}"
    both = (("Changed for sure, the surest first", found.sure), (cut, rest[:_SHOWN]))
    return [(title, [texts(domain, shift) for shift in shifts]) for title, shifts in both if shifts]


def html(before: Release, after: Release, found: Change) -> str:
    """Return the comparison of two releases as an HTML page.

    At most 500 changes that are not sure are listed.
    """
    sections = [(title, TITLES, lines) for title, lines in parts(found, before.domain)]
    return page(_title(before, after), (_whose(before, after), summary(before, after, found)), sections, READING)


def page(
    title: str,
    lead: Iterable[Sequence[str]],
    sections: Iterable[tuple[str, Sequence[str], Sequence[Sequence[str]]]],
    reading: Sequence[str],
) -> str:
    """Return an HTML page without script or network, with all texts escaped.

    Args:
        title: Its heading.
        lead: Lists of sentences under the heading.
        sections: Tables, each as a heading, the titles of its columns and its lines; the first cell of a line names it.
        reading: Sentences on how to read the page.
    """
    tables = ((name, _html_table(titles, lines)) for name, titles, lines in sections)
    body = "".join(f'\n<h2>{escape(name)}</h2>\n<div class="scroll" tabindex="0">{table}</div>' for name, table in tables)
    head, title = _HEAD.substitute(style=_STYLE.read_text(encoding="utf-8")), escape(title)
    return (
        f"{head}<title>{title}</title></head><body><main>\n<h1>{title}</h1>\n{''.join(map(_html_list, lead))}"
        f"{body}\n<h2>How to read it</h2>\n{_html_list(reading)}</main></body></html>\n"
    )


def markdown(before: Release, after: Release, found: Change) -> str:
    """Return the comparison of two releases as Markdown, with the tables and lines of `html`."""
    lines = [f"# {plain(_title(before, after))}", "", *_marked([*_whose(before, after), *summary(before, after, found)])]
    head = [_row(TITLES), _row(["---", *["---:"] * (len(TITLES) - 1)])]
    for title, rows in parts(found, before.domain):
        lines += [f"## {title}", "", *head, *(_row(map(plain, row)) for row in rows), ""]
    return "\n".join([*lines, "## How to read it", "", *_marked(READING)])


def _marked(lines: Sequence[str]) -> list[str]:
    return [*(f"- {plain(line)}" for line in lines), ""]


def _title(before: Release, after: Release) -> str:
    return f"What changed: {visible(before.spec.name)} to {visible(after.spec.name)}"


def _name(release: Release) -> str:
    return f"{visible(release.spec.name)}, {release.created}"


def _whose(before: Release, after: Release) -> list[str]:
    both = (("Before", before), ("After", after))
    return [f"{word}: {_name(release)}, epsilon {release.spec.budget.epsilon:g}." for word, release in both]


def _html_list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>\n"


def _html_table(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    first, *numbers = titles
    head = f'<th scope="col">{first}</th>' + "".join(f'<th scope="col" class="n">{title}</th>' for title in numbers)
    body = ""
    for name, *shares in lines:
        cells = "".join(f'<td class="n">{escape(share)}</td>' for share in shares)
        body += f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
    return f'<table class="wide"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _some(names: Iterable[str]) -> str:
    return listed(list(map(visible, names)), _NAMED)
