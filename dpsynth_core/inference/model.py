"""Graphical models that Private-PGM estimates from noisy marginals (McKenna, Sheldon, Miklau 2019).

One log-potential per maximal clique among the measured ones and the structural zeros; the model is the distribution proportional to the
exponential of their sum, times a total.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference import rows
from dpsynth_core.inference.contraction import Contractor, Labels, Table
from dpsynth_core.inference.marginal_queries import Queries
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.refinement import refine
from dpsynth_core.inference.structure import Calibration, Structure
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.tally import Tally

if TYPE_CHECKING:
    from dpsynth_core.inference.pairs import Pairs

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
    """Return the indices of a clique's attributes in the domain, from 0, in the order of the clique.

    Raises:
        InputError: A name is not in the domain.
    """
    return tuple(map(domain.position, clique))


def structure_of(domain: Domain, cliques: Iterable[Clique]) -> Structure:
    """Return the structure of a model: its cliques, junction tree and program, without any potentials.

    Args:
        domain: The domain; the cliques of its structural zeros become cliques of the model too.
        cliques: The cliques that are to have potentials.
    """
    zeros = {labels_of(domain, clique): table for clique, table in domain.zeros.items()}
    return Structure([labels_of(domain, clique) for clique in cliques], domain.sizes(domain.names), zeros)


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """A graphical model: probabilities proportional to the exponential of the sum of log-potentials.

    Attributes:
        folding: Maps the cells of the domain to the fewer cells that the structure distinguishes;
            answers and rows are over the cells of the domain.
        structure: The model's cliques and junction tree.
        log_potentials: One table per clique of the structure, over folded cells.
        total: Number of rows, by which probabilities are multiplied to become counts.
        contractor: Cache of plans for contractions, which later models may share.
        pace: Step size, relative to the largest weight, at which the model's fit ended; a fit with
            a warm start from this model begins with it (see `estimation`).
    """

    folding: Folding
    structure: Structure
    log_potentials: tuple[Table, ...]
    total: float
    contractor: Contractor
    pace: float = 1.0

    @property
    def domain(self) -> Domain:
        """The domain of the model's answers and rows, whose cells are not folded."""
        return self.folding.domain

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The maximal cliques that have potentials, as names of attributes; a node of the tree may be larger."""
        return tuple(tuple(self.domain.names[a] for a in labels) for labels in self.structure.cliques)

    @functools.cached_property
    def calibration(self) -> Calibration:
        """The clique marginals and messages that follow from the log-potentials, computed once.

        Raises:
            FloatingPointError: The log-potentials are too extreme to be computed with.
        """
        return self.structure.calibrate(self.log_potentials)

    @functools.cached_property
    def _queries(self) -> Queries:
        return Queries(self.structure, self.calibration, self.contractor)

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the model's marginal over any set of attributes, as estimated counts of rows.

        Args:
            clique: Attributes in domain order; they need not lie in one clique of the model.

        Returns:
            Array of shape domain.sizes(clique), which sums to `total`.

        Raises:
            InputError: A name is not in the domain.
            FloatingPointError: The log-potentials are too extreme to be computed with.
        """
        return self.folding.unfolded(clique, self._folded(clique)) * self.total

    def marginals(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.float64]]:
        """Return the model's marginals over many sets of attributes, as estimated counts of rows.

        From 200 pairs on (`MANY_PAIRS`), if the domain has at most 6,324 values in all columns, the pairs are computed in
        one sweep (`pairs`), which is much faster.

        Args:
            cliques: The sets of attributes, each in domain order.

        Returns:
            The counts by clique, shape domain.sizes(clique); counts of pairs from the sweep are
            read-only views.
        """
        swept = self._swept(cliques)
        if swept is None:
            return {clique: self.marginal(clique) for clique in cliques}
        counts = self.folding.unfolded_pairs(swept.together) * self.total
        counts.flags.writeable = False  # all answers are views of it
        together = _blocks(self.domain, counts, swept.known, cliques)
        return {clique: together[clique] if clique in together else self.marginal(clique) for clique in cliques}

    def _swept(self, cliques: Collection[Clique]) -> Pairs | None:
        """Return probabilities of all pairs of folded cells, computed in one sweep over the junction tree.

        Returns:
            None if fewer than `MANY_PAIRS` of the cliques are pairs, or the matrix would exceed
            `PAIRS_CELLS`.
        """
        cells = sum(self.domain.sizes(self.domain.names))
        many = sum(len(clique) == 2 for clique in cliques) >= MANY_PAIRS
        if not many or cells**2 > PAIRS_CELLS:
            return None
        from dpsynth_core.inference.pairs import Pairs  # loaded for many pairs alone

        return Pairs(self.structure, self._queries)

    def _folded(self, clique: Clique) -> NDArray[np.float64]:
        """Return the model's marginal over `clique` as probabilities of folded cells."""
        return self._queries.marginal(labels_of(self.domain, clique))

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n synthetic rows, shape (n, attributes), in the narrowest integer type.

        Rows are drawn along the tree by randomised rounding. Then single values are changed to
        bring the rows' marginals closer to the model's own, and folded cells are replaced by cells
        of the domain. Rows match the domain's published tables up to rounding, where rules allow it.

        Args:
            n: Number of rows.
            marginals: The marginals that rows are refined towards, with their weights c_r (see `refinement`). Only the
                smallest ones are used, up to 20 million cells together (`REFINED_CELLS`). Those that are expensive to
                compute are estimated from drawn rows, or are not used.
            rng: Source of randomness; the same state gives the same rows.
        """
        return self.rows_of(self.domain, n, marginals, rng)

    def rows_of(self, columns: Domain, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n synthetic rows with the first columns of the model alone, shape (n, len(columns)).

        The other columns are drawn with them, and dropped before refinement, so that refinement
        need not keep them consistent. The rows match the published tables of `columns` up to rounding, where rules allow it.

        Args:
            columns: A domain of the first attributes of the model's domain.
            n: Number of rows.
            marginals: The marginals that rows are refined towards, with their weights c_r (see `refinement`). Only the
                smallest ones are used, up to 20 million cells together (`REFINED_CELLS`). Those that are expensive to
                compute are estimated from drawn rows, or are not used.
            rng: Source of randomness; the same state gives the same rows.
        """
        generated = self._generated(n, rng)[:, : len(columns)]
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

        codes = self.folding.codes(refined(domain, probabilities, generated, marginals, rng), rng)
        if not columns.published:
            return codes
        from dpsynth_core.inference.publishing import matched_to_published  # loaded for published tables alone

        return matched_to_published(columns, codes, rng)

    def _generated(self, n: int, rng: np.random.Generator) -> NDArray[np.integer]:
        return rows.generate(self.structure, self.calibration.potentials, n, rng, self.calibration.arithmetic)

    def _far(self, cliques: Iterable[Clique]) -> set[Clique]:
        """Return the cliques whose exact marginals are too expensive: each takes `FAR` multiplications or more.

        The result is empty if all these marginals together take fewer than `MUCH_WORK`
        multiplications.
        """
        work = {clique: self._queries.work(labels_of(self.domain, clique)) for clique in cliques}
        far = {clique: flops for clique, flops in work.items() if flops >= FAR}
        return set(far) if sum(far.values()) >= MUCH_WORK else set()

    def _drawn(self, columns: Domain, cliques: Collection[Clique], n: int, rng: np.random.Generator) -> dict[Clique, NDArray[np.float64]]:
        """Estimate marginals by counting n rows drawn from the model, where exact answers are too expensive.

        Args:
            columns: Folded domain of the first attributes of the model.
            cliques: The marginals to estimate.
            n: Number of rows that are drawn.
            rng: Source of randomness.

        Returns:
            Probabilities of folded cells by clique. A cell without a drawn row gets UNLIKELY / n
            and not 0, because refinement never enters a cell of probability 0.
        """
        codes = self._generated(n, rng).T
        tally = Tally(columns, cliques)
        tally.add(dict(zip(columns.names, codes, strict=False)), n)
        return {clique: np.maximum(counts, UNLIKELY) / n for clique, counts in tally.counts().items()}


