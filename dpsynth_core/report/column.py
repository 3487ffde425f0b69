"""The mean and the quantiles of a column in words, from released values alone."""

from __future__ import annotations

from dpsynth_core.evaluation.histogram import quantiles
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.question import MEAN, Question, cell_values
from dpsynth_core.release.release import Release
from dpsynth_core.report.answers import number
from dpsynth_core.report.explore import knowledge
from dpsynth_core.vocabulary.ranges import cut_to

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def column_in_short(release: Release, column: str) -> str:
    """Return the mean of a column of numbers with its 95 % interval, and quantiles of its values as published.

    The quantiles are the numbers below which 5, 25, 50, 75 and 95 % of the values are. Columns of dates and times,
    and all columns of two linked tables, have quantiles and no mean. A guessed mean has no interval. The result
    is "" for a column without numbers, or if nothing is published about it.

    Args:
        release: The release.
        column: Name of a column of the release.
    """
    attribute, clique = release.domain[column], (column,)
    counts = release.statements.published([clique]).get(clique)
    if not attribute.is_number or attribute.most or counts is None:
        return ""
    found = quantiles(attribute, counts, _SHARES, release.inside.get(column))
    if not found:
        return ""
    asked = Question(MEAN, column=column)
    numbers = cell_values(attribute) is not None
    lines = []
    if numbers and release.plan.link is None:
        stated = answer(knowledge(release), asked).stated
        if stated.value is not None:
            value, *ends = (number(release.domain, asked, one) for one in (stated.value, stated.low, stated.high) if one is not None)
            cut, interval = cut_to(attribute), f" ({ends[0]} to {ends[1]} with 95% confidence)" if len(ends) == 2 else ""
            lines.append(f"The mean{cut and f', {cut},'} is {value}{interval}.")
    if numbers:
        texts = [f"{one:,.0f}" if attribute.scale.whole else number(release.domain, asked, one) for one in found]
    else:
        texts = [attribute.scale.text(one) for one in found]
    below = ", ".join(f"{share:.0%} below {text}" for share, text in zip(_SHARES, texts, strict=True))
    return " ".join([*lines, f"As published, {below}."])
