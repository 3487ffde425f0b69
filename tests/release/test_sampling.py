"""Other rows of a released model: what they are, what is refused by name, and that what is said of their errors is true."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.reproduce import refitted
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.release import sampling, synthesis
from dpsynth_core.release.sampling import Refitted, Where, refit, sample
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.vocabulary.rows import row_marginals
from tests.bundle.bundles import edited, made, packed, run, spec
from tests.golden import goldens
from tests.refusals import refused
from tests.releases import close_tables


@cache
def fitted() -> Refitted:
    return refit(made())


def test_the_model_that_is_fitted_again_is_the_one_that_wrote_the_rows() -> None:
    assert not fitted().other
    np.testing.assert_array_equal(fitted().released.codes, made().codes)


def test_a_bundle_alone_gives_the_same_rows_and_opens_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    close_tables(monkeypatch)
    again = refitted(unpack.read_bytes(packed()))
    assert not again.other
    np.testing.assert_array_equal(sample(again, 50).rows.codes, sample(fitted(), 50).rows.codes)


def test_as_many_rows_as_asked_for_are_drawn_and_another_seed_gives_others() -> None:
    one, same, other = (sample(fitted(), 5000, seed=seed).rows for seed in (1, 1, 2))
    assert one.num_rows == 5000
    np.testing.assert_array_equal(one.codes, same.codes)
    assert not np.array_equal(one.codes, other.codes)
    assert not np.array_equal(one.codes[:400], made().codes)


@pytest.mark.parametrize(
    "where", [{"sex": "female"}, {"marital_status": ("married", "widowed")}, {"sex": "male", "age": ["20 to 39", "40 to 59"]}]
)
def test_rows_of_a_group_are_all_in_it_and_divide_as_the_model_says(where: Where) -> None:
    rows = 20_000
    drawn, model, domain = sample(fitted(), rows, where).rows, fitted().model, fitted().plan.domain
    cells = {name: of.cells for name, of in sampling.parts_of(domain, where).items()}
    for name, chosen in cells.items():
        assert set(np.unique(drawn.codes[:, domain.position(name)])) <= set(chosen)
    clique = domain.clique({*cells, "health"})
    expected = model.marginal(clique)[np.ix_(*(cells.get(name, range(domain[name].size)) for name in clique))]
    ours = row_marginals(domain, drawn.codes, [clique])[clique][np.ix_(*(cells.get(name, range(domain[name].size)) for name in clique))]
    # of independent rows, sqrt(cells / rows) / 2 is the most that is expected; one row moves 1 / rows, so that more is rare by McDiarmid
    at_most = math.sqrt(expected.size / rows) / 2 + math.sqrt(math.log(1e7) / (2 * rows))
    assert in_wrong_cell(expected / expected.sum(), ours / ours.sum()) < at_most


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"wealth": "high"}, "column 'wealth' is not in the model; use one of 'sex'"),
        ({"sex": "other"}, "column 'sex' has no value 'other'; use the values of the domain, such as 'female', 'male'"),
        ({"sex": ()}, "no value of column 'sex' is named"),
        ({"age": "0 to 19", "marital_status": "widowed"}, "the plan says that 'age' '0 to 19' and 'marital_status' 'widowed' cannot be"),
    ],
)
def test_a_group_that_cannot_be_is_refused_by_name(where: Where, said: str) -> None:
    refused(sample, fitted(), 10, where, saying=re.escape(said))


def test_a_group_that_the_model_has_nobody_or_almost_nobody_in_is_refused() -> None:
    class Lonely:
        """One row of each draw is another than the rest."""

        def marginal(self, clique: tuple[str, ...]) -> np.ndarray:
            raise KeyError(clique)

        def rows(self, n: int, _marginals: object, _rng: object) -> np.ndarray:
            codes = np.zeros((n, 4), dtype=np.int32)
            codes[0] = 1
            return codes

    lonely = replace(fitted(), model=Lonely())
    with pytest.raises(InputError, match="of 275,000 rows that the model wrote, none is in the group 'marital_status' 'widowed'"):
        sample(lonely, 10, {"marital_status": "widowed"})
    refused(sample, lonely, 1000, {"sex": "male"}, kind=CapacityError, saying="take a wider group, or at most 73 rows")
    assert sample(lonely, 3, {"sex": "male"}).rows.num_rows == 3


@pytest.mark.parametrize("rows", [0, -1, 10**9])
def test_numbers_of_rows_that_cannot_be_drawn_are_refused(rows: int) -> None:
    refused(sample, fitted(), rows, saying="rows cannot be drawn")


def test_answers_without_rows_have_no_model() -> None:
    refused(refit, goldens.kept("gaussian"), saying="it holds answers and no rows")


def _limits(sentence: str) -> list[float]:
    return [float(share) / 100 for share in re.findall(r"at most ([0-9.]+)%", sentence)]


@pytest.mark.parametrize("where", [{}, {"sex": "female"}, {"marital_status": "widowed"}])
def test_what_is_said_of_the_errors_follows_for_every_true_table_within_the_certificate(where: Where) -> None:
    """Whatever the true table is: as far from the released rows as the certificate allows, all of it in or out of the group."""
    got, domain = sample(fitted(), 1500, where), fitted().plan.domain
    cells, released = {name: of.cells for name, of in sampling.parts_of(domain, where).items()}, fitted().released.codes
    stated = _limits(got.errors)
    most, seed = stated[-2], 20261125
    rng = np.random.default_rng(seed)
    for clique, bound in fitted().tables.items():
        if not set(cells) <= set(clique):
            continue
        inside = np.zeros(domain.sizes(clique), dtype=bool)
        inside[np.ix_(*(cells.get(name, range(domain[name].size)) for name in clique))] = True
        ours, theirs = (row_marginals(domain, codes, [clique])[clique] / len(codes) for codes in (got.rows.codes, released))
        for _ in range(50):
            true = _moved(theirs, bound, inside if rng.random() < 0.5 else ~inside, rng)
            of_group = np.where(inside, true, 0.0)
            if of_group.sum() > 0:
                assert in_wrong_cell(of_group / of_group.sum(), ours) <= most + 0.0006, f"{clique}, seed {seed}"  # printed with one digit


def _moved(shares: np.ndarray, by: float, sources: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another distribution, at most `by` of which is in another cell: taken from these cells and put into one."""
    taken = np.where(sources, shares, 0.0)
    taken *= min(1.0, by / max(taken.sum(), 1e-12))
    to = np.zeros(shares.size)
    to[rng.integers(shares.size)] = taken.sum()
    return shares - taken + to.reshape(shares.shape)


