"""Releases as tests make them, and what holds of every one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dpsynth_core.bundle.reproduce import reproduce
from dpsynth_core.bundle.unpack import Bundle, read_bytes
from dpsynth_core.bundle.verdicts import FAILED, PASSED
from dpsynth_core.bundle.verify import verify
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.view import Noise
from dpsynth_core.release import document, synthesis
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.spool import Kept
from dpsynth_core.release.transcript import RecordedAnswer
from tests.bundle.pack import pack


def run(spec: Spec, noise: Noise | None = None, on_event: Callable[[Progress], None] = lambda _: None) -> Release:
    plan = synthesis.plan(spec)
    return synthesis.synthesize(plan, synthesis.open_source(plan), noise or synthesis.noise_for(spec), on_event)


def packed(release: Release) -> Bundle:
    return read_bytes(pack(release))


def found(of: Bundle | Release) -> dict[str, str]:
    """What a recipient finds, by question."""
    return {check.question: check.verdict for check in verify(packed(of) if isinstance(of, Release) else of).checks}


def check_sound(bundle: Bundle, question: str) -> None:
    """A recipient finds nothing wrong, sees to this question, and can make the release again."""
    checks = verify(bundle).checks
    assert [(check.question, check.detail) for check in checks if check.verdict == FAILED] == []
    assert (question, PASSED) in [(check.question, check.verdict) for check in checks]
    assert not reproduce(bundle).different


def close_tables(patch: pytest.MonkeyPatch) -> None:
    """Nobody can open records from now on."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("the records were opened")

    for name in ("open_source", "PrivacyKernel"):
        patch.setattr(synthesis, name, forbidden)


def ended(release: Release, answers: Sequence[RecordedAnswer]) -> Kept:
    """What is kept of its run if that ended when it had these answers, which are the first of those that are charged."""
    charges = release.charges[: sum(answer.charges for answer in answers)]
    return Kept("", release.spec, release.private, tuple(answers), charges)


def kept(release: Release, folder: Path) -> Release:
    """The release as it is read from the folder that it was kept in."""
    document.save(release, folder)
    again = document.load(folder)
    assert document.document(again) == document.document(release)
    return again
