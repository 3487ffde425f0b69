"""The wording of reports and verdicts is the one that is kept in `snapshots/`.

    python -m pytest -q tests/report/test_wording.py --write-snapshots

writes it again. Read the difference like code: it is what a reader of a release sees.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.quality import GAUSSIAN, INDEPENDENT, Headline
from dpsynth_core.evaluation.unread import Unread
from dpsynth_core.evaluation.verdict import MISFIT, NOISE, PARTLY, PUBLISH, UNREAD, UNSHOWN, WITHHOLD, Purpose, Simpler, Verdict
from dpsynth_core.report import words
from dpsynth_core.report.facts import byline, counted, sentence
from tests.golden import goldens
from tests.readability import blocks_of_html
from tests.report import wizard

SNAPSHOTS = Path(__file__).with_name("snapshots")

_GOOD = Verdict(
    kind=PUBLISH,
    tables=3,
    within=3,
    bounded=3,
    good=("a × b", "a × c", "b × c"),
    poor=(),
    unknown=(),
    sizes=(Purpose(3, 3, 1), Purpose(3, 3, 2)),
    columns=(Purpose(2, 2, name="a"),),
    simpler=(),
    private=True,
)
_POOR = replace(
    _GOOD,
    kind=WITHHOLD,
    within=1,
    good=("a × b",),
    poor=("b × c",),
    unknown=("a × c",),
    sizes=(Purpose(3, 1, 1), Purpose(3, 1, 2)),
    columns=(),
    causes=(NOISE,),
)
_COLUMNS = Simpler(INDEPENDENT, 0.02, 0.01, 0.03, 0.1, better=True, surely=True)
_MUSTS = replace(_GOOD, kind=UNSHOWN, musts=3, undecided=("every table of the workload",))

VERDICTS: Mapping[str, Verdict] = {
    "all tables are good": _GOOD,
    "single columns are good": replace(
        _GOOD, kind=PARTLY, within=1, good=("a × b",), poor=("b × c", "a × c"), sizes=(Purpose(3, 3, 1), Purpose(3, 1, 2)), causes=(NOISE,)
    ),
    "one table is good": _POOR,
    "many tables are unknown": replace(_POOR, tables=9, unknown=tuple("abcdefg")),
    "the one table is not good": replace(_POOR, tables=1, within=0, good=(), poor=("a × b",), unknown=()),
    "nothing bounds the tables": replace(_POOR, bounded=0),
    "noise as large as the table": replace(_POOR, says_nothing=True, noise=20.0, people=3.0),
    "most of a group are good": replace(_GOOD, within=0, sizes=(Purpose(3, 3, 1), Purpose(3, 3, 2, "", 0.04, 0.08))),
    "a mean is off, one is near, one is open": replace(_GOOD, kind=PARTLY, means=(("gain", False), ("age", True), ("hours", None))),
    "a column is unread": replace(_GOOD, kind=PARTLY, unread=(Unread("c", 0.0, 0.03),), causes=(UNREAD,)),
    "six columns are unread": replace(_POOR, unread=tuple(Unread(name, 0.0, math.nan) for name in "uvwxyz"), causes=(UNREAD, NOISE)),
    "the model does not fit": replace(_POOR, causes=(MISFIT, NOISE)),
    "distances of ordered columns are lost": replace(_GOOD, apart=(("start", "end"),)),
    "a must is undecided": _MUSTS,
    "the only must is undecided": replace(_MUSTS, musts=1),
    "a must is not met": replace(_MUSTS, kind=WITHHOLD, failed=("the mean of age",)),
    "a must was not measured": replace(_MUSTS, kind=WITHHOLD, undecided=(), unmeasured=("the mean of age", "every table")),
    "published with a reason": replace(_MUSTS, failed=("the mean of age",), undecided=(), despite="The limit was a typing error."),
    "not private": replace(_POOR, private=False),
    "a simpler mechanism is better": replace(_POOR, simpler=(_COLUMNS,)),
    "a simpler mechanism may be better": replace(_POOR, simpler=(replace(_COLUMNS, series=GAUSSIAN, surely=False),)),
    "columns alone may be worse": replace(_POOR, simpler=(replace(_COLUMNS, better=False, surely=False),)),
    "columns alone are worse": replace(_POOR, simpler=(replace(_COLUMNS, better=False),)),
    "of households": replace(_GOOD, who="households"),
}


def _of_verdicts() -> Iterator[str]:
    for name, verdict in VERDICTS.items():
        yield f"== {name} =="
        yield from filter(None, (report.ruling(verdict), report.reasons(verdict), report.despite(verdict), report.comparison(verdict)))
        yield from (f"for: {line}" for line in report.fit_for(verdict))
        yield from (f"not for: {line}" for line in report.unfit_for(verdict))


def _of_headlines() -> Iterator[str]:
    whole: Headline = report.quality_of(goldens.kept("aim")).value.headline
    cases = {
        "certified": whole,
        "one table": replace(whole, tables=1),
        "thresholds": replace(whole, threshold=2),
        "no certificate": replace(whole, certified=False, noise=math.nan, bounded=2, largest=math.nan),
        "a certificate that says nothing": replace(whole, certified=False, noise=20.0),
        "noise as large as the table": replace(whole, certified=False, noise=20.0, mean_limit=1.0),
        "nothing bounds": replace(whole, bounded=0),
    }
    for name, headline in cases.items():
        yield f"== {name} =="
        yield sentence(headline)
    table = report.quality_of(goldens.kept("aim")).value.table
    yield "== trusted =="
    for threshold in (0.0, 0.1, 1.0):
        yield report.trusted(table, threshold)
        yield report.trusted(table.head(1), threshold, together=True)


def _of_releases() -> Iterator[str]:
    """Yield what each kind of release of the wizard says, whatever its noise, without numbers: they may differ between processors."""
    for kind, make in wizard.RELEASES.items():
        made = make()
        yield f"== {kind} =="
        lines = [byline(made), counted(made.spec), *(f"protected: {line}" for line in words.protected(made))]
        lines += [f"assumed: {line}" for line in words.assumptions(made)]
        yield from (re.sub(r"\d[\d,.]*(?<=\d)", "0", line) for line in lines if line)


def _of_report(golden: str) -> Iterator[str]:
    yield from blocks_of_html(report.report_page(goldens.kept(golden)).value.decode())


TEXTS: Mapping[str, Callable[[], Iterator[str]]] = {
    "verdicts": _of_verdicts,
    "headlines": _of_headlines,
    "releases": _of_releases,
    **{f"report-{name}": partial(_of_report, name) for name in goldens.specs()},
}
"""The lines of each text by the name of its snapshot."""
KEPT = {f"report-{name}": goldens.folder(name).parents[1] / "report" / "snapshots" for name in goldens.specs()}
"""Where a snapshot is: that of an extension's release is with the extension's tests."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_says_what_its_snapshot_says(name: str, request: pytest.FixtureRequest) -> None:
    lines, snapshot = list(TEXTS[name]()), KEPT.get(name, SNAPSHOTS) / f"{name}.txt"
    if request.config.getoption("--write-snapshots"):
        snapshot.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == snapshot.read_text(encoding="utf-8").splitlines()


def test_every_snapshot_has_a_text() -> None:
    assert {path.stem for folder in {SNAPSHOTS, *KEPT.values()} for path in folder.glob("*.txt")} == set(TEXTS)
