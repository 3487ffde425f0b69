"""What both claims about rows share: whether a spec asks for one, and how a recipient makes it again from the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, TypeVar, cast

from typing_extensions import override

from dpsynth_core.claims.claim import Claim, Received
from dpsynth_core.claims.outcome import Nothing, alike, expect
from dpsynth_core.mechanisms.mechanism import Mechanism

Stated = TypeVar("Stated")


class OfRows(Claim[Stated]):
    """A claim about people and released rows, which a setting with its name asks for.

    Attributes:
        subject: What is measured, in words, behind "the plan asks".
    """

    subject: ClassVar[str]

    @override
    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        """Return whether the spec asks for it."""
        return self.name in (document.get("extensions") or {})

    def clause(self, stated: Stated) -> str:
        """Return what was checked about a statement that follows."""
        raise NotImplementedError

    def follows(self, received: Received, stated: Stated | None) -> str:
        """Make the public parts of the questions again from the rows, and the shares from the noisy counts; return a clause if they agree.

        Raises:
            Wrong: A question or a share does not follow, or they are missing, or were not measured.
            Nothing: They were not asked for, or the run ended before them.
        """
        if stated is None:
            asked, ended = self.asked(received.plan), received.interrupted or received.branded(self.brand)
            expect(not asked or ended, f"the plan asks {self.subject}, and nothing is said of it")
            raise Nothing("it was not asked for" if not asked else "the run was interrupted before it was measured")
        expect(self.asked(received.plan), "the plan does not ask for it")
        again = self.again(received, self.took(received, stated))
        expect(again is not None, "the measured counts are not of these rows and the plan's questions")
        expect(alike(asdict(cast(Any, again)), asdict(cast(Any, stated))), "the shares do not follow from the measured counts")
        return self.clause(stated)
