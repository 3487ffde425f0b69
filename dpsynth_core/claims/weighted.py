"""Survey weights: rows that stand for more or fewer people than others, and how far off their weighted tables are.

One column of the domain holds the weight of each record, from 0 to L, its upper bound; what is above counts as L, and what is below, or
missing, as 0. Weights count in whole steps, of which L has `STEPS` at most. The kernel counts each record as often as its weight has steps
(Proposition 26), so that all that is measured of people can be measured of weighted people. The column itself is one like any other: rows
have values of it.

Half of the share measures the weighted table of each other column. From these follows one more column of the rows, the calibrated weight.
It starts as the mean weight of the row's cell and is raked (Deming and Stephan 1940), within bounds on the factors (Deville and Saerndal
1992), until the rows have the tables that are believed: those that they had, moved towards the measured ones by as much of the difference
as noise does not explain (James and Stein 1961); or public totals that the curator states. That is made of what is released. The other half
measures how far the calibrated rows are off, as a certificate does, in steps of weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from dpsynth_core.claims.certificate import ROWS, Certificate, certify
from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.outcome import Nothing, Open, alike, expect
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.distances import percent
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import Total, known_total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.middles import behind, middles
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.rows import one_table

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
Integers = NDArray[np.int64]
NUMBERS = ("integer", "numeric")
USUAL_SHARE = 0.05
"""Of the budget, where a column is named as the weight and nothing else is said."""
STEPS = 1000
NEAREST = 'let values outside count in the nearest group: "other": "nearest" in the domain'
_CALIBRATING = 0.5
_BY_LUCK = 0.05
"""How often noise alone moves weights: it explains all of a difference but its largest twentieth. With its mean in place of that, half of
the tables that were nearly right were moved, and ended further off (`benchmarks.weights`)."""
_MOST = 4.0
"""Raking makes no weight more than so many times as large, or as small, relative to all others."""
_ROUNDS = 100
_MET, _MET_CLOSELY = 1e-9, 1e-3
_MOST_CELLS = 40_000_000
"""That are held while weighted tables are measured, of eight bytes each."""
_MOST_PEOPLE = 1e12
_DIGITS = 6
_NAMED = 8


class WeightSpec(BaseModel):
    """column: whose numbers are the weights of the records. totals: by column and cell, public totals that the rows' weights are calibrated
    to in place of measured ones."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    column: str = Field(max_length=1000)
    totals: dict[str, dict[str, float]] = Field(default_factory=dict)


@dataclass(frozen=True)
class WeightedTable:
    """Of one column: how much the people in each cell weigh, in steps, as measured."""

    column: str
    measured: tuple[float, ...]


@dataclass(frozen=True)
class Measured:
    """step: of weights. total: of all weights, as the tables say; sigma: noise in a cell of them; both in steps."""

    step: float
    total: Total
    sigma: float
    tables: tuple[WeightedTable, ...]


@dataclass(frozen=True)
class Weighted(Measured):
    """rows: what the calibrated weights add up to. certificate: of the weighted tables of the calibrated rows, one for each other column;
    it counts steps where others count people."""

    rows: float
    certificate: Certificate


def as_weight(domain: Domain, name: str) -> Domain:
    """The domain in whose column of weights those beyond the bounds count as the bound. Raises InputError for a column of no numbers."""
    column = domain[name]
    if column.kind not in NUMBERS:
        raise InputError(column_field(name), "it holds no numbers that could be weights", "name a column of numbers as the weight")
    if column.most:
        raise InputError(column_field(name), "its values are to be learnt", "state its bounds, which follow from the design of the survey")
    clipped = replace(column, other=False, other_as=None, nearest=True)
    return replace(domain, attributes=tuple(clipped if one.name == name else one for one in domain))


