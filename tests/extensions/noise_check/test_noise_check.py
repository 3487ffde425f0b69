"""One bit says whether noise has the size that was paid for: it finds wrong noise, and nothing else of the comparison leaves the kernel."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpsynth_core.bundle.reproduce import reproduce
from dpsynth_core.bundle.unpack import read_bytes
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT
from dpsynth_core.bundle.verify import verify
from dpsynth_core.extensions.noise_check import DELTA
from dpsynth_core.extensions.noise_check.asking import compared
from dpsynth_core.extensions.noise_check.operations import MOST, SCALES, Compared, limit, log_ratios, noise_as_charged
from dpsynth_core.extensions.noise_check.statement import NO, NOISE, TITLE, UNKNOWN, YES, as_charged, lines, sections, shows
from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Integers, Noise
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.release.spool import Spool
from dpsynth_core.release.transcript import RecordedAnswer
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import ROUNDING, Measurement
from tests.bundle import pack
from tests.bundle.bundles import DOMAIN, verified
from tests.privacy.tables import ArraySource
from tests.refusals import refused
from tests.releases import run
from tests.specs import usual

COLUMNS = Domain.from_json(dict.fromkeys("abc", 20))
CLIQUES = [("a", "b"), ("a", "c"), ("b", "c")]


class Private(SeededNoise):
    """Repeatable noise that a release takes for private noise."""

    private = True


class Scaled(SeededNoise):
    """Normal noise of a multiple of the size that was asked for; 0 for none."""

    def __init__(self, seed: int, scale: float) -> None:
        super().__init__(seed)
        self.scale = scale

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        return super().gaussian(values, self.scale * sigma) if self.scale else values


def spec(mechanism: str = "aim", **fields: Any) -> Spec:
    plain = usual({"kind": "demo"}, DOMAIN, mechanism=mechanism) | {"extensions": {"noise": 1}}
    return Spec.from_json(plain | fields)


@cache
def released() -> Release:
    return run(spec())


def source(seed: int) -> ArraySource:
    return ArraySource(COLUMNS, np.random.default_rng(seed).integers(0, 20, (500, 3)).astype(np.int32))


def answer(noise: Noise, seed: int = 0, sigma: float = 8.0) -> bool | None:
    """What the kernel says about 1,200 counts."""
    kernel = PrivacyKernel(source(seed), Unit(), 1e3, noise, DELTA)
    return noise_as_charged(kernel, kernel.measure_marginals(CLIQUES, sigma), 1.0, DELTA)


@pytest.mark.parametrize("scale", [0.0, 0.02, 0.5, 2.0])
def test_noise_that_is_missing_or_of_another_size_is_found_every_time(scale: float) -> None:
    assert [answer(Scaled(seed, scale), seed) for seed in range(20)] == [False] * 20


@pytest.mark.parametrize("sigma", [0.3, 8.0, 1000.0])
def test_noise_of_the_charged_size_passes(sigma: float) -> None:
    """A false alarm has a probability below 1e-12."""
    assert [answer(SeededNoise(seed), seed, sigma) for seed in range(60)] == [True] * 60


def test_the_noise_of_releases_passes() -> None:
    assert answer(OpenDPNoise()) is True


@pytest.mark.parametrize("sigma", [0.2, 1.0, 7.0])
def test_each_likelihood_ratio_of_smaller_noise_has_mean_one_under_the_charged_noise(sigma: float) -> None:
    """The condition of Ville's inequality, for scales below 1, by a sum over all noise up to 60 sigma."""
    sizes = np.arange(-math.ceil(60 * sigma) - 1, math.ceil(60 * sigma) + 2, dtype=np.float64)
    charged = norm.logcdf(-(np.abs(sizes) - 0.5) / sigma), norm.logcdf(-(np.abs(sizes) + 0.5) / sigma)
    probability = np.exp(charged[0]) - np.exp(charged[1])
    narrow = [place for place, scale in enumerate(SCALES) if scale < 1]
    ratios = np.exp([log_ratios(one, sigma)[narrow] for one in sizes[:, None]])
    np.testing.assert_allclose(probability @ ratios, 1, rtol=1e-9)


