"""The results of a bundle's checks, and the report of all results."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsynth_core.claims.registry import CLAIMS

PASSED, FAILED, SKIPPED, ABSENT = "passed", "failed", "not checked", "nothing to check"
CONSISTENT, PARTLY, INCONSISTENT = "consistent", "consistent as far as checked", "not consistent"
ALLOW_MORE = "allow more with --memory and --seconds on the command line"
"""The remedy where checking a bundle exceeds its limits."""
REPLAYED = "Does all of it follow from the answers?"
SIGNED = "Is it signed?"
WHOSE = "; nothing here shows whose key that is"
BOUNDS = "Do the bounds follow?"
UNSEEN_IN_SHORT = (
    "No check shows who made it, from which table and with which noise. That is its maker's word, unless you trust the key that signed it."
)
UNSEEN = (
    "No bundle can show these; they are its maker's word: who made it, when, and from which table; that the noise is real; that there was "
    "a column of persons, and how many rows one owns; where the domain came from, and whether somebody looked at the table before the "
    "plan was sealed (a forger leaves such warnings out); that criteria, with their limits and importance, were fixed beforehand. "
    "Only the signature of a key that you trust, or the SHA-256 that the publisher announced, ties these to somebody."
)


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        question: What was checked.
        verdict: PASSED, FAILED, SKIPPED or ABSENT.
        detail: A sentence without full stop; texts in it are hostile.
    """

    question: str
    verdict: str
    detail: str


@dataclass(frozen=True)
class Running:
    """The check that runs at present.

    Attributes:
        question: The question of the check.
        number: The number of the check, from 1.
        of: Number of all checks.
    """

    question: str
    number: int
    of: int

    @property
    def sentence(self) -> str:
        """The running check in a sentence, with a warning if it takes long."""
        longest = " The mechanism runs once more, which takes longest." if self.question == REPLAYED else ""
        return f"Check {self.number} of {self.of}: {self.question}{longest}"


@dataclass(frozen=True)
class Summary:
    """The release's statements about itself; all text in it may be hostile.

    Attributes:
        warnings: The release's warnings, a full sentence each; () without warnings.
        statement: The guarantee in words.
        facts: Facts as pairs of name and text.
        brief: The release in short: four pairs of name and text.
    """

    warnings: tuple[str, ...]
    statement: str
    facts: tuple[tuple[str, str], ...]
    brief: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Report:
    """The results of all checks.

    Attributes:
        checks: The checks, in the order in which they were made.
        sha256: SHA-256 of the ZIP, or "" for a folder.
        summary: The release's statements, None if release.json is damaged.
        page: The report as this program writes it from release.json and the rows, not as the bundle has it; "" if that is impossible.
        signer: The public key that signed the bundle, or "".
        kind: What the bundle holds, in words, if it is not a release; else "".
        open_facts: The facts that no check of such a bundle can show.
        open_in_short: The same in short.
    """

    checks: tuple[Check, ...]
    sha256: str
    summary: Summary | None
    page: str = ""
    signer: str = ""
    kind: str = ""
    open_facts: str = UNSEEN
    open_in_short: str = UNSEEN_IN_SHORT

    def by(self, key: str) -> Report:
        """Return the report for a reader who knows the publisher's key.

        The check of the signature is passed if `key` signed the bundle, and fails otherwise. This report is not
        changed.

        Args:
            key: The publisher's public key, 64 hexadecimal digits in lower case (`signature.parse_key`).
        """
        if self.signer == key:
            found = Check(SIGNED, PASSED, f"{self.signature.removesuffix(WHOSE)}; that is the key that was given")
        else:
            other = f", but by {self.signer}" if self.signer else ""
            found = Check(SIGNED, FAILED, f"not signed by the key that was given{other}: it may come from anybody")
        return replace(self, checks=tuple(found if check.question == SIGNED else check for check in self.checks))

    @property
    def signature(self) -> str:
        """The result of the check of the signature in words; "" if it was not made."""
        return next((check.detail for check in self.checks if check.question == SIGNED), "")

    @property
    def verdict(self) -> str:
        """INCONSISTENT if a check failed; else PARTLY if a question stayed open; otherwise CONSISTENT."""
        if any(check.verdict == FAILED for check in self.checks):
            return INCONSISTENT
        return PARTLY if self.unchecked else CONSISTENT

    def replayed(self, again: Check) -> Report:
        """Return the report with `again`, the answer to REPLAYED. This report is not changed.

        If that check is passed, open checks of bounds and claims are passed too, because these
        numbers follow from the mechanism.
        """
        follow = (BOUNDS, *(claim.question for claim in CLAIMS)) if again.verdict == PASSED else ()
        checks = {check.question: check for check in self.checks} | {again.question: again}
        for check in self.checks:
            if check.verdict == SKIPPED and check.question in follow:
                checks[check.question] = Check(check.question, PASSED, "the mechanism, run again, comes to the same")
        return replace(self, checks=tuple(checks.values()))

    @property
    def unseen(self) -> str:
        """The facts that no check can show, a text next to the verdict; "" if the verdict is INCONSISTENT."""
        return "" if self.verdict == INCONSISTENT else self.open_facts

    @property
    def outstanding(self) -> tuple[Check, ...]:
        """The checks that a reader must see before relying on the bundle: failed ones, then open ones; () without such checks."""
        return tuple(check for verdict in (FAILED, SKIPPED) for check in self.checks if check.verdict == verdict)

    @property
    def settled(self) -> tuple[Check, ...]:
        """The checks that were passed or had nothing to check, in order."""
        return tuple(check for check in self.checks if check not in self.outstanding)

    @property
    def settled_title(self) -> str:
        """The heading of the settled checks, with their numbers."""
        right, empty = (sum(check.verdict == verdict for check in self.checks) for verdict in (PASSED, ABSENT))
        others = "other " if self.outstanding else ""
        return f"{right} {others}checks, all right" + (f"; {empty} had nothing to check" if empty else "")

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The questions that stayed open, in order; () if every question was answered."""
        return tuple(check.question for check in self.checks if check.verdict == SKIPPED)
