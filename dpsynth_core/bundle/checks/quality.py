"""Do bounds, certificate and the usefulness of models follow from what was measured and from the rows?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from itertools import dropwhile

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.bundle.checks.outcome import NEAR, Nothing, Open, Wrong, expect, named, near, some
from dpsynth_core.bundle.rounding import alike
from dpsynth_core.claims import columns_alone
from dpsynth_core.claims.certificate import ANSWERS, ROWS, Certificate, Largest, state
from dpsynth_core.claims.columns_alone import ColumnsAlone
from dpsynth_core.claims.models import training, usefulness
from dpsynth_core.claims.models.usefulness import Trained
from dpsynth_core.evaluation.bounds import SUPPORTED, UNBOUNDED, bounds
from dpsynth_core.privacy import questions
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.release.document import usefulness_json
from dpsynth_core.release.release import INTERRUPTED, UNCERTIFIED, UNTESTED
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique


def bounds_follow(opened: Opened) -> str:
    release = opened.release
    if opened.total is None or release.branded(INTERRUPTED):
        expect(not release.bounds, "the bounds have nothing to stand on")
        raise Nothing("no bounds are stated")
    recomputed = bounds(release.domain, opened.published, opened.total, release.tables_of_columns, rows=opened.rows is not None)
    expect(release.bounds.keys() == recomputed.keys(), "they are about other tables than the published ones")
    checked = 0
    for clique, stated in release.bounds.items():
        computed = recomputed[clique]
        expect((stated.support == SUPPORTED) == (computed.support == SUPPORTED), f"{named(clique)} is not {stated.support}")
        if stated.support == UNBOUNDED:
            expect(math.isinf(stated.paper) and math.isinf(stated.tight), f"{named(clique)} has a bound that nothing gives")
        elif stated.support != SUPPORTED:
            continue  # what it depends on is only known when the mechanism runs again
        else:
            for ours, theirs in ((computed.paper, stated.paper), (computed.tight, stated.tight)):
                expect(near(theirs, ours), f"{named(clique)}: stated {theirs:.6g}, computed {ours:.6g}")
        checked += 1
    if not release.bounds:
        raise Nothing("no table is published that a bound could be about")
    if len(release.bounds) == checked:
        return f"{checked:,} bounds follow from rows and noisy tables"
    raise Open(f"{checked:,} of {len(release.bounds):,} bounds follow from rows and noisy tables, the others from what was selected")


def certificate_follows(opened: Opened) -> str:
    certificate, charges = opened.release.certificate, opened.release.charges
    if certificate is None:
        if opened.release.branded(INTERRUPTED) or opened.release.branded(UNCERTIFIED):
            raise Nothing("the run was interrupted before it was measured")
        expect(opened.plan.shares.certificate == 0, "the plan has a certificate, the release has none")
        raise Nothing("no certificate was made")
    l2, share = opened.plan.unit.errors_l2(len(certificate.marginals)), opened.plan.shares.certificate
    paid = [e for e in charges if type(e) is Gaussian and near(e.sigma, certificate.sigma) and near(e.l2, l2)]
    expect(paid, "its noise is not what was paid for")
    expect(certificate.rho <= share * (1 + NEAR), "it cost more than its share")
    if opened.total is not None:
        expect(near(certificate.total.value, opened.total.value), "it counts errors in fractions of another number of records")
    expect(certificate.of == (ANSWERS if opened.rows is None else ROWS), "it is about something else than what is published")
    workload = set(opened.published)
    expect({one.attributes for one in certificate.marginals} == workload, "it is about other tables than the workload's")
    noisy = {one.attributes: one.error / IN_WRONG_CELL * certificate.total.value for one in certificate.marginals}
    released = {clique: opened.published[clique] for clique in noisy}
    measured = certificate.total, certificate.sigma, certificate.rho, certificate.of, _largest(opened, certificate)
    recomputed = state(noisy, released, *measured, _columns_alone(opened, certificate, released))
    stated = asdict(certificate)
    different = sorted(name for name, value in asdict(recomputed).items() if not alike(value, stated[name]))
    expect(not different, f"its numbers do not follow from its errors: {some(different)}")
    _check_measured_of(opened, certificate, released)
    return f"{len(noisy):,} measured errors, their bounds and their mean follow from each other"


def _check_measured_of(opened: Opened, certificate: Certificate, released: Mapping[Clique, NDArray[np.float64]]) -> None:
    """That its errors were measured of what is published, by the digest that stands beside the kernel's answer. What is made of rows is
    the same on every machine; what is made of noisy tables may be rounded otherwise."""
    asked = {clique: fractions * certificate.total.value for clique, fractions in released.items()}
    wanted = questions.digests((asked, certificate.sigma), {})
    answers = [answer for answer in opened.release.transcript if answer.operation == "measure_errors"]
    if any(near(answer.arguments[0], certificate.sigma) and answer.arguments[1:] == wanted for answer in answers):
        return
    if opened.other_program or (opened.other_versions and opened.rows is None):
        raise Open("whether its errors were measured of what is published is seen where the versions are those that it names")
    raise Wrong("its errors were measured of something else than what is published")


def _largest(opened: Opened, certificate: Certificate) -> Largest:
    """The largest error as it was measured."""
    paid = any(type(e) is Gaussian and near(e.sigma, certificate.max_sigma) for e in opened.release.charges)
    expect(paid, "its noise is not what was paid for")
    return Largest(certificate.max_error * certificate.total.value, certificate.max_sigma, opened.plan.workload.threshold)


def _columns_alone(opened: Opened, certificate: Certificate, released: Mapping[Clique, NDArray[np.float64]]) -> ColumnsAlone | None:
    """The yardstick, from its measured errors; None where such a release has none."""
    stated, sigma = certificate.columns, opened.plan.columns_sigma
    operations = [answer.operation for answer in opened.release.transcript]
    ended = operations.index("measure_largest_error")  # with that a certificate ends; criteria follow
    asked = [answer for answer in opened.release.transcript[:ended] if answer.operation == "measure_errors"]
    answers = list(dropwhile(lambda answer: not near(answer.arguments[0], certificate.sigma), asked))  # a mechanism may have asked before
    columns = None if sigma is None else columns_alone.of(opened.evidence, sigma, released)
    if columns is None:
        expect(stated is None and len(answers) == 1, "it has a yardstick that cannot be measured in such a release")
        return None
    if stated is None:
        raise Wrong("its yardstick is missing")
    expect(len(answers) == 2 and near(answers[1].arguments[0], stated.sigma), "its yardstick is not what was paid for")
    noisy = answers[1].value
    return columns.stated(math.fsum(noisy.values()) / len(noisy), stated.sigma, released, certificate.total)


def models_follow(opened: Opened) -> str:
    """How often models are right: from the noisy counts. That these very models follow from the rows is seen when all of it runs again."""
    release, targets = opened.release, opened.plan.targets
    if not release.usefulness:
        ended = release.branded(INTERRUPTED) or release.branded(UNTESTED)
        expect(not targets or ended, "the plan asks for models, and nothing is said of any")
        measured = any(answer.operation == "measure_right" for answer in release.transcript)
        expect(not measured or release.branded(INTERRUPTED), "it was measured how often models are right, and nothing is said of it")
        raise Nothing("no models were asked for" if not targets else "the run was interrupted before it was measured")
    answers = [answer for answer in release.transcript if answer.operation == "measure_right"]
    expect(len(answers) == 1, "nothing was measured that it could follow from")
    if opened.codes is None:
        raise Wrong("there are no rows that models could be trained on")
    total = _people(opened)
    digests = {(one.column, one.model): one.sha256 for one in release.usefulness}
    trained = [
        Trained(
            target,
            {name: digests[target.column, name] for name in training.names(target)},
            training.majority(release.domain, opened.codes.astype(np.int32), target).guess,
        )
        for target in targets
    ]
    recomputed = [usefulness_json(one) for one in usefulness.state(trained, answers[0].value, float(answers[0].arguments[0]), total)]
    stated = [usefulness_json(one) for one in release.usefulness]
    pairs = zip(recomputed, stated, strict=True)
    different = [one["column"] for one, other in pairs if one.keys() != other.keys() or not alike(one, other)]
    expect(not different, f"what is said of {some(different)} does not follow from what was measured")
    return f"{len(stated):,} models' shares and intervals follow from what was measured; that these are the models, from running all again"


def _people(opened: Opened) -> Total:
    """The number of records that shares are of: as it is known, or as it was measured for them alone."""
    if opened.release.certificate is not None:
        return opened.release.certificate.total
    if opened.total is not None:
        return opened.total
    answers = opened.release.transcript
    before = answers[[answer.operation for answer in answers].index("measure_right") - 1]
    expect(before.operation == "measure_total", "nothing says how many records there are")
    return Total(max(1.0, float(before.value)), math.sqrt(float(before.arguments[0]) ** 2 + ROUNDING))
