"""What a check of a bundle came to, and a report of all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsynth_core.claims.registry import CLAIMS

PASSED, FAILED, SKIPPED, ABSENT = "passed", "failed", "not checked", "nothing to check"
CONSISTENT, PARTLY, INCONSISTENT = "consistent", "consistent as far as checked", "not consistent"
REPLAYED = "Does all of it follow from the answers?"
SIGNED = "Is it signed?"
WHOSE = "; nothing here shows whose key that is"
BOUNDS = "Do the bounds follow?"
UNSEEN_IN_SHORT = "Who made it, from which table and with which noise is its maker's word, unless you trust the key that signed it."
UNSEEN = (
    "What no bundle can show is its maker's word: who made it, when, and from which table; that the noise is real; that there was a "
    "column of persons, and how many rows one owns; where the domain came from, and whether somebody looked at the table before the "
    "plan was sealed (a forger leaves such warnings out); that criteria, with their limits and importance, were fixed beforehand. "
    "Only the signature of a key that you trust, or the SHA-256 that the publisher announced, ties these to somebody."
)


@dataclass(frozen=True)
class Check:
    """question: what was looked at. verdict: PASSED, FAILED, SKIPPED or ABSENT. detail: a sentence without full stop; texts in it are
    hostile."""

    question: str
    verdict: str
    detail: str


@dataclass(frozen=True)
class Running:
    """The check that is made now: its question, and which of how many it is."""

    question: str
    number: int
    of: int

    @property
    def sentence(self) -> str:
        longest = " The mechanism runs once more, which takes longest." if self.question == REPLAYED else ""
        return f"Check {self.number} of {self.of}: {self.question}{longest}"


@dataclass(frozen=True)
class Summary:
    """What the release says of itself: its brands, its guarantee in words, facts as pairs of name and text, and in four pairs what it is.
    All of it is hostile text."""

    warnings: tuple[str, ...]
    statement: str
    facts: tuple[tuple[str, str], ...]
    brief: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Report:
    """sha256: of the ZIP, "" for a folder. summary: None where release.json is damaged. page: the report as this program writes it from
    release.json and the rows, and not as the bundle has it; "" where it cannot be. signer: the public key that signed it, or ""."""

    checks: tuple[Check, ...]
    sha256: str
    summary: Summary | None
    page: str = ""
    signer: str = ""

    def by(self, key: str) -> Report:
        """The same for somebody who knows the publisher's key: wrong unless it is the signer's."""
        if self.signer == key:
            found = Check(SIGNED, PASSED, f"{self.signature.removesuffix(WHOSE)}; that is the key that was given")
        else:
            other = f", but by {self.signer}" if self.signer else ""
            found = Check(SIGNED, FAILED, f"not signed by the key that was given{other}: it may come from anybody")
        return replace(self, checks=tuple(found if check.question == SIGNED else check for check in self.checks))

    @property
    def signature(self) -> str:
        return next((check.detail for check in self.checks if check.question == SIGNED), "")

    @property
    def verdict(self) -> str:
        """INCONSISTENT where a check failed; PARTLY where something that the release states could not be checked; otherwise CONSISTENT."""
        if any(check.verdict == FAILED for check in self.checks):
            return INCONSISTENT
        return PARTLY if self.unchecked else CONSISTENT

    def replayed(self, again: Check) -> Report:
        """The same with the answer to the question REPLAYED. If the mechanism comes to the same, so do the numbers that follow from it."""
        follow = (BOUNDS, *(claim.question for claim in CLAIMS)) if again.verdict == PASSED else ()
        checks = {check.question: check for check in self.checks} | {again.question: again}
        for check in self.checks:
            if check.verdict == SKIPPED and check.question in follow:
                checks[check.question] = Check(check.question, PASSED, "the mechanism, run again, comes to the same")
        return replace(self, checks=tuple(checks.values()))

    @property
    def unseen(self) -> str:
        """What stands beside the verdict, in the same size: what it does not say. Nothing beside a verdict of INCONSISTENT."""
        return "" if self.verdict == INCONSISTENT else UNSEEN

    @property
    def outstanding(self) -> tuple[Check, ...]:
        """What somebody must read before they rely on the bundle: what is wrong, then what was not checked."""
        return tuple(check for verdict in (FAILED, SKIPPED) for check in self.checks if check.verdict == verdict)

    @property
    def settled(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check not in self.outstanding)

    @property
    def settled_title(self) -> str:
        right, empty = (sum(check.verdict == verdict for check in self.checks) for verdict in (PASSED, ABSENT))
        others = "other " if self.outstanding else ""
        return f"{right} {others}checks, all right" + (f"; {empty} had nothing to check" if empty else "")

    @property
    def unchecked(self) -> tuple[str, ...]:
        return tuple(check.question for check in self.checks if check.verdict == SKIPPED)