def test_a_mechanism_that_stops_when_its_noise_was_small_raises_no_alarm() -> None:
    """A chi-square interval would be left by whoever measures until it is. The ratio stays below e^10 in all but 1 in 22,026 runs."""
    rng, highest = np.random.default_rng(5), []
    for _ in range(200):
        steps = [log_ratios(np.rint(rng.normal(0, 8.0, 20)), 8.0) for _ in range(40)]
        highest.append(np.logaddexp.reduce(np.cumsum(steps, axis=0), axis=1).max() - math.log(len(SCALES)))
    assert max(highest) < 10


def test_the_limit_keeps_both_failures_within_delta() -> None:
    for rho, delta in product((1e-6, 0.02, 1.0, 4.0), (1e-12, 1e-9)):
        most = limit(rho, delta)
        assert 2 * math.exp(-most) <= delta / 2
        assert 2 * math.exp(-((math.sqrt(most) - math.sqrt(rho)) ** 2)) <= delta / 2 * (1 + 1e-9)
        assert most <= MOST
    refused(limit, 10.0, 1e-12, kind=ValueError)


def test_the_bit_is_charged_before_the_counts_are_compared() -> None:
    kernel = PrivacyKernel(table := source(1), Unit(), 1.0, SeededNoise(0))
    measured = [Measurement(("a",), np.zeros(20), 3.0, None, ROUNDING)]
    refused(noise_as_charged, kernel, measured, 1.0, DELTA, kind=BudgetExceeded)
    assert not table.passes
    assert not kernel.events


def test_it_costs_delta_and_no_rho_under_either_accountant() -> None:
    assert GDP.cost(Compared(1.0, DELTA)) == 0
    release = released()
    assert release.plan.shares.accountant is GDP
    assert release.plan.shares.delta == DELTA
    assert [event for event in release.charges if isinstance(event, Compared)] == [Compared(release.rho, DELTA)]
    without = Plan.of(spec(extensions={}))
    assert without.shares.delta == 0
    assert release.rho < without.shares.rho < release.rho * 1.001


@pytest.mark.parametrize("mechanism", ["aim", "mst", "independent"])
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_a_release_states_whether_its_noise_was_added(mechanism: str, scale: float) -> None:
    release = run(spec(mechanism), Scaled(3, scale))
    assert as_charged(release) is (scale == 1.0)
    (section,) = sections(release)
    assert section.title == TITLE
    assert section.lines[0] == (YES if scale else NO)


def test_report_card_and_noise_json_state_the_bit_and_a_recipient_finds_nothing_wrong() -> None:
    files = pack.contents(released())
    assert json.loads(files[NOISE]) == {"format": 1, "noise": {"as_charged": True}}
    assert TITLE in files["report.html"].decode()
    bundle = read_bytes(pack.sealed(files))
    report = verified(pack.sealed(files))
    assert report.verdict == CONSISTENT, [check for check in report.checks if check.verdict == FAILED]
    assert reproduce(bundle).different == ()
    assert NOISE not in pack.contents(run(spec(extensions={})))


def _of_the_bit(document: dict[str, Any]) -> dict[str, Any]:
    return next(one for one in document["transcript"] if one["operation"] == "noise_as_charged")


def _another_limit(document: dict[str, Any]) -> None:
    _of_the_bit(document)["asked"][0] *= 2


def _unpaid(document: dict[str, Any]) -> None:
    document["charges"] = [one for one in document["charges"] if one["operation"] != "Compared"]


def _left_out(document: dict[str, Any]) -> None:
    document["transcript"].remove(_of_the_bit(document))
    _unpaid(document)


def _another_answer(document: dict[str, Any]) -> None:
    _of_the_bit(document)["given"] = False


