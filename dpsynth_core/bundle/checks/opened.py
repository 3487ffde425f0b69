"""A bundle that was opened: its release, and what of its rows checks need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.bundle.checks.csv_rows import CsvRows
from dpsynth_core.bundle.checks.outcome import expect, some
from dpsynth_core.bundle.reproduce import other_versions
from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.claims.criteria.models import ModelCriterion
from dpsynth_core.claims.criteria.registry import measured as measured_criteria
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import tables
from dpsynth_core.release.release import Release
from dpsynth_core.release.transcript import RecordedAnswer
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.totals import Total, known_total
from dpsynth_core.vocabulary.measurement import Clique, Measurement


@dataclass(frozen=True, eq=False)
class Opened:
    """A bundle and its release, without rows; `codes` and `rows` are read from synthetic.csv when they are needed."""

    bundle: Bundle
    release: Release

    @property
    def plan(self) -> Plan:
        return self.release.plan

    @cached_property
    def other_versions(self) -> list[str]:
        """What the release was made with and is another version here."""
        return other_versions(self.release.versions)

    @property
    def other_program(self) -> bool:
        """Whether another version of this program wrote the texts."""
        return "dpsynth_core" in self.other_versions

    @cached_property
    def rows(self) -> CsvRows | None:
        """synthetic.csv; None where the release has no rows."""
        content = self.bundle.files.get(releases.ROWS_CSV)
        return None if content is None else CsvRows(self.release.domain, content)

    @cached_property
    def further(self) -> tuple[CsvRows, ...]:
        """The tables of rows beside the first. What the plan asks for and is missing is wrong."""
        names = [tables.name(number) for number in range(2, (self.plan.spec.output.tables if self.rows else 1) + 1)]
        missing = [name for name in names if name not in self.bundle.files]
        expect(not missing, f"{some(missing)} is missing, but {len(names) + 1:,} tables of rows are stated")
        return tuple(CsvRows(self.release.domain, self.bundle.files[name], name) for name in names)

    @cached_property
    def codes(self) -> NDArray[np.integer] | None:
        """The rows as cells of the domain, in as few bytes as number these: all that is held of all rows."""
        return None if self.rows is None else self.rows.codes()

    @cached_property
    def whole(self) -> Release:
        """The release with its rows. What of them is missing or cannot be read is wrong."""
        return replace(self.release, codes=self.codes, values=self.rows, further=self.further)

    @property
    def evidence(self) -> Evidence:
        """What was released, with the rows."""
        return Evidence(self.release.domain, self.codes, self.release.tables_of_columns, self.release.total)

    @cached_property
    def published(self) -> dict[Clique, NDArray[np.float64]]:
        """The workload's marginals of the rows or, where there are none, of the noisy tables, as fractions."""
        if self.codes is None:
            tables = self.plan.workload.cliques if self.plan.mechanism.card.publishes_tables else _cliques(self.release.tables_of_columns)
            return self.evidence.published(tables)
        return self.evidence.published(self.plan.workload.cliques)

    @property
    def for_criteria(self) -> Iterator[tuple[RecordedAnswer, ...]]:
        """The last answers, those that decided the criteria. Where the run ended while one was measured, nobody wrote down how many of its
        answers there are: then with each number that there can be."""
        release, workload = self.release, self.plan.workload
        measured_people = bool(release.certificate is None and self.total is None and measured_criteria(self.plan.criteria))
        answers = [criterion.answers(workload) for criterion in measured_criteria(self.plan.criteria)]
        measured = sum(one.interval is not None for one in release.criteria if not isinstance(one.criterion, ModelCriterion))
        for more in range(answers[measured] if measured < len(answers) else 1):
            count = measured_people + sum(answers[:measured]) + more
            yield release.transcript[max(0, len(release.transcript) - count) :]

    @cached_property
    def total(self) -> Total | None:
        """The number of records as far as it is known."""
        return known_total(self.release.tables_of_columns, self.release.total if self.plan.unit.total_is_public else None)


def _cliques(measurements: Iterable[Measurement]) -> list[Clique]:
    return [measurement.clique for measurement in measurements if measurement.clique]
