"""GEM: generative networks with the exponential mechanism, in the variant that asks for a whole marginal per round.

Source: Liu, Vietri, Wu 2021, "Iterative Methods for Private Synthetic Data: Unifying Framework and New Methods".

A network turns fixed random inputs into distributions over the values of each column; its answers are means of their products. Each of T
rounds selects the marginal that it answers worst, measures it, and trains the network on all measurements so far. No model has to hold the
chosen marginals, so that any marginal can be measured; unmeasured ones are the network's extrapolation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from dpsynth_core.extensions.research.inference.generator import network
from dpsynth_core.extensions.research.inference.generator.network import LargestGaps, Misfits, Parameters, WeightedSquares, answering, train
from dpsynth_core.extensions.research.inference.relaxed.losses import Sum, impossible
from dpsynth_core.extensions.research.inference.relaxed.onehot import Columns, OneHot
from dpsynth_core.extensions.research.inference.relaxed.relaxed_table import RelaxedTable
from dpsynth_core.foundation import threads
from dpsynth_core.inference.smoothing import smooth_columns
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.graphical.models import COLUMNS_SMOOTHED
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, COUNTING, SINGLE, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.steps import Finish, Finished, Fitted, Step, Unmoved, as_it_is
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.workload import Workload

FIRST_STEPS, LAST_STEPS = 200, 100
"""Steps of the training to the columns, and of the last training, which fits the network to all rounds."""
ROUNDS_PER_COLUMN = 4
_HIDDEN_LAYERS = 2
_SECONDS_PER_PRODUCT, _SECONDS_PER_MARGINAL, _SECONDS_PER_CELL, _BYTES_PER_CELL = 5e-11, 3e-5, 1e-8, 30

_WHOLE = "A round asks for a whole table, as in the authors' later program and in the AIM paper; the paper's GEM asks for one count."
_KEPT = (
    "Where the number of people is secret and no column says it, it is measured for 1% of the budget; the paper takes it as known.",
    "The copies of a relaxed row share out its values; the program draws each copy by itself.",
)
Candidates = Callable[[Workload, Collection[Measurement]], Mapping[Clique, float]]
"""Returns the candidates of a workload after some measurements, with the weights of their scores."""


def below_workload(workload: Workload, _measured: Collection[Measurement]) -> Mapping[Clique, float]:
    """Return the downward closure of the workload with AIM's weights, by clique, as candidates of a round.

    A measured marginal stays a candidate and can be measured again.
    """
    return workload.aim_weights()


def not_yet_measured(workload: Workload, measured: Collection[Measurement]) -> Mapping[Clique, float]:
    """Return the workload's unmeasured marginals, by clique with the weight 1 each, as candidates of a round.

    Once every marginal of the workload was measured, all are candidates again.
    """
    before = {m.clique for m in measured}
    return dict.fromkeys([clique for clique in workload.cliques if clique not in before] or workload.cliques, 1.0)


@dataclass(frozen=True)
class Rules:
    """The fixed rules of GEM.

    Attributes:
        candidates: Candidates of a round, with the weights of their scores.
        noise: Factor of a marginal's expected noise that is subtracted from its score.
        misfit: Loss of the training.
        last_steps: Steps of the last training.
        averaging: Weight of the running mean of the second half's networks in each round; 0 for no mean.
        finish: Finish of the rows.
    """

    candidates: Candidates = below_workload
    noise: float = 1.0
    misfit: Misfits = WeightedSquares
    last_steps: int = LAST_STEPS
    averaging: float = 0.0
    finish: Finish = as_it_is


@dataclass(frozen=True)
class Gem:
    """GEM, which selects and measures a whole marginal in each round, and trains a generator network on all measurements so far."""

    card: Card = Card(
        "gem", "GEM", GDP,
        summary=(
            "Trains a small neural network to answer like your table: asks, round by round, for the table that it answers worst. No limit "
            "on which tables fit together; for comparison with models of other kinds."
        ),
        paper="Liu, Vietri, Wu: Iterative Methods for Private Synthetic Data: Unifying Framework and New Methods (NeurIPS 2021)",
        privacy=(
            "Measures each column with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2)); then every round selects one marginal "
            "with the exponential mechanism (rho = pi eps^2/16) and measures it likewise. The network is trained on released answers "
            "only. The rounds compose adaptively under Gaussian differential privacy."
        ),
        differences=(
            _WHOLE,
            "Columns are measured first, for 0.15 of the budget, and the network starts near them; the paper's starts at random.",
            f"{COLUMNS_SMOOTHED} At epsilon 0.1 and 1 it errs 13 and 5% less on 2,000 people, 13% on a column of 500 values.",
            "Nine tenths of a round measure and a tenth selects; the authors' program halves its budget.",
            "Rounds choose by AIM's scores, also among the tables below yours, and may measure a table again; the program does not.",
            "Four rounds for each column; the program has 50, and the paper tunes them on the private table.",
            "The network has 16 inputs and 64 units a layer, and 250 relaxed rows; in the program 256, 256 and 1,000.",
            "Training makes squared errors over variances small, with steps of 0.002; the program the largest errors alone, with 0.0001.",
            "The last network is published, after 100 steps more; the paper takes a running mean of those of the second half.",
            "Accounted under Gaussian differential privacy; finished rows are moved towards the network's answers.",
            *_KEPT,
            "Error at epsilon 1, triples: 0.096 on the demo, where AIM errs 0.067 and MST 0.159; 0.181 on Adult, where AIM errs 0.101. "
            "On 48 simulated tables it erred 1.38 times as much as AIM and 0.54 times as much as MST; less than AIM on 2, at most by 6%.",
            "Where nearly all columns depend on each other it may beat AIM: 40 hidden classes, 20,000 people, 12 columns, epsilon 1: 0.179 "
            "in 7 seconds, AIM 0.189 in 36. At 0.1 it does not: 0.571, AIM 0.388. On 30 such tables it erred 1.26 times as much as AIM, "
            "less on 5 of them, at most by 14%.",
            "All together: about 0.65 times the published one's error, in four settings of Titanic.",
        ),
    )
    start_share: float = real(0.15, least=0.0, most=0.9, text="Share of the budget that measures single columns first; 0: none.")
    rounds: int = whole(0, least=0, most=1000, text="Number of rounds T; 0: four for each column.")
    measure_share: float = real(0.9, least=0.05, most=0.99, text="Share of each round's budget that measures; the rest selects.")
    latent: int = whole(16, least=1, most=1024, text="Inputs of the network.")
    hidden: int = whole(64, least=1, most=2048, text="Width of each of its two hidden layers.")
    batch: int = whole(250, least=2, most=10_000, text="Relaxed rows, one for each input that was drawn. More: more accurate, slower.")
    rate: float = real(2e-3, least=1e-6, most=1.0, text="Adam's step at the beginning of each training.")
    train_steps: int = whole(50, least=1, most=10_000, text="Steps of a round's training at most.")
    rules: Rules = Rules()

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused: too many cells.

        A round answers every candidate, and each of its training steps answers all measurements so
        far. The budget does not matter.
        """
        domain = workload.domain
        sizes = [domain.cells(clique) for clique in self.rules.candidates(workload, ())]
        cells, columns, count = sum(sizes), sum(domain.sizes(domain.names)), self._rounds(workload)
        width, batch = self.latent + _HIDDEN_LAYERS * self.hidden, self.batch
        weights = self.hidden * (2 * self.latent + self.hidden) + columns * width
        measured = columns + count / 2 * cells / len(sizes)
        step = 3 * _SECONDS_PER_PRODUCT * batch * (weights + measured) + _SECONDS_PER_MARGINAL * (len(domain) + count / 2)
        steps = (count - 1) * self.train_steps + self.rules.last_steps + (FIRST_STEPS if self.start_share else 0)
        answering = _SECONDS_PER_PRODUCT * batch * cells + _SECONDS_PER_CELL * cells + _SECONDS_PER_MARGINAL * len(sizes)
        memory = 220.0 + (_BYTES_PER_CELL * cells + 4 * batch * (6 * columns + 8 * width) + 40 * weights) / 1e6
        return Forecast(not (reason := rounds.too_many_cells(cells)), 2.0 + steps * step + count * answering, memory, reason)

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        """Return the planned stages with their shares of the budget, which add up to 1.

        They are columns (or a count of the people if it is secret and columns have no share), selections, and selected tables.
        All rounds cost the same.
        """
        first: Split = ((SINGLE, self.start_share),)
        if not self.start_share:
            first = () if total_is_public else ((COUNTING, rounds.TOTAL_SHARE),)
        rest = 1 - sum(share for _, share in first)
        return *first, (CHOOSING, (1 - self.measure_share) * rest), (CHOSEN, self.measure_share * rest)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run Algorithm 1 of the paper, with the generator of its section 5 and the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each column and round, a Fitted during and after each training, then a Finished.
        """
        run, count = _Run(self, kernel, self._rounds(workload)), self._rounds(workload)
        yield from run.start()
        for number in range(1, count + 1):
            choice, sigma = run.choose(number, self.rules.candidates(workload, run.measurements))
            taken = yield from rounds.measure(kernel, number, [choice.clique], sigma)
            run.record.add(choice, taken[0])
            run.measurements += taken
            steps = self.rules.last_steps if number == count else self.train_steps
            yield from run.train(number, steps, f"measured {' x '.join(choice.clique)}")
            run.remember(number)
        details = {"rounds": count, "steps": run.taken, "relaxed_rows": self.batch}
        yield Finished(self.rules.finish(run.averaged), run.total, details, tuple(run.record.selections), run.record.considered)

    def _rounds(self, workload: Workload) -> int:
        return self.rounds or ROUNDS_PER_COLUMN * len(workload.domain)


@dataclass
class _Run:
    """The state of a run: the network's parameters and its training data.

    Attributes:
        mechanism: The parameters of GEM.
        kernel: The kernel.
        rounds: Number of rounds T.
        total: Number of people, noisy or public.
        measurements: All measurements so far.
        record: The selections so far, for the release.
        taken: Number of training steps so far.
    """

    mechanism: Gem
    kernel: Kernel
    rounds: int
    total: float = 1.0
    measurements: list[Measurement] = field(default_factory=list)
    record: models.Selections = field(default_factory=models.Selections)
    taken: int = 0

    def start(self) -> Iterator[Step]:
        """Measure every column, estimate the number of people, and train the network to the columns.

        If the columns have no share of the budget, only the number of people is measured, if it is
        secret.
        """
        kernel, mechanism = self.kernel, self.mechanism
        if mechanism.start_share:
            columns = rounds.columns_of(kernel.domain)
            sigma = rounds.sigma_for(mechanism.start_share * kernel.rho_total / len(columns), kernel.unit.marginal_l2)
            self.measurements += yield from rounds.measure(kernel, 0, columns, sigma)
            self.total = max(1.0, rounds.total_from(kernel, self.measurements))
            self.measurements = smooth_columns(kernel.domain, self.measurements).instead(self.measurements)
        else:
            self.total = rounds.people((yield from rounds.count_people(kernel, rounds.TOTAL_SHARE)))
        rng = np.random.default_rng(kernel.seed())
        space, hidden = OneHot(kernel.domain), [mechanism.hidden] * _HIDDEN_LAYERS
        self.generator = network.Generator.drawn(space, mechanism.latent, mechanism.batch, hidden, rng)
        self.parameters = self.generator.initial(rng)
        if self.measurements:
            shares = np.concatenate([np.maximum(m.values, 1 + m.sigma / 2) for m in self.measurements]) / self.total
            self.parameters = self.generator.starting_at(self.parameters, shares)
        self.columns: Columns = answering(self.generator, self.parameters)
        self.mean: Parameters | None = None
        self.misfit = mechanism.rules.misfit(space, self.total)
        self.barred = impossible(space, 1.0)
        if self.measurements:
            yield from self.train(0, FIRST_STEPS, "every column")

    def choose(self, number: int, weights: Mapping[Clique, float]) -> tuple[models.Choice, float]:
        """Select the marginal of a round by the exponential mechanism.

        Args:
            number: Number of the round; it gets an equal part of the remaining budget.
            weights: The candidates with the weights of their scores.

        Returns:
            The selected marginal, and the standard deviation, in counts, of the noise to measure it
            with.
        """
        kernel, domain = self.kernel, self.kernel.domain
        rho = kernel.rho_left / (self.rounds + 1 - number)
        budget = rounds.RoundBudget.spending(rho, self.mechanism.measure_share, kernel.unit.marginal_l2, kernel.selection_price)
        with threads.one_thread():  # as in training
            answers = {clique: self.table.marginal(clique) for clique in weights}
        noise = self.mechanism.rules.noise * HALF_NORMAL * budget.sigma
        offsets = {clique: noise * domain.possible_cells(clique) for clique in weights}
        return models.choose(kernel, answers, weights, offsets, budget.eps), budget.sigma

    def train(self, number: int, steps: int, what: str) -> Generator[Step, None, None]:
        loss = Sum([self.misfit(self.measurements, self.columns), *self.barred])
        for fit in train(self.generator, self.parameters, loss, self.mechanism.rate, steps):
            self.parameters, self.columns = fit.parameters, fit.table
            yield Fitted(number, f"{what}: {fit.steps} training steps", self.kernel.rho_spent, rounds.done(self.kernel))
        self.taken += fit.steps

    def remember(self, number: int) -> None:
        """Update the running mean of the parameters, if the round is in the second half.

        Args:
            number: Number of the round.
        """
        if 2 * number <= self.rounds:
            return
        kept = self.mechanism.rules.averaging
        self.mean = self.parameters if self.mean is None else kept * self.mean + (1 - kept) * self.parameters

    @property
    def table(self) -> RelaxedTable:
        return RelaxedTable(self.kernel.domain, self.columns, self.total)

    @property
    def averaged(self) -> RelaxedTable:
        """The relaxed table of the network whose parameters are the running mean."""
        assert self.mean is not None, "the last round is in the second half"
        columns = answering(self.generator, self.mean.astype(self.parameters.dtype))
        return RelaxedTable(self.kernel.domain, columns, self.total)


PUBLISHED = Gem(
    card=printed(
        Gem.card,
        _WHOLE,
        "Settings are those of the authors' program (dp-query-release) for Adult, such as 50 rounds, but for the running mean of networks, "
        "which is the paper's and left out there; the paper tunes them on the private table.",
        "A table's score is its L1 distance from the network's answers; the program's is its largest single error.",
        *_KEPT,
        accountant=ZCDP,
        privacy=(
            "Measures the number of people, where it is secret, with rounded Gaussian noise; then every round selects one marginal with "
            "the exponential mechanism (rho = eps^2/8) and measures it with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2)). "
            "The network is trained on released answers only. The rounds compose adaptively under zero-concentrated differential privacy."
        ),
    ),
    start_share=0.0, rounds=50, measure_share=0.5, latent=256, hidden=256, batch=1000, rate=1e-4, train_steps=100,
    rules=Rules(not_yet_measured, 0.0, LargestGaps, 100, 0.9, Unmoved),
)
"""The authors' program of whole marginals (github.com/terranceliu/dp-query-release) with the settings of its run on Adult."""
