"""A codebook as the pages take it: its columns, what it says of each, and its rules. It may leave columns open, as a DDI codebook does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dpsynth_core.foundation.documents import decoded
from dpsynth_core.foundation.errors import InputError, first_repeated
from dpsynth_core.vocabulary import ddi
from dpsynth_core.vocabulary.codebook import parse_domain
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.web.domain import domain_table, zeros_table
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.domain.zeros_table import Rule

ENDINGS = ("json", "csv", "txt", "tsv", "xml")


@dataclass(frozen=True)
class Codebook:
    """rules: about what cannot occur. origin: of the domain. InputError for two columns of one name."""

    columns: tuple[Column, ...]
    rules: list[Rule] = field(default_factory=list)
    origin: str = "codebook"

    def __post_init__(self) -> None:
        if (repeated := first_repeated(self.names)) is not None:
            raise InputError(column_field(repeated), "the name is used twice", "rename or drop one of the columns")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def fill(self, drafts: Sequence[ColumnDraft]) -> list[ColumnDraft]:
        """The columns of the Domain page with what it says."""
        return domain_table.with_codebook(drafts, self.columns, self.origin)


def of_file(content: bytes) -> Codebook:
    """Domain JSON, codebook CSV or DDI. Raises InputError."""
    text = decoded(content, "codebook")
    if not ddi.is_xml(text):
        return of_domain(parse_domain(text))
    return Codebook(tuple(map(Column.from_json, ddi.declared_domain(text)["attributes"])))


def of_domain(domain: Domain) -> Codebook:
    """A domain in which nothing is open."""
    rules = zeros_table.rules_of({"domain": domain.to_json()})
    return Codebook(tuple(map(Column.of, domain.columns)), rules, domain.origin or "codebook")
