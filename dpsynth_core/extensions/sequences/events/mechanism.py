"""The mechanism for persons, their rows in order and events of rows: that for rows, with one model of all columns of a record.

Persons and rows are drawn as without events; then the number of events of each row is drawn given the row, the rows before it and the
person, and each event given these and the number. So events of one row are alike in nothing but the row. Reads the private tables only
through the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.conditional import Conditional
from dpsynth_core.extensions.sequences.drawing import draw, records_of
from dpsynth_core.extensions.sequences.events.layout import EVENTS, EventsLink
from dpsynth_core.extensions.sequences.mechanism import SequenceModel, Sequences
from dpsynth_core.inference.households import LinkedCodes
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.mechanism import Card
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.link import places
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True, eq=False)
class EventsModel:
    """A model of persons, their rows in order and events of rows, and rows from it.

    Attributes:
        link: The link of the tables.
        model: Model of a person, one of its rows, the rows before and one event of the row.
    """

    link: EventsLink
    model: GraphicalModel

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the marginal over `clique` in counts of records, one axis per column."""
        return self.model.marginal(clique)

    def tables(self, n: int, rng: np.random.Generator) -> LinkedCodes:
        """Draw n synthetic persons with their rows in order, and events of these, at random.

        Args:
            n: Number of persons.
            rng: Source of randomness.

        Returns:
            The persons and rows; codes of rows have the columns of `EventsLink.carried`.
        """
        made = draw(self.model, self.link.plain, n, rng)
        rows = records_of(self.link.plain, made.households.astype(np.int32), made.sizes, made.members.astype(np.int32))
        members = np.zeros((n, self.link.most, len(self.link.carried)), dtype=np.int64)
        members[:, :, : len(self.link.members)] = made.members
        members[np.repeat(np.arange(n), made.sizes), places(made.sizes), len(self.link.members) :] = self._events(rows, rng)
        return LinkedCodes(made.households, made.sizes, members)

    def _events(self, rows: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the number of events and the codes of the events of each row, shape (rows, columns of `carried` behind a row's own).

        A row whose events the model holds impossible, because refinement changed the row, has none.

        Args:
            rows: Codes of the rows, with persons and rows before, as `EventsLink.plain.domain` has them.
            rng: Source of randomness.
        """
        link, width = self.link, len(self.link.events)
        known = [name for name in link.plain.domain.names if name in self.model.domain]
        given = rows[:, [link.plain.domain.position(name) for name in known]].astype(np.int64)
        drawn, possible = Conditional(self.model, known, (EVENTS,)).draw(given, rng)
        number = np.where(possible, drawn[:, 0], 0).astype(np.int64)
        made, of_event = np.zeros((len(rows), 1 + width * link.most_events), dtype=np.int64), (*known, EVENTS)
        conditional = Conditional(self.model, of_event, link.events.names)
        for place in range(int(number.max(initial=0))):
            some = np.flatnonzero(number > place)
            event, possible = conditional.draw(np.column_stack([given[some], number[some]]), rng)
            made[some, 1 + place * width : 1 + (place + 1) * width] = event
            number[some[~possible]] = place
        made[:, 0] = number
        return made


@dataclass(frozen=True)
class Events(Sequences):
    """The mechanism for persons, their rows in order and events of rows.

    Attributes:
        link: The link of the tables.
        card: The card.
    """

    link: EventsLink
    card: Card = Card(
        "events", "Events", GDP,
        summary="Persons, their rows in order and events of the rows: adapts to the tables that it still gets wrong, as AIM does.",
        paper="After McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), over events beside their row and the rows before it",
        privacy=(
            "As AIM's: rounds of selections (exponential mechanism) and measurements (rounded Gaussian noise) compose adaptively under "
            "Gaussian differential privacy. A person with all rows and events owns a fixed number of records, made of these alone."
        ),
        differences=("As Sequences, in counts alone: tables of rows by whether a row is the last one also say what rows before are like.",),
    )  # fmt: skip

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run the mechanism with the kernel's whole budget, as `Sequences` does.

        Yields:
            A Measured for each table, a Fitted for each estimate of the model, then a Finished.
        """
        for step in super().steps(kernel, workload):
            if isinstance(step, Finished) and isinstance(step.model, SequenceModel):
                step = replace(step, model=EventsModel(self.link, step.model.model))
            yield step
