"""The invented hospital: its stays are possible, the same every time, and hang together in more than the stay before."""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from dpsynth_core.extensions.sequences import hospital, hospital_command
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused

STAYS = hospital.simulate(5_000)


def test_the_same_arguments_give_the_same_stays() -> None:
    assert hospital.simulate(300, 3).equals(hospital.simulate(300, 3))
    assert not hospital.simulate(300, 3).equals(hospital.simulate(300, 4))


def test_every_value_is_in_the_domain() -> None:
    domain = hospital.domain()
    assert {*STAYS.columns} == {*domain.names, hospital.KEY, hospital.ORDER} - {hospital.GAP}
    for name in (name for name in domain.names if name != hospital.GAP):
        attribute = domain[name]
        values = STAYS[name].unique()
        if attribute.is_number:
            assert attribute.edges[0] <= values.min() <= values.max() <= attribute.edges[-1]
        else:
            assert {*values} == {*attribute.categories}


def test_patients_have_one_to_twelve_stays_in_order_and_none_after_death() -> None:
    by_patient = STAYS.groupby(hospital.KEY)
    sizes = by_patient.size()
    assert len(sizes) == 5_000
    assert (sizes.min(), sizes.max()) == (1, hospital.MOST)
    assert STAYS[hospital.ORDER].is_monotonic_increasing
    assert (by_patient[[*hospital.CONSTANT]].nunique() == 1).all(axis=None)
    last = STAYS[~STAYS[hospital.KEY].duplicated(keep="last")]
    assert (STAYS["discharge"] == "died").sum() == (last["discharge"] == "died").sum() > 100
    assert not ((STAYS["diagnosis"] == "birth") & (STAYS["sex"] == "male")).any()


def test_a_stay_tells_more_than_the_next_one() -> None:
    """The chronic disease comes back: of those with another diagnosis in the second stay, many have that of the first in the third."""
    diagnoses = [some for some in STAYS.groupby(hospital.KEY)["diagnosis"].apply(list) if len(some) > 2 and some[0] != some[1]]
    again = np.mean([some[0] == some[2] for some in diagnoses])
    others = np.mean([some[0] == other[2] for some, other in itertools.pairwise(diagnoses)])
    assert len(diagnoses) > 200
    assert again > others + 5 * (2 * others / len(diagnoses)) ** 0.5  # five standard deviations of the difference


def test_the_command_writes_stays_and_their_domain(tmp_path: Path) -> None:
    hospital_command._hospital(argparse.Namespace(out=tmp_path / "new", patients="50", seed="1"))
    assert (tmp_path / "new" / hospital_command.STAYS).read_text() == hospital.simulate(50, 1).to_csv(index=False)
    assert Domain.from_json(json.loads((tmp_path / "new" / hospital_command.DOMAIN).read_text())) == hospital.domain()


@pytest.mark.parametrize(("patients", "seed"), [("0", "1"), ("many", "1"), ("10000000", "1"), ("10", "-1")])
def test_numbers_of_another_kind_are_refused(patients: str, seed: str, tmp_path: Path) -> None:
    refused(hospital_command._hospital, argparse.Namespace(out=tmp_path, patients=patients, seed=seed), saying="whole number")
