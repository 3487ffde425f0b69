"""Durations of training models and of asking them about every record, from public facts.

Seconds of one processor, fitted to models of 2 to 50 values on 5,000 to 50,000 rows of 12 and 40 columns: right within a factor of two.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsynth_core.claims.models.targets import Target

TRAINING_ROWS = 50_000
"""Largest number of synthetic rows to train on, the first ones, which are in random order. More hardly improve a model."""
ROUNDS, MOST_TREES, FEWEST_ROUNDS = 100, 300, 10
"""Rounds of boosting, each with a tree per class; fewer with many classes."""
_SECONDS_PER_TREE, _PER_VALUE_OF_A_TREE, _PER_COEFFICIENT = 2e-3, 6e-9, 1e-7
_ASKED_OF_A_TREE, _ASKED_OF_A_COLUMN = 4e-8, 2e-8
_A_MILLION, _MINUTES_FROM = 1e6, 90.0


def trees_a_round(classes: int) -> int:
    """Return the number of trees that a round of boosting grows.

    Args:
        classes: Number of classes, of two of which only the second is scored; 0 for a number.
    """
    return 1 if classes <= 2 else classes


def rounds(classes: int) -> int:
    """Return the number of rounds of boosting: 100, fewer with more than 3 classes, but at least 10.

    Args:
        classes: Number of classes; 0 for a number.
    """
    return max(FEWEST_ROUNDS, min(ROUNDS, MOST_TREES // trees_a_round(classes)))


def training_seconds(targets: Sequence[Target], columns: int, rows: int | None) -> float:
    """Return the expected seconds of training the models of all targets on one processor; 0 without targets.

    Args:
        targets: The columns to predict.
        columns: Number of columns of the domain.
        rows: Number of rows to be written; more than 50,000 (`TRAINING_ROWS`) count as 50,000, and so does
            None, for an unknown number.
    """
    values = min(rows or TRAINING_ROWS, TRAINING_ROWS) * columns
    return sum(
        _trees(target) * (_SECONDS_PER_TREE + _PER_VALUE_OF_A_TREE * values) + max(1, _classes(target)) * _PER_COEFFICIENT * values
        for target in targets
    )


def asking_seconds(targets: Sequence[Target], columns: int) -> float:
    """Return the expected seconds of asking the models about a million records on one processor.

    The real number of records is private or not yet counted.

    Args:
        targets: The columns to predict.
        columns: Number of columns of the domain.
    """
    each = sum(_trees(target) * _ASKED_OF_A_TREE + columns * (1 + _classes(target) / 10) * _ASKED_OF_A_COLUMN for target in targets)
    return _A_MILLION * each


def sentence(targets: Sequence[Target], columns: int, rows: int | None) -> str:
    """Return the durations of training and asking in words.

    Args:
        targets: The columns to predict.
        columns: Number of columns of the domain.
        rows: Number of rows to be written; None if unknown.
    """
    training, asking = (in_words(seconds) for seconds in (training_seconds(targets, columns, rows), asking_seconds(targets, columns)))
    return f"To train them takes {training}, to ask them {asking} for each million records"


def in_words(seconds: float) -> str:
    """Return a duration in words: below 90 seconds in whole seconds, at least 1, and otherwise in minutes."""
    return f"about {seconds / 60:,.0f} minutes" if seconds >= _MINUTES_FROM else f"about {max(1.0, seconds):,.0f} s"


def _trees(target: Target) -> int:
    return rounds(_classes(target)) * trees_a_round(_classes(target))


def _classes(target: Target) -> int:
    return target.attribute.size if target.tolerance is None else 0
