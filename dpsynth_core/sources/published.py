"""A published table as a file: a line for each value of a column, or each combination of values of several, and how many people had it."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.sources.codec import encode_column, floats
from dpsynth_core.sources.detect import detect_without_doubt
from dpsynth_core.sources.files import TableSource, opened
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.outside import apart
from dpsynth_core.vocabulary import published
from dpsynth_core.vocabulary.domain import Domain

COUNT = "count"


def section(source: TableSource, domain: Domain, where: str, field: str) -> dict[str, Any]:
    """As `_section`, whose errors name `field`, and not the private table."""
    try:
        return _section(source, domain, where, field)
    except InputError as error:
        if error.field.startswith(field):
            raise
        raise InputError(field if error.field == "data" else f"{field}, {error.field}", error.problem, error.remedy) from None
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(field, "it holds something else than values and numbers", "write texts and numbers of people") from None


def _section(source: TableSource, domain: Domain, where: str, field: str) -> dict[str, Any]:
    """The spec's section about it. source: columns of the domain, and `count`; lines whose values are in one cell are added up. where: it
    was published. field: what errors are about. Raises InputError, also for what `vocabulary.published.read` refuses."""
    table = opened(source, detect_without_doubt(source, field) if isinstance(source, str | os.PathLike) else TableFormat())
    table.check()
    names = table.column_names()
    if COUNT not in names or (strange := [name for name in names if name != COUNT and (name not in domain or domain[name].most)]):
        problem = f"its column {shown(strange[0])} has no values in the domain" if COUNT in names else f"it has no column {COUNT!r}"
        raise InputError(field, problem, f"give columns of the domain, and their numbers of people in the column {COUNT!r}")
    columns, people = [domain[name] for name in names if name != COUNT], defaultdict[tuple[str, ...], float](float)
    for batch in table.batches(names):
        labels = []
        for attribute in columns:
            column = batch.column(batch.schema.get_field_index(attribute.name))
            absent, unlisted = apart(attribute, column, table.form.notation)
            if unlisted.any() or (absent.any() and not attribute.missing):
                problem = f"a value of its column {shown(attribute.name)} is not in the domain"
                raise InputError(field, problem, "write the values as the domain does, and of one cell of it in each line")
            labels.append(np.array(attribute.cell_labels(), dtype=object)[encode_column(attribute, column, table.form.notation)])
        counts = floats(batch.column(batch.schema.get_field_index(COUNT)), table.form.notation)
        if np.isnan(counts).any():
            raise InputError(field, f"in its column {COUNT!r} is something else than a number", "write numbers of people")
        for *cell, count in zip(*labels, counts.tolist(), strict=True):
            people[tuple(cell)] += count
    stated, cells = [attribute.name for attribute in columns], [[*cell, count] for cell, count in people.items()]
    published.read(stated, cells, where, domain.attributes, field)
    return {"columns": stated, "cells": cells, "source": where}
