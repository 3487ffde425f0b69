"""Private-PGM: the distribution that fits noisy marginals best (McKenna, Sheldon, Miklau 2019; AIM paper section 2).

Minimises  sum_i 1/(2 s_i^2) ||M_{r_i}(p) - y_i||_2^2  over distributions p by accelerated mirror descent on the log-potentials, where s_i
is the standard deviation of the noise, rounding included. The weight is 1/s^2, the maximum likelihood one (the AIM paper prints 1/sigma).
Works in fractions of the total inside, counts outside. Where cells are folded (`rare_values`), their measured values are added up, and so
are the variances of their noise.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dpsynth_core.inference.contraction import Contractor, Labels, Table
from dpsynth_core.inference.model import GraphicalModel, labels_of, structure_of
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.structure import Structure
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, project, summed_axes
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement
from dpsynth_core.vocabulary.released import both, combined

GROWTH, MUCH, SLOWEST = 1.1, 1.2, 1e-9
"""How the pace of the descent grows until it first overshoots, from which ratio a loss has risen much, and the pace at which to stop."""
MANY_CELLS, EMPTY = 256, 0.01
"""A column of so many cells starts a fit as it was counted, and a cell that was counted as empty with this share of what it would have if
all cells of the column were alike."""
LEAST_TO_START = 1e-3
"""A pace that fell below this had met potentials that vanish, which says nothing of the next fit: that would end where it starts."""
SWEEPS, EXACT, LEAST_SHARE = 200, 1e-7, 1e-12
"""How often a model is raked to published tables at most, up to which share of the people they hold, and what stands for none of them."""
ROUNDING_ERROR = 1e-9
"""A loss that rises by so small a part of itself has risen by rounding alone: there is nothing below to descend to."""

MISFIT, IMPATIENCE, ROUNDS = 2.0, 1e-3, 3
"""A loss above so many times what noise explains is a misfit. A fit with it ends by slow progress only where progress is this share of
what ends a fit otherwise; and it begins anew with columns that were raked to their counts so often, one after the other."""

DEPTHS = (300.0, 100.0, 30.0, 10.0, 0.0)
"""How far below its largest a log-potential may start where it has to. At 30 a cell has 1e-13 of the likeliest one's probability."""


@dataclass(frozen=True)
class _Term:
    """One measured marginal's part of the loss, 1/2 * sum of weight * (marginal - target)^2, in fractions.

    Attributes:
        clique: Index of the clique of the structure that contains the measured marginal.
        axes: Axes of that clique which are summed to obtain the measured marginal.
        shape: Shape that broadcasts the measured marginal against the clique.
        target: Measured counts divided by the total, one per cell of the measured marginal.
        weight: Inverse variance of each target, shaped like the target or one number for all cells.
    """

    clique: int
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    target: Table
    weight: Table


@dataclass(frozen=True)
class Stopping:
    """The conditions that end a fit. Slow progress does not end a fit whose loss is a misfit (`MISFIT`).

    Attributes:
        iterations: Largest number of iterations.
        noise_level: The fit ends once the loss is at most noise_level * (measured cells) / 2; at
            the true distribution the expected loss is (measured cells) / 2.
        tolerance: The fit ends when `window` iterations lower the loss by a smaller fraction than
            this.
        window: Number of iterations over which progress is measured.
        least: Number of iterations before which neither of these two conditions ends the fit.
        again: How often a fit that ended in a misfit is repeated, each time from potentials raked
            to the measured counts of single columns.
    """

    iterations: int = 1000
    noise_level: float = 0.0
    tolerance: float = 1e-3
    window: int = 10
    least: int = 0
    again: int = 1


def estimate_total(measurements: Sequence[Measurement]) -> float:
    """Return the minimum-variance estimate of the number of rows from noisy marginals, with a fraction; at least 1.

    Raises:
        ValueError: There are no measurements.
    """
    whole = combined(measurements, ())
    if whole is None:
        raise ValueError("without measurements there is no estimate of the number of rows")
    return max(1.0, float(whole.values))