def _blocks(
    domain: Domain, together: NDArray[np.float64], known: NDArray[np.bool_], cliques: Iterable[Clique]
) -> dict[Clique, NDArray[np.float64]]:
    """Return the marginals of those cliques that are known pairs, as views of the matrix `together`.

    Args:
        domain: The domain whose cells the matrix has, in order.
        together: A value for each pair of cells, shape (cells of all attributes,) * 2, as in
            `Pairs`.
        known: Whether the matrix is filled in for a pair of attributes, shape (attributes,
            attributes).
        cliques: The cliques; other than known pairs are left out of the result.
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
    """Return a copy of rows with single values changed, so that their marginals are closer to a model's marginals.

    The weighted sum of the marginals' losses (`refinement`) never rises; a single marginal may get worse. Only the
    marginals with the fewest cells, up to 20 million together (`REFINED_CELLS`), count in it. No row is moved into a cell
    that the model or the domain calls impossible.

    Args:
        domain: The domain of the rows.
        probabilities: Returns the model's marginal over a clique, as probabilities.
        codes: The rows, shape (rows, attributes).
        marginals: The weight c_r of each marginal in the sum.
        rng: Source of randomness.
    """
    wanted = _smallest(domain, marginals)
    targets = {labels_of(domain, clique): probabilities(clique) for clique in wanted}
    weights = {labels_of(domain, clique): weight for clique, weight in wanted.items()}
    zeros = {labels_of(domain, clique): table for clique, table in domain.zeros.items()}
    return refine(codes, targets, weights, domain.sizes(domain.names), rng, zeros)


def _smallest(domain: Domain, marginals: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return the marginals with the fewest cells, up to `REFINED_CELLS` cells together, with their weights."""
    ordered = sorted(marginals, key=domain.cells)
    running = itertools.accumulate(map(domain.cells, ordered))
    return {clique: marginals[clique] for clique, cells in zip(ordered, running, strict=True) if cells <= REFINED_CELLS}


