"""The models: scikit-learn's gradient boosting and linear models, trained on synthetic rows and written down in whole numbers.

The only file that knows scikit-learn, which is loaded when the first model is trained. One thread and a fixed seed: the same rows give
the same model with the same versions on the same kind of processor. Parameters are rounded to 2^-20, so that a difference in the last
digits of a sum on another machine nearly always gives the same model too; whether it did, the model's SHA-256 says.

What models see of a column is a function of its code: a table with one row for each, made from synthetic rows and the domain alone. A
model's output is therefore a function of the code too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.models.targets import Target, ends, models_of
from dpsynth_core.claims.models.training_time import TRAINING_ROWS, rounds
from dpsynth_core.foundation import threads
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.predictors import MAJORITY, Additive, Codes, Decision, Forest, Largest, Predictor, Tree, Within

_DEPTH = 8
_FITTING_STEPS = 300
_FARTHEST = 2.0**30
"""Limit of a guess, in ranges of a column: beyond any guess."""
_SCALE = 2.0**20
"""Steps of a score of 1: of log odds, or of the whole range of a column of numbers."""


MOST_GROUPS = 255
"""Largest number of values of one column that trees distinguish, as scikit-learn's histograms do."""
MOST_INDICATORS = 64
"""Number of values of one column with a coefficient each in a linear model; rarer ones share one."""


@dataclass(frozen=True, eq=False)
class Model:
    """A predictor with its name.

    Attributes:
        name: Name of the model.
        predictor: The predictor.
        guess: The guess of a constant predictor, as text; else "".
    """

    name: str
    predictor: Predictor
    guess: str = ""


@dataclass(frozen=True, eq=False)
class _Lesson:
    """The training data. `answers` are classes, numbered from 0, or numbers from 0 to 1."""

    domain: Domain
    target: Target
    codes: NDArray[np.int32]
    answers: NDArray[Any]
    decision: Decision
    classes: int

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """Indicators of the classes, or the numbers, shape (rows, outputs)."""
        return np.eye(self.classes)[self.answers] if self.classes else self.answers[:, None]

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(name for name in self.domain.names if name != self.target.column)

    def column(self, name: str) -> NDArray[np.int32]:
        return self.codes[:, self.domain.position(name)]


def majority(domain: Domain, codes: NDArray[np.int32], target: Target) -> Model:
    """Return the best constant guess, judged by the synthetic rows, as a model.

    It is the most frequent value, or the number that is near enough most often; of equals the first.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        target: The column to predict.
    """
    counts = np.bincount(codes[:, domain.position(target.column)], minlength=target.attribute.size).astype(np.int64)
    decision: Decision
    if target.tolerance is None:
        start, decision, guess = counts, Largest(np.arange(target.attribute.size)), target.attribute.cell_labels()[int(counts.argmax())]
    else:
        decision = _within(target)
        near = [int(counts[(decision.least <= guess) & (guess <= decision.most)].sum()) for guess in decision.least.tolist()]
        start, (first, last) = decision.least[[int(np.argmax(near))]], ends(target.attribute)
        guess = f"{first[0] + float(start[0]) / _SCALE * _range(first, last):.4g}"
    return Model(MAJORITY, Predictor(target.column, Additive(start, {}), decision), guess)


def trained(domain: Domain, codes: NDArray[np.int32], target: Target) -> tuple[Model, Model]:
    """Return the two models of a column, boosting and linear, trained on synthetic rows.

    Rows without a number are not used if a number is guessed. If the rows have a single value, both models are
    the constant guess. The seed is fixed: equal rows give equal models with the same versions of libraries.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain); the first 50,000 (`TRAINING_ROWS`)
            are used.
        target: The column to predict.
    """
    lesson = _lesson(domain, codes[:TRAINING_ROWS], target)
    boosting, linear = models_of(target.attribute)
    if len(np.unique(lesson.answers)) < 2:  # nothing to tell apart: the guess that looks at nothing
        alone = majority(domain, codes, target).predictor
        return Model(boosting, alone), Model(linear, alone)
    with threads.one_thread():
        return Model(boosting, _boosted(lesson)), Model(linear, _linear(lesson))


