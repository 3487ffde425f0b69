"""Written queries in a plan: who measures them, and what cannot."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dpsynth_core.extensions.queries import SETTING
from dpsynth_core.extensions.queries.answering import MOST_CELLS
from dpsynth_core.extensions.queries.relaxed import Counts
from dpsynth_core.extensions.queries.written import Written, queries
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.planning.plan import Plan
from dpsynth_core.vocabulary.domain import Domain

FIELD = f"extensions.{SETTING}"


@runtime_checkable
class AsksCounts(Protocol):
    """A mechanism that can measure single counts beside its tables, and fit its model to them."""

    def asking(self, counts: Counts) -> Mechanism:
        """Return a copy of the mechanism that also measures these counts."""


def named(stated: Stated, domain: Domain) -> tuple[Written, ...]:
    """Return the queries of a spec, in order; () without any.

    Args:
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A query is not valid.
        CapacityError: The columns of a query have more than a million cells together.
    """
    texts = stated.get(SETTING, [])
    asked = queries(domain, texts, FIELD) if isinstance(texts, list) and texts else ()
    for number, one in enumerate(asked, start=1):
        if (cells := domain.cells(one.columns)) > MOST_CELLS:
            problem = f"the columns of query {number} have {cells:,} cells together, more than {MOST_CELLS:,}"
            raise CapacityError(FIELD, problem, "name fewer columns, or merge their values")
    return asked


def instruct(mechanism: Mechanism, stated: Stated, domain: Domain) -> Mechanism:
    """Return the mechanism that also measures the queries of a spec; unchanged if it cannot, which `check` refuses.

    Args:
        mechanism: The mechanism.
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A query is not valid.
        CapacityError: The columns of a query have more than a million cells together.
    """
    if not isinstance(mechanism, AsksCounts) or not (asked := named(stated, domain)):
        return mechanism
    return mechanism.asking(Counts(asked, {name: place for place, name in enumerate(domain.names)}))


def check(plan: Plan) -> None:
    """Check that a plan can have its queries.

    Raises:
        InputError: The release is of two linked tables, or its mechanism measures no queries.
    """
    if plan.link is not None:
        raise InputError(FIELD, "two linked tables do not go with it yet", "leave it out")
    if not isinstance(plan.mechanism, AsksCounts):
        problem = f"{plan.mechanism.card.title} measures tables alone"
        raise InputError(FIELD, problem, "choose RAP, or leave it out and ask the release with `queries`")


def sentences(plan: Plan) -> list[str]:
    """Return a sentence on what is measured, for the command line."""
    number = len(named(plan.spec.extensions, plan.domain))
    what = "the query" if number == 1 else f"each of {number} queries"
    return [f"how many people meet {what} of the plan, by a noisy count of its own"]