def raked(cells: Sequence[Codes], base: Floats, targets: Sequence[Floats]) -> Floats:
    """Weights of rows whose tables are the targets, as near as factors of `_MOST` to either side allow.

    cells: for each table, the cell of each row, shape (rows,). base: the weights to begin with, not below 0. targets: for each table the
    sum of weights in each cell, with the same sum for all. Cells without weighted rows stay empty, and the others have their sum.
    """
    if not base.any():
        return base
    total = float(targets[0].sum())
    base = base * (total / base.sum())
    reached = [np.where(np.bincount(codes, base, len(target)) > 0, target, 0.0) for codes, target in zip(cells, targets, strict=True)]
    reached = [target * (total / target.sum()) if target.any() else target for target in reached]
    weights = base
    for _ in range(_ROUNDS):
        before = weights
        for codes, target in zip(cells, reached, strict=True):
            there = np.bincount(codes, weights, len(target))
            weights = weights * np.divide(target, there, out=np.ones_like(target), where=there > 0)[codes]
        weights = np.clip(weights, base / _MOST, base * _MOST)
        if np.abs(weights - before).max() <= _MET * weights.max():
            break
    return np.asarray(weights * (total / weights.sum()))


def nearest_table(noisy: Floats, total: float) -> Floats:
    """The table without negative cells and with this sum that is nearest in L2 norm (Held, Wolfe and Crowder 1974)."""
    falling = np.sort(noisy)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    return np.maximum(noisy - lowered[np.flatnonzero(falling > lowered)[-1]], 0.0)


def start(column: Attribute, inside: Mapping[str, Inside]) -> Floats:
    """The weight that a row of each cell begins with: the mean of the cell's, and 0 where there is none. Shape (size,)."""
    means = behind(inside[column.name].of(column).means, column) if column.name in inside else middles(column)
    return np.maximum(np.nan_to_num(means), 0.0)


def calibrated(plan: Asked, codes: Codes, inside: Mapping[str, Inside], stated: Measured | None) -> Floats:
    """The weight of each row, shape (rows,). stated: None where nothing was measured; weights are then those that rows begin with."""
    assert plan.weight is not None
    domain, public = plan.domain, plan.weight.totals
    base = start(domain[plan.weight.column], inside)[codes[:, domain.position(plan.weight.column)]]
    if stated is None or not base.any():
        return base.round(_DIGITS)
    sums = {name: np.array([cells[label] for label in domain[name].cell_labels()]) for name, cells in public.items()}
    whole = float(next(iter(sums.values())).sum()) if sums else stated.total.value * stated.step
    cells = {one.column: codes[:, domain.position(one.column)] for one in stated.tables}
    for one in stated.tables:
        rows = np.bincount(cells[one.column], base, domain[one.column].size) * (stated.total.value / base.sum())
        believed = _believed(rows, np.array(one.measured), stated.sigma)
        sums.setdefault(one.column, nearest_table(believed * (whole / stated.total.value), whole))
    return raked([cells[name] for name in sums], base, list(sums.values())).round(_DIGITS)


def _believed(rows: Floats, measured: Floats, sigma: float) -> Floats:
    """Between what the rows have and what was measured with noise sigma: see the module."""
    apart = measured - rows
    explained = float(scipy.special.chdtri(len(rows), _BY_LUCK)) * sigma**2
    return rows + apart * max(0.0, 1 - explained / max(float(apart @ apart), explained))


def _in_steps(column: Attribute) -> tuple[Attribute, Integers, float]:
    """A column of weights in cells of one step each, how many steps the weights of a cell are, and the step."""
    low, end = column.edges[0], column.edges[-1]
    largest = end - column.scale.whole
    step = 1.0 if column.scale.whole and largest <= STEPS else largest / STEPS
    between = (np.arange(STEPS) + 0.5) * step
    edges = np.union1d([low, end], np.ceil(between) if column.scale.whole else between)
    cells = replace(column, edges=tuple(edges[(low <= edges) & (edges <= end)].tolist()))
    return cells, np.rint(np.nan_to_num(middles(cells)) / step).astype(np.int64), step


