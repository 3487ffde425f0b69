"""What a release says of models, as sentences: how often those that are trained on its rows are right about the people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dpsynth_core.claims.models.usefulness import Share, Usefulness
from dpsynth_core.release.release import Release

READING = (
    "Each model was trained on synthetic rows alone, as anybody can train it, and then asked about every person of the private table. How "
    "often it was right was counted with noise, on a share of the budget of its own, so that it may be published. The intervals hold with "
    "95% confidence, each by itself. A guess at a number counts as right only if no value of the person's bin is further from it than is "
    "said: of a bin twice as wide as that its very middle is right alone, of a wider one and of missing and other values nothing is."
)


def sentences(release: Release) -> list[str]:
    """One for each column. Names and values in it are hostile text."""
    by_column = groupby(release.usefulness, key=lambda one: one.column)
    return [_sentence(column, list(of_one)) + _room(release, column) for column, of_one in by_column]


def _room(release: Release, column: str) -> str:
    """Of numbers, how many of the synthetic rows are in cells that a guess can hit."""
    target = next((one for one in release.plan.targets if one.column == column), None)
    if target is None or target.tolerance is None or release.codes is None:
        return ""
    share = float(target.leave_room()[release.codes[:, release.domain.position(column)]].mean())
    return f" Of the synthetic rows, {share:.1%} are in bins that leave a guess room to be right."


def _sentence(column: str, models: list[Usefulness]) -> str:
    near = "" if models[0].tolerance is None else f" to within {models[0].tolerance:g}"
    named = "; ".join(f"{one.model} for {_interval(one.accuracy)}" for one in models)
    always = f"Whoever always guesses “{models[0].guess}” is right for {_interval(models[0].majority)}."
    return f"{column}{near}: {named} of the people. {always} {verdict(models)}"


def verdict(models: list[Usefulness]) -> str:
    """Which models of a column are right more often than the guess that looks at nothing."""
    better = [one.model for one in models if one.better]
    if len(better) == len(models):
        return "Both are right more often than that guess."
    if better:
        return f"Only {better[0]} is shown to be right more often than that guess."
    return "Neither is shown to be right more often than that guess."


def _interval(share: Share) -> str:
    return f"{share.value:.1%} ({share.low95:.1%} to {share.high95:.1%})"


def model_facts(release: Release) -> Iterator[tuple[str, str]]:
    """The same as pairs of name and text, for lists of facts."""
    for line in sentences(release):
        yield "Models trained on these rows", line
