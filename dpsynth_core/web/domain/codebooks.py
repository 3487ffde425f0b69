"""A codebook as the pages take it: its columns, what it says of each, and its rules. It may leave columns open, as a DDI codebook does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from dpsynth_core.foundation.documents import decoded
from dpsynth_core.vocabulary import ddi
from dpsynth_core.vocabulary.domain import Domain, parse_domain
from dpsynth_core.web.domain import domain_table, zeros_table
from dpsynth_core.web.domain.domain_table import Row
from dpsynth_core.web.domain.zeros_table import Rule

ENDINGS = ("json", "csv", "txt", "tsv", "xml")


@dataclass(frozen=True)
class Codebook:
    """names: of its columns. fill: the rows of the Domain page with what it says. rules: about what cannot occur. origin: of the domain."""

    names: tuple[str, ...]
    fill: Callable[[Sequence[Row]], list[Row]]
    rules: list[Rule] = field(default_factory=list)
    origin: str = "codebook"


def of_file(content: bytes) -> Codebook:
    """Domain JSON, codebook CSV or DDI. Raises InputError."""
    text = decoded(content, "codebook")
    if not ddi.is_xml(text):
        return of_domain(parse_domain(text))
    entries = ddi.declared_domain(text)["attributes"]
    return Codebook(tuple(entry["name"] for entry in entries), partial(domain_table.with_declared, declared=entries))


def of_domain(domain: Domain) -> Codebook:
    """A domain in which nothing is open."""
    rules = zeros_table.rules_of({"domain": domain.to_json()})
    return Codebook(domain.names, partial(domain_table.with_domain, domain=domain), rules, domain.origin or "codebook")
