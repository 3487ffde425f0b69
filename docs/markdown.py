"""Parts of generated pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """A table without the columns that are empty in all rows."""
    kept = [at for at in range(len(heads)) if any(str(row[at]) for row in rows)]
    for row in (heads, ["---"] * len(heads), *rows):
        cells = [re.sub(r"\s+", " ", str(row[at])).replace("|", "\\|").replace("<", "&lt;") for at in kept]
        yield f"| {' | '.join(cells)} |"
    yield ""


def code(value: object) -> str:
    return f"`{value}`" if value not in ("", None) else ""