def one_each(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Return one measurement per clique: the minimum-variance mean of all measurements of that clique.

    Cliques come in the order in which they first occur; [] for no measurements.
    """
    groups: dict[Clique, list[Measurement]] = {}
    for m in measurements:
        groups.setdefault(m.clique, []).append(m)
    return [mean for clique, group in groups.items() if (mean := combined(group, clique)) is not None]


def estimate(
    domain: Domain,
    measurements: Sequence[Measurement],
    total: float,
    warm_start: GraphicalModel | None = None,
    stopping: Stopping = Stopping(),
    folding: Folding | None = None,
    known: Sequence[MarginalCounts] = (),
) -> GraphicalModel:
    """Fit a graphical model by Private-PGM, then rake it to the published tables if there are any. Nothing is random.

    In the fit, a published table replaces measurements inside it and weighs as much as the most
    precise other counts. A measured value of a cell that the domain forbids is not used.

    Args:
        domain: The domain, with its structural zeros and published tables.
        measurements: The noisy marginals, in records; without any, the model is uniform.
        total: Number of rows of the model, above 0; it need not be whole.
        warm_start: An earlier model of the same domain and folding, from whose potentials the fit
            starts; None to begin anew.
        stopping: The conditions that end the fit.
        folding: The cells of the domain that the model distinguishes; all cells by default.
        known: Further counts of marginals, with a variance for each cell.
    """
    folding = folding or Folding(domain)
    counts = _with_published(domain, _counts(one_each(measurements), known), total)
    sizes = folding.model.sizes(domain.names)
    structure = structure_of(folding.model, counts)
    if warm_start is not None and warm_start.structure.cliques == structure.cliques:
        structure = warm_start.structure
    contractor = warm_start.contractor if warm_start is not None else Contractor(sizes)
    start = [np.zeros([structure.sizes[a] for a in labels]) for labels in structure.cliques]
    if warm_start is not None:
        for labels, table in zip(warm_start.structure.cliques, warm_start.log_potentials, strict=True):
            home = structure.containing(labels)
            start[home] += expand(table, labels, structure.cliques[home])
    for labels, shares in _shares(folding, counts, _unseen(folding.model, warm_start)).items():
        home = structure.containing(labels)
        start[home] += expand(np.log(shares), labels, structure.cliques[home])
    pace = warm_start.pace if warm_start is not None and warm_start.pace >= LEAST_TO_START else 1.0
    terms = [_term(structure, folding, noisy, total) for noisy in counts.values()]
    fitted, pace = _descend(structure, start, terms, pace, stopping)
    for _ in range(stopping.again if fitted.loss > MISFIT * _noise(terms) else 0):
        raked = _raked(structure, structure.tables(fitted.potentials), _shares(folding, counts, domain.names), ROUNDS)
        anew, pace = _descend(structure, raked, terms, 1.0, stopping)
        fitted = min(fitted, anew, key=lambda point: point.loss)
    potentials = structure.tables(fitted.potentials)
    if domain.published:
        potentials = _raked(structure, potentials, {labels_of(domain, table.columns): table.shares for table in domain.published})
    return GraphicalModel(folding, structure, potentials, total, contractor, pace)


def _counts(measurements: Sequence[Measurement], known: Sequence[MarginalCounts]) -> dict[Clique, MarginalCounts]:
    """Return the counts to fit and their variances, by marginal.

    Where a marginal is both measured and known, each cell is the minimum-variance mean of the two.
    """
    counts = {m.clique: MarginalCounts(m.clique, m.values, np.full(m.values.shape, m.deviation**2)) for m in measurements if m.clique}
    for one in known:
        counts[one.clique] = both(counts[one.clique], one) if one.clique in counts else one
    return counts


def _unseen(model: Domain, warm_start: GraphicalModel | None) -> list[str]:
    """Return the columns with `MANY_CELLS` cells or more on which `warm_start` has no information.

    The fit starts these columns from their measured shares: their cells differ a thousandfold in
    counts and weights, and hundreds of steps from equal cells would hardly change them.
    """
    large = [name for name in model.names if model[name].size >= MANY_CELLS]
    if not large or warm_start is None:
        return large
    started = zip(warm_start.cliques, warm_start.log_potentials, strict=True)
    seen = {name for clique, table in started if table.any() for name in clique}
    return [name for name in large if name not in seen]


def _shares(folding: Folding, counts: Mapping[Clique, MarginalCounts], names: Collection[str]) -> dict[Labels, Table]:
    """Return the one-way marginals of these columns as shares of folded cells, all above 0.

    Args:
        folding: The folding of the domain's cells.
        counts: Counts with variances, by marginal.
        names: The columns. One that no marginal contains is left out of the result.

    Returns:
        By attribute index, the shares from the marginal with the smallest sum of variances.
    """
    shares = {}
    for name in names:
        holding = [one for one in counts.values() if name in one.clique]
        if holding:
            precise = min(holding, key=lambda one: float(one.variances.sum()))
            cells = folding.summed((name,), project(precise.values, precise.clique, (name,)))
            held = np.maximum(cells, EMPTY * max(1.0, float(cells.sum())) / cells.size)
            shares[labels_of(folding.domain, (name,))] = held / held.sum()
    return shares


def _with_published(domain: Domain, counts: Mapping[Clique, MarginalCounts], total: float) -> dict[Clique, MarginalCounts]:
    """Return the counts to fit, in which published tables replace all marginals that lie inside one.

    The cells of a published table, scaled to `total` rows, get the smallest variance of the other
    counts.
    """
    if not domain.published:
        return {**counts}
    others = {clique: one for clique, one in counts.items() if not domain.is_published(clique)}
    least = min((float(one.variances.min()) for one in others.values()), default=1.0)
    tables = ((table.columns, table.shares * total) for table in domain.published)
    return others | {columns: MarginalCounts(columns, people, np.full(people.shape, least)) for columns, people in tables}


def unreachable(domain: Domain) -> float:
    """Return how far the raked model stays from the published tables of a domain, as a share of the people, from 0 to 1.

    It is the total variation distance between a published table and the model raked to all
    published tables, the largest over the tables; 0 without published tables. It is above 0 where published tables
    contradict each other, or the rules about impossible combinations. A model is fitted for it.

    Raises:
        FloatingPointError: The model is too extreme to be computed.
    """
    model = estimate(domain, [], 1.0)
    return max((float(np.abs(model.marginal(one.columns) - one.shares).sum()) / 2 for one in domain.published), default=0.0)


def _raked(
    structure: Structure, potentials: Sequence[Table], shares: Mapping[Labels, Table], sweeps: int = SWEEPS
) -> tuple[Table, ...]:
    """Return log-potentials raked until the model has the wanted marginals (iterative proportional fitting).

    Raking ends once all marginals are nearly right (`EXACT`), after `sweeps` rounds, or before a
    change that would make the model vanish numerically.

    Args:
        structure: The structure of the model.
        potentials: The log-potentials to start from.
        shares: The wanted marginals as shares, by attribute indices.
        sweeps: Largest number of rounds over all marginals.
    """
    good = tables = tuple(np.maximum(table, table.max() - DEPTHS[0]) for table in potentials)
    with suppress(FloatingPointError):
        for _ in range(sweeps):
            off = 0.0
            for labels, wanted in shares.items():
                home = structure.containing(labels)
                clique = structure.cliques[home]
                now = project(structure.calibrate(tables).marginals[home], clique, labels)
                good, off = tables, max(off, float(np.abs(now - wanted).sum()))
                factor = expand(np.log(np.maximum(wanted, LEAST_SHARE) / np.maximum(now, LEAST_SHARE)), labels, clique)
                tables = (*tables[:home], tables[home] + factor, *tables[home + 1 :])
            if off <= EXACT:
                break
        structure.calibrate(tables)
        good = tables
    return good


def _term(structure: Structure, folding: Folding, noisy: MarginalCounts, total: float) -> _Term:
    """Return the part of the loss for noisy counts of one marginal, folded and divided by `total`."""
    measured, values, variances = noisy.clique, noisy.values, noisy.variances
    labels = labels_of(folding.domain, measured)
    home = structure.containing(labels)
    clique = structure.cliques[home]
    axes = summed_axes(clique, labels)
    shape = tuple(structure.sizes[a] if a in labels else 1 for a in clique)
    possible = structure.possible_in(labels)
    counts = folding.summed(measured, values)
    target = counts if possible is None else np.where(possible, counts, 0.0)
    return _Term(home, axes, shape, target / total, total**2 / folding.summed(measured, variances))


@dataclass(frozen=True, eq=False)
class _Point:
    """A point of the descent.

    Attributes:
        potentials: Log-potentials of all cliques, flattened one clique after the other.
        loss: The loss at these potentials.
        gradient: Derivative of the loss with respect to each cell of the clique marginals,
            flattened alike.
    """

    potentials: Table
    loss: float
    gradient: Table


def _evaluate(structure: Structure, potentials: Table, terms: Sequence[_Term]) -> _Point:
    marginals, loss, gradient = structure.calibrate(structure.tables(potentials)).marginals, 0.0, np.zeros(len(potentials))
    slopes = structure.tables(gradient)
    for term in terms:
        marginal = marginals[term.clique]
        residual = (marginal.sum(axis=term.axes) if term.axes else marginal) - term.target
        part = term.weight * residual
        loss += 0.5 * float(part.reshape(-1) @ residual.reshape(-1))
        slopes[term.clique][...] += part.reshape(term.shape)
    return _Point(potentials, loss, gradient)


def _noise(terms: Sequence[_Term]) -> float:
    """Return the expected loss at the true distribution, which noise alone explains: half the cells."""
    return 0.5 * sum(term.target.size for term in terms)


def _flat(tables: Sequence[Table]) -> Table:
    return np.concatenate([table.reshape(-1) for table in tables])


def _started(structure: Structure, start: Sequence[Table], terms: Sequence[_Term]) -> _Point:
    """Return the point at which the descent starts.

    Potentials of a smaller model can be so extreme together that the new model vanishes
    numerically. Then log-potentials further below their table's largest than one of `DEPTHS` are
    raised to that depth; the depth with the smallest loss is used.
    """
    with suppress(FloatingPointError):
        return _evaluate(structure, _flat(start), terms)
    points = []
    for depth in DEPTHS:
        with suppress(FloatingPointError):
            points.append(_evaluate(structure, _flat([np.maximum(table, table.max() - depth) for table in start]), terms))
    return min(points, key=lambda point: point.loss)  # of equal potentials no model vanishes


def _descend(structure: Structure, start: Sequence[Table], terms: Sequence[_Term], pace: float, stopping: Stopping) -> tuple[_Point, float]:
    """Minimise the loss by accelerated mirror descent, with steps of pace / (largest weight) and momentum.

    One calibration per iteration. When the loss rises, the momentum is dropped; when it rises much,
    the pace is halved too. Until the first rise, the pace grows. From a cold start this needs far
    fewer iterations than plain mirror descent with line search.

    Args:
        structure: The structure of the model.
        start: Log-potentials to start from.
        terms: The terms of the loss.
        pace: Step size relative to the largest weight, at first.
        stopping: The conditions that end the descent.

    Returns:
        The point with the smallest loss, and the pace at the end, with which the next fit may
        start.
    """
    enough, misfit = stopping.noise_level * _noise(terms), MISFIT * _noise(terms)
    unit = 1.0 / max((float(t.weight.max()) for t in terms), default=1.0)  # nothing measured: the start fits already
    point = best = _started(structure, start, terms)
    behind, momentum, overshot = point.potentials, 0, False
    history = [point.loss]
    for number in range(stopping.iterations):
        earlier = history[-1 - stopping.window] if len(history) > stopping.window else math.inf
        slow = stopping.tolerance * (1.0 if best.loss <= misfit else IMPATIENCE)
        done = best.loss <= enough or earlier - history[-1] < slow * earlier
        if (done and number >= stopping.least) or pace < SLOWEST:
            break
        ahead = point.potentials - pace * unit * point.gradient
        momentum += 1
        share = momentum / (momentum + 3)
        try:
            trial = _evaluate(structure, ahead + share * (ahead - behind), terms)
        except FloatingPointError:
            trial = None
        if trial is None or trial.loss > point.loss:
            if trial is not None and momentum == 1 and trial.loss <= (1 + ROUNDING_ERROR) * point.loss:
                break
            overshot = True
            if momentum == 1 or trial is None or trial.loss > MUCH * point.loss:
                pace *= 0.5
            momentum, behind = 0, point.potentials
            continue
        point, behind = trial, ahead
        pace *= 1.0 if overshot else GROWTH
        best = min(best, point, key=lambda p: p.loss)
        history.append(best.loss)
    return best, pace
