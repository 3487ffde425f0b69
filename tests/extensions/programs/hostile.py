"""Columns whose names, labels and values try to become code of R, Stata, SAS or SPSS, and plain ones of the same form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from dpsynth_core.planning.spec import Spec
from tests.bundle import pack
from tests.releases import run
from tests.specs import usual

HOSTILE = (
    *('"); system("touch pwned"); c("', "\\", "back\\", 'quote\\"', "'); quit(); c('", "a'b''c", "`rm`", "NA", "NULL", "TRUE", "1e5"),
    *("..1", "if", "$HOME", "${x}", "`=1+1'", "`\"compound\"'", "// rest", "/* rest", "*/ data x; run; /*", '{stata "shell touch pwned"}'),
    *("dp_is", "dp_raw1", "v1", "_n", "_all", "%let x=1;", "&sysuserid", "%sysexec(touch pwned)", "'n"),
    *("'x touch", "; run; x 'touch pwned';", "all", "with", "by", "line\nbreak", "line\r\n* break.", "tab\there", ". EXECUTE."),
    "x'.\nHOST COMMAND=['touch pwned'].",
    *("bell\x07", "\x1b[31m red", "\u202eright to left", "\u00fcber", "\u7d71\u8a08\u5c40", "\U0001f600 smile", "x" * 200, "x" * 199 + "y"),
    *("new\u2028line", "%%tables%%", "%%prefix%%", "!macro", "#delimit ;", "=1+1", "@x", "a,b", "a;b"),
)
"""Texts that end quotes, start macros or comments, break lines, are reserved, too long, or not in ASCII."""


def release(texts: Sequence[str]) -> bytes:
    """The bundle of a release with a column for each text: the text is in its name, in labels and in values."""
    domain = {"version": 1, "attributes": [_column(number, text) for number, text in enumerate(texts)]}
    data = {"kind": "standin", "standin": {"rows": 60}}
    return pack.pack(run(Spec.from_json(usual(data, domain, k=1, epsilon=50.0, mechanism="independent", output={"rows": 40}))))


@cache
def hostile() -> bytes:
    """The bundle of columns with hostile texts."""
    return release(HOSTILE)


@cache
def plain() -> bytes:
    """The bundle of as many columns with plain texts."""
    return release([f"plain{number}" for number in range(len(HOSTILE))])


def _column(number: int, text: str) -> dict[str, Any]:
    """A column of texts, of labelled texts, or of labelled whole numbers, in turn."""
    column: dict[str, Any] = {"name": text, "kind": "categorical", "label": f"{text} is {text}", "other": number % 2 == 0, "missing": False}
    values = {0: [text, f"{text} 2"], 1: [f"1 {text}", text], 2: ["7", "8"]}[number % 3]
    return column | {"categories": values} | ({} if number % 3 == 0 else {"labels": [f"{text} A", f"B {text}"]}) | (
        {"dtype": "int64"} if number % 3 == 2 else {}
    )
