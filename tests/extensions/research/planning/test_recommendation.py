"""When HDMM+PGM, which measures a fixed plan, is recommended first."""

from __future__ import annotations

from dataclasses import replace

from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.planning import recommendation
from dpsynth_core.planning.recommendation import Situation, recommend
from dpsynth_core.privacy.conversions import rho_from
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary import workload as workloads
from tests.planning.test_recommendation import WORKLOAD, fitting, situation


def test_where_noise_is_very_small_a_fixed_plan_that_can_be_fitted_comes_first() -> None:
    quiet, loud = (replace(situation(), noise=noise) for noise in (recommendation.SMALL_NOISE, 1.5 * recommendation.SMALL_NOISE))
    assert recommend(quiet, fitting("aim", "hdmm_pgm", "mst")).value[0].name == "hdmm_pgm"
    assert recommend(loud, fitting("aim", "hdmm_pgm", "mst")).value[0].name == "aim"
    refused = {"hdmm_pgm": Forecast(fits=False, seconds=0, memory_mb=0, reason="too large")}
    assert recommend(quiet, refused | fitting("aim", "mst")).value[0].name == "aim"


def test_a_fixed_plan_comes_first_with_more_noise_where_tables_are_few_and_not_where_single_columns_alone_are_asked_for() -> None:
    few = workloads.target(WORKLOAD.domain, WORKLOAD.domain.names[0], 2)
    for noise, first in ((recommendation.FEW_NOISE, "hdmm_pgm"), (1.5 * recommendation.FEW_NOISE, "aim")):
        asked = replace(Situation.of(few, rho_from(1.0, 1e-9), Unit(), 50_000), noise=noise)
        assert asked.few
        assert recommend(asked, fitting("aim", "hdmm_pgm", "mst")).value[0].name == first
    alone = Situation.of(workloads.all_kway(WORKLOAD.domain, 1), rho_from(1.0, 1e-9), Unit(), 50_000)
    assert recommend(alone, fitting("aim", "hdmm_pgm", "mst")).value[0].name == "aim"
