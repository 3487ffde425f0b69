"""The accuracy of models trained on synthetic rows and of models trained on real ones, on held-out real records.

Records are split at random, not by person: a person with several records may have some in each
half.

The comparison is for the curator's eyes: `evaluation.truth` gives the records, and the results are
exact and curator-only. What is published about models is measured in `usefulness`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.claims.models import training
from dpsynth_core.claims.models.targets import Target
from dpsynth_core.claims.models.training import Model
from dpsynth_core.claims.models.training_time import TRAINING_ROWS
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.predictors import CHUNK_ROWS

MOST_RECORDS = 2 * TRAINING_ROWS
"""Records that are looked at: half of them to train on."""
FEWEST_RECORDS = 20
SYNTHETIC, REAL = "Trained on synthetic rows", "Trained on real rows"
_CLASSES = 10
"""Of certainties, each as wide as the others."""


@dataclass(frozen=True, eq=False)
class BesideReal:
    """The accuracy of models trained on synthetic and on real rows, on the same held-out real records.

    Each frame has the columns model (its name) and trained (SYNTHETIC or REAL). Shares are fractions.

    Attributes:
        held_out: Number of records that were held out.
        trained_on: Number of real records that the models of real rows were trained on.
        right: The column share: the share of the held-out records that each model predicts rightly.
        by_value: The columns value, position, people and share: number of held-out records with
            each value of a column, and their share predicted rightly. Values that no held-out record
            has are left out.
        calibration: The columns certainty, people and share: held-out records grouped by the
            predicted probability of the model's own guess, with the mean probability, and the share
            predicted rightly. Empty for numeric targets.
    """

    held_out: int
    trained_on: int
    right: pd.DataFrame
    by_value: pd.DataFrame
    calibration: pd.DataFrame


def compared(domain: Domain, synthetic: NDArray[np.int32], records: NDArray[np.int32], target: Target, column: str) -> BesideReal | None:
    """Compare models trained on synthetic and on real rows on held-out real records.

    The first half of `records` trains, the second half is held out. At most 50,000 rows train a model.

    Args:
        domain: The columns.
        synthetic: Codes of the synthetic rows, (rows, columns).
        records: Codes of the real records in random order, (records, columns).
        target: The column to predict.
        column: The column by whose values results are divided.

    Returns:
        The comparison, or None if there are fewer than 20 records (`FEWEST_RECORDS`).
    """
    if len(records) < FEWEST_RECORDS:
        return None
    known, held_out = np.array_split(records, 2)
    by_rows = {SYNTHETIC: training.trained(domain, synthetic, target), REAL: training.trained(domain, known, target)}
    models = [(one, trained) for trained, both in by_rows.items() for one in both]
    codes, labels = held_out[:, domain.position(column)], domain[column].cell_labels()
    values: dict[str, Sequence[object]] = {"value": list(labels), "position": list(range(len(labels)))}
    asked = [(one.name, trained, *_asked(domain, one, held_out, target)) for one, trained in models]
    return BesideReal(
        len(held_out),
        len(known[:TRAINING_ROWS]),
        pd.DataFrame([{"model": name, "trained": trained, "share": float(right.mean())} for name, trained, right, _ in asked]),
        pd.concat([_shares(codes, right, len(labels), values).assign(model=name, trained=trained) for name, trained, right, _ in asked]),
        pd.concat([_calibration(sure, right).assign(model=name, trained=trained) for name, trained, right, sure in asked]),
    )


def _asked(domain: Domain, model: Model, people: NDArray[np.int32], target: Target) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
    """Return, for each held-out record, whether a model predicts it rightly, and the guess's probability.

    Both have shape (records,). The probability is the model's own; it is None for numeric targets.
    """
    parts = [people[start : start + CHUNK_ROWS] for start in range(0, len(people), CHUNK_ROWS)]
    chunks = [{name: codes[:, place] for place, name in enumerate(domain.names)} for codes in parts]
    rows = list(map(len, parts))
    right = [model.predictor.right(chunk, number) for chunk, number in zip(chunks, rows, strict=True)]
    if target.tolerance is not None:
        return np.concatenate(right), None
    sure = [training.certainties(model, chunk, number) for chunk, number in zip(chunks, rows, strict=True)]
    return np.concatenate(right), np.concatenate(sure)


def _calibration(sure: NDArray[np.float64] | None, right: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the share of right predictions by class of certainty, in `_CLASSES` classes of equal width.

    The frame has the columns certainty (mean of the class), people and share; it is empty if `sure`
    is None.

    Args:
        sure: The certainty of each prediction, (records,), or None.
        right: Whether each prediction is right, (records,).
    """
    if sure is None:
        return pd.DataFrame({"certainty": [], "share": [], "people": []})
    classes = np.minimum((sure * _CLASSES).astype(np.int64), _CLASSES - 1)
    sums = np.bincount(classes, weights=sure, minlength=_CLASSES)
    means = sums / np.maximum(1, np.bincount(classes, minlength=_CLASSES))
    return _shares(classes, right, _CLASSES, {"certainty": means.tolist()})


def _shares(groups: NDArray[np.integer], right: NDArray[np.bool_], size: int, about: dict[str, Sequence[object]]) -> pd.DataFrame:
    """Return, for each group with people, their number ("people") and the share with a right prediction ("share").

    Args:
        groups: The group of each record, numbered from 0, (records,).
        right: Whether each prediction is right, (records,).
        size: Number of groups.
        about: Further columns of the frame, one entry per group.
    """
    people, hits = np.bincount(groups, minlength=size), np.bincount(groups, weights=right, minlength=size)
    frame = pd.DataFrame({**about, "people": people, "share": hits / np.maximum(1, people)})
    return frame[people > 0]
