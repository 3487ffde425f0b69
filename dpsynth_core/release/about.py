"""The description in a file of rows, because files travel without their bundle: its people are not real, and where its record is."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.domain import Domain

_OF_PANDAS = "PANDAS_ATTRS"
"""What pandas reads as the `attrs` of a frame."""


@dataclass(frozen=True)
class About:
    """The description of a release in its files of rows.

    Attributes:
        seal: SHA-256 of the plan, as in release.json and the ledger.
        epsilon: Epsilon of the budget.
        delta: Delta of the budget.
        protects: Whether the noise protects people's records: they are real, and the noise is not
            repeatable.
        stated: The curator's statements on licence, creators and the like.
        mechanism, relation, program: Name of the mechanism, the neighbouring relation, and the version
            of this program that made the release; "" where unknown.
    """

    seal: str
    epsilon: float
    delta: float
    protects: bool
    stated: AboutSpec
    mechanism: str = ""
    relation: str = ""
    program: str = ""

    @classmethod
    def of(cls, spec: Spec, seal: str = "", program: str = "") -> About:
        """Return the description of a release.

        Args:
            spec: The spec of the release.
            seal: Digest of the plan in the release's document if it differs from `spec.digest()` in
                this version (`Release.seal`); "" if it does not.
            program: Version of this program that made the release; "" if unknown.
        """
        made = {"mechanism": spec.mechanism.name, "relation": spec.unit.relation, "program": program}
        return cls(seal or spec.digest(), spec.budget.epsilon, spec.budget.delta, spec.protects, spec.about or AboutSpec(), **made)

    @property
    def label(self) -> str:
        """A title of at most 40 characters, the limit of SAS transport files, with the beginning of the plan's digest."""
        return f"SYNTHETIC ROWS, plan {self.seal[:12]}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The description as lines of at most 80 bytes of UTF-8, the limit of notes in SPSS."""
        facts = [": ".join(fact) for fact in self.stated.facts()]
        promise = f"epsilon {self.epsilon:g}, delta {self.delta:g}" if self.protects else "none; of invented people, or with known noise"
        return (
            "These rows are synthetic: nobody in them is a real person.",
            "Do not link them to records of people, and decide about no person by them.",
            f"Differential privacy: {promise}.",
            f"Plan (SHA-256): {self.seal[:32]}",
            f"                {self.seal[32:]}",
            "How far off they are is in release.json of their bundle.",
            *(line for text in facts for line in textwrap.wrap(text, 80 // max(len(letter.encode()) for letter in text))),
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Facts for programs, by name: "synthetic" (True), "plan_sha256", "epsilon", "delta" and "private" (as `protects`)."""
        return {"synthetic": True, "plan_sha256": self.seal, "epsilon": self.epsilon, "delta": self.delta, "private": self.protects}

    def described(self, schema: pa.Schema, domain: Domain) -> pa.Schema:
        """Return a schema with the description, and with the labels of columns and values, as metadata.

        Fields and types stay as they are; metadata of the schema as a whole is replaced.

        Args:
            schema: Schema of the rows of an Arrow or Parquet file.
            domain: The columns of the rows.
        """
        texts = {c.name: c.label for c in domain.columns if c.label}
        values = {c.name: dict(zip(c.categories, c.labels, strict=True)) for c in domain.columns if c.labels}
        said: dict[str, dict[str, str]] = {name: {"label": text} for name, text in texts.items()}
        for name, labels in values.items():
            said[name] = said.get(name, {}) | {"value_labels": json.dumps(labels, ensure_ascii=False)}
        about = {"title": self.label, "description": " ".join(self.lines)}
        attrs = about | self.facts | dict(self.stated.facts()) | {"labels": texts, "value_labels": values}
        fields = [field.with_metadata(said[field.name]) if field.name in said else field for field in schema]
        return pa.schema(fields, metadata=about | {_OF_PANDAS: json.dumps(attrs, ensure_ascii=False)})
