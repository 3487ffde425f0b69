"""What a few runs of two programs say about which errs less, and what that says of the papers' claims."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import claims, papers
from benchmarks.claims import FAILS, HOLDS, OPEN, PARTLY
from benchmarks.figures import LESS, MORE, UNDECIDED, verdict


def test_only_runs_that_do_not_overlap_decide() -> None:
    assert verdict([1.0, 2.0, 3.0], [3.5, 4.0, 5.0]) == LESS
    assert verdict([3.5, 4.0, 5.0], [1.0, 2.0, 3.0]) == MORE
    assert verdict([1.0, 2.0, 3.6], [3.5, 4.0, 5.0]) == UNDECIDED
    assert verdict([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]) == UNDECIDED
    assert verdict([1.0, 2.0, 3.0], [3.5, 4.0]) == UNDECIDED


def test_a_claim_holds_if_it_holds_in_each_setting_and_fails_if_it_fails_in_one() -> None:
    three, larger, fewer = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.4, 0.5]
    assert claims.judged([("a: ", three, larger)]) == claims.Finding(HOLDS, "a: 0.2 and 0.5")
    assert claims.judged([("a: ", three, larger), ("b: ", three, fewer)]).verdict == PARTLY
    found = claims.judged([("a: ", three, larger), ("b: ", larger, three), ("c: ", three, [])])
    assert found == claims.Finding(FAILS, "a: 0.2 and 0.5; b: 0.5 and 0.2 (does not hold); c: 0.2 and no run (undecided)")
    assert claims.judged([("b: ", three, fewer)]).verdict == OPEN


def aim_runs(errors: dict[str, float], table: str = "titanic", epsilon: float = 1.0) -> list[dict[str, Any]]:
    setting = {"table": table, "workload": "all-3way", "epsilon": epsilon, "max_size_mb": 0.0}
    return [setting | {"mechanism": name, "error": error + 0.001 * i} for name, error in errors.items() for i in range(3)]


def test_aim_is_best_where_it_errs_less_than_each_other_mechanism() -> None:
    records = {
        "aim_figures": aim_runs({"aim": 0.1, "mst": 0.2, "gem": 0.15, "hdmm": 0.01}) + aim_runs({"aim": 0.3, "mst": 0.2}, epsilon=0.1)
    }
    assert claims.best("aim", 0.85, "all-3way", False)(records) == claims.Finding(
        FAILS, "1 of 2 settings, 0 undecided; beaten by MST (titanic, 0.1)"
    )
    assert claims.best("aim", 1.0, "all-3way", False, 1.0)(records).verdict == HOLDS  # HDMM writes no rows
    assert claims.best("aim", 0.85, "target", False)(records).verdict == OPEN
    assert claims.best("aim", 0.3, "all-3way", False)({"aim_figures": aim_runs({"aim": 0.1}) + aim_runs({"mst": 0.2})[:2]}).verdict == OPEN


def test_another_errs_more_on_average_if_even_its_best_runs_do() -> None:
    three = [run for x in (0.1, 1.0, 10.0) for run in aim_runs({"aim": 0.1, "mst": 0.2, "gem": 0.05, "rap": 0.101}, epsilon=x)]
    verdicts = {name: claims.times(name, 2.0, "all-3way", False)({"aim_figures": three}).verdict for name in ("mst", "gem", "rap")}
    assert verdicts == {"mst": HOLDS, "gem": FAILS, "rap": OPEN}
    assert claims.times("mst", 2.0, "all-3way", False)({"aim_figures": three[:24]}).verdict == OPEN  # two settings


def test_growth_is_compared_by_every_pair_of_runs() -> None:
    def side(name: str, *errors: float) -> list[dict[str, Any]]:
        return [{"program": name, "epsilon": x, "error": e} for x, e in zip((1.0,) * 3 + (0.1,) * 3, errors, strict=True)]

    judge = claims.slower("fem", {"program": "fem"}, {"program": "hdmm"}, "epsilon", 1.0, 0.1)
    records = {"fem": side("fem", 1, 1, 1, 2, 2, 2.5) + side("hdmm", 1, 1.1, 1, 9, 9, 9)}
    assert judge(records).verdict == HOLDS
    assert judge({"fem": records["fem"][:7]}).verdict == OPEN


def test_bounds_hold_if_each_is_above_its_error() -> None:
    run = {"mechanism": "aim", "bounds": {"supported": {"error": [0.1, 0.2], "paper": [0.4, 0.2]}}}
    assert claims.bounds_hold("aim")({"aim_figures": [run] * 3}) == claims.Finding(HOLDS, "6 of 6 bounds, 3 runs")
    low = {"mechanism": "aim", "bounds": {"supported": {"error": [0.1], "paper": [0.09]}}}
    assert claims.bounds_hold("aim")({"aim_figures": [run, run, low]}).verdict == FAILS
    assert claims.bounds_hold("aim")({"aim_figures": [run]}).verdict == OPEN


NOTHING: claims.Records = {name: [] for name in (*(program.name for program in papers.PROGRAMS), "pmwpub_tables")}


@pytest.mark.parametrize("paper", claims.CLAIMS)
def test_nothing_is_claimed_of_no_runs(paper: str) -> None:
    found = [finding.verdict for claim in claims.CLAIMS[paper] for finding in claim.findings(NOTHING).values()]
    assert set(found) <= {OPEN, claims.ABSENT}


def test_each_sentence_stands_once() -> None:
    said = [(claim.figure, claim.sentence) for paper in claims.CLAIMS.values() for claim in paper]
    assert len(set(said)) == len(said)


def test_the_page_says_what_the_records_say() -> None:
    page = papers.PAGE.read_text(encoding="utf-8")
    assert page == papers.written(page, papers.recorded()), "write it anew: python -m benchmarks papers --longest 0"


def test_what_is_missing_is_told_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    papers.main(["--missing", "--only", "RAP 3", "--runs", "1000"])
    *cells, last = capsys.readouterr().out.splitlines()
    assert len(cells) == 12
    assert all(cell.startswith("RAP 3: ") for cell in cells)
    assert " runs in 12 cells: about " in last
