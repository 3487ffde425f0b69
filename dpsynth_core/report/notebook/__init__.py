"""The notebook `analysis.ipynb`: how to analyse a release, in cells that run on its bundle alone.

`analysis.txt` has the text of the notebook. A line that begins with “%%” opens a cell of text or code with its condition: all words after
`if` must be true of the release, and none after `unless` (`_truths`). `$name` stands for a fact of the release. The notebook contains no
result of floating-point arithmetic, so that it is the same, byte for byte, for every library and processor.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from string import Template
from typing import Any

from dpsynth_core.claims.certificate import ROWS
from dpsynth_core.claims.means import MEANS
from dpsynth_core.evaluation.bounds import UNBOUNDED
from dpsynth_core.evaluation.questions.question import cell_values
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release
from dpsynth_core.report.answers import decimals
from dpsynth_core.report.card import plain
from dpsynth_core.report.facts import byline, counted, learnt
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.ranges import cut_to

NOTEBOOK = "analysis.ipynb"

_CELLS = Path(__file__).with_name("analysis.txt")
_OPENING = re.compile(r"^%% (text|code)(?: if ([a-z_, ]+?))?(?: unless ([a-z_, ]+))?\n", re.MULTILINE)
_SOURCES = (
    "No certificate was made, or its noise is as large as the table: these limits follow from the noisy tables, and from what the "
    "mechanism preferred to a table.",
    "A share of the budget was spent on measuring how far the rows are from the people.",
)
_TOGETHER = (
    "those of several tables do not hold together with as much confidence.",
    "`limit(…, of=\"simultaneous95\")` holds for all tables at once.",
)


def notebook(release: Release) -> Zoned[bytes]:
    """Return the notebook in the format of Jupyter, version 4.5, without outputs."""
    facts, truths = _facts(release), _truths(release)
    _, *parts = _OPENING.split(_CELLS.read_text(encoding="utf-8"))
    cells = list[dict[str, Any]]()
    for kind, *conditions, source in zip(*(iter(parts),) * 4, strict=True):
        wanted, unwanted = ([truths[name] for name in names.split(", ")] if names else [] for names in conditions)
        if all(wanted) and not any(unwanted):
            text: dict[str, Any] = {"cell_type": "markdown", "id": f"cell-{len(cells) + 1}", "metadata": {}}
            code = {"cell_type": "code", "execution_count": None, "id": text["id"], "metadata": {}, "outputs": []}
            filled = Template(source.strip("\n")).substitute(facts[kind])
            cells.append((text if kind == "text" else code) | {"source": filled.splitlines(keepends=True)})
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    document = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return released((json.dumps(document, indent=1) + "\n").encode())


def _truths(release: Release) -> dict[str, bool]:
    rows, (column, _, number) = release.codes is not None, _examples(release)
    bounded = any(bound.support != UNBOUNDED and math.isfinite(bound.tight) for bound in release.bounds.values())
    limited = release.certificate.of == ROWS if release.certificate and _certified(release) else bounded
    return {
        "private": release.private,
        "criteria": bool(release.criteria),
        "rule": bool(learnt(release)),
        "rows": rows,
        "tables": bool(release.further),
        "columns": rows and column is not None,
        "limits": rows and column is not None and limited,
        "numbers": rows and number is not None,
        "means": bool(_means(release)),
        "measured": not learnt(release) and bool(_smallest(release)),
        "numeric_table": _numeric_table(release) is not None,
    }


def _facts(release: Release) -> dict[str, dict[str, str]]:
    """Return the values of `$name` for cells of text, with Markdown escaped, and for cells of code, as literals."""
    certified = _certified(release)
    column, group, number = _examples(release)
    code: dict[str, object] = {"column": column, "group": group, "number": number, "limits": "certificate" if certified else "bounds"}
    code |= {"table": list(_smallest(release)), "numeric_table": _numeric_table(release), "means": _means(release)}
    text = {"title": release.spec.name, "about": " ".join(filter(None, (byline(release), counted(release.spec))))}
    return {
        "text": {name: plain(value) for name, value in text.items()} | {"source": _SOURCES[certified], "together": _TOGETHER[certified]},
        "code": {name: ascii(value) for name, value in code.items()},
    }


def _means(release: Release) -> dict[str, tuple[int, str]]:
    """Return, for each column of numbers whose mean the release states, the digits that it is written with, and what values were cut to.

    Releases of versions that did not use the noisy tables keep the notebook that they came with.
    """
    stated = (release.domain[one.column] for one in release.claims[MEANS.name] if one.tables is not None)
    return {one.name: (decimals(one), cut_to(one)) for one in stated if _has_numbers(one)}


def _certified(release: Release) -> bool:
    return release.certificate is not None and not release.certificate.says_nothing


def _examples(release: Release) -> tuple[str | None, str | None, str | None]:
    """Return columns for the notebook's examples; None for each that does not exist.

    Columns of dates and times are not taken, because their cells do not follow from rows without
    their scale.

    Returns:
        A column; a column to group it by, of the same table of the workload if there is one and
        else the column itself; and a column of numbers.
    """
    domain = release.domain
    usable = [attribute.name for attribute in domain if not attribute.is_number or _has_numbers(attribute)]
    if not usable:
        return None, None, None
    tables = ([name for name in clique if name in usable] for clique in release.plan.workload.cliques)
    column, group = next(((one[0], one[1]) for one in tables if len(one) > 1), (usable[0], usable[0]))
    return column, group, next((name for name in usable if _has_numbers(domain[name])), None)


def _has_numbers(attribute: Attribute) -> bool:
    return cell_values(attribute) is not None


def _smallest(release: Release) -> Clique:
    """Return the columns of the noisy table with the fewest cells; () without a noisy table."""
    tables = [m.clique for m in release.tables_of_columns if m.clique]
    return min(tables, key=lambda clique: (release.domain.cells(clique), clique), default=())


def _numeric_table(release: Release) -> str | None:
    """Return the first column of numbers that a noisy table contains; None without one."""
    measured = {name for m in release.tables_of_columns for name in m.clique}
    return next((name for name in release.domain.names if name in measured and _has_numbers(release.domain[name])), None)
