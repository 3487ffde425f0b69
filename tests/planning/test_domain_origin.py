"""Where a domain came from: nothing is certified that nobody stated, and a domain from the data stays one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning import domain_origin, leaks
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.codebook import parse_domain
from dpsynth_core.vocabulary.domain import DATA, ORIGINS, Domain
from tests.refusals import refused

REASON = "The form is public since 1990."


def spec(own: str = "", stated: str | None = None, reason: str = "") -> Spec:
    domain: dict[str, Any] = {"version": 1, "attributes": [{"name": "a", "kind": "categorical", "categories": ["x", "y"]}]}
    fields: dict[str, Any] = {"domain": domain | ({"origin": own} if own else {})} | ({"domain_origin": stated} if stated else {})
    rest = {"population": "p", "data": {"kind": "demo"}, "workload": {"kind": "all", "k": 1}, "budget": {"epsilon": 1.0, "delta": 1e-9}}
    return Spec.from_json(rest | fields | {"domain_justification": reason})


def test_what_nobody_stated_is_not_stated() -> None:
    assert domain_origin.sentence(spec()) == "Where the columns and their values came from: not stated."
    assert not domain_origin.from_data(spec())
    Plan.of(spec())


@pytest.mark.parametrize("own", ORIGINS)
def test_the_document_of_a_domain_keeps_its_origin(own: str) -> None:
    domain = Domain.from_json(spec(own).domain)
    assert domain.origin == own
    assert parse_domain(json.dumps(domain.to_json())).origin == own
    assert domain.keep(["a"]).origin == domain.ordered_like(["a"]).origin == own
    assert Domain.from_json({"origin": 3}).origin == ""  # the benchmark form: a column of this name


@pytest.mark.parametrize("own", ["guessed", "unstated", 3, ["data"]])
def test_an_unknown_origin_is_refused(own: Any) -> None:
    with pytest.raises(InputError, match=r"domain\.origin"):
        Domain.from_json({"version": 1, "attributes": [{"name": "a", "kind": "coded", "size": 2}], "origin": own})


NEEDY = [(DATA, None), (DATA, "typed"), (DATA, "codebook"), ("", DATA), ("typed", DATA), ("codebook", "public")]


@pytest.mark.parametrize(("own", "stated"), NEEDY)
@pytest.mark.parametrize("reason", ["", " ", "x", "aaaa"])
def test_without_a_reason_it_is_refused(own: str, stated: str | None, reason: str) -> None:
    refused(Plan.of, spec(own, stated, reason), saying="domain_justification")
    Plan.of(spec(own, stated, REASON))


def test_a_statement_does_not_launder_what_the_document_says() -> None:
    laundered = spec(DATA, "typed", REASON)
    assert domain_origin.from_data(laundered)
    assert "the private table itself" in domain_origin.sentence(laundered)
    assert "typed by the curator" in domain_origin.sentence(laundered)
    assert "domain-from-data" in [leak.code for leak in leaks.find(laundered, 0)]


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_same_origin_twice_needs_no_reason_but_that_of_data(origin: str) -> None:
    Plan.of(spec(origin, origin, REASON if origin == DATA else ""))
    assert domain_origin.clause(spec(origin)) == domain_origin.clause(spec(origin, origin)) == domain_origin.clause(spec("", origin))
