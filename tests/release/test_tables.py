"""Several tables of rows from one measurement: the first is what it is alone, the others are drawn anew and cost nothing."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import MAX_TABLES, MAX_UNSTATED_ROWS, Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import spool, tables
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import as_table
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.released import of_codes
from tests.additions import listed
from tests.bundle.bundles import run, spec
from tests.refusals import refused

SEED = 7
WITHOUT_ROWS = [name for name, one in registry.MECHANISMS.items() if one.card.publishes_tables and not one.card.makes_rows]


def made(count: int, mechanism: str = "independent", rows: int = 2_000) -> Release:
    return run(spec(mechanism={"name": mechanism}, output={"rows": rows, "tables": count, "seed": SEED}))


def counts(release: Release, table: Any) -> dict[Any, Any]:
    codes = encode(release.domain, as_table(table), Notation(frozenset()))
    stacked = np.column_stack([codes[name] for name in release.domain.names])
    return {clique: of_codes(release.domain, stacked, clique) for clique in release.plan.workload.cliques}


def test_the_first_table_and_what_is_spent_are_those_of_one_table() -> None:
    one, three = made(1), made(3)
    assert np.array_equal(one.codes, three.codes)
    assert one.table.equals(three.table)
    assert one.rho_spent == three.rho_spent
    assert one.charges == three.charges
    assert not one.further
    assert releases.to_json(one)["rows"]["tables"] == 1
    assert one.spec.digest() == run(spec(mechanism={"name": "independent"}, output={"rows": 2_000, "seed": SEED})).spec.digest()
    assert len(three.further) == 2


@pytest.mark.parametrize("mechanism", ["independent", "aim", *listed("DRAWN_TWICE")])
def test_tables_differ_and_follow_the_same_law(mechanism: str) -> None:
    """Sums of cells of two tables from one model differ by no more than two independent draws of as many rows: 5 deviations, of a few
    hundred cells, are exceeded by chance once in a thousand seeds; this one is fixed."""
    release = made(3, mechanism)
    first, *others = (counts(release, table) for table in (release.values, *release.further))
    assert len({as_table(table).to_pandas().to_csv() for table in (release.values, *release.further)}) == 3
    for other in others:
        for clique, table in first.items():
            expected = np.maximum(1.0, (table + other[clique]) / 2)
            assert (np.abs(table - other[clique]) <= 5 * np.sqrt(2 * expected) + 5).all()


def test_no_table_has_an_impossible_combination() -> None:
    release = made(4, "aim")
    for table in release.further:
        held = counts(release, table)
        for clique, impossible in release.domain.zeros.items():
            assert not held[clique][impossible].any()


def test_kept_tables_come_back(tmp_path: Path) -> None:
    release = made(3)
    releases.save(release, tmp_path)
    loaded = releases.load(tmp_path)
    assert [as_table(table).equals(as_table(kept)) for table, kept in zip(release.further, loaded.further, strict=True)] == [True, True]
    assert releases.document(loaded) == releases.document(release)


def test_seeds_follow_from_seed_and_number_and_are_none_of_another_use() -> None:
    seeds = [tables.seed(row_seed, number) for row_seed in (0, 1, 2**62) for number in range(1, MAX_TABLES + 1)]
    assert len(set(seeds)) == len(seeds)
    assert tables.seed(5, 1) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_mechanisms_without_rows_refuse_before_anything_is_read(name: str) -> None:
    with pytest.raises(InputError, match="no model that tables of rows could be drawn from") as refused:
        Plan.of(spec(mechanism={"name": name}, output={"tables": 2}))
    assert refused.value.field == "output.tables"
    assert refused.value.remedy


@pytest.mark.parametrize(("rows", "count"), [(None, 0), (None, MAX_TABLES + 1), (15_000_000, 2)])
def test_numbers_that_cannot_be_are_refused(rows: int | None, count: int) -> None:
    stated = spec().model_dump(mode="json") | {"output": {"rows": rows, "tables": count}}
    error = refused(lambda: Plan.of(Spec.from_json(stated)))
    assert error.field == "output.tables"


def test_readers_are_told_what_several_tables_are_for() -> None:
    text = tables.explained(3)
    assert "do not hold" in text
    assert "synthetic.csv, alone" in text
    assert tables.explained(1) == ""
    assert replace(made(1)).further == ()


def test_a_disk_forecast_counts_unstated_rows_of_several_tables_and_says_that_it_leaves_out_those_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How much one unstated table needs is not known before the run; several are counted as the most that they can be, as for memory."""
    usage = shutil.disk_usage(tmp_path)._replace(free=2**20)
    monkeypatch.setattr(spool.shutil, "disk_usage", lambda _: usage)

    def needed(**output: Any) -> tuple[int, str]:
        with pytest.raises(InputError, match="make room first") as refused:
            spool.check_room(Plan.of(spec(mechanism={"name": "independent"}, output=output)), tmp_path, "--out")
        return int(re.findall(r"may need ([\d,]+) MB", refused.value.problem)[0].replace(",", "")), str(refused.value)

    alone, said = needed()
    assert "besides the rows, whose number is not stated" in said
    stated, said = needed(tables=3, rows=MAX_UNSTATED_ROWS)
    assert "besides" not in said
    assert needed(tables=3) == (stated, said)
    assert stated > alone