@pytest.mark.parametrize("forge", [_another_limit, _unpaid, _left_out, _another_answer])
def test_a_forged_bit_does_not_agree_with_the_rest(forge: Callable[[dict[str, Any]], None]) -> None:
    files = dict(pack.contents(released()))
    document = json.loads(files["release.json"])
    forge(document)
    files["release.json"] = json.dumps(document).encode()
    assert verify(read_bytes(pack.sealed(files))).verdict == INCONSISTENT


def test_a_forged_file_is_found() -> None:
    files = dict(pack.contents(released()))
    files[NOISE] = files[NOISE].replace(b"true", b"false")
    assert verify(read_bytes(pack.sealed(files))).verdict == INCONSISTENT


def test_nothing_but_the_bit_leaves(tmp_path: Path) -> None:
    """Two tables that the same answers agree with have the same bundle and spool: no trace of the counts, the ratio or the differences."""
    plan, texts = synthesis.plan(spec()), []
    measured = released().transcript

    class Given(Spool):
        given = (measured, released().charges)

    for seed in (1, 2):
        table = ArraySource(plan.domain, np.random.default_rng(seed).integers(0, 2, (300, 4)).astype(np.int32))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(synthesis, "today", lambda: "2026-11-30")
            kept = Given(tmp_path / f"{seed}.spool", "", plan, private=False)
            made = synthesis.synthesize(plan, table, SeededNoise(0), lambda _: None, kept)
            texts.append((pack.contents(made), (tmp_path / f"{seed}.spool").read_bytes()))
            kept.close()
    assert texts[0] == texts[1]


def test_a_run_that_goes_on_compares_nothing_and_says_so(tmp_path: Path) -> None:
    """Its earlier answers may be of a table that has changed, so that the bit could tell more than its price."""
    plan, release = synthesis.plan(spec()), released()
    first = [one for one in release.transcript if one.operation == "measure_marginals"][:1]
    begun = release.transcript[: release.transcript.index(first[0]) + 1]

    class Begun(Spool):
        given = (begun, release.charges[: sum(one.charges for one in begun)])

    kept = Begun(tmp_path / "run.spool", "", plan, private=True)
    made = synthesis.synthesize(plan, synthesis.open_source(plan), Private(7), lambda _: None, kept)
    kept.close()
    assert as_charged(made) is None
    assert lines(made, None) == [UNKNOWN]
    bundle = read_bytes(pack.pack(made))
    assert [check for check in verify(bundle).checks if check.verdict == FAILED] == []
    assert reproduce(bundle).different == ()


def test_tables_of_some_records_or_of_groups_are_not_compared() -> None:
    table = Measurement(("a",), np.zeros(20), 3.0, None, ROUNDING)
    part = RecordedAnswer("measure_marginals", (("a",), 3.0, ("among", "b: 1")), 1, [table])
    whole = RecordedAnswer("measure_marginals", (("a",), 3.0), 1, [table])
    other = RecordedAnswer("measure_errors", (("a",), 3.0), 1, {("a",): 1.0})
    assert compared([part, whole, other]) == [table]


def test_what_few_counts_cannot_show_is_said() -> None:
    most = limit(0.02, DELTA)
    assert shows(3, most) is None
    assert shows(14, most) == 0.001
    assert shows(300, most) == 0.5
    assert shows(10_000, most) == 0.9


@pytest.mark.parametrize(
    ("fields", "saying"),
    [
        ({"budget": {"epsilon": 50.0, "delta": 1e-9, "reason": "a trial of invented people"}}, "epsilon is too large"),
        ({"budget": {"epsilon": 1.0, "delta": 1e-12}}, "more than half of it"),
        ({"extensions": {"noise": 2}}, "from 1 to 1"),
    ],
)
def test_a_plan_that_cannot_have_it_is_refused(fields: dict[str, Any], saying: str) -> None:
    refused(lambda: synthesis.plan(spec(**fields)), saying=saying)
