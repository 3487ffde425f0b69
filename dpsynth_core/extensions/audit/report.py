"""Whole audits and their results as lines for the command line: claims, findings, and the smallest violation that would have shown."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from dpsynth_core.extensions.audit import cases, mechanisms, operations
from dpsynth_core.extensions.audit.evidence import FALSE_ALARM, Finding, smallest_visible
from dpsynth_core.extensions.audit.found import Found
from dpsynth_core.extensions.audit.losses import Losses
from dpsynth_core.extensions.audit.neighbours import worst_cases
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.privacy.view import Noise

MOST_SECONDS = 3600.0
"""Longest duration of a mechanism's audit; longer ones are refused."""
FEWEST_DRAWS, MOST_DRAWS = 40, 1_000_000

CANNOT = (
    "An audit can show that a promise is broken, never that one is kept: it looks at a few invented tables and at losses above those it "
    "names as visible. The promise rests on the proofs, which are written beside the kernel's code."
)


@dataclass(frozen=True)
class Audited:
    """The findings on one pair of tables.

    Attributes:
        subject: The operation with its unit of privacy, or the description of the person, in words.
        findings: One finding per claim.
        level: False-alarm probability of each finding from draws.
        found: The trade-off curve that was found; None for a single operation.
    """

    subject: str
    findings: tuple[Finding, ...]
    level: float
    found: Found | None = None

    @property
    def broken(self) -> bool:
        """True if a finding breaks its claim."""
        return any(finding.broken for finding in self.findings)

    def lines(self) -> Iterator[str]:
        """Yield one line per claim, then the curve if there is one.

        A line has the verdict, the claim, the finding, and the smallest violation that would have shown.
        """
        for finding in self.findings:
            claim = finding.claim
            verdict = "VIOLATION" if finding.broken else "nothing found"
            figures = f"{self.subject}, {claim.name}: claimed {claim.stated(claim.claimed)}, found at least {claim.stated(finding.least)}"
            if not finding.draws:
                yield f"{verdict}: {figures} (computed from every answer's probability)"
                continue
            visible = smallest_visible(claim, finding.draws, self.level)
            power = f"visible from {claim.stated(visible)} on" if visible < math.inf else "too few to show any violation of this"
            yield f"{verdict}: {figures} (2 x {finding.draws:,} draws: {power})"
        if self.found is not None:
            yield from self.found.lines()


def conclusion(audited: Sequence[Audited]) -> str:
    """Return a sentence that sums up an audit and states its probability of a false alarm."""
    sure = f"the chance that a sound program is called broken is at most {FALSE_ALARM:g}"
    if any(one.broken for one in audited):
        return f"VIOLATED: somebody can tell two neighbouring tables apart better than was promised ({sure})"
    return f"nothing was found ({sure})"


def of_operations(noise: Noise, draws: int) -> Iterator[Audited]:
    """Audit each kernel operation under each unit of privacy, and yield the results one by one.

    All together report a violation of kept promises with probability 1e-6 at most. Choices among finitely many
    answers are not drawn: their probabilities are computed.

    Args:
        noise: The noise source of kernels from which answers are drawn.
        draws: Number of draws per table; slow operations get fewer.
    """
    audits = [(case, unit) for case in operations.CASES for unit in case.units]
    level = FALSE_ALARM / (3 * len(audits))  # no charge promises more than three things
    for case, unit in audits:
        findings = cases.compute(case, unit) if case.finite else cases.sample(case, unit, noise, draws, level)
        rows = "1 row" if unit.max_rows_per_person == 1 else f"{unit.max_rows_per_person} rows"
        yield Audited(f"{case.title}, {unit.relation}, {rows} per person", tuple(findings), level)


def of_mechanism(configuration: mechanisms.Configuration, noise: Noise, draws: int, on_part: Callable[[float], None]) -> Iterator[Audited]:
    """Audit a mechanism on every pair of `worst_cases`, and yield the results one by one.

    All together report a violation of kept promises with probability 1e-6 at most.

    Args:
        configuration: The mechanism.
        noise: The source of noise.
        draws: Number of runs on each table.
        on_part: Called after each run with the share of all runs that are done, from 0 to 1.

    Raises:
        CapacityError: By the time of two runs, which are tried first, the audit would take more than an hour.
    """
    pairs = worst_cases(configuration.plan.domain, configuration.plan.unit)
    level = FALSE_ALARM / (len(configuration.claims) * len(pairs))
    losses = Losses(pairs[0])
    configuration.run(pairs[0].tables[0], noise, losses)  # loads all modules and caches
    start = time.perf_counter()
    for table in pairs[0].tables:
        configuration.run(table, noise, losses)
    seconds = time.perf_counter() - start
    if seconds * draws * len(pairs) > MOST_SECONDS:
        most = int(MOST_SECONDS / (seconds * len(pairs)))
        problem = f"two runs take {seconds:.2g} seconds, and so many would take more than {MOST_SECONDS / 60:g} minutes"
        remedy = f"use {most:,} or fewer" if most >= FEWEST_DRAWS else "use settings that are faster, such as fewer rounds"
        raise CapacityError("--draws", problem, remedy)
    done, every = count(1), 2 * draws * len(pairs)
    for pair in pairs:
        findings, found = mechanisms.examine(configuration, pair, noise, draws, level, lambda: on_part(next(done) / every))
        yield Audited(pair.title, tuple(findings), level, found)
