"""The decision about a release, signed by the person responsible, and bound to the bundle by its SHA-256.

It lies beside the bundle and not inside, because the SHA-256 covers everything inside. A code covers every field, as the hash of a ledger
entry does: after any change, in the decision or in the bundle, the two no longer agree. The code is not a signature with a key. A forger
can compute a code for a forged decision, so the signer keeps the code or announces it, as the publisher does with the SHA-256 of a bundle.
The recipient's report is compared with what the decision states of the check and of the release (`differences`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any

from dpsynth_core.bundle.verdicts import CONSISTENT, INCONSISTENT, PARTLY, Report
from dpsynth_core.foundation.documents import canonical_digest, parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import check_reason, is_one_paragraph
from dpsynth_core.foundation.visible import visible

FORMAT = 1
PUBLISH, PURPOSES, WITHHOLD = "publish", "publish for the purposes named below", "do not publish"
ANSWERS = (PUBLISH, PURPOSES, WITHHOLD)
MOST_LETTERS = 120
"""Largest number of characters of a name and of a role."""
MOST_STATED, LONGEST_STATED = 1000, 2000
"""Number of texts that a decision repeats from a report, and characters of each."""
GUARANTEE, WARNING = "Guarantee", "Warning"
"""Names of the statement and of the warnings of a release among the texts that a decision repeats."""
_FIELD, _CODE = "decision", "code"
_HASH = re.compile(r"[0-9a-f]{64}")
_UNTOUCHED = "use the file as it was signed"


@dataclass(frozen=True)
class Decision:
    """A signed decision. Every text is one visible paragraph.

    Attributes:
        bundle: SHA-256 of the ZIP.
        checked: Verdict of Verify (`Report.verdict`).
        open: Questions that stayed open; () without open questions.
        stated: Statements of the release as pairs of name and text: its guarantee, its warnings, and facts.
        answer: One of ANSWERS.
        reason: Why, or for which purposes.
        name: The person who signs.
        role: The role of that person.
        signed: The day, ISO 8601, UTC.

    Raises:
        InputError: A field is missing or not valid, very long, or has characters that are not seen; the reason has
            fewer than three different words or several paragraphs; or the bundle is not consistent and the answer
            is not WITHHOLD.
    """

    bundle: str
    checked: str
    open: tuple[str, ...]
    stated: tuple[tuple[str, str], ...]
    answer: str
    reason: str
    name: str
    role: str
    signed: str

    def __post_init__(self) -> None:
        if not _HASH.fullmatch(self.bundle):
            raise InputError(_FIELD, "it names no bundle", "check the ZIP of the bundle, which has a SHA-256")
        if self.checked not in (CONSISTENT, PARTLY, INCONSISTENT):
            raise InputError(_FIELD, "it does not state the result of the check", _UNTOUCHED)
        repeated = (*self.open, *(text for pair in self.stated for text in pair))
        if len(repeated) > 3 * MOST_STATED or not all(len(text) <= LONGEST_STATED and text.isprintable() for text in repeated):
            raise InputError(_FIELD, "what it repeats of the check is very long or holds characters that are not seen", _UNTOUCHED)
        if self.answer not in ANSWERS:
            raise InputError("answer", "no answer is chosen", f"choose one of: {'; '.join(ANSWERS)}")
        if self.checked == INCONSISTENT and self.answer != WITHHOLD:
            raise InputError("answer", "the bundle is not consistent", f"choose “{WITHHOLD}”, or check the right file")
        for field, text in (("name", self.name), ("role", self.role)):
            if not text.strip():
                raise InputError(field, "it is empty", f"write your {field}")
            if len(text) > MOST_LETTERS or not text.isprintable():
                raise InputError(field, "it is very long or holds characters that are not seen", f"write your {field}")
        check_reason("reason", self.reason, "why this is the decision, or for which purposes")
        if not is_one_paragraph(self.reason):
            raise InputError("reason", "it is very long or has several paragraphs", "write one paragraph")
        try:
            date.fromisoformat(self.signed)
        except ValueError:
            raise InputError(_FIELD, "its day is not a date", _UNTOUCHED) from None

    @property
    def code(self) -> str:
        """SHA-256 of the decision's content, 64 hexadecimal digits."""
        return canonical_digest(_content(self))


def of(report: Report, answer: str | None, reason: str, name: str, role: str, day: date) -> Decision:
    """Return a decision about the bundle of a report, signed on `day`.

    Spaces around the reason, the name and the role are removed. Of the release's statements, the first 1,000 are
    repeated, each with its first 2,000 characters.

    Args:
        report: The report of Verify about a ZIP, not a folder.
        answer: One of ANSWERS, only WITHHOLD for an inconsistent bundle; None if nothing was chosen, which is refused.
        reason: Why, or for which purposes: one paragraph with at least three different words.
        name: The person who signs, at most 120 characters.
        role: The role of that person, at most 120 characters.
        day: The day, in UTC.

    Raises:
        InputError: The report is of a folder, the answer is refused, the reason is too short or has several
            paragraphs, or a text is empty, very long, or has characters that are not seen.
    """
    reason, name, role = reason.strip(), name.strip(), role.strip()
    return Decision(report.sha256, report.verdict, report.unchecked, _stated(report), answer or "", reason, name, role, day.isoformat())


