"""Drafts of a release in preparation, complete or not, for tests of the pure parts of the wizard."""

from __future__ import annotations

from typing import Any

from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.web.shell import document

DOMAIN = Domain(
    (Attribute.integer("age", 0, 9), Attribute.categorical("sex", ["f", "m"]), Attribute.categorical("eye", ["blue", "brown", "green"]))
)


def complete() -> dict[str, Any]:
    """A draft that could be run at once."""
    draft = document.new()
    draft |= {
        "population": "People",
        "data": {"path": "/data/people.csv", "kind": "csv", "delimiter": ",", "encoding": "utf-8", "missing_markers": [""]},
        "domain": DOMAIN.to_json(),
        "domain_origin": "typed",
        "domain_justification": "",
        "workload": {"kind": "all", "k": 2},
    }
    draft["wizard"] |= {
        "columns": list(DOMAIN.names),
        "source": "path",
        "label": "people.csv",
        "passed": ["data", "domain", "workload", "budget"],
    }
    return draft


def new() -> dict[str, Any]:
    """A draft of a project that was just made."""
    return document.new()