def measure(plan: Asked, kernel: SealedKernel, codes: Codes, inside: Mapping[str, Inside]) -> Weighted:
    """Spend all that the kernel has left."""
    assert plan.weight is not None
    column, times, step = _in_steps(plan.domain[plan.weight.column])
    others = [(one.name,) for one in plan.domain if one.name != column.name]
    weighted = kernel.over(Domain(tuple(column if one.name == column.name else one for one in plan.domain))).weighted(column.name, times)
    weighted.prepare(others)
    sigma = weighted.unit.marginal_l2 * math.sqrt(len(others) / (2 * _CALIBRATING * kernel.rho_left))
    tables = [weighted.measure_marginal(clique, sigma) for clique in others]
    total = known_total(tables, None)
    assert total is not None
    measured = Measured(step, total, sigma, tuple(WeightedTable(one.clique[0], tuple(one.values.ravel().tolist())) for one in tables))
    weights = calibrated(plan, codes, inside, measured)
    certificate = certify(weighted, shares(plan, codes, weights), total, ROWS)
    return Weighted(**vars(measured), rows=float(weights.sum()), certificate=certificate)


def shares(plan: Asked, codes: Codes, weights: Floats) -> dict[Clique, Floats]:
    """The weighted table of each other column, as shares of all weights; even ones where no row has a weight."""
    assert plan.weight is not None
    even = weights if weights.any() else np.ones_like(weights)
    others = [one for one in plan.domain if one.name != plan.weight.column]
    return {(one.name,): np.bincount(codes[:, plan.domain.position(one.name)], even, one.size) / even.sum() for one in others}


class WeightsMeasured(Claim[Weighted]):
    """How far the weighted tables of the rows are from the people's."""

    name = part = noun = "weighted"
    share = BudgetShare(default=0.0, least=0.001, most=0.4, otherwise="name no column as the weight")
    purpose = "measuring weighted tables"
    announced = "measuring weighted tables"
    unmeasured = "The run was interrupted before weighted tables were measured: the weights of the rows are not calibrated."
    question = "Do weighted tables and weights follow?"
    title = "How far off are weighted tables?"
    reading = (
        "Each row counts as its calibrated weight. Weighted tables of single columns were measured with noise, on a share of the budget "
        "of its own, and the weights of the rows were calibrated to them. Then the share of the weighted people in a wrong cell "
        "was measured. Each bound holds with 95% confidence, by itself. Of weighted tables of several columns nothing was measured."
    )
    form = TypeAdapter(Weighted | None)

    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        return document.get("weight") is not None and mechanism.card.makes_rows

    def check(self, plan: Asked) -> None:
        if (weight := plan.weight) is None:
            return
        if not self.asked(plan):
            remedy = f"state a share, such as {USUAL_SHARE:g}, and a mechanism that makes rows; or name no weight"
            problem = "a column is named as the weight, and no share of the budget measures its tables"
            raise InputError(f"budget.{self.name}", problem, remedy)
        check(plan.domain, weight)

    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Weighted | None:  # type: ignore[override]
        codes = one_table(final.released.codes)
        return None if codes is None else measure(plan, kernel, codes, final.inside)

    def answers(self, plan: Asked, stated: Weighted | None) -> int:  # noqa: ARG002
        """The tables, their errors and the largest of these; and those of groups, where there are some."""
        return 0 if stated is None else len(stated.tables) + 2 + len(stated.certificate.most)

    def follows(self, received: Received, stated: Weighted | None) -> str:
        if stated is None:
            excused = received.interrupted or received.branded(self.brand)
            expect(excused or not self.asked(received.plan), "the plan asks for them, and they are missing")
            raise Nothing("no weighted tables were measured")
        again = self.again(received, stated)
        if again is None or not alike(asdict(again), asdict(stated)):
            expect(received.other_versions, "they are not what was measured, or not of these rows")
            raise Open("whether they follow is seen where the versions are those that it names")
        return f"the weighted tables of {len(stated.tables):,} columns and the weights of the rows follow from what was measured"

    def sentences(self, plan: Asked, stated: Weighted | None, final: Final) -> list[str]:
        if stated is None:
            return []
        column, reach = plan.domain[plan.weight.column], normal(0.975) * stated.step * stated.total.sigma
        made = stated.step * stated.total.value
        said = [
            f"The calibrated weights of the rows add up to {stated.rows:,.0f}, and those of the people to {made:,.0f} as measured,"
            f" ± {reach:,.0f} with 95% confidence. Weights above {column.edges[-1] - column.scale.whole:g} count as that,"
            f" smaller than 0 and missing ones as 0, and each in whole steps of {stated.step:g}."
        ]
        if public := list(plan.weight.totals):
            off = max(_missed(plan, final, stated).values())
            how = f"they are off by {percent(off)} of the people at most" if off >= _MET_CLOSELY else "they meet them"
            said.append(f"The rows were calibrated to public totals of {', '.join(public)}, as the curator stated them: {how}.")
        if stated.certificate.says_nothing:
            return [*said, "Noise hides how far weighted tables are off: nothing is known of their errors."]
        worst = sorted(stated.certificate.marginals, key=lambda one: -one.bound95)
        named = [f"{one.attributes[0]} {percent(one.likely)}, {percent(one.bound95)} at most" for one in worst[:_NAMED]]
        more = f"; less in the {len(worst) - _NAMED:,} others" if len(worst) > _NAMED else ""
        return [*said, f"Weighted people in a wrong cell of a column, with 95% confidence each: {'; '.join(named)}{more}."]


