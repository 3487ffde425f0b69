"""Disclosures of a plan beyond the mechanism's charge, each with a remedy.

Reads the spec before it is sealed and public facts of the ledger only. A leak is not an error: the curator may go on, and the release
states it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from dpsynth_core.foundation.reasons import is_reason
from dpsynth_core.planning import domain_origin, private_views, weakness
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.budget import WEAK_EPSILON
from dpsynth_core.privacy.unit import REPLACE
from dpsynth_core.vocabulary.domain import LEARNT, Domain
from dpsynth_core.vocabulary.recoding import folded

_SHOWN = 5
"""Number of columns whose recoding is described in full."""


class Severity(IntEnum):
    """The severity of a leak.

    HIGH voids or weakens the guarantee; MEDIUM deserves a second thought; NOTE is worth knowing.
    """

    NOTE = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True)
class Leak:
    """A disclosure by a plan that the mechanism's budget does not cover.

    Attributes:
        code: Its identifier.
        severity: Its severity.
        title: Its title.
        why: The reason, which may name columns and values of the domain; these are public.
        fix: The remedy.
        step: Name of the wizard's step where the remedy is.
    """

    code: str
    severity: Severity
    title: str
    why: str
    fix: str
    step: str


def find(
    spec: Spec, releases: int, same_file_elsewhere: Sequence[str] = (), public_was_private: Sequence[str] = (), condition: str = ""
) -> tuple[Leak, ...]:
    """Return the leaks of a plan, the most severe first; () if it has none.

    Args:
        spec: The spec.
        releases: Number of earlier charges on this population.
        same_file_elsewhere: Names of other populations that were charged for the same file.
        public_was_private: Names of populations that were charged for the file that is called
            public here.
        condition: Condition of the mechanism's guarantee, in full sentences, or "".
    """
    of_tables = (*_of_domain(spec), *_of_public(spec, public_was_private), *_of_published(spec), *_of_rows(spec), *_of_promise(spec))
    leaks = [*of_tables, *_of_looks(spec, condition), *_of_history(spec, releases, same_file_elsewhere)]
    return tuple(sorted(leaks, key=lambda leak: -leak.severity))


def _of_domain(spec: Spec) -> Iterator[Leak]:
    """Yield leaks by the origin of the domain and by values that are counted as others."""
    if domain_origin.from_data(spec):
        justified = is_reason(spec.domain_justification)
        title = "Categories or bounds were read from the private table"
        why = "A rare category or an extreme value can point to one person, and no noise covers it."
        why += " Your reason is kept with the release, which is branded." if justified else ""
        fix = "Paste a codebook, type the values from public knowledge, or write why reading them is harmless."
        yield Leak("domain-from-data", Severity.MEDIUM if justified else Severity.HIGH, title, why, fix, "domain")
    if sentences := folded(Domain.from_json(spec.domain)):
        shown = " ".join(sentences[:_SHOWN]) + (f" And so in {len(sentences) - _SHOWN} more cases." if len(sentences) > _SHOWN else "")
        why = f"{shown} The rows will not tell them apart, and no error that is published says how many they were."
        fix = "Give them a cell of their own, which costs a little accuracy."
        yield Leak("recoded", Severity.NOTE, "Some values count as others", why, fix, "domain")


def _of_public(spec: Spec, was_private: Sequence[str]) -> Iterator[Leak]:
    """Yield leaks by a table that the curator calls public.

    Args:
        spec: The spec.
        was_private: Names of populations that were charged for that table.
    """
    if was_private:
        title = "The public table was private in an earlier release"
        why = "The ledger knows this very file: it protected its people then. As a public table, nothing protects them."
        yield Leak("public-was-private", Severity.HIGH, title, why, "Choose a table that was published, or leave it out.", "data")
    elif spec.public is not None:
        title = "A table is used as public on your word"
        why = "Mechanisms that use it protect nobody in it; the release names it and says so."
        fix = "Make sure that it was published, and that your private people are not in it."
        yield Leak("assumed-public", Severity.NOTE, title, why, fix, "data")


def _of_published(spec: Spec) -> Iterator[Leak]:
    if spec.published_tables:
        title = "Tables are taken as published on your word"
        why = "The rows keep to them, but for rounding, and nothing protects what they say. Counts made from this very table are private."
        yield Leak("assumed-published", Severity.NOTE, title, why, "Make sure that each was published before, as its source says.", "data")


def _of_rows(spec: Spec) -> Iterator[Leak]:
    """Yield leaks by a seed, which makes the noise predictable, and by an exact number of rows."""
    if spec.output.seed is not None:
        title = "A seed is set, so the noise can be predicted"
        why = "Anyone who knows the seed can remove the noise. The release is marked “not private”."
        yield Leak("seed", Severity.HIGH, title, why, "Remove the seed, except for tests on invented people.", "mechanism")
    if spec.output.rows is not None and spec.unit.relation != REPLACE:
        title = "You ask for a fixed number of rows"
        why = "If that is the exact size of the private table, it tells whether one person is in it."
        fix = "Leave the number out to write as many rows as the noisy total says, or choose a round number."
        yield Leak("exact-rows", Severity.MEDIUM, title, why, fix, "mechanism")


def _of_promise(spec: Spec) -> Iterator[Leak]:
    """Yield leaks of the guarantee: about the number of people, epsilon, or the unit."""
    if spec.unit.relation == REPLACE:
        title = "The number of people counts as public"
        hides = "what a person's record says, not that the person is in the table, nor how many there are."
        fix = "Choose “add or remove” if being in the table is itself sensitive."
        yield Leak("public-total", Severity.NOTE, title, f"Under “replace” the guarantee hides {hides}", fix, "data")
    if weakness.is_weak(spec.budget.epsilon):
        explained = is_reason(spec.budget.reason)
        title = f"Epsilon above {WEAK_EPSILON:g} is a weak promise"
        why = "Someone who half suspects that a person is in the table could become all but certain."
        why += " Your reason is published with the release." if explained else ""
        fix = "Lower epsilon, or write why so weak a promise is right."
        yield Leak("weak-epsilon", Severity.MEDIUM if explained else Severity.HIGH, title, why, fix, "budget")
    if spec.unit.person_column is None:
        title = "One row per person is assumed, not enforced"
        why = "Someone with several rows is protected less, in proportion to their number."
        fix = "Name the column that identifies a person, and how many rows of each may count."
        yield Leak("one-row-assumed", Severity.NOTE, title, why, fix, "data")


def _of_looks(spec: Spec, condition: str) -> Iterator[Leak]:
    """Yield leaks by a condition of the guarantee, and by looks at the private table before the plan was sealed.

    Args:
        spec: The spec.
        condition: Condition of the mechanism's guarantee, which the release repeats in these words,
            or "".
    """
    branded = "The release is branded with it."
    if condition:
        title = "The guarantee has a condition that nobody can check"
        fix = "Choose a learner or an oracle that goes through the whole class, or leave the check of the public table out."
        yield Leak("conditional", Severity.MEDIUM, title, f"{condition} {branded}", fix, "mechanism")
    if spec.looks and not spec.data.simulated and not private_views.is_brand(spec.looks):
        title, fix = "The records were compared with this domain", "Leave columns and values as they are: then this stays a note."
        yield Leak("compared", Severity.NOTE, title, private_views.sentence(spec.looks), fix, "domain")
    elif spec.looks and not spec.data.simulated:
        title = "The records were looked at before this plan"
        fix = "A look cannot be taken back. Where it matters, let somebody plan who has not seen the table."
        yield Leak("after-looking", Severity.MEDIUM, title, f"{private_views.sentence(spec.looks)} {branded}", fix, "mechanism")
    if spec.looks is not None and not {private_views.COMPARED, private_views.CHANGED} & set(spec.looks) and not spec.data.simulated:
        title = "Nobody has checked that the table fits its domain"
        why = "This gives nobody away. But what the table spells differently, such as F where your list has f, will count as “other”."
        fix = "If the table is new to you, compare them on the Domain page. The release notes that."
        yield Leak("not-compared", Severity.NOTE, title, why, fix, "domain")


def _of_history(spec: Spec, releases: int, same_file_elsewhere: Sequence[str]) -> Iterator[Leak]:
    """Yield leaks by earlier releases about the same people, in the ledger or elsewhere.

    Args:
        spec: The spec.
        releases: Number of earlier charges on this population.
        same_file_elsewhere: Names of other populations that were charged for the same file.
    """
    if same_file_elsewhere:
        title = "The same table was charged to another population"
        why = "These are the same people under two names: their losses add up, but the ledger limits them apart."
        yield Leak("same-file", Severity.HIGH, title, why, "Give this project the population name that was used before.", "data")
    if releases > 0:
        title = "There are earlier releases of this population" if releases > 1 else "There is an earlier release of this population"
        why = "Its privacy loss adds to this one's; the ledger counts all together against the limit."
        yield Leak("earlier-releases", Severity.NOTE, title, why, "The ledger says what each cost.", "ledger")
    if releases == 0 and LEARNT in (spec.domain_origin, domain_origin.of_document(spec)) and not spec.learns:
        title = "Values are said to be learnt, but no release of this population learnt them"
        why = "If they came from the table in another way, no noise covers a rare value."
        fix = "Learn them on the Domain page, or name the population of the release that learnt them."
        yield Leak("learnt-elsewhere", Severity.MEDIUM, title, why, fix, "domain")
    if not spec.other_copies.strip() and not spec.data.simulated:
        title = "You have not said what else is published about these people"
        why = "An earlier release made elsewhere, totals in a paper or a preview in a repository can show what noise hides here."
        fix = "Write down what you know of, or that you looked and know of nothing."
        yield Leak("other-copies", Severity.NOTE, title, why, fix, "data")