def test_nothing_is_said_of_errors_where_nothing_is_known() -> None:
    assert sample(replace(fitted(), certificate=None), 10).errors.startswith("No certificate says")
    assert "nothing is known" in sample(replace(fitted(), other=True), 10).errors
    without = run(spec(workload={"kind": "all", "k": 1}))
    several = {"sex": "female", "age": "20 to 39"}
    assert "of no table with sex and age" in sample(refit(without), 10, several).errors


def test_rows_that_were_changed_afterwards_are_told_apart() -> None:
    again = refitted(unpack.read_bytes(edited(lambda d: d["rows"].update(seed=1))))
    assert again.other


@pytest.mark.parametrize(
    ("texts", "where"),
    [
        ([], {}),
        (["sex=female"], {"sex": ["female"]}),
        (["sex=female", "sex=male", "age=0 to 19"], {"sex": ["female", "male"], "age": ["0 to 19"]}),
        (["wealth=high"], {"wealth": ["high"]}),
    ],
)
def test_a_group_is_written_as_columns_and_values(texts: list[str], where: Where) -> None:
    assert sampling.parse_where(synthesis.plan(spec()).domain, texts) == where


def test_what_names_no_value_is_no_group() -> None:
    refused(sampling.parse_where, synthesis.plan(spec()).domain, ["female"], saying="'female' is not COLUMN=VALUE")
