"""The page explore.html: questions to a release, answered in a browser without network, from released values alone.

The page is a frame, the same for every release (`frame`), around one block of JSON with the release's known values. The frame's policy
lets a browser run its own script and nothing else, by its hash. The JSON has no “<”, so that a name in it cannot end the block.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from dpsynth_core.claims.certificate import Certificate
from dpsynth_core.claims.means import MEANS
from dpsynth_core.claims.ranges import RANGES, pairs_of
from dpsynth_core.evaluation.questions import worst
from dpsynth_core.evaluation.questions.breakdown import MOST_LINES
from dpsynth_core.evaluation.questions.known import ALPHA, LIMIT_ALPHA, Known, Limit, known, of_those_left
from dpsynth_core.evaluation.questions.question import MOST_CELLS
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import FIRST
from dpsynth_core.report.answers import CELLS_NAMED, FEW, PHRASES, decimals, mean_of, of_members
from dpsynth_core.report.facts import counted, learnt
from dpsynth_core.report.warnings import warnings
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.ranges import cut_to
from dpsynth_core.vocabulary.rows import Repeated, one_table, row_marginals

EXPLORE = "explore.html"
CODE_BYTES = 6 * 2**20
"""Of the rows' cells: tables of more rows are left out, and their tables of counts are there instead."""
TABLE_CELLS = 500_000
"""Of all tables of one kind, the smallest ones first."""

EARLIER_FRAMES: tuple[str, ...] = (
    "43334e995fd239d67eb35f371108216e4efa9123185bec04a06ebbce2d48e68d",
    "a8071c70ee6dff10c07ed982877c2c9fd7039faf2bf538794d9976ac2f1bcbaf",
    "b712f2c65ea7366d435d0101015351792b10317d83be08bd2801f69e7029ba67",
    "43720fe837a235d4e91ec15687ee6f9bf022ddd213f40a5047cdb5fdec6d689a",
    "4c75771cef5c59dc43ecdb89dbffc0876a71b21167addfd4af7790ca28ad61eb",
    "a812f1c348185fe34b68e3bc6e52b3962ba97b3f4746f45f824b896645c777e9",
    "fcc752eb866e670b220fb0c9be13a394f0e1c4a4392fc239c1e202b7253e4330",
)
"""SHA-256 of the frames that earlier states of this program wrote since 26 November 2026, so that their pages are known to be ours."""

_FOLDER = Path(__file__).parent
_SCRIPTS = ("answers", "address", "quoting", "form")
_NARROW, _WIDE = 2**8, 2**16
_BEGIN = '<script type="application/json" id="data">'


def knowledge(release: Release) -> Known:
    """Return all that a release states about counts, for answers to questions about people.

    With two linked tables the people are the members.
    """
    if release.plan.link is not None:
        from dpsynth_core.evaluation.questions import linked  # loaded for two tables alone

        return linked.of_members(release.plan.link, *_of_pairs(release))
    total = known_total(release.tables_of_columns, release.total if release.plan.unit.total_is_public else None)
    ranged, pairs = release.claims.get(RANGES.name), pairs_of(release.plan)
    about = release.bounds, release.certificate, ranged, pairs
    everybody = known(release.domain, one_table(release.codes), release.tables_of_columns, total, *about)
    found = of_those_left(release.plan.coins, total, everybody, release.certificate, ranged)
    return replace(found, inside=release.inside, means={one.column: one for one in release.claims[MEANS.name]})


def households(release: Release) -> Known:
    """Return all that a release states about counts of households.

    The release must be of two linked tables; otherwise AssertionError is raised.
    """
    from dpsynth_core.evaluation.questions import linked  # loaded for two tables alone

    assert release.plan.link is not None
    return linked.of_households(release.plan.link, *_of_pairs(release))


def _of_pairs(release: Release) -> tuple[Repeated | None, Sequence[Measurement], Certificate | None]:
    codes = release.codes
    assert codes is None or isinstance(codes, Repeated)
    return codes, release.tables_of_columns, release.certificate


def can_answer(release: Release) -> bool:
    """Return whether the release can answer questions: it has rows or noisy tables, and is not a learnt rule."""
    return not learnt(release) and (release.codes is not None or bool(release.measurements))


