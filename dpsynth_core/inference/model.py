"""Graphical models that Private-PGM estimates from noisy marginals (McKenna, Sheldon, Miklau 2019).

One log-potential per maximal clique among the measured ones and the structural zeros; the model is the distribution proportional to the
exponential of their sum, times a total.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference import rows
from dpsynth_core.inference.contraction import Contractor, Labels, Table
from dpsynth_core.inference.marginal_queries import Queries
from dpsynth_core.inference.pairs import Pairs
from dpsynth_core.inference.publishing import kept
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.refinement import refine
from dpsynth_core.inference.structure import Calibration, Structure
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.tally import Tally

REFINED_CELLS = 20_000_000
"""Rows are refined towards marginals of at most this many cells together, the smallest first."""


MANY_PAIRS = 200
"""Number of pairs from which on they are answered together."""
PAIRS_CELLS = 40_000_000
"""Largest number of cells of all pairs of all values of the domain that are answered together: 320 MB."""

FAR, MUCH_WORK = 1e8, 1e9
"""Multiplications from which on a marginal is expensive, and from which on the expensive ones together are counted in drawn rows instead.
"""
DRAWN_CELLS, DRAWN_TIMES, LEAST_TIMES = 40_000_000, 16, 4
"""Largest number of values of these drawn rows (160 MB); how many times the requested rows they are, and must be to serve as a target."""
UNLIKELY = 1e-6
"""Number of rows of a cell in which no drawn row is."""


def labels_of(domain: Domain, clique: Clique) -> Labels:
    """Attribute indices of a clique, ascending (a clique is in domain order)."""
    return tuple(map(domain.position, clique))


def structure_of(domain: Domain, cliques: Iterable[Clique]) -> Structure:
    """Return the shape of a model with potentials for `cliques` and for the domain's structural zeros."""
    zeros = {labels_of(domain, clique): table for clique, table in domain.zeros.items()}
    return Structure([labels_of(domain, clique) for clique in cliques], domain.sizes(domain.names), zeros)


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """A graphical model.

    Attributes:
        folding: The cells of its domain that the structure has; answers and rows are of the whole domain.
        structure: Its cliques and junction tree.
        log_potentials: One table per clique of the structure.
        total: Number of rows (counts).
        contractor: Cache of contractions.
        pace: Final pace of the fit that made it, with which a later fit starts (see `estimation`).
    """

    folding: Folding
    structure: Structure
    log_potentials: tuple[Table, ...]
    total: float
    contractor: Contractor
    pace: float = 1.0

    @property
    def domain(self) -> Domain:
        """The domain of the model's answers, before folding."""
        return self.folding.domain

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The maximal cliques of the junction tree."""
        return tuple(tuple(self.domain.names[a] for a in labels) for labels in self.structure.cliques)

    @functools.cached_property
    def calibration(self) -> Calibration:
        """The clique marginals and messages at the present potentials."""
        return self.structure.calibrate(self.log_potentials)

    @functools.cached_property
    def _queries(self) -> Queries:
        return Queries(self.structure, self.calibration, self.contractor)

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Estimated counts, shape domain.sizes(clique). Any set of attributes is allowed."""
        return self.folding.unfolded(clique, self._folded(clique)) * self.total

    def marginals(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.float64]]:
        """Return estimated counts of many sets of attributes. Many pairs are answered together, which is much faster (`pairs`)."""
        swept = self._swept(cliques)
        if swept is None:
            return {clique: self.marginal(clique) for clique in cliques}
        counts = self.folding.unfolded_pairs(swept.together) * self.total
        counts.flags.writeable = False  # all answers are views of it
        together = _blocks(self.domain, counts, swept.known, cliques)
        return {clique: together[clique] if clique in together else self.marginal(clique) for clique in cliques}

    def _swept(self, cliques: Collection[Clique]) -> Pairs | None:
        """All pairs of the model's cells, where many of these cliques are pairs and all fit."""
        cells = sum(self.domain.sizes(self.domain.names))
        many = sum(len(clique) == 2 for clique in cliques) >= MANY_PAIRS
        return Pairs(self.structure, self._queries) if many and cells**2 <= PAIRS_CELLS else None

    def _folded(self, clique: Clique) -> NDArray[np.float64]:
        """Probabilities of the model's own cells."""
        return self._queries.marginal(labels_of(self.domain, clique))

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n synthetic rows, shape (n, attributes), by randomised rounding along the tree and refinement.

        Single values are changed to bring the rows closer to the model's own answers to `marginals` (weights c_r). Folded cells are
        unfolded last.
        """
        return self.rows_of(self.domain, n, marginals, rng)

    def rows_of(self, columns: Domain, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return rows of the first columns of the model alone; the rows keep the domain's published tables.

        The other columns are drawn with them, and dropped before values are changed, so that they constrain none.
        """
        generated = rows.generate(self.structure, self.calibration.potentials, n, rng)[:, : len(columns)]
        domain = self.folding.model.keep(columns.names)
        marginals = _smallest(domain, marginals)
        swept = self._swept(marginals)
        together = {} if swept is None else _blocks(domain, swept.together, swept.known, marginals)
        far = self._far([clique for clique in marginals if clique not in together])
        if far:
            many = min(DRAWN_TIMES * n, DRAWN_CELLS // len(self.domain))
            drawn = self._drawn(domain, far, many, rng) if many >= LEAST_TIMES * n else {}
            together, marginals = {**together, **drawn}, {c: weight for c, weight in marginals.items() if c in drawn or c not in far}

        def probabilities(clique: Clique) -> NDArray[np.float64]:
            return together[clique] if clique in together else self._folded(clique)

        return kept(columns, self.folding.codes(refined(domain, probabilities, generated, marginals, rng), rng), rng)

    def _far(self, cliques: Iterable[Clique]) -> set[Clique]:
        """Return the cliques whose exact answers would take too long."""
        work = {clique: self._queries.work(labels_of(self.domain, clique)) for clique in cliques}
        far = {clique: flops for clique, flops in work.items() if flops >= FAR}
        return set(far) if sum(far.values()) >= MUCH_WORK else set()

    def _drawn(self, columns: Domain, cliques: Collection[Clique], n: int, rng: np.random.Generator) -> dict[Clique, NDArray[np.float64]]:
        """Return probabilities of the model's own cells, counted in n rows. Cells without a row are unlikely, not impossible."""
        codes = rows.generate(self.structure, self.calibration.potentials, n, rng).T
        tally = Tally(columns, cliques)
        tally.add(dict(zip(columns.names, codes, strict=False)), n)
        return {clique: np.maximum(counts, UNLIKELY) / n for clique, counts in tally.counts().items()}


def _blocks(
    domain: Domain, together: NDArray[np.float64], known: NDArray[np.bool_], cliques: Iterable[Clique]
) -> dict[Clique, NDArray[np.float64]]:
    """Return the tables of the cliques that are known pairs, as views. `together` and `known` are as in `Pairs`, for this domain's cells.
    """
    names = domain.names
    starts = dict(zip(names, itertools.accumulate(domain.sizes(names), initial=0), strict=False))
    place = {name: number for number, name in enumerate(names)}
    ends = {name: starts[name] + domain[name].size for name in names}
    pairs = [clique for clique in cliques if len(clique) == 2]
    return {(a, b): together[starts[a] : ends[a], starts[b] : ends[b]] for a, b in pairs if known[place[a], place[b]]}


def refined(
    domain: Domain,
    probabilities: Callable[[Clique], NDArray[np.float64]],
    codes: NDArray[np.integer],
    marginals: Mapping[Clique, float],
    rng: np.random.Generator,
) -> NDArray[np.integer]:
    """Return rows closer to a model's own answers (`probabilities`) to the smallest of `marginals` (weights c_r)."""
    wanted = _smallest(domain, marginals)
    targets = {labels_of(domain, clique): probabilities(clique) for clique in wanted}
    weights = {labels_of(domain, clique): weight for clique, weight in wanted.items()}
    zeros = {labels_of(domain, clique): table for clique, table in domain.zeros.items()}
    return refine(codes, targets, weights, domain.sizes(domain.names), rng, zeros)


def _smallest(domain: Domain, marginals: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return the marginals with the fewest cells, up to REFINED_CELLS together."""
    ordered = sorted(marginals, key=domain.cells)
    running = itertools.accumulate(map(domain.cells, ordered))
    return {clique: marginals[clique] for clique, cells in zip(ordered, running, strict=True) if cells <= REFINED_CELLS}


def uniform(domain: Domain, total: float) -> GraphicalModel:
    """Every record equally likely."""
    sizes = domain.sizes(domain.names)
    return from_cliques(domain, (), total, Contractor(sizes))


def from_cliques(domain: Domain, cliques: Sequence[Clique], total: float, contractor: Contractor) -> GraphicalModel:
    """Return a model with potentials for these cliques, all zero."""
    structure = structure_of(domain, cliques)
    zeros = tuple(np.zeros([structure.sizes[a] for a in labels]) for labels in structure.cliques)
    return GraphicalModel(Folding(domain), structure, zeros, total, contractor)


@dataclass(frozen=True, eq=False)
class WeightedRecords:
    """Records with weights.

    Attributes:
        domain: The domain.
        codes: Codes, shape (m, attributes of the domain).
        weights: Number of people that each record stands for, not negative, shape (m,).

    Raises:
        ValueError: Shapes or codes are wrong, or the weights have no positive sum.
    """

    domain: Domain
    codes: NDArray[np.integer]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        sizes = self.domain.sizes(self.domain.names)
        if self.codes.ndim != 2 or self.codes.shape[1] != len(sizes) or ((self.codes < 0) | (self.codes >= sizes)).any():
            raise ValueError("a record needs a code within the domain for each attribute")
        if self.weights.shape != (len(self.codes),) or not (self.weights >= 0).all() or not 0 < self.total < np.inf:
            raise ValueError("each record needs a weight, not negative, and together they must be positive")

    @property
    def total(self) -> float:
        """The sum of the weights, a number of people."""
        return float(self.weights.sum())

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the marginal in counts, shape domain.sizes(clique)."""
        return of_codes(self.domain, self.codes, clique, self.weights)

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n rows in random order, shape (n, attributes).

        Every record occurs as often as its share of n, rounded down or up; then single values are changed to bring the rows closer to the
        weighted records' answers to `marginals` (weights c_r).
        """
        codes = rng.permutation(np.repeat(self.codes, rounded(self.weights * (n / self.total), n, rng), axis=0))
        return refined(self.domain, lambda clique: self.marginal(clique) / self.total, codes, marginals, rng)


def rounded(shares: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return whole numbers that add up to n, each its share rounded down or up, with the share as expectation.

    `shares` add up to n. Systematic sampling in random order: the remainders of rounding down are laid end to end, and those over one of
    the marks start, start + 1, ... get one more.
    """
    whole = np.floor(shares)
    over = shares - whole
    order = rng.permutation(np.flatnonzero(over))
    marks = np.cumsum(over[order])
    missing = n - int(whole.sum())
    if len(order):
        marks = np.minimum(marks, missing)
        marks[-1] = missing  # up to rounding it is
    more = np.diff(np.floor(marks + rng.random()), prepend=0.0)
    counts = whole.astype(np.int64)
    counts[order] += more.astype(np.int64)
    return counts