def _missed(plan: Asked, final: Final, stated: Measured) -> dict[str, float]:
    """How far the rows are from each column's public totals: the largest difference of a cell, as a share of all people."""
    assert plan.weight is not None
    codes = one_table(final.released.codes)
    assert codes is not None
    weights, missed = calibrated(plan, codes, final.inside, stated), {}
    for name, cells in plan.weight.totals.items():
        wanted = np.array([cells[label] for label in plan.domain[name].cell_labels()])
        made = np.bincount(codes[:, plan.domain.position(name)], weights, len(wanted))
        missed[name] = float(np.abs(made - wanted).max() / wanted.sum())
    return missed


def assumed(plan: Asked) -> str:
    """What nobody can check of a weight, as a sentence; "" where there is none."""
    return "" if plan.weight is None else f"The weight “{plan.weight.column}” of a record depends on it alone, as a design weight does."


def check(domain: Domain, weight: WeightSpec) -> None:
    """Raises InputError for a column that cannot be the weight, and for totals that do not go with the domain."""
    column = domain[weight.column]
    if as_weight(domain, weight.column)[weight.column] != column:
        raise InputError(column_field(column.name), "weights beyond its bounds do not count as the bound", NEAREST)
    if column.lower != 0 or column.upper <= 0 or column.missing_as is not None:
        problem = "weights begin at 0, as which smaller and missing ones count"
        raise InputError(column_field(column.name), problem, "give it a lower bound of 0, and a cell for missing ones or none")
    if len(domain) == 1:
        raise InputError("weight.column", "the domain has no other column", "name a column whose weighted table is to be measured")
    if (cells := _in_steps(column)[0].size * sum(one.size for one in domain if one is not column)) > _MOST_CELLS:
        problem = f"the other columns by steps of the weight have {cells:,} cells, and {_MOST_CELLS:,} can be counted"
        raise CapacityError("weight.column", problem, "group values of columns, or leave columns out")
    _check_totals(domain, weight)


def _check_totals(domain: Domain, weight: WeightSpec) -> None:
    """That public totals name every cell of columns, and agree on their sum."""
    sums = dict[str, float]()
    for name, cells in weight.totals.items():
        field = f"weight.totals, {column_field(name)}"
        column = domain[name]
        if name == weight.column or column.most:
            raise InputError(field, "it has no totals: it is the weight, or its values are to be learnt", "leave it out")
        labels = column.cell_labels()
        wrong = next((label for label in (*cells, *labels) if label not in labels or label not in cells), None)
        if wrong is not None:
            remedy = f"give a total for each of {', '.join(labels[:_NAMED])}"
            raise InputError(field, f"{shown(wrong)} is not in the totals, or is no cell", remedy)
        if not 0 <= min(cells.values()) <= max(cells.values()) <= _MOST_PEOPLE or not any(cells.values()):
            raise InputError(field, f"a total is not between 0 and {_MOST_PEOPLE:.0e}, or all are 0", "give numbers of people")
        sums[name] = math.fsum(cells.values())
    if sums and max(sums.values()) - min(sums.values()) > 1e-6 * max(sums.values()):
        problem = "the totals of different columns add up to different numbers of people"
        raise InputError("weight.totals", problem, "give totals of the same people")


WEIGHTED = WeightsMeasured()
