"""The coin that decides who is left out of a release, by a keyed hash of who a person is (Proposition 30).

The key is made of this home's secret key and the digest of the plan. So each pass over the table, a run that goes on after an
interruption, and a later look by the curator toss the same coins, and nothing is written. The same plan in the same home leaves out the
same people again. The guarantee holds for each key, so it does not rest on the key being secret. That attacks are compared with a
random choice of people does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Protocol, Self, TypeVar, cast

from dpsynth_core.extensions.holdout import SETTING
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.store import sealed_fingerprints

FIELD = f"extensions.{SETTING}"
_BITS = 64
_REPEATABLE = b"repeatable"
"""Key of plans with repeatable noise, which protect nobody and give the same rows anywhere."""


@dataclass(frozen=True, repr=False)
class Coin:
    """A coin for each person. It is called with a person's name, and returns whether the person's records are counted.

    Attributes:
        key: A secret of 32 bytes.
        percent: Probability, in per cent, that a person is left out.
        out: Whether the people who are left out are counted, and not the others.
    """

    key: bytes
    percent: int
    out: bool = False

    def __call__(self, name: str) -> bool:
        """Return whether this person's records are counted; it depends on the key, the name and `out` alone."""
        tossed = int.from_bytes(blake2b(name.encode(), digest_size=_BITS // 8, key=self.key).digest())
        return (tossed < self.percent * 2**_BITS // 100) == self.out


class OfPersons(Protocol):
    """A source of records that knows whose a record is (`sources.records.RecordCounts`)."""

    def of_chosen(self, chosen: Callable[[str], bool]) -> Self:
        """Return a source of the records of some persons alone.

        Args:
            chosen: A function of the name of a person that says whether this person's records are counted.

        Raises:
            ValueError: The table has no person column.
        """


Source = TypeVar("Source", bound=OfPersons)


def of(plan: Plan) -> Coin:
    """Return the coin of a plan that leaves people out, the same in each call.

    Raises:
        BooksLost: This home's secret key is damaged, or missing although tables were charged.
    """
    secret = sealed_fingerprints.key() if plan.spec.output.seed is None else _REPEATABLE
    key = blake2b(plan.spec.digest().encode(), digest_size=32, key=secret, person=b"left out").digest()
    return Coin(key, cast(int, plan.spec.extensions[SETTING]))


def left_out(stated: extension.Stated) -> float:
    """Return the probability, from 0 to 1, with which each person is left out.

    Args:
        stated: The spec's section `extensions`, which leaves people out.
    """
    return cast(int, stated[SETTING]) / 100


def those_in(plan: Plan, source: Source) -> Source:
    """Return a source of the records of the people who take part.

    A stand-in has invented rows without names, and nothing of it is left out.

    Args:
        plan: A plan that leaves people out (`check`).
        source: The source of the records of the plan's table.

    Raises:
        ValueError: The table has no person column.
        BooksLost: This home's secret key is damaged, or missing although tables were charged.
    """
    return source if plan.spec.data.standin is not None else source.of_chosen(of(plan))


def those_out(plan: Plan, source: Source) -> Source:
    """Return a source of the records of the people who are left out; for the curator alone.

    Args:
        plan: A plan that leaves people out (`check`).
        source: A source of the records of the plan's table, of everybody or of those who take part.

    Raises:
        ValueError: The table has no person column.
        BooksLost: This home's secret key is damaged, or missing although tables were charged.
    """
    return source.of_chosen(replace(of(plan), out=True))


_REFUSED: tuple[tuple[Callable[[Plan], bool], str, str], ...] = (
    (
        lambda plan: plan.spec.unit.person_column is None,
        "the coin of a person is made of the person's name, and this plan names no column with it",
        "name unit.person_column, or leave nobody out",
    ),
    (
        lambda plan: bool(plan.spec.published_tables),
        "rows keep to published tables, which count everybody",
        "leave the published tables out, or leave nobody out",
    ),
    (
        lambda plan: plan.spec.weight is not None,
        "weights add up to the population, and those of the people left out would be missing",
        "leave the weights out, or leave nobody out",
    ),
)


def check(plan: Plan) -> None:
    """Check that a plan can leave people out, and return nothing.

    Args:
        plan: The plan.

    Raises:
        InputError: The plan has two linked tables, no person column, published tables or survey weights.
    """
    if plan.spec.members is not None or plan.link is not None:
        stated, remedy = plan.spec.extensions, "release one of the tables"
        if (layout := extension.layout(stated)) is not None and extension.is_of_one(stated):
            remedy = f"leave “{layout.setting}” and what goes with it out of the plan"
        raise InputError(FIELD, f"people in {extension.what_is_linked(stated)} cannot be left out", f"{remedy}, or leave nobody out")
    for refuses, problem, remedy in _REFUSED:
        if refuses(plan):
            raise InputError(FIELD, problem, remedy)