def uniform(domain: Domain, total: float) -> GraphicalModel:
    """Return a model of `total` rows in which every record is equally likely, except that structural zeros are impossible."""
    sizes = domain.sizes(domain.names)
    return from_cliques(domain, (), total, Contractor(sizes))


def from_cliques(domain: Domain, cliques: Sequence[Clique], total: float, contractor: Contractor) -> GraphicalModel:
    """Return a model whose cliques have log-potentials of zero: the uniform distribution until it is fitted.

    Args:
        domain: The domain; no cells are folded.
        cliques: The cliques that have potentials.
        total: Number of rows.
        contractor: Cache of plans for contractions.
    """
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
        """The sum of the weights: a number of people."""
        return float(self.weights.sum())

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the weighted marginal over `clique`: numbers of people, shape domain.sizes(clique)."""
        return of_codes(self.domain, self.codes, clique, self.weights)

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n synthetic rows in random order, shape (n, attributes).

        Every record is repeated as often as its share of the weights times n, rounded down or up at
        random. Then single values are changed to bring the rows closer to the weighted records'
        marginals.

        Args:
            n: Number of rows.
            marginals: The marginals that rows are refined towards, with their weights c_r (see `refinement`). Only the
                smallest ones are used, up to 20 million cells together (`REFINED_CELLS`).
            rng: Source of randomness.
        """
        codes = rng.permutation(np.repeat(self.codes, rounded(self.weights * (n / self.total), n, rng), axis=0))
        return refined(self.domain, lambda clique: self.marginal(clique) / self.total, codes, marginals, rng)


def rounded(shares: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return whole numbers with sum n, each a share rounded down or up at random, unbiased.

    This is systematic sampling in random order: the fractional parts are laid end to end on a line,
    and a share is rounded up if its fractional part covers one of the marks start, start + 1, ...

    Args:
        shares: Numbers of 0 or more with sum n, shape (shares,).
        n: The sum.
        rng: Source of randomness.
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
