"""The decision about a release, signed by whoever answers for it, and bound to the bundle by its SHA-256.

It lies beside the bundle and not in it, because that hash covers all that is in it. A code covers every field, as the hash of an entry of
the ledger does: after any change, in the decision or in the bundle, the two no longer agree. The code is no signature with a key. Whoever
forges a decision can give it a code of its own, so the signer keeps it or announces it, as the publisher does with the SHA-256 of a bundle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from hashlib import sha256
from typing import Any

from dpsynth_core.bundle.verify import UNSOUND, Report
from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import check_reason, is_one_paragraph

FORMAT = 1
PUBLISH, PURPOSES, WITHHOLD = "publish", "publish for the purposes named below", "do not publish"
ANSWERS = (PUBLISH, PURPOSES, WITHHOLD)
MOST_LETTERS = 120
"""Of a name and of a role."""
_FIELD, _CODE = "decision", "code"
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Decision:
    """bundle: SHA-256 of the ZIP. checked: what Verify found (`Report.verdict`). open: the questions that stayed open. stated: what the
    release says of itself, as pairs of name and text. answer: one of ANSWERS. reason: why, or for which purposes. name, role: who signs.
    signed: the day, ISO 8601, UTC. Raises InputError for what is missing or can hide something: every text is one visible paragraph.
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
        if self.answer not in ANSWERS:
            raise InputError("answer", "none is chosen", f"choose one of: {'; '.join(ANSWERS)}")
        if self.checked == UNSOUND and self.answer != WITHHOLD:
            raise InputError("answer", "the bundle is not sound", f"choose “{WITHHOLD}”, or check the right file")
        for field, text in (("name", self.name), ("role", self.role)):
            if not text.strip() or len(text) > MOST_LETTERS or not text.isprintable():
                raise InputError(field, "it is empty, very long or holds characters that are not seen", f"write your {field}")
        check_reason("reason", self.reason, "why this is the decision, or for which purposes")
        if not is_one_paragraph(self.reason):
            raise InputError("reason", "it is very long or has several paragraphs", "write one paragraph")
        try:
            date.fromisoformat(self.signed)
        except ValueError:
            raise InputError(_FIELD, "its day is none", "use the file as it was signed") from None

    @property
    def code(self) -> str:
        """SHA-256 of all that is decided, 64 hexadecimal digits."""
        return sha256(json.dumps(_content(self), sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def of(report: Report, answer: str | None, reason: str, name: str, role: str, day: date) -> Decision:
    """The decision about a bundle that was checked. Raises InputError as Decision."""
    stated = report.summary.facts if report.summary else ()
    reason, name, role = reason.strip(), name.strip(), role.strip()
    return Decision(report.sha256, report.verdict, report.unchecked, stated, answer or "", reason, name, role, day.isoformat())


def to_json(decision: Decision) -> bytes:
    """A file for people and programs: every field, and the code last."""
    document = _content(decision) | {_CODE: decision.code}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def read(text: str) -> Decision:
    """A decision that somebody signed. Raises InputError for what is none, or was changed since."""
    document = parse_json(text, _FIELD)
    names = {field.name for field in fields(Decision)}
    if not isinstance(document, Mapping) or set(document) != names | {"format", _CODE} or document["format"] != FORMAT:
        raise InputError(_FIELD, "the file is no decision about a release", "choose the JSON file that was signed")
    decision = _typed({name: document[name] for name in names})
    if decision.code != document[_CODE]:
        raise InputError(_FIELD, "it was changed after it was signed: its code is of another text", "ask the signer for the file")
    return decision


def check_bundle(decision: Decision, bundle: str) -> None:
    """Raises InputError where a decision is about another bundle. bundle: the SHA-256 of the one at hand."""
    if decision.bundle != bundle:
        raise InputError(_FIELD, "it is about another bundle, or the bundle was changed since", "compare the two SHA-256")


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
