"""The data card of a release, in Markdown, for the front page of a repository. Every mark of Markdown in a text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.evaluation.verdict import Verdict
from dpsynth_core.foundation.visible import escaped, visible
from dpsynth_core.release.release import Release
from dpsynth_core.report.facts import counted, facts, first, sentence
from dpsynth_core.report.sections import sections
from dpsynth_core.report.verdict import comparison, despite, fit_for, reasons, ruling, unfit_for
from dpsynth_core.report.warnings import warnings
from dpsynth_core.report.words import CHECKS, MISUSES, READING, USES, assumptions, not_protected, protected
from dpsynth_core.vocabulary.attribute import Attribute

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.filled import RowColumn


def card(release: Release, headline: Headline, verdict: Verdict | None) -> str:
    """Return the data card as Markdown, with all names and words of the curator escaped.

    Args:
        release: The release.
        headline: The headline of its quality.
        verdict: The verdict; None for a release of a learnt rule.
    """
    warning = [] if release.private else ["**NOT PRIVATE: made with predictable noise. Do not publish.**", ""]
    lines = [
        f"# Synthetic data: {plain(release.spec.name)}",
        "",
        *warning,
        *([] if verdict is None else [f"**{plain(ruling(verdict))}** {plain(f'{reasons(verdict)} {comparison(verdict)}')}", ""]),
        *([] if verdict is None or not verdict.despite else [plain(despite(verdict)), ""]),
        plain(f"{sentence(headline)} {counted(release.spec)}"),
        "",
        *(line for part in sections(release) for line in _card_list(part.title, [*filter(None, [part.reading]), *part.lines])),
        *_card_list("What is protected, and how strongly", protected(release)),
        "## The guarantee",
        "",
        plain(release.statement),
        "",
        *_card_list("Warnings", warnings(release) or ["None."]),
        *_card_list("What was assumed", assumptions(release)),
        *_card_list("What the data are for", [*([] if verdict is None else fit_for(verdict)), *USES]),
        *_card_list("What they are not for", [*([] if verdict is None else unfit_for(verdict)), *MISUSES]),
        *_card_list("How to read the data", READING),
        *_card_list("What is not protected", not_protected(release)),
        *_card_list("How to check it", CHECKS),
        *_card_list("Facts", [f"{key}: {value}" for key, value in facts(release)]),
        *_card_list("Columns", [f"{c.name}: {_about(c)}" for c in release.described.columns]),
    ]
    return "\n".join(lines)


def _card_list(title: str, items: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {plain(item)}" for item in items), ""]


def plain(text: str) -> str:
    """Return a text as one line, with every mark of Markdown escaped and a space for each run of invisible characters."""
    return escaped(" ".join(visible(text).split()))


def _about(column: RowColumn) -> str:
    cells = f"{column.kind}, {column.size} cells ({first(column.cell_labels())})" if isinstance(column, Attribute) else column.in_words()
    return f"{column.label}; {cells}" if column.label else cells
