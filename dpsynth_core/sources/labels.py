"""A domain from what a file says of itself: labels, types, declared missing values. No record is read.

Labels are a questionnaire's: public before anybody answered. What a file does not say of itself, such as bounds, stays open, and whoever
knows the table fills it in (`vocabulary.declared`).
"""

from __future__ import annotations

from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.files import FileTable
from dpsynth_core.sources.formats import STATISTICAL, TableFormat
from dpsynth_core.sources.locations import Location
from dpsynth_core.vocabulary.declared import domain_json
from dpsynth_core.vocabulary.domain import LABELS


def declared_domain(path: Location, form: TableFormat) -> dict[str, Any]:
    """The JSON of a domain with all columns in file order. Raises InputError."""
    if form.kind == "jsonl":
        raise InputError("data", "JSON lines say nothing of themselves but in their records", "write the domain by hand")
    return domain_json(FileTable.of(path, form).described(), LABELS if form.kind in STATISTICAL else "")
