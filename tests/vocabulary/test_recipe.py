"""ARCHITECTURE.md says how to add a kind: done here, in a copy of the project, and what is said to follow from it follows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.recipes import check_suite, copied, entry, run

FILE = "vocabulary/kinds/years.py"
CODE = '''"""Years, such as those of birth."""

from __future__ import annotations

from typing import Any

from dpsynth_core.vocabulary.kinds.kind import Form, Kind
from dpsynth_core.vocabulary.kinds.numbers import WholeNumbers


class Years(WholeNumbers):
    noun = "year"
    wanted = "years such as 1987"

    def default_width(self, least: float) -> Any:
        return next((width for width in (5, 10, 25, 50) if width >= least), 100)

    def first_look(self) -> list[float]:
        return list(range(1000, 2201, 100))


YEAR = Kind(
    "year",
    "Year",
    "A year, such as that of a birth, between two bounds.",
    Form.BINNED,
    ("lower", "upper", "width", "bins", "edges", "other", "missing"),
    dtype="int64",
    learnable=True,
    scale=lambda _: Years(),
    examples=("1900", "2024", "10"),
)
'''
STRATEGY = '''

@st.composite
def year_attributes(draw: st.DrawFn, name: str = "y") -> Attribute:
    lower = draw(st.integers(1000, 2000))
    return Attribute.binned(name, "year", lower, lower + draw(st.integers(0, 200)), **draw(number_cells()))


'''
SUITE = ("tests/vocabulary/test_kinds.py", "tests/sources/test_codec.py")
"""Where tests go through all kinds, draw columns of any, or look at all files."""
CHOSEN = "year or every_kind_is_here or every_cell_survives"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with one kind of column more."""
    copy = copied(tmp_path_factory.mktemp("project"))
    core = copy / "dpsynth_core"
    # 1. one file
    (core / FILE).write_text(CODE, encoding="utf-8")
    # 2. the registry
    before = "from dpsynth_core.vocabulary.kinds.times import DURATION, TIME, TIMESTAMP\n"
    imported = before, f"{before}from dpsynth_core.vocabulary.kinds.years import YEAR\n"
    entry(core / "vocabulary" / "kinds" / "registry.py", imported, ("INTEGER, NUMERIC, DATE,", "INTEGER, NUMERIC, YEAR, DATE,"))
    # 3. its values are whole numbers: nothing
    # 4. a column and a strategy for the tests
    column, drawn = '    "date": {"lower": "2024-01-01"', "def coded_attributes("
    entry(copy / "tests/vocabulary/test_kinds.py", (column, f'    "year": {{"lower": 1900, "upper": 2024, "width": 10}},\n{column}'))
    among = "day_attributes, time_attributes)", "day_attributes, time_attributes, year_attributes)"
    entry(copy / "tests" / "domains.py", (drawn, STRATEGY.lstrip() + drawn), among)
    return copy


@pytest.mark.slow  # a session of pytest over three files
def test_the_tests_of_all_kinds_try_it(project: Path) -> None:
    check_suite(project, CHOSEN, *SUITE)


def test_it_is_stated_and_learnt_and_comes_back_in_a_release(project: Path) -> None:
    """Stated by a width, and learnt from noisy counts alone."""
    born = [year for year in range(1900, 2000) for _ in range(40)]
    (project / "people.csv").write_text("born,died\n" + "".join(f"{year},{year + 20}\n" for year in born), encoding="utf-8")
    stated = {"name": "born", "kind": "year", "lower": 1900, "upper": 1999, "width": 10, "label": "Year of birth"}
    domain = {"version": 1, "attributes": [stated, {"name": "died", "kind": "year", "discover": True}]}
    (project / "domain.json").write_text(json.dumps(domain), encoding="utf-8")
    plan = ("--domain", "domain.json", "--workload", "all-2way", "--epsilon", "2", "--delta", "1e-9", "--mechanism", "independent")
    run(project, "dpsynth_core", "synthesize", "people.csv", *plan, "--out", "out")
    release = json.loads((project / "out" / "release.json").read_text(encoding="utf-8"))
    kinds = {one["name"]: one["kind"] for one in release["domain"]["attributes"]}
    assert kinds == {"born": "year", "died": "year"}
    with (project / "out" / "synthetic.csv").open(encoding="utf-8", newline="") as rows:
        years = [int(row["born"]) for row in csv.DictReader(rows) if row["born"]]
    assert min(years) >= 1900
    assert max(years) <= 1999


def test_the_domain_page_offers_it(project: Path) -> None:
    code = (
        "from dpsynth_core.vocabulary.domain import Domain\n"
        "from dpsynth_core.web.domain.column_draft import ColumnDraft, blank\n"
        "row = blank('born').changed(kind='year', lower='1900', upper='1999', width='10')\n"
        "print(row.cells(), row.attribute().cell_labels()[0], ColumnDraft.of(row.complete()).bins_text())\n"
        "print(row.changed(upper='soon').problem().problem)\n"
    )
    (project / "shown.py").write_text(code, encoding="utf-8")
    assert run(project, "shown").stdout.splitlines() == ["12 1900 to 1909 10", "“soon” is not a whole year"]