def certainties(model: Model, codes: Codes, rows: int) -> NDArray[np.float64]:
    """Return the probability that a model of classes gives to its own guess, for each row, shape (rows,).

    Args:
        model: The model.
        codes: Codes of the rows by column.
        rows: Number of rows.
    """
    scores = model.predictor.scores.of(codes, rows) / _SCALE
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(1 / weights.sum(axis=1))


def _within(target: Target) -> Within:
    """Return the decision whether a score, a number from 0 to 1 over the column's range, is within the tolerance."""
    first, last = ends(target.attribute)
    least, most = ((limit - first[0]) / _range(first, last) for limit in target.least_and_most())
    none = least > most
    least, most = np.where(none, 1.0, np.clip(least, -_FARTHEST, _FARTHEST)), np.where(none, 0.0, np.clip(most, -_FARTHEST, _FARTHEST))
    return Within(_whole(least), _whole(most))


def _range(first: NDArray[np.float64], last: NDArray[np.float64]) -> float:
    return float(last[-1] - first[0]) or 1.0


def _lesson(domain: Domain, codes: NDArray[np.int32], target: Target) -> _Lesson:
    answers = codes[:, domain.position(target.column)]
    if target.tolerance is None:
        present, numbered = np.unique(answers, return_inverse=True)
        return _Lesson(domain, target, codes, numbered, Largest(present.astype(np.int64)), len(present))
    first, last = ends(target.attribute)
    known = answers < len(first)
    middles = ((first + last) / 2 - first[0]) / _range(first, last)
    return _Lesson(domain, target, codes[known], middles[answers[known]], _within(target), 0)


def _boosted(lesson: _Lesson) -> Predictor:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    outcomes = lesson.outcomes
    columns = {name: ranked(lesson.domain[name], lesson.column(name), outcomes) for name in lesson.features}
    seen = np.column_stack([one.ranks[one.groups[lesson.column(name)]] for name, one in columns.items()])
    kind = HistGradientBoostingClassifier if lesson.classes else HistGradientBoostingRegressor
    model = kind(max_iter=rounds(lesson.classes), max_depth=_DEPTH, early_stopping=False, random_state=0).fit(seen, lesson.answers)
    return _forest(lesson, columns, model)


def _forest(lesson: _Lesson, columns: Mapping[str, Ranked], model: Any) -> Predictor:
    """Return scikit-learn's trees as a predictor in whole numbers.

    Args:
        lesson: The training data.
        columns: By name, the columns as the trees see them.
        model: The trained model; its `_predictors` are, for each round, the trees of the classes.
    """
    first = int(lesson.classes == 2)  # of two classes scikit-learn scores the second alone
    start = np.zeros(lesson.classes or 1)
    start[first:] = np.ravel(model._baseline_prediction)
    width = max(len(one.ranks) for one in columns.values())
    trees = [_tree(one.nodes, first + k, list(columns.values()), width) for by_class in model._predictors for k, one in enumerate(by_class)]
    scores = Forest(_whole(start), {name: one.groups for name, one in columns.items()}, trees)
    return Predictor(lesson.target.column, scores, lesson.decision)


def _tree(nodes: NDArray[Any], output: int, columns: Sequence[Ranked], width: int) -> Tree:
    """Return a tree of scikit-learn in whole numbers.

    Args:
        nodes: Scikit-learn's array of records, one per node.
        output: The output that the tree adds to.
        columns: The columns as the trees see them.
        width: Largest number of groups of a column.
    """
    inner = nodes["is_leaf"] == 0
    column = np.where(inner, nodes["feature_idx"], 0).astype(np.int64)
    following = np.tile(np.arange(len(nodes), dtype=np.int64)[:, None], (1, width))
    for node in np.flatnonzero(inner).tolist():
        ranks = columns[column[node]].ranks
        following[node, : len(ranks)] = np.where(ranks <= nodes["num_threshold"][node], nodes["left"][node], nodes["right"][node])
    values = np.where(inner, 0.0, nodes["value"])
    return Tree(output, column, following, _whole(values), int(nodes["depth"].max()))


