"""The costs of sets are stated as a multiple of the run and the rows of their own release."""

from __future__ import annotations

from benchmarks import set_costs


def test_each_ratio_is_of_one_release() -> None:
    """Ratios are 2, 3 and 0.5: their median is that of none of the medians of steps."""
    setting = {"mechanism": "aim", "workload": "all-2way", "epsilon": 1.0, "sets": 20}
    steps = [(1.0, 1.0, 1.0), (4.0, 2.0, 10.0), (8.0, 3.0, 1.0)]
    runs = [{**setting, "run": run, "preparing": preparing, "drawing": drawing} for run, preparing, drawing in steps]
    *_, row = set_costs.lines({"runs": runs})
    assert [cell.strip() for cell in row.strip("| ").split("|")][4:] == ["3", "4.0", "2.0", "1.0", "2.00 (0.50 to 3.00)"]
