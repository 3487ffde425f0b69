"""PMW^Pub: private multiplicative weights on the rows of a public table (Liu, Vietri, Steinke, Ullman, Wu 2021, Algorithm 1).

The support is the distinct rows of the public table, and their weights start at their frequencies; then MWEM's rounds, with the replay
of section 5.3. The output is the average of the last iterates before A_T; its rows are rounded at random, not sampled. No row appears that
the public table does not have, apart from the changes of single values that bring the rounded rows closer to the weighted ones.

Otherwise than in the paper: the exponential mechanism at 2 eps_0 in place of permute-and-flip at eps_0, which costs the same under zCDP
and errs less (`selection` has the paper's); a noisy number of people where that is secret; and the average leaves out the first 90 % of
the iterates A_0 to A_(T-1), of which theory needs all, while they pull the result back to where it started (`skip`; at 0 it is the
paper's).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dpsynth_core.mechanisms import public_check, rounds
from dpsynth_core.mechanisms.mechanism import CHECKING, Card, Forecast, Mechanism, Split, printed
from dpsynth_core.mechanisms.parameters import choice, real
from dpsynth_core.mechanisms.steps import Finished, Fitted, Step, Unmoved
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.research.inference.weights import RowWeights
from dpsynth_core.research.mechanisms.weights import mixture, reweighing
from dpsynth_core.research.mechanisms.weights.reweighing import Reweighing, Select
from dpsynth_core.research.vocabulary.queries import Incidence, QueryClass
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

SELECTIONS: Mapping[str, Select] = {"exponential": reweighing.exponentially, "permute-and-flip": reweighing.by_permute_and_flip}


@dataclass(frozen=True)
class PmwPub(Reweighing):
    card: Card = Card(
        name="pmwpub",
        title="PMW^Pub",
        summary=(
            "Starts from a public table of the same columns and gives its rows other weights, count by count, where they are most wrong. "
            "Best at a small epsilon, if the public people resemble yours."
        ),
        paper="Liu, Vietri, Steinke, Ullman, Wu: Leveraging Public Data for Practical Private Query Release (ICML 2021), Algorithm 1",
        privacy=(
            "The public table is used as it is: nothing protects the people in it. Of the private one, the number of people is measured "
            "where it is secret; then every round selects one counting query with the exponential mechanism (rho = eps^2/8), or where so "
            "set with permute-and-flip (rho = eps^2/2), and measures it with rounded Gaussian noise (rho = rows^2 / (2 sigma^2), rows: the "
            "most that one person owns). The rounds compose adaptively under zero-concentrated differential privacy; a filter refuses what "
            "would exceed the total."
        ),
        accountant=ZCDP,
        takes_thresholds=True,
        differences=reweighing.DIFFERENCES,
    )
    scale: ClassVar[float] = 1.0
    selection: str = choice(tuple(SELECTIONS), text="How each round selects, at the same cost; permute-and-flip is the paper's.")
    check_share: float = real(
        0.0, least=0.0, most=0.5, text="Share of the budget that first measures how well the public table could do. 0: none."
    )

    public: PublicTable | None = None

    def informed_by(self, public: PublicTable) -> Mechanism:
        return replace(self, public=public)

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Refuses to run without a public table, or with one that is too large to keep ready."""
        reason = public_check.refusal(self.public, workload)
        places = self.public.rows * len(workload.cliques) if self.public else 0
        checking = 2e-6 * places if self.check_share else 0.0
        count = self.round_count(rho, reweighing.SUPPOSED_PEOPLE)
        seconds = 2.0 + checking + 1e-7 * places + count * (0.05 + 1e-7 * places)
        return Forecast(not reason, seconds, mixture.memory_mb(self.public, workload), reason)

    def condition(self, _domain: Domain) -> str:
        """That of the check, where it is part of the run."""
        return mixture.CONDITION if self.check_share else ""

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        checking: Split = ((CHECKING, self.check_share),) if self.check_share else ()
        return self.split_after(checking, total_is_public)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Yields the number of people as Measured, where it is secret; the check, if asked for; a Fitted event each round; Finished."""
        assert self.public is not None, "forecast refuses to run without"
        support, counts = self.public.support()
        queries, details = QueryClass.of(workload), dict[str, Any]()
        counted = yield from rounds.count_people(kernel, reweighing.TOTAL_SHARE)
        total, start = rounds.people(counted), counts / counts.sum()
        if self.check_share:
            result = mixture.check(kernel, queries, support, start, total, self.check_share * kernel.rho_total)
            details["best_mixture"] = result.to_json()
            yield Fitted(0, result.sentence, kernel.rho_spent, rounds.done(kernel))
        weights = RowWeights(Incidence(queries, support), start)
        count = self.round_count(kernel.rho_total, total)
        measured = yield from self.reweigh(kernel, queries, weights, total, count, SELECTIONS[self.selection])
        details |= {"rounds": count, "distinct_rows": len(support), "queries": reweighing.described(kernel.domain, measured)}
        yield Finished(self.finish(weights.average(total)), total, details)


PUBLISHED = PmwPub(
    card=printed(PmwPub.card, "Earlier answers are replayed, as in section 5.3.", *reweighing.KEPT),
    selection="permute-and-flip",
    measure_share=0.5,
    skip=0.0,
    finish=Unmoved,
)
"""Algorithm 1 as printed (Liu et al. 2021), with the replay of section 5.3."""