def _stated(report: Report) -> tuple[tuple[str, str], ...]:
    """Return the release's statements as pairs of name and text, each one visible paragraph.

    The texts are hostile. Beyond `MOST_STATED` pairs, one more pair states how many are left out.
    """
    if report.summary is None:
        return ()
    warnings = ((WARNING, warning) for warning in report.summary.warnings)
    every = ((GUARANTEE, report.summary.statement), *warnings, *report.summary.facts)
    kept, left = every[:MOST_STATED], len(every) - MOST_STATED
    more = (("Not repeated here", f"{left:,} more texts"),) if left > 0 else ()
    return (*((_paragraph(name), _paragraph(text)) for name, text in kept), *more)


def _paragraph(text: str) -> str:
    return " ".join(visible(text).split())[:LONGEST_STATED]


def to_json(decision: Decision) -> bytes:
    """Return the JSON file of a decision as bytes (UTF-8): every field, and the code last."""
    document = _content(decision) | {_CODE: decision.code}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def read(text: str) -> Decision:
    """Read a signed decision from JSON.

    Raises:
        InputError: The text is not a decision, a field is not valid (`Decision`), or the code does not fit the text,
            because it was changed after signing.
    """
    document = parse_json(text, _FIELD)
    names = {field.name for field in fields(Decision)}
    if not isinstance(document, Mapping) or set(document) != names | {"format", _CODE} or document["format"] != FORMAT:
        raise InputError(_FIELD, "the file is not a decision about a release", "choose the JSON file that was signed")
    decision = _typed({name: document[name] for name in names})
    if decision.code != document[_CODE]:
        raise InputError(_FIELD, "it was changed after it was signed: its code does not fit its text", "ask the signer for the file")
    return decision


def check_bundle(decision: Decision, bundle: str) -> None:
    """Check that a decision is about the present bundle.

    Args:
        decision: The decision.
        bundle: SHA-256 of the present bundle's ZIP.

    Raises:
        InputError: The decision is about another bundle.
    """
    if decision.bundle != bundle:
        raise InputError(_FIELD, "it is about another bundle, or the bundle was changed since", "compare the two SHA-256")


def differences(decision: Decision, report: Report) -> tuple[str, ...]:
    """Return a sentence for each difference between a decision and the report of the present bundle; () if they agree.

    Their SHA-256 are not compared: `check_bundle` does that. All statements that differ share one sentence, which gives
    their names without their texts. Texts in the sentences are hostile. Another machine or version may leave other
    questions open, so a difference does not prove a forgery.
    """
    found: list[str] = []
    if report.verdict == INCONSISTENT and decision.answer != WITHHOLD:
        found.append(f"This bundle is not consistent here: the answer “{decision.answer}” must not be relied on.")
    if decision.checked != report.verdict:
        found.append(f"The decision says that the bundle was {decision.checked}; here it is {report.verdict}.")
    if decision.open != report.unchecked:
        then, now = (" ".join(questions) or "none" for questions in (decision.open, report.unchecked))
        found.append(f"The decision names these open questions: {then}. Here they are: {now}.")
    stated, expected = Counter(decision.stated), Counter(_stated(report))
    if stated != expected:
        names = ", ".join(sorted({name for name, _ in (*(stated - expected), *(expected - stated))}))
        found.append(f"The decision and the release differ in these statements: {names}.")
    return tuple(found)


def holds(decision: Decision, report: Report) -> bool:
    """Return whether a decision is about the report's bundle and agrees with the report."""
    return decision.bundle == report.sha256 and not differences(decision, report)


def has_code(decision: Decision, given: str) -> bool:
    """Return whether a code, as somebody wrote it down, is the decision's code.

    Spaces and capital letters make no difference.
    """
    return "".join(given.split()).lower() == decision.code


def _content(decision: Decision) -> dict[str, Any]:
    return {"format": FORMAT} | asdict(decision)


def _typed(document: Mapping[str, Any]) -> Decision:
    texts = all(isinstance(value, str) for name, value in document.items() if name not in ("open", "stated"))
    questions, stated = document["open"], document["stated"]
    listed = isinstance(questions, list) and all(isinstance(question, str) for question in questions)
    paired = isinstance(stated, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in stated
    )
    if not (texts and listed and paired):
        raise InputError(_FIELD, "its fields are not those of a decision", "choose the JSON file that was signed")
    return Decision(**{**document, "open": tuple(questions), "stated": tuple((name, text) for name, text in stated)})
