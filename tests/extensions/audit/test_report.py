"""The report of an audit: one broken promise among many that hold is a violation."""

from __future__ import annotations

from dpsynth_core.extensions.audit.evidence import Accounted, Finding
from dpsynth_core.extensions.audit.report import Audited, conclusion
from dpsynth_core.privacy.accountant import ZCDP

KEPT, BROKEN = (Finding(Accounted(ZCDP, 1.0), least, draws=0) for least in (0.5, 2.0))


def test_one_broken_promise_is_a_violation_beside_those_that_hold() -> None:
    sound, mixed = (Audited("an operation", findings, 1e-8) for findings in ((KEPT, KEPT), (KEPT, BROKEN)))
    assert [sound.broken, mixed.broken] == [False, True]
    assert conclusion([sound, sound]).startswith("nothing was found")
    assert conclusion([sound, mixed]).startswith("VIOLATED")
    assert [line.split(":")[0] for line in mixed.lines()] == ["nothing found", "VIOLATION"]
