"""A small picture of the cells of a column, as HTML: what the release can tell apart. Public; labels are hostile text and are escaped."""

from __future__ import annotations

from html import escape

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.web.shell.text import one_line

MOST_NAMED = 30
"""More cells are drawn as a bar of stripes, without their labels."""
_MOST_STRIPES = 200
_LABEL_LENGTH = 28


def html(attribute: Attribute) -> str:
    """Chips with labels for a few cells, a bar of stripes as wide as the bins for many; cells for other and missing values at the end."""
    labels = attribute.cell_labels()
    own, extra = labels[: attribute.values], labels[attribute.values :]
    chips = "".join(_chip(label, "cell") for label in own) if len(own) <= MOST_NAMED else _stripes(attribute)
    return f'<div class="cells">{chips}{"".join(_chip(label, "cell extra") for label in extra)}</div>'


def _chip(label: str, kind: str) -> str:
    return f'<span class="{kind}">{escape(one_line(label, _LABEL_LENGTH))}</span>'


def _stripes(attribute: Attribute) -> str:
    labels = attribute.cell_labels()
    shown = min(attribute.values, _MOST_STRIPES)
    widths = [1.0] * shown
    if attribute.is_number and shown == attribute.values:
        widths = [high - low for low, high in zip(attribute.edges, attribute.edges[1:], strict=False)]
    whole = sum(widths)
    stripes = "".join(f'<i style="flex-grow:{width / whole:.5f}"></i>' for width in widths)
    ends = f"{escape(one_line(labels[0], _LABEL_LENGTH))} … {escape(one_line(labels[attribute.values - 1], _LABEL_LENGTH))}"
    return f'<span class="stripes" aria-hidden="true">{stripes}</span><span class="ends">{attribute.values:,} values: {ends}</span>'