def _linear(lesson: _Lesson) -> Predictor:
    from scipy.sparse import csr_array, hstack
    from sklearn.linear_model import LogisticRegression, Ridge

    tables = {name: indicators(lesson.domain[name], lesson.column(name)) for name in lesson.features}
    seen = hstack([csr_array(table)[lesson.column(name)] for name, table in tables.items()], format="csr")
    model = (LogisticRegression(max_iter=_FITTING_STEPS) if lesson.classes else Ridge()).fit(seen, lesson.answers)
    first = int(lesson.classes == 2)
    coefficients, start = np.zeros((lesson.classes or 1, seen.shape[1])), np.zeros(lesson.classes or 1)
    coefficients[first:], start[first:] = np.atleast_2d(model.coef_), model.intercept_
    of_columns = np.split(coefficients, np.cumsum([table.shape[1] for table in tables.values()])[:-1], axis=1)
    added = {name: _whole(table @ own.T) for (name, table), own in zip(tables.items(), of_columns, strict=True)}
    return Predictor(lesson.target.column, Additive(_whole(start), added), lesson.decision)


def _whole(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(np.asarray(values) * _SCALE).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Ranked:
    """A column as trees see it: groups of codes, with a number for each group.

    Attributes:
        groups: Group of each code, from 0, shape (size,).
        ranks: Number of each group, with which trees compare, shape (groups,).
    """

    groups: NDArray[np.int64]
    ranks: NDArray[np.float64]


def ranked(attribute: Attribute, codes: NDArray[np.int32], outcomes: NDArray[np.float64]) -> Ranked:
    """Return a column as trees see it.

    Numbers and ordered values are ranked in their order, other values by how the outcomes differ
    between them. Of more than 255 values (`MOST_GROUPS`), neighbours or rare ones share a group.

    Args:
        attribute: The column.
        codes: Its codes, shape (rows,).
        outcomes: Predicted numbers or one indicator per class, shape (rows, outputs).
    """
    if _in_order(attribute):  # neighbours together
        groups = np.arange(attribute.size, dtype=np.int64) * min(MOST_GROUPS, attribute.size) // attribute.size
        return Ranked(groups, np.arange(int(groups.max()) + 1, dtype=np.float64))
    groups = _most_frequent(attribute, codes, MOST_GROUPS)
    number = int(groups.max()) + 1
    weight = np.bincount(groups[codes], minlength=number).astype(np.float64)
    sums = np.stack([np.bincount(groups[codes], weights=column, minlength=number) for column in outcomes.T], axis=1)
    means = np.divide(sums, weight[:, None], out=np.tile(outcomes.mean(axis=0), (number, 1)), where=weight[:, None] > 0)
    differences = means - outcomes.mean(axis=0)
    _, _, directions = np.linalg.svd(differences * np.sqrt(weight)[:, None], full_matrices=False)
    first = directions[0]  # in which the groups' mean outcomes differ most
    order = np.lexsort((np.arange(number), np.asarray(differences @ (first * np.sign(first[np.abs(first).argmax()])))))
    ranks = np.empty(number)
    ranks[order] = np.arange(number)
    return Ranked(groups, ranks)


def indicators(attribute: Attribute, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return a column as linear models see it: the features of each code, shape (size, features).

    They are an indicator for each value (of more than 64, `MOST_INDICATORS`, the rare ones share one) and, for
    ordered values, the rank, from -1 to 1.

    Args:
        attribute: The column.
        codes: Its codes, shape (rows,), from which frequent values are found.
    """
    groups = _most_frequent(attribute, codes, MOST_INDICATORS)
    table = np.eye(int(groups.max()) + 1)[groups]
    if not _in_order(attribute) or attribute.values < 2:
        return table
    place = np.zeros(attribute.size)
    place[: attribute.values] = np.linspace(-1, 1, attribute.values)
    return np.column_stack([table, place])


def _in_order(attribute: Attribute) -> bool:
    return attribute.about.ordered and not attribute.is_coded


def _most_frequent(attribute: Attribute, codes: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    if attribute.size <= most:
        return np.arange(attribute.size, dtype=np.int64)
    often = np.argsort(-np.bincount(codes, minlength=attribute.size), kind="stable")
    groups = np.full(attribute.size, most - 1, dtype=np.int64)
    groups[often[: most - 1]] = np.arange(most - 1)
    return groups
