"""Errors of inputs keep their kind and parts on their way from one process to another."""

from __future__ import annotations

import pickle

import pytest

from dpsynth_core.foundation.errors import CapacityError, ChargedError, InputError, OracleError

ERRORS = (
    InputError("column 'age'", "it is missing", "name it"), CapacityError("workload", "it is too large", "take less"),
    ChargedError("run", "it failed", "run again"), OracleError("a process ended"), OracleError("a process ended", "give it more"),
)  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_in_another_process(error: InputError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
