"""What may be said of an unexpected exception: an exception's own text may quote a record, so its type and place alone."""

from __future__ import annotations

import traceback
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def describe(error: BaseException) -> str:
    """The exception's type and the line of ours that it came from; never its text."""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_PACKAGE)]
    place = f" in {Path(ours[-1].filename).relative_to(_PACKAGE)}, line {ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{place}"
