"""The origin of a domain's columns and values: from the domain's own document, as its curator states, and both in words.

Only stated facts are certified. A domain that was read from the private table says so in its own document, and keeps saying so wherever
that document is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpsynth_core.foundation.reasons import check_reason
from dpsynth_core.vocabulary.domain import DATA, LEARNT, ORIGINS

if TYPE_CHECKING:
    from dpsynth_core.planning.spec import Spec

UNSTATED = "unstated"

_CLAUSES: Mapping[str, str] = {
    UNSTATED: "not stated",
    "typed": "typed by the curator, who states that they did not come from the table",
    "usual": "usual lists and bounds, which are the same everywhere, as the curator states",
    LEARNT: "noisy answers, learnt for a share of the budget",
    "codebook": "a codebook",
    "public": "a public table",
    "labels": "the labels of the questionnaire that the file carries",
    DATA: "the private table itself, which no budget covers (see the warnings)",
}


def of_document(spec: Spec) -> str:
    """Return the origin that a spec's domain document states, or "" if it states none or an unknown one.

    The short form of a domain, such as {"age": 32}, states none, because every entry in it is a
    column.
    """
    origin = spec.domain.get("origin") if isinstance(spec.domain.get("attributes"), list) else None
    return origin if origin in ORIGINS else ""


def from_data(spec: Spec) -> bool:
    """Return whether the domain's document or its curator says that it was read from the private table."""
    return DATA in (spec.domain_origin, of_document(spec))


def check(spec: Spec) -> None:
    """Check that the curator gives a reason for an origin of the domain that needs one.

    Raises:
        InputError: The domain comes from the private data, or the curator states another origin than its
            document, and the reason has fewer than 3 different words.
    """
    own, stated = of_document(spec), spec.domain_origin
    if from_data(spec):
        check_reason("domain_justification", spec.domain_justification, "why a domain that was read from the data gives nobody away")
    elif own and stated not in (UNSTATED, own):
        what = f"why its origin is {stated!r}, although the document of the domain says {own!r}"
        check_reason("domain_justification", spec.domain_justification, what)


def clause(spec: Spec) -> str:
    """Return the origin of the domain as a clause for a list of facts; both origins if the document and the curator differ."""
    own, stated = of_document(spec), spec.domain_origin
    learnt_here = spec.learns
    if not own or own == stated:
        return clause_of(stated, learnt_here)
    if stated == UNSTATED:
        return clause_of(own, learnt_here)
    return f"{clause_of(own, learnt_here)}, by its own document; {clause_of(stated, learnt_here)}, as the curator states"


def clause_of(origin: str, learnt_here: bool = False) -> str:
    """Return one origin of a domain as a clause.

    Args:
        origin: One of `ORIGINS` or `UNSTATED`, or "" if it is not stated; another text raises KeyError.
        learnt_here: Whether noisy answers of the release itself are meant, and not of an earlier one.
    """
    if origin == LEARNT and not learnt_here:
        return "noisy answers of an earlier release of the same people"
    return _CLAUSES[origin or UNSTATED]


def sentence(spec: Spec) -> str:
    """Return the origin of the domain as a sentence."""
    return f"Where the columns and their values came from: {clause(spec)}."
