"""The warnings of a release: its brands, and the columns of which nothing, or a part, was understood. Names in them are hostile text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsynth_core.evaluation.unread import Undeclared
from dpsynth_core.evaluation.verdict import UNREAD
from dpsynth_core.foundation.visible import listed
from dpsynth_core.release.release import Release
from dpsynth_core.report.verdict import REMEDIES, not_read
from dpsynth_core.statistics.distances import possible
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.rows import Repeated

_NAMED = 5
_MANY = 0.05
"""A share of those who own rows of a second table, from which it matters that no more of theirs count."""


def warnings(release: Release) -> list[str]:
    """Return what a reader must know before they trust a release, in full sentences.

    Names in them are unescaped. They are the brands, then that many people have as many rows as count, unread columns, columns
    with many "other" or missing values, and columns that got no ranges though these were asked for. At most four
    unread columns, and five others, are named in a sentence; further ones are counted. The list is empty if there is
    nothing to warn about.
    """
    stated = release.statements
    remedy = [" ".join((*not_read(stated.unread), REMEDIES[UNREAD]))] if stated.unread else []
    others = [one for one in stated.undeclared if one.column not in stated.silent]
    columns = [*remedy, *_undeclared(others), *_without_ranges(release.plan.without_ranges)]
    return [*(brand.sentence for brand in release.brands), *_at_most(release), *columns]


def _at_most(release: Release) -> Iterator[str]:
    """Yield a warning if 5% of the owners of rows, beyond the noise, have as many as count. Only rows in order have the warning."""
    link = release.plan.link
    if link is None or not link.words.most_of:
        return
    from dpsynth_core.evaluation.questions import linked  # these are loaded for two tables alone
    from dpsynth_core.evaluation.questions.answer import answer
    from dpsynth_core.evaluation.questions.question import SHARE, Question

    codes = release.codes if isinstance(release.codes, Repeated) else None
    known = linked.of_households(link, codes, release.tables_of_columns, release.certificate)
    stated = answer(known, Question(SHARE, cells={NUMBER: (link.most,)})).stated
    if stated.value is not None and (stated.value if stated.low is None else stated.low) >= _MANY:
        yield link.words.most_of.format(share=f"{possible(stated.value):.0%}", most=link.most)


def _without_ranges(columns: Sequence[str]) -> Iterator[str]:
    if columns:
        named = listed([f"“{name}”" for name in columns], _NAMED)
        yield f"Ranges of {named} were asked for, but too few values were learnt to have any. The single columns count instead."


def _undeclared(columns: Sequence[Undeclared]) -> Iterator[str]:
    if shown := [f"{one.share:.0%} of “{one.column}”" for one in columns if one.is_shown]:
        yield f"These values are not declared and count as “other”: {listed(shown, _NAMED)}."
    if noisy := [one for one in columns if not one.is_shown]:
        named = listed([f"“{one.column}”" for one in noisy], _NAMED)
        empty = f"Up to {max(one.share for one in noisy):.0%} of the rows have no declared value in {named}: they are “missing” or “other”"
        yield f'{empty}. Noise alone may explain that. If every record has a declared value, state "missing": false and "other": false.'