def explore_page(release: Release, claim: Sequence[str], why_no_rows: str = "") -> Zoned[bytes]:
    """Return explore.html of a release; the same release always gives the same bytes.

    The page holds the rows if their codes take at most 6 MiB, and otherwise tables of counts of the rows. These, and the
    noisy tables, are held up to 500,000 cells each, the smallest first. The page says what is left out.

    Args:
        release: The release, which can answer (`can_answer`).
        claim: The verdict in words.
        why_no_rows: The reason why the page must not hold the rows; "" if it may.
    """
    before, after = frame()
    about = {"claim": list(claim), "warnings": warnings(release)}
    data = _data(release, knowledge(release), why_no_rows) | about
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    inert = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")  # no character means anything in HTML
    return released((before + inert + after).encode())


def frame() -> tuple[str, str]:
    """Return the parts of explore.html before and after its JSON, which are equal for all releases."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = "".join((_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    whole = Template((_FOLDER / "page.html").read_text(encoding="utf-8")).substitute(
        policy=policy, style=style, script=script, limit=f"{LIMIT:.0%}", data=""
    )
    cut = whole.index(_BEGIN) + len(_BEGIN)
    return whole[:cut], whole[cut:]


def is_framed(page: bytes) -> bool:
    """Return whether a page is our frame, of this version or an earlier one, around JSON that cannot leave its block.

    Only our own script can then run, for any content of the JSON.
    """
    begin = page.find(_BEGIN.encode()) + len(_BEGIN)
    end = page.find(b"<", begin)  # of the JSON, where the next tag begins
    ours = sha256("".join(frame()).encode()).hexdigest()
    return begin >= len(_BEGIN) and end > 0 and sha256(page[:begin] + page[end:]).hexdigest() in {ours, *EARLIER_FRAMES}


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(release: Release, known: Known, why_no_rows: str) -> dict[str, Any]:
    domain = known.domain
    sizes = [1 if a.size <= _NARROW else 2 if a.size <= _WIDE else 4 for a in domain]  # bytes of each column's codes
    codes = None
    if known.codes is not None and not why_no_rows and len(known.codes) * sum(sizes) <= CODE_BYTES:  # little-endian numbers
        codes = [b64encode(known.codes[:, i].astype(f"<u{size}").tobytes()).decode() for i, size in enumerate(sizes)]
    limits = sorted(known.limits, key=lambda table: (domain.cells(table), table))
    doubts = {one.column: "perhaps not read" if one.shared_with else "not read" for one in release.statements.unread}
    wanted = dict.fromkeys((*limits, *(m.clique for m in known.measurements if known.codes is not None)))
    tables = [] if known.codes is None or codes is not None else _smallest((domain.cells(table), table) for table in wanted)
    measurements = [known.measurements[i] for i in sorted(_smallest((m.values.size, i) for i, m in enumerate(known.measurements)))]
    total = known.total
    return {
        "title": release.spec.name,
        "source": _source(release),
        "file": EXPLORE,
        "limit": LIMIT,
        "private": release.private,
        "counted": " ".join(filter(None, ("" if release.plan.link is None else release.plan.link.words.page, counted(release.spec)))),
        "held": _held(release, known, why_no_rows, codes is not None, len(tables), len(known.measurements) - len(measurements)),
        "columns": [_column(known, attribute, doubts.get(attribute.name, "")) for attribute in domain],
        "rows": None if known.codes is None else len(known.codes),
        "codes": codes,
        "tables": _tables(release, known, tables) if tables else [],
        "measurements": [_measurement(known, m) for m in measurements],
        "total": None if total is None else {"value": total.value, "sigma": _short(total.sigma), "doubt": _short(known.doubt)},
        "limits": [{"columns": _positions(known, table)} | _limit(known.limits[table]) for table in limits],
        "ranges": _ranges(known),
        "z": {"alone": _short(normal(1 - ALPHA / 2)), "beside": _short(normal(1 - (ALPHA - LIMIT_ALPHA) / 2))},
        "worst": [_subgroup(known, one) for one in worst.worst(known)],
        "least_share": worst.LEAST_SHARE,
        "most_lines": MOST_LINES,
        "phrases": dict(PHRASES if release.plan.link is None else of_members(release.plan.link.words)),
        "named": CELLS_NAMED,
        "few": FEW,
        "most_cells": MOST_CELLS,
    }


def _source(release: Release) -> str:
    """Return the release date and the privacy budget, for the citation of an answer."""
    budget = release.spec.budget
    promise = f"epsilon {budget.epsilon:g}, delta {budget.delta:g}" if release.private else "NOT PRIVATE, made with predictable noise"
    return f"released on {release.created}, {promise}"


def _smallest(sized: Iterable[tuple[int, Any]]) -> list[Any]:
    held, cells = [], 0
    for size, item in sorted(sized):
        cells += size
        if cells > TABLE_CELLS:
            break
        held.append(item)
    return held


def _held(release: Release, known: Known, why_no_rows: str, rows: bool, tables: int, left_out: int) -> str:
    if known.codes is None:
        what = "This page holds the noisy tables of the release; there are no synthetic rows."
    elif rows:
        what = f"This page holds the cells of all {len(known.codes):,} synthetic rows."
    else:
        what = why_no_rows or f"There are too many synthetic rows ({len(known.codes):,}) for this page."
        what += f" It holds {tables:,} tables of counts of them. Ask synthetic.csv about other columns together."
    if release.plan.link is not None:
        what += f" {release.plan.link.words.explore.format(most=release.plan.link.most)}"
    first = f" Of {1 + len(release.further)} tables of rows it answers from the first, {FIRST}, alone." if release.further else ""
    lacking = f" {left_out:,} large noisy tables are left out, so that intervals may be wider than they need be." if left_out else ""
    return what + first + lacking


def _column(known: Known, attribute: Attribute, doubt: str) -> dict[str, Any]:
    """Return the page's description of a column.

    `doubt` is "not read", "perhaps not read" or "", and is shown after the label. The cells of a
    column in doubt get no numbers ("values" is None), so that the page computes no mean.
    """
    values, stated = None if doubt else known.values(attribute.name), known.means.get(attribute.name)
    numbers = None if stated is None else {"value": stated.value, "low": stated.low95, "high": stated.high95, "rows": stated.rows}
    return {
        "name": attribute.name,
        "label": ", ".join(filter(None, (attribute.label, doubt))),
        "cells": list(attribute.cell_labels()),
        "values": None if values is None else [None if np.isnan(value) else float(value) for value in values],
        "half": known.off(attribute.name) if values is not None else 0.0,
        "standing": known.standing(attribute.name) if values is not None else "",
        "mean": None if values is None else numbers,
        "mean_of": mean_of(attribute),
        "cut": bool(cut_to(attribute)),
        "decimals": decimals(attribute),
        "ordered": attribute.ordered,
    }


def _positions(known: Known, clique: Clique) -> list[int]:
    return [known.domain.position(name) for name in clique]


def _tables(release: Release, known: Known, cliques: list[Clique]) -> list[dict[str, Any]]:
    """Return the counts of synthetic rows in the tables over `cliques`, flattened."""
    assert known.codes is not None
    if known.codes is release.codes:  # most of them were counted for what the release says of its tables
        counted = {r: np.rint(share * len(known.codes)).astype(int) for r, share in release.final.released.published(cliques).items()}
    else:
        counted = row_marginals(known.domain, known.codes, cliques)
    return [{"columns": _positions(known, clique), "counts": counted[clique].ravel().tolist()} for clique in cliques]


def _subgroup(known: Known, one: worst.Subgroup) -> dict[str, Any]:
    numbers = {name: _short(getattr(one, name)) for name in ("value", "low", "high", "surely", "perhaps")}
    return {"columns": _positions(known, one.table), "codes": one.codes, "measured": one.measured} | numbers


def _limit(limit: Limit) -> dict[str, Any]:
    return {"support": limit.support, "alone": _short(limit.alone), "beside": _short(limit.beside)}


def _ranges(known: Known) -> dict[str, Any] | None:
    if (ranges := known.ranges) is None:
        return None
    limits = {name: limit and _limit(limit) for name, limit in (("alone", ranges.alone), ("within", ranges.within))}
    return {"columns": _positions(known, ranges.columns), "pairs": sorted(_positions(known, pair) for pair in ranges.pairs), **limits}


def _short(number: float) -> float:
    """Return a number rounded to 12 significant digits.

    Another processor may compute further digits otherwise, and the page is compared byte for byte.
    """
    return float(f"{number:.12g}")


def _measurement(known: Known, m: Measurement) -> dict[str, Any]:
    values = [int(value) if value.is_integer() else value for value in m.values.ravel().tolist()]
    return {"columns": _positions(known, m.clique), "variance": _short(m.deviation**2), "spread": m.spread, "values": values}
