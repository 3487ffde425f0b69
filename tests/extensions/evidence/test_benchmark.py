"""The program that measures how often intervals hold: what it compares is what releases state."""

from __future__ import annotations

import pytest

from benchmarks import yardsticks as benchmark


@pytest.fixture(scope="module")
def runs() -> list[dict[str, object]]:
    """Three releases of 500 invented people with 20 certificates each."""
    source = benchmark.WORLDS["skewed"]()
    point = {"world": "skewed", "mechanism": "aim", "epsilon": 4.0}
    return [{**point, "seed": seed, **benchmark.measured(source, "aim", 4.0, seed, 20)} for seed in range(3)]


def test_intervals_hold_in_most_certificates(runs: list[dict[str, object]]) -> None:
    """Of 60 intervals of 95 %, seven or more miss with a probability of 4 % if all were independent; three releases share their rows."""
    (line,) = benchmark._rows(runs)
    held_columns, held_pairs = str(line[4]).split("; ")
    assert line[3] == "3 × 20"
    for held in (held_columns, held_pairs, str(line[9])):
        assert float(held.rstrip("%")) >= 88


def test_further_certificates_are_of_the_same_rows_with_other_noise(runs: list[dict[str, object]]) -> None:
    for run in runs:
        certificates = run["certificates"]
        assert isinstance(certificates, list)
        estimates = {one["scores"][1]["estimate"] for one in certificates}
        assert len(estimates) == 20
        true, width = run["scores"][1], [(one["scores"][1]["high"] - one["scores"][1]["low"]) / 2 for one in certificates]  # type: ignore[index]
        assert abs(sum(estimates) / 20 - true) < max(width)
